"""Which button sends a form (page reference, 13.4 and 21.12). Pure.

A button that cancels, goes back, resets or only saves a draft is none, unless the goal says so. Of several, the one that shares a
word with the goal comes first, then the one that Enter would press. Two that are equal in both are not chosen between.
"""

from __future__ import annotations

import re
from typing import Final

import attrs

from .._snapshot import Control, Snapshot
from ._folding import plain
from ._page import FormKey, form_controls, form_key
from ._words import words

__all__ = ["SendChoice", "loose_buttons", "loose_forms", "pick_send"]

_STARTS: Final = re.compile(
    r"\W*(?:apply|book|continue|create\s+account|done|go|next|register|save|search|send|sign\s+up|submit|subscribe)\b"
)
_ASIDE = re.compile(r"\b(cancel|reset|clear|back|previous|draft|preview)\b")


@attrs.frozen(kw_only=True)
class SendChoice:
    """The button; or those that cannot be told apart; or neither, when the form has none."""

    button: Control | None = None
    equal: tuple[Control, ...] = ()


def pick_send(page: Snapshot, form: FormKey, goal: str) -> SendChoice:
    """The button that sends this form. Says nothing about whether it may be pressed."""
    inside = form_controls(page, form)
    if len(inside) == 1 and inside[0].form is None:
        return _best(loose_buttons(page, inside[0]), goal, default=None)
    submits = [control for control in inside if control.submit]
    if submits:
        return _best(submits, goal, default=submits[0])
    return _best([control for control in inside if _sends_by_name(control)], goal, default=None)


def loose_buttons(page: Snapshot, field: Control) -> list[Control]:
    """For a field outside of forms: the buttons that send by their name, in the field's own section."""
    if field.form is not None:
        return []
    beside = (field.frame, field.section)
    return [
        control
        for control in page.controls
        if control.form is None and (control.frame, control.section) == beside and _sends_by_name(control)
    ]


def loose_forms(page: Snapshot, field: Control) -> list[FormKey]:
    """The fields outside of forms that one such button sends together."""
    return [
        form_key(page, control)
        for control in page.controls
        if control.form is None and (control.frame, control.section) == (field.frame, field.section)
    ]


def _sends_by_name(control: Control) -> bool:
    return control.role == "button" and _STARTS.match(plain(control.label)) is not None


def _best(buttons: list[Control], goal: str, *, default: Control | None) -> SendChoice:
    wanted = frozenset(words(goal))
    left = [button for button in buttons if not _set_aside(button, wanted)]
    if not left:
        return SendChoice(equal=tuple(buttons))
    ranks = [(bool(wanted & frozenset(words(button.label))), button is default) for button in left]
    best = [button for button, rank in zip(left, ranks, strict=True) if rank == max(ranks)]
    return SendChoice(button=best[0]) if len(best) == 1 else SendChoice(equal=tuple(best))


def _set_aside(button: Control, wanted: frozenset[str]) -> bool:
    match = _ASIDE.search(plain(button.label))
    return match is not None and match[1] not in wanted
