"""The heart of the loop: one run as a plain generator of effects. No Trio, no clock, no file.

It reads like section 6 of the loop specification, and `_calls` like section 7: straight-line code that yields what it wants done
and goes on with the answer. Whatever stops a run unwinds to `Engine.run`, which closes what is open and says the one stop event.

Two invariants hold on every path: a run ends with exactly one stop event and no tool starts after it; and no tool runs unless
the gate allowed it in this run, with the arguments inside the gate's answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import attrs

from .. import prompt
from ..actions import Allow, CheckLine, CheckResult, Effect, Money, ToolOutput, copied, unchecked
from ..events import Aborted, Blocked, Check, Done, InFlight, Plan, PlannedCall, StopEvent, ToolCall
from ..guarding import ModelReply
from ..ports import ChatReply, Usage
from ..tools import Tool
from ._budget import TokenUse, token_use, usage_of, use_to_json
from ._call import Call, failed
from ._calls import SUMMARY_LIMIT, Calls, Ended, Setup, as_guarded
from ._effects import (
    NOTHING,
    OK,
    YES,
    Answer,
    AskPlanner,
    CheckInput,
    ClosePermit,
    EngineEffect,
    GateCheck,
    Limit,
    LimitReached,
    Note,
    RunCheck,
    Settled,
    SettleInput,
    StepRaised,
    Steps,
    Stopped,
    ToolEnd,
    TrailFailed,
    TrailLost,
    Turn,
    Unreadable,
    perform,
    taken,
)
from ._guarded import Guards
from ._repair import compact_json
from ._reply import BadReplyError, contains_text, read_reply

__all__ = ["Engine", "Setup", "describe_tools"]

CHECK_FAILURE_LIMIT: Final = 2
"""Failed completion checks of one run that end it; nothing resets the count (2.1)."""
CORRECTION_LIMIT: Final = 3
"""Replies in a row that could not be read and are answered with what is wrong; the next one ends the run (ruling 11)."""
FIRST_READ_ID: Final = "first_read"

PLANNERS_TURN: Final = Turn("planner")
NO_CALLS: Final[tuple[Sequence[Call], int]] = ((), 0)

_plan = unchecked(Plan)
_as_planned: Callable[[Call], PlannedCall] = attrgetter("planned")
_ask_planner = unchecked(AskPlanner)


class Engine(Calls):
    """The state of one run and the generator that moves it."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.run_id = setup.run_id
        self.tokens = 0
        self.cost: Money | None = None
        self._cost_unknown = False
        self._spending_ends = setup.budget.tokens is not None or setup.budget.cost is not None
        self._check_failures = 0
        self._corrections = 0
        self._names = frozenset([*setup.tools, prompt.FINISH])
        self._ids: set[str] = set()

    # The run

    def run(self) -> Steps[None]:
        """The whole run. Ends after exactly one `Emit` of a stop event that was recorded, or could not be."""
        record: Mapping[str, Any] = NOTHING
        event: StopEvent
        tool: ToolEnd | None = None
        try:
            yield from perform(Note("loop.start", self._setup.start_record))
            if self.guards is not None:
                yield from self.guards.start()
                self._test_guards()
            if self._setup.first_read is not None:
                yield from self._first_read(self._setup.first_read)
            while True:
                calls, kept = yield from self._request()
                if calls:
                    yield from self._batch(calls, kept)
        except Ended as ended:
            event = ended.event
        except Stopped as stopped:
            tool = stopped.answer.tool
            event, record = Aborted(step=self.step), {"cause": stopped.answer.cause}
            if tool is not None and tool.error is not None and not (self._open is not None and self._open.started):
                record = {**record, "error": tool.error}  # what hid behind the stop; a tool's own error is in its effect's note
        except LimitReached as limit:
            tool = limit.answer.tool
            event = self._out_of_time(limit.answer)
        except TrailLost as lost:
            yield from self._close_open(ToolEnd(), noted=False)
            yield from self._stop_without_trail(lost.answer)
            return
        in_flight = yield from self._close_open(tool or ToolEnd())
        if in_flight is not None and isinstance(event, Aborted | Blocked):
            event = attrs.evolve(event, in_flight=in_flight)
        answer = yield self._say(event, record)
        if isinstance(answer, TrailFailed):
            yield from self._stop_without_trail(answer)

    def _first_read(self, tool: Tool) -> Steps[None]:
        """A look before the first request (section 8). Whatever stands in its way skips it; nobody is asked, nothing is counted."""
        planned = PlannedCall(id=FIRST_READ_ID, name=tool.name, args="{}")
        call = Call(planned, {}, {}, tool=tool)
        if self.guards is not None:
            refused = yield from self._guarded(self.guards, call, tool)
            self._test_guards()
            if refused is not None:
                return
        try:
            action, shown = yield from self._action(call, tool)
        except (StepRaised, LimitReached):
            return
        if self._tool_calls_spent() or (self.past is not None and not self.past.has_first_read):
            return
        event = ToolCall(step=0, id=planned.id, name=planned.name, args=copied(call.shown))
        yield from perform(self._say(event, self._call_record(call, None) if self._setup.recorded else NOTHING))
        decision = yield from self._judged(call, GateCheck(action, store_request=False), "check", action, shown)
        if not isinstance(decision, Allow):
            return
        if not self._may_begin((yield Turn("tool", call.permit))):
            yield from self._give_back(call)
            return
        ran = yield from self._execute(call, tool)
        if ran.output.ok:
            self._last_check = ran.output.check
            self._history.add_call(planned)
        yield from perform(self._result(call, ran, told=ran.output.ok))
        if self.guards is not None:
            yield from self._heard(self.guards, call, ran)
            self._test_guards()

    def _request(self) -> Steps[tuple[Sequence[Call], int]]:
        """One planner request and its reply (section 6): the calls in it, and how many of them the history keeps.

        A reply without calls is dealt with here.
        """
        answer: Any
        time_is_up: Limit | None = None
        try:
            if (answer := (yield PLANNERS_TURN)) is not YES:
                self._may_begin(answer)
        except LimitReached as limit:
            time_is_up = limit.answer  # other reasons are named before it
        if self.step >= self._setup.max_steps or self._spending_ends:
            self._test_room()
        if time_is_up is not None:
            raise LimitReached(time_is_up)
        if self.guards is not None:
            yield from self.guards.before_model(self.step + 1, self._history.fitted())
            self._test_guards()
            for note in self.guards.notes:
                self._history.add_note(note)
            self.guards.notes.clear()
        self.step += 1
        sent = self._history.fitted()
        if self._setup.recorded:
            yield from perform(Note("loop.observation", self._history.observation(self.step, sent)))
        try:
            settle = self._settle_input() if self._results else None
            answer = taken((yield _ask_planner(sent, settle, self._last_check)))
        except StepRaised as fault:
            self._block("model-error", fault.answer.message)
        if type(answer) is Settled:
            yield from self._judge_claim(None, answer.summary[:SUMMARY_LIMIT], answer.check, settled=True)
            return NO_CALLS
        if self._results:
            self._results = []
        self._all_ran = True
        if type(answer) is Unreadable:
            self.tokens += answer.use.total
            self._add_cost(answer.cost)
            yield from self._correct(answer.problem, answer.use)
            return NO_CALLS
        use = token_use(answer, self._history.measure)
        self.tokens += use.input_tokens + use.output_tokens
        if use.cost is not None or self._spending_ends:
            self._add_cost(use.cost)
        try:
            reply = read_reply(answer, step=self.step, names=self._names, used=self._ids)
        except BadReplyError as fault:
            yield from self._correct(str(fault), use)
            if self.guards is not None:
                yield from self._replied(self.guards, answer, None, [])
                self._test_guards()
            return NO_CALLS
        self._corrections = 0
        tools, calls = self._setup.tools, reply.calls
        for call in calls:
            call.tool = tool = tools.get(call.planned.name)
            if tool is not None and tool.redact is not None:
                call.shown = yield from self._redacted(tool, call.args, call.planned.args)
        plan = _plan(
            step=self.step,
            text=reply.text,
            calls=tuple(map(_as_planned if self._plain else self._as_shown, calls)),
            provider=answer.provider,
            tier=answer.tier,
            repairs=reply.repairs,
        )
        if (said := (yield plan if self._plain else self._say(plan, self._spent(use)))) is not OK:
            taken(said)
        if self.guards is not None:
            yield from self._replied(self.guards, answer, reply.text, calls)
        if not calls:
            self._test_guards()
            self._history.add_text(reply.text or prompt.NO_WORDS)
            yield from self._claim(None, reply.text or "")
        else:
            self._history.add_born_frozen(reply.message)
        return calls, reply.kept

    def _replied(self, guards: Guards, answer: object, text: str | None, calls: Sequence[Call]) -> Steps[None]:
        """The guards hear of the reply, a spoiled one too: it was paid for."""
        listed = tuple([as_guarded(call) for call in calls])
        tier = answer.tier if isinstance(answer, ChatReply) else None
        yield from guards.after_model(ModelReply(text=text, tool_calls=listed, usage=usage_of(answer), model=tier))

    def _test_guards(self) -> None:
        """Stop here when a guard has said so."""
        if self.guards is not None and self.guards.stop is not None:
            self._block(*self.guards.ending())

    def _as_shown(self, call: Call) -> PlannedCall:
        """A call for the `plan` event: its raw text, or what may be shown of its arguments once something is hidden."""
        shown = call.shown
        if shown is not call.args or (self.masks.hidden and isinstance(shown, dict)):
            # Masked as a value, since the raw text can spell a letter in many ways.
            args = shown if isinstance(shown, str) else compact_json(self.masks.value(shown))
            return PlannedCall(id=call.planned.id, name=call.planned.name, args=args)
        return call.planned

    def _correct(self, problem: str, use: TokenUse | Usage) -> Steps[None]:
        """A reply that cannot be read: nothing of it is run, and the planner is told what is wrong with it (ruling 11)."""
        plan = Plan(step=self.step, text=None, calls=(), problem=problem)
        yield from perform(self._say(plan, self._spent(use) if self._setup.recorded else NOTHING))
        self._corrections += 1
        if self._corrections > CORRECTION_LIMIT:
            self._block("model-error", f"{problem} ({CORRECTION_LIMIT} corrections before it did not help)")
        self._history.add_correction(problem)

    def _settle_input(self) -> SettleInput | None:
        """Section 9 applies when every call of the previous reply was run and the last one is ok."""
        if not self._results or not self._all_ran or not self._results[-1].ok:
            return None
        return SettleInput(goal=self._setup.goal, step=self.step, results=tuple(self._results))

    # Spending

    @property
    def has_room(self) -> bool:
        """Whether another request may be made; time is not looked at."""
        try:
            self._test_room()
        except Ended:
            return False
        return True

    def _test_room(self) -> None:
        """Steps, then tokens, then money (section 12)."""
        if self.step >= self._setup.max_steps:
            words = f"{self.step} planner requests were made, which is max_steps, and none led to a stop"
            self._block("max-steps", words, limit="max_steps")
        budget = self._setup.budget
        if budget.tokens is not None and self.tokens >= budget.tokens:
            self._block("budget", f"tokens: used {self.tokens} of {budget.tokens}", limit="tokens")
        if budget.cost is None:
            return
        if self._cost_unknown:
            words = f"cost: the planner did not say what a reply cost in {budget.cost.currency}, so the cap cannot be held"
            self._block("budget", words, limit="cost")
        used = self.cost.value if self.cost is not None else 0
        if used >= budget.cost.value:
            words = f"cost: used {used} of {budget.cost.value} {budget.cost.currency} minor units"
            self._block("budget", words, limit="cost")

    def _add_cost(self, cost: Money | None) -> None:
        """Of each reply, the sum; a reply that does not say what it cost leaves it unknown, when there is a cap."""
        wanted = self._setup.budget.cost
        if cost is None and wanted is None:
            return
        if cost is None or (wanted is not None and cost.currency != wanted.currency):
            self._cost_unknown = True
        elif self.cost is None:
            self.cost = cost
        elif self.cost.currency == cost.currency:
            self.cost = Money(value=self.cost.value + cost.value, currency=cost.currency)

    def _spent(self, use: TokenUse | Usage) -> dict[str, Any]:
        record: dict[str, Any] = {"usage": use_to_json(use), "tokens": self.tokens}
        if self.cost is not None:
            record["cost"] = self.cost.to_json()
        if self._cost_unknown:
            record["cost_unknown"] = True
        return record

    # The calls of a reply

    def _batch(self, calls: Sequence[Call], kept: int) -> Steps[None]:
        """The calls of one reply, one after another (7.5)."""
        ran = 0
        ended = over_budget = False
        guards = self.guards
        for index, call in enumerate(calls):
            call.in_history = index < kept
            if guards is not None and guards.stop is not None:
                yield from self._skip(call, prompt.SKIPPED_AFTER_GUARD)
            elif guards is not None and guards.refusal is not None and not (ended or over_budget):
                yield from self._refuse(guards, call, guards.refusal)
            elif over_budget:
                yield from self._skip(call, prompt.SKIPPED_OVER_BUDGET)
            elif ended:
                yield from self._skip(call, prompt.SKIPPED_AFTER_END)
            elif call.planned.name == prompt.FINISH:
                self._all_ran = False
                yield from self._finish(call)
                ended = True
            elif ran == self._setup.max_calls_per_turn:
                yield from self._skip(call, prompt.skipped_over_limit(self._setup.max_calls_per_turn))
            else:
                ran += 1
                end = yield from self._examine(call)
                ended = end == "end-batch"
                over_budget = end == "over-budget"
        self._test_guards()
        if over_budget and self._tool_calls_spent():  # not so when a larger budget was given since
            words = f"tool_calls: used {self.tool_runs} of {self._setup.budget.tool_calls}"
            self._block("budget", words, limit="tool_calls")

    def _refuse(self, guards: Guards, call: Call, why: str) -> Steps[None]:
        """A call that a guard refused with the rest of its reply: answered and shown, and counted nowhere, like one skipped."""
        self._all_ran = False
        ran = failed("guarded", prompt.guarded(why))
        yield from perform(self._result(call, ran))
        yield from self._heard(guards, call, ran)

    # Completion claims

    def _finish(self, call: Call) -> Steps[None]:
        """A `finish` call: the claim in its arguments. Comes back only when it failed, which ends the batch."""
        args, raw = call.args, call.planned.args
        if contains_text(args, raw, self._setup.nonce):
            verdict = CheckResult(ok=False, checks=(CheckLine(part="finish", ok=False, evidence=prompt.COPIED_MARKER),))
            yield from self._judge_claim(call, prompt.COPIED_MARKER, verdict)
            return
        summary = args.get("summary") if isinstance(args, dict) else None
        yield from self._claim(call, summary if isinstance(summary, str) else raw)

    def _claim(self, call: Call | None, summary: str) -> Steps[None]:
        """The claim that the goal is reached: ends the run when the verdict holds, else tells the planner (7.4)."""
        summary = summary[:SUMMARY_LIMIT]
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

    def _judge_claim(self, call: Call | None, summary: str, verdict: CheckResult, *, settled: bool = False) -> Steps[None]:
        event = Check(step=self.step, ok=verdict.ok, checks=verdict.checks, problem=verdict.problem)
        try:
            yield from perform(
                self._say(event, {"summary": summary} if call is None else {"summary": summary, "id": call.planned.id})
            )
        except LimitReached:
            if not verdict.ok:
                raise  # a passing check that is on record still ends `done`, though time is up (ruling 4)
        if verdict.ok:
            raise Ended(Done(step=self.step, summary=summary, check=verdict, settled=settled))
        self._check_failures += 1
        lines = _failed_lines(verdict)
        feedback = ToolOutput(ok=False, summary=prompt.CHECK_FAILED, untrusted=lines)
        if call is None or call.in_history:
            self._history.add_feedback(call.planned if call is not None else None, feedback)
        if self._check_failures >= CHECK_FAILURE_LIMIT:
            self._block("check-failed", lines)

    # Stopping

    def _close_open(self, end: ToolEnd, *, noted: bool = True) -> Generator[EngineEffect[Any], Answer, InFlight | None]:
        """Close the call that holds a permit, if one does, with what is known of its effect; the answers cannot stop us here."""
        opened, self._open = self._open, None
        if opened is None:
            return None
        effect = Effect(state="not-started")
        if opened.started:
            if opened.end is not None:
                end = ToolEnd(output=opened.end) if isinstance(opened.end, ToolOutput) else opened.end
            effect = end.effect or _effect_of(end.output)
        if noted and not opened.noted:
            yield self._note("loop.effect", self._effect_note(opened.planned, effect, end))
        assert opened.permit is not None
        yield ClosePermit(opened.permit, "release" if effect.state == "not-started" else "settle")
        return InFlight(call_id=opened.planned.id, name=opened.planned.name, effect=effect) if opened.started else None

    def close_up(self) -> Generator[EngineEffect[Any], Answer, InFlight | None]:
        """For a driver whose engine broke: close the call that is open."""
        return self._close_open(ToolEnd())

    def _stop_without_trail(self, lost: TrailFailed) -> Generator[EngineEffect[Any], Answer, None]:
        """The record could not be written: say so, and try once more to get at least that on record."""
        yield self._say(Blocked(step=self.step, reason="trail-failed", message=lost.message))

    def _out_of_time(self, limit: Limit) -> Blocked:
        seconds = self._setup.budget.limit(limit.which)
        what = {
            "seconds": "the run's work time is used up",
            "planner_seconds": "one request took longer than that",
        }.get(limit.which, "this limit was reached")
        words = f" ({seconds} s)" if seconds is not None else ""  # none of our own: it was a guard's
        return Blocked(step=self.step, reason="budget", message=f"{limit.which}: {what}{words}", limit=limit.which)


def _effect_of(output: ToolOutput | None) -> Effect:
    """What is known of a tool that said nothing of its effect: only a good result says that it was done."""
    return Effect(state="done" if output is not None and output.ok else "unknown")


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
