"""Choosers: who says which control a requirement means. The port, and the check of what comes through it.

A chooser names one of the controls it is shown and how sure it is; it makes no selectors, no code and no acts. What it says is
checked: an id it was not shown is an error, and a doubtful score counts as nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from ...errors import UsageError
from .._snapshot import Control
from ._nouns import Requirement

__all__ = ["Choice", "Chooser", "checked_choice", "checked_spans"]

Choice = tuple[str, float]
"""A control's id, and how sure the chooser is, from 0 to 1."""

MAX_SPANS: Final = 200
"""Spans of one kind that are looked at."""


@runtime_checkable
class Chooser(Protocol):
    """The port. Both calls may take their time and may be cancelled."""

    @property
    def name(self) -> str:
        """Shown in results."""

    async def choose(self, requirement: Requirement, controls: Sequence[Control]) -> Choice | None:
        """The control that is meant, or None."""

    async def extract(self, goal: str, labels: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Pieces of the goal's text by kind: ``person``, ``email`` and so on."""


def checked_choice(answer: Any, controls: Sequence[Control], chooser: str) -> tuple[Control, float] | None:
    """What a chooser answered, as control and score.

    Raises UsageError, code ``bad-choice``, when it names a control that it was not shown, or says something else altogether.
    """
    if answer is None:
        return None
    try:
        control_id, score = answer
        score = float(score)
    except (TypeError, ValueError):
        raise UsageError(
            f"the chooser {chooser!r} must answer (id, score) or None, not {answer!r:.200}", code="bad-choice"
        ) from None
    found = next((control for control in controls if control.id == control_id), None)
    if found is None:
        raise UsageError(
            f"the chooser {chooser!r} named {control_id!r:.80}, which is none of the controls shown", code="bad-choice"
        )
    return (found, min(1.0, max(0.0, score))) if math.isfinite(score) else None


def checked_spans(answer: Any, goal: str) -> dict[str, list[str]]:
    """The spans that are texts of the goal, a bounded number of them."""
    if not isinstance(answer, Mapping):
        return {}
    spans: dict[str, list[str]] = {}
    for label, group in answer.items():
        if isinstance(group, Sequence) and not isinstance(group, str):
            spans[str(label)] = [span for span in group[:MAX_SPANS] if isinstance(span, str) and span and span in goal]
    return spans
