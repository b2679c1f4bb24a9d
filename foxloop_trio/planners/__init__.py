"""Planners: whoever decides what to do next. Here the ones that need no model."""

from ._function import FunctionPlanner, function_planner
from ._scripted import ScriptedPlanner, scripted_planner

__all__ = ["FunctionPlanner", "ScriptedPlanner", "function_planner", "scripted_planner"]
