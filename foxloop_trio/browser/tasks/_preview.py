"""A task planned on one look, nothing touched: what would be set, pressed and sent where (page reference, section 18). Pure.

It asks the chooser the very questions that a run asks, so a run that finds the page as it was does what was previewed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from .._act import ActResult
from .._risk import risk_of
from .._snapshot import Control, Snapshot
from ._choosing import Chooser, checked_choice, checked_spans
from ._controller import Block, Decision, decide
from ._goals import SPAN_LABELS, parse_goal, with_spans
from ._nouns import Goal
from ._numbers import MAX_FIELDS
from ._page import control_at
from ._previewed import MAX_ADDRESS, PlannedDestination, PlannedField, PlannedRisk, PlannedSend, Preview
from ._progress import Act, Progress, record, start
from ._rule_chooser import RuleChooser
from ._sensitive import shown_value

__all__ = ["decided", "planned", "preview", "understood"]

_ACCEPTED: Final = ActResult(ok=True, started=True)


async def preview(
    page: Snapshot,
    goal: str,
    *,
    today: date,
    chooser: Chooser | None = None,
    day_first: bool = False,
    secrets: Mapping[int, frozenset[str]] | None = None,
) -> Preview:
    """What a run would do, as far as this look tells: what a list, a picker or a next page would show is not known.

    `secrets` are the values that may be typed into secret fields, by frame. Raises what the chooser raises.
    """
    chooser = chooser if chooser is not None else RuleChooser()
    understanding = await understood(goal, today, chooser, day_first=day_first)
    return await planned(page, understanding, today=today, chooser=chooser, secrets=secrets)


async def planned(
    page: Snapshot, goal: Goal, *, today: date, chooser: Chooser, secrets: Mapping[int, frozenset[str]] | None = None
) -> Preview:
    """The same, for a goal that was understood already."""
    progress = start(goal, today, max_steps=MAX_FIELDS)
    progress.secrets = secrets or {}
    fields: dict[int, PlannedField] = {}
    risks: list[PlannedRisk] = []
    send: Control | None = None
    enter, blocked = False, None
    while True:
        decision = await decided(progress, page, chooser)
        if isinstance(decision, Act) and not decision.send:
            assert decision.part is not None
            fields[decision.part] = _field(decision, progress)
            risks += _risks(decision.control)
            _as_if_done(progress, page, decision)
            continue
        if isinstance(decision, Act):
            send, enter = decision.control, decision.op == "enter"
        elif isinstance(decision, Block):
            send, blocked = decision.button, decision.reason
        break
    for index, part in enumerate(progress.parts):
        kept = control_at(page, part.control) if part.op == "keep" and part.control is not None else None
        if kept is not None:
            held = part.requirement.value or part.requirement.date
            fields[index] = PlannedField(id=kept.id, label=kept.label, role=kept.role, op="keep", value=shown_value(kept, held))
    return Preview(
        document=page.top.document,
        url=page.url[:MAX_ADDRESS],
        today=today.isoformat(),
        destination=PlannedDestination.of(send.destination) if send is not None else None,
        send=PlannedSend.of(page, send, enter=enter) if send is not None else None,
        fields=tuple(fields[index] for index in sorted(fields)),
        unmatched=progress.unmatched,
        risks=(*risks, *(_risks(send) if send is not None and not enter else ())),
        blocked=blocked,
    )


def _field(act: Act, progress: Progress) -> PlannedField:
    control = act.control
    op, value = act.op, act.value
    if act.awaits == "picker" and act.part is not None:
        op, value = "date", progress.parts[act.part].requirement.date
    if op == "select":  # a person reads the option's label, not its value
        value = next((option.label for option in control.options or () if option.value == value and option.label), value)
    return PlannedField(id=control.id, label=control.label, role=control.role, op=op, value=shown_value(control, value))


def _risks(control: Control) -> list[PlannedRisk]:
    risk = risk_of(control.label)
    return [] if risk is None else [PlannedRisk(risk=risk, label=control.label)]


def _as_if_done(progress: Progress, page: Snapshot, act: Act) -> None:
    assert act.part is not None
    record(progress, page, act, _ACCEPTED)
    progress.awaiting = None
    progress.parts[act.part].status = "done"


async def understood(goal: str, today: date, chooser: Chooser, *, day_first: bool = False) -> Goal:
    """The goal as parsed, with the spans that the chooser finds in it."""
    parsed = parse_goal(goal, today, day_first=day_first)
    if all(part.kind != "setting" for part in parsed.requirements):
        return parsed
    return with_spans(parsed, checked_spans(await chooser.extract(goal, SPAN_LABELS), goal))


async def decided(progress: Progress, page: Snapshot, chooser: Chooser) -> Decision:
    """The controller's decision, its questions answered by the chooser."""
    deciding = decide(progress, page)
    try:
        question = next(deciding)
        while True:
            choice: Any = await chooser.choose(question.requirement, question.controls)
            question = deciding.send(checked_choice(choice, question.controls, chooser.name))
    except StopIteration as end:
        decision: Decision = end.value
        return decision
    finally:
        deciding.close()
