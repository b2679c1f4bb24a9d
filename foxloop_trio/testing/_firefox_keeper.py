"""Who starts the Firefox for tests, and starts it again when a test has lost it."""

from __future__ import annotations

from typing import Final

from ..errors import BrowserError
from ._firefox_host import FirefoxHost

__all__ = ["FirefoxKeeper"]

MAX_STARTS: Final = 3
"""A Firefox that is lost again and again is the finding; without a limit each test would wait for a start."""


class FirefoxKeeper:
    """For one test run, and for one thread of it: all methods block."""

    def __init__(self) -> None:
        self._host: FirefoxHost | None = None
        self._starts = 0
        self._failure: BrowserError | None = None

    def running(self) -> FirefoxHost:
        """The host, started. Raises BrowserError: the reason why it cannot be started, the same for every test after the first."""
        if self._host is not None and self._host.alive:
            return self._host
        if self._failure is not None:
            raise self._failure
        if self._starts == MAX_STARTS:
            raise BrowserError(f"Firefox was started {MAX_STARTS} times in this test run and lost each time", code="browser-lost")
        self.stop()
        self._starts += 1
        host = FirefoxHost()
        try:
            host.start()
        except BrowserError as error:
            self._failure = error
            raise
        self._host = host
        return host

    def stop(self) -> None:
        """End Firefox if it runs."""
        if self._host is not None:
            self._host.stop()
            self._host = None
