"""Think: what the model is sent, when it may be asked at all, and what becomes of a request that fails or is cut."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

import trio
from trio.lowlevel import checkpoint_if_cancelled

from ..guarding import ModelReply, Stop
from ..guarding._nouns import added
from . import _words
from ._hooks import ask
from ._reading import read_reply
from ._tools import ToolSpec

if TYPE_CHECKING:
    from ._loop import Run


def think(run: Run) -> Awaitable[ModelReply | None]:
    """The model's reply; `run.asked` then says whether it was asked at all.

    None when a guard said no (then `run.stopped` says why), or when the request failed and may (`llm_errors`).
    """
    run.asked = False
    return _agreed_request(run) if run.guarded else _request(run)


async def _agreed_request(run: Run) -> ModelReply | None:
    cut = False
    while await _guards_agree(run, cut):
        at = run.guards.deadline(run.state)
        if at > trio.current_time():  # it may have passed while the guards were asked
            with trio.CancelScope(deadline=at):
                return await _request(run)
        cut = True  # the guard whose deadline it was says what that means
    return None


async def _guards_agree(run: Run, cut: bool) -> bool:
    said = run.heard(await ask(run.guards.before_model, run.state))
    if said.stop is None and cut:
        said.stop, said.guard = Stop("budget", "the deadline passed before the model had answered"), "deadline"
        run.stopped = run.stopped or said
    if said.stop is None:
        return True
    granted = said.stop.last_call and not run.last_call
    run.last_call = run.last_call or granted
    return granted


async def _request(run: Run) -> ModelReply | None:
    options, state, talk = run.options, run.state, run.talk
    talk.settle()
    while run.notes:
        talk.add_note(run.notes.pop(0))
    specs: Sequence[ToolSpec] = run.tools.to_specs()
    if run.last_call:
        specs = [spec for spec in specs if spec.name == options.stop_tool_name]
    await checkpoint_if_cancelled()
    run.asked = True
    try:
        raw = await options.llm.complete(system=options.system, messages=list(state.messages), tools=specs)
        reply = read_reply(raw, state.turn, talk.used)
    except Exception as fault:
        run.failures += 1
        if run.failures > options.llm_errors:
            raise
        talk.add_note(_words.MODEL_FAILED.format(why=_words.raised(fault)))
        return None
    run.failures = 0
    if reply.usage is not None:
        state.usage = added(state.usage, reply.usage)
    return reply
