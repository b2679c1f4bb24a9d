"""Each page of tests/firefox/pages that tests act on is right by itself: it loads without errors, and its state follows a hand.

The hand is trusted input over WebDriver BiDi, which none of our acting code is part of. So when a tool's report and the page's
state differ in another test, it is the tool.
"""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.testing._page_probe import Probe

pytestmark = [pytest.mark.firefox, pytest.mark.long]  # it needs npm, which the default run does not

PAGES = Path(__file__).parent / "pages"
OpenPage = Callable[[str], Awaitable[Probe]]
Hand = Callable[[Probe], Awaitable[None]]

HANDS: dict[str, Hand] = {}


def hand(*pages: str) -> Callable[[Hand], Hand]:
    """Uses a page as a person would, and says what it must believe then."""

    def keep(used: Hand) -> Hand:
        HANDS.update(dict.fromkeys(pages, used))
        return used

    return keep


def has(**wanted: Any) -> Callable[[Any], bool]:
    """True of a state with these entries."""
    return lambda state: all(state[key] == value for key, value in wanted.items())


@hand("inputs-react", "inputs-vue", "inputs-svelte")
async def _(page: Probe) -> None:
    await page.type("Grüße", into="#text")
    await page.type("code", into="#upper")
    await page.click("#area")
    await page.press("1", "Enter", "2")
    await page.click("#check")
    await page.click("[value=two]")
    await page.js("void document.querySelector('#choice').focus()")  # its list is a window of its own, out of BiDi's reach
    await page.press("ArrowDown")
    await page.click("#many option:nth-child(2)")
    await page.js("void document.querySelector('#date').focus()")
    await page.type("10092026")
    filled = {"text": "Grüße", "upper": "CODE", "area": "1\n2", "check": True, "radio": "two", "choice": "b", "many": ["b"]}
    state = await page.until(has(**filled, date="2026-10-09"))
    assert state["sent"] is None
    await page.click("#send")
    state = await page.until(lambda state: state["sent"])
    assert state["sent"] == {**filled, "date": "2026-10-09"}
    assert await page.js("document.querySelector('#upper').value") == "CODE"


@hand("editor-plain")
async def _(page: Probe) -> None:
    await page.click("#rich")
    await page.press("End")
    await page.type("!")
    await page.type("bare", into="#bare")
    await page.type("plain", into="#plain")
    await page.until(has(rich="old text!", bare="bare", plain="plain", bold=1))


async def _edit(page: Probe, editor: str) -> None:
    await page.click(editor)
    await page.press("End")
    await page.type("!")
    await page.until(lambda state: state["text"] == "old text!")
    await page.press("a", held="Control")
    await page.type("new")
    await page.until(lambda state: state["text"] == "new")
    await page.press("Enter", "x")
    await page.until(lambda state: state["text"].split() == ["new", "x"])


@hand("editor-prosemirror", "editor-lexical", "editor-quill", "editor-slate")
async def _(page: Probe) -> None:
    await _edit(page, "#editor")


@hand("editor-codemirror")
async def _(page: Probe) -> None:
    await _edit(page, "#short-editor")


@hand("editor-draft")
async def _(page: Probe) -> None:
    await _edit(page, ".public-DraftEditor-content")


@hand("dates-native")
async def _(page: Probe) -> None:
    for field, keys in {"date": "10092026", "bounded": "06112026", "time": "0930a", "moment": "10092026\t0930a"}.items():
        await page.js(f"void document.getElementById('{field}').focus()")
        await page.press(*("Tab" if key == "\t" else key for key in keys))
        await page.press("Tab")
    await page.until(has(date="2026-10-09", bounded="2026-06-11", time="09:30"))


@hand("dates-jquery-ui")
async def _(page: Probe) -> None:
    await page.click("#arrival")
    await page.click("#ui-datepicker-div [data-date='9']")
    await page.until(lambda state: state["date"]["arrival"] == "2026-06-09")
    await page.until_js("!$('#ui-datepicker-div').is(':visible')")  # it fades out
    await page.click("#departure")
    await page.click("#ui-datepicker-div .ui-datepicker-next")
    await page.click("#ui-datepicker-div [data-date='4']")
    state = await page.until(lambda state: state["date"]["departure"] == "2026-07-04")
    assert state["picked"] == {"arrival": "09.06.2026", "departure": "04.07.2026", "inline": None}
    await page.until_js("!$('#ui-datepicker-div').is(':visible')")
    await page.click("#inline [data-date='20']")
    await page.until(lambda state: state["picked"]["inline"] == "20.06.2026")


@hand("dates-flatpickr")
async def _(page: Probe) -> None:
    await page.click("#day")
    await page.click(".flatpickr-calendar.open [aria-label='June 9, 2026']")
    await page.until(has(day="2026-06-09"))
    await page.type("2026-06-11", into="#typed")
    await page.press("Enter")
    await page.until(has(typed="2026-06-11"))


@hand("dates-air")
async def _(page: Probe) -> None:
    await page.click("#day")
    await page.click(".air-datepicker-cell[data-year='2026'][data-month='5'][data-date='9']")
    await page.until(has(day="2026-06-09"))


@hand("combobox-aria")
async def _(page: Probe) -> None:
    await page.type("ber", into="#place")
    await page.until_js("places.children.length === 3")
    assert await page.state() == {"chosen": None, "query": "ber", "size": None}
    await page.click("#place-1")
    await page.until(has(chosen="Bern"))
    await page.click("#size")
    await page.click("#size-m")
    await page.until(has(size="m"))


@hand("combobox-jquery-ui")
async def _(page: Probe) -> None:
    await page.type("ber", into="#place")
    await page.click(".ui-menu-item:nth-child(2)")
    await page.until(has(chosen="Bern", asked=["ber"]))


@hand("combobox-downshift")
async def _(page: Probe) -> None:
    await page.type("ber", into="#place-input")
    await page.until_js("document.querySelectorAll('#place-menu li').length === 3")  # not Lisbon any more
    await page.click("#place-item-1")
    await page.until(has(chosen="Bern"))
    await page.until_js("document.querySelector('#place-menu li') === null")
    await page.click("#size-toggle-button")
    await page.click("#size-item-1")
    await page.until(has(size="Medium"))


@hand("combobox-awesomplete")
async def _(page: Probe) -> None:
    await page.type("ber", into="#place")
    await page.until(has(answered="ber"))
    await page.click(".awesomplete li")
    await page.until(lambda state: state["chosen"] in {"Berlin", "Bern", "Bergen"})  # in an order of its own


@hand("combobox-select2")
async def _(page: Probe) -> None:
    await page.click("[aria-labelledby='select2-size-container']")
    await page.click("#select2-size-results li:nth-child(2)")
    await page.until(has(size="m"))
    await page.click("[aria-labelledby='select2-place-container']")
    await page.type("ber")
    await page.until_js("document.querySelectorAll('#select2-place-results [role=option][data-select2-id]').length === 3")
    await page.click("#select2-place-results li:nth-child(2)")
    await page.until(has(place="Bern"))


@hand("combobox-choices")
async def _(page: Probe) -> None:
    await page.click(".choices[data-type=select-one]")
    await page.click(".choices[data-type=select-one] .choices__item[data-value=m]")
    await page.until(has(size="m"))
    await page.click(".choices[data-type=select-multiple] input")
    await page.click(".choices[data-type=select-multiple] .choices__list--dropdown [data-value=b]")
    await page.until(has(many=["b"]))


@hand("combobox-tom-select")
async def _(page: Probe) -> None:
    await page.click("#place-ts-control")
    await page.type("ber")
    await page.click("#place-ts-dropdown [data-value=Bern]")
    await page.until(has(place="Bern"))
    await page.click("#tags-ts-control")
    await page.type("blue")
    await page.press("Enter")
    await page.until(has(tags="red,blue"))


@hand("masks-imask", "masks-inputmask", "masks-cleave")
async def _(page: Probe) -> None:
    for field, keys in {"phone": "5551234567", "card": "4111111111111111", "amount": "1234.5", "date": "09102026"}.items():
        await page.type(keys, into=f"#{field}")
    shown = {"phone": "(555) 123-4567", "card": "4111 1111 1111 1111", "amount": "1,234.5", "date": "09.10.2026"}
    state = await page.until(lambda state: {field: state[field]["shown"] for field in state} == shown)
    assert (state["card"]["value"], float(state["amount"]["value"])) == ("4111111111111111", 1234.5)


@hand("list-react-window", "list-tanstack")
async def _(page: Probe) -> None:
    await page.js(
        "void [...document.querySelectorAll('div')].find(box => getComputedStyle(box).overflowY === 'auto').scrollTo(0, 48000)"
    )
    await page.until(lambda state: state["shown"][0] <= 2001 <= state["shown"][1])
    await page.js("void ([...document.querySelectorAll('button')].find(one => one.textContent === 'Open row 2003').id = 'it')")
    # While it scrolls, react-window lets no press through.
    await page.until_js(
        "it.contains(document.elementFromPoint(it.getBoundingClientRect().x + 9, it.getBoundingClientRect().y + 9))"
    )
    await page.click("#it", scroll=False)
    await page.until(has(opened=2003))


@hand("list-infinite")
async def _(page: Probe) -> None:
    await page.js("void document.getElementById('end').scrollIntoView()")
    await page.until(lambda state: state["shown"][1] >= 40)
    await page.click("li:nth-child(33) button")
    await page.until(has(opened=33))


@hand("overlay-sticky")
async def _(page: Probe) -> None:
    await page.click("p:nth-child(20) button")
    await page.until(has(pressed=20))


@hand("overlay-cookies")
async def _(page: Probe) -> None:
    await page.click("#below")  # lands on the banner
    await page.click("#under")  # lands on the veil
    assert (await page.state())["pressed"] == []
    await page.click("#accept")
    await page.until(has(promotion="open"))
    await page.click("#close")
    await page.click("#below")
    await page.until(has(cookies="accepted", promotion="closed", pressed=["below"]))


@hand("overlay-modal")
async def _(page: Probe) -> None:
    await page.click("#open-native")
    await page.click("#behind")
    await page.type("Ada", into="#native-name")
    await page.click("[value=save]")
    await page.until(has(open=None, saved={"native": "Ada"}, behind=0))
    await page.click("#open-aria")
    await page.type("Dr", into="#aria-title")
    await page.click("#aria-save")
    await page.until(has(open=None, saved={"native": "Ada", "aria": "Dr"}))


@hand("drag-sortable")
async def _(page: Probe) -> None:
    await page.drag("#pointer li:nth-child(1)", (0, 90))
    await page.until(has(pointer=["b", "c", "a"], html=["a", "b", "c"]))


@hand("drag-interact")
async def _(page: Probe) -> None:
    await page.drag("#box", "#target")
    await page.until(has(dropped=True))


@hand("drag-html")
async def _(page: Probe) -> None:
    # A headless Firefox starts no HTML drag for trusted mouse events, so the page's own scripts play the browser here.
    await page.js(
        """void (() => {
          const data = new DataTransfer();
          const options = { bubbles: true, cancelable: true, dataTransfer: data };
          const send = (id, type) => document.getElementById(id).dispatchEvent(new DragEvent(type, options));
          send("card-1", "dragstart"); send("to", "dragover"); send("to", "drop"); send("card-1", "dragend");
        })()"""
    )
    await page.until(has(**{"from": ["card-2"], "to": ["card-1"]}))


@hand("sliders")
async def _(page: Probe) -> None:
    await page.drag("[aria-label=Level]", (80, 0))  # of 400 pixels
    await page.until(has(one=40))
    await page.click("[aria-label=Highest]")
    await page.press("ArrowLeft")
    await page.until(has(two=[20, 79]))
    await page.js("void volume.focus()")
    await page.press("ArrowRight", "ArrowRight")
    await page.until(has(volume=30, heard=2))


@hand("menus-hover")
async def _(page: Probe) -> None:
    await page.hover("#css > li")
    await page.until_js("document.querySelector('#css a').checkVisibility()")
    await page.click("#css a[href='#owls']")
    await page.until(has(chosen="Owls"))
    await page.hover("#account")
    await page.until(has(open=True))
    await page.click("#logout")
    await page.until(has(chosen="Log out", open=False))
    await page.hover("#jquery > li")
    await page.until_js("document.querySelector('#save').checkVisibility()")
    await page.click("#save")
    await page.until(has(chosen="Save as"))


@hand("files-native")
async def _(page: Probe) -> None:
    await page.set_files("#one", [PAGES / "files" / "note.txt"])
    await page.set_files("#hidden", [PAGES / "files" / "note.txt"])
    note = [{"name": "note.txt", "type": "text/plain", "size": 14, "text": "A short note.\n"}]
    await page.until(has(one=note, many=[], hidden=note))


@hand("files-dropzone")
async def _(page: Probe) -> None:
    await page.set_files(".dz-hidden-input", [PAGES / "files" / "note.txt"])
    await page.until(has(accepted=[{"name": "note.txt", "size": 14}], rejected=[]))


@pytest.mark.parametrize("name", sorted(HANDS))
async def test_what_a_page_believes_follows_a_hand(open_library_page: OpenPage, name: str) -> None:
    """Loads without errors, and its state is what a person would have made of it; what reached it was trusted."""
    page = await open_library_page(name)
    assert await page.errors() == []
    await HANDS[name](page)
    assert await page.errors() == []
    by_hand = [event for event in await page.events() if event[0] in ("mousedown", "keydown", "click")]
    assert name in NO_HAND or by_hand
    assert all(trusted for _, _, trusted, *_ in by_hand)


NO_HAND = {"drag-html", "files-native", "files-dropzone", "list-infinite"}
"""What happens there is not by mouse or key."""


def test_every_library_page_is_used() -> None:
    """A page that no hand was written for would be right only by its own word."""
    assert sorted(page.stem for page in PAGES.glob("*.html") if "shared/page.js" in page.read_text(encoding="utf-8")) == sorted(
        HANDS
    )


@pytest.mark.long
def test_controlled_fields_take_every_act() -> None:
    """What is typed, checked, chosen and sent is what React, Vue and Svelte believe; and the table of all pages can be made."""
    table = Path(__file__).with_name("acting_table.py")
    pages = ["inputs-react", "inputs-vue", "inputs-svelte"]
    done = subprocess.run([sys.executable, str(table), *pages], capture_output=True, text=True, timeout=300, check=True)
    rows = [[cell.strip() for cell in row.split("|")[1:4]] for row in done.stdout.splitlines()[2:]]
    assert {page for page, _, _ in rows} == set(pages)
    assert [row for row in rows if row[2] != "works" and row[1] != "multi-select, two"] == []
