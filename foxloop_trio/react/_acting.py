"""Act and observe: each call of a turn is judged, run and answered with exactly one observation, in the order of the reply.

For one call: is it a call of a known tool with arguments that fit; what do the guards say, then `before_tool_call`; the handler;
the tool message; what do the guards and `on_tool_result` say of it. Calls that may run beside each other go through each of these
together.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING, Final

import attrs
import trio
from trio.lowlevel import checkpoint_if_cancelled

from ..actions import copied, unchecked
from ..guarding import Block, ModelReply, Rewrite, ToolCall, ToolResult
from . import _words
from ._hooks import Instead, ask, give_back, judged
from ._tools import Handler, Registered

if TYPE_CHECKING:
    from ._loop import Run

LONGEST: Final = 1e9
"""Seconds (30 years): a longer `tool_timeout` is none, and might not even be a float."""

_result: Callable[..., ToolResult] = unchecked(ToolResult)


class Act:
    """One call of a turn, on its way to its observation."""

    handler: Handler | None = None
    remarks: Sequence[str] = ()
    """Notes of rewrites, put in front of the observation."""
    instead: Instead | None = None
    """What the hook wants to be run in place of the tool's handler, and the leave that it holds for that."""
    result: ToolResult | None = None
    """Once it has one, it is not run (again)."""
    considered: bool = True
    """The guards were, or would have been, asked about it, so they hear of its result too."""
    begun: bool = False
    observed: bool = False

    def __init__(self, index: int, call: ToolCall) -> None:
        self.index = index
        self.call = call
        """With the arguments that it is to be run with; the conversation keeps what the model wrote."""

    def fail(self, words: str, *, blocked: bool = False) -> None:
        self.result = _result(tool_call_id=self.call.id, content=words, is_error=True, blocked=blocked)


async def act(run: Run, reply: ModelReply) -> None:
    """All calls of a reply whose message has just been appended."""
    run.acts = [Act(index, call) for index, call in enumerate(reply.tool_calls)]
    if run.guarded:
        run.refusal = run.heard(await ask(run.guards.after_model, run.state, reply)).block
    judges = run.guarded or run.options.hooks.before_tool_call is not None
    rows: Iterable[Sequence[Act]] = _rows(run) if run.options.parallel else zip(run.acts, strict=True)  # each alone
    for row in rows:
        try:
            for one in row:
                found = _found(run, one)
                if judges and found is not None:
                    await _judge(run, one, found)
        except BaseException:
            for one in row:
                await give_back(one.instead, one.call.id)
            raise
        if len(row) == 1:
            await _perform(run, row[0])
        else:
            await _perform_together(run, row)
        for one in row:
            _observe(run, one)
            if run.guarded and one.considered:
                said = run.heard(await ask(run.guards.after_tool, one.call, one.result, run.state))
                run.refusal = run.refusal if said.block is None else said.block
            if run.options.hooks.on_tool_result is not None:
                await ask(run.options.hooks.on_tool_result, one.result, one.call, run.state)


def _rows(run: Run) -> Iterator[list[Act]]:
    """The calls in their order; those in a row that may run beside each other are together (R22)."""

    def safe(one: Act) -> bool:
        tool = run.tools.get(one.call.name)
        return tool is not None and tool.parallel_safe and tool.name != run.options.stop_tool_name

    row: list[Act] = []
    for one in run.acts:
        if row and not (safe(row[-1]) and safe(one)):
            yield row
            row = []
        row.append(one)
    if row:
        yield row


# May it be run, and with which arguments?


def _found(run: Run, act: Act) -> Registered | None:
    """The tool, when this is a call that could be run; one that could not has its result at once."""
    call = act.call
    words = _out_of_turn(run, act)
    if words is not None:
        act.considered = False
        act.fail(words, blocked=True)
        return None
    found = run.tools._find(call.name)
    if found is None:
        act.fail(_words.unknown_tool(call.name, [tool.name for tool in run.tools]))
        return None
    problem = found.check(call.arguments)
    if problem is not None:
        act.fail(_words.bad_arguments(call.name, problem, call.arguments))
        return None
    act.handler = found.tool.handler
    return found


async def _judge(run: Run, act: Act, found: Registered) -> None:
    """The guards are asked in their order, then the hook; and rewritten arguments must fit again (R30).

    What they are shown is a copy: only a `Rewrite` changes what is run, and nothing what the model has written.
    """
    call = act.call
    if run.guarded:
        shown = _copy(call)
        said = run.heard(await ask(run.guards.before_tool, shown, run.state))
        if said.block is not None or said.stop is not None:
            act.fail(_words.STOPPING if said.block is None else said.block, blocked=True)
            return
        if said.call is not None and said.call is not shown:
            act.call, act.remarks = said.call, said.remarks
    before = run.options.hooks.before_tool_call
    if before is not None:
        match judged(await ask(before, _copy(act.call), run.state)):
            case Block(reason=reason):
                act.fail(reason, blocked=True)
                return
            case Rewrite(arguments=arguments, note=note):
                act.call = attrs.evolve(act.call, arguments=arguments)
                act.remarks = [*act.remarks, note] if note is not None else act.remarks
            case Instead() as instead:
                act.handler, act.instead = instead.run, instead
    if act.call is not call and (problem := found.check(act.call.arguments)) is not None:
        await give_back(act.instead, call.id)
        act.call = call
        act.fail(_words.bad_arguments(call.name, problem), blocked=True)


def _out_of_turn(run: Run, act: Act) -> str | None:
    """Why this call is not even considered; None when it is."""
    most, stop = run.options.max_tool_calls_per_turn, run.options.stop_tool_name
    if run.summary is not None:
        return _words.ENDED
    if run.stopped is not None and not run.last_call:
        return _words.STOPPING
    if run.refusal is not None:
        return run.refusal
    if most is not None and act.index >= most:
        return _words.TOO_MANY.format(most=most)
    return _words.ONLY_STOP.format(stop=stop) if run.last_call and act.call.name != stop else None


def _copy(call: ToolCall) -> ToolCall:
    return attrs.evolve(call, arguments=copied(call.arguments))


# Running it


async def _perform(run: Run, act: Act) -> None:
    """Run the handler within its limits. Whatever it raises is an observation; Cancelled from outside passes (R13)."""
    if act.result is not None:
        return
    call, options = act.call, run.options
    at, cut = math.inf, _words.OUT_OF_TIME
    if run.guarded:
        at = run.guards.deadline(run.state)
        if at <= trio.current_time():  # it may have passed while the guards, the hook or a person were asked
            await give_back(act.instead, call.id)
            act.fail(_words.TOO_LATE, blocked=True)
            return
    if options.tool_timeout is not None:
        own = trio.current_time() + min(options.tool_timeout, LONGEST)
        if own <= at:
            at, cut = own, _words.TIMED_OUT.format(seconds=options.tool_timeout)
    scope = None if at == math.inf else trio.CancelScope(deadline=at)
    try:
        await checkpoint_if_cancelled()
    except BaseException:
        await give_back(act.instead, call.id)
        raise
    assert act.handler is not None
    act.begun = True
    try:
        value = act.handler(copied(call.arguments), options.context)
        if type(value) is CoroutineType or inspect.isawaitable(value):
            if scope is None:
                value = await value
            else:
                with scope:
                    value = await value
                if scope.cancelled_caught:
                    value = ToolResult(content=cut, is_error=True)
        is_error = isinstance(value, ToolResult) and value.is_error
        content = _words.content_of(value.content if isinstance(value, ToolResult) else value, options.max_result_chars)
        if act.remarks:
            content = "\n".join([*act.remarks, content])
        act.result = _result(tool_call_id=call.id, content=content, is_error=is_error)
    except Exception as fault:
        words = _words.raised(fault)
        act.fail(f"{cut} {words}" if scope is not None and scope.cancel_called else words)


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
        if one.observed:
            continue
        if one.result is None:
            one.fail(_words.IN_FLIGHT if one.begun else _words.FAILED_BESIDE, blocked=not one.begun)
        _observe(run, one)
