"""The queue of one trail file: what tasks hand in, and the one thread that takes it from there to the disk.

What gathers while the thread syncs goes out with its next write (group commit). A task that waits can be cancelled as long as its
part has not been taken; from then on it ends with the write, and the task returns normally. Which of the two it is, is settled
under one mutex, so there is nothing in between.

The thread comes from Trio's cache when there is something to do and goes back when there has been nothing for a while, so a trail
at rest has none.
Waits for the lock beside the file are measured on the real clock: its holder lives in real time, whatever the clock of a test says.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import trio

from ..errors import TrailError
from ._errors import StoreError
from ._file import Addition, EntryFile
from ._lock import NAP_SECONDS, WriterLock, announce_waiting, somebody_waits, stop_waiting

__all__ = ["Writer"]

MAX_BATCH: Final = 256
"""Entries in one write; with those of a run, which have some hundred bytes, this stays near the size below."""

MAX_BATCH_BYTES: Final = 1024 * 1024
"""Bytes of data after which a write is full. One entry may have as many."""

GIVE_WAY: Final = 0.015
"""Seconds that a writer waits before it takes the lock again when somebody else waits for it: longer than any nap."""

LINGER: Final = 0.2
"""Seconds that the thread waits for more before it goes: fetching it again costs ten times what waking it does."""

_log = logging.getLogger("foxloop_trio.trail")


class Request(Addition):
    """An addition, or a `job` to be done alone, and the task that waits for it."""

    __slots__ = ("job", "result", "since", "taken", "task")

    def __init__(self, *, draft: Any = None, now_ms: int = 0, blobs: Any = None, job: Callable[[], Any] | None = None) -> None:
        super().__init__(draft, now_ms, {} if blobs is None else blobs)
        self.job = job
        self.result: Any = None
        self.since = time.monotonic()
        self.taken = False
        self.task: trio.lowlevel.Task | None = None


class Writer:
    """`lock_timeout` bounds the wait for the lock; a write that takes longer than `stuck_after` is reported. Both in seconds."""

    def __init__(self, file: EntryFile, lock: WriterLock, *, lock_timeout: float, stuck_after: float) -> None:
        self._file = file
        self._lock = lock
        self._lock_timeout = lock_timeout
        self._stuck_after = stuck_after
        self._mutex = threading.Lock()
        self._pending: deque[Request] = deque()
        self._running = False
        self._asleep = False
        # Held but for the moment in which somebody wakes the thread; a plain lock, since it is by far the cheapest signal.
        self._wake = threading.Lock()
        self._wake.acquire()
        self._begun: float | None = None
        self._reported = False
        self._watching = False
        self._closed = threading.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._idle: list[trio.Event] = []

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    async def submit(self, request: Request) -> None:
        """Wait until the request is done, durably. Raises its error; when it raises Cancelled, nothing of it was begun."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self.closed:
            raise StoreError(f"{self._file.path}: the trail was closed; append inside its `async with`")
        if self._is_stuck():
            raise StoreError(f"{self._file.path}: {self._stuck_words()}")
        request.task = trio.lowlevel.current_task()
        with self._mutex:
            self._pending.append(request)
            start, self._running = not self._running, True
            wake, self._asleep = self._asleep, False
        if start:
            self._start()
        elif wake:
            self._wake.release()

        def give_up(_: Any) -> trio.lowlevel.Abort:
            with self._mutex:
                if request.taken:
                    return trio.lowlevel.Abort.FAILED
                self._pending.remove(request)
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(give_up)
        if request.error is not None:
            raise request.error

    async def aclose(self) -> None:
        """Wait for what was handed in before, then give everything back. To be called in a shielded scope."""
        self._closed.set()
        while True:
            with self._mutex:
                if not self._running:
                    break
                idle = trio.Event()
                self._idle.append(idle)
                wake, self._asleep = self._asleep, False
            if wake:
                self._wake.release()
            await idle.wait()
        self._file.close()
        self._lock.close()

    def _start(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        trio.lowlevel.start_thread_soon(self._work_safely, self._ended, "foxloop-trio trail")
        if not self._watching:
            self._watching = True
            trio.lowlevel.start_thread_soon(self._watch, lambda _: None, "foxloop-trio trail watch")

    def _is_stuck(self) -> bool:
        begun = self._begun
        return begun is not None and time.monotonic() - begun > self._stuck_after

    def _stuck_words(self) -> str:
        return f"a write has not come back for {self._stuck_after} s; appends are refused until it does"

    # From here on: in threads.

    def _watch(self) -> None:
        """Report a write that hangs, once, until the trail is closed. It does no file I/O itself."""
        while not self._closed.wait(min(self._stuck_after / 4, 5.0)):
            if not self._is_stuck():
                self._reported = False
            elif not self._reported:
                self._reported = True
                _log.error("%s: %s", self._file.path, self._stuck_words())

    def _work(self) -> None:
        give_way = False
        announced = False
        while True:
            if announced and not self._pending:
                # Those who waited have given up or were cancelled; others must not give way to nobody.
                announced = self._stop_waiting()
            if not self._wait_for_more():
                return
            with self._mutex:
                if not self._pending:
                    continue
                reads = self._pending[0].job is not None
            if give_way:
                time.sleep(GIVE_WAY)
            try:
                if not reads:
                    self._file.prepare()
                if not self._lock.try_acquire():
                    announced = self._announce() or announced
                    self._expire()
                    time.sleep(random.uniform(*NAP_SECONDS))
                    continue
            except TrailError as fault:
                self._refuse(fault)
                continue
            if announced:
                announced = self._stop_waiting()
            batch = self._take()
            try:
                self._do(batch)
            finally:
                self._lock.release()
                give_way = self._file.fd is not None and somebody_waits(self._file.fd)
                self._deliver(batch)

    def _wait_for_more(self) -> bool:
        """Whether there is something to do; if not, the thread has been signed off."""
        with self._mutex:
            if self._pending:
                return True
            self._asleep = not self.closed
            lingers = self._asleep
        if lingers and self._wake.acquire(timeout=LINGER):
            return self._wait_for_more() if self.closed else True
        with self._mutex:
            if not self._asleep and lingers:
                # Woken at the very end of the wait: take the signal along, or the next wait would not be one.
                self._wake.acquire()
            self._asleep = False
            if self._pending:
                return True
            self._running = False
            return False

    def _announce(self) -> bool:
        fd = self._file.fd
        if fd is not None:
            announce_waiting(fd)
        return fd is not None

    def _stop_waiting(self) -> bool:
        if self._file.fd is not None:
            stop_waiting(self._file.fd)
        return False

    def _take(self) -> list[Request]:
        """What goes out together. Nothing of it can be cancelled any more."""
        batch: list[Request] = []
        size = 0
        with self._mutex:
            while self._pending and len(batch) < MAX_BATCH and size < MAX_BATCH_BYTES:
                if self._pending[0].job is not None and batch:
                    break  # a job sees what was handed in before it, and is alone
                request = self._pending.popleft()
                request.taken = True
                batch.append(request)
                if request.job is not None:
                    break
                size += len(request.draft.data_json) if request.draft is not None else 0
        return batch

    def _do(self, batch: Sequence[Request]) -> None:
        if not batch:
            return
        self._begun = time.monotonic()
        try:
            job = batch[0].job
            if job is None:
                self._file.add(batch)
            else:
                batch[0].result = job()
        except Exception as fault:
            for request in batch:
                if request.sealed is None and request.error is None:
                    request.error = fault
        finally:
            self._begun = None

    def _expire(self) -> None:
        """Give up on those who have waited for the lock for too long."""
        since = time.monotonic() - self._lock_timeout
        with self._mutex:
            late = [request for request in self._pending if request.since <= since]
            for request in late:
                self._pending.remove(request)
                request.taken = True
        for request in late:
            request.error = StoreError(
                f"{self._lock.path}: another writer has had the lock for {self._lock_timeout} s. Nothing was written. "
                "End that writer, or give lock_timeout more time"
            )
        self._deliver(late)

    def _refuse(self, fault: TrailError) -> None:
        with self._mutex:
            refused = list(self._pending)
            self._pending.clear()
            for request in refused:
                request.taken = True
        for request in refused:
            request.error = StoreError(str(fault))
            request.error.__cause__ = fault.__cause__
        self._deliver(refused)

    def _deliver(self, requests: Sequence[Request]) -> None:
        if requests:
            self._soon(lambda: [trio.lowlevel.reschedule(request.task) for request in requests if request.task is not None])

    def _work_safely(self) -> None:
        """A bug of ours must not leave tasks waiting for ever."""
        try:
            self._work()
        except Exception as bug:
            fault = StoreError(f"{self._file.path}: the writing thread failed")
            fault.__cause__ = bug
            with suppress(OSError):
                self._lock.release()
            with self._mutex:
                self._running = False
            self._refuse(fault)

    def _ended(self, _: object) -> None:
        """The thread has nothing more to do."""
        self._soon(self._wake_the_closing)

    def _wake_the_closing(self) -> None:
        with self._mutex:
            idle, self._idle = self._idle, []
        for event in idle:
            event.set()

    def _soon(self, function: Callable[[], Any]) -> None:
        assert self._token is not None
        with suppress(trio.RunFinishedError):  # then nobody waits any more
            self._token.run_sync_soon(function)
