"""Steps and calls while they are being put together, one entry after the other, and the small parts that entries hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import attrs

from ._blobs import Beside
from ._nouns import (
    Answer,
    Approval,
    Call,
    CallState,
    Claim,
    Decision,
    Effect,
    Evidence,
    Money,
    Picture,
    Remark,
    Result,
    Status,
    Step,
)
from ._values import items, mapping, same, text, whole

BLOCKED_ANSWERS: Final[Mapping[str, Answer]] = {
    "approval-denied": "not-approved",
    "approval-expired": "expired",
    "approval-error": "failed",
}
"""What a stop right after the question says of the answer."""


def money_of(value: Any) -> Money | None:
    """An amount, or None for what is none."""
    plain = mapping(value)
    amount, currency = whole(plain.get("value")), plain.get("currency")
    return Money(value=amount, currency=currency) if amount is not None and type(currency) is str else None


def effect_of(value: Mapping[str, Any]) -> Effect | None:
    """What is known of an effect, or None when nothing is said."""
    state = text(value.get("state"))
    return Effect(state=state, done=value.get("done")) if state is not None else None


def evidence(value: Any) -> tuple[Evidence, ...]:
    """The lines of a verdict."""
    lines = [mapping(line) for line in items(value)]
    return tuple(
        Evidence(part=text(line.get("part")) or "", ok=line.get("ok") is True, evidence=text(line.get("evidence")) or "")
        for line in lines
    )


@attrs.define(kw_only=True)
class CallInMaking:
    """A call, as far as it has been told."""

    id: str
    name: str
    step: int
    at_ms: int
    proven: bool
    args: Any = None
    prepared: Any = None
    target: str | None = None
    scope: str | None = None
    domain: str | None = None
    amount: Money | None = None
    repairs: list[str] = attrs.Factory(list)
    decisions: list[Decision] = attrs.Factory(list)
    approval: Approval | None = None
    result: Result | None = None
    effect: Effect | None = None
    late: str | None = None
    late_ms: int | None = None
    tool_ms: int | None = None
    human_ms: int = 0
    pictures: list[Picture] = attrs.Factory(list)
    seen: bool = False
    claimed: bool = False

    @property
    def allowed(self) -> bool:
        return bool(self.decisions) and self.decisions[-1].decision == "allow"

    @property
    def ran(self) -> bool:
        """Whether the tool was, or may have been, called."""
        if not self.allowed:
            return False
        if self.result is not None:
            return self.result.reason not in ("skipped", "gate-deny")
        return self.effect is None or self.effect.state != "not-started"

    def read(self, raw: str | None) -> None:
        """The arguments as the planner wrote them."""
        self.args = raw
        with suppress(ValueError, RecursionError):
            self.args = json.loads(raw or "")

    def examined(self, data: Mapping[str, Any], at: int) -> None:
        self.args, self.at_ms, self.seen = data.get("args"), at, True

    def judged(self, data: Mapping[str, Any], at: int) -> None:
        action, record = mapping(data.get("action")), mapping(data.get("record"))
        args = action.get("args")
        self.seen = True
        self.scope, self.domain = text(action.get("scope")), text(action.get("domain"))
        self.amount = money_of(action.get("amount"))
        if not same(args, self.args):
            self.prepared = args
            self.target = _target(args)
        allowed = record.get("allowed")
        self.decisions.append(
            Decision(
                at_ms=at,
                via=text(data.get("via")) or "",
                decision=text(data.get("decision")) or "",
                reason=text(data.get("reason")),
                message=text(record.get("message")),
                grant=text(record.get("grant_id")),
                rule=text(record.get("rule_id")),
                changed=isinstance(allowed, Mapping) and not same(allowed, data.get("action")),
            )
        )

    def ask(self, data: Mapping[str, Any], at: int, ts: int) -> None:
        self.seen = True
        self.approval = Approval(
            at_ms=at,
            asked_ts=ts,
            request=text(data.get("request_id")),
            detail=text(data.get("detail")),
            expires_ts=whole(data.get("expires_at_ms")),
            answer="open",
            waited_ms=None,
        )

    def answered(self, event: str, data: Mapping[str, Any], waited: int) -> None:
        """What the next event says of the answer."""
        if self.approval is None:
            return
        answer: Answer = "stopped"
        if event == "decision":
            answer = "approved" if data.get("decision") == "allow" else "refused"
        elif event == "blocked":
            answer = BLOCKED_ANSWERS.get(str(data.get("reason")), "stopped")
        self.approval = attrs.evolve(self.approval, answer=answer, waited_ms=waited)

    def ended(self, data: Mapping[str, Any], at: int, raw: Mapping[str, Any], beside: Beside) -> None:
        """`raw` is `data` as the entry holds it, with its markers."""
        record = mapping(data.get("record"))
        page, problem = beside.page(mapping(raw.get("record")).get("shown"))
        self.pictures = beside.pictures(raw.get("data"))
        self.effect = effect_of(mapping(record.get("effect"))) or self.effect
        self.result = Result(
            at_ms=at,
            ok=data.get("ok") is True,
            summary=text(data.get("summary")) or "",
            reason=text(data.get("reason")),
            detail=text(data.get("detail")),
            data=data.get("data"),
            page=page,
            page_problem=problem,
            checks=evidence(mapping(record.get("check")).get("checks")),
            stop_batch=record.get("stop_batch") is True,
        )

    def state(self, run: Status) -> CallState:
        result, approval = self.result, self.approval
        if result is not None:
            if result.ok:
                return "done"
            known: Mapping[str | None, CallState] = {"gate-deny": "refused", "skipped": "skipped", "in-doubt": "held-back"}
            return known.get(result.reason, "failed")
        if self.effect is not None:
            return "not-started" if self.effect.state == "not-started" else "stopped"
        if self.allowed:
            return "in-doubt"
        if run == "unfinished" and self.seen:
            return "waiting"
        if approval is not None:
            return "refused" if approval.answer == "refused" else "not-approved"
        if self.decisions and self.decisions[-1].decision == "deny":
            return "refused"
        return "not-started" if self.seen else "not-reached"

    def made(self, run: Status) -> Call:
        late = self.late
        if self.late_ms is not None:
            late = f"It ended {self.late_ms} ms after it was stopped." + (f" {late}" if late else "")
        return Call(
            id=self.id,
            name=self.name,
            at_ms=self.at_ms,
            state=self.state(run),
            args=self.args,
            prepared=self.prepared,
            target=self.target,
            scope=self.scope,
            domain=self.domain,
            amount=self.amount,
            repairs=tuple(self.repairs),
            decisions=tuple(self.decisions),
            approval=self.approval,
            result=self.result,
            effect=self.effect,
            late=late,
            tool_ms=self.tool_ms,
            human_ms=self.human_ms,
            pictures=tuple(self.pictures),
            proven=self.proven,
        )


@attrs.define(kw_only=True)
class StepInMaking:
    """A step, as far as it has been told."""

    number: int
    at_ms: int
    planner_ms: int | None = None
    asked: bool = False
    answered: bool = False
    text: str | None = None
    provider: str | None = None
    tier: str | None = None
    repairs: list[str] = attrs.Factory(list)
    problem: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    estimated: bool = False
    items: list[CallInMaking | Claim | Remark] = attrs.Factory(list)
    proven: bool = True

    def made(self, run: Status) -> Step:
        # A `finish` that was examined is told by its claim.
        told = [item for item in self.items if not (isinstance(item, CallInMaking) and item.claimed)]
        return Step(
            number=self.number,
            at_ms=self.at_ms,
            planner_ms=self.planner_ms,
            asked=self.asked,
            answered=self.answered,
            text=self.text,
            provider=self.provider,
            tier=self.tier,
            repairs=tuple(self.repairs),
            problem=self.problem,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            estimated=self.estimated,
            items=tuple(item.made(run) if isinstance(item, CallInMaking) else item for item in told),
            proven=self.proven,
        )


def _target(args: Any) -> str | None:
    """The control that prepared arguments name, as a person would: its role and label."""
    target = mapping(mapping(args).get("target"))
    role, label = target.get("role"), target.get("label")
    return f"{role} “{label}”" if type(role) is str and type(label) is str and label else None
