"""One attached Firefox, over one `ChannelSession`. Owns the tabs by their ids, who leases them, and how the channel's faults are
told.

It holds no task. What the add-on tells by itself (a tab changed, a tab is gone) is taken from the channel's bounded subscription
whenever somebody looks.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import attrs
import trio

from ..channel import Call, ChannelSession
from ..errors import BadOptionsError, BrowserError, BusyError, ChannelError, UsageError
from ..ports import Ids
from ..wire import Notification
from ._bidi import Commander
from ._faults import browser_error, lost_error, of_address
from ._navigation import Navigation, check_navigation
from ._tab import Tab, check_address

__all__ = ["BrowserSession", "BrowserStatistics"]

TAB_SECONDS: Final = 10.0
"""For what needs no page: list, get, activate, close. Measured below 1 ms; on a busy machine another Firefox may be starting."""
LET_GO_SECONDS: Final = 2.0
"""To let go of a tab when a lease ends; measured below 1 ms."""
OPEN_SECONDS: Final = 15.0
"""For a new document to say hello: the page reference's limit for a navigation."""


@attrs.frozen(kw_only=True)
class BrowserStatistics:
    """A snapshot for debugging. `tabs` counts the tabs known by now, `leased` lists the ids of those with an owner."""

    lost: bool
    tabs: int
    leased: tuple[int, ...]
    channel: Any


class BrowserSession:
    """A Firefox that our add-on is attached to. Usable over any `ChannelSession`, real or in memory.

    * `bidi`: sends WebDriver BiDi commands; only a launched Firefox has it.
    * `allow_focus`: acts may give the page the focus. A Firefox of our own: yes; a person's: only with a lease that says so.
    * `trusted_input`: presses, keys, typing and hovering in the top document are input of Firefox's own, over BiDi, for pages that
      take no events of a script. It needs the tab in front, and is ten times slower.
    * `ids`: random bytes for the ids of acts.
    """

    def __init__(
        self,
        channel: ChannelSession,
        *,
        bidi: Commander | None = None,
        allow_focus: bool = False,
        trusted_input: bool = False,
        ids: Ids | None = None,
    ) -> None:
        if trusted_input and bidi is None:
            raise BadOptionsError(
                "trusted_input needs BiDi, which only a Firefox that we launched has: launch_firefox(trusted_input=True)"
            )
        self.channel = channel
        self.trusted_input = trusted_input
        self.allow_focus = allow_focus
        self._bidi = bidi
        self._ids: Ids = ids or (lambda nbytes, purpose: secrets.token_bytes(nbytes))
        self._tabs: dict[int, Tab] = {}
        self._leases: set[int] = set()
        self._held: set[int] = set()
        self._news = channel.events()
        self._missed = 0

    def __repr__(self) -> str:
        return f"<BrowserSession {self.id[:8]}, {'lost' if self.lost else 'attached'}, {len(self._tabs)} tabs known>"

    @property
    def id(self) -> str:
        """32 hex digits, new for each session."""
        return self.channel.peer.session

    @property
    def lost(self) -> bool:
        """The connection to Firefox is gone; every call raises BrowserError, code ``browser-lost``."""
        return self.channel.closed

    async def ready(self) -> None:
        """Nothing when the browser is attached. Raises BrowserError, code ``browser-lost``, when it is gone for good."""
        await trio.lowlevel.checkpoint()
        if self.lost:
            raise lost_error()

    async def wait_lost(self) -> None:
        """Returns when the browser is gone for good; wakes a run that is paused."""
        await self.channel.wait_closed()

    def statistics(self) -> BrowserStatistics:
        return BrowserStatistics(
            lost=self.lost, tabs=len(self._tabs), leased=tuple(sorted(self._leases)), channel=self.channel.statistics()
        )

    async def bidi(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a WebDriver BiDi command and return its result; launched sessions only.

        Raises UsageError without BiDi, and BrowserError with the command's BiDi code (``no-such-frame``), ``bidi-timeout`` or
        ``browser-lost``.
        """
        if self._bidi is None:
            raise UsageError("session.bidi: only a launched Firefox has BiDi (it allows one WebDriver session)", code="no-bidi")
        return await self._bidi.call(method, params)

    # Tabs

    async def tabs(self) -> list[Tab]:
        """All tabs, windows and tabs in Firefox's order. One tab is the same `Tab` object each time."""
        answer = await self.call("tab.list", {}, timeout=TAB_SECONDS)
        here = [self._know(state) for state in answer["tabs"]]
        for gone in self._tabs.keys() - {tab.id for tab in here}:
            self._forget(gone)
        return here

    def known_tab(self, tab_id: int) -> Tab | None:
        """The tab with this id by what the add-on told last; None when it told nothing of it, or that it is gone."""
        self.catch_up()
        return self._tabs.get(tab_id)

    async def tab(self, tab_id: int) -> Tab:
        """The tab with this id, with its state as it is now. Raises BrowserError, code ``no-tab``, when there is none."""
        answer = await self.call("tab.get", {"tab": tab_id}, timeout=TAB_SECONDS)
        return self._know(answer["tab"])

    async def open_tab(self, url: str, *, container: str | None = None, beside: Tab | None = None) -> Tab:
        """Open `url` in a new foreground tab; returns once its document can be worked on.

        `beside`: a tab with whose work it goes on; when that is leased with ``navigation="block"``, the new one is held in the same
        way, until that lease ends.

        Raises NotImplementedError for a `container`, and BrowserError: ``illegal-url`` for an address that is not http, https or
        about:blank, ``navigation-failed`` when no document came. Cancelled or late, it leaves no tab: one
        that was opened in the same moment is closed again.
        """
        if container is not None:
            raise NotImplementedError("open_tab(container=…) comes with parallel sessions in one browser")
        check_address(url, blank=True)
        held = {"held_with": beside.id} if beside is not None and beside.id in self._held else {}
        try:
            call = self.channel.start("tab.open", {"url": url, "active": True, **held}, timeout=OPEN_SECONDS)
        except ChannelError as error:
            raise browser_error(error) from error
        try:
            answer = await call.result()
        except trio.Cancelled:
            await self._take_back(call)
            raise
        except ChannelError as error:
            await self._take_back(call)
            raise of_address(browser_error(error), url) from error
        self.catch_up()  # what was told before the answer must not be taken for newer than it
        return self._know(answer["tab"])

    async def _take_back(self, call: Call) -> None:
        """Close what that call opens, or has opened: nobody will be told its id."""
        with trio.move_on_after(LET_GO_SECONDS, shield=True), suppress(ChannelError):
            answer = await call.cancel(LET_GO_SECONDS)
            if answer is not None:
                await self.channel.call("tab.close", {"tab": answer["tab"]["tab"]}, timeout=LET_GO_SECONDS)

    async def active_tab(self) -> Tab:
        """The tab in front; with several windows, that of the first. Raises BrowserError, code ``no-tab``, when there is none."""
        for tab in await self.tabs():
            if tab.active:
                return tab
        raise BrowserError("Firefox has no tab in front; open one with session.open_tab(url)", code="no-tab")

    @asynccontextmanager
    async def lease(self, tab: Tab | int, *, navigation: Navigation = "notice", hosts: Sequence[str] = ()) -> AsyncIterator[Tab]:
        """Be the one owner of a tab (a `Tab` or its id) for the length of the block.

        `navigation` is about what the page starts by itself: a link, a script, a form, a redirect, a refresh, a window that it
        opens. With ``"notice"`` it is told in results, and tools do nothing more on another host without a grant. With
        ``"block"``, what leads to another host than the one that the tab shows, or one of `hosts`, is stopped before it loads, in
        this tab, in those that it opens and in those that `open_tab` opens beside it; a page that was kept for the back button
        comes without a request, and is left at once. `Tab.stopped` says what was. What you open yourself is never stopped.

        Raises BusyError, at once, while another block owns it, BrowserError, code ``no-tab``, when it is not there, and
        BadOptionsError for another word or for `hosts` that are none.
        """
        allowed = check_navigation(navigation, hosts)
        wanted = tab.id if isinstance(tab, Tab) else tab
        if wanted in self._leases:
            raise BusyError(
                f"tab {wanted} is leased already; wait for its owner, or open a tab of your own with session.open_tab(url)"
            )
        self._leases.add(wanted)
        try:
            answer = await self.call("tab.get", {"tab": wanted}, timeout=TAB_SECONDS)
            leased = self._know(answer["tab"])
            if navigation == "notice":
                yield leased
                return
            self._held.add(wanted)
            try:
                await self.call("tab.hold", {"tab": wanted, "hosts": allowed}, timeout=TAB_SECONDS)
                yield leased
            finally:
                self._held.discard(wanted)
                await self._let_go(wanted)
        finally:
            self._leases.discard(wanted)

    async def _let_go(self, tab_id: int) -> None:
        """The tab is its user's again, whatever ended the lease. A lost browser lets go by itself."""
        with trio.move_on_after(LET_GO_SECONDS, shield=True), suppress(BrowserError):
            await self.call("tab.hold", {"tab": tab_id, "hosts": None}, timeout=LET_GO_SECONDS)

    # For Tab

    async def call(self, method: str, params: Mapping[str, Any], *, timeout: float) -> dict[str, Any]:
        """One call of the wire's, with the channel's faults told as BrowserError (`browser_error`).

        Raises UsageError, code ``permit-missing``, for an act: those go through `Tab.act`, which takes a permit.
        """
        if method.startswith(("page.act", "page.aim")):
            raise UsageError("an act needs the gate's permit; use tab.act(target, op, value, permit=...)", code="permit-missing")
        try:
            answer = await self.channel.call(method, params, timeout=timeout)
        except ChannelError as error:
            raise browser_error(error) from error
        self.catch_up()  # what was told before the answer must not be taken for newer than it
        return answer

    def new_call_id(self) -> str:
        return self._ids(16, "call").hex()

    def acknowledge(self, place: Mapping[str, Any], call_id: str) -> None:
        """Tell the page script that the outcome of an act has arrived, so that it need not keep it."""
        with suppress(ChannelError):  # it keeps a bounded number of them anyway
            self.channel.notify("page.acknowledge", {**place, "calls": [call_id]})

    @property
    def behind(self) -> bool:
        """News were dropped because nobody looked for a long time: what is known of a tab may be old. Reading this forgets it."""
        missed, self._missed = self._missed, self._news.dropped
        return missed != self._missed

    def catch_up(self) -> None:
        """Take what the add-on told since the last look."""
        while True:
            try:
                news = self._news.receive_nowait()
            except (trio.WouldBlock, trio.EndOfChannel):
                return
            self._take(news)

    async def wait_news(self, seconds: float) -> bool:
        """Wait until the add-on tells something, or the session ends, at most so long; whether that came."""
        with trio.move_on_after(seconds) as limit:
            with suppress(trio.EndOfChannel):
                self._take(await self._news.receive())
            self.catch_up()
        return not limit.cancelled_caught

    def _take(self, news: Notification) -> None:
        match news.method:
            case "tab.changed":
                self._know(news.params["tab"])
            case "tab.removed":
                self._forget(news.params["tab"])
            case "tab.stopped":
                if (tab := self._tabs.get(news.params["tab"])) is not None:
                    tab.note_stopped(news.params["url"])

    def _know(self, state: Mapping[str, Any]) -> Tab:
        tab = self._tabs.get(state["tab"])
        if tab is None:
            tab = self._tabs[state["tab"]] = Tab(self, state["tab"])
        tab.update(state)
        return tab

    def _forget(self, tab_id: int) -> None:
        tab = self._tabs.pop(tab_id, None)
        if tab is not None:
            tab.closed = True
