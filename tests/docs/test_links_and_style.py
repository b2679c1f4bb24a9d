"""The documentation as text: links that lead somewhere, one sentence per line, and a table of contents that names every page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SENTENCE_END = re.compile(r"(?<!\d)[.!?][\"*)]* +(?=[A-Z`\"*])")
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|vs|etc|No)\. ")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """The page without its code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """As web faces of Git hosts make them: lower case, words joined by hyphens, other signs dropped."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    """Both the file and the heading exist."""
    for link in LINK.findall(prose(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_sentence_has_a_line_of_its_own(page: Path) -> None:
    """One sentence per source line, so that a change shows as the sentence it changes. Tables and lists of promises are rows."""
    for line in prose(page).splitlines():
        if line.startswith("|") or re.match(r"\d+\. \*\*", line):
            continue
        text = re.sub(r"`[^`]*`", "x", ABBREVIATIONS.sub("", line))
        assert not SENTENCE_END.search(text), line


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != ROOT and page.name != "README.md"], ids=name)
def test_every_page_is_in_the_table_of_contents(page: Path) -> None:
    """docs/README.md lists all pages."""
    contents = ROOT / "docs" / "README.md"
    assert page.relative_to(contents.parent).as_posix() in LINK.findall(contents.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_page_has_exactly_one_title(page: Path) -> None:
    """The first line is it."""
    assert page.read_text(encoding="utf-8").startswith("# ")
    assert len(re.findall(r"^# ", prose(page), re.MULTILINE)) == 1
