"""MiniWoB++, a public benchmark of small web tasks, on the side of who measures: get the pages, start an episode, judge it.

This module owns the pinned wheel and the page protocol of the benchmark (`core/core.js` in the wheel). It knows nothing of how a
task is solved. What it does in a page it does over WebDriver BiDi, in the page's own realm, never through the add-on, so that a
planner's only view of a task stays its utterance and what the tools return.
"""

from __future__ import annotations

import json
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import attrs
import trio

from ..ports import Ids
from ._pinned import CorpusError, Download, Pinned, unpacked

__all__ = [
    "MINIWOB",
    "Episode",
    "HasBidi",
    "HasGoto",
    "Verdict",
    "miniwob_pages",
    "page_of_task",
    "registered_tasks",
    "start_episode",
    "task_names",
]

MINIWOB: Final = Pinned(
    package="miniwob",
    version="1.1.0",
    file="miniwob-1.1.0-py3-none-any.whl",
    sha256="297006e84219d56ad037e843527ed773a4a82509dc43b6031ec4a3ad3e3e61d9",
)
"""The wheel on PyPI (1,878,300 bytes). The pages are in it; installing it would pull gymnasium, numpy, pillow and selenium."""

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


def miniwob_pages(cache: Path | None = None, *, download: Download | None = None, pinned: Pinned = MINIWOB) -> Path:
    """The folder with the pages (`core`, `common`, `miniwob`, `flight`); fetched once, then kept, as `unpacked` says."""
    return unpacked(pinned, _unpack, cache=cache, download=download)


def _unpack(wheel: Path, scratch: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch, [member for member in archive.namelist() if member.startswith("miniwob/html/")])
    return scratch / "miniwob" / "html"


def task_names(pages: Path) -> list[str]:
    """The tasks in `pages`, sorted: ``click-test`` for `miniwob/click-test.html`, ``flight.AA`` for `flight/AA/wrapper.html`."""
    small = (page.stem for page in (pages / "miniwob").glob("*.html"))
    flights = (f"flight.{page.parent.name}" for page in (pages / "flight").glob("*/wrapper.html"))
    return sorted([*small, *flights])


UNREGISTERED: Final = frozenset({"button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says"})
"""Pages that upstream does not list as tasks of the benchmark; of one of them nobody can win."""


def registered_tasks(pages: Path) -> list[str]:
    """The tasks that upstream lists, sorted: 125 small ones. The flights are not among them."""
    return [task for task in task_names(pages) if task not in UNREGISTERED and page_of_task(task).startswith("miniwob/")]


def page_of_task(task: str) -> str:
    """Its path below the pages' folder."""
    family, _, name = task.partition(".")
    return f"flight/{name}/wrapper.html" if family == "flight" and name else f"miniwob/{task}.html"


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
    url = f"{base_url}/{page_of_task(task)}?episode={nonce}"
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
