"""`bench miniwob`: whose planners are taken, what is counted and told, and one task in real Firefox."""

import json
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner, Result

from foxloop_trio.cli._bench_miniwob import miniwob, plain, why_not
from foxloop_trio.cli._bench_miniwob_work import Attempt, PlannerSet, by_task, load_planners, median_ms, median_steps
from foxloop_trio.errors import UsageError
from foxloop_trio.planners import scripted_planner

GOOD = Attempt(task="a", seed="0", solved=True, raw_reward=1.0, steps=4, seconds=1.0)


def ask(*args: str) -> Result:
    return CliRunner().invoke(miniwob, [*args], standalone_mode=False)


def test_a_step_is_counted_by_its_time() -> None:
    """The median over the episodes; those that came to no step do not count."""
    attempts = [GOOD, attrs.evolve(GOOD, seed="1", steps=2, seconds=0.2), attrs.evolve(GOOD, seed="2", steps=0, seconds=0.0)]
    assert (GOOD.ms_per_step, median_ms(attempts), median_steps(attempts)) == (250.0, 175.0, 2)
    assert (median_ms([]), median_steps([])) == (0.0, 0)


def test_a_task_counts_as_solved_with_every_seed_only() -> None:
    """Two tasks, of which one failed once; a third has no planner, and a fourth a reason for that."""
    attempts = [GOOD, attrs.evolve(GOOD, task="b"), attrs.evolve(GOOD, task="b", seed="1", solved=False, why="late")]
    planners = PlannerSet(tasks=dict.fromkeys("ab", lambda goal: scripted_planner([])), not_attempted={"d": "too odd"})
    left = why_not(["a", "b", "c", "d"], planners)
    told = plain(attempts, left, 2, "1.1.0")
    assert list(by_task(attempts)) == ["a", "b"]
    assert (told["attempted"], told["solved"], told["not_attempted"]) == (2, ["a"], {"c": "no planner", "d": "too odd"})
    assert json.loads(json.dumps(told))["episodes"][2]["why"] == "late"


def test_planners_come_from_a_folder_and_another_folder_replaces_them(tmp_path: Path) -> None:
    """Each is a package of its own, whose modules may import each other; names of the first do not stay."""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "_words.py").write_text(f"WORD = {name!r}\n", encoding="utf-8")
        (folder / "__init__.py").write_text("from ._words import WORD\nTASKS = {WORD: str}\n", encoding="utf-8")
        assert list(load_planners(folder).tasks) == [name]


@pytest.mark.parametrize(("text", "words"), [(None, "no __init__.py"), ("TASKS = 3\n", "has no TASKS")])
def test_a_folder_without_planners_is_refused(tmp_path: Path, text: str | None, words: str) -> None:
    """With the name of the folder, and what is missing."""
    if text is not None:
        (tmp_path / "__init__.py").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=words) as refused:
        load_planners(tmp_path)
    assert str(tmp_path) in str(refused.value)


def test_a_task_that_is_none_is_refused() -> None:
    """By its name, before Firefox is started."""
    done = ask("click-test", "click-tset")
    assert isinstance(done.exception, UsageError)
    assert "click-tset" in str(done.exception)
    assert "click-test," not in str(done.exception)


def test_what_is_not_attempted_is_told_with_its_reason() -> None:
    """Nothing to do, and so no Firefox: the table and the line below it."""
    done = ask("count-sides")
    assert done.exception is None, done.output
    assert "only a picture" in done.stdout
    assert "0 of 1 tasks attempted, 0 solved on every one of 5 seeds" in done.stdout


@pytest.mark.firefox
@pytest.mark.long
def test_a_planner_of_ones_own_is_run_on_real_pages(tmp_path: Path) -> None:
    """One that solves a task, one that fails, and one that understands nothing: each is told, and none ends the others."""
    (tmp_path / "__init__.py").write_text(
        """
from foxloop_trio import scripted_planner

def calls(**tools):
    return scripted_planner([{"calls": [{"name": name, "args": args}]} for name, args in tools.items()])

def refuse(goal):
    raise ValueError(goal)

TASKS = {
    "click-test": lambda goal: calls(snapshot={}, click={"control_id": "0:1"}, finish={"summary": "Done."}),
    "focus-text": lambda goal: calls(snapshot={}, finish={"summary": "Done."}),
    "click-link": refuse,
}
""",
        encoding="utf-8",
    )
    done = ask("click-test", "focus-text", "click-link", "--seeds", "2", "--planners", str(tmp_path), "--json")
    assert done.exception is None, done.output
    told = json.loads(done.stdout)
    assert (told["attempted"], told["solved"], told["seeds"]) == (3, ["click-test"], 2)
    assert [(one["task"], one["seed"], one["solved"], one["steps"]) for one in told["episodes"]] == [
        ("click-test", "0", True, 2), ("click-test", "1", True, 2), ("focus-text", "0", False, 1), ("focus-text", "1", False, 1),
        ("click-link", "0", False, 0), ("click-link", "1", False, 0),
    ]  # fmt: skip
    assert "raw reward 0" in told["episodes"][2]["why"]
    assert "no planner for this sentence: ValueError" in told["episodes"][4]["why"]
