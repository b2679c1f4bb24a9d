"""Figures can be read by everybody: with and without eyes, in light and in dark, and they say what the text beside them says."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from foxloop_trio.events import BLOCK_REASONS, RESULT_REASONS

EXPLANATION = Path(__file__).parents[2] / "docs" / "explanation"
FIGURES = sorted((EXPLANATION / "figures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


def name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", FIGURES, ids=name)
def test_a_figure_says_what_it_is(path: Path) -> None:
    """A title and a description, which screen readers find."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    named = (root.get("aria-labelledby") or "").split()
    found = {element.get("id"): element for element in (root.find(f"{SVG}title"), root.find(f"{SVG}desc")) if element is not None}
    assert named == list(found)
    assert all(element.text and element.text.strip() for element in found.values())
    assert root.get("viewBox")


@pytest.mark.parametrize("path", FIGURES, ids=name)
def test_a_figure_has_colours_for_light_and_dark_and_nothing_from_elsewhere(path: Path) -> None:
    """Every class that is filled or drawn in light has its colour in dark too; no script, no font and no picture is loaded."""
    text = path.read_text(encoding="utf-8")
    style = text[text.index("<style>") : text.index("</style>")]
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    coloured = {selector for selector, body in re.findall(r"(\.\w+|^ *text) [^{}]*\{([^{}]*)\}", light) if "#" in body}
    assert coloured
    assert {selector for selector in coloured if f"{selector} " not in dark and f"{selector}," not in dark} == set()
    assert not re.search(r"<script|href=|url\((?!#)|@import|@font-face", text)


@pytest.mark.parametrize("path", FIGURES, ids=name)
def test_a_figure_is_shown_on_a_page_with_words_for_those_who_cannot_see_it(path: Path) -> None:
    """The alternative text says more than the name."""
    shown = [
        alt
        for page in EXPLANATION.glob("*.md")
        for alt, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
        if target == f"figures/{path.name}"
    ]
    assert shown
    assert all(len(alt) > 40 for alt in shown)


def test_the_figure_of_one_call_and_its_table_say_the_same() -> None:
    """Steps and events in the same order; each reason that the one names the other names too, and there are no others."""
    root = ElementTree.parse(EXPLANATION / "figures" / "one-call.svg").getroot()
    texts = [(element.get("class"), element.text or "") for element in root.iter(f"{SVG}text")]
    drawn = [text for kind, text in texts if kind in ("title", "eventtext") and text != "event"]
    table = [
        line.split("|")[1:-1] for line in (EXPLANATION / "one-call.md").read_text(encoding="utf-8").splitlines() if "|" in line
    ]
    assert all(len(row) == 5 for row in table)
    written = []
    for number, step, *_ in table[2:]:
        event = re.fullmatch(r" event `([\w-]+)` ", step)
        if event is not None:
            written.append(event[1])
        elif number.strip():
            written.append(step.strip())
    assert drawn == written
    reasons = {*BLOCK_REASONS, *RESULT_REASONS}
    ends_drawn = {word for kind, text in texts if kind == "end" for word in re.findall(r"[\w-]+", text)} & reasons
    ends_written = {word for row in table[2:] for word in re.findall(r"`([\w-]+)`", row[4])} & reasons
    assert ends_written - ends_drawn <= {"repeated-failure"}  # of many calls, not of one
    assert ends_drawn - ends_written <= {"trail-failed"}  # of all events, so the figure has it in its key
    assert [int(row[0]) for row in table if row[0].strip().isdigit()] == list(range(1, 18))


def test_the_figure_names_every_limit_of_a_single_wait() -> None:
    """What may cut is told by the names that events use."""
    text = (EXPLANATION / "figures" / "one-call.svg").read_text(encoding="utf-8")
    for limit in ("seconds", "planner_seconds", "tool_seconds", "approval_seconds", "expires_at"):
        assert f">{limit}</text>" in text
    assert "trail_timeout" in text
