"""Asking the model: what it is sent, when it may be asked at all, and what becomes of a request that fails or is cut."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Sequence

import trio
from trio.lowlevel import Task, checkpoint_if_cancelled, current_task

from ..guarding import GuardChain, Message, ModelReply, State, Stop
from ..guarding._nouns import added
from . import _words
from ._calls import Calls
from ._conversation import Conversation, add, listed, settled
from ._options import Options
from ._reply import read_reply
from ._tools import ToolSpec


class Thinking:
    """The model side of one run. `used`: all call ids of the run, so that none stands for two calls."""

    def __init__(self, options: Options, state: State, chain: GuardChain, calls: Calls, talk: Conversation, used: set[str]) -> None:
        self._options = options
        self._state = state
        self._chain = chain
        self._calls = calls
        self._talk = talk
        self._used = used
        self._guarded = bool(chain)
        self._others_first = bool(chain) or options.hooks.build_context is not None or options.hooks.on_turn_start is not None
        """Somebody may have been waited for since the turn's own checkpoint."""
        self._task = current_task()
        self._failures = 0
        self.rested = False
        """The model let other tasks take their turn when it was last asked."""
        self.asked = False
        """The model was asked in this turn."""

    def reply(self) -> Awaitable[ModelReply | None]:
        """The model's reply. None when a guard said no (`calls.stopped`), or when the request failed and may."""
        self.asked = False
        return self._agreed_request() if self._guarded else self._request()

    async def _agreed_request(self) -> ModelReply | None:
        cut = False
        while await self._guards_agree(cut):
            at = self._chain.deadline(self._state)
            if at == math.inf:
                return await self._request()
            if at > trio.current_time():  # it may have passed while the guards were asked
                with trio.CancelScope(deadline=at):
                    return await self._request()
            cut = True  # the guard whose deadline it was says what that means
        return None

    async def _guards_agree(self, cut: bool) -> bool:
        calls = self._calls
        await checkpoint_if_cancelled()
        said = await self._chain.before_model(self._state)
        if cut and said.stop is None:
            said.stop, said.guard = Stop("budget", "the deadline passed before the model had answered"), "deadline"
        calls.hear(said)
        if said.stop is None:
            return True
        if said.stop.last_call and not calls.last_call:
            calls.last_call = True
            return True
        return False

    async def _request(self) -> ModelReply | None:
        options, state = self._options, self._state
        talk, calls = self._talk, self._calls
        if talk.edited or state.messages is not talk:
            self.settle()
        if calls.notes:
            for note in calls.notes:
                add(talk, Message(role="system", content=note))
            calls.notes.clear()
        specs: Sequence[ToolSpec] = options.registry.to_specs()
        if calls.last_call:
            specs = [spec for spec in specs if spec.name == options.stop_tool_name]
        if self._others_first:
            await checkpoint_if_cancelled()
        self.asked = True
        try:
            turns = _turns_taken(self._task)
            raw = await options.llm.complete(system=options.system, messages=list(talk), tools=specs)
            self.rested = _turns_taken(self._task) != turns
            reply = read_reply(raw, state.turn, self._used)
        except Exception as fault:
            self.rested = False
            self._failures += 1
            if self._failures > options.llm_errors:
                raise
            add(state.messages, Message(role="system", content=_words.model_failed(fault)))
            return None
        self._failures = 0
        if reply.usage is not None:
            state.usage = added(state.usage, reply.usage)
        return reply

    def settle(self) -> None:
        """After an edit by the host: the messages as any provider takes them (R20), in the run's own list."""
        talk, state = self._talk, self._state
        if state.messages is not talk:
            talk.replace(listed(state.messages))
            state.messages, talk.edited = talk, True
        if talk.edited:
            talk.replace(settled(talk, self._used, state.turn))


def _turns_taken(task: Task) -> int:
    """How often Trio's scheduler has come back to a task: Trio's own helpers for tests ask it in the same way. Where it cannot
    be told, a task looks as if it never waited, which costs a checkpoint more and breaks nothing."""
    taken: int = getattr(task, "_schedule_points", 0)
    return taken
