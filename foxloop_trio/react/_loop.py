"""`run_react_loop`: think, act, observe, until the stop tool is called or something else ends the run.

The order of a turn is the text of `Run._turn`, from top to bottom. Asking the model is in `_thinking`, what happens to the
calls of a turn in `_calls`. The run
lives in its caller's task; the only nursery is around handlers that may run beside each other, and it is closed before the next
observation. So cancelling the caller ends the run, and nothing of it goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import trio
from trio.lowlevel import checkpoint, checkpoint_if_cancelled

from ..guarding import GuardChain, Message, ModelReply, OnAsk, Said, State
from ..tools import Tool
from ._calls import Calls, ask
from ._conversation import Conversation, add, readable, settled
from ._hooks import Hooks, TurnRecord
from ._options import Llm, Options, checked
from ._reply import message_of
from ._result import AgentRunResult, StateHolder, partial_result
from ._thinking import Thinking
from ._tools import ReactTool, ToolRegistry


async def run_react_loop(
    *,
    llm: Llm,
    tools: Iterable[ReactTool | Tool] | ToolRegistry,
    system: str,
    initial_messages: Iterable[Message | Mapping[str, Any]] = (),
    hooks: Hooks | Mapping[str, Any] | object | None = None,
    max_turns: int = 25,
    stop_tool_name: str = "task_done",
    context: Any = None,
    guards: Sequence[Any] = (),
    on_ask: OnAsk | None = None,
    max_tool_calls_per_turn: int | None = None,
    tool_timeout: float | None = None,
    parallel: bool = False,
    llm_errors: int = 0,
    stop_on_text: bool = False,
    max_result_chars: int = 100_000,
    resume_from: AgentRunResult | Mapping[str, Any] | None = None,
    state_out: StateHolder | None = None,
) -> AgentRunResult:
    """Let a model work with tools until it says that it is done.

    * `llm`: has ``async complete(*, system, messages, tools)``; answers with `text` and `tool_calls`, as a mapping or an object.
    * `tools`: `ReactTool`s, tools of `foxloop_trio.tools`, or a `ToolRegistry`, which may grow while the run goes on.
    * `system`: the system prompt; handed to the model as it is, and never put into the conversation.
    * `initial_messages`: the seed, copied. `context`: any value; the handlers' second argument.
    * `hooks`: see `Hooks`. `guards`: asked in their order before each call, then `before_tool_call`.
      `on_ask`: ``(call, reason, state) -> bool``, for a guard that wants a person to decide; without it such a call is blocked.
    * `max_turns`: most turns of this call; one that goes on from another run has as many again.
    * `stop_tool_name`: calling this tool ends the run; it is there by itself unless a tool has the name.
    * `max_tool_calls_per_turn`: further calls of a turn are answered and not run. `tool_timeout`: seconds of one handler.
    * `parallel`: calls in a row whose tools are `parallel_safe` run beside each other. `stop_on_text`: a turn with text and without
      calls ends the run. `max_result_chars`: longest observation.
    * `llm_errors`: so many failures of the model in a row become notes to it, each of which costs a turn; one more is raised.
    * `resume_from`: a result, or its ``to_json()``, whose conversation and count of turns this run goes on from.
    * `state_out`: keeps the state when the run is cancelled.

    Raises ValueError (as `BadOptionsError` or `BadToolError`) before the model is asked. What the model or a hook raises comes out
    as it is, with the `AgentRunResult` of what was done as its `partial_result`.
    """
    return await Run(
        checked(
            llm=llm,
            tools=tools,
            system=system,
            initial_messages=initial_messages,
            hooks=hooks,
            max_turns=max_turns,
            stop_tool_name=stop_tool_name,
            context=context,
            guards=guards,
            on_ask=on_ask,
            max_tool_calls_per_turn=max_tool_calls_per_turn,
            tool_timeout=tool_timeout,
            parallel=parallel,
            llm_errors=llm_errors,
            stop_on_text=stop_on_text,
            max_result_chars=max_result_chars,
            resume_from=resume_from,
            state_out=state_out,
        )
    ).run()


class Run:
    """One run, from its options to its result."""

    def __init__(self, options: Options) -> None:
        first = options.first
        used: set[str] = set()
        self._options = options
        self._talk = Conversation(settled(first.messages, used, first.turns))
        self._state = State(
            messages=self._talk,
            turn=first.turns,
            context=options.context,
            registry=options.registry,
            usage=first.usage,
            system=options.system,
            stop_tool_name=options.stop_tool_name,
        )
        self._chain = GuardChain(options.guards, on_ask=options.on_ask)
        self._calls = Calls(options, self._state, self._chain)
        self._thinking = Thinking(options, self._state, self._chain, self._calls, self._talk, used)
        self._records = options.hooks.on_turn_end is not None or options.hooks.persist_turn is not None
        self._last_turn = first.turns + options.max_turns

    async def run(self) -> AgentRunResult:
        options, state, calls = self._options, self._state, self._calls
        if options.state_out is not None:
            options.state_out.state = state
        try:
            if options.guards:
                calls.hear(await self._chain.open(state))
            if calls.stopped is not None:
                return self._stopped_by_guard(calls.stopped)
            while True:
                result = await self._turn()
                if result is not None:
                    return result
        except BaseException as fault:
            self._wind_up()
            if isinstance(fault, Exception):
                with contextlib.suppress(Exception):  # such as an exception that takes no attributes
                    fault.partial_result = partial_result(state)  # type: ignore[attr-defined]
            raise
        finally:
            self._chain.close(state)

    async def _turn(self) -> AgentRunResult | None:
        """One turn; the result when it was the last."""
        options, state, hooks, calls = self._options, self._state, self._options.hooks, self._calls
        state.turn += 1
        started = trio.current_time() if self._records else 0.0
        if self._thinking.rested:
            await checkpoint_if_cancelled()
        else:
            await checkpoint()  # each turn has one (R21), also with a model that never waits
        if hooks.build_context is not None:
            await ask(hooks.build_context, state)
        if hooks.on_turn_start is not None:
            await ask(hooks.on_turn_start, state)

        calls.begin_turn()
        reply = await self._thinking.reply()
        if reply is not None:
            add(state.messages, message_of(reply))
            await calls.run(reply)
        elif calls.stopped is not None and not self._thinking.asked:
            state.turn -= 1  # a guard refused the model call, so this turn has not begun
            return self._stopped_by_guard(calls.stopped)

        if self._records:
            turn = self._record(reply, started)
            if hooks.on_turn_end is not None:
                await ask(hooks.on_turn_end, state, turn)
            if hooks.persist_turn is not None:
                await ask(hooks.persist_turn, turn)

        if calls.summary is not None and not calls.last_call:
            return self._end("task_done", calls.summary)
        if calls.stopped is not None:
            return self._stopped_by_guard(calls.stopped)
        if options.stop_on_text and reply is not None and reply.text and not reply.tool_calls:
            return self._end("text", reply.text)
        if hooks.should_stop is not None and await ask(hooks.should_stop, state):
            return self._end("should_stop")
        if state.turn >= self._last_turn:
            return self._end("max_turns")
        return None

    def _wind_up(self) -> None:
        """The run was ended from outside: what was begun and has no answer gets one, so that the conversation can be gone on from.

        Nothing is raised here, whatever hooks have left in the state: it would take the place of what ended the run.
        """
        state = self._state
        if not isinstance(state.messages, list):
            state.messages, self._talk.edited = self._talk, True
        self._calls.close()
        if state.messages is not self._talk or self._talk.edited:
            state.messages = list(readable(state.messages))
            self._thinking.settle()

    def _record(self, reply: ModelReply | None, started: float) -> TurnRecord:
        return TurnRecord(
            number=self._state.turn,
            text=reply.text if reply is not None else None,
            tool_calls=reply.tool_calls if reply is not None else (),
            results=tuple(self._calls.results),
            usage=reply.usage if reply is not None else None,
            started=started,
            ended=trio.current_time(),
        )

    def _stopped_by_guard(self, said: Said) -> AgentRunResult:
        assert said.stop is not None
        return self._end(said.stop.reason, self._calls.summary, said.stop_detail())

    def _end(self, stopped: str, summary: str | None = None, detail: dict[str, Any] | None = None) -> AgentRunResult:
        self._thinking.settle()
        return AgentRunResult(
            stopped=stopped,
            turns=self._state.turn,
            messages=list(self._talk),
            final_summary=summary,
            usage=self._state.usage,
            stop_detail=detail,
        )
