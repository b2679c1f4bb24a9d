"""The small program that stands between us and Firefox, so that Firefox cannot outlive us.

Run as ``python -I -S _supervisor.py``: standard library only, nothing of foxloop_trio is imported. `_process.py` is its other end.

* Standard input is the lifeline. Its first line is a JSON order (below); after that, end-of-file (we died, however we died), the
  line ``end``, a new parent, or a signal to stop ends Firefox's process group, removes the temporary profile, and ends this
  program.
* Standard output carries one JSON report a line: ``profile`` (path), ``started`` (pid), ``stderr`` (line; up to the one that holds
  the marker), ``failed`` (error), ``exit`` (code, last lines), ``done`` (left: whether something could not be removed).
* It runs in a session of its own, so that a Ctrl-C in the terminal does not reach it, and Firefox runs in another.

The order: ``{"argv", "env", "profile", "parent", "prefix", "prefs", "marker", "grace"}``. ``@PROFILE@`` in `argv`, `env` and
`prefs` stands for the profile's path. With `profile` null a folder is made (and removed) here and not by our caller, who might die
in between; a given profile is kept, and its ``user.js`` is put back. `grace` is how many seconds lie between SIGTERM and SIGKILL;
0 kills at once.

Measured with Firefox 153: SIGTERM and SIGKILL to the group both take 40 ms, and SIGTERM is no clean shutdown either.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

PLACEHOLDER = "@PROFILE@"
MAX_ORDER_BYTES = 2**20
MAX_LINE_CHARS = 500
MAX_FORWARDED_LINES = (
    80  # times 500 characters stays below the 64 KiB of a pipe, so a report never blocks on a reader that is stopped
)
TAIL_LINES = 20
POLL_SECONDS = 1.0  # how often the parent's pid is looked at, for a lifeline that a forked child of ours still holds open
REAP_SECONDS = 2.0  # for what Firefox left: its crash helper lives 0.1 s longer than Firefox
REMOVE_SECONDS = 2.0  # for a profile that a dying process still writes into
BEGIN = b"\n// foxloop-trio: from here on, until it ends Firefox\n"
END = b"// foxloop-trio: to here\n"
OURS = re.compile(re.escape(BEGIN) + b".*?" + re.escape(END), re.DOTALL)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class LifelineCut(Exception):
    """Our parent is gone or wants the end."""


def report(event: str, **fields: Any) -> None:
    """One line to our parent. A parent that is gone is noticed at the lifeline, so a failed write is none of our business."""
    with contextlib.suppress(OSError):
        os.write(1, (json.dumps({"event": event, **fields}) + "\n").encode())


def read_order() -> dict[str, Any] | None:
    """The first line of standard input; None when it ended before it was whole."""
    data = b""
    while not data.endswith(b"\n"):
        chunk = os.read(0, 65536)
        if not chunk or len(data) > MAX_ORDER_BYTES:
            return None
        data += chunk
    order: dict[str, Any] = json.loads(data)
    return order


def prctl(option: int, value: int) -> None:
    """Linux only, and only an extra: it covers the case that this program itself is killed. Elsewhere nothing happens."""
    if sys.platform == "linux":
        with contextlib.suppress(Exception):
            import ctypes

            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class Profile:
    """The profile folder: made or given, with our preferences in ``user.js``, and taken back at the end."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.temporary = order["profile"] is None
        if self.temporary:
            if order["parent"]:
                os.makedirs(order["parent"], exist_ok=True)
            self.path = Path(tempfile.mkdtemp(prefix=order["prefix"], dir=order["parent"]))  # mode 0700
        else:
            self.path = Path(order["profile"])
        self.user_js = self.path / "user.js"
        self.before: bytes | None = None

    def write_prefs(self, prefs: dict[str, Any]) -> None:
        with contextlib.suppress(FileNotFoundError):
            found = self.user_js.read_bytes()
            # Ours may be in it: of another launch with this profile, or of one that was killed with its supervisor.
            self.before = OURS.sub(b"", found)
            if self.before == b"" != found:
                self.before = None
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(self.fill(value))});" for name, value in prefs.items()]
        # The last of two equal names wins.
        self.user_js.write_bytes((self.before or b"") + BEGIN + "\n".join(lines).encode() + b"\n" + END)

    def fill(self, value: Any) -> Any:
        return value.replace(PLACEHOLDER, str(self.path)) if isinstance(value, str) else value

    def take_back(self) -> bool:
        """Remove a temporary profile, put a given one's user.js back. False when something is left."""
        if not self.temporary:
            with contextlib.suppress(OSError):
                self.user_js.unlink() if self.before is None else self.user_js.write_bytes(self.before)
            return True
        deadline = time.monotonic() + REMOVE_SECONDS
        while self.path.exists():
            shutil.rmtree(self.path, ignore_errors=True)
            if time.monotonic() > deadline:
                return not self.path.exists()
            time.sleep(0.01)
        return True


class Firefox:
    """The one child, its process group, and what it wrote to standard error."""

    def __init__(self, order: dict[str, Any], profile: Profile) -> None:
        self.marker: str = order["marker"]
        self.grace: float = order["grace"]
        self.buffer = b""
        self.forwarded: int | None = 0  # None once the marker was seen
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.process = subprocess.Popen(
            [profile.fill(word) for word in order["argv"]],
            env={**os.environ, **{name: profile.fill(value) for name, value in order["env"].items()}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # safe: there is one thread here
        )
        self.pid = self.process.pid
        assert self.process.stderr is not None
        self.stderr = self.process.stderr.fileno()
        os.set_blocking(self.stderr, False)  # its writers may live longer than Firefox's first process

    def exited(self) -> bool:
        """Whether it ended. It is left unreaped, so that its group's number cannot be given to anybody else before we kill the
        group.
        """
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        while (state := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if state.si_pid == self.pid:
                return True
            os.waitpid(state.si_pid, os.WNOHANG)  # an orphan of Firefox that came to us
        return False

    def drain(self) -> bool:
        """Take what standard error holds, pass lines on until the marker was seen, keep the last few. False when it holds no
        more.
        """
        try:
            chunk = os.read(self.stderr, 65536)
        except BlockingIOError:
            return False
        *lines, self.buffer = (self.buffer + chunk).split(b"\n")
        self.buffer = self.buffer[-MAX_LINE_CHARS:]
        for raw in lines:
            self.take_line(raw)
        return bool(chunk)

    def take_line(self, raw: bytes) -> None:
        line = raw.decode("utf-8", "replace").rstrip()[:MAX_LINE_CHARS]
        self.tail.append(line)
        found = self.marker in line
        if self.forwarded is not None and (found or self.forwarded < MAX_FORWARDED_LINES):
            report("stderr", line=line)
            self.forwarded = None if found else self.forwarded + 1

    def end(self) -> int:
        """End the whole group, then whatever else came to us; returns Firefox's exit code, negative for a signal."""
        if self.grace > 0 and not self.exited():
            self.signal_group(signal.SIGTERM)
            deadline = time.monotonic() + self.grace
            while not self.exited() and time.monotonic() < deadline:
                time.sleep(0.01)
        self.signal_group(signal.SIGKILL)
        code = self.process.wait()
        deadline = time.monotonic() + REAP_SECONDS
        while time.monotonic() < deadline:
            for orphan in adopted():
                with contextlib.suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            time.sleep(0.005)
        return code

    def signal_group(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.pid, number)


def adopted() -> list[int]:
    """Our children by now: with the sub-reaper flag set, descendants of Firefox whose parents ended."""
    try:
        return [int(word) for word in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]
    except (OSError, ValueError):
        return []


def watch(firefox: Firefox, parent: int, wake: int) -> None:
    """Return when Firefox ended, raise LifelineCut when it should."""
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        selector.register(firefox.stderr, selectors.EVENT_READ)
        while not firefox.exited():
            for key, _ in selector.select(POLL_SECONDS):
                if key.fd == 0:
                    data = os.read(0, 65536)
                    if not data or b"end" in data:
                        raise LifelineCut
                elif key.fd == wake:
                    stops = set(os.read(wake, 4096)) - {signal.SIGCHLD}
                    if stops:
                        raise LifelineCut
                elif not firefox.drain():
                    selector.unregister(firefox.stderr)  # closed
            if os.getppid() != parent:
                raise LifelineCut
        while firefox.drain():  # its last words
            pass
        firefox.take_line(firefox.buffer)  # also when it did not come to end the line


def main() -> int:
    parent = os.getppid()
    wake, wake_write = os.pipe()
    for fd in (wake, wake_write):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    order = read_order()
    if order is None:
        return 0
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        profile = Profile(order)
    except OSError as error:
        report("failed", error=str(error))
        return 1
    report("profile", path=str(profile.path), temporary=profile.temporary)
    try:
        profile.write_prefs(order["prefs"])
        firefox = Firefox(order, profile)
        try:
            report("started", pid=firefox.pid)
            watch(firefox, parent, wake)
        except LifelineCut:
            pass
        finally:
            code = firefox.end()
        report("exit", code=code, tail=list(firefox.tail))
    except OSError as error:
        report("failed", error=str(error))
    finally:
        clean = profile.take_back()
        report("done", left=not clean)
    return 0


if __name__ == "__main__":
    sys.exit(main())
