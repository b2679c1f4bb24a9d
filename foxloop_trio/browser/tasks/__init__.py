"""Tasks: from a goal in plain words to a filled and sent form, and a check of it.

A goal is parsed by fixed rules, a chooser finds the control for each part of it, a controller plans one step at a time, and what
came of it is looked up on the page. All of that is pure; `run_task` alone waits.
"""

from ._choosing import Choice, Chooser
from ._goals import parse_goal
from ._model_chooser import ModelChooser
from ._nouns import Goal, Requirement
from ._preview import preview
from ._previewed import PlannedDestination, PlannedField, PlannedRisk, PlannedSend, Preview
from ._progress import TaskStep
from ._reasons import PAGE_PROBLEMS, TASK_BLOCKS, PageProblem, TaskBlock
from ._rule_chooser import RuleChooser
from ._run import Elsewhere, TaskPage, TaskResult, run_task
from ._tab_page import TabPage
from ._tool import browser_task_tool

__all__ = [
    "PAGE_PROBLEMS",
    "TASK_BLOCKS",
    "Choice",
    "Chooser",
    "Elsewhere",
    "Goal",
    "ModelChooser",
    "PageProblem",
    "PlannedDestination",
    "PlannedField",
    "PlannedRisk",
    "PlannedSend",
    "Preview",
    "Requirement",
    "RuleChooser",
    "TabPage",
    "TaskBlock",
    "TaskPage",
    "TaskResult",
    "TaskStep",
    "browser_task_tool",
    "parse_goal",
    "preview",
    "run_task",
]
