"""What a preview says: nouns, to and from the JSON that is judged. Pure.

The same nouns pin a run to what was approved: `Preview.holds` compares a send with the one that was previewed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

from .._risk import RiskClass
from .._snapshot import Control, Destination, Snapshot
from ._page import document_of
from ._sites import host_in

__all__ = ["PlannedDestination", "PlannedField", "PlannedRisk", "PlannedSend", "Preview"]

MAX_ADDRESS: Final = 2000
"""Characters of an address that is judged, as in a pin."""


@attrs.frozen(kw_only=True)
class PlannedDestination:
    """Where the form goes: resolved address, method, window, and host (None when the address has none)."""

    url: str
    method: str
    target: str
    host: str | None

    @classmethod
    def of(cls, there: Destination | None) -> PlannedDestination | None:
        if there is None:
            return None
        return cls(url=there.url[:MAX_ADDRESS], method=there.method, target=there.target, host=host_in(there.url))


@attrs.frozen(kw_only=True)
class PlannedSend:
    """What sends it: a button, or Enter in a field. `document` and `section` tell it from one like it."""

    how: Literal["button", "enter"]
    id: str
    role: str
    label: str
    section: str
    document: str

    @classmethod
    def of(cls, page: Snapshot, control: Control, *, enter: bool) -> PlannedSend:
        return cls(
            how="enter" if enter else "button",
            id=control.id,
            role=control.role,
            label=control.label,
            section=control.section,
            document=document_of(page, control),
        )


@attrs.frozen(kw_only=True)
class PlannedField:
    """One control that would be set, or clicked. `op` ``keep``: it is as wanted already. A sensitive `value` is a mask."""

    id: str
    label: str
    role: str
    op: str
    value: str | None


@attrs.frozen(kw_only=True)
class PlannedRisk:
    """A control that would be used although its label does harm, since the goal asks for it; or one that blocks the send."""

    risk: RiskClass
    label: str


@attrs.frozen(kw_only=True)
class Preview:
    """A task planned on one look at the page, nothing touched. Labels and values are the page's: untrusted.

    * `document`, `url`: of the top frame. `today`: what "tomorrow" was told from, as ISO.
    * `destination`, `send`: None when nothing would be sent. `blocked` says why sending would be refused as the page is now.
    * `unmatched`: pieces of the goal that no control fits.
    """

    document: str
    url: str
    today: str
    destination: PlannedDestination | None = None
    send: PlannedSend | None = None
    fields: tuple[PlannedField, ...] = ()
    unmatched: tuple[str, ...] = ()
    risks: tuple[PlannedRisk, ...] = ()
    blocked: str | None = None

    def to_json(self) -> dict[str, Any]:
        """What is judged as ``form``."""
        return attrs.asdict(self, value_serializer=lambda _, __, value: list(value) if isinstance(value, tuple) else value)

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Preview:
        """From what was judged. Raises TypeError or KeyError for anything that `to_json` did not make."""
        there, send = obj["destination"], obj["send"]
        return cls(
            document=obj["document"],
            url=obj["url"],
            today=obj["today"],
            destination=None if there is None else PlannedDestination(**there),
            send=None if send is None else PlannedSend(**send),
            fields=tuple(PlannedField(**field) for field in obj["fields"]),
            unmatched=tuple(obj["unmatched"]),
            risks=tuple(PlannedRisk(**risk) for risk in obj["risks"]),
            blocked=obj["blocked"],
        )

    def holds(self, page: Snapshot, control: Control, *, enter: bool) -> bool:
        """Whether sending with this control is the previewed send: same destination, same button.

        A button that was made anew in the previewed document must be the only one of its role, label, section and destination.
        In a later document of the run it must agree in role, label and destination. Enter counts in the previewed document only.
        """
        if self.send is None or self.destination != PlannedDestination.of(control.destination):
            return False
        now = PlannedSend.of(page, control, enter=enter)
        if now == self.send:
            return True
        if enter or self.send.how == "enter" or (now.role, now.label) != (self.send.role, self.send.label):
            return False
        if now.document != self.send.document:
            return True
        if now.section != self.send.section:
            return False
        alike = [other for other in page.controls if _alike(other, control)]
        return len(alike) == 1


def _alike(one: Control, other: Control) -> bool:
    return (one.frame, one.role, one.label, one.section, one.destination) == (
        other.frame,
        other.role,
        other.label,
        other.section,
        other.destination,
    )
