"""Tries one aim on a fresh page, as a planner would: each step on a new look, with a real gate's permit, and settled.

In the end what was reported is compared with what the page believes, seen past the product (`Probe.state`):

* ``works``: all steps were reported done, and the page believes what was aimed at.
* ``refuses``: a step was refused, and the page is as the steps before it left it.
* ``FALSE SUCCESS``: all steps were reported done, and the page does not believe it.
* ``FALSE FAILURE``: a step was refused, and it was done all the same.
* ``not listed``: no look shows the control.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import trio

from ..actions import Action, Permit
from ..browser import BrowserSession, Control, Snapshot, Tab
from ..browser._uploads import describe_file
from ..browser.tools._pin import make_pin
from ..errors import FoxloopError
from ..gate import create_gate
from ._acting_aims import Aim, Files, Onto, Step
from ._page_probe import Probe, open_page

__all__ = ["Verdict", "find", "permit_for", "try_aim"]

BELIEVES_SECONDS: Final = 1.0
"""For a page to come to believe what was done; after that it will not."""


@attrs.frozen
class Verdict:
    """`kind` as above; of a refusal `reason` and `detail`; `more` says what the page believes and what went wrong in it."""

    kind: str
    reason: str = ""
    detail: str = ""
    more: str = ""

    def __str__(self) -> str:
        return "; ".join(part for part in (self.reason, self.detail, self.more) if part)

    def problem(self, aim: Aim) -> str | None:
        """Why this is not what the aim must come to; None when it is."""
        if aim.reason is None:
            fine = self.kind == "works"
        elif aim.reason == "not listed":
            fine = self.kind == "not listed"
        else:
            fine = self.kind == "refuses" and self.reason == aim.reason and aim.detail in self.detail
        return None if fine else f"{aim.page}: {aim.words}: {self.kind}: {self}"


def find(page: Snapshot, label: str) -> Control | None:
    """By label; ``dialog:LABEL`` among what came up last, ``ROLE#N`` by role and place."""
    role, hash_sign, place = label.partition("#")
    if hash_sign:
        found = [control for control in page.controls if control.role == role][int(place) :]
        return found[0] if found else None
    kind, colon, rest = label.partition(":")
    found = [control for control in page.controls if control.label == (rest if colon else label)]
    return (found[-1] if kind == "dialog" and colon else found[0]) if found else None


async def permit_for(pin: dict[str, Any], op: str, value: Any) -> Permit:
    """A real gate's leave for one act."""
    gate, host = create_gate(tools={op: "fill"})
    await host.add_grant(scope="fill", domains=["127.0.0.1"])
    args = {"target": pin} if op == "click" and value is None else {"target": pin, "op": op, "value": value}
    allowed = await gate.check(Action(tool=op, args=args, domain="127.0.0.1", scope="fill"))
    permit: Permit = allowed.permit  # type: ignore[union-attr]
    return permit


async def _value(tab: Tab, page: Snapshot, value: Any, folder: Path) -> tuple[Any, Sequence[bytes]]:
    """The value as the wire has it, and the bytes of files."""
    if isinstance(value, Files):
        data = [(folder / name).read_bytes() for name in value.names]
        files = zip(value.names, data, strict=True)
        return {"files": [describe_file(value.name or name, each, type=value.type) for name, each in files]}, data
    if isinstance(value, Onto):
        other = find(page, value.label)
        if other is None:  # a place that is no control is found by its words, as the tools find it
            other = find(await tab.snapshot(find=value.label), value.label)
        if other is None:
            raise LookupError(value.label)
        return {"onto": {"node": other.node, "guard": other.guard, **value.point}}, ()
    return value, ()


async def _take(tab: Tab, step: Step, folder: Path) -> Verdict | None:
    """Do one step. None when it was reported done, else what was said instead."""
    label, op, wanted = step
    page = await tab.snapshot()
    control = find(page, label)
    if control is None:
        return Verdict("not listed", label)
    pin = make_pin(tab.id, page, control)
    try:
        value, files = await _value(tab, page, wanted, folder)
        permit = await permit_for(pin, op, value)
        result = await tab.act(pin, op, value, permit=permit, mark=False, files=files)
    except LookupError as error:
        return Verdict("not listed", str(error))
    except FoxloopError as error:
        return Verdict("refuses", error.code, str(error))
    if not result.ok:
        return Verdict("refuses", result.reason or "", result.detail or "")
    await tab.settle(pin, list_for=control.node if op == "type" and control.autocomplete else None, sent=result.submitted)
    return None


async def _believes(page: Probe, aim: Aim, before: Any) -> tuple[bool, Any]:
    """Whether the page comes to believe it soon, and what it believes last."""
    wanted = aim.wanted or (lambda state: aim.reason != "mismatch" and state != before)
    state: Any = None
    with trio.move_on_after(BELIEVES_SECONDS):
        while True:
            state = await page.state()
            try:
                if wanted(state):
                    return True, state
            except (TypeError, KeyError, IndexError, ValueError):
                pass  # not even of that kind
            await trio.sleep(0.05)
    return False, state


async def try_aim(session: BrowserSession, tab: Tab, address: str, folder: Path, aim: Aim) -> Verdict:
    """Open the page afresh in `tab`, take the steps, and compare. `folder` has the files that can be given."""
    page = await open_page(session, tab, address, aim.page)
    said, before = None, await page.state()
    for step in aim.steps:
        before = await page.state()
        if (said := await _take(tab, step, folder)) is not None:
            break
    there, state = await _believes(page, aim, before)
    errors = await page.errors()
    more = f"page errors {errors}" if errors else ""
    if said is None:
        return Verdict("works", more=more) if there else Verdict("FALSE SUCCESS", more=f"page believes {state}; {more}")
    if said.kind == "refuses" and there:
        return attrs.evolve(said, kind="FALSE FAILURE", more=f"page believes {state}; {more}")
    return attrs.evolve(said, more=more)
