"""All frames of a tab, joined: page reference 3 and 21.9."""

from typing import Any

import pytest
import trio

from foxloop_trio.channel import RemoteCallError
from foxloop_trio.testing._page_reader import PageReader, soon

pytestmark = pytest.mark.firefox

INNER = "<p>inner {0}</p><input aria-label=field-{0}>"


async def joined(reader: PageReader, html: str, frames: int) -> dict[str, Any]:
    """Read the page once so many frames can be read."""
    await reader.open(html)
    answer: dict[str, Any] = {}

    async def all_there() -> bool:
        answer.clear()
        answer.update(await reader.answer())
        return len(answer["frames"]) == frames

    await soon(all_there)
    return answer


async def test_frames_of_every_kind_are_joined(reader: PageReader) -> None:
    """Same origin, another origin, srcdoc, about:blank, sandboxed with and without scripts, data:, nested; numbered small, in
    the order of the page, each with its parent and where it begins."""
    site = reader.site
    nested = site.put(INNER.format("outer") + "<iframe srcdoc='" + INNER.format("nested") + "'></iframe>")
    answer = await joined(
        reader,
        f"<p>top</p><iframe src={site.put(INNER.format('same'))}></iframe>"
        f"<iframe src={site.put(INNER.format('other')).replace('127.0.0.1', 'localhost')}></iframe>"
        f"<iframe src={nested}></iframe><iframe></iframe>"
        f"<iframe sandbox srcdoc='{INNER.format('boxed')}'></iframe>"
        f"<iframe sandbox=allow-scripts src={site.put(INNER.format('scripts'))}></iframe>"
        f"<iframe src='data:text/html,{INNER.format('data')}'></iframe>",
        9,
    )
    frames = answer["frames"]
    labels = [[one["label"] for one in frame["controls"]] for frame in frames]
    names = ["same", "other", "outer", "nested", None, "boxed", "scripts", "data"]
    assert labels == [[], *([f"field-{name}"] if name else [] for name in names)]
    assert [frame["text"] for frame in frames] == ["top", *(f"inner {name}" if name else "" for name in names)]
    numbers = [frame["frame"] for frame in frames]
    assert numbers[0] == 0
    assert sorted(numbers) == list(range(9))
    parents = [frame["parent"] for frame in frames]
    assert parents == [None, 0, 0, 0, numbers[3], 0, 0, 0, 0]
    assert frames[0]["origin"] == [0, 0]
    assert all(frame["origin"][1] > 0 for frame in frames[1:])
    inner = frames[4]["origin"]
    assert (inner[0] > frames[3]["origin"][0], inner[1] > frames[3]["origin"][1]) == (True, True)
    assert answer["unreadable"] == []
    again = await reader.answer()
    assert [frame["frame"] for frame in again["frames"]] == numbers


async def test_frames_that_nobody_can_see_are_not_read(reader: PageReader) -> None:
    """Hidden words do not come in by a frame; nor does what stands in a frame of theirs."""
    answer = await joined(
        reader,
        "<iframe style='display:none' srcdoc='<p>hidden'></iframe><iframe width=1 height=1 style='border:0' srcdoc=tiny></iframe>"
        "<div style='opacity:0'><iframe srcdoc='<iframe srcdoc=deep></iframe>'></iframe></div><iframe srcdoc='<p>seen'></iframe>",
        2,
    )
    assert [frame["text"] for frame in answer["frames"]] == ["", "seen"]
    assert answer["unreadable"] == []


async def test_frames_that_cannot_be_read_are_named(reader: PageReader) -> None:
    """Page reference 3: with address and reason."""
    answer = await joined(reader, "<iframe src='about:config'></iframe><iframe src='http://127.0.0.1:1/'></iframe>", 1)
    assert [one["url"] for one in answer["unreadable"]] == ["about:config", "http://127.0.0.1:1/"]
    assert all(one["reason"] for one in answer["unreadable"])


async def test_the_text_of_all_frames_together_is_bounded_the_top_one_first(reader: PageReader) -> None:
    """Page reference 21.9: what a frame has no room for is counted in it."""
    long = "<p>" + "w" * 70 + "</p>"
    await joined(reader, f"{long}<iframe srcdoc='{long}'></iframe><iframe srcdoc='{long}'></iframe>", 3)
    frames = (await reader.answer(max_text=100))["frames"]
    assert [(len(frame["text"]), frame["text_truncated"], frame["total_text"]) for frame in frames] == [
        (70, 0, 70),
        (30, 40, 70),
        (0, 70, 70),
    ]


async def test_one_frame_can_be_read_alone(reader: PageReader) -> None:
    """By its number; one that went away is gone."""
    answer = await joined(reader, "<p>top</p><iframe id=f srcdoc='<p>in</p><button>b</button>'></iframe>", 2)
    number = answer["frames"][1]["frame"]
    (frame,) = (await reader.answer(frame=number))["frames"]
    assert (frame["text"], frame["frame"], frame["parent"], frame["origin"]) == ("in\nb", number, 0, answer["frames"][1]["origin"])
    await reader.js("void f.remove()")

    async def is_gone() -> bool:
        try:
            await reader.answer(frame=number)
        except RemoteCallError as error:
            return error.code == "document-gone"
        return False

    await soon(is_gone)


async def test_a_frame_in_a_shadow_root_is_read(reader: PageReader) -> None:
    """B81: also in a closed one."""
    await reader.open("<div id=h></div>")
    await reader.js("void (h.attachShadow({mode: 'closed'}).innerHTML = '<iframe srcdoc=\"<button>deep</button>\"></iframe>', 0)")

    async def there() -> bool:
        frames = (await reader.answer())["frames"]
        return [[one["label"] for one in frame["controls"]] for frame in frames] == [[], ["deep"]]

    await soon(there)


async def test_an_editor_that_is_a_frame_is_a_text_box(reader: PageReader) -> None:
    """Page reference 21.3: a document in design mode."""
    answer = await joined(reader, "<iframe id=e srcdoc='<p>draft</p>'></iframe>", 2)
    await reader.js("void (e.contentDocument.designMode = 'on')")
    answer = await reader.answer()
    assert [(one["role"], one["value"]) for one in answer["frames"][1]["controls"]] == [("textbox", "draft")]


async def test_a_frame_that_hangs_does_not_keep_the_page_from_being_read(reader: PageReader) -> None:
    """A frame of another origin that never comes back is told as unreadable; the rest is there."""
    busy = reader.site.put(
        "<p>busy</p><script>setTimeout(() => { for (const end = Date.now() + 6000; Date.now() < end;); }, 300)</script>"
    )
    await joined(reader, f"<p>top</p><iframe src={busy.replace('127.0.0.1', 'localhost')}></iframe>", 2)
    await trio.sleep(0.6)
    with trio.fail_after(5):
        answer = await reader.answer()
    assert answer["frames"][0]["text"] == "top"
    if len(answer["frames"]) == 1:  # where Firefox gave the other origin a process of its own
        assert [one["reason"] for one in answer["unreadable"]] == ["it did not answer in time"]


async def test_a_captcha_in_a_frame_is_one_of_the_page(reader: PageReader) -> None:
    """Page reference 3: true for the page when it is for any frame."""
    widget = "<div class=h-captcha style=width:300px;height:80px>challenge</div>"
    await reader.open(f"<p>words</p><iframe srcdoc='{widget}' width=400 height=200></iframe>")
    with trio.fail_after(30):
        snapshot = await reader.tab.snapshot()
    assert [frame.captcha for frame in snapshot.frames] == [False, True]
    assert snapshot.captcha
