"""Verification and preview: what counts as evidence (page reference, sections 17 and 18)."""

import pytest

from foxloop_trio.browser.tasks import ModelChooser, Preview, preview
from foxloop_trio.browser.tasks._verify import page_problem, verify

SECOND = "d1" * 16


def verdict(pages, goal, before, after=None, *, limit=12):
    """A run in which each act is accepted: decided on `before`, looked at on `after`."""
    progress = pages.start(goal)
    for _ in range(limit):
        act = pages.decide(progress, before)
        if not hasattr(act, "op"):
            break
        if act.send:
            before = after or before
        pages.did(progress, before, act, submitted=act.send)
    return verify(progress, after or before)


def lines(check):
    return [(line.part, line.ok) for line in check.checks]


NAME = {"role": "textbox", "label": "Name"}
BOX = {"role": "checkbox", "label": "I accept the terms"}
PLAN = {"role": "combobox", "label": "Plan"}


@pytest.mark.parametrize(
    ("goal", "before", "after", "ok"),
    [
        ("name: Ada", NAME, {"value": "Ada"}, True),
        ("name: Ada", NAME, {"value": ""}, False),
        ("name: Ada", NAME, {"value": "ADA "}, True),
        ("name: Ada", NAME, {"value": "Eve"}, False),
        ("plan: Pro", PLAN | {"options": ["*Free", "Pro"]}, {"options": ["Free", "*Pro"]}, True),
        ("plan: Pro", PLAN | {"options": ["*Free", "Pro"]}, {"options": ["*Free", "Pro"]}, False),
        ("choose the Pro plan", PLAN | {"options": ["*Free", "Pro"]}, {"options": ["Free", "*Pro"]}, True),
        ("shipping: Express", {"role": "radio", "label": "Express"}, {"checked": True}, True),
        ("shipping: Express", {"role": "radio", "label": "Express"}, {"checked": False}, False),
        ("accept the terms", BOX, {"checked": True}, True),
        ("accept the terms", BOX, {"checked": False}, False),
        ("untick the terms", BOX | {"checked": True}, {"checked": False}, True),
        ("untick the terms", BOX | {"checked": True}, {"checked": True}, False),
        ("terms: yes", BOX, {"checked": True}, True),
        ("terms: yes", BOX, {"checked": False}, False),
        ("terms: no", BOX | {"checked": True}, {"checked": False}, True),
        ("choose dark mode", {"role": "button", "label": "Dark mode"}, {}, True),
        ("choose dark mode", {"role": "button", "label": "Dark mode"}, {"checked": True}, True),
        ("choose dark mode", {"role": "button", "label": "Dark mode"}, {"checked": False}, False),
        ("date: 2026-10-09", {"role": "textbox", "label": "Date", "type": "date"}, {"value": "2026-10-09"}, True),
        ("date: 2026-10-09", {"role": "textbox", "label": "Date", "type": "date"}, {"value": "2026-10-10"}, False),
        ("date: 2026-10-09", {"role": "textbox", "label": "Date", "date_format": "DD/MM/YYYY"}, {"value": "09/10/2026"}, True),
        ("date: 2026-10-09", {"role": "textbox", "label": "Date", "date_format": "MM/DD/YYYY"}, {"value": "09/10/2026"}, False),
    ],
)
def test_each_kind_of_requirement_needs_its_own_evidence(pages, goal, before, after, ok):
    """The control shows it; that it was acted on is not enough."""
    made = pages.control(**before, form=90)
    shown = pages.look(pages.control(**(before | after), form=90))
    check = verdict(pages, f"{goal}, do not submit", pages.look(made), shown)
    assert lines(check)[0] == (goal, ok)
    assert check.ok is ok


def test_a_value_without_a_control_fails_and_a_setting_without_one_is_passed_over(pages):
    """And nothing at all to check is no success."""
    page = pages.look(pages.control(**NAME, value="Ada", form=90))
    assert lines(verdict(pages, "name: Ada, colour: blue, do not submit", page)) == [("name: Ada", True), ("colour: blue", False)]
    check = verdict(pages, "choose blue, do not submit", page)
    assert (lines(check), check.ok) == ([], False)


def test_evidence_is_what_the_form_held_right_before_it_was_sent(pages):
    """Words of thanks on the next page count for nothing."""
    before = pages.look(pages.control(**NAME, form=90), pages.control("button", "Send", submit=True))
    filled = pages.look(pages.control(**NAME, form=90, value="Ada"), pages.control("button", "Send", submit=True))
    thanks = pages.look(document=SECOND, url="http://shop.test/thanks", text="Thank you, Ada")
    progress = pages.start("name: Ada")
    pages.did(progress, before, pages.decide(progress, before))
    pages.did(progress, filled, pages.decide(progress, filled), after=thanks, submitted=True)
    check = verify(progress, thanks)
    assert (lines(check), check.ok) == ([("name: Ada", True), ("the form is sent", True)], True)
    assert check.checks[1].evidence == "submit-event"
    unsent = pages.start("name: Ada")
    pages.did(unsent, before, pages.decide(unsent, before))
    check = verify(unsent, thanks)
    assert lines(check)[-1] == ("the form is sent", False)


def test_a_page_that_complains_after_the_submit_event_is_no_proof_of_sending(pages):
    """Scripts stop forms after that event. The form must still be there as it was filled, and the line must be new."""
    button = pages.control("button", "Send", submit=True)
    empty, filled, other = ((pages.control(**NAME, form=90, value=value), button) for value in ("", "Ada", "Ada Lovelace, cleared"))
    for after, ok in (
        (pages.look(*filled, text="Fill it in.\nName is required"), False),
        (pages.look(*filled, text="Fill it in.\nAn error occurred"), False),
        (pages.look(*filled, text="Fill it in.\nThank you"), True),
        (pages.look(*filled, text="Fill it in."), True),
        (pages.look(*other, text="Fill it in.\nName is required"), True),
        (pages.look(document=SECOND, text="An error occurred in paradise, and this is a long text about it. " * 3), True),
    ):
        progress = pages.start("name: Ada")
        before = pages.look(*empty)
        pages.did(progress, before, pages.decide(progress, before))
        before = pages.look(*filled)
        pages.did(progress, before, pages.decide(progress, before), after=after, submitted=True)
        line = verify(progress, after).checks[-1]
        assert (line.part, line.ok) == ("the form is sent", ok)


def test_nothing_may_have_been_sent_when_the_goal_says_so(pages):
    """A page that sends by itself makes the check fail."""
    page = pages.look(pages.control(**PLAN, options=["Free", "*Pro"], form=90))
    before = pages.look(pages.control(**PLAN, options=["*Free", "Pro"], form=90))
    for submitted in (False, True):
        progress = pages.start("plan: Pro, do not submit")
        pages.did(progress, before, pages.decide(progress, before), after=page, submitted=submitted)
        assert lines(verify(progress, page)) == [("plan: Pro", True), ("nothing is sent", not submitted)]


def test_a_secret_counts_when_the_page_compared_it_and_still_holds_it(pages):
    """Page reference 17, [+]: it is compared in the page, and no text shows it."""
    empty = pages.look(pages.control("textbox", "Password", type="password", form=90))
    progress = pages.start("password: hunter2, do not submit")
    progress.secrets = {0: frozenset({"hunter2"})}
    pages.did(progress, empty, pages.decide(progress, empty))
    for value, ok in (("•••", True), ("", False)):
        check = verify(progress, pages.look(pages.control("textbox", "Password", type="password", form=90, value=value)))
        assert lines(check)[0] == ("password: •••", ok)
        assert "hunter2" not in repr(check)
    untouched = pages.start("password: hunter2, do not submit")
    pages.decide(untouched, empty)
    assert not verify(untouched, pages.look(pages.control("textbox", "Password", type="password", value="•••"))).ok


def test_a_day_that_is_chosen_counts_by_its_label(pages):
    """A picker without a field of its own."""
    day = pages.control("gridcell", "October 9, 2026", dialog=True, checked=True)
    progress = pages.start("date: 2026-10-09, do not submit")
    pages.decide(progress, pages.look(day))
    assert lines(verify(progress, pages.look(day))) == [("date: 2026-10-09", True)]


def test_what_was_clicked_and_is_gone_was_used(pages):
    """It reports no state. What was never clicked and shows nothing fails."""
    page = pages.look(pages.control("button", "Dark mode"), pages.control("button", "Help"))
    progress = pages.start("choose dark mode, do not submit")
    pages.did(progress, page, pages.decide(progress, page))
    gone = pages.look(pages.control("button", "Help", node=9))
    assert lines(verify(progress, gone)) == [("choose dark mode", True)]
    unused = pages.start("choose dark mode, do not submit")
    assert lines(verify(unused, page)) == [("choose dark mode", False)]


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ({}, None),
        ({"captcha": True}, "captcha"),
        ({"text": ""}, "empty page"),
        ({"title": "404 Not Found"}, "error page"),
        ({"title": "Error"}, "error page"),
        ({"headings": ["Something went wrong"]}, "error page"),
        ({"text": "Service unavailable"}, "error page"),
        ({"text": "Try again later."}, "error page"),
        ({"text": "Access denied"}, "error page"),
        ({"title": "Room 4041"}, None),
        ({"title": "Terror in the library"}, None),
        ({"headings": ["Fine", "Error"]}, None),
        ({"text": "Error: use your work e-mail", "controls": True}, None),
        ({"text": "This page is not found " + "x" * 120}, None),
    ],
)
def test_a_page_with_a_problem_verifies_nothing(pages, page, problem):
    """A hint on a normal page is none."""
    controls = [pages.control(**NAME)] if page.pop("controls", False) else []
    assert page_problem(pages.look(*controls, **page)) == problem


def test_a_page_that_may_not_be_read_is_no_evidence(pages):
    """The run has left for elsewhere."""
    page = pages.look(pages.control(**NAME, form=90))
    progress = pages.start("name: Ada, do not submit")
    pages.did(progress, page, pages.decide(progress, page))
    assert lines(verify(progress, None)) == [("name: Ada", False), ("nothing is sent", True)]


# Preview


async def plan(pages, goal, *controls, **options):
    return await preview(pages.look(*controls, **options.pop("page", {})), goal, today=pages.today, **options)


async def test_a_preview_has_all_steps_on_one_look_and_touches_nothing(pages):
    """Page reference 18: destination, send, fields in goal order, what fits nothing, risks."""
    planned = await plan(
        pages, "accept the terms, name: Ada, plan: Pro, colour: blue, IBAN: DE89",
        pages.control(**NAME, form=90), pages.control(**PLAN, options=["*Free", "Pro"], form=90), pages.control(**BOX, form=90),
        pages.control("textbox", "IBAN", form=90), pages.control("button", "Send", submit=True),
    )  # fmt: skip
    assert planned.to_json() == {
        "document": "d0" * 16, "url": "http://shop.test/form", "today": "2026-09-01", "blocked": None,
        "risks": [], "unmatched": ["colour: blue"],
        "destination": {"url": "http://shop.test/send", "method": "post", "target": "", "host": "shop.test"},
        "send": {"how": "button", "id": "0:5", "role": "button", "label": "Send", "section": "", "document": "d0" * 16},
        "fields": [
            {"id": "0:3", "label": "I accept the terms", "role": "checkbox", "op": "check", "value": None},
            {"id": "0:1", "label": "Name", "role": "textbox", "op": "type", "value": "Ada"},
            {"id": "0:2", "label": "Plan", "role": "combobox", "op": "select", "value": "Pro"},
            {"id": "0:4", "label": "IBAN", "role": "textbox", "op": "type", "value": "•••"},
        ],
    }  # fmt: skip
    assert Preview.from_json(planned.to_json()) == planned


async def test_nothing_to_fill_means_nothing_to_send(pages):
    """And so does a goal that forbids it. Still a preview."""
    planned = await plan(pages, "colour: blue", pages.control("button", "Send", submit=True))
    assert (planned.send, planned.destination, planned.fields) == (None, None, ())
    planned = await plan(
        pages, "name: Ada, do not send", pages.control(**NAME, form=90), pages.control("button", "Send", submit=True)
    )
    assert (planned.send, planned.destination, len(planned.fields)) == (None, None, 1)


async def test_enter_is_previewed_where_there_is_no_button(pages):
    """Where it would go the page does not tell."""
    planned = await plan(pages, "name: Ada", pages.control(**NAME, form=90))
    assert (planned.send.how, planned.send.label, planned.destination) == ("enter", "Name", None)


async def test_what_is_as_wanted_already_is_shown_as_such(pages):
    """So a human sees what the form would hold."""
    planned = await plan(
        pages, "name: Ada, accept the terms", pages.control(**NAME, value="Ada", form=90), pages.control(**BOX, form=90)
    )
    assert [(field.op, field.value) for field in planned.fields] == [("keep", "Ada"), ("check", None)]


async def test_risks_are_listed_and_so_is_what_would_block(pages):
    """A button that may not be pressed is shown with its risk."""
    form = (pages.control(**NAME, form=90), pages.control("button", "Pay now", submit=True))
    refused = await plan(pages, "name: Ada", *form)
    assert (refused.blocked, refused.send.label) == ("risky-send", "Pay now")
    assert [(risk.risk, risk.label) for risk in refused.risks] == [("spend money", "Pay now")]
    allowed = await plan(pages, "name: Ada, then pay", *form)
    assert (allowed.blocked, len(allowed.risks)) == (None, 1)
    disabled = await plan(
        pages, "name: Ada", pages.control(**NAME, form=90), pages.control("button", "Send", submit=True, disabled=True)
    )
    assert (disabled.blocked, disabled.send.label) == ("submit-disabled", "Send")
    assert (await plan(pages, "name: Ada", *form, page={"captcha": True})).blocked == "captcha"


async def test_a_date_that_a_picker_would_set_is_shown_as_the_date(pages):
    """The click that opens it says nothing to a human."""
    planned = await plan(pages, "date: 2026-10-09", pages.control("textbox", "Date", picker=True, read_only=True, form=90))
    assert [(field.op, field.value) for field in planned.fields] == [("date", "2026-10-09")]


async def test_a_preview_is_bounded(pages):
    """Forty fields at most, as a run has forty steps."""
    goal = ", ".join(f"f{number}: v{number}" for number in range(60))
    planned = await plan(pages, goal, *(pages.control("textbox", f"F{number}", form=90) for number in range(60)))
    assert (len(planned.fields), planned.blocked) == (40, "step-limit")


async def test_a_chooser_of_ones_own_is_asked_the_same_questions(pages):
    """Spans first, then each requirement."""

    class Model:
        async def extract(self, text, labels):
            return {"person": ["Ada Lovelace"]}

        async def classify(self, text, labels):
            return {"Passenger": 0.8, "City": 0.1}

    form = (pages.control("textbox", "City", form=90), pages.control("textbox", "Passenger", form=90))
    planned = await plan(pages, "book for Ada Lovelace", *form, chooser=ModelChooser(Model()))
    assert [(field.label, field.value) for field in planned.fields] == [("Passenger", "Ada Lovelace")]
