"""Tools: what a planner may call, their schemas, and the check of arguments against them."""

from ..prompt import FINISH
from ._ask_user import ask_user_tool
from ._check import check_args
from ._decorator import tool
from ._tool import Tool, ToolSpec, define_tools, tool_specs

__all__ = ["FINISH", "Tool", "ToolSpec", "ask_user_tool", "check_args", "define_tools", "tool", "tool_specs"]
