"""Date pickers: days, pages of them, and bare numbers (page reference, 15 and 21.24)."""

import pytest

from foxloop_trio.browser.tasks._picker import days_shown, turner


def field(pages, **more):
    return pages.control("textbox", "Date", picker=True, read_only=True, form=90, **more)


def cell(pages, label, **more):
    return pages.control("gridcell", label, dialog=True, **more)


def opened(pages, goal="date: 2026-10-09, do not submit"):
    """A run that has just opened the picker."""
    progress = pages.start(goal)
    before = pages.look(field(pages))
    act = pages.decide(progress, before)
    assert (act.op, act.awaits) == ("click", "picker")
    pages.did(progress, before, act)
    return progress


def test_the_day_that_is_labelled_with_the_date_is_clicked(pages):
    """And the requirement is done by the field."""
    progress = opened(pages)
    page = pages.look(field(pages), cell(pages, "Thursday, October 8, 2026"), cell(pages, "Friday, October 9, 2026"))
    act = pages.decide(progress, page)
    assert (act.op, act.control.label) == ("click", "Friday, October 9, 2026")
    pages.did(progress, page, act)
    assert (progress.parts[0].status, progress.parts[0].control[1], progress.awaiting) == ("done", "0:1", None)


def test_a_field_that_shows_the_date_already_needs_no_click(pages):
    """Some pickers set it by opening."""
    progress = opened(pages)
    assert type(pages.decide(progress, pages.look(field(pages, value="October 9, 2026")))).__name__ == "Finish"


@pytest.mark.parametrize(
    ("shown", "buttons", "expected"),
    [
        ("August 3, 2026", ["Previous month", "Next month"], "Next month"),
        ("December 3, 2026", ["Previous month", "Next month"], "Previous month"),
        ("December 3, 2026", ["\u2039", "\u203a"], "\u2039"),
        ("August 3, 2026", ["\u2039", "\u203a"], "\u203a"),
        ("August 3, 2026", ["<<", "<", ">", ">>"], ">"),
        ("December 3, 2026", ["←", "→"], "←"),
        (None, ["Back", "Forward"], "Forward"),
        ("December 3, 2026", ["Earlier", "Later"], "Earlier"),
    ],
)
def test_pages_are_turned_towards_the_date(pages, shown, buttons, expected):
    """Back when the earliest day shown is later, on otherwise; also when no day is shown."""
    progress = opened(pages)
    cells = [cell(pages, shown)] if shown else []
    page = pages.look(field(pages), *cells, *(pages.control("button", label, dialog=True) for label in buttons))
    act = pages.decide(progress, page)
    assert (act.op, act.control.label, act.turn) == ("click", expected, True)


def test_after_24_pages_the_run_gives_up(pages):
    """`picker-never-showed`; turned pages are no served requirement."""
    progress = opened(pages)
    page = pages.look(field(pages), cell(pages, "August 3, 2026"), pages.control("button", "Next", dialog=True))
    for _ in range(24):
        pages.did(progress, page, pages.decide(progress, page))
    assert progress.parts[0].status == "pending"
    assert pages.decide(progress, page).reason == "picker-never-showed"


def test_a_picker_without_the_day_and_without_a_way_on_blocks(pages):
    """`picker-no-day`; a button that was refused is no way on."""
    progress = opened(pages)
    page = pages.look(field(pages), cell(pages, "August 3, 2026"), pages.control("button", "Next", dialog=True))
    pages.did(progress, page, pages.decide(progress, page), ok=False, started=False, reason="covered")
    assert pages.decide(progress, page).reason == "picker-no-day"


def test_a_field_that_turned_out_to_be_writable_is_typed_into(pages):
    """In its format."""
    progress = opened(pages)
    page = pages.look(field(pages, date_format="DD/MM/YYYY") | {"read_only": False}, cell(pages, "August 3, 2026"))
    act = pages.decide(progress, page)
    assert (act.op, act.value) == ("type", "09/10/2026")
    pages.did(progress, page, act)
    assert progress.parts[0].status == "done"


def test_a_disabled_day_is_not_clicked(pages):
    """It is another day's picker, then."""
    progress = opened(pages)
    assert pages.decide(progress, pages.look(field(pages), cell(pages, "October 9, 2026", disabled=True))).reason == "picker-no-day"


@pytest.mark.parametrize(
    ("where", "months"),
    [
        ({"headings": ["October 2026"]}, {}),
        ({"text": "Choose a day\nOctober 2026\nMo Tu We"}, {}),
        ({"text": "Oktober 2026"}, {}),
        ({}, {"section": "October 2026"}),
        ({}, {"button": "October 2026"}),
        ({}, {"selects": (["September", "*October"], ["2025", "*2026"])}),
        ({"headings": ["Arrive on October 3, 2025"], "text": "October 2026"}, {}),
    ],
)
def test_days_with_bare_numbers_are_told_by_the_month_that_is_shown(pages, where, months):
    """Page reference 21.24: selects, section, a control, a heading, a line of text. Days around the month are not of it."""
    section = months.get("section", "")
    cells = [cell(pages, str(number), section=section) for number in (28, 29, 30, *range(1, 32), 1, 2)]
    extra = [pages.control("combobox", "", options=list(options), dialog=True) for options in months.get("selects", ())]
    if "button" in months:
        extra.append(pages.control("button", months["button"], dialog=True))
    days = days_shown(pages.look(*extra, *cells, **where), 0, pages.today)
    assert len(days) == 31
    assert [day for _, day in days][8] == "2026-10-09"
    assert days[8][0].label == "9"


def test_two_months_side_by_side_are_told_by_their_sections_only(pages):
    """Without sections, and with two months shown, no number is a day."""
    cells = [cell(pages, str(number), section=month) for month in ("October 2026", "November 2026") for number in (1, 2, 3)]
    assert [day for _, day in days_shown(pages.look(*cells), 0, pages.today)] == [
        "2026-10-01", "2026-10-02", "2026-10-03", "2026-11-01", "2026-11-02", "2026-11-03",
    ]  # fmt: skip
    bare = [cell(pages, str(number)) for _ in range(2) for number in (1, 2, 3)]
    assert days_shown(pages.look(*bare, text="October 2026\nNovember 2026"), 0, pages.today) == []


def test_a_part_of_a_month_is_told_too(pages):
    """A picker by weeks shows no first of the month; a number that is no day is none."""
    cells = [cell(pages, str(number)) for number in (28, 29, 30, 31)]
    days = days_shown(pages.look(*cells, text="September 2026"), 0, pages.today)
    assert [day for _, day in days] == ["2026-09-28", "2026-09-29", "2026-09-30"]


def test_a_picker_that_went_with_its_document_is_not_waited_for(pages):
    """The requirement is still to be served, on the new page."""
    progress = opened(pages)
    page = pages.look(pages.control("textbox", "Date", type="date", form=90), document="d1" * 16)
    act = pages.decide(progress, page)
    assert (act.op, act.value, progress.awaiting) == ("date", "2026-10-09", None)


def test_numbers_outside_of_a_picker_are_no_days(pages):
    """Pages of a list, for example; nor are arrows there ways on."""
    page = pages.look(pages.control("button", "3"), pages.control("button", "Next"), text="October 2026")
    assert days_shown(page, 0, pages.today) == []
    assert list(turner(page, 0, back=False)) == []
