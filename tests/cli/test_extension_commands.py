"""`foxloop-trio extension`: where the add-on lies, the package, and the linter's verdict."""

import io
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.cli import _extension
from foxloop_trio.cli._app import run
from foxloop_trio.webextension import ADDON_ID, addon_path


def test_path_prints_the_folder_with_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    """What it prints can be loaded in about:debugging."""
    assert run(["extension", "path"]) == 0
    assert (Path(capsys.readouterr().out.strip()) / "manifest.json").is_file()
    assert run(["extension", "path", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"id": ADDON_ID, "path": str(addon_path())}


def test_pack_writes_a_package_without_address_and_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """config.json belongs to a launched session only."""
    target = tmp_path / "addon.xpi"
    assert run(["extension", "pack", "-o", str(target)]) == 0
    names = zipfile.ZipFile(io.BytesIO(target.read_bytes())).namelist()
    assert "manifest.json" in names
    assert "config.json" not in names
    assert capsys.readouterr().out == f"{target}: {target.stat().st_size} bytes\n"


def test_pack_into_a_folder_that_is_not_there_exits_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option is usage, and no traceback."""
    assert run(["extension", "pack", "-o", str(tmp_path / "nowhere" / "addon.xpi")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def answer(monkeypatch: pytest.MonkeyPatch, stdout: str, stderr: str = "", returncode: int = 0) -> list[tuple[str, ...]]:
    """web-ext answers this; returns what it was asked."""
    asked: list[tuple[str, ...]] = []

    def web_ext(*args: str) -> subprocess.CompletedProcess[str]:
        asked.append(args)
        return subprocess.CompletedProcess(args, returncode, stdout, stderr)

    monkeypatch.setattr(_extension, "_web_ext", web_ext)
    return asked


def report(**kinds: list[dict[str, Any]]) -> str:
    return json.dumps({"errors": [], "warnings": [], "notices": [], **kinds})


FINDING = {"code": "UNSAFE", "message": "Do not.", "file": "background/main.js", "line": 7}


def test_lint_without_findings_exits_with_zero(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It lints the folder that ships."""
    asked = answer(monkeypatch, report())
    assert run(["extension", "lint"]) == 0
    assert asked[0][-1] == str(addon_path())
    assert capsys.readouterr().out.endswith("0 errors, 0 warnings, 0 notices\n")


@pytest.mark.parametrize("kind", ["errors", "warnings"])
def test_lint_exits_with_one_for_an_error_and_for_a_warning(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each finding is named with its place."""
    answer(monkeypatch, report(**{kind: [FINDING]}))
    assert run(["extension", "lint"]) == 1
    assert capsys.readouterr().err == f"{kind[:-1]}: background/main.js: 7 UNSAFE: Do not.\n"


def test_lint_takes_a_notice_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notices are for people."""
    answer(monkeypatch, report(notices=[FINDING]))
    assert run(["extension", "lint", "--json"]) == 0


@pytest.mark.parametrize("stdout", ["", "npm error network", "[]", '{"errors": []}'])
def test_no_report_is_never_taken_for_no_findings(
    stdout: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An npm without network answers too, but not with a verdict."""
    answer(monkeypatch, stdout, "npm error code ENOTFOUND", 1)
    assert run(["extension", "lint"]) == 1
    assert "web-ext gave no report" in capsys.readouterr().err


def test_lint_without_node_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line with the way out."""
    monkeypatch.setenv("PATH", "")
    assert run(["extension", "lint"]) == 1
    assert "apt-get install nodejs npm" in capsys.readouterr().err
