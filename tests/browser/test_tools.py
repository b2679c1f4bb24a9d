"""The browser tools against the real gate, with a stand-in for the tab that keeps the real tab's promises.

Each call goes the way of the loop: schema, prepare, domain, gate, approval, run with what the gate judged.
"""

import inspect

import attrs
import pytest
import trio
import trio.testing

from foxloop_trio.actions import Action, Allow, Ask, ToolContext
from foxloop_trio.browser import browser_tools
from foxloop_trio.browser._act import ActResult, DialogSeen, check_permit, check_pin
from foxloop_trio.browser._snapshot import Snapshot
from foxloop_trio.browser._tab import Settled
from foxloop_trio.browser.tasks import RuleChooser
from foxloop_trio.errors import BrowserError, Refuse, UsageError
from foxloop_trio.gate import create_gate
from foxloop_trio.tools import define_tools

BASE = {
    "type": "", "name": "", "placeholder": "", "section": "Sign up", "value": "", "disabled": False, "read_only": False,
    "required": False, "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False,
    "secret": False,
}  # fmt: skip
THERE = {"url": "http://shop.test/send", "method": "POST", "target": ""}
FIRST, SECOND = "d0" * 16, "d1" * 16


def control(node, role, label, **more):
    return {**BASE, "node": node, "role": role, "tag": "x", "label": label, "guard": f"guard-{label}-{node}", **more}


class Session:
    async def ready(self):
        return None


class StandIn:
    """One tab with one page. `done` is what was done in it; `log` is all that it was asked for, in order."""

    def __init__(self):
        self.id = 7
        self.session = Session()
        self.lock = trio.Lock()
        self.url = "http://shop.test/signup"
        self.document = FIRST
        self.controls = [
            control(1, "textbox", "Name", autocomplete=True),
            control(3, "textbox", "Password", secret=True),
            control(4, "checkbox", "Terms", checked=False),
            control(5, "button", "Send", submit=True, destination=THERE),
            control(6, "link", "Home", href="/"),
        ]
        self.captcha = False
        self.reads = 0
        self.done = []
        self.log = []
        self.asked = []
        self.result = ActResult(ok=True, started=True)
        self.settled = Settled(waited=0.12, gone=False)
        self.before_act = None
        self.on_act = None
        self.on_goto = None
        self.read_error = None

    @property
    def host(self):
        scheme, _, rest = self.url.partition("://")
        return rest.partition("/")[0].partition(":")[0] or None if scheme in ("http", "https") else None

    def find(self, node):
        return next(found for found in self.controls if found["node"] == node)

    def leave(self, url, document=SECOND):
        self.url, self.document = url, document

    async def snapshot(self, **options):
        self.log.append("read")
        self.asked.append(options)
        await trio.lowlevel.checkpoint()
        if self.read_error is not None:
            raise self.read_error
        self.reads += 1
        state = {
            "frame": 0, "document": self.document, "url": self.url, "title": "PAGE TITLE", "text": "PAGE WORDS", "headings": [],
            "controls": self.controls, "captcha": self.captcha, "more": True, "truncated": 0, "key": "key-key-key",
        }  # fmt: skip
        return Snapshot.from_wire({"frames": [state], "unreadable": []}, generation=self.reads)

    async def act(self, target, op, value=None, *, permit, report=None, cancel_grace=5.0, note_opened=None):
        check_pin(target, self.id)
        if self.before_act is not None:
            self.before_act()
        check_permit(permit, target, op, value, self.host)
        self.log.append(op)
        self.done.append((op, target["label"], value))
        report("unknown", None)
        await trio.lowlevel.checkpoint()
        if self.on_act is not None:
            await self.on_act()
        report(self.result.effect, None)
        return self.result

    async def settle(self, target, *, list_for=None, sent=False):
        self.log.append(f"settle {list_for} {sent}")
        await trio.lowlevel.checkpoint()
        return self.settled

    async def goto(self, url):
        self.log.append(f"goto {url}")
        await trio.lowlevel.checkpoint()
        self.leave(url)
        if self.on_goto is not None:
            self.on_goto()


@attrs.define
class World:
    tab: StandIn
    tools: dict
    gate: object
    host: object
    ctx: ToolContext | None = None
    judged: object = None
    detail: str = ""

    async def prepared(self, name, args):
        """The action as it would be judged."""
        tool = self.tools[name]
        assert tool.args_problem(args) is None, tool.args_problem(args)
        ctx = ToolContext(run_id="r", step=1, goal="g")
        args = await settle_value(tool.prepare(args, ctx)) if tool.prepare else args
        domain = await settle_value(tool.domain(args, ctx))
        return Action(tool=name, args=args, domain=domain, scope=tool.scope)

    async def allowed(self, action, meanwhile=None):
        """The gate's leave, a human's included; `meanwhile` happens while the human thinks."""
        self.judged = action
        decision = await self.gate.check(action)
        if isinstance(decision, Ask):
            ctx = ToolContext(run_id="r", step=1, goal="g", domain=action.domain)
            self.detail = await settle_value(self.tools[action.tool].describe(action.args, ctx))
            if meanwhile is not None:
                await settle_value(meanwhile())
            decision = await self.gate.redeem(await self.host.approve(decision.request_id), action)
        assert isinstance(decision, Allow), decision
        return decision.permit

    async def run(self, permit):
        allowed = permit.action
        self.ctx = ToolContext(run_id="r", step=1, goal="g", domain=allowed.domain, permit=permit)
        output = await self.tools[allowed.tool].run(allowed.args, self.ctx)
        await permit.settle()
        return output

    async def call(self, name, meanwhile=None, **args):
        return await self.run(await self.allowed(await self.prepared(name, args), meanwhile))

    @property
    def effect(self):
        return self.ctx._cell.effect.state


async def settle_value(value):
    return await value if inspect.isawaitable(value) else value


@pytest.fixture
async def world():
    tab = StandIn()
    tools = browser_tools(tab)
    gate, host = create_gate(tools=tools)
    for domain in ("shop.test", "other.test"):
        await host.add_grant(scope="read", domains=[domain])
        await host.add_grant(scope="fill", domains=[domain], approval="never")
        await host.add_grant(scope="submit", domains=[domain])
    return World(tab, define_tools(tools), gate, host)


def is_ours(summary):
    """No word of the page in it."""
    return not any(word in summary for word in ("PAGE", "Name", "Send", "Terms", "Password"))


# The pack


def test_the_tools_have_their_scopes_and_closed_arguments():
    """No tool takes a domain, scope, amount or target; what is not in the schema never reaches the gate."""
    tab = StandIn()
    tools = define_tools(browser_tools(tab))
    assert {name: tool.scope for name, tool in tools.items()} == {
        "snapshot": "read", "act": "fill", "fill": "fill", "fill_and_send": "submit", "click": "submit", "open_url": "read",
        "screenshot": "read", "browser_task": "submit", "press": "submit", "hover": "fill", "click_at": "submit", "drag": "fill",
        "select_text": "fill", "clipboard": "fill", "scroll": "read", "answer_dialog": "submit", "wait_for": "read",
        "history": "read", "list_tabs": "read", "open_tab": "read", "use_tab": "read", "close_tab": "fill", "read_table": "read",
    }  # fmt: skip
    assert all(tool.environment is tab.session for tool in tools.values())
    for forged in ("domain", "scope", "amount", "target", "targets", "form", "spends", "ops", "sealed", "send"):
        assert tools["fill"].args_problem({"fields": {"0:1": "x"}, forged: "x"}) is not None
        assert tools["fill_and_send"].args_problem({"fields": {"0:1": "x"}, "send_id": "0:5", forged: "x"}) is not None
        assert tools["snapshot"].args_problem({forged: "x"}) is not None
        assert tools["screenshot"].args_problem({forged: "x"}) is not None
        assert tools["click"].args_problem({"control_id": "0:5", forged: "x"}) is not None
    assert tools["act"].args_problem({"control_id": "0:1", "op": "click"}) is not None
    assert tools["act"].args_problem({"control_id": "0:1", "op": "type", "value": "x" * 2000}) is None
    assert tools["act"].args_problem({"control_id": "0:1", "op": "type", "value": "x" * 2001}) is not None
    assert tools["open_url"].args_problem({"url": "x" * 2001}) is not None
    assert tools["fill"].args_problem({}) is not None
    assert tools["fill_and_send"].args_problem({"fields": {"0:1": "x"}}) is not None


def test_the_chooser_and_the_passwords_are_those_of_browser_task():
    """With passwords, what a goal says of secret fields is kept out of events and trail."""
    plain = define_tools(browser_tools(StandIn()))["browser_task"]
    given = define_tools(browser_tools(StandIn(), chooser=RuleChooser(), passwords=lambda url: ["hunter2"]))["browser_task"]
    assert plain.redact is None
    assert "hunter2" not in str(given.redact({"goal": "name: Ada, password: hunter2"}))


# snapshot


async def test_snapshot_reads_the_page_and_keeps_its_words_apart(world):
    """Counts in the summary, everything of the page in the untrusted part, and no check."""
    output = await world.call("snapshot")
    assert output.ok
    assert "5 controls" in output.summary
    assert "scrolled" in output.summary
    assert is_ours(output.summary)
    assert '[0:1] textbox "Name"' in output.untrusted
    assert "PAGE WORDS" in output.untrusted
    assert (output.check, output.stop_batch, world.effect) == (None, False, "done")


async def test_a_captcha_that_appears_ends_the_batch_once(world):
    """The first look that shows it; a planner that knows may go on."""
    world.tab.captcha = True
    first, second = await world.call("snapshot"), await world.call("snapshot")
    assert "captcha" in first.summary
    assert (first.stop_batch, second.stop_batch) == (True, False)


@pytest.mark.parametrize(
    ("code", "word"),
    [("restricted-page", "trying again does not help"), ("no-tab", "closed"), ("browser-lost", "lost"), ("odd", "odd")],
)
async def test_a_page_that_cannot_be_read_is_a_failed_result_with_the_way_out(world, code, word):
    """The code and our words in the summary, the error's text outside of it."""
    world.tab.read_error = BrowserError("PAGE says no", code=code)
    output = await world.call("snapshot")
    assert not output.ok
    assert code in output.summary
    assert word in output.summary
    assert is_ours(output.summary)
    assert output.untrusted == "PAGE says no"


async def test_the_domain_is_the_host_of_the_tab_and_nothing_else_will_do(world):
    """Lower case, without port; a tab without a web page has none, whatever scheme it shows."""
    world.tab.url = "http://shop.test:8080/x"
    assert (await world.prepared("snapshot", {})).domain == "shop.test"
    for url in ("about:blank", "file:///etc/passwd", "moz-extension://x/y.html", "data:text/html,x"):
        world.tab.url = url
        with pytest.raises(Refuse, match="no web page"):
            await world.prepared("snapshot", {})


async def test_a_tab_that_moved_after_the_judgement_is_left_alone(world):
    """The result names both hosts; nothing ran, nothing was read."""
    await world.call("snapshot")
    for name, args in (("snapshot", {}), ("act", {"control_id": "0:4", "op": "check"}), ("click", {"control_id": "0:5"})):
        permit = await world.allowed(await world.prepared(name, args))
        world.tab.log.clear()
        world.tab.url = "http://other.test/"
        output = await world.run(permit)
        world.tab.url = "http://shop.test/signup"
        assert not output.ok
        assert "shop.test" in output.summary
        assert "other.test" in output.summary
        assert (world.tab.log, world.effect) == ([], "not-started")


async def test_a_page_that_moves_while_it_is_read_is_not_shown(world):
    """What was read is of a host that nobody judged."""
    await world.call("snapshot")
    permit = await world.allowed(await world.prepared("snapshot", {}))
    async with world.tab.lock, trio.open_nursery() as nursery:
        outputs = []

        async def read():
            outputs.append(await world.run(permit))

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        world.tab.lock.release()
        await trio.lowlevel.checkpoint()  # the moved check is over, the read is under way
        world.tab.url = "http://other.test/"
        await world.tab.lock.acquire()
    assert not outputs[0].ok
    assert outputs[0].untrusted is None
    with pytest.raises(Refuse, match="snapshot"):
        await world.prepared("click", {"control_id": "0:5"})


# Pins


async def test_the_pin_says_where_the_control_is_what_it_looks_like_and_where_it_sends(world):
    """All of it is judged; the planner's words for it are the id alone."""
    await world.call("snapshot")
    action = await world.prepared("click", {"control_id": "0:5"})
    assert action.args == {
        "control_id": "0:5",
        "target": {
            "tab": 7, "generation": 1, "control": "0:5", "document": FIRST, "frame": 0, "node": 5, "guard": "guard-Send-5",
            "key": "key-key-key", "form_key": None,
            "role": "button", "label": "Send", "section": "Sign up", "submit": True, "secret": False,
            "url": "http://shop.test/signup", "destination": THERE, "risk": None,
        },
    }  # fmt: skip


@pytest.mark.parametrize("control_id", ["0:99", "1:1", "nonsense", ""])
async def test_an_unknown_control_is_refused_with_the_way_out(world, control_id):
    """Invented ids never reach the gate or the page, and the refusal does not repeat them."""
    await world.call("snapshot")
    world.tab.log.clear()
    for name, more in (("click", {}), ("act", {"op": "check"})):
        with pytest.raises(Refuse, match="Call snapshot") as caught:
            await world.prepared(name, {"control_id": control_id, **more})
        assert control_id == "" or control_id not in str(caught.value)
    assert world.tab.log == []


async def test_without_a_snapshot_nothing_can_be_named(world):
    """prepare refuses and says what to do."""
    with pytest.raises(Refuse, match="Call snapshot first"):
        await world.prepared("click", {"control_id": "0:5"})


async def test_a_tab_on_another_site_than_the_snapshot_is_refused_before_the_gate(world):
    """The planner can look again; a denial would have ended the run."""
    await world.call("snapshot")
    world.tab.leave("http://evil.test/")
    with pytest.raises(Refuse, match="another site"):
        await world.prepared("click", {"control_id": "0:5"})
    world.tab.leave("http://shop.test/signup", FIRST)
    with pytest.raises(Refuse, match="Call snapshot first"):
        await world.prepared("click", {"control_id": "0:5"})


@pytest.mark.parametrize("op", ["type", "select", "date"])
async def test_an_operation_that_sets_something_needs_a_value(world, op):
    """And says which."""
    await world.call("snapshot")
    with pytest.raises(Refuse, match=f"{op} needs a value"):
        await world.prepared("act", {"control_id": "0:1", "op": op})


async def test_a_value_that_an_operation_ignores_is_not_judged(world):
    """What the human sees is what matters."""
    await world.call("snapshot")
    action = await world.prepared("act", {"control_id": "0:4", "op": "check", "value": "whatever"})
    assert "value" not in action.args
    assert (await world.run(await world.allowed(action))).ok


async def test_scroll_takes_a_whole_number_of_pixels(world):
    """The judged value is a number; anything else is refused; it may be left out."""
    await world.call("snapshot")
    assert (await world.call("act", control_id="0:1", op="scroll", value="-300")).ok
    assert (await world.call("act", control_id="0:1", op="scroll")).ok
    assert world.tab.done == [("scroll", "Name", -300), ("scroll", "Name", None)]
    for value in ("far", "1e3", "", "9999999", "٣"):
        with pytest.raises(Refuse, match="scroll"):
            await world.prepared("act", {"control_id": "0:1", "op": "scroll", "value": value})


@pytest.mark.parametrize("op", ["type", "date"])
async def test_a_secret_field_is_never_written(world, op):
    """Refused in prepare, without a word of the value."""
    await world.call("snapshot")
    with pytest.raises(Refuse, match="secret") as caught:
        await world.prepared("act", {"control_id": "0:3", "op": op, "value": "hunter2"})
    assert "hunter2" not in str(caught.value)


# Running


async def test_an_accepted_act_is_settled_and_read_again(world):
    """One act, then its frame gets quiet, then a new look; the summary has our words, what changed on the page is outside text."""
    await world.call("snapshot")
    world.tab.log.clear()
    output = await world.call("act", control_id="0:1", op="type", value="Ada")
    assert output.ok
    assert world.tab.done == [("type", "Name", "Ada")]
    assert world.tab.log == ["type", "settle 1 False", "read"]
    assert output.summary.startswith("type on 0:1: done.")
    assert is_ours(output.summary)
    assert output.untrusted.splitlines() == [
        'Same document: "http://shop.test/signup"',
        "No visible change.",
        "Target:",
        '[0:1] textbox "Name"',
    ]
    assert (output.check, output.stop_batch, output.data) == (None, False, {"submitted": False, "navigated": False})
    assert world.effect == "done"
    assert (await world.call("act", control_id="0:4", op="check")).ok  # the new look is good for the next call
    assert world.tab.log[-2] == "settle None False"


async def test_a_click_that_sends_says_so_and_ends_the_batch_when_the_page_is_left(world):
    """Sent: waits for a navigation to begin; left: stop_batch."""
    await world.call("snapshot")
    world.tab.result = ActResult(ok=True, started=True, submitted=True)
    output = await world.call("click", control_id="0:5")
    assert "A form was sent." in output.summary
    assert output.stop_batch is False
    assert world.tab.log[-2:] == ["settle None True", "read"]

    async def leave():
        world.tab.leave("http://shop.test/thanks")

    world.tab.on_act = leave
    output = await world.call("click", control_id="0:5")
    assert "left for a new one" in output.summary
    assert output.stop_batch
    assert output.data == {"submitted": True, "navigated": True}


async def test_a_click_on_a_link_gives_its_navigation_time_to_begin(world):
    """A link sends no form and leaves the page all the same."""
    await world.call("snapshot")
    await world.call("click", control_id="0:6")
    assert "settle None True" in world.tab.log


async def test_dialogs_are_counted_in_the_summary_and_quoted_outside(world):
    """Their words are the page's."""
    await world.call("snapshot")
    world.tab.result = ActResult(
        ok=True, started=True, dialogs=[DialogSeen(kind="confirm", message='PAGE "asks"\nURL: x', answer=False)]
    )
    output = await world.call("click", control_id="0:5")
    assert "1 script dialog opened and was answered with no" in output.summary
    assert is_ours(output.summary)
    assert 'Dialog ("confirm"): "PAGE \\"asks\\" URL: x"' in output.untrusted


async def test_a_click_that_leads_to_another_host_reads_nothing_there(world):
    """Nobody judged that page: the planner must ask for a snapshot of its own."""
    await world.call("snapshot")

    async def leave():
        world.tab.leave("http://evil.test/")

    world.tab.on_act = leave
    world.tab.log.clear()
    output = await world.call("click", control_id="0:5")
    assert output.ok
    assert "evil.test" in output.summary
    assert output.untrusted is None
    assert "read" not in world.tab.log
    assert output.stop_batch
    with pytest.raises(Refuse, match="Call snapshot"):
        await world.prepared("click", {"control_id": "0:5"})


async def test_a_tab_that_moves_while_its_state_is_asked_for_is_left_alone(world):
    """The tab itself compares once more; its refusal is told like any other moved tab."""
    await world.call("snapshot")
    world.tab.before_act = lambda: world.tab.leave("about:blank")
    output = await world.call("click", control_id="0:5")
    assert not output.ok
    assert "no web page" in output.summary
    assert "shop.test" in output.summary
    assert (world.tab.done, world.effect) == ([], "not-started")


async def test_a_captcha_that_appears_after_an_act_ends_the_batch(world):
    """Only a person may solve it."""
    await world.call("snapshot")

    async def ask():
        world.tab.captcha = True

    world.tab.on_act = ask
    output = await world.call("act", control_id="0:4", op="check")
    assert output.ok
    assert "captcha" in output.summary
    assert output.stop_batch
    assert not (await world.call("act", control_id="0:4", op="uncheck")).stop_batch


async def test_an_act_counts_as_done_when_the_look_after_it_fails(world):
    """No page text, and the remembered snapshot is dropped."""
    await world.call("snapshot")
    world.tab.read_error = BrowserError("PAGE gone", code="timeout")
    output = await world.call("act", control_id="0:4", op="check")
    assert output.ok
    assert "call snapshot" in output.summary
    assert (output.untrusted, world.effect) == (None, "done")
    with pytest.raises(Refuse, match="Call snapshot first"):
        await world.prepared("click", {"control_id": "0:5"})


@pytest.mark.parametrize(
    "reason", ["stale", "gone", "covered", "hidden", "mismatch", "timeout", "needs-focus", "PAGE-made-this-up"]
)
@pytest.mark.parametrize("started", [False, True])
async def test_a_refusal_by_the_page_is_a_failed_result_and_drops_the_snapshot(world, reason, started):
    """The reason's word when it is ours, what is known of the effect, and what to do; the page's details outside."""
    await world.call("snapshot")
    world.tab.result = ActResult(ok=False, started=started, reason=reason, detail="PAGE detail", value="PAGE value")
    output = await world.call("act", control_id="0:1", op="type", value="Ada")
    assert not output.ok
    assert (reason in output.summary) == (reason.islower())
    assert ("Nothing was done" in output.summary) != started
    assert "Call snapshot" in output.summary
    assert is_ours(output.summary)
    assert output.untrusted == 'Detail: "PAGE detail"\nThe field holds: "PAGE value"'
    assert world.tab.log[-1] == "type"
    with pytest.raises(Refuse, match="Call snapshot first"):
        await world.prepared("click", {"control_id": "0:5"})


async def test_a_browser_that_fails_in_an_act_is_a_failed_result(world):
    """With the code; the effect is what the tab reported."""
    await world.call("snapshot")

    async def fail():
        raise BrowserError("PAGE crash", code="browser-lost")

    world.tab.on_act = fail
    output = await world.call("act", control_id="0:4", op="check")
    assert not output.ok
    assert "browser-lost" in output.summary
    assert (output.untrusted, world.effect) == ("PAGE crash", "unknown")


# Stale


async def test_a_look_while_the_human_decides_makes_the_approval_worthless(world):
    """Control 5 was "Send" when asked; another read in between: stale, nothing acted, also when nothing changed."""
    await world.call("snapshot")
    for label in ("Send", "Delete account"):

        async def look(label=label):
            world.tab.find(5)["label"] = label
            await world.call("snapshot")
            world.tab.log.clear()

        output = await world.call("click", meanwhile=look, control_id="0:5")
        assert not output.ok
        assert "stale" in output.summary
        assert (world.tab.done, world.tab.log, world.effect) == ([], [], "not-started")


async def test_the_same_approval_without_a_look_in_between_acts(world):
    """The accepted twin."""
    await world.call("snapshot")
    assert (await world.call("click", control_id="0:5")).ok
    assert world.tab.done == [("click", "Send", None)]


async def test_an_act_in_between_makes_an_older_pin_stale(world):
    """Its look afterwards is a new generation; the older pin is never acted on."""
    await world.call("snapshot")
    permit = await world.allowed(await world.prepared("click", {"control_id": "0:5"}))
    await world.call("act", control_id="0:4", op="check")
    assert "stale" in (await world.run(permit)).summary
    assert world.tab.done == [("check", "Terms", None)]


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("guard", "other-guard"),
        ("label", "Delete"),
        ("role", "link"),
        ("submit", False),
        ("document", SECOND),
        ("generation", 2),
        ("tab", 8),
    ],
)
async def test_a_pin_that_differs_from_the_newest_look_is_stale(world, part, value):
    """Each part counts, even when the gate allowed the forged pin."""
    await world.call("snapshot")
    action = await world.prepared("click", {"control_id": "0:5"})
    forged = attrs.evolve(action, args={**action.args, "target": {**action.args["target"], part: value}})
    output = await world.run(await world.allowed(forged))
    assert not output.ok
    assert "stale" in output.summary
    assert world.tab.done == []


@pytest.mark.parametrize("target", [None, {}, "0:5", ["0:5"]])
async def test_without_a_pin_nothing_runs(world, target):
    """A missing or odd target is a failed result; where a human would be asked, describing it fails, which stops the run."""
    await world.call("snapshot")
    args = {"control_id": "0:4", "op": "check"} | ({} if target is None else {"target": target})
    output = await world.run(await world.allowed(Action(tool="act", args=args, domain="shop.test", scope="fill")))
    assert not output.ok
    assert world.tab.done == []
    with pytest.raises((KeyError, TypeError)):
        world.tools["click"].describe(args, None)


async def test_what_runs_is_what_was_judged(world):
    """A value that was changed after the judgement is refused by the tab, and nothing is done."""
    await world.call("snapshot")
    permit = await world.allowed(await world.prepared("act", {"control_id": "0:1", "op": "type", "value": "Ada"}))
    ctx = ToolContext(run_id="r", step=1, goal="g", domain="shop.test", permit=permit)
    changed = {**permit.action.args, "value": "Eve"}
    with pytest.raises(UsageError, match="another value"):
        await world.tools["act"].run(changed, ctx)
    await world.call("snapshot")
    action = await world.prepared("click", {"control_id": "0:5"})
    with pytest.raises(UsageError, match="permit"):
        await world.tools["click"].run(action.args, attrs.evolve(ctx, permit=None))
    assert world.tab.done == []


# One at a time, and cancelled


async def test_runs_of_one_tab_are_done_one_after_the_other(world, autojump_clock):
    """In order of arrival; each holds the tab from its checks to its look, and a refused one does not block the rest."""
    await world.call("snapshot")
    permits = [
        await world.allowed(await world.prepared("act", {"control_id": "0:4", "op": op})) for op in ("check", "uncheck", "check")
    ]
    world.tab.log.clear()

    async def slow():
        await trio.sleep(1)

    world.tab.on_act = slow
    outputs = {}
    began = trio.current_time()

    async def run(index):
        outputs[index] = await world.run(permits[index])

    async with trio.open_nursery() as nursery:
        for index in range(3):
            nursery.start_soon(run, index)
            await trio.testing.wait_all_tasks_blocked()
    assert [outputs[index].ok for index in range(3)] == [True, False, False]
    assert world.tab.log == ["check", "settle None False", "read"]
    assert trio.current_time() - began == 1


async def test_a_pin_waits_until_a_running_call_has_looked_again(world, autojump_clock):
    """prepare takes the same lock, so it sees the look after the act and not the one before."""
    await world.call("snapshot")

    async def slow():
        await trio.sleep(1)

    world.tab.on_act = slow
    pins = []

    async def pin():
        pins.append((await world.prepared("click", {"control_id": "0:5"})).args["target"]["generation"])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: world.call("act", control_id="0:4", op="check"))
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(pin)
    assert pins == [2]


async def test_the_lock_is_free_while_a_human_decides(world):
    """Others may look and act meanwhile."""
    await world.call("snapshot")
    await world.call("click", meanwhile=lambda: world.tab.lock.acquire_nowait() or world.tab.lock.release(), control_id="0:5")
    assert world.tab.done == [("click", "Send", None)]


async def test_a_cancel_before_the_act_sends_nothing(world):
    """While it waits for the tab, and when the cancel comes together with its turn: nothing is done, and that is on record."""
    await world.call("snapshot")
    permit = await world.allowed(await world.prepared("click", {"control_id": "0:5"}))
    for turn_comes_first in (False, True):
        world.tab.log.clear()
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                await world.tab.lock.acquire()
                nursery.start_soon(world.run, permit)
                await trio.testing.wait_all_tasks_blocked()
                if turn_comes_first:
                    world.tab.lock.release()
                    scope.cancel()
                else:
                    scope.cancel()
                    world.tab.lock.release()
        assert scope.cancelled_caught
        assert (world.tab.done, world.tab.log, world.effect) == ([], [], "not-started")
        assert not world.tab.lock.locked()
    assert (await world.run(permit)).ok  # its accepted twin


async def test_a_cancel_while_settling_keeps_the_true_effect_and_drops_the_snapshot(world):
    """The act is done; the old look is no longer good for the next call."""
    await world.call("snapshot")
    permit = await world.allowed(await world.prepared("click", {"control_id": "0:5"}))
    with trio.CancelScope() as scope:

        async def cancel(*_, **__):
            scope.cancel()
            await trio.lowlevel.checkpoint()

        world.tab.settle = cancel
        await world.run(permit)
    assert scope.cancelled_caught
    assert (world.tab.done, world.effect) == ([("click", "Send", None)], "done")
    with pytest.raises(Refuse, match="Call snapshot first"):
        await world.prepared("click", {"control_id": "0:5"})


# open_url


async def test_open_url_opens_and_reads(world):
    """Judged for the address's own host, whatever the tab shows; like a snapshot afterwards; the rest of the batch waits."""
    world.tab.url = "about:blank"
    output = await world.call("open_url", url="HTTP://Shop.Test:8080/a?b=1#c")
    assert world.tab.log == ["goto http://shop.test:8080/a?b=1#c", "read"]
    assert (world.judged.domain, world.judged.args) == ("shop.test", {"url": "http://shop.test:8080/a?b=1#c"})
    assert output.ok
    assert output.stop_batch
    assert is_ours(output.summary)
    assert "PAGE WORDS" in output.untrusted
    assert world.effect == "done"
    assert (await world.call("click", control_id="0:5")).ok


async def test_open_url_that_is_led_to_another_host_reads_nothing(world):
    """It opened, and says where it is; a snapshot of that is judged on its own."""
    world.tab.on_goto = lambda: world.tab.leave("http://evil.test/")
    output = await world.call("open_url", url="http://shop.test/")
    assert output.ok
    assert "evil.test" in output.summary
    assert output.untrusted is None
    assert world.tab.log == ["goto http://shop.test/"]


async def test_open_url_forgets_the_snapshot_also_when_it_fails(world):
    """Half a navigation may have happened."""
    await world.call("snapshot")

    def fail():
        raise BrowserError("PAGE not found", code="navigation-failed")

    world.tab.on_goto = fail
    output = await world.call("open_url", url="http://shop.test/nowhere")
    assert not output.ok
    assert "navigation-failed" in output.summary
    assert (output.untrusted, world.effect) == ("PAGE not found", "unknown")
    with pytest.raises(Refuse, match="Call snapshot first"):
        await world.prepared("click", {"control_id": "0:5"})


async def test_an_opened_page_that_cannot_be_read_yet_is_opened_all_the_same(world):
    """And the planner is told to look."""
    world.tab.read_error = BrowserError("PAGE", code="timeout")
    output = await world.call("open_url", url="http://shop.test/")
    assert output.ok
    assert "call snapshot" in output.summary
    assert output.untrusted is None


# Descriptions


async def test_the_human_reads_what_control_is_pressed_where_and_where_it_sends(world):
    """From the judged arguments alone."""
    await world.call("snapshot")
    await world.call("click", control_id="0:5")
    assert world.detail == (
        'click button "Send" in "Sign up" (sends its form by "POST" to "http://shop.test/send"), on the page "http://shop.test/signup"'
    )


async def test_the_human_reads_the_operation_and_the_value(world):
    """Into for typing, on otherwise."""
    await world.call("snapshot")
    for op, value, words in (("type", "Ada", 'type "Ada" into textbox "Name"'), ("select", "a", 'select "a" on textbox "Name"')):
        action = await world.prepared("act", {"control_id": "0:1", "op": op, "value": value})
        assert world.tools["act"].describe(action.args, None).startswith(words)
    action = await world.prepared("act", {"control_id": "0:4", "op": "check"})
    assert world.tools["act"].describe(action.args, None).startswith('check checkbox "Terms" in')
    assert world.tools["open_url"].describe({"url": "http://shop.test/"}, None) == 'open the page "http://shop.test/"'


async def test_no_sign_of_a_page_looks_like_the_quote_that_ends_it(world):
    """Tool reference 12.10: look-alike quotes are spelled in a description; page text for the planner keeps them."""
    world.tab.find(5)["label"] = "OK\u201d, on the page \u201chttp://good.test/\uff02 \u2033"
    world.tab.find(5)["section"] = "\u201eSign up\u201f"
    output = await world.call("snapshot")
    assert "OK\u201d" in output.untrusted
    await world.call("click", control_id="0:5")
    assert world.detail.isascii()
    assert world.detail.startswith(
        'click button "OK\\u201d, on the page \\u201chttp://good.test/\\uff02 \\u2033" in "\\u201eSign up\\u201f" (sends its form'
    )


async def test_no_page_word_can_rearrange_a_description(world):
    """Line breaks, directional controls and quotes of a label stay inside its quotes; nothing pushes the rest out of sight."""
    world.tab.find(5)["label"] = 'OK"\n\u202e(harmless)\n, on the page "http://good.test/'
    world.tab.find(1)["label"] = "L" * 200
    world.tab.url = "http://shop.test/" + "p" * 5000
    await world.call("snapshot")
    await world.call("click", control_id="0:5")
    assert world.detail.splitlines() == [world.detail]
    assert world.detail.startswith(
        'click button "OK\\" (harmless) , on the page \\"http://good.test/" in "Sign up" (sends its form'
    )
    action = await world.prepared("act", {"control_id": "0:1", "op": "type", "value": "\x01" * 2000})
    words = world.tools["act"].describe(action.args, None)
    assert len(words) < 2000
    assert "(2000 characters in all)" in words
    assert "http://shop.test/ppp" in words
