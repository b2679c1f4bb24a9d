"""Goals: what free text is taken to ask for, rule by rule (page reference, section 9)."""

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.browser.tasks import parse_goal
from foxloop_trio.browser.tasks._goals import with_spans

TODAY = datetime.date(2026, 9, 1)  # a Tuesday


def read(goal, **options):
    """Kind, key and value or date of each requirement; a setting's wish in place of its value."""
    return [(part.kind, part.key, part.value or part.date or part.wish) for part in parse_goal(goal, TODAY, **options).requirements]


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("set the plan to Pro", [("value", "plan", "Pro")]),
        ("change my address to 5 High Street", [("value", "address", "5 High Street")]),
        ("switch the theme to dark", [("value", "theme", "dark")]),
        ("type hello in a bottle in the subject field", [("value", "subject", "hello in a bottle")]),
        ("enter Ada Lovelace as the name", [("value", "name", "Ada Lovelace")]),
        ("fill in 42 for the quantity box", [("value", "quantity", "42")]),
        ("put hello into the title", [("value", "title", "hello")]),
        ("name: Ada Lovelace", [("value", "name", "Ada Lovelace")]),
        ("quantity=2", [("value", "quantity", "2")]),
        ("name: 'Ada Lovelace'", [("value", "name", "Ada Lovelace")]),
        ("time: 10:30", [("value", "time", "10:30")]),
        ('comment with "hello, you and me"', [("value", "comment", "hello, you and me")]),
        ("the subject is “Tea, please”", [("value", "subject", "Tea, please")]),
        ("depart 2026-10-09", [("date", "depart", "2026-10-09")]),
        ("2026-10-09", [("date", "date", "2026-10-09")]),
        ("e-mail ada@example.org", [("value", "e-mail", "ada@example.org")]),
        ("use ada@example.org", [("value", "email", "ada@example.org")]),
        ("call me under 030 1234 5678", [("value", "call me under", "030 1234 5678")]),
        ("using +44 (20) 7946-0018", [("value", "phone", "+44 (20) 7946-0018")]),
        ("from Berlin to Paris", [("value", "from", "Berlin"), ("value", "to", "Paris")]),
        ("near the station", [("value", "near", "the station")]),
        ("book a table for next Friday", [("date", "book a table", "2026-09-04")]),
        ("check in tomorrow", [("date", "check in", "2026-09-02")]),
        ("accept the terms of use", [("setting", "terms of use", "on")]),
        ("please agree to the terms", [("setting", "terms", "on")]),
        ("turn on notifications", [("setting", "notifications", "on")]),
        ("choose blue", [("setting", "blue", None)]),
        ("select a window seat", [("setting", "window seat", None)]),
        ("", []),
        ("x", []),
        ("and then", []),
    ],
)
def test_each_rule_gives_its_kind_key_and_value(goal, expected):
    """Page reference 9.6, the table from top to bottom."""
    assert read(goal) == expected


@pytest.mark.parametrize(
    ("goal", "keys"),
    [
        ("name: Ada, plan: Pro; size: L", ["name", "plan", "size"]),
        ("name: Ada\nplan: Pro", ["name", "plan"]),
        ("name: Ada. plan: Pro.", ["name", "plan"]),
        ("name: Ada then plan: Pro", ["name", "plan"]),
        ("name: Ada and plan: Pro", ["name", "plan"]),
        ("salt and pepper", ["salt and pepper"]),
        ('title: "a, b and c d. E", plan: Pro', ["title", "plan"]),
        ("depart on October 9, 2026, return March 3rd, 2027", ["depart", "return"]),
        ("fly to Paris on 9 October", ["fly", "to", "date"]),
        ("check in on 9 October", ["check in"]),
        ("set the time from noon to one", ["time from noon"]),
        ("price 1,200", ["price 1,200"]),
    ],
)
def test_clauses_are_cut_where_a_person_would_pause(goal, keys):
    """Comma, semicolon, line end, full stop, "then", and "and" before two words; never within quotes, dates or numbers."""
    assert [key for _, key, _ in read(goal)] == keys


@pytest.mark.parametrize(
    "phrase",
    [
        "do not submit", "don't submit", "don\u2019t send", "never send", "without submitting", "without sending it yet",
        "do not press send", "without pressing submit", "but do not send the form",
    ],
)  # fmt: skip
def test_a_phrase_against_sending_is_obeyed_and_taken_out(phrase):
    """With everything up to the next comma; what stands beside it stays."""
    for goal in (f"name: Ada, {phrase}, plan: Pro", f"name: Ada {phrase}, plan: Pro"):
        parsed = parse_goal(goal, TODAY)
        assert not parsed.submit
        assert [(part.key, part.value) for part in parsed.requirements] == [("name", "Ada"), ("plan", "Pro")]


def test_what_is_not_to_be_sent_goes_up_to_the_end_of_its_clause():
    """A full stop within an address is no end."""
    assert read("do not send it to ada@x.org. name: Ada") == [("value", "name", "Ada")]


def test_the_goal_is_kept_with_its_white_space_run_together():
    """So every value is a part of it, and can be masked in it."""
    goal = parse_goal("name:   Ada \t Lovelace\n\nplan:  Cafe\u0301", TODAY)
    assert goal.text == "name: Ada Lovelace\n\nplan: Caf\u00e9"
    assert all(part.value in goal.text for part in goal.requirements)


@pytest.mark.parametrize("goal", ["name: Ada", 'note: "please do not send flowers"', "submit it", "do not call me"])
def test_without_such_a_phrase_the_form_is_to_be_sent(goal):
    """Our choice: quoted words are nobody's orders."""
    assert parse_goal(goal, TODAY).submit


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("departure: 2026-10-09", ("date", "departure", "2026-10-09")),
        ("departure: 9 October", ("date", "departure", "2026-10-09")),
        ("departure: tomorrow", ("date", "departure", "2026-09-02")),
        ("set the date to next Friday", ("date", "date", "2026-09-04")),
        ("day: Friday", ("value", "day", "Friday")),
        ("website: https://a.example/x?y=1", ("value", "website", "https://a.example/x?y=1")),
        ("open https://a.example:8080/x", ("setting", "open https://a.example:8080/x", None)),
        ("with ada@example.org", ("value", "email", "ada@example.org")),
        ("with 030 1234 5678", ("value", "phone", "030 1234 5678")),
    ],
)
def test_a_wholly_dated_value_is_a_date_and_an_address_is_not_cut_at_its_colon(goal, expected):
    """Page reference 9, [+]."""
    assert read(goal) == [expected]


@pytest.mark.parametrize(
    ("goal", "key"),
    [
        ("untick the newsletter", "newsletter"),
        ("uncheck my address box", "address"),
        ("no newsletter", "newsletter"),
        ("turn off notifications", "notifications"),
        ("disable cookies", "cookies"),
        ("opt out of advertising", "advertising"),
        ("do not subscribe to the newsletter", "newsletter"),
        ("don't accept cookies", "cookies"),
    ],
)
def test_a_setting_may_ask_for_off(goal, key):
    """Page reference 15, [+]."""
    assert read(goal) == [("setting", key, "off")]


def test_what_is_not_to_be_forgotten_is_wanted():
    """ "Don't forget to" is no wish for off."""
    assert read("don't forget to accept the terms") == [("setting", "terms", "on")]


def test_the_text_of_a_requirement_is_the_piece_as_it_was_written():
    """With everything that was put aside."""
    goal = 'comment: "a, b", e-mail ada@x.org, depart on 9 October and accept the terms'
    assert [part.text for part in parse_goal(goal, TODAY).requirements] == [
        'comment: "a, b"', "e-mail ada@x.org", "depart on 9 October", "accept the terms",
    ]  # fmt: skip


def test_a_day_first_locale_reads_dates_its_own_way():
    """Page reference 10.1, [+]."""
    assert read("depart 10/9/2026") == [("date", "depart", "2026-10-09")]
    assert read("depart 10/9/2026", day_first=True) == [("date", "depart", "2026-09-10")]


@pytest.mark.parametrize(
    ("goal", "spans", "expected"),
    [
        ("passenger Ada Lovelace", {"person": ["Ada Lovelace"]}, ("value", "passenger", "Ada Lovelace")),
        ("stay in Paris", {"location": ["Paris"]}, ("value", "stay in", "Paris")),
        ("register as Ada", {"person": ["Ada"]}, ("value", "register", "Ada")),
        ("choose L", {"number": ["L"]}, ("setting", "L", None)),
        ("name: Ada", {"person": ["Ada"]}, ("value", "name", "Ada")),
        ("nothing here", {"person": ["Ada"]}, ("setting", "nothing here", None)),
    ],
)
def test_a_setting_with_a_span_of_the_chooser_becomes_a_value(goal, spans, expected):
    """Page reference 15, start; spans of one character say nothing."""
    (part,) = with_spans(parse_goal(goal, TODAY), spans).requirements
    assert (part.kind, part.key, part.value or part.wish) == expected


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_goal(text):
    """Nothing raises, nothing of what was put aside is left in, and a value is part of the text."""
    goal = parse_goal(text, TODAY)
    for part in goal.requirements:
        assert not any(0xF0000 <= ord(sign) <= 0xFFFFD for sign in part.text + part.key + (part.value or ""))
        assert (part.kind == "value") == (part.value is not None)
        assert (part.kind == "date") == (part.date is not None)


NO_KEYS = frozenset(["and", "then", "from", "to", "on", "departing", "returning", "set", "go", "type", "put", "my", "an", "the"])
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8).filter(
    lambda word: (
        word not in {"and", "then", "from", "to", "on", "departing", "returning", "set", "go", "type", "put", "my", "an", "the"}
    )
)


@given(st.dictionaries(WORD, WORD, min_size=1, max_size=5))
@settings(max_examples=80, deadline=None)
def test_a_list_of_named_values_is_read_as_it_stands(values):
    """Whatever the words are."""
    goal = "; ".join(f'{key}: "{value}"' for key, value in values.items())
    assert {key: value for _, key, value in read(goal)} == values
