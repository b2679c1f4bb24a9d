"""Act and observe: each call of a turn is judged, run and answered with exactly one observation, in the order of the reply.

For one call: is it a call of a known tool with arguments that fit; what do the guards say, then `before_tool_call`; the handler;
the tool message; what do the guards and `on_tool_result` say of it. Calls that may run beside each other go through each of these
together.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING, Final

import attrs
import trio
from trio.lowlevel import checkpoint_if_cancelled

from .. import prompt
from ..actions import copied, unchecked
from ..guarding import Block, ModelReply, Rewrite, ToolCall, ToolResult
from ..loop._interruptible import ask
from ..loop._repair import mended
from ..loop._words import as_text, class_and_words
from ._hooks import Instead, give_back, judged
from ._tools import Handler

if TYPE_CHECKING:
    from ._loop import Run

NO_LIMIT: Final = contextlib.nullcontext()

LONGEST: Final = 1e9
"""Seconds (30 years): a longer `tool_timeout` is none, and might not even be a float."""

_result: Callable[..., ToolResult] = unchecked(ToolResult)


class Act:
    """One call of a turn, on its way to its observation.

    * `call`: with the arguments that it is to be run with; the conversation keeps what the model wrote.
    * `instead`: what the hook wants to be run in place of the tool's handler, and the leave that it holds for that.
    * `remarks`: notes of rewrites, put in front of the observation. `result`: once it has one, it is not run (again).
    * `considered`: the guards were, or would have been, asked about it, so they hear of its result too.
    """

    handler: Handler | None = None
    instead: Instead | None = None
    remarks: Sequence[str] = ()
    result: ToolResult | None = None
    considered = True
    begun = False
    observed = False

    def __init__(self, index: int, call: ToolCall) -> None:
        self.index = index
        self.call = call

    def fail(self, words: str, *, blocked: bool = False) -> None:
        self.result = _result(tool_call_id=self.call.id, content=words, is_error=True, blocked=blocked)


async def act(run: Run, reply: ModelReply) -> None:
    """All calls of a reply whose message has just been appended."""
    run.acts = [Act(index, call) for index, call in enumerate(reply.tool_calls)]
    hooks = run.hooks
    if run.guarded:
        run.refusal = run.heard(await ask(run.guards.after_model, run.state, reply)).block
    rows: Iterable[Sequence[Act]] = _rows(run) if run.options.parallel else zip(run.acts, strict=True)  # each alone
    for row in rows:
        try:
            for one in row:
                await _judge(run, one)
            await (_perform(run, row[0]) if len(row) == 1 else _perform_together(run, row))
        finally:
            for one in row:
                if one.instead is not None and not one.begun:
                    await give_back(one.instead, one.call.id)
        for one in row:
            _observe(run, one)
            if run.guarded and one.considered:
                said = run.heard(await ask(run.guards.after_tool, one.call, one.result, run.state))
                run.refusal = run.refusal if said.block is None else said.block
            if hooks.on_tool_result is not None:
                await ask(hooks.on_tool_result, one.result, one.call, run.state)


def _rows(run: Run) -> Iterable[Sequence[Act]]:
    """The calls in their order; those in a row that may run beside each other are together (R22)."""

    def safe_or_alone(one: Act) -> int | None:
        tool = run.tools.get(one.call.name)
        return None if tool is not None and tool.parallel_safe and tool.name != run.options.stop_tool_name else one.index

    return (list(row) for _, row in itertools.groupby(run.acts, safe_or_alone))


# May it be run, and with which arguments?


async def _judge(run: Run, act: Act) -> None:
    """What may not be run has its result at once. The guards are asked in their order, then the hook; and rewritten arguments must
    fit again (R30). What they are shown is a copy: only a `Rewrite` changes what is run, and nothing what the model has written.
    """
    call, tool = act.call, run.tools.get(act.call.name)
    if (words := _out_of_turn(run, act)) is not None:
        act.considered = False
        act.fail(words, blocked=True)
        return
    if tool is None:
        act.fail(prompt.unknown_tool(call.name, [tool.name for tool in run.tools]))
        return
    if (problem := tool._problem(call.arguments, is_json=not run.guarded)) is not None:
        came = f"; what came is {call.arguments[:200]!r}" if isinstance(call.arguments, str) else ""
        act.fail(_do_not_fit(call, f"{problem}{came}"))
        return
    act.handler = tool.handler
    if run.guarded:
        shown = _copy(call)
        said = run.heard(await ask(run.guards.before_tool, shown, run.state))
        if said.block is not None or said.stop is not None:
            act.fail(said.block if said.block is not None else "Not run: the run is being stopped.", blocked=True)
            return
        if said.call is not None and said.call is not shown:
            act.call, act.remarks = said.call, said.remarks
    if (before := run.hooks.before_tool_call) is not None:
        match judged(await ask(before, _copy(act.call), run.state)):
            case Block(reason=reason):
                act.fail(reason, blocked=True)
                return
            case Rewrite(arguments=arguments, note=note):
                act.call = attrs.evolve(act.call, arguments=arguments)
                act.remarks = [*act.remarks, note] if note is not None else act.remarks
            case Instead() as instead:
                act.handler, act.instead = instead.run, instead
    if act.call is not call and (problem := tool._problem(act.call.arguments)) is not None:
        act.call = call
        act.fail(_do_not_fit(call, problem), blocked=True)


def _copy(call: ToolCall) -> ToolCall:
    return attrs.evolve(call, arguments=copied(call.arguments))


def _out_of_turn(run: Run, act: Act) -> str | None:
    """Why this call is not even considered; None when it is."""
    most, stop = run.options.max_tool_calls_per_turn, run.options.stop_tool_name
    if run.summary is not None:
        return "Not run: the run had already ended with the stop tool."
    if run.stopped is not None and not run.last_call:
        return "Not run: the run is being stopped."
    if run.refusal is not None:
        return run.refusal
    if most is not None and act.index >= most:
        return f"Not run: at most {most} calls of one turn are run."
    return f"Not run: only {stop} can be called now." if run.last_call and act.call.name != stop else None


def _do_not_fit(call: ToolCall, problem: str) -> str:
    return mended(f"The arguments do not fit {call.name}, so it was not run. {problem}"[: prompt.LIMITS["summary"]])


# Running it


async def _perform(run: Run, act: Act) -> None:
    """Run the handler within its limits. Whatever it raises is an observation; Cancelled from outside passes (R13)."""
    if act.result is not None:
        return
    call, options = act.call, run.options
    deadline = run.guards.deadline(run.state) if run.guarded else math.inf
    if run.guarded and deadline <= trio.current_time():  # it may have passed while the guards, the hook or a person were asked
        act.fail("Not run: the time was up before this call began.", blocked=True)
        return
    scope, cut = _limit(deadline, options.tool_timeout)
    await checkpoint_if_cancelled()
    assert act.handler is not None
    act.begun = True
    try:
        value = act.handler(copied(call.arguments), options.context)
        if type(value) is CoroutineType or inspect.isawaitable(value):
            with scope or NO_LIMIT:
                value = await value
            if scope is not None and scope.cancelled_caught:
                value = ToolResult(content=cut, is_error=True)
        is_error, value = (value.is_error, value.content) if isinstance(value, ToolResult) else (False, value)
        content = "\n".join([*act.remarks, as_text(value, options.max_result_chars)])
        act.result = _result(tool_call_id=call.id, content=content, is_error=is_error)
    except Exception as fault:
        words = class_and_words(fault)
        act.fail(f"{cut} {words}" if scope is not None and scope.cancel_called else words)


def _limit(deadline: float, timeout: float | None) -> tuple[trio.CancelScope | None, str]:
    """What cuts a handler, at the earlier of the two; and what is said of one that is cut."""
    if timeout is not None and (own := trio.current_time() + min(timeout, LONGEST)) <= deadline:
        return trio.CancelScope(deadline=own), f"Timed out after {timeout:g} s and was cut. It may have had an effect."
    scope = None if deadline == math.inf else trio.CancelScope(deadline=deadline)
    return scope, "Out of time: this call was cut. It may have had an effect."


async def _perform_together(run: Run, row: Sequence[Act]) -> None:
    try:
        async with trio.open_nursery() as nursery:
            for one in row:
                nursery.start_soon(_perform, run, one)
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None  # such as KeyboardInterrupt, as it would come out of a single handler
        raise


# Its observation


def _observe(run: Run, act: Act) -> None:
    call, result = act.call, act.result
    assert result is not None
    act.observed = True
    run.talk.add_result(call, result)
    if call.name == run.options.stop_tool_name and not result.is_error and run.summary is None:
        summary = call.arguments.get("summary")
        run.summary = summary if isinstance(summary, str) else result.content


def answer_the_rest(run: Run) -> None:
    """The run was ended from outside: answer what has no answer yet. Plain, so that nothing can come between."""
    for one in run.acts:
        if not one.observed:
            if one.result is None and one.begun:
                one.fail("The run ended while this call was running. It may have had an effect.")
            elif one.result is None:
                one.fail("Not run: the run ended before this call began.", blocked=True)
            _observe(run, one)
