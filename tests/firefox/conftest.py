"""Fixtures of the tests of reading: a site for made-up pages, and a reader in a tab of its own."""

from collections.abc import Iterator

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.testing._page_reader import PageReader, PageSite, serve_made_pages


@pytest.fixture(scope="module")
def made_pages() -> Iterator[PageSite]:
    with serve_made_pages() as site:
        yield site


@pytest.fixture
def reader(firefox: BrowserSession, tab: Tab, made_pages: PageSite) -> PageReader:
    return PageReader(firefox, tab, made_pages)
