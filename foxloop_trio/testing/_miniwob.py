"""MiniWoB++, a public benchmark of small web tasks, on the test side: get the pages, serve them, start an episode, judge it.

This module owns the pinned wheel, the loopback server and the page protocol of the benchmark (`core/core.js` in the wheel). It
knows nothing of how a task is solved. What it does in a page it does over WebDriver BiDi, in the page's own realm, never through
the add-on, so that a planner's only view of a task stays its utterance and what the tools return. It needs no pytest: a benchmark
may use it too.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import attrs
import trio

from ..errors import FoxloopError
from ..ports import Ids

VERSION: Final = "1.1.0"
WHEEL: Final = f"miniwob-{VERSION}-py3-none-any.whl"
WHEEL_SHA256: Final = "297006e84219d56ad037e843527ed773a4a82509dc43b6031ec4a3ad3e3e61d9"
"""Of the wheel on PyPI (1,878,300 bytes). The pages are in it; installing it would pull gymnasium, numpy, pillow and selenium."""

DOWNLOAD_SECONDS: Final = 180.0
"""How long pip may take for 1.9 MB before we say that the index cannot be reached."""

PAGE_SECONDS: Final = 10.0
"""How long a task page may take to load and to start; upstream's episodes last 7 to 30 s, so later would be pointless."""

FIRST_PAINT_SECONDS: Final = 0.06
"""After an episode has started. Pages that draw after `genProblem` returned (d3, icons) are complete then; found by trying."""

SOLVED: Final = 1.0
SOLVED_BY_AIM: Final[Mapping[str, float]] = MappingProxyType(
    dict.fromkeys(("circle-center", "find-midpoint", "right-angle", "bisect-angle", "draw-line", "draw-circle"), 0.9)
    | dict.fromkeys(("use-colorwheel", "use-colorwheel-2"), 0.95)
)
"""Lowest raw reward that counts as solved where it is not 1: these tasks pay by distance, and whole pixels do not reach 1."""


class CorpusError(FoxloopError):
    """The pages could not be had, or one of them did not do what the benchmark's protocol says."""

    default_code = "corpus"


# Getting the pages


def miniwob_pages(cache: Path | None = None, *, download: Callable[[Path], None] | None = None) -> Path:
    """The folder with the benchmark's pages (`core`, `common`, `miniwob`, `flight`); fetched once, then kept in `cache`.

    `cache` is a folder of the user's (default: ``foxloop-trio`` in the XDG cache folder). `download` puts the wheel into the folder
    it is given (default: pip). Blocks; two processes may call it at once, since the finished folder appears in one rename.
    Raises CorpusError, with the way out, when the wheel cannot be had or is not the pinned one.
    """
    home = (cache if cache is not None else user_cache()) / f"miniwob-{VERSION}-{WHEEL_SHA256[:12]}"
    pages = home / "html"
    if pages.is_dir():
        return pages
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=home) as name:
        scratch = Path(name)
        wheel = home / WHEEL
        if not wheel.is_file():
            (download or functools.partial(_download_with_pip, by_hand=home))(scratch)
            wheel = scratch / WHEEL
        _must_be_pinned(wheel)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch, [member for member in archive.namelist() if member.startswith("miniwob/html/")])
        try:
            (scratch / "miniwob" / "html").rename(pages)
        except OSError:
            if not pages.is_dir():  # else another process was faster, with the same files
                raise
    return pages


def user_cache() -> Path:
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (
        configured if configured.is_absolute() else Path.home() / ".cache"
    ) / "foxloop-trio"  # relative ones count for nothing (XDG)


def _download_with_pip(folder: Path, *, by_hand: Path) -> None:
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), f"miniwob=={VERSION}"]
    way_out = f"Configure an index that pip can reach, or get {WHEEL} from PyPI on another machine and put it into {by_hand}"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise CorpusError(f"pip did not fetch miniwob {VERSION} within {DOWNLOAD_SECONDS:g} s. {way_out}") from late
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-500:]
        raise CorpusError(f"pip could not fetch miniwob {VERSION} (exit code {done.returncode}). {way_out}. It said: {said}")


def _must_be_pinned(wheel: Path) -> None:
    if not wheel.is_file():
        raise CorpusError(f"{wheel.name} was not downloaded; miniwob {VERSION} seems to have another file name on this index")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != WHEEL_SHA256:
        raise CorpusError(
            f"{wheel} is not the pinned wheel: its SHA-256 is {found}, expected {WHEEL_SHA256}. Remove it and try again"
        )


def task_names(pages: Path) -> list[str]:
    """The tasks in `pages`, sorted: ``click-test`` for `miniwob/click-test.html`, ``flight.AA`` for `flight/AA/wrapper.html`."""
    small = (page.stem for page in (pages / "miniwob").glob("*.html"))
    flights = (f"flight.{page.parent.name}" for page in (pages / "flight").glob("*/wrapper.html"))
    return sorted([*small, *flights])


def _page_of(task: str) -> str:
    family, _, name = task.partition(".")
    return f"flight/{name}/wrapper.html" if family == "flight" and name else f"miniwob/{task}.html"


# Serving them


@attrs.frozen(kw_only=True)
class Site:
    """A folder that is being served. `requests` grows by one line, such as ``GET /page.html?name=Ada``, before each is answered."""

    address: str
    requests: list[str] = attrs.field(factory=list)


@contextmanager
def serve_pages(folder: Path, *, on_request: Callable[[str], object] | None = None) -> Iterator[Site]:
    """Serve the files below `folder` on a free port of 127.0.0.1, in a thread of its own; `address` is without a slash at its end.

    HTML goes out as UTF-8 (one task has no charset of its own), folders are not listed, and nothing above `folder` is reachable.
    `on_request` gets each line of `requests` too, in a thread of the server. When the context ends, open connections are cut and no
    thread is left.
    """
    requests: list[str] = []

    def seen(line: str) -> None:
        requests.append(line)
        if on_request is not None:
            on_request(line)

    server = _Server(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder), seen=seen))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="served pages")
    thread.start()
    try:
        yield Site(address=f"http://127.0.0.1:{server.server_address[1]}", requests=requests)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(SimpleHTTPRequestHandler):
    timeout = 5.0  # seconds of silence, after which a connection is dropped

    def __init__(self, *args: Any, seen: Callable[[str], None], **options: Any) -> None:
        self._seen = seen
        super().__init__(*args, **options)  # which handles the request

    def parse_request(self) -> bool:
        good = super().parse_request()
        if good:
            self._seen(f"{self.command} {self.path}")
        return good

    def guess_type(self, path: Any) -> str:
        found = super().guess_type(path)
        return f"{found}; charset=utf-8" if found == "text/html" else found

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing: a test's output is about the test."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close waits for them, after it has cut their connections
    request_queue_size = 64

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(*args)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer would look the host's name up, which can take seconds
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # a browser that went away in the middle is no news
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        with self._guard:
            for connection in self._open:
                with suppress(OSError):  # it went away by itself
                    connection.shutdown(socket.SHUT_RDWR)
        super().server_close()


# Starting and judging an episode


class HasBidi(Protocol):
    """The part of a launched browser session that the test side uses."""

    async def bidi(self, method: str, **params: Any) -> Any: ...


class HasGoto(Protocol):
    """The part of a tab that the test side uses."""

    async def goto(self, url: str) -> Any: ...


@attrs.frozen(kw_only=True)
class Verdict:
    """How an episode stands. `raw_reward` is without upstream's discount for time; `why` is upstream's reason, mostly none."""

    task: str
    done: bool
    raw_reward: float = attrs.field(converter=float)
    why: str | None = None

    @property
    def solved(self) -> bool:
        """Ended with the full raw reward, or with what counts as full where a task pays by distance."""
        return self.done and self.raw_reward >= SOLVED_BY_AIM.get(self.task, SOLVED)


@attrs.frozen(kw_only=True)
class Episode:
    """A task under way. A planner gets `utterance` and nothing else of this."""

    task: str
    seed: str
    url: str
    utterance: str
    _session: HasBidi = attrs.field(alias="session", repr=False)
    _context: str = attrs.field(alias="context", repr=False)

    async def judge(self) -> Verdict:
        """Read the reward as it stands. Raises CorpusError when the tab shows another page by now."""
        return Verdict(task=self.task, **await _in_page(self._session, self._context, _READ_REWARD))


async def start_episode(session: HasBidi, tab: HasGoto, base_url: str, task: str, seed: str, *, ids: Ids | None = None) -> Episode:
    """Open the task's page afresh in `tab`, hide the human's score board, seed the random numbers, start the clock.

    `base_url` is what `serve_pages` gave; `seed` is any string (upstream's runs use "0", "1", …). A fresh navigation for each
    episode, since state leaks between episodes of one page. Raises CorpusError when the page does not start within `PAGE_SECONDS`.
    """
    nonce = (ids(8, "miniwob-episode") if ids is not None else secrets.token_bytes(8)).hex()
    url = f"{base_url}/{_page_of(task)}?episode={nonce}"
    with trio.move_on_after(PAGE_SECONDS) as scope:
        await tab.goto(url)
        context = await _context_showing(session, url)
        utterance = await _in_page(session, context, _START, seed)
        await trio.sleep(FIRST_PAINT_SECONDS)
    if scope.cancelled_caught:
        raise CorpusError(f"{url} did not start an episode within {PAGE_SECONDS:g} s")
    return Episode(task=task, seed=seed, url=url, utterance=utterance, session=session, context=context)


async def _context_showing(session: HasBidi, url: str) -> str:
    """The browsing context of a tab, found by its address: the nonce in it makes it the only one."""
    tree = await session.bidi("browsingContext.getTree", maxDepth=0)
    for context in tree["contexts"]:
        if context["url"] == url:
            return str(context["context"])
    raise CorpusError(f"no tab shows {url}")


async def _in_page(session: HasBidi, context: str, function: str, *arguments: str) -> Any:
    """Call one of the fixed functions below in the page's own realm; what it returns is JSON text."""
    answer = await session.bidi(
        "script.callFunction",
        functionDeclaration=function,
        arguments=[{"type": "string", "value": argument} for argument in arguments],
        target={"context": context},
        awaitPromise=True,
    )
    if answer["type"] != "success":
        raise CorpusError(f"the page does not keep to MiniWoB++'s protocol: {answer['exceptionDetails']['text'][:500]}")
    return json.loads(answer["result"]["value"])


_START: Final = """async (seed) => {
  const until = async (ready) => { while (!ready()) await new Promise((wake) => setTimeout(wake, 5)); };
  await until(() => document.readyState === "complete" && core.cover_div !== null);  // set by core.startEpisode, at load
  for (const id of ["reward-display", "click-canvas"]) {
    const board = document.getElementById(id);
    if (board !== null) board.style.display = "none";
  }
  Math.seedrandom(seed);
  core.startEpisodeReal();
  await until(() => WOB_TASK_READY);  // false only while a flight page loads
  const said = core.getUtterance();
  if (typeof said === "string") return JSON.stringify(said);
  return JSON.stringify(typeof said.utterance === "string" ? said.utterance : JSON.stringify(said));
}"""

_READ_REWARD: Final = """() => JSON.stringify({
  done: WOB_DONE_GLOBAL, raw_reward: WOB_RAW_REWARD_GLOBAL, why: WOB_REWARD_REASON === undefined ? null : WOB_REWARD_REASON,
})"""
