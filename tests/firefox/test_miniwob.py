"""Real tasks that none of us wrote, solved in real Firefox through loop, gate, trail, tools, channel and add-on.

The planners (examples/miniwob) see the utterance and what the tools return. Only the test side seeds, starts and judges, over BiDi.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import pytest
import trio

from foxloop_trio.actions import ApprovalRequest, CheckLine, CheckResult
from foxloop_trio.browser import BrowserSession, Tab, browser_tools
from foxloop_trio.cli._bench_miniwob_work import Attempt, PlannerSet, attempt, by_task, load_planners
from foxloop_trio.corpora import registered_tasks
from foxloop_trio.events import Outcome
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import CheckInput, Loop
from foxloop_trio.ports import Planner
from foxloop_trio.testing._miniwob import Episode, Site, Verdict, miniwob_pages, serve_pages, start_episode
from foxloop_trio.trail import MemoryTrail, Verified, verify_entries

pytestmark = pytest.mark.firefox

ROOT = Path(__file__).parents[2]
EPISODE_SECONDS = 10.0
"""Upstream's own limit for these four tasks; measured: 0.5 to 1.2 s an episode."""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve_pages(miniwob_pages()) as served:
        yield served


PlannerFor = Callable[[str, str], Planner]


@pytest.fixture(scope="module")
def planners() -> PlannerSet:
    return load_planners(ROOT / "examples" / "miniwob")


@pytest.fixture
def planner_for(planners: PlannerSet) -> PlannerFor:
    """The example planner of a task, given the utterance."""
    return lambda task, utterance: planners.tasks[task](utterance)


@attrs.frozen
class Watched:
    """One run on one episode, and how the page judged it."""

    outcome: Outcome
    verdict: Verdict
    asked: list[str]
    trail: MemoryTrail


async def watch(tab: Tab, episode: Episode, planner: Planner) -> Watched:
    """Let `planner` work on the episode: reads and fills are granted, a human says yes to each click."""
    tools = browser_tools(tab)
    gate, host = create_gate(tools=tools)
    await host.add_grant(scope="read", domains=["127.0.0.1"])
    await host.add_grant(scope="fill", domains=["127.0.0.1"], approval="never")
    await host.add_grant(scope="submit", domains=["127.0.0.1"])
    asked: list[str] = []

    async def approve(request: ApprovalRequest) -> str | None:
        asked.append(request.action.tool)
        return await host.approve(request.request_id)

    async def check(_: CheckInput) -> CheckResult:
        verdict = await episode.judge()
        line = CheckLine(part=episode.task, ok=verdict.solved, evidence=f"raw reward {verdict.raw_reward}, {verdict.why}")
        return CheckResult(ok=verdict.solved, checks=[line])

    trail = MemoryTrail()
    loop = Loop(planner=planner, gate=gate, tools=tools, on_approval=approve, trail=trail, check=check)
    outcome = await loop.complete(episode.utterance)
    return Watched(outcome, await episode.judge(), asked, trail)


@pytest.mark.parametrize("seed", ["0", "1"])
@pytest.mark.parametrize("task", ["click-test", "enter-text", "click-checkboxes", "choose-list"])
async def test_a_scripted_planner_solves_the_task(
    firefox: BrowserSession, tab: Tab, site: Site, planner_for: PlannerFor, task: str, seed: str
) -> None:
    """MiniWoB++ 1.1.0: done with the full raw reward, the click approved once, and the trail verifies."""
    with trio.fail_after(EPISODE_SECONDS + 20):
        episode = await start_episode(firefox, tab, site.address, task, seed)
        attempted = await watch(tab, episode, planner_for(task, episode.utterance))
    assert attempted.outcome.status == "done", attempted.outcome
    assert attempted.verdict.solved
    assert attempted.asked == ["click"]
    entries = attempted.trail.entries()
    assert isinstance(verify_entries(entries, key=attempted.trail.key), Verified)
    assert entries[-1].kind == "loop.done"


async def test_a_wrong_answer_is_not_solved(firefox: BrowserSession, tab: Tab, site: Site, planner_for: PlannerFor) -> None:
    """The refused twin: the same planner with another text sends it, the page pays -1, and the run does not end `done`."""
    with trio.fail_after(EPISODE_SECONDS + 20):
        episode = await start_episode(firefox, tab, site.address, "enter-text", "0")
        wrong = planner_for("enter-text", 'Enter "Nobody" into the text field and press Submit.')
        attempted = await watch(tab, episode, wrong)
    assert attempted.verdict == Verdict(task="enter-text", done=True, raw_reward=-1)
    assert attempted.outcome.status == "blocked"


def test_each_registered_task_has_a_planner_or_a_reason(planners: PlannerSet) -> None:
    """All 125, each once."""
    assert sorted([*planners.tasks, *planners.not_attempted]) == registered_tasks(miniwob_pages())
    assert all(planners.not_attempted.values())


SEEDS = ("0", "1", "2", "3", "4")
LEAST_SOLVED = 78
"""Tasks that have to be solved with every seed, of at least 80 that are attempted."""


async def solve(
    session: BrowserSession, tab: Tab, site: Site, planners: PlannerSet, tasks: list[str], seeds: tuple[str, ...]
) -> list[Attempt]:
    return [await attempt(session, tab, site.address, task, seed, planners.tasks[task]) for task in tasks for seed in seeds]


def failures(attempts: list[Attempt]) -> list[str]:
    return [f"{one.task}, seed {one.seed}: {one.why}" for one in attempts if not one.solved]


@pytest.mark.parametrize(
    "task",
    [
        "click-checkboxes-large", "click-menu", "click-pie", "drag-items", "email-inbox-forward-nl", "highlight-text",
        "login-user", "use-slider",
    ],
)  # fmt: skip
async def test_a_task_of_each_kind_is_solved(
    firefox: BrowserSession, tab: Tab, site: Site, planners: PlannerSet, task: str
) -> None:
    """With one seed; `foxloop-trio bench miniwob` and the test below run all of them with five."""
    assert failures(await solve(firefox, tab, site, planners, [task], ("0",))) == []


def batches(size: int = 6) -> list[list[str]]:
    tasks = registered_tasks(miniwob_pages())
    return [tasks[start : start + size] for start in range(0, len(tasks), size)]


MOST_UNSOLVED = 1
"""Tasks of a batch that may fail a seed at the first try, so that the bound above holds in whichever process a batch runs."""


@pytest.mark.long
@pytest.mark.parametrize("batch", range(21))
async def test_all_tasks_are_solved_with_every_seed(
    firefox: BrowserSession, tab: Tab, site: Site, planners: PlannerSet, batch: int
) -> None:
    """Every registered task that there is a planner for, with five seeds: each failure is named.

    The pages' limits are on the wall, and a busy machine can use them up: what fails is tried once more, on the same seed. What
    counts for the bound is the first try.
    """
    tasks = [task for task in batches()[batch] if task in planners.tasks]
    attempts = await solve(firefox, tab, site, planners, tasks, SEEDS)
    unsolved = [task for task, episodes in by_task(attempts).items() if not all(one.solved for one in episodes)]
    again = [
        await attempt(firefox, tab, site.address, one.task, one.seed, planners.tasks[one.task])
        for one in attempts
        if not one.solved
    ]
    assert failures(again) == [], failures(attempts)
    assert len(unsolved) <= MOST_UNSOLVED, failures(attempts)


def test_the_batches_leave_at_least_78_tasks_that_are_solved_with_every_seed(planners: PlannerSet) -> None:
    """The issue's own bound, of at least 80 that are attempted."""
    assert len(planners.tasks) >= LEAST_SOLVED + 2
    assert len(planners.tasks) - len(batches()) * MOST_UNSOLVED >= LEAST_SOLVED
