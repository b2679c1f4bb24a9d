"""Tasks of dates and times."""

from datetime import datetime

from ._script import Script, act, click, look, said, solves, write

MONTHS = "January February March April May June July August September October November December".split()


@solves("enter-date")
def enter_date(goal: str) -> Script:
    (date,) = said(r"Enter (\d+/\d+/\d+) as the date and hit submit\.", goal)
    page = yield look()
    iso = datetime.strptime(date, "%m/%d/%Y").date().isoformat()  # noqa: DTZ007 - a date has no zone
    yield [act(page.controls[0], "date", iso), click(page.the("button", label="Submit"))]


@solves("enter-time")
def enter_time(goal: str) -> Script:
    (time,) = said(r"Enter (\d+:\d+ [AP]M) as the time and press submit\.", goal)
    page = yield look()
    short = datetime.strptime(time, "%I:%M %p").strftime("%H:%M")  # noqa: DTZ007 - nor has this
    yield [write(page.controls[0], short), click(page.the("button", label="Submit"))]


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(goal: str) -> Script:
    """Open the calendar, leaf back to the month, click the day."""
    month, day, _ = said(r"Select (\d+)/(\d+)/(\d+) as the date and hit submit\.", goal)
    page = yield look()
    page = yield click(page.the("textbox"))
    while not any(MONTHS[int(month) - 1] in line for line in [*page.text, *(one.details.get("section", "") for one in page.controls)]):
        page = yield [click(page.first("link", "button", "clickable", label="Prev")), look()]
    page = yield click(page.first("link", "button", "clickable", label=str(int(day))))
    yield click(page.the("button", label="Submit"))
