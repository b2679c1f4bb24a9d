"""`foxloop-trio trail checkpoint` and `trail repair` (T86), and what `trail verify` says of blobs."""

import json
from pathlib import Path

import pytest
import trio

from foxloop_trio.cli._app import run
from foxloop_trio.trail import open_trail

KEY = "ab" * 32


@pytest.fixture(autouse=True)
def no_key_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a key in the environment nor one in the user's state directory."""
    monkeypatch.delenv("FOXTRAIL_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def key(tmp_path: Path) -> list[str]:
    """The option that names the key file."""
    path = tmp_path / "trail.key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return ["--key", str(path)]


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A good trail of three entries, one of which names a blob."""
    path = tmp_path / "run.trail.jsonl"

    async def write() -> None:
        async with open_trail(path, key=KEY) as log:
            for number in range(2):
                await log.append(actor="test", kind="test.entry", data={"number": number})
            await log.append(actor="test", kind="test.shot", data=await log.blob(b"picture", "image/png"))

    trio.run(write)
    return path


def head_of(trail: Path) -> str:
    head = json.loads(trail.read_text().splitlines()[-1])["hash"]
    assert isinstance(head, str)
    return head


@pytest.mark.parametrize("as_json", [False, True])
def test_a_checkpoint_that_was_printed_finds_a_cut_end(
    as_json: bool, trail: Path, key: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """T86: it is a JSON object either way; what it prints is what `verify --checkpoint` takes."""
    assert run(["trail", "checkpoint", str(trail), *key, *(["--json"] if as_json else [])]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = json.loads(out)
    assert (told["count"], told["head"], set(told)) == (3, head_of(trail), {"count", "head", "ts", "mac"})
    kept = tmp_path / "kept.json"
    kept.write_text(out)
    args = ["trail", "verify", str(trail), *key, "--checkpoint", str(kept)]
    assert run(args) == 0
    trail.write_text("".join(trail.read_text().splitlines(keepends=True)[:2]))
    capsys.readouterr()
    assert run(args) == 1
    assert capsys.readouterr().err.startswith("line 3: truncated: ")


@pytest.mark.parametrize("command", ["checkpoint", "repair"])
def test_a_trail_with_a_fault_gets_neither_checkpoint_nor_repair(
    command: str, trail: Path, key: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """T86, T81: exit 1, the place on stderr, nothing changed; with --json the fault is told on stdout."""
    trail.write_text(trail.read_text().replace('"number":1', '"number":7'))
    before = trail.read_bytes()
    assert run(["trail", command, str(trail), *key]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("line 2: bad-hash: ")
    assert run(["trail", command, str(trail), *key, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["line"], told["reason"]) == (False, 2, "bad-hash")
    assert trail.read_bytes() == before


@pytest.mark.parametrize("command", ["checkpoint", "repair"])
def test_without_a_key_or_a_file_nothing_can_be_judged(
    command: str, trail: Path, key: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """T82: exit 2."""
    assert run(["trail", command, str(trail)]) == 2
    assert "FOXTRAIL_KEY" in capsys.readouterr().err
    assert run(["trail", command, str(tmp_path / "nowhere"), *key]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert run(["trail", command, str(trail), str(trail), *key]) == 2


def test_a_cut_last_line_is_mended(trail: Path, key: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """T86: it says where the torn bytes are, and the trail verifies; the second time there is nothing to do."""
    torn = trail.read_bytes()[:-30]
    trail.write_bytes(torn)
    assert run(["trail", "verify", str(trail), *key]) == 1
    assert capsys.readouterr().err.startswith("line 3: partial-line: ")
    assert run(["trail", "repair", str(trail), *key]) == 0
    saved = trail.with_name(trail.name + ".torn-1")
    length = saved.stat().st_size
    assert capsys.readouterr().out == f"mended: moved {length} torn bytes to {saved}; 3 entries, head {head_of(trail)}\n"
    assert torn.endswith(saved.read_bytes())
    assert run(["trail", "verify", str(trail), *key]) == 0
    capsys.readouterr()
    assert run(["trail", "repair", str(trail), *key]) == 0
    assert capsys.readouterr().out == f"ok: nothing to mend; 3 entries, head {head_of(trail)}\n"


def test_a_last_line_without_its_line_feed_is_completed(trail: Path, key: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """T86: nothing is cut off that was there."""
    whole = trail.read_bytes()
    trail.write_bytes(whole[:-1])
    assert run(["trail", "repair", str(trail), *key]) == 0
    assert capsys.readouterr().out.startswith("mended: completed the last line; 4 entries, head ")
    assert trail.read_bytes().startswith(whole)


def test_repair_says_the_same_for_programs(trail: Path, key: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """T86, --json."""
    trail.write_bytes(trail.read_bytes()[:-30])
    assert run(["trail", "repair", str(trail), *key, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is True
    assert told["saved"] == f"{trail}.torn-1"
    assert (told["count"], told["head"]) == (3, head_of(trail))
    assert told["torn"] == Path(told["saved"]).stat().st_size


def test_a_blob_that_is_missing_is_named_and_one_that_was_changed_is_a_fault(
    trail: Path, key: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """T80, T81: missing is exit 0 and a line on stderr, changed is exit 1 at the entry that names it."""
    (blob,) = trail.with_name(trail.name + ".blobs").iterdir()
    args = ["trail", "verify", str(trail), *key]
    blob.write_bytes(b"Picture")
    assert run(args) == 1
    assert capsys.readouterr().err.startswith("line 3: bad-blob: ")
    blob.unlink()
    assert run(args) == 0
    out, err = capsys.readouterr()
    assert out == f"ok: 3 entries, head {head_of(trail)}\n"
    assert err == f"missing: the blob {blob.name} is not beside the trail\n"
    assert run([*args, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == [blob.name]
