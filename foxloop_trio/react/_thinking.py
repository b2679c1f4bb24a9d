"""Think: what the model is sent, when it may be asked at all, and what becomes of a request that fails or is cut."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final

import trio
from trio.lowlevel import checkpoint_if_cancelled

from ..guarding import ModelReply, Stop
from ..guarding._nouns import added
from ..loop._model_reply import read_model_reply
from ..loop._words import class_and_words
from ..prompt import LIMITS
from ._hooks import ask

if TYPE_CHECKING:
    from ._loop import Run

NO_REPLY: Final = ModelReply()
"""Stands for what a request has not brought: it was cut, or it failed and may (`llm_errors`)."""


def think(run: Run) -> Awaitable[ModelReply | None]:
    """The model's reply, or `NO_REPLY`; None when a guard had the model not asked at all (then `run.stopped` says why)."""
    return _agreed_request(run) if run.guarded else _request(run)


async def _agreed_request(run: Run) -> ModelReply | None:
    asked = cut = False
    while await _guards_agree(run, cut):
        at = run.guards.deadline(run.state)
        if at > trio.current_time():  # it may have passed while the guards were asked
            asked = True
            with trio.CancelScope(deadline=at):
                return await _request(run)
        cut = True  # the guard whose deadline it was says what that means
    return NO_REPLY if asked else None


async def _guards_agree(run: Run, cut: bool) -> bool:
    said = await ask(run.guards.before_model, run.state)
    if cut and said.stop is None:
        said.stop, said.guard = Stop("budget", "the deadline passed before the model had answered"), "deadline"
        run.heard(said)
        return False
    if run.heard(said).stop is None:
        return True
    granted: bool = said.stop.last_call and not run.last_call
    run.last_call = run.last_call or granted
    return granted


async def _request(run: Run) -> ModelReply:
    options, state, talk = run.options, run.state, run.talk
    talk.settle()
    while run.notes:
        talk.add_note(run.notes.pop(0))
    specs = [spec for spec in run.tools.to_specs() if not run.last_call or spec.name == options.stop_tool_name]
    await checkpoint_if_cancelled()
    try:
        raw = await options.llm.complete(system=options.system, messages=list(state.messages), tools=specs)
        reply = read_model_reply(raw, state.turn, talk.used)
    except Exception as fault:
        run.failures += 1
        if run.failures > options.llm_errors:
            raise
        talk.add_note(f"The last request to the model failed ({class_and_words(fault, LIMITS['summary'])}). Go on from here.")
        return NO_REPLY
    run.failures = 0
    if reply.usage is not None:
        state.usage = added(state.usage, reply.usage)
    return reply
