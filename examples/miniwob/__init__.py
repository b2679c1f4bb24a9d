"""Scripted planners for tasks of MiniWoB++: a file for each kind, a short function for each task or family of tasks.

A planner here knows the sentence that the task asks and what the tools answered, nothing else, just as a model would. `TASKS` gives
for each task what makes its planner from that sentence; `NOT_ATTEMPTED` says why the others have none.
"""

from . import choosing, clicking, dates, lists, mail, pointing, scrolling, shapes, writing
from ._script import TASKS

__all__ = ["NOT_ATTEMPTED", "TASKS", "choosing", "clicking", "dates", "lists", "mail", "pointing", "scrolling", "shapes", "writing"]

NOT_ATTEMPTED: dict[str, str] = {}
