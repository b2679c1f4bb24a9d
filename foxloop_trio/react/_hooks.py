"""The hooks: the host's own functions around each turn and each call, all optional, sync or async."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import attrs
import trio
from attrs.validators import is_callable, optional
from trio.lowlevel import checkpoint_if_cancelled

from ..guarding import Block, Rewrite, ToolCall, ToolResult
from ..guarding._nouns import Record
from ..ports import Usage
from ._errors import ReactOptionError

LOG: Final = logging.getLogger("foxloop_trio.react")

GIVE_BACK_SECONDS: Final = 5.0
"""How long giving back the leave of a call that is not run may take. The loop's `cancel_grace` has the same default."""


@attrs.frozen(kw_only=True)
class Hooks:
    """What the host does at each point of a turn. In their order:

    * `build_context(state)`, then `on_turn_start(state)`: before the model is asked; the first may edit `state.messages`.
    * `before_tool_call(call, state)`: None lets the call pass; ``{"block": True, "reason": …}`` or a `Block` refuses it;
      ``{"arguments": {…}}`` or a `Rewrite` changes its arguments; `Instead` runs something else in its place.
    * `on_tool_result(result, call, state)`: after each observation, blocked and failed ones included.
    * `on_turn_end(state, turn)`, then `persist_turn(turn)`; `turn` is a `TurnRecord`.
    * `should_stop(state)`: true ends the run.

    A hook that raises ends the run with that exception, which carries `partial_result`.
    """

    build_context: Callable[..., Any] | None = None
    on_turn_start: Callable[..., Any] | None = None
    before_tool_call: Callable[..., Any] | None = None
    on_tool_result: Callable[..., Any] | None = None
    on_turn_end: Callable[..., Any] | None = None
    persist_turn: Callable[..., Any] | None = None
    should_stop: Callable[..., Any] | None = None

    @classmethod
    def of(cls, given: object) -> Hooks:
        """From a `Hooks`, a mapping, or any object with some of these methods. Raises BadOptionsError for what is no function."""
        if given is None:
            return NO_HOOKS
        if isinstance(given, Mapping):
            unknown = [str(name) for name in given if name not in NAMES]
            if unknown:
                raise ReactOptionError(f"hooks: {', '.join(unknown)} is not known; known are {', '.join(NAMES)}")
            found = dict(given)
        else:
            found = {name: hook for name in NAMES if (hook := getattr(given, name, None)) is not None}
            if not found and not isinstance(given, Hooks):
                raise ReactOptionError(f"hooks: {type(given).__name__} has none of {', '.join(NAMES)}")
        for name, hook in found.items():
            if hook is not None and not callable(hook):
                raise ReactOptionError(f"hooks: {name} must be a function, not {type(hook).__name__}")
        return cls(**found)


NO_HOOKS = Hooks()
NAMES = tuple(field.name for field in attrs.fields(Hooks))


@attrs.frozen(kw_only=True)
class Instead:
    """From `before_tool_call`: the call passes, and `run(args, context)` is called in place of the tool's handler.

    `drop()`, sync or async, is called in a shield when the call is not run after all; what it raises is logged. So leave that was
    reserved for this one call (a permit of the gate) is used or given back, whatever happens.
    """

    run: Callable[[dict[str, Any], Any], Any] = attrs.field(validator=is_callable())
    drop: Callable[[], Awaitable[Any] | None] | None = attrs.field(default=None, validator=optional(is_callable()))


@attrs.frozen(kw_only=True)
class TurnRecord(Record):
    """One turn, for `on_turn_end` and `persist_turn`. `started` and `ended` are on Trio's clock, in seconds."""

    _ALWAYS = ("number", "text", "tool_calls", "results", "started", "ended")
    _SOMETIMES = ("usage",)

    number: int
    text: str | None
    tool_calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    usage: Usage | None
    started: float
    ended: float


def judged(answer: Any) -> Block | Rewrite | Instead | None:
    """What `before_tool_call` meant. Raises TypeError for what it may not return."""
    if answer is None or isinstance(answer, Block | Rewrite | Instead):
        return answer
    if isinstance(answer, Mapping):
        if answer.get("block"):
            return Block(str(answer.get("reason") or "This call was refused."))
        if set(answer) <= {"block", "reason", "arguments"} and ("block" in answer or "reason" not in answer):
            return Rewrite(answer["arguments"]) if "arguments" in answer else None
    raise TypeError(f"before_tool_call may return None, block and reason, arguments, or Instead, not {answer!r}"[:300])


async def ask(hook: Callable[..., Any], *args: Any) -> Any:
    """What a hook, sync or async, answers. It is not called at all when a cancel is pending (R18)."""
    await checkpoint_if_cancelled()
    value = hook(*args)
    return await value if inspect.isawaitable(value) else value


async def give_back(instead: Instead | None, call_id: str) -> None:
    """The call is not run after all. What `drop` raises must hide neither what ended the call nor what comes next."""
    if instead is None or instead.drop is None:
        return
    with trio.CancelScope(shield=True, deadline=trio.current_time() + GIVE_BACK_SECONDS):
        try:
            done = instead.drop()
            if inspect.isawaitable(done):
                await done
        except Exception:
            LOG.exception("what was held for the call %s could not be given back", call_id)
