"""A model of the gate for tests: what must be answered, worked out from lists and sums, with nothing of the gate's own code.

It is slow and plain on purpose. Money is what one gets by adding up the payments that were not released; uses are the number of
allows; there are no counters, indexes or rows to go wrong together with the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

REQUEST_TTL = 600
TOKEN_TTL = 120
MAX_PENDING = 3
DAY = 86_400

SCOPE_OF = {"look": "read", "save": "fill", "send": "submit", "buy": "pay"}


@dataclass
class Act:
    """What is to be done: tool, argument, host; for `buy` the argument is the price in cents."""

    tool: str
    value: int
    host: str
    currency: str = "EUR"

    @property
    def scope(self) -> str:
        return SCOPE_OF[self.tool]

    @property
    def price(self) -> tuple[int, str] | None:
        return (self.value, self.currency) if self.tool == "buy" else None

    def key(self) -> tuple[Any, ...]:
        return (self.tool, self.value, self.host, self.currency if self.tool == "buy" else None)


@dataclass
class Permission:
    """A grant: its limits, and each allow under it as ``[day, run, cents, released, host]``."""

    scope: str
    hosts: list[str]
    tools: list[str] | None
    asks: bool
    until: int | None
    uses: int | None
    caps: dict[str, tuple[int, str]]
    allows: list[list[Any]] = field(default_factory=list)
    revoked: bool = False

    def matches(self, act: Act) -> bool:
        return (
            not self.revoked
            and self.scope == act.scope
            and act.host in self.hosts
            and (self.tools is None or act.tool in self.tools)
        )

    def spent(self, day: int | None = None, run: str | None = None, host: str | None = None) -> int:
        return sum(
            cents
            for its_day, its_run, cents, released, its_host in self.allows
            if not released
            and (day is None or its_day == day)
            and (run is None or its_run == run)
            and (host is None or its_host == host)
        )

    def hindrance(self, act: Act, now: int, run: str) -> str | None:
        if self.until is not None and now >= self.until:
            return "expired"
        if self.uses is not None and len(self.allows) >= self.uses:
            return "used-up"
        if act.price is None or not self.caps:
            return None
        cents, currency = act.price
        if any(its_currency != currency for _, its_currency in self.caps.values()):
            return "currency"
        before = {
            "spend_cap": self.spent(),
            "cap_per_act": 0,
            "cap_per_run": self.spent(run=run),
            "cap_per_site": self.spent(host=act.host),
            "cap_per_day": self.spent(day=now // DAY),
        }
        return "spend-cap" if any(before[name] + cents > cap for name, (cap, _) in self.caps.items()) else None


@dataclass
class Question:
    """A request: who was asked what, until when it counts, and what became of it."""

    permission: Permission
    act: Act
    until: int
    state: str = "waiting"


@dataclass
class Slip:
    """A token, and whether the gate that signs now knows it."""

    question: Question
    until: int
    ours: bool = True


class Model:
    """What the gate knows, in the model's words. Each method is one operation that ended well; failed ones are not told to it."""

    def __init__(self) -> None:
        self.latest = 0
        self.permissions: list[Permission] = []
        self.questions: list[Question] = []
        self.slips: list[Slip] = []

    def now(self, clock: int) -> int:
        self.latest = max(self.latest, clock)
        return self.latest

    def waiting(self, clock: int) -> list[Question]:
        now = self.now(clock)
        return [question for question in self.questions if question.state == "waiting" and question.until > now]

    def revoke(self, permission: Permission) -> bool:
        known = not permission.revoked
        permission.revoked = True
        self.questions = [q for q in self.questions if not (q.permission is permission and q.state == "waiting")]
        return known

    def check(self, act: Act, clock: int, run: str, store: bool) -> tuple[str, Any]:
        """``("allow", permission)``, ``("ask", question or None)`` or ``("deny", reason)``."""
        now = self.now(clock)
        matching = [permission for permission in self.permissions if permission.matches(act)]
        if not matching:
            return "deny", "no-grant"
        able = [permission for permission in matching if permission.hindrance(act, now, run) is None]
        if not able:
            return "deny", matching[0].hindrance(act, now, run)
        free = [permission for permission in able if not permission.asks]
        refused = [
            q
            for q in self.questions
            if q.state == "refused" and q.until > now and q.act.key() == act.key() and q.permission in matching
        ]
        if free and (not able[0].asks or not refused):
            return self._allow(free[0], act, now, run)
        return self._ask(able[0], act, now, store)

    def _allow(self, permission: Permission, act: Act, now: int, run: str) -> tuple[str, Any]:
        cents = act.price[0] if act.price is not None and permission.caps else 0
        permission.allows.append([now // DAY, run, cents, False, act.host])
        return "allow", permission

    def _ask(self, permission: Permission, act: Act, now: int, store: bool) -> tuple[str, Any]:
        if store:
            self.questions = [q for q in self.questions if q.until > now]
        for question in self.questions:
            if question.permission is not permission or question.act.key() != act.key() or question.until <= now:
                continue
            if question.state == "refused":
                return "deny", "rejected"
            if question.state == "waiting":
                return "ask", question if store else None
            if store and question.state == "approved":
                question.state = "used"
        if not store:
            return "ask", None
        if sum(q.state == "waiting" for q in self.questions) >= MAX_PENDING:
            return "deny", "too-many-requests"
        self.questions.append(Question(permission, act, now + REQUEST_TTL))
        return "ask", self.questions[-1]

    def answer(self, question: Question, clock: int, *, yes: bool) -> Slip | str | None:
        now = max(self.latest, clock)
        if not self.answerable(question, now):
            return "not-found"  # nothing is saved then, not even the time
        self.latest = now
        if not yes:
            question.state = "refused"
            return None
        question.state, question.until = "approved", now + TOKEN_TTL
        self.slips.append(Slip(question, now + TOKEN_TTL))
        return self.slips[-1]

    def answerable(self, question: Question, now: int) -> bool:
        return question in self.questions and question.state == "waiting" and question.until > now

    def redeem(self, slip: Slip, act: Act, clock: int, run: str) -> tuple[str, Any]:
        now = self.now(clock)
        question = slip.question
        if not slip.ours:
            return "deny", "bad-token"
        if now >= slip.until:
            return "deny", "token-expired"
        if question not in self.questions:
            return "deny", "bad-token"
        if question.state == "used":
            return "deny", "token-used"
        assert question.state == "approved"
        question.state = "used"
        if act.key() != question.act.key():
            return "deny", "action-changed"
        permission = question.permission
        if permission.revoked:
            return "deny", "no-grant"
        reason = permission.hindrance(act, now, run)
        return ("deny", reason) if reason else self._allow(permission, act, now, run)

    def new_key(self) -> None:
        for slip in self.slips:
            slip.ours = False
