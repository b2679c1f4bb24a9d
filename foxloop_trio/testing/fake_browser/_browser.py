"""`FakeBrowser`: a browser in memory, at the far end of the real channel. Owns what it is asked, what it answers, and what it did.

::

    browser = FakeBrowser({"http://shop.test/": {"title": "Shop", "controls": [{"role": "textbox", "label": "Name"}]}})
    async with browser as session:                   # a BrowserSession, over the real wire
        tab = await session.open_tab("http://shop.test/")
        ...
    assert [(act.op, act.label) for act in browser.acts] == [("type", "Name")]

It keeps the add-on's promises: check and act are one turn, `page.started` is told before, what was not begun never begins after a
cancel, a deadline or a lost connection, outcomes are kept until they are acknowledged, and documents outlive connections. It has no
thread, no socket, no random number and no time but Trio's: with the autojump clock two equal runs are equal.
"""

from __future__ import annotations

import base64
import inspect
import struct
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Final, final
from urllib.parse import urlsplit

import attrs
import trio

from ...browser._service import one_error, open_service
from ...browser._session import BrowserSession
from ...browser._tab import Tab
from ...channel import Transport, accept_hello, open_session
from ...errors import BrowserError, BusyError, ChannelBroken, ChannelClosed, UsageError
from ...ports import Ids
from ...wire import Notification, Request
from .._memory_channel import memory_channel_pair, say_hello
from .._seeded import seeded_ids
from ._acting import FakeAct, is_on, no_more_to_do, perform, refusal_of, toggled
from ._data import PageSource, check_page
from ._document import FakeControl, FakeDocument, KeptOutcome
from ._faults import Cut, Delay, Duplicate, Fail, FaultPlan, Phase, Refuse
from ._hands import PROVES
from ._line import Line, LineCall
from ._tabs import BLANK, FakeTab, FakeTabs, Refused, Stopped

__all__ = ["Answer", "FakeBrowser"]

NOTHING_CHANGED: Final = "the events were sent, and nothing on the page changed"
QUIET_SECONDS: Final = 0.12
MOST_SECONDS: Final = 1.5
LIST_SECONDS: Final = 0.6
POLL_SECONDS: Final = 0.03
"""Of settling: page reference, section 5."""
STATE_SECONDS: Final = 0.5
STATE_POLL_SECONDS: Final = 0.02
"""How long ``check`` waits for a state that the page sets: page reference, 4.4."""
BUFFER: Final = 64
"""Messages that may be on their way in each direction."""

Result = Mapping[str, Any] | None
Answer = Callable[[Request], Awaitable[Result] | Result]
"""Makes the result of one request, at once or later; None: it is never answered. Raise `Refused` to answer with an error."""


@final
class FakeBrowser:
    """`async with FakeBrowser(pages) as session`: a `BrowserSession` with the contract of a real one, and no browser.

    `pages` has the pages by address (`PageData`, or a function that makes one at each visit). A page is found by its whole address,
    then without fragment, then without query. It starts as Firefox does, with one empty tab.

    * `acts`: what was performed, in order (`FakeAct`). `asked` and `params`: every message that came, and what it held.
    * `pages`: may be changed at any time; it counts at the next load.
    * `on`: answers by method that take the place of the built-in ones.
    * `ignore_cancels`: the browser does not hear when it is told to stop something.

    `delay`, `cut`, `refuse`, `fail` and `duplicate` plan what goes wrong; `document(tab)` gives the loaded page, to change it.
    `ids(nbytes, purpose)` makes all ids, those of the session included; by default from a fixed seed, so that equal runs are
    equal.
    """

    def __init__(self, pages: Mapping[str, PageSource] | None = None, *, ids: Ids | None = None) -> None:
        self.pages: dict[str, PageSource] = dict(pages or {})
        for url, page in self.pages.items():
            if not callable(page):
                check_page(url, page)
        self.acts: list[FakeAct] = []
        self.asked: list[str] = []
        self.params: list[Mapping[str, Any]] = []
        self.on: dict[str, Answer] = {}
        self.ignore_cancels = False
        self._ids = ids if ids is not None else seeded_ids("fake browser")
        self.incarnation = self._ids(16, "incarnation").hex()
        self._faults = FaultPlan()
        self._tabs = FakeTabs(self.pages, ids=self._ids, tell=self._tell, spawn=self._spawn)
        self._line: Line | None = None
        self._first_line: Line | None = None
        self._gone_for_good = False
        self._cancelled: dict[str, trio.Event] = {}
        self._nursery: trio.Nursery | None = None
        self._life: AbstractAsyncContextManager[BrowserSession] | None = None
        self._session: BrowserSession | None = None

    def __repr__(self) -> str:
        attached = self._line is not None and not self._line.lost
        return f"<FakeBrowser {'attached' if attached else 'alone'}, {len(self._tabs.open)} tabs, {len(self.acts)} acts>"

    # Being there

    async def __aenter__(self) -> BrowserSession:
        if self._life is not None:
            raise UsageError("a FakeBrowser is entered once; for another connection to it use browser.attach()")
        self._life = self._live()
        return await self._life.__aenter__()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._life is not None
        await self._life.__aexit__(kind, error, trace)

    @property
    def session(self) -> BrowserSession:
        """What entering gave. Raises UsageError before that."""
        if self._session is None:
            raise UsageError("this FakeBrowser has no session yet; use `async with browser as session`")
        return self._session

    @asynccontextmanager
    async def attach(self) -> AsyncGenerator[BrowserSession, None]:
        """Connect to the same browser anew, once the connection before is lost: tabs, documents and kept outcomes are still there.

        Raises BusyError while one is attached, BrowserError ``browser-lost`` when it was lost for good.
        """
        ours, theirs = memory_channel_pair(buffer=BUFFER)
        line = self._line_on(theirs)
        token = self._ids(16, "token").hex()
        assert self._nursery is not None
        self._nursery.start_soon(self._serve, line, theirs, token)
        try:
            peer = await accept_hello(ours, token=token, ids=self._ids)
            async with open_session(ours, peer, ids=self._ids) as channel:
                yield BrowserSession(channel, allow_focus=True, ids=self._ids)
        finally:
            line.end()

    async def serve(self, transport: Transport, *, token: str) -> None:
        """Be the browser at the far end of a transport of yours, such as a websocket to another process, until it is lost.

        The session that entering gave is lost first. Raises BusyError while another one is attached, as `attach` does.
        """
        if self._line is not None and self._line is self._first_line:
            self._line.end()
        line = self._line_on(transport)
        try:
            await self._serve(line, transport, token)
        finally:
            line.end()

    def _line_on(self, transport: Transport) -> Line:
        if self._nursery is None:
            raise UsageError("this FakeBrowser is not running; use `async with browser as session`")
        if self._gone_for_good:
            raise BrowserError("this fake browser was lost for good", code="browser-lost")
        if self._line is not None and not self._line.lost:
            raise BusyError("somebody is attached to this fake browser; use that session, or leave it first")
        self._line = Line(transport, on_request=self._take, on_notification=self._hear)
        return self._line

    @asynccontextmanager
    async def _live(self) -> AsyncGenerator[BrowserSession, None]:
        # The service outlives a cancelled body, so that clean-up in it can still learn what became of an act.
        async with open_service(self._world()):
            self._tabs.create(active=True)
            async with self.attach() as session:
                self._session, self._first_line = session, self._line
                yield session

    @asynccontextmanager
    async def _world(self) -> AsyncGenerator[None, None]:
        with one_error():
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                yield
                nursery.cancel_scope.cancel()
        self._nursery = None

    async def _serve(self, line: Line, transport: Transport, token: str) -> None:
        try:
            for fault in self._faults.take("hello.open"):
                if isinstance(fault, Delay):
                    await trio.sleep(fault.seconds)
            nonce = self._ids(16, "addon-nonce").hex()
            await say_hello(transport, token=token, incarnation=self.incarnation, nonce=nonce)
        except (ChannelBroken, ChannelClosed):
            line.end()
            return
        await line.serve()

    # What goes wrong

    def delay(self, method: str, seconds: float, *, phase: Phase = "before", call: int | None = 1) -> None:
        """Let a call stay in `phase` for so many seconds (`math.inf`: for ever): ``before`` anything is done, ``started`` (acts: it
        was told that it begins), or ``after`` (done, not answered).

        A cancel ends the wait: what was not begun is not done, what was begun and not done is answered as a part of it, what was
        done is answered truly. `call` counts from the next one; None is each. ``hello.open`` can be delayed too.
        """
        self._faults.add(method, Delay(phase=phase, seconds=seconds), call)

    def cut(self, method: str, *, phase: Phase = "before", call: int | None = 1, back: bool = True) -> None:
        """Lose the connection during a call. `back`: `attach` works afterwards."""
        self._faults.add(method, Cut(phase=phase, back=back), call)

    def refuse(
        self,
        reason: str,
        *,
        detail: str | None = None,
        value: str | None = None,
        started: bool = False,
        call: int | None = 1,
    ) -> None:
        """Let the page refuse an act, with a reason of the page reference. `started`: it was begun, and a part of it is done."""
        more = {"detail": detail, "value": value}
        answer = {"ok": False, "reason": reason, **{name: given for name, given in more.items() if given is not None}}
        self._faults.add("page.act", Refuse(answer=answer, started=started), call)

    def fail(self, method: str, code: str, *, call: int | None = 1) -> None:
        """Answer a call with an error of the wire's, such as ``document-gone``; nothing is done."""
        self._faults.add(method, Fail(code=code), call)

    def duplicate(self, method: str, *, call: int | None = 1) -> None:
        """Answer a call twice."""
        self._faults.add(method, Duplicate(), call)

    async def hang_up(self, *, back: bool = True) -> None:
        """Lose the connection now. What has begun in a page goes on there."""
        self._gone_for_good = self._gone_for_good or not back
        if self._line is not None:
            await self._line.hang_up()

    async def restart_background(self) -> None:
        """Lose the connection as when Firefox stops the add-on's background page: it comes back as another incarnation."""
        await self.hang_up()
        self.incarnation = self._ids(16, "incarnation").hex()

    # What a person or a page does

    def document(self, tab: Tab | int | None = None) -> FakeDocument:
        """The page that the tab shows, or the tab in front. Raises UsageError when it shows none."""
        front = next((one.id for one in self._tabs.open.values() if one.active), 0)
        return self._tabs.shown(front if tab is None else _id_of(tab))

    def navigate(self, tab: Tab | int, url: str) -> None:
        """Somebody else loads another page there."""
        with suppress(Stopped):  # of a held tab, nobody leads it elsewhere
            self._tabs.get(_id_of(tab)).load(url)

    def close_tab(self, tab: Tab | int) -> None:
        """A person closes it."""
        self._tabs.close(self._tabs.get(_id_of(tab)))

    async def tell(self, method: str, **params: Any) -> None:
        """Send a notification, and wait until it is on its way."""
        if self._line is not None:
            self._line.tell(method, params)
            await self._line.flush()

    async def post(self, text: str) -> None:
        """Send any text, fitting or not, and wait until it is on its way."""
        if self._line is not None:
            self._line.post(text)
            await self._line.flush()

    async def wait_cancelled(self, request: Request) -> None:
        """For answers in `on`: wait until the runtime asks to stop this request."""
        await self._cancelled.setdefault(request.id, trio.Event()).wait()

    # Messages

    def _tell(self, method: str, **params: Any) -> None:
        if self._line is not None:
            self._line.tell(method, params)

    def _spawn(self, task: Callable[..., Awaitable[object]]) -> None:
        if self._nursery is None:
            raise UsageError("this FakeBrowser is not running; use `async with browser as session`")
        self._nursery.start_soon(task)

    def _note(self, message: Request | Notification) -> None:
        self.asked.append(message.method)
        self.params.append(message.params)

    def _hear(self, line: Line, told: Notification) -> None:
        self._note(told)
        if told.method == "call.cancel":
            self._cancelled.setdefault(told.params["id"], trio.Event()).set()
            call = line.calls.get(told.params["id"])
            if call is not None and not self.ignore_cancels:
                call.stop("cancelled")
        elif told.method == "page.acknowledge":
            document = self._find(told.params)
            for name in told.params["calls"] if document is not None else ():
                document.outcomes.pop(name, None)  # type: ignore[union-attr]
                document.taken.pop(name, None)  # type: ignore[union-attr]

    def _take(self, line: Line, request: Request) -> None:
        self._note(request)
        call = line.calls[request.id] = LineCall(line, request, self._faults.take(request.method))
        assert self._nursery is not None
        self._nursery.start_soon(self._answer, call)

    async def _answer(self, call: LineCall) -> None:
        """Answer a call, as planned, and follow where it led."""
        request, line = call.request, call.line
        if any(isinstance(fault, Cut) and not fault.back for fault in call.faults):
            self._gone_for_good = True
        try:
            result = await self._result(call)
            await call.hold("after")
            text = None if result is None or line.lost else line.wire.send_result(request.id, self._true_now(request, result))
        except Refused as refused:
            text = None if line.lost else line.wire.send_error(request.id, refused.code, str(refused))
        if text is not None:
            copies = 2 if Duplicate() in call.faults else 1
            for _ in range(copies):
                line.post(text)
        line.calls.pop(request.id, None)
        self._cancelled.pop(request.id, None)
        if request.method == "page.act" and (tab := self._tabs.open.get(request.params["tab"])) is not None:
            tab.go()

    async def _result(self, call: LineCall) -> Result:
        await call.hold("before")
        for fault in call.faults:
            if isinstance(fault, Fail):
                raise Refused(fault.code)
        request = call.request
        if request.method in self.on:
            given = self.on[request.method](request)
            return await given if inspect.isawaitable(given) else given
        if call.stopped is None and call.deadline <= trio.current_time():
            call.stop("timeout")
        if call.stopped is not None:
            raise _not_begun(call)
        if request.method == "page.act":
            return await self._act(call)
        with trio.CancelScope(deadline=call.deadline) as call.scope:
            return await self._look(request.method, request.params)
        raise _not_begun(call)

    async def _look(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Everything but acts: it may be left at any point."""
        match method:
            case "session.ping":
                return {}
            case "tab.list":
                return {"tabs": [tab.state() for tab in self._tabs.open.values()]}
            case "tab.get":
                return {"tab": self._tabs.get(params["tab"]).state()}
            case "tab.activate":
                self._tabs.activate(self._tabs.get(params["tab"]))
                return {}
            case "tab.close":
                self._tabs.close(self._tabs.get(params["tab"]))
                return {}
            case "tab.open":
                return await self._open(params["url"], active=params["active"])
            case "tab.goto":
                return await self._load(self._tabs.get(params["tab"]), params["url"])
            case "tab.hold":
                hosts = params["hosts"]
                self._tabs.get(params["tab"]).held = None if hosts is None else frozenset(hosts)
                return {}
            case "tab.history":
                return await self._history(self._tabs.get(params["tab"]), params["go"])
            case "tab.capture":
                return self._capture(params)
            case "page.read":
                return {"frames": self._read(params), "unreadable": []}
            case "page.table":
                if params["frame"] != 0:
                    raise Refused("document-gone", "that frame is not in the tab")
                return self._readable(params["tab"]).table(params)
            case "page.settle":
                return await self._settle(params)
            case "page.stage":
                self._there(params)
                return {}
            case "page.fetch":
                data = self._there(params).taken.get(params["call"])
                if data is None:
                    raise Refused("internal", "that file is not kept here")
                end = params["offset"] + params["most"]
                piece = base64.b64encode(data[params["offset"] : end]).decode()
                return {"data": piece, "end": end >= len(data)}
            case "page.outcome":
                document = self._there(params)
                kept = document.outcomes.get(params["call"])
                return {"known": kept is not None, "result": None if kept is None else kept.result}
        raise Refused("unknown-method", "the fake browser does not have that")

    # Tabs

    async def _open(self, url: str, *, active: bool) -> dict[str, Any]:
        tab = self._tabs.create(active=active)
        try:
            return await self._load(tab, url)
        except (Refused, trio.Cancelled):
            if tab.id in self._tabs.open:
                self._tabs.close(tab)  # nobody was told its id
            raise

    async def _load(self, tab: FakeTab, url: str) -> dict[str, Any]:
        if url != BLANK and not url.startswith(("http://", "https://")):
            raise Refused("illegal-url", "only http and https addresses and about:blank can be opened")
        try:
            tab.load(url, through=urlsplit(url).hostname)
        except Stopped as stopped:
            raise Refused("navigation-failed", "it led to another host, and the tab is held") from stopped
        await tab.arrived()
        if tab.closed.is_set():
            raise Refused("no-tab", f"tab {tab.id} was closed")
        if tab.document is None and url != BLANK:
            raise Refused("navigation-failed", f"the fake browser has no page {url[:200]!r}")
        return {"tab": tab.state()}

    async def _history(self, tab: FakeTab, go: str) -> dict[str, Any]:
        with suppress(Stopped):  # of a held tab: it stays
            tab.history(go)
        await tab.arrived()
        if tab.closed.is_set():
            raise Refused("no-tab", f"tab {tab.id} was closed")
        return {"tab": tab.state()}

    def _readable(self, tab_id: int) -> FakeDocument:
        tab = self._tabs.get(tab_id)
        if tab.document is not None:
            return tab.document
        if tab.loading:
            raise Refused("no-document", f"tab {tab_id} is still loading")
        raise Refused("restricted-page", f"extensions are kept out of what tab {tab_id} shows")

    def _read(self, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        document = self._readable(params["tab"])
        region = params.get("region")
        if params.get("frame", 0) != 0 or (region is not None and self._find({**region, "tab": params["tab"]}) is None):
            raise Refused("document-gone", "that document is not in the tab")
        if region is not None and document.at(region["node"]) is None:
            raise Refused("document-gone", f"element {region['node']} is not in the document any more")
        return [document.state(params)]

    def _capture(self, params: Mapping[str, Any]) -> dict[str, Any]:
        document = self._readable(params["tab"])
        if params["format"] != "png":
            raise Refused("internal", "the fake browser makes PNG pictures only")
        controls = document.state()["controls"]
        marks = params.get("marks", [])
        asked = [(0, control["node"]) for control in controls] if marks == "controls" else [(m["frame"], m["node"]) for m in marks]
        there = {(0, control["node"]) for control in controls}
        return {
            "data": base64.b64encode(one_grey_pixel()).decode(),
            "width": 1,
            "height": 1,
            "scale": params.get("scale", 1),
            "cut": False,
            "painted_over": sum(one["value"] != "" and (one["secret"] or "sensitive" in one) for one in controls),
            "marked": [f"{frame}:{node}" for frame, node in asked if (frame, node) in there],
        }

    # Documents

    def _find(self, place: Mapping[str, Any]) -> FakeDocument | None:
        tab = self._tabs.open.get(place["tab"])
        document = tab.document if tab is not None else None
        return document if document is not None and (place["frame"], place["document"]) == (0, document.document) else None

    def _there(self, place: Mapping[str, Any]) -> FakeDocument:
        self._tabs.get(place["tab"])
        document = self._find(place)
        if document is None:
            raise Refused("document-gone", f"that document is not in tab {place['tab']}")
        return document

    async def _settle(self, params: Mapping[str, Any]) -> dict[str, Any]:
        self._tabs.get(params["tab"])
        document = self._find(params)
        if document is None:
            return {"waited_ms": 0, "gone": True}
        begun = trio.current_time()
        while not document.gone.is_set():
            # Compared as instants: a difference of two floats may miss by a bit, and a wait for that bit would never end.
            now, quiet_at = trio.current_time(), max(begun, document.changed_at) + QUIET_SECONDS
            listed = params["list_for"] is None or now >= begun + LIST_SECONDS or _list_open(document)
            if (now >= quiet_at and listed) or now >= begun + MOST_SECONDS:
                break
            with trio.move_on_at(min(quiet_at if now < quiet_at else now + POLL_SECONDS, begun + MOST_SECONDS)):
                await document.gone.wait()
        return {"waited_ms": round((trio.current_time() - begun) * 1000), "gone": document.gone.is_set()}

    # Acting

    async def _act(self, call: LineCall) -> dict[str, Any]:
        """From the checks to what was done there is no wait, save one that was planned."""
        params = call.request.params
        if params["incarnation"] != self.incarnation:
            raise Refused("other-incarnation", "the background page was restarted since; nothing was done")
        document = self._there(params)
        kept = document.outcomes.get(params["call"])
        if kept is not None:  # nothing runs twice
            await kept.done.wait()
            assert kept.result is not None
            return kept.result
        kept = document.keep(params["call"])
        kept.result = await self._do(call, document, kept)
        kept.done.set()
        return kept.result

    async def _do(self, call: LineCall, document: FakeDocument, kept: KeptOutcome) -> dict[str, Any]:
        params = call.request.params
        planned = next((fault for fault in call.faults if isinstance(fault, Refuse)), None)
        refusal = planned.answer if planned is not None and not planned.started else refusal_of(document, params)
        if refusal is not None:
            return _act_result(refusal, started=False)
        control = document.at(params["node"])
        assert control is not None
        if (enough := no_more_to_do(control, params["op"])) is not None:
            return _act_result(enough, started=False)
        call.line.tell("page.started", {"id": call.request.id})
        await call.hold("started")
        if planned is not None:
            self._record(params, document, control, ok=False)
            return _act_result(planned.answer, started=True)
        if call.stopped == "cancelled":
            self._record(params, document, control, ok=False)
            return _act_result({"ok": False, "reason": "unsupported", "detail": "stopped half-way"}, started=True)
        if document.gone.is_set():
            return _act_result({"ok": True}, started=True, navigated=True)
        tab = self._tabs.get(params["tab"])
        dialogs: list[dict[str, Any]] = []
        tab.during, tab.armed, tab.opened = dialogs, params.get("dialog"), []
        looked, plans = document.looks(), document.planned
        try:
            done = perform(document, control, params["op"], params["value"])
        finally:
            tab.during, tab.armed = None, None
        quiet = looked == document.looks() and plans == document.planned and tab.wanted is None and not dialogs and not tab.opened
        focused = params["op"] == "click" and control.typable
        if params["op"] in PROVES and done.answer["ok"] and quiet and not (done.submitted or done.lacking or focused):
            done.answer = {**done.answer, "ok": False, "reason": "nothing-changed", "detail": NOTHING_CHANGED}
        place = self._record(params, document, control, ok=done.answer["ok"], sent=done.sent)
        if done.wanted is not None:
            done.answer = await self._reached(call, document, control, done.wanted)
            self.acts[place] = attrs.evolve(self.acts[place], ok=done.answer["ok"])
        if any(isinstance(fault, Delay | Cut) and fault.phase == "after" for fault in call.faults):
            tab.go()  # the answer is late, the page is not
        if "download" in done.answer:
            assert control.file is not None
            document.taken[params["call"]] = control.file["data"]
            done.answer["download"]["ticket"] = params["call"]
        opened = {"opened_tabs": tab.opened} if tab.opened else {}
        return _act_result({**done.answer, **opened}, started=True, submitted=done.submitted, dialogs=dialogs)

    async def _reached(self, call: LineCall, document: FakeDocument, control: FakeControl, wanted: bool) -> dict[str, Any]:
        """Wait for the page to set the state."""
        end = trio.current_time() + STATE_SECONDS
        while not is_on(control, wanted) and trio.current_time() < end and call.stopped is None and not document.gone.is_set():
            with trio.move_on_after(STATE_POLL_SECONDS):
                await call.wait_stopped()
        return toggled(control, wanted)

    def _record(
        self,
        params: Mapping[str, Any],
        document: FakeDocument,
        control: FakeControl,
        *,
        ok: bool,
        sent: Mapping[str, str] | None = None,
    ) -> int:
        """Write it down; its place in the list."""
        act = FakeAct(
            at=trio.current_time(), op=params["op"], label=control.label, value=params["value"], role=control.role,
            tab=params["tab"], url=document.url, control=f"0:{params['node']}", call=params["call"], ok=ok, sent=sent,
        )  # fmt: skip
        self.acts.append(act)
        return len(self.acts) - 1

    def _true_now(self, request: Request, result: Mapping[str, Any]) -> Mapping[str, Any]:
        """An act whose document has left meanwhile is answered by the background page, which knows no more than that it went."""
        if (
            request.method in self.on
            or request.method != "page.act"
            or not result["started"]
            or self._find(request.params) is not None
        ):
            return result
        return _act_result({"ok": True}, started=True, navigated=True, submitted=result["submitted"], dialogs=result["dialogs"])


def _not_begun(call: LineCall) -> Refused:
    code = "cancelled" if call.stopped == "cancelled" else "timeout"
    return Refused(code, "stopped before anything was done")


def _act_result(
    answer: Mapping[str, Any],
    *,
    started: bool,
    submitted: bool = False,
    navigated: bool = False,
    dialogs: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    return {**answer, "started": started, "submitted": submitted, "navigated": navigated, "dialogs": list(dialogs or ())}


def _list_open(document: FakeDocument) -> bool:
    return any(control.role in ("option", "gridcell") and not control.hidden for control in document.controls)


def _id_of(tab: Tab | int) -> int:
    return tab if isinstance(tab, int) else tab.id


def one_grey_pixel() -> bytes:
    """The smallest picture there is, as PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\x00\x80")) + chunk(b"IEND", b"")
