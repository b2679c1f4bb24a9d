"""`run_react_loop`: think, act, observe, until the stop tool is called or something else ends the run.

The order of a turn is the text of `Run.turn`, from top to bottom; `act` (in `_acting`) sees to the model's calls. The run lives in
its caller's task; the only nursery is around handlers that may run beside each other, and it is closed before the next observation.
So cancelling the caller ends the run, and nothing of it goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import trio
from trio.lowlevel import Task, checkpoint, checkpoint_if_cancelled, current_task

from ..guarding import GuardChain, Message, ModelReply, OnAsk, Said, State, Stop
from ..guarding._nouns import TurnRecord, added
from ..loop._conversation import Conversation
from ..loop._interruptible import ask
from ..loop._model_reply import read_model_reply
from ..loop._words import class_and_words
from ..tools import Tool
from ._acting import Act, act, answer_the_rest
from ._hooks import Hooks
from ._options import Llm, Options
from ._result import AgentRunResult, StateHolder, partial_result
from ._tools import ReactTool, ToolRegistry, registry_of_run

NO_REPLY: Final = ModelReply()
"""Stands for what a request has not brought: it was cut, or it failed and may (`llm_errors`)."""


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
    * `system`: handed to the model as it is, and never put into the conversation. `initial_messages`: the seed of that, copied.
    * `hooks`: see `Hooks`. `context`: any value; the handlers' second argument.
    * `guards`: asked in their order before each call, then `before_tool_call`. `on_ask`: ``(call, reason, state) -> bool``, for a
      guard that wants a person to decide; without it such a call is blocked.
    * `max_turns`: most turns of this call. `stop_tool_name`: calling this tool, which is there by itself, ends the run.
    * `max_tool_calls_per_turn`: further calls of a turn are answered and not run. `tool_timeout`: seconds of one handler.
    * `parallel`: calls in a row whose tools are `parallel_safe` run beside each other. `stop_on_text`: a turn with text and without
      calls ends the run. `max_result_chars`: longest observation.
    * `llm_errors`: so many failures of the model in a row become notes to it, each of which costs a turn; one more is raised.
    * `resume_from`: a result, or its ``to_json()``, whose conversation and count of turns go on. `state_out`: keeps the state when
      the run is cancelled.

    Raises ValueError (as `BadOptionsError` or `BadToolError`) before the model is asked. What the model or a hook raises comes out
    as it is, with the `AgentRunResult` of what was done as its `partial_result`.
    """
    return await Run(Options(**locals())).to_its_end()  # all that was given, each by its name


class Run:
    """One run, from its options to its result: what is known of it while it goes on, and the order of a turn.

    * `notes`: what the guards have to tell the model before its next request. `stopped`: why a guard ends the run, and its detail.
    * `last_call`: this is the one more request that a guard granted; only the stop tool can be called.
    * `failures`: requests to the model that failed in a row. `summary`: what the stop tool said; not None once it was run.
    * `acts`: the calls of this turn. `refusal`: why a guard refuses those that are left.
    """

    stopped: tuple[str, dict[str, Any] | None] | None = None
    last_call = False
    failures = 0
    summary: str | None = None
    refusal: str | None = None

    def __init__(self, options: Options) -> None:
        begin = options.begin()
        self.options = options
        self.hooks = Hooks.of(options.hooks)
        self.tools = registry_of_run(options.tools, options.stop_tool_name)
        self.state = State(
            messages=list(begin.messages),
            turn=begin.turns,
            context=options.context,
            registry=self.tools,
            usage=begin.usage,
            system=options.system,
            stop_tool_name=options.stop_tool_name,
        )
        self.talk = Conversation(self.state)
        self.guards = GuardChain(options.guards, on_ask=options.on_ask)
        self.guarded = bool(self.guards)
        self.last_turn = begin.turns + options.max_turns
        self.notes: list[str] = []
        self.acts: list[Act] = []
        self._task = current_task()
        self._rests = _rests_of(self._task)

    async def to_its_end(self) -> AgentRunResult:
        state, result = self.state, None
        if self.options.state_out is not None:
            self.options.state_out.state = state
        try:
            if self.guarded and self.heard(await self.guards.open(state)).stop is not None:
                result = self._stopped_by_guard()
            while result is None:
                result = await self.turn()
            return result
        except BaseException as fault:
            self.talk.rescue(lambda: answer_the_rest(self))
            if isinstance(fault, Exception):
                with contextlib.suppress(Exception):  # such as an exception that takes no attributes
                    fault.partial_result = partial_result(state)  # type: ignore[attr-defined]
            raise
        finally:
            self.guards.close(state)

    async def turn(self) -> AgentRunResult | None:
        """One turn; the result when it was the last."""
        options, hooks, state = self.options, self.hooks, self.state
        recorded = hooks.on_turn_end is not None or hooks.persist_turn is not None
        started = trio.current_time() if recorded else 0.0
        state.turn += 1
        if self._rests == _rests_of(self._task):
            await checkpoint()  # each turn has one (R21), also with a model and tools that never wait
        self._rests = _rests_of(self._task)
        if hooks.build_context is not None:
            await ask(hooks.build_context, state)
        if hooks.on_turn_start is not None:
            await ask(hooks.on_turn_start, state)

        self.acts, self.refusal = [], None
        reply = await (self._agreed_request() if self.guarded else self._request())
        if reply is None:
            state.turn -= 1  # a guard refused the request, so this turn has not begun
            return self._stopped_by_guard()
        if reply is not NO_REPLY:
            self.talk.add_reply(reply)
            await act(self, reply)

        if recorded:
            turn = TurnRecord(
                number=state.turn,
                text=reply.text,
                tool_calls=reply.tool_calls,
                results=tuple(one.result for one in self.acts if one.result is not None),
                usage=reply.usage,
                started=started,
                ended=trio.current_time(),
            )
            if hooks.on_turn_end is not None:
                await ask(hooks.on_turn_end, state, turn)
            if hooks.persist_turn is not None:
                await ask(hooks.persist_turn, turn)

        if self.summary is not None and not self.last_call:
            return self._end("task_done")
        if self.stopped is not None:
            return self._stopped_by_guard()
        if options.stop_on_text and reply.text and not reply.tool_calls:
            return self._end("text", text=reply.text)
        if hooks.should_stop is not None and await ask(hooks.should_stop, state):
            return self._end("should_stop")
        return self._end("max_turns") if state.turn >= self.last_turn else None

    # Think: what the model is sent, when it may be asked at all, and what becomes of a request that fails or is cut

    async def _agreed_request(self) -> ModelReply | None:
        """As `_request`, when the guards agree, until their deadline; None when the model was not asked at all."""
        asked = cut = False
        while True:
            said = await ask(self.guards.before_model, self.state)
            if said.stop is None and cut:
                said.stop, said.guard = Stop("budget", "the deadline passed before the model had answered"), "deadline"
            if (stop := self.heard(said).stop) is not None:
                if self.last_call or not stop.last_call:
                    return NO_REPLY if asked else None
                self.last_call = True
            deadline = self.guards.deadline(self.state)
            if deadline > trio.current_time():  # it may have passed while the guards were asked
                asked = True
                with trio.CancelScope(deadline=deadline):
                    return await self._request()
            cut = True  # the guard whose deadline it was says what that means

    async def _request(self) -> ModelReply:
        """The model's reply; `NO_REPLY` when it failed and may."""
        options, state, talk = self.options, self.state, self.talk
        talk.settle()
        while self.notes:
            talk.add_note(self.notes.pop(0))
        specs = self.tools.to_specs()
        if self.last_call:
            specs = [spec for spec in specs if spec.name == options.stop_tool_name]
        await checkpoint_if_cancelled()
        try:
            raw = await options.llm.complete(system=options.system, messages=list(state.messages), tools=specs)
            reply = read_model_reply(raw, state.turn, talk.used)
        except Exception as fault:
            self.failures += 1
            if self.failures > options.llm_errors:
                raise
            talk.add_note(f"The last request to the model failed ({class_and_words(fault)}). Go on from here.")
            return NO_REPLY
        self.failures = 0
        if reply.usage is not None:
            state.usage = added(state.usage, reply.usage)
        return reply

    # What the guards said, and the end

    def heard(self, said: Said) -> Said:
        """What the guards said at some moment. Notes wait for the next request; the first stop ends the run after this turn."""
        self.notes += said.notes
        if said.stop is not None and self.stopped is None:
            self.stopped = said.stop.reason, said.stop_detail()
        return said

    def _stopped_by_guard(self) -> AgentRunResult:
        assert self.stopped is not None
        return self._end(*self.stopped)

    def _end(self, stopped: str, detail: dict[str, Any] | None = None, *, text: str | None = None) -> AgentRunResult:
        self.talk.settle()
        turns, messages, usage = self.state.turn, list(self.state.messages), self.state.usage
        summary = self.summary if text is None else text
        return AgentRunResult(
            stopped=stopped, turns=turns, messages=messages, final_summary=summary, usage=usage, stop_detail=detail
        )


def _rests_of(task: Task) -> int:
    """How often Trio's scheduler has come back to a task: Trio's own helpers for tests ask it in the same way. Where it cannot
    be told, a task looks as if it never waited, which costs a checkpoint more and breaks nothing."""
    rests: int = getattr(task, "_schedule_points", 0)
    return rests
