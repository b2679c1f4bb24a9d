"""`foxloop-trio trail keygen`, `checkpoint --sign` and `verify --public-key`: who has the public half needs no key of the trail."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from foxloop_trio.cli._app import run
from foxloop_trio.trail import load_signing_key, open_trail

KEY = "ab" * 32
Capture = pytest.CaptureFixture[str]


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
def add(tmp_path: Path) -> Callable[[int], Path]:
    """Adds so many entries to a trail in files of 1000 bytes."""
    path = tmp_path / "run.trail"

    async def write(count: int) -> None:
        async with open_trail(path, key=KEY, rotate_bytes=1000) as log:
            for number in range(count):
                await log.append(actor="test", kind="test.entry", data={"number": number})

    def added(count: int) -> Path:
        trio.run(write, count)
        return path

    return added


@pytest.fixture
def signed(add: Callable[[int], Path], key_file: Path, tmp_path: Path, capsys: Capture) -> tuple[Path, Path, Path]:
    """A trail of seven entries whose first five are signed, the checkpoint, and the public key."""
    assert run(["trail", "keygen", str(tmp_path / "sign.key")]) == 0
    public = tmp_path / "sign.pub"
    public.write_text(capsys.readouterr().out)
    trail = add(5)
    assert run(["trail", "checkpoint", str(trail), "--key", str(key_file), "--sign", str(tmp_path / "sign.key")]) == 0
    checkpoint = tmp_path / "checkpoint.json"
    checkpoint.write_text(capsys.readouterr().out)
    add(2)
    return trail, checkpoint, public


def test_a_signing_key_is_made_once(tmp_path: Path, capsys: Capture) -> None:
    """H8: its public half alone is printed, also when it was there already."""
    path = tmp_path / "sign.key"
    assert run(["trail", "keygen", str(path)]) == 0
    public, err = capsys.readouterr()
    assert (public, err) == (load_signing_key(path).public_key.hex() + "\n", "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert run(["trail", "keygen", str(path)]) == 0
    assert capsys.readouterr() == (public, "")
    assert run(["trail", "keygen", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": str(path), "made": False, "public_key": public.strip()}


def test_a_file_that_is_no_signing_key_is_kept_and_exits_with_two(key_file: Path, capsys: Capture) -> None:
    """H8: the key of a trail is not written over."""
    assert run(["trail", "keygen", str(key_file)]) == 2
    assert "not a private key as PEM" in capsys.readouterr().err
    assert key_file.read_text() == KEY + "\n"


def test_a_signed_trail_is_verified_with_the_public_key(signed: tuple[Path, Path, Path], capsys: Capture) -> None:
    """H8, H13, T80: from a file or as hex; it says how many entries are signed, and how many came after."""
    trail, checkpoint, public = signed
    assert Path(f"{trail}.1").exists()
    for given in (str(public), public.read_text().strip()):
        arguments = ["trail", "verify", str(trail), "--public-key", given, "--checkpoint", str(checkpoint)]
        assert run(arguments) == 0
        out, err = capsys.readouterr()
        assert out.splitlines()[0].startswith("ok: 7 entries, head ")
        assert out.splitlines()[1:] == ["signed: 5 entries; 2 after the signed head"]
        assert err == ""
        assert run([*arguments, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["ok"], told["count"], told["unsigned"]) == (True, 7, 2)


def test_a_key_in_the_environment_does_not_count_beside_a_public_key(
    signed: tuple[Path, Path, Path], key_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """H8: it may be that of another trail; one that is named does count."""
    trail, checkpoint, public = signed
    monkeypatch.setenv("FOXTRAIL_KEY", "cd" * 32)
    arguments = ["trail", "verify", str(trail), "--public-key", str(public), "--checkpoint", str(checkpoint)]
    assert run(arguments) == 0
    assert run([*arguments, "--key", str(key_file)]) == 0
    key_file.write_text("cd" * 32)
    capsys.readouterr()
    assert run([*arguments, "--key", str(key_file)]) == 1
    assert capsys.readouterr().err.startswith("checkpoint: bad-checkpoint: ")


def test_a_change_before_the_signed_head_exits_with_one(signed: tuple[Path, Path, Path], capsys: Capture) -> None:
    """H8, H13, T81: the file and the line are named."""
    trail, checkpoint, public = signed
    second = Path(f"{trail}.1")
    second.write_text(second.read_text().replace('"number":4', '"number":7'))
    arguments = ["trail", "verify", str(trail), "--public-key", str(public), "--checkpoint", str(checkpoint)]
    assert run(arguments) == 1
    assert capsys.readouterr().err.startswith("run.trail.1: line 2: bad-hash: ")
    assert run([*arguments, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["line"], told["reason"], told["part"]) == (2, "bad-hash", str(second))


def test_a_signature_of_somebody_else_exits_with_one(
    signed: tuple[Path, Path, Path], key_file: Path, tmp_path: Path, capsys: Capture
) -> None:
    """H8: whose key is in the checkpoint does not matter; it is the named one that counts."""
    trail, checkpoint, public = signed
    assert run(["trail", "keygen", str(tmp_path / "thief.key")]) == 0
    capsys.readouterr()
    for more, words in ((["--sign", str(tmp_path / "thief.key")], "another key"), ([], "not signed")):
        assert run(["trail", "checkpoint", str(trail), "--key", str(key_file), *more]) == 0
        checkpoint.write_text(capsys.readouterr().out)
        assert run(["trail", "verify", str(trail), "--public-key", str(public), "--checkpoint", str(checkpoint)]) == 1
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 2, "not JSON"),
        (b"\xff\xfe\x00", 2, "not JSON"),
        (b"[" * 100_000, 2, "not JSON"),
        (b"[]", 2, "not a JSON object"),
        (b"{}", 1, "bad-checkpoint"),
        (b'{"count":1e999,"head":"","ts":0,"sig":[],"pub":{}}', 1, "bad-checkpoint"),
        (b'{"count":0,"head":"' + b"0" * 64 + b'","ts":0,"pub":"\\ud800","sig":"x"}', 1, "bad-checkpoint"),
    ],
)
def test_a_checkpoint_of_garbage_is_no_traceback(
    content: bytes, status: int, words: str, signed: tuple[Path, Path, Path], capsys: Capture
) -> None:
    """H8, T82."""
    trail, checkpoint, public = signed
    checkpoint.write_bytes(content)
    assert run(["trail", "verify", str(trail), "--public-key", str(public), "--checkpoint", str(checkpoint)]) == status
    assert words in capsys.readouterr().err


def test_a_public_key_that_judges_nothing_exits_with_two(signed: tuple[Path, Path, Path], tmp_path: Path, capsys: Capture) -> None:
    """H8, T82: no checkpoint, no such file, a file that is none, the private half."""
    trail, checkpoint, public = signed
    assert run(["trail", "verify", str(trail), "--public-key", str(public)]) == 2
    assert "signed checkpoint" in capsys.readouterr().err
    for given in (str(tmp_path / "none"), str(trail), str(tmp_path / "sign.key"), ""):
        assert run(["trail", "verify", str(trail), "--public-key", given, "--checkpoint", str(checkpoint)]) == 2
        assert "Traceback" not in capsys.readouterr().err
    assert run(["trail", "checkpoint", str(trail), "--key", str(tmp_path / "trail.key"), "--sign", str(public)]) == 2
