"""Words by which a control or a line is near to a goal."""

import pytest

from foxloop_trio.browser._focus import words_of
from foxloop_trio.browser._page_text import page_text
from foxloop_trio.browser._snapshot import Snapshot

BASE = {
    "type": "", "name": "", "placeholder": "", "section": "", "value": "", "disabled": False, "read_only": False,
    "required": False, "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False,
    "secret": False, "guard": "g" * 16,
}  # fmt: skip


def control(node, role="button", label="OK", **more):
    return {**BASE, "node": node, "role": role, "tag": "x", "label": label, **more}


def shown(focus, *controls, text="", headings=(), **options):
    state = {
        "frame": 0, "document": "d" * 32, "url": "http://shop.test/", "title": "Shop", "text": text, "headings": list(headings),
        "controls": list(controls), "captcha": False, "more": False, "truncated": 0, "key": "k" * 16,
    }  # fmt: skip
    return page_text(Snapshot.from_wire({"frames": [state]}), focus=focus, **options).split("\n")[3:]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zip code", {"postcode"}),
        ("postal-code and E-Mail", {"postcode", "email"}),
        ("emailAddress", {"email", "address"}),
        ("Departing flights", {"depart", "flight"}),
        ("Straße, Café, NAÏVE", {"straße", "cafe", "naive"}),
        ("please type in the box", set()),
        ("Mobile", {"phone"}),
        ("boss", {"boss"}),
    ],
)
def test_words_of_one_thing_are_one_word(text, words):
    """12.1: without case, accents and plural, with one name for each thing, and without what says nothing."""
    assert words_of(text) == words


def test_with_a_focus_fields_and_what_is_near_are_shown():
    """8.3: what sends, fields, what is in a dialog, and of the rest what shares words, in page order; the others are counted."""
    lines = shown(
        "the delivery address",
        control(1, label="Offers"),
        control(2, "textbox", "Name"),
        control(3, label="Change the address"),
        control(4, label="Close", dialog=True),
        control(5, label="Send", submit=True),
        control(6, "link", "Delivery", href="/d"),
    )
    assert lines == [
        '[0:2] textbox "Name"', '[0:3] button "Change the address"', '[0:4] button "Close"', '[0:5] button "Send" (submits)',
        '[0:6] link "Delivery"', "(+1 controls not shown)", "Text:",
        "(controls in page order: snapshot with offset=0; or with find)",
    ]  # fmt: skip


def test_at_most_twenty_controls_and_ten_lines_that_are_near():
    """Those that share the most words; ties in page order."""
    many = [control(n, label=f"Tea number {n}") for n in range(1, 31)]
    best = control(31, label="Green tea")
    text = "\n".join([*(f"Tea line {n}" for n in range(12)), "Green tea, 31"])
    lines = shown("green tea", *many, best, text=text)
    assert len([line for line in lines if line.startswith("[")]) == 20
    assert '[0:31] button "Green tea"' in lines
    assert [line for line in lines if line.startswith("| ")] == [*(f"| Tea line {n}" for n in range(9)), "| Green tea, 31"]
    assert "(+3 lines not shown)" in lines


def test_alerts_and_headings_are_kept_whatever_the_focus():
    """An error that has no word of the goal is what must be read."""
    lines = shown("tea", text="Basket\nError: no stock\nSomething else\nTea", headings=["Basket"])
    assert [line for line in lines if line.startswith("| ")] == ["| Basket", "| Error: no stock", "| Tea"]


def test_links_of_a_fold_stand_alone_when_they_are_near():
    """A fold is opened for the one that matters."""
    links = [control(n, "link", label, href=f"/{n}") for n, label in enumerate(("Tea", "Milk", "Salt", "Oil", "Rice"), 1)]
    assert shown("tea", *links)[:2] == ['[0:1] link "Tea"', "(+4 controls not shown)"]


def test_a_focus_without_a_word_is_none():
    """Then the page is shown as without."""
    assert shown("the", control(1)) == shown(None, control(1))
