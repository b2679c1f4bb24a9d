"""The demo's script: finds its controls in the text that a planner is shown."""

import pytest

from foxloop_trio.cli._demo_script import control_id
from foxloop_trio.errors import PlannerError

PAGE = """snapshot: ok
4 controls

Title: "The little tea shop"
Controls:
[0:1] textbox "Your name" (required)
[0:2] combobox "Tea" value="black" options=["black","green"]
[0:10] checkbox "With \\"real\\" milk"
[0:11] button "Send the order" (submits)
Text:
| [0:99] button "Send the order"
"""


def shown(*texts: str) -> list[dict[str, str]]:
    return [{"role": "tool", "content": text} for text in texts]


def test_a_control_is_found_by_its_label() -> None:
    """By the line of the page's text that begins with its id."""
    assert control_id(shown(PAGE), "Your name") == "0:1"
    assert control_id(shown(PAGE), "Send the order") == "0:11"


def test_the_newest_page_counts() -> None:
    """Ids of an older page may mean something else by now."""
    newer = PAGE.replace("[0:1]", "[0:21]")
    assert control_id(shown(PAGE, newer, "act: ok\ndone"), "Your name") == "0:21"


def test_a_label_that_is_not_there_names_those_that_are() -> None:
    """The way out is in the message."""
    with pytest.raises(PlannerError, match=r"'Your age'; there are 'Your name', 'Tea'"):
        control_id(shown(PAGE), "Your age")


def test_without_a_page_nothing_is_guessed() -> None:
    """A message may also have no content at all."""
    with pytest.raises(PlannerError, match="no page has been shown"):
        control_id([{"role": "assistant", "content": None}], "Tea")
