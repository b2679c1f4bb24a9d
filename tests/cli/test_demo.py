"""`foxloop-trio demo`, both halves. With Firefox it runs as a program of its own in a terminal: real clock, everything bounded."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from foxloop_trio import browser
from foxloop_trio.cli._app import run
from foxloop_trio.testing import Leftovers
from foxloop_trio.trail import load_or_create_key, read_trail, verify_trail

DEMO_SECONDS = 90
"""A demo takes 4 s on a quiet machine; this only bounds a test that went wrong."""

QUESTION = "asks a human"
GONE_SECONDS = 5.0
"""Nothing of ours may be left after this (the issue's own number)."""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state directory, so that the demo makes its own key."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def kinds(path: Path) -> list[str]:
    return [entry.kind for entry in read_trail(path)]


def verified(path: Path, state: Path) -> bool:
    return bool(verify_trail(path, key=load_or_create_key(state / "foxloop-trio" / "trail.key")))


def test_the_half_without_a_browser_tells_its_run_and_verifies(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Events in plain words, then where the trail lies and that it holds."""
    path = tmp_path / "demo.jsonl"
    assert run(["demo", "--no-firefox", "--trail", str(path)]) == 0
    out = capsys.readouterr().out
    assert "gate  allows it: fill on notes.local\n" in out
    assert "done  Saved the note.\n" in out
    assert f"It lies at {path}\n" in out
    assert "and verifies: " in out
    assert verified(path, state)
    assert kinds(path)[-1] == "loop.done"


def test_a_second_demo_goes_on_with_the_same_trail(state: Path, tmp_path: Path) -> None:
    """The trail is added to, never replaced."""
    path = tmp_path / "demo.jsonl"
    assert run(["demo", "--no-firefox", "--trail", str(path)]) == 0
    once = len(kinds(path))
    assert run(["demo", "--no-firefox", "--trail", str(path)]) == 0
    assert len(kinds(path)) == 2 * once
    assert verified(path, state)


def test_without_firefox_the_demo_runs_its_first_half_and_says_how_to_get_it(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine without Firefox is no error."""
    monkeypatch.setattr(browser, "find_firefox", lambda: None)
    assert run(["demo", "--trail", str(tmp_path / "demo.jsonl")]) == 0
    out = capsys.readouterr().out
    assert "done  Saved the note.\n" in out
    assert "foxloop-trio firefox install" in out
    assert "and verifies: " in out


def test_a_terminal_that_knows_only_ascii_gets_escapes(left: Leftovers, state: Path, tmp_path: Path) -> None:
    """Its encoding is not ours to choose, and an odd character must not end a run in its middle."""
    broken = tmp_path / "firefox"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "foxloop_trio", "demo", "--yes", "--trail", str(tmp_path / "demo.jsonl")],
        env={**left.environ(), "PYTHONIOENCODING": "ascii", "FOXLOOP_FIREFOX": str(broken)},
        capture_output=True,
        text=True,
        timeout=DEMO_SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "our add-on \\u2026\n" in done.stdout
    assert "and verifies: " in done.stdout
    assert "Traceback" not in done.stderr


def test_a_firefox_that_is_named_wrongly_is_told_after_the_first_half(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a Firefox that can be used the first half still runs; that the name is wrong is an error all the same."""
    monkeypatch.setenv("FOXLOOP_FIREFOX", str(tmp_path / "nowhere"))
    assert run(["demo", "--yes", "--trail", str(tmp_path / "demo.jsonl")]) == 1
    out, err = capsys.readouterr()
    assert "done  Saved the note.\n" in out
    assert "and verifies: " in out
    assert "FOXLOOP_FIREFOX names" in err


def test_a_trail_that_cannot_be_written_ends_the_demo_without_firefox(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing runs without its record, so there is no second half either."""
    assert run(["demo", "--yes", "--trail", str(tmp_path / "nowhere" / "demo.jsonl")]) == 1
    out, _ = capsys.readouterr()
    assert "blocked  trail-failed" in out
    assert "In Firefox" not in out


def test_a_firefox_that_does_not_start_is_told_with_the_way_to_find_out(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first half's record is still shown, the fault is one line, and nothing is left."""
    broken = tmp_path / "firefox"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("FOXLOOP_FIREFOX", str(broken))
    assert run(["demo", "--yes", "--trail", str(tmp_path / "demo.jsonl")]) == 1
    out, err = capsys.readouterr()
    assert "foxloop-trio doctor" in out
    assert "and verifies: " in out
    assert "no display" in err
    assert err.count("\n") == 1
    assert verified(tmp_path / "demo.jsonl", state)


class Terminal:
    """The demo in a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.output = ""
        self._master = master

    async def read_until(self, words: str) -> None:
        """Read on until `words` were printed. Fails when the program ends before."""
        while words not in self.output:
            assert await self._read(), f"ended without {words!r}:\n{self.output}"

    async def read_to_end(self) -> int:
        """Read on until the program ends; its exit status."""
        while await self._read():
            pass
        return await trio.to_thread.run_sync(self.process.wait, abandon_on_cancel=True)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    async def _read(self) -> bool:
        await trio.lowlevel.wait_readable(self._master)
        try:
            data = os.read(self._master, 65536)
        except OSError:  # EIO: nobody holds the other end any more
            return False
        self.output += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


@asynccontextmanager
async def demo_in_terminal(left: Leftovers, folder: Path, *options: str) -> AsyncIterator[Terminal]:
    master, slave = os.openpty()
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - a fork of a few ms; what is waited for is waited for in Trio
            [sys.executable, "-m", "foxloop_trio", "demo", "--trail", str(folder / "demo.jsonl"), *options],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**left.environ(), "TERM": "dumb", "NO_COLOR": "1"},
            cwd=folder,
            start_new_session=True,
        )
    finally:
        os.close(slave)
    try:
        with trio.fail_after(DEMO_SECONDS):
            yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)


@pytest.mark.firefox
async def test_the_form_is_sent_after_a_yes_in_the_terminal(left: Leftovers, state: Path, tmp_path: Path) -> None:
    """The main job: read, fill, ask, send, and the server says that it arrived."""
    async with demo_in_terminal(left, tmp_path) as terminal:
        await terminal.read_until(QUESTION)
        await terminal.read_until("[y/N]")
        terminal.type("y\n")
        assert await terminal.read_to_end() == 0, terminal.output
    assert "check  order: holds. the site received [{'name': 'Ada', 'tea': 'green', 'milk': 'yes'}]" in terminal.output
    assert "done  Ordered a green tea with milk for Ada.\n" in terminal.output
    assert "and verifies: " in terminal.output
    assert verified(tmp_path / "demo.jsonl", state)
    await left.wait_gone(GONE_SECONDS)


@pytest.mark.firefox
@pytest.mark.long
async def test_nothing_is_sent_after_a_no(left: Leftovers, state: Path, tmp_path: Path) -> None:
    """The run is blocked, the record says why, and it holds."""
    async with demo_in_terminal(left, tmp_path) as terminal:
        await terminal.read_until("[y/N]")
        terminal.type("n\n")
        assert await terminal.read_to_end() == 1, terminal.output
    assert "blocked  approval-denied" in terminal.output
    assert "the site received" not in terminal.output
    assert kinds(tmp_path / "demo.jsonl")[-1] == "loop.blocked"
    assert verified(tmp_path / "demo.jsonl", state)
    await left.wait_gone(GONE_SECONDS)


@pytest.mark.firefox
@pytest.mark.long
async def test_ctrl_c_in_the_middle_leaves_a_sound_trail_and_nothing_else(left: Leftovers, state: Path, tmp_path: Path) -> None:
    """While the question is open: the run's end is on record, Firefox and its profile are gone."""
    async with demo_in_terminal(left, tmp_path) as terminal:
        await terminal.read_until("[y/N]")
        assert left.processes()
        terminal.process.send_signal(signal.SIGINT)
        assert await terminal.read_to_end() == 130, terminal.output
        await left.wait_gone(GONE_SECONDS)
    assert "Traceback" not in terminal.output
    assert kinds(tmp_path / "demo.jsonl")[-1] == "loop.aborted"
    assert verified(tmp_path / "demo.jsonl", state)


@pytest.mark.firefox
@pytest.mark.long
async def test_kill_in_the_middle_leaves_neither_firefox_nor_its_profile(left: Leftovers, state: Path, tmp_path: Path) -> None:
    """`kill -9` of our own process; what was on record until then still holds."""
    async with demo_in_terminal(left, tmp_path) as terminal:
        await terminal.read_until("[y/N]")
        terminal.process.kill()
        await left.wait_gone(GONE_SECONDS)
    assert kinds(tmp_path / "demo.jsonl")[-1] == "loop.approval-needed"
    assert verified(tmp_path / "demo.jsonl", state)


@pytest.mark.firefox
@pytest.mark.long
async def test_yes_answers_the_question_without_a_terminal(left: Leftovers, state: Path, tmp_path: Path) -> None:
    """`--yes`, as scripts use it; the answer is on record as an approval."""
    with trio.fail_after(DEMO_SECONDS):
        done = await trio.run_process(
            [sys.executable, "-m", "foxloop_trio", "demo", "--yes", "--trail", str(tmp_path / "demo.jsonl")],
            env=left.environ(),
            stdin=subprocess.DEVNULL,
            capture_stdout=True,
        )
    assert b"--yes was given, so the answer is yes" in done.stdout
    redeemed = [entry.data for entry in read_trail(tmp_path / "demo.jsonl") if json.dumps(entry.data).find('"redeem"') >= 0]
    assert [data["decision"] for data in redeemed] == ["allow"]
    await left.wait_gone(GONE_SECONDS)
