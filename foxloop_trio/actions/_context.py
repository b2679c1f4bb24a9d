"""What a running tool knows of its run, and how it says what it did when it is stopped."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import attrs

from ..canonical import canonical_json, read_canonical
from ..errors import NotJsonError, UsageError
from ._permit import Permit
from ._valid import one_of

DONE_DEPTH: Final = 32
DONE_BYTES: Final = 65_536
"""Nesting and size of what a tool says it did: those of an action's arguments (gate specification, section 3)."""
DONE_WORDS: Final = 2000

EffectState = Literal["not-started", "partial", "done", "unknown"]
EFFECT_STATES: tuple[EffectState, ...] = get_args(EffectState)


@attrs.frozen(kw_only=True)
class Effect:
    """What is known of a call's effect on the world. `done` says which parts were done, in the tool's own plain JSON."""

    state: EffectState = attrs.field(validator=one_of(EFFECT_STATES))
    done: Any = None

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"state": self.state}
        if self.done is not None:
            plain["done"] = self.done
        return plain


class EffectCell:
    """The one mutable place behind a frozen context: the newest effect that the tool reported."""

    effect: Effect | None = None


@attrs.frozen(kw_only=True)
class ToolContext:
    """Handed to a tool's `domain`, `prepare`, `describe` and `run`.

    `domain` is None while `prepare` and `domain` run, the reported host for `describe`, and the gate's normalised host for
    `run`; `permit` is set for `run` only. There is no signal object: cancellation is Trio's. `cancel_grace` is in seconds: how long
    a tool's own shielded wait for the true outcome may take after a cancel.
    """

    run_id: str
    step: int
    goal: str
    domain: str | None = None
    permit: Permit | None = None
    cancel_grace: float = 5.0
    _cell: EffectCell = attrs.field(factory=EffectCell, alias="cell", repr=False, eq=False)

    def report_effect(self, state: EffectState, done: Any = None) -> None:
        """Say what is known of the effect so far; the newest report counts. A tool that is cancelled reports before it leaves.

        Raises UsageError for a state that is not one of ``not-started``, ``partial``, ``done``, ``unknown``.
        """
        if state not in EFFECT_STATES:
            raise UsageError(f"report_effect: state must be one of {', '.join(EFFECT_STATES)}, not {state!r}")
        self._cell.effect = Effect(state=state, done=_recordable(done))


def _recordable(done: Any) -> Any:
    """A copy as plain JSON. What is none is kept as its words: a tool that is being stopped must not fail over how it says so."""
    try:
        return read_canonical(canonical_json(done, max_depth=DONE_DEPTH, max_bytes=DONE_BYTES))
    except NotJsonError:
        return repr(done)[:DONE_WORDS]
