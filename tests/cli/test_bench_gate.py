"""`foxloop-trio bench gate`: it asks what it says, by store and number of grants, and holds each figure against its target."""

import json
from typing import Any

import pytest

from foxloop_trio.cli import _bench_gate_work
from foxloop_trio.cli._app import run
from foxloop_trio.cli._bench_gate_work import (
    CAPS,
    CHECK,
    FEW,
    MANY,
    REDEEM,
    SAME_HOST,
    SOME,
    SQLITE_CHECK,
    SQLITE_REDEEM,
    Sample,
    cells,
    checks,
    checks_of_money,
    figures,
    in_memory,
    redeems,
    sqlite_store,
)
from foxloop_trio.cli._bench_measure import Cell, Taken

MEMORY = [(CHECK, 1), (CHECK, FEW), (CHECK, SOME), (CHECK, MANY), (SAME_HOST, FEW), (SAME_HOST, MANY), (CAPS, 1), (REDEEM, 1)]
SQLITE = [(SQLITE_CHECK, 1), (SQLITE_REDEEM, 1)]
SMALL = ["bench", "gate", "--calls", "1", "--repeat", "1"]


def taken(**seconds: float) -> list[Taken]:
    """What `take` gives when every sample of a question took so many seconds; those that are not named took 1."""
    keys = {(CHECK, 1): "one", (CHECK, FEW): "few", (CHECK, MANY): "many", (SAME_HOST, FEW): "here", (SAME_HOST, MANY): "all_here"}
    return [
        Taken(cell=Cell(name=name, steps=grants, sample=lambda _: 0.0), seconds=[seconds.get(keys.get((name, grants), ""), 1.0)])
        for name, grants in MEMORY
    ]


def test_the_json_has_every_question_and_every_figure_with_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    """For programs: times are there and positive, and progress is not on stdout."""
    assert run([*SMALL, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["calls"], told["repeat"], told["not_there"]) == (1, 1, [])
    assert [(one["name"], one["grants"]) for one in told["questions"]] == [*MEMORY, *SQLITE]
    assert all(one["median_us"] >= one["least_us"] > 0 for one in told["questions"])
    assert [figure["target"] for figure in told["figures"]] == ["at most 60", "at most 3", "at most 3"]
    assert all(figure["met"] in (True, False) for figure in told["figures"])
    assert {"python", "trio"} <= told.keys()


def test_the_table_shows_questions_targets_and_what_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For people; without an SQLite store its rows are left out, and that is said."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(_bench_gate_work, "sqlite_store", lambda: None)
    assert run(SMALL) == 0
    out = capsys.readouterr().out
    for words in (CHECK, SAME_HOST, CAPS, REDEEM, "at most 60", "at most 3", "Not there, so not measured: the SQLite store."):
        assert words in out
    assert SQLITE_CHECK not in out


@pytest.mark.parametrize("option", [["--calls", "0"], ["--calls", "401"], ["--repeat", "0"], ["--repeat", "many"]], ids=" ".join)
def test_a_number_that_measures_nothing_is_a_usage_error(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, naming the option. More redeems than that in one gate would meet its limit on stored requests."""
    assert run(["bench", "gate", *option]) == 2
    assert option[0] in capsys.readouterr().err


def test_help_says_what_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """With every option."""
    assert run(["bench", "gate", "--help"]) == 0
    out = capsys.readouterr().out
    for words in ("--calls", "--repeat", "--json", "the gate takes to answer"):
        assert words in out


def test_each_target_is_met_at_its_border_and_missed_beyond() -> None:
    """60 us for an allow, and 3 times the time of 10 grants for 1,000."""
    good = figures(taken(one=60e-6, few=1.0, many=3.0, here=1.0, all_here=3.0))
    bad = figures(taken(one=61e-6, few=1.0, many=3.1, here=1.0, all_here=3.1))
    assert [figure.met for figure in good] == [True] * 3
    assert [figure.met for figure in bad] == [False] * 3
    assert [round(figure.value, 6) for figure in bad] == [61.0, 3.1, 3.1]


@pytest.mark.parametrize("question", [checks, checks_of_money, redeems], ids=lambda question: question.__name__)
@pytest.mark.parametrize("where", ["memory", "sqlite"])
@pytest.mark.parametrize("same_host", [False, True])
def test_a_sample_gets_an_allow_to_each_of_its_questions(question: Any, where: str, same_host: bool) -> None:
    """It asserts so within itself; here, that it comes back with a time, in both stores and with other grants before the one."""
    opened = in_memory if where == "memory" else sqlite_store()
    assert opened is not None
    assert Sample(question=question, calls=2, open_store=opened, same_host=same_host)(3) > 0


def test_every_kind_of_question_has_its_grants() -> None:
    """One sample of a kind is asked with the number that its row says."""
    kinds, absent = cells(2)
    assert [(kind.name, kind.steps) for kind in kinds] == [*MEMORY, *SQLITE]
    assert absent == []
