"""`act` and `click`: what they say came of it, several options, pins that let changes elsewhere pass."""

import pytest

from foxloop_trio.actions import Action
from foxloop_trio.browser._act import ActResult
from foxloop_trio.browser.tools._words import say_done
from foxloop_trio.errors import Refuse, UsageError

START = "http://shop.test/"
LINKS = [{"role": "link", "label": f"L{n}", "href": "/"} for n in range(20)]


def page(*controls, **more):
    return {START: {"title": "Shop", "text": "PAGE WORDS", "controls": [*controls, *LINKS], **more}}


NAME = {"role": "textbox", "label": "Name", "form": "f"}
TOYS = {"role": "listbox", "label": "Toys", "options": ["ball", "kite", "top"], "multiple": True}


async def test_only_what_changed_is_shown_after_an_act(autojump_clock, world_of):
    """Page reference 8.2; a new page, or a look that cannot be compared, is shown whole."""
    more = {
        "role": "button",
        "label": "More",
        "on_click": {"add": [{"role": "link", "label": "New", "href": "/"}], "text": "PAGE WORDS\nmore"},
    }
    async with world_of({**page(NAME, more), "http://shop.test/L": {"title": "Other"}}) as world:
        output = await world.call("act", control_id=world.id_of("Name"), op="type", value="Ada")
        assert output.untrusted.splitlines() == [
            f'Same document: "{START}"', "Changed:", f'[{world.id_of("Name")}] textbox "Name" value="Ada"',
        ]  # fmt: skip
        output = await world.call("click", control_id=world.id_of("More"))
        assert f'Appeared:\n[{world.id_of("New")}] link "New"' in output.untrusted
        assert output.untrusted.endswith("Text added:\n| more")
        world.document.change("L1", href="/L")
        await world.look()
        output = await world.call("click", control_id=world.id_of("L1"))
        assert output.untrusted.startswith('Title: "Other"')


async def test_a_click_that_changes_nothing_is_a_failed_result_with_a_next_step(autojump_clock, world_of):
    """A value of its own, not ok: the planner is told not to repeat it."""
    async with world_of(page({"role": "button", "label": "Dead"})) as world:
        output = await world.call("click", control_id=world.id_of("Dead"))
        assert not output.ok
        assert "nothing-changed: " in output.summary
        assert "do not repeat it" in output.summary
        assert "Call snapshot" in output.summary


SAID = {
    "what changed": ({"changed": ["state", "value"]}, "What changed: the state, the value."),
    "a mark": ({"changed": ["invalid"]}, "No form was sent, since a field lacks something"),
    "a tab": ({"opened_tabs": [7], "changed": ["tab"]}, "It opened tab 7."),
    "two tabs": ({"opened_tabs": [7, 9]}, "It opened tabs 7, 9."),
    "a window that was not opened": ({"popups": ["http://evil.test/"]}, "It asked for a window of its own"),
    "changes elsewhere": ({"changed_elsewhere": True}, "Fields elsewhere on the page had changed since the snapshot."),
    "an unknown word": ({"changed": ["PAGE"]}, "done."),
}


@pytest.mark.parametrize("what", SAID)
def test_the_summary_says_what_came_of_an_act(what):
    """In our words: no address and no word that we do not know."""
    result, words = SAID[what]
    said = say_done("click", "0:3", ActResult(ok=True, started=True, **result), navigated=False)
    assert words in said
    assert "evil" not in said
    assert "PAGE" not in said


async def test_a_click_tells_of_tabs_and_dialogs_as_data(autojump_clock, world_of):
    """Ids and counts for the host program."""
    ask = {"role": "button", "label": "Ask", "on_click": {"dialog": {"kind": "confirm", "message": "PAGE"}}}
    async with world_of(page(ask)) as world:
        output = await world.call("click", control_id=world.id_of("Ask"))
        assert output.data["dialogs"] == 1
        assert 'Dialog ("confirm"): "PAGE"' in output.untrusted


async def test_several_options_are_chosen_with_values(autojump_clock, world_of):
    """`values` in place of `value`, judged as a list; for anything but such a select it is refused."""
    async with world_of(page(NAME, TOYS)) as world:
        output = await world.call("act", control_id=world.id_of("Toys"), op="select", values=["ball", "top"])
        assert output.ok, output
        assert world.acts == [("select", "Toys", ["ball", "top"])]
        assert world.judged.args["value"] == ["ball", "top"]
        assert world.detail.startswith('select "ball", "top" on listbox "Toys"')
        for args in (
            {"control_id": world.id_of("Name"), "op": "type", "values": ["a"]},
            {"control_id": world.id_of("Toys"), "op": "select", "values": ["ball"], "value": "ball"},
        ):
            with pytest.raises(Refuse, match="values is for select"):
                await world.prepared("act", **args)


async def test_changes_elsewhere_pass_and_changes_in_the_own_form_do_not(autojump_clock, world_of):
    """Page reference 21.20: the pin carries the digest of its form."""
    other = {"role": "textbox", "label": "Second", "form": "f"}
    clock = {"role": "textbox", "label": "Clock", "form": "other"}
    for label, fine in (("Clock", True), ("Second", False)):
        async with world_of(page(NAME, other, clock)) as world:
            action = await world.prepared("act", control_id=world.id_of("Name"), op="type", value="Ada")
            assert action.args["target"]["form_key"] is not None
            world.document.change(label, value="12:00")
            output = await world.run(await world.allowed(action))
            assert output.ok is fine
            assert ("stale" in output.summary) is not fine


async def test_what_sends_or_has_a_risk_keeps_the_strict_comparison(autojump_clock, world_of):
    """Of all fields of its form; where it has none, of all fields of its frame."""
    send = {"role": "button", "label": "Send", "submit": True, "form": "f"}
    risky, plain = {"role": "button", "label": "Delete all"}, {"role": "button", "label": "Show"}
    clock = {"role": "textbox", "label": "Clock"}
    async with world_of(page(NAME, send, risky, plain, clock)) as world:
        pins = {
            label: (await world.prepared("click", control_id=world.id_of(label))).args["target"]
            for label in ("Send", "Delete all", "Show")
        }
        assert {label: pin["form_key"] is not None for label, pin in pins.items()} == {
            "Send": True,
            "Delete all": False,
            "Show": True,
        }
        assert {label: pin["risk"] for label, pin in pins.items()} == {"Send": None, "Delete all": "delete data", "Show": None}
        world.document.change("Clock", value="12:00")
        output = await world.call("click", control_id=world.id_of("Delete all"))
        assert "stale" in output.summary
        assert world.acts == []
        assert "takes a risk: delete data" in world.detail


async def test_of_a_pin_only_what_fields_change_may_be_newer_than_what_was_judged(autojump_clock, world_of):
    """Within a call that sets several fields; the guard only of the control that sends; of a single act nothing at all."""
    send = {"role": "button", "label": "Send", "submit": True, "form": "f"}
    async with world_of(page(NAME, send)) as world:
        action = await world.prepared("fill_and_send", fields=world.fields(Name="Ada"), send_id=world.id_of("Send"))
        pin, send_pin = action.args["targets"][0], action.args["send"]
        permit = await world.allowed(action)
        fresh = {"generation": 9, "key": pin["key"], "form_key": pin["form_key"]}
        for name in ("guard", "node", "document", "frame", "label", "destination", "control"):
            for target, op, value in ((pin, "type", "Ada"), (send_pin, "click", None)):
                if (target is send_pin) and name == "guard":
                    continue
                with pytest.raises(UsageError, match="may be newer"):
                    await world.tab.act(target, op, value, permit=permit, now={**fresh, name: target[name]})
        for target, op, value in (
            (pin, "click", None),
            (pin, "type", "Eve"),
            (send_pin, "enter", None),
            ({**pin, "label": "x"}, "type", "Ada"),
        ):
            with pytest.raises(UsageError, match="judged"):
                await world.tab.act(target, op, value, permit=permit, now=fresh)
        assert world.acts == []
        assert (await world.tab.act(pin, "type", "Ada", permit=permit, now=fresh)).ok
        await world.look()
        single = await world.prepared("click", control_id=world.id_of("Send"))
        permit = await world.allowed(single)
        with pytest.raises(UsageError, match="nothing may be newer"):
            await world.tab.act(single.args["target"], "click", permit=permit, now=fresh)


async def test_a_call_whose_operations_and_values_do_not_fit_is_nothing_that_was_judged(autojump_clock, world_of):
    """A bool is a box, a text is none: a forged mixture allows no act at all."""
    box = {"role": "checkbox", "label": "Terms", "form": "f"}
    async with world_of(page(NAME, box)) as world:
        action = await world.prepared("fill", fields=world.fields(Name="Ada", Terms=True))
        name, terms = action.args["targets"]
        for ops in (world.fields(Name="check", Terms="type"), world.fields(Name="click", Terms="uncheck"), {}):
            args = {**action.args, "ops": ops}
            permit = await world.allowed_plainly(Action(tool="fill", args=args, domain="shop.test", scope="fill"))
            for target, op, value in (
                (name, "type", "Ada"),
                (name, "check", None),
                (terms, "check", None),
                (terms, "type", "true"),
            ):
                with pytest.raises(UsageError, match="not among what the gate judged"):
                    await world.tab.act(target, op, value, permit=permit)
        assert world.acts == []
