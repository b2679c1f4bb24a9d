"""Controls that scripts make of anything: date pickers, drop-downs, lists, things to drag, drawings; and finding them by a row."""

import pytest

from foxloop_trio.browser import page_text
from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox


async def told(reader: PageReader, html: str) -> list[tuple[str, str]]:
    return [(one["role"], one["label"]) for one in await reader.controls(html)]


async def test_an_anchor_that_names_its_handler_is_a_button(reader: PageReader) -> None:
    """As those of jQuery UI's date picker, without an address and without a hand. A mark in the text is none."""
    html = "<a class=p data-handler=prev>Prev</a><a title='Next month'>Next</a><a name=here>Here</a>"
    assert await told(reader, html) == [("clickable", "Prev"), ("clickable", "Next")]


async def test_a_box_around_a_select_that_cannot_be_seen_is_told(reader: PageReader) -> None:
    """A made-up drop-down keeps the select that it stands for out of sight; where that can be seen, it is told and not the box."""
    box = "<div style='cursor:pointer;width:90px;height:20px'><select {} aria-label=Size><option>S</select><b>S ▾</b></div>"
    assert await told(reader, box.format("hidden")) == [("clickable", "S ▾")]
    assert await told(reader, box.format("")) == [("combobox", "Size")]


async def test_the_items_of_a_list_under_the_hand_are_told_once(reader: PageReader) -> None:
    """Whether the hand is the list's, its items', or both; and again at the next look."""
    html = "<style>.u, .i {{ cursor: pointer }}</style><ul class={}><li class={}>One</li><li class={}>Two</li></ul>"
    for list_class, item_class in (("u", "i"), ("u", ""), ("", "i")):
        wanted = [("clickable", "One"), ("clickable", "Two")]
        assert await told(reader, html.format(list_class or "''", item_class or "''", item_class or "''")) == wanted
        assert [(one["role"], one["label"]) for one in (await reader.frame())["controls"]] == wanted


async def test_what_can_be_dragged_is_told_with_its_box(reader: PageReader) -> None:
    """By its attribute or by a library's class; a picture in it is not told besides."""
    html = (
        "<p draggable=true style='width:80px'>Card</p><ul><li class=ui-sortable-handle style='width:80px'>Row"
        "<i style='display:inline-block;width:20px;height:20px;background:red'></i></li></ul>"
    )
    controls = await reader.controls(html)
    assert [(one["role"], one["label"], one["box"][2]) for one in controls] == [("draggable", "Card", 80), ("draggable", "Row", 80)]
    lines = page_text(await reader.tab.snapshot()).splitlines()
    assert lines[3].startswith('[0:1] draggable "Card" box=[')


async def test_a_drawing_is_told_before_its_shapes(reader: PageReader) -> None:
    """So that its points can be clicked. One that is an icon, or has nothing in it, is not."""
    html = (
        "<svg width=100 height=60 aria-label=Map><circle r=3 cx=50.5 cy=30 /><circle r=4 cx=20 cy=20 /></svg>"
        "<svg width=16 height=16><circle r=5 cx=8 cy=8 /></svg><svg width=90 height=90></svg>"
    )
    assert [one[0] for one in await told(reader, html)] == ["drawing", "shape", "shape"]
    assert (await reader.controls(html))[0]["label"] == "Map"


async def test_a_search_finds_the_controls_of_a_row_by_its_words(reader: PageReader) -> None:
    """The row's own words are found too; controls of other rows are not."""
    html = "<table>" + "".join(f"<tr><td>{who}<td><button>Call</button>" for who in ("Ada", "Bob", "Cy")) + "</table>"
    await reader.controls(html)
    found = (await reader.frame(find="bob"))["controls"]
    (button,) = (one for one in found if one["role"] != "text")
    assert (button["label"], button["node"]) == ("Call", (await reader.frame())["controls"][1]["node"])


async def test_a_field_of_several_lines_is_told_as_one(reader: PageReader) -> None:
    """Two fields without a label can be told apart."""
    await reader.controls("<input><textarea></textarea>")
    assert page_text(await reader.tab.snapshot()).splitlines()[3:5] == ['[0:1] textbox ""', '[0:2] textbox "" (multiline)']


async def test_buttons_of_an_editor_are_called_by_their_class(reader: PageReader) -> None:
    """As Quill's, which have no other name."""
    assert await told(reader, "<button class=ql-bold><svg width=9 height=9></svg></button>") == [("button", "bold")]
