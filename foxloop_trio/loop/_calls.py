"""One call of a reply, from its arguments to its result: refusals, preparation, the gate, a human, the tool (7.1 to 7.3).

Part of the engine, and pure like it. `Calls` holds the state that calls change; `Engine` adds the cycle around them.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, NoReturn, Protocol

import attrs

from .. import prompt
from ..actions import (
    Action,
    Allow,
    Ask,
    CheckResult,
    Decision,
    Deny,
    Effect,
    Permit,
    ToolContext,
    ToolOutput,
    copied,
    decision_to_json,
    unchecked,
)
from ..events import (
    ApprovalNeeded,
    Blocked,
    BlockReason,
    GateDecision,
    LimitName,
    LoopEvent,
    PlannedCall,
    ResultReason,
    StopEvent,
    ToolCall,
    ToolResult,
)
from ..guarding import ToolCall as GuardedCall
from ..guarding import ToolResult as GuardedResult
from ..tools import Tool
from ._budget import Budget
from ._call import Call, Ran, digest_of, failed, returned
from ._denials import Denials
from ._effects import (
    NOTHING,
    OK,
    YES,
    Answer,
    AskHuman,
    CallInterrupted,
    ClosePermit,
    Describe,
    Domain,
    Emit,
    GateCheck,
    GateRedeem,
    Interrupted,
    LimitReached,
    Note,
    Ok,
    Prepare,
    Raised,
    Redact,
    Retry,
    RunTool,
    SettleCall,
    StepRaised,
    Steps,
    ToolEnd,
    Turn,
    perform,
    taken,
)
from ._guarded import Guards
from ._history import History
from ._promised import DETAIL_LIMIT, approval_request
from ._redaction import MASK, WITHHELD, Masks, withheld
from ._repeats import RepeatTracker
from ._reply import NOT_JSON, contains_text

FAILURE_LIMIT: Final = 3
"""Failed results in a row that end a run (loop specification 11.3)."""
REJUDGE_LIMIT: Final = 3
"""How often a permit that lapsed while it was held is asked for anew before the run gives up. Ours: it only has to be finite."""
SUMMARY_LIMIT: Final = prompt.LIMITS["summary"]

ANY_ARGUMENTS: Final = ""
"""Stands for all arguments of a tool, where calls are held back; no canonical JSON is empty."""
REFUSED: Final[frozenset[ResultReason | None]] = frozenset({"gate-deny", "in-doubt", "guarded"})
"""Reasons of results that guards are shown as blocked: a call that could have run, and was not let."""

PERMIT_WORDS: Final = "the gate's leave for this call lapsed while it was waiting to start"
EXPIRED_WORDS: Final[Mapping[LimitName, str]] = {
    "expires_at": "nobody answered before the request expired",
    "approval_seconds": "nobody answered within the budget's approval_seconds",
}


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
    denials: Denials | None = None
    first_read: Tool | None = None
    has_settle: bool = False
    guarded: bool = False


# Built in every step, from parts that are known to be right.
_action = unchecked(Action)
_context = unchecked(ToolContext)
_tool_call = unchecked(ToolCall)
_gate_decision = unchecked(GateDecision)
_tool_result = unchecked(ToolResult)
_turn = unchecked(Turn)
_gate_check = unchecked(GateCheck)
_planner_prompt: Final = lru_cache(maxsize=16, typed=True)(prompt.planner_prompt)
"""It is the same for every run of a loop."""


class Ended(Exception):
    """The run stops with this event; raised inside the engine only."""

    def __init__(self, event: StopEvent) -> None:
        self.event = event


class Past(Protocol):
    """What an engine that recalls a trail may ask it."""

    @property
    def ended(self) -> bool:
        """Whether all of it was recalled, so that what comes next is new."""

    @property
    def has_first_read(self) -> bool:
        """Whether the first read was tried; a budget of no calls had kept it from that."""

    def examined(self, call_id: str) -> bool:
        """Whether this call was looked at, and did not end the run as one too many of its kind."""

    def verdict(self, call_id: str) -> tuple[ResultReason, str] | None:
        """Why this call was refused; None when it was not."""


CallEnd = Literal["go-on", "end-batch", "over-budget"]


class Calls:
    """The state of a run that its calls change, and how one call changes it."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.step = 0
        self.tool_runs = 0
        limit = setup.budget.tool_calls
        self._tool_runs_limit = math.inf if limit is None else limit
        self.masks = Masks(setup.tools)
        self._failures = 0
        self._denials = 0
        self._last_check: CheckResult | None = None
        self._repeats = RepeatTracker()
        self.past: Past | None = None
        """While a trail is recalled: the trail."""
        self.past_is_masked = False
        """Whether arguments of recalled calls are masked, so that they cannot be checked or compared."""
        self._in_doubt: dict[tuple[str, str], str] = {}
        self._open: Call | None = None
        """The call that holds a permit now."""
        self._results: list[SettleCall] = []
        self._all_ran = True
        system = _planner_prompt(max_calls_per_turn=setup.max_calls_per_turn, denials=setup.denials is not None)
        goal = prompt.goal_message(setup.goal, setup.nonce)
        # No digest of texts in which something is hidden: with all else in the trail, a short secret could be guessed from it.
        self._redacts = any(tool.redact is not None for tool in setup.tools.values())
        self._plain = not (setup.recorded or self._redacts)
        """There is no trail, and no tool hides anything: an event is all that is to be said of it."""
        self._history = History(setup.nonce, system=system, goal=goal, observed=setup.recorded and not self._redacts)
        self.guards: Guards | None = None
        if setup.guarded:
            self.guards = Guards(goal=setup.goal, tools=setup.tools, system=system, record=self.masks.record)

    # What is said

    def _say(self, event: LoopEvent, record: Mapping[str, Any] = NOTHING) -> Emit:
        """The effect that says an event, with what `redact` hides masked in it. Where `_plain` holds, the event itself will do."""
        if not self._setup.recorded:
            record = NOTHING
        if self.masks.hidden:
            return Emit(self.masks.value(event), self.masks.record(record))
        return Emit(event, record)

    def _redacted(self, tool: Tool, args: Any, raw: str) -> Steps[Any]:
        """What may be shown of arguments; only their length when `redact` cannot say, or they are not JSON (ruling 13)."""
        shown: Any = withheld(len(raw))
        try:
            if isinstance(args, dict):
                shown = yield from perform(Redact(tool, copied(args)))
        except StepRaised:
            pass
        self.masks.hide(raw if args is NOT_JSON else args, shown)
        return shown

    # One call

    def _examine(self, call: Call) -> Steps[CallEnd]:
        """One call from its arguments to its result, in the order of 7.1."""
        planned, tool = call.planned, call.tool
        circle = self._repeats.hit(planned.name, call.args, planned.args, read=tool is not None and tool.scope == "read")
        if circle is not None and not (self.past is not None and self.past_is_masked and self.past.examined(planned.id)):
            self._block("repeated-call", circle)
        refusal = self._refusal(call)
        # Planned before the trail ended, and not begun: only the masks of its arguments are left, and those are not to be run.
        lost = self.past_is_masked and self.past is not None and self.past.ended and _is_hidden(call)
        event = _tool_call(step=self.step, id=planned.id, name=planned.name, args=copied(call.shown))
        said = event if self._plain else self._say(event, self._call_record(call, refusal))
        try:
            if (answer := (yield said)) is not OK:
                taken(answer)
        except CallInterrupted as gap:
            return (yield from self._break_off(call, gap.answer))
        if lost:
            return (yield from self._break_off(call, Interrupted(Effect(state="not-started"))))
        if refusal is not None:
            return (yield from self._conclude(call, failed(*refusal)))
        assert tool is not None
        if self.guards is not None:
            refused = yield from self._guarded(self.guards, call, tool)
            if self.guards.stop is not None:
                yield from self._skip(call, prompt.SKIPPED_AFTER_GUARD)
                return "end-batch"
            if refused is not None:
                return (yield from self._conclude(call, refused))
        # It can be judged: from here on it is prepared, judged and run (steps 8 to 21).
        if tool.prepare is None and tool.redact is None and isinstance(tool.domain, str):
            shown = call.args
            action = _action(tool=planned.name, args=shown, domain=tool.domain, scope=tool.scope)
        else:
            try:
                action, shown = yield from self._action(call, tool)
            except StepRaised as fault:
                return (yield from self._conclude(call, self._raised("invalid-args", fault.answer, prompt.NOT_PREPARED)))
        if self.tool_runs >= self._tool_runs_limit:
            # Every call gets an answer, so this one and the rest of the reply are skipped before the run stops (ruling 46).
            yield from self._skip(call, prompt.SKIPPED_OVER_BUDGET)
            return "over-budget"
        # The gate's leave, a human's included (steps 11 to 15). Leave that lapsed in waiting is asked for anew.
        for _ in range(REJUDGE_LIMIT):
            decision = self._judgement((yield _gate_check(action)))
            if (answer := (yield self._decision(call, decision, "check", action, shown))) is not OK:
                taken(answer)
            if not isinstance(decision, Allow):
                denial = yield from self._after_no(call, tool, action, decision, shown)
                if denial is not None:
                    return (yield from self._learn(call, denial))
            self._denials = 0
            if (answer := (yield _turn("tool", call.permit))) is YES or self._may_begin(answer):
                break
            yield from self._give_back(call)
        else:
            self._block("gate-deny", f"expired: {PERMIT_WORDS}")
        ran = yield from self._execute(call, tool)
        self._ended_with(call, ran)
        if (answer := (yield self._result(call, ran))) is not OK:
            taken(answer)
        if self.guards is not None:
            yield from self._heard(self.guards, call, ran)
        end = self._counted(ran)
        return "end-batch" if tool.scope in ("submit", "pay") or ran.output.stop_batch else end

    def _break_off(self, call: Call, gap: Interrupted) -> Steps[CallEnd]:
        """A call that an earlier run left without a result: what is known of it goes to the planner and to the host, and it is not
        run again by itself."""
        if gap.skipped is not None:
            yield from self._skip(call, gap.skipped)
            return "over-budget"
        self._all_ran = False
        self._repeats.interrupted()
        begun = gap.effect.state != "not-started"
        if begun:
            self.tool_runs += 1
            self._hold_back(call, gap.domain, masked=self.past_is_masked)
        words = prompt.INTERRUPTED_IN_DOUBT if begun else prompt.INTERRUPTED_BEFORE
        ran = failed("in-doubt", words, effect=gap.effect)
        ran.interrupted = gap.domain
        return (yield from self._conclude(call, ran, counted=False))

    def _refusal(self, call: Call) -> tuple[ResultReason, str] | None:
        """Why this call cannot go to the gate, as reason and words; None when it can (steps 5 to 7, ruling 7)."""
        planned, tool, args = call.planned, call.tool, call.args
        if self.past_is_masked and self.past is not None and not self.past.ended:
            known = self.past.verdict(planned.id)
            if known is None and args is NOT_JSON:
                call.args = {}  # hidden as a whole, since it was no refusal
            return known
        if contains_text(args, planned.args, self._setup.nonce):
            return "invalid-args", prompt.COPIED_MARKER
        if tool is None:
            return "unknown-tool", prompt.unknown_tool(planned.name, [*self._setup.tools, prompt.FINISH])
        problem = tool.args_problem(planned.args if args is NOT_JSON else args, is_json=call.plain)
        if problem is not None:
            return "invalid-args", problem
        if self._in_doubt and not self._in_doubt.keys().isdisjoint(((planned.name, call.key), (planned.name, ANY_ARGUMENTS))):
            return "in-doubt", prompt.IN_DOUBT
        return None

    def _hold_back(self, call: Call, domain: str, *, masked: bool) -> None:
        """Let no such call begin before a fresh look at `domain`. A look itself is never held back.

        `masked`: its arguments are masked in the trail. Then no call of that tool may begin, since each could be the same.
        """
        if call.tool is not None and call.tool.scope != "read":
            self._in_doubt[call.planned.name, ANY_ARGUMENTS if masked else call.key] = domain

    def _guarded(self, guards: Guards, call: Call, tool: Tool) -> Steps[Ran | None]:
        """What the guards make of a call that could go to the gate: its refusal, or None when it goes on, rewritten or not.

        They stand before `prepare` and the gate, so what is judged, shown to a human and run is the call as they left it; none of
        them can give leave for anything.
        """
        said = yield from guards.before_tool(as_guarded(call))
        if said.call is not None:
            call.args, call.plain = said.call.arguments, False
            call.shown = call.args if tool.redact is None else (yield from self._redacted(tool, call.args, ""))
            call.remarks = "\n".join(said.remarks)
        yield from guards.note_call(self.step, said, call.planned.id, copied(call.shown))
        if said.block is not None:
            return failed("guarded", prompt.guarded(said.block))
        if said.call is None:
            return None
        refusal = self._refusal(call)
        if refusal is None:
            return None
        ran = failed(*refusal)
        ran.blocked = True  # the planner's own call would have run
        return ran

    def _heard(self, guards: Guards, call: Call, ran: Ran) -> Steps[None]:
        """The guards learn what came of a call, also of one that never ran."""
        content = self._history.result_text(call.planned, ran.output)
        result = GuardedResult(
            tool_call_id=call.planned.id,
            content=content,
            is_error=not ran.output.ok,
            blocked=ran.blocked or ran.reason in REFUSED,
        )
        yield from guards.after_tool(self.step, as_guarded(call), result)

    def _action(self, call: Call, tool: Tool) -> Steps[tuple[Action, Any]]:
        """What is to be judged: the prepared arguments and the host they concern (steps 8 and 9); and the arguments to show."""
        args, shown = call.args, call.shown
        if tool.prepare is not None:
            args = yield from perform(Prepare(tool, copied(args), self._context()))
        # A fixed host is nothing to be done, so it is no effect.
        domain = tool.domain if isinstance(tool.domain, str) else (yield from self._domain(tool, args))
        if tool.redact is None:
            shown = args
        else:
            if tool.prepare is not None:
                shown = yield from self._redacted(tool, args, "")
            if isinstance(shown, str):
                raise StepRaised(Raised("the tool's redact did not say what of the arguments may be shown", "Redact"))
        return _action(tool=call.planned.name, args=args, domain=domain, scope=tool.scope), shown

    def _domain(self, tool: Tool, args: Any) -> Steps[str]:
        return (yield from perform(Domain(tool, copied(args), self._context())))

    def _context(self, domain: str | None = None, permit: Permit | None = None) -> ToolContext:
        """A context of its own for each function of a tool: what `prepare` may report does not speak for `run`."""
        setup = self._setup
        return _context(
            run_id=setup.run_id, step=self.step, goal=setup.goal, domain=domain, permit=permit, cancel_grace=setup.cancel_grace
        )

    def _tool_calls_spent(self) -> bool:
        return self.tool_runs >= self._tool_runs_limit

    # The gate and the human

    def _after_no(self, call: Call, tool: Tool, action: Action, decision: Ask | Deny, shown: Any) -> Steps[Deny | None]:
        """The gate did not allow it at once: the denial that the planner may learn from, or None once a human has allowed it."""
        if isinstance(decision, Deny) and (yield from self._may_learn(decision)):
            return decision
        final: Decision = decision
        if isinstance(decision, Ask):
            final = yield from self._approved(call, tool, action, decision, shown)
        if isinstance(final, Deny):
            self._block("gate-deny", f"{final.reason}: {final.message}")
        return None

    def _give_back(self, call: Call) -> Steps[None]:
        """Leave that lapsed before anything began."""
        assert call.permit is not None
        effect = Effect(state="not-started")
        call.noted = True
        yield from perform(self._note("loop.effect", self._effect_note(call.planned, effect, ToolEnd())))
        yield from perform(ClosePermit(call.permit, "release"))
        self._open = None

    def _may_learn(self, denial: Deny) -> Steps[bool]:
        """Whether the planner may try another way after this denial of a check (section 10)."""
        if self._setup.denials is None:
            return False
        try:
            retry = yield from perform(Retry(denial.reason))
        except StepRaised:
            return False
        if not retry:
            return False
        self._denials += 1
        if self._denials >= self._setup.denials.limit:
            self._block("gate-deny", f"{denial.reason}: {denial.message} ({self._denials} denials in a row)")
        return True

    def _learn(self, call: Call, denial: Deny) -> Steps[CallEnd]:
        """A denial as a failed result: it ends the batch, and counts as a denial only."""
        self._all_ran = False
        return (yield from self._conclude(call, failed("gate-deny", prompt.denied(denial.reason, denial.message)), counted=False))

    def _judged(
        self, call: Call, ask: GateCheck | GateRedeem, via: Literal["check", "redeem"], action: Action, shown: Any
    ) -> Steps[Decision]:
        """One answer of the gate, recorded and shown before anything is done about it."""
        decision = self._judgement((yield ask))
        yield from perform(self._decision(call, decision, via, action, shown))
        return decision

    def _judgement(self, answer: Answer) -> Decision:
        """What the gate said; one that raised ends the run."""
        if type(answer) is Ok:
            said: Decision = answer.value
            return said
        try:
            taken(answer)
        except StepRaised as fault:
            self._block("gate-error", fault.answer.message)
        raise AssertionError("`taken` raises for whatever is not Ok")

    def _decision(
        self, call: Call, decision: Decision, via: Literal["check", "redeem"], action: Action, shown: Any
    ) -> Emit | GateDecision:
        """The effect that says a decision. An allowed call is open from here on."""
        if isinstance(decision, Allow):
            call.open(decision.permit)
            self._open = call
        event = _gate_decision(
            step=self.step,
            id=call.planned.id,
            via=via,
            decision=decision.decision,
            action=_action(tool=action.tool, args=copied(shown), domain=action.domain, scope=action.scope, amount=action.amount),
            reason=decision.reason if isinstance(decision, Deny) else None,
        )
        if self._plain:
            return event
        record = decision_to_json(decision)
        if isinstance(decision, Allow) and call.allowed is not None:
            record["allowed"] = _allowed_record(call.allowed, action, shown)
        return self._say(event, record)

    def _approved(self, call: Call, tool: Tool, action: Action, asked: Ask, shown: Any) -> Steps[Decision]:
        """A human's answer and what the gate makes of it (7.3). The human sees the very action; events may show less of it."""
        if not self._setup.can_ask:
            self._block("approval-unavailable", "the gate asks for a human, and the loop has no on_approval")
        if asked.request_id is None:
            self._block("approval-error", "the gate asked without storing a request, so nobody can approve it")
        described: str | None = None
        try:
            self._may_begin((yield Turn("approval", expires_at=asked.expires_at)))
            if tool.describe is not None:
                described = yield from perform(Describe(tool, copied(action.args), self._context(action.domain)))
            request = approval_request(asked, action, step=self.step, call_id=call.planned.id, described=described)
            event = ApprovalNeeded(
                step=self.step,
                id=call.planned.id,
                request_id=request.request_id,
                action=_with_args(action, copied(shown)),
                expires_at=request.expires_at,
                detail=request.detail,
            )
            yield from perform(self._say(event))  # a text that was cut in the middle of a secret is masked too, at its end
            token = yield from perform(AskHuman(request))
        except StepRaised as fault:
            self._block("approval-error", fault.answer.message)
        except LimitReached as limit:
            words = EXPIRED_WORDS.get(limit.answer.which)
            if words is None:
                raise
            self._block("approval-expired", words, limit=limit.answer.which)
        if not isinstance(token, str) or not token:
            self._block("approval-denied", "the human did not approve this action")
        decision = yield from self._judged(call, GateRedeem(token, action), "redeem", action, shown)
        if isinstance(decision, Ask):
            self._block("gate-deny", "ask: the gate asked again when the approval was redeemed")
        return decision

    # The tool

    def _execute(self, call: Call, tool: Tool) -> Steps[Ran]:
        """Run what was allowed, with the arguments inside the permit (steps 16 to 20)."""
        self.tool_runs += 1
        allowed, permit = call.allowed, call.permit
        assert allowed is not None
        assert permit is not None
        if allowed.tool != tool.name:
            self._block("gate-mismatch", f"the gate allowed {allowed.tool!r} when it was asked about {tool.name!r}")
        call.started = True
        args: Any = allowed.args  # parsed from the permit, and nobody else's
        try:
            context = self._context(allowed.domain, permit)
            end: ToolEnd | ToolOutput = taken((yield RunTool(call.planned.id, tool, permit, args, context)))
        except StepRaised as fault:
            call.end = fault.answer.tool or ToolEnd()
            ran = self._raised("tool-error", fault.answer, prompt.TOOL_RAISED)
        except LimitReached as limit:
            if limit.answer.which not in ("tool_seconds", "approval_seconds"):
                raise
            ended = limit.answer.tool or ToolEnd()
            ended.effect = ended.effect or Effect(state="unknown")
            call.end, call.noted = ended, True
            taken((yield self._note("loop.effect", self._effect_note(call.planned, ended.effect, ended))))
            ran = self._timed_out(tool, limit.answer.which, ended)
        else:
            call.end = end  # so that a stop that comes before the result is on record can say how it ended
            ran = returned(end)
            if tool.scope == "read" and ran.output.ok:
                ran.seen = (end.seen if isinstance(end, ToolEnd) else None) or digest_of(ran.output)
                self._looked(allowed.domain, ran.seen)
        effect = ran.effect
        # What it spent stays spent, unless it said that it did nothing. Where there are no books, there is nothing to be done.
        if not permit.close_now():
            taken((yield ClosePermit(permit, "release" if effect is not None and effect.state == "not-started" else "settle")))
        self._open = None
        if effect is not None and not ran.output.ok:
            held = ("partial", "unknown", "done") if ran.reason == "timeout" else ("partial", "unknown")
            if effect.state in held:
                self._hold_back(call, allowed.domain, masked=self.past is not None and self.past_is_masked)
        return ran

    def _timed_out(self, tool: Tool, which: LimitName, end: ToolEnd) -> Ran:
        """The tool was cut at its limit (ruling 7)."""
        words = end.words
        if words is None:
            words = prompt.timed_out(self._setup.budget.limit(which) or 0, asked=tool.human)
        return failed("timeout", words, effect=end.effect)

    def _looked(self, domain: str, seen: str) -> None:
        """A fresh look at a page: calls in doubt there may be tried again, and a repeated look is judged by what it saw."""
        if self._in_doubt:
            self._in_doubt = {key: where for key, where in self._in_doubt.items() if where != domain}
        self._repeats.saw(seen)

    def _raised(self, reason: ResultReason, fault: Raised, words: str) -> Ran:
        """A failed result for something that raised: a `Refuse` speaks in trusted words, anything else only as outside text."""
        effect = fault.tool.effect if fault.tool is not None else None
        if fault.refused:
            return failed(reason, fault.message, effect=effect)
        return failed(reason, words, detail=fault.message, effect=effect)

    # Results

    def _conclude(self, call: Call, ran: Ran, *, counted: bool = True) -> Steps[CallEnd]:
        """The planner learns the result, the consumer sees it, and it counts (steps 20 and 21)."""
        self._ended_with(call, ran)
        taken((yield self._result(call, ran)))
        if self.guards is not None:
            yield from self._heard(self.guards, call, ran)
        return self._counted(ran, counted=counted)

    def _ended_with(self, call: Call, ran: Ran) -> None:
        """The newest result is the one that a completion claim, and `settle`, may rest on."""
        self._last_check = ran.output.check
        if self._setup.has_settle:
            self._results.append(_settle_call(call, ran.output))

    def _counted(self, ran: Ran, *, counted: bool = True) -> CallEnd:
        """What a result that was shown means for the run and for its batch."""
        if ran.output.ok:
            if counted:
                self._failures = 0
            return "go-on"
        if counted:
            self._failures += 1
            if self._failures >= FAILURE_LIMIT:
                self._block("repeated-failure", f"{self._failures} failed results in a row")
        return "end-batch"

    def _skip(self, call: Call, why: str) -> Steps[None]:
        """A call that is not run because its batch has ended: answered and shown, counted nowhere."""
        self._all_ran = False
        yield from perform(self._result(call, failed("skipped", why)))

    def _result(self, call: Call, ran: Ran, *, told: bool = True) -> Emit | ToolResult:
        """The effect that shows a result to the consumer; and, when `told`, the planner will read it."""
        if call.remarks:
            ran.output = attrs.evolve(ran.output, summary=f"{call.remarks}\n{ran.output.summary}")
        output, planned = ran.output, call.planned
        shown = ""
        if told and call.in_history:
            shown = self._history.add_result(planned, output, ran.shown)
        summary, detail = output.summary, ran.detail
        if self.masks.hidden:
            if shown and self._setup.recorded:
                shown = self._history.result_text(planned, self._masked(output))
            summary = self.masks.text(summary)
            detail = self.masks.text(detail) if detail is not None else None
        event = _tool_result(
            step=self.step,
            id=planned.id,
            name=planned.name,
            ok=output.ok,
            summary=summary[:SUMMARY_LIMIT],
            reason=ran.reason,
            detail=detail[:DETAIL_LIMIT] if detail is not None else None,
            data=output.data,
        )
        return event if self._plain else self._say(event, _result_record(ran, shown))

    def _masked(self, output: ToolOutput) -> ToolOutput:
        """Masked before anything is cut: half a secret at a cut would no longer be found."""
        untrusted = self.masks.text(output.untrusted) if output.untrusted is not None else None
        return ToolOutput(ok=output.ok, summary=self.masks.text(output.summary), untrusted=untrusted)

    # Shared with the cycle

    def _may_begin(self, answer: Answer) -> bool:
        """The answer to a `Turn`; a peer that is gone for good ends the run."""
        try:
            may: bool = taken(answer)
            return may
        except StepRaised as fault:
            self._block("browser-lost", fault.answer.message)

    def _block(self, reason: BlockReason, message: str, *, limit: LimitName | None = None) -> NoReturn:
        raise Ended(Blocked(step=self.step, reason=reason, message=message, limit=limit))

    def _note(self, kind: str, data: Mapping[str, Any]) -> Note:
        """A note whose loss changes nothing, with what `redact` hides masked in it."""
        return Note(kind, self.masks.record(data), essential=False)

    def _effect_note(self, call: PlannedCall, effect: Effect, end: ToolEnd) -> dict[str, Any]:
        data: dict[str, Any] = {"step": self.step, "id": call.id, "name": call.name, **effect.to_json()}
        if end.output is not None:
            data["late"] = {"ok": end.output.ok, "summary": end.output.summary[:SUMMARY_LIMIT]}
        if end.error is not None:
            data["error"] = end.error
        return data

    def _call_record(self, call: Call, refusal: tuple[ResultReason, str] | None) -> dict[str, Any]:
        """For the trail: a digest of the arguments, and what we made of them. No digest of what `redact` hides: whoever has the
        trail could try all short secrets against it."""
        if call.tool is not None and call.tool.redact is not None:
            return {"verdict": "ok" if refusal is None else refusal[0]}
        digest = hmac.digest(self._setup.nonce.encode(), call.key.encode("utf-8", "surrogatepass"), "sha256").hex()
        return {"args_digest": digest, "verdict": "ok" if refusal is None else refusal[0]}


def _is_hidden(call: Call) -> bool:
    """Whether a call that was read off a trail may have masks in the place of its arguments."""
    raw = call.planned.args
    return (call.tool is not None and call.tool.redact is not None) or MASK in raw or WITHHELD in raw


def as_guarded(call: Call) -> GuardedCall:
    args = call.planned.args if call.args is NOT_JSON else copied(call.args)
    return GuardedCall(id=call.planned.id, name=call.planned.name, arguments=args)


def _with_args(action: Action, args: Any) -> Action:
    return _action(tool=action.tool, args=args, domain=action.domain, scope=action.scope, amount=action.amount)


def _allowed_record(allowed: Action, judged: Action, shown: Any) -> dict[str, Any]:
    """What the gate allowed, for the trail: with its own arguments when nothing is hidden, else with what may be shown of them."""
    if shown is not judged.args:
        allowed = _with_args(allowed, shown if allowed.args == judged.args else {"withheld": True})
    return allowed.to_json()


def _result_record(ran: Ran, shown: str) -> dict[str, Any]:
    output, effect = ran.output, ran.effect
    record: dict[str, Any] = {"shown": shown}
    if ran.seen is not None:
        record["seen"] = ran.seen
    if ran.interrupted is not None:
        record["interrupted"] = ran.interrupted
    if output.check is not None:
        record["check"] = output.check.to_json()
    if output.stop_batch:
        record["stop_batch"] = True
    if effect is not None:
        record["effect"] = effect.to_json()
    return record


def _settle_call(call: Call, output: ToolOutput) -> SettleCall:
    args = call.planned.args if call.args is NOT_JSON else copied(call.args)
    return SettleCall(name=call.planned.name, args=args, ok=output.ok, summary=output.summary, data=output.data, check=output.check)
