"""The ReAct facade: bring your own model and tools; a plain loop around them, with hooks and guards.

To read it: `_loop` is the call, the order of a turn and the request to the model; `_acting` sees to the calls that the model makes.
`_options`, `_hooks` and `_tools` are what the host gives, `_result` is what it gets. Replies are read and conversations kept where
the loop does that too, in `foxloop_trio/loop`. `guards` and `adapters` come on top: a run needs none of them.
"""

from ..guarding import Ask, Block, Guard, GuardBusyError, Message, ModelReply, Note, Rewrite, State, Stop, ToolCall, ToolResult
from ..guarding._nouns import ToolSpec, TurnRecord
from ._hooks import Hooks, Instead
from ._loop import run_react_loop
from ._options import Llm
from ._result import AgentRunResult, StateHolder
from ._tools import ReactTool, ToolRegistry
from .adapters._gate import gate_hook, react_hooks_from_gate, react_tool
from .adapters._mcp import mcp_tools
from .adapters._planner import llm_from_planner, planner_as_llm
from .guards._budget_guard import BudgetGuard
from .guards._ledger import Ledger
from .guards._loop_detector import LoopDetector
from .guards.policy._engine import Decision, PolicyEngine
from .guards.policy._packs import host_allow_list, no_shell_metacharacters, read_only, spend_cap
from .guards.policy._rules import Rule, RuleLimit

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
