"""`Tab` over a stand-in in memory: reading when ready, acting with a permit, and the true end of an act that was stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from foxloop_trio.actions import Action, Permit
from foxloop_trio.browser import ActResult, BrowserSession, Tab
from foxloop_trio.errors import BrowserError, UsageError
from foxloop_trio.gate import create_gate
from foxloop_trio.testing._firefox_stand_in import Refused, StandIn, stand_in, tab_state
from foxloop_trio.wire import Request

PIN: dict[str, Any] = {
    "tab": 7, "generation": 1, "control": "0:3", "document": "d0" * 16, "frame": 0, "node": 3,
    "guard": "0123456789abcdef", "key": "fedcba9876543210", "role": "textbox", "label": "Name", "section": "",
    "submit": False, "secret": False, "url": "http://shop.test/", "destination": None,
}  # fmt: skip
FRAME = {
    "frame": 0, "document": "d0" * 16, "url": "http://shop.test/", "title": "Shop", "text": "", "headings": [], "controls": [],
    "captcha": False, "more": False, "truncated": 0, "key": "fedcba9876543210",
}  # fmt: skip
DONE = {"ok": True, "started": True, "submitted": False, "navigated": False, "dialogs": []}


async def permit_for(tool: str, args: dict[str, Any], *, domain: str = "shop.test") -> Permit:
    """A live permit from a real gate, for `args` as they are."""
    gate, host = create_gate(tools={tool: "fill"})
    await host.add_grant(scope="fill", domains=[domain])
    allowed = await gate.check(Action(tool=tool, args=args, domain=domain, scope="fill"))
    return allowed.permit  # type: ignore[union-attr]


async def typing(**more: Any) -> Permit:
    return await permit_for("act", {"control_id": "0:3", "op": "type", "value": "Ada", "target": PIN, **more})


async def the_tab(session: BrowserSession, addon: StandIn) -> Tab:
    addon.on["tab.list"] = lambda request: {"tabs": [tab_state(7)]}
    (tab,) = await session.tabs()
    return tab


class Reports(list[tuple[str, Any]]):
    """What the act reported, in order."""

    def __call__(self, state: str, done: Any = None) -> None:
        self.append((state, done))


# Reading


async def test_a_snapshot_numbers_its_looks(autojump_clock: MockClock) -> None:
    """Tool reference 4: the generation grows with every read."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7)}
        addon.on["page.read"] = lambda request: {"frames": [FRAME], "unreadable": []}
        assert [(await tab.snapshot()).generation for _ in range(3)] == [1, 2, 3]
        assert trio.current_time() == 0


async def test_a_loading_tab_is_waited_for(autojump_clock: MockClock) -> None:
    """Page reference 6: while the tab is loading, look again every 200 ms."""
    states = ["loading", "loading", "complete"]
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7, status=states.pop(0))}
        addon.on["page.read"] = lambda request: {"frames": [FRAME], "unreadable": []}
        await tab.snapshot()
        assert trio.current_time() == pytest.approx(0.4)
        assert addon.asked.count("page.read") == 1


async def test_news_of_the_tab_end_the_wait_early(autojump_clock: MockClock) -> None:
    """Our choice: a page that is there after 30 ms is read after 30 ms."""
    states = ["loading", "complete"]
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7, status=states.pop(0))}
        addon.on["page.read"] = lambda request: {"frames": [FRAME], "unreadable": []}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(tab.snapshot)
            await trio.sleep(0.03)
            await addon.tell("tab.changed", tab=tab_state(7))
        assert trio.current_time() == pytest.approx(0.03)


async def test_a_tab_that_loads_for_ever_is_read_after_ten_seconds(autojump_clock: MockClock) -> None:
    """Page reference 6: at most 50 times, then one last read that counts."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7, status="loading")}
        addon.on["page.read"] = lambda request: {"frames": [FRAME], "unreadable": []}
        await tab.snapshot()
        assert trio.current_time() == pytest.approx(10)


def failing(code: str, times: int) -> Callable[[Request], dict[str, Any]]:
    left = [code] * times

    def answer(request: Request) -> dict[str, Any]:
        if left:
            raise Refused(left.pop())
        return {"frames": [FRAME], "unreadable": []}

    return answer


async def test_a_read_of_a_document_that_left_is_repeated(autojump_clock: MockClock) -> None:
    """Buglog B77: a navigation during the look discards it, and it is taken again, at most so often."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7)}
        addon.on["page.read"] = failing("document-gone", 3)
        await tab.snapshot()
        assert trio.current_time() == pytest.approx(0.6)
        addon.on["page.read"] = failing("no-document", 1000)
        with pytest.raises(BrowserError) as caught:
            await tab.snapshot()
        assert caught.value.code == "no-document"
        assert addon.asked.count("page.read") == 4 + 51


@pytest.mark.parametrize("code", ["restricted-page", "no-tab", "too-large"])
async def test_what_waiting_cannot_change_is_told_at_once(code: str, autojump_clock: MockClock) -> None:
    """Buglog B73: a page that Firefox keeps extensions out of is one clear answer, no retry loop."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7)}
        addon.on["page.read"] = failing(code, 1)
        with pytest.raises(BrowserError) as caught:
            await tab.snapshot()
        assert (caught.value.code, trio.current_time()) == (code, 0)


# Acting


async def test_an_act_carries_what_was_judged(autojump_clock: MockClock) -> None:
    """Design, Trust: judged host, document and pinned control go along, for the page script to compare again."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.act"] = lambda request: {**DONE, "value": "Ada"}
        reports = Reports()
        result = await tab.act(PIN, "type", "Ada", permit=await typing(), report=reports)
        assert result == ActResult(ok=True, started=True, value="Ada")
        assert reports == [("not-started", None), ("done", {"op": "type", "control": "0:3"})]
        sent = addon.params[addon.asked.index("page.act")]
        wanted = {
            "tab": 7,
            "frame": 0,
            "document": PIN["document"],
            "host": "shop.test",
            "node": 3,
            "guard": PIN["guard"],
            "key": PIN["key"],
        }
        assert {name: sent[name] for name in wanted} == wanted
        assert (sent["op"], sent["value"], sent["incarnation"]) == ("type", "Ada", "1c" * 16)
        assert 0 < sent["deadline_ms"] <= 5000
        await trio.testing.wait_all_tasks_blocked()
        assert addon.asked[-1] == "page.acknowledge"
        assert addon.params[-1]["calls"] == [sent["call"]]


async def test_each_act_has_an_id_of_its_own(autojump_clock: MockClock) -> None:
    """Ruling 24: outcomes are kept by it, so it is never used twice."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.act"] = lambda request: DONE
        for _ in range(2):
            await tab.act(PIN, "type", "Ada", permit=await typing())
        calls = [params["call"] for method, params in zip(addon.asked, addon.params, strict=True) if method == "page.act"]
        assert len(set(calls)) == 2


REFUSALS: dict[str, tuple[dict[str, Any], str, Any, str]] = {
    "another operation": (PIN, "select", "Ada", "permit-value"),
    "another value": (PIN, "type", "Eve", "permit-value"),
    "no value": (PIN, "type", None, "permit-value"),
    "another control": ({**PIN, "control": "0:4", "node": 4}, "type", "Ada", "permit-target"),
    "the control as it looks now": ({**PIN, "guard": "another0another0"}, "type", "Ada", "permit-target"),
    "another document": ({**PIN, "document": "d1" * 16}, "type", "Ada", "permit-target"),
    "another tab": ({**PIN, "tab": 8}, "type", "Ada", "bad-target"),
    "half a pin": ({"tab": 7, "control": "0:3"}, "type", "Ada", "bad-target"),
    "a flag that is 0 and not false": ({**PIN, "submit": 0}, "type", "Ada", "permit-target"),
}


@pytest.mark.parametrize("what", REFUSALS)
async def test_an_act_that_was_not_judged_is_never_sent(what: str, autojump_clock: MockClock) -> None:
    """Ruling 42: target, operation and value are those that were judged; the judged twin passes with the same permit."""
    target, op, value, code = REFUSALS[what]
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.act"] = lambda request: DONE
        permit = await typing()
        with pytest.raises(UsageError) as caught:
            await tab.act(target, op, value, permit=permit)
        assert caught.value.code == code
        assert "page.act" not in addon.asked
        assert (await tab.act(PIN, "type", "Ada", permit=permit)).ok


async def test_a_dead_or_foreign_permit_sends_nothing(autojump_clock: MockClock) -> None:
    """Ruling 19: a permit dies with its call; and it is for one host."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        spent = await typing()
        await spent.settle()
        foreign = await permit_for("act", {"op": "type", "value": "Ada", "target": PIN}, domain="bank.test")
        for permit, code in ((spent, "permit-closed"), (foreign, "permit-host"), ("yes", "permit-missing")):
            with pytest.raises(UsageError) as caught:
                await tab.act(PIN, "type", "Ada", permit=permit)  # type: ignore[arg-type]
            assert caught.value.code == code
        assert "page.act" not in addon.asked


async def test_a_tab_that_moved_sends_nothing(autojump_clock: MockClock) -> None:
    """Ruling 42: the host is compared when the act is sent, with what the add-on told last."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        permit = await typing()
        await addon.tell("tab.changed", tab=tab_state(7, url="http://bank.test/"))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(UsageError) as caught:
            await tab.act(PIN, "type", "Ada", permit=permit)
        assert caught.value.code == "permit-host"
        assert "page.act" not in addon.asked


async def test_a_click_needs_a_call_that_names_no_operation(autojump_clock: MockClock) -> None:
    """Tool reference 1: `click` has a tool of its own; a permit for typing does not click, and the other way round."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.act"] = lambda request: DONE
        permit = await permit_for("click", {"control_id": "0:3", "target": PIN})
        with pytest.raises(UsageError):
            await tab.act(PIN, "type", permit=permit)
        with pytest.raises(UsageError):
            await tab.act(PIN, "click", permit=await typing())
        assert (await tab.act(PIN, "click", permit=permit)).ok


@pytest.mark.parametrize(("code", "reason"), [("document-gone", "navigated"), ("no-document", "navigated"), ("timeout", "timeout")])
async def test_an_act_that_the_add_on_did_not_begin_is_a_refusal(code: str, reason: str, autojump_clock: MockClock) -> None:
    """Page reference 4: a rejected call is a result with a reason, and nothing was done."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.act"] = failing(code, 1)
        reports = Reports()
        result = await tab.act(PIN, "type", "Ada", permit=await typing(), report=reports)
        assert result == ActResult(ok=False, started=False, reason=reason)
        assert reports[-1] == ("not-started", None)


async def test_a_refusal_in_the_middle_is_partial(autojump_clock: MockClock) -> None:
    """Page reference 4.1: refusals that come after events were sent say so."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.act"] = lambda request: {**DONE, "ok": False, "reason": "mismatch", "value": "A"}
        reports = Reports()
        result = await tab.act(PIN, "type", "Ada", permit=await typing(), report=reports)
        assert (result.reason, result.value) == ("mismatch", "A")
        assert reports[-1][0] == "partial"


async def test_an_act_without_an_answer_is_unknown(autojump_clock: MockClock) -> None:
    """Buglog B22: a limit that passes is no failure of the act; what was done is not known, and is said to be so."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.act"] = lambda request: None
        reports = Reports()
        result = await tab.act(PIN, "type", "Ada", permit=await typing(), report=reports)
        assert result == ActResult(ok=False, started=True, reason="timeout")
        assert reports[-1][0] == "unknown"
        assert "call.cancel" in addon.asked
        assert trio.current_time() == pytest.approx(6)  # its limit, and a second for the answer to the cancel


async def test_an_answer_that_is_late_is_still_the_true_one(autojump_clock: MockClock) -> None:
    """Ruling 6: asked to stop after the limit, the add-on tells what it has done."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)

        async def answer(request: Request) -> dict[str, Any]:
            await addon.wait_cancelled(request)
            return DONE

        addon.on["page.act"] = answer
        reports = Reports()
        assert (await tab.act(PIN, "type", "Ada", permit=await typing(), report=reports)).ok
        assert reports[-1][0] == "done"


async def cancel_during(session: BrowserSession, addon: StandIn, *, grace: float = 5.0) -> Reports:
    """Cancel an act once the add-on has it; its reports."""
    tab = await the_tab(session, addon)
    permit = await typing()
    reports = Reports()
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            async def act() -> None:
                await tab.act(PIN, "type", "Ada", permit=permit, report=reports, cancel_grace=grace)

            nursery.start_soon(act)
            await trio.testing.wait_all_tasks_blocked()
            assert "page.act" in addon.asked
            scope.cancel()
    assert scope.cancelled_caught
    return reports


async def test_a_cancelled_act_that_was_done_is_reported_done(autojump_clock: MockClock) -> None:
    """Design, promise 1: its true end is on record before the run's context exits."""
    async with stand_in() as (session, addon):

        async def answer(request: Request) -> dict[str, Any]:
            await addon.tell("page.started", id=request.id)
            await addon.wait_cancelled(request)
            await trio.sleep(2)
            return DONE

        addon.on["page.act"] = answer
        reports = await cancel_during(session, addon)
        assert reports[-1] == ("done", {"op": "type", "control": "0:3"})
        assert trio.current_time() == 2


async def test_a_cancelled_act_that_never_began_is_reported_not_started(autojump_clock: MockClock) -> None:
    """Buglog B04: a cancel goes out, and the add-on's word that it did nothing counts."""
    async with stand_in() as (session, addon):

        async def answer(request: Request) -> dict[str, Any]:
            await addon.wait_cancelled(request)
            raise Refused("cancelled")

        addon.on["page.act"] = answer
        assert (await cancel_during(session, addon))[-1] == ("not-started", None)


async def test_a_cancelled_act_without_an_answer_is_unknown_after_the_grace(autojump_clock: MockClock) -> None:
    """Ruling 6: at most min(the act's own limit, cancel_grace), then it is unknown."""
    async with stand_in() as (session, addon):
        addon.on["page.act"] = lambda request: None
        assert (await cancel_during(session, addon, grace=1.5))[-1][0] == "unknown"
        assert trio.current_time() == 1.5


async def test_a_cancelled_act_on_a_lost_browser_is_unknown(autojump_clock: MockClock) -> None:
    """Ruling 6: nobody can tell any more."""
    async with stand_in() as (session, addon):

        async def answer(request: Request) -> None:
            await addon.wait_cancelled(request)
            await addon.hang_up()

        addon.on["page.act"] = answer
        assert (await cancel_during(session, addon))[-1][0] == "unknown"
        assert trio.current_time() == 0


async def test_an_act_cancelled_before_it_left_is_not_started(autojump_clock: MockClock) -> None:
    """Design, promise 1: nothing more is sent to the page after a cancel."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        permit = await typing()
        reports = Reports()
        with trio.CancelScope() as scope:
            scope.cancel()
            await tab.act(PIN, "type", "Ada", permit=permit, report=reports)
        assert scope.cancelled_caught
        await trio.sleep(1)
        assert reports == [("not-started", None)]
        assert "page.act" not in addon.asked


async def test_an_act_on_a_browser_that_gets_lost_says_so(autojump_clock: MockClock) -> None:
    """Issue: BrowserError browser-lost at once; the effect is unknown."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)

        async def answer(request: Request) -> None:
            await addon.hang_up()

        addon.on["page.act"] = answer
        reports = Reports()
        with pytest.raises(BrowserError) as caught:
            await tab.act(PIN, "type", "Ada", permit=await typing(), report=reports)
        assert (caught.value.code, reports[-1][0], trio.current_time()) == ("browser-lost", "unknown", 0)


# Waiting and moving


async def test_settling_waits_for_a_navigation_only_after_a_send(autojump_clock: MockClock) -> None:
    """Page reference 6: 250 ms after a send that was accepted."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.settle"] = lambda request: {"waited_ms": 120, "gone": False}
        assert (await tab.settle(PIN)).waited == 0
        assert (await tab.settle(PIN, sent=True)).waited == pytest.approx(0.25)
        assert addon.params[-1] == {**addon.params[-1], "tab": 7, "frame": 0, "document": PIN["document"], "list_for": None}


@pytest.mark.parametrize(
    ("code", "gone"), [("document-gone", True), ("no-document", True), ("timeout", False), ("internal", False)]
)
async def test_a_page_that_cannot_be_watched_counts_as_settled(code: str, gone: bool, autojump_clock: MockClock) -> None:
    """Page reference 5 and 6: a page that goes away, or gives up, counts as settled; a tab that is gone is an error."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.settle"] = failing(code, 1)
        assert (await tab.settle(PIN)).gone is gone
        addon.on["page.settle"] = failing("no-tab", 1)
        with pytest.raises(BrowserError):
            await tab.settle(PIN)


async def test_settling_gives_up_after_three_seconds(autojump_clock: MockClock) -> None:
    """Page reference 6."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["page.settle"] = lambda request: None
        assert (await tab.settle(PIN)).waited == pytest.approx(3)


async def test_goto_takes_the_new_state(autojump_clock: MockClock) -> None:
    """API: tab.url is the new address when goto returns."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.goto"] = lambda request: {"tab": tab_state(7, url=request.params["url"])}
        await tab.goto("http://shop.test/next")
        assert tab.url == "http://shop.test/next"


async def test_closing_a_tab_that_is_gone_is_fine(autojump_clock: MockClock) -> None:
    """Our choice: what was wanted is so."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.close"] = failing("no-tab", 1)
        await tab.close()
        assert tab.closed


async def test_a_screenshot_is_bytes(autojump_clock: MockClock) -> None:
    """Buglog B92: a picture is bytes for the host, never text for a planner."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        addon.on["tab.capture"] = lambda request: {"data": "iVBORw=="}
        assert await tab.screenshot() == b"\x89PNG"
        addon.on["tab.capture"] = failing("unknown-method", 1)
        with pytest.raises(NotImplementedError, match="screenshot"):
            await tab.screenshot()


async def test_news_that_were_dropped_lead_to_a_fresh_look(autojump_clock: MockClock) -> None:
    """Our choice: a tab whose news overflowed is asked for its state before an act is judged by its host."""
    async with stand_in() as (session, addon):
        tab = await the_tab(session, addon)
        permit = await typing()
        await addon.tell("tab.changed", tab=tab_state(7, url="http://bank.test/"))
        for _ in range(1100):
            await addon.tell("tab.changed", tab=tab_state(8))
        await trio.testing.wait_all_tasks_blocked()
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7, url="http://bank.test/")}
        with pytest.raises(UsageError) as caught:
            await tab.act(PIN, "type", "Ada", permit=permit)
        assert caught.value.code == "permit-host"
