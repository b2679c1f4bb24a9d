"""The root of the command line: help, exit status, and how errors are told."""

from pathlib import Path
from typing import Any

import click
import pytest

from foxloop_trio.cli import _app
from foxloop_trio.cli._app import run
from foxloop_trio.cli._output import own_name
from foxloop_trio.errors import BrowserError, UsageError

COMMANDS = [
    ["demo"],
    ["doctor"],
    ["firefox", "where"],
    ["firefox", "install"],
    ["extension", "path"],
    ["extension", "pack"],
    ["extension", "lint"],
    ["trail", "verify"],
    ["trail", "show"],
    ["trail", "report"],
    ["bench", "loop"],
]


def fail_with(monkeypatch: pytest.MonkeyPatch, fault: BaseException) -> int:
    """What `run` makes of a command that raises `fault`."""

    def main(**_: Any) -> int:
        raise fault

    monkeypatch.setattr(_app.app, "main", main)
    return run([])


@pytest.mark.parametrize("command", [[], ["firefox"], ["extension"], ["trail"], ["bench"], *COMMANDS], ids=" ".join)
def test_every_command_has_help_and_exits_with_zero(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` is there at every level (names page, Command line)."""
    assert run([*command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"Usage: {' '.join(['foxloop-trio', *command])}")
    assert err == ""


def test_the_help_of_the_root_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The table in `_app` and the commands that exist are the same."""
    run(["--help"])
    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert {command[0] for command in COMMANDS} == {
        line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "
    }


@pytest.mark.parametrize(
    "args", [["nothing"], ["--nothing"], ["trail"], ["trail", "verify"], ["firefox", "where", "--nothing"], []], ids=" ".join
)
def test_a_wrong_call_exits_with_two_and_says_how_to_call(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """2 is usage, with the usage on stderr and nothing on stdout."""
    assert run(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: foxloop-trio" in err


def test_an_expected_error_is_one_line_and_exits_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback for what was foreseen."""
    assert fail_with(monkeypatch, BrowserError("Firefox went away")) == 1
    assert capsys.readouterr().err == "foxloop-trio: Firefox went away\n"


def test_an_expected_error_in_a_group_is_told_like_one_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nurseries wrap what comes out of them; a person does not care."""
    inner = ExceptionGroup("inner", [BrowserError("one"), UsageError("two")])
    assert fail_with(monkeypatch, ExceptionGroup("outer", [inner])) == 2
    assert capsys.readouterr().err == "foxloop-trio: one\nfoxloop-trio: two\n"


@pytest.mark.parametrize(
    "fault", [KeyboardInterrupt(), click.Abort(), BaseExceptionGroup("", [KeyboardInterrupt(), BrowserError("late")])]
)
def test_ctrl_c_exits_with_130(fault: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As a shell reports a program that SIGINT ended, and without a traceback."""
    assert fail_with(monkeypatch, fault) == 130
    assert capsys.readouterr().err == "Stopped.\n"


@pytest.mark.parametrize("fault", [ValueError("bug"), ExceptionGroup("", [BrowserError("known"), ValueError("bug")])])
def test_a_bug_keeps_its_traceback(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw must not look like a refusal."""
    with pytest.raises(type(fault)) as caught:
        fail_with(monkeypatch, fault)
    assert caught.value is fault


def test_the_version_is_the_one_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` asks the installed distribution."""
    from foxloop_trio._version import __version__

    assert run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_the_module_runs_like_the_command(tmp_path: Path) -> None:
    """`python -m foxloop_trio` is the same program."""
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "foxloop_trio", "--help"], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: foxloop-trio")


@pytest.mark.parametrize("group", ["firefox", "extension", "trail", "bench"])
def test_the_help_of_a_group_shows_the_line_of_each_command_whole(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that is cut in the middle leaves a reader with half of what a command does."""
    assert run([group, "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("called", "found", "name"),
    [
        (".venv/bin/foxloop-trio", None, ".venv/bin/foxloop-trio"),
        (".venv/bin/foxloop-trio", "/usr/bin/foxloop-trio", ".venv/bin/foxloop-trio"),
        ("/my apps/foxloop-trio", None, "'/my apps/foxloop-trio'"),
        ("/usr/bin/foxloop-trio", "/usr/bin/foxloop-trio", "foxloop-trio"),
        ("/lib/foxloop_trio/__main__.py", None, "python -m foxloop_trio"),
        ("/usr/bin/pytest", None, "foxloop-trio"),
    ],
)
def test_a_command_that_is_printed_for_pasting_begins_as_the_program_was_called(
    called: str, found: str | None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an environment that is not activated the bare name is not found, or is another installation."""
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("foxloop_trio.cli._output.which", lambda _: found)
    assert own_name() == name
