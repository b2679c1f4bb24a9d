"""A chooser around a small model that finds spans and classifies texts (page reference, 12.2). Brings no model along. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, final

from ...errors import UsageError
from .._snapshot import Control
from ._choosing import Choice
from ._nouns import Requirement
from ._numbers import MODEL_LABEL_LENGTH, MODEL_LABELS
from ._sensitive import is_typable

__all__ = ["ModelChooser"]

_KINDS: Final[Mapping[str, str]] = {
    "person": "the name of a person",
    "location": "a city, country, street or other place",
    "organization": "the name of a company or other organization",
    "email": "an e-mail address",
    "phone": "a telephone number",
    "number": "a number or an amount",
}


@final
class ModelChooser:
    """Asks an object with two async methods, which may run a model wherever they like.

    * ``classify(text, labels)``: `labels` maps each label to a short description; the answer maps labels to scores.
    * ``extract(text, labels)``: the same, and the answer maps each label to the spans found, as texts.

    Raises UsageError, code ``bad-chooser``, for a model that lacks one of them.
    """

    def __init__(self, model: Any, *, name: str = "gliner") -> None:
        for method in ("extract", "classify"):
            if not callable(getattr(model, method, None)):
                raise UsageError(
                    f"ModelChooser: the model {type(model).__name__} needs an async method {method}(text, labels)",
                    code="bad-chooser",
                )
        self.name = name
        self._classify: Callable[[str, Mapping[str, str]], Awaitable[Any]] = model.classify
        self._extract: Callable[[str, Mapping[str, str]], Awaitable[Any]] = model.extract

    async def choose(self, requirement: Requirement, controls: Sequence[Control]) -> Choice | None:
        """The label with the highest score, as it is; of the first 32 controls."""
        by_label = _labelled(controls[:MODEL_LABELS])
        if not by_label:
            return None
        scores = await self._classify(requirement.text, {label: _description(control) for label, control in by_label.items()})
        known = [(float(score), label) for label, score in scores.items() if label in by_label]
        if not known:
            return None
        best, label = max(known, key=lambda pair: pair[0])
        return by_label[label].id, best

    async def extract(self, goal: str, labels: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Non-empty spans, as plain text."""
        found = await self._extract(goal, {label: _KINDS.get(label, label) for label in labels})
        return {label: [str(span) for span in spans if str(span)] for label, spans in found.items()}


def _labelled(controls: Sequence[Control]) -> dict[str, Control]:
    """Each control under a label that no other has."""
    found: dict[str, Control] = {}
    for control in controls:
        text = " ".join((control.label or control.placeholder or control.name or control.role).split())[:MODEL_LABEL_LENGTH]
        label, number = text, 2
        while label in found:
            label, number = f"{text} ({number})", number + 1
        found[label] = control
    return found


def _description(control: Control) -> str:
    if is_typable(control):
        return "a text field to fill in"
    return "a drop-down list to choose a value from" if control.options is not None else "something to press"
