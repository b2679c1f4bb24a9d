"""What does not fit into a page's text: it is counted, and each count says how to get the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.actions import ToolOutput
from foxloop_trio.browser._page_text import page_text
from foxloop_trio.browser._snapshot import Part, Snapshot
from foxloop_trio.prompt import LIMITS, result_text

BASE = {
    "type": "", "name": "", "placeholder": "", "section": "", "value": "", "disabled": False, "read_only": False,
    "required": False, "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False,
    "secret": False, "guard": "g" * 16,
}  # fmt: skip


def control(node, role="button", label=None, **more):
    return {**BASE, "node": node, "role": role, "tag": "x", "label": f"B{node}" if label is None else label, **more}


def state(*controls, frame=0, **more):
    return {
        "frame": frame, "document": f"{frame:032x}", "url": f"http://shop.test/{frame or ''}", "title": "Shop", "text": "",
        "headings": [], "controls": list(controls), "captcha": False, "more": False, "truncated": 0, "key": "k" * 16, **more,
    }  # fmt: skip


def look(*states, unreadable=(), part=None):
    return Snapshot.from_wire({"frames": list(states), "unreadable": list(unreadable)}, part=part)


def lines(*states, **options):
    more = {name: options.pop(name) for name in ("unreadable", "part") if name in options}
    return page_text(look(*states, **more), **options).split("\n")


def test_what_lies_behind_a_dialog_comes_last():
    """21.23: it cannot be used now, though it sends."""
    shown = lines(state(control(1, submit=True, behind_modal=True), control(2, offscreen=True)), max_controls=1)
    assert '[0:2] button "B2"' in shown
    assert "(+1 controls not shown)" in shown


def test_each_count_of_controls_names_the_way_to_the_rest():
    """By frame, since positions are those of one frame."""
    shown = lines(state(*(control(n) for n in range(1, 42)), truncated=5), state(control(1), frame=2, truncated=7), max_controls=40)
    assert "(+14 controls not shown)" in shown
    assert shown[-1] == "(controls in page order: snapshot with offset=0; snapshot with frame=2 and offset=0; or with find)"


def test_in_order_the_first_ones_are_shown_and_the_next_position_is_told():
    """Not the most important ones: a planner that pages must see each once."""
    controls = [control(n, submit=n > 50) for n in range(11, 61)]
    shown = lines(state(*controls, truncated=3), part=Part(frame=0, offset=10), in_order=True)
    assert [line for line in shown if line.startswith("[")] == [f'[0:{n}] button "B{n}"' for n in range(11, 51)]
    assert "(+13 controls not shown)" in shown
    assert shown[-1] == "(controls in page order: snapshot with offset=50; or with find)"


def test_paging_in_order_shows_every_control_once():
    """With folds and repeated links on the way, whatever fits on one page."""
    every = [
        control(n, "link", f"L{n % 7}", href=f"/{n % 7}") if n % 3 else control(n, "textbox", "x" * (n % 50)) for n in range(1, 200)
    ]  # fmt: skip
    offset, seen = 0, ""
    for _ in range(100):
        page = look(
            state(*every[offset : offset + 90], truncated=max(0, len(every) - offset - 90)), part=Part(frame=0, offset=offset)
        )
        text = page_text(page, in_order=True, max_characters=1500)
        assert len(text) <= 1500
        seen += text
        if "offset=" not in text:
            break
        offset = int(text.rpartition("offset=")[2].split(";")[0])
    else:
        pytest.fail("it never ends")
    for one in every:
        twin = next(other for other in every if (other["label"], other.get("href")) == (one["label"], one.get("href")))
        assert f"[0:{one['node']}]" in seen or f"=0:{one['node']}" in seen or one["role"] == twin["role"] == "link"


def test_cut_text_says_where_to_go_on():
    """In UTF-16 units, as the add-on counts; for each frame its own."""
    shown = lines(
        state(text="one\ntwo", text_truncated=90),
        state(frame=1, text="\U0001f98a three", text_truncated=5),
        part=Part(text_offset=100),
    )
    assert shown[3:] == [
        "Text:", "| one", "| two", "(+90 characters of text not shown: snapshot with text_offset=107)",
        'Text of frame 1, "http://shop.test/1":', "| \U0001f98a three",
        "(+5 characters of text not shown: snapshot with frame=1 and text_offset=108)",
    ]  # fmt: skip
    assert shown[:3] == ['Title: "Shop"', 'URL: "http://shop.test/"', "Controls:"]


def test_text_beyond_the_room_goes_on_at_its_first_line_that_was_not_shown():
    """Alerts come first, wherever they stand."""
    text = "\n".join([*(f"Line {n:03} of many that are all alike" for n in range(100)), "Error: the card was declined"])
    shown = page_text(look(state(text=text)), max_characters=1500)
    assert len(shown) <= 1500
    assert "| Error: the card was declined" in shown
    (way,) = [line for line in shown.split("\n") if line.startswith("(+")]
    resume = int(way.rpartition("=")[2].rstrip(")"))
    first_missing = next(n for n in range(100) if f"| Line {n:03}" not in shown)
    assert text[resume:].startswith(f"Line {first_missing:03}")
    assert way.startswith(f"(+{len(text) - resume} characters")


def test_controls_leave_room_for_text():
    """Many controls with long labels do not push all words out."""
    many = [control(n, label=f"{n} " + "x" * 150) for n in range(1, 41)]
    shown = page_text(look(state(*many, text="\n".join(f"Price {n} EUR" for n in range(200)))), max_characters=4000)
    assert len(shown) <= 4000
    assert "| Price 0 EUR" in shown
    assert "controls not shown" in shown


def test_frames_that_could_not_be_read_are_named_and_counted():
    """With address and reason, five of them; the rest as a number."""
    many = [{"url": f"http://ad{n}.test/", "reason": "no answer"} for n in range(6)]
    shown = lines(state(), unreadable=[*many, {"url": "about:srcdoc", "reason": "too many", "count": 94}])
    assert shown[-6:-1] == [f'(A frame could not be read: "http://ad{n}.test/", "no answer")' for n in range(5)]
    assert shown[-1] == "(+95 frames that could not be read)"


def test_invisible_characters_of_the_text_are_counted():
    """They are taken out, and that is said."""
    assert lines(state(text="Pay\u200b now\u202e"))[-2:] == ["| Pay now", "(2 invisible characters removed from the text)"]


def test_lines_that_hold_nothing_but_shown_labels_are_dropped():
    """Several labels on one line, and points of a list."""
    shown = lines(
        state(control(1, label="Sign in"), control(2, "link", "Forgot it?"), text="Sign in Forgot it?\n- Sign in\nSign in now")
    )
    assert [line for line in shown if line.startswith("| ")] == ["| Sign in now"]


def test_a_line_that_is_made_of_short_labels_says_more_than_they_do():
    """Digits on buttons do not take a sum away, nor a label the letters of a longer word."""
    buttons = [control(n, label=label) for n, label in enumerate(("1", "2", "a", "Send"), 1)]
    shown = lines(state(*buttons, text="1 + 2 =\na 12\nSend Sender"))
    assert [line for line in shown if line.startswith("| ")] == ["| 1 + 2 =", "| a 12", "| Send Sender"]


words = st.text(st.one_of(st.characters(), st.sampled_from(list("<>\n\r\x0b\u2028|[]():"))), max_size=120)


@given(label=words, text=words, title=words, url=words, reason=words)
def test_a_planner_gets_all_of_a_text_that_was_made_to_fit(label, text, title, url, reason):
    """Nothing is cut behind its back: not by escaping either."""
    page = look(
        state(*(control(n, label=label) for n in range(1, 60)), text=text * 60, title=title, url=url),
        unreadable=[{"url": url, "reason": reason}],
    )
    shown = page_text(page, max_characters=LIMITS["untrusted"])
    told = result_text("snapshot", ToolOutput(ok=True, summary="", untrusted=shown), "ab" * 8)
    assert "[cut]" not in told.removesuffix("<<<END " + "ab" * 8 + ">>>") or "[cut]" in label + text + title + url + reason


@given(words)
def test_no_line_of_a_page_can_pass_for_one_of_ours(text):
    """Each has its prefix; markers alone have none, and are escaped on the way to a planner."""
    shown = page_text(look(state(text=text))).split("\n")
    for line in shown[shown.index("Text:") + 1 :]:
        assert line.startswith(("| ", "<")) or line.endswith("removed from the text)")
        assert len(line.splitlines()) <= 1
