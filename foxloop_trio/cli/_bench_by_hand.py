"""The parts of our loop, strung together by hand: what a step costs before there is an engine, a rule or a limit.

It stands between the bare loop and ours, and says how much of a step is the parts themselves: reading the reply in full, four
frozen events, an action and its permit, a context, a history, and a cancel scope around the planner and around the tool. It skips
all that makes a run one that can be relied on: effects and their answers, budgets, repeats, pauses, records, late results, what
hangs or raises. So it is no loop to use, and a loop with these parts cannot cost less.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, Literal

import trio
from trio.lowlevel import checkpoint_if_cancelled

from ..actions import Action, Allow, ToolContext, copied, unchecked
from ..events import GateDecision, LoopEvent, Plan, ToolCall, ToolResult
from ..loop._call import Call
from ..loop._history import History
from ..loop._reply import read_reply
from ..ports import Planner
from ..prompt import FINISH
from ..tools import Tool
from ._bench_ours import AllowedBefore, allowed_before, cpu_clock, granted, runs_of, save_note
from ._bench_work import GOAL, Notes, ReadyPlanner, arguments, replies

_plan = unchecked(Plan)
_tool_call = unchecked(ToolCall)
_gate_decision = unchecked(GateDecision)
_tool_result = unchecked(ToolResult)
_action = unchecked(Action)
_context = unchecked(ToolContext)

NONCE: Final = "00" * 16


class PartsByHand:
    """One run, read with `async for`: plan, call, decision and result of each step, until the planner calls `finish`."""

    def __init__(self, planner: Planner, gate: AllowedBefore, tools: Mapping[str, Tool]) -> None:
        self._planner = planner
        self._gate = gate
        self._tools = tools
        self._names = frozenset([*tools, FINISH])
        self._ids: set[str] = set()
        self._history = History(NONCE, system="", goal=GOAL, observed=False)
        self._next: Literal["plan", "call", "decision", "result"] = "plan"
        self._step = 0
        self._call: Call
        self._allow: Allow
        self._scope: trio.CancelScope | None = None

    def __aiter__(self) -> AsyncIterator[LoopEvent]:
        return self

    async def __anext__(self) -> LoopEvent:
        if self._next == "plan":
            return await self._ask()
        call, planned = self._call, self._call.planned
        if self._next == "call":
            if planned.name == FINISH:
                raise StopAsyncIteration
            call.tool = self._tools[planned.name]
            assert call.tool.args_problem(call.args, is_json=call.plain) is None
            self._next = "decision"
            return _tool_call(step=self._step, id=planned.id, name=planned.name, args=copied(call.args))
        assert call.tool is not None
        if self._next == "decision":
            return await self._judge(call, call.tool)
        return await self._run(call, call.tool)

    async def _ask(self) -> Plan:
        await checkpoint_if_cancelled()
        self._step += 1
        answer = await self._cut_by_abort(self._planner.chat, self._history.fitted())
        reply = read_reply(answer, step=self._step, names=self._names, used=self._ids)
        self._history.add_born_frozen(reply.message)
        (self._call,) = reply.calls
        self._next = "call"
        return _plan(step=self._step, text=reply.text, calls=(self._call.planned,), provider=None, tier=None, repairs=())

    async def _judge(self, call: Call, tool: Tool) -> GateDecision:
        await checkpoint_if_cancelled()
        action = _action(tool=tool.name, args=call.args, domain=tool.domain, scope=tool.scope)
        decision = self._gate.check_now(action)
        assert isinstance(decision, Allow)
        self._allow, self._next = decision, "result"
        shown = _action(tool=action.tool, args=copied(action.args), domain=action.domain, scope=action.scope, amount=action.amount)
        return _gate_decision(step=self._step, id=call.planned.id, via="check", decision="allow", action=shown, reason=None)

    async def _run(self, call: Call, tool: Tool) -> ToolResult:
        await checkpoint_if_cancelled()
        permit, planned = self._allow.permit, call.planned
        allowed = permit.action
        context = _context(run_id="by hand", step=self._step, goal=GOAL, domain=allowed.domain, permit=permit, cancel_grace=5.0)
        output = await self._cut_by_abort(tool.run, allowed.args, context)
        permit.close_now()
        self._history.add_result(planned, output)
        self._next = "plan"
        return _tool_result(
            step=self._step,
            id=planned.id,
            name=planned.name,
            ok=output.ok,
            summary=output.summary,
            reason=None,
            detail=None,
            data=output.data,
        )

    async def _cut_by_abort(self, fn: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        with trio.CancelScope() as self._scope:
            return await fn(*args)


def sample_by_hand(steps: int) -> float:
    """CPU seconds a step."""
    return trio.run(_main, steps)


async def _main(steps: int) -> float:
    count = runs_of(steps)
    ready = replies(steps)
    notes = Notes()
    tool = save_note(notes)
    gate = await granted(tool)
    runs = [PartsByHand(ReadyPlanner(ready), await allowed_before(gate, steps), {tool.name: tool}) for _ in range(count)]
    tool.args_problem(arguments(0))  # compiled before the clock starts, as for the others
    with cpu_clock() as spent:
        for run in runs:
            async for _ in run:
                pass
    assert len(notes.saved) == count * steps
    return spent[0] / (count * steps)
