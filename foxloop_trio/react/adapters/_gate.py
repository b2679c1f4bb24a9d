"""Tools of `foxloop_trio.tools` in a ReAct run, without the gate and behind it.

`react_tool` makes a plain tool of one. `gate_hook` puts the full gate in front: each call is prepared, judged, approved by a person
where the grant says so, and run with the arguments and the permit that the gate gave, and nothing else.
"""

from __future__ import annotations

import inspect
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
import trio

from ... import prompt
from ...actions import Action, Allow, Ask, Deny, EffectCell, Permit, ToolContext, ToolOutput, copied
from ...actions._run import acting_for_run
from ...actions._valid import must_be, require_method
from ...errors import Refuse
from ...guarding import Block, State, ToolCall, ToolResult
from ...loop._conversation import readable
from ...loop._interruptible import close
from ...loop._promised import approval_request, decided, host_name, prepared
from ...loop._waits import STEP_SECONDS
from ...loop._words import class_and_words
from ...ports import Approver, Gate, Ids, WallClock
from ...tools import Tool, define_tools
from .._hooks import Hooks, Instead
from .._tools import ReactTool

BeforeToolCall = Callable[[ToolCall, State], Awaitable[Block | Instead | None]]


def react_tool(tool: Tool, *, ids: Ids | None = None) -> ReactTool:
    """A tool of the loop as a `ReactTool`, without a gate: prepared, then run with a context that has no permit.

    A tool that needs one (each that acts on a browser) refuses; use `gate_hook` for those. What it returns becomes text as in the
    loop, with outside text between data markers.
    """
    define_tools([tool])
    nonce = prompt.new_nonce(ids)

    async def handler(args: dict[str, Any], context: Any) -> ToolResult:
        ctx = ToolContext(run_id="react", step=0, goal="")
        try:
            args, domain = await _judgeable(tool, args, ctx)
        except Refuse as refused:
            return ToolResult(content=str(refused), is_error=True)
        return _as_result(tool, await tool.run(args, attrs.evolve(ctx, domain=domain)), nonce)

    return ReactTool(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        handler=handler,
        read_only=tool.scope == "read",
        scope=tool.scope,
    )


def gate_hook(
    gate: Gate,
    tools: Sequence[Tool],
    on_approval: Approver | None = None,
    *,
    cancel_grace: float = 5.0,
    wall_clock: WallClock = time.time,
    ids: Ids | None = None,
) -> BeforeToolCall:
    """The gate as a `before_tool_call` hook for `tools`, which the run must have as well.

    Every call but that of the stop tool needs the gate's leave: one of a tool that is not among `tools` is refused. `on_approval`
    is asked as by the loop, until the request expires; without it, what needs a person is refused. A refusal is an observation,
    and the run goes on. Raises BadToolError as `define_tools` does, and ValueError for what is no gate.
    """
    require_method("gate", gate, "check", "redeem")
    if on_approval is not None:
        must_be("callable with an ApprovalRequest", callable).of("on_approval", on_approval)
    return _GateHook(gate, define_tools(list(tools)), on_approval, cancel_grace, wall_clock, prompt.new_nonce(ids))


def react_hooks_from_gate(gate: Gate, tools: Sequence[Tool], on_approval: Approver | None = None, **options: Any) -> Hooks:
    """`Hooks` with the gate in its place; the others can be added with `attrs.evolve`. Arguments as of `gate_hook`."""
    return Hooks(before_tool_call=gate_hook(gate, tools, on_approval, **options))


class _RunIds:
    """An id for each run that a hook serves, by the one `State` that it has, so that what a grant allows per run is counted so."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._known: dict[int, tuple[weakref.ref[State], str]] = {}
        self._count = 0

    def of(self, state: State) -> str:
        known = self._known.get(id(state))
        if known is not None and known[0]() is state:  # the number of an object that is gone may be another's now
            return known[1]
        self._known = {number: entry for number, entry in self._known.items() if entry[0]() is not None}
        self._count += 1
        run_id = f"{self._prefix}-{self._count}"
        self._known[id(state)] = weakref.ref(state), run_id
        return run_id


class _GateHook:
    def __init__(
        self, gate: Gate, tools: Mapping[str, Tool], approve: Approver | None, grace: float, wall_clock: WallClock, nonce: str
    ) -> None:
        self._gate = gate
        self._tools = tools
        self._approve = approve
        self._grace = grace
        self._wall_clock = wall_clock
        self._nonce = nonce
        self._run_ids = _RunIds(f"react-{nonce}")

    async def __call__(self, call: ToolCall, state: State) -> Block | Instead | None:
        tool = self._tools.get(call.name)
        if tool is None:
            if call.name == state.stop_tool_name:
                return None
            return Block(f"The gate does not know {call.name!r}, so it was not run.")
        goal = next((message.content for message in readable(state.messages) if message.role == "user"), "")
        ctx = ToolContext(run_id=self._run_ids.of(state), step=state.turn, goal=goal, cancel_grace=self._grace)
        try:
            args, domain = await _judgeable(tool, copied(call.arguments), ctx)
        except Refuse as refused:
            return Block(str(refused))
        except Exception as fault:
            return Block(f"It could not be prepared, so it was not run. {class_and_words(fault)}")
        try:
            decision = await self._decided(call, tool, Action(tool=tool.name, args=args, domain=domain, scope=tool.scope), ctx)
        except Exception as fault:
            return Block(f"The gate could not judge this call, so it was not run. {class_and_words(fault)}")
        if isinstance(decision, Deny):
            return Block(prompt.denied(decision.reason, decision.message))
        if isinstance(decision, str):
            return Block(f"{decision} It was not run.")
        permit = decision.permit
        allowed = permit.action
        if allowed.tool != tool.name:
            await _close(permit, used=False)
            return Block("The gate allowed another call than this one, so it was not run.")

        async def run(_: dict[str, Any], context: Any) -> ToolResult:
            return await self._run(tool, permit, attrs.evolve(ctx, domain=allowed.domain, permit=permit, cell=EffectCell()))

        async def drop() -> None:
            await _close(permit, used=False)

        return Instead(run=run, drop=drop)

    async def _decided(self, call: ToolCall, tool: Tool, action: Action, ctx: ToolContext) -> Allow | Deny | str:
        """The gate's answer, a person's included; words when there is no answer to go by."""
        decision = await self._judged(ctx.run_id, self._gate.check, action)
        if not isinstance(decision, Ask):
            return decision
        if self._approve is None or decision.request_id is None:
            return "A person would have to approve this call, and nobody can be asked."
        described = None
        if tool.describe is not None:
            described = str(await _called(tool.describe, copied(action.args), attrs.evolve(ctx, domain=action.domain)))
        request = approval_request(decision, action, step=ctx.step, call_id=call.id, described=described)
        token: object = None
        with trio.move_on_after(max(0.0, decision.expires_at - self._wall_clock())):
            token = await self._approve(request)
        if not isinstance(token, str) or not token:
            return "The person who was asked did not approve this call."
        decision = await self._judged(ctx.run_id, self._gate.redeem, token, action)
        return "The gate asked again when the approval was redeemed." if isinstance(decision, Ask) else decision

    async def _judged(self, run_id: str, ask: Callable[..., Awaitable[Any]], *args: Any) -> Allow | Ask | Deny:
        with acting_for_run(run_id), trio.fail_after(STEP_SECONDS):
            return decided(await ask(*args))

    async def _run(self, tool: Tool, permit: Permit, ctx: ToolContext) -> ToolResult:
        """Run what the gate allowed, with the arguments inside the permit. What it spent stays spent, unless it did nothing."""
        try:
            return _as_result(tool, await tool.run(copied(permit.action.args), ctx), self._nonce)
        finally:
            effect = ctx._cell.effect
            await _close(permit, used=effect is None or effect.state != "not-started")


async def _judgeable(tool: Tool, args: dict[str, Any], ctx: ToolContext) -> tuple[dict[str, Any], str]:
    """What is judged and run: the prepared arguments, and the host that they concern."""
    if tool.prepare is not None:
        args = prepared(await _called(tool.prepare, args, ctx))
    return args, tool.domain if isinstance(tool.domain, str) else host_name(await _called(tool.domain, copied(args), ctx))


async def _called(function: Any, *args: Any) -> Any:
    value = function(*args)
    if not inspect.isawaitable(value):
        return value
    with trio.fail_after(STEP_SECONDS):
        return await value


async def _close(permit: Permit, *, used: bool) -> None:
    await close(permit.settle if used else permit.release, "the permit %s could not be closed", permit.id)


def _as_result(tool: Tool, output: object, nonce: str) -> ToolResult:
    if not isinstance(output, ToolOutput):
        raise TypeError(f"{tool.name} returned {type(output).__name__}, not a ToolOutput")
    return ToolResult(content=prompt.result_text(tool.name, output, nonce), is_error=not output.ok)
