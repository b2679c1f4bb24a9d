"""`foxloop-trio bench react`: facade and bare loop take turns, and both figures are held against their targets."""

from __future__ import annotations

import json

import pytest

from foxloop_trio.cli import _bench_ours, _bench_react
from foxloop_trio.cli._app import run
from foxloop_trio.cli._bench_measure import BARE, Cell, Taken
from foxloop_trio.cli._bench_react import REACT, ReactSample, ReadyLlm, contenders, figures, ready_replies
from foxloop_trio.cli._bench_work import TOOL_NAME, arguments


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run a sample: what is tested is the command and not the speed."""
    monkeypatch.setattr(_bench_ours, "STEPS_A_SAMPLE", 1)


def taken(name: str, steps: int, seconds: float) -> Taken:
    return Taken(cell=Cell(name=name, steps=steps, sample=lambda _: 0.0), seconds=[seconds])


def test_the_json_has_every_contender_and_both_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """For programs: times are positive, each figure says whether it is met, and nothing else is on stdout."""
    assert run(["bench", "react", "--steps", "2", "--repeat", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["steps"]) for one in told["contenders"]] == [(BARE, 2), (REACT, 2), (REACT, 30)]
    assert all(one["median_us"] >= one["least_us"] > 0 for one in told["contenders"])
    assert [figure["target"] for figure in told["figures"]] == ["at most 2.5", "at most 1.15"]
    assert all(figure["met"] in (True, False) for figure in told["figures"])


def test_the_table_shows_contenders_and_targets(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """For people."""
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["bench", "react", "--steps", "1", "--repeat", "2"]) == 0
    out = capsys.readouterr().out
    for words in (BARE, REACT, "at most 2.5", "at most 1.15", "No hooks and no guards."):
        assert words in out


def test_the_help_says_what_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """And the options with their defaults."""
    assert run(["bench", "react", "--help"]) == 0
    out = capsys.readouterr().out
    assert "against a bare Trio loop" in " ".join(out.split())
    assert "--json" in out


def test_each_target_is_met_at_its_border_and_missed_beyond() -> None:
    """At most 2.5 times the bare loop, at most 1.15 times in a long run."""
    good = figures([taken(BARE, 20, 2.0), taken(REACT, 20, 5.0), taken(REACT, 300, 5.75)], 20, 300)
    bad = figures([taken(BARE, 20, 2.0), taken(REACT, 20, 5.1), taken(REACT, 300, 6.0)], 20, 300)
    assert [figure.met for figure in good] == [True, True]
    assert [figure.met for figure in bad] == [False, False]


def test_a_sample_makes_all_its_calls() -> None:
    """It asserts within itself that the run is done; here, that it comes back with a time, and what its model says."""
    assert ReactSample()(3) > 0
    assert [cell.name for cell in contenders(20, 300)] == [BARE, REACT, REACT]
    replies = ready_replies(2)
    assert [reply["tool_calls"][0]["name"] for reply in replies] == [TOOL_NAME, TOOL_NAME, "task_done"]
    assert json.loads(replies[1]["tool_calls"][0]["arguments"]) == arguments(1)
    assert isinstance(_bench_react.ReadyLlm(replies), ReadyLlm)
