"""What acting does on the library pages today: `python tests/firefox/acting_table.py [PAGE…]` prints it as a table.

For each aim, a fresh page, and acts as a planner would ask for them, each on a new look and with a real gate's permit. In the end
what was reported is compared with what the page believes:

* works: all acts were reported done, and the page believes what was aimed at.
* refuses: an act was refused, and the page does not believe it. Whether the reason is the true one is for a reader to judge.
* FALSE SUCCESS: all acts were reported done, and the page does not believe it.
* FALSE FAILURE: an act was refused, and the page believes it all the same.
* not listed: the look does not show the control.

It asserts nothing: what must hold is in tests. This shows what is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import trio

from foxloop_trio.actions import Action, Permit
from foxloop_trio.browser import BrowserSession, Control, Snapshot, Tab, launch_firefox
from foxloop_trio.browser.tools._pin import make_pin
from foxloop_trio.errors import FoxloopError
from foxloop_trio.gate import create_gate
from foxloop_trio.testing._npm_site import serve_library_pages
from foxloop_trio.testing._page_probe import Probe, open_page

PAGES = Path(__file__).parent / "pages"
BELIEVES_SECONDS = 1.0
"""For a page to come to believe what was done; after that it will not."""

Step = tuple[str, str, Any]
"""Control (see `find`), operation, value."""


@attrs.frozen
class Aim:
    page: str
    words: str
    steps: list[Step]
    wanted: Callable[[Any], object]


def aims() -> list[Aim]:
    found: list[Aim] = []

    def aim(page: str, words: str, wanted: Callable[[Any], object], *steps: Step) -> None:
        found.append(Aim(page, words, list(steps), wanted))

    for library in ("react", "vue", "svelte"):
        page = f"inputs-{library}"
        aim(page, "text", lambda s: s["text"] == "Grüße", ("Text", "type", "Grüße"))
        aim(page, "text, emptied", lambda s: s["text"] == "", ("Text", "type", "x"), ("Text", "type", ""))
        aim(page, "text, upper-cased by the page", lambda s: s["upper"] == "CODE", ("Upper", "type", "code"))
        aim(page, "textarea of two lines", lambda s: s["area"] == "1\n2", ("Area", "type", "1\n2"))
        aim(page, "checkbox on", lambda s: s["check"] is True, ("Check", "check", None))
        aim(page, "checkbox on and off", lambda s: s["check"] is False, ("Check", "check", None), ("Check", "uncheck", None))
        aim(page, "radio", lambda s: s["radio"] == "two", ("Radio two", "check", None))
        aim(page, "select by value", lambda s: s["choice"] == "b", ("Choice", "select", "b"))
        aim(page, "select by label", lambda s: s["choice"] == "b", ("Choice", "select", "Option B"))
        aim(page, "multi-select, one", lambda s: s["many"] == ["b"], ("Many", "select", "b"))
        aim(page, "multi-select, two", lambda s: s["many"] == ["a", "c"], ("Many", "select", ["a", "c"]))
        aim(page, "date", lambda s: s["date"] == "2026-10-09", ("Date", "date", "2026-10-09"))
        aim(page, "type and send", lambda s: s["sent"]["text"] == "x", ("Text", "type", "x"), ("Send", "click", None))
        aim(page, "type and enter", lambda s: s["sent"]["text"] == "x", ("Text", "type", "x"), ("Text", "enter", None))

    for label, key in (("Rich", "rich"), ("Bare", "bare"), ("Plaintext", "plain")):
        aim("editor-plain", f"{key}: one line", lambda s, key=key: s[key] == "new", (label, "type", "new"))
        aim("editor-plain", f"{key}: two lines", lambda s, key=key: s[key].split() == ["a", "b"], (label, "type", "a\nb"))
        aim("editor-plain", f"{key}: emptied", lambda s, key=key: s[key] == "", (label, "type", "x"), (label, "type", ""))
    for library in ("prosemirror", "codemirror", "lexical", "quill", "slate", "draft"):
        page, label = f"editor-{library}", "Short" if library == "codemirror" else "Editor"
        aim(page, "one line", lambda s: s["text"] == "new", (label, "type", "new"))
        aim(page, "two lines", lambda s: [*filter(None, s["text"].split("\n"))] == ["a b", "c"], (label, "type", "a b\nc"))
        aim(page, "emptied", lambda s: s["text"] == "", (label, "type", ""))
        aim(page, "twice", lambda s: s["text"] == "two", (label, "type", "one"), (label, "type", "two"))
    aim("editor-codemirror", "500 lines replaced", lambda s: s["long"]["length"] == 3, ("Long", "type", "new"))
    aim(
        "editor-quill",
        "bold by its button",
        lambda s: "bold" in str(s["delta"][-1]),
        ("Editor", "type", "new"),
        ("bold", "click", None),
    )

    page = "dates-native"
    aim(page, "date", lambda s: s["date"] == "2026-10-09", ("Date", "date", "2026-10-09"))
    aim(page, "date out of bounds", lambda s: s["bounded"] not in ("", "invalid"), ("Bounded", "date", "2026-07-01"))
    aim(page, "time", lambda s: s["time"] == "09:30", ("Time", "type", "09:30"))
    aim(page, "moment", lambda s: s["moment"] == "2026-10-09T09:30", ("Moment", "type", "2026-10-09T09:30"))
    aim(page, "month", lambda s: s["month"] == "2026-10", ("Month", "type", "2026-10"))
    aim(page, "week", lambda s: s["week"] == "2026-W41", ("Week", "type", "2026-W41"))
    page = "dates-jquery-ui"
    arrival: Callable[[Any], object] = lambda s: s["date"]["arrival"] == "2026-06-09"  # noqa: E731 - used twice
    aim(page, "typed", arrival, ("Arrival", "type", "09.06.2026"))
    aim(page, "picked in its calendar", arrival, ("Arrival", "click", None), ("dialog:9", "click", None))
    departure: Callable[[Any], object] = lambda s: s["date"]["departure"] == "2026-07-04"  # noqa: E731 - used twice
    aim(page, "typed into a read-only field", departure, ("Departure", "type", "04.07.2026"))
    aim(
        page,
        "next month, read-only field",
        departure,
        ("Departure", "click", None),
        ("Next", "click", None),
        ("dialog:4", "click", None),
    )
    aim(
        page,
        "month by its select",
        departure,
        ("Departure", "click", None),
        ("Select month", "select", "6"),
        ("dialog:4", "click", None),
    )
    aim(page, "inline calendar", lambda s: s["date"]["inline"] == "2026-06-20", ("20", "click", None))
    page = "dates-flatpickr"
    aim(page, "typed into a read-only field", lambda s: s["day"], ("Day", "type", "2026-06-09"))
    aim(page, "picked in its calendar", lambda s: s["day"] == "2026-06-09", ("Day", "click", None), ("June 9, 2026", "click", None))
    aim(page, "typed where that is allowed", lambda s: s["typed"] == "2026-06-09", ("Typed", "type", "2026-06-09"))
    aim(
        page, "alternative field", lambda s: s["alt"] == "2026-06-09", ("textbox#2", "click", None), ("June 9, 2026", "click", None)
    )
    aim("dates-air", "typed", lambda s: s["day"] == "2026-06-09", ("Day", "type", "2026-06-09"))
    aim("dates-air", "picked in its calendar", lambda s: s["day"] == "2026-06-09", ("Day", "click", None), ("9", "click", None))

    chosen: Callable[[Any], object] = lambda s: s["chosen"] == "Bern"  # noqa: E731 - used often
    for library in ("aria", "jquery-ui", "downshift", "awesomplete"):
        page = f"combobox-{library}"
        aim(page, "type, then press a suggestion", chosen, ("Place", "type", "ber"), ("Bern", "click", None))
        aim(page, "select by the suggestion's name", chosen, ("Place", "select", "Bern"))
    aim(
        "combobox-aria", "select-only: press, press", lambda s: s["size"] == "m", ("Size", "click", None), ("Medium", "click", None)
    )
    aim("combobox-aria", "select-only: select", lambda s: s["size"] == "m", ("Size", "select", "Medium"))
    aim(
        "combobox-downshift",
        "select-only: press, press",
        lambda s: s["size"] == "Medium",
        ("Size", "click", None),
        ("Medium", "click", None),
    )
    aim("combobox-downshift", "select-only: select", lambda s: s["size"] == "Medium", ("Size", "select", "Medium"))
    page = "combobox-select2"
    aim(page, "press, press", lambda s: s["size"] == "m", ("combobox#0", "click", None), ("Medium", "click", None))
    aim(page, "select", lambda s: s["size"] == "m", ("combobox#0", "select", "Medium"))
    aim(
        page,
        "search, then press a suggestion",
        lambda s: s["place"] == "Bern",
        *(("combobox#1", "click", None), ("searchbox#1", "type", "ber"), ("Bern", "click", None)),
    )
    page = "combobox-choices"
    aim(page, "press, press", lambda s: s["size"] == "m", ("option#0", "click", None), ("Medium", "click", None))
    aim(page, "many: press, press", lambda s: s["many"] == ["b"], ("Many", "click", None), ("Option B", "click", None))
    page = "combobox-tom-select"
    aim(page, "type, then press a suggestion", lambda s: s["place"] == "Bern", ("Place", "type", "ber"), ("Bern", "click", None))
    aim(page, "a new word, by Enter", lambda s: s["tags"] == "red,blue", ("Tags", "type", "blue"), ("Tags", "press", "Enter"))

    for library in ("imask", "inputmask", "cleave"):
        page = f"masks-{library}"
        aim(page, "phone", lambda s: s["phone"]["shown"] == "(555) 123-4567", ("Phone", "type", "5551234567"))
        aim(page, "phone as shown", lambda s: s["phone"]["shown"] == "(555) 123-4567", ("Phone", "type", "(555) 123-4567"))
        aim(page, "card", lambda s: s["card"]["value"] == "4111111111111111", ("Card", "type", "4111111111111111"))
        aim(page, "amount", lambda s: float(s["amount"]["value"] or 0) == 1234.5, ("Amount", "type", "1234.5"))
        aim(page, "date", lambda s: s["date"]["shown"] == "09.10.2026", ("Date", "type", "09.10.2026"))
        aim(page, "letters only", lambda s: s["phone"]["shown"] == "abc", ("Phone", "type", "abc"))

    for page in ("list-react-window", "list-tanstack"):
        aim(page, "row 5", lambda s: s["opened"] == 5, ("Open row 5", "click", None))
        aim(page, "scrolled down", lambda s: s["shown"][0] > 1, ("Open row 5", "scroll", "560"))
        aim(page, "row 300", lambda s: s["opened"] == 300, ("Open row 300", "click", None))
    aim("list-infinite", "row 18, below the fold", lambda s: s["opened"] == 18, ("Open row 18", "click", None))
    aim("list-infinite", "row 33", lambda s: s["opened"] == 33, ("Open row 18", "scroll", "2000"), ("Open row 33", "click", None))

    aim("overlay-sticky", "button 20, below the fold", lambda s: s["pressed"] == 20, ("Button 20", "click", None))
    aim("overlay-sticky", "button 7, under the footer", lambda s: s["pressed"] == 7, ("Button 7", "click", None))
    page = "overlay-cookies"
    aim(page, "covered by the banner", lambda s: s["pressed"] == ["below"], ("Below", "click", None))
    aim(
        page,
        "banner first",
        lambda s: s["pressed"] == ["below"],
        ("Accept", "click", None),
        ("Below", "click", None),
    )
    aim(page, "covered by a veil", lambda s: s["pressed"] == ["under"], ("Under the veil", "click", None))
    page = "overlay-modal"
    native = [("Open native", "click", None), ("Name", "type", "Ada"), ("Save", "click", None)]
    aim(page, "native dialog", lambda s: s["saved"] == {"native": "Ada"}, *native)
    aim(
        page,
        "ARIA dialog",
        lambda s: s["saved"] == {"aria": "Dr"},
        ("Open ARIA", "click", None),
        ("Title", "type", "Dr"),
        ("Keep", "click", None),
    )
    aim(page, "behind the native dialog", lambda s: s["behind"], ("Open native", "click", None), ("Behind", "click", None))
    aim(page, "behind the ARIA dialog", lambda s: s["behind"], ("Open ARIA", "click", None), ("Behind", "click", None))

    aim("drag-sortable", "HTML drag", lambda s: s["html"] == ["b", "c", "a"], ("Alpha", "drag", "Gamma"))
    aim("drag-sortable", "pointer drag", lambda s: s["pointer"] == ["b", "c", "a"], ("One", "drag", "Three"))
    aim("drag-interact", "drag onto a target", lambda s: s["dropped"], ("Box", "drag", "Target"))
    aim("drag-html", "card into the other box", lambda s: s["to"] == ["card-1"], ("Card 1", "drag", "To"))
    aim("sliders", "noUiSlider to 40", lambda s: s["one"] == 40, ("Level", "type", "40"))
    aim("sliders", "native range to 40", lambda s: s["volume"] == 40, ("Volume", "type", "40"))
    page = "menus-hover"
    aim(page, ":hover menu", lambda s: s["chosen"] == "Owls", ("Products", "hover", None), ("Owls", "click", None))
    aim(
        page,
        "mouseenter menu, by click's moves",
        lambda s: s["chosen"] == "Log out",
        ("Account", "click", None),
        ("Log out", "click", None),
    )
    aim(
        page,
        "mouseenter menu, by hover",
        lambda s: s["chosen"] == "Log out",
        ("Account", "hover", None),
        ("Log out", "click", None),
    )
    aim(page, "jQuery UI menu, by click", lambda s: s["chosen"] == "Save as", ("File", "click", None), ("Save as", "click", None))
    aim(page, "jQuery UI menu, by hover", lambda s: s["chosen"] == "Save as", ("File", "hover", None), ("Save as", "click", None))
    for label, key in (("File", "one"), ("Files", "many"), ("Choose a picture", "hidden")):
        aim("files-native", key, lambda s, key=key: s[key], (label, "files", "note.txt"))
    aim("files-native", "press the field", lambda s: s["one"], ("File", "click", None))
    aim("files-dropzone", "press the zone", lambda s: s["accepted"], ("Drop files here to upload", "click", None))
    aim("files-dropzone", "files", lambda s: s["accepted"], ("Drop files here to upload", "files", "note.txt"))
    return found


def find(page: Snapshot, label: str) -> Control | None:
    """By label; ``dialog:LABEL`` among what came up last, ``ROLE#N`` by role and place."""
    role, hash_sign, place = label.partition("#")
    if hash_sign:
        found = [control for control in page.controls if control.role == role][int(place) :]
        return found[0] if found else None
    kind, colon, rest = label.partition(":")
    found = [control for control in page.controls if control.label == (rest if colon else label)]
    return (found[-1] if kind == "dialog" and colon else found[0]) if found else None


async def permit_for(pin: dict[str, Any], op: str, value: Any) -> Permit:
    gate, host = create_gate(tools={op: "fill"})
    await host.add_grant(scope="fill", domains=["127.0.0.1"])
    args = {"target": pin} if op == "click" else {"target": pin, "op": op, "value": value}
    allowed = await gate.check(Action(tool=op, args=args, domain="127.0.0.1", scope="fill"))
    permit: Permit = allowed.permit  # type: ignore[union-attr]
    return permit


async def take(tab: Tab, step: Step) -> str | None:
    """Do one step, and wait as the tools do. None when it was reported done, else what was said instead."""
    label, op, value = step
    page = await tab.snapshot()
    control = find(page, label)
    if control is None:
        return f"not listed: {label}"
    pin = make_pin(tab.id, page, control)
    try:
        result = await tab.act(pin, op, value, permit=await permit_for(pin, op, value), mark=False)
    except FoxloopError as error:
        return f"refuses {op}: {error.code}, {error}"
    if not result.ok:
        return f"refuses {op} on {label}: {result.reason}" + (f" ({result.detail})" if result.detail else "")
    await tab.settle(pin, list_for=control.node if op == "type" and control.autocomplete else None, sent=result.submitted)
    return None


async def believes(page: Probe, aim: Aim) -> tuple[bool, Any]:
    """Whether the page comes to believe it soon, and what it believes last."""
    state: Any = None
    with trio.move_on_after(BELIEVES_SECONDS):
        while True:
            state = await page.state()
            try:
                if aim.wanted(state):
                    return True, state
            except (TypeError, KeyError, IndexError, ValueError):
                pass  # not even of that kind
            await trio.sleep(0.05)
    return False, state


async def try_aim(session: BrowserSession, tab: Tab, address: str, aim: Aim) -> tuple[str, str]:
    page = await open_page(session, tab, address, aim.page)
    said = None
    for step in aim.steps:
        if (said := await take(tab, step)) is not None:
            break
    there, state = await believes(page, aim)
    errors = await page.errors()
    more = f"; page errors {errors}" if errors else ""
    if said is None:
        return ("works", more[2:]) if there else ("FALSE SUCCESS", f"page believes {state}{more}")
    if there and not said.startswith("not listed"):
        return "FALSE FAILURE", said + more
    verdict, _, rest = said.partition(":" if said.startswith("not listed") else " ")
    return verdict, rest.strip() + more


async def main(names: list[str]) -> None:
    with serve_library_pages(PAGES) as site:
        async with launch_firefox() as session:
            tab = await session.open_tab(site.address + "/thanks.html")
            print("| page | aim | today | what was said |\n|---|---|---|---|")
            for aim in aims():
                if not names or aim.page in names:
                    verdict, words = await try_aim(session, tab, site.address, aim)
                    print(f"| {aim.page} | {aim.words} | {verdict} | {words[:160]} |".replace("\n", "⏎"), flush=True)


if __name__ == "__main__":
    trio.run(main, sys.argv[1:])
