"""Everything that is cut is counted, and there is a way to the rest: page reference 2.11, 21.22; focus, find, region, paging."""

import pytest

from foxloop_trio.channel import RemoteCallError
from foxloop_trio.testing._page_reader import PageReader

pytestmark = pytest.mark.firefox


async def test_long_pages_are_cut_and_say_so(reader: PageReader) -> None:
    """Page reference 2.10 and 2.11: 6000 characters, 300 controls, and the counts of what was left out."""
    frame = await reader.read("<p>" + "word " * 3000 + "</p>" + "<button>b</button>" * 320)
    assert (len(frame["text"]), len(frame["controls"])) == (6000, 300)
    assert (frame["truncated"], frame["total_controls"]) == (20, 320)
    assert frame["text_truncated"] >= 9000 - 1
    assert frame["total_text"] == frame["text_truncated"] + 6000


async def test_every_control_is_reached_by_paging(reader: PageReader) -> None:
    """Offset by offset, each once, in the order of the page; hidden ones in between are none."""
    rows = "".join(f"<button>b{at}</button><button hidden>no</button>" for at in range(730))
    await reader.open(rows)
    labels: list[str] = []
    while True:
        frame = await reader.frame(offset=len(labels), max_text=0)
        labels += [one["label"] for one in frame["controls"]]
        assert frame["text"] == ""
        if frame["truncated"] == 0:
            break
    assert labels == [f"b{at}" for at in range(730)]
    assert frame["total_controls"] == 730


async def test_every_word_is_reached_by_paging(reader: PageReader) -> None:
    """Text offset by text offset, nothing twice and nothing lost."""
    whole = "\n".join(f"Line {at} of the page" for at in range(900))
    await reader.open("".join(f"<p>{line}</p>" for line in whole.split("\n")))
    text = ""
    for _ in range(20):
        frame = await reader.frame(text_offset=len(text), max_text=1500, max_controls=1)
        text += frame["text"]
        assert frame["total_text"] >= len(text)
        if frame["text_truncated"] == 0:
            break
    assert text == whole
    assert frame["total_text"] == len(whole)


async def test_limits_can_be_set(reader: PageReader) -> None:
    """Fewer or more than at first."""
    await reader.open("<p>" + "w" * 20_000 + "</p>" + "<button>b</button>" * 1010)
    frame = await reader.frame(max_controls=1000, max_text=15_000)
    assert (len(frame["controls"]), frame["truncated"], len(frame["text"])) == (1000, 10, 15_000)
    frame = await reader.frame(max_controls=1, max_text=0)
    assert (len(frame["controls"]), frame["truncated"], frame["text"]) == (1, 1009, "")


async def test_find_tells_what_holds_the_words(reader: PageReader) -> None:
    """Case and white space do not matter: labels, values, options, placeholders and names of controls; lines of text, each of which
    can be pressed too."""
    await reader.open(
        "<p>First line</p><p>The <b>Needle   in</b> hay</p><button>a needle in it</button><button>other</button>"
        "<input aria-label=v value='NEEDLE IN'><input aria-label=p placeholder='needle in'><select aria-label=s><option>x"
        "<option>needle in</select><input type=password aria-label=w value='needle in'><button hidden>needle in</button>"
    )
    frame = await reader.frame(find=" needle  IN ")
    assert [(one["role"], one["label"]) for one in frame["controls"]] == [
        ("button", "a needle in it"),
        ("textbox", "v"),
        ("textbox", "p"),
        ("combobox", "s"),
        ("text", "Needle in"),
    ]
    assert frame["text"] == "The Needle in hay\na needle in it" or frame["text"].split("\n")[0] == "The Needle in hay"
    assert (await reader.frame(find="nobody"))["controls"] == []


async def test_a_region_is_read_alone(reader: PageReader) -> None:
    """What lies inside an element, by its number; the flat tree counts, so what is slotted into it is inside."""
    frame = await reader.read("<p>out</p><form id=f><p>in</p><input aria-label=i><button>go</button></form><button>other</button>")
    form = frame["controls"][0]["form"]
    region = {"frame": 0, "document": frame["document"], "node": form}
    part = await reader.frame(region=region)
    assert [one["label"] for one in part["controls"] if one["role"] != "text"] == ["i", "go"]
    assert part["text"].split("\n")[0] == "in"
    assert "out" not in part["text"]
    assert [one["label"] for one in part["controls"] if one["role"] == "text"] == ["in"]
    await reader.js("void f.remove()")
    with pytest.raises(RemoteCallError) as caught:
        await reader.frame(region=region)
    assert caught.value.code == "document-gone"
    with pytest.raises(RemoteCallError) as caught:
        await reader.frame(region={**region, "document": "0" * 32})
    assert caught.value.code == "document-gone"


async def test_the_focus_chooses_what_is_told(reader: PageReader) -> None:
    """When there is too much: controls, lines and options that hold its words first; told in the order of the page."""
    many = "".join(f"<p>Line {at}</p><button>Button {at}</button>" for at in range(400))
    options = "".join(f"<option>{at}</option>" for at in range(400))
    await reader.open(f"{many}<p>The delivery costs 5</p><input aria-label='Delivery address'><select aria-label=s>{options}"
                      "<option>By delivery van</select>")  # fmt: skip
    frame = await reader.frame(focus="Where is the delivery address?", max_controls=5, max_text=60)
    labels = [one["label"] for one in frame["controls"]]
    assert labels == ["Button 0", "Button 1", "Button 2", "Button 3", "Delivery address"]
    assert (frame["truncated"], frame["total_controls"]) == (397, 402)
    assert "The delivery costs 5" in frame["text"].split("\n")
    assert frame["text"].startswith("Line 0")
    assert frame["text_truncated"] > 1000
    everything = await reader.frame(focus="delivery", max_controls=1000)
    select = everything["controls"][-1]
    assert (select["options"][-1]["label"], len(select["options"]), select["options_more"]) == ("By delivery van", 300, 101)


async def test_all_is_told_where_the_focus_need_not_choose(reader: PageReader) -> None:
    """A focus leaves nothing out by itself."""
    html = "<p>one</p><button>two</button>"
    plain, focused = await reader.read(html), await reader.read(html, focus="nothing of it")
    assert (plain["text"], len(plain["controls"])) == (focused["text"], len(focused["controls"]))
