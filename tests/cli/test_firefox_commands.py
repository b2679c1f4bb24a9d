"""`foxloop-trio firefox`: a thin face, so what is tested is what it says and how it exits."""

import json
from pathlib import Path

import pytest

from foxloop_trio import browser
from foxloop_trio.cli._app import run
from foxloop_trio.errors import BrowserError


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A program that stands for Firefox."""
    path = tmp_path / "firefox"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("FOXLOOP_FIREFOX", str(path))
    return path


def test_where_prints_the_path(found: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the path, so that a shell can use it."""
    assert run(["firefox", "where"]) == 0
    assert capsys.readouterr() == (f"{found}\n", "")


def test_where_as_json(found: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`found` and `path`."""
    assert run(["firefox", "where", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"found": True, "path": str(found)}


def test_where_exits_with_one_and_says_what_to_do_when_there_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """stdout stays empty, so a script does not take the advice for a path."""
    monkeypatch.setattr(browser, "find_firefox", lambda: None)
    assert run(["firefox", "where"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "foxloop-trio firefox install" in err
    assert run(["firefox", "where", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"found": False, "path": None}


def test_a_variable_that_names_nothing_is_an_error_of_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The variable wins over every usual place, so a wrong one is not passed over in silence."""
    monkeypatch.setenv("FOXLOOP_FIREFOX", "/nowhere/firefox")
    assert run(["firefox", "where"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("foxloop-trio: FOXLOOP_FIREFOX names '/nowhere/firefox'")
    assert err.count("\n") == 1


def test_install_does_nothing_where_firefox_is_found(found: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is asked and nothing is run."""
    assert run(["firefox", "install"]) == 0
    assert capsys.readouterr().out == f"Firefox is at {found}\n"
    assert run(["firefox", "install", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": str(found), "installed": False}


def test_a_refused_installation_exits_with_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What the installer says is all that is said."""

    def install(**_: object) -> Path:
        raise BrowserError("you said no", code="install-declined")

    monkeypatch.setattr(browser, "find_firefox", lambda: None)
    monkeypatch.setattr(browser, "install_firefox", install)
    assert run(["firefox", "install"]) == 1
    assert capsys.readouterr() == ("", "foxloop-trio: you said no\n")


def test_yes_reaches_the_installer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--yes` is the only consent, and what was installed is said."""
    asked: list[object] = []

    def install(*, yes: bool, **_: object) -> Path:
        asked.append(yes)
        return tmp_path / "firefox"

    monkeypatch.setattr(browser, "find_firefox", lambda: None)
    monkeypatch.setattr(browser, "install_firefox", install)
    assert run(["firefox", "install"]) == 0
    assert run(["firefox", "install", "--yes"]) == 0
    assert asked == [False, True]
    assert "Firefox is now at" in capsys.readouterr().out
