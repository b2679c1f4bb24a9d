"""The `firefox` and `tab` fixtures, as a user's test run has them: pytest is run on a small file of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
import trio

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.errors import BrowserError, BusyError
from foxloop_trio.testing import FirefoxHost, Leftovers
from foxloop_trio.testing._firefox_keeper import FirefoxKeeper

pytestmark = pytest.mark.firefox

ATTACH_SECONDS = 0.05
"""Ruling 29."""


async def test_the_tab_is_in_front_on_a_page_that_can_be_read(firefox: BrowserSession, tab: Tab) -> None:
    """Corpora, fact 1: a tab that was opened in front has the document's focus, which the first one never has."""
    with trio.fail_after(30):
        page = await tab.snapshot()
        assert page.url == tab.url
        assert (tab.active, tab.host) == (True, "127.0.0.1")
        assert tab in await firefox.tabs()
        assert await in_page(tab, "document.hasFocus()") is True
        assert await in_page(tab, "Intl.DateTimeFormat().resolvedOptions().timeZone") == "UTC"
        assert await in_page(tab, "navigator.language") == "en-US"


async def in_page(tab: Tab, expression: str) -> object:
    """Evaluate in the page's own realm, over BiDi."""
    target = {"context": await tab.bidi_context()}
    answer = await tab.session.bidi("script.evaluate", expression=expression, target=target, awaitPromise=True)
    assert answer["type"] == "success", answer
    return answer["result"]["value"]


async def test_a_tab_of_an_earlier_test_is_gone(firefox: BrowserSession) -> None:
    """Our choice: tests do not see each other's tabs; only Firefox's own first one is there."""
    with trio.fail_after(30):
        assert [tab.url for tab in await firefox.tabs()] == ["about:blank"]


async def test_attaching_takes_less_than_50_ms(_firefox_host: FirefoxHost) -> None:  # noqa: PT019 - it has a value
    """Ruling 29; and a session over the relay is a new one each time, one at a time."""
    with trio.fail_after(30):
        took = []
        for _ in range(5):
            began = trio.current_time()
            async with _firefox_host.attach() as session:
                took.append(trio.current_time() - began)
                await session.channel.call("session.ping", {}, timeout=5)
                with pytest.raises(BusyError):
                    async with _firefox_host.attach():
                        raise AssertionError("two at once")
            with pytest.raises(BrowserError):
                await session.tabs()
        assert min(took) < ATTACH_SECONDS


async def test_an_answer_to_the_test_before_is_a_stranger_to_the_next(_firefox_host: FirefoxHost) -> None:  # noqa: PT019 - it has a value
    """Ruling 48: the raw connection is relayed, so what an earlier session asked can be answered in a later one."""
    with trio.fail_after(30):
        async with _firefox_host.attach() as first:
            call = first.channel.start("tab.list", {}, timeout=5)
            await call.wait_sent()
        async with _firefox_host.attach() as second:
            for _ in range(3):
                await second.channel.call("session.ping", {}, timeout=5)
            assert second.channel.statistics().strange_replies <= 1
            assert second.statistics().lost is False


async def test_bidi_errors_and_cancels_cross_the_relay(tab: Tab) -> None:
    """Our choice: a BiDi call behaves over the relay as over its own socket."""
    with trio.fail_after(30):
        with pytest.raises(BrowserError) as caught:
            await tab.session.bidi("browsingContext.navigate", context="no such", url="http://127.0.0.1/")
        assert caught.value.code == "no-such-frame"
        with trio.move_on_after(0.2) as scope:
            await in_page(tab, "new Promise(() => {})")
        assert scope.cancelled_caught
        assert await in_page(tab, "1 + 1") == 2


TEST_FILE = """
import pytest, trio

@pytest.mark.trio
async def test_one(tab):
    print("up", tab.url, flush=True)
    async with trio.open_nursery():
        await trio.sleep({seconds})
"""

SECOND_TEST = """
@pytest.mark.trio
async def test_two(tab):
    print("two", flush=True)
    await trio.sleep({seconds})
"""


def run_pytest(folder: Path, *, seconds: float, source: str = TEST_FILE) -> list[str]:
    """The command that runs a test file of a user's."""
    file = folder / "test_user.py"
    file.write_text(source.format(seconds=seconds))
    options = ["-s", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}"]
    return [sys.executable, "-m", "pytest", *options, str(file)]


@pytest.mark.long
async def test_a_single_test_passes_alone_and_leaves_nothing(tmp_path: Path, left: Leftovers) -> None:
    """Ruling 29: also when it is the only one; Firefox ends with the run."""
    with trio.fail_after(90):
        done = await trio.run_process(run_pytest(tmp_path, seconds=0), env=left.environ(), capture_stdout=True, check=False)
        assert done.returncode == 0, done.stdout.decode()
        assert b"1 passed" in done.stdout
        assert left.all() == []


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGKILL])
async def test_a_test_run_that_is_killed_leaves_nothing(number: signal.Signals, tmp_path: Path, left: Leftovers) -> None:
    """Issue, must show: no Firefox of ours, no temporary profile, within 5 s; and no further test was begun."""
    with trio.fail_after(90):
        command = run_pytest(tmp_path, seconds=60, source=TEST_FILE + SECOND_TEST)
        process = await trio.lowlevel.open_process(command, env=left.environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert process.stdout is not None
        said = b""
        while b"up http" not in said:
            said += await process.stdout.receive_some() or pytest.fail(said.decode())
        assert len(left.profiles()) == 1
        process.send_signal(number)
        await left.wait_gone(5)
        assert await process.wait() == (pytest.ExitCode.INTERRUPTED if number == signal.SIGINT else -number)
        await process.stdout.aclose()


@pytest.mark.long
@pytest.mark.parametrize("after", [0.3, 0.8, 1.5, 2.5])
async def test_a_ctrl_c_while_firefox_starts_leaves_nothing(after: float, tmp_path: Path, left: Leftovers) -> None:
    """The same while the fixture waits for the start, at several moments of it."""
    with trio.fail_after(90):
        process = await trio.lowlevel.open_process(run_pytest(tmp_path, seconds=60), env=left.environ(), stdout=subprocess.DEVNULL)
        while not left.profiles():  # noqa: ASYNC110 - another program makes it
            await trio.sleep(0.01)
        await trio.sleep(after)
        process.send_signal(signal.SIGINT)
        await left.wait_gone(5)
        await process.wait()


@pytest.mark.long
async def test_a_lost_firefox_ends_the_calls_of_its_test_and_is_started_again(left: Leftovers) -> None:
    """Our choice: one test that loses Firefox does not fail all that follow; it is browser-lost for its own calls, at once."""
    keeper = FirefoxKeeper()
    with trio.fail_after(120):
        host = await trio.to_thread.run_sync(keeper.running)
        async with host.attach() as session, trio.open_nursery() as nursery:
            codes: list[str] = []

            async def wait(call: Callable[[], Awaitable[object]]) -> None:
                with pytest.raises(BrowserError) as caught:
                    while True:
                        await call()
                codes.append(caught.value.code)

            nursery.start_soon(wait, session.tabs)
            nursery.start_soon(wait, partial(session.bidi, "browsingContext.getTree"))
            await trio.sleep(0.1)
            assert host.pid is not None
            os.kill(host.pid, signal.SIGKILL)
        assert codes == ["browser-lost"] * 2
        again = await trio.to_thread.run_sync(keeper.running)
        assert again is not host
        async with again.attach() as session:
            await session.tabs()
        await trio.to_thread.run_sync(keeper.stop)
        assert left.all() == []


def test_a_missing_firefox_fails_the_test_and_says_what_to_do(tmp_path: Path, left: Leftovers) -> None:
    """Our choice: never skipped; a test that needs Firefox and has none has not passed."""
    environ = {**left.environ(), "FOXLOOP_FIREFOX": str(tmp_path / "no-such-firefox")}
    done = subprocess.run(run_pytest(tmp_path, seconds=0), env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "1 error" in done.stdout
    assert "FOXLOOP_FIREFOX names" in done.stdout
    assert "foxloop-trio firefox where" in done.stdout
    assert "Traceback" not in done.stdout
    assert left.all() == []


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    """The entry point is loaded by every pytest run in the environment, whatever it tests."""
    heavy = "{'trio_websocket', 'fastjsonschema', 'foxloop_trio.browser', 'foxloop_trio.channel', 'foxloop_trio.testing'}"
    code = f"import sys, foxloop_trio.pytest_plugin; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
