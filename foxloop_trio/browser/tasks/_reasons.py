"""Why a task stops before its end, and what can be wrong with the page it ends on: codes, and a sentence of ours for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

__all__ = ["MESSAGES", "PAGE_PROBLEMS", "TASK_BLOCKS", "PageProblem", "TaskBlock"]

TaskBlock = Literal[
    "ambiguous-send",
    "captcha",
    "destination-changed",
    "dialog",
    "downgrade",
    "form-did-not-send",
    "other-site",
    "page-keeps-changing",
    "picker-never-showed",
    "picker-no-day",
    "risky-send",
    "step-limit",
    "submit-disabled",
]
TASK_BLOCKS: Final[tuple[str, ...]] = get_args(TaskBlock)

PageProblem = Literal["captcha", "empty page", "error page"]
PAGE_PROBLEMS: Final[tuple[str, ...]] = get_args(PageProblem)

MESSAGES: Final[Mapping[TaskBlock, str]] = {
    "ambiguous-send": "more than one button could send the form, and the goal does not say which; name the button in the goal",
    "captcha": "the page shows a captcha, which only a person may solve",
    "destination-changed": "the form would go elsewhere, or by another button, than was approved; ask for the task again",
    "dialog": "the page asked something in a script dialog, which was answered with no",
    "downgrade": "the page is not encrypted any more, and it was when the task began",
    "form-did-not-send": "the form was filled and its button pressed, but nothing shows that it was sent",
    "other-site": "the page is on another site or host than the task was begun for",
    "page-keeps-changing": "the page changed three times in a row between the look and the act",
    "picker-never-showed": "the date did not come up within 24 pages of the date picker",
    "picker-no-day": "the date picker shows neither the date nor a way to it, and the field cannot be typed into",
    "risky-send": "the button that sends the form does something that the goal does not ask for",
    "step-limit": "the task took as many steps as it may",
    "submit-disabled": "the button that sends the form is disabled; something that it needs may be missing",
}
