"""What a story is made of: frozen records of a run as a person wants to read it. Values from outside are as the trail holds them.

Instants are whole milliseconds since 1970 (`…_ts`). Offsets and durations are whole milliseconds on the run's own clock (`…_ms`),
which starts when the run did and does not jump when somebody sets the wall clock.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs

from ..trail import Fault

Status = Literal["done", "blocked", "aborted", "unfinished"]
"""How a run ended. unfinished: the trail has no stop record, since it goes on, was killed, or its end was cut off."""

CallState = Literal[
    "done",
    "failed",
    "refused",
    "not-approved",
    "skipped",
    "held-back",
    "stopped",
    "not-started",
    "in-doubt",
    "waiting",
    "not-reached",
]
"""What became of a call.

* done, failed: it ran and said so, or could not be run as it was written
* refused: the gate said no; not-approved: no human said yes
* skipped: its batch ended before it; held-back: it was in doubt already, and nobody had looked since
* stopped: it was cut while it ran; not-started: it was stopped before it began; not-reached: the run ended before it
* in-doubt: it was allowed and nothing more is on record, so it may have been done
* waiting: the trail ends while it was being judged
"""

Answer = Literal["approved", "not-approved", "refused", "expired", "failed", "stopped", "open"]
"""What came of asking a human. refused: a yes that the gate did not take; failed: asking raised; open: no answer on record."""

SpanKind = Literal["planner", "tool", "human"]


@attrs.frozen(kw_only=True)
class Money:
    """An amount as the trail holds it: whole minor units of a currency."""

    value: int
    currency: str


@attrs.frozen(kw_only=True)
class RunInfo:
    """One run of a trail, in a line."""

    id: str
    goal: str | None
    status: Status
    reason: str | None
    started_ts: int | None
    ended_ts: int | None
    entries: int
    resumes: str | None = None


@attrs.frozen(kw_only=True)
class Decision:
    """One answer of the gate. `changed`: it allowed another action than the one it was asked about."""

    at_ms: int
    via: str
    decision: str
    reason: str | None
    message: str | None
    grant: str | None
    rule: str | None
    changed: bool


@attrs.frozen(kw_only=True)
class Approval:
    """A human was asked. `waited_ms` is until the answer, or until the run stopped waiting; None while it is open."""

    at_ms: int
    asked_ts: int
    request: str | None
    detail: str | None
    expires_ts: int | None
    answer: Answer
    waited_ms: int | None


@attrs.frozen(kw_only=True)
class Evidence:
    """One line of a verdict."""

    part: str
    ok: bool
    evidence: str


@attrs.frozen(kw_only=True)
class Effect:
    """What is known of what a call did to the world."""

    state: str
    done: Any = None


@attrs.frozen(kw_only=True)
class Picture:
    """A picture that lies beside the trail, or why it cannot be shown."""

    sha256: str
    media: str | None = None
    content: bytes | None = attrs.field(default=None, repr=False)
    problem: str | None = None


@attrs.frozen(kw_only=True)
class Result:
    """What a call came to. `page` is the outside text that the planner read, without the marks around it."""

    at_ms: int
    ok: bool
    summary: str
    reason: str | None
    detail: str | None
    data: Any
    page: str | None
    page_problem: str | None
    checks: tuple[Evidence, ...]
    stop_batch: bool


@attrs.frozen(kw_only=True)
class Call:
    """One call of the planner's, from its arguments to its result."""

    id: str
    name: str
    at_ms: int
    state: CallState
    args: Any
    """As the planner wrote them: a value, or the raw text when it is no JSON."""
    prepared: Any
    """What the gate judged, when the tool made something else of the arguments."""
    target: str | None
    """What on the page it is about, as role and label, when the prepared arguments say so."""
    scope: str | None
    domain: str | None
    amount: Money | None
    repairs: tuple[str, ...]
    decisions: tuple[Decision, ...]
    approval: Approval | None
    result: Result | None
    effect: Effect | None
    late: str | None
    """What the tool still said after it was cut."""
    tool_ms: int | None
    human_ms: int
    pictures: tuple[Picture, ...]
    proven: bool
    type: Literal["call"] = "call"


@attrs.frozen(kw_only=True)
class Claim:
    """The planner, or the host's own look, said that the goal is reached, and it was examined."""

    at_ms: int
    ok: bool
    summary: str | None
    by: Literal["planner", "host"]
    checks: tuple[Evidence, ...]
    problem: str | None
    proven: bool
    type: Literal["claim"] = "claim"


@attrs.frozen(kw_only=True)
class Remark:
    """Anything else on record: a note of the loop's, or an entry that this version does not know (`known` is False then)."""

    at_ms: int
    seq: int | None
    ts: int | None
    actor: str
    kind: str
    known: bool
    words: str | None
    data: Any
    proven: bool
    type: Literal["remark"] = "remark"


@attrs.frozen(kw_only=True)
class Step:
    """One planner request and all that came of its reply. Number 0 is what was before the first request."""

    number: int
    at_ms: int
    planner_ms: int | None
    asked: bool
    answered: bool
    text: str | None
    provider: str | None
    tier: str | None
    repairs: tuple[str, ...]
    problem: str | None
    """Why the reply could not be used; the planner was then told so."""
    input_tokens: int | None
    output_tokens: int | None
    estimated: bool
    items: tuple[Call | Claim | Remark, ...]
    proven: bool


@attrs.frozen(kw_only=True)
class Span:
    """A stretch of time in which one party was waited for."""

    kind: SpanKind
    at_ms: int
    ms: int
    words: str
    step: int


@attrs.frozen(kw_only=True)
class Use:
    """What was used of something, and how much of it was allowed (None: no limit was set). Times are milliseconds."""

    name: str
    unit: Literal["count", "ms", "money"]
    used: float
    limit: float | None
    currency: str | None = None
    estimated: bool = False
    hit: bool = False
    """Whether this is the limit that ended the run."""


@attrs.frozen(kw_only=True)
class Totals:
    """Sums over the run. `other_ms` is what is neither planner nor tool nor human: gate, checks, records, the host's own code."""

    steps: int
    calls: int
    tool_runs: int
    failed: int
    asked: int
    approved: int
    corrections: int
    repairs: int
    input_tokens: int
    output_tokens: int
    estimated: bool
    cost: Money | None
    wall_ms: int
    planner_ms: int
    tool_ms: int
    human_ms: int
    other_ms: int


@attrs.frozen(kw_only=True)
class Outcome:
    """How the run ended, and why."""

    status: Status
    step: int | None = None
    reason: str | None = None
    limit: str | None = None
    cause: str | None = None
    message: str | None = None
    summary: str | None = None
    settled: bool = False
    checks: tuple[Evidence, ...] = ()
    problem: str | None = None
    in_flight: str | None = None
    effect: Effect | None = None
    proven: bool = True


@attrs.frozen(kw_only=True)
class Proof:
    """What is known of the trail's truth. `fault_at` is the position of the first entry that is not proven, from 0."""

    state: Literal["verified", "faulty", "unchecked"]
    count: int | None = None
    head: str | None = None
    missing: int = 0
    """Texts and pictures that are not beside the trail any more."""
    fault: Fault | None = None

    @property
    def fault_at(self) -> int | None:
        return self.fault.index if self.fault is not None else None


@attrs.frozen(kw_only=True)
class Story:
    """One run, as a person wants to read it afterwards."""

    run: str
    goal: str | None
    outcome: Outcome
    proof: Proof
    started_ts: int | None
    ended_ts: int | None
    resumes: str | None
    options: tuple[tuple[str, Any], ...]
    tools: tuple[tuple[str, str | None], ...]
    versions: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    spans: tuple[Span, ...]
    uses: tuple[Use, ...]
    totals: Totals
    in_doubt: tuple[str, ...]
    """Names of the calls that may have been done without anybody knowing."""
    entries: int
    runs: tuple[RunInfo, ...]
    """All runs of the trail, this one included, in the order in which they began."""
