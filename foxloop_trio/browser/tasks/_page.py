"""Questions about a look at a page: which document a control is of, which form, which suggestions are whose. Pure.

The one place that knows how a look tells them. What today's look does not tell yet (who owns a suggestion, what a modal dialog lies
over) is answered here by what it does tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .._snapshot import Control, Snapshot
from ._sensitive import is_typable

__all__ = [
    "ControlKey",
    "FormKey",
    "control_at",
    "control_key",
    "document_of",
    "form_controls",
    "form_key",
    "has_document",
    "is_behind_modal",
    "is_date_field",
    "is_suggestion",
    "selected",
    "suggestions",
]

ControlKey = tuple[str, str]
"""Document and control: the same as long as that element lives in that document."""

FormKey = tuple[str, int | str]
"""Document and form; a field without a form is its own, by its id."""

_LISTED: Final = frozenset({"option", "gridcell", "menuitem"})
_PATTERN = re.compile(r"(?:DD|MM|YYYY)[./-](?:DD|MM)[./-](?:YYYY|DD)\Z")


def document_of(page: Snapshot, control: Control) -> str:
    """The document that the control is in."""
    frame = page.frame(control.frame)
    assert frame is not None, "a look has the frame of each of its controls"
    return frame.document


def has_document(page: Snapshot, document: str) -> bool:
    """Whether some frame of the look shows that document."""
    return any(frame.document == document for frame in page.frames)


def control_key(page: Snapshot, control: Control) -> ControlKey:
    """What a control is remembered by from one look to the next."""
    return document_of(page, control), control.id


def control_at(page: Snapshot, key: ControlKey) -> Control | None:
    """The same control in another look, if it is still there."""
    control = page.control(key[1])
    return control if control is not None and document_of(page, control) == key[0] else None


def form_key(page: Snapshot, control: Control) -> FormKey:
    """The form that the control belongs to."""
    return document_of(page, control), control.id if control.form is None else control.form


def form_controls(page: Snapshot, form: FormKey) -> list[Control]:
    """The controls of that form, in page order."""
    return [control for control in page.controls if form_key(page, control) == form]


def is_date_field(control: Control) -> bool:
    """It holds a date: a native one, one with a picker, or one that says its format."""
    has_format = control.date_format is not None and _PATTERN.match(control.date_format) is not None
    return is_typable(control) and (control.type == "date" or control.picker or has_format)


def selected(control: Control) -> list[str]:
    """Labels of the options that are selected."""
    return [option.label for option in control.options or () if option.selected]


def is_suggestion(control: Control) -> bool:
    """It is an entry of the list of some field, and so no choice of its own."""
    return control.popup_for is not None


def suggestions(page: Snapshot, field: Control, before: Iterable[str]) -> list[Control]:
    """The entries of this field's list; where the page does not tell whose a list is, those that were not there before it was typed
    into.
    """
    own = [control for control in page.controls if control.popup_for == field.id]
    if own:
        return own
    there = frozenset(before)
    loose = [control for control in page.controls if control.role in _LISTED and control.popup_for is None]
    return [control for control in loose if control.frame == field.frame and control.id not in there]


def is_behind_modal(control: Control) -> bool:
    """An open dialog lies over it: acting on it is refused as covered."""
    return control.behind_modal
