"""What a planner wants done on the pages of ``tests/firefox/pages``, step by step, and what must come of it.

One list for the table (``tests/firefox/acting_table.py``) and for the test of it. An aim works, or is refused for the true reason,
which it names; nothing may be reported done that the page does not believe, nor refused what it does believe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

__all__ = ["AIMS", "Aim", "Files", "Onto", "Step", "onto"]


@attrs.frozen
class Onto:
    """The value of a drag: onto the control with this label, at a point in percent of its box."""

    label: str
    point: dict[str, float]


@attrs.frozen(init=False)
class Files:
    """The value of ``files``: these of ``tests/firefox/pages/files``, called and typed otherwise where that is said."""

    names: tuple[str, ...]
    type: str
    name: str | None

    def __init__(self, *names: str, type: str = "text/plain", name: str | None = None) -> None:  # noqa: A002
        self.__attrs_init__(names, type, name)


Step = tuple[str, str, Any]
"""Control, operation, value."""


@attrs.frozen
class Aim:
    """`wanted` says of the page's state whether it was reached; None, for a refusal, that it is not what it was before.

    `reason` is None for what must work, else the refusal of the last step (or ``not listed``), and `detail` words of it.
    """

    page: str
    words: str
    steps: tuple[Step, ...]
    wanted: Callable[[Any], object] | None
    reason: str | None = None
    detail: str = ""


def _is(key: str, value: Any) -> Callable[[Any], bool]:
    """That this part of the state is so; of a text, whatever its white space."""
    if isinstance(value, str):
        return lambda state: " ".join(state[key].split()) == value
    return lambda state: bool(state[key] == value)


def onto(label: str, **point: float) -> Onto:
    return Onto(label, point)


def _aims() -> list[Aim]:
    found: list[Aim] = []

    def aim(page: str, words: str, wanted: Callable[[Any], object], *steps: Step) -> None:
        found.append(Aim(page, words, steps, wanted))

    def refuse(page: str, words: str, reason: str, detail: str, *steps: Step) -> None:
        # What a cookie page believes changes by itself.
        wanted = (lambda state: state["pressed"] != []) if page == "overlay-cookies" else None
        found.append(Aim(page, words, steps, wanted, reason, detail))

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
        aim("editor-plain", f"{key}: one line", _is(key, "new"), (label, "type", "new"))
        aim("editor-plain", f"{key}: two lines", _is(key, "a b"), (label, "type", "a\nb"))
        aim("editor-plain", f"{key}: emptied", _is(key, ""), (label, "type", "x"), (label, "type", ""))
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
        lambda s: s["delta"][0] == {"attributes": {"bold": True}, "insert": "new"},
        ("Editor", "type", "new"),
        ("Editor", "select_text", None),
        ("bold", "click", None),
    )

    page = "dates-native"
    aim(page, "date", lambda s: s["date"] == "2026-10-09", ("Date", "date", "2026-10-09"))
    refuse(page, "date out of bounds", "unsupported", "the field takes dates from", ("Bounded", "date", "2026-07-01"))
    aim(page, "time", lambda s: s["time"] == "09:30", ("Time", "type", "09:30"))
    aim(page, "moment", lambda s: s["moment"] == "2026-10-09T09:30", ("Moment", "type", "2026-10-09T09:30"))
    aim(page, "month", lambda s: s["month"] == "2026-10", ("Month", "type", "2026-10"))
    aim(page, "week", lambda s: s["week"] == "2026-W41", ("Week", "type", "2026-W41"))
    page = "dates-jquery-ui"
    arrival: Callable[[Any], object] = lambda s: s["date"]["arrival"] == "2026-06-09"  # noqa: E731 - used twice
    aim(page, "typed", arrival, ("Arrival", "type", "09.06.2026"))
    aim(page, "picked in its calendar", arrival, ("Arrival", "click", None), ("dialog:9", "click", None))
    departure: Callable[[Any], object] = lambda s: s["date"]["departure"] == "2026-07-04"  # noqa: E731 - used twice
    refuse(page, "typed into a read-only field", "readonly", "", ("Departure", "type", "04.07.2026"))
    aim(
        page,
        "next month, read-only field",
        departure,
        ("Departure", "click", None),
        ("dialog:Next", "click", None),
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
    refuse(page, "typed into a read-only field", "readonly", "", ("Day", "type", "2026-06-09"))
    aim(page, "picked in its calendar", lambda s: s["day"] == "2026-06-09", ("Day", "click", None), ("June 9, 2026", "click", None))
    aim(page, "typed where that is allowed", lambda s: s["typed"] == "2026-06-09", ("Typed", "type", "2026-06-09"))
    aim(
        page, "alternative field", lambda s: s["alt"] == "2026-06-09", ("textbox#2", "click", None), ("June 9, 2026", "click", None)
    )
    # Air Datepicker takes no typed dates, nor from a person: the field holds the text, and would send it.
    aim("dates-air", "typed", lambda s: s == {"day": None, "sends": "2026-06-09"}, ("Day", "type", "2026-06-09"))
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
        refuse(page, "letters only", "mismatch", "the field holds another text now", ("Phone", "type", "abc"))

    for page in ("list-react-window", "list-tanstack"):
        aim(page, "row 5", lambda s: s["opened"] == 5, ("Open row 5", "click", None))
        aim(page, "scrolled down", lambda s: s["shown"][0] > 1, ("Open row 5", "scroll", "560"))
        refuse(page, "row 300, which is not there", "not listed", "", ("Open row 300", "click", None))
        until = ("Open row 5", "scroll", {"until": "Open row 150"})
        aim(page, "row 150, scrolled to", lambda s: s["opened"] == 150, until, ("Open row 150", "click", None))
    aim("list-infinite", "row 18, below the fold", lambda s: s["opened"] == 18, ("Open row 18", "click", None))
    aim("list-infinite", "row 33", lambda s: s["opened"] == 33, ("Open row 18", "scroll", "2000"), ("Open row 33", "click", None))

    aim("overlay-sticky", "button 20, below the fold", lambda s: s["pressed"] == 20, ("Button 20", "click", None))
    aim("overlay-sticky", "button 7, under the footer", lambda s: s["pressed"] == 7, ("Button 7", "click", None))
    page = "overlay-cookies"
    refuse(page, "covered by the banner", "covered", 'covered by div "Cookies"', ("Below", "click", None))
    aim(
        page,
        "banner first",
        lambda s: s["pressed"] == ["below"],
        ("Accept", "click", None),
        ("Below", "click", None),
    )
    refuse(page, "covered by a veil", "covered", "covered by span", ("Under the veil", "click", None))
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
    for kind, cover in (("native", 'dialog "Native"'), ("ARIA", 'div "Title Keep"')):
        behind = [(f"Open {kind}", "click", None), ("Behind", "click", None)]
        refuse(page, f"behind the {kind} dialog", "covered", f"covered by {cover}", *behind)

    # A list takes the item before or after another by the half that it is dropped on.
    aim("drag-sortable", "HTML drag", lambda s: s["html"] == ["b", "c", "a"], ("Alpha", "drag", onto("Gamma", y=75)))
    aim("drag-sortable", "pointer drag", lambda s: s["pointer"] == ["b", "c", "a"], ("One", "drag", onto("Three", y=75)))
    aim("drag-interact", "drag onto a target", lambda s: s["dropped"], ("Box", "drag", onto("Target")))
    aim("drag-interact", "drag by pixels", lambda s: s["moved"] == {"x": 40, "y": 25}, ("Box", "drag", {"by": {"x": 40, "y": 25}}))
    path = {"path": [[150, 50], [150, 150]]}
    aim("drag-interact", "drag along a path", lambda s: s["moved"] == {"x": 80, "y": 80}, ("Box", "drag", path))
    aim("drag-html", "card into the other box", lambda s: s["to"] == ["card-1"], ("Card 1", "drag", onto("To")))
    nowhere = ("Card 1", "drag", {"by": {"x": 400, "y": 0}})
    refuse("drag-html", "card dropped beside the boxes", "unsupported", "the page takes no drop there", nowhere)
    aim("sliders", "noUiSlider by dragging", lambda s: s["one"] > 0, ("Level", "drag", {"by": {"x": 80, "y": 0}}))
    aim("sliders", "native range by keys", lambda s: s["volume"] == 30, ("Volume", "press", "ArrowRight ArrowRight"))
    aim("sliders", "native range by dragging", lambda s: s["volume"] == 100, ("Volume", "drag", {"by": {"x": 900, "y": 0}}))
    aim("sliders", "noUiSlider to 40", lambda s: s["one"] == 40, ("Level", "type", "40"))
    aim("sliders", "native range to 40", lambda s: s["volume"] == 40, ("Volume", "type", "40"))
    page = "menus-hover"
    aim(page, ":hover menu", lambda s: s["chosen"] == "Owls", ("Products", "hover", None), ("Owls", "click", None))
    aim(page, ":hover menu, its item at once", lambda s: s["chosen"] == "Owls", ("Owls", "click", None))
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
    note = [{"name": "note.txt", "type": "text/plain", "size": 14, "text": "A short note.\n"}]
    for label, key in (("File", "one"), ("Files", "many"), ("Choose a picture", "hidden")):
        aim("files-native", key, _is(key, note), (label, "files", Files("note.txt")))
    both = Files("note.txt", "note.txt")
    aim("files-native", "two in one field", lambda s: s["many"] == [*note, *note], ("Files", "files", both))
    refuse("files-native", "two where one goes", "unsupported", "it takes one file only", ("File", "files", both))
    wrong = Files("note.txt", type="image/png", name="note.png")
    refuse(
        "files-native", "of a kind that it does not take", "unsupported", "it takes .txt,text/plain only", ("File", "files", wrong)
    )
    chooser = "it opens a file chooser"
    refuse("files-native", "press the field", "unsupported", chooser, ("File", "click", None))
    zone = "Drop files here to upload"
    refuse("files-dropzone", "press the zone", "unsupported", chooser, (zone, "click", None))
    aim(
        "files-dropzone", "files", lambda s: s["accepted"] == [{"name": "note.txt", "size": 14}], (zone, "files", Files("note.txt"))
    )

    # Keys
    keys = [("Place", "type", "ber"), ("Place", "press", "ArrowDown Enter")]
    aim("combobox-downshift", "suggestion by keys", lambda s: s["chosen"] == "Berlin", *keys)
    aim("inputs-react", "text by keys", lambda s: s["text"] == "a b", ("Text", "press", "a Space b"))
    aim("inputs-react", "radio by an arrow", lambda s: s["radio"] == "two", ("Radio one", "press", "ArrowDown"))
    aim("inputs-react", "paste", lambda s: s["text"] == "pasted", ("Text", "paste", "pasted"))
    aim("editor-prosemirror", "a key at the end", lambda s: s["text"].endswith("!"), ("Editor", "press", "!"))
    aim(
        "editor-prosemirror",
        "a part replaced",
        lambda s: s["text"] == "new text",
        ("Editor", "select_text", "old"),
        ("Editor", "paste", "new"),
    )
    return found


AIMS: Final = tuple(_aims())
