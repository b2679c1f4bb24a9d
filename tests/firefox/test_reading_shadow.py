"""Trees in trees: page reference 21.1 and B81. Open and closed shadow roots, slots, what stands in them and where."""

from typing import Any

import pytest

from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox

HELP = "window.root = (host, html, mode = 'open') => { const r = host.attachShadow({mode}); r.innerHTML = html; return r; }"


async def with_roots(reader: PageReader, html: str, script: str) -> dict[str, Any]:
    await reader.open(f"{html}<script>{HELP};{script}</script>")
    return await reader.frame()


def labels(frame: dict[str, Any]) -> list[str]:
    return [one["label"] for one in frame["controls"]]


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_controls_and_text_of_a_root_stand_where_they_are_drawn(reader: PageReader, mode: str) -> None:
    """In flat-tree order, once; headings too; the light tree of a host without a slot is not drawn and not told."""
    frame = await with_roots(
        reader,
        "<button>a</button><div id=h><button>not drawn</button></div><button>z</button>",
        f"root(h, '<h2>Inside</h2><p>text</p><button>b</button><x-deep></x-deep><button>e</button>', '{mode}')"
        f".querySelectorAll('x-deep').forEach(x => root(x, '<button>c</button><input aria-label=d>', '{mode}'))",
    )
    assert labels(frame) == ["a", "b", "c", "d", "e", "z"]
    assert frame["text"].split("\n") == ["a", "Inside", "text", "b c e", "z"]
    assert frame["headings"] == ["Inside"]


async def test_slotted_controls_stand_where_their_slot_is(reader: PageReader) -> None:
    """Named slots, the default slot, what stands in an empty slot, a slot that is handed on."""
    frame = await with_roots(
        reader,
        "<x-card id=h><button slot=end>last</button><button>first</button><p>words</p><x-in id=i><b>deep</b></x-in></x-card>",
        "root(h, '<slot></slot><slot name=none><button>fallback</button></slot><hr><button>own</button><slot name=end></slot>');"
        "root(i, '<x-out><slot></slot></x-out>').querySelectorAll('x-out')"
        ".forEach(x => root(x, '<button>o</button><slot></slot>'))",
    )
    assert labels(frame) == ["first", "o", "fallback", "own", "last"]
    assert frame["text"].replace("\n", " ") == "first words o deep fallback own last"


async def test_ids_are_looked_up_in_the_control_s_own_tree_first(reader: PageReader) -> None:
    """Two trees with the same ids: labels and references do not cross."""
    frame = await with_roots(
        reader,
        "<i id=n>outer</i><div id=h></div><button aria-labelledby=n>x</button>",
        "root(h, '<i id=n>inner</i><button aria-labelledby=n>x</button><label for=f>Field</label><input id=f>')",
    )
    assert labels(frame) == ["inner", "Field", "outer"]


async def test_what_hides_a_host_hides_what_is_in_it(reader: PageReader) -> None:
    """By style, by markup, by clipping; and a section outside is the section of what is inside."""
    frame = await with_roots(
        reader,
        "<div id=a style='display:none'></div><div id=b aria-hidden=true></div><div id=c inert></div>"
        "<div style='overflow:hidden;height:0'><div id=d></div></div><section aria-label=Around><div id=e></div></section>",
        "for (const h of [a, b, c, d, e]) root(h, '<button>' + h.id + '</button><p>text ' + h.id + '</p>', 'closed')",
    )
    assert labels(frame) == ["e"]
    assert frame["text"] == "e\ntext e" or "text e" in frame["text"]
    assert not any(f"text {name}" in frame["text"] for name in "abcd")
    assert frame["controls"][0]["section"] == "Around"


async def test_numbers_of_controls_in_roots_last(reader: PageReader) -> None:
    """The same element has the same number; one whose host left is gone."""
    first = await with_roots(reader, "<div id=h></div>", "root(h, '<button>b</button>', 'closed')")
    again = await reader.frame()
    assert again["controls"][0]["node"] == first["controls"][0]["node"]
    assert again["controls"][0]["guard"] == first["controls"][0]["guard"]
    await reader.js("void h.remove()")
    assert (await reader.frame())["controls"] == []


async def test_styles_of_a_root_count_in_it(reader: PageReader) -> None:
    """The hand, and text that stands in the sheet of a root."""
    frame = await with_roots(
        reader,
        "<div id=h></div>",
        'root(h, \'<style>.go { cursor: pointer } .n::before { content: "New " }</style><span class=go>Go</span>'
        "<button class=n>post</button>')",
    )
    assert [(one["role"], one["label"]) for one in frame["controls"]] == [("clickable", "Go"), ("button", "New post")]


async def test_a_region_in_a_root_is_read_alone(reader: PageReader) -> None:
    """The flat tree counts: slotted controls lie inside of the form that their slot is in."""
    frame = await with_roots(
        reader,
        "<x-f id=h><button>slotted</button></x-f><button>out</button>",
        "root(h, '<form><input aria-label=i><slot></slot></form>')",
    )
    field = frame["controls"][0]
    part = await reader.frame(region={"frame": 0, "document": frame["document"], "node": field["form"]})
    assert [one["label"] for one in part["controls"] if one["role"] != "text"] in (["i", "slotted"], ["i"])
