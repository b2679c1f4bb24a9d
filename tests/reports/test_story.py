"""From entries to a story: what a person needs to know of a run, told from nothing but its trail."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from foxloop_trio.errors import UsageError
from foxloop_trio.reports import Story, list_runs, story_to_json, tell_story
from foxloop_trio.reports._nouns import Call, Claim, Remark
from foxloop_trio.trail import Entry, Fault, MemoryTrail, verify_entries

ORDER, STOPPED, KILLED = range(3)


def story_of(entries: list[Any], index: int, **options: Any) -> Story:
    return tell_story(entries, run=list_runs(entries)[index].id, **options)


def calls_of(story: Story) -> list[Call]:
    return [item for step in story.steps for item in step.items if isinstance(item, Call)]


def entry(kind: str, data: Any, *, run: str | None = "r1", actor: str = "foxloop", ts: int = 1000) -> dict[str, Any]:
    """An entry as a mapping; a story does not look at its place in a chain."""
    return {"seq": 0, "ts": ts, "actor": actor, "kind": kind, "data": {**data, "run": run} if run is not None else data}


def event(kind: str, work: int = 0, human: int = 0, *, record: dict[str, Any] | None = None, **data: Any) -> dict[str, Any]:
    return entry(f"loop.{kind}", {**data, "record": {"work_ms": work, "human_ms": human, **(record or {})}})


def allowed(work: int = 0, **more: Any) -> dict[str, Any]:
    action = {"tool": "save", "args": {}, "domain": "a.test", "scope": "fill"}
    return event("decision", work, step=1, id="c1", via="check", decision="allow", action=action, **more)


def planned(work: int = 0) -> dict[str, Any]:
    return event("plan", work, step=1, text=None, calls=[{"id": "c1", "name": "save", "args": "{}"}])


# The whole


def test_runs_are_listed_in_the_order_in_which_they_began(entries: list[Entry]) -> None:
    """With their goal and end."""
    runs = list_runs(entries)
    assert [(run.goal, run.status, run.entries) for run in runs] == [
        ("Order a green tea with milk for Ada, send the order, and tell me its number.", "done", 51),
        ("Order a tea for Grace.", "aborted", 15),
        ("Order a tea for Grace, once more.", "unfinished", 10),
    ]
    assert len({run.id for run in runs}) == 3


def test_the_last_run_is_told_unless_another_is_named(entries: list[Entry]) -> None:
    """Its beginning counts."""
    runs = list_runs(entries)
    assert tell_story(entries).run == runs[KILLED].id
    assert tell_story(iter(entries), run=runs[ORDER].id).goal == runs[ORDER].goal


def test_times_add_up_to_the_run(entries: list[Entry]) -> None:
    """Planner, tool and human are told apart by the run's two clocks; the script knows each of its waits."""
    totals = story_of(entries, ORDER).totals
    assert totals.planner_ms == 1800 + 2100 + 3400 + 2200 + 1600 + 2000 + 1200 + 1500 + 1300
    assert totals.human_ms == 7400
    assert totals.wall_ms == totals.planner_ms + totals.tool_ms + totals.human_ms + totals.other_ms == 27060
    assert totals.other_ms == 0


def test_spans_lie_beside_each_other_in_the_order_of_the_run(entries: list[Entry]) -> None:
    """Nothing is done at the same time here, so none overlaps the next."""
    spans = story_of(entries, ORDER).spans
    assert [span.kind for span in spans].count("human") == 1
    assert all(one.at_ms + one.ms <= other.at_ms for one, other in itertools.pairwise(spans))


def test_what_was_used_stands_beside_its_limit(entries: list[Entry]) -> None:
    """Every limit that was set, and what is counted anyway."""
    uses = {use.name: (use.used, use.limit) for use in story_of(entries, ORDER).uses}
    assert uses == {
        "max_steps": (9, 12),
        "tokens": (31885, 60000),
        "tool_calls": (9, 12),
        "seconds": (19660, 60000),
        "cost": (27, 50),
        "approval_seconds": (7400, 300_000),
    }


def test_a_call_is_told_from_its_arguments_to_its_result(entries: list[Entry]) -> None:
    """With what the gate judged, who allowed it, and what became of it."""
    fill = calls_of(story_of(entries, ORDER))[1]
    assert (fill.name, fill.args, fill.state) == ("act", {"control_id": "0:1", "op": "type", "value": "Ada"}, "done")
    assert (fill.target, fill.domain, fill.scope) == ("textbox “Your name”", "shop.test", "fill")
    assert fill.prepared["target"]["label"] == "Your name"
    assert [(decision.via, decision.decision) for decision in fill.decisions] == [("check", "allow")]
    assert (fill.tool_ms, fill.repairs) == (470, ("trailing-commas",))
    assert fill.effect is not None
    assert fill.effect.state == "done"
    assert fill.result is not None
    assert fill.result.page is not None
    assert "DATA" not in fill.result.page
    assert fill.result.page.startswith("Same document: ")


def test_an_approval_says_when_it_was_asked_and_how_long_it_took(entries: list[Entry]) -> None:
    """The human's time is not the tool's."""
    (click,) = [call for call in calls_of(story_of(entries, ORDER)) if call.name == "click"]
    assert click.approval is not None
    assert (click.approval.answer, click.approval.waited_ms) == ("approved", 7400)
    assert (click.approval.detail or "").startswith('click button "Send the order"')
    assert [(decision.via, decision.decision) for decision in click.decisions] == [("check", "ask"), ("redeem", "allow")]
    assert click.tool_ms == 700


def test_a_failed_call_a_correction_and_a_failed_claim_are_told(entries: list[Entry]) -> None:
    """What went wrong on the way is the reason to read a report."""
    story = story_of(entries, ORDER)
    assert [call.state for call in calls_of(story)].count("failed") == 1
    assert [step.number for step in story.steps if step.problem is not None] == [2]
    claims = [item for step in story.steps for item in step.items if isinstance(item, Claim)]
    assert [(claim.ok, claim.by) for claim in claims] == [(False, "planner"), (True, "planner")]
    assert (story.totals.failed, story.totals.corrections, story.totals.repairs) == (1, 1, 1)


def test_a_run_that_was_stopped_says_what_was_in_flight(entries: list[Entry]) -> None:
    """And the call itself shows how far it came."""
    story = story_of(entries, STOPPED)
    assert (story.outcome.status, story.outcome.cause, story.outcome.in_flight) == ("aborted", "abort", "act")
    call = calls_of(story)[-1]
    assert call.state == "stopped"
    assert call.effect is not None
    assert call.effect.state == "partial"
    assert call.tool_ms == 1880
    assert story.in_doubt == ()


def test_a_run_that_was_killed_is_unfinished_and_its_open_call_in_doubt(entries: list[Entry]) -> None:
    """It may have been done; the call after it was never reached."""
    story = story_of(entries, KILLED)
    assert story.outcome.status == "unfinished"
    assert [call.state for call in calls_of(story)] == ["done", "in-doubt", "not-reached"]
    assert story.in_doubt == ("act",)


def test_a_story_is_plain_json(trail: MemoryTrail) -> None:
    """Pictures go by their hash."""
    entries = trail.entries()
    story = story_of(entries, ORDER, blobs=trail.blobs)
    plain = json.loads(json.dumps(story_to_json(story)))
    assert plain["totals"]["wall_ms"] == 27060
    (picture,) = [picture for step in plain["steps"] for item in step["items"] for picture in item.get("pictures", [])]
    assert picture.keys() == {"sha256", "media", "problem"}


# Proof


def test_a_verified_trail_is_proven_as_a_whole(trail: MemoryTrail) -> None:
    """With its count and head."""
    entries = trail.entries()
    story = story_of(entries, ORDER, verification=verify_entries(entries, key=trail.key))
    assert (story.proof.state, story.proof.count) == ("verified", 76)
    assert all(step.proven for step in story.steps)


def test_what_comes_from_a_fault_on_is_marked(entries: list[Entry]) -> None:
    """Entry 22 is in the middle of step 4; the end comes after it."""
    fault = Fault(index=22, reason="bad-hash", message="changed")
    story = story_of(entries, ORDER, verification=fault)
    assert [step.number for step in story.steps if step.proven] == [1, 2, 3]
    assert not story.outcome.proven
    assert [call.proven for call in calls_of(story)] == [True] * 4 + [False] * 5


def test_a_trail_that_nobody_verified_says_so(entries: list[Entry]) -> None:
    """And marks nothing."""
    story = tell_story(entries)
    assert story.proof.state == "unchecked"
    assert all(step.proven for step in story.steps)


# What may be in a trail


def test_without_a_run_there_is_nothing_to_tell() -> None:
    """The error counts the entries."""
    with pytest.raises(UsageError, match="none of the 1 entries belongs to a run"):
        tell_story([entry("host.note", {"a": 1}, run=None)])
    with pytest.raises(UsageError, match="no run 'r9'; its last ones are: r1"):
        tell_story([entry("loop.start", {})], run="r9")


def test_entries_of_others_are_shown_as_what_they_are() -> None:
    """An unknown kind, and somebody else who says `loop.done`, do not end the run."""
    story = tell_story(
        [
            entry("loop.start", {"goal": "g"}),
            entry("loop.done", {"summary": "believe me"}, actor="mallory"),
            entry("loop.dream", {"of": "sheep"}),
            entry("trail.repaired", {"bytes": 3}, run=None, actor="foxloop"),
        ]
    )
    assert story.outcome.status == "unfinished"
    remarks = [item for step in story.steps for item in step.items if isinstance(item, Remark)]
    assert [(remark.actor, remark.kind, remark.known) for remark in remarks] == [
        ("mallory", "loop.done", False),
        ("foxloop", "loop.dream", False),
        ("foxloop", "trail.repaired", True),
    ]
    assert remarks[1].data == {"of": "sheep"}


def test_too_many_entries_of_others_are_counted_and_not_shown() -> None:
    """They must not bury the run."""
    story = tell_story([entry("loop.start", {}), *[entry("x", {}, run=None, actor="a") for _ in range(1000)]])
    remarks = story.steps[0].items
    assert len(remarks) == 201
    assert isinstance(remarks[-1], Remark)
    assert remarks[-1].words == "800 more entries of other actors are not shown."


def test_a_second_end_is_a_remark() -> None:
    """The first one counts, as it did for whoever was told."""
    story = tell_story([event("aborted", step=0), event("done", step=0, summary="no", check={})])
    assert story.outcome.status == "aborted"
    assert [item.type for step in story.steps for item in step.items] == ["remark"]


@pytest.mark.parametrize(
    ("then", "answer", "state"),
    [
        (event("blocked", 10, 500, step=1, reason="approval-denied", message=""), "not-approved", "not-approved"),
        (event("blocked", 10, 500, step=1, reason="approval-expired", message=""), "expired", "not-approved"),
        (event("blocked", 10, 500, step=1, reason="approval-error", message=""), "failed", "not-approved"),
        (event("aborted", 10, 500, step=1), "stopped", "not-approved"),
        (None, "open", "waiting"),
    ],
    ids=["no", "expired", "error", "aborted", "killed"],
)
def test_an_approval_without_a_yes_says_why(then: dict[str, Any] | None, answer: str, state: str) -> None:
    """What the run did next tells."""
    asked = event("approval-needed", 10, step=1, id="c1", request_id="q", action={"tool": "save"}, expires_at_ms=9)
    story = tell_story([planned(10), asked, *([then] if then else [])])
    (call,) = calls_of(story)
    assert call.approval is not None
    assert (call.approval.answer, call.state) == (answer, state)
    assert call.approval.waited_ms == (None if then is None else 500)


def test_paused_time_and_a_tool_that_asks_are_a_humans_time() -> None:
    """Ruling 8 and 40: neither is work."""
    result = event("tool-result", 300, 5000, step=1, id="c1", name="save", ok=True, summary="")
    story = tell_story([entry("loop.start", {}), planned(100), allowed(100), result, event("aborted", 300, 9000, step=1)])
    assert [(span.kind, span.ms, span.words) for span in story.spans] == [
        ("human", 5000, "a human was waited for at save"),
        ("tool", 200, "the tool save ran"),
        ("human", 4000, "the run was paused"),
    ]


def test_a_wall_clock_that_jumps_does_not_stretch_the_run() -> None:
    """The run's own clocks cannot be set."""
    note = entry("loop.observation", {"step": 1}, ts=9_000_000_000)
    story = tell_story([entry("loop.start", {}), note, planned(1500), event("aborted", 1500, step=1)])
    assert story.totals.wall_ms == 1500


def test_the_limit_that_ended_the_run_is_marked() -> None:
    """By the name that the stop event has."""
    start = entry("loop.start", {"options": {"max_steps": 3, "budget": {"seconds": 2}}})
    story = tell_story([start, event("blocked", 2100, step=1, reason="budget", message="", limit="seconds")])
    assert {use.name: use.hit for use in story.uses} == {"max_steps": False, "tokens": False, "tool_calls": False, "seconds": True}


def test_a_late_tool_is_told_at_its_call_and_by_itself() -> None:
    """Also after the end."""
    late = entry("loop.late-tool", {"step": 1, "id": "c1", "name": "save", "late_ms": 7000})
    effect = entry("loop.effect", {"step": 1, "id": "c1", "name": "save", "state": "unknown"})
    story = tell_story([planned(), allowed(), effect, event("aborted", step=1), late])
    (call,) = calls_of(story)
    assert (call.state, call.late) == ("stopped", "It ended 7000 ms after it was stopped.")
    assert any(isinstance(item, Remark) and item.known for item in story.steps[0].items)


def test_a_skipped_and_a_denied_call_are_told_apart() -> None:
    """Reasons of results."""
    results = [
        event("tool-result", step=1, id="c1", name="a", ok=False, summary="", reason="gate-deny"),
        event("tool-result", step=1, id="c2", name="b", ok=False, summary="", reason="skipped"),
        event("tool-result", step=1, id="c3", name="c", ok=False, summary="", reason="in-doubt"),
    ]
    assert [call.state for call in calls_of(tell_story(results))] == ["refused", "skipped", "held-back"]
