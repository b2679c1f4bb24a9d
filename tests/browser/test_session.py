"""`BrowserSession` over a stand-in in memory: tabs by their ids, leases, news, and how the channel's faults are told."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from foxloop_trio.errors import BrowserError, BusyError, UsageError
from foxloop_trio.testing._firefox_stand_in import Refused, StandIn, stand_in, tab_state


def refuse(code: str) -> Any:
    def answer(request: Any) -> None:
        raise Refused(code)

    return answer


def serve_tabs(addon: StandIn, *ids: int) -> None:
    addon.on["tab.list"] = lambda request: {"tabs": [tab_state(tab, active=tab == ids[-1]) for tab in ids]}
    addon.on["tab.get"] = lambda request: {"tab": tab_state(request.params["tab"])}


async def test_a_tab_is_the_same_object_each_time(autojump_clock: MockClock) -> None:
    """Buglog B38: tabs are named by an id that is never used again; so a lock on one is a lock on it for everybody."""
    async with stand_in() as (session, addon):
        serve_tabs(addon, 3, 7)
        first = await session.tabs()
        assert [tab.id for tab in first] == [3, 7]
        assert all(one is other for one, other in zip(first, await session.tabs(), strict=True))
        assert await session.active_tab() is first[1]
        assert first[1].session is session


async def test_a_closed_tab_is_forgotten(autojump_clock: MockClock) -> None:
    """Buglog B38: what the add-on tells of a tab is taken in at the next look."""
    async with stand_in() as (session, addon):
        serve_tabs(addon, 3, 7)
        three, seven = await session.tabs()
        await addon.tell("tab.removed", tab=7)
        await addon.tell("tab.changed", tab=tab_state(3, url="https://Bank.test/a", title="Bank"))
        await trio.testing.wait_all_tasks_blocked()
        assert (three.url, three.title, three.host) == ("https://Bank.test/a", "Bank", "bank.test")
        assert (seven.closed, three.closed) == (True, False)
        assert session.statistics().tabs == 1


async def test_no_tab_in_front_is_told(autojump_clock: MockClock) -> None:
    """Our choice: BrowserError no-tab with the way out."""
    async with stand_in() as (session, addon):
        addon.on["tab.list"] = lambda request: {"tabs": [tab_state(3, active=False)]}
        with pytest.raises(BrowserError, match="open_tab") as caught:
            await session.active_tab()
        assert caught.value.code == "no-tab"


@pytest.mark.parametrize(
    "host", [("http://a.test:8080/x", "a.test"), ("http://[::1]:80/", "[::1]"), ("about:blank", None), ("file:///etc", None)]
)
async def test_the_host_is_the_name_alone(host: tuple[str, str | None], autojump_clock: MockClock) -> None:
    """Tool reference 3: host name, lower case, no port; a tab without a web page has none."""
    async with stand_in() as (session, addon):
        addon.on["tab.list"] = lambda request: {"tabs": [tab_state(3, url=host[0])]}
        (tab,) = await session.tabs()
        assert tab.host == host[1]


async def test_a_tab_has_one_owner(autojump_clock: MockClock) -> None:
    """API: one owner per tab. The second is told at once, and the lease ends with its block, whatever ends that."""
    async with stand_in() as (session, addon):
        serve_tabs(addon, 3)
        async with session.lease(3) as tab:
            with pytest.raises(BusyError, match="tab 3 is leased"):
                async with session.lease(tab):
                    raise AssertionError("two owners")
            assert session.statistics().leased == (3,)
        with trio.move_on_after(1):
            async with session.lease(3):
                await trio.sleep_forever()
        with pytest.raises(KeyError):
            async with session.lease(3):
                raise KeyError
        assert session.statistics().leased == ()


async def test_a_lease_of_a_tab_that_is_not_there_is_refused(autojump_clock: MockClock) -> None:
    """Our choice: no-tab, and no lease is left behind."""
    async with stand_in() as (session, addon):
        addon.on["tab.get"] = refuse("no-tab")
        with pytest.raises(BrowserError) as caught:
            async with session.lease(9):
                raise AssertionError("leased nothing")
        assert caught.value.code == "no-tab"
        assert session.statistics().leased == ()


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "about:config", "moz-extension://x/", "http://", "x"]
)
async def test_only_web_addresses_are_opened(url: str, autojump_clock: MockClock) -> None:
    """Buglog B68: everything else is refused before anything is sent."""
    async with stand_in() as (session, addon):
        serve_tabs(addon, 3)
        (tab,) = await session.tabs()
        for attempt in (session.open_tab, tab.goto):
            with pytest.raises(BrowserError) as caught:
                await attempt(url)
            assert caught.value.code == "illegal-url"
        assert addon.asked == ["tab.list"]


async def test_open_tab_asks_for_the_front_and_returns_the_tab(autojump_clock: MockClock) -> None:
    """Corpora, fact 1: only a tab that was opened in front has the focus."""
    async with stand_in() as (session, addon):
        addon.on["tab.open"] = lambda request: {"tab": tab_state(5, url=request.params["url"])}
        tab = await session.open_tab("http://shop.test/a")
        assert (tab.id, tab.url) == (5, "http://shop.test/a")
        assert addon.params[0]["active"] is True
        with pytest.raises(NotImplementedError, match="container"):
            await session.open_tab("http://shop.test/a", container="work")


async def test_a_lost_browser_ends_pending_and_later_calls(autojump_clock: MockClock) -> None:
    """Issue: a killed Firefox ends pending calls with BrowserError browser-lost, promptly; `ready` says so too."""
    async with stand_in() as (session, addon):
        serve_tabs(addon, 3)
        await session.ready()
        (tab,) = await session.tabs()
        addon.on["tab.get"] = lambda request: None
        codes: list[str] = []

        async def ask() -> None:
            with pytest.raises(BrowserError) as caught:
                await tab.refresh()
            codes.append(caught.value.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            await addon.hang_up()
        assert trio.current_time() == 0
        for later in (session.ready, session.tabs, tab.snapshot, tab.screenshot):
            with pytest.raises(BrowserError) as caught:
                await later()
            codes.append(caught.value.code)
        assert codes == ["browser-lost"] * 5
        assert session.lost
        assert session.statistics().lost


async def test_bidi_is_for_launched_sessions(autojump_clock: MockClock) -> None:
    """Ruling 49: without it, the call can never work, and says so."""
    async with stand_in() as (session, _):
        with pytest.raises(UsageError, match="launched"):
            await session.bidi("session.status")


async def test_the_id_is_the_one_of_the_hello(autojump_clock: MockClock) -> None:
    """API: session.id."""
    async with stand_in() as (session, _):
        assert session.id == "5e" * 16
        assert "attached" in repr(session)
