"""Looks that meet something else: another look, a cancel, a page that changes, moves or closes; and options that make no sense."""

from typing import Any

import pytest
import trio

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.errors import BadOptionsError, BrowserError
from foxloop_trio.testing._page_reader import PageReader, soon

pytestmark = pytest.mark.firefox

SLOW = "<p>" + "<b>word</b> " * 40_000 + "</p><button>one</button>"


async def test_two_looks_at_once_see_the_same(reader: PageReader) -> None:
    """Neither disturbs the other, and each has a generation of its own."""
    await reader.open("<button>one</button>")
    looks: list[Any] = []

    async def look(**options: Any) -> None:
        looks.append(await reader.tab.snapshot(**options))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(look)
    assert {one.control("0:1").label for one in looks} == {"one"}
    assert {one.control("0:1").guard for one in looks} == {looks[0].control("0:1").guard}
    assert len({one.generation for one in looks}) == 5


async def test_a_cancelled_look_leaves_nothing_behind(reader: PageReader) -> None:
    """At any moment of it; the next look is answered as usual."""
    await reader.open(SLOW)
    for seconds in (0, 0.001, 0.01, 0.05):
        with trio.move_on_after(seconds):
            await reader.tab.snapshot()
    with trio.fail_after(20):
        assert (await reader.tab.snapshot()).controls[0].label == "one"
        assert reader.session.channel.statistics().waiting == 0


async def test_a_tab_that_closes_while_it_is_read_ends_the_look(firefox: BrowserSession, reader: PageReader) -> None:
    """With the reason, and not after the ten seconds in which a page may still come."""
    tab = await firefox.open_tab(reader.site.put(SLOW))
    caught: list[str] = []

    async def look() -> None:
        with pytest.raises(BrowserError) as refused:
            while True:
                await tab.snapshot()
        caught.append(refused.value.code)

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            await trio.sleep(0.05)
            await tab.close()
    assert caught == ["no-tab"]


async def test_a_page_that_moves_on_while_it_is_read_is_read_where_it_arrives(reader: PageReader) -> None:
    """One document or the other, never parts of both."""
    second = reader.site.put("<button>two</button>")
    await reader.open(SLOW)
    await reader.js(f"void setTimeout(() => location.href = {second!r}, 5)")
    with trio.fail_after(20):
        while True:
            page = await reader.tab.snapshot()
            assert [one.label for one in page.controls] == (["two"] if page.url == second else ["one"])
            if page.url == second:
                break


async def test_frames_that_move_on_while_they_are_read_are_told_or_named(reader: PageReader) -> None:
    """Each read ends in time, and has the top frame."""
    inner = reader.site.put("<p>inner</p><script>setTimeout(() => location.reload(), 20)</script>")
    await reader.open(f"<button>top</button><iframe src={inner}></iframe><iframe src={inner}></iframe>")
    for _ in range(20):
        with trio.fail_after(10):
            page = await reader.tab.snapshot()
        assert page.controls[0].label == "top"
        assert len(page.frames) + len(page.unreadable) <= 3


async def test_paging_through_a_page_that_changes_ends(reader: PageReader) -> None:
    """Controls that come and go may be passed over; no page is an error and none goes beyond the end."""
    await reader.open("<div id=d>" + "<button>b</button>" * 50 + "</div>")
    offset = 0
    for _ in range(20):
        page = await reader.tab.snapshot(frame=0, offset=offset, max_controls=10)
        if not page.controls:
            break
        offset += len(page.controls)
        await reader.js("void (d.children[0].remove(), d.children[0].remove(), d.append(document.createElement('button')))")
    assert page.controls == ()
    assert page.top.truncated == 0


async def test_a_look_at_another_page_has_nothing_to_be_compared_with(firefox: BrowserSession, reader: PageReader) -> None:
    """`since` of another tab or of another document: said, and not compared by ids that mean something else."""
    await reader.open("<button>one</button>")
    before = await reader.tab.snapshot()
    other = await firefox.open_tab(reader.site.put("<button>two</button>"))
    try:
        changes = (await other.snapshot(since=before)).changes
    finally:
        await other.close()
    assert changes is not None
    assert changes.another_page
    assert not changes.changed


NONSENSE: list[dict[str, Any]] = [
    {"since": "last"}, {"since": {}}, {"focus": 3}, {"find": 3}, {"find": " "}, {"find": "x" * 10_000}, {"region": 3},
    {"region": "button"}, {"region": "0:0"}, {"region": "0:1\n"}, {"frame": -1}, {"frame": "0"}, {"frame": True}, {"frame": 2**60},
    {"offset": -1}, {"offset": 1.5}, {"offset": 10**400}, {"text_offset": 2**53}, {"max_controls": 0}, {"max_controls": 10**9},
    {"max_text": -1}, {"max_text": 10**9},
]  # fmt: skip


@pytest.mark.parametrize("options", NONSENSE, ids=lambda options: str(options)[:40])
async def test_options_that_make_no_sense_are_refused_by_name(tab: Tab, options: dict[str, Any]) -> None:
    """Before anything is asked; the message names the option."""
    with pytest.raises(BadOptionsError, match=next(iter(options))):
        await tab.snapshot(**options)


async def test_half_characters_in_what_is_asked_do_not_break_the_line(reader: PageReader) -> None:
    """They have no UTF-8; a model can write them all the same."""
    await reader.open("<button>one</button>")
    assert (await reader.tab.snapshot(find="\ud800")).controls == ()
    assert len((await reader.tab.snapshot(focus="\udfff one")).controls) == 1


async def test_a_page_that_shows_a_dialog_is_read_all_the_same(reader: PageReader) -> None:
    """Page reference 7: its script stands still, and what it shows is told; afterwards it goes on."""
    await reader.open("<p id=p>before</p><button>b</button>")
    await reader.js("void setTimeout(() => { p.textContent = 'asked'; alert('Real'); p.textContent = 'after' }, 50)")

    async def asked() -> bool:
        return "asked" in str((await reader.frame())["text"])

    with trio.fail_after(30):
        await soon(asked)
        assert [one["label"] for one in (await reader.frame())["controls"]] == ["b"]
        context = await reader.tab.bidi_context()

        async def answered() -> bool:
            try:
                await reader.session.bidi("browsingContext.handleUserPrompt", context=context, accept=True)
            except BrowserError as error:
                assert error.code == "no-such-alert"  # noqa: PT017  # the page stands still a moment before Firefox knows why
                return False
            return True

        await soon(answered)
    assert "after" in (await reader.frame())["text"]
