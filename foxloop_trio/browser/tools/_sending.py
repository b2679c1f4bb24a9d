"""Whether a form is still what was judged right before it is sent, and what shows that it was sent. Pure.

Tool reference, section 6 (drift) and page reference, 21.14 (evidence).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from .._act import ActResult
from .._snapshot import Control, Snapshot
from ..tasks._sensitive import is_typable
from ._fields import Setting, holds, radio_group, state_of
from ._pin import make_pin, same_control

__all__ = ["SENT_WORDS", "SendEvidence", "drift", "sent_by"]

SendEvidence = Literal["submit-event", "navigation", "request"]

SENT_WORDS: Final[Mapping[SendEvidence, str]] = {
    "submit-event": "the page fired a submit event",
    "navigation": "the page was left for another one",
    "request": "the page sent a request, and the form's fields went away or were cleared",
}

_BOXES: Final = frozenset({"checkbox", "menuitemcheckbox", "radio", "slider", "switch"})


def drift(
    before: Snapshot,
    now: Snapshot,
    *,
    tab: int,
    send: Mapping[str, Any],
    targets: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Setting],
    kept: Mapping[str, str | None],
) -> str | None:
    """What is different from what was judged, in our words and ids; None when the form may be sent."""
    if now.top.document != before.top.document:
        return "the page is another one"
    if now.url != before.url:
        return "the address is another one"
    if now.captcha:
        return "the page shows a captcha, which only a person may solve"
    if (problem := _send_drift(before, now, tab, send)) is not None:
        return problem
    for pin in targets:
        control = _found(now, pin)
        setting = settings[pin["control"]]
        if control is None:
            return f"field {pin['control']} is gone"
        if not holds(control, setting.op, setting.value, kept.get(pin["control"])):
            return f"field {pin['control']} does not show what it was set to"
    changed = next(_others_changed(before, now, send, targets), None)
    return None if changed is None else f"field {changed} of the form is not as it was, and this call did not set it"


def _send_drift(before: Snapshot, now: Snapshot, tab: int, send: Mapping[str, Any]) -> str | None:
    """Only its disabled flag may have changed, to enabled."""
    control, was = _found(now, send), before.control(send["control"])
    if control is None or was is None:
        return "the control that sends is gone"
    enabled = was.disabled and not control.disabled
    if not same_control(send, make_pin(tab, now, control), but=("guard",) if enabled else ()):
        return "the control that sends is not as it was"
    if enabled and _judged_by(was) != _judged_by(control):
        return "the control that sends is not as it was"
    return "the control that sends is still disabled" if control.disabled else None


def _judged_by(control: Control) -> tuple[Any, ...]:
    """What a guard is made of, but whether it is disabled."""
    return control.type, control.href, control.row, control.expanded, control.form, *state_of(control)


def _found(page: Snapshot, pin: Mapping[str, Any]) -> Control | None:
    frame = page.frame(pin["frame"])
    return page.control(pin["control"]) if frame is not None and frame.document == pin["document"] else None


def _others_changed(
    before: Snapshot, now: Snapshot, send: Mapping[str, Any], targets: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Fields of the form that hold something else now, in page order."""
    set_ids = {pin["control"] for pin in targets}
    set_here = [control for control in before.controls if control.id in set_ids]
    groups = {radio_group(before, control) for control in set_here} - {None}
    sending = before.control(send["control"])
    places = {_place(control) for control in (*set_here, *([] if sending is None else [sending]))}

    def concerns(control: Control) -> bool:
        return (
            _is_field(control)
            and _place(control) in places
            and control.id not in set_ids
            and radio_group(now, control) not in groups
        )

    earlier = {control.id: control for control in before.controls if concerns(control)}
    for control in now.controls:
        if not concerns(control):
            continue
        was = earlier.pop(control.id, None)
        if was is None:
            if not before.truncated and _would_send(control):
                yield control.id
        elif state_of(was) != state_of(control):
            yield control.id
    if not now.truncated:
        yield from (gone for gone, was in earlier.items() if _would_send(was))


def _place(control: Control) -> tuple[Any, ...]:
    """The form; without one, the section."""
    return control.frame, control.form, None if control.form is not None else control.section


def _is_field(control: Control) -> bool:
    return control.options is not None or control.role in _BOXES or is_typable(control)


def _would_send(control: Control) -> bool:
    """Whether a field adds something to what is sent."""
    if control.role in _BOXES and control.checked is not None:
        return control.checked is not False
    return bool(control.value)


def sent_by(
    result: ActResult, before: Snapshot, after: Snapshot | None, send: Mapping[str, Any], *, left: bool
) -> SendEvidence | None:
    """The evidence that the form went out; None when nothing of the kind was seen.

    `before` is the look right before, `after` the one when the page was quiet again; `left`: the document went away. A submit event
    does not count when the page then asked whether to go on, was told no, and stayed.
    """
    moved = left or result.navigated or "navigation" in result.changed or _moved(before, after)
    declined = any(dialog.answer is False for dialog in result.dialogs)
    if result.submitted and (moved or not declined):
        return "submit-event"
    if moved:
        return "navigation"
    if "request" in result.changed and after is not None and _emptied(before, after, send):
        return "request"
    return None


def _moved(before: Snapshot, after: Snapshot | None) -> bool:
    if after is None:
        return False
    return after.top.document != before.top.document or after.url.partition("#")[0] != before.url.partition("#")[0]


def _emptied(before: Snapshot, after: Snapshot, send: Mapping[str, Any]) -> bool:
    """The fields that were filled went away or were cleared."""
    sending = before.control(send["control"])
    if sending is None:
        return False
    held = [one for one in before.controls if _is_field(one) and _place(one) == _place(sending) and one.value]
    return bool(held) and all((now := after.control(one.id)) is None or not now.value for one in held if one.checked is None)
