"""Whole runs in memory: the real loop, gate, trail, tools, channel and wire, with a stand-in for the add-on at the far end.

The stand-in keeps the add-on's promises of the wire (it checks document, host and guard in the turn in which it acts, says
`started` before it acts, answers what it is told to cancel), has one tab with one document, and writes down what was done in it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, NoReturn
from urllib.parse import urlsplit

import attrs
import pytest
import trio

from foxloop_trio.actions import CheckResult, Scope
from foxloop_trio.browser import BrowserSession, Tab, browser_tools
from foxloop_trio.channel import accept_hello, open_session
from foxloop_trio.errors import ChannelError
from foxloop_trio.events import LoopEvent, Outcome, event_to_json
from foxloop_trio.gate import HostSide, create_gate
from foxloop_trio.loop import CheckInput, Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.ports import Approver
from foxloop_trio.testing import memory_channel_pair
from foxloop_trio.trail import MemoryTrail, Verified, verify_entries
from foxloop_trio.wire import ADDON, Answer, Connection, Notification, Request, addon_proof, proofs_equal, runtime_proof

TOKEN = "a token that both ends know"
TAB = 7
FLAGS = ("disabled", "read_only", "required", "offscreen", "submit", "dialog", "autocomplete", "picker", "secret")
CONTROL = dict.fromkeys(FLAGS, False) | dict.fromkeys(("type", "name", "placeholder", "value"), "") | {"section": "Sign up"}


def control(node: int, role: str, label: str, **more: Any) -> dict[str, Any]:
    """A control as the wire describes it, without its guard, which is made when it is read."""
    tag = {"button": "button", "combobox": "select", "link": "a"}.get(role, "input")
    return {**CONTROL, "node": node, "role": role, "tag": tag, "label": label, **more}


@attrs.define
class Page:
    """One document: change it and it is another page at the next look."""

    url: str
    title: str
    controls: list[dict[str, Any]]
    text: str = ""
    document: str = "d0" * 16

    def find(self, node: int) -> dict[str, Any] | None:
        return next((found for found in self.controls if found["node"] == node), None)

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def key(self) -> str:
        return _digest(self.url, [[found["node"], found["value"], found.get("checked")] for found in self.controls])

    def state(self) -> dict[str, Any]:
        return {
            "frame": 0, "document": self.document, "url": self.url, "title": self.title, "text": self.text, "headings": [],
            "controls": [{**found, "guard": guard_of(found)} for found in self.controls],
            "captcha": False, "more": False, "truncated": 0, "key": self.key,
        }  # fmt: skip


def guard_of(found: dict[str, Any]) -> str:
    return _digest(*(found.get(name) for name in ("role", "label", "value", "checked", "disabled", "href", "section")))


def _digest(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def sign_up(url: str = "http://shop.test/signup") -> Page:
    """The page of most tests: a name, a plan, a box to tick, a button that sends."""
    plans = [{"value": "free", "label": "Free", "selected": True}, {"value": "pro", "label": "Professional", "selected": False}]
    return Page(
        url=url,
        title="Sign up",
        text="Tell us who you are.",
        controls=[
            control(1, "textbox", "Name", type="text", form=2),
            control(3, "combobox", "Plan", value="free", options=plans, form=2),
            control(4, "checkbox", "Terms", type="checkbox", checked=False, form=2),
            control(5, "button", "Send", submit=True, form=2),
        ],
    )


class Act:
    """One `page.act` under way at the stand-in."""

    def __init__(self, addon: FakeAddon, request: Request) -> None:
        self._addon = addon
        self._request = request
        self.params = request.params
        self.cancelled = trio.Event()

    async def start(self) -> None:
        """Tell that events are about to be dispatched."""
        await self._addon.tell("page.started", {"id": self._request.id})

    def fail(self, code: str) -> NoReturn:
        """Answer with an error instead."""
        raise AddonError(code)

    def perform(self) -> dict[str, Any]:
        """Check as the page script does, then do it; the ActResult."""
        page, params = self._addon.page, self.params
        found = page.find(params["node"])
        if params["host"] != page.host:
            return refused("other-site")
        if found is None:
            return refused("gone")
        if params["guard"] != guard_of(found):
            return refused("stale", detail="control differs")
        if params["key"] != page.key:
            return refused("stale", detail="page differs")
        match params["op"]:
            case "type" | "select":
                found["value"] = params["value"]
            case "check" | "uncheck":
                found["checked"] = params["op"] == "check"
        self._addon.done.append((params["op"], found["label"], params["value"]))
        return done(submitted=params["op"] == "click" and found["submit"])


def done(*, submitted: bool = False, navigated: bool = False) -> dict[str, Any]:
    return {"ok": True, "started": True, "submitted": submitted, "navigated": navigated, "dialogs": []}


def refused(reason: str, **more: Any) -> dict[str, Any]:
    return {"ok": False, "started": False, "submitted": False, "navigated": False, "dialogs": [], "reason": reason, **more}


class AddonError(Exception):
    """The stand-in answers with this error."""


class FakeAddon:
    """The add-on's end. `done` are the acts that were performed; `asked` are the methods that arrived, cancels included."""

    def __init__(self, transport: Any, page: Page) -> None:
        self.page = page
        self.closed = False
        self.done: list[tuple[str, str, Any]] = []
        self.asked: list[str] = []
        self.on_act: Callable[[Act], Awaitable[dict[str, Any] | None]] = self._act
        self._transport = transport
        self._wire = Connection(role=ADDON, id_prefix="fake")
        self._acts: dict[str, Act] = {}
        self._hello: dict[str, str] = {}
        self._documents = 0
        self._writing = trio.Lock()

    async def serve(self) -> None:
        """Answer until the connection is gone."""
        async with trio.open_nursery() as nursery:
            with contextlib.suppress(ChannelError):
                while True:
                    match self._wire.receive_text(await self._transport.receive_text()):
                        case Notification(method="hello.challenge", params=params):
                            await self._open(params["nonce"])
                        case Answer(method="hello.open", result=result):
                            assert proofs_equal(runtime_proof(TOKEN, session=result["session"], **self._hello), result["proof"])
                        case Notification(method="call.cancel", params=params):
                            self.asked.append("call.cancel")
                            if params["id"] in self._acts:
                                self._acts[params["id"]].cancelled.set()
                        case Notification(method=method):
                            self.asked.append(method)
                        case Request() as request:
                            self.asked.append(request.method)
                            nursery.start_soon(self._answer, request)
                        case other:
                            raise AssertionError(f"the stand-in got {other}")
            nursery.cancel_scope.cancel()

    async def hang_up(self) -> None:
        """Be gone, as a killed browser is."""
        await self._transport.aclose()

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        await self._send(self._wire.send_notification(method, params))

    async def _send(self, text: str) -> None:
        async with self._writing:
            await self._transport.send_text(text)

    async def _open(self, nonce: str) -> None:
        self._hello = {"addon_nonce": "ad" * 16, "runtime_nonce": nonce}
        params = {
            "protocol": 1, "incarnation": "1c" * 16, "nonce": "ad" * 16,
            "proof": addon_proof(TOKEN, incarnation="1c" * 16, **self._hello),
            "addon": {"version": "0"}, "browser": {"name": "Stand-in", "version": "0"},
        }  # fmt: skip
        await self._send(self._wire.send_request(self._wire.prepare("hello.open", params)))

    async def _answer(self, request: Request) -> None:
        try:
            result = await self._result(request)
        except AddonError as fault:
            text = self._wire.send_error(request.id, str(fault), "the stand-in says so")
        else:
            if result is None:
                return  # it never answers
            text = self._wire.send_result(request.id, result)
        with contextlib.suppress(ChannelError):
            await self._send(text)

    async def _result(self, request: Request) -> dict[str, Any] | None:
        params = request.params
        if request.method == "session.ping":
            return {}
        if request.method == "tab.list":
            return {"tabs": [] if self.closed else [self._tab()]}
        if self.closed or params["tab"] != TAB:
            raise AddonError("no-tab")
        if request.method.startswith("page.") and params.get("document", self.page.document) != self.page.document:
            raise AddonError("document-gone")
        match request.method:
            case "tab.get" | "tab.activate":
                return {"tab": self._tab()} if request.method == "tab.get" else {}
            case "tab.goto":
                self._documents += 1
                self.page = attrs.evolve(sign_up(params["url"]), document=f"{self._documents:032x}")
                return {"tab": self._tab()}
            case "page.read":
                return {"frames": [self.page.state()], "unreadable": []}
            case "page.act":
                act = self._acts[request.id] = Act(self, request)
                return await self.on_act(act)
            case "page.settle":
                return {"waited_ms": 120, "gone": False}
            case "page.outcome":
                return {"known": False, "result": None}
        raise AssertionError(f"the stand-in does not know {request.method}")

    async def _act(self, act: Act) -> dict[str, Any]:
        await act.start()
        return act.perform()

    def _tab(self) -> dict[str, Any]:
        page = self.page
        state = {"url": page.url, "title": page.title, "active": True, "status": "complete", "window": 1, "document": page.document}
        return {"tab": TAB, **state}


class Say:
    """Replies for a scripted planner."""

    @staticmethod
    def call(name: str, args: Any) -> dict[str, Any]:
        return {"calls": [{"name": name, "args": args}]}

    def snapshot(self) -> dict[str, Any]:
        return self.call("snapshot", {})

    def act(self, op: str, node: int, value: str | None = None) -> dict[str, Any]:
        return self.call("act", {"control_id": f"0:{node}", "op": op} | ({} if value is None else {"value": value}))

    def click(self, node: int) -> dict[str, Any]:
        return self.call("click", {"control_id": f"0:{node}"})

    def finish(self) -> dict[str, Any]:
        return self.call("finish", {"summary": "Signed Ada up."})


@attrs.define
class World:
    """Everything of one test. `host` is the gate's host side of the newest loop."""

    addon: FakeAddon
    session: BrowserSession
    tab: Tab
    say: Say = attrs.field(factory=Say)
    trail: MemoryTrail = attrs.field(factory=MemoryTrail)
    host: HostSide | None = None
    asked: list[str] = attrs.field(factory=list)
    events: list[LoopEvent] = attrs.field(factory=list)

    def show(self, controls: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
        """Let the tab show another page: role, label and more of each control."""
        made = [control(number, role, label, **more) for number, (role, label, more) in enumerate(controls, start=1)]
        self.addon.page = attrs.evolve(self.addon.page, controls=made)

    async def loop(self, replies: Sequence[Any], *, approve: Approver | None = None, **options: Any) -> Loop:
        """A loop with read, fill (never asks) and submit (always asks) granted on the page's present host; every claim passes."""
        tools = browser_tools(self.tab)
        gate, self.host = create_gate(tools=tools)
        scopes: tuple[tuple[Scope, Any], ...] = (("read", None), ("fill", "never"), ("submit", None))
        for scope, approval in scopes:
            await self.host.add_grant(scope=scope, domains=[self.addon.page.host], approval=approval)
        options = {"check": passing, "planner": scripted_planner(replies), **options}
        return Loop(gate=gate, tools=tools, trail=self.trail, on_approval=approve or self.yes, **options)

    async def complete(self, replies: Sequence[Any], **options: Any) -> Outcome:
        """Run it to the end; `events` has what came."""
        loop = await self.loop(replies, **options)
        return await loop.complete("Sign Ada up", on_event=self.events.append)

    async def yes(self, request: Any) -> str | None:
        self.asked.append(request.detail or "")
        assert self.host is not None
        return await self.host.approve(request.request_id)

    async def no(self, request: Any) -> str | None:
        self.asked.append(request.detail or "")
        assert self.host is not None
        await self.host.reject(request.request_id)
        return None

    def short(self) -> list[str]:
        """The events in one word each, decisions and results with what they said."""
        return [_short(event) for event in self.events]

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.trail.entries()]

    def noted(self, kind: str) -> list[dict[str, Any]]:
        return [dict(entry.data) for entry in self.trail.entries() if entry.kind == kind]

    def assert_on_record(self) -> None:
        """The trail verifies, and its entries of events are the events, in order."""
        assert isinstance(verify_entries(self.trail.entries(), key=self.trail.key), Verified)
        types = [f"loop.{event.type}" for event in self.events]
        assert [kind for kind in self.kinds() if kind in EVENT_KINDS] == types


EVENT_KINDS = {
    f"loop.{name}"
    for name in ("plan", "tool-call", "decision", "approval-needed", "tool-result", "check", "done", "blocked", "aborted")
}


def passing(_: CheckInput) -> CheckResult:
    return CheckResult(ok=True)


def _short(event: LoopEvent) -> str:
    plain = event_to_json(event)
    word = plain["type"]
    match word:
        case "decision":
            return f"{plain['via']} {plain['decision']}" + (f" {plain['reason']}" if "reason" in plain else "")
        case "tool-result":
            return f"{plain['name']} " + ("ok" if plain["ok"] else plain["reason"])
        case "blocked":
            return f"blocked {plain['reason']}"
    return str(word)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A run's surroundings, joined in memory. The test itself must ask for `autojump_clock`: pytest-trio looks no further."""
    assert isinstance(trio.lowlevel.current_clock(), trio.testing.MockClock), "this test needs the autojump_clock fixture too"
    ours, theirs = memory_channel_pair()
    addon = FakeAddon(theirs, sign_up())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(addon.serve)
        peer = await accept_hello(ours, token=TOKEN, ids=lambda nbytes, purpose: hashlib.sha256(purpose.encode()).digest()[:nbytes])
        async with open_session(ours, peer) as channel:
            session = BrowserSession(channel)
            (tab,) = await session.tabs()
            yield World(addon=addon, session=session, tab=tab)
        nursery.cancel_scope.cancel()
