"""The rule chooser: which control shares the most words with what is asked for. No model; pure (page reference, 12.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Final, final

from .._snapshot import Control
from ._calendar import calendar_dates
from ._choosing import Choice
from ._folding import composed
from ._goals import parse_goal
from ._nouns import Requirement
from ._numbers import SAME_SCORE
from ._page import is_date_field
from ._words import words

__all__ = ["RuleChooser", "score"]

HITS: Final = 0.8
FIT: Final = 0.2
NAMED: Final = 0.9
"""A choice (radio, tab, option, …) whose label contains the value."""
NAMED_EXACTLY: Final = 0.95
KIND: Final = 0.3
DIGITS: Final = 0.15
SECTION: Final = 0.05

_CHOICES: Final = frozenset({"option", "radio", "tab", "menuitem", "gridcell"})
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+\Z")
_PHONE = re.compile(r"\+?[\d(][\d\s()-]{6,}\d\Z")
_NEVER_A_DAY: Final = date(1, 1, 1)


@final
class RuleChooser:
    """Chooses by words; the same answer for the same page each time."""

    name = "rule"

    async def choose(self, requirement: Requirement, controls: Sequence[Control]) -> Choice | None:
        """The one control with the highest score; None when it is 0 or two have it."""
        scores = sorted(((score(requirement, control), control.id) for control in controls), reverse=True)
        if not scores or scores[0][0] <= 0:
            return None
        if len(scores) > 1 and scores[0][0] - scores[1][0] < SAME_SCORE:
            return None
        best, control_id = scores[0]
        return control_id, min(best, 1.0)

    async def extract(self, goal: str, labels: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """E-mail addresses, telephone numbers, calendar dates and quoted texts only."""
        parsed = parse_goal(goal, _NEVER_A_DAY)
        values = [part.value for part in parsed.requirements if part.value is not None]
        text = composed(goal)
        found = {
            "email": [value for value in values if _EMAIL.match(value)],
            "phone": [value for value in values if _PHONE.match(value)],
            "date": [text[day.start : day.end] for day in calendar_dates(text, _NEVER_A_DAY)],
            "quoted": [value for value in values if f'"{value}"' in goal or f"\u201c{value}\u201d" in goal],
        }
        return {label: found[label] for label in labels if found.get(label)}


def score(requirement: Requirement, control: Control) -> float:
    """How well the control fits; 0 for not at all. May be above 1."""
    wanted = frozenset(words(requirement.key or requirement.text))
    if not wanted or _never(requirement, control):
        return 0.0
    own = _own(control) | _named_options(control, wanted)
    hits = len(wanted & own)
    total = HITS * hits / len(wanted) + (FIT * hits / len(own) if own else 0.0)
    total = max(total, _named(requirement, control)) + _kind(requirement, control)
    if total > 0:
        total += SECTION * len(wanted & frozenset(words(control.section))) / len(wanted)
    return total


def _own(control: Control) -> frozenset[str]:
    return _words_of(control.label, control.name, control.placeholder)


@lru_cache(maxsize=4096)
def _words_of(label: str, name: str, placeholder: str) -> frozenset[str]:
    return frozenset((*words(label), *words(name.replace("_", " ").replace("-", " ")), *words(placeholder)))


def _named_options(control: Control, wanted: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    for option in control.options or ():
        named = frozenset(words(option.label))
        if named and named <= wanted:
            found |= named
    return frozenset(found)


def _named(requirement: Requirement, control: Control) -> float:
    if not requirement.value or control.role not in _CHOICES:
        return 0.0
    value, label = requirement.value.casefold(), control.label.casefold()
    if value == label.strip():
        return NAMED_EXACTLY
    return NAMED if value in label else 0.0


def _never(requirement: Requirement, control: Control) -> bool:
    if requirement.kind == "date":
        return control.type in ("email", "tel")
    return _is_email(requirement) and control.type in ("tel", "number", "date")


def _kind(requirement: Requirement, control: Control) -> float:
    if requirement.kind == "date":
        return KIND if is_date_field(control) else 0.0
    if _is_email(requirement):
        return KIND if control.type == "email" else 0.0
    value = requirement.value or ""
    if control.type == "tel" and _PHONE.match(value):
        return KIND
    return DIGITS if control.role == "spinbutton" and value.isdecimal() else 0.0


def _is_email(requirement: Requirement) -> bool:
    return requirement.value is not None and _EMAIL.match(requirement.value) is not None
