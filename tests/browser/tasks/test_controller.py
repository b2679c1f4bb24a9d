"""The controller: one decision on one look, and what is remembered of it (page reference, section 15)."""

import pytest

from foxloop_trio.browser import DialogSeen
from foxloop_trio.browser.tasks import PlannedDestination, PlannedSend, Preview
from foxloop_trio.browser.tasks._reasons import MESSAGES, TASK_BLOCKS

SECOND = "d1" * 16


def fields(pages, *more):
    """A name, a plan, a box and a button, in one form."""
    return (
        pages.control("textbox", "Name", form=90),
        pages.control("combobox", "Plan", options=["*Free", "Pro"], form=90),
        pages.control("checkbox", "I accept the terms", form=90),
        *more,
        pages.control("button", "Send", submit=True),
    )


def test_every_block_has_a_sentence_of_ours():
    """Page reference 20."""
    assert set(MESSAGES) == set(TASK_BLOCKS)
    assert all(message and message[0].islower() for message in MESSAGES.values())


# Serving


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (
            "name: Ada, plan: Pro, accept the terms",
            [("type", "Name", "Ada"), ("select", "Plan", "pro"), ("check", "I accept the terms")],
        ),
        ("plan: Pro, name: Ada", [("select", "Plan", "pro"), ("type", "Name", "Ada")]),
        ("choose the Pro plan", [("select", "Plan", "pro")]),
        ("name: Ada and then submit the form", [("type", "Name", "Ada")]),
        ("name: Ada, colour: blue", [("type", "Name", "Ada")]),
    ],
)
def test_requirements_are_served_in_their_order_and_then_the_form_is_sent(pages, goal, expected):
    """What fits nothing is passed over."""
    assert pages.acts(goal, pages.look(*fields(pages))) == [*expected, ("click", "Send"), ("finish", "")]


def test_nothing_is_sent_when_the_goal_says_so(pages):
    """It is done once the fields are set."""
    assert pages.acts("name: Ada, do not submit", pages.look(*fields(pages))) == [("type", "Name", "Ada"), ("finish", "")]


def test_a_goal_that_fits_nothing_touches_nothing(pages):
    """No form was filled, so none is sent."""
    assert pages.acts("colour: blue", pages.look(*fields(pages))) == [("finish", "")]


@pytest.mark.parametrize(
    ("goal", "control", "expected"),
    [
        ("depart: 2026-10-09", {"type": "date"}, ("date", "Departure", "2026-10-09")),
        ("depart: 2026-10-09", {"date_format": "DD/MM/YYYY"}, ("type", "Departure", "09/10/2026")),
        ("depart: 2026-10-09", {"picker": True, "read_only": True}, ("click", "Departure")),
        ("depart: 2026-10-09", {"picker": True}, ("type", "Departure", "2026-10-09")),
        ("2026-10-09", {}, ("type", "Departure", "2026-10-09")),
    ],
)
def test_a_date_is_set_as_its_field_takes_it(pages, goal, control, expected):
    """Native, in the field's format, through its picker; a lone field is taken whatever it is called."""
    page = pages.look(pages.control("textbox", "Departure", form=90, **control), pages.control("button", "Send", submit=True))
    assert pages.acts(goal, page)[0] == expected


def test_of_several_date_fields_the_named_one_is_taken(pages):
    """And each serves one requirement."""
    page = pages.look(
        pages.control("textbox", "Return", type="date", form=90), pages.control("textbox", "Departure", type="date", form=90)
    )
    assert pages.acts("departing 2026-10-09, returning 2026-10-12", page)[:2] == [
        ("date", "Departure", "2026-10-09"), ("date", "Return", "2026-10-12"),
    ]  # fmt: skip


def test_a_date_never_goes_into_a_field_of_another_kind(pages):
    """An e-mail field is no date field, even when it is the only one."""
    page = pages.look(pages.control("textbox", "E-mail", type="email", form=90))
    assert pages.acts("2026-10-09", page) == [("finish", "")]


@pytest.mark.parametrize(
    ("role", "label", "goal", "expected"),
    [
        ("radio", "Express", "shipping: Express", ("check", "Express")),
        ("option", "Window seat", "seat: window seat", ("click", "Window seat")),
        ("tab", "Flights", "kind: flights", ("click", "Flights")),
        ("checkbox", "Express", "shipping: Express", None),
        ("radio", "Female", "sex: male", None),
        ("switch", "Dark mode", "turn on dark mode", ("check", "Dark mode")),
        ("button", "Dark mode", "turn on dark mode", ("click", "Dark mode")),
        ("textbox", "Dark mode", "turn on dark mode", None),
        ("menuitemcheckbox", "Grid lines", "turn on grid lines", ("check", "Grid lines")),
    ],
)
def test_values_and_settings_reach_the_controls_that_can_hold_them(pages, role, label, goal, expected):
    """Values: fields, lists and choices that name them. Settings: all but what is typed into."""
    page = pages.look(pages.control(role, label, form=90))
    assert pages.acts(goal, page)[0] == (expected or ("finish", ""))


@pytest.mark.parametrize(
    ("goal", "checked", "expected"),
    [
        ("newsletter: yes", False, ("check", "Newsletter")),
        ("newsletter: off", True, ("uncheck", "Newsletter")),
        ("newsletter: no", False, ("finish", "")),
        ("newsletter: On", True, ("finish", "")),
        ("newsletter: weekly", False, ("finish", "")),
    ],
)
def test_yes_and_no_are_values_of_a_switch(pages, goal, checked, expected):
    """Our choice: people write it so. Any other value is none."""
    page = pages.look(pages.control("checkbox", "Newsletter", checked=checked))
    assert pages.acts(goal, page)[0] == expected


def test_a_drop_down_that_is_no_select_is_chosen_from_by_its_name(pages):
    """Page reference 21.11: what it offers is known once it is open, and the page side opens it."""
    page = pages.look(pages.control("combobox", "Colour", tag="div", form=90))
    assert pages.acts("colour: blue", page)[0] == ("select", "Colour", "blue")


def test_consent_goes_to_a_box_before_a_link(pages):
    """Page reference 15, [+]: the link has fewer words too many, and is not what is meant."""
    page = pages.look(
        pages.control("link", "Terms of use", href="/terms"), pages.control("checkbox", "I accept the terms of use", form=90)
    )
    assert pages.acts("accept the terms of use", page)[0] == ("check", "I accept the terms of use")
    only_a_link = pages.look(pages.control("link", "Terms of use", href="/terms"))
    assert pages.acts("accept the terms of use", only_a_link)[0] == ("click", "Terms of use")


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ([("checkbox", "Newsletter", True)], ("uncheck", "Newsletter")),
        ([("checkbox", "Newsletter", False)], ("finish", "")),
        ([("radio", "Newsletter", True)], ("finish", "")),
        ([("link", "Newsletter", None)], ("finish", "")),
        ([("checkbox", "Newsletter", False), ("checkbox", "No newsletter", False)], ("check", "No newsletter")),
    ],
)
def test_off_only_ever_switches_off(pages, controls, expected):
    """Page reference 15, [+]. A choice that itself says no is switched on; nothing is clicked."""
    page = pages.look(*(pages.control(role, label, checked=on) for role, label, on in controls))
    assert pages.acts("no newsletter, do not submit", page)[0] == expected


@pytest.mark.parametrize(
    ("control", "goal"),
    [
        ({"role": "button", "label": "Delete note"}, "choose the note"),
        ({"role": "textbox", "label": "Password", "type": "password"}, "password: hunter2"),
        ({"role": "textbox", "label": "Password", "type": "password"}, "word: hunter2"),
        ({"role": "textbox", "label": "Name", "disabled": True}, "name: Ada"),
        ({"role": "textbox", "label": "Name", "read_only": True}, "name: Ada"),
        ({"role": "button", "label": "Premium", "submit": True}, "choose premium"),
        ({"role": "textbox", "label": "Password hint"}, "password: hunter2"),
    ],
)
def test_some_controls_are_not_free(pages, control, goal):
    """Risky beyond the goal, secret without leave, disabled, read-only, sending; a secret goes into no other field."""
    assert pages.acts(goal, pages.look(pages.control(**control))) == [("finish", "")]


def test_a_risky_control_is_used_when_the_goal_asks_for_it(pages):
    """Page reference 13.2."""
    page = pages.look(pages.control("button", "Delete note"), pages.control("button", "Open note"))
    assert pages.acts("delete the note", page)[0] == ("click", "Delete note")


def test_a_secret_is_typed_where_the_goal_names_it_and_the_host_allows_it(pages):
    """Page reference 13.3: the value must be among those allowed for that frame."""
    page = pages.look(pages.control("textbox", "Password", type="password", form=90))
    progress = pages.start("password: hunter2")
    progress.secrets = {0: frozenset({"hunter2"})}
    act = pages.decide(progress, page)
    assert (act.op, act.value) == ("type", "hunter2")
    step = pages.did(progress, page, act)
    assert (step.typed, step.text) == ("•••", "password: •••")
    other = pages.start("password: hunter3")
    other.secrets = {0: frozenset({"hunter2"})}
    assert type(pages.decide(other, page)).__name__ == "Finish"


@pytest.mark.parametrize(
    ("control", "goal"),
    [
        ({"role": "textbox", "label": "Name", "value": "Ada"}, "name: Ada"),
        ({"role": "combobox", "label": "Plan", "options": ["Free", "*Pro"]}, "plan: Pro"),
        ({"role": "checkbox", "label": "Terms", "checked": True}, "accept the terms"),
        ({"role": "tab", "label": "Flights", "checked": True}, "kind: flights"),
        ({"role": "button", "label": "Bold", "checked": True}, "turn on bold"),
        ({"role": "textbox", "label": "Date", "type": "date", "value": "2026-10-09"}, "date: 2026-10-09"),
        ({"role": "textbox", "label": "Date", "date_format": "DD.MM.YYYY", "value": "9.10.2026"}, "date: 2026-10-09"),
    ],
)
def test_what_is_as_wanted_is_left_alone(pages, control, goal):
    """No act at all, unless one form holds it all and is to be sent."""
    assert pages.acts(goal, pages.look(pages.control(**control))) == [("finish", "")]


def test_a_box_that_is_half_on_is_switched_on(pages):
    """Mixed is not on."""
    page = pages.look(pages.control("checkbox", "Terms", checked="mixed"))
    assert pages.acts("accept the terms", page)[0] == ("check", "Terms")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["Standard plus", "Standard"], "standard"),
        (["Standard plus", "Economy"], "standard plus"),
        (["Standart", "Economy"], "standart"),
        (["Economy"], None),
    ],
)
def test_of_the_options_the_one_that_is_the_value_goes_first(pages, options, expected):
    """Then one that names it, then one that nearly does; none is no match."""
    page = pages.look(pages.control("combobox", "Ticket", options=["*Choose", *options], form=90))
    assert pages.acts("ticket: Standard", page)[0] == (("select", "Ticket", expected) if expected else ("finish", ""))


def test_what_fitted_nothing_is_tried_again_on_another_page(pages):
    """A goal may go over several pages. A date is then no longer typed into any lone field."""
    progress = pages.start("name: Ada, city: London, 2026-10-09")
    first = pages.look(pages.control("textbox", "Name", form=90), pages.control("button", "Next", submit=True))
    pages.did(progress, first, pages.decide(progress, first))
    progress.parts[2].status = "unmatched"
    send = pages.decide(progress, first)
    assert send.send
    second = pages.look(pages.control("textbox", "City", form=90), pages.control("textbox", "Search"), document=SECOND)
    pages.did(progress, first, send, after=second, submitted=True)
    act = pages.decide(progress, second)
    assert (act.op, act.control.label, act.value) == ("type", "City", "London")
    pages.did(progress, second, act)
    assert pages.decide(progress, second).op == "enter"
    assert progress.unmatched == ("2026-10-09",)


# Suggestions


def test_the_entry_that_names_what_was_typed_is_clicked(pages):
    """Of those that came up with the typing; the requirement is done by the field."""
    field = pages.control("textbox", "City", autocomplete=True, form=90)
    entries = [pages.control("option", label, dialog=True) for label in ("Paris, Texas", "London, Ontario", "London")]
    progress = pages.start("city: London, do not submit")
    before = pages.look(field)
    act = pages.decide(progress, before)
    assert (act.op, act.awaits) == ("type", "list")
    after = pages.look(field | {"value": "London"}, *entries)
    pages.did(progress, before, act, after=after)
    assert progress.parts[0].status == "pending"
    click = pages.decide(progress, after)
    assert (click.op, click.control.label) == ("click", "London, Ontario")
    pages.did(progress, after, click, ok=False, started=False, reason="covered")
    click = pages.decide(progress, after)
    assert (click.op, click.control.label) == ("click", "London")
    pages.did(progress, after, click)
    assert (progress.parts[0].status, progress.parts[0].control[1]) == ("done", "0:1")
    assert type(pages.decide(progress, after)).__name__ == "Finish"


def test_without_a_fitting_entry_the_text_stays_as_typed(pages):
    """Entries that were there before are of another list."""
    field, other = pages.control("textbox", "City", autocomplete=True, form=90), pages.control("option", "London", dialog=True)
    progress = pages.start("city: London, do not submit")
    before = pages.look(field, other)
    pages.did(progress, before, pages.decide(progress, before))
    after = pages.look(field, other, pages.control("option", "Paris", dialog=True))
    assert type(pages.decide(progress, after)).__name__ == "Finish"
    assert progress.parts[0].status == "done"


def test_a_list_is_its_field_s_own_where_the_page_says_so(pages):
    """Even when it was there before; and it is no choice of its own for another part of the goal."""
    field = pages.control("textbox", "City", autocomplete=True, form=90)
    own = pages.control("option", "London", dialog=True, popup_for=1)
    other = pages.control("option", "London Bridge", dialog=True)
    progress = pages.start("city: London, do not submit")
    page = pages.look(field, own, other)
    pages.did(progress, page, pages.decide(progress, page))
    assert pages.decide(progress, page).control.label == "London"
    assert pages.acts("bridge: London", pages.look(field, own)) == [("finish", "")]


# Sending


def test_a_disabled_button_blocks(pages):
    """`submit-disabled`, with its label as the page's words."""
    page = pages.look(pages.control("textbox", "Name", form=90), pages.control("button", "Send", submit=True, disabled=True))
    assert pages.acts("name: Ada", page) == [("type", "Name", "Ada"), ("block", "submit-disabled")]


def test_a_risky_button_blocks_unless_the_goal_asks_for_it(pages):
    """`risky-send`."""
    page = pages.look(pages.control("textbox", "Name", form=90), pages.control("button", "Pay now", submit=True))
    assert pages.acts("name: Ada", page) == [("type", "Name", "Ada"), ("block", "risky-send")]
    assert pages.acts("name: Ada, then pay", page)[:2] == [("type", "Name", "Ada"), ("click", "Pay now")]


def test_two_equal_buttons_block_and_both_are_named(pages):
    """`ambiguous-send`."""
    buttons = [pages.control("button", label, submit=True) for label in ("Save draft", "Publish", "Schedule")]
    page = pages.look(pages.control("textbox", "Name", form=90), *buttons)
    progress = pages.start("name: Ada")
    pages.did(progress, page, pages.decide(progress, page))
    block = pages.decide(progress, page)
    assert (block.reason, block.labels) == ("ambiguous-send", ("Publish", "Schedule"))


def test_without_a_button_enter_is_pressed_in_the_field_filled_last(pages):
    """A field outside of any form is a form of its own; a lone switch has nothing to send."""
    page = pages.look(pages.control("textbox", "Name", form=90), pages.control("textbox", "City", form=90))
    assert pages.acts("name: Ada, city: London", page)[2:] == [("enter", "City"), ("finish", "")]
    loose = pages.look(pages.control("searchbox", "Search"))
    assert pages.acts("search: tea", loose) == [("type", "Search", "tea"), ("enter", "Search"), ("finish", "")]
    switch = pages.look(pages.control("switch", "Dark mode"))
    assert pages.acts("turn on dark mode", switch) == [("check", "Dark mode"), ("finish", "")]


def test_enter_goes_to_a_field_that_has_one(pages):
    """Not to the box that was ticked last, nor to a text of many lines."""
    page = pages.look(pages.control("textbox", "Name", form=90), pages.control("checkbox", "Terms", form=90))
    assert pages.acts("name: Ada, accept the terms", page)[2] == ("enter", "Name")


def test_fields_without_a_form_are_sent_together_by_the_button_of_their_section(pages):
    """Our choice: pages without forms have such buttons."""
    page = pages.look(
        pages.control("textbox", "Name", section="Order"), pages.control("checkbox", "Gift", section="Order"),
        pages.control("button", "Send", section="Order"), pages.control("button", "Search", section="Top"),
    )  # fmt: skip
    assert pages.acts("name: Ada, tick gift", page) == [
        ("type", "Name", "Ada"),
        ("check", "Gift"),
        ("click", "Send"),
        ("finish", ""),
    ]


def test_several_forms_are_sent_in_the_order_in_which_they_were_filled(pages):
    """Each by its own button."""
    page = pages.look(
        pages.control("textbox", "Name", form=90), pages.control("button", "Send", submit=True),
        pages.control("textbox", "City", form=91), pages.control("button", "Go", submit=True, form=91),
    )  # fmt: skip
    assert pages.acts("city: London, name: Ada", page)[2:] == [("click", "Go"), ("click", "Send"), ("finish", "")]


def test_a_form_that_holds_all_already_is_sent_as_it_is(pages):
    """Page reference 21.13; not when the values lie in two forms, outside of one, or are not to be sent."""
    name = pages.control("textbox", "Name", value="Ada", form=90)
    box, button = pages.control("checkbox", "Terms", checked=True, form=90), pages.control("button", "Send", submit=True)
    goal = "name: Ada, accept the terms"
    assert pages.acts(goal, pages.look(name, box, button)) == [("click", "Send"), ("finish", "")]
    assert pages.acts(f"{goal}, do not submit", pages.look(name, box, button)) == [("finish", "")]
    assert pages.acts(goal, pages.look(name, box | {"form": 91}, button)) == [("finish", "")]
    assert pages.acts(goal, pages.look(name | {"form": None}, box | {"form": None}, button)) == [("finish", "")]
    assert pages.acts(f"{goal}, city: London", pages.look(name, box, button)) == [("finish", "")]


# What came of it


def test_a_send_counts_with_a_submit_event_or_a_new_page_only(pages):
    """Otherwise the form was tried, and the run blocks: `form-did-not-send`."""
    page = pages.look(*fields(pages))
    gone = pages.look(document=SECOND)
    moved = pages.look(*fields(pages), url="http://shop.test/sent")
    error = pages.look(*fields(pages), url="http://shop.test/form#error")
    for after, result, evidence in (
        (page, {"submitted": True}, ["submit-event"]),
        (gone, {"navigated": True}, ["navigation"]),
        (moved, {}, ["navigation"]),
        (error, {}, []),
        (page, {}, []),
        (gone, {"ok": False, "started": True, "reason": "timeout"}, ["navigation"]),
        (page, {"ok": False, "started": True, "reason": "timeout"}, []),
        (page, {"ok": False, "started": False, "reason": "covered"}, []),
    ):
        progress = pages.start("name: Ada")
        pages.did(progress, page, pages.decide(progress, page))
        pages.did(progress, page, pages.decide(progress, page), after=after, **result)
        assert [sent.evidence for sent in progress.sent.values()] == evidence
        decision = pages.decide(progress, after)
        assert getattr(decision, "reason", None) == (None if evidence else "form-did-not-send")


def test_another_fragment_is_a_new_page_when_the_form_went_with_it(pages):
    """As where pages are told by the fragment; an anchor at an error is none."""
    page = pages.look(pages.control("textbox", "Name", form=90, value="Ada"), pages.control("button", "Send", submit=True))
    thanks = pages.look(pages.control("link", "Home", node=9), url="http://shop.test/form#/thanks")
    progress = pages.start("name: Adam")
    pages.did(progress, page, pages.decide(progress, page))
    pages.did(progress, page, pages.decide(progress, page), after=thanks)
    assert [sent.evidence for sent in progress.sent.values()] == ["navigation"]


@pytest.mark.parametrize(
    ("answered", "after", "evidence"),
    [
        (True, {"value": ""}, "request"),
        (True, None, "request"),
        (True, {"value": "Ada"}, None),
        (False, {"value": ""}, None),
    ],
)
def test_an_answered_request_counts_when_the_fields_were_cleared_or_went_away(pages, monkeypatch, answered, after, evidence):
    """Page reference 21.14, for pages that talk to their server by themselves. An act's result does not tell of requests yet."""
    monkeypatch.setattr("foxloop_trio.browser.tasks._progress._answered_request", lambda result: answered)
    button = pages.control("button", "Send", node=9, form=90)
    empty, filled = (pages.look(pages.control("textbox", "Name", form=90, value=value), button) for value in ("", "Ada"))
    shown = pages.look(*([] if after is None else [pages.control("textbox", "Name", form=90, **after)]), button)
    progress = pages.start("name: Ada")
    pages.did(progress, empty, pages.decide(progress, empty))
    pages.did(progress, filled, pages.decide(progress, filled), after=shown)
    assert [sent.evidence for sent in progress.sent.values()] == ([evidence] if evidence else [])


def test_a_field_that_sends_by_itself_is_not_sent_again(pages):
    """A submit event while a list was chosen from is that form's send."""
    page = pages.look(*fields(pages))
    progress = pages.start("plan: Pro")
    pages.did(progress, page, pages.decide(progress, page), submitted=True)
    assert type(pages.decide(progress, page)).__name__ == "Finish"


def test_a_question_that_was_answered_with_no_blocks_and_is_no_send(pages):
    """`dialog`: the submit event alone says nothing then. An alert is no question."""
    page = pages.look(*fields(pages))
    for kind, answer, blocked in (
        ("confirm", False, True),
        ("prompt", None, True),
        ("alert", None, False),
        ("confirm", True, False),
    ):
        progress = pages.start("name: Ada")
        pages.did(progress, page, pages.decide(progress, page))
        asked = (DialogSeen(kind=kind, message="Really?", answer=answer),)
        pages.did(progress, page, pages.decide(progress, page), submitted=True, dialogs=asked)
        assert getattr(pages.decide(progress, page), "reason", None) == ("dialog" if blocked else None)
        assert bool(progress.sent) is not blocked


def test_three_changes_in_a_row_block_and_a_success_in_between_forgives(pages):
    """`page-keeps-changing`; a changed page bars no control."""
    page = pages.look(*fields(pages))
    progress = pages.start("name: Ada")
    for reason in ("stale", "navigated"):
        act = pages.decide(progress, page)
        assert act.control.label == "Name"
        pages.did(progress, page, act, ok=False, started=False, reason=reason)
    pages.did(progress, page, act)
    assert progress.changed_in_a_row == 0
    send = pages.decide(progress, page)
    for _ in range(3):
        pages.did(progress, page, send, ok=False, started=False, reason="stale")
    assert pages.decide(progress, page).reason == "page-keeps-changing"


def test_any_other_refusal_bars_the_control_and_another_one_is_looked_for(pages):
    """For the rest of the run."""
    page = pages.look(pages.control("textbox", "Name", form=90), pages.control("textbox", "Full name", form=90))
    progress = pages.start("name: Ada")
    act = pages.decide(progress, page)
    pages.did(progress, page, act, ok=False, started=False, reason="covered")
    assert pages.decide(progress, page).control.label == "Full name"
    assert progress.changed_in_a_row == 0


def test_the_number_of_steps_is_bounded_refusals_included(pages):
    """`step-limit`, 40 by default."""
    page = pages.look(*fields(pages))
    progress = pages.start("name: Ada", max_steps=2)
    for _ in range(2):
        pages.did(progress, page, pages.decide(progress, page), ok=False, started=False, reason="stale")
    assert pages.decide(progress, page).reason == "step-limit"
    assert pages.start("x y").max_steps == 40


def test_a_captcha_blocks_before_anything_is_done(pages):
    """`captcha`."""
    assert pages.acts("name: Ada", pages.look(*fields(pages), captcha=True)) == [("block", "captcha")]


def test_a_step_says_what_was_done_for_which_part_and_what_came_of_it(pages):
    """Page reference 15, record."""
    page = pages.look(*fields(pages))
    progress = pages.start("name: Ada")
    step = pages.did(progress, page, pages.decide(progress, page), ok=False, started=False, reason="covered", detail="div")
    assert step.to_json() == {
        "step": 1, "action": "TYPE_TEXT", "control": "0:1", "label": "Name", "text": "name: Ada", "typed": "Ada", "ok": False,
        "reason": "covered", "submitted": False, "navigated": False, "detail": "div",
    }  # fmt: skip


# Pinned


def pinned(pages, page, **changes):
    """A preview of the send of this page."""
    button = page.controls[-1]
    there = {**pages.there, "host": "shop.test", **changes.pop("there", {})}
    send = PlannedSend(**{
        "how": "button", "id": button.id, "role": button.role, "label": button.label, "section": "", "document": page.top.document,
        **changes,
    })  # fmt: skip
    return Preview(document=page.top.document, url=page.url, today="2026-09-01", destination=PlannedDestination(**there), send=send)


@pytest.mark.parametrize(
    ("changes", "sends"),
    [
        ({}, True),
        ({"id": "0:99"}, True),
        ({"document": SECOND, "section": "Other"}, True),
        ({"there": {"url": "http://evil.test/"}}, False),
        ({"there": {"method": "get"}}, False),
        ({"there": {"target": "_blank"}}, False),
        ({"label": "Save"}, False),
        ({"id": "0:99", "section": "Other"}, False),
        ({"how": "enter"}, False),
    ],
)
def test_a_pinned_run_sends_only_what_was_previewed(pages, changes, sends):
    """`destination-changed` otherwise. A button that was made anew is the same when nothing else is like it."""
    page = pages.look(*fields(pages))
    progress = pages.start("name: Ada", pinned=pinned(pages, page, **changes))
    pages.did(progress, page, pages.decide(progress, page))
    decision = pages.decide(progress, page)
    assert getattr(decision, "reason", "sends") == ("sends" if sends else "destination-changed")


def test_a_pinned_run_without_a_previewed_send_sends_nothing(pages):
    """And a button that was made anew beside one like it is not told from it."""
    page = pages.look(*fields(pages))
    progress = pages.start("name: Ada", pinned=Preview(document=page.top.document, url=page.url, today="2026-09-01"))
    pages.did(progress, page, pages.decide(progress, page))
    assert pages.decide(progress, page).reason == "destination-changed"
    twice = pages.look(*fields(pages, pages.control("button", "Send", submit=True)))
    progress = pages.start("name: Ada", pinned=pinned(pages, twice, id="0:99"))
    pages.did(progress, twice, pages.decide(progress, twice))
    assert pages.decide(progress, twice).reason == "destination-changed"
