"""`fill` over `FakeBrowser`: the real gate and the real wire, pages as data (tool reference, sections 1 to 6)."""

import pytest
import trio

from foxloop_trio.actions import Action
from foxloop_trio.errors import Refuse
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.trail import MemoryTrail

START = "http://shop.test/"
PLANS = {"free": "Free", "pro": "Professional", "p2": "Two", "p3": "Two"}


def page(*controls, **more):
    return {
        START: {
            "title": "Sign up",
            "text": "PAGE WORDS",
            "controls": [
                {"role": "textbox", "label": "Full name", "name": "name", "form": "f"},
                {"role": "textbox", "label": "Birthday", "type": "date", "form": "f"},
                {"role": "textbox", "label": "Arrival", "date_format": "DD/MM/YYYY", "form": "f"},
                {"role": "combobox", "label": "Plan", "options": PLANS, "form": "f"},
                {"role": "checkbox", "label": "Terms", "form": "f"},
                {"role": "checkbox", "label": "News", "checked": True, "form": "f"},
                {"role": "radio", "label": "Red", "name": "colour", "form": "f"},
                {"role": "radio", "label": "Blue", "name": "colour", "form": "f"},
                {"role": "button", "label": "Send", "submit": True, "form": "f"},
                {"role": "link", "label": "Home", "href": "/"},
                *controls,
            ],
            **more,
        }
    }


ALL = {
    "Full_name": "Ada", "Birthday": "1815-12-10", "Arrival": "2026-09-04", "Plan": "Professional", "Terms": True, "News": False,
    "Blue": True,
}  # fmt: skip
DONE = [
    ("type", "Full name", "Ada"),
    ("date", "Birthday", "1815-12-10"),
    ("type", "Arrival", "04/09/2026"),
    ("select", "Plan", "pro"),
    ("check", "Terms", None),
    ("uncheck", "News", None),
    ("check", "Blue", None),
]


async def test_each_kind_of_field_is_set_by_its_own_operation(autojump_clock, world_of):
    """The table of section 6: text, native date, a date in the field's format, an option by its unique label, boxes, a radio."""
    async with world_of(page()) as world:
        output = await world.call("fill", fields=world.fields(**ALL))
        assert world.acts == DONE
        assert output.ok, output
        assert output.summary.startswith("fill: 7 of 7 fields set.")
        assert output.check.ok
        assert [line.part for line in output.check.checks][:2] == [
            'textbox "Full name" holds the wanted value',
            'textbox "Birthday" holds the wanted value',
        ]
        assert [line.evidence for line in output.check.checks][2:5] == [
            'it holds "04/09/2026"', 'it holds "Professional"', "it is on",
        ]  # fmt: skip
        assert output.data == {"set": list(world.fields(**ALL)), "of": 7, "navigated": False}
        assert (world.effect.state, [step["op"] for step in world.effect.done]) == ("done", [op for op, _, _ in DONE])
        assert not output.stop_batch


async def test_the_page_is_shown_once_at_the_end(autojump_clock, world_of):
    """One look for the planner; the looks between the fields are ours. Its words are outside text."""
    async with world_of(page(*({"role": "link", "label": f"L{n}", "href": "/"} for n in range(30)))) as world:
        output = await world.call("fill", fields=world.fields(Full_name="Ada", Terms=True))
        assert output.untrusted.startswith('Same document: "http://shop.test/"\nChanged:')
        assert "Ada" not in output.summary
        assert (await world.prepared("click", control_id=world.id_of("Send"))).args["target"]["submit"]


async def test_the_order_is_the_planner_s(autojump_clock, world_of):
    """Not that of the page, and not that of the gate's canonical text; through the loop as well."""
    async with world_of(page()) as world:
        names = ["Terms", "Full_name", "Blue", "Plan"]
        await world.call("fill", fields=world.fields(**{name: ALL[name] for name in names}))
        assert [label for _, label, _ in world.acts] == ["Terms", "Full name", "Blue", "Plan"]
    async with world_of(page()) as world:
        fields = world.fields(**{name: ALL[name] for name in names})
        planner = scripted_planner(
            [
                {"calls": [{"name": "snapshot", "args": {}}]},
                {"calls": [{"name": "fill", "args": {"fields": fields}}]},
                {"calls": [{"name": "finish", "args": {"summary": "Done."}}]},
            ]
        )
        await Loop(planner=planner, gate=world.gate, tools=list(world.tools.values())).complete("fill it in")
        assert [label for _, label, _ in world.acts] == ["Terms", "Full name", "Blue", "Plan"]


WRONG = {
    "text for a box": ({"Terms": "yes"}, "true or false"),
    "a box's value for a text": ({"Full_name": True}, "give a text"),
    "a radio that is to go off": ({"Red": False}, "only be switched on"),
    "a text for a radio": ({"Red": "yes"}, "only be switched on"),
    "no date": ({"Birthday": "soon"}, "YYYY-MM-DD"),
    "no such date": ({"Birthday": "2026-02-30"}, "YYYY-MM-DD"),
    "a date as people write it": ({"Arrival": "04/09/2026"}, "YYYY-MM-DD"),
    "no such option": ({"Plan": "Gold"}, "no such option"),
    "an ambiguous label": ({"Plan": "Two"}, "several options"),
    "true for a choice": ({"Plan": True}, "option's value"),
    "a button": ({"Send": True}, "only a click sets"),
    "a link": ({"Home": "x"}, "only a click sets"),
    "two radios of a group": ({"Red": True, "Blue": True}, "one group"),
    "a read-only field": ({"Customer": "x"}, "read-only"),
    "a disabled field": ({"Region": "x"}, "disabled"),
    "a field for files": ({"Photo": "x"}, "files"),
    "a secret field": ({"Password": "hunter2"}, "secret"),
    "a number": ({"Full_name": 7}, "a text, or true or false"),
    "too long": ({"Full_name": "x" * 2001}, "2000 characters"),
}
MORE = (
    {"role": "textbox", "label": "Customer", "read_only": True},
    {"role": "textbox", "label": "Region", "disabled": True},
    {"role": "button", "label": "Photo", "tag": "input", "type": "file"},
    {"role": "textbox", "label": "Password", "type": "password"},
)


@pytest.mark.parametrize("what", WRONG)
async def test_a_value_that_does_not_fit_is_refused_before_the_gate(autojump_clock, world_of, what):
    """In prepare: nothing is judged, nothing is sent, and the refusal does not repeat the value."""
    fields, words = WRONG[what]
    async with world_of(page(*MORE)) as world:
        asked = len(world.browser.asked)
        with pytest.raises(Refuse, match=words) as caught:
            await world.prepared("fill", fields=world.fields(**fields))
        assert world.browser.asked[asked:] == []
        assert "hunter2" not in str(caught.value)
        assert (await world.call("fill", fields=world.fields(Full_name="x" * 2000))).ok  # the accepted twin


async def test_there_are_one_to_twelve_fields(autojump_clock, world_of):
    """No fields and 13 are refused with the way out; 12 are fine."""
    boxes = [{"role": "textbox", "label": f"F{n}"} for n in range(13)]
    async with world_of(page(*boxes)) as world:
        fields = world.fields(**{f"F{n}": "x" for n in range(13)})
        for given in ({}, fields):
            with pytest.raises(Refuse, match="1 to 12"):
                await world.prepared("fill", fields=given)
        fields.popitem()
        assert (await world.call("fill", fields=fields)).data["of"] == 12


async def test_values_too_long_for_the_gate_are_refused_with_the_way_out(autojump_clock, world_of):
    """A denial would end the run; twelve long values in a wide alphabet do not fit into what is judged."""
    boxes = [{"role": "textbox", "label": f"F{n}"} for n in range(12)]
    async with world_of(page(*boxes)) as world:
        with pytest.raises(Refuse, match="fewer fields"):
            await world.prepared("fill", fields=world.fields(**{f"F{n}": "\u4e16" * 2000 for n in range(12)}))


async def test_without_a_snapshot_or_with_an_unknown_id_nothing_can_be_named(autojump_clock, world_of):
    """Each id is looked up in the newest snapshot."""
    async with world_of(page()) as world:
        with pytest.raises(Refuse, match="Call snapshot"):
            await world.prepared("fill", fields={world.id_of("Full name"): "Ada", "0:99": "x"})
        world.browser.navigate(world.tab, START)
        with pytest.raises(Refuse, match="Call snapshot"):
            await world.prepared("fill", fields={"0:99": "x"})


async def test_pins_are_judged_one_per_field_in_the_given_order(autojump_clock, world_of):
    """Section 4: `targets`, of one look; what is judged is what will be given, dates in the field's own format."""
    async with world_of(page()) as world:
        await world.call("fill", fields=world.fields(Arrival="2026-09-04", Terms=True))
        args = world.judged.args
        assert [pin["label"] for pin in args["targets"]] == ["Arrival", "Terms"]
        assert {pin["generation"] for pin in args["targets"]} == {1}
        assert args["fields"] == world.fields(Arrival="04/09/2026", Terms=True)
        assert args["ops"] == world.fields(Arrival="type", Terms="check")


# In the middle


async def test_it_stops_at_the_first_refusal_and_says_how_far_it_came(autojump_clock, world_of):
    """How many were set, which one was refused and why; nothing after it is touched; the page is read once all the same."""
    async with world_of(page()) as world:
        world.document.change("Plan", covered="a banner")
        await world.look()
        output = await world.call("fill", fields=world.fields(Full_name="Ada", Terms=True, Plan="pro", News=False))
        assert not output.ok
        assert output.summary.startswith(f"2 of 4 fields set. Control {world.id_of('Plan')} failed (covered: ")
        assert "Call snapshot" in output.summary
        assert 'Detail: "a banner"' in output.untrusted
        assert [label for _, label, _ in world.acts] == ["Full name", "Terms"]
        assert output.data["stopped"] == {"why": "refused", "control": world.id_of("Plan")}
        assert [line.ok for line in output.check.checks] == [True, True, False, False]
        assert not output.check.ok
        assert (world.effect.state, len(world.effect.done)) == ("partial", 2)
        assert (await world.prepared("click", control_id=world.id_of("Send"))) is not None


async def test_a_first_field_that_is_refused_is_a_refusal_like_any_other(autojump_clock, world_of):
    """Nothing was done and the page is not read: the remembered snapshot is dropped."""
    async with world_of(page()) as world:
        world.document.change("Full name", covered="a banner")
        await world.look()
        output = await world.call("fill", fields=world.fields(Full_name="Ada", Terms=True))
        assert (output.ok, world.acts, world.effect.state) == (False, [], "not-started")
        assert output.summary.startswith("Nothing was set.")
        with pytest.raises(Refuse, match="Call snapshot first"):
            await world.prepared("click", control_id=world.id_of("Send"))


async def test_a_field_that_does_not_take_its_value_is_part_of_what_was_done(autojump_clock, world_of):
    """It was begun: the effect says so, and the field's own words are outside text."""
    async with world_of(page({"role": "textbox", "label": "Zip", "max_length": 3, "form": "f"})) as world:
        output = await world.call("fill", fields=world.fields(Full_name="Ada", Zip="12345", Terms=True))
        assert not output.ok
        assert "mismatch" in output.summary
        assert 'The field holds: "123"' in output.untrusted
        assert world.effect.state == "partial"
        assert world.effect.done[-1] == {"op": "type", "control": world.id_of("Zip"), "effect": "partial"}
        assert [label for _, label, _ in world.acts] == ["Full name", "Zip"]


MEANWHILE = {
    "vanished": {"remove": ["Plan"]},
    "called otherwise": {"change": {"Plan": {"label": "Your plan"}}},
    "of another section": {"change": {"Plan": {"section": "Extras"}}},
    "filled by somebody else": {"change": {"Plan": {"value": "pro"}}},
    "disabled": {"change": {"Plan": {"disabled": True}}},
}


@pytest.mark.parametrize("what", MEANWHILE)
async def test_a_pinned_field_that_an_earlier_one_changed_is_stale(autojump_clock, world_of, what):
    """Only the own fields may change: whatever became of another pinned control, it is not acted on."""
    pages = page({"role": "textbox", "label": "Country", "on_change": MEANWHILE[what], "form": "f"})
    async with world_of(pages) as world:
        output = await world.call("fill", fields=world.fields(Country="NL", Plan="pro"))
        assert (output.ok, world.acts) == (False, [("type", "Country", "NL")])
        assert "1 of 2 fields set." in output.summary
        assert "stale" in output.summary


async def test_changes_that_are_no_pinned_control_s_do_not_matter_between_fields(autojump_clock, world_of):
    """Another field is filled, a line of text and a control come up: the next pinned one is as it was judged."""
    effect = {"change": {"News": {"checked": False}}, "add": [{"role": "textbox", "label": "Region", "form": "f"}], "text": "NL"}
    async with world_of(page({"role": "textbox", "label": "Country", "on_change": effect, "form": "f"})) as world:
        output = await world.call("fill", fields=world.fields(Country="NL", Plan="pro", Terms=True))
        assert output.ok, output


async def test_a_page_that_is_left_in_the_middle_is_stale_and_ends_the_batch(autojump_clock, world_of):
    """Another document has none of the pinned controls, whatever it looks like."""
    pages = page({"role": "textbox", "label": "Country", "on_change": {"navigate": "/"}, "form": "f"})
    async with world_of(pages) as world:
        output = await world.call("fill", fields=world.fields(Country="NL", Plan="pro"))
        assert (output.ok, world.acts) == (False, [("type", "Country", "NL")])
        assert "stale" in output.summary
        assert output.stop_batch


async def test_a_page_that_goes_to_another_host_in_the_middle_is_neither_read_nor_acted_on(autojump_clock, world_of):
    """The result names no host but the judged one and says that the tab has moved; nobody judged the other page."""
    pages = {**page({"role": "textbox", "label": "Country", "on_change": {"navigate": "http://evil.test/"}, "form": "f"})}
    pages["http://evil.test/"] = {"text": "EVIL", "controls": [{"role": "textbox", "label": "Plan"}]}
    async with world_of(pages) as world:
        output = await world.call("fill", fields=world.fields(Country="NL", Plan="pro"))
        assert (output.ok, output.stop_batch, world.acts) == (False, True, [("type", "Country", "NL")])
        assert "evil.test" in output.summary
        assert "EVIL" not in str(output)


async def test_a_page_that_is_still_changing_gets_another_look(autojump_clock, world_of):
    """A field of the form changes after the look and before the act: the page refuses as stale, nothing was begun, and the field is
    compared anew. One that keeps changing is given up.
    """
    async with world_of(page()) as world:
        calls = []

        def change(request):
            calls.append(request.params["op"])
            if len(calls) in (2, 3):
                world.document.change("News", checked=not world.document.find("News").checked)

        watch(world, change)
        output = await world.call("fill", fields=world.fields(Full_name="Ada", Terms=True))
        assert output.ok, output
        assert calls == ["type", "check", "check", "check"]
    async with world_of(page()) as world:
        watch(world, lambda request: world.document.change("News", checked=not world.document.find("News").checked))
        output = await world.call("fill", fields=world.fields(Full_name="Ada", Terms=True))
        assert (output.ok, world.acts) == (False, [])
        assert "stale" in output.summary


def watch(world, before_act):
    """`before_act(request)` in the page, right before each act arrives."""
    answer = world.browser._act

    async def act(call):
        before_act(call.request)
        return await answer(call)

    world.browser._act = act


async def test_a_read_while_the_human_decides_makes_it_stale(autojump_clock, world_of):
    """Section 4: a newer look, also one that shows the same."""
    async with world_of(page(), approval="always") as world:
        output = await world.call("fill", meanwhile=world.browser.session.tabs, fields=world.fields(Terms=True))
        assert output.ok
    async with world_of(page()) as world:
        permit = await world.allowed(await world.prepared("fill", fields=world.fields(Terms=True)))
        await world.look()
        output = await world.run(permit)
        assert "stale" in output.summary
        assert (world.acts, world.effect.state) == ([], "not-started")


@pytest.mark.parametrize("part", ["label", "guard", "document", "generation", "url", "role"])
async def test_a_pin_that_is_not_the_newest_look_s_runs_nothing(autojump_clock, world_of, part):
    """Each of several pins counts, also when the gate allowed the forged one; so does a missing list of pins."""
    async with world_of(page()) as world:
        action = await world.prepared("fill", fields=world.fields(Full_name="Ada", Terms=True))
        pins = [dict(pin) for pin in action.args["targets"]]
        pins[1][part] = "other"
        for targets in (pins, [], None, "x"):
            args = {**action.args, "targets": targets}
            forged = Action(tool="fill", args=args, domain=action.domain, scope="fill")
            decision = await world.gate.check(forged)
            output = await world.run(decision.permit)
            assert (output.ok, world.acts) == (False, [])
            assert "stale" in output.summary


async def test_a_tab_that_moved_after_the_judgement_is_left_alone(autojump_clock, world_of):
    """Both hosts are named; nothing ran, nothing was read."""
    async with world_of({**page(), "http://other.test/": {}}) as world:
        permit = await world.allowed(await world.prepared("fill", fields=world.fields(Terms=True)))
        world.browser.navigate(world.tab, "http://other.test/")
        await trio.sleep(1)
        reads = world.browser.asked.count("page.read")
        output = await world.run(permit)
        assert not output.ok
        assert all(host in output.summary for host in ("shop.test", "other.test"))
        assert (world.acts, world.browser.asked.count("page.read")) == ([], reads)


@pytest.mark.parametrize("first", ["Full name", "Password"])
async def test_a_form_that_somebody_else_changed_before_the_first_field_is_stale(autojump_clock, world_of, first):
    """Only the own fields of this call may change their form; a secret field, for which the page is read again, is no exception."""
    pages = page({"role": "textbox", "label": "Password", "type": "password", "form": "f"})
    for label, fine in (("News", False), ("Home", True)):
        async with world_of(pages, passwords=lambda url: ["hunter2"]) as world:
            fields = world.fields(**{first: "hunter2", "Terms": True})
            permit = await world.allowed(await world.prepared("fill", fields=fields))
            world.document.change(label, **({"checked": False} if label == "News" else {"href": "/x"}))
            output = await world.run(permit)
            assert output.ok is fine
            assert (world.acts == []) is not fine
            assert ("stale" in output.summary) is not fine


async def test_changes_elsewhere_on_the_page_stop_nothing(autojump_clock, world_of):
    """A ticking field outside of the form: its pin holds, and the result says so."""
    async with world_of(page({"role": "textbox", "label": "Clock"})) as world:
        action = await world.prepared("fill", fields=world.fields(Full_name="Ada"))
        world.document.change("Clock", value="12:00")
        assert (await world.run(await world.allowed(action))).ok


async def test_a_box_that_is_right_already_is_not_touched_and_told_apart(autojump_clock, world_of):
    """Done without an event; the effect says that it was so before."""
    async with world_of(page()) as world:
        output = await world.call("fill", fields=world.fields(News=True, Terms=True))
        assert output.ok
        assert [label for _, label, _ in world.acts] == ["Terms"]
        assert world.effect.done[0] == {"op": "check", "control": world.id_of("News"), "already": True}


async def test_a_captcha_or_a_new_page_ends_the_batch(autojump_clock, world_of):
    """What comes after in the same reply was planned for another page."""
    pages = page({"role": "checkbox", "label": "Ask", "on_change": lambda document: document.update(captcha=True)})
    async with world_of(pages) as world:
        output = await world.call("fill", fields=world.fields(Ask=True))
        assert (output.ok, output.stop_batch) == (True, True)


async def test_dialogs_on_the_way_are_counted_and_quoted_outside(autojump_clock, world_of):
    """Answered with no; their words are the page's."""
    pages = page({"role": "checkbox", "label": "Ask", "on_change": {"dialog": {"kind": "confirm", "message": "PAGE asks"}}})
    async with world_of(pages) as world:
        output = await world.call("fill", fields=world.fields(Ask=True, Terms=True))
        assert "1 script dialog opened and was answered with no" in output.summary
        assert 'Dialog ("confirm"): "PAGE asks"' in output.untrusted


async def test_a_lost_browser_in_the_middle_is_a_failed_result_with_what_was_done(autojump_clock, world_of):
    """The second act gets no answer: what it did is not known, the first is."""
    async with world_of(page()) as world:
        world.browser.cut("page.act", phase="started", call=2)
        output = await world.call("fill", fields=world.fields(Full_name="Ada", Terms=True))
        assert not output.ok
        assert "1 of 2 fields set." in output.summary
        assert "browser-lost" in output.summary
        assert world.effect.state == "unknown"
        assert [step.get("effect") for step in world.effect.done] == [None, "unknown"]


# For the human and for the record


async def test_the_human_reads_the_page_and_one_line_for_each_field(autojump_clock, world_of):
    """From what was judged alone; a label cannot make a line of its own."""
    odd = {"role": "textbox", "label": 'Note"\nsends by button "OK\u202e', "form": "f"}
    async with world_of(page(odd)) as world:
        note = f"0:{world.document.number_of(world.document.controls[-1])}"
        await world.call("fill", fields={**world.fields(Full_name="Ada\nLovelace", Terms=True, News=False, Plan="pro"), note: "x"})
        assert world.detail.splitlines() == [
            'fill 5 fields, on the page "http://shop.test/"',
            'textbox "Full name": "Ada Lovelace"',
            'checkbox "Terms": on',
            'checkbox "News": off',
            'combobox "Plan": choose "pro"',
            'textbox "Note\\" sends by button \\"OK": "x"',
        ]


async def test_no_value_can_push_another_field_out_of_the_human_s_sight(autojump_clock, world_of):
    """Twelve long labels and values: each has its line, within what is shown of a description."""
    boxes = [{"role": "textbox", "label": f"{n:02d} {'L' * 190}"} for n in range(12)]
    async with world_of(page(*boxes), start=START) as world:
        await world.allowed(await world.prepared("fill", fields=world.fields(**{box["label"]: "\u00e4" * 1000 for box in boxes})))
        assert len(world.detail) <= 2000
        lines = world.detail.splitlines()
        assert len(lines) == 13
        assert all(line.startswith(f'textbox "{n:02d} L') and "1000 characters in all" in line for n, line in enumerate(lines[1:]))


async def test_the_tool_s_own_words_hold_none_of_the_page_s(autojump_clock, world_of):
    """Summary: numbers, ids, codes."""
    async with world_of(page()) as world:
        for fields in (ALL, {"Full_name": "Ada"}):
            output = await world.call("fill", fields=world.fields(**fields))
            assert not any(word in output.summary for word in ("PAGE", "Full", "Plan", "Ada", "Terms"))


async def test_the_record_has_what_was_judged(autojump_clock, world_of):
    """Without passwords nothing is masked: the values are the planner's own."""
    async with world_of(page()) as world:
        trail = MemoryTrail()
        fields = world.fields(Full_name="Ada", Terms=True)
        planner = scripted_planner(
            [
                {"calls": [{"name": "snapshot", "args": {}}]},
                {"calls": [{"name": "fill", "args": {"fields": fields}}]},
                {"calls": [{"name": "finish", "args": {"summary": "Done."}}]},
            ]
        )
        outcome = await Loop(planner=planner, gate=world.gate, tools=list(world.tools.values()), trail=trail).complete("fill it in")
        assert outcome.status == "done"
        assert world.tools["fill"].redact is None
        assert "Ada" in str([entry.data for entry in trail.entries()])
