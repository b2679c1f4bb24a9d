"""Forms filled in and sent by `fill_and_send` in real Firefox: what the page's own listeners heard, compared with what is told.

The rules are those of the tool reference, sections 4 to 7; the gate is the real one.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest
import trio

from foxloop_trio.actions import Action, Ask, Effect, Money, Permit, ToolContext, ToolOutput
from foxloop_trio.browser import BrowserSession, Tab, browser_tools
from foxloop_trio.errors import Refuse
from foxloop_trio.gate import GateSide, HostSide, create_gate
from foxloop_trio.testing._act_probe import ProbeSite, soon
from foxloop_trio.tools import Tool, define_tools

pytestmark = pytest.mark.firefox

FORM = """
<form id=f action=/sent>
<label>Name <input name=name></label> <label>Mail <input name=mail type=email></label>
<label>Phone <input name=phone type=tel></label> <label>Street <input name=street></label>
<label>Zip <input name=zip></label> <label>Age <input name=age type=number></label>
<label>Day <input name=day type=date></label> <label>Note <textarea name=note></textarea></label>
<label>Plan <select name=plan><option value=free>Free<option value=pro>Professional</select></label>
<label>Terms <input type=checkbox name=terms></label> <label>News <input type=checkbox name=news checked></label>
<label>Red <input type=radio name=colour value=red></label> <label>Blue <input type=radio name=colour value=blue></label>
<button>Send</button></form>
"""
VALUES: dict[str, str | bool] = {
    "Name": "Ada Lovelace", "Mail": "ada@x.org", "Phone": "+31 20 123", "Street": "Herengracht 1", "Zip": "1016", "Age": "36",
    "Day": "2026-09-04", "Note": "two\nlines", "Plan": "Professional", "Terms": True, "News": False, "Blue": True,
}  # fmt: skip

LISTEN = """<script>
// One entry for each field that was changed, and one for the send; asks the server as soon as there are `stop` of them, and is busy
// for a moment, so that whoever asked to be told can stop the call before the next one.
window.got = []; window.stop = 0;
const hear = (what) => { if (got[got.length - 1] !== what) { got.push(what);
  if (got.length === stop) slow(); } };
const slow = () => { navigator.sendBeacon('/cancel-now'); const end = performance.now() + 150; while (performance.now() < end); };
addEventListener('change', (event) => hear(event.target.name), true);
addEventListener('submit', (event) => { event.preventDefault(); hear('submit'); }, true);
</script>"""


@attrs.define
class Shop:
    """The tools of one tab, behind a gate that asks nobody but about money."""

    session: BrowserSession
    tab: Tab
    site: ProbeSite
    tools: dict[str, Tool]
    gate: GateSide
    host: HostSide
    ctx: ToolContext | None = None
    detail: str = ""

    async def open(self, html: str) -> None:
        await self.tab.goto(self.site.put(html))
        await self.look()

    async def look(self) -> ToolOutput:
        return await self.run(await self.allowed(Action(tool="snapshot", args={}, domain="127.0.0.1", scope="read")))

    async def ids(self, **by_label: Any) -> dict[str, Any]:
        """By id, from a look of the test's own, which the tools do not know of."""
        page = await self.tab.snapshot()
        return {next(control.id for control in page.controls if control.label == label): value for label, value in by_label.items()}

    async def prepared(self, name: str, **args: Any) -> Action:
        tool = self.tools[name]
        assert tool.prepare is not None
        judged: Any = tool.prepare(args, ToolContext(run_id="r", step=1, goal="g"))
        judged = await judged if isinstance(judged, Awaitable) else judged
        amount = None if tool.amount is None else tool.amount(judged)
        return Action(tool=name, args=judged, domain="127.0.0.1", scope=tool.scope, amount=amount)

    async def allowed(self, action: Action) -> Permit:
        decision = await self.gate.check(action)
        if isinstance(decision, Ask):
            assert decision.request_id is not None
            tool = self.tools[action.tool]
            assert tool.describe is not None
            self.detail = str(tool.describe(dict(action.args), ToolContext(run_id="r", step=1, goal="g", domain=action.domain)))
            again = await self.gate.redeem(await self.host.approve(decision.request_id), action)
            assert again.decision == "allow", again
            return again.permit
        assert decision.decision == "allow", decision
        return decision.permit

    async def run(self, permit: Permit) -> ToolOutput:
        self.ctx = ToolContext(run_id="r", step=1, goal="g", domain="127.0.0.1", permit=permit)
        return await self.tools[permit.action.tool].run(dict(permit.action.args), self.ctx)

    async def call(self, name: str, **args: Any) -> ToolOutput:
        return await self.run(await self.allowed(await self.prepared(name, **args)))

    async def fill_and_send(self, **values: Any) -> ToolOutput:
        fields, (send,) = await self.ids(**values), await self.ids(Send=None)
        await self.look()
        return await self.call("fill_and_send", fields=fields, send_id=send)

    async def js(self, expression: str) -> Any:
        answer = await self.session.bidi(
            "script.evaluate",
            expression=expression,
            target={"context": await self.tab.bidi_context()},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        value = answer["result"].get("value")
        return [entry["value"] for entry in value] if isinstance(value, list) else value

    @property
    def effect(self) -> Effect:
        assert self.ctx is not None
        effect = self.ctx._cell.effect
        assert effect is not None
        return effect


Opened = Callable[..., Awaitable[Shop]]


@pytest.fixture
def opened(firefox: BrowserSession, tab: Tab, site: ProbeSite) -> Opened:
    async def open_shop(html: str, **options: Any) -> Shop:
        tools = browser_tools(tab, **options)
        gate, host = create_gate(tools=tools)
        for scope in ("read", "fill", "submit"):
            await host.add_grant(scope=scope, domains=["127.0.0.1"], approval="never")  # type: ignore[arg-type]
        if "prices" in options:
            await host.add_grant(scope="pay", domains=["127.0.0.1"])
        shop = Shop(firefox, tab, site, define_tools(tools), gate, host)
        await shop.open(html)
        return shop

    return open_shop


async def test_twelve_fields_arrive_as_they_were_judged(opened: Opened) -> None:
    """The table of section 6 in one call, native controls of each kind, sent once, each part of the check true."""
    shop = await opened(FORM)
    output = await shop.fill_and_send(**VALUES)
    assert output.ok, output
    assert output.check is not None
    assert [line.ok for line in output.check.checks] == [True] * 13, output.check
    (sent,) = [path for path in shop.site.asked if path.startswith("/sent")]
    assert sent == (
        "/sent?name=Ada+Lovelace&mail=ada%40x.org&phone=%2B31+20+123&street=Herengracht+1&zip=1016&age=36&day=2026-09-04"
        "&note=two%0D%0Alines&plan=pro&terms=on&colour=blue"
    )
    shop.site.asked.clear()
    assert shop.effect.state == "done"


def longer(count: int) -> Any:
    """All of them take longer than the default run has; the first, one in the middle, the last field and the send are in it."""
    return count if count in (1, 6, 12, 13) else pytest.param(count, marks=pytest.mark.long)


@pytest.mark.parametrize("count", [longer(count) for count in range(1, 14)])
async def test_stopped_after_the_kth_event_what_is_told_is_what_the_page_received(opened: Opened, count: int) -> None:
    """The page itself says when: at its k-th change (13 is the submit). Nothing more comes, and what is told is what it heard."""
    shop = await opened(LISTEN + FORM)
    fields, (send,) = await shop.ids(**VALUES), await shop.ids(Send=None)
    await shop.look()
    names = dict(zip(fields, [label.lower() for label in VALUES], strict=True))
    names = {**names, send: "submit", next(i for i, label in zip(fields, VALUES, strict=True) if label == "Blue"): "colour"}
    permit = await shop.allowed(await shop.prepared("fill_and_send", fields=fields, send_id=send))
    await shop.js(f"void (window.stop = {count})")
    before = len(shop.site.asked)
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(shop.run, permit)

            async def asked() -> bool:
                await trio.lowlevel.checkpoint()
                return "/cancel-now" in shop.site.asked[before:]

            await soon(asked)
            nursery.cancel_scope.cancel()
    await trio.sleep(0.2)
    got = await shop.js("got")
    done = shop.effect.done
    assert [names[step["control"]] for step in done] == got
    assert count <= len(got) <= count + 1
    assert shop.effect.state == ("done" if len(got) == 13 else "partial")


async def test_a_form_that_changes_while_it_is_filled_is_not_sent(opened: Opened) -> None:
    """Drift in a real page: another destination, a field that the page fills by itself, a button with another word."""
    for change in ("f.action = '/evil'", "f.elements.street.value = 'x'", "f.querySelector('button').textContent = 'Pay'"):
        shop = await opened(f"{FORM}<script>f.elements.terms.onchange = () => {{ {change} }}</script>")
        output = await shop.fill_and_send(Name="Ada", Terms=True)
        assert not output.ok
        assert "2 of 2 fields set. stale" in output.summary
        assert not [path for path in shop.site.asked if path.startswith(("/sent", "/evil"))]
        assert output.stop_batch is False


async def test_a_field_that_an_earlier_one_replaced_is_not_touched(opened: Opened) -> None:
    """A re-render makes another element with the same looks: it is not the judged one."""
    again = "f.elements.name.onchange = () => { const old = f.elements.zip; old.replaceWith(old.cloneNode()) }"
    shop = await opened(f"{FORM}<script>{again}</script>")
    output = await shop.fill_and_send(Name="Ada", Zip="1016")
    assert (output.ok, await shop.js("f.elements.zip.value")) == (False, "")
    assert "1 of 2 fields set." in output.summary
    assert "stale" in output.summary


async def test_a_button_that_the_form_enables_is_pressed(opened: Opened) -> None:
    """Disabled when it was judged, enabled by the last field, the same in all else."""
    enable = "const b = f.querySelector('button'); b.disabled = true; f.elements.terms.onchange = () => { b.disabled = false }"
    shop = await opened(f"{FORM}<script>{enable}</script>")
    output = await shop.fill_and_send(Name="Ada", Terms=True)
    assert output.ok, output
    assert any(path.startswith("/sent?name=Ada") for path in shop.site.asked)
    shop.site.asked.clear()


async def test_a_form_that_the_browser_does_not_send_is_told_as_such(opened: Opened) -> None:
    """A field is missing: no submit event fires, and sending was not observed."""
    shop = await opened(FORM.replace("name=mail", "name=mail required"))
    output = await shop.fill_and_send(Name="Ada")
    assert not output.ok
    assert output.check is not None
    assert output.check.checks[-1].ok is False
    assert not [path for path in shop.site.asked if path.startswith("/sent")]


async def test_a_form_that_its_page_sends_by_itself_counts_by_request_and_cleared_fields(opened: Opened) -> None:
    """No form element, a button with a handler: page reference 21.14."""
    html = """<section aria-label=Mail><label>Name <input id=n></label> <button type=button id=b>Send</button></section><p id=p></p>
    <script>b.onclick = async () => { await fetch('/sent-by-script?' + n.value, { method: 'POST' }); n.value = '';
    p.textContent = 'ok' }</script>"""
    shop = await opened(html)
    output = await shop.fill_and_send(Name="Ada")
    assert "/sent-by-script?Ada" in shop.site.asked
    assert output.data == {"set": [*(await shop.ids(Name=None))], "of": 1, "navigated": False, "sent": "request"}, output
    assert output.ok


async def test_a_password_is_typed_where_it_is_allowed_and_read_nowhere(opened: Opened) -> None:
    """The page has it; nothing that the tools say does. A field that stopped being one gets nothing."""
    login = (
        "<form id=f action=/in><label>User <input name=u></label><label>Password <input id=p type=password name=p></label>"
        "<button>Send</button></form>"
    )
    shop = await opened(login, passwords=lambda url: ["hunter2"] if url.startswith("http://127.0.0.1") else [])
    ids = await shop.ids(User="ada", Password="hunter2")
    await shop.look()
    output = await shop.call("fill", fields=ids)
    assert output.ok, output
    assert await shop.js("p.value") == "hunter2"
    assert "hunter2" not in str(output)
    with pytest.raises(Refuse):
        await shop.prepared("fill", fields=await shop.ids(Password="hunter3"))
    await shop.js("void (p.value = '')")
    await shop.look()
    permit = await shop.allowed(await shop.prepared("fill", fields=await shop.ids(Password="hunter2")))
    await shop.js("void p.replaceWith(Object.assign(document.createElement('input'), { id: 'p' }))")
    assert "stale" in (await shop.run(permit)).summary
    assert await shop.js("p.value") == ""


async def test_only_the_judged_amount_is_paid(opened: Opened) -> None:
    """The page is read again right before the click: a price that went up in between is not paid, the judged one is."""
    html = "<form action=/paid><p>Total <b id=t>12.50</b> EUR</p><button>Pay now</button></form>"

    def prices(page: Any, control: Any) -> Money | None:
        found = re.search(r"Total\s+(\d+)\.(\d\d)\s+EUR", page.text)
        return Money(value=int(found[1]) * 100 + int(found[2]), currency="EUR") if found else None

    shop = await opened(html, prices=prices)
    (pay,) = await shop.ids(**{"Pay now": None})
    await shop.look()
    with pytest.raises(Refuse, match="Use pay"):
        await shop.prepared("click", control_id=pay)
    permit = await shop.allowed(await shop.prepared("pay", control_id=pay))
    assert shop.detail.startswith("pay 12.50 EUR (1250 minor units)")
    await shop.js("void (t.textContent = '99.00')")
    output = await shop.run(permit)
    assert "amount-changed" in output.summary
    assert "/paid?" not in shop.site.asked
    await shop.js("void (t.textContent = '12.50')")
    await shop.look()
    assert (await shop.call("pay", control_id=pay)).ok
    assert "/paid?" in shop.site.asked
