"""Money: `pay`, and what spends without it (tool reference, 12.2)."""

import re

import pytest
import trio

from foxloop_trio.actions import Ask, Money
from foxloop_trio.browser._snapshot import Snapshot
from foxloop_trio.browser.tools._spending import spending
from foxloop_trio.errors import Refuse
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing import cancel_at_every_checkpoint

START = "http://shop.test/"


def page(*controls, send=None, text="Total: 12.50 EUR"):
    return {
        START: {
            "title": "Checkout",
            "text": text,
            "controls": [
                {"role": "textbox", "label": "Name", "form": "f"},
                *controls,
                {"role": "button", "label": "Pay now", "submit": True, "form": "f", **(send or {})},
                {"role": "link", "label": "Help", "href": "/help"},
            ],
            "forms": {"f": {"action": "/paid", "method": "post"}},
        },
        "http://shop.test/paid": {"title": "Paid"},
        "http://shop.test/help": {"title": "Help"},
    }


def prices(snapshot, control):
    found = re.search(r"Total: (\d+)\.(\d\d) ([A-Z]{3})", snapshot.text)
    return Money(value=int(found[1]) * 100 + int(found[2]), currency=found[3]) if found else None


CARD = {"role": "textbox", "label": "Card number", "form": "f"}


async def test_the_amount_is_read_judged_and_shown_and_the_click_is_done(autojump_clock, world_of):
    """Scope pay, the amount for the gate, and in words for the human."""
    async with world_of(page(), prices=prices) as world:
        control_id = world.id_of("Pay now")
        output = await world.call("pay", control_id=control_id)
        assert output.ok, output
        assert (world.judged.scope, world.judged.amount) == ("pay", Money(value=1250, currency="EUR"))
        assert world.judged.args["amount"] == {"value": 1250, "currency": "EUR"}
        assert world.detail.startswith('pay 12.50 EUR (1250 minor units): click button "Pay now"')
        assert output.summary.startswith(f"pay on {control_id}: done. A form was sent.")
        assert world.acts == [("click", "Pay now", None)]
        assert world.asked == 1


async def test_the_gate_counts_what_was_paid(autojump_clock, world_of):
    """Through the loop: a cap of the grant stops the second payment."""
    async with world_of(page(), prices=prices) as world:
        [grant] = [grant for grant in await world.host.grants() if grant.scope == "pay"]
        await world.host.revoke_grant(grant.id)
        cap = Money(value=2000, currency="EUR")
        await world.host.add_grant(scope="pay", domains=["shop.test"], approval="never", spend_cap=cap)
        pay = {"calls": [{"name": "pay", "args": {"control_id": world.id_of("Pay now")}}]}
        look, again = ({"calls": [{"name": name, "args": args}]} for name, args in (("snapshot", {}), ("open_url", {"url": START})))
        outcome = await Loop(
            planner=scripted_planner([look, pay, again, look, pay, pay]), gate=world.gate, tools=list(world.tools.values())
        ).complete("pay")
        assert (outcome.status, outcome.reason) == ("blocked", "gate-deny")
        assert world.acts == [("click", "Pay now", None)]


CHANGED = {
    "another amount": ({"text": "Total: 99.00 EUR"}, "99.00 EUR"),
    "another currency": ({"text": "Total: 12.50 USD"}, "12.50 USD"),
    "it cannot be read any more": ({"text": "Thank you"}, "cannot be read"),
}


@pytest.mark.parametrize("what", CHANGED)
async def test_an_amount_that_changed_while_the_human_decided_is_not_paid(autojump_clock, world_of, what):
    """The page is read again right before the click; nothing is sent, and both amounts are named."""
    change, words = CHANGED[what]
    async with world_of(page(), prices=prices) as world:
        output = await world.call("pay", control_id=world.id_of("Pay now"), meanwhile=lambda: world.document.update(**change))
        assert (output.ok, world.acts, world.effect.state) == (False, [], "not-started")
        assert words in output.summary
        assert "12.50 EUR (1250 minor units) was judged" in output.summary
        with pytest.raises(Refuse, match="Call snapshot first"):
            await world.prepared("pay", control_id=world.id_of("Pay now"))


async def test_what_else_changed_is_not_paid_either(autojump_clock, world_of):
    """The button, its destination, a field of its form, the document, another look: a payment is never re-bound."""
    for change in (
        lambda world: world.document.change("Pay now", section="Other"),
        lambda world: world.document.forms["f"].update(action="/elsewhere"),
        lambda world: world.document.change("Name", value="Eve"),
        lambda world: world.document.remove("Pay now"),
        lambda world: world.browser.navigate(world.tab, START),
        lambda world: world.look(),
    ):
        async with world_of(page(), prices=prices) as world:
            output = await world.call("pay", control_id=world.id_of("Pay now"), meanwhile=lambda change=change: change(world))
            assert (output.ok, world.acts) == (False, [])
            assert "stale" in output.summary
    async with world_of(page({"role": "textbox", "label": "Clock"}), prices=prices) as world:  # the accepted twin
        output = await world.call(
            "pay", control_id=world.id_of("Pay now"), meanwhile=lambda: world.document.change("Clock", value="12:00")
        )
        assert output.ok, output


def raising(snapshot, control):
    raise ValueError("12.50")


@pytest.mark.parametrize(
    "read", [lambda snapshot, control: None, raising, lambda snapshot, control: 1250, lambda snapshot, control: "12.50"]
)
async def test_an_amount_that_cannot_be_read_is_refused_before_the_gate(autojump_clock, world_of, read):
    """None, an exception, or what is no money."""
    async with world_of(page(), prices=read) as world:
        with pytest.raises(Refuse, match="amount cannot be read"):
            await world.prepared("pay", control_id=world.id_of("Pay now"))


async def test_an_async_reader_will_do_and_one_that_fails_at_the_last_moment_pays_nothing(autojump_clock, world_of):
    """What cannot be read again is not paid."""
    left = [Money(value=1, currency="EUR")] * 2

    async def read(snapshot, control):
        await trio.sleep(1)
        return left.pop()

    async with world_of(page(), prices=read) as world:
        assert (await world.call("pay", control_id=world.id_of("Pay now"))).ok
    left = [Money(value=1, currency="EUR")]
    async with world_of(page(), prices=read) as world:
        output = await world.call("pay", control_id=world.id_of("Pay now"))
        assert (output.ok, world.acts) == (False, [])
        assert "nothing was paid" in output.summary


async def test_a_slow_reader_pays_no_price_that_went_up_while_it_read(autojump_clock, world_of):
    """What is asked for when it has read counts; a page that never holds still is not paid."""
    totals = []

    async def slow(snapshot, control):
        if totals:
            world.document.update(text=f"Total: {totals.pop(0)} EUR")
        await trio.sleep(1)
        return prices(snapshot, control)

    for later, words in (
        (["99.00"], "The page asks for 99.00 EUR"),
        (["12.50"], None),
        ([f"12.50 EUR, {number}" for number in range(9)], "changes again and again"),
    ):
        totals = []
        async with world_of(page(), prices=slow) as world:
            permit = await world.allowed(await world.prepared("pay", control_id=world.id_of("Pay now")))
            totals = list(later)
            output = await world.run(permit)
            assert output.ok == (words is None), output
            assert (words or "done") in output.summary
            assert world.acts == ([("click", "Pay now", None)] if words is None else [])


async def test_wherever_a_payment_is_stopped_what_is_told_is_what_was_paid(autojump_clock, world_of):
    """At the looks, at the reader of amounts, at the click: the amount is read first, and nothing is clicked after a stop."""

    async def slow(snapshot, control):
        await trio.sleep(0.01)
        return prices(snapshot, control)

    async with world_of(page(), prices=slow) as world:

        async def whole():
            with trio.CancelScope(shield=True):
                await world.tab.goto(START)
                await world.look()
                permit = await world.allowed(await world.prepared("pay", control_id=world.id_of("Pay now")))
                world.browser.acts.clear()
            try:
                return await world.run(permit)
            finally:
                count = len(world.browser.acts)
                with trio.CancelScope(shield=True):
                    await trio.sleep(30)
                assert len(world.browser.acts) == count

        def check(visit):
            told = "done" if world.browser.acts else "not-started"
            assert visit.number == 1 or world.effect.state == told
            assert not world.tab.lock.locked()

        report = await cancel_at_every_checkpoint(whole, check=check)
        assert report.cancelled > 20


SPENDING = {
    "its label": (page(), "Pay now"),
    "a label of other words": (page(send={"label": "Place your order"}), "Place your order"),
    "a card number in its form": (page(CARD, send={"label": "Continue"}), "Continue"),
    "a security code": (page({"role": "textbox", "label": "CVC", "form": "f"}, send={"label": "Go"}), "Go"),
    "a card field by its name": (page({**CARD, "label": "Nr", "name": "cc-number"}, send={"label": "Go"}), "Go"),
}
SAFE = {
    "a card in another form": (page({**CARD, "form": "other"}, send={"label": "Continue"}), "Continue"),
    "no money at all": (page({"role": "textbox", "label": "Library card", "form": "f"}, send={"label": "Continue"}), "Continue"),
    "a link beside a card": (page(CARD), "Help"),
}


@pytest.mark.parametrize("what", [*SPENDING, *SAFE])
async def test_with_prices_what_spends_is_left_to_pay(autojump_clock, world_of, what):
    """A click and a send refuse, naming `pay`, which is never silent; what does not spend is clicked as ever."""
    pages, label = {**SPENDING, **SAFE}[what]
    async with world_of(pages, prices=prices) as world:
        control_id = world.id_of(label)
        if what in SAFE:
            assert "spends" not in (await world.prepared("click", control_id=control_id)).args
            return
        with pytest.raises(Refuse, match=f"Use pay on {control_id}"):
            await world.prepared("click", control_id=control_id)
        with pytest.raises(Refuse, match="with fill, then use pay"):
            await world.prepared("fill_and_send", fields=world.fields(Name="Ada"), send_id=control_id)
        assert (await world.call("fill", fields=world.fields(Name="Ada"))).ok
        assert (await world.call("pay", control_id=control_id)).ok


@pytest.mark.parametrize("what", [*SPENDING, *SAFE])
async def test_without_prices_what_spends_is_asked_about_each_time(autojump_clock, world_of, what):
    """It stays a submit, and no standing grant covers it: a human reads that it may spend money."""
    pages, label = {**SPENDING, **SAFE}[what]
    async with world_of(pages) as world:
        assert "pay" not in world.tools
        calls = [("click", {"control_id": world.id_of(label)})]
        if label != "Help":
            calls.append(("fill_and_send", {"fields": world.fields(Name="Ada"), "send_id": world.id_of(label)}))
        for name, args in calls:
            action = await world.prepared(name, **args)
            decision = await world.gate.check(action)
            assert isinstance(decision, Ask) is (what in SPENDING)
            await world.allowed(action)
            assert ("SPEND MONEY" in world.detail) is (what in SPENDING)


SWITCH = {"role": "button", "label": "Buy it", "expanded": False}
OTHER_WAYS = {
    "drag": ("drag", "Pay now", {"by_x": 200}),
    "drag onto it": ("drag", "Help", {"onto": "Pay now"}),
    "hover": ("hover", "Pay now", {}),
    "press": ("press", "Pay now", {"keys": "Enter"}),
    "Enter in a field of its form": ("press", "Name", {"keys": "Enter"}),
    "a dialog": ("answer_dialog", "Pay now", {"accept": True}),
    "a point of it": ("click_at", "Pay now", {"x": 1, "y": 1}),
    "a list that a button opens": ("act", "Buy it", {"op": "select", "value": "now"}),
    "a file for a button": ("upload", "Pay now", {"files": ["a.txt"]}),
    "a file behind it": ("download", "Pay now", {}),
}


@pytest.mark.parametrize("what", OTHER_WAYS)
async def test_no_other_tool_spends_without_being_asked_about(autojump_clock, world_of, tmp_path, what):
    """As click: a human is asked each time, and reads why; with prices it is left to `pay`."""
    (tmp_path / "a.txt").write_text("a")
    name, label, args = OTHER_WAYS[what]
    folders = {"upload_from": tmp_path, "download_to": tmp_path}

    def given(world):
        more = {"onto": world.id_of(args["onto"])} if "onto" in args else {}
        return {"control_id": world.id_of(label), **args, **more}

    async with world_of(page(SWITCH), **folders) as world:
        action = await world.prepared(name, **given(world))
        assert isinstance(await world.gate.check(action), Ask)
        await world.allowed(action)
        assert "SPEND MONEY" in world.detail
    async with world_of(page(SWITCH), prices=prices, **folders) as world:
        with pytest.raises(Refuse, match="Use pay on"):
            await world.prepared(name, **given(world))


async def test_what_a_field_is_called_is_no_reason_to_ask(autojump_clock, world_of):
    """Ways to pay are chosen in most forms that end in a payment; the button at their end is what pays."""
    choice = {"role": "checkbox", "label": "Pay by card", "checked": False, "form": "f"}
    async with world_of(page(choice)) as world:
        action = await world.prepared("act", control_id=world.id_of("Pay by card"), op="check")
        assert not isinstance(await world.gate.check(action), Ask)
        harmless = await world.prepared("hover", control_id=world.id_of("Help"))
        assert not isinstance(await world.gate.check(harmless), Ask)
        moved = await world.prepared("press", control_id=world.id_of("Name"), keys="ArrowDown")
        assert not isinstance(await world.gate.check(moved), Ask)


def test_a_card_in_a_frame_of_a_payment_service_counts_for_the_page_around_it():
    """The fields stand in a frame inside of the button's own."""
    base = {
        "type": "", "name": "", "placeholder": "", "section": "", "disabled": False, "read_only": False, "required": False,
        "offscreen": False, "dialog": False, "autocomplete": False, "picker": False, "secret": False, "value": "", "guard": "g" * 8,
    }  # fmt: skip

    def state(frame, parent, control):
        return {
            "frame": frame, "document": f"{frame:032x}", "url": START, "title": "", "text": "", "headings": [], "captcha": False,
            "more": False, "truncated": 0, "key": "k" * 8, "parent": parent, "controls": [{**base, "node": 1, **control}],
        }  # fmt: skip

    button = {"role": "button", "tag": "button", "label": "Continue", "submit": True, "form": 3}
    card = {"role": "textbox", "tag": "input", "label": "Card number", "submit": False}
    inside = Snapshot.from_wire({"frames": [state(0, None, button), state(1, 0, {**card, "label": "x"}), state(2, 1, card)]})
    beside = Snapshot.from_wire({"frames": [state(0, None, card), state(1, 0, button)]})
    assert spending(inside, inside.control("0:1")) == "card"
    assert spending(beside, beside.control("1:1")) is None


async def test_a_task_that_spends_money_is_no_way_around(autojump_clock, world_of):
    """Without prices a human is asked about it each time; with prices it is left to `pay`, and may still fill the form in."""
    pages = page(CARD)
    goal = "name: Ada, then pay"
    async with world_of(pages) as world:
        action = await world.prepared("browser_task", goal=goal)
        assert isinstance(await world.gate.check(action), Ask)
        await world.allowed(action)
        assert "SPEND MONEY" in world.detail
        harmless = await world.prepared("browser_task", goal="name: Ada, do not send")
        assert not isinstance(await world.gate.check(harmless), Ask)
    async with world_of(pages, prices=prices) as world:
        with pytest.raises(Refuse, match="use pay"):
            await world.prepared("browser_task", goal=goal)
        assert (await world.call("browser_task", goal="name: Ada, do not send")).ok


async def test_money_that_was_not_paid_is_not_spent(autojump_clock, world_of):
    """The amount went up while the human decided: what was reserved is released, and the next try still fits under the cap."""
    async with world_of(page(), prices=prices) as world:
        [grant] = [grant for grant in await world.host.grants() if grant.scope == "pay"]
        await world.host.revoke_grant(grant.id)
        await world.host.add_grant(scope="pay", domains=["shop.test"], spend_cap=Money(value=2000, currency="EUR"))
        texts = ["Total: 19.00 EUR", "Total: 12.50 EUR"]

        async def approve(request):
            if texts:
                world.document.update(text=texts.pop(0))
            return await world.host.approve(request.request_id)

        look, pay = ({"calls": [{"name": name, "args": args}]} for name, args in (("snapshot", {}), ("pay", {"control_id": "0:3"})))
        assert world.id_of("Pay now") == "0:3"
        replies = [look, pay, look, pay, look, pay]
        events = []
        loop = Loop(planner=scripted_planner(replies), gate=world.gate, tools=list(world.tools.values()), on_approval=approve)
        await loop.complete("pay", on_event=events.append)
        results = [event for event in events if event.type == "tool-result" and event.name == "pay"]
        assert [result.ok for result in results] == [False, False, True]
        assert ["19.00 EUR" in results[0].summary, "12.50 EUR" in results[1].summary] == [True, True]
        assert world.acts == [("click", "Pay now", None)]
