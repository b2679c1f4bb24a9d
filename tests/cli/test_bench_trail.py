"""`foxloop-trio bench trail`: it measures what it says, each figure beside its target."""

import builtins
import json
from typing import Any

import pytest

from foxloop_trio.cli import _bench_trail
from foxloop_trio.cli._app import run

SMALL = ["--rounds", "1", "--appends", "20", "--verify", "50"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few calls: what is tested is the command and not the speed."""
    monkeypatch.setattr(_bench_trail, "TAKES", 5)
    monkeypatch.setattr(_bench_trail, "_seconds", lambda function, value: 1.0 if function is _bench_trail_ours() else 2.0)


def _bench_trail_ours() -> Any:
    from foxloop_trio.canonical import canonical_json

    return canonical_json


def test_the_json_has_every_figure_with_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    """For programs: appends of one and of ten, canonical JSON, verifying; all measured."""
    assert run(["bench", "trail", *SMALL, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rounds"], told["appends"]) == (1, 20)
    names = [figure["name"] for figure in told["figures"]]
    assert names[:2] == ["one writer / raw loop", "ten runs at once / raw loop"]
    assert names[2:] == ["canonical JSON, rfc8785 / ours", "verifying 50 entries"]
    assert all(f"{name} 2.00 x" in told["figures"][2]["detail"] for name in _bench_trail.CORPUS)
    targets = [figure["target"] for figure in told["figures"]]
    assert targets == ["at least 0.35", "at least 2.5", "at least 2", "under 10"]
    assert all(figure["value"] > 0 and figure["met"] in (True, False) for figure in told["figures"])


def test_the_table_shows_them_to_people(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, target and what it was made from."""
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["bench", "trail", *SMALL]) == 0
    out = capsys.readouterr().out
    for words in ("one writer / raw loop", "ten runs at once / raw loop", "at least 2.5", "raw writes a second", "under 10"):
        assert words in out


def test_without_rfc8785_the_rest_is_measured(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes with the test extra only."""
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name == "rfc8785":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert run(["bench", "trail", *SMALL, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (absent,) = (figure for figure in told["figures"] if figure["value"] is None)
    assert absent["met"] is None
    assert "not installed" in absent["detail"]


@pytest.mark.parametrize(
    "option", [["--rounds", "0"], ["--appends", "9"], ["--verify", "many"], ["--folder", "/no/such"]], ids=" ".join
)
def test_a_number_that_measures_nothing_is_a_usage_error(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, naming the option."""
    assert run(["bench", "trail", *option]) == 2
    assert option[0] in capsys.readouterr().err


def test_each_target_is_met_at_its_border_and_missed_beyond() -> None:
    """At least 0.35 of the raw loop."""
    assert _bench_trail._at_least("x", 0.35, 0.35, "").met is True
    assert _bench_trail._at_least("x", 0.349, 0.35, "").met is False
