"""One real Firefox for many tests: a thread of its own owns it and the raw connection to its add-on, and relays.

::

    host = FirefoxHost()
    host.start()                              # blocks until the add-on is attached
    async with host.attach() as session:      # in any Trio run of this process, one at a time: a fresh BrowserSession
        ...
    host.stop()                               # blocks until Firefox is gone

A test's Trio run ends with the test; Firefox and its socket live in the thread's run, which does not. Between the two runs only
values pass (`TrioToken.run_sync_soon`). No autojump clock in such tests: it would jump while the thread works.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from operator import attrgetter
from typing import Final

import trio

from ..browser._launch import LaunchOptions, open_firefox
from ..browser._session import BrowserSession
from ..browser._tab import Tab
from ..channel import open_session
from ..errors import BrowserError
from ._firefox_relay import HostRun, RelayedBiDi, blank_path

__all__ = ["FirefoxHost", "fixture_options"]

START_SECONDS: Final = 150.0
"""More than the limits of all steps of a start together, each of which has words of its own."""
STOP_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 5.0


def fixture_options() -> LaunchOptions:
    """What tests start Firefox with: one time zone and one language on each machine."""
    return LaunchOptions(prefs={"intl.accept_languages": "en-US, en", "intl.locale.requested": "en-US"}, env={"TZ": "UTC"})


class FirefoxHost:
    """The thread and its Firefox; see the module. `start` and `stop` block, and are called by one thread."""

    def __init__(self, options: LaunchOptions | None = None) -> None:
        self._options = options or fixture_options()
        self._thread: threading.Thread | None = None
        self._begun = threading.Event()  # the thread's run exists, or never will
        self._settled = threading.Event()  # Firefox is attached, or the start has failed
        self._failure: BaseException | None = None
        self._run: HostRun | None = None

    @property
    def alive(self) -> bool:
        """Started, and its Firefox is still there."""
        return self._run is not None and not self._run.lost

    @property
    def pid(self) -> int | None:
        """Firefox's."""
        return self._run.pid if self._run is not None else None

    def start(self) -> None:
        """Start Firefox and wait until its add-on is attached. Raises what `launch_firefox` raises."""
        # A daemon: should this process end without stop(), nobody waits for it, and the supervisor ends Firefox.
        self._thread = threading.Thread(target=self._work, name="firefox for tests", daemon=True)
        self._thread.start()
        try:
            if not self._settled.wait(START_SECONDS):
                raise BrowserError(f"Firefox was not attached within {START_SECONDS:g} s", code="launch-timeout")
        except BaseException:  # a Ctrl-C while we wait, for one
            self.stop()
            raise
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """End Firefox and the thread. May be called at any time, more than once."""
        if self._thread is None:
            return
        self._begun.wait(STOP_SECONDS)
        if self._run is not None:
            self._run.stop_soon()
        self._thread.join(STOP_SECONDS)

    @asynccontextmanager
    async def attach(self) -> AsyncIterator[BrowserSession]:
        """A fresh session over the one connection, for the caller's Trio run. Raises BusyError while another is attached, and
        BrowserError, code ``browser-lost``, when Firefox is gone.
        """
        run = self._run
        if run is None or run.lost or run.peer is None:
            raise BrowserError(
                "the Firefox for tests is not running: it was not started, was stopped, or was lost", code="browser-lost"
            )
        transport = run.attach()
        try:
            async with open_session(transport, run.peer) as channel:
                yield BrowserSession(channel, bidi=RelayedBiDi(run), allow_focus=True)
        finally:
            run.detach(transport)

    async def close_strays(self, session: BrowserSession) -> None:
        """Close all tabs but Firefox's own first one: what a page of an earlier test has opened, late or unnoticed."""
        _, *strays = sorted(await session.tabs(), key=attrgetter("id"))
        for stray in strays:
            with suppress(BrowserError):
                await stray.close()

    @asynccontextmanager
    async def fresh_tab(self, session: BrowserSession) -> AsyncIterator[Tab]:
        """A tab in front on an empty page with an address of its own; closed afterwards, whatever happened to it."""
        assert self._run is not None
        tab = await session.open_tab(self._run.site + blank_path())
        try:
            await tab.bidi_context()  # while its address is its own
            yield tab
        finally:
            with trio.move_on_after(CLOSE_SECONDS, shield=True), suppress(BrowserError):
                await tab.close()

    def _work(self) -> None:
        try:
            trio.run(self._main)
        except BaseException as error:  # told to whoever waits in start(); a later one shows as not alive
            self._failure = error
        finally:
            self._begun.set()
            self._settled.set()

    async def _main(self) -> None:
        run = self._run = HostRun()
        self._begun.set()
        with run.until_stopped():
            async with open_firefox(self._options) as firefox:
                await run.serve(firefox, self._settled.set)
        if run.stopping and run.peer is None:
            raise BrowserError("the start of Firefox was stopped", code="browser-lost")
