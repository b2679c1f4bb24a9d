"""Public reports of loops that went wrong, by kind: each is a test here or at the place named in this table.

Every test here ends with the five invariants of the log: nothing is done after the end; every act has an earlier leave; the record
has no gap and one end; every request is validly paired; nothing is left behind. `Case` runs a loop and `assert_invariants` holds it
to them.

=====  =======================================================================================================
entry  where
=====  =======================================================================================================
B01    channel/test_close, channel/test_sweep, channel/test_listener, browser/test_supervisor, testing/test_fake_browser
B02    channel/test_session, browser/test_bidi
B04    channel/test_session, channel/test_sweep, browser/test_tab, testing/test_fake_browser
B05    here
B07    channel/test_close
B08    channel/test_close; of a run: loop/test_stopping
B10    here; interaction/test_bad_input, testing/test_fake_browser
B11    loop/test_beside (abort, expiry, lost peer); here (cancel)
B13    here; loop/test_stopping
B14    here; at every checkpoint: loop/test_sweep
B16    interaction/test_buglog_approvals
B17    channel/test_close
B19    channel/test_listener, channel/test_hostile, testing/test_fake_browser
B20    interaction/test_buglog_asyncio
B22    loop/test_beside (held until a fresh look), loop/test_claims, browser/test_tab; here (whose limit counts)
B26    channel/test_session, browser/test_bidi; in a tab's queue: interaction/test_buglog_approvals
B28    here (the loop does not retry a provider; delays are the router's)
B34    here
B46    loop/test_run; a change after the yes: interaction/test_buglog_approvals
B47    loop/test_run; with real tokens: interaction/test_buglog_approvals
B49    here; interaction/test_buglog_approvals
B52    loop/test_run, loop/test_options; here (none at all)
B53    here; interaction/test_buglog_approvals
B55    here; interaction/test_buglog_approvals
B56    here
B58    interaction/test_buglog_approvals
B59    loop/test_run
B61    loop/test_run, loop/test_beside, loop/test_budgets, loop/test_garbage
B62    loop/test_run, loop/test_beside; here (the remaining circles)
B64    loop/test_budgets
B65    loop/test_replies; here (a whole run)
B95    loop/test_replies, wire/test_codec, channel/test_session; here (a whole run)
B97    loop/test_replies; here (a whole run)
B98    loop/test_replies, loop/test_run; here (every text of the corpus in a whole run)
B100   loop/test_replies, loop/test_run; here (nothing of a cut reply is run)
B101   loop/test_replies; here (every request of whole runs)
B103   loop/test_replies; here (counted as failures)
=====  =======================================================================================================
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

import foxloop_trio.loop
from foxloop_trio.actions import Allow, CheckLine, CheckResult, Deny, ToolOutput
from foxloop_trio.errors import BrowserError, Refuse
from foxloop_trio.loop import Budget, Denials
from foxloop_trio.ports import ChatReply
from foxloop_trio.testing import virtual_wall_clock
from foxloop_trio.tools import Tool
from foxloop_trio.trail import MemoryTrail, Verified, verify_entries

STOPS = ("loop.done", "loop.blocked", "loop.aborted")
PASS = CheckResult(ok=True)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def a_call(name: str, args: Any, call_id: Any = "c") -> dict[str, Any]:
    text = args if isinstance(args, str) else json.dumps(args)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def save(text: str, call_id: Any = "c") -> dict[str, Any]:
    return a_call("save_note", {"text": text}, call_id)


def reply(*calls: Any, text: str | None = None, **fields: Any) -> ChatReply:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = list(calls)
    return ChatReply(message=message, **fields)


FINISH = a_call("finish", {"summary": "Saved."}, "end")


async def forever(*args: Any, **kwargs: Any) -> Any:
    await trio.sleep_forever()


class Case:
    """A loop whose acts, requests and permits are all remembered. `acts` are (arguments, trail entries by then)."""

    def __init__(self, parts: Any, *replies: Any, scope: Any = "fill", run: Any = None, **options: Any) -> None:
        self.acts: list[tuple[Any, int]] = []
        self.requests: list[list[Any]] = []
        self.trail = MemoryTrail(key=b"k" * 32)
        self.minted: list[Any] = []
        self.events: list[Any] = []
        self.replies = list(replies)
        self._run = run
        gate = options.pop("gate", None) or parts.StubGate()
        mint = gate.allow

        def remembered(action: Any) -> Allow:
            allow: Allow = mint(action)
            self.minted.append(allow.permit)
            return allow

        gate.allow = remembered
        tools = options.pop("tools", [])
        tool = options.pop("tool", {})
        note = Tool(
            **{
                "name": "save_note",
                "description": "Saves.",
                "parameters": TEXT,
                "scope": scope,
                "domain": "notes.local",
                "run": self.act,
            }
            | tool
        )
        self.bench = parts.Bench(planner=self, gate=gate, tools=[note, *tools], sink=self.trail, **options)
        self.gate = gate
        self.tasks = trio.lowlevel.current_statistics().tasks_living

    async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
        self.requests.append(list(messages))
        await trio.lowlevel.checkpoint()
        answer = self.replies.pop(0) if self.replies else reply(text="nothing left to do")
        if callable(answer):
            answer = answer(messages)
        if isinstance(answer, Exception):
            raise answer
        made: ChatReply = await answer if hasattr(answer, "__await__") else answer
        return made

    async def act(self, args: Any, ctx: Any) -> ToolOutput:
        assert ctx.permit.alive
        self.acts.append((args, len(self.trail.entries())))
        if self._run is not None:
            output: ToolOutput = await self._run(args, ctx)
            return output
        await trio.lowlevel.checkpoint()
        return ToolOutput(ok=True, summary="Saved.", check=PASS)

    async def run(self, each: Callable[[Any, Any], Any] | None = None) -> list[Any]:
        """The events; also those up to a stop from outside."""

        async def keep(run: Any, event: Any) -> None:
            self.events.append(event)
            done = each(run, event) if each is not None else None
            if hasattr(done, "__await__"):
                await done

        await self.bench.run(each=keep)
        return self.events

    def told(self, parts: Any) -> list[str]:
        told: list[str] = parts.told(self.events)
        return told

    def results(self) -> list[str | None]:
        return [event.reason for event in self.events if event.type == "tool-result"]

    async def assert_invariants(self) -> None:
        entries = self.trail.entries()
        kinds = [entry.kind for entry in entries]
        # (3) no gap, and exactly one end, which is last
        assert isinstance(verify_entries(entries, key=self.trail.key), Verified)
        assert [kind for kind in kinds if kind in STOPS] == kinds[-1:]
        # (1) no act after the end
        acts = len(self.acts)
        assert all(at <= len(entries) - 1 for _, at in self.acts)
        # (2) each act has a leave of its own, on record before it; each leave after an ask has one token, for the same action
        allowed = [i for i, entry in enumerate(entries) if entry.kind == "loop.decision" and entry.data["decision"] == "allow"]
        for number, (_, at) in enumerate(self.acts):
            assert number < len(allowed)
            assert allowed[number] < at
        asked = {entry.data["id"]: entry.data["action"] for entry in entries if entry.kind == "loop.approval-needed"}
        redeemed = [entry.data for entry in entries if entry.kind == "loop.decision" and entry.data["via"] == "redeem"]
        for data in redeemed:
            assert asked[data["id"]] == data["action"]
        tokens = [token for token, _ in self.gate.redeemed]
        assert len(set(tokens)) == len(tokens) == len(redeemed)
        # (4) every request is validly paired
        for messages in self.requests:
            assert_paired(messages)
        # (5) nothing is left: permits, tasks, the busy flag; and nothing goes on
        assert [permit for permit in self.minted if permit.alive] == []
        assert trio.lowlevel.current_statistics().tasks_living == self.tasks
        async with self.bench.loop.run("the next one"):
            pass
        assert len(self.acts) == acts


ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def assert_paired(messages: list[Any]) -> None:
    """What the strictest servers check in a request."""
    json.dumps(messages, ensure_ascii=False).encode()
    assert [message["role"] for message in messages[:2]] == ["system", "user"]
    waiting: list[str] = []
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids)
    for message in messages:
        role, content = message["role"], message["content"]
        if role == "tool":
            assert waiting, "an answer to no call"
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert waiting == [], f"calls without an answer: {waiting}"
        calls = message.get("tool_calls")
        if role == "assistant" and calls is not None:
            assert 1 <= len(calls) <= 128
            waiting = [call["id"] for call in calls]
            for call in calls:
                assert set(call) == {"id", "type", "function"}
                assert ID.fullmatch(call["id"])
                assert NAME.fullmatch(call["function"]["name"])
                json.loads(call["function"]["arguments"])
            assert content is None or type(content) is str
        else:
            assert type(content) is str
            assert content
    assert waiting == []
    assert messages[-1]["role"] in ("user", "tool")


async def yes(request: Any) -> str:
    return f"token for {request.request_id}"


async def until(case: Case, stop: Callable[[Any], Any], seconds: float, *, scope: trio.CancelScope | None = None) -> None:
    """Run, and call `stop` with the run after so many seconds."""
    async with trio.open_nursery() as nursery:

        async def later() -> None:
            await trio.sleep(seconds)
            stop(case.bench.last)

        nursery.start_soon(later)
        await case.run()


# A. Stop and cancellation


@pytest.mark.parametrize("how", ["abort", "cancel"])
async def test_a_stop_after_the_first_of_five_acts_leaves_one_act(parts: Any, how: str) -> None:
    """B05: exactly one act, no further request. The four others are in no request, and no result is made up for them (7.1)."""
    case = Case(parts, reply(*[save(str(number), f"c{number}") for number in range(5)]), max_calls_per_turn=5)

    async def each(run: Any, event: Any) -> None:
        if event.type == "tool-result":
            if how == "abort":
                run.abort()
            else:
                scope.cancel()
                await trio.lowlevel.checkpoint()

    with trio.CancelScope() as scope:
        await case.run(each)
    assert (len(case.acts), len(case.requests)) == (1, 1)
    assert case.bench.last.outcome.status == "aborted"
    await case.assert_invariants()


@pytest.mark.parametrize("when", ["in the act", "before the request"])
async def test_a_browser_that_is_closed_by_hand_ends_the_run_and_not_the_failure_count(parts: Any, when: str) -> None:
    """B10: one end, `browser-lost`, and no request while the peer is away."""

    class Peer:
        gone = False

        async def ready(self) -> None:
            if self.gone:
                raise BrowserError("the browser was closed", code="browser-lost")

    async def run(args: Any, ctx: Any) -> ToolOutput:
        if args["text"] == "2":
            peer.gone = True
            if when == "in the act":
                raise BrowserError("the browser was closed", code="browser-lost")
        return ToolOutput(ok=True, summary="Saved.")

    peer = Peer()
    case = Case(parts, reply(save("1")), reply(save("2")), run=run, tool={"environment": peer})
    events = await case.run()
    assert (events[-1].reason, len(case.requests), events[-1].step) == ("browser-lost", 2, 2)
    await case.assert_invariants()


async def test_a_paused_run_is_cancelled_at_once(parts: Any, autojump_clock: Any) -> None:
    """B11: pause, then cancel; the other two are elsewhere."""
    case = Case(parts, reply(save("1")))
    start = trio.current_time()
    with trio.move_on_after(3) as scope:
        await case.run(lambda run, event: run.pause() if event.type == "plan" else None)
    assert scope.cancelled_caught
    assert trio.current_time() - start == 3.0
    assert (case.acts, case.bench.last.outcome.status) == ([], "aborted")
    await case.assert_invariants()


@pytest.mark.parametrize("where", ["planner", "tool", "gate", "human"])
async def test_a_cancel_is_recorded_as_one_and_reaches_its_owner(parts: Any, where: str, autojump_clock: Any) -> None:
    """B13: not as a failure; `cancelled_caught` is true for the owner."""
    options: dict[str, Any] = {
        "tool": {"run": forever},
        "gate": {"gate": parts.StubGate(forever)},
        "human": {"gate": parts.StubGate("ask"), "on_approval": forever},
    }.get(where, {})
    first = forever if where == "planner" else reply(save("1"))
    case = Case(parts, first, **options)
    with trio.move_on_after(2) as scope:
        await case.run()
        raise AssertionError("the run went on")
    assert scope.cancelled_caught
    assert [event.type for event in case.events if event.type in ("tool-result", "blocked", "aborted")] == []
    end = case.trail.entries()[-1]
    assert (end.kind, end.data["record"]["cause"]) == ("loop.aborted", "cancelled")
    await case.assert_invariants()


async def test_a_stop_in_a_call_leaves_no_half_pair_in_any_request(parts: Any, autojump_clock: Any) -> None:
    """B14: the call that was cut is recorded with what is known of its effect, once."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        if args["text"] == "2":
            await trio.sleep_forever()
        return ToolOutput(ok=True, summary="Saved.")

    case = Case(parts, reply(save("1", "a")), reply(save("2", "b"), save("3", "c")), run=run)
    await until(case, lambda run: run.abort(), 4)
    assert (case.events[-1].in_flight.call_id, case.events[-1].in_flight.effect.state) == ("b", "unknown")
    notes = [entry.data for entry in case.trail.entries() if entry.kind == "loop.effect"]
    assert [(note["id"], note["state"]) for note in notes] == [("b", "unknown")]
    await case.assert_invariants()


# B. Timeouts


@pytest.mark.parametrize(("seconds", "state"), [(5, "timeout"), (15, None)])
async def test_the_callers_own_limit_is_the_one_that_counts(
    parts: Any, seconds: float, state: str | None, autojump_clock: Any
) -> None:
    """B22: the effect took place and its answer was late: unknown, and never blindly repeated; a longer limit is not ignored."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        await trio.sleep(10)
        return ToolOutput(ok=True, summary="Saved.", check=PASS)

    case = Case(parts, reply(save("1")), reply(save("1")), run=run, budget=Budget(tool_seconds=seconds), max_steps=2)
    await case.run()
    assert case.results() == ([None, None] if state is None else ["timeout", "in-doubt"])
    assert len(case.acts) == (2 if state is None else 1)
    effects = [entry.data["state"] for entry in case.trail.entries() if entry.kind == "loop.effect"]
    assert effects == ([] if state is None else ["unknown"])
    await case.assert_invariants()


async def test_a_provider_that_fails_ends_the_run_at_its_first_error(parts: Any, autojump_clock: Any) -> None:
    """B28, ruling 11: the loop never retries, so it makes no storm; retries with growing delays are the planner router's."""
    case = Case(parts, *[ConnectionError("503") for _ in range(5)])
    events = await case.run()
    assert (events[-1].reason, len(case.requests), trio.current_time() - case.bench.last._waits.started_at) == (
        "model-error",
        1,
        0.0,
    )
    await case.assert_invariants()


@pytest.mark.parametrize(("same", "reason"), [(True, "repeated-call"), (False, "repeated-failure")])
async def test_refused_calls_end_the_run_at_the_third(parts: Any, same: bool, reason: str) -> None:
    """B28: the same refused call and different ones; the third same one is found before it is examined (11.1)."""
    script = [reply(a_call("save_note", {"wrong": 0 if same else number})) for number in range(9)]
    case = Case(parts, *script)
    events = await case.run()
    assert (events[-1].reason, len(case.requests), case.acts) == (reason, 3, [])
    await case.assert_invariants()


EIGHT_HOURS = 8 * 3600.0


@pytest.mark.parametrize("pending", ["approval", "tool", "planner", "run"])
async def test_a_clock_that_jumps_eight_hours_fires_each_deadline_once_and_approves_nothing(
    parts: Any, pending: str, mock_clock: Any
) -> None:
    """B34: the machine slept. Expired is not approved, nothing runs twice, there is one end."""
    asked: list[Any] = []

    async def approve(request: Any) -> str:
        asked.append(request)
        await trio.sleep_forever()
        return "t"

    gate = parts.StubGate("ask") if pending == "approval" else parts.StubGate()
    gate.expires_at = virtual_wall_clock()() + 120.0
    options: dict[str, Any] = {
        "approval": {"on_approval": approve, "budget": Budget(approval_seconds=120, seconds=1000)},
        "tool": {"run": forever, "budget": Budget(tool_seconds=30), "max_steps": 1},
        "planner": {"budget": Budget(planner_seconds=60)},
        "run": {"run": forever, "budget": Budget(seconds=600)},
    }[pending]
    first = forever if pending == "planner" else reply(save("1"))
    case = Case(parts, first, gate=gate, wall_clock=virtual_wall_clock(), **options)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(case.run)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(EIGHT_HOURS)
    case.tasks = trio.lowlevel.current_statistics().tasks_living
    wanted = {
        "approval": ["blocked approval-expired"], "tool": ["tool-result timeout", "blocked max-steps"],
        "planner": ["blocked budget"], "run": ["blocked budget"],
    }[pending]  # fmt: skip
    assert case.told(parts)[-len(wanted) :] == wanted
    assert len(asked) == (1 if pending == "approval" else 0)
    assert len(case.acts) == (1 if pending in ("tool", "run") else 0)
    assert gate.redeemed == []
    await case.assert_invariants()


# D. Approvals


async def test_equal_calls_of_one_reply_have_each_their_own_request_and_answer(parts: Any, autojump_clock: Any) -> None:
    """B49: the first is approved; the second, which nobody answers, expires alone and does not run."""
    asked: list[str] = []

    async def approve(request: Any) -> str:
        asked.append(request.request_id)
        if len(asked) == 2:
            await trio.sleep_forever()
        return f"token for {request.request_id}"

    gate = parts.StubGate("ask", "ask")
    gate.expires_at = 60.0
    case = Case(parts, reply(save("same", "a"), save("same", "b")), gate=gate, on_approval=approve)
    events = await case.run()
    assert len(set(asked)) == 2
    assert gate.redeemed[0][0] == f"token for {asked[0]}"
    needed = [(event.id, event.request_id) for event in events if event.type == "approval-needed"]
    assert needed == [("a", asked[0]), ("b", asked[1])]
    assert (len(case.acts), events[-1].reason) == (1, "approval-expired")
    await case.assert_invariants()


async def test_a_loop_without_an_approver_shows_nothing_and_stops(parts: Any) -> None:
    """B52: no handler = `approval-unavailable`, no approval-needed event, and the tool does not run."""
    case = Case(parts, reply(save("1")), gate=parts.StubGate("ask"))
    await case.run()
    assert case.told(parts) == ["plan", "tool-call", "decision ask", "blocked approval-unavailable"]
    assert case.acts == []
    await case.assert_invariants()


NO = Deny(reason="no-grant", message="nothing is granted")


@pytest.mark.parametrize("verdict", [NO, None, True, "allow", "defer", {"decision": "allow"}])
@pytest.mark.parametrize("path", ["call", "batch", "first read", "retried", "ask_user"])
async def test_no_path_goes_around_a_gate_that_does_not_allow(parts: Any, verdict: Any, path: str) -> None:
    """B53: every kind of tool and path, and an unknown verdict is no leave."""
    ran: list[str] = []

    async def run(args: Any, ctx: Any) -> ToolOutput:
        ran.append(ctx.domain)
        return ToolOutput(ok=True, summary="ran")

    answer = verdict if isinstance(verdict, Deny) else (lambda action: verdict)
    read = Tool(name="look", description="", parameters={"type": "object"}, scope="read", domain="notes.local", run=run)
    ask = Tool(
        name="ask_user", description="", parameters={"type": "object"}, scope="read", domain="user.foxloop", human=True, run=run
    )
    calls = {
        "batch": [save("1", "a"), save("2", "b")], "ask_user": [a_call("ask_user", {})],
        "retried": [save("1", "a")],
    }.get(path, [save("1")])  # fmt: skip
    denials = Denials(retry=lambda reason: True, limit=2) if path == "retried" else None
    case = Case(
        parts, reply(*calls), reply(save("other")), gate=parts.StubGate(*[answer] * 9), run=run, tools=[read, ask], denials=denials,
        first_read="look" if path == "first read" else None,
    )  # fmt: skip
    events = await case.run()
    assert (ran, case.acts, case.minted) == ([], [], [])
    assert (events[-1].type, events[-1].reason) == ("blocked", "gate-deny" if isinstance(verdict, Deny) else "gate-error")
    await case.assert_invariants()


def test_one_function_alone_starts_a_tool_and_one_alone_asks_for_it() -> None:
    """B53: a static check. The `run` of a tool is called in one place of the loop, and `RunTool` is asked for in one place."""
    calls: list[str] = []
    for path in sorted(Path(foxloop_trio.loop.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name.endswith("tool.run") or name == "RunTool":
                    calls.append(f"{path.name} {name}")
            elif isinstance(node, ast.Attribute) and ast.unparse(node).endswith("tool.run"):
                calls.append(f"{path.name} mentions {ast.unparse(node)}")
    assert sorted(calls) == ["_calls.py RunTool", "_performing.py effect.tool.run", "_performing.py mentions effect.tool.run"]


async def test_an_approval_that_expired_is_not_taken_for_done(parts: Any, autojump_clock: Any) -> None:
    """B55: fill asks and expires, then submit: the run stops, says that nobody answered, and the send is never examined."""
    gate = parts.StubGate("ask")
    gate.expires_at = 30.0
    send = Tool(name="send", description="", parameters={"type": "object"}, scope="submit", domain="notes.local", run=forever)
    case = Case(parts, reply(save("1", "a"), a_call("send", {}, "b")), gate=gate, on_approval=forever, tools=[send])
    events = await case.run()
    assert (events[-1].reason, events[-1].limit, case.acts) == ("approval-expired", "expires_at", [])
    assert [event.name for event in events if event.type == "tool-call"] == ["save_note"]
    await case.assert_invariants()


@pytest.mark.parametrize("no", ["a human's", "the gate's, learned from"])
async def test_one_refusal_in_a_mixed_reply_is_a_refusal_of_that_call_and_ends_the_batch(parts: Any, no: str) -> None:
    """B56: [read, fill (no), read]: the first read has run and has its result; nothing after the refusal is run."""
    looked: list[Any] = []

    async def run(args: Any, ctx: Any) -> ToolOutput:
        looked.append(args)
        return ToolOutput(ok=True, summary="Seen.")

    async def refuse(request: Any) -> None:
        return None

    human = no == "a human's"
    read = Tool(name="look", description="", parameters={"type": "object"}, scope="read", domain="notes.local", run=run)
    case = Case(
        parts, reply(a_call("look", {}, "a"), save("1", "b"), a_call("look", {}, "c")), reply(FINISH), tools=[read],
        gate=parts.StubGate("allow", "ask" if human else NO), on_approval=refuse, denials=Denials(retry=lambda reason: True),
        max_steps=2,
    )  # fmt: skip
    minted: list[Any] = []
    case.acts = minted  # the reads are not among the acts of this case
    await case.bench.run(each=lambda run, event: case.events.append(event))
    assert len(looked) == 1
    assert case.results() == ([None] if human else [None, "gate-deny", "skipped"])
    assert case.events[-1].reason == ("approval-denied" if human else "max-steps")
    await case.assert_invariants()


# E. Budgets and loops


CIRCLES: dict[str, tuple[list[Any], str, int]] = {
    "A A A": ([{"text": "a"}] * 9, "repeated-call", 2),
    "A B A B A B": ([{"text": text} for text in "ababababab"], "repeated-call", 5),
    "up down up down": ([{"text": text} for text in ("scroll up", "scroll down") * 5], "repeated-call", 5),
    "changing reason": ([{"text": "a", "reason": f"try {number}"} for number in range(9)], "repeated-failure", 0),
    "growing wait": ([{"text": f"wait {2**number} s"} for number in range(9)], "max-steps", 6),
    "no action": ([{}] * 9, "repeated-call", 0),
}


@pytest.mark.parametrize("circle", CIRCLES)
async def test_a_planner_that_goes_in_circles_is_stopped(parts: Any, circle: str) -> None:
    """B62: by the same call, by a pair, by the schema that has no room for a reason, and in the end by the steps."""
    script, reason, acts = CIRCLES[circle]
    case = Case(parts, *[reply(a_call("save_note", args)) for args in script], max_steps=6)
    events = await case.run()
    assert (events[-1].reason, len(case.acts)) == (reason, acts)
    await case.assert_invariants()


async def test_the_same_address_opened_on_the_same_page_is_a_circle_and_on_a_changing_one_is_not(parts: Any) -> None:
    """B62: polling that sees a changed page is not punished."""
    for changes, reason in ((False, "repeated-call"), (True, "max-steps")):
        count: list[int] = []

        async def run(args: Any, ctx: Any) -> ToolOutput:
            count.append(1)  # noqa: B023
            return ToolOutput(ok=True, summary="Opened.", untrusted=f"page {len(count) if changes else 0}")  # noqa: B023

        case = Case(parts, *[reply(save("http://shop.test/")) for _ in range(6)], scope="read", run=run, max_steps=6)
        events = await case.run()
        assert (events[-1].reason, len(case.acts)) == (reason, 6 if changes else 2)
        await case.assert_invariants()


async def test_a_reply_with_a_thousand_calls_runs_a_few_and_leaves_a_request_that_servers_take(parts: Any) -> None:
    """B65: no gate question for a skipped call; each call that the history keeps is answered."""
    case = Case(parts, reply(*[save(str(number), f"c{number}") for number in range(1000)]), reply(FINISH))
    events = await case.run()
    assert (len(case.acts), len(case.gate.checked), events[-1].type) == (4, 4, "done")
    assert case.results() == [None] * 4 + ["skipped"] * 996
    assert len(case.requests[1][2]["tool_calls"]) == 128
    await case.assert_invariants()


# H. Model protocol and text


@pytest.mark.parametrize(
    ("written", "arrives"),
    [
        ('{"text": "\\ud83c\\udf78"}', "\U0001f378"), ('{"text": "a\\ud835b"}', "a\ufffdb"), ('{"text": "\ud83c"}', "\ufffd"),
        ('{"text": "\\u0000\\u2028\\u202e"}', "\0\u2028\u202e"), ('{"text": "e\\u0301"}', "e\u0301"),
    ],
)  # fmt: skip
async def test_odd_unicode_in_arguments_arrives_whole_and_is_on_record(parts: Any, written: str, arrives: str) -> None:
    """B95: pairs become one character, lone halves are replaced, all else stays as it is."""
    case = Case(parts, reply(a_call("save_note", written)), reply(FINISH))
    events = await case.run()
    assert ([args["text"] for args, _ in case.acts], events[-1].type) == ([arrives], "done")
    assert events[2].action.args == {"text": arrives}
    await case.assert_invariants()


@pytest.mark.parametrize("text", ["[1,2]", '{"a":1}', "null", '"quoted"', " 1 ", "<b>&amp;</b>", "[", '\\"'])
async def test_text_that_looks_like_json_arrives_unchanged(parts: Any, text: str) -> None:
    """B97: to the last byte, through gate, permit and tool."""
    case = Case(parts, reply(save(text)), reply(FINISH))
    await case.run()
    assert [args for args, _ in case.acts] == [{"text": text}]
    await case.assert_invariants()


FOLDER = Path(__file__).parent / "replies"
CORPUS: list[dict[str, Any]] = json.loads((FOLDER / "arguments.json").read_text())


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case["case"])
async def test_a_text_of_the_corpus_runs_with_its_value_or_not_at_all(parts: Any, case: dict[str, Any]) -> None:
    """B98: what was repaired is marked in the plan; what was not read fails, and the next request is valid."""
    whole = Case(parts, reply(a_call("save_note", case["raw"])), reply(FINISH), reply(FINISH))
    events = await whole.run()
    value = case.get("value")
    fits = not case.get("not_json") and isinstance(value, dict) and set(value) == {"text"} and isinstance(value["text"], str)
    assert [args for args, _ in whole.acts] == ([value] if fits else [])
    assert whole.results() == [None if fits else "invalid-args"]
    assert events[0].repairs == tuple(f"0:{name}" for name in case.get("repairs", []))
    await whole.assert_invariants()


CUT = {
    "cut JSON": [a_call("send", '{"text": "a', "a")],
    "whole JSON": [a_call("send", {"text": "a"}, "a")],
    "second cut": [a_call("send", {"text": "a"}, "a"), a_call("send", '{"te', "b")],
}


@pytest.mark.parametrize("scope", ["fill", "submit"])
@pytest.mark.parametrize("what", CUT)
async def test_nothing_of_a_reply_that_was_cut_is_run(parts: Any, what: str, scope: str) -> None:
    """B100: told to the planner once for each, at most three in a row, then a typed end; the whole twin runs."""
    send = {"name": "send"}
    case = Case(parts, *[reply(*CUT[what], finish_reason="length")] * 4, scope=scope, tool=send)
    events = await case.run()
    assert (case.acts, case.gate.checked, events[-1].reason, len(case.requests)) == ([], [], "model-error", 4)
    assert [event.problem for event in events if event.type == "plan"] == [events[0].problem] * 4
    assert "length" in case.requests[1][-1]["content"]
    await case.assert_invariants()
    twin = Case(parts, reply(*CUT[what], finish_reason="length"), reply(*CUT["whole JSON"]), scope=scope, tool=send, max_steps=2)
    await twin.run()
    assert len(twin.acts) == 1
    await twin.assert_invariants()


async def test_every_request_is_paired_whatever_becomes_of_the_calls(parts: Any) -> None:
    """B101: calls beside one that raises, refused, unknown, skipped, claims that fail, a reply that could not be read."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        if args["text"] == "raise":
            raise ValueError("x")
        return ToolOutput(ok=True, summary="Saved.", untrusted="page")

    case = Case(
        parts,
        reply(save("1", "a"), save("raise", "b"), save("3", "c")),
        reply(a_call("nope", {}, "d"), save("4", "e")),
        reply(text="am I done?"),
        ChatReply(message={"content": 5}),
        reply(save("5", "f"), FINISH),
        run=run,
        max_steps=7,
    )  # fmt: skip
    await case.run()
    assert len(case.requests) == 5
    assert case.results() == [None, "tool-error", "skipped", "unknown-tool", "skipped", None]
    await case.assert_invariants()


@pytest.mark.parametrize(
    "ids", [["", ""], ["a", "a"], ["é", "ü"], ["x" * 300, "x" * 300], [None, 5], ["first_read", "a b"]], ids=repr
)
async def test_ids_that_servers_refuse_are_replaced_consistently(parts: Any, ids: list[Any]) -> None:
    """B101: the same id in the plan, the events, the history and the answer."""
    calls = [save(str(number), call_id) for number, call_id in enumerate(ids)]
    case = Case(parts, reply(*calls), reply(FINISH))
    events = await case.run()
    planned = [call.id for call in events[0].calls]
    assert [event.id for event in events if event.type == "tool-result"] == planned
    assert [message["tool_call_id"] for message in case.requests[1] if message["role"] == "tool"] == planned
    assert len(set(planned)) == 2
    await case.assert_invariants()


async def test_a_long_history_is_trimmed_without_breaking_a_pair(parts: Any) -> None:
    """B101: at each length of the run, from one that fits to one far over the limit; the newest page text stays."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        return ToolOutput(ok=True, summary="Seen.", untrusted=f"page {args['text']} " + "x" * 3000)

    case = Case(parts, *[reply(save(f"{n}a", f"a{n}"), save(f"{n}b", f"b{n}")) for n in range(12)], run=run, max_steps=13)
    await case.run()
    for number, messages in enumerate(case.requests):
        assert len(messages) == 2 + 3 * min(number, 12)
        assert number == 0 or f"page {number - 1}b" in messages[-1]["content"] or number == 12 + 1
        assert sum(len(message["content"] or "") for message in messages) <= 24_000
    await case.assert_invariants()


@pytest.mark.parametrize(
    "calls",
    [[{}], [{"id": "a", "type": "function", "function": {"name": "", "arguments": "{}"}}],
     [{"id": "a", "type": "function", "function": {"name": None, "arguments": "{}"}}], [a_call("save_note", "[]")],
     [a_call("save_note", "null")], [a_call("save_note", "{}")]],
    ids=["empty object", "empty name", "null name", "list", "null", "empty arguments"],
)  # fmt: skip
async def test_a_vacuous_call_is_refused_and_counted_as_a_failure(parts: Any, calls: list[Any]) -> None:
    """B103: never run and never asked of the gate; with two other failures it ends the run."""
    other = [reply(a_call("save_note", {"text": number})) for number in (1, 2)]
    case = Case(parts, reply(*calls), *other)
    events = await case.run()
    assert (events[-1].reason, case.acts, case.gate.checked) == ("repeated-failure", [], [])
    assert case.results()[0] in ("invalid-args", "unknown-tool")
    await case.assert_invariants()


async def test_an_empty_claim_leaves_an_assistant_message_that_servers_take(parts: Any) -> None:
    """B101: an assistant message with neither text nor calls is refused by strict servers."""
    case = Case(parts, reply(), reply(FINISH))
    await case.run()
    await case.assert_invariants()


async def test_ids_that_the_planner_repeats_in_each_reply_are_told_apart(parts: Any) -> None:
    """B101: `call_0` in every reply (llama.cpp, Ollama adapters): two calls of one request and of one trail share an id."""
    case = Case(parts, reply(save("1", "call_0")), reply(save("2", "call_0")), reply(FINISH))
    events = await case.run()
    ids = [call["id"] for message in case.requests[-1] for call in message.get("tool_calls", [])]
    assert len(set(ids)) == len(ids)
    results = [event.id for event in events if event.type == "tool-result"]
    assert len(set(results)) == len(results)


HALF = "price \ud835 end"


@pytest.mark.parametrize(
    "where", ["summary", "untrusted", "data", "check", "raises", "refuses", "describe", "deny", "claim", "effect", "domain"]
)
async def test_half_a_character_from_a_page_does_not_kill_the_run(parts: Any, where: str) -> None:
    """B95: page text and exception texts (surrogateescape) with a lone half."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        if where == "raises":
            raise OSError(HALF)
        if where == "refuses":
            raise Refuse(HALF)
        if where == "effect":
            ctx.report_effect("done", [HALF])
        return ToolOutput(
            ok=True,
            summary=HALF if where == "summary" else "s",
            untrusted=HALF if where == "untrusted" else None,
            data={"t": HALF} if where == "data" else None,
            check=CheckResult(ok=where != "check", checks=(CheckLine(part="p", ok=False, evidence=HALF),))
            if where in ("check", "claim")
            else PASS,
        )

    gate = parts.StubGate(Deny(reason="no-grant", message=HALF) if where == "deny" else "ask" if where == "describe" else "allow")
    case = Case(
        parts,
        reply(save("1")),
        reply(FINISH),
        reply(FINISH),
        run=run,
        gate=gate,
        on_approval=yes,
        max_steps=2,
        denials=Denials(retry=lambda reason: True),
        tool={"describe": lambda args, ctx: HALF} if where == "describe" else {},
    )
    events = await case.run()
    assert events[-1].type == "done" or events[-1].reason != "trail-failed", events[-1]
    await case.assert_invariants()


async def test_half_a_character_in_the_goal_does_not_kill_the_run(parts: Any) -> None:
    """B95: the goal is outside text too, as a shell or a form gave it."""
    case = Case(parts, reply(save("1")), reply(FINISH))
    async with case.bench.loop.run(HALF) as run:
        events = [event async for event in run]
    assert events[-1].type == "done", events[-1]
