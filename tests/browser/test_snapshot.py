"""A look at a page, from the wire's answer."""

import pytest

from foxloop_trio.browser._snapshot import Snapshot
from foxloop_trio.errors import BrowserError

BASE = {
    "type": "", "name": "", "placeholder": "", "section": "", "value": "", "disabled": False, "read_only": False,
    "required": False, "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False,
    "secret": False, "guard": "g" * 16,
}  # fmt: skip


def control(node, role="button", label="OK", **more):
    return {**BASE, "node": node, "role": role, "tag": "x", "label": label, **more}


def frame(number=0, controls=(), **more):
    return {
        "frame": number, "document": f"{number:032x}", "url": "http://shop.test/", "title": "Shop", "text": "words",
        "headings": ["Shop"], "controls": list(controls), "captcha": False, "more": False, "truncated": 0, "key": "k" * 16, **more,
    }  # fmt: skip


def look(*frames, **more):
    return Snapshot.from_wire({"frames": list(frames), "unreadable": [], **more}, generation=7)


def test_a_look_has_the_top_frames_words_and_all_frames_controls():
    """Frames in the order of their numbers, ids with the frame's number in front."""
    page = look(
        frame(3, [control(1, label="inner")], captcha=True, truncated=2, title="ad"),
        frame(0, [control(1, "textbox", "Name", form=2), control(3)], more=True, truncated=1),
    )
    assert (page.generation, page.url, page.title, page.text) == (7, "http://shop.test/", "Shop", "words")
    assert (page.headings, page.more, page.captcha, page.truncated) == (("Shop",), True, True, 3)
    assert [found.id for found in page.controls] == ["0:1", "0:3", "3:1"]
    assert page.control("3:1").label == "inner"
    assert page.control("0:1").form == 2
    assert page.control("0:2") is None
    assert page.frame(3).document == f"{3:032x}"
    assert page.frame(1) is None


def test_every_part_of_a_control_is_kept():
    """Optional parts that are left out are None; options and destination are nouns of their own."""
    options = [{"value": "no", "label": "Norway", "selected": True}]
    there = {"url": "http://shop.test/send", "method": "POST", "target": ""}
    page = look(
        frame(
            0,
            [
                control(1, "combobox", options=options, multiple=False),
                control(2, submit=True, destination=there, via="label"),
                control(4),
            ],
        )
    )
    choice, send, plain = page.controls
    assert (choice.options[0].value, choice.options[0].label, choice.options[0].selected) == ("no", "Norway", True)
    assert (send.destination.url, send.destination.method, send.via) == ("http://shop.test/send", "POST", "label")
    assert (plain.options, plain.checked, plain.form, plain.href, plain.destination) == (None, None, None, None, None)


@pytest.mark.parametrize("frames", [[], [frame(1)]])
def test_a_page_without_its_top_frame_is_not_readable(frames):
    """Child frames alone are no page."""
    with pytest.raises(BrowserError, match="not readable") as caught:
        look(*frames)
    assert caught.value.code == "no-document"


def test_frames_that_could_not_be_read_are_listed():
    """With address and reason."""
    page = look(frame(), unreadable=[{"url": "http://ad.test/", "reason": "no answer"}])
    assert [(entry.url, entry.reason) for entry in page.unreadable] == [("http://ad.test/", "no answer")]


def test_halves_of_characters_are_joined_or_replaced():
    """A page can hold lone surrogates; digests, logs and model servers cannot."""
    page = look(frame(0, [control(1, label="a\ud835b", value="\ud83c\udf78")], title="\ud83c\udf78", text="x\udc00"))
    assert (page.title, page.text) == ("🍸", "x\ufffd")
    assert (page.controls[0].label, page.controls[0].value) == ("a\ufffdb", "🍸")


@pytest.mark.parametrize(("value", "shown"), [("hunter2", "•••"), ("•••", "•••"), ("", "")])
def test_a_secret_value_is_never_shown(value, shown):
    """Whatever the page sent."""
    assert look(frame(0, [control(1, secret=True, value=value)])).controls[0].shown_value == shown
