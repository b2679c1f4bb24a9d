"""The hooks: the host's own functions around each turn and each call, all optional, sync or async."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import attrs
from attrs.validators import is_callable, optional

from ..actions._valid import must_be
from ..errors import BadOptionsError
from ..guarding import Block, Rewrite
from ..loop._interruptible import close

Hook = Callable[..., Any]

_HOOK: Final = optional(must_be("a function", callable, owner="hooks: "))


@attrs.frozen(kw_only=True)
class Hooks:
    """What the host does at each point of a turn. In their order:

    * `build_context(state)`, then `on_turn_start(state)`: before the model is asked; the first may edit `state.messages`.
    * `before_tool_call(call, state)`: None lets the call pass; ``{"block": True, "reason": …}`` or a `Block` refuses it;
      ``{"arguments": {…}}`` or a `Rewrite` changes its arguments; `Instead` runs something else in its place.
    * `on_tool_result(result, call, state)`: after each observation, blocked and failed ones included.
    * `on_turn_end(state, turn)`, then `persist_turn(turn)`; `turn` is a `TurnRecord`.
    * `should_stop(state)`: true ends the run.

    A hook that raises ends the run with that exception, which carries `partial_result`. Raises BadOptionsError for what is no
    function.
    """

    build_context: Hook | None = attrs.field(default=None, validator=_HOOK)
    on_turn_start: Hook | None = attrs.field(default=None, validator=_HOOK)
    before_tool_call: Hook | None = attrs.field(default=None, validator=_HOOK)
    on_tool_result: Hook | None = attrs.field(default=None, validator=_HOOK)
    on_turn_end: Hook | None = attrs.field(default=None, validator=_HOOK)
    persist_turn: Hook | None = attrs.field(default=None, validator=_HOOK)
    should_stop: Hook | None = attrs.field(default=None, validator=_HOOK)

    @classmethod
    def of(cls, given: object) -> Hooks:
        """From a `Hooks`, a mapping, any object with some of these methods, or None. Raises BadOptionsError for what is none."""
        if given is None or isinstance(given, Hooks):
            return given or NO_HOOKS
        if isinstance(given, Mapping):
            found = dict(given)
        else:
            found = {name: hook for name in NAMES if (hook := getattr(given, name, None)) is not None}
        unknown = [str(name) for name in found if name not in NAMES]
        if unknown or not (found or isinstance(given, Mapping)):
            raise BadOptionsError(f"hooks: known are {', '.join(NAMES)}, not {', '.join(unknown) or type(given).__name__}")
        return cls(**found)


NO_HOOKS: Final = Hooks()
NAMES: Final = tuple(field.name for field in attrs.fields(Hooks))


@attrs.frozen(kw_only=True)
class Instead:
    """From `before_tool_call`: the call passes, and `run(args, context)` is called in place of the tool's handler.

    `drop()`, sync or async, is called in a shield when the call is not run after all; what it raises is logged. So leave that was
    reserved for this one call (a permit of the gate) is used or given back, whatever happens.
    """

    run: Callable[[dict[str, Any], Any], Any] = attrs.field(validator=is_callable())
    drop: Callable[[], Awaitable[Any] | None] | None = attrs.field(default=None, validator=optional(is_callable()))


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


async def give_back(instead: Instead, call_id: str) -> None:
    """The call is not run after all."""
    if instead.drop is not None:
        await close(instead.drop, "what was held for the call %s could not be given back", call_id)
