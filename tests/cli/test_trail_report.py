"""`foxloop-trio trail report`: the page is written, whatever the verdict; exit status, errors, and what it never does."""

import json
import stat
from pathlib import Path

import pytest
import trio

from foxloop_trio.cli._app import run
from foxloop_trio.trail import open_trail, secret

KEY = "ab" * 32
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
SECRET = "correct horse battery"


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
    """One run with a secret argument, a long page and a picture."""
    path = tmp_path / "run.trail.jsonl"
    shown = "look: ok\nSeen.\n\nText from outside follows:\n<<<DATA ab>>>\n" + "page " * 4000 + "\n<<<END ab>>>"

    async def write() -> None:
        async with open_trail(path, key=KEY, blobs_over=1000) as log:
            picture = await log.blob(PNG, "image/png")
            for kind, data in (
                ("start", {"goal": "Look"}),
                ("tool-call", {"step": 1, "id": "c1", "name": "look", "args": {"password": secret(SECRET)}}),
                ("tool-result", {"step": 1, "id": "c1", "name": "look", "ok": True, "data": picture, "record": {"shown": shown}}),
            ):
                await log.append(actor="foxloop", kind=f"loop.{kind}", data={"run": "r1", **data})

    trio.run(write)
    return path


def test_the_page_is_written_and_said(trail: Path, tmp_path: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the text and the picture that lie beside the trail, for its owner's eyes at first."""
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(trail), "-o", str(page), "--key", str(key_file)]) == 0
    assert capsys.readouterr() == (f"Wrote {page}: run r1, unfinished, verified.\n", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "page page page" in text
    assert "data:image/png;base64," in text
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_what_is_hidden_in_the_trail_is_hidden_in_the_page(trail: Path, tmp_path: Path, key_file: Path) -> None:
    """Neither the secret nor the key, also when the key is there."""
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(trail), "-o", str(page), "--key", str(key_file)]) == 0
    text = page.read_text(encoding="utf-8")
    assert SECRET not in text
    assert KEY not in text
    assert "[hidden]" in text


def test_a_trail_that_does_not_hold_gets_its_page_and_exits_with_one(
    trail: Path, tmp_path: Path, key_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page says so in its head."""
    trail.write_text(trail.read_text().replace('"Look"', '"Buy!"'))
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(trail), "-o", str(page), "--key", str(key_file)]) == 1
    out, err = capsys.readouterr()
    assert out == f"Wrote {page}: run r1, unfinished, VERIFICATION FAILED.\n"
    assert err.startswith("line 1: bad-hash: ")
    assert "<title>Verification failed: Unfinished: Buy!</title>" in page.read_text(encoding="utf-8")


def test_without_a_key_the_page_says_that_nobody_checked(trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That is no failure."""
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(trail), "-o", str(page)]) == 0
    assert "not verified" in capsys.readouterr().out
    assert "Not verified." in page.read_text(encoding="utf-8")


def test_json_says_where_the_page_is_and_what_it_tells(trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For programs."""
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(trail), "--output", str(page), "--run", "r", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"page": str(page), "run": "r1", "status": "unfinished", "proof": "unchecked"}


def test_a_picture_that_was_exchanged_is_not_shown(trail: Path, tmp_path: Path, key_file: Path) -> None:
    """Verification finds it, and the page leaves it out."""
    for blob in Path(f"{trail}.blobs").iterdir():
        if blob.read_bytes() == PNG:
            blob.chmod(0o600)
            blob.write_bytes(b"\x89PNG\r\n\x1a\n" + b"another")
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(trail), "-o", str(page), "--key", str(key_file)]) == 1
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text
    assert "is not what was recorded" in text


def test_the_trail_is_never_written_over(trail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the path to it looks like."""
    before = trail.read_bytes()
    assert run(["trail", "report", str(trail), "-o", f"{trail.parent}/./{trail.name}"]) == 2
    assert "that is the trail itself" in capsys.readouterr().err
    assert trail.read_bytes() == before


@pytest.mark.parametrize("where", ["nowhere/run.html", "."])
def test_a_place_that_cannot_be_written_exits_with_two(
    where: str, trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that names it."""
    assert run(["trail", "report", str(trail), "-o", str(tmp_path / where)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_no_file_no_run_and_no_output_exit_with_two(trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And leave no page behind."""
    page = tmp_path / "run.html"
    assert run(["trail", "report", str(tmp_path / "nothing"), "-o", str(page)]) == 2
    assert run(["trail", "report", str(trail), "-o", str(page), "--run", "zz"]) == 2
    capsys.readouterr()
    assert run(["trail", "report", str(trail)]) == 2
    assert "Usage: foxloop-trio trail report" in capsys.readouterr().err
    assert not page.exists()


def test_the_demos_trail_can_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of the real loop, from its own command to its page."""
    path, page = tmp_path / "demo.jsonl", tmp_path / "demo.html"
    assert run(["demo", "--no-firefox", "--trail", str(path)]) == 0
    key = tmp_path / "state" / "foxloop-trio" / "trail.key"
    assert run(["trail", "report", str(path), "-o", str(page), "--key", str(key)]) == 0
    assert "done, verified." in capsys.readouterr().out
    assert "Saved the note." in page.read_text(encoding="utf-8")
