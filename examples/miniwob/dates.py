"""Tasks of dates and times."""

from datetime import datetime

from ._reading import Page, minutes
from ._script import Script, act, click, look, said, solves, write

MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


@solves("enter-date")
def enter_date(goal: str) -> Script:
    (date,) = said(r"Enter (\d+/\d+/\d+) as the date and hit submit\.", goal)
    page = yield look()
    iso = datetime.strptime(date, "%m/%d/%Y").date().isoformat()
    yield [act(page.controls[0], "date", value=iso), click(page.the("button", label="Submit"))]


@solves("enter-time")
def enter_time(goal: str) -> Script:
    (time,) = said(r"Enter (\d+:\d+ [AP]M) as the time and press submit\.", goal)
    page = yield look()
    short = datetime.strptime(time, "%I:%M %p").strftime("%H:%M")
    yield [write(page.controls[0], short), click(page.the("button", label="Submit"))]


def pick(page: Page, month: int, day: int) -> Script:
    """In the open calendar, leaf back to the month and click the day. What is open is told by its words, or as a section."""
    while not any(MONTHS[month - 1] in words for words in [*page.text, *(one.details.get("section", "") for one in page.controls)]):
        page = yield [click(page.first("link", "button", "clickable", label="Prev")), look()]
    yield click(page.the("link", label=str(day)))


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(goal: str) -> Script:
    month, day, _ = said(r"Select (\d+)/(\d+)/(\d+) as the date and hit submit\.", goal)
    page = yield look()
    submit = click(page.the("button", label="Submit"))
    page = yield [click(page.the("textbox")), look()]
    yield from pick(page, int(month), int(day))
    yield submit


@solves("book-flight", "book-flight-nodelay")
def book_flight(goal: str) -> Script:
    """The airports are chosen from what is suggested for a town or a code."""
    wish, start, end, month, day, _ = said(r"Book the (\w+) one-way flight from: (.+) to: (.+) on (\d+)/(\d+)/(\d+)\.", goal)
    page = yield look()
    search = click(page.the("button", label="Search"))
    for label, town in (("From:", start), ("To:", end)):
        page = yield [write(page.the("textbox", label=label), town), look()]
        page = yield [click(next(one for one in page.all("clickable") if town in one.label)), look()]
    page = yield [click(page.the("textbox", label="Departure Date")), look()]
    yield from pick(page, int(month), int(day))
    page = yield [search, look()]
    flights = [one for one in page.all("button") if one.label.startswith("Book flight for $")]
    worth = [float(one.label.rpartition("$")[2]) for one in flights] if wish == "cheapest" else minutes(page)
    yield click(flights[worth.index(min(worth))])
