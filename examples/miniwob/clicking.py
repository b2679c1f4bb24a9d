"""Tasks of plain clicks: buttons, links, tabs, sections, dialogs, and what has to be read before the right one is known."""

import re
from collections.abc import Callable, Mapping

from ._reading import Control, minutes
from ._script import Script, click, look, said, solves, write


@solves("click-test")
def click_test(goal: str) -> Script:
    page = yield look()
    yield click(page.the("button"))


@solves("click-test-2", "click-test-transfer")
def click_one_of_two(goal: str) -> Script:
    (name,) = said(r"Click button (\w+)\.", goal)
    page = yield look()
    yield click(page.the("button", label=name))


@solves("click-button", "unicode-test")
def click_button(goal: str) -> Script:
    """Buttons of the same caption do the same."""
    (name,) = said(r'Click on the "(.+)" button\.', goal)
    page = yield look()
    yield click(page.first("button", label=name))


@solves("click-button-sequence")
def click_button_sequence(goal: str) -> Script:
    first, second = said(r"Click button (\w+), then click button (\w+)\.", goal)
    page = yield look()
    yield [click(page.the("button", label=first)), click(page.the("button", label=second))]


@solves("click-dialog")
def click_dialog(goal: str) -> Script:
    page = yield look()
    yield click(page.the("button", label="Close"))


@solves("click-dialog-2")
def click_dialog_2(goal: str) -> Script:
    """The "x" in the corner is called Close."""
    (name,) = said(r'Click the button in the dialog box labeled "(.+)"\.', goal)
    page = yield look()
    yield click(page.the("button", label="Close" if name == "x" else name))


@solves("click-widget")
def click_widget(goal: str) -> Script:
    (kind,) = said(r'Click on a "(.+)" widget\.', goal)
    page = yield look()

    def fits(control: Control) -> bool:
        several_lines = "multiline" in control.flags
        role = {"text": "textbox", "textarea": "textbox"}.get(kind, kind)
        return control.role == role and several_lines == (kind == "textarea")

    yield click(next(control for control in page.controls if fits(control)))


@solves("click-link")
def click_link(goal: str) -> Script:
    (name,) = said(r'Click on the link "(.+)"\.', goal)
    page = yield look()
    yield click(page.first("clickable", label=name))


@solves("click-tab")
def click_tab(goal: str) -> Script:
    (name,) = said(r"Click on (.+)\.", goal)
    page = yield look()
    yield click(page.the("tab", label=name))


def search_below(goal: str, pattern: str) -> Script:
    """Open one tab or section after the other until the link is there."""
    (name,) = said(pattern, goal)
    page = yield look()
    for tab in page.all("tab"):
        if "checked" not in tab.flags:
            page = yield [click(tab), look()]
        if found := page.all("clickable", label=name):
            yield click(found[0])
            return


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def click_tab_2(goal: str) -> Script:
    return search_below(goal, r'Switch between the tabs to find and click on the link "(.+)"\.')


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
def click_collapsible_2(goal: str) -> Script:
    return search_below(goal, r'Expand the sections below, to find and click on the link "(.+)"\.')


@solves("click-collapsible", "click-collapsible-nodelay")
def click_collapsible(goal: str) -> Script:
    page = yield look()
    page = yield [click(page.first("tab")), look()]
    yield click(page.the("button", label="Submit"))


@solves("focus-text")
def focus_text(goal: str) -> Script:
    page = yield look()
    yield click(page.the("textbox"))


@solves("focus-text-2")
def focus_text_2(goal: str) -> Script:
    (number,) = said(r"Focus into the (\d)\w+ input textbox\.", goal)
    page = yield look()
    yield click(page.all("textbox")[int(number) - 1])


@solves("generate-number")
def generate_number(goal: str) -> Script:
    """Generate until the number fits."""
    kind, limit = said(
        r"Generate an? (even number|odd number|number less than|number greater than) ?(\d*), then press submit\.", goal
    )
    fits: Mapping[str, Callable[[int], bool]] = {
        "even number": lambda number: number % 2 == 0,
        "odd number": lambda number: number % 2 == 1,
        "number less than": lambda number: number < int(limit),
        "number greater than": lambda number: number > int(limit),
    }
    page = yield look()
    while True:
        page = yield [click(page.the("button", label="Generate")), look()]
        if fits[kind](int(page.find(r"^\d+$")[0])):
            break
    yield click(page.the("button", label="Submit"))


@solves("odd-or-even")
def odd_or_even(goal: str) -> Script:
    page = yield look()
    numbers = [int(line) for line in page.text if re.fullmatch(r"-?\d+", line)]
    odd, even = page.all("button", label="Odd"), page.all("button", label="Even")
    marks = [click(odd[place] if number % 2 else even[place]) for place, number in enumerate(numbers)]
    yield [*marks, click(page.the("button", label="Submit"))]


@solves("use-spinner")
def use_spinner(goal: str) -> Script:
    (number,) = said(r"Select (-?\d+) with the spinner and hit Submit\.", goal)
    page = yield look()
    yield [write(page.the("spinbutton"), number), click(page.the("button", label="Submit"))]


@solves("buy-ticket")
def buy_ticket(goal: str) -> Script:
    (wish,) = said(r"Buy the ticket with the (.+)\.", goal)
    page = yield look()
    tickets = page.all("button")
    worth = [float(ticket.label.rpartition("$")[2]) for ticket in tickets] if "cost" in wish else minutes(page)
    best = min if wish in ("cheapest cost", "shortest duration") else max
    yield click(tickets[worth.index(best(worth))])
