"""`fill_and_send` over `FakeBrowser`: the drift check, the evidence, and what a human is shown (tool reference, section 6)."""

import pytest

from foxloop_trio.browser._act import ActResult, DialogSeen
from foxloop_trio.browser._snapshot import Snapshot
from foxloop_trio.browser.tools._sending import sent_by
from foxloop_trio.errors import Refuse

START = "http://shop.test/"


def page(*controls, send=None, form=None, **more):
    return {
        START: {
            "title": "Sign up",
            "text": "PAGE WORDS",
            "controls": [
                {"role": "textbox", "label": "Full name", "name": "name", "form": "f"},
                {"role": "combobox", "label": "Plan", "name": "plan", "options": {"free": "Free", "pro": "Pro"}, "form": "f"},
                {"role": "checkbox", "label": "Terms", "name": "terms", "form": "f"},
                {"role": "radio", "label": "Red", "name": "colour", "checked": True, "form": "f"},
                {"role": "radio", "label": "Blue", "name": "colour", "form": "f"},
                *controls,
                {"role": "button", "label": "Send", "submit": True, "form": "f", **(send or {})},
                {"role": "link", "label": "Home", "href": "/"},
            ],
            "forms": {"f": {"action": "/welcome", "method": "post", **(form or {})}},
            **more,
        },
        "http://shop.test/welcome": {"title": "Welcome", "text": "Welcome"},
    }


FILL = {"Full_name": "Ada", "Plan": "pro", "Terms": True, "Blue": True}


async def call(world, fields=None, send="Send", **more):
    fields = world.fields(**(FILL if fields is None else fields))
    return await world.call("fill_and_send", fields=fields, send_id=world.id_of(send), **more)


async def test_the_form_arrives_with_what_was_judged(autojump_clock, world_of):
    """One call, one approval; a check of each field and of the send, with its evidence; the page left ends the batch."""
    async with world_of(page(), approval="always") as world:
        world.asked = 0
        output = await call(world)
        assert world.browser.acts[-1].sent == {"name": "Ada", "plan": "pro", "terms": "on", "colour": "on"}
        assert output.ok, output
        assert output.summary.startswith(
            "fill_and_send: 4 of 4 fields set. The page was left for a new one. The form was sent (submit-event: "
        )
        assert [line.ok for line in output.check.checks] == [True] * 5
        assert (output.check.checks[-1].part, output.check.checks[-1].evidence) == (
            "the form was sent",
            "the page fired a submit event",
        )
        assert output.stop_batch
        assert output.data["sent"] == "submit-event"
        assert 'Title: "Welcome"' in output.untrusted
        assert (world.effect.state, [step["op"] for step in world.effect.done]) == (
            "done",
            ["type", "select", "check", "check", "click"],
        )
        assert world.asked == 1


async def test_pins_of_the_fields_and_of_the_send_are_judged(autojump_clock, world_of):
    """Section 4: `targets` and `send`, the send with its destination, of one look."""
    async with world_of(page()) as world:
        await call(world)
        args = world.judged.args
        assert [pin["label"] for pin in args["targets"]] == ["Full name", "Plan", "Terms", "Blue"]
        assert args["send"]["label"] == "Send"
        assert args["send"]["destination"] == {"url": "http://shop.test/welcome", "method": "post", "target": ""}
        assert {pin["generation"] for pin in (*args["targets"], args["send"])} == {1}
        assert world.judged.scope == "submit"


@pytest.mark.parametrize(
    ("what", "words"),
    [("Home", "does not send"), ("Full name", "does not send"), ("Terms", "does not send")],
)
async def test_only_a_submit_control_or_a_button_sends(autojump_clock, world_of, what, words):
    """Anything else is refused before the gate."""
    async with world_of(page()) as world:
        with pytest.raises(Refuse, match=words):
            await call(world, {"Plan": "pro"}, send=what)
        assert world.acts == []


async def test_a_send_control_that_the_form_enables_after_filling_may_be_disabled(autojump_clock, world_of):
    """It is enabled by the last field, and is the same in all else. One that stays disabled sends nothing."""
    enabling = {"role": "checkbox", "label": "Agree", "form": "f", "on_change": {"change": {"Send": {"disabled": False}}}}
    async with world_of(page(enabling, send={"disabled": True})) as world:
        output = await call(world, {"Full_name": "Ada", "Agree": True})
        assert output.ok, output
        assert world.acts[-1] == ("click", "Send", None)
    async with world_of(page(enabling, send={"disabled": True})) as world:
        output = await call(world, {"Full_name": "Ada"})
        assert not output.ok
        assert "still disabled" in output.summary
        assert "The form was not sent." in output.summary
        assert world.acts == [("type", "Full name", "Ada")]
    other = {"role": "textbox", "label": "Elsewhere"}
    async with world_of(page(other, send={"disabled": True})) as world:
        with pytest.raises(Refuse, match="disabled"):
            await call(world, {"Elsewhere": "x"})


async def test_enabled_and_otherwise_changed_is_not_the_judged_control(autojump_clock, world_of):
    """Only the disabled flag may have changed."""
    for more in ({"label": "Delete"}, {"href": "/x"}, {"expanded": True}, {"section": "Other"}, {"row": "other row"}):
        change = {"change": {"Send": {"disabled": False, **more}}}
        enabling = {"role": "checkbox", "label": "Agree", "form": "f", "on_change": change}
        async with world_of(page(enabling, send={"disabled": True})) as world:
            output = await call(world, {"Agree": True})
            assert (output.ok, world.acts) == (False, [("check", "Agree", None)])
            assert "control that sends is not as it was" in output.summary


def goes_to(where):
    return lambda document: document.forms["f"].update(action=where)


DRIFT = {
    "address": ({"navigate": "/#step2"}, "another one|stale"),
    "label": ({"change": {"Send": {"label": "Pay now"}}}, "control that sends"),
    "role": ({"change": {"Send": {"role": "link"}}}, "control that sends"),
    "section": ({"change": {"Send": {"section": "Danger"}}}, "control that sends"),
    "destination": (goes_to("http://evil.test/"), "control that sends"),
    "gone": ({"remove": ["Send"]}, "is gone"),
    "disabled": ({"change": {"Send": {"disabled": True}}}, "control that sends"),
    "a filled field is emptied": ({"change": {"Full name": {"value": ""}}}, "does not show"),
    "a filled field is another": ({"change": {"Full name": {"value": "Eve"}}}, "does not show"),
    "a filled field is gone": ({"remove": ["Full name"]}, "gone"),
    "another field is filled": ({"change": {"Code": {"value": "x"}}}, "this call did not set it"),
    "another box is ticked": ({"change": {"News": {"checked": True}}}, "this call did not set it"),
    "a filled field comes up": ({"add": [{"role": "textbox", "label": "New", "value": "x", "form": "f"}]}, "did not set it"),
    "another filled field goes": ({"remove": ["Country"]}, "did not set it"),
    "captcha": (lambda document: document.update(captcha=True), "captcha"),
    "document": ({"navigate": "/"}, "stale"),
}


@pytest.mark.parametrize("what", DRIFT)
async def test_a_form_that_is_not_what_was_judged_is_not_sent(autojump_clock, world_of, what):
    """Drift: a failed `stale` result that says which fields are set already; the send was not touched."""
    effect, words = DRIFT[what]
    last = {"role": "checkbox", "label": "Last", "form": "f", "on_change": effect}
    others = (
        {"role": "textbox", "label": "Code", "form": "f"},
        {"role": "checkbox", "label": "News", "form": "f"},
        {"role": "textbox", "label": "Country", "value": "NL", "form": "f"},
        last,
    )
    async with world_of(page(*others)) as world:
        output = await call(world, {"Full_name": "Ada", "Last": True})
        assert not output.ok
        assert "stale" in output.summary
        assert output.summary.startswith("2 of 2 fields set.")
        assert any(word in output.summary for word in words.split("|")), output.summary
        assert "The form was not sent." in output.summary
        assert "click" not in [op for op, _, _ in world.acts]
        assert output.data["set"] == list(world.judged.args["ops"])
        assert not output.check.ok
        assert (output.check.checks[-1].part, output.check.checks[-1].ok) == ("the form was sent", False)
        assert world.effect.state == "partial"


FINE = {
    "a line of text": {"text": "Thank you, Ada"},
    "a field outside of the form": {"change": {"Clock": {"value": "12:00"}}},
    "a field that is enabled": {"change": {"Code": {"disabled": True}}},
    "an empty field that comes up": {"add": [{"role": "textbox", "label": "Region", "form": "f"}]},
    "a button that comes up": {"add": [{"role": "button", "label": "Help", "form": "f"}]},
    "nothing": {},
}


@pytest.mark.parametrize("what", FINE)
async def test_what_is_not_of_the_judged_form_is_no_drift(autojump_clock, world_of, what):
    """The accepted twins. Choosing a radio switches off the other of its group, which is the own change."""
    others = (
        {"role": "textbox", "label": "Code", "form": "f"},
        {"role": "textbox", "label": "Clock"},
        {"role": "checkbox", "label": "Last", "form": "f", "on_change": FINE[what]},
    )
    async with world_of(page(*others)) as world:
        output = await call(world, {"Full_name": "Ada", "Blue": True, "Last": True})
        assert output.ok, output
        assert world.browser.acts[-1].sent["name"] == "Ada"


async def test_a_partial_fill_is_not_sent(autojump_clock, world_of):
    """A field that is refused ends it before the send."""
    async with world_of(page()) as world:
        world.document.change("Plan", covered="a banner")
        await world.look()
        output = await call(world)
        assert not output.ok
        assert "1 of 4 fields set." in output.summary
        assert "The form was not sent." in output.summary
        assert world.acts == [("type", "Full name", "Ada")]


async def test_a_send_that_the_page_refuses_is_not_sent(autojump_clock, world_of):
    """Fields are set; the send's refusal has its own words."""
    async with world_of(page()) as world:
        world.document.change("Send", covered="a banner")
        await world.look()
        output = await call(world)
        assert not output.ok
        assert "4 of 4 fields set." in output.summary
        assert "covered" in output.summary
        assert "The form was not sent." in output.summary


async def test_without_a_submit_event_or_navigation_sending_was_not_observed(autojump_clock, world_of):
    """A required field is empty, so the browser sends nothing: not ok, and the planner is told to look before it sends again."""
    async with world_of(page({"role": "textbox", "label": "E-mail", "required": True, "form": "f"})) as world:
        output = await call(world)
        assert not output.ok
        assert "Sending was not observed" in output.summary
        assert output.check.checks[-1].evidence == "sending was not observed"
        assert output.data["sent"] is None
        assert world.effect.state == "done"


async def test_a_form_that_the_page_itself_keeps_is_sent_all_the_same(autojump_clock, world_of):
    """A submit event that the page handles counts; the document stays."""
    async with world_of(page(form={"action": None, "on_submit": {"text": "Thanks"}})) as world:
        output = await call(world)
        assert output.ok
        assert output.data["sent"] == "submit-event"
        assert not output.stop_batch
        assert "| Thanks" in output.untrusted


async def test_a_link_like_button_that_navigates_counts_as_navigation(autojump_clock, world_of):
    """No submit event fired, and the page was left."""
    async with world_of(page({"role": "button", "label": "Go", "form": "f", "on_click": {"navigate": "/welcome"}})) as world:
        output = await call(world, {"Full_name": "Ada"}, send="Go")
        assert output.ok
        assert output.data["sent"] == "navigation"


def look(value, *, url=START, document="d0" * 16, controls=True):
    base = {
        "type": "", "name": "", "placeholder": "", "section": "", "disabled": False, "read_only": False, "required": False,
        "offscreen": False, "dialog": False, "autocomplete": False, "picker": False, "secret": False, "form": 9,
    }  # fmt: skip
    field = {
        **base,
        "node": 1,
        "role": "textbox",
        "tag": "input",
        "label": "Name",
        "guard": "g" * 8,
        "submit": False,
        "value": value,
    }
    send = {**base, "node": 2, "role": "button", "tag": "button", "label": "Send", "guard": "h" * 8, "submit": True, "value": ""}
    state = {
        "frame": 0, "document": document, "url": url, "title": "", "text": "", "headings": [], "captcha": False, "more": False,
        "truncated": 0, "key": "k" * 8, "controls": [field, send] if controls else [],
    }  # fmt: skip
    return Snapshot.from_wire({"frames": [state]})


CLICK = {"ok": True, "started": True}
OTHER = "d1" * 16
NO = DialogSeen(kind="confirm", message="Really?", answer=False)
EVIDENCE = {
    "a submit event": ({"submitted": True}, look("Ada"), "submit-event"),
    "a submit event that a declined question stopped": ({"submitted": True, "dialogs": [NO]}, look("Ada"), None),
    "a question, and the page was left": ({"submitted": True, "dialogs": [NO]}, look("", document=OTHER), "submit-event"),
    "another document": ({}, look("", document=OTHER), "navigation"),
    "another address": ({}, look("Ada", url="http://shop.test/thanks"), "navigation"),
    "another fragment": ({}, look("Ada", url=f"{START}#x"), None),
    "the document went after the click": ({"navigated": True}, None, "navigation"),
    "a request, and the fields are cleared": ({"changed": ["request"]}, look(""), "request"),
    "a request, and the fields are gone": ({"changed": ["request"]}, look("", controls=False), "request"),
    "a request, and the fields are as they were": ({"changed": ["request"]}, look("Ada"), None),
    "cleared fields without a request": ({"changed": ["page"]}, look(""), None),
    "nothing": ({}, look("Ada"), None),
}  # fmt: skip


@pytest.mark.parametrize("what", EVIDENCE)
def test_what_counts_as_sent(what):
    """Page reference 21.14."""
    result, after, evidence = EVIDENCE[what]
    found = sent_by(ActResult(**CLICK, **result), look("Ada"), after, {"control": "0:2"}, left=False)
    assert found == evidence


async def test_the_human_reads_what_sends_where_first_and_then_the_fields(autojump_clock, world_of):
    """Role and label of the send control and the destination; another host and a risk are said in so many words."""
    async with world_of(page()) as world:
        await call(world, {"Full_name": "Ada", "Terms": True})
        assert world.detail.splitlines() == [
            'fill 2 fields and send them, on the page "http://shop.test/"',
            'sends by button "Send", its form by "post" to "http://shop.test/welcome"',
            'textbox "Full name": "Ada"',
            'checkbox "Terms": on',
        ]
    async with world_of(page(send={"label": "Delete it"}, form={"action": "http://evil.test/x"})) as world:
        await world.prepared("fill_and_send", fields=world.fields(Full_name="Ada"), send_id=world.id_of("Delete it"))
        action = await world.prepared("fill_and_send", fields=world.fields(Full_name="Ada"), send_id=world.id_of("Delete it"))
        await world.allowed(action)
        assert 'which is on ANOTHER HOST than the page: "evil.test"' in world.detail
        assert "takes a risk: delete data" in world.detail


async def test_a_send_that_leads_to_another_host_reads_nothing_there(autojump_clock, world_of):
    """The form was sent, as judged; that page was not."""
    pages = {**page(form={"action": "http://other.test/x"}), "http://other.test/x": {"text": "OTHER"}}
    async with world_of(pages) as world:
        output = await call(world)
        assert output.ok
        assert "other.test" in output.summary
        assert "OTHER" not in str(output.untrusted)
        assert output.stop_batch


async def test_a_look_between_the_pins_makes_no_half_judged_call(autojump_clock, world_of):
    """Fields and send are pinned in one look; a click that became stale is told as such."""
    async with world_of(page()) as world:
        permit = await world.allowed(
            await world.prepared("fill_and_send", fields=world.fields(**FILL), send_id=world.id_of("Send"))
        )
        world.document.change("Send", label="Delete")
        output = await world.run(permit)
        assert not output.ok
        assert "4 of 4 fields set. stale" in output.summary
        assert "click" not in [op for op, _, _ in world.acts]
