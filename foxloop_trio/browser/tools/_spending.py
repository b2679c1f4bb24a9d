"""What spends money: which controls do, and what is said of them. Pure but for the type of the host's function.

A label that says so, or a form that asks for a payment card (tool reference, 12.2).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

from ...actions import Money
from ...errors import Refuse
from .._risk import risk_of
from .._snapshot import Control, Snapshot
from ..tasks._folding import plain
from ..tasks._sensitive import is_typable

__all__ = ["Prices", "Spending", "note_spending", "refuse_to_spend", "spending"]

Prices = Callable[[Snapshot, Control], "Money | Awaitable[Money | None] | None"]
"""Reads off the page what clicking this control costs; None when it cannot be told."""

Spending = Literal["label", "card", "form"]
"""What says so: the control's own label, a field for a payment card, or the label of what sends the form when Enter is pressed."""

_CARD: Final = re.compile(
    r"\b(?:(?:credit|debit|payment)?\s*card\s*(?:number|no|holder\w*|expir\w*|security\s+code|verification\w*)|(?:credit|debit)\s+card"
    r"|name\s+on\s+(?:the\s+)?card|cv[vc]2?|cvn|csc|cc\s*(?:num|number|no|exp\w*|csc|cvc|cvv|name)|cardnumber|cardholder\w*"
    r"|kartennummer|karteninhaber|num[ée]ro\s+de\s+(?:la\s+)?carte)\b"
)


def spending(page: Snapshot, control: Control, *, enter: bool = False) -> Spending | None:
    """Why clicking this control may spend money, or pressing Enter in it; None when nothing says so."""
    if risk_of(control.label) == "spend money":
        return "label"
    if enter and any(_sends_form_of(one, control) and risk_of(one.label) == "spend money" for one in page.controls):
        return "form"
    sends = enter or control.submit or control.role == "button"
    if sends and any(_is_card_field(one) and _pays(page, one, control) for one in page.controls):
        return "card"
    return None


def note_spending(
    page: Snapshot,
    control: Control,
    judged: dict[str, Any],
    prices: Prices | None,
    *,
    enter: bool = False,
    also: Control | None = None,
) -> dict[str, Any]:
    """The judged arguments, with `spends` when this click, or Enter, may spend money: a human is asked each time then.

    `also` is another control that takes part. Raises Refuse when there is the tool `pay` for it.
    """
    how = spending(page, control, enter=enter)
    if how is None and also is not None:
        control, how = also, spending(page, also)
    if how is None:
        return judged
    if prices is not None:
        raise refuse_to_spend(control.id)
    return {**judged, "spends": how}


def refuse_to_spend(control_id: str, *, fields: bool = False) -> Refuse:
    """For a planner that has the tool `pay`."""
    first = "Set the fields with fill, then use" if fields else "Use"
    return Refuse(f"Control {control_id} may spend money. {first} pay on {control_id}, which tells the user the amount.")


def _sends_form_of(one: Control, field: Control) -> bool:
    return one.submit and one.form is not None and (one.frame, one.form) == (field.frame, field.form)


def _is_card_field(control: Control) -> bool:
    told = " | ".join((control.label, control.placeholder, control.name.replace("_", " ").replace("-", " ")))
    return (is_typable(control) or control.options is not None) and _CARD.search(plain(told)) is not None


def _pays(page: Snapshot, field: Control, control: Control) -> bool:
    """Whether that field is of the control's form, or in a frame inside of the control's: payment services have their own."""
    if field.frame == control.frame:
        return field.form == control.form
    frame = page.frame(field.frame)
    while frame is not None and frame.parent is not None:
        if frame.parent == control.frame:
            return True
        frame = page.frame(frame.parent)
    return False
