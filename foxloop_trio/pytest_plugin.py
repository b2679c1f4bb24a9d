"""pytest fixtures for programs that use foxloop_trio.

It is registered by the entry point ``pytest11``, so each pytest run in this environment loads it: everything heavy is imported when
a fixture is first used.

* `firefox`: a `BrowserSession` of one real headless Firefox, which serves the whole test run. It starts when the first test asks
  for it (about 2.5 s) and ends with the run, also when the run is killed. Each test gets a session of its own over it, in
  milliseconds. Where Firefox is not installed the test fails and says how to install it; it is never skipped.
* `tab`: a fresh tab of it, in front, on a page with nothing on it; closed afterwards.

Both are for Trio tests (pytest-trio), and for the real clock: with `autojump_clock` the time would jump while Firefox works.

* `fake_browser`: a `FakeBrowser` that is attached already, with no pages. Give it some by ``fake_browser.pages[url] = {...}``, and
  work with ``fake_browser.session``. It needs no Firefox, and works with either clock.
* `virtual_time`: Trio's clock, but time only passes by jumping to the next deadline when everybody waits; a
  `trio.testing.MockClock`. The test itself must ask for it, since pytest-trio takes the clock from the test's own arguments.

It also sees to it that a Ctrl-C ends the run, and with it Firefox. Out of a nursery it comes in a group, which pytest takes for one
more failed test and goes on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from trio.testing import MockClock

    from .browser import BrowserSession, Tab
    from .testing import FakeBrowser, FirefoxHost
    from .testing._firefox_keeper import FirefoxKeeper

__all__ = ["fake_browser", "firefox", "tab", "virtual_time"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A Ctrl-C in a group is a Ctrl-C. (pytest-trio sets up and tears down its fixtures in here too.)"""
    try:
        return (yield)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is not None:
            raise KeyboardInterrupt from group
        raise


@pytest.fixture(scope="session")
def _firefox_keeper() -> Iterator[FirefoxKeeper]:
    from .testing._firefox_keeper import FirefoxKeeper

    keeper = FirefoxKeeper()
    yield keeper
    keeper.stop()


@pytest.fixture
def _firefox_host(_firefox_keeper: FirefoxKeeper) -> FirefoxHost:
    """Plain code, run before the test's Trio run begins: the start may block here."""
    from .errors import BrowserError

    try:
        return _firefox_keeper.running()
    except BrowserError as error:
        pytest.fail(f"the firefox fixture: {error}", pytrace=False)


@pytest.fixture
async def firefox(_firefox_host: FirefoxHost) -> AsyncIterator[BrowserSession]:
    """One real headless Firefox for the whole test run; a session of its own for each test."""
    async with _firefox_host.attach() as session:
        await _firefox_host.close_strays(session)
        yield session


@pytest.fixture
async def tab(_firefox_host: FirefoxHost, firefox: BrowserSession) -> AsyncIterator[Tab]:
    """A fresh tab, in front, on an empty page; closed afterwards."""
    async with _firefox_host.fresh_tab(firefox) as tab:
        yield tab


@pytest.fixture
async def fake_browser() -> AsyncIterator[FakeBrowser]:
    """A browser in memory, attached, without pages."""
    from .testing import FakeBrowser

    browser = FakeBrowser()
    async with browser:
        yield browser


@pytest.fixture
def virtual_time(autojump_clock: MockClock) -> MockClock:
    """The test runs on a clock that starts at 0 and jumps to the next deadline whenever everybody waits."""
    return autojump_clock
