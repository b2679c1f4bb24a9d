"""How one requirement is served on the page: which controls could be meant, and what to do to the chosen one. Pure.

A generator: it yields `Choose`, gets the chosen control and its score, and returns the act, or None when there is nothing to do for
it (its part then says ``done`` or ``unmatched``).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

import attrs

from .._risk import allowed_by, risk_of
from .._snapshot import Control, Option, Snapshot
from ._formats import read_field_date, write_field_date
from ._matching import names, nearly_names
from ._nouns import Requirement
from ._numbers import SCORE_FLOOR
from ._page import control_key, is_behind_modal, is_date_field, is_suggestion
from ._progress import Act, Part, Progress
from ._sensitive import asks_secret, is_secret, is_typable
from ._words import words

__all__ = ["SWITCHES", "Choose", "Chosen", "Serving", "says_send", "serve", "yes_or_no"]


@attrs.frozen(kw_only=True)
class Choose:
    """A question for the chooser."""

    requirement: Requirement
    controls: tuple[Control, ...]


Chosen = tuple[Control, float] | None
Serving = Generator[Choose, Chosen, Act | None]

BOXES: Final = frozenset({"checkbox", "menuitemcheckbox", "radio", "switch"})
SWITCHES: Final = BOXES - {"radio"}
"""What can be off."""
YES: Final = frozenset({"checked", "enabled", "on", "ticked", "true", "yes"})
NO: Final = frozenset({"disabled", "false", "no", "off", "unchecked", "unticked"})
NAMED: Final = frozenset({"option", "radio", "tab"})
"""Roles that a value is chosen by."""
NO_DATE_TYPES: Final = frozenset({"email", "number", "tel"})
SEND_WORDS: Final = frozenset({"submit", "send"})
SEND_FILLERS: Final = frozenset({"button", "click", "form", "finally", "hit", "it", "now", "off", "press", "push"})


def says_send(requirement: Requirement) -> bool:
    """A piece such as "then submit the form": that is what happens at the end anyway."""
    said = frozenset(words(requirement.text))
    return requirement.kind == "setting" and bool(said & SEND_WORDS) and said <= SEND_WORDS | SEND_FILLERS


def serve(progress: Progress, page: Snapshot, index: int) -> Serving:
    """The act that serves this requirement."""
    part = progress.parts[index]
    requirement = part.requirement
    if says_send(requirement):
        part.status = "done"
        return None
    free = [control for control in page.controls if _free(progress, page, control, requirement)]
    match requirement.kind:
        case "date":
            act = yield from _date(progress, page, index, free)
        case "value":
            act = yield from _value(progress, page, index, free)
        case "setting":
            act = yield from _setting(progress, page, index, free)
    if act is None and part.status == "pending":
        part.status = "unmatched"
    return act


def _free(progress: Progress, page: Snapshot, control: Control, requirement: Requirement) -> bool:
    """May be used for it: not taken, nothing that sends, nothing harmful that the goal does not ask for."""
    if not progress.usable(page, control) or control_key(page, control) in progress.taken:
        return False
    if control.submit or is_suggestion(control) or is_behind_modal(control):
        return False
    risk = risk_of(control.label)
    if risk is not None and not allowed_by(progress.goal.text, risk):
        return False
    if is_typable(control) and control.read_only and not control.picker:
        return False
    if is_secret(control):
        return asks_secret(requirement) and requirement.value in progress.secrets.get(control.frame, frozenset())
    return not asks_secret(requirement) or not is_typable(control)


def _choose(part: Part, controls: Sequence[Control]) -> Generator[Choose, Chosen, Control | None]:
    """The chooser's answer, when it is sure enough."""
    if not controls:
        return None
    chosen = yield Choose(requirement=part.requirement, controls=tuple(controls))
    return chosen[0] if chosen is not None and chosen[1] >= SCORE_FLOOR else None


# Dates


def _date(progress: Progress, page: Snapshot, index: int, free: Sequence[Control]) -> Serving:
    part = progress.parts[index]
    fields = [control for control in free if is_date_field(control)]
    sure = bool(fields) or not part.retried
    if not fields:
        writable = (control for control in free if is_typable(control) and not control.read_only)
        fields = [control for control in writable if control.type not in NO_DATE_TYPES]
    control = fields[0] if len(fields) == 1 and sure else (yield from _choose(part, fields))
    if control is None:
        return None
    iso = part.requirement.date
    assert iso is not None
    if read_field_date(control.value, control.date_format, progress.today) == iso:
        progress.keep(page, index, control)
        return None
    if control.type == "date":
        return Act(control=control, op="date", value=iso, part=index)
    if control.read_only:
        return Act(control=control, op="click", part=index, awaits="picker", done=False)
    return _type(control, write_field_date(iso, control.date_format), index)


def _type(control: Control, text: str, index: int) -> Act:
    if control.autocomplete:
        return Act(control=control, op="type", value=text, part=index, awaits="list", done=False)
    return Act(control=control, op="type", value=text, part=index)


# Values


def _value(progress: Progress, page: Snapshot, index: int, free: Sequence[Control]) -> Serving:
    part = progress.parts[index]
    value = part.requirement.value
    assert value is not None
    candidates = [control for control in free if _takes(control, value)]
    control = yield from _choose(part, candidates)
    if control is None:
        return None
    if control.options is not None:
        return _select(progress, page, index, control, _best_option(control.options, value))
    if control.role in SWITCHES:
        return _switch(progress, page, index, control, on=bool(yes_or_no(value)))
    if not is_typable(control) and control.role == "combobox":
        return Act(control=control, op="select", value=value, part=index)
    if is_typable(control):
        if control.value == value and not is_secret(control):
            progress.keep(page, index, control)
            return None
        return _type(control, value, index)
    return _press(progress, page, index, control)


def _takes(control: Control, value: str) -> bool:
    if control.options is not None:
        return any(nearly_names(value, option.label) or option.value == value for option in control.options)
    if is_typable(control):
        return not is_date_field(control) and not control.read_only
    if control.role == "combobox":
        return True
    if control.role in SWITCHES:
        return control.checked is not None and yes_or_no(value) is not None
    return control.role in NAMED and nearly_names(value, control.label)


def _best_option(options: Sequence[Option], value: str) -> Option | None:
    """The one that is the value, then one that names it, then one that nearly does."""
    folded = value.strip().casefold()
    for fits in (
        lambda option: option.label.strip().casefold() == folded,
        lambda option: option.value == value,
        lambda option: names(value, option.label),
        lambda option: nearly_names(value, option.label),
    ):
        found = next((option for option in options if fits(option)), None)
        if found is not None:
            return found
    return None


def _select(progress: Progress, page: Snapshot, index: int, control: Control, option: Option | None) -> Act | None:
    if option is None:
        return None
    if option.selected:
        progress.keep(page, index, control)
        return None
    return Act(control=control, op="select", value=option.value, part=index)


# Settings


def _setting(progress: Progress, page: Snapshot, index: int, free: Sequence[Control]) -> Serving:
    part = progress.parts[index]
    others = [control for control in free if not is_typable(control)]
    if part.requirement.wish == "off":
        return (yield from _off(progress, page, index, others))
    control = None
    if part.requirement.wish == "on":
        boxes = [control for control in others if control.role in BOXES]
        others = [control for control in others if control.role not in BOXES]
        control = yield from _choose(part, boxes)
    if control is None:
        control = yield from _choose(part, others)
    if control is None:
        return None
    if control.options is not None:
        return _select(progress, page, index, control, _named_option(control.options, part.requirement))
    return _press(progress, page, index, control)


def _off(progress: Progress, page: Snapshot, index: int, others: Sequence[Control]) -> Serving:
    """Only what can be off is touched. A choice that itself says no ("No newsletter") is switched on."""
    part = progress.parts[index]
    saying_no = [control for control in others if control.checked is not None and names(part.requirement.text, control.label)]
    if len(saying_no) == 1:
        return _press(progress, page, index, saying_no[0])
    boxes = [control for control in others if control.checked is not None and control.role in SWITCHES]
    control = yield from _choose(part, boxes)
    if control is None:
        return None
    return _switch(progress, page, index, control, on=False)


def _switch(progress: Progress, page: Snapshot, index: int, control: Control, *, on: bool) -> Act | None:
    if control.checked is on:
        progress.keep(page, index, control)
        return None
    return Act(control=control, op="check" if on else "uncheck", part=index)


def yes_or_no(value: str) -> bool | None:
    """What "terms: yes" and "newsletter: off" say of a switch; None for any other value."""
    said = value.strip().casefold()
    return True if said in YES else False if said in NO else None


def _named_option(options: Sequence[Option], requirement: Requirement) -> Option | None:
    """The option all of whose words are in the key; the one with the most words, if there are several."""
    wanted = frozenset(words(requirement.key))
    named = [
        (len(said), -at, option) for at, option in enumerate(options) if (said := frozenset(words(option.label))) and said <= wanted
    ]
    return max(named, key=lambda entry: entry[:2])[2] if named else None


def _press(progress: Progress, page: Snapshot, index: int, control: Control) -> Act | None:
    """Switch it on, unless it is; what has no state is clicked."""
    if control.checked is True:
        progress.keep(page, index, control)
        return None
    return Act(control=control, op="check" if control.role in BOXES else "click", part=index)
