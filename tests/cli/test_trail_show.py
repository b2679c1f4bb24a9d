"""`foxloop-trio trail show`: the story of a run in the terminal, as JSON, or entry by entry; exit status and errors."""

import json
from pathlib import Path

import pytest
import trio

from foxloop_trio.cli._app import run
from foxloop_trio.trail import open_trail

KEY = "ab" * 32


@pytest.fixture(autouse=True)
def no_key_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a key in the environment nor one in the user's state directory; a terminal of a known width."""
    monkeypatch.delenv("FOXTRAIL_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "trail.key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """Two runs: one that is done, and one without an end."""
    path = tmp_path / "run.trail.jsonl"
    times = {"record": {"work_ms": 0, "human_ms": 0}}

    async def write() -> None:
        async with open_trail(path, key=KEY, now=lambda: 1_760_000_000.0) as log:
            for run_id, goal in (("aaaa1111", "Buy milk"), ("aaaa2222", "Buy bread")):
                await log.append(actor="foxloop", kind="loop.start", data={"run": run_id, "goal": goal})
                await log.append(
                    actor="foxloop", kind="loop.plan", data={"run": run_id, "step": 1, "text": "I buy.", "calls": [], **times}
                )
                if goal == "Buy milk":
                    data = {"run": run_id, "step": 1, "summary": "Bought.", "check": {"ok": True, "checks": []}, **times}
                    await log.append(actor="foxloop", kind="loop.done", data=data)

    trio.run(write)
    return path


def test_the_last_run_is_shown_and_all_are_listed(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a key it says that nobody verified."""
    assert run(["trail", "show", str(trail)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "2 runs in this trail; choose one by its id." in out
    assert "… Unfinished" in out
    assert "? Not verified." in out
    assert "Step 1" in out
    assert "\x1b" not in out


def test_a_run_is_named_by_the_beginning_of_its_id(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As far as it takes to tell it from others."""
    assert run(["trail", "show", str(trail), "--run", "aaaa1"]) == 0
    assert "✓ Done" in capsys.readouterr().out
    assert run(["trail", "show", str(trail), "--run", "aaaa"]) == 2
    assert "more than one run begins with 'aaaa'" in capsys.readouterr().err
    assert run(["trail", "show", str(trail), "--run", "zz"]) == 2
    err = capsys.readouterr().err
    assert "no run has the id 'zz'" in err
    assert "aaaa2222  unfinished  Buy bread" in err


def test_with_the_key_the_trail_is_verified(
    trail: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """T86. The key may come from the environment."""
    assert run(["trail", "show", str(trail), "--key", str(key_file)]) == 0
    assert "✓ Verified. The trail is as it was written, all 5 entries of it." in capsys.readouterr().out
    monkeypatch.setenv("FOXTRAIL_KEY", KEY)
    assert run(["trail", "show", str(trail)]) == 0
    assert "✓ Verified." in capsys.readouterr().out


def test_a_trail_that_does_not_hold_is_shown_and_exits_with_one(
    trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That is when people want to look."""
    trail.write_text(trail.read_text().replace("Buy bread", "Buy wine!"))
    assert run(["trail", "show", str(trail), "--key", str(key_file)]) == 1
    out = capsys.readouterr().out
    assert "✕ Verification failed. Line 4: bad-hash:" in out
    assert "Buy wine!" in out


def test_a_torn_trail_is_shown_as_far_as_it_can_be_read(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also without a key it is known not to be whole."""
    trail.write_text(trail.read_text()[:-50])
    assert run(["trail", "show", str(trail)]) == 1
    out = capsys.readouterr().out
    assert "✕ Verification failed. Line 5: bad-line:" in out
    assert "Buy bread" in out


def test_json_has_the_whole_story(trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For programs."""
    assert run(["trail", "show", str(trail), "--run", "aaaa1111", "--key", str(key_file), "--json"]) == 0
    story = json.loads(capsys.readouterr().out)
    assert (story["goal"], story["outcome"]["status"], story["proof"]["state"]) == ("Buy milk", "done", "verified")
    assert [step["text"] for step in story["steps"]] == ["I buy."]


def test_entries_of_a_kind_are_lines(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T86: number, time, actor, kind and data; the verdict goes to stderr."""
    assert run(["trail", "show", str(trail), "--kind", "loop.start", "--kind", "loop.done"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["#0", "#2", "#3"]
    assert lines[0] == '#0  2025-10-09 08:53:20.000  foxloop  loop.start  {"goal":"Buy milk","run":"aaaa1111"}'
    assert err == "Not verified: that takes the trail's key.\n"


def test_entries_since_an_instant_and_of_one_run_are_lines(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T86; JSON has them whole."""
    assert run(["trail", "show", str(trail), "--since", "2025-10-09T08:53:21"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["trail", "show", str(trail), "--since", "2025-10-09", "--run", "aaaa2222", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [entry["kind"] for entry in shown["entries"]] == ["loop.start", "loop.plan"]
    assert shown["proof"] is None
    assert run(["trail", "show", str(trail), "--since", "yesterday"]) == 2
    assert "'yesterday' is no instant" in capsys.readouterr().err


def test_lines_of_a_trail_that_does_not_hold_exit_with_one(trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the words of `trail verify`."""
    trail.write_text(trail.read_text().replace("Buy bread", "Buy wine!"))
    assert run(["trail", "show", str(trail), "--kind", "loop.start", "--key", str(key_file)]) == 1
    assert capsys.readouterr().err.startswith("line 4: bad-hash: ")


@pytest.mark.parametrize("what", ["nothing", "folder", "empty", "no run", "no trail"])
def test_what_has_nothing_to_tell_exits_with_two_and_says_why(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, which names the file."""
    path = tmp_path / "it"
    if what == "folder":
        path.mkdir()
    elif what == "empty":
        path.touch()
    elif what == "no trail":
        path.write_text("hello\n")
    elif what == "no run":

        async def write() -> None:
            async with open_trail(path, key=KEY) as log:
                await log.append(actor="host", kind="host.note", data={"run": 3})

        trio.run(write)
    assert run(["trail", "show", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Error: {path}: ")
    assert len(err.splitlines()) == 1


def test_a_key_that_was_named_must_be_one(trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not passed over, and a checkpoint without a key is not either."""
    assert run(["trail", "show", str(trail), "--key", str(tmp_path / "nowhere")]) == 2
    capsys.readouterr()
    assert run(["trail", "show", str(trail), "--checkpoint", str(tmp_path / "c.json")]) == 2
    assert "give --key FILE" in capsys.readouterr().err


@pytest.mark.parametrize("text", [None, "no json", "[]"])
def test_a_checkpoint_that_is_none_exits_with_two(text: str | None, trail: Path, key_file: Path, tmp_path: Path) -> None:
    """As of `trail verify`."""
    checkpoint = tmp_path / "c.json"
    if text is not None:
        checkpoint.write_text(text)
    assert run(["trail", "show", str(trail), "--key", str(key_file), "--checkpoint", str(checkpoint)]) == 2


def test_a_kind_that_no_entry_has_is_told_with_those_that_there_are(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty answer would look like a run in which nothing of the kind happened."""
    assert run(["trail", "show", str(trail), "--kind", "plan"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "entries of the kinds " in err
    assert "loop.done, " in err
    assert "loop.plan" in err
