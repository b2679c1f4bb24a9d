"""Fixtures for tests in real Firefox: pages to act on, pages with a reader, and pages with libraries from pinned npm packages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.corpora import CorpusError, Site
from foxloop_trio.testing._act_probe import PageProbe, ProbeSite, serve_probes
from foxloop_trio.testing._npm_site import serve_library_pages
from foxloop_trio.testing._page_probe import Probe, open_page
from foxloop_trio.testing._page_reader import PageReader, PageSite, serve_made_pages

PAGES = Path(__file__).parent / "pages"

OpenPage = Callable[[str], Awaitable[Probe]]


@pytest.fixture(scope="module")
def made_pages() -> Iterator[PageSite]:
    with serve_made_pages() as site:
        yield site


@pytest.fixture
def reader(firefox: BrowserSession, tab: Tab, made_pages: PageSite) -> PageReader:
    return PageReader(firefox, tab, made_pages)


@pytest.fixture(scope="module")
def site() -> Iterator[ProbeSite]:
    """Where a test puts the pages that it acts on."""
    with serve_probes() as served:
        yield served


@pytest.fixture
def page(firefox: BrowserSession, tab: Tab, site: ProbeSite) -> PageProbe:
    """A page that a test writes, looks at and acts on over the wire."""
    return PageProbe(firefox, tab, site)


@pytest.fixture(scope="session")
def library_pages() -> Iterator[Site]:
    """tests/firefox/pages and the libraries that its pages use, on a port of this machine; the first run fetches them with npm."""
    try:
        with serve_library_pages(PAGES) as site:
            yield site
    except CorpusError as error:
        pytest.fail(f"the library pages: {error}", pytrace=False)


@pytest.fixture
def open_library_page(firefox: BrowserSession, tab: Tab, library_pages: Site) -> OpenPage:
    """`probe = await open_library_page("inputs-react")` shows a page in `tab`, and gives a test's eyes and trusted hands on it."""

    async def open_it(name: str) -> Probe:
        return await open_page(firefox, tab, library_pages.address, name)

    return open_it
