"""The heart of the loop: one run as a plain generator of effects. No Trio, no clock, no file.

It reads like sections 6 and 7 of the loop specification: straight-line code that yields what it wants done and goes on with
the answer. Whatever stops a run unwinds to `Engine.run`, which closes what is open and says the one stop event.

Two invariants hold on every path: a run ends with exactly one stop event and no tool starts after it; and no tool runs unless
the gate allowed it in this run, with the arguments inside the gate's answer.
"""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
from collections.abc import Generator, Mapping
from typing import Any, Final, Literal, NoReturn

import attrs

from .. import prompt
from ..actions import (
    Action,
    Allow,
    ApprovalRequest,
    Ask,
    CheckLine,
    CheckResult,
    Decision,
    Deny,
    Effect,
    EffectCell,
    Permit,
    ToolContext,
    ToolOutput,
    decision_to_json,
)
from ..events import (
    Aborted,
    ApprovalNeeded,
    Blocked,
    BlockReason,
    Check,
    Done,
    GateDecision,
    InFlight,
    Plan,
    PlannedCall,
    ResultReason,
    StopEvent,
    ToolCall,
    ToolResult,
)
from ..tools import Tool
from ._budget import Budget, token_use
from ._effects import (
    Answer,
    AskHuman,
    AskPlanner,
    CheckInput,
    ClosePermit,
    Describe,
    Domain,
    Emit,
    EngineEffect,
    GateCheck,
    GateRedeem,
    Limit,
    LimitReached,
    Note,
    Prepare,
    Raised,
    RunCheck,
    RunTool,
    StepRaised,
    Steps,
    Stopped,
    ToolEnd,
    TrailFailed,
    TrailLost,
    Turn,
    perform,
)
from ._history import History
from ._repeats import RepeatTracker
from ._reply import NOT_JSON, BadReplyError, argument_text, contains_text, parse_arguments, read_reply

FAILURE_LIMIT: Final = 3
"""Failed results in a row that end a run (loop specification 11.3)."""
CHECK_FAILURE_LIMIT: Final = 2
"""Failed completion checks of one run that end it; nothing resets the count (2.1)."""
REJUDGE_LIMIT: Final = 3
"""How often a permit that lapsed while it was held is asked for anew before the run gives up. Ours: it only has to be finite."""
DETAIL_LIMIT: Final = 2000
"""Characters of `detail` and of a description (GB-L17)."""

PERMIT_WORDS: Final = "the gate's leave for this call lapsed while it was waiting to start"


@attrs.frozen(kw_only=True)
class Setup:
    """Everything that one run of the engine depends on; the rest comes as answers."""

    goal: str
    run_id: str
    nonce: str
    tools: Mapping[str, Tool]
    max_steps: int
    max_calls_per_turn: int
    budget: Budget
    can_ask: bool
    has_check: bool
    recorded: bool
    cancel_grace: float
    start_record: Mapping[str, Any]


@attrs.define
class OpenCall:
    """The call that holds a permit now."""

    call: PlannedCall
    permit: Permit
    started: bool = False


class Ended(Exception):
    """The run stops with this event; raised inside the engine only."""

    def __init__(self, event: StopEvent) -> None:
        self.event = event


CallEnd = Literal["go-on", "end-batch", "over-budget"]


class Engine:
    """The state of one run and the generator that moves it."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.step = 0
        self.tokens = 0
        self.tool_runs = 0
        self._failures = 0
        self._check_failures = 0
        self._last_check: CheckResult | None = None
        self._repeats = RepeatTracker()
        self._open: OpenCall | None = None
        system = prompt.planner_prompt(max_calls_per_turn=setup.max_calls_per_turn)
        self._history = History(setup.nonce, system=system, goal=prompt.goal_message(setup.goal, setup.nonce))

    # The run

    def run(self) -> Steps[None]:
        """The whole run. Ends after exactly one `Emit` of a stop event that was recorded, or could not be."""
        record: Mapping[str, Any] = {}
        event: StopEvent
        tool: ToolEnd | None = None
        try:
            yield from perform(Note("loop.start", self._setup.start_record))
            while True:
                yield from self._cycle()
        except Ended as ended:
            event = ended.event
        except Stopped as stopped:
            tool = stopped.answer.tool
            event, record = Aborted(step=self.step), {"cause": stopped.answer.cause}
        except LimitReached as limit:
            tool = limit.answer.tool
            event = Blocked(step=self.step, reason="budget", message=self._limit_words(limit.answer))
        except TrailLost as lost:
            yield from self._close_open(ToolEnd(), noted=False)
            yield from self._stop_without_trail(lost.answer)
            return
        effect = yield from self._close_open(tool or ToolEnd())
        if effect is not None and isinstance(event, Aborted | Blocked):
            event = attrs.evolve(event, in_flight=effect)
        answer = yield Emit(event, record)
        if isinstance(answer, TrailFailed):
            yield from self._stop_without_trail(answer)

    def _cycle(self) -> Steps[None]:
        """One planner request and all that follows from its reply (loop specification, section 6)."""
        time_is_up: Limit | None = None
        try:
            yield from self._turn(Turn("planner"))
        except LimitReached as limit:
            time_is_up = limit.answer  # other reasons are named before it
        if self.step >= self._setup.max_steps:
            self._block("max-steps", f"{self.step} planner requests were made, which is max_steps, and none led to a stop")
        tokens = self._setup.budget.tokens
        if tokens is not None and self.tokens >= tokens:
            self._block("budget", f"tokens: used {self.tokens} of {tokens}")
        if time_is_up is not None:
            self._block("budget", self._limit_words(time_is_up))
        self.step += 1
        sent = self._history.fitted()
        size_in = self._history.size
        if self._setup.recorded:
            yield from perform(Note("loop.observation", self._history.observation(self.step, sent)))
        try:
            answer = yield from perform(AskPlanner(sent))
            reply = read_reply(answer)
        except StepRaised as fault:
            self._block("model-error", fault.answer.message)
        except BadReplyError as fault:
            self._block("model-error", str(fault))
        use = token_use(answer, size_in)
        self.tokens += use.total
        plan = Plan(step=self.step, text=reply.text, calls=reply.calls, provider=answer.provider, tier=answer.tier)
        yield from perform(Emit(plan, {"usage": use.to_json(), "tokens": self.tokens}))
        self._history.add(reply.message)
        if reply.calls:
            yield from self._batch(reply.calls)
        else:
            yield from self._claim(None, reply.text or "")

    def _turn(self, turn: Turn) -> Steps[bool]:
        """Ask whether the next thing may begin; a peer that is gone for good ends the run."""
        try:
            return (yield from perform(turn))
        except StepRaised as fault:
            self._block("browser-lost", fault.answer.message)

    def _batch(self, calls: tuple[PlannedCall, ...]) -> Steps[None]:
        """The calls of one reply, one after another (7.5)."""
        ran = 0
        ended = over_budget = False
        for call in calls:
            if over_budget:
                yield from self._skip(call, prompt.SKIPPED_OVER_BUDGET)
            elif ended:
                yield from self._skip(call, prompt.SKIPPED_AFTER_END)
            elif call.name == prompt.FINISH:
                yield from self._finish(call)
                ended = True
            elif ran == self._setup.max_calls_per_turn:
                yield from self._skip(call, prompt.skipped_over_limit(self._setup.max_calls_per_turn))
            else:
                ran += 1
                end = yield from self._examine(call)
                ended = end == "end-batch"
                over_budget = end == "over-budget"
        if over_budget:
            self._block("budget", f"tool calls: used {self.tool_runs} of {self._setup.budget.tool_calls}")

    # One call

    def _examine(self, call: PlannedCall) -> Steps[CallEnd]:
        """One call from its raw text to its result, in the order of 7.1."""
        args = parse_arguments(call.args)
        text = argument_text(args)
        shown_args = call.args if text is None else args
        if self._repeats.third_in_a_row(call.name, text or call.args):
            self._block("repeated-call", f"{call.name} was called three times in a row with the same arguments")
        tool = self._setup.tools.get(call.name)
        refusal = self._refusal(call, call.args if args is NOT_JSON else args, tool)
        event = ToolCall(step=self.step, id=call.id, name=call.name, args=copy.deepcopy(shown_args))
        yield from perform(Emit(event, self._call_record(text or call.args, refusal)))
        if refusal is not None:
            return (yield from self._fail(call, refusal[0], summary=refusal[1]))
        assert tool is not None
        ctx = ToolContext(run_id=self._setup.run_id, step=self.step, goal=self._setup.goal, cancel_grace=self._setup.cancel_grace)
        try:
            if tool.prepare is not None:
                args = yield from perform(Prepare(tool, args, ctx))
            domain = yield from perform(Domain(tool, args, ctx))
        except StepRaised as fault:
            return (yield from self._fail_raised(call, "invalid-args", fault.answer, prompt.NOT_PREPARED))
        limit = self._setup.budget.tool_calls
        if limit is not None and self.tool_runs >= limit:
            # Every call gets an answer, so this one and the rest of the reply are skipped before the run stops (ruling 46).
            yield from self._skip(call, prompt.SKIPPED_OVER_BUDGET)
            return "over-budget"
        action = Action(tool=call.name, args=args, domain=domain, scope=tool.scope)
        permit = yield from self._leave(call, tool, action, attrs.evolve(ctx, domain=domain))
        return (yield from self._run(call, tool, permit, ctx))

    def _refusal(self, call: PlannedCall, args: Any, tool: Tool | None) -> tuple[ResultReason, str] | None:
        """Why this call cannot go to the gate, as reason and words; None when it can (steps 5 to 7)."""
        if contains_text(args, call.args, self._setup.nonce):
            return "invalid-args", prompt.COPIED_MARKER
        if tool is None:
            return "unknown-tool", prompt.unknown_tool(call.name, [*self._setup.tools, prompt.FINISH])
        problem = tool.args_problem(args)
        return None if problem is None else ("invalid-args", problem)

    def _leave(self, call: PlannedCall, tool: Tool, action: Action, ctx: ToolContext) -> Steps[Permit]:
        """The gate's leave for the action, a human's included; opens the call. A leave that lapsed in waiting is asked for anew."""
        for _ in range(REJUDGE_LIMIT):
            decision = yield from self._judged(call, GateCheck(action), "check", action)
            if isinstance(decision, Ask):
                decision = yield from self._approved(call, tool, action, decision, ctx)
            if isinstance(decision, Deny):
                self._block("gate-deny", f"{decision.reason}: {decision.message}")
            assert isinstance(decision, Allow)
            if (yield from self._turn(Turn("tool", tool, decision.permit))):
                return decision.permit
            yield from perform(ClosePermit(decision.permit, "release"))
            self._open = None
        self._block("gate-deny", f"expired: {PERMIT_WORDS}")

    def _judged(
        self, call: PlannedCall, ask: GateCheck | GateRedeem, via: Literal["check", "redeem"], action: Action
    ) -> Steps[Decision]:
        """One answer of the gate, recorded and shown before anything is done about it."""
        try:
            decision = yield from perform(ask)
        except StepRaised as fault:
            self._block("gate-error", fault.answer.message)
        if isinstance(decision, Allow):
            self._open = OpenCall(call, decision.permit)
        reason = decision.reason if isinstance(decision, Deny) else None
        event = GateDecision(step=self.step, id=call.id, via=via, decision=decision.decision, action=action.copy(), reason=reason)
        record = decision_to_json(decision)
        if isinstance(decision, Allow):
            record["allowed"] = decision.permit.action.to_json()
        yield from perform(Emit(event, record))
        return decision

    def _approved(self, call: PlannedCall, tool: Tool, action: Action, asked: Ask, ctx: ToolContext) -> Steps[Decision]:
        """A human's answer and what the gate makes of it (7.3)."""
        if not self._setup.can_ask:
            self._block("approval-unavailable", "the gate asks for a human, and the loop has no on_approval")
        if asked.request_id is None:
            self._block("approval-error", "the gate asked without storing a request, so nobody can approve it")
        yield from self._turn(Turn("approval", tool))
        detail: str | None = None
        try:
            if tool.describe is not None:
                described = yield from perform(Describe(tool, dict(action.copy().args), ctx))
                detail = described[:DETAIL_LIMIT]
        except StepRaised as fault:
            self._block("approval-error", fault.answer.message)
        event = ApprovalNeeded(
            step=self.step,
            id=call.id,
            request_id=asked.request_id,
            action=action.copy(),
            expires_at=asked.expires_at,
            detail=detail,
        )
        yield from perform(Emit(event))
        request = ApprovalRequest(
            step=self.step,
            call_id=call.id,
            request_id=asked.request_id,
            action=action.copy(),
            expires_at=asked.expires_at,
            detail=detail,
        )
        try:
            token = yield from perform(AskHuman(request))
        except StepRaised as fault:
            self._block("approval-error", fault.answer.message)
        except LimitReached as limit:
            if limit.answer.which != "approval-expired":
                raise
            self._block("approval-expired", "nobody answered before the request expired")
        if not isinstance(token, str) or not token:
            self._block("approval-denied", "the human did not approve this action")
        decision = yield from self._judged(call, GateRedeem(token, action), "redeem", action)
        if isinstance(decision, Ask):
            self._block("gate-deny", "ask: the gate asked again when the approval was redeemed")
        return decision

    def _run(self, call: PlannedCall, tool: Tool, permit: Permit, ctx: ToolContext) -> Steps[CallEnd]:
        """Run what was allowed, with the arguments inside the permit (steps 16 to 21)."""
        assert self._open is not None
        self.tool_runs += 1
        allowed = permit.action
        if allowed.tool != call.name:
            self._block("gate-mismatch", f"the gate allowed {allowed.tool!r} when it was asked about {call.name!r}")
        self._open.started = True
        # A cell of its own: what `prepare` may have reported does not speak for the run.
        ctx = attrs.evolve(ctx, domain=allowed.domain, permit=permit, cell=EffectCell())
        try:
            end = yield from perform(RunTool(call.id, tool, permit, ctx))
        except StepRaised as fault:
            yield from self._close_ended(permit, fault.answer.tool)
            return (yield from self._fail_raised(call, "tool-error", fault.answer, prompt.TOOL_RAISED))
        output = end.output
        assert output is not None
        yield from self._close_ended(permit, end)
        self._last_check = output.check
        shown = self._history.add_result(call, output)
        event = ToolResult(
            step=self.step,
            id=call.id,
            name=call.name,
            ok=output.ok,
            summary=output.summary[: prompt.LIMITS["summary"]],
            reason=None if output.ok else "failed",
            data=output.data,
        )
        yield from perform(Emit(event, _result_record(output, shown, end.effect)))
        self._count(ok=output.ok)
        sends = tool.scope in ("submit", "pay")
        return "end-batch" if not output.ok or sends or output.stop_batch else "go-on"

    def _close_ended(self, permit: Permit, end: ToolEnd | None) -> Steps[None]:
        """The tool came to its own end: what it spent stays spent, unless it said that it did nothing."""
        self._open = None
        did_nothing = end is not None and end.effect is not None and end.effect.state == "not-started"
        yield from perform(ClosePermit(permit, "release" if did_nothing else "settle"))

    def _fail_raised(self, call: PlannedCall, reason: ResultReason, fault: Raised, words: str) -> Steps[CallEnd]:
        """A failed result for something that raised: a `Refuse` speaks in trusted words, anything else only as outside text."""
        effect = fault.tool.effect if fault.tool is not None else None
        if fault.refused:
            return (yield from self._fail(call, reason, summary=fault.message, effect=effect))
        return (yield from self._fail(call, reason, summary=words, detail=fault.message, effect=effect))

    def _fail(
        self, call: PlannedCall, reason: ResultReason, *, summary: str, detail: str | None = None, effect: Effect | None = None
    ) -> Steps[CallEnd]:
        """A failed result: the planner learns it, the consumer sees it, and it counts."""
        self._last_check = None
        output = ToolOutput(ok=False, summary=summary, untrusted=detail)
        shown = self._history.add_result(call, output)
        event = ToolResult(
            step=self.step,
            id=call.id,
            name=call.name,
            ok=False,
            summary=summary[: prompt.LIMITS["summary"]],
            reason=reason,
            detail=detail[:DETAIL_LIMIT] if detail is not None else None,
        )
        yield from perform(Emit(event, _result_record(output, shown, effect)))
        self._count(ok=False)
        return "end-batch"

    def _skip(self, call: PlannedCall, why: str) -> Steps[None]:
        """A call that is not run because its batch has ended: answered and shown, counted nowhere."""
        shown = self._history.add_result(call, ToolOutput(ok=False, summary=why))
        event = ToolResult(step=self.step, id=call.id, name=call.name, ok=False, summary=why, reason="skipped")
        yield from perform(Emit(event, {"shown": shown}))

    def _count(self, *, ok: bool) -> None:
        self._failures = 0 if ok else self._failures + 1
        if self._failures >= FAILURE_LIMIT:
            self._block("repeated-failure", f"{self._failures} failed results in a row")

    # Completion claims

    def _finish(self, call: PlannedCall) -> Steps[None]:
        """A `finish` call: the claim in its arguments. Comes back only when it failed, which ends the batch."""
        args = parse_arguments(call.args)
        if contains_text(args, call.args, self._setup.nonce):
            verdict = CheckResult(ok=False, checks=(CheckLine(part="finish", ok=False, evidence=prompt.COPIED_MARKER),))
            yield from self._judge_claim(call, prompt.COPIED_MARKER, verdict)
            return
        summary = args.get("summary") if isinstance(args, dict) else None
        yield from self._claim(call, summary if isinstance(summary, str) else call.args)

    def _claim(self, call: PlannedCall | None, summary: str) -> Steps[None]:
        """The claim that the goal is reached: ends the run when the verdict holds, else tells the planner (7.4)."""
        summary = summary[: prompt.LIMITS["summary"]]
        yield from self._judge_claim(call, summary, (yield from self._verdict(summary)))

    def _verdict(self, summary: str) -> Steps[CheckResult]:
        if not self._setup.has_check:
            if self._last_check is not None:
                return self._last_check
            return CheckResult(ok=False, checks=(CheckLine(part="result", ok=False, evidence=prompt.NOTHING_CHECKED),))
        try:
            return (yield from perform(RunCheck(CheckInput(goal=self._setup.goal, summary=summary, last_check=self._last_check))))
        except StepRaised as fault:
            return CheckResult(ok=False, checks=(CheckLine(part="check", ok=False, evidence=fault.answer.message),))

    def _judge_claim(self, call: PlannedCall | None, summary: str, verdict: CheckResult) -> Steps[None]:
        event = Check(step=self.step, ok=verdict.ok, checks=verdict.checks, problem=verdict.problem)
        try:
            yield from perform(Emit(event, {"summary": summary} if call is None else {"summary": summary, "id": call.id}))
        except LimitReached:
            if not verdict.ok:
                raise  # a passing check that is on record still ends `done`, though time is up (ruling 4)
        if verdict.ok:
            raise Ended(Done(step=self.step, summary=summary, check=verdict))
        self._check_failures += 1
        failed = _failed_lines(verdict)
        self._history.add_feedback(call, ToolOutput(ok=False, summary=prompt.CHECK_FAILED, untrusted=failed))
        if self._check_failures >= CHECK_FAILURE_LIMIT:
            self._block("check-failed", failed)

    # Stopping

    def _block(self, reason: BlockReason, message: str) -> NoReturn:
        raise Ended(Blocked(step=self.step, reason=reason, message=message))

    def _close_open(self, end: ToolEnd, *, noted: bool = True) -> Generator[EngineEffect[Any], Answer, InFlight | None]:
        """Close the call that holds a permit, if one does, with what is known of its effect; the answers cannot stop us here."""
        opened, self._open = self._open, None
        if opened is None:
            return None
        effect = Effect(state="not-started")
        if opened.started:
            effect = end.effect or Effect(state="unknown")
        if noted:
            data: dict[str, Any] = {"step": self.step, "id": opened.call.id, "name": opened.call.name, **effect.to_json()}
            if end.output is not None:
                data["late"] = {"ok": end.output.ok, "summary": end.output.summary[: prompt.LIMITS["summary"]]}
            if end.error is not None:
                data["error"] = end.error
            yield Note("loop.effect", data, essential=False)
        yield ClosePermit(opened.permit, "release" if effect.state == "not-started" else "settle")
        return InFlight(call_id=opened.call.id, name=opened.call.name, effect=effect) if opened.started else None

    def _stop_without_trail(self, lost: TrailFailed) -> Generator[EngineEffect[Any], Answer, None]:
        """The record could not be written: say so, and try once more to get at least that on record."""
        yield Emit(Blocked(step=self.step, reason="trail-failed", message=lost.message))

    def _limit_words(self, limit: Limit) -> str:
        if limit.which == "seconds":
            return f"seconds: the run's {self._setup.budget.seconds} s of work time are used up"
        return f"{limit.which}: this limit was reached"

    # Records

    def _call_record(self, text: str, refusal: tuple[ResultReason, str] | None) -> dict[str, Any]:
        """For the trail: a digest of the arguments that needs the run's nonce to be recomputed, and what we made of them."""
        if not self._setup.recorded:
            return {}
        digest = hmac.digest(self._setup.nonce.encode(), text.encode("utf-8", "surrogatepass"), "sha256").hex()
        return {"args_digest": digest, "verdict": "ok" if refusal is None else refusal[0]}


def _result_record(output: ToolOutput, shown: str, effect: Effect | None) -> dict[str, Any]:
    record: dict[str, Any] = {"shown": shown}
    if output.check is not None:
        record["check"] = output.check.to_json()
    if output.stop_batch:
        record["stop_batch"] = True
    if effect is not None:
        record["effect"] = effect.to_json()
    return record


def _failed_lines(verdict: CheckResult) -> str:
    lines = [f"{line.part}: {line.evidence}" for line in verdict.checks if not line.ok]
    if verdict.problem is not None:
        lines.append(verdict.problem)
    return "; ".join(lines)


def describe_tools(tools: Mapping[str, Tool]) -> list[dict[str, Any]]:
    """For the trail's first note: each tool's name and scope, and a digest of its schema."""
    return [
        {"name": tool.name, "scope": tool.scope, "schema": hashlib.sha256(_schema_text(tool).encode()).hexdigest()}
        for tool in tools.values()
    ]


def _schema_text(tool: Tool) -> str:
    return json.dumps(tool.parameters, sort_keys=True, separators=(",", ":"), default=str)
