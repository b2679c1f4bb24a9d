"""Pages that Firefox keeps every extension out of: said at once, with the reason and what to do, for looks, pictures and tools."""

from pathlib import Path

import pytest
import trio

from foxloop_trio.actions import ToolContext
from foxloop_trio.browser import BrowserSession, Tab, browser_tools, launch_firefox
from foxloop_trio.corpora import serve_pages
from foxloop_trio.errors import BrowserError, Refuse
from foxloop_trio.tools import define_tools

pytestmark = pytest.mark.firefox

PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)


async def tab_at(session: BrowserSession, url: str) -> Tab:
    """The tab that shows the address, once it is loaded."""
    with trio.fail_after(20):
        while True:
            for tab in await session.tabs():
                if tab.url == url:
                    return tab
            await trio.sleep(0.02)


async def must_be_closed(tab: Tab, words: str) -> None:
    """Looks and pictures are refused, without waiting for what will not come."""
    for look in (tab.snapshot, tab.screenshot):
        began = trio.current_time()
        with pytest.raises(BrowserError, match=words) as refused:
            await look()
        assert refused.value.code == "restricted-page"
        assert trio.current_time() - began < 5, "closed pages must not be waited for"


async def test_firefoxs_own_pages_and_views_say_why_they_are_closed_and_what_to_do(tmp_path: Path) -> None:
    """Firefox opens them itself at its start: nobody else may."""
    (tmp_path / "a.html").write_text("<title>A</title><p>" + "Some words. " * 200)
    (tmp_path / "b.pdf").write_bytes(PDF)
    with serve_pages(tmp_path) as site:
        page = f"{site.address}/a.html"
        closed = {
            "about:config": "one of Firefox's own pages",
            "about:addons": "one of Firefox's own pages",
            f"view-source:{page}": "source of a page.* open the page itself",
            f"about:reader?url={page}": "reader view.* open the article's own address",
            "http://127.0.0.1:1/": "an error page because it could not be loaded",
        }
        prefs = {
            "browser.startup.page": 1,
            "browser.startup.homepage": "|".join(closed),
            "pdfjs.disabled": False,
            "extensions.webextensions.restrictedDomains": "localhost",
        }
        async with launch_firefox(prefs=prefs) as session:
            for url, words in closed.items():
                await must_be_closed(await tab_at(session, url), words)

            tab = await session.open_tab(page)
            context = await tab.bidi_context()
            assert (await tab.snapshot()).title == "A"
            for url, words in (
                (f"{site.address}/b.pdf", "PDF in Firefox's own viewer.* ask the user"),
                (page.replace("127.0.0.1", "localhost"), "a site that it protects"),
            ):
                await session.bidi("browsingContext.navigate", context=context, url=url, wait="complete")
                await must_be_closed(await tab_at(session, url), words)
            await tab.goto(page)
            assert (await tab.snapshot()).title == "A"


async def test_the_tools_pass_the_reason_on_in_our_words(tmp_path: Path) -> None:
    """B73: one clear result that says that trying again does not help; a page that is none has no host to be judged."""
    (tmp_path / "b.pdf").write_bytes(PDF)
    with serve_pages(tmp_path) as site:
        prefs = {"browser.startup.page": 1, "browser.startup.homepage": "about:config", "pdfjs.disabled": False}
        async with launch_firefox(prefs=prefs) as session:
            tools = define_tools(browser_tools(await tab_at(session, "about:config")))
            ctx = ToolContext(run_id="r", step=1, goal="g", domain="127.0.0.1")
            with pytest.raises(Refuse, match="Firefox's own pages"):
                tools["snapshot"].domain({}, ctx)  # type: ignore[operator]

            tab = await session.open_tab("about:blank")
            await session.bidi(
                "browsingContext.navigate", context=await only_context(session, "about:blank"), url=f"{site.address}/b.pdf"
            )
            await tab_at(session, f"{site.address}/b.pdf")
            tools = define_tools(browser_tools(tab))
            for name in ("snapshot", "screenshot"):
                output = await tools[name].run({}, ctx)  # type: ignore[misc]
                assert not output.ok
                assert "restricted-page: it is a PDF" in output.summary
                assert "trying again does not help" in output.summary


async def only_context(session: BrowserSession, url: str) -> str:
    tree = await session.bidi("browsingContext.getTree", maxDepth=0)
    (found,) = [context["context"] for context in tree["contexts"] if context["url"] == url]
    return str(found)
