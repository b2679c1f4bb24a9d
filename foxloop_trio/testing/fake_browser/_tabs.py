"""`FakeTab` and `FakeTabs`: what is open, what it shows, and how it gets from one page to the next.

A page comes after its `load_seconds`; until then the one before stays, as in Firefox. Whatever changes is told at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urldefrag, urlsplit

import trio

from ...errors import UsageError
from ...ports import Ids
from ._data import Effects, PageData, PageSource, Visit, check_page
from ._document import FakeDocument, run_effects

__all__ = ["BLANK", "FakeTab", "FakeTabs", "Refused", "Stopped"]

BLANK: Final = "about:blank"
MAX_REDIRECTS: Final = 20
"""As many as Firefox follows."""
WINDOW: Final = 1

Tell = Callable[..., None]
"""`tell(method, **params)`: a notification, if anybody is attached."""
Spawn = Callable[[Callable[..., Awaitable[object]]], None]
"""Starts a task that ends with the browser."""


class Refused(Exception):
    """The request is answered with an error: `code` is the wire's ``data.code``."""

    def __init__(self, code: str, words: str = "the fake browser says so") -> None:
        super().__init__(words)
        self.code = code


class Stopped(Exception):
    """The tab is held, and `url` is on a host that is not allowed."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


class FakeTab:
    """One tab. It is the host of its document."""

    def __init__(self, tabs: FakeTabs, tab_id: int) -> None:
        self.id = tab_id
        self.url = BLANK
        self.active = False
        self.loading = False
        self.closed = trio.Event()
        self.document: FakeDocument | None = None
        self.during: list[dict[str, Any]] | None = None
        """The dialogs of the act that is being done in this turn."""
        self.armed: Mapping[str, Any] | None = None
        """The answer that the first question gets while that act is being done."""
        self.opened: list[int] = []
        """Tabs that the act opened which is being done in this turn."""
        self.wanted: tuple[str, Mapping[str, str] | None] | None = None
        """Where that act leads; the document is left once the act is answered."""
        self.held: frozenset[str] | None = None
        """Hosts that a page may lead to beside the one it shows, while the tab is held."""
        self._tabs = tabs
        self._moves = 0
        self._been: list[tuple[str, Mapping[str, str] | None]] = []
        self._place = -1
        self._arrived = trio.Event()

    def __repr__(self) -> str:
        return f"<FakeTab {self.id} {self.url[:80]!r}{', loading' if self.loading else ''}>"

    def state(self) -> dict[str, Any]:
        """The tab as the wire has it."""
        document = self.document
        return {
            "tab": self.id, "url": self.url, "title": "" if document is None else document.title, "active": self.active,
            "status": "loading" if self.loading else "complete", "window": WINDOW,
            "document": None if document is None else document.document,
        }  # fmt: skip

    def history(self, go: str) -> None:
        """Begin to go back or forward, or to load the same again. Raises Refused, code ``navigation-failed``, where nothing is."""
        place = self._place + {"back": -1, "forward": 1, "reload": 0}[go]
        if not 0 <= place < len(self._been):
            raise Refused("navigation-failed", f"the tab did not go {go}: there is nothing there, or the page was not left")
        url, sent = self._been[place]
        if go == "reload":
            url = url.partition("#")[0]
        self.load(url, sent, place=place)

    def load(
        self, url: str, sent: Mapping[str, str] | None = None, *, place: int | None = None, through: str | None = None
    ) -> None:
        """Begin to load; `arrived` waits for the end of it. A later one takes its place. `place`: where it is in what was shown.

        `through` is a host that whoever asks for the load allows. Raises Stopped when the tab is held, and told so.
        """
        if self.document is not None and "#" in url and sent is None and urldefrag(url)[0] == urldefrag(self.document.url)[0]:
            self._note(url, sent, place)
            self.url = self.document.url = url  # no new document comes: another place of the same one is shown
            self.document.touch()
            self.announce()
            return
        allowed = None if self.held is None else {*self.held, urlsplit(self.url).hostname, through}
        try:
            url, page = self._tabs.fetch(url, sent, allowed)
        except Stopped as stopped:
            self._tabs.tell("tab.stopped", tab=self.id, url=stopped.url)
            raise
        seconds = 0.0 if page is None else page.get("load_seconds", 0.0)
        self._moves += 1
        move = self._moves
        if not self.loading:  # else whoever waits for the load before waits for this one
            self._arrived = trio.Event()
        if seconds <= 0:
            self._commit(url, page, sent, place)
            return
        self.loading = True
        self.announce()

        async def come() -> None:
            await trio.sleep(seconds)
            if self._moves == move and not self.closed.is_set():
                self._commit(url, page, sent, place)

        self._tabs.spawn(come)

    async def arrived(self) -> None:
        """Wait until nothing is loading any more."""
        while self.loading:
            await self._arrived.wait()

    def _note(self, url: str, sent: Mapping[str, str] | None, place: int | None) -> None:
        """Write down what is shown: anew behind what was shown before, or as the place that was gone to."""
        if place is None:
            place = self._place + 1
            self._been[place:] = [(url, sent)]
        self._place = place

    def _commit(self, url: str, page: PageData | None, sent: Mapping[str, str] | None, place: int | None) -> None:
        self._note(url, sent, place)
        self.leave()
        self.url = url
        if page is not None:
            self.document = self._tabs.new_document(self, url, page)
            self._tabs.tell("document.here", tab=self.id, frame=0, document=self.document.document, url=url)
        self.loading = False
        self._arrived.set()
        self.announce()

    def leave(self) -> None:
        """The document goes away."""
        if self.document is not None:
            gone, self.document = self.document, None
            gone.gone.set()
            self._tabs.tell("document.gone", tab=self.id, frame=0, document=gone.document)

    def close(self) -> None:
        self.leave()
        self._moves += 1
        self.loading = False
        self.closed.set()
        self._arrived.set()

    def announce(self) -> None:
        if not self.closed.is_set():
            self._tabs.tell("tab.changed", tab=self.state())

    # For its document

    def navigate(self, document: FakeDocument, url: str, sent: Mapping[str, str] | None) -> None:
        if document is not self.document:
            return
        if self.during is None:
            self._follow(url, sent)
        else:
            self.wanted = (url, sent)

    def later(self, document: FakeDocument, seconds: float, effect: Effects) -> None:
        async def happen() -> None:
            await trio.sleep(seconds)
            if not document.gone.is_set():
                run_effects(document, effect)

        self._tabs.spawn(happen)

    def show_dialog(self, document: FakeDocument, kind: str, message: str) -> bool | str | None:
        answer: bool | str | None = False if kind == "confirm" else None
        if kind != "alert" and self.armed is not None:
            armed, self.armed = self.armed, None
            if armed["accept"]:
                answer = True if kind == "confirm" else armed.get("reply", "")
        dialog = {"kind": kind, "message": message, "answer": answer}
        if self.during is not None:
            self.during.append(dialog)
        self._tabs.tell("dialog.shown", tab=self.id, frame=0, **dialog)
        return answer

    def open(self, document: FakeDocument, url: str) -> None:
        tab = self._tabs.create(active=True)
        if self.during is not None:
            self.opened.append(tab.id)
        tab.load(url)

    def changed(self, document: FakeDocument) -> None:
        if document is self.document:
            self.announce()

    def go(self) -> None:
        """Follow where the act led."""
        if self.wanted is not None and not self.closed.is_set():
            (url, sent), self.wanted = self.wanted, None
            self._follow(url, sent)

    def _follow(self, url: str, sent: Mapping[str, str] | None) -> None:
        """The page leads there by itself; a held tab stays where it is unless all of the way is allowed."""
        with suppress(Stopped):
            self.load(url, sent)


class FakeTabs:
    """All tabs of one fake browser, and where their pages come from. Ids are never used again."""

    def __init__(self, pages: dict[str, PageSource], *, ids: Ids, tell: Tell, spawn: Spawn) -> None:
        self.open: dict[int, FakeTab] = {}
        self.tell = tell
        self.spawn = spawn
        self._pages = pages
        self._ids = ids
        self._made = 0

    def get(self, tab_id: int) -> FakeTab:
        """Raises Refused, code ``no-tab``."""
        tab = self.open.get(tab_id)
        if tab is None:
            raise Refused("no-tab", f"there is no tab {tab_id}")
        return tab

    def create(self, *, active: bool) -> FakeTab:
        self._made += 1
        tab = self.open[self._made] = FakeTab(self, self._made)
        if active:
            self.activate(tab)
        else:
            tab.announce()
        return tab

    def activate(self, tab: FakeTab) -> None:
        for other in [*(one for one in self.open.values() if one.active and one is not tab), tab]:
            other.active = other is tab
            other.announce()

    def close(self, tab: FakeTab) -> None:
        del self.open[tab.id]
        tab.close()
        self.tell("tab.removed", tab=tab.id)
        if tab.active and self.open:
            self.activate(next(reversed(self.open.values())))

    def fetch(
        self, url: str, sent: Mapping[str, str] | None, allowed: Container[str | None] | None = None
    ) -> tuple[str, PageData | None]:
        """The address that comes in the end, and its page; None where there is none. Raises Stopped at a host that is not among
        `allowed`.
        """
        for _ in range(MAX_REDIRECTS):
            if allowed is not None and urlsplit(url).hostname not in allowed:
                raise Stopped(url)
            page = self._page(url, sent)
            if page is None or "redirect" not in page:
                return url, page
            url, sent = page["redirect"], None
        return url, None

    def _page(self, url: str, sent: Mapping[str, str] | None) -> PageData | None:
        plain = urldefrag(url)[0]
        for address in (url, plain, plain.partition("?")[0]):
            source = self._pages.get(address)
            if source is not None:
                page = source(Visit(url=url, sent=sent)) if callable(source) else source
                check_page(address, page)
                return page
        return None

    def new_document(self, tab: FakeTab, url: str, page: PageData) -> FakeDocument:
        document = self._ids(16, "document").hex()
        return FakeDocument(tab, url=url, page=page, document=document, secret=self._ids(16, "guard-key"))

    def shown(self, tab_id: int) -> FakeDocument:
        """For tests: what the tab shows. Raises UsageError when it shows no page."""
        tab = self.open.get(tab_id)
        if tab is None or tab.document is None:
            raise UsageError(f"tab {tab_id} shows no page of this fake browser")
        return tab.document
