"""The contract of a `BrowserSession`: the same tests over `FakeBrowser` and over a real Firefox, on equal pages.

What a test of an agent learns from the fake must be true of Firefox. Each page stands here twice, as data and as HTML. All run on
the real clock, since Firefox does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from foxloop_trio.actions import Action, Permit, ToolContext
from foxloop_trio.browser import ActResult, Control, Snapshot, Tab, browser_tools
from foxloop_trio.browser.tools._page_pin import page_pin
from foxloop_trio.browser.tools._pin import make_pin
from foxloop_trio.errors import BrowserError, UsageError
from foxloop_trio.gate import create_gate
from foxloop_trio.testing import FakeBrowser, PageData
from foxloop_trio.testing._miniwob import serve_pages

HOST = "127.0.0.1"

SIGN_UP_HTML = """<!doctype html><html lang=en><meta charset=utf-8><title>Sign up</title>
<p>Tell us who you are.</p>
<form action=thanks.html><label>Name <input name=name required></label>
<label>Plan <select name=plan><option value=free>Free<option value=pro>Professional</select></label>
<label><input type=checkbox name=terms> Terms</label>
<button>Send</button></form>
<a href=thanks.html>Skip</a>
<button id=rename onclick="this.textContent = 'Renamed'">Rename</button>
<button onclick="document.title = confirm('Sure?') ? 'Yes' : 'No'">Ask</button>
<button onclick="setTimeout(() => document.querySelector('p').textContent = 'Loaded.', 300)">Load</button>
<div role=switch aria-checked=false tabindex=0 onclick="setTimeout(() => this.setAttribute('aria-checked', 'true'), 400)">Slow</div>
<button disabled>Off</button>
<label>Fixed <input value=x readonly></label>
<label>Password <input type=password></label>
</html>"""
SIGN_UP: PageData = {
    "title": "Sign up",
    "text": "Tell us who you are.",
    "forms": {"sign-up": {"action": "thanks.html"}},
    "controls": [
        {"role": "textbox", "label": "Name", "name": "name", "required": True, "form": "sign-up"},
        {
            "role": "combobox",
            "label": "Plan",
            "name": "plan",
            "options": {"free": "Free", "pro": "Professional"},
            "form": "sign-up",
        },
        {"role": "checkbox", "label": "Terms", "name": "terms", "form": "sign-up"},
        {"role": "button", "label": "Send", "submit": True, "form": "sign-up"},
        {"role": "link", "label": "Skip", "href": "thanks.html"},
        {"role": "button", "label": "Rename", "on_click": {"change": {"Rename": {"label": "Renamed"}}}},
        {"role": "button", "label": "Ask", "on_click": {"dialog": {"kind": "confirm", "message": "Sure?"}, "title": "No"}},
        {"role": "button", "label": "Load", "on_click": {"after": 0.3, "text": "Loaded."}},
        {"role": "switch", "label": "Slow", "checked": False, "on_click": {"after": 0.4, "change": {"Slow": {"checked": True}}}},
        {"role": "button", "label": "Off", "disabled": True},
        {"role": "textbox", "label": "Fixed", "value": "x", "read_only": True},
        {"role": "textbox", "label": "Password", "type": "password"},
    ],
}
THANKS_HTML = "<!doctype html><html lang=en><meta charset=utf-8><title>Thanks</title><p>Thank you.</p></html>"
THANKS: PageData = {"title": "Thanks", "text": "Thank you."}


@attrs.define
class World:
    """One tab of one browser, at the sign-up page; `reports` is what the newest act reported."""

    tab: Tab
    site: str
    reports: list[str] = attrs.field(factory=list)

    async def look(self) -> Snapshot:
        return await self.tab.snapshot()

    async def act(self, page: Snapshot, label: str, op: str, value: str | None = None) -> ActResult:
        pin, permit = await self.judged(page, label, op, value)
        return await self.do(pin, op, value, permit)

    async def do(self, pin: Any, op: str, value: str | None, permit: Any) -> ActResult:
        self.reports.clear()
        return await self.tab.act(pin, op, value, permit=permit, report=lambda state, done: self.reports.append(state))

    async def judged(
        self, page: Snapshot, label: str, op: str, value: str | None = None, *, host: str = HOST, dialog: Any = None, **more: Any
    ) -> tuple[dict[str, Any], Permit]:
        """The pin of a control, and a real gate's permit for this operation on it."""
        pin = {**make_pin(self.tab.id, page, find(page, label)), **more}
        gate, host_side = create_gate(tools={op: "fill"})
        await host_side.add_grant(scope="fill", domains=[host])
        args = {"target": pin, "op": op, "value": value, **({} if dialog is None else {"dialog": dialog})}
        allowed = await gate.check(Action(tool=op, args=args, domain=host, scope="fill"))
        return pin, allowed.permit  # type: ignore[union-attr]


def find(page: Snapshot, label: str) -> Control:
    (found,) = [control for control in page.controls if control.label == label]
    return found


class Contract:
    """The tests; the classes below say over what."""

    # Reading

    async def test_a_page_is_read_as_it_is(self, world: World) -> None:
        """Page reference 1 and 2: title, text, and every control with all that is known of it, numbers included."""
        page = await world.look()
        assert (page.title, page.url, page.text.splitlines()[0]) == (
            "Sign up",
            f"{world.site}/sign-up.html",
            "Tell us who you are.",
        )
        assert [(c.id, c.role, c.tag, c.type, c.label, c.value, c.form) for c in page.controls] == [
            ("0:1", "textbox", "input", "text", "Name", "", 2),
            ("0:3", "combobox", "select", "", "Plan", "free", 2),
            ("0:4", "checkbox", "input", "checkbox", "Terms", "on", 2),
            ("0:5", "button", "button", "", "Send", "", 2),
            ("0:6", "link", "a", "", "Skip", "", None),
            ("0:7", "button", "button", "", "Rename", "", None),
            ("0:8", "button", "button", "", "Ask", "", None),
            ("0:9", "button", "button", "", "Load", "", None),
            ("0:10", "switch", "div", "", "Slow", "", None),
            ("0:11", "button", "button", "", "Off", "", None),
            ("0:12", "textbox", "input", "text", "Fixed", "x", None),
            ("0:13", "textbox", "input", "password", "Password", "", None),
        ]
        flags = {
            c.label: [n for n in ("disabled", "read_only", "required", "submit", "secret") if getattr(c, n)] for c in page.controls
        }
        assert {label: said for label, said in flags.items() if said} == {
            "Name": ["required"],
            "Send": ["submit"],
            "Off": ["disabled"],
            "Fixed": ["read_only"],
            "Password": ["secret"],
        }
        states = {c.label: (c.checked, c.multiple, c.href, c.name) for c in page.controls}
        assert states["Terms"] == (False, None, None, "terms")
        assert states["Plan"] == (None, False, None, "plan")
        assert states["Slow"] == (False, None, None, "")
        assert states["Skip"] == (None, None, "thanks.html", "")
        plan, send = find(page, "Plan"), find(page, "Send")
        assert [(o.value, o.label, o.selected) for o in plan.options or ()] == [
            ("free", "Free", True),
            ("pro", "Professional", False),
        ]
        assert send.destination is not None
        assert (send.destination.url, send.destination.method, send.destination.target) == (f"{world.site}/thanks.html", "get", "")

    async def test_looking_twice_finds_the_same(self, world: World) -> None:
        """Page reference 2.1 and 2.9: numbers, guards and the page's key last while nothing changes."""
        first, second = await world.look(), await world.look()
        assert first.controls == second.controls
        assert attrs.evolve(first.top, took=0.0) == attrs.evolve(second.top, took=0.0)
        assert second.generation == first.generation + 1

    # Acting

    async def test_fields_take_what_they_are_given(self, world: World) -> None:
        """Page reference 4.4: type, select, check and uncheck, each seen at the next look."""
        result = await world.act(await world.look(), "Name", "type", "Ada")
        assert (result.ok, result.started, result.value, result.submitted) == (True, True, "Ada", False)
        assert world.reports == ["not-started", "done"]
        result = await world.act(await world.look(), "Plan", "select", "pro")
        assert (result.ok, result.value) == (True, "pro")
        result = await world.act(await world.look(), "Terms", "check")
        assert (result.ok, result.checked) == (True, True)
        page = await world.look()
        assert [(find(page, label).value, find(page, label).checked) for label in ("Name", "Plan", "Terms")] == [
            ("Ada", None),
            ("pro", None),
            ("on", True),
        ]
        result = await world.act(page, "Terms", "uncheck")
        assert (result.ok, result.checked) == (True, False)

    async def test_an_option_can_be_named_by_its_label(self, world: World) -> None:
        """Page reference 4.4: a label that only one option has."""
        result = await world.act(await world.look(), "Plan", "select", "Professional")
        assert (result.ok, result.value) == (True, "pro")

    async def test_a_box_that_is_as_asked_is_left_alone(self, world: World) -> None:
        """Page reference 4.4: already right: ok, no events."""
        result = await world.act(await world.look(), "Terms", "uncheck")
        assert (result.ok, result.started, result.checked, result.effect) == (True, False, False, "done")

    async def test_a_state_that_the_page_sets_later_is_waited_for(self, world: World) -> None:
        """Page reference 4.4: up to 500 ms."""
        result = await world.act(await world.look(), "Slow", "check")
        assert (result.ok, result.checked) == (True, True)

    async def test_a_secret_is_written_and_never_read(self, world: World) -> None:
        """Page reference 1.1: a mask stands for what it holds; that it is filled can be seen."""
        result = await world.act(await world.look(), "Password", "type", "hunter2")
        assert (result.ok, result.value) == (True, "•••")
        assert find(await world.look(), "Password").value == "•••"

    @pytest.mark.parametrize(
        ("label", "op", "value", "reason", "detail"),
        [
            ("Off", "click", None, "disabled", None),
            ("Fixed", "type", "y", "readonly", None),
            ("Plan", "select", "gold", "unsupported", "no enabled option has that value"),
            ("Name", "select", "pro", "unsupported", "options can be selected in a select only, not in input"),
            ("Send", "check", None, "unsupported", "it has no state that could be on or off"),
            ("Send", "type", "x", "unsupported", "text cannot be typed into button here"),
        ],
    )
    async def test_what_cannot_be_done_is_refused_untouched(
        self, world: World, label: str, op: str, value: str | None, reason: str, detail: str | None
    ) -> None:
        """Page reference 4.1 and 4.4: a refusal, with nothing dispatched and nothing changed."""
        before = await world.look()
        result = await world.act(before, label, op, value)
        assert (result.ok, result.started, result.reason, result.detail) == (False, False, reason, detail)
        assert world.reports == ["not-started", "not-started"]
        assert (await world.look()).controls == before.controls

    async def test_a_dialog_is_answered_with_no_and_told(self, world: World) -> None:
        """Page reference 7: the page goes on, as if a person had declined."""
        result = await world.act(await world.look(), "Ask", "click")
        assert [(dialog.kind, dialog.message, dialog.answer) for dialog in result.dialogs] == [("confirm", "Sure?", False)]
        assert (await world.look()).title == "No"

    async def test_an_act_of_which_nothing_comes_is_not_done(self, world: World) -> None:
        """Issue 8: an outcome of its own; events were sent all the same."""
        result = await world.act(await world.look(), "Rename", "hover")
        assert (result.ok, result.started, result.reason, result.acted) == (False, True, "nothing-changed", True)
        assert world.reports == ["not-started", "partial"]

    async def test_an_answer_is_armed_for_one_act(self, world: World) -> None:
        """Page reference 21.15: judged with the act; the next one gets the policy's answer again."""
        for armed, title in (({"accept": True}, True), (None, False)):
            pin, permit = await world.judged(await world.look(), "Ask", "click", dialog=armed)
            result = await world.tab.act(pin, "click", permit=permit, dialog=armed)
            assert [dialog.answer for dialog in result.dialogs] == [title]
        with pytest.raises(UsageError) as caught:
            await world.tab.act(pin, "click", permit=permit, dialog={"accept": True})
        assert caught.value.code == "permit-dialog"

    async def test_text_is_copied_and_pasted_inside_the_page(self, world: World) -> None:
        """Issue 8, point 2; nothing is copied out of a secret field."""
        await world.act(await world.look(), "Name", "type", "Ada")
        result = await world.act(await world.look(), "Name", "copy")
        assert (result.ok, result.value) == (True, "Ada")
        result = await world.act(await world.look(), "Password", "copy")
        assert (result.ok, result.started, result.reason) == (False, False, "secret")
        result = await world.act(await world.look(), "Name", "press", "ctrl+a Backspace")
        assert result.ok
        result = await world.act(await world.look(), "Rename", "press", "Entr+")
        assert (result.ok, result.reason) == (False, "unsupported")

    async def test_fields_of_other_forms_may_change_when_the_pin_says_so(self, world: World) -> None:
        """Page reference 21.20: with the key of its own form."""
        page = await world.look()
        pin, permit = await world.judged(page, "Rename", "click")
        assert pin["form_key"] == find(page, "Rename").form_key
        strict, strict_permit = await world.judged(page, "Rename", "click", form_key=None)
        assert (await world.act(page, "Name", "type", "Ada")).ok
        assert (await world.do(strict, "click", None, strict_permit)).reason == "stale"
        assert (await world.do(pin, "click", None, permit)).ok

    # Staleness

    async def test_a_field_that_changed_makes_the_look_stale(self, world: World) -> None:
        """Page reference 2.9: any field of the page."""
        page = await world.look()
        assert (await world.act(page, "Name", "type", "Ada")).ok
        result = await world.act(page, "Plan", "select", "pro")
        assert (result.ok, result.started, result.reason, result.detail) == (False, False, "stale", "page differs")
        assert find(await world.look(), "Plan").value == "free"

    async def test_a_button_that_says_something_else_is_stale(self, world: World) -> None:
        """Page reference 2.9: the control's own label; and another button's does not matter."""
        page = await world.look()
        assert (await world.act(page, "Rename", "click")).ok
        assert (await world.act(page, "Ask", "click")).ok
        result = await world.act(page, "Rename", "click")
        assert (result.ok, result.reason, result.detail) == (False, "stale", "control differs")

    async def test_another_fragment_makes_the_look_stale(self, world: World) -> None:
        """Page reference 2.9: the address is part of the key; it is the same document."""
        page = await world.look()
        await world.tab.goto(f"{world.site}/sign-up.html#more")
        with trio.fail_after(5):
            while not world.tab.url.endswith("#more"):  # Firefox's own note of the address may come after the answer
                await world.tab.session.wait_news(0.1)
                await world.tab.refresh()
        result = await world.act(page, "Rename", "click")
        assert (result.ok, result.reason, result.detail) == (False, "stale", "page differs")
        assert (await world.look()).top.document == page.top.document

    async def test_a_pin_of_the_page_before_is_refused(self, world: World) -> None:
        """Page reference 4: its document is gone; nothing is done in the new one."""
        page = await world.look()
        await world.tab.goto(f"{world.site}/sign-up.html")
        result = await world.act(page, "Rename", "click")
        assert (result.ok, result.started, result.reason) == (False, False, "navigated")
        fresh = await world.look()
        assert fresh.top.document != page.top.document
        assert find(fresh, "Rename").id == find(page, "Rename").id

    # Moving

    async def test_a_link_leads_to_its_page(self, world: World) -> None:
        """Page reference 6: the act is done, and the tab shows the new page."""
        page = await world.look()
        pin, permit = await world.judged(page, "Skip", "click")
        result = await world.do(pin, "click", None, permit)
        assert (result.ok, result.started, result.submitted) == (True, True, False)
        await world.tab.settle(pin, sent=True)
        page = await world.look()
        assert (page.title, page.text, world.tab.url) == ("Thanks", "Thank you.", f"{world.site}/thanks.html")

    async def test_a_form_is_sent_with_what_it_holds(self, world: World) -> None:
        """Page reference 4.5: a submit event fired; a box that is not ticked is not sent."""
        await world.act(await world.look(), "Name", "type", "Ada Lovelace")
        pin, permit = await world.judged(await world.look(), "Send", "click")
        result = await world.do(pin, "click", None, permit)
        assert (result.ok, result.submitted) == (True, True)
        await world.tab.settle(pin, sent=True)
        assert (await world.look()).title == "Thanks"
        assert world.tab.url == f"{world.site}/thanks.html?name=Ada+Lovelace&plan=free"

    async def test_enter_sends_the_form_too(self, world: World) -> None:
        """Page reference 4.4, enter."""
        await world.act(await world.look(), "Name", "type", "Ada")
        pin, permit = await world.judged(await world.look(), "Name", "enter")
        result = await world.do(pin, "enter", None, permit)
        assert (result.ok, result.submitted) == (True, True)
        await world.tab.settle(pin, sent=True)
        assert (await world.look()).title == "Thanks"

    async def test_a_form_that_lacks_something_is_not_sent(self, world: World) -> None:
        """Page reference 4.5: no submit event fires, and the page stays."""
        page = await world.look()
        result = await world.act(page, "Send", "click")
        assert (result.ok, result.submitted, result.navigated) == (True, False, False)
        assert (await world.look()).top.document == page.top.document

    async def test_settling_waits_until_the_page_is_quiet(self, world: World) -> None:
        """Page reference 5: 120 ms without a change."""
        page = await world.look()
        settled = await world.tab.settle(make_pin(world.tab.id, page, find(page, "Load")))
        assert settled.gone is False
        assert 0.1 <= settled.waited <= 1.0  # Firefox on a busy machine is late; the fake's exact time has a test of its own
        await world.act(page, "Load", "click")
        with trio.fail_after(5):
            while (await world.look()).text.splitlines()[0] != "Loaded.":
                pass

    async def test_an_address_that_nobody_answers_is_an_error(self, world: World, unused_port: int) -> None:
        """Wire, `tab.goto`: `navigation-failed`."""
        with pytest.raises(BrowserError) as caught:
            await world.tab.goto(f"http://127.0.0.1:{unused_port}/")
        assert caught.value.code == "navigation-failed"

    async def test_what_is_no_page_of_the_web_cannot_be_read(self, world: World) -> None:
        """Wire, `page.read`: `restricted-page`."""
        blank = await world.tab.session.open_tab("about:blank")
        with pytest.raises(BrowserError) as caught:
            await blank.snapshot()
        await blank.close()
        assert caught.value.code == "restricted-page"

    async def test_a_closed_tab_is_told_as_such(self, world: World) -> None:
        """Wire: `no-tab` for whatever is asked of it; closing it again is fine."""
        tab = await world.tab.session.open_tab(f"{world.site}/sign-up.html")
        mine = World(tab=tab, site=world.site)
        page = await tab.snapshot()
        pin, permit = await mine.judged(page, "Name", "type", "Ada")
        await tab.close()
        assert tab.closed
        assert tab.id not in [other.id for other in await tab.session.tabs()]
        for ask in (tab.snapshot(), mine.do(pin, "type", "Ada", permit), tab.settle(pin)):
            with pytest.raises(BrowserError) as caught:
                await ask
            assert caught.value.code == "no-tab"
        await tab.close()

    async def test_the_newest_tab_is_in_front(self, world: World) -> None:
        """Wire, `tab.open`: active; and `tab.activate` brings another one there."""
        session = world.tab.session
        new = await session.open_tab(f"{world.site}/thanks.html")
        assert await session.active_tab() is new
        await world.tab.activate()
        assert await session.active_tab() is world.tab
        await new.close()

    # Moving

    async def test_the_tab_goes_back_and_forward_in_what_it_has_shown(self, world: World) -> None:
        """Wire reference, tab.history: what comes can be worked on; where nothing is, nothing happens."""
        await world.tab.goto(f"{world.site}/thanks.html")
        for go, title in (("back", "Sign up"), ("forward", "Thanks"), ("reload", "Thanks")):
            await world.tab.history(go)  # type: ignore[arg-type]
            page = await world.look()
            assert (page.title, page.url) == (title, world.tab.url)
        with pytest.raises(BrowserError) as caught:
            await world.tab.history("forward")
        assert caught.value.code == "navigation-failed"

    async def test_the_page_itself_can_be_scrolled_and_nothing_else(self, world: World) -> None:
        """Wire reference: number 0, by the document alone."""
        page = await world.look()
        pin = page_pin(world.tab.id, page)
        gate, host_side = create_gate(tools={"any": "fill"})
        await host_side.add_grant(scope="fill", domains=[HOST])
        for op, ok in (("scroll", True), ("click", False)):
            action = Action(tool="any", args={"target": pin, "op": op, "value": None}, domain=HOST, scope="fill")
            allowed = await gate.check(action)
            result = await world.do(pin, op, None, allowed.permit)  # type: ignore[union-attr]
            assert (result.ok, result.reason) == (ok, None if ok else "unsupported")

    # Stop and permit

    async def test_an_act_that_is_cancelled_half_way_tells_what_is_true(self, world: World) -> None:
        """Ruling 6: the page was pressed and the state did not come yet: a part is done, and `Cancelled` goes on."""
        pin, permit = await world.judged(await world.look(), "Slow", "check")
        started = trio.Event()
        begin = trio.current_time()
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def stop() -> None:
                    await trio.sleep(0.2)
                    started.set()
                    scope.cancel()

                nursery.start_soon(stop)
                await world.do(pin, "check", None, permit)
        assert scope.cancelled_caught
        assert started.is_set()
        assert world.reports == ["not-started", "unknown", "partial"]
        assert trio.current_time() - begin < 2.0
        assert (await world.look()).title == "Sign up"  # the connection is as good as before

    async def test_an_act_that_was_cancelled_before_is_never_begun(self, world: World) -> None:
        """Ruling 2 of the wire: nothing is sent."""
        pin, permit = await world.judged(await world.look(), "Name", "type", "Ada")
        with trio.CancelScope() as scope:
            scope.cancel()
            await world.do(pin, "type", "Ada", permit)
        assert scope.cancelled_caught
        assert world.reports == ["not-started"]
        assert find(await world.look(), "Name").value == ""

    @pytest.mark.parametrize("fault", ["closed", "host", "target", "value", "missing"])
    async def test_without_the_right_permit_nothing_is_done(self, world: World, fault: str) -> None:
        """Ruling 42: each comparison by itself; the accepted twin stands last."""
        page = await world.look()
        pin, permit = await world.judged(page, "Name", "type", "Ada")
        value, given = "Ada", permit
        match fault:
            case "closed":
                await permit.release()
            case "host":
                given = (await world.judged(page, "Name", "type", "Ada", host="shop.test"))[1]
            case "target":
                given = (await world.judged(page, "Fixed", "type", "Ada"))[1]
            case "value":
                value = "Eve"
            case "missing":
                given = None  # type: ignore[assignment]
        with pytest.raises(UsageError) as caught:
            await world.do(pin, "type", value, given)
        assert caught.value.code == f"permit-{fault}"
        assert find(await world.look(), "Name").value == ""
        assert (await world.act(page, "Name", "type", "Ada")).ok

    # Tools

    async def test_the_tool_pack_reads_acts_and_looks_again(self, world: World) -> None:
        """Tool reference 4: one call is compare, act, settle and look."""
        tools = {tool.name: tool for tool in browser_tools(world.tab)}
        looked = await run(tools["snapshot"], {}, scope="read")
        assert '[0:1] textbox "Name"' in looked.untrusted
        typed = await run(tools["act"], {"control_id": "0:1", "op": "type", "value": "Ada"}, scope="fill")
        assert typed.ok
        assert 'value="Ada"' in typed.untrusted
        sent = await run(tools["click"], {"control_id": "0:5"}, scope="submit")
        assert (sent.ok, sent.data["submitted"], sent.data["navigated"], sent.stop_batch) == (True, True, True, True)
        assert "| Thank you." in sent.untrusted


async def run(tool: Any, args: dict[str, Any], *, scope: Any) -> Any:
    """One call of a tool: prepared, judged, run."""
    ctx = ToolContext(run_id="r", step=1, goal="g", domain=HOST, permit=None)
    if tool.prepare is not None:
        args = await tool.prepare(args, ctx)
    gate, host = create_gate(tools=[tool])
    await host.add_grant(scope=scope, domains=[HOST], approval="never")
    allowed = await gate.check(Action(tool=tool.name, args=args, domain=HOST, scope=scope))
    return await tool.run(args, attrs.evolve(ctx, permit=allowed.permit))


class TestFakeBrowser(Contract):
    """Over the fake."""

    @pytest.fixture
    async def world(self) -> AsyncIterator[World]:
        site = f"http://{HOST}:8000"
        async with FakeBrowser({f"{site}/sign-up.html": SIGN_UP, f"{site}/thanks.html": THANKS}) as session:
            yield World(tab=await session.open_tab(f"{site}/sign-up.html"), site=site)


@pytest.mark.firefox
@pytest.mark.long
class TestFirefox(Contract):
    """Over the real one."""

    @pytest.fixture
    def site(self, tmp_path: Path) -> Iterator[str]:
        (tmp_path / "sign-up.html").write_text(SIGN_UP_HTML)
        (tmp_path / "thanks.html").write_text(THANKS_HTML)
        with serve_pages(tmp_path) as served:
            yield served.address

    @pytest.fixture
    async def world(self, tab: Tab, site: str) -> World:
        await tab.goto(f"{site}/sign-up.html")
        return World(tab=tab, site=site)
