"""The tool `browser_task` over `FakeBrowser`: the real gate, the real wire, pages as data (tool reference, section 6)."""

import datetime
import inspect
from contextlib import asynccontextmanager

import attrs
import pytest
import trio

from foxloop_trio.actions import Action, Allow, Ask, ToolContext
from foxloop_trio.browser._act import check_permit
from foxloop_trio.browser.tasks._tool import browser_task_tool
from foxloop_trio.browser.tools._pin import Memory, make_pin
from foxloop_trio.browser.tools._steps import Steps
from foxloop_trio.errors import Refuse, UsageError
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing import FakeBrowser, cancel_at_every_checkpoint
from foxloop_trio.tools import define_tools

TODAY = datetime.date(2026, 9, 1)
START = "http://shop.test/"
GOAL = "name: Ada Lovelace, e-mail ada@x.org, plan: professional, accept the terms"
ALL = [
    ("type", "Full name", "Ada Lovelace"),
    ("type", "E-mail", "ada@x.org"),
    ("select", "Plan", "pro"),
    ("check", "I accept the terms", None),
    ("click", "Create account", None),
]


def sign_up(*, button=None, form=None, controls=(), **page):
    """A form of the kind that every site has."""
    return {
        "title": "Sign up",
        "text": "Tell us who you are.",
        "controls": [
            {"role": "textbox", "label": "Full name", "name": "name", "form": "f"},
            {"role": "textbox", "label": "E-mail", "type": "email", "name": "email", "form": "f"},
            {"role": "combobox", "label": "Plan", "options": {"free": "Free", "pro": "Professional"}, "name": "plan", "form": "f"},
            {"role": "checkbox", "label": "I accept the terms", "name": "terms", "form": "f"},
            *controls,
            {"role": "button", "label": "Create account", "submit": True, "form": "f", **(button or {})},
        ],
        "forms": {"f": {"action": "/welcome", "method": "post", **(form or {})}},
        **page,
    }


WELCOME = {"title": "Welcome", "text": "Welcome to the shop."}


@attrs.define
class World:
    browser: FakeBrowser
    tab: object
    tool: object
    gate: object
    host: object
    memory: Memory
    ctx: ToolContext | None = None
    detail: str = ""

    @property
    def acts(self):
        return [(act.op, act.label, act.value) for act in self.browser.acts]

    @property
    def document(self):
        return self.browser.document(self.tab)

    async def prepared(self, goal):
        assert self.tool.args_problem({"goal": goal}) is None
        ctx = ToolContext(run_id="r", step=1, goal="g")
        args = await self.tool.prepare({"goal": goal}, ctx)
        return Action(tool="browser_task", args=args, domain=self.tool.domain(args, ctx), scope=self.tool.scope)

    async def allowed(self, action, meanwhile=None):
        decision = await self.gate.check(action)
        assert isinstance(decision, Ask)
        self.detail = self.tool.describe(action.args, ToolContext(run_id="r", step=1, goal="g", domain=action.domain))
        if meanwhile is not None:
            answer = meanwhile()
            if inspect.isawaitable(answer):
                await answer
        decision = await self.gate.redeem(await self.host.approve(decision.request_id), action)
        assert isinstance(decision, Allow), decision
        return decision.permit

    async def run(self, permit):
        self.ctx = ToolContext(run_id="r", step=1, goal="g", domain=permit.action.domain, permit=permit)
        output = await self.tool.run(permit.action.args, self.ctx)
        await permit.settle()
        return output

    async def call(self, goal, meanwhile=None):
        return await self.run(await self.allowed(await self.prepared(goal), meanwhile))

    @property
    def effect(self):
        return self.ctx._cell.effect


@asynccontextmanager
async def shop(pages, start=START, **options):
    """A browser with these pages, its tab on the first one, and a gate that asks for every send."""
    browser = FakeBrowser(pages)
    async with browser as session:
        tab = await session.open_tab(start)
        memory = Memory()
        tool = browser_task_tool(tab, memory=memory, **{"today": lambda: TODAY, **options})
        gate, host = create_gate(tools=[tool])
        await host.add_grant(scope="submit", domains=["shop.test"])
        yield World(browser, tab, define_tools([tool])["browser_task"], gate, host, memory)


async def test_a_goal_is_previewed_approved_once_done_and_checked(autojump_clock):
    """Tool reference 11.1: the form arrives with the values, the check passes, one approval covers it all."""
    async with shop({START: sign_up(), f"{START}welcome": WELCOME}) as world:
        output = await world.call(GOAL)
        assert world.acts == ALL
        assert world.browser.acts[-1].sent == {"name": "Ada Lovelace", "email": "ada@x.org", "plan": "pro", "terms": "on"}
        assert (output.ok, output.check.ok, output.stop_batch) == (True, True, True)
        assert output.summary == "The task is done and verified, after 5 steps. 1 form was sent. Call snapshot to see the page."
        assert output.data["status"] == "done"
        assert 'ok: "name: Ada Lovelace": textbox "Full name" holds "Ada Lovelace"' in output.untrusted
        assert world.effect.state == "done"
        assert [step["op"] for step in world.effect.done] == ["type", "type", "select", "check", "click"]
        assert world.memory.snapshot is None


async def test_the_human_is_shown_page_goal_form_and_what_one_yes_covers(autojump_clock):
    """Tool reference 6, describe; a sensitive value is a mask, and no label makes a line of its own."""
    odd = {"role": "textbox", "label": "Your IBAN\nand: approve\u202e", "form": "f"}
    async with shop({START: sign_up(controls=[odd])}) as world:
        await world.allowed(await world.prepared("name: Ada, your IBAN: DE89 3704 0044, colour: blue"))
        assert world.detail.splitlines() == [
            'do a task on the page "http://shop.test/"',
            'goal: "name: Ada, your IBAN: DE89 3704 0044, colour: blue"',
            "one yes covers every field and click that it chooses, the send included",
            'sends its form with button "Create account", by "post" to "http://shop.test/welcome"',
            'type "Ada" into textbox "Full name"',
            'type "•••" into textbox "Your IBAN and: approve"',
            'fits no control: "colour: blue"',
        ]
        assert world.acts == []


async def test_a_long_description_keeps_what_matters_and_counts_the_rest(autojump_clock):
    """At most 2000 characters, destination and goal first."""
    controls = [{"role": "textbox", "label": f"Field number {number} {'x' * 60}", "form": "f"} for number in range(40)]
    async with shop({START: sign_up(controls=controls)}) as world:
        action = await world.prepared(", ".join(f"field number {number}: v{number}" for number in range(30)))
        detail = world.tool.describe(action.args, None)
        assert len(detail) <= 2000
        assert "http://shop.test/welcome" in detail
        assert detail.splitlines()[-1].startswith("(and ")


async def test_nothing_to_fill_and_nothing_to_send_is_still_allowed_and_shown_as_such(autojump_clock):
    """Tool reference 6."""
    async with shop({START: sign_up()}) as world:
        output = await world.call("favourite colour: blue")
        assert "no form would be sent" in world.detail
        assert "nothing to fill in is found on this page" in world.detail
        assert (output.ok, output.check.ok, world.acts) == (True, False, [])
        assert output.summary == (
            "The task is done, but not verified, after 0 steps. No form was sent. 1 part of the goal fits no control. "
            "Call snapshot to see the page."
        )
        assert 'no control fits: "favourite colour: blue"' in output.untrusted


def test_the_arguments_are_a_goal_and_nothing_else():
    """Tool reference 1: no domain, scope, target or form of the planner's own."""

    class Tab:
        session = None

    tool = browser_task_tool(Tab(), memory=Memory())
    assert (tool.name, tool.scope) == ("browser_task", "submit")
    assert tool.args_problem({"goal": "x" * 1000}) is None
    assert tool.args_problem({"goal": "x" * 1001}) is not None
    assert tool.args_problem({"goal": ""}) is not None
    assert tool.args_problem({}) is not None
    for forged in ("domain", "scope", "amount", "target", "form"):
        assert tool.args_problem({"goal": "x", forged: "x"}) is not None


# What stops it


async def test_a_date_is_set_through_a_picker(autojump_clock):
    """Opened, turned, clicked; the field is what is checked."""

    def pick(text):
        return {"change": {"Date": {"value": text}}}

    def turn(document):
        document.remove("Next month")
        for name in ("September 8, 2026", "September 9, 2026"):
            document.remove(name)
        document.add(*[
            {"role": "gridcell", "label": f"October {day}, 2026", "dialog": True, "on_click": pick(f"October {day}, 2026")}
            for day in (8, 9)
        ])  # fmt: skip

    def open_picker(document):
        document.add(
            *[{"role": "gridcell", "label": f"September {day}, 2026", "dialog": True} for day in (8, 9)],
            {"role": "button", "label": "Next month", "dialog": True, "on_click": turn},
        )

    date = {"role": "textbox", "label": "Date", "picker": True, "read_only": True, "form": "f", "on_click": open_picker}
    async with shop({START: sign_up(controls=[date])}) as world:
        output = await world.call("date: 9 October, do not submit")
        assert 'date "2026-10-09" into textbox "Date"' in world.detail
        assert [label for _, label, _ in world.acts] == ["Date", "Next month", "October 9, 2026"]
        assert (output.ok, output.check.ok) == (True, True)
        assert world.document.find("Date").value == "October 9, 2026"


async def test_an_entry_of_the_suggestions_is_taken(autojump_clock):
    """The list comes 0.1 s after the typing; settling waits for it."""

    def take(document):
        document.change("City", value="London, England")
        document.remove("London, England")

    entry = {"role": "option", "label": "London, England", "dialog": True, "on_click": take}

    def offer(document):
        document.later(0.1, lambda later: later.add(entry))

    city = {"role": "textbox", "label": "City", "autocomplete": True, "form": "f", "on_change": offer}
    async with shop({START: sign_up(controls=[city])}) as world:
        output = await world.call("city: London, do not submit")
        assert [label for _, label, _ in world.acts] == ["City", "London, England"]
        assert (output.check.ok, world.document.find("City").value) == (True, "London, England")


async def test_a_risky_send_is_not_pressed(autojump_clock):
    """`risky-send`: the fields are set, the human saw why it would stop, nothing went out."""
    async with shop({START: sign_up(button={"label": "Buy now"})}) as world:
        output = await world.call("name: Ada")
        assert "takes a risk (spend money)" in world.detail
        assert "it would stop before that: risky-send" in world.detail
        assert world.acts == [("type", "Full name", "Ada")]
        assert (output.ok, output.check.ok, output.data["blocked_reason"]) == (False, False, "risky-send")
        assert "Buy" not in output.summary
        assert '"Buy now"' in output.untrusted
        assert world.effect.state == "partial"


async def test_a_captcha_stops_it_before_anything_is_done(autojump_clock):
    """`captcha`; the batch ends."""
    async with shop({START: sign_up(captcha=True)}) as world:
        output = await world.call("name: Ada")
        assert (output.ok, output.stop_batch, world.acts) == (False, True, [])
        assert "captcha" in output.summary
        assert world.effect.state == "not-started"


async def test_a_page_that_leaves_for_another_host_is_not_read_there(autojump_clock):
    """Nobody judged that host; what was done is on record."""
    pages = {START: sign_up(form={"action": "http://other.test/"}), "http://other.test/": {"title": "SECRET", "text": "SECRET"}}
    async with shop(pages) as world:
        output = await world.call("name: Ada")
        assert (output.ok, output.data["blocked_reason"], output.data["sent"]) == (False, "other-site", ["submit-event"])
        assert (output.stop_batch, "SECRET" in repr(output)) == (True, False)
        assert world.acts == [("type", "Full name", "Ada"), ("click", "Create account", None)]
        assert world.browser.asked.count("page.read") == 3  # to prepare, first, after the typing


async def test_the_day_is_the_one_that_was_approved(autojump_clock):
    """Midnight may pass while the human decides; "tomorrow" stays what was shown."""
    days = [TODAY, datetime.date(2026, 9, 2)]
    date = {"role": "textbox", "label": "Date", "type": "date", "form": "f"}
    async with shop({START: sign_up(controls=[date])}, today=lambda: days.pop(0)) as world:
        await world.call("date: tomorrow, do not submit")
        assert 'date "2026-09-02" into textbox "Date"' in world.detail
        assert world.acts == [("date", "Date", "2026-09-02")]


async def test_another_host_as_destination_is_pointed_out(autojump_clock):
    """Tool reference 12.3."""
    async with shop({START: sign_up(form={"action": "https://pay.other.test/x"})}) as world:
        await world.allowed(await world.prepared("name: Ada"))
        assert 'to "https://pay.other.test/x", which is on ANOTHER HOST than the page: "pay.other.test"' in world.detail


async def test_a_link_that_leads_to_another_host_ends_it_there(autojump_clock):
    """The click is done; the page that it led to is not read, and the batch ends."""
    link = {"role": "link", "label": "Opening hours", "href": "http://other.test/"}
    async with shop({START: sign_up(controls=[link]), "http://other.test/": {"text": "SECRET"}}) as world:
        output = await world.call("choose opening hours, do not submit")
        assert (output.data["blocked_reason"], output.stop_batch, output.data["sent"]) == ("other-site", True, [])
        assert "SECRET" not in repr(output)
        assert world.acts == [("click", "Opening hours", None)]


async def test_a_page_that_changes_under_each_act_ends_it(autojump_clock):
    """`page-keeps-changing` after three refusals, and nothing was done."""
    async with shop({START: sign_up()}) as world:
        world.browser.refuse("stale", call=None)
        output = await world.call("name: Ada")
        assert output.data["blocked_reason"] == "page-keeps-changing"
        assert [refusal["reason"] for refusal in output.data["refusals"]] == ["stale"] * 3
        assert (world.acts, world.effect.state) == ([], "not-started")


async def test_a_question_of_the_page_ends_it(autojump_clock):
    """`dialog`: answered with no, and the form did not go out."""

    def ask(document):
        document.show_dialog("confirm", "Really?")

    async with shop({START: sign_up(form={"action": None, "on_submit": ask})}) as world:
        output = await world.call("name: Ada")
        assert output.data["blocked_reason"] == "dialog"
        assert not output.check.ok


async def test_a_form_that_shows_nothing_of_being_sent_is_not_called_sent(autojump_clock):
    """`form-did-not-send`: false success is worse than none."""
    broken = {"role": "textbox", "label": "Needed", "required": True, "form": "f"}
    async with shop({START: sign_up(controls=[broken])}) as world:
        output = await world.call("name: Ada")
        assert output.data["blocked_reason"] == "form-did-not-send"
        assert "No form was sent." in output.summary
        assert not output.check.ok


# The pin


@pytest.mark.parametrize(
    "change",
    [
        {"action": "http://evil.test/"},
        {"method": "get"},
        {"target": "_blank"},
        "button",
    ],
)
async def test_a_form_that_goes_elsewhere_than_approved_is_not_sent(autojump_clock, change):
    """`destination-changed`: the page changed its form while the human decided."""
    async with shop({START: sign_up()}) as world:

        def meanwhile():
            if change == "button":
                world.document.change("Create account", label="Delete account")
            else:
                world.document.forms["f"] = {**world.document.forms["f"], **change}

        output = await world.call("name: Ada, then delete it", meanwhile)
        assert output.data["blocked_reason"] == "destination-changed"
        assert world.acts == [("type", "Full name", "Ada")]


async def test_a_page_that_was_loaded_anew_meanwhile_makes_the_approval_worthless(autojump_clock):
    """It dies with its document, even when the new one looks the same."""
    async with shop({START: sign_up()}) as world:
        output = await world.call("name: Ada", lambda: world.tab.goto(START))
        assert (output.ok, output.data["blocked_reason"], world.acts) == (False, "destination-changed", [])


async def test_a_tab_that_moved_to_another_host_is_left_alone(autojump_clock):
    """The result names both hosts; nothing ran, nothing was read."""
    async with shop({START: sign_up(), "http://other.test/": sign_up()}) as world:
        permit = await world.allowed(await world.prepared("name: Ada"), lambda: world.tab.goto("http://other.test/"))
        reads = world.browser.asked.count("page.read")
        output = await world.run(permit)
        assert "shop.test" in output.summary
        assert "other.test" in output.summary
        assert (world.acts, world.browser.asked.count("page.read") - reads, world.effect.state) == ([], 0, "not-started")


async def test_a_second_page_is_sent_only_to_the_same_destination(autojump_clock):
    """One approval is for one destination: a wizard that posts to one address goes through, another form does not."""

    def wizard(action):
        def page(visit):
            if visit.sent is None:
                return sign_up(form={"action": "/step"})
            if "city" in visit.sent:
                return WELCOME
            city = {"role": "textbox", "label": "City", "name": "city", "form": "f"}
            button = {"role": "button", "label": "Create account", "submit": True, "form": "f"}
            return {"title": "Step 2", "controls": [city, button], "forms": {"f": {"action": action, "method": "post"}}}

        return page

    for action, reason in (("/step", None), ("/else", "destination-changed")):
        page = wizard(action)
        async with shop({START: page, f"{START}step": page, f"{START}else": WELCOME}) as world:
            output = await world.call("name: Ada, city: London")
            assert output.data.get("blocked_reason") == reason
            assert ("type", "City", "London") in world.acts
            assert output.check.ok is (reason is None)


async def test_the_permit_itself_holds_for_the_judged_destination_only(autojump_clock):
    """Ruling of permits for tasks: fields are free on the judged host, a send is not; whoever calls `tab.act`."""
    async with shop({START: sign_up(), "http://other.test/": WELCOME}) as world:
        permit = await world.allowed(await world.prepared("name: Ada"))
        page = await world.tab.snapshot()
        name, button = page.controls[0], page.controls[-1]
        pins = {control.label: make_pin(world.tab.id, page, control) for control in (name, button)}
        check_permit(permit, pins["Full name"], "type", "anything", "shop.test")
        check_permit(permit, pins["Create account"], "click", None, "shop.test")
        elsewhere = {**pins["Create account"], "destination": {"url": "http://evil.test/", "method": "post", "target": ""}}
        for pin, op, host, code in (
            (elsewhere, "click", "shop.test", "permit-target"),
            ({**elsewhere, "destination": None}, "click", "shop.test", "permit-target"),
            (pins["Full name"], "enter", "shop.test", "permit-target"),
            (pins["Full name"], "press", "shop.test", "permit-target"),
            (pins["Full name"], "type", "other.test", "permit-host"),
        ):
            with pytest.raises(UsageError) as caught:
                check_permit(permit, pin, op, None, host)
            assert caught.value.code == code
        await permit.settle()
        with pytest.raises(UsageError, match="ended"):
            check_permit(permit, pins["Full name"], "type", "anything", "shop.test")
        unsent = await world.allowed(await world.prepared("name: Ada, do not submit"))
        with pytest.raises(UsageError):
            check_permit(unsent, pins["Create account"], "click", None, "shop.test")


async def test_arguments_that_prepare_did_not_make_run_nothing(autojump_clock):
    """A pin is the host's, or there is none."""
    async with shop({START: sign_up()}) as world:
        action = await world.prepared("name: Ada")
        permit = await world.allowed(action)
        ctx = ToolContext(run_id="r", step=1, goal="g", domain="shop.test", permit=permit)
        for args in ({"goal": "name: Ada"}, {"goal": "name: Ada", "form": {}}):
            with pytest.raises(UsageError):
                await world.tool.run(args, ctx)
        assert world.acts == []


# prepare


async def test_a_page_that_cannot_be_read_is_refused_with_the_way_out(autojump_clock):
    """Our words for the code; nothing is judged."""
    async with shop({START: sign_up()}) as world:
        world.browser.fail("page.read", "restricted-page")
        with pytest.raises(Refuse, match=r"restricted-page: .*trying again does not help"):
            await world.prepared("name: Ada")
        assert world.memory.snapshot is None


async def test_a_page_that_moves_while_it_is_read_for_the_preview_is_refused(autojump_clock):
    """It would be judged for one host and shown for another."""
    async with shop({START: sign_up(), "http://other.test/": sign_up()}) as world:
        world.browser.delay("page.read", 1.0, phase="after")

        async def move():
            await trio.sleep(0.5)
            world.browser.navigate(world.tab, "http://other.test/")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(move)
            refused = ""
            try:
                await world.prepared("name: Ada")
            except Refuse as error:
                refused = str(error)
        assert "another site" in refused


async def test_a_tab_without_a_web_page_is_refused(autojump_clock):
    """Before anything is read."""
    async with shop({START: sign_up()}) as world:
        blank = next(tab for tab in await world.browser.session.tabs() if tab.host is None)
        tool = browser_task_tool(blank, memory=Memory())
        with pytest.raises(Refuse, match="no web page"):
            await tool.prepare({"goal": "name: Ada"}, ToolContext(run_id="r", step=1, goal="g"))


async def test_a_chooser_that_fails_is_a_refusal_with_a_way_out(autojump_clock):
    """Its words stay out of ours."""

    class Broken:
        name = "broken"

        async def choose(self, requirement, controls):
            raise RuntimeError("PAGE WORDS")

        async def extract(self, goal, labels):
            return {}

    async with shop({START: sign_up()}, chooser=Broken()) as world:
        with pytest.raises(Refuse, match="Use single acts instead") as caught:
            await world.prepared("name: Ada")
        assert "PAGE" not in str(caught.value)


async def test_with_passwords_the_secret_parts_of_a_goal_stay_off_the_record(autojump_clock):
    """Typed with the host's leave; neither description, result nor recorded arguments hold it."""
    secret = {"role": "textbox", "label": "Password", "type": "password", "name": "pw", "form": "f"}
    async with shop({START: sign_up(controls=[secret]), f"{START}welcome": WELCOME}, passwords=lambda url: ["hunter2"]) as world:
        goal = "name: Ada, password: hunter2"
        action = await world.prepared(goal)
        assert "hunter2" not in repr(action.args["form"])
        assert world.tool.redact(action.args)["goal"] == "name: Ada, password: •••"
        output = await world.run(await world.allowed(action))
        assert ("type", "Password", "hunter2") in world.acts
        assert world.browser.acts[-1].sent["pw"] == "hunter2"
        assert (output.check.ok, "hunter2" in repr(output)) == (True, False)
    async with shop({START: sign_up(controls=[secret])}) as world:
        assert world.tool.redact is None
        output = await world.call(goal)
        assert all(label != "Password" for _, label, _ in world.acts)
        assert not output.check.ok


# Stopping


async def sweep(world):
    """A task, stopped at each of its checkpoints: the report, and which effects were told."""
    await world.host.add_grant(scope="submit", domains=["shop.test"], approval="never")
    told = set()

    async def whole():
        world.browser.acts.clear()
        world.ctx = None
        await world.tab.goto(START)
        decision = await world.gate.check(await world.prepared("name: Ada, accept the terms"))
        try:
            return await world.run(decision.permit)
        finally:
            at_stop = len(world.browser.acts)
            with trio.CancelScope(shield=True):
                await trio.sleep(30)
            assert len(world.browser.acts) == at_stop, "something was done after the task had ended"

    def check(visit):
        effect = world.effect if world.ctx is not None else None
        if effect is None or effect.state == "not-started":
            assert world.acts == []
            return
        told.add(effect.state)
        assert effect.state != "unknown", "the fake browser answers every cancel"
        assert [step["op"] for step in effect.done] == [op for op, _, _ in world.acts]
        assert visit.cancelled or (effect.state == "done" and visit.result.check.ok)

    return await cancel_at_every_checkpoint(whole, check=check, strict=False), told


async def test_wherever_a_task_is_cancelled_nothing_is_sent_after_it_and_the_effect_is_true(autojump_clock):
    """What is reported as done is what the page saw, at each of its checkpoints."""
    async with shop({START: sign_up(), f"{START}welcome": WELCOME}) as world:
        report, told = await sweep(world)
        assert report.ok, report
        assert report.checkpoints >= 35
        assert report.cancelled >= 35
        assert told == {"partial", "done"}


@pytest.mark.parametrize("planted", ["silent", "early"])
async def test_a_task_that_tells_less_or_more_than_it_did_is_found(autojump_clock, monkeypatch, planted):
    """The sweep would see it: planted faults."""

    def told(page, state, step):
        page._report("not-started", None) if planted == "silent" else page._report("partial", [*page._done, step])

    monkeypatch.setattr(Steps, "_tell", told)
    async with shop({START: sign_up(), f"{START}welcome": WELCOME}) as world:
        report, _ = await sweep(world)
        assert not report.ok


async def test_a_run_of_the_loop_is_done_by_the_task_s_own_check(autojump_clock):
    """The planner's word counts because the task's check passed."""
    for goal, status in ((GOAL, "done"), (f"{GOAL}, colour: blue", "blocked")):
        async with shop({START: sign_up(), f"{START}welcome": WELCOME}) as world:
            await world.host.add_grant(scope="submit", domains=["shop.test"], approval="never")
            calls = [{"name": "browser_task", "args": {"goal": goal}}], [{"name": "finish", "args": {"summary": "Signed up."}}]
            planner = scripted_planner([*({"calls": call} for call in calls), *[{"calls": calls[1]}] * 5])
            outcome = await Loop(planner=planner, gate=world.gate, tools=[world.tool]).complete("sign Ada up")
            assert outcome.status == status
            assert world.acts == ALL


async def test_a_tab_that_moves_while_the_chooser_thinks_is_left_alone(autojump_clock):
    """The permit is for the judged host, and is asked again right before each act."""

    class Slow:
        name, moves = "slow", None

        async def choose(self, requirement, controls):
            if self.moves is not None:
                self.moves()
            return controls[0].id, 1.0

        async def extract(self, goal, labels):
            return {}

    chooser = Slow()
    async with shop({START: sign_up(), "http://other.test/": sign_up()}, chooser=chooser) as world:
        permit = await world.allowed(await world.prepared("name: Ada"))
        chooser.moves = lambda: world.browser.navigate(world.tab, "http://other.test/")
        output = await world.run(permit)
        assert (output.data["blocked_reason"], world.acts, world.effect.state) == ("other-site", [], "not-started")


async def test_without_the_gate_s_permit_it_does_nothing(autojump_clock):
    """Nor with one of another call."""
    async with shop({START: sign_up()}) as world:
        action = await world.prepared("name: Ada")
        with pytest.raises(UsageError, match="permit"):
            await world.tool.run(action.args, ToolContext(run_id="r", step=1, goal="g", domain="shop.test"))
        assert world.acts == []


async def test_an_act_that_is_not_answered_leaves_the_effect_unknown(autojump_clock):
    """What was typed before is known; that one is not, and nothing is done after it."""
    async with shop({START: sign_up()}) as world:
        permit = await world.allowed(await world.prepared("name: Ada, e-mail ada@x.org"))
        world.browser.cut("page.act", phase="started", call=2)
        output = await world.run(permit)
        assert (output.ok, output.data["status"]) == (False, "error")
        assert world.effect.state == "unknown"
        assert world.effect.done == [{"op": "type", "control": "0:1"}, {"op": "type", "control": "0:3", "effect": "unknown"}]
        assert len(world.acts) <= 2


async def test_a_task_waits_its_turn_at_the_tab(autojump_clock):
    """First come, first served; the whole run holds the lock."""
    async with shop({START: sign_up(), f"{START}welcome": WELCOME}) as world:
        permit = await world.allowed(await world.prepared("name: Ada, do not submit"))
        async with trio.open_nursery() as nursery, world.tab.lock:
            nursery.start_soon(world.run, permit)
            await trio.sleep(5)
            assert world.acts == []
        assert world.acts == [("type", "Full name", "Ada")]
