"""`foxloop-trio trail verify`: rules T80 to T85 of the trail's command line."""

import json
from pathlib import Path

import pytest
import trio

from foxloop_trio.cli._app import run
from foxloop_trio.trail import load_or_create_key, open_trail

KEY = "ab" * 32


@pytest.fixture(autouse=True)
def no_key_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a key in the environment nor one in the user's state directory."""
    monkeypatch.delenv("FOXTRAIL_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "trail.key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A good trail of three entries."""
    path = tmp_path / "run.trail.jsonl"

    async def write() -> None:
        async with open_trail(path, key=KEY) as log:
            for number in range(3):
                await log.append(actor="test", kind="test.entry", data={"number": number})

    trio.run(write)
    return path


def test_a_good_trail_exits_with_zero_and_says_count_and_head(
    trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """T80."""
    head = json.loads(trail.read_text().splitlines()[-1])["hash"]
    assert run(["trail", "verify", str(trail), "--key", str(key_file)]) == 0
    assert capsys.readouterr() == (f"ok: 3 entries, head {head}\n", "")


def test_an_edited_entry_exits_with_one_and_names_its_line(trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T81: the line is counted from 1, on stderr."""
    trail.write_text(trail.read_text().replace('"number":1', '"number":7'))
    assert run(["trail", "verify", str(trail), "--key", str(key_file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("line 2: bad-hash: ")


def test_a_bad_checkpoint_exits_with_one_and_is_named(
    trail: Path, key_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """T81, second form."""
    checkpoint = tmp_path / "checkpoint.json"
    checkpoint.write_text('{"count": 3}')
    assert run(["trail", "verify", str(trail), "--key", str(key_file), "--checkpoint", str(checkpoint)]) == 1
    assert capsys.readouterr().err.startswith("checkpoint: bad-checkpoint: ")


def test_a_cut_end_is_found_with_a_checkpoint_only(
    trail: Path, key_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The published vector's MAC construction, over this trail; without the checkpoint the shorter trail is good in itself."""
    from foxloop_trio.trail import TrailKey, canonical_json

    fields = {"count": 3, "head": json.loads(trail.read_text().splitlines()[-1])["hash"], "ts": 2000}
    mac = TrailKey(KEY).mac("foxtrail/checkpoint/v1\n" + canonical_json(fields))
    checkpoint = tmp_path / "checkpoint.json"
    checkpoint.write_text(json.dumps({**fields, "mac": mac}))
    args = ["trail", "verify", str(trail), "--key", str(key_file)]
    assert run([*args, "--checkpoint", str(checkpoint)]) == 0
    trail.write_text("".join(trail.read_text().splitlines(keepends=True)[:2]))
    assert run(args) == 0
    capsys.readouterr()
    assert run([*args, "--checkpoint", str(checkpoint)]) == 1
    assert capsys.readouterr().err.startswith("line 3: truncated: ")


def test_no_key_exits_with_two_and_never_with_zero(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T82."""
    assert run(["trail", "verify", str(trail)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "FOXTRAIL_KEY" in err


def test_the_default_key_is_pointed_at_but_not_used(trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verdict must not rest on a key that nobody chose; so the key in the state directory is only named."""
    (tmp_path / "state" / "foxloop-trio").mkdir(parents=True)
    default = tmp_path / "state" / "foxloop-trio" / "trail.key"
    load_or_create_key(default)
    assert run(["trail", "verify", str(trail)]) == 2
    assert f"--key {default}" in capsys.readouterr().err


def test_the_key_may_come_from_the_environment(
    trail: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`FOXTRAIL_KEY`, as hex."""
    monkeypatch.setenv("FOXTRAIL_KEY", KEY)
    assert run(["trail", "verify", str(trail)]) == 0
    assert capsys.readouterr().out.startswith("ok: 3 entries")


def test_a_bad_key_file_is_not_replaced_by_the_environment(trail: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T12: a file that was named counts, or nothing does."""
    monkeypatch.setenv("FOXTRAIL_KEY", KEY)
    assert run(["trail", "verify", str(trail), "--key", str(tmp_path / "nowhere")]) == 2


@pytest.mark.parametrize("text", [None, "no json", "[]", "3", "[" * 100_000], ids=["missing", "text", "list", "number", "bomb"])
def test_a_checkpoint_that_is_no_object_exits_with_two(text: str | None, trail: Path, key_file: Path, tmp_path: Path) -> None:
    """T82: it cannot be judged."""
    checkpoint = tmp_path / "checkpoint.json"
    if text is not None:
        checkpoint.write_text(text)
    assert run(["trail", "verify", str(trail), "--key", str(key_file), "--checkpoint", str(checkpoint)]) == 2


def test_an_unreadable_file_exits_with_two(tmp_path: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T82: a folder, or nothing there."""
    assert run(["trail", "verify", str(tmp_path / "nowhere"), "--key", str(key_file)]) == 2
    assert run(["trail", "verify", str(tmp_path), "--key", str(key_file)]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_a_second_file_exits_with_two_and_shows_the_usage(trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T82, argument faults."""
    assert run(["trail", "verify", str(trail), str(trail), "--key", str(key_file)]) == 2
    assert "Usage: foxloop-trio trail verify" in capsys.readouterr().err


def test_a_last_line_without_its_line_feed_is_a_partial_line(
    trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """T83."""
    trail.write_text(trail.read_text()[:-1])
    assert run(["trail", "verify", str(trail), "--key", str(key_file)]) == 1
    assert capsys.readouterr().err.startswith("line 3: partial-line: ")


def test_an_empty_file_is_a_good_trail_of_no_entries(tmp_path: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T84."""
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert run(["trail", "verify", str(empty), "--key", str(key_file)]) == 0
    assert capsys.readouterr().out == f"ok: 0 entries, head {'0' * 64}\n"


@pytest.mark.parametrize("command", ["verify", "checkpoint", "repair"])
def test_help_exits_with_zero(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """T85."""
    assert run(["trail", command, "--help"]) == 0
    assert "--key" in capsys.readouterr().out


def test_json_says_the_same_for_programs(trail: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both verdicts go to stdout then, and the exit status stays."""
    assert run(["trail", "verify", str(trail), "--key", str(key_file), "--json"]) == 0
    good = json.loads(capsys.readouterr().out)
    assert (good["ok"], good["count"]) == (True, 3)
    trail.write_text(trail.read_text().replace('"number":0', '"number":9'))
    assert run(["trail", "verify", str(trail), "--key", str(key_file), "--json"]) == 1
    bad = json.loads(capsys.readouterr().out)
    assert (bad["ok"], bad["line"], bad["reason"]) == (False, 1, "bad-hash")
