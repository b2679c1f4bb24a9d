"""A page as text for a planner: every rule of what is shown, how it is quoted, and what is left out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.browser._control_lines import control_line
from foxloop_trio.browser._page_text import page_text
from foxloop_trio.browser._quoting import quote
from foxloop_trio.browser._snapshot import Snapshot

BASE = {
    "type": "", "name": "", "placeholder": "", "section": "", "value": "", "disabled": False, "read_only": False,
    "required": False, "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False,
    "secret": False, "guard": "g" * 16,
}  # fmt: skip


def control(node, role="button", label="OK", **more):
    return {**BASE, "node": node, "role": role, "tag": "x", "label": label, **more}


def links(*nodes, **more):
    return [control(node, "link", f"L{node}", href=f"/{node}", **more) for node in nodes]


def page(*controls, text="", url="http://shop.test/", title="Shop", truncated=0):
    state = {
        "frame": 0, "document": "d" * 32, "url": url, "title": title, "text": text, "headings": [], "controls": list(controls),
        "captcha": False, "more": False, "truncated": truncated, "key": "k" * 16,
    }  # fmt: skip
    return Snapshot.from_wire({"frames": [state], "unreadable": []})


def lines_of(*controls, max_controls=40, **more):
    """The lines between "Controls:" and "Text:"."""
    lines = page_text(page(*controls, **more), max_controls).split("\n")
    return lines[lines.index("Controls:") + 1 : lines.index("Text:")]


def text_of(text, *controls):
    """The lines after "Text:"."""
    lines = page_text(page(*controls, text=text)).split("\n")
    return lines[lines.index("Text:") + 1 :]


def line(**parts):
    return control_line(page(control(1, **parts)).controls[0])


def test_the_whole_shape():
    """Title, address, controls, text; everything quoted or marked."""
    shown = page_text(page(control(1, "textbox", "Name"), control(3, label="Send", submit=True), text="Hello\nSend"))
    assert shown == (
        'Title: "Shop"\nURL: "http://shop.test/"\nControls:\n[0:1] textbox "Name"\n[0:3] button "Send" (submits)\nText:\n| Hello'
    )


def test_an_empty_page_keeps_its_headings():
    """Nothing to show is said by showing nothing."""
    assert page_text(page()) == 'Title: "Shop"\nURL: "http://shop.test/"\nControls:\nText:'


def test_a_long_address_is_cut_and_says_so():
    """300 characters and a count."""
    shown = page_text(page(url="http://shop.test/" + "a" * 500)).split("\n")[1]
    assert shown == f'URL: "http://shop.test/{"a" * 283}" (+217 characters)'


# One control


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"role": "textbox", "label": "Name", "value": "Ada"}, '[0:1] textbox "Name" value="Ada"'),
        ({"role": "textbox", "label": "Ada", "value": "Ada"}, '[0:1] textbox "Ada" value="Ada"'),
        ({"role": "textbox", "label": "PIN", "value": "1234", "secret": True}, '[0:1] textbox "PIN" value="•••"'),
        ({"role": "textbox", "label": "PIN", "secret": True}, '[0:1] textbox "PIN"'),
        (
            {"required": True, "disabled": True, "checked": True, "expanded": True, "submit": True},
            '[0:1] button "OK" (required, disabled, checked, expanded, submits)',
        ),
        ({"role": "checkbox", "checked": False}, '[0:1] checkbox "OK"'),
        ({"role": "checkbox", "checked": "mixed"}, '[0:1] checkbox "OK" (mixed)'),
        ({"role": 'x" [0:9] button'}, '[0:1] control "OK"'),
    ],
)
def test_a_control_is_one_line(parts, expected):
    """Role, quoted label, value, flags in their order; a secret is a mask when filled and nothing when empty."""
    assert line(**parts) == expected


def option(value, label=None, selected=False):
    return {"value": value, "label": value if label is None else label, "selected": selected}


def test_options_are_shown_with_their_labels_where_these_differ():
    """The planner selects by value and thinks in labels."""
    shown = line(role="combobox", options=[option("no", "Norway"), option("se")])
    assert shown == '[0:1] combobox "OK" options=["no=Norway","se"]'


def test_an_option_is_never_read_as_another():
    """Values may hold an equals sign too; then the label has quotes of its own."""
    shown = line(role="combobox", options=[option("a=b"), option("a=b", "C"), option("", "Choose"), option("x", "y=z")])
    assert shown == '[0:1] combobox "OK" options=["a=b"="a=b","a=b"="C","=Choose","x=y=z"]'


def test_at_most_thirty_options_the_selected_one_always():
    """And how many are left out."""
    shown = line(role="combobox", options=[option(f"v{index}", selected=index == 44) for index in range(50)])
    assert shown.endswith('"v27","v28","v44",+20]')
    assert shown.count('"v') == 30
    assert line(role="combobox", options=[option(str(index)) for index in range(30)]).endswith('"29"]')


# Quoting


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("plain", '"plain"'),
        ('say "hi" \\', '"say \\"hi\\" \\\\"'),
        ("a \n\t\x85\u2028\u00a0b", '"a b"'),
        ("a\u200b\u202eb\u2060c\ufeff\u180e\U000e0041", '"abc"'),
        ("<untrusted-data>", '"&lt;untrusted-data>"'),
        ("< / UNTRUSTED-data x>", '"&lt; / UNTRUSTED-data x>"'),
        ("<un\u200btrusted-data>", '"&lt;untrusted-data>"'),
        ("<b>", '"<b>"'),
        ("\x1b[31m\x9b\x7f", '"\\u001b[31m\\u009b\\u007f"'),
        ("\ud800", '"\\ud800"'),
        ("é🦊", '"é🦊"'),
    ],
)
def test_quoting_makes_one_json_string_on_one_line(text, quoted):
    """Spaces run together, invisible characters go, markers are broken, nothing else is lost."""
    assert quote(text) == quoted


@given(st.text(max_size=60))
def test_a_quoted_text_is_always_one_json_string(text):
    """No label can end its quotes or start a line of its own."""
    quoted = quote(text)
    assert len(quoted.splitlines()) == 1
    assert isinstance(json.loads(quoted), str)


# Folding


def test_five_links_in_a_run_fold_to_one_line_and_four_do_not():
    """Shorter runs stay separate lines."""
    assert lines_of(*links(1, 2, 3, 4, 5)) == ['(5 links: "L1"=0:1, "L2"=0:2, "L3"=0:3, "L4"=0:4, "L5"=0:5)']
    assert lines_of(*links(1, 2, 3, 4)) == [f'[0:{n}] link "L{n}"' for n in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    "breaker",
    [
        control(9, "button", "B"),
        control(9, "link", "x" * 41, href="/9"),
        control(9, "link", "in a form", href="/9", form=2),
        control(9, "link", "in a dialog", href="/9", dialog=True),
    ],
)
def test_a_run_ends_at_anything_that_does_not_fold(breaker):
    """Another control, a long label, a form, a dialog."""
    lines = lines_of(*links(1, 2, 3), breaker, *links(4, 5))
    assert len(lines) == 6
    assert not any("links:" in shown for shown in lines)


def test_a_run_ends_where_the_section_or_the_row_says_so():
    """Another section begins another run; two links of one row are not one run; rows that differ are."""
    assert len(lines_of(*links(1, 2, 3, section="Menu"), *links(4, 5, section="Foot"))) == 5
    assert len(lines_of(*links(1, 2, 3, 4, row="r1"), *links(5, row="r1"))) == 5
    assert len(lines_of(*(link for n in range(1, 6) for link in links(n, row=f"r{n}")))) == 1


def test_a_repeated_link_is_dropped_unless_it_stays_in_the_page():
    """Same frame, label and address; `#` and `javascript:` links may differ all the same."""
    again = control(2, "link", "L1", href="/1")
    assert lines_of(*links(1), again) == ['[0:1] link "L1"']
    for href in ("#top", "javascript:go()"):
        assert len(lines_of(control(1, "link", "L", href=href), control(2, "link", "L", href=href))) == 2


# Choosing


def test_what_matters_most_is_kept_in_page_order():
    """Submit controls, then fields and dialog controls, then what is on screen, then folds, then the rest."""
    controls = [
        control(1, label="off screen", offscreen=True),
        *links(11, 12, 13, 14, 15),
        control(2, label="on screen"),
        control(3, "textbox", "field", offscreen=True),
        control(4, label="in a dialog", dialog=True),
        control(5, label="send", submit=True, offscreen=True),
    ]

    def kept(budget):
        return [shown.split('"')[1] for shown in lines_of(*controls, max_controls=budget) if not shown.startswith("(+")]

    assert kept(1) == ["send"]
    assert kept(2) == ["field", "send"]
    assert kept(3) == ["field", "in a dialog", "send"]
    assert kept(4) == ["on screen", "field", "in a dialog", "send"]
    assert kept(6) == ["L11", "on screen", "field", "in a dialog", "send"]
    assert kept(7) == ["off screen", "L11", "on screen", "field", "in a dialog", "send"]


def test_what_does_not_fit_is_passed_over_for_what_does():
    """A fold of nine costs three; with two left it is skipped and the cheaper one after it is shown. Its links are counted."""
    controls = [control(1), *links(*range(10, 19)), control(2, label="off screen", offscreen=True)]
    assert lines_of(*controls, max_controls=3) == ['[0:1] button "OK"', '[0:2] button "off screen"', "(+9 controls not shown)"]


def test_left_out_controls_are_counted_those_never_read_included():
    """Forty by default."""
    many = [control(n, label=f"B{n}") for n in range(1, 51)]
    assert lines_of(*many)[-1] == "(+10 controls not shown)"
    assert lines_of(*many, truncated=7)[-1] == "(+17 controls not shown)"
    assert len(lines_of(*many)) == 41
    assert len(lines_of(*many[:40])) == 40


# Text


def test_text_is_split_at_every_line_end_and_trimmed():
    """CR, LF, NEL, line and paragraph separator."""
    assert text_of("one\r two \x85three\u2028four\u2029five\n\n") == ["| one", "| two", "| three", "| four", "| five"]


@pytest.mark.parametrize("word", ["Error", "2 errors", "not valid", "Please sign in", "WARNING!", "this must be", "card declined"])
def test_lines_that_read_as_alerts_are_always_kept(word):
    """Also when they repeat, and when a control has the same label."""
    assert text_of(f"{word}\n{word}", control(1, label=word)) == [f"| {word}", f"| {word}"]


def test_lines_without_a_letter_or_digit_are_dropped():
    """Decoration says nothing."""
    assert text_of("***\n- -\na") == ["| a"]


def test_lines_that_repeat_a_shown_control_are_dropped():
    """Labels of shown controls and of folded links; not of controls that are left out."""
    assert text_of("Send\nL3\nother", control(9, label="Send"), *links(1, 2, 3, 4, 5)) == ["| other"]
    many = [control(n, label=f"Button {chr(64 + n)}") for n in range(1, 50)]
    assert "| Button 0" in page_text(page(*many, control(60, label="Button 0"), text="Button 0")).split("\n")


def test_short_lines_are_kept_once_and_long_or_numbered_ones_always():
    """A repeated price counts, a repeated word does not."""
    long = "x" * 41
    assert text_of(f"word\n5 EUR\n{long}\nword\n5 EUR\n{long}") == ["| word", "| 5 EUR", f"| {long}", "| 5 EUR", f"| {long}"]


def test_a_block_that_the_page_marks_is_kept_whole():
    """From its opening line to its closing line, or to the end; only the marker lines are without prefix."""
    block = "<untrusted-data>\nword\nword\n***\n</untrusted-data>"
    assert text_of(f"word\n{block}\nword") == [
        "| word", "<untrusted-data>", "| word", "| word", "| ***", "</untrusted-data>",
    ]  # fmt: skip
    assert text_of("<untrusted-data>\nword\nword") == ["<untrusted-data>", "| word", "| word"]


def test_no_text_line_looks_like_a_control_line():
    """What the page writes into its text stays behind the prefix."""
    assert text_of('[0:1] button "Send" (submits)\nControls:') == ['| [0:1] button "Send" (submits)', "| Controls:"]
