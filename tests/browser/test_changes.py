"""What changed between two looks, and that as text; or the whole page where it says more."""

import pytest

from foxloop_trio.browser import change_text, changes
from foxloop_trio.browser._page_text import page_text
from foxloop_trio.browser._snapshot import Changes, Part, Snapshot

BASE = {
    "type": "", "name": "", "placeholder": "", "section": "", "value": "", "disabled": False, "read_only": False,
    "required": False, "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False,
    "secret": False, "guard": "g" * 16,
}  # fmt: skip
LONG = "\n".join(f"Line {n} of a page that has enough to read" for n in range(40))


def control(node, role="button", label=None, **more):
    return {**BASE, "node": node, "role": role, "tag": "x", "label": label or f"B{node}", **more}


def state(*controls, frame=0, **more):
    return {
        "frame": frame, "document": f"{frame:032x}", "url": "http://shop.test/", "title": "Shop", "text": LONG, "headings": [],
        "controls": list(controls), "captcha": False, "more": False, "truncated": 0, "key": "k" * 16, **more,
    }  # fmt: skip


def look(*states, part=None):
    return Snapshot.from_wire({"frames": list(states), "unreadable": []}, part=part)


FIELDS = [control(1, "textbox", "Name"), control(2, "checkbox", "Terms", checked=False), *map(control, (3, 4, 5, 6))]
NEW = "\n".join(f"{n} new things to read" for n in range(60))
BEFORE = look(state(*FIELDS))


def with_change(node, **more):
    return [{**field, **more} if field["node"] == node else field for field in FIELDS]


def test_nothing_changed():
    """Then there is nothing, and it is false."""
    assert changes(BEFORE, BEFORE) == Changes()
    assert not changes(BEFORE, BEFORE)
    assert change_text(BEFORE, BEFORE).text == 'Same document: "http://shop.test/"\nNo visible change.'


def test_controls_pair_by_their_ids():
    """Those that came, went, and are not as they were."""
    after = look(state(*with_change(1, value="Ada")[:5], control(9)))
    found = changes(BEFORE, after)
    assert [one.id for one in found.appeared] == ["0:9"]
    assert [one.id for one in found.disappeared] == ["0:6"]
    assert [(was.value, now.value) for was, now in found.changed] == [("", "Ada")]
    assert change_text(BEFORE, after) .text == "\n".join(
        [
            'Same document: "http://shop.test/"', "Changed:", '[0:1] textbox "Name" value="Ada"', "Appeared:", '[0:9] button "B9"',
            "Disappeared:", '[0:6] button "B6"',
        ]
    )  # fmt: skip


def test_a_changed_place_on_the_screen_or_guard_is_no_change_to_see():
    """What no line says may differ; the read-only flag counts all the same."""
    assert not changes(BEFORE, look(state(*with_change(3, guard="h" * 16, offscreen=True))))
    assert len(changes(BEFORE, look(state(*with_change(1, read_only=True)))).changed) == 1


def test_text_is_compared_as_a_multiset_of_lines():
    """A price that stands there twice now came once."""
    before = look(state(*FIELDS, text=f"{LONG}\n5 EUR\nGone it is, all 9 of it"))
    after = look(state(*FIELDS, text=f"{LONG}\n5 EUR\n5 EUR\nNew"))
    found = changes(before, after)
    assert (found.text_added, found.text_removed) == (("| 5 EUR", "| New"), 1)
    assert change_text(before, after).text.endswith("(1 text line removed)\nText added:\n| 5 EUR\n| New")


def test_title_captcha_and_target_are_told():
    """In this order; the target only when it did not change itself."""
    after = look(state(*with_change(2, checked=True), title="Basket", captcha=True))
    lines = change_text(BEFORE, after, target="0:3").text.split("\n")
    assert lines[1:5] == ['Title now: "Basket"', "Captcha appeared.", "Target:", '[0:3] button "B3"']
    assert "Target:" not in change_text(BEFORE, after, target="0:2").text


@pytest.mark.parametrize(
    ("was", "now", "said"), [("", "•••", "filled"), ("•••", "", "cleared"), ("ab", "cd", "changed"), ("ab", "ab", "")]
)
def test_a_secret_that_changed_says_only_that(was, now, said):
    """Never a value."""
    before = look(state(*with_change(1, secret=True, value=was)))
    after = look(state(*with_change(1, secret=True, value=now, disabled=True)))
    line = next(line for line in change_text(before, after).text.split("\n") if line.startswith("[0:1]"))
    assert line.endswith(f"(disabled): {said}" if said else "(disabled)")
    assert '"ab"' not in line
    assert '"cd"' not in line


@pytest.mark.parametrize(
    "after",
    [
        look(state(*FIELDS, url="http://shop.test/other")),
        look(state(*FIELDS, document="e" * 32)),
        look(state(*FIELDS), state(frame=1)),
        look(state(*FIELDS), part=Part(find="x")),
        look(state(*FIELDS[:2])),
        look(state(*FIELDS, text=f"{LONG}\n{NEW}")),
    ],
    ids=["address", "document", "frames", "part", "most of it", "text"],
)  # fmt: skip
def test_where_too_much_changed_the_whole_page_is_shown(after):
    """8.2: another document, or more than is worth telling one by one."""
    shown = change_text(BEFORE, after)
    assert (shown.full, shown.text) == (True, page_text(after))


def test_many_changes_show_the_whole_page():
    """More of one kind than controls would be shown."""
    after = look(state(*FIELDS, *(control(n) for n in range(10, 13))))
    assert change_text(BEFORE, after).full is False
    assert change_text(BEFORE, after, max_controls=2).full is True


def test_the_host_says_how_the_whole_page_is_shown():
    """`whole` takes the place of `page_text`."""
    after = look(state(*FIELDS, url="http://shop.test/other"))
    assert change_text(BEFORE, after, whole=lambda page: f"all of {page.url}").text == "all of http://shop.test/other"
