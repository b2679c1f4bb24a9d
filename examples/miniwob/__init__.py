"""Scripted planners for tasks of MiniWoB++: a file for each kind, a short function for each task or family of tasks.

A planner here knows the sentence that the task asks and what the tools answered, nothing else, just as a model would. `TASKS` gives
for each task what makes its planner from that sentence; `NOT_ATTEMPTED` says why the others have none.
"""

from . import choosing, clicking, dates, lists, mail, pointing, scrolling, shapes, writing
from ._script import TASKS

__all__ = [
    "NOT_ATTEMPTED",
    "TASKS",
    "choosing",
    "clicking",
    "dates",
    "lists",
    "mail",
    "pointing",
    "scrolling",
    "shapes",
    "writing",
]

NOT_ATTEMPTED = {
    "click-menu-2": "some of its sentences name an item by its icon, which the page layer cannot tell from other icons of one file",
    "count-sides": "the sides of a shape on a canvas: only a picture shows them",
    "daily-calendar": "its hours are drawn, not listed: there is nothing to take hold of",
    "drag-cube": "a cube that turns with every movement of the pointer",
    "hot-cold": "a bare area that answers to the pointer, and is no control",
    "terminal": "its keys go to a field that cannot be seen, which is no control",
}
