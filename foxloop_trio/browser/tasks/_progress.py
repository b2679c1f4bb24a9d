"""How far a task has come: what became of each requirement, what was touched, filled, tried and sent. Pure.

`record` takes what came of one act, `confirm` what the next look says of a send. A send counts as such only with evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final, Literal

import attrs

from .._act import ActResult
from .._snapshot import Control, Snapshot
from ._nouns import Goal, Requirement
from ._numbers import MAX_STEPS
from ._page import ControlKey, FormKey, control_at, control_key, form_controls, form_key, has_document
from ._previewed import Preview
from ._sending import loose_buttons
from ._sensitive import is_secret, is_typable, shown_text, shown_value

__all__ = ["Act", "Awaiting", "Part", "Progress", "SendEvidence", "Sent", "TaskStep", "confirm", "record", "start"]

Op = Literal["check", "click", "date", "enter", "select", "type", "uncheck"]

SendEvidence = Literal["submit-event", "navigation", "request"]
"""What showed that a form was sent."""

OPERATIONS: Final[Mapping[Op, str]] = {
    "check": "CHECK",
    "click": "CLICK",
    "date": "SET_DATE",
    "enter": "PRESS_ENTER",
    "select": "SELECT",
    "type": "TYPE_TEXT",
    "uncheck": "UNCHECK",
}

_ERROR = re.compile(
    r"\b(?:declined|denied|errors?|failed|incorrect|invalid|is required|must (?:be|not)|not valid|wrong)\b", re.IGNORECASE
)

CHANGED: Final = frozenset({"stale", "navigated"})
"""Refusals that say no more than that the page changed since the look."""


@attrs.frozen(kw_only=True)
class TaskStep:
    """One act of a run. `label`, `text` and `typed` are outside text; what was typed into a sensitive field is a mask."""

    step: int
    action: str
    control: str
    label: str
    text: str | None
    typed: str | None
    ok: bool
    reason: str | None
    submitted: bool
    navigated: bool
    detail: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in attrs.asdict(self).items() if value is not None}


@attrs.frozen(kw_only=True)
class Act:
    """One act to do. `part` is the requirement that it serves, `forms` what it sends."""

    control: Control
    op: Op
    value: str | None = None
    part: int | None = None
    done: bool = True
    """The requirement is served once this is accepted."""
    awaits: Literal["list", "picker"] | None = None
    turn: bool = False
    forms: tuple[FormKey, ...] = ()

    @property
    def send(self) -> bool:
        return bool(self.forms)


@attrs.define(kw_only=True)
class Part:
    """What became of one requirement. `control` served it, `op` how; ``keep`` when it was as wanted already."""

    requirement: Requirement
    status: Literal["pending", "done", "unmatched"] = "pending"
    control: ControlKey | None = None
    form: FormKey | None = None
    op: str | None = None
    compared: bool = False
    """A secret value that the page itself found in the field after typing."""
    retried: bool = False


@attrs.define(kw_only=True)
class Awaiting:
    """What the next look is to bring: a list of suggestions for a field, or a date picker."""

    kind: Literal["list", "picker"]
    part: int
    field: ControlKey
    typed: str
    before: frozenset[str]
    turns: int = 0


@attrs.frozen(kw_only=True)
class Sent:
    """A form that went out: the look that shows what it held, and what showed that it was sent."""

    page: Snapshot
    evidence: SendEvidence
    complaint: str | None = None
    """A line of the page that came up then and reads like an error: the page may have kept the form. Untrusted."""


@attrs.define(kw_only=True)
class Progress:
    """The state of one run. `secrets` are the values that may be typed into secret fields, by frame; the driver sets them anew at
    each look.
    """

    goal: Goal
    parts: list[Part]
    today: date
    max_steps: int = MAX_STEPS
    pinned: Preview | None = None
    secrets: Mapping[int, frozenset[str]] = attrs.field(factory=dict)
    taken: set[ControlKey] = attrs.field(factory=set)
    refused: set[ControlKey] = attrs.field(factory=set)
    filled: dict[FormKey, ControlKey] = attrs.field(factory=dict)
    tried: set[FormKey] = attrs.field(factory=set)
    sent: dict[FormKey, Sent] = attrs.field(factory=dict)
    awaiting: Awaiting | None = None
    changed_in_a_row: int = 0
    dialog_declined: bool = False
    document: str | None = None
    history: list[TaskStep] = attrs.field(factory=list)

    def usable(self, page: Snapshot, control: Control) -> bool:
        """Not disabled, and not refused before."""
        return not control.disabled and control_key(page, control) not in self.refused

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The pieces of the goal that no control fitted."""
        return tuple(shown_text(part.requirement) for part in self.parts if part.status == "unmatched")

    def keep(self, page: Snapshot, index: int, control: Control) -> None:
        """It is as wanted already."""
        part = self.parts[index]
        part.status, part.op = "done", "keep"
        part.control, part.form = control_key(page, control), form_key(page, control)
        self.taken.add(part.control)


def start(goal: Goal, today: date, *, max_steps: int = MAX_STEPS, pinned: Preview | None = None) -> Progress:
    """Nothing done yet."""
    parts = [Part(requirement=requirement) for requirement in goal.requirements]
    return Progress(goal=goal, parts=parts, today=today, max_steps=max_steps, pinned=pinned)


def record(progress: Progress, page: Snapshot, act: Act, result: ActResult) -> TaskStep:
    """Take down what came of an act that was decided on this look."""
    key = control_key(page, act.control)
    part = progress.parts[act.part] if act.part is not None else None
    step = TaskStep(
        step=len(progress.history) + 1,
        action=OPERATIONS[act.op],
        control=act.control.id,
        label=act.control.label,
        text=None if part is None else shown_text(part.requirement),
        typed=shown_value(act.control, act.value),
        ok=result.ok,
        reason=result.reason,
        submitted=result.submitted,
        navigated=result.navigated,
        detail=None if is_secret(act.control) else result.detail,
    )
    progress.history.append(step)
    declined = any(dialog.kind != "alert" and not dialog.answer for dialog in result.dialogs)
    if declined or result.reason == "dialog":
        progress.dialog_declined = True
    if result.ok:
        progress.changed_in_a_row = 0
        _accepted(progress, page, act, key, part)
    elif result.reason in CHANGED and not result.started:
        progress.changed_in_a_row += 1
    else:
        progress.changed_in_a_row = 0
        progress.refused.add(key)
        progress.tried.update(act.forms)
    return step


def _accepted(progress: Progress, page: Snapshot, act: Act, key: ControlKey, part: Part | None) -> None:
    progress.tried.update(act.forms)
    if part is None or act.part is None:
        return
    form = form_key(page, act.control)
    if _fills(act) and _sendable(page, act.control):
        progress.filled[form] = key
    if act.op == "type" and is_secret(act.control):
        part.compared = True
    if act.turn:
        if progress.awaiting is not None:
            progress.awaiting.turns += 1
        return
    if act.awaits is not None:
        before = frozenset(control.id for control in page.controls)
        progress.awaiting = Awaiting(kind=act.awaits, part=act.part, field=key, typed=act.value or "", before=before)
        part.control, part.form, part.op = key, form, act.op
        progress.taken.add(key)
        return
    if progress.awaiting is not None and progress.awaiting.part == act.part:
        progress.awaiting = None  # an entry of the list, or a day of the picker: the field stays what served it
    else:
        part.control, part.form, part.op = key, form, act.op
        progress.taken.add(key)
    if act.done:
        part.status = "done"


def _fills(act: Act) -> bool:
    return act.op in ("check", "date", "select", "type", "uncheck") or act.awaits == "picker"


def _sendable(page: Snapshot, control: Control) -> bool:
    """A form can be sent, and so can a lone text field; a lone switch has been thrown, and there is nothing to send."""
    return control.form is not None or is_typable(control) or bool(loose_buttons(page, control))


def confirm(progress: Progress, act: Act, result: ActResult, before: Snapshot, after: Snapshot | None) -> None:
    """What the look `after` says about a form that may have been sent; None when the tab has left for where nothing is read."""
    if not (result.ok or result.started):
        return
    forms = act.forms or (form_key(before, act.control),)
    evidence = _evidence(progress, act, result, before, after, moved=_moved(before, after, forms))
    if evidence is not None:
        # What a form held is seen right before it is pressed; a field that sends by itself changed it in the same act.
        held = after if after is not None and not act.send and has_document(after, forms[0][0]) else before
        complaint = None if after is None else _complaint(before, after, forms)
        for form in forms:
            progress.sent.setdefault(form, Sent(page=held, evidence=evidence, complaint=complaint))
            progress.tried.add(form)


def _evidence(
    progress: Progress, act: Act, result: ActResult, before: Snapshot, after: Snapshot | None, *, moved: bool
) -> SendEvidence | None:
    """A submit event counts unless the page then asked whether it should go on, and was told no."""
    if result.submitted and (moved or not progress.dialog_declined):
        return "submit-event"
    if not act.send:
        return None
    if moved:
        return "navigation"
    assert after is not None
    if _answered_request(result) and all(_emptied(before, after, form) for form in act.forms):
        return "request"
    return None


def _moved(before: Snapshot, after: Snapshot | None, forms: tuple[FormKey, ...]) -> bool:
    """Another document or address. Where only the fragment is another one, the form must be gone as well: ``#error`` is no send."""
    if after is None or after.top.document != before.top.document:
        return True
    if after.url.partition("#")[0] != before.url.partition("#")[0]:
        return True
    return after.url != before.url and all(_emptied(before, after, form) for form in forms)


def _complaint(before: Snapshot, after: Snapshot, forms: tuple[FormKey, ...]) -> str | None:
    """The first new line that reads like an error, while the form is still there as it was filled."""
    if not all(_unchanged(before, after, form) for form in forms):
        return None
    said = frozenset(before.text.splitlines())
    return next((line for line in after.text.splitlines() if line not in said and _ERROR.search(line)), None)


def _unchanged(before: Snapshot, after: Snapshot, form: FormKey) -> bool:
    held = [control for control in form_controls(before, form) if control.value and not control.submit]
    there = [control_at(after, control_key(before, control)) for control in held]
    return all(now is not None and now.value == then.value for then, now in zip(held, there, strict=True))


def _answered_request(result: ActResult) -> bool:
    """A request that changes something went out of the frame within 2 s of the press, and got a good answer. Not told by an act's
    result yet.
    """
    return False


def _emptied(before: Snapshot, after: Snapshot, form: FormKey) -> bool:
    """The form's fields went away or were cleared."""
    held = [control for control in form_controls(before, form) if control.value and not control.submit]
    there = [control_at(after, control_key(before, control)) for control in held]
    return bool(held) and all(control is None or not control.value for control in there)
