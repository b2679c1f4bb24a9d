"""Stopping `fill_and_send` anywhere: what is reported as done is what the page received, each time, and nothing comes after."""

import pytest
import trio
import trio.testing

from foxloop_trio.browser.tools._steps import Steps
from foxloop_trio.testing import cancel_at_every_checkpoint

START = "http://shop.test/"
KINDS = (
    ("type", {"role": "textbox", "label": "Name"}, "Ada"),
    ("check", {"role": "checkbox", "label": "Terms"}, True),
    ("select", {"role": "combobox", "label": "Plan", "options": ["free", "pro"]}, "pro"),
    ("date", {"role": "textbox", "label": "Day", "type": "date"}, "2026-09-04"),
    ("type", {"role": "textbox", "label": "Mail"}, "a@x.org"),
    ("uncheck", {"role": "checkbox", "label": "News", "checked": True}, False),
    ("check", {"role": "radio", "label": "Red", "name": "c"}, True),
    ("type", {"role": "textbox", "label": "Zip"}, "1234"),
    ("check", {"role": "switch", "label": "Dark", "checked": False}, True),
    ("type", {"role": "spinbutton", "label": "Age"}, "36"),
    ("type", {"role": "textbox", "label": "Arrival", "date_format": "DD/MM/YYYY"}, "2026-09-05"),
    ("select", {"role": "combobox", "label": "Land", "options": ["NL", "UK"]}, "UK"),
)


def page():
    controls = [{**control, "form": "f"} for _, control, _ in KINDS]
    send = {"role": "button", "label": "Send", "submit": True, "form": "f"}
    return {
        START: {"controls": [*controls, send], "forms": {"f": {"action": "/sent", "method": "post"}}},
        "http://shop.test/sent": {"title": "Sent"},
    }


def received(world):
    """As a report has it: an act that the page did not get to its end is a part."""
    return [(act.op, act.control, None if act.ok else "partial") for act in world.browser.acts]


async def sweep(world, *, fields=12):
    kinds = KINDS[:fields]
    told = {}

    async def whole():
        world.browser.acts.clear()
        world.ctx = None
        await world.tab.goto(START)
        with trio.CancelScope(shield=True):  # what is swept is the run
            permit = await prepared(world, kinds)
        try:
            return await world.run(permit)
        finally:
            at_stop = len(world.browser.acts)
            with trio.CancelScope(shield=True):
                await trio.sleep(30)
            assert len(world.browser.acts) == at_stop, "something was done after the call had ended"

    def check(visit):
        effect = world.effect if world.ctx is not None else None
        if effect is None or effect.state == "not-started":
            assert world.browser.acts == []
            assert effect is None or effect.done is None
            return
        told[effect.state] = told.get(effect.state, 0) + 1
        assert effect.state != "unknown", "the fake browser answers every cancel"
        assert [(step["op"], step["control"], step.get("effect")) for step in effect.done] == received(world)
        assert (effect.state == "done") == (len(effect.done) == len(kinds) + 1 and all(act.ok for act in world.browser.acts))
        assert visit.cancelled or visit.result.ok

    return await cancel_at_every_checkpoint(whole, check=check, strict=False), told


async def prepared(world, kinds):
    await world.look()
    fields = {world.id_of(control["label"]): value for _, control, value in kinds}
    return await world.allowed(await world.prepared("fill_and_send", fields=fields, send_id=world.id_of("Send")))


async def test_wherever_a_form_of_twelve_fields_is_cancelled_what_is_told_is_what_the_page_received(autojump_clock, world_of):
    """Ruling 6, at every checkpoint of the run: reads, compares, acts, settling, the send and the look after it."""
    async with world_of(page()) as world:
        await world.run(await prepared(world, KINDS))
        assert [act.op for act in world.browser.acts] == [*(op for op, _, _ in KINDS), "click"]
        report, told = await sweep(world)
        assert report.ok, report
        assert report.checkpoints >= 90
        assert set(told) == {"partial", "done"}
        assert told["partial"] >= 70


@pytest.mark.parametrize("planted", ["silent", "early", "late"])
async def test_a_call_that_tells_less_or_more_than_it_did_is_found(autojump_clock, world_of, monkeypatch, planted):
    """The sweep would see it: planted faults."""
    honest = Steps._tell

    def told(steps, state, step):
        if planted == "silent":
            steps._report("not-started", None)
        elif planted == "early":
            steps._report("partial", [*steps._done, step])
        elif state != "done":  # forgets what was done at the very end of an act
            honest(steps, state, step)

    def ended(steps, step, result):
        steps._done.append(step)

    monkeypatch.setattr(Steps, "_tell", told)
    if planted == "late":
        monkeypatch.setattr(Steps, "ended", ended)
    async with world_of(page()) as world:
        report, _ = await sweep(world, fields=3)
        assert not report.ok


@pytest.mark.parametrize("phase", ["before", "started", "after"])
@pytest.mark.parametrize("count", range(1, 14))
async def test_a_cancel_while_one_act_is_under_way_has_its_true_end_on_record(autojump_clock, world_of, phase, count):
    """The k-th act is held up before it begins, once it has begun, and when it is done: not done, a part, done."""
    async with world_of(page()) as world:
        world.browser.delay("page.act", 100, phase=phase, call=count)
        permit = await prepared(world, KINDS)
        with trio.move_on_after(2) as scope:
            await world.run(permit)
        assert scope.cancelled_caught
        done = world.effect.done or []
        assert [(step["op"], step["control"], step.get("effect")) for step in done] == received(world)
        assert len(done) == count - (phase == "before")
        assert [step for step in done if "effect" in step] == ([{**done[-1], "effect": "partial"}] if phase == "started" else [])
        await trio.sleep(200)
        assert len(world.browser.acts) == len(done)


async def test_a_browser_that_does_not_hear_a_cancel_leaves_the_last_act_in_doubt(autojump_clock, world_of):
    """No answer within the grace: `unknown`, with what is known besides."""
    async with world_of(page()) as world:
        world.browser.delay("page.act", 1000, phase="started", call=3)
        world.browser.ignore_cancels = True
        permit = await prepared(world, KINDS)
        with trio.move_on_after(2) as scope:
            await world.run(permit)
        assert scope.cancelled_caught
        assert world.effect.state == "unknown"
        assert [step.get("effect") for step in world.effect.done] == [None, None, "unknown"]


async def test_a_cancel_before_the_first_field_touches_nothing(autojump_clock, world_of):
    """While it waits for the tab's lock."""
    async with world_of(page()) as world:
        permit = await prepared(world, KINDS)
        async with world.tab.lock, trio.open_nursery() as nursery:
            scope = nursery.cancel_scope
            nursery.start_soon(world.run, permit)
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
        assert scope.cancelled_caught
        assert (world.browser.acts, world.effect.state) == ([], "not-started")
        assert not world.tab.lock.locked()
