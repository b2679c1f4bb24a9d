"""`foxloop-trio bench loop`: it measures what it says, in turn, and holds each figure against its target."""

import gc
import json
from typing import Any

import pytest

from foxloop_trio.cli import _bench, _bench_frameworks, _bench_ours
from foxloop_trio.cli._app import run
from foxloop_trio.cli._bench_measure import ABORT, BARE, BY_HAND, OURS, PAGES, TRAIL, Cell, Figure, Taken, figures, take
from foxloop_trio.cli._bench_work import TOOL_NAME, Notes, ReadyPlanner, arguments, bare_loop, compile_check, replies

NAMES = [BARE, BY_HAND, OURS, PAGES, TRAIL, f"{OURS}, real gate", f"{OURS}, real gate, memory trail"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run a sample and no frameworks: what is tested is the command and not the speed."""
    monkeypatch.setattr(_bench_ours, "STEPS_A_SAMPLE", 1)
    monkeypatch.setattr(_bench_frameworks, "installed", lambda _: None)


def cells(**seconds: float) -> list[Taken]:
    """What `take` gives when every sample of a contender took so many seconds."""
    names = {"bare": (BARE, 20), "ours": (OURS, 20), "long": (OURS, 300), "other": ("Other 1.0", 20), "abort": (ABORT, 1)}
    taken = []
    for key, value in seconds.items():
        name, steps = names[key]
        cell = Cell(name=name, steps=steps, sample=lambda _: 0.0, framework=key == "other")
        taken.append(Taken(cell=cell, seconds=[value]))
    for name in (PAGES, TRAIL):
        taken += [Taken(cell=Cell(name=name, steps=steps, sample=lambda _: 0.0), seconds=[1.0]) for steps in (20, 300)]
    return taken


def by_name(found: list[Figure]) -> dict[str, tuple[float, bool]]:
    return {figure.name: (round(figure.value, 6), figure.met) for figure in found}


def test_the_json_has_every_contender_and_every_figure_with_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    """For programs: all times are there and positive, each figure says whether it is met, and progress is not on stdout."""
    assert run(["bench", "loop", "--steps", "2", "--repeat", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["steps"], told["repeat"]) == (2, 1)
    assert [one["name"] for one in told["contenders"]] == [BARE, BY_HAND, OURS, OURS, PAGES, PAGES, TRAIL, TRAIL, *NAMES[5:], ABORT]
    assert [one["steps"] for one in told["contenders"]] == [2, 2, 2, 30, 2, 30, 2, 30, 2, 2, 1]
    assert all(one["median_us"] >= one["least_us"] > 0 for one in told["contenders"])
    assert [figure["target"] for figure in told["figures"]] == ["at most 4, aim 3", *["at most 1.15"] * 3, "under 1"]
    assert all(figure["met"] in (True, False) for figure in told["figures"])
    assert told["not_installed"] == ["pydantic-ai", "LangGraph", "openai-agents"]


def test_the_table_shows_targets_and_what_was_not_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For people: each contender has a row, and what is absent is named."""
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["bench", "loop", "--steps", "1", "--repeat", "2"]) == 0
    out = capsys.readouterr().out
    for words in (
        *NAMES,
        "at most 4, aim 3",
        "at most 1.15",
        "Not installed, so not measured: pydantic-ai, LangGraph, openai-agents.",
    ):
        assert words in out


@pytest.mark.parametrize("option", [["--steps", "0"], ["--repeat", "0"], ["--steps", "many"]], ids=" ".join)
def test_a_number_that_measures_nothing_is_a_usage_error(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, naming the option."""
    assert run(["bench", "loop", *option]) == 2
    assert option[0] in capsys.readouterr().err


def test_each_target_is_met_at_its_border_and_missed_beyond() -> None:
    """At most 4 times the bare loop, at most 1.15 times in a long run, at least 20 times cheaper, under a millisecond."""
    good = by_name(figures(cells(bare=1.0, ours=4.0, long=4.6, other=80.0, abort=0.0009), 20, 300))
    bad = by_name(figures(cells(bare=1.0, ours=4.1, long=4.8, other=81.0, abort=0.001), 20, 300))
    assert good[f"{OURS} / {BARE}"] == (4.0, True)
    assert bad[f"{OURS} / {BARE}"] == (4.1, False)
    growth = f"{OURS}: a step of 300 / a step of 20"
    assert (good[growth][1], bad[growth][1]) == (True, False)
    others = f"Other 1.0, the fastest framework / {OURS}"
    assert good[others] == (20.0, True)
    assert bad[others][1] is False
    abort = "abort() to the event aborted"
    assert (good[abort], bad[abort]) == ((0.9, True), (1.0, False))


def test_contenders_take_turns_and_the_first_round_does_not_count() -> None:
    """One sample each, then the next of each; the first has imports and compiling in it."""
    order: list[str] = []

    def sampler(name: str) -> Any:
        def sample(steps: int) -> float:
            order.append(f"{name}{steps}")
            return float(len(order))

        return sample

    told: list[str] = []
    taken = take([Cell(name=name, steps=7, sample=sampler(name)) for name in "ab"], 2, told.append)
    assert order == ["a7", "b7"] * 3
    assert told == ["a", "b"] * 3
    assert [one.seconds for one in taken] == [[3.0, 5.0], [4.0, 6.0]]
    assert (taken[0].median, taken[0].least) == (4.0, 3.0)
    assert gc.get_freeze_count() == 0


def test_a_framework_that_fails_is_left_out_with_its_words_and_asked_once() -> None:
    """Another version of it, perhaps; the rest is measured all the same."""
    asked: list[int] = []

    def broken(steps: int) -> float:
        asked.append(steps)
        raise ImportError("no such name")

    taken = take(
        [Cell(name="Other 2.0", steps=3, sample=broken, framework=True), Cell(name="b", steps=3, sample=lambda _: 1.0)], 2, str
    )
    assert asked == [3]
    assert taken[0].to_json() == {"name": "Other 2.0", "steps": 3, "left_out": "ImportError: no such name"}
    assert taken[1].seconds == [1.0, 1.0]


def test_a_fault_of_our_own_comes_out_of_the_benchmark() -> None:
    """A benchmark that swallows it would measure a loop that does nothing."""

    def broken(_: int) -> float:
        raise RuntimeError("the loop is broken")

    with pytest.raises(RuntimeError, match="the loop is broken"):
        take([Cell(name=OURS, steps=1, sample=broken)], 1, str)


@pytest.mark.parametrize("sample", [{}, {"trail": True}, {"real_gate": True}, {"page_text": True}], ids=str)
def test_a_sample_of_our_loop_does_all_its_calls(sample: dict[str, bool]) -> None:
    """It asserts within itself that the run is done and that every call was made; here, that it comes back with a time."""
    assert _bench_ours.OurSample(**sample)(3) > 0


async def test_the_bare_loop_does_the_same_work() -> None:
    """Each call's note is saved once, and the history has a message of the planner's and one of the tool's for each."""
    notes = Notes()
    messages = await bare_loop(ReadyPlanner(replies(3)), notes, compile_check())
    assert notes.saved == [arguments(step)["text"] for step in range(3)]
    assert [message["role"] for message in messages] == ["user", *["assistant", "tool"] * 3, "assistant"]


def test_the_gate_that_allows_at_once_hands_out_answers_of_the_real_gate() -> None:
    """A stub cannot make a permit; a contender that ran without one would not be our loop."""

    async def main() -> None:
        gate = await _bench_ours.granted(_bench_ours.save_note(Notes()))
        stub = await _bench_ours.allowed_before(gate, 1)
        action = _bench_ours.Action(tool=TOOL_NAME, args=arguments(0), domain=_bench_ours.HOST, scope="fill")
        decision = await stub.check(action)
        assert decision.decision == "allow"
        assert decision.permit.action == action
        assert decision.permit.alive

    _bench_ours.trio.run(main)


def test_a_framework_that_is_installed_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its version in its name, so that a table says what was measured."""
    monkeypatch.setattr(_bench_frameworks, "installed", lambda package: "1.2" if package == "langgraph" else None)
    found, absent = _bench.contenders(20, 300)
    assert [cell.name for cell in found if cell.framework] == ["LangGraph 1.2"]
    assert absent == ["pydantic-ai", "openai-agents"]
