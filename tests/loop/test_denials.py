"""Denials that a planner may learn from, and those it may not (loop specification, section 10 and 7.3)."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.actions import Deny
from foxloop_trio.errors import BadOptionsError
from foxloop_trio.loop import Denials

NO = Deny(reason="no-grant", message="nothing matches")
SPENT = Deny(reason="token-used", message="spent")


def retried(reason: str) -> bool:
    return True


async def yes(request: Any) -> str:
    return "t"


def results(events: list[Any]) -> list[str | None]:
    return [event.reason for event in events if event.type == "tool-result"]


@pytest.mark.parametrize(
    ("fields", "name"),
    [({"retry": "yes"}, "retry"), ({"retry": retried, "limit": 0}, "limit"), ({"retry": retried, "limit": True}, "limit"),
     ({"retry": retried, "limit": 2.0}, "limit")],
)  # fmt: skip
def test_a_retry_that_is_no_function_or_a_limit_below_one_is_refused_and_named(fields: Any, name: str) -> None:
    """Section 1: bad-options; a limit of one is one."""
    with pytest.raises(BadOptionsError, match=f"Denials.{name}"):
        Denials(**fields)
    assert Denials(retry=retried).limit == 3


async def test_without_denials_every_deny_stops_and_leaves_no_result(parts: Any) -> None:
    """7.1 step 13: no tool-result and no history entry in the stopping case."""
    bench = parts.Bench(parts.reply(parts.call(text="a"), parts.call(text="b")), gate=parts.StubGate(NO))
    events = await bench.run()
    assert parts.told(events) == ["plan", "tool-call", "decision deny", "blocked gate-deny"]
    assert len(bench.planner.seen) == 1


async def test_a_limit_of_one_stops_at_the_first_denial(parts: Any) -> None:
    """The limit-th denial in a row ends the run: with one, there is no other way to find."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=parts.StubGate(NO), denials=Denials(retry=retried, limit=1))
    events = await bench.run()
    assert events[-1].reason == "gate-deny"
    assert events[-1].message.startswith("no-grant: nothing matches")
    assert results(events) == []


async def test_a_denial_ends_its_batch_and_each_call_is_answered(parts: Any) -> None:
    """Section 10 with 7.2: the rest is skipped, and pairing holds in the next request."""
    calls = [parts.call(text="a"), parts.call(text="b"), parts.call(text="c")]
    bench = parts.Bench(parts.reply(*calls), parts.reply(), gate=parts.StubGate("allow", NO), denials=Denials(retry=retried))
    events = await bench.run()
    assert results(events) == [None, "gate-deny", "skipped"]
    messages = bench.planner.seen[1]
    assert [message["tool_call_id"] for message in messages[3:6]] == [call["id"] for call in messages[2]["tool_calls"]]
    assert "nothing matches" in messages[4]["content"]
    assert bench.notes == ["a"]


async def test_a_denial_clears_the_last_check(parts: Any) -> None:
    """Section 10: an early passing check cannot cover for what was refused later."""
    script = [parts.reply(parts.call(text="a")), parts.reply(parts.call(text="b")), parts.FINISH, parts.FINISH]
    bench = parts.Bench(*script, gate=parts.StubGate("allow", NO), denials=Denials(retry=retried))
    events = await bench.run()
    assert [event.ok for event in events if event.type == "check"] == [False, False]


async def test_denials_neither_add_to_failures_nor_take_them_away(parts: Any) -> None:
    """11.3: two failures, a denial, a third failure: repeated-failure."""
    bad = parts.reply(parts.call())
    script = [bad, parts.reply({"name": "save_note", "args": {"text": 1}}), parts.reply(parts.call(text="a")), bad]
    events = await parts.Bench(*script, gate=parts.StubGate(NO), denials=Denials(retry=retried)).run()
    assert results(events) == ["invalid-args", "invalid-args", "gate-deny", "invalid-args"]
    assert events[-1].reason == "repeated-failure"


async def test_an_allow_at_redeem_starts_the_count_of_denials_anew(parts: Any) -> None:
    """Section 10: from check or redeem."""
    script = [parts.reply(parts.call(text=str(number))) for number in range(6)]
    gate = parts.StubGate(NO, NO, "ask", NO, NO, NO)
    bench = parts.Bench(*script, gate=gate, denials=Denials(retry=retried), on_approval=yes)
    events = await bench.run()
    assert (events[-1].reason, bench.notes, bench.last.statistics().step) == ("gate-deny", ["2"], 6)


async def test_a_deny_at_redeem_is_never_retried(parts: Any) -> None:
    """7.3: retry is not even asked."""
    asked: list[str] = []

    def retry(reason: str) -> bool:
        asked.append(reason)
        return True

    gate = parts.StubGate("ask")
    gate.redeem_answers = [SPENT]
    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=gate, denials=Denials(retry=retry), on_approval=yes)
    events = await bench.run()
    assert (events[-1].reason, events[-1].message) == ("gate-deny", "token-used: spent")
    assert (asked, results(events), bench.notes) == ([], [], [])


async def test_retry_is_asked_with_the_reason_and_may_be_async(parts: Any) -> None:
    """Section 10: it decides by the deny reason; any truthy answer is a yes."""
    asked: list[str] = []

    async def retry(reason: str) -> Any:
        asked.append(reason)
        return "yes"

    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=parts.StubGate(NO), denials=Denials(retry=retry), max_steps=1)
    assert results(await bench.run()) == ["gate-deny"]
    assert asked == ["no-grant"]


async def test_a_truth_that_cannot_be_told_is_a_no(parts: Any) -> None:
    """GB-L6: an answer of `retry` whose truth value raises stops the run as a deny, and nothing raw leaves the stream."""

    class Odd:
        def __bool__(self) -> bool:
            raise ValueError("neither")

    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=parts.StubGate(NO), denials=Denials(retry=lambda reason: Odd()))
    assert (await bench.run())[-1].reason == "gate-deny"


@pytest.mark.parametrize("denials", [None, Denials(retry=retried)])
async def test_the_planner_is_told_what_a_refusal_means_for_this_loop(parts: Any, denials: Any) -> None:
    """13.2: a refusal stops the run; with `denials` some come back and another way must be found."""
    from foxloop_trio import prompt

    bench = parts.Bench(parts.FINISH, parts.FINISH, denials=denials)
    await bench.run()
    assert bench.planner.seen[0][0]["content"] == prompt.planner_prompt(denials=denials is not None)


async def test_a_denial_counts_no_tool_run_and_a_repeated_one_is_a_repeated_call(parts: Any) -> None:
    """12.3 counts allowed calls only; 11.1 comes before the gate, so the third identical refused call ends the run."""
    same = [parts.reply(parts.call(text="a")) for _ in range(3)]
    bench = parts.Bench(*same, gate=parts.StubGate(NO, NO, NO), denials=Denials(retry=retried, limit=9))
    events = await bench.run()
    assert (events[-1].reason, len(bench.gate.checked), bench.last.statistics().tool_runs) == ("repeated-call", 2, 0)
