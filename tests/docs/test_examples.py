"""Every example of the documentation is run, and prints what the page says it prints."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"<!-- run: (?P<name>[\w-]+) -->\n```python\n(?P<code>.*?)^```$(?P<rest>.*)", re.MULTILINE | re.DOTALL)

QUICKSTART = """\
plan
tool-call
decision allow
tool-result Saved.
plan
check
done Saved the note.
['Buy milk']
"""


def run_python(code: str, folder: Path) -> str:
    """What a program of its own prints; warnings are errors there too."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, encoding="utf-8", cwd=folder, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def runnable() -> list[tuple[str, str, str]]:
    """`(page and name, code, the text block that follows it)` of every block that is marked to be run."""
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        rest = page.read_text(encoding="utf-8")
        while (match := RUN.search(rest)) is not None:
            rest = match["rest"]
            printed = next(text for language, text in BLOCK.findall(rest) if language == "text")
            found.append((f"{page.name}: {match['name']}", match["code"], printed))
    return found


def test_the_quickstart_prints_exactly_its_lines(tmp_path: Path) -> None:
    """The run that everything else grows on: no browser, no model."""
    assert run_python((ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8"), tmp_path) == QUICKSTART


def test_the_example_planners_name_all_tasks_of_the_benchmark_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its 125 registered tasks: each has a planner, or a reason why it has none."""
    monkeypatch.syspath_prepend(ROOT)
    examples = importlib.import_module("examples.miniwob")
    assert len({*examples.TASKS, *examples.NOT_ATTEMPTED}) == len(examples.TASKS) + len(examples.NOT_ATTEMPTED) == 125
    assert all(examples.NOT_ATTEMPTED.values())


def test_the_readme_shows_the_quickstart_and_its_output_word_for_word() -> None:
    """The first code that a reader sees is a file that runs."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert ("python", (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8")) in blocks
    assert ("text", QUICKSTART) in blocks


@pytest.mark.parametrize(
    ("name", "code", "printed"), runnable(), ids=lambda value: value if ": " in value and "\n" not in value else ""
)
def test_a_block_that_is_marked_to_be_run_prints_the_text_after_it(name: str, code: str, printed: str, tmp_path: Path) -> None:
    """Word for word; each in an empty folder."""
    assert run_python(code, tmp_path) == printed, name


def test_the_tutorial_has_blocks_to_run() -> None:
    """The marks are found at all."""
    assert [name for name, _, _ in runnable()] == [
        "an-agent-in-30-lines.md: agent",
        "an-agent-in-30-lines.md: guard",
        "an-agent-in-30-lines.md: gated",
        "first-gated-run.md: refused",
        "first-gated-run.md: asked",
        "first-gated-run.md: recorded",
    ]


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "how-to").glob("*.md")), ids=lambda page: page.name)
def test_the_python_of_a_how_to_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    """Its blocks build on each other, as a reader would type them."""
    blocks = [code for language, code in BLOCK.findall(page.read_text(encoding="utf-8")) if language == "python"]
    code = "\n".join(blocks)
    ast.parse(code, page.name)
    assert run_python(code, tmp_path) == ""


def test_the_readme_has_one_test_command_between_its_marks() -> None:
    """`.ci/run` ends with it word for word, so it must be one line that a shell takes."""
    match = re.search(r"<!-- test-command -->\n```sh\n(.*)\n```\n<!-- end -->", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert match is not None
    assert match[1].endswith(".venv/bin/pytest -n 2 --dist worksteal")
    assert "foxloop-trio firefox install --yes" in match[1]
