"""The calls of one turn: each is judged, run and answered with exactly one observation, in the order of the reply.

For one call: is it a call of a known tool with arguments that fit; what do the guards say, then `before_tool_call`; the handler;
the tool message; what do the guards and `on_tool_result` say of it.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Sequence
from types import CoroutineType
from typing import Any, Final

import attrs
import trio
from trio.lowlevel import checkpoint_if_cancelled

from ..actions import copied, unchecked
from ..guarding import Block, GuardChain, Message, ModelReply, Rewrite, Said, State, ToolCall, ToolResult
from . import _words
from ._conversation import add
from ._hooks import Instead, judged
from ._options import Options

LOG: Final = logging.getLogger("foxloop_trio.react")

DROP_SECONDS: Final = 5.0
"""How long giving back the leave of a call that is not run may take. The loop's `cancel_grace` has the same default."""

_message: Callable[..., Message] = unchecked(Message)
_call: Callable[..., ToolCall] = unchecked(ToolCall)
_result: Callable[..., ToolResult] = unchecked(ToolResult)


async def ask(hook: Callable[..., Any], *args: Any) -> Any:
    """Call what may be sync or async; not at all when a cancel is pending."""
    await checkpoint_if_cancelled()
    value = hook(*args)
    return await value if inspect.isawaitable(value) else value


def _copy(call: ToolCall) -> ToolCall:
    return _call(id=call.id, name=call.name, arguments=copied(call.arguments))


@attrs.define
class Ready:
    """A call that may be run, and by what."""

    call: ToolCall
    run: Callable[[dict[str, Any], Any], Any]
    check: Callable[[object], str | None]
    remarks: Sequence[str] = ()
    drop: Callable[[], Any] | None = None


@attrs.define
class Refused:
    """A call that is not run, and its observation; `considered`: the guards were, or would have been, asked about it."""

    call: ToolCall
    result: ToolResult
    considered: bool = True


class Calls:
    """All calls of a run, turn by turn, and what the guards have said so far."""

    def __init__(self, options: Options, state: State, chain: GuardChain) -> None:
        self._options = options
        self._state = state
        self._chain = chain
        self._guarded = bool(chain)
        self._asks = bool(chain) or options.hooks.before_tool_call is not None
        self._tells = bool(chain) or options.hooks.on_tool_result is not None
        self.notes: list[str] = []
        """For the model, before its next request."""
        self.stopped: Said | None = None
        """The guard's word that ends the run."""
        self.summary: str | None = None
        """What the stop tool said; not None once it was run."""
        self.last_call = False
        """This is the one more model call that a guard granted; only the stop tool can be called."""
        self.results: list[ToolResult] = []
        self._calls: Sequence[ToolCall] = ()
        self._refusal: str | None = None
        self._begun: dict[int, ToolResult | None] = {}
        """The calls of this turn that were begun, by their place, and what came of them; None while they go on."""

    def hear(self, said: Said) -> None:
        """Keep what the guards said for later: notes, a stop, a refusal of the calls that are left."""
        self.notes += said.notes
        if said.stop is not None and self.stopped is None:
            self.stopped = said

    def begin_turn(self) -> None:
        self.results, self._calls, self._refusal = [], (), None
        self._begun.clear()

    async def run(self, reply: ModelReply) -> None:
        """All calls of a reply whose message has just been appended."""
        self._calls = calls = reply.tool_calls
        if self._guarded:
            await checkpoint_if_cancelled()
            said = await self._chain.after_model(self._state, reply)
            self.hear(said)
            self._refusal = said.block
        index = 0
        while index < len(calls):
            row = self._row(index) if self._options.parallel else 1
            if row > 1:
                await self._run_row(range(index, index + row))
            else:
                found = self._considered(index, calls[index])
                if type(found) is Ready:
                    if self._asks:
                        found = await self._judged(found)
                    if type(found) is Ready:
                        await self._handle(index, found)
                self._append(index, found)
                if self._tells:
                    await self._tell(index, found)
            index += row

    def close(self) -> None:
        """The run was ended from outside: answer what has no answer yet. Plain, so that nothing can come between."""
        for index in range(len(self.results), len(self._calls)):
            call = self._calls[index]
            result = self._begun.get(index)
            if result is None:
                words = _words.IN_FLIGHT if index in self._begun else _words.FAILED_BESIDE
                result = _error(call, words, blocked=index not in self._begun)
            self._answer(call, result)

    # One call

    def _considered(self, index: int, call: ToolCall) -> Ready | Refused:
        """Is it a call that could be run?"""
        options = self._options
        over = self.summary is not None or self.stopped is not None or self._refusal is not None
        if over or index >= options.max_tool_calls_per_turn:
            words = self._skipped(index, call)
            if words is not None:
                return _refused(call, words, considered=False)
        found = options.registry._registered(call.name)
        if found is None:
            return _refused(call, _words.unknown_tool(call.name, [tool.name for tool in options.registry.list()]), blocked=False)
        problem = found.check(call.arguments)
        if problem is not None:
            return _refused(call, _words.bad_arguments(call.name, problem, call.arguments), blocked=False)
        return Ready(call, found.tool.handler, found.check)

    async def _judged(self, ready: Ready) -> Ready | Refused:
        """May it be run? The guards in their order, then the hook; and rewritten arguments must fit again (R30).

        What they are shown is a copy: only a `Rewrite` changes what is run, and nothing what the model has written.
        """
        options, call = self._options, ready.call
        if self._guarded:
            refused = await self._ask_guards(ready)
            if refused is not None:
                return refused
        before = options.hooks.before_tool_call
        if before is not None:
            match judged(await ask(before, _copy(ready.call), self._state)):
                case Block(reason=reason):
                    return _refused(ready.call, reason)
                case Rewrite(arguments=arguments, note=note):
                    ready.call = attrs.evolve(ready.call, arguments=arguments)
                    ready.remarks = [*ready.remarks, note] if note is not None else ready.remarks
                case Instead(run=run, drop=drop):
                    ready.run, ready.drop = run, drop
        if ready.call is not call:
            problem = ready.check(ready.call.arguments)
            if problem is not None:
                await self._drop(ready)
                return _refused(call, _words.bad_arguments(call.name, problem))
        return ready

    def _skipped(self, index: int, call: ToolCall) -> str | None:
        """Why this call is not even considered."""
        if self.summary is not None:
            return _words.ENDED
        if self.stopped is not None and not self.last_call:
            return _words.STOPPING
        if self._refusal is not None:
            return self._refusal
        if index >= self._options.max_tool_calls_per_turn:
            return _words.too_many(int(self._options.max_tool_calls_per_turn))
        if self.last_call and call.name != self._options.stop_tool_name:
            return _words.ONLY_STOP.format(stop=self._options.stop_tool_name)
        return None

    async def _ask_guards(self, ready: Ready) -> Refused | None:
        await checkpoint_if_cancelled()
        shown = _copy(ready.call)
        said = await self._chain.before_tool(shown, self._state)
        self.hear(said)
        if said.block is not None:
            return _refused(ready.call, said.block)
        if said.stop is not None:
            return _refused(ready.call, _words.STOPPING)
        assert said.call is not None
        if said.call is not shown:
            ready.call, ready.remarks = said.call, said.remarks
        return None

    async def _handle(self, index: int, ready: Ready) -> None:
        """Run the handler within its limits. Whatever it raises is an observation; Cancelled from outside passes (R13)."""
        call, options, cut = ready.call, self._options, _words.OUT_OF_TIME
        at = math.inf
        if self._guarded:
            at = self._chain.deadline(self._state)
            if at <= trio.current_time():  # it may have passed while the guards, the hook or a person were asked
                await self._drop(ready)
                self._begun[index] = _error(call, _words.TOO_LATE, blocked=True)
                return
        if options.tool_timeout != math.inf and (own := trio.current_time() + options.tool_timeout) <= at:
            at, cut = own, _words.timed_out(options.tool_timeout)
        scope = None if at == math.inf else trio.CancelScope(deadline=at)
        if ready.drop is not None:
            await self._drop_if_cancelled(ready)
        else:
            await checkpoint_if_cancelled()
        self._begun[index] = None
        try:
            value = ready.run(copied(call.arguments), options.context)
            if type(value) is CoroutineType or (type(value) is not str and inspect.isawaitable(value)):
                if scope is None:
                    value = await value
                else:
                    with scope:
                        value = await value
                    if scope.cancelled_caught:
                        value = ToolResult(content=cut, is_error=True)
            if type(value) is str and value.isascii() and len(value) <= options.max_result_chars and not ready.remarks:
                result = _result(tool_call_id=call.id, content=value)
            else:
                result = self._read(call, value, ready.remarks)
        except Exception as fault:
            words = _words.raised(fault)
            result = _error(call, f"{cut} {words}" if scope is not None and scope.cancel_called else words)
        self._begun[index] = result

    def _read(self, call: ToolCall, value: Any, remarks: Sequence[str]) -> ToolResult:
        is_error = False
        if isinstance(value, ToolResult):
            value, is_error = value.content, value.is_error
        content = _words.content_of(value, self._options.max_result_chars)
        if remarks:
            content = "\n".join([*remarks, content])
        return _result(tool_call_id=call.id, content=content, is_error=is_error)

    def _append(self, index: int, found: Ready | Refused) -> None:
        """The one observation of a call."""
        call, result = found.call, found.result if type(found) is Refused else self._begun[index]
        assert result is not None
        self._answer(call, result)
        if call.name == self._options.stop_tool_name and not result.is_error and self.summary is None:
            summary = call.arguments.get("summary")
            self.summary = summary if isinstance(summary, str) else result.content

    async def _tell(self, index: int, found: Ready | Refused) -> None:
        """Who hears of an observation: the guards, then the hook."""
        call, result = found.call, self.results[index]
        if self._guarded and (isinstance(found, Ready) or found.considered):
            await checkpoint_if_cancelled()
            said = await self._chain.after_tool(call, result, self._state)
            self.hear(said)
            self._refusal = self._refusal if said.block is None else said.block
        heard = self._options.hooks.on_tool_result
        if heard is not None:
            await ask(heard, result, call, self._state)

    def _answer(self, call: ToolCall, result: ToolResult) -> None:
        self.results.append(result)
        add(self._state.messages, _message(role="tool", content=result.content, tool_call_id=call.id, name=call.name))

    # Several beside each other

    def _row(self, start: int) -> int:
        """How many calls from `start` on may run beside each other (R22)."""
        end = start
        while end < len(self._calls):
            name = self._calls[end].name
            tool = self._options.registry.get(name)
            if tool is None or not tool.parallel_safe or name == self._options.stop_tool_name:
                break
            end += 1
        return max(1, end - start)

    async def _run_row(self, row: range) -> None:
        """All are judged, in their order; then those that may run are run; then all are observed, in their order."""
        found: list[Ready | Refused] = []
        try:
            for index in row:
                one = self._considered(index, self._calls[index])
                found.append(await self._judged(one) if self._asks and isinstance(one, Ready) else one)
        except BaseException:
            for ready in found:
                if isinstance(ready, Ready):
                    await self._drop(ready)
            raise
        try:
            async with trio.open_nursery() as nursery:
                for index, ready in zip(row, found, strict=True):
                    if isinstance(ready, Ready):
                        nursery.start_soon(self._handle, index, ready)
        except BaseExceptionGroup as group:
            if len(group.exceptions) == 1:
                raise group.exceptions[0] from None  # such as KeyboardInterrupt, as it would come out of a single handler
            raise
        for index, one in zip(row, found, strict=True):
            self._append(index, one)
            if self._tells:
                await self._tell(index, one)

    # Leave that is not used

    async def _drop_if_cancelled(self, ready: Ready) -> None:
        try:
            await checkpoint_if_cancelled()
        except BaseException:
            await self._drop(ready)
            raise

    async def _drop(self, ready: Ready) -> None:
        """What it raises is logged: it must take the place neither of what ended the call nor of the next one's turn."""
        if ready.drop is None:
            return
        with trio.CancelScope(shield=True, deadline=trio.current_time() + DROP_SECONDS):
            try:
                done = ready.drop()
                if inspect.isawaitable(done):
                    await done
            except Exception:
                LOG.exception("what was held for the call %s could not be given back", ready.call.id)


def _refused(call: ToolCall, words: str, *, blocked: bool = True, considered: bool = True) -> Refused:
    return Refused(call, _error(call, words, blocked=blocked), considered)


def _error(call: ToolCall, words: str, *, blocked: bool = False) -> ToolResult:
    return _result(tool_call_id=call.id, content=words, is_error=True, blocked=blocked)
