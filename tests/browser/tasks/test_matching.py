"""Does a label name a value? (page reference, section 11)"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.browser.tasks._matching import edits, match_words, names, nearly_names

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=7), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("value", "label", "expected"),
    [
        ("Pro", "The Pro plan", True),
        ("pro", "Professional", False),
        ("Window seat", "window seat (free)", True),
        ("Zürich", "ZURICH HB", True),
        ("ada@x.org", "mail to ada@x.org.", True),
        ("seat window", "Window seat", False),
        ("", "anything", False),
        ("...", "anything", False),
        ("C++", "C", True),
        ("10.5", "10.5 kg", True),
    ],
)
def test_a_label_names_a_value_by_its_words_in_one_run(value, label, expected):
    """Case, accents and the signs around a word do not count; half a word is no word."""
    assert names(value, label) is expected


@pytest.mark.parametrize(
    ("value", "label", "expected"),
    [
        ("New York", "New York, NY", True),
        ("Paris Orly", "Paris, France (Orly Airport)", True),
        ("Orly Paris", "Paris, France (Orly Airport)", False),
        ("a z", "a 1 2 3 4 5 6 7 8 z", True),
        ("a z", "a 1 2 3 4 5 6 7 8 9 z", False),
        ("a z", "a 1 a 2 3 4 5 6 7 8 9 z", True),
        ("Berln", "Berlin", True),
        ("Brelin", "Berlin", True),
        ("Brln", "Berlin", False),
        ("Standart", "Standard", True),
        ("Profesional", "Professional", True),
        ("Profssionl", "Professional", True),
        ("male", "Female", False),
        ("Max", "May", False),
        ("2026", "2027", False),
        ("room12", "room13", False),
        ("", "x", False),
    ],
)
def test_a_label_nearly_names_a_value_with_gaps_and_slips(value, label, expected):
    """At most eight words between; one slip in 4 to 6 characters, two in longer words; never in a number."""
    assert nearly_names(value, label) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "", 3), ("kitten", "sitting", 3), ("ca", "abc", 3)],
)
def test_edits_count_neighbours_that_changed_places_as_one(one, other, expected):
    """Insert, delete, replace, swap."""
    assert edits(one, other) == expected


@given(st.text("abcd", max_size=8), st.text("abcd", max_size=8))
@settings(max_examples=150, deadline=None)
def test_edits_are_the_same_both_ways_and_a_bound_only_stops_the_count(one, other):
    """And none at all means equal."""
    count = edits(one, other)
    assert count == edits(other, one)
    assert (count == 0) == (one == other)
    assert abs(len(one) - len(other)) <= count <= max(len(one), len(other))
    assert (edits(one, other, 2) <= 2) == (count <= 2)


@given(WORDS, WORDS, WORDS)
@settings(max_examples=150, deadline=None)
def test_a_label_names_each_run_of_its_own_words(before, value, after):
    """Wherever it stands."""
    label = " ".join([*before, *value, *after])
    assert names(" ".join(value), label)
    assert nearly_names(" ".join(value), label)


@given(
    st.lists(st.text("xyz123", min_size=1, max_size=3), min_size=1, max_size=4),
    st.lists(st.text("abc", min_size=1, max_size=3), max_size=12),
)
@settings(max_examples=150, deadline=None)
def test_gaps_count_in_all_however_they_lie(value, gaps):
    """The label is the value with other words in between: it is named up to eight of them."""
    label = [value[0]]
    for at, word in enumerate(value[1:]):
        label += gaps[at :: len(value) - 1] if len(value) > 1 else []
        label.append(word)
    skipped = len(label) - len(value)
    if len(set(value)) == len(value):
        assert nearly_names(" ".join(value), " ".join(label)) is (skipped <= 8)


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_texts_can_be_compared(value, label):
    """An empty value names nothing; what has no words has no words."""
    assert nearly_names(value, label) in (True, False)
    assert not match_words(value) or names(value, value)
