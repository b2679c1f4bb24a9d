"""One control as a line of text: what it says besides role, label, value and flags, and when."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.browser._control_lines import control_line
from foxloop_trio.browser._page_text import page_text
from foxloop_trio.browser._snapshot import Snapshot

BASE = {
    "type": "", "name": "", "placeholder": "", "section": "", "value": "", "disabled": False, "read_only": False,
    "required": False, "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False,
    "secret": False, "guard": "g" * 16,
}  # fmt: skip


def control(node=1, role="button", label="OK", **more):
    return {**BASE, "node": node, "role": role, "tag": "x", "label": label, **more}


def page(*controls, text="", url="http://shop.test/", frames=(), **more):
    state = {
        "frame": 0, "document": "d" * 32, "url": url, "title": "Shop", "text": text, "headings": [], "controls": list(controls),
        "captcha": False, "more": False, "truncated": 0, "key": "k" * 16, **more,
    }  # fmt: skip
    return Snapshot.from_wire({"frames": [state, *frames], "unreadable": []})


def lines_of(*controls, **more):
    lines = page_text(page(*controls, **more)).split("\n")
    return lines[lines.index("Controls:") + 1 : lines.index("Text:")]


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ({"look": "red circle", "role": "shape", "box": [5, 6, 7, 8]}, '[0:1] shape "OK" look="red circle" box=[5,6,7,8]'),
        ({"box": [5, 6, 7, 8]}, '[0:1] button "OK"'),
        ({"role": "file", "files": ["a.png", "b]"], "accept": "image/*"}, '[0:1] file "OK" files=["a.png","b]"]'),
        ({"role": "treeitem", "level": 2, "expanded": True}, '[0:1] treeitem "OK" level=2 (expanded)'),
        ({"opens": "menu"}, '[0:1] button "OK" opens=menu'),
        ({"opens": "x (submits)"}, '[0:1] button "OK"'),
        ({"role": "option", "popup_for": 7}, '[0:1] option "OK" suggestion_for=0:7'),
        ({"hover_only": 7}, '[0:1] button "OK" shown_while_over=0:7'),
        ({"behind_modal": True, "disabled": True}, '[0:1] button "OK" (disabled, behind a dialog)'),
        ({"role": "link", "current": "page"}, '[0:1] link "OK" (current)'),
        ({"description": "Twelve characters"}, '[0:1] button "OK" description="Twelve characters"'),
        ({"role": "textbox", "value": "ab", "value_more": 1500}, '[0:1] textbox "OK" value="ab" (+1500 characters)'),
        ({"label_more": 3}, '[0:1] button "OK" (+3 characters)'),
        ({"role": "textbox", "value": "DE12", "sensitive": True}, '[0:1] textbox "OK" value="•••"'),
        ({"role": "checkbox", "type": "checkbox", "value": "on", "checked": True}, '[0:1] checkbox "OK" (checked)'),
        ({"label": "Pay\u200b"}, '[0:1] button "Pay" (1 invisible character removed)'),
        ({"label": "P\u0430y"}, '[0:1] button "P\u0430y" (letters of several scripts in one word: P\\u0430y)'),
    ],
)  # fmt: skip
def test_a_line_says_what_applies_and_nothing_else(parts, shown):
    """Page reference 1.1 and 8.1; every cut with its count."""
    assert lines_of(control(**parts)) == [shown]


def test_options_that_were_not_even_sent_are_counted():
    """Those left out of the line, and those left out by the add-on."""
    options = [{"value": str(n), "label": str(n), "selected": n == 0} for n in range(40)]
    (line,) = lines_of(control(1, "combobox", options=options, options_more=60, multiple=True))
    assert line.endswith(',"29",+70] (multiple)')


def test_equal_options_are_told_once():
    """Two lists of countries on one page are common; the second names the first."""
    options = [{"value": value, "label": value.upper(), "selected": value == "a"} for value in "abc"]
    assert lines_of(
        control(1, "combobox", "Home", options=options), control(2, "combobox", "Work", options=options, value="a")
    ) == [
        '[0:1] combobox "Home" options=["a=A","b=B","c=C"]',
        '[0:2] combobox "Work" value="a" options=those of 0:1',
    ]


def test_controls_of_one_label_are_told_apart():
    """By their section, which is named where it begins, or by the words of their row; a control that stands alone by neither."""
    assert lines_of(
        control(1, "textbox", "Street", section="Bill to"),
        control(2, "textbox", "City", section="Bill to"),
        control(3, "textbox", "Street", section="Ship to"),
        control(4, "textbox", "City", section="Ship to"),
        control(5, "textbox", "Note", section="Ship to"),
        control(6, label="Remove", row_text="Tea 3 EUR"),
        control(7, label="Remove", row_text="Milk 1 EUR"),
        control(8, label="Send", row_text="All of it"),
    ) == [
        '[0:1] textbox "Street" section="Bill to"',
        '[0:2] textbox "City"',
        '[0:3] textbox "Street" section="Ship to"',
        '[0:4] textbox "City"',
        '[0:5] textbox "Note"',
        '[0:6] button "Remove" row="Tea 3 EUR"',
        '[0:7] button "Remove" row="Milk 1 EUR"',
        '[0:8] button "Send"',
    ]


def test_a_rows_words_are_told_without_the_label_and_once():
    """A label stands in the line already; where a row has several controls, the later ones name the first."""
    labels = ("Edit", "Remove")
    cells = ("7.00 EUR | Edit | Remove", "A very long description | 1.00 EUR | Edit | Remove")
    assert lines_of(
        *(
            control(2 * n + at, label=label, row=f"r{n}", row_text=text)
            for n, text in enumerate(cells)
            for at, label in enumerate(labels)
        )
    ) == [
        '[0:0] button "Edit" row="7.00 EUR | Remove"',
        '[0:1] button "Remove" row="7.00 EUR | Edit"',
        '[0:2] button "Edit" row="A very long description | 1.00 EUR | Remove"',
        '[0:3] button "Remove" row=that of 0:2',
    ]
    assert lines_of(*(control(n, label="Open", row_text=f"Open mail {n}") for n in (1, 2)))[0] == '[0:1] button "Open" row="mail 1"'
    assert (
        lines_of(*(control(n, label="Open", row=f"{n}", row_text="Open" * n) for n in (1, 2)))[0]
        == '[0:1] button "Open" row="Open"'
    )


def test_what_is_written_on_a_button_is_not_its_value_too():
    """The value of an input that is a button is its label; a field that holds its label says so: page reference 8.1."""
    assert lines_of(
        control(1, "button", "Go", type="submit", value="Go"),
        control(2, "button", "Next page", type="button", value="Go"),
        control(3, "textbox", "Name", type="text", value="Name"),
    ) == ['[0:1] button "Go"', '[0:2] button "Next page" value="Go"', '[0:3] textbox "Name" value="Name"']


def test_a_control_without_a_label_has_its_rows_words():
    """An icon in a list of mails says nothing by itself."""
    assert lines_of(control(1, "clickable", "", look="img:star.png", row_text="Mail from Ada")) == [
        '[0:1] clickable "" look="img:star.png" row="Mail from Ada"'
    ]


def test_a_long_row_is_cut_and_counted():
    """At 80 characters."""
    lines = lines_of(*(control(n, label="Open", row_text=f"{n}" + "x" * 99) for n in (1, 2)))
    assert lines[0] == f'[0:1] button "Open" row="1{"x" * 79}" (+20 characters)'


def test_a_description_that_stands_in_the_text_is_not_repeated():
    """It is read there."""
    shown = page_text(page(control(description="Twelve characters"), text="Twelve characters"))
    assert shown.count("Twelve characters") == 1


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"submit": True, "destination": {"url": "http://evil.test/x", "method": "POST", "target": ""}},
            ' sends_to="evil.test" (submits)',
        ),
        ({"submit": True, "destination": {"url": "http://shop.test/x", "method": "POST", "target": ""}}, " (submits)"),
        ({"role": "link", "label": "www.bank.test", "href": "http://evil.test/"}, ' leads_to="evil.test"'),
        ({"role": "link", "label": "bank.test", "href": "https:\\\\evil.test\\@bank.test"}, ' leads_to="evil.test"'),
        ({"role": "link", "label": "https://bank.test/in", "href": "https://www.bank.test/"}, ""),
        ({"role": "link", "label": "Our bank", "href": "http://evil.test/"}, ""),
    ],
)
def test_where_a_control_leads_is_said_when_it_is_not_where_it_seems_to(parts, said):
    """A form that is sent to another host; a link that names one host and leads to another."""
    (line,) = lines_of(control(**parts))
    assert line == f'[0:1] {parts.get("role", "button")} "{parts.get("label", "OK")}"{said}'


def test_links_with_something_to_say_are_not_folded():
    """A warning would be lost in a fold."""
    plain = [control(n, "link", f"L{n}", href=f"/{n}") for n in range(1, 6)]
    odd = control(6, "link", "P\u0430y", href="/6")
    assert len(lines_of(*plain, odd)) == 2
    assert lines_of(*plain, odd)[0].startswith("(5 links:")


texts = st.text(st.one_of(st.characters(), st.sampled_from(list('"\\[]()=,|<>\n\r\u2028\u202e'))), max_size=30)


@given(label=texts, value=texts, section=texts, description=texts, row=texts, option=texts, opens=texts, role=texts)
def test_whatever_a_page_writes_stays_in_quotes(label, value, section, description, row, option, opens, role):
    """Outside of quoted strings a line holds our words, ids and numbers alone, so no label can pose as a flag or a control."""
    options = [{"value": option, "label": label, "selected": True}]
    parts = {"section": section, "description": description, "row_text": row, "opens": opens, "options": options, "value": value}
    twins = page(control(1, "button", label, **parts), control(2, role, label, **parts))
    lines = page_text(twins).split("\n")
    lines = lines[lines.index("Controls:") + 1 : lines.index("Text:")]
    assert len(lines) == 2
    for line in lines:
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "Q", line)
        assert re.fullmatch(
            r"\[0:[12]\] [a-z-]+ Q(?: (?:value|options|section|description|row|opens)=(?:\[Q=Q\]|\[Q\]|Q|[a-z-]+)"
            r"(?: \(\+\d+ characters\))?)*"
            r"(?: \((?:\d+ invisible characters? removed|letters of several scripts in one word: [^()\"]+)\))*",
            bare,
        ), line


def test_a_line_alone_needs_no_page():
    """`control_line` is pure of everything but its control."""
    assert control_line(page(control()).controls[0]) == '[0:1] button "OK"'


def test_an_invisible_character_does_not_hide_that_a_link_names_another_host() -> None:
    """What is shown of the label is the name of a host; so it is compared."""
    (line,) = lines_of(control(role="link", label="bank\u200b.test", href="http://evil.test/"))
    assert line == '[0:1] link "bank.test" leads_to="evil.test" (1 invisible character removed)'
