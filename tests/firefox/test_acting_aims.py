"""Each aim of a planner on the pages with real libraries comes to what it must: it works, or is refused for the true reason.

Nothing is reported done that the page does not believe, and nothing refused that it believes.
`python tests/firefox/acting_table.py` prints the same as a table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.corpora import Site
from foxloop_trio.testing._acting_aims import AIMS
from foxloop_trio.testing._acting_trial import try_aim

PAGES = Path(__file__).parent / "pages"


@pytest.mark.firefox
@pytest.mark.long  # it needs npm, which the default run does not
@pytest.mark.parametrize("page", sorted({aim.page for aim in AIMS}))
async def test_every_aim_comes_to_what_it_must(firefox: BrowserSession, tab: Tab, library_pages: Site, page: str) -> None:
    """B80, B82, B83, B88, B89: controlled fields, editors, overlays, lists, files; with the true reason where it is refused."""
    aims = [aim for aim in AIMS if aim.page == page]
    verdicts = [await try_aim(firefox, tab, library_pages.address, PAGES / "files", aim) for aim in aims]
    problems = [verdict.problem(aim) for verdict, aim in zip(verdicts, aims, strict=True)]
    assert [problem for problem in problems if problem is not None] == []


def test_every_library_page_has_an_aim() -> None:
    """A page that nobody acts on shows nothing."""
    pages = {page.stem for page in PAGES.glob("*.html") if "shared/page.js" in page.read_text(encoding="utf-8")}
    assert {aim.page for aim in AIMS} == pages
