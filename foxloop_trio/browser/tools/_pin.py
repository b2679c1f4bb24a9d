"""Pins: the frozen description of one control that is judged, approved, and compared again right before it is acted on.

The memory holds the newest look of one tool pack at its tab. A pin is good only while that look is the newest and still describes
the same control.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from ...errors import Refuse
from .._act import RENEWED
from .._risk import risk_of
from .._snapshot import Control, Snapshot

__all__ = ["Memory", "make_pin", "same_control"]

MAX_PINNED_ADDRESS: Final = 2000
"""Characters of an address in a pin. A pin is for comparing and for a human's eyes; the gate judges at most 64 KiB in all."""


class Memory:
    """The newest look, or None when there is none or it is known to be out of date.

    `whole` is the newest look at a whole page, to tell changes by; it may be out of date.
    """

    __slots__ = ("snapshot", "whole")

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self.whole: Snapshot | None = None

    def drop(self) -> Snapshot | None:
        """Forget the newest look, and answer it: the next call must look first."""
        dropped, self.snapshot = self.snapshot, None
        return dropped

    def forget(self) -> None:
        """Forget all: another tab is looked at from now on."""
        self.snapshot = self.whole = None

    def remember(self, page: Snapshot, before: Snapshot | None) -> None:
        """Take `page` for the newest look. A look at a part of the page does not make the rest of it unknown, as long as its
        document and its fields are as they were in the look before.
        """
        if page.part and before is not None:
            self.snapshot = page.joined(before)
        else:
            self.snapshot = page
        if not page.part:
            self.whole = page

    def find(self, control_id: str) -> tuple[Snapshot, Control]:
        """The look and the control. Raises Refuse, telling the planner to take a snapshot."""
        if self.snapshot is None:
            raise Refuse("There is no current snapshot of this page. Call snapshot first, then use an id that it shows.")
        control = self.snapshot.control(control_id)
        if control is None:
            raise Refuse("The newest snapshot has no control with this id. Call snapshot and use an id that it shows.")
        return self.snapshot, control

    def pin_now(self, tab: int, control_id: object) -> dict[str, Any] | None:
        """The pin that this control would get now, or None when it is not there any more."""
        control = self.snapshot.control(control_id) if self.snapshot is not None and isinstance(control_id, str) else None
        return make_pin(tab, self.snapshot, control) if self.snapshot is not None and control is not None else None


def make_pin(tab: int, snapshot: Snapshot, control: Control) -> dict[str, Any]:
    """The pin of `control`: where it is, what it looks like, where it sends, and what harm its label speaks of.

    With a `form_key` only the fields of its own form must be as they were, and what changes elsewhere is no matter. What sends a
    form or has a risky label, and belongs to no form, gets none: there all fields of its frame count.
    """
    frame = snapshot.frame(control.frame)
    assert frame is not None
    risk = risk_of(control.label)
    lenient = control.form is not None or not (control.submit or risk)
    return {
        "tab": tab,
        "generation": snapshot.generation,
        "control": control.id,
        "document": frame.document,
        "frame": control.frame,
        "node": control.node,
        "guard": control.guard,
        "key": frame.key,
        "form_key": control.form_key if lenient else None,
        "role": control.role,
        "label": control.label,
        "section": control.section,
        "submit": control.submit,
        "secret": control.secret,
        "url": snapshot.url[:MAX_PINNED_ADDRESS],
        "destination": _destination(control),
        "risk": risk,
    }


def same_control(pin: Mapping[str, Any], now: Mapping[str, Any] | None, *, but: Collection[str] = ()) -> bool:
    """Whether a newer pin is of the very same control, as it was judged. Which look it is of, and the state of the fields around
    it, do not count; nor what `but` names.
    """
    left_out = {*RENEWED, *but}
    return now is not None and (
        {name: value for name, value in now.items() if name not in left_out}
        == {name: value for name, value in pin.items() if name not in left_out}
    )


def _destination(control: Control) -> Mapping[str, str] | None:
    if control.destination is None:
        return None
    there = control.destination
    return {"url": there.url[:MAX_PINNED_ADDRESS], "method": there.method, "target": there.target}
