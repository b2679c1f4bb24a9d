"""Solving tasks of MiniWoB++ with scripted planners in real Firefox, through loop, gate, channel and add-on. No terminal here.

A planner sees the sentence of the task and what the tools return. Seeding, starting and judging are done beside it, over BiDi.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any, Final

import attrs
import trio

from ..actions import ApprovalRequest, CheckLine, CheckResult
from ..browser import BrowserSession, Tab, browser_tools
from ..browser._launch import LaunchOptions, open_firefox
from ..channel import open_session
from ..corpora import Episode, serve_pages, start_episode
from ..errors import FoxloopError, UsageError
from ..events import LoopEvent
from ..gate import create_gate
from ..loop import CheckInput, Loop
from ..ports import Planner

__all__ = ["Attempt", "PlannerSet", "attempt", "attempt_all", "by_task", "load_planners", "median_ms", "median_steps"]

HOST: Final = "127.0.0.1"
MAX_STEPS: Final = 1000
"""Replies of one episode, which may be a look at a price again and again; the page's own clock ends it long before."""
EPISODE_SECONDS: Final = 60.0
"""Twice the longest time that a page gives; then the episode is left."""
MAKER: Final = "foxloop_miniwob_planners"

_PASSWORD = re.compile(r'the password "([^"]*)"')
"""What the user names in a sentence, so that it may be typed."""

MakePlanner = Callable[[str], Planner]


@attrs.frozen(kw_only=True)
class PlannerSet:
    """What a folder of planners offers: for each task what makes its planner from the sentence, and why the others have none."""

    tasks: Mapping[str, MakePlanner]
    not_attempted: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Attempt:
    """One episode. `steps` counts tool calls, `seconds` is from the first reply to the end of the run; `why` says what failed."""

    task: str
    seed: str
    solved: bool
    raw_reward: float = 0.0
    steps: int = 0
    seconds: float = 0.0
    why: str = ""
    utterance: str = ""

    @property
    def ms_per_step(self) -> float:
        return self.seconds * 1000 / self.steps if self.steps else 0.0

    def to_json(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "ms_per_step": self.ms_per_step}


def load_planners(folder: Path) -> PlannerSet:
    """Import `folder` as a package and take its `TASKS` and `NOT_ATTEMPTED`. Raises UsageError when it is none, or has none."""
    start = folder / "__init__.py"
    if not start.is_file():
        raise UsageError(f"no planners in {folder}: it has no __init__.py; name a folder like examples/miniwob with --planners")
    package = _package(folder, start)
    tasks = getattr(package, "TASKS", None)
    if not isinstance(tasks, Mapping):
        raise UsageError(f"{start} has no TASKS, a mapping from the name of a task to what makes its planner from the sentence")
    return PlannerSet(tasks=dict(tasks), not_attempted=dict(getattr(package, "NOT_ATTEMPTED", {})))


def _package(folder: Path, start: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(MAKER, start, submodule_search_locations=[str(folder)])
    assert spec is not None
    assert spec.loader is not None
    for name in [name for name in sys.modules if name == MAKER or name.startswith(f"{MAKER}.")]:
        del sys.modules[name]  # another folder's
    package = importlib.util.module_from_spec(spec)
    sys.modules[MAKER] = package
    spec.loader.exec_module(package)
    return package


async def attempt_all(
    pages: Path,
    planners: PlannerSet,
    tasks: Sequence[str],
    seeds: Sequence[str],
    *,
    headless: bool = True,
    advance: Callable[[str], None],
    done: Callable[[Attempt], None],
) -> None:
    """Each of `tasks` with each of `seeds`, in one tab of a Firefox of our own; `done` gets each result as it comes.

    Firefox runs in UTC and in English, since some tasks say times as the browser writes them.
    """
    options = LaunchOptions(headless=headless, env={"TZ": "UTC"}, prefs={"intl.locale.requested": "en-US"})
    with serve_pages(pages) as site:
        async with open_firefox(options) as firefox, open_session(firefox.transport, firefox.peer, ids=options.ids) as channel:
            session = BrowserSession(channel, bidi=firefox.bidi, allow_focus=True, ids=options.ids)
            async with session.lease(await session.open_tab("about:blank")) as tab:
                for task in tasks:
                    for seed in seeds:
                        advance(f"{task}, seed {seed}")
                        done(await attempt(session, tab, site.address, task, seed, planners.tasks[task]))


async def attempt(session: BrowserSession, tab: Tab, address: str, task: str, seed: str, make: MakePlanner) -> Attempt:
    """One episode of `task`, on a page that was opened afresh. Whatever goes wrong is in the result."""
    attempted = Attempt(task=task, seed=seed, solved=False)
    with trio.move_on_after(EPISODE_SECONDS) as limit:
        try:
            episode = await start_episode(session, tab, address, task, seed)
            return await _work(tab, episode, make)
        except FoxloopError as error:
            return attrs.evolve(attempted, why=f"{error.code}: {str(error)[:500]}")
    assert limit.cancelled_caught
    return attrs.evolve(attempted, why=f"not over within {EPISODE_SECONDS:g} s")


async def _work(tab: Tab, episode: Episode, make: MakePlanner) -> Attempt:
    """Let the planner work: all is granted on the page's host, and what is asked all the same gets a yes, since nothing is real."""
    attempted = Attempt(task=episode.task, seed=episode.seed, solved=False, utterance=episode.utterance)
    try:
        planner = make(episode.utterance)
    except Exception as error:  # the planners may be anybody's, and one that fails is a result
        return attrs.evolve(attempted, why=f"no planner for this sentence: {type(error).__name__}: {str(error)[:300]}")
    named = _PASSWORD.findall(episode.utterance)
    tools = browser_tools(tab, passwords=lambda url: named if url.startswith(episode.url) else [])
    gate, host = create_gate(tools=tools)
    for scope in sorted({tool.scope for tool in tools}):
        await host.add_grant(scope=scope, domains=[HOST], approval="never")

    async def approve(request: ApprovalRequest) -> str | None:
        return await host.approve(request.request_id)

    async def judge(_: CheckInput) -> CheckResult:
        verdict = await episode.judge()
        evidence = f"raw reward {verdict.raw_reward:g}, {verdict.why}"
        return CheckResult(ok=verdict.solved, checks=[CheckLine(part=episode.task, ok=verdict.solved, evidence=evidence)])

    words: list[str] = []
    steps = 0

    def heard(event: LoopEvent) -> None:
        nonlocal steps
        if event.type == "tool-result":
            steps += 1
            if not event.ok:
                words.append(event.summary[:300])
        elif event.type == "blocked":
            words.append(f"{event.reason}: {event.message[:600]}")

    begun = time.perf_counter()
    loop = Loop(planner=planner, gate=gate, tools=tools, on_approval=approve, check=judge, max_steps=MAX_STEPS)
    outcome = await loop.complete(episode.utterance, on_event=heard)
    seconds = time.perf_counter() - begun
    verdict = await episode.judge()
    why = "" if verdict.solved else "; ".join([f"raw reward {verdict.raw_reward:g}", verdict.why or "", outcome.status, *words])
    return attrs.evolve(attempted, solved=verdict.solved, raw_reward=verdict.raw_reward, steps=steps, seconds=seconds, why=why)


def by_task(attempts: Sequence[Attempt]) -> dict[str, list[Attempt]]:
    """The attempts by task, in the order of the tasks."""
    found: dict[str, list[Attempt]] = {}
    for one in attempts:
        found.setdefault(one.task, []).append(one)
    return found


def median_ms(attempts: Sequence[Attempt]) -> float:
    """The median over the episodes of the time for a step."""
    return median([one.ms_per_step for one in attempts if one.steps] or [0.0])


def median_steps(attempts: Sequence[Attempt]) -> float:
    return median([one.steps for one in attempts] or [0])
