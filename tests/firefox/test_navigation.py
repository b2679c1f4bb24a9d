"""Where a page leads by itself: told, and with `navigation="block"` stopped before anything of it is asked for."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs
import pytest
import trio

from foxloop_trio.actions import Action, ToolContext, ToolOutput
from foxloop_trio.browser import BrowserSession, Tab, browser_tools
from foxloop_trio.errors import BadOptionsError, BrowserError
from foxloop_trio.gate import create_gate
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox

HOME, AWAY = "127.0.0.1", "localhost"  # one server, two hosts


@attrs.define
class Server:
    port: int
    asked: list[str] = attrs.field(factory=list)
    """``host path`` of each page that was asked for."""

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"


PAGES = {
    "link": "<a href='{away}'>go</a>",
    "link that a script follows": "<button onclick=\"location.href = '{away}'\">go</button>",
    "link in a new tab": "<a href='{away}' target=_blank>go</a>",
    "window.open": "<button onclick=\"window.open('{away}')\">go</button>",
    "window.open, later led away": (
        "<button onclick=\"const w = window.open('about:blank'); setTimeout(() => {{ w.location = '{away}' }}, 50)\">go</button>"
    ),
    "window of its own": "<button onclick=\"window.open('{away}', '', 'popup,width=300,height=300')\">go</button>",
    "window of its own, later led away": (
        "<button onclick=\"const w = window.open('about:blank', 'w', 'popup'); setTimeout(() => {{ w.location = '{away}' }}, "
        '50)">go</button>'
    ),
    "form": "<form action='{away}' method=post><input name=a aria-label=Name value=1><button>go</button></form>",
    "form in a new tab": "<form action='{away}' method=post target=_blank><input name=a value=1><button>go</button></form>",
    "redirect": "<a href='{home}to?{away}'>go</a>",
    "back": "<button onclick='history.back()'>go</button>",
    "worker": (
        "<script>navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)"
        ".then(() => {{ document.title = 'ready' }})</script>"
    ),
    "opened by a tool": "<p>Leads away</p><script>setTimeout(() => {{ location.href = '{away}' }}, 300)</script>",
    "refresh": (
        "<button onclick=\"const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0; url={away}'; "
        'document.head.append(m)">go</button>'
    ),
    "script in a frame": (
        "<iframe id=f></iframe><button onclick=\"f.srcdoc = `<script>top.location = '{away}'</` + 'script>'\">go</button>"
    ),
    "script after a while": (
        "<button onclick=\"this.textContent = 'gone'; setTimeout(() => {{ location.href = '{away}' }}, 300)\">go</button>"
    ),
}

WORKER = """oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim());
onfetch = e => e.respondWith(new Response('<title>worker</title>', {headers: {'content-type': 'text/html'}}))"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = (self.headers["host"] or "").rpartition(":")[0]
            parts = urlsplit(self.path)
            if parts.path != "/favicon.ico":
                told.asked.append(f"{host} {parts.path}")
            if parts.path == "/to":
                self.send_response(302)
                self.send_header("location", parts.query)
                self.end_headers()
                return
            page = PAGES.get(parse_qs(parts.query).get("page", [""])[0], "<p>Nothing</p>")
            page = WORKER if parts.path == "/worker.js" else page.format(away=told.url(AWAY, "/away"), home=told.url(HOME))
            body = page.encode()
            self.send_response(200)
            self.send_header("content-type", f"text/{'javascript' if page is WORKER else 'html'}; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # the name that http.server looks for

        def log_message(self, *args: object) -> None: ...

    class Http(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: object) -> None:
            """A browser that leaves while a page is sent is nothing to report."""

    http = Http(("127.0.0.1", 0), Handler)
    told = Server(http.server_port)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield told
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


@pytest.fixture
async def spare(firefox: BrowserSession, tab: Tab) -> AsyncIterator[list[int]]:
    """The tabs that were there before; what a page opens is closed."""
    before = [tab.id for tab in await firefox.tabs()]
    yield before
    for tab in await firefox.tabs():
        if tab.id not in before:
            with suppress(BrowserError):  # it was on its way out
                await tab.close()


async def click(tab: Tab) -> ToolOutput:
    """One click on what is called "go", by the tools of a planner that may do everything on the page's own host."""
    tools = {tool.name: tool for tool in browser_tools(tab)}
    gate, host_side = create_gate(tools={"click": "fill"})
    await host_side.add_grant(scope="fill", domains=[HOME])
    context: Any = ToolContext(run_id="r", step=1, goal="g", domain=HOME)
    await tools["snapshot"].run({}, context)
    page = await tab.snapshot()
    (control,) = [one for one in page.controls if one.label == "go"]
    await tools["snapshot"].run({}, context)
    judged: Any = await tools["click"].prepare({"control_id": control.id}, context)  # type: ignore[misc]
    allowed = await gate.check(Action(tool="click", args=judged, domain=HOME, scope="fill"))
    context = attrs.evolve(context, permit=allowed.permit)  # type: ignore[union-attr]
    return await tools["click"].run(judged, context)


async def until(is_so: Any) -> None:
    with trio.fail_after(10):
        while not await is_so():  # noqa: ASYNC110  # Firefox tells a test nothing of this
            await trio.sleep(0.02)


@pytest.mark.parametrize("kind", [kind for kind in PAGES if kind not in ("back", "worker", "opened by a tool")])
async def test_what_leads_to_another_host_is_stopped_before_it_loads(
    firefox: BrowserSession, tab: Tab, server: Server, spare: list[int], kind: str
) -> None:
    """Issue item: redirect, `location=`, `_blank`, form post, meta refresh; nothing is asked of the other host, and it is told."""
    page = server.url(HOME, f"/?page={kind.replace(' ', '+')}")
    await tab.goto(page)
    async with firefox.lease(tab, navigation="block") as held:
        server.asked.clear()
        done = await click(held)

        async def told() -> bool:
            await held.refresh()
            return held.stopped != ()

        await until(told)
        assert [urlsplit(url).hostname for url in held.stopped] == [AWAY]
        assert held.host == HOME

        async def alone() -> bool:
            return {one.id for one in await firefox.tabs()} <= set(spare) or kind == "window.open, later led away"

        assert "popup-blocked" not in done.summary

        await until(alone)
        assert not [line for line in server.asked if line.startswith(AWAY)]
        if kind != "script after a while" and "later" not in kind:
            assert f"{AWAY}" in done.summary
            assert "stopped" in done.summary


async def test_a_form_that_was_stopped_was_not_sent(firefox: BrowserSession, tab: Tab, server: Server, spare: list[int]) -> None:
    """The page's submit event comes before the request: neither click nor fill_and_send takes it for a send."""
    await tab.goto(server.url(HOME, "/?page=form"))
    async with firefox.lease(tab, navigation="block") as held:
        server.asked.clear()
        done = await click(held)
        assert "it was not sent" in done.summary
        assert "A form was sent" not in done.summary
        bench = await ToolBench.over(firefox, held, domains=(HOME,))
        await bench.look()
        page = await held.snapshot()
        field, button = (next(one.id for one in page.controls if one.role == role) for role in ("textbox", "button"))
        await bench.look()
        output = await bench.call("fill_and_send", fields={field: "2"}, send_id=button)
        assert (output.ok, output.data["sent"]) == (False, None)  # type: ignore[index]
        assert "Sending was not observed" in output.summary
        assert f"lead to {AWAY}, which was stopped" in output.summary
        output = await bench.call("browser_task", goal="name: Ada")
        assert output.data["steps"], output  # type: ignore[index]
        assert (output.ok, output.data["sent"], output.data["verified"]) == (False, [], False)  # type: ignore[index]
        assert not [line for line in server.asked if line.startswith(AWAY)]


async def test_a_tab_that_a_tool_opens_is_held_as_the_one_that_it_goes_on_from(
    firefox: BrowserSession, tab: Tab, server: Server, spare: list[int]
) -> None:
    """It may show the judged address, on whichever host, and lead nowhere else; not even its first page may send it on."""
    await tab.goto(server.url(HOME))
    async with firefox.lease(tab, navigation="block", hosts=["allowed.localhost"]) as held:
        bench = await ToolBench.over(firefox, held, domains=(HOME, "other.localhost"))
        server.asked.clear()
        output = await bench.call("open_tab", url=server.url("other.localhost", "/?page=opened+by+a+tool"))
        assert (output.ok, "Leads away" in (output.untrusted or "")) == (True, True), output.summary

        async def told() -> bool:
            await held.refresh()
            return held.stopped != ()

        await until(told)
        assert held.stopped == (server.url(AWAY, "/away"),)
        assert (await firefox.active_tab()).host == "other.localhost"
        tabs = len(await firefox.tabs())
        output = await bench.call("open_tab", url=server.url(HOME, f"/to?{server.url(AWAY, '/away')}"))
        assert (output.ok, "navigation-failed" in output.summary) == (False, True), output.summary
        assert len(await firefox.tabs()) == tabs
        assert server.asked == ["other.localhost /", f"{HOME} /to"]
    await (await firefox.active_tab()).goto(server.url(AWAY, "/away"))  # the lease is over, and so is its hold


async def test_a_page_kept_for_the_back_button_is_left_at_once(
    firefox: BrowserSession, tab: Tab, server: Server, spare: list[int]
) -> None:
    """It comes without any request, so it cannot be stopped before: the tab is on its own page again, and the result says why."""
    await tab.goto(server.url(AWAY, "/kept"))
    await tab.goto(server.url(HOME, "/?page=back"))
    async with firefox.lease(tab, navigation="block") as held:
        server.asked.clear()
        done = await click(held)
        assert f"The page wanted to lead to {AWAY}, which was stopped" in done.summary
        assert "The page has 1 control" in done.summary
        assert held.url == server.url(HOME, "/?page=back")
        assert held.stopped == (server.url(AWAY, "/kept"),)
        assert server.asked == [f"{HOME} /"]


async def test_a_page_that_a_service_worker_would_answer_with_does_not_come(
    firefox: BrowserSession, tab: Tab, server: Server, spare: list[int]
) -> None:
    """No server is asked for it, but Firefox asks us all the same."""
    await tab.goto(server.url(AWAY, "/?page=worker"))

    async def is_called(title: str) -> bool:
        await tab.refresh()
        return tab.title == title

    await until(partial(is_called, "ready"))
    await tab.goto(server.url(HOME, "/?page=link"))
    async with firefox.lease(tab, navigation="block") as held:
        server.asked.clear()
        done = await click(held)
        assert f"The page wanted to lead to {AWAY}, which was stopped" in done.summary
        assert held.url == server.url(HOME, "/?page=link")
        assert held.stopped == (server.url(AWAY, "/away"),)
        assert not [line for line in server.asked if line.startswith(AWAY)]
    await tab.goto(server.url(AWAY, "/?page=away"))
    await until(partial(is_called, "worker"))  # it was there all the time
    await firefox.bidi(
        "script.evaluate",
        expression="navigator.serviceWorker.getRegistration().then(r => r.unregister())",
        target={"context": await tab.bidi_context()},
        awaitPromise=True,
    )


async def test_without_a_block_it_is_told_and_not_read(firefox: BrowserSession, tab: Tab, server: Server, spare: list[int]) -> None:
    """The page leads away; the result names the host, and nothing was read there."""
    await tab.goto(server.url(HOME, "/?page=link"))
    async with firefox.lease(tab) as leased:
        done = await click(leased)
        assert done.ok
        assert f"The tab is on {AWAY} now, which was not read" in done.summary
        assert leased.stopped == ()


async def test_a_held_tab_may_go_where_it_was_allowed_and_where_its_owner_sends_it(
    firefox: BrowserSession, tab: Tab, server: Server, spare: list[int]
) -> None:
    """`hosts`, and `goto`; what redirects on from there is stopped again. Afterwards the tab is free."""
    await tab.goto(server.url(HOME, "/?page=link"))
    async with firefox.lease(tab, navigation="block", hosts=["LOCALHOST."]) as held:
        await click(held)
        assert held.host == AWAY
    await tab.goto(server.url(HOME, "/?page=link"))
    async with firefox.lease(tab, navigation="block") as held:
        await held.goto(server.url(AWAY, "/there"))
        assert held.host == AWAY
        await held.goto(server.url(HOME, "/?page=link"))
        with pytest.raises(BrowserError) as caught:
            await held.goto(server.url(HOME, f"/to?{server.url(AWAY, '/away')}"))
        assert caught.value.code == "navigation-failed"
        assert held.host == HOME
        assert len(held.stopped) == 1
    await click(tab)
    assert tab.host == AWAY


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"navigation": "stop"}, "navigation is one of notice, block"),
        ({"hosts": ["shop.test"]}, "hosts says where"),
        ({"navigation": "block", "hosts": "shop.test"}, "a list of at most"),
        ({"navigation": "block", "hosts": ["http://shop.test"]}, "lease"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_the_way_out(firefox: BrowserSession, tab: Tab, options: Any, words: str) -> None:
    """BadOptionsError, and the tab is nobody's."""
    with pytest.raises(BadOptionsError, match=words):
        async with firefox.lease(tab, **options):
            pass
    async with firefox.lease(tab):
        pass
