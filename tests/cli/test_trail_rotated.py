"""The trail commands on a trail of several files: the first is named, and the others are found."""

import json
import sys
from pathlib import Path

import pytest
import trio

from foxloop_trio import CheckResult, Loop, Tool, ToolOutput, create_gate, scripted_planner
from foxloop_trio.cli._app import run
from foxloop_trio.trail import open_trail, read_trail, trail_files

KEY = "ab" * 32
Capture = pytest.CaptureFixture[str]
REPLIES = [{"calls": [{"name": "save", "args": {"text": f"note {n}"}}]} for n in range(3)] + [
    {"calls": [{"name": "finish", "args": {"summary": "Saved."}}]}
]


async def save(args: dict[str, str], ctx: object) -> ToolOutput:
    return ToolOutput(ok=True, summary="Saved.", untrusted="page " * 20)


PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SAVE = Tool(name="save", description="Saves.", parameters=PARAMETERS, scope="fill", domain="notes.local", run=save)


async def make_loop(trail: object = None) -> Loop:
    gate, host = create_gate(tools=[SAVE])
    await host.add_grant(scope="fill", domains=["notes.local"])
    return Loop(
        planner=scripted_planner(REPLIES),
        gate=gate,
        tools=[SAVE],
        trail=trail,  # type: ignore[arg-type]
        check=lambda claim: CheckResult(ok=True),
    )


@pytest.fixture(autouse=True)
def key_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOXTRAIL_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A run in files of 2000 bytes."""
    path = tmp_path / "run.trail"

    async def main() -> None:
        async with open_trail(path, key=KEY, rotate_bytes=2000, blobs_over=90) as log:
            outcome = await (await make_loop(log)).complete("Save three notes")
            assert outcome.status == "done"

    trio.run(main)
    assert len(trail_files(path)) > 3
    return path


def test_verify_and_checkpoint_take_all_files(trail: Path, tmp_path: Path, capsys: Capture) -> None:
    """H13: named by the first one."""
    count = len(list(read_trail(trail)))
    assert run(["trail", "verify", str(trail)]) == 0
    assert capsys.readouterr().out.startswith(f"ok: {count} entries")
    assert run(["trail", "checkpoint", str(trail)]) == 0
    mark = capsys.readouterr().out
    assert json.loads(mark)["count"] == count
    (tmp_path / "mark").write_text(mark)
    trail_files(trail)[-1].unlink()
    assert run(["trail", "verify", str(trail), "--checkpoint", str(tmp_path / "mark")]) == 1
    assert "truncated" in capsys.readouterr().err


def test_show_and_report_tell_the_run_across_files(trail: Path, tmp_path: Path, capsys: Capture) -> None:
    """H13: the whole of it, verified."""
    assert run(["trail", "show", str(trail)]) == 0
    out = capsys.readouterr().out
    assert "✓ Done" in out
    assert "✓ Verified" in out
    assert "Step 4" in out
    assert run(["trail", "show", str(trail), "--kind", "loop.tool-result", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["entries"]) == 3
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(trail), "-o", str(page)]) == 0
    assert "page page page" in page.read_text(encoding="utf-8")
    assert run(["trail", "report", str(trail), "-o", f"{trail}.1"]) == 2
    assert "destroy" in capsys.readouterr().err
    link = tmp_path / "link"
    link.symlink_to(trail)
    assert run(["trail", "show", str(link)]) == 0
    assert "✓ Done" in capsys.readouterr().out
    page.unlink()
    assert run(["trail", "report", str(link), "-o", str(page)]) == 0
    assert "page page page" in page.read_text(encoding="utf-8")


def test_replay_takes_all_files(trail: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """H13: long texts in the one folder of blobs too."""
    monkeypatch.setitem(sys.modules, "rotated_agent", sys.modules[__name__])
    assert run(["trail", "replay", str(trail), "--loop", "rotated_agent:make_loop"]) == 0
    assert capsys.readouterr().out.startswith("ok: run ")


def test_a_missing_file_is_named_by_every_command(
    trail: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """H13: what is before it is told all the same."""
    trail_files(trail)[2].unlink()
    assert run(["trail", "verify", str(trail)]) == 1
    assert capsys.readouterr().err.startswith("run.trail.2: missing-file: ")
    assert run(["trail", "show", str(trail)]) == 1
    assert "The file run.trail.2: missing-file" in capsys.readouterr().out
    assert run(["trail", "show", str(trail), "--kind", "loop.start", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["proof"]["part"] == f"{trail}.2"
    assert run(["trail", "report", str(trail), "-o", str(tmp_path / "run.html")]) == 1
    assert "run.trail.2: missing-file: " in capsys.readouterr().err
    assert run(["trail", "checkpoint", str(trail)]) == 1
    assert run(["trail", "repair", str(trail)]) == 1
    assert run(["trail", "replay", str(trail), "--loop", "json:loads"]) == 2
    assert f"{trail}.2" in capsys.readouterr().err
    monkeypatch.delenv("FOXTRAIL_KEY")
    assert run(["trail", "show", str(trail)]) == 1
    assert "The file run.trail.2: missing-file" in capsys.readouterr().out


def test_a_fault_in_a_later_file_is_told_with_the_file(trail: Path, tmp_path: Path, capsys: Capture) -> None:
    """H13: the line is that of the file."""
    second = trail_files(trail)[1]
    second.write_bytes(second.read_bytes().replace(b'"actor":"foxloop"', b'"actor":"somebody"', 1))
    assert run(["trail", "verify", str(trail)]) == 1
    assert capsys.readouterr().err.startswith("run.trail.1: line 1: bad-hash: ")
    assert run(["trail", "show", str(trail)]) == 1
    assert "Line 1 of run.trail.1: bad-hash" in capsys.readouterr().out
    assert run(["trail", "show", str(trail), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["proof"]["fault"]["file"] == str(second)


def test_a_cut_line_in_the_newest_file_is_mended(trail: Path, capsys: Capture) -> None:
    """H3, H13: the torn bytes lie beside that file."""
    newest = trail_files(trail)[-1]
    newest.write_bytes(newest.read_bytes()[:-20])
    assert run(["trail", "repair", str(trail)]) == 0
    assert f"{newest}.torn-1" in capsys.readouterr().out
    assert run(["trail", "verify", str(trail)]) == 0


def test_a_run_is_gone_on_with_across_files(trail: Path) -> None:
    """H13: resume reads what the run wrote, and writes into the newest file."""
    newest = trail_files(trail)
    for file in newest[2:]:
        file.unlink()  # the host died here

    async def main() -> None:
        async with open_trail(trail, key=KEY, rotate_bytes=2000) as log:
            loop = await make_loop(log)
            async with loop.resume(list(read_trail(trail, whole=True))) as resumed:
                async for _ in resumed:
                    pass
            assert resumed.outcome.status == "done"

    trio.run(main)
    assert run(["trail", "verify", str(trail)]) == 0
