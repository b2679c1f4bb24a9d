"""What to do next: one decision on one look (page reference, section 15). Pure.

`decide` is a generator: it yields questions for the chooser and returns the decision. It changes `progress` only in what it finds
out (done already, unmatched); what is done to the page is taken down by `record`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import attrs

from .._risk import allowed_by, risk_of
from .._snapshot import Control, Snapshot
from ._formats import read_field_date, write_field_date
from ._matching import nearly_names
from ._numbers import PICKER_TURNS, STALE_IN_A_ROW
from ._page import FormKey, control_at, control_key, form_controls, has_document, suggestions
from ._picker import days_shown, turner
from ._progress import Act, Awaiting, Progress
from ._reasons import TaskBlock
from ._sending import loose_forms, pick_send
from ._sensitive import is_typable
from ._serving import Choose, Chosen, serve

__all__ = ["Block", "Decision", "Finish", "decide"]


@attrs.frozen(kw_only=True)
class Block:
    """The run ends here. `labels` are of the controls concerned, as the page has them: untrusted. `button` would have sent it."""

    reason: TaskBlock
    labels: tuple[str, ...] = ()
    button: Control | None = None


@attrs.frozen
class Finish:
    """Nothing is left to do."""


Decision = Act | Block | Finish


def decide(progress: Progress, page: Snapshot) -> Generator[Choose, Chosen, Decision]:
    """The first of the rules that has something to do."""
    if len(progress.history) >= progress.max_steps:
        return Block(reason="step-limit")
    if progress.changed_in_a_row >= STALE_IN_A_ROW:
        return Block(reason="page-keeps-changing")
    if page.captcha:
        return Block(reason="captcha")
    if progress.dialog_declined:
        return Block(reason="dialog")
    _turned_over(progress, page)
    awaited = _awaited(progress, page)
    if awaited is not None:
        return awaited
    for index, part in enumerate(progress.parts):
        if part.status == "pending":
            act = yield from serve(progress, page, index)
            if act is not None:
                return act
    if not progress.goal.submit:
        return Finish()
    _nothing_to_change(progress, page)
    return _send(progress, page)


def _turned_over(progress: Progress, page: Snapshot) -> None:
    """On another document, what fitted nothing before may fit something: a goal may go over several pages."""
    if progress.document not in (None, page.top.document):
        for part in progress.parts:
            if part.status == "unmatched":
                part.status, part.retried = "pending", True
    progress.document = page.top.document


# What is awaited


def _awaited(progress: Progress, page: Snapshot) -> Act | Block | None:
    awaiting = progress.awaiting
    if awaiting is None:
        return None
    field = control_at(page, awaiting.field)
    if awaiting.kind == "list":
        return _suggested(progress, page, awaiting, field)
    if field is None and not has_document(page, awaiting.field[0]):
        progress.awaiting = None  # the picker went with its document; the requirement is still pending
        return None
    return _picked(progress, page, awaiting, field)


def _suggested(progress: Progress, page: Snapshot, awaiting: Awaiting, field: Control | None) -> Act | None:
    """The entry that nearly names what was typed; without one the text stays as it is."""
    if field is not None:
        for option in suggestions(page, field, awaiting.before):
            if progress.usable(page, option) and nearly_names(awaiting.typed, option.label):
                return Act(control=option, op="click", part=awaiting.part)
    progress.parts[awaiting.part].status = "done"
    progress.awaiting = None
    return None


def _picked(progress: Progress, page: Snapshot, awaiting: Awaiting, field: Control | None) -> Act | Block | None:
    part = progress.parts[awaiting.part]
    iso = part.requirement.date
    assert iso is not None
    if field is not None and read_field_date(field.value, field.date_format, progress.today) == iso:
        part.status, progress.awaiting = "done", None
        return None
    frame = int(awaiting.field[1].partition(":")[0])
    days = days_shown(page, frame, progress.today)
    for control, day in days:
        if day == iso and progress.usable(page, control):
            return Act(control=control, op="click", part=awaiting.part)
    if awaiting.turns >= PICKER_TURNS:
        return Block(reason="picker-never-showed")
    back = bool(days) and min(day for _, day in days) > iso
    for control in turner(page, frame, back=back):
        if progress.usable(page, control):
            return Act(control=control, op="click", part=awaiting.part, turn=True, done=False)
    if field is not None and progress.usable(page, field) and is_typable(field) and not field.read_only:
        return Act(control=field, op="type", value=write_field_date(iso, field.date_format), part=awaiting.part)
    return Block(reason="picker-no-day")


# Sending


def _nothing_to_change(progress: Progress, page: Snapshot) -> None:
    """All is as wanted already, in one form: that form is sent as it is."""
    held = [part for part in progress.parts if part.control is not None]
    if progress.filled or progress.sent or progress.tried or not held:
        return
    if any(part.status != "done" for part in progress.parts) or any(part.op != "keep" for part in held):
        return
    forms = {part.form for part in held}
    last = control_at(page, held[-1].control) if held[-1].control is not None else None
    if len(forms) == 1 and last is not None and last.form is not None:
        form = forms.pop()
        assert form is not None
        progress.filled[form] = control_key(page, last)


def _send(progress: Progress, page: Snapshot) -> Decision:
    """The filled forms, in the order in which they were first filled."""
    for form, last in progress.filled.items():
        inside = form_controls(page, form)
        if form in progress.sent or not inside:
            continue
        if form in progress.tried:
            return Block(reason="form-did-not-send", labels=_labels(inside))
        return _send_form(progress, page, form, control_at(page, last))
    return Finish()


def _send_form(progress: Progress, page: Snapshot, form: FormKey, last: Control | None) -> Decision:
    choice = pick_send(page, form, progress.goal.text)
    if choice.equal:
        return Block(reason="ambiguous-send", labels=tuple(button.label for button in choice.equal))
    enter = choice.button is None
    control = choice.button if choice.button is not None else _enter_field(progress, page, form, last)
    if control is None:
        return Block(reason="form-did-not-send")
    risk = risk_of(control.label)
    if risk is not None and not allowed_by(progress.goal.text, risk):
        return Block(reason="risky-send", labels=(control.label,), button=control)
    if control.disabled:
        return Block(reason="submit-disabled", labels=(control.label,), button=control)
    if progress.pinned is not None and not progress.pinned.holds(page, control, enter=enter):
        return Block(reason="destination-changed", labels=(control.label,))
    together = (
        [other for other in loose_forms(page, control) if other in progress.filled] if control.form is None and not enter else []
    )
    return Act(control=control, op="enter" if enter else "click", forms=tuple(dict.fromkeys([form, *together])))


def _enter_field(progress: Progress, page: Snapshot, form: FormKey, last: Control | None) -> Control | None:
    """The field that was filled last, or the first of the form that Enter can be pressed in."""
    fields = [] if last is None else [last]
    fields += [control for control in form_controls(page, form) if risk_of(control.label) is None]
    typable = (control for control in fields if is_typable(control) and control.tag != "textarea")
    return next((control for control in typable if progress.usable(page, control)), None)


def _labels(controls: Sequence[Control]) -> tuple[str, ...]:
    return tuple(control.label for control in controls if control.submit)[:5]
