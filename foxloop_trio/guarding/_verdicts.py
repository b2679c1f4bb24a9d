"""What a guard may say of a call or a turn, and the shape of a guard.

Each verdict is one frozen class, so a chain of guards can be read with `match`. Pure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ..actions._valid import optional_text, text
from ..errors import BusyError

if TYPE_CHECKING:
    from ._nouns import ModelReply, State, ToolCall, ToolResult


@attrs.frozen
class Block:
    """This call is not run. The model reads `reason` as the call's observation, which is an error."""

    reason: str = attrs.field(validator=text)


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(arguments, Mapping):
        raise TypeError(f"arguments must be an object, not {type(arguments).__name__}")
    return dict(arguments)


@attrs.frozen
class Rewrite:
    """The call is run with these arguments instead; `note` is put in front of its observation, so that the model knows."""

    arguments: dict[str, Any] = attrs.field(converter=_plain)
    note: str | None = attrs.field(default=None, validator=optional_text)


@attrs.frozen
class Note:
    """A message with the role ``system`` for the model, appended before its next request."""

    text: str = attrs.field(validator=text)


def _reason(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{attribute.name} must be text that names why the run ends, not {value!r}")


@attrs.frozen
class Stop:
    """The run ends, with `reason` as its ``stopped``, once the current turn is completed; calls left in the turn are not run.

    `detail` (a mapping, or text) goes into ``stop_detail``. `last_call`, said in `before_model` only: the model is asked once
    more, with nothing but the stop tool on offer, and the run ends after that turn.
    """

    reason: str = attrs.field(validator=_reason)
    detail: Any = None
    last_call: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class Ask:
    """A person decides: the host's `on_ask`. Without one, or when the answer is not True, the call is blocked with `reason`."""

    reason: str = attrs.field(validator=text)


Verdict = Block | Rewrite | Note | Stop | Ask

Answer = Verdict | Sequence[Verdict] | None
"""What a guard's method returns: nothing, a verdict, or several (such as a `Note` and a `Block`)."""

OnAsk = Callable[["ToolCall", str, "State"], bool | Awaitable[bool]]
"""``(call, reason, state) -> bool``, sync or async: may the call be run? Only True is a yes."""


class GuardBusyError(BusyError, RuntimeError):
    """A guard was given to a second run while its first one goes on."""


class Guard(Protocol):
    """Whatever has one of these methods, or more; each may be sync or async. (A protocol cannot say "optional": none is needed.)

    * `before_model` and `after_model` may say `Note` and `Stop`; `after_tool` too; `before_tool` may say everything.
    * A `Block` anywhere else than in `before_tool` refuses the calls that are left in the turn.

    Two more are looked for, both plain functions: ``deadline(state) -> float``, the Trio time at which model calls and handlers
    are cut, asked for before each of them; and ``on_run_end(state)``, called in any case when a run is over, also when it was
    cancelled, so that what was reserved can be released.
    """

    def on_run_start(self, state: State) -> Any: ...
    def before_model(self, state: State) -> Any: ...
    def after_model(self, state: State, reply: ModelReply) -> Any: ...
    def before_tool(self, call: ToolCall, state: State) -> Any: ...
    def after_tool(self, call: ToolCall, result: ToolResult, state: State) -> Any: ...
