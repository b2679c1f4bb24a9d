"""`Loop(guards=…)`: what each verdict does to a run, where guards stand, and that they only ever take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Deny, ToolOutput
from foxloop_trio.errors import BadOptionsError, BusyError
from foxloop_trio.guarding import Ask, Block, Note, Rewrite, Said, State, Stop, ToolCall
from foxloop_trio.loop import Budget, Denials
from foxloop_trio.loop._guarded import said_from_json
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.react import BudgetGuard
from foxloop_trio.testing import cancel_at_every_checkpoint


class Told:
    """A guard that answers each moment as told, once per answer, and remembers what it was asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {moment: list(given) if isinstance(given, list) else [given] for moment, given in answers.items()}
        self.asked: list[tuple[str, Any]] = []
        self.results: list[Any] = []
        self.replies: list[Any] = []
        self.ended = 0

    def _answer(self, moment: str, about: Any) -> Any:
        self.asked.append((moment, about))
        left = self.answers.get(moment)
        answer = left.pop(0) if left else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def on_run_start(self, state: State) -> Any:
        return self._answer("on_run_start", state.turn)

    def before_model(self, state: State) -> Any:
        return self._answer("before_model", state.turn)

    def after_model(self, state: State, reply: Any) -> Any:
        self.replies.append(reply)
        return self._answer("after_model", state.turn)

    def before_tool(self, call: ToolCall, state: State) -> Any:
        return self._answer("before_tool", dict(call.arguments))

    def after_tool(self, call: ToolCall, result: Any, state: State) -> Any:
        self.results.append(result)
        return self._answer("after_tool", dict(call.arguments))

    def on_run_end(self, state: State) -> None:
        self.ended += 1

    @property
    def moments(self) -> list[str]:
        return [moment for moment, _ in self.asked]


class OnlyBefore:
    """A guard with the one method, which asks a function."""

    def __init__(self, fn: Callable[[ToolCall, State], Any]) -> None:
        self.before_tool = fn


def save(text: str = "Buy milk") -> dict[str, Any]:
    return {"name": "save_note", "args": {"text": text}}


def bench(parts: Any, *replies: Any, guards: list[Any], **options: Any) -> Any:
    return parts.Bench(*replies, guards=guards, sink=options.pop("sink", parts.MemorySink()), **options)


def notes_of(bench: Any, kind: str = "loop.guard") -> list[Any]:
    return [{key: value for key, value in data.items() if key != "run"} for data in bench.sink.data(kind)]


# Where guards stand


async def test_a_guard_is_asked_at_each_moment_in_the_order_of_a_run(parts: Any) -> None:
    """Section 5: run start, before and after the model, before and after each call, and the end."""
    guard = Told()
    run = bench(parts, parts.reply(save("a"), save("b")), parts.FINISH, guards=[guard])
    await run.run()
    assert guard.moments == [
        "on_run_start", "before_model", "after_model", "before_tool", "after_tool", "before_tool", "after_tool",
        "before_model", "after_model",
    ]  # fmt: skip
    assert (run.outcome.status, guard.ended) == ("done", 1)
    assert [call.name for call in guard.replies[0].tool_calls] == ["save_note", "save_note"]
    assert notes_of(run) == []


async def test_a_blocked_call_reaches_neither_prepare_nor_the_gate_nor_the_tool(parts: Any) -> None:
    """`Block`: a failed result with the reason `guarded`, in the guard's words; nothing else happens."""
    prepared: list[Any] = []

    async def prepare(args: Any, ctx: Any) -> Any:
        prepared.append(args)
        return args

    notes: list[str] = []
    run = bench(
        parts, parts.reply(save()), parts.FINISH, guards=[Told(before_tool=Block("not today"))],
        tools=[parts.save_note(notes, prepare=prepare)], max_steps=2,
    )  # fmt: skip
    events = await run.run()
    assert parts.told(events)[:3] == ["plan", "tool-call", "tool-result guarded"]
    assert (notes, prepared, run.gate.checked) == ([], [], [])
    assert "not today" in run.planner.seen[1][-1]["content"]
    assert notes_of(run) == [
        {"step": 1, "moment": "before_tool", "id": events[1].id, "guard": "Told", "said": {"block": "not today"}}
    ]


async def test_a_rewritten_call_is_what_the_gate_judges_and_the_tool_runs(parts: Any) -> None:
    """`Rewrite`: the gate sees the new arguments, and the planner reads the note in front of the result."""
    guard = Told(before_tool=Rewrite({"text": "Buy oats"}, "milk is off the list"))
    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[guard])
    events = await run.run()
    assert [dict(action.args) for action in run.gate.checked] == [{"text": "Buy oats"}]
    assert run.notes == ["Buy oats"]
    result = next(event for event in events if event.type == "tool-result")
    assert result.summary == "milk is off the list\nSaved."
    assert events[1].args == {"text": "Buy milk"}
    said = notes_of(run)[0]["said"]
    assert said == {"arguments": {"text": "Buy oats"}, "remarks": ["milk is off the list"]}


async def test_a_rewrite_feeds_the_next_guard(parts: Any) -> None:
    """R30: guards in the given order, each with what the one before it left."""
    first = Told(before_tool=Rewrite({"text": "one"}))
    second = Told(before_tool=Rewrite({"text": "two"}, "twice"))
    third = Told()
    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[first, second, third])
    await run.run()
    asked = [guard.asked[3][1]["text"] for guard in (first, second, third)]
    assert (asked, run.notes) == (["Buy milk", "one", "two"], ["two"])


async def test_a_rewrite_that_does_not_fit_the_schema_does_not_run(parts: Any) -> None:
    """R30: after the last rewrite the arguments are validated again."""
    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[Told(before_tool=Rewrite({"text": 7}))], max_steps=2)
    events = await run.run()
    assert parts.told(events)[2] == "tool-result invalid-args"
    assert (run.notes, run.gate.checked) == ([], [])


async def test_a_rewrite_to_what_is_no_json_is_refused(parts: Any) -> None:
    """No gate could judge it and no trail hold it."""
    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[Told(before_tool=Rewrite({"text": {1, 2}}))], max_steps=2)
    events = await run.run()
    assert parts.told(events)[2] == "tool-result guarded"
    assert run.notes == []


async def test_a_guard_that_edits_what_it_is_shown_changes_nothing(parts: Any) -> None:
    """Only a `Rewrite` changes a call; the arguments that a guard sees are its own copy, and so is the list of messages."""

    def before_tool(call: ToolCall, state: State) -> None:
        call.arguments["text"] = "spoiled"
        state.messages.clear()

    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[OnlyBefore(before_tool)])
    await run.run()
    assert (run.notes, run.outcome.status, len(run.planner.seen[1])) == (["Buy milk"], "done", 4)


async def test_the_first_block_ends_the_chain(parts: Any) -> None:
    """R30: a guard after the one that refused is not asked."""
    later = Told()
    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[Told(before_tool=Block("no")), later], max_steps=2)
    await run.run()
    assert "before_tool" not in later.moments


async def test_a_note_stands_before_the_next_request_and_only_once(parts: Any) -> None:
    """`Note`: a message to the planner before its next request."""
    guard = Told(after_tool=Note("two calls left"), before_model=[None, Note("hurry")])
    run = bench(parts, parts.reply(save()), parts.reply(save("b")), parts.FINISH, guards=[guard])
    await run.run()
    assert [message["role"] for message in run.planner.seen[1]][-3:] == ["tool", "user", "user"]
    assert [message["content"].rpartition(": ")[2] for message in run.planner.seen[1][-2:]] == ["two calls left", "hurry"]
    assert sum("two calls left" in (message["content"] or "") for message in run.planner.seen[2]) == 1


@pytest.mark.parametrize(
    ("reason", "blocked"), [("budget", "budget"), ("loop_detected", "repeated-call"), ("policy", "guard"), ("mine", "guard")]
)
async def test_a_stop_ends_the_run_with_a_fitting_reason(parts: Any, reason: str, blocked: str) -> None:
    """`Stop`: the call and those left of the reply are skipped, each with its answer; then the run is blocked."""
    guard = Told(before_tool=[None, Stop(reason, {"why": "enough"})])
    run = bench(parts, parts.reply(save("a"), save("b"), save("c")), guards=[guard])
    events = await run.run()
    assert parts.told(events)[-3:] == ["tool-result skipped", "tool-result skipped", f"blocked {blocked}"]
    assert run.outcome.message == f'Told: {reason}: {{"why":"enough"}}'
    assert (run.notes, guard.ended) == (["a"], 1)


async def test_a_stop_before_the_model_makes_no_request(parts: Any) -> None:
    """`Stop` in `before_model`: nobody is asked, and the step is not counted."""
    run = bench(parts, parts.reply(save()), guards=[Told(before_model=Stop("budget", "no tokens left"))])
    events = await run.run()
    assert (run.planner.seen, events[0].step, events[0].reason) == ([], 0, "budget")


async def test_a_last_call_ends_a_gated_run_at_once(parts: Any) -> None:
    """`Stop(last_call=True)`: the gated loop has no request with one tool only, so the run ends."""
    run = bench(parts, parts.reply(save()), guards=[Told(before_model=Stop("budget", "spent", last_call=True))])
    await run.run()
    assert (run.outcome.reason, run.planner.seen) == ("budget", [])


async def test_a_stop_after_the_model_runs_none_of_the_calls(parts: Any) -> None:
    """`Stop` in `after_model`: every call of the reply is answered, none is run."""
    run = bench(parts, parts.reply(save("a"), save("b")), guards=[Told(after_model=Stop("policy"))])
    events = await run.run()
    assert parts.told(events) == ["plan", "tool-result skipped", "tool-result skipped", "blocked guard"]
    assert run.gate.checked == []


async def test_a_stop_after_a_claim_in_words_keeps_it_from_being_judged(parts: Any) -> None:
    """A reply without calls is a claim; a run that a guard has ended does not end `done`."""
    run = bench(parts, parts.reply(text="All done."), guards=[Told(after_model=Stop("policy"))])
    assert parts.told(await run.run()) == ["plan", "blocked guard"]


async def test_a_stop_after_a_call_keeps_its_result(parts: Any) -> None:
    """`Stop` in `after_tool`: what was done is on record first."""
    run = bench(parts, parts.reply(save("a"), save("b")), guards=[Told(after_tool=Stop("policy"))])
    events = await run.run()
    assert parts.told(events) == ["plan", "tool-call", "decision allow", "tool-result", "tool-result skipped", "blocked guard"]
    assert run.notes == ["a"]


async def test_a_block_after_the_model_refuses_all_calls_of_the_reply_and_only_those(parts: Any) -> None:
    """Where there is no single call, `Block` refuses what is left of the reply; the next reply is free again."""
    guard = Told(after_model=Block("no calls now"))
    run = bench(parts, parts.reply(save("a"), save("b")), parts.reply(save("c")), parts.FINISH, guards=[guard])
    events = await run.run()
    assert parts.told(events)[:3] == ["plan", "tool-result guarded", "tool-result guarded"]
    assert (run.notes, run.outcome.status) == (["c"], "done")
    assert [result.blocked for result in guard.results] == [True, True, False]


async def test_a_guards_question_is_a_refusal_where_only_the_gate_may_ask(parts: Any) -> None:
    """`Ask`: humans are asked by the gate alone, so a guard that wants one refuses."""
    asked: list[Any] = []

    async def on_approval(request: Any) -> str:
        asked.append(request)
        return "token"

    run = bench(
        parts,
        parts.reply(save()),
        parts.FINISH,
        guards=[Told(before_tool=Ask("is this right?"))],
        on_approval=on_approval,
        max_steps=2,
    )
    events = await run.run()
    assert (parts.told(events)[2], asked, run.notes) == ("tool-result guarded", [], [])


async def test_a_guard_never_widens_what_the_gate_allows(parts: Any) -> None:
    """What a guard let pass, or rewrote, is still the gate's to deny."""
    gate = parts.StubGate(Deny(reason="no-grant", message="no"))
    run = bench(parts, parts.reply(save()), guards=[Told(before_tool=Rewrite({"text": "harmless"}))], gate=gate)
    await run.run()
    assert (run.outcome.reason, run.notes) == ("gate-deny", [])


# What guards are shown


@pytest.mark.parametrize("refusal", ["unknown-tool", "invalid-args", "gate-deny"])
async def test_guards_hear_of_calls_that_never_ran_and_whether_they_were_refused(parts: Any, refusal: str) -> None:
    """R32: `blocked` says that a guard or the gate refused it; what is no good call at all is a plain error, of which guards are
    not asked but told."""
    guard = Told()
    wrong = {"unknown-tool": {"name": "nope", "args": {}}, "invalid-args": {"name": "save_note", "args": {}}}.get(refusal, save())
    gate = parts.StubGate(Deny(reason="no-grant", message="no")) if refusal == "gate-deny" else parts.StubGate()
    run = bench(parts, parts.reply(wrong), guards=[guard], gate=gate, denials=Denials(retry=lambda _: True), max_steps=1)
    events = await run.run()
    assert f"tool-result {refusal}" in parts.told(events)
    assert [(result.blocked, result.is_error) for result in guard.results] == [(refusal == "gate-deny", True)]
    assert ("before_tool" in guard.moments) == (refusal == "gate-deny")


async def test_guards_see_the_text_that_the_planner_reads(parts: Any) -> None:
    """R32: the result after the call, in its words."""
    guard = Told()
    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[guard])
    await run.run()
    assert guard.results[0].content == run.planner.seen[1][-1]["content"]
    assert (guard.results[0].blocked, guard.results[0].is_error) == (False, False)


async def test_a_rewrite_that_does_not_fit_is_shown_as_blocked_and_costs_no_call(parts: Any) -> None:
    """The planner's own call would have run, so a guard that counts calls must not count this one; as in a ReAct run."""
    watch = Told(before_tool=[Rewrite({"text": 5}), None])
    run = bench(parts, parts.reply(save()), parts.reply(save("Milk")), guards=[BudgetGuard(tool_calls=1), watch], max_steps=2)
    events = await run.run()
    assert [event.reason for event in events if event.type == "tool-result"] == ["invalid-args", None]
    assert [result.blocked for result in watch.results] == [True, False]
    assert run.notes == ["Milk"]


async def test_guards_see_the_usage_of_each_reply_and_its_sum(parts: Any) -> None:
    """What a budget counts: the reply's own usage, and in the state what was used so far; spoiled replies count too."""

    class Spends:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def after_model(self, state: State, reply: Any) -> None:
            self.seen.append((reply.usage.output_tokens, state.usage.output_tokens, state.turn))

    class Planner:
        number = 0

        async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
            await trio.lowlevel.checkpoint()
            self.number += 1
            calls: Any = [] if self.number > 1 else "nonsense"
            message = {"role": "assistant", "content": "hm", "tool_calls": calls}
            return ChatReply(message=message, usage=Usage(input_tokens=1, output_tokens=5))

    guard = Spends()
    run = bench(parts, guards=[guard], planner=Planner(), max_steps=2)
    await run.run()
    assert guard.seen == [(5, 5, 1), (5, 10, 2)]


async def test_the_first_read_passes_the_guards_too(parts: Any) -> None:
    """A refused look is skipped, as everything that stands in its way; an allowed one is shown to them."""

    def look(notes: list[str]) -> Any:
        async def run(args: Any, ctx: Any) -> ToolOutput:
            await trio.lowlevel.checkpoint()
            notes.append("looked")
            return ToolOutput(ok=True, summary="A page.")

        return parts.save_note(notes, name="look", scope="read", parameters={"type": "object", "properties": {}}, run=run)

    for answer, expected in ((None, ["looked"]), (Block("no"), [])):
        notes: list[str] = []
        guard = Told(before_tool=answer)
        run = bench(parts, parts.reply(text="?"), guards=[guard], tools=[look(notes)], first_read="look", max_steps=1)
        await run.run()
        assert (notes, len(guard.results)) == (expected, len(expected))


# Closed when something is wrong


@pytest.mark.parametrize("moment", ["before_tool", "after_model", "after_tool", "before_model", "on_run_start"])
async def test_a_guard_that_raises_fails_closed_and_is_on_record(parts: Any, moment: str) -> None:
    """R31: the call, or what is left of the reply, is refused; with neither, the run ends. The class goes on record."""
    run = bench(
        parts, parts.reply(save("a"), save("b")), parts.FINISH, guards=[Told(**{moment: ZeroDivisionError("x")})], max_steps=1
    )
    events = await run.run()
    expected = {"before_tool": [], "after_model": [], "after_tool": ["a"], "before_model": [], "on_run_start": []}
    assert run.notes == expected[moment]
    assert events[-1].reason == ("max-steps" if moment in ("before_tool", "after_model", "after_tool") else "guard")
    (fault,) = notes_of(run, "loop.guard-error")
    assert (fault["moment"], fault["error"]) == (moment, "x")


async def test_a_guard_that_answers_nonsense_fails_closed(parts: Any) -> None:
    """Only verdicts are answers."""
    run = bench(parts, parts.reply(save()), parts.FINISH, guards=[Told(before_tool="yes")], max_steps=1)
    events = await run.run()
    assert (parts.told(events)[2], run.notes) == ("tool-result guarded", [])


async def test_a_guard_that_takes_too_long_is_cut_after_thirty_seconds(parts: Any, autojump_clock: Any) -> None:
    """Ruling 7 and 43: as if it had raised."""

    async def before_tool(call: ToolCall, state: State) -> None:
        await trio.sleep_forever()

    run = bench(parts, parts.reply(save()), guards=[OnlyBefore(before_tool)], max_steps=1)
    events = await run.run()
    assert (parts.told(events)[2], run.notes, trio.current_time()) == ("tool-result guarded", [], 30.0)
    assert "30 s" in notes_of(run, "loop.guard-error")[0]["error"]


async def test_a_guards_deadline_cuts_planner_and_tool(parts: Any, autojump_clock: Any) -> None:
    """Section 8: a hard limit around model calls and handlers; the run ends `budget`, with what is known of the tool."""

    class Deadline:
        def __init__(self, at: float) -> None:
            self.at = at

        def before_model(self, state: State) -> None: ...

        def deadline(self, state: State) -> float:
            return self.at

    async def slow(*_: Any, **__: Any) -> Any:
        await trio.sleep(60)

    class Slow:
        chat = staticmethod(slow)

    run = bench(parts, guards=[Deadline(7)], planner=Slow())
    events = await run.run()
    assert (events[-1].reason, events[-1].limit, trio.current_time()) == ("budget", "seconds", 7.0)
    assert "None" not in events[-1].message
    run = bench(parts, parts.reply(save()), guards=[Deadline(20)], tools=[parts.save_note([], run=slow)])
    events = await run.run()
    assert (events[-1].limit, events[-1].in_flight.effect.state, trio.current_time()) == ("seconds", "unknown", 20.0)


async def test_an_abort_while_a_guard_thinks_runs_nothing(parts: Any, autojump_clock: Any) -> None:
    """Stop means stop, also in a guard."""
    thinking = trio.Event()

    async def before_tool(call: ToolCall, state: State) -> None:
        thinking.set()
        await trio.sleep_forever()

    run = bench(parts, parts.reply(save()), guards=[OnlyBefore(before_tool)])
    async with trio.open_nursery() as nursery:

        async def abort() -> None:
            await thinking.wait()
            run.last.abort()

        nursery.start_soon(abort)
        events = await run.run()
    assert (events[-1].type, run.gate.checked) == ("aborted", [])


# One run at a time


async def test_one_guard_serves_one_run_at_a_time(parts: Any) -> None:
    """R33: a second run on it is a RuntimeError when it is opened; the first goes on, and afterwards the guard is free."""
    guard = Told()
    first = bench(parts, parts.reply(save()), parts.FINISH, guards=[guard])
    second = bench(parts, parts.FINISH, guards=[guard], check=lambda _: parts.GOOD)
    async with first.loop.run("x") as run:
        with pytest.raises(RuntimeError, match="Told serves another run") as caught:
            async with second.loop.run("y"):
                raise AssertionError("it was opened")
        assert isinstance(caught.value, BusyError)
        async for _ in run:
            pass
        assert run.outcome is not None
        assert run.outcome.status == "done"
    assert (await second.loop.complete("y")).status == "done"
    assert guard.ended == 2


async def test_a_guard_is_free_again_however_its_run_ended(parts: Any) -> None:
    """Left in the middle, cancelled, or never read: `on_run_end` once each, and the next run may have it."""
    guard = Told()
    run = bench(parts, *[parts.reply(save(str(number))) for number in range(9)], guards=[guard])
    async with run.loop.run("left") as left:
        await anext(left)
    with trio.CancelScope() as scope:
        async with run.loop.run("cancelled") as cancelled:
            async for _ in cancelled:
                scope.cancel()
                await trio.lowlevel.checkpoint()
    async with run.loop.run("never read"):
        pass
    assert guard.ended == 3
    run.loop.run("never opened")
    async with run.loop.run("again"):
        pass


def test_what_is_no_guard_is_refused_with_its_name(parts: Any) -> None:
    """A guard that would never be asked protects nobody."""
    with pytest.raises(BadOptionsError, match="guards"):
        parts.Bench(guards=[object()])
    with pytest.raises(BadOptionsError, match="guards"):
        parts.Bench(guards=[Told])
    with pytest.raises(BadOptionsError, match="guards"):
        parts.Bench(guards=Told())


async def test_the_start_record_names_the_guards(parts: Any) -> None:
    """The trail says under which guards a run went; a run without any says nothing."""
    guarded = bench(parts, guards=[Told()], max_steps=1)
    await guarded.run()
    assert guarded.sink.data("loop.start")[0]["options"]["guards"] == ["Told"]
    free = bench(parts, guards=[], max_steps=1)
    await free.run()
    assert "guards" not in free.sink.data("loop.start")[0]["options"]


# On record


async def test_what_guards_said_can_be_answered_again_from_the_record(parts: Any) -> None:
    """A replay answers each `AskGuards` with its note, or with nothing said: same events, and no guard is needed."""
    from foxloop_trio.loop import _guarded

    verdicts = [Rewrite({"text": "oats"}, "changed"), Note("careful"), Block("no"), Stop("policy", {"why": "end"})]
    asked: list[tuple[str, Any]] = []
    original = _guarded._ask

    def spying(moment: Any, *args: Any) -> Any:
        said = yield from original(moment, *args)
        asked.append((moment, (said.block, said.stop, list(said.notes), list(said.remarks), said.call and said.call.arguments)))
        return said

    guard = Told(before_tool=verdicts)
    run = bench(parts, *[parts.reply(save(str(number))) for number in range(5)], guards=[guard])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_guarded, "_ask", spying)
        await run.run()
    spoken = [told for moment, told in asked if moment == "before_tool"]
    recorded = notes_of(run)
    assert [note["moment"] for note in recorded] == ["before_tool"] * 4
    for note, (block, stop, notes, remarks, arguments) in zip(recorded, spoken, strict=True):
        call = ToolCall(id=note["id"], name="save_note", arguments={"text": "?"})
        said = said_from_json(note, call)
        assert (said.block, said.stop, said.notes, said.remarks) == (block, stop, notes, remarks)
        if "arguments" in note["said"]:
            assert said.call is not None
            assert said.call.arguments == arguments
    assert said_from_json({"said": {}}) == Said()


async def test_what_a_guard_said_is_durable_before_it_holds(parts: Any) -> None:
    """A verdict that cannot be recorded stops the run: nothing goes on that a replay could not explain."""
    sink = parts.MemorySink()

    def before_tool(call: ToolCall, state: State) -> Any:
        sink.fail_at = {sink.attempts}
        return Rewrite({"text": "oats"})

    run = bench(parts, parts.reply(save()), guards=[OnlyBefore(before_tool)], sink=sink)
    await run.run()
    assert (run.outcome.reason, run.notes) == ("trail-failed", [])


async def test_what_redact_hides_stays_hidden_in_a_rewrite(parts: Any) -> None:
    """Ruling 13 for arguments that a guard made: record and events hold what `redact` shows."""
    notes: list[str] = []
    tool = parts.save_note(notes, redact=lambda args: {"text": "***"})
    guard = Told(before_tool=Rewrite({"text": "swordfish"}, "instead of hunter42 now swordfish"))
    run = bench(parts, parts.reply(save("hunter42")), parts.FINISH, guards=[guard], tools=[tool])
    events = await run.run()
    assert notes == ["swordfish"]
    everything = f"{events!r}{run.sink.entries!r}"
    assert "swordfish" not in everything
    assert "hunter42" not in everything
    assert notes_of(run)[0]["said"]["arguments"] == {"text": "***"}


async def test_no_digest_of_hidden_arguments_is_recorded_by_a_policy_that_stops(parts: Any) -> None:
    """A plain digest of a short secret gives it away, so a policy's record has none for a tool that hides arguments."""
    from foxloop_trio.react import PolicyEngine

    policy = PolicyEngine([{"id": "no", "effect": "deny", "stop": True}])
    for redact, length in ((None, 64), (lambda args: {"text": "***"}, 0)):
        tool = parts.save_note([], redact=redact)
        run = bench(parts, parts.reply(save("hunter42")), guards=[policy], tools=[tool])
        await run.run()
        assert (run.outcome.reason, len(notes_of(run)[0]["said"]["stop"]["detail"]["arguments_hash"])) == ("guard", length)


async def test_a_huge_answer_of_a_guard_is_cut_before_it_is_recorded_or_read(parts: Any) -> None:
    """Bounded: a note, a reason and a detail take what a record and a planner take."""
    guard = Told(before_tool=[(Note("n" * 100_000),) * 50, Stop("policy", {"why": "w" * 100_000})])
    run = bench(parts, parts.reply(save("a")), parts.reply(save("b")), guards=[guard])
    await run.run()
    notes, stop = notes_of(run)
    assert [len(text) for text in notes["said"]["notes"]] == [2000] * 8
    assert len(stop["said"]["stop"]["detail"]) == 2000


# Cancelled anywhere


async def test_a_cancel_at_any_checkpoint_of_a_guarded_run_starts_nothing_more(parts: Any) -> None:
    """The sweep over guards: after the cancel no guard is asked and no tool runs, the end is on record once, the guard is free."""

    class Slow(Told):
        async def before_tool(self, call: ToolCall, state: State) -> Any:  # type: ignore[override]
            await trio.lowlevel.checkpoint()
            started.append("guard")
            await trio.lowlevel.checkpoint()
            return Rewrite({"text": call.arguments["text"] + "!"})

        async def after_tool(self, call: ToolCall, result: Any, state: State) -> Any:  # type: ignore[override]
            await trio.lowlevel.checkpoint()
            return Note("seen")

    started: list[str] = []
    runs: list[Any] = []
    guard = Slow()

    async def whole_run() -> None:
        started.clear()
        run = bench(parts, parts.reply(save("a"), save("b")), parts.FINISH, guards=[guard])
        runs.append(run)
        await run.run()

    async def check(visit: Any) -> None:
        run = runs[-1]
        stops = [kind for kind in run.sink.kinds if kind in ("loop.done", "loop.blocked", "loop.aborted")]
        assert len(stops) <= 1
        assert guard.ended <= len(runs)
        assert len(run.notes) <= started.count("guard")
        assert all(note.endswith("!") for note in run.notes)
        probe = bench(parts, guards=[guard], max_steps=1)
        async with probe.loop.run("the guard is free"):
            pass
        runs.append(probe)

    report = await cancel_at_every_checkpoint(whole_run, check=check)
    assert report.checkpoints >= 25


async def test_guards_of_a_run_with_budget_seconds_count_as_work(parts: Any, autojump_clock: Any) -> None:
    """Time in a guard is the run's own: its budget ends the run there."""

    async def before_tool(call: ToolCall, state: State) -> None:
        await trio.sleep(20)

    run = bench(parts, parts.reply(save()), guards=[OnlyBefore(before_tool)], budget=Budget(seconds=5))
    await run.run()
    assert (run.outcome.limit, run.notes, trio.current_time()) == ("seconds", [], 5.0)


def test_an_engine_driven_by_the_record_says_the_same_as_with_the_guards(parts: Any) -> None:
    """How a replay answers: `AskGuards` from the next ``loop.guard`` note when it is of this step, moment and call, else nothing
    said. Events, requests and notes come out the same, without any guard."""
    from foxloop_trio.actions import ToolOutput as Output
    from foxloop_trio.guarding import GuardChain
    from foxloop_trio.loop._effects import AskGuards, AskPlanner, Emit, GateCheck, Ok, RunTool, ToolEnd, Turn
    from foxloop_trio.loop._effects import Note as NoteEffect
    from foxloop_trio.loop._engine import Engine, Setup
    from foxloop_trio.tools import define_tools

    def drive(answer_guards: Callable[[Engine, AskGuards], Said]) -> tuple[list[Any], list[Any], list[Any]]:
        setup = Setup(
            goal="g", run_id="r", nonce="00112233aabbccdd", tools=define_tools([parts.save_note([])]), max_steps=6,
            max_calls_per_turn=4, budget=Budget(), can_ask=False, has_check=False, recorded=True, cancel_grace=5.0, start_record={},
            guarded=True,
        )  # fmt: skip
        gate, engine = parts.StubGate(), Engine(setup)
        events, notes, requests = [], [], []
        steps = engine.run()
        effect = next(steps)
        while True:
            answer: Any = Ok()
            match effect:
                case Emit(event=event):
                    events.append(event)
                case NoteEffect(kind=kind, data=data):
                    notes.append((kind, data))
                case AskPlanner(messages=messages):
                    requests.append([dict(message) for message in messages])
                    number = len(requests)
                    function = [{"name": "save_note", "arguments": f'{{"text": "{number}{letter}"}}'} for letter in "ab"]
                    calls = [{"id": f"c{number}{i}", "type": "function", "function": one} for i, one in enumerate(function)]
                    answer = Ok(ChatReply(message={"role": "assistant", "content": None, "tool_calls": calls}))
                case GateCheck(action=action):
                    answer = Ok(gate.allow(action))
                case RunTool(args=args):
                    answer = Ok(ToolEnd(output=Output(ok=True, summary=f"Saved {args['text']}.")))
                case Turn():
                    answer = Ok(True)
                case AskGuards():
                    answer = Ok(answer_guards(engine, effect))
            try:
                effect = steps.send(answer)
            except StopIteration:
                return events, notes, requests

    guard = Told(
        on_run_start=Note("welcome"),
        before_model=[None, Note("hurry")],
        after_model=[None, None, Block("not these"), None],
        before_tool=[
            Rewrite({"text": "oats"}, "changed"),
            None,
            Block("no"),
            None,
            ZeroDivisionError("x"),
            Stop("policy", {"why": "end"}),
        ],
        after_tool=[None, Note("seen")],
    )
    chain = GuardChain([guard])

    def live(engine: Engine, effect: AskGuards) -> Said:
        coroutine = (chain.start if effect.moment == "on_run_start" else getattr(chain, effect.moment))(*effect.args)
        try:
            coroutine.send(None)
        except StopIteration as end:
            said: Said = end.value
            return said
        raise AssertionError("it waited")

    first = drive(live)
    left = [data for kind, data in first[1] if kind == "loop.guard"]
    assert len(left) >= 8

    def recorded(engine: Engine, effect: AskGuards) -> Said:
        call = effect.args[0] if effect.moment in ("before_tool", "after_tool") else None
        step = {"on_run_start": 0, "before_model": engine.step + 1}.get(effect.moment, engine.step)
        head = {"step": step, "moment": effect.moment, "id": call.id if call is not None else None}
        about = call if effect.moment == "before_tool" else None
        if left and {name: left[0].get(name) for name in head} == head:
            return said_from_json(left.pop(0), about)
        return Said(call=about)

    assert drive(recorded) == first
    assert left == []
    assert first[0][-1].type == "blocked"
