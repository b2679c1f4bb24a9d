"""`foxloop-trio doctor`: one finding per question, and advice for each that is not good."""

import json
import os
from pathlib import Path

import pytest

from foxloop_trio import browser
from foxloop_trio.cli import _doctor
from foxloop_trio.cli._app import run
from foxloop_trio.cli._doctor import Finding, examine
from foxloop_trio.errors import BrowserError
from foxloop_trio.trail import load_or_create_key


def fake_firefox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """A program that answers `--version` as `script` does."""
    path = tmp_path / "firefox"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("FOXLOOP_FIREFOX", str(path))
    return path


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state directory."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "foxloop-trio"


def test_all_good_exits_with_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every question has its line, and nothing is made."""
    fake_firefox(tmp_path, monkeypatch, "echo Mozilla Firefox 153.8.0esr")
    assert run(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"good  {name}" for name in _doctor.QUESTIONS]
    assert not (tmp_path / "state").exists()


def test_json_holds_every_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`ok` for all, and each check with `name`, `ok`, `found`, `advice`."""
    path = fake_firefox(tmp_path, monkeypatch, "echo Mozilla Firefox 153.8.0esr")
    assert run(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is True
    assert told["checks"][1] == {"name": "firefox", "ok": True, "found": f"Mozilla Firefox 153.8.0esr at {path}", "advice": None}


def test_a_missing_firefox_exits_with_one_and_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other questions are answered all the same."""
    monkeypatch.setattr(browser, "find_firefox", lambda: None)
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "BAD   firefox: not found\n" in out
    assert "foxloop-trio firefox install" in out
    assert "good  key file" in out


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo Mozilla Firefox 128.3.0esr", "128.3.0esr"),
        ("echo oops >&2; exit 1", "does not start: oops"),
        ("true", "does not start"),
    ],
)
def test_a_firefox_that_cannot_be_used_is_not_good(
    script: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too old for the add-on's manifest, or broken."""
    fake_firefox(tmp_path, monkeypatch, script)
    finding = _doctor.firefox()
    assert not finding.ok
    assert words in finding.found
    assert finding.advice is not None


def test_a_key_file_that_others_can_read_is_not_good(state: Path) -> None:
    """The trail would refuse it as well."""
    state.mkdir(parents=True)
    load_or_create_key(state / "trail.key")
    assert _doctor.key_file().ok
    os.chmod(state / "trail.key", 0o644)
    finding = _doctor.key_file()
    assert not finding.ok
    assert "chmod 600" in finding.found


@pytest.mark.parametrize("fault", [BrowserError("no"), OSError("no"), ImportError("no")])
def test_a_question_that_fails_does_not_hide_the_others(fault: Exception) -> None:
    """A fault while looking is a finding."""

    def look() -> Finding:
        raise fault

    finding = examine("thing", look)
    assert (finding.name, finding.ok) == ("thing", False)
    assert "no" in finding.found
