"""The ReAct facade: bring your own model and tools; a plain loop around them, with hooks and guards."""

from ._budget_guard import BudgetGuard
from ._gate_hook import gate_hook, react_hooks_from_gate, react_tool
from ._hooks import Hooks, Instead, TurnRecord
from ._ledger import Ledger
from ._loop import run_react_loop
from ._loop_detector import LoopDetector
from ._mcp import mcp_tools
from ._options import Llm
from ._planner_llm import llm_from_planner, planner_as_llm
from ._policy import Decision, PolicyEngine, Rule, RuleLimit
from ._policy_packs import host_allow_list, no_shell_metacharacters, read_only, spend_cap
from ._result import AgentRunResult, StateHolder
from ._state import Message, ModelReply, State, ToolCall, ToolResult
from ._tools import ReactTool, ToolRegistry, ToolSpec
from ._verdicts import Ask, Block, Guard, GuardBusyError, Note, Rewrite, Stop

__all__ = [
    "AgentRunResult",
    "Ask",
    "Block",
    "BudgetGuard",
    "Decision",
    "Guard",
    "GuardBusyError",
    "Hooks",
    "Instead",
    "Ledger",
    "Llm",
    "LoopDetector",
    "Message",
    "ModelReply",
    "Note",
    "PolicyEngine",
    "ReactTool",
    "Rewrite",
    "Rule",
    "RuleLimit",
    "State",
    "StateHolder",
    "Stop",
    "ToolCall",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "TurnRecord",
    "gate_hook",
    "host_allow_list",
    "llm_from_planner",
    "mcp_tools",
    "no_shell_metacharacters",
    "planner_as_llm",
    "react_hooks_from_gate",
    "react_tool",
    "read_only",
    "run_react_loop",
    "spend_cap",
]
