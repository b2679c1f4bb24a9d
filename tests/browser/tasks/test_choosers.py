"""Choosers: which control a requirement means (page reference, section 12)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.browser import Control
from foxloop_trio.browser.tasks import Chooser, ModelChooser, Requirement, RuleChooser
from foxloop_trio.browser.tasks._choosing import checked_choice, checked_spans
from foxloop_trio.browser.tasks._rule_chooser import score
from foxloop_trio.browser.tasks._words import words
from foxloop_trio.errors import UsageError


def value(key, text="x", **more):
    return Requirement(**{"text": f"{key}: {text}", "key": key, "kind": "value", "value": text, **more})


def date(key):
    return Requirement(text=key, key=key, kind="date", date="2026-10-09")


def setting(key):
    return Requirement(text=key, key=key, kind="setting")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First name", "first name"),
        ("firstName", "first name"),
        ("Please enter your E-Mail here", "email"),
        ("e mail", "email"),
        ("mail", "email"),
        ("ZIP code", "postcode"),
        ("postal-code", "postcode"),
        ("post code", "postcode"),
        ("zip", "postcode"),
        ("Mobile", "phone"),
        ("Telephone", "phone"),
        ("Leaving", "depart"),
        ("outbound", "depart"),
        ("inbound", "return"),
        ("Destination", "to"),
        ("origin", "from"),
        ("Qty", "quantity"),
        ("I agree", "accept"),
        ("Guests", "guest"),
        ("Address", "address"),
        ("bus gas", "bus gas"),
        ("Straße naïve", "straße naive"),
        ("name Name NAME", "name"),
        ("the and of my", ""),
    ],
)
def test_words_are_compared_without_accents_plurals_synonyms_and_fillers(text, expected):
    """Page reference 12.1, words: each once, in the order of the text."""
    assert " ".join(words(text)) == expected


@pytest.mark.parametrize(
    ("requirement", "role", "label", "more", "expected"),
    [
        (value("name"), "textbox", "Name", {}, 1.0),
        (value("first name"), "textbox", "Name", {}, 0.8 / 2 + 0.2),
        (value("name"), "textbox", "First name", {}, 0.8 + 0.1),
        (value("name"), "textbox", "", {"name": "full_name"}, 0.8 + 0.1),
        (value("name"), "textbox", "", {"placeholder": "Name"}, 1.0),
        (value("name"), "textbox", "City", {}, 0.0),
        (Requirement(text="Ada", key="", kind="value", value="x"), "textbox", "Ada", {}, 1.0),
        (value("the"), "textbox", "the", {}, 0.0),
        (value("plan", "Pro"), "combobox", "Plan", {"options": ["Pro", "Free"]}, 1.0),
        (setting("window seat"), "combobox", "Seat", {"options": ["Window", "Aisle"]}, 1.0),
        (value("plan", "Pro"), "radio", "Pro", {}, 0.95),
        (value("plan", "Pro"), "radio", "The Pro plan", {}, 0.9),
        (value("plan", "Pro"), "button", "Pro", {}, 0.0),
        (value("email", "a@x.org"), "textbox", "Email", {"type": "email"}, 1.3),
        (value("email", "a@x.org"), "textbox", "Email", {"type": "tel"}, 0.0),
        (value("email", "a@x.org"), "textbox", "Email", {"type": "date"}, 0.0),
        (value("email", "a@x.org"), "spinbutton", "Email", {"type": "number"}, 0.0),
        (value("phone", "030 1234567"), "textbox", "Phone", {"type": "tel"}, 1.3),
        (date("depart"), "textbox", "Departure", {"type": "date"}, 1.3),
        (date("depart"), "textbox", "Departure", {"picker": True}, 1.3),
        (date("depart"), "textbox", "Departure", {"date_format": "DD/MM/YYYY"}, 1.3),
        (date("depart"), "textbox", "Departure", {"type": "email"}, 0.0),
        (date("depart"), "textbox", "Departure", {"type": "tel"}, 0.0),
        (value("guests", "2"), "spinbutton", "Guests", {"type": "number"}, 1.15),
        (value("city"), "textbox", "City", {"section": "Billing address"}, 1.0),
        (value("billing city"), "textbox", "City", {"section": "Billing address"}, 0.8 / 2 + 0.2 + 0.05 / 2),
        (value("billing"), "textbox", "City", {"section": "Billing"}, 0.0),
    ],
)
def test_the_score_of_a_control(pages, requirement, role, label, more, expected):
    """Page reference 12.1: shared words, choices by name, kinds, digits, and the section as a hint only."""
    (control,) = pages.look(pages.control(role, label, **more)).controls
    assert score(requirement, control) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["First name", "Last name"], "Last name"),
        (["City", "Street"], None),
        (["Last name", "Last name"], None),
        ([], None),
        (["Last name (as in your passport)", "Last name"], "Last name"),
    ],
)
async def test_the_best_control_is_chosen_and_none_of_two_equal_ones(pages, labels, expected):
    """None at 0 as well; the score is at most 1."""
    page = pages.look(*(pages.control("textbox", label) for label in labels))
    chosen = await RuleChooser().choose(value("last name", "Lovelace"), page.controls)
    assert (None if chosen is None else page.control(chosen[0]).label) == expected
    assert chosen is None or 0 < chosen[1] <= 1


async def test_the_rule_chooser_finds_only_what_has_a_shape():
    """E-mail addresses, telephone numbers, dates and quoted texts; no persons and places."""
    goal = 'e-mail ada@x.org, phone 030 1234 5678, on 2026-10-09, say "hello there" to Ada'
    labels = ("person", "email", "phone", "date", "quoted")
    assert await RuleChooser().extract(goal, labels) == {
        "email": ["ada@x.org"], "phone": ["030 1234 5678"], "date": ["2026-10-09"], "quoted": ["hello there"],
    }  # fmt: skip


@given(
    st.permutations(["First name", "Last name", "Name", "E-mail", "City", "City"]), st.sampled_from(["name", "city", "last name"])
)
@settings(max_examples=60, deadline=None)
def test_no_control_wins_by_its_place(labels, key):
    """The best label is the same in any order, and two equal ones are never chosen between."""
    requirement = value(key)
    shown = [made(label) for label in labels]
    best = sorted(
        {label: score(requirement, control) for label, control in zip(labels, shown, strict=True)}.items(), key=lambda pair: pair[1]
    )
    assert best[-1][0] == {"name": "Name", "city": "City", "last name": "Last name"}[key]


def made(label):
    """A plain text field."""
    return Control(
        frame=0, node=1, role="textbox", tag="input", type="text", label=label, name="", placeholder="", section="", value="",
        disabled=False, read_only=False, required=False, offscreen=False, submit=False, dialog=False, autocomplete=False,
        picker=False, secret=False, guard="",
    )  # fmt: skip


# Around a model


class Model:
    """Answers what it is told to, and keeps what it was asked."""

    def __init__(self, scores=None, spans=None):
        self.scores, self.spans, self.asked = scores or {}, spans or {}, []

    async def classify(self, text, labels):
        self.asked.append((text, dict(labels)))
        return self.scores

    async def extract(self, text, labels):
        self.asked.append((text, dict(labels)))
        return self.spans


@pytest.mark.parametrize("missing", ["extract", "classify"])
def test_a_model_that_lacks_a_method_is_refused_when_the_chooser_is_made(missing):
    """The message names the method."""
    has = {"extract": Model.extract, "classify": Model.classify}
    del has[missing]
    with pytest.raises(UsageError, match=missing):
        ModelChooser(type("Half", (), has)())


async def test_a_model_is_shown_32_labels_of_90_characters_each_of_its_own(pages):
    """Label, else placeholder, name, role; described as field, list or something to press."""
    model = Model()
    shown = [
        pages.control("textbox", "Name"), pages.control("textbox", "Name"), pages.control("textbox", "", placeholder="City"),
        pages.control("combobox", "", name="plan", options=["Free"]), pages.control("button", ""), pages.control("link", "x" * 200),
        *(pages.control("button", f"B{number}") for number in range(40)),
    ]  # fmt: skip
    page = pages.look(*shown)
    assert await ModelChooser(model).choose(setting("anything"), page.controls) is None
    ((text, labels),) = model.asked
    assert text == "anything"
    assert len(labels) == 32
    assert list(labels)[:6] == ["Name", "Name (2)", "City", "plan", "button", "x" * 90]
    assert [labels[label].split()[-2:] for label in ("Name", "plan", "button")] == [
        ["fill", "in"],
        ["value", "from"],
        ["to", "press"],
    ]


async def test_the_best_label_wins_as_the_model_scored_it(pages):
    """Labels that it made up do not count; without controls it is not asked."""
    model = Model(scores={"Name": 0.2, "City": 0.31, "Elsewhere": 0.9})
    page = pages.look(pages.control("textbox", "Name"), pages.control("textbox", "City"))
    assert await ModelChooser(model).choose(value("city"), page.controls) == ("0:2", 0.31)
    assert await ModelChooser(model).choose(value("city"), ()) is None
    assert len(model.asked) == 1


async def test_spans_of_a_model_are_plain_texts_that_are_not_empty():
    """Each label is described to it."""
    model = Model(spans={"person": ["Ada", ""], "email": []})
    assert await ModelChooser(model).extract("for Ada", ["person", "email"]) == {"person": ["Ada"], "email": []}
    assert model.asked[0][1] == {"person": "the name of a person", "email": "an e-mail address"}


# Anybody's


def test_both_choosers_keep_the_port():
    """And so may anybody's."""
    assert isinstance(RuleChooser(), Chooser)
    assert isinstance(ModelChooser(Model()), Chooser)


@pytest.mark.parametrize("answer", [("0:99", 0.9), ("body > input", 1.0), "0:1", 7, ("0:1",), ("0:1", "much")])
def test_a_chooser_can_name_only_what_it_was_shown(pages, answer):
    """No selectors, no inventions."""
    page = pages.look(pages.control("textbox", "Name"))
    with pytest.raises(UsageError) as caught:
        checked_choice(answer, page.controls, "odd")
    assert caught.value.code == "bad-choice"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(("0:1", 0.5), 0.5), (("0:1", 7), 1.0), (("0:1", -1), 0.0), (("0:1", float("nan")), None), (None, None)],
)
def test_a_score_is_kept_between_nothing_and_certainty(pages, answer, expected):
    """What is no number is no choice."""
    chosen = checked_choice(answer, pages.look(pages.control("textbox", "Name")).controls, "odd")
    assert (None if chosen is None else chosen[1]) == expected


def test_spans_that_are_not_in_the_goal_are_dropped():
    """A chooser's words are never taken for the goal's."""
    assert checked_spans({"person": ["Ada", "Eve", 7], "x": "Ada"}, "for Ada") == {"person": ["Ada"]}
    assert checked_spans(None, "for Ada") == {}
