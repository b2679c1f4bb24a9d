"""The supervisor ends what it started, however we end. A small script stands in for Firefox: it has children, and some that
hide.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from foxloop_trio.browser._process import PLACEHOLDER, SUPERVISOR, ProcessOrder, open_firefox_process
from foxloop_trio.browser._service import open_service
from foxloop_trio.errors import BrowserError
from foxloop_trio.testing import Leftovers

FAKE_FIREFOX = """
import os, subprocess, sys, time
print("*** starting", file=sys.stderr, flush=True)
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])          # a content process, in our group
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)  # a crash helper, in its own
print("WebDriver BiDi listening on ws://127.0.0.1:1", file=sys.stderr, flush=True)
for _ in range(int(os.environ.get("CHATTER", "0"))):
    print("x" * 1000, file=sys.stderr)
if "CODE" in os.environ:
    print("last words", file=sys.stderr, flush=True)
    sys.exit(int(os.environ["CODE"]))
time.sleep(600)
"""


def order(tmp_path: Path, *, profile: Path | None = None, **env: str) -> ProcessOrder:
    script = tmp_path / "fake_firefox.py"
    script.write_text(FAKE_FIREFOX)
    argv = (sys.executable, "-S", str(script), PLACEHOLDER)
    return ProcessOrder(argv=argv, env=env, prefs={"some.pref": f"{PLACEHOLDER}/here"}, profile=profile)


async def test_leaving_ends_the_whole_group_and_removes_the_profile(tmp_path: Path, left: Leftovers) -> None:
    """Our choice: nothing is left when the context has been left, children in a session of their own included."""
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path)) as process:
            assert await process.wait_bidi_url() == "ws://127.0.0.1:1"
            assert process.profile is not None
            assert process.profile.stat().st_mode & 0o777 == 0o700
            assert f'user_pref("some.pref", "{process.profile}/here");' in (process.profile / "user.js").read_text()
            assert len(left.processes()) == 4
        assert left.all() == []


async def test_an_exit_of_firefox_is_told_with_code_and_last_words(tmp_path: Path, left: Leftovers) -> None:
    """Our choice: what Firefox said last is in the error."""
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path, CODE="3")) as process:
            assert await process.wait_exited() == 3
            error = process.exit_error()
            assert error.code == "firefox-exited"
            assert "exit code 3" in str(error)
            assert "last words" in str(error)
        assert left.all() == []


async def test_a_killed_firefox_is_told_at_once(tmp_path: Path, left: Leftovers) -> None:
    """Issue: a Firefox killed from outside ends what waits for it, promptly."""
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path)) as process:
            await process.wait_bidi_url()
            os.kill(await process.wait_started(), signal.SIGKILL)
            with trio.CancelScope() as scope:
                process.cancel_on_exit(scope)
                await trio.sleep_forever()
            assert scope.cancelled_caught
            assert "SIGKILL" in str(process.exit_error())
        assert left.all() == []


async def test_a_program_that_is_not_there_is_told(tmp_path: Path, left: Leftovers) -> None:
    """Our choice: a start that fails leaves no profile."""
    missing = ProcessOrder(argv=(str(tmp_path / "no-such-firefox"),), env={}, prefs={})
    with trio.fail_after(20):
        async with open_firefox_process(missing) as process:
            with pytest.raises(BrowserError, match=r"could not be started.*no-such-firefox"):
                await process.wait_bidi_url()
        assert left.all() == []


async def test_much_chatter_blocks_nobody_and_is_not_kept(tmp_path: Path, left: Leftovers) -> None:
    """Firefox facts: a full pipe would stop Firefox; so its standard error is read on, and dropped."""
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path, CHATTER="20000", CODE="0")) as process:
            assert await process.wait_exited() == 0
            assert len(process._words) <= 20
        assert left.all() == []


@pytest.mark.parametrize("before", [None, b'user_pref("mine", 1);\n'])
async def test_a_given_profile_is_kept_as_it_was(tmp_path: Path, left: Leftovers, before: bytes | None) -> None:
    """Our choice: a profile of the caller's is used, kept, and gets its user.js back."""
    profile = tmp_path / "profile"
    profile.mkdir()
    user_js = profile / "user.js"
    if before is not None:
        user_js.write_bytes(before)
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path, profile=profile)) as process:
            await process.wait_bidi_url()
            assert b"some.pref" in user_js.read_bytes()
            assert user_js.read_bytes().startswith(before or b"")
    assert left.all() == []
    assert profile.is_dir()
    assert (user_js.read_bytes() if user_js.exists() else None) == before


@pytest.mark.parametrize("before", [None, b'user_pref("mine", 1);'])
async def test_a_given_profile_is_as_it_was_also_after_two_launches_at_once_and_after_a_kill(
    tmp_path: Path, left: Leftovers, before: bytes | None
) -> None:
    """Our choice: the second finds what the first wrote, and must not take it for the caller's; nor what a killed one left."""
    profile = tmp_path / "profile"
    profile.mkdir()
    user_js = profile / "user.js"
    if before is not None:
        user_js.write_bytes(before)
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path, profile=profile)) as first:
            await first.wait_started()
            async with open_firefox_process(order(tmp_path, profile=profile)) as second:
                await second.wait_started()
                killed = user_js.read_bytes()
        assert (user_js.read_bytes() if user_js.exists() else None) == before
        user_js.write_bytes(killed)
        async with open_firefox_process(order(tmp_path, profile=profile)) as third:
            await third.wait_started()
            assert user_js.read_bytes().count(b"some.pref") == 1
        assert left.all() == []
    assert (user_js.read_bytes() if user_js.exists() else None) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_to_the_supervisor_is_an_end(tmp_path: Path, left: Leftovers, number: signal.Signals) -> None:
    """Our choice: who stops the supervisor by a signal gets the same clean end."""
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path)) as process:
            await process.wait_bidi_url()
            process._supervisor.send_signal(number)
            assert await process.wait_exited() == -signal.SIGKILL
            await process._supervisor.wait()
            assert left.all() == []


async def test_a_killed_supervisor_leaves_nothing_either(tmp_path: Path, left: Leftovers) -> None:
    """Our choice: then this end looks after group and profile itself."""
    with trio.fail_after(20):
        async with open_firefox_process(order(tmp_path)) as process:
            await process.wait_bidi_url()
            process._supervisor.kill()
            assert await process.wait_exited() is None
        strays = left.processes()  # what hides in a session of its own can no longer be told from a stranger
        for pid in strays:
            os.kill(pid, signal.SIGKILL)
        assert len(strays) <= 1
        await left.wait_gone(5)


OWNER = """
import sys, trio
sys.path.insert(0, {root!r})
from foxloop_trio.browser._process import ProcessOrder, open_firefox_process
async def main():
    order = ProcessOrder(argv={argv!r}, env={{}}, prefs={{}})
    async with open_firefox_process(order) as process:
        await process.wait_bidi_url()
        {fork}
        print("up", flush=True)
        await trio.sleep_forever()
trio.run(main)
"""

FORK = "import os, time; os.fork() or time.sleep(600)"


def owner(tmp_path: Path, *, fork: bool = False) -> list[str]:
    root = str(SUPERVISOR.parents[2])
    script = tmp_path / "owner.py"
    script.write_text(OWNER.format(root=root, argv=order(tmp_path).argv, fork=FORK if fork else ""))
    return [sys.executable, str(script)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
async def test_nothing_outlives_our_death(tmp_path: Path, left: Leftovers, number: signal.Signals) -> None:
    """Issue: kill -9 of our process, and every gentler death, leaves no process and no profile within 5 s."""
    with trio.fail_after(30):
        process = await trio.lowlevel.open_process(owner(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        assert await process.stdout.receive_some(2) == b"up"
        assert len(left.profiles()) == 1
        process.send_signal(number)
        await process.wait()
        await process.stdout.aclose()
        assert await left.wait_gone(5) < 5


async def test_a_forked_child_of_ours_does_not_keep_firefox_alive(tmp_path: Path, left: Leftovers) -> None:
    """Our choice: a child that inherited the lifeline by fork holds it open; the supervisor sees its parent go all the same."""
    with trio.fail_after(30):
        process = await trio.lowlevel.open_process(owner(tmp_path, fork=True), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        assert await process.stdout.receive_some(2) == b"up"
        process.kill()
        await process.wait()
        await process.stdout.aclose()
        # All but the forked child itself, which nobody promised to end.
        await left.wait_gone(5, but="owner.py")
        for pid in left.processes():
            os.kill(pid, signal.SIGKILL)
        await left.wait_gone(5)


def test_an_order_that_never_came_starts_nothing(tmp_path: Path) -> None:
    """Our choice: if we die between its start and Firefox's start, the supervisor just ends."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SUPERVISOR)], input=b'{"argv": [', capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_lifeline_cut_right_after_the_order_leaves_nothing(tmp_path: Path, left: Leftovers) -> None:
    """Our choice: the same when we die as the order is out."""
    command = [sys.executable, "-I", "-S", str(SUPERVISOR)]
    done = subprocess.run(command, input=order(tmp_path).to_line(), capture_output=True, timeout=20, check=False)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert reports[-1] == {"event": "done", "left": False}
    assert left.all() == []


async def test_a_cancel_at_any_time_of_the_start_leaves_nothing(tmp_path: Path, left: Leftovers) -> None:
    """Buglog B01: cancelled during the set-up, at many points in time; nothing is left and nothing hangs."""
    with trio.fail_after(60):
        for tenths in range(12):
            with trio.move_on_after(tenths / 100):
                async with open_service(open_firefox_process(order(tmp_path))) as process:
                    await process.wait_bidi_url()
                    await trio.sleep_forever()
            assert left.all() == []
