"""`foxloop-trio trail replay`: a run goes the recorded way, or the first difference is printed."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from foxloop_trio.cli._app import run
from foxloop_trio.trail import open_trail

KEY = "ab" * 32
MODULE = '''
from contextlib import asynccontextmanager

from foxloop_trio import Budget, CheckResult, Loop, ToolOutput, create_gate, scripted_planner, tool


def loop_of(trail=None, **options):
    @tool(scope="fill", domain="notes.local")
    async def save_note(text: str) -> ToolOutput:
        """Saves a note."""
        return ToolOutput(ok=True, summary="Saved.", check=CheckResult(ok=True))

    gate, host = create_gate(tools=[save_note])
    script = [{"calls": [{"name": "save_note", "args": {"text": "milk"}}]}, {"text": "Saved."}]
    return Loop(planner=scripted_planner(script), gate=gate, tools=[save_note], trail=trail, **options), host


def make():
    return loop_of()[0]


async def make_async():
    return make()


@asynccontextmanager
async def make_managed():
    yield make()


def make_other():
    return loop_of(max_steps=7)[0]


def make_nothing():
    return None


class Agent:
    make = staticmethod(make)


number = 7
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with `the_agent.py` and the trail of one run of it."""
    (tmp_path / "the_agent.py").write_text(MODULE)
    (tmp_path / "broken_agent.py").write_text("import not_installed_anywhere\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    import the_agent  # type: ignore[import-not-found]

    async def record() -> None:
        async with open_trail(tmp_path / "run.jsonl", key=KEY) as trail:
            loop, host = the_agent.loop_of(trail)
            await host.add_grant(scope="fill", domains=["notes.local"], tools=["save_note"], approval="never")
            assert (await loop.complete("Save milk")).status == "done"

    trio.run(record)
    yield tmp_path
    for name in ("the_agent", "broken_agent"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["make", "make_async", "make_managed", "Agent.make"])
def test_a_run_that_goes_the_recorded_way_exits_with_zero(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The function may be plain, async, or give an async context manager."""
    entries = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    assert run(["trail", "replay", "run.jsonl", "--loop", f"the_agent:{name}"]) == 0
    assert capsys.readouterr() == (f"ok: run {entries[0]['data']['run']}, {len(entries)} entries\n", "")


def test_a_trail_that_ends_before_the_run_does_is_good_and_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As after a crash."""
    trail = folder / "run.jsonl"
    trail.write_text("".join(trail.read_text().splitlines(keepends=True)[:4]))
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["ok"], said["entries"], said["finished"]) == (True, 4, False)
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make"]) == 0
    assert capsys.readouterr().out.endswith("4 entries; the trail ends before the run does\n")


def test_a_difference_exits_with_one_and_names_entry_field_values_and_versions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first place where the loop goes another way."""
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make_other"]) == 1
    out, err = capsys.readouterr()
    assert (out, "entry 0 (loop.start): options.max_steps was 20, and is now 7\n" in err) == ("", True)
    trail = folder / "run.jsonl"
    trail.write_text(trail.read_text().replace('"foxloop_trio":"', '"foxloop_trio":"0.0.'))
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make_other"]) == 1
    assert "recorded with another version: foxloop_trio 0.0." in capsys.readouterr().err
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make_other", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["seq"], said["kind"], said["path"]) == (0, "loop.start", "options.max_steps")
    assert (said["ok"], said["recorded"], said["got"]) == (False, 20, 7)


def test_a_run_is_named_by_its_id(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is not there is told, with those that are."""
    run_id = json.loads((folder / "run.jsonl").read_text().splitlines()[0])["data"]["run"]
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make", "--run", run_id]) == 0
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make", "--run", "nobody"]) == 2
    assert f"there is no run 'nobody' in these entries; there are: {run_id}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("the_agent", "--loop must be MODULE:FUNCTION"),
        (":make", "--loop must be MODULE:FUNCTION"),
        ("no_such_agent:make", "there is no module 'no_such_agent'"),
        ("the_agent.inner:make", "there is no module 'the_agent.inner'"),
        ("..:make", "is no name of a module"),
        ("the_agent:nothing", "the_agent has no 'nothing'"),
        ("the_agent:Agent.nothing", "the_agent has no 'Agent.nothing'"),
        ("the_agent:number", "number is int, not a function that makes a Loop"),
        ("the_agent:make_nothing", "make_nothing must make a Loop, or an async context manager of one; it made NoneType"),
    ],
)
def test_what_makes_no_loop_is_a_usage_error_that_says_why(
    folder: Path, capsys: pytest.CaptureFixture[str], where: str, words: str
) -> None:
    """Exit 2, one line."""
    assert run(["trail", "replay", "run.jsonl", "--loop", where]) == 2
    out, err = capsys.readouterr()
    assert (out, words in err, err.count("\n")) == ("", True, 1)


def test_a_fault_of_the_agents_own_module_keeps_its_traceback(folder: Path) -> None:
    """It is no mistake in the command."""
    with pytest.raises(ModuleNotFoundError, match="not_installed_anywhere"):
        run(["trail", "replay", "run.jsonl", "--loop", "broken_agent:make"])


def test_what_cannot_be_judged_exits_with_two(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file, no entries, a line that is none, no option."""
    assert run(["trail", "replay", "missing.jsonl", "--loop", "the_agent:make"]) == 2
    (folder / "empty.jsonl").write_text("")
    assert run(["trail", "replay", "empty.jsonl", "--loop", "the_agent:make"]) == 2
    (folder / "torn.jsonl").write_text('{"seq":')
    assert run(["trail", "replay", "torn.jsonl", "--loop", "the_agent:make"]) == 2
    assert run(["trail", "replay", "run.jsonl"]) == 2
    err = capsys.readouterr().err
    assert "missing.jsonl" in err
    assert "no run in these entries" in err
    assert "line 1" in err


def test_an_entry_that_no_run_writes_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A trail of an older version, or one that was tampered with."""
    trail = folder / "run.jsonl"
    trail.write_text(trail.read_text().replace('"usage":', '"used":'))
    assert run(["trail", "replay", "run.jsonl", "--loop", "the_agent:make"]) == 2
    assert "entry 2 (loop.plan) cannot be read: the field 'usage' is missing" in capsys.readouterr().err


def test_the_help_says_what_each_exit_status_means(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is loaded for it."""
    assert run(["trail", "replay", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Exit 0 when it goes the recorded way, 1 at the first difference, 2 when it cannot be judged." in " ".join(out.split())


def test_a_module_that_runs_its_program_when_it_is_imported_is_told_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scripts end with `trio.run(main)`; exit 2, one line, and nothing of the script has run."""
    (folder / "script_agent.py").write_text("import trio\n\nfrom the_agent import make\n\ntrio.run(make)\n")
    assert run(["trail", "replay", "run.jsonl", "--loop", "script_agent:make"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert 'put its trio.run(...) under: if __name__ == "__main__":' in err
