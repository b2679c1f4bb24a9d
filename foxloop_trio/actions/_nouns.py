"""The nouns that gate, tools and environments share: what is to be done, what it costs, what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, get_args

import attrs

from ..canonical import read_canonical
from ._copies import copied
from ._unchecked import unchecked
from ._valid import all_of, flag, instant, of, optional_text, text, whole

Scope = Literal["read", "fill", "submit", "pay"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Largest integer that every JSON reader keeps exactly (ECMAScript's Number.MAX_SAFE_INTEGER)."""

_CURRENCY = re.compile(r"[A-Z]{3}\Z", re.ASCII)


def _whole_minor_units(_: object, __: object, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SAFE_INTEGER:
        raise ValueError(f"Money.value must be whole minor units, 0 to 2**53 - 1, not {value!r}")


def _currency_code(_: object, __: object, value: Any) -> None:
    if not isinstance(value, str) or not _CURRENCY.match(value):
        raise ValueError(f"Money.currency must be three uppercase ASCII letters such as EUR, not {value!r}")


@attrs.frozen(kw_only=True)
class Money:
    """An amount in whole minor units (cents for EUR) of one currency.

    Raises ValueError for anything but 0 to 2**53 - 1 and three uppercase ASCII letters. There is no conversion between
    currencies, on purpose.
    """

    value: int = attrs.field(validator=_whole_minor_units)
    currency: str = attrs.field(validator=_currency_code)

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "currency": self.currency}


@attrs.frozen(kw_only=True)
class Action:
    """One thing to be judged: a tool, its prepared arguments, the host it concerns, and the scope.

    The gate accepts any object of this shape and answers with a *normalised* copy; only that copy is ever run.
    """

    tool: str
    args: Mapping[str, Any]
    domain: str
    scope: Scope
    amount: Money | None = None

    def copy(self) -> Action:
        """A copy that shares nothing with this one that could be changed."""
        return _action(tool=self.tool, args=copied(self.args), domain=self.domain, scope=self.scope, amount=self.amount)

    def to_json(self) -> dict[str, Any]:
        """The action as plain JSON; `amount` is left out when there is none."""
        plain: dict[str, Any] = {"tool": self.tool, "args": dict(self.args), "domain": self.domain, "scope": self.scope}
        if self.amount is not None:
            plain["amount"] = self.amount.to_json()
        return plain


_action = unchecked(Action)


@attrs.frozen(kw_only=True)
class CheckLine:
    """One line of a verdict: which part, whether it holds, and the evidence (which may quote a page)."""

    part: str = attrs.field(validator=text)
    ok: bool = attrs.field(validator=flag)
    evidence: str = attrs.field(default="", validator=text)

    def to_json(self) -> dict[str, Any]:
        return {"part": self.part, "ok": self.ok, "evidence": self.evidence}


def check_lines(lines: Iterable[CheckLine]) -> tuple[CheckLine, ...]:
    return tuple(lines)


@attrs.frozen(kw_only=True)
class CheckResult:
    """A verdict on whether the goal, or a part of it, was reached."""

    ok: bool = attrs.field(validator=flag)
    checks: tuple[CheckLine, ...] = attrs.field(default=(), converter=check_lines, validator=all_of(CheckLine))
    problem: str | None = attrs.field(default=None, validator=optional_text)

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"ok": self.ok, "checks": [line.to_json() for line in self.checks]}
        if self.problem is not None:
            plain["problem"] = self.problem
        return plain


@attrs.frozen(kw_only=True)
class ToolOutput:
    """What a tool returns.

    * `summary`: the tool author's own words; the planner reads them as trusted, so never put page text here.
    * `untrusted`: outside text (page words, quoted errors); reaches the planner only between data markers.
    * `data`: for the host program only; plain JSON when a trail is used.
    * `check`: a verdict that a later completion claim may rest on.
    * `stop_batch`: the calls that follow in the same reply are skipped, since the page may no longer be what they assumed.
    """

    ok: bool = attrs.field(validator=flag)
    summary: str = attrs.field(validator=text)
    untrusted: str | None = attrs.field(default=None, validator=optional_text)
    check: CheckResult | None = attrs.field(default=None, validator=of(CheckResult, optional=True))
    data: Any = None
    stop_batch: bool = attrs.field(default=False, validator=flag)


@attrs.frozen(kw_only=True)
class ApprovalRequest:
    """What a human is asked: the exact action, in the words of the tool's `describe` as well, and until when.

    `call_id` is the planner's id of the call; `request_id` is what `host.approve` takes. `expires_at` is wall-clock seconds
    since 1970.
    """

    step: int = attrs.field(validator=whole)
    call_id: str = attrs.field(validator=text)
    request_id: str = attrs.field(validator=text)
    action: Action = attrs.field(validator=of(Action))
    expires_at: float = attrs.field(validator=instant)
    detail: str | None = attrs.field(default=None, validator=optional_text)


def action_from_text(canonical: str) -> Action:
    """The action whose canonical JSON is `canonical`."""
    plain: dict[str, Any] = read_canonical(canonical)
    amount = plain.pop("amount", None)
    return Action(**plain, amount=None if amount is None else Money(**amount))
