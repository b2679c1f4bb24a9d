"""Gated agent loops for your own Firefox, on Trio structured concurrency.

Here is what most programs need: the loop, its events, tools, the gate, planners that need no model, and the errors. The rest lives
in public submodules: `foxloop_trio.trail`, `.prompt`, `.planners`, `.browser`, `.wire`, `.channel` and, for tests only, `.testing`.

Each name is loaded when it is first used, so `import foxloop_trio` costs next to nothing and a program pays for what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ._version import __version__

if TYPE_CHECKING:
    from .actions import (
        Action,
        Allow,
        ApprovalRequest,
        Ask,
        CheckLine,
        CheckResult,
        Deny,
        Effect,
        Money,
        Permit,
        Scope,
        ToolContext,
        ToolOutput,
    )
    from .errors import (
        BadOptionsError,
        BadSchemaError,
        BadToolError,
        BrowserError,
        BusyError,
        ChannelBroken,
        ChannelClosed,
        ChannelError,
        FoxloopError,
        GateError,
        LocalProtocolError,
        NotJsonError,
        PlannerError,
        Refuse,
        RemoteProtocolError,
        TrailError,
        UsageError,
    )
    from .events import (
        Aborted,
        ApprovalNeeded,
        Blocked,
        BlockReason,
        Check,
        Done,
        GateDecision,
        InFlight,
        LoopEvent,
        Outcome,
        Plan,
        PlannedCall,
        ResultReason,
        ToolCall,
        ToolResult,
        event_from_json,
        event_to_json,
    )
    from .gate import Grant, MemoryGateStore, SqliteGateStore, callback_approver, create_gate, terminal_approver
    from .loop import (
        Budget,
        CheckInput,
        Denials,
        Difference,
        Loop,
        LoopRun,
        Replayed,
        SettleCall,
        SettleInput,
        Statistics,
    )
    from .planners import function_planner, scripted_planner
    from .ports import ChatReply, Planner, Usage
    from .tools import Tool, ask_user_tool, check_args, define_tools, tool, tool_specs

__all__ = [
    "Aborted",
    "Action",
    "Allow",
    "ApprovalNeeded",
    "ApprovalRequest",
    "Ask",
    "BadOptionsError",
    "BadSchemaError",
    "BadToolError",
    "BlockReason",
    "Blocked",
    "BrowserError",
    "Budget",
    "BusyError",
    "ChannelBroken",
    "ChannelClosed",
    "ChannelError",
    "ChatReply",
    "Check",
    "CheckInput",
    "CheckLine",
    "CheckResult",
    "Denials",
    "Deny",
    "Difference",
    "Done",
    "Effect",
    "FoxloopError",
    "GateDecision",
    "GateError",
    "Grant",
    "InFlight",
    "LocalProtocolError",
    "Loop",
    "LoopEvent",
    "LoopRun",
    "MemoryGateStore",
    "Money",
    "NotJsonError",
    "Outcome",
    "Permit",
    "Plan",
    "PlannedCall",
    "Planner",
    "PlannerError",
    "Refuse",
    "RemoteProtocolError",
    "Replayed",
    "ResultReason",
    "Scope",
    "SettleCall",
    "SettleInput",
    "SqliteGateStore",
    "Statistics",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolOutput",
    "ToolResult",
    "TrailError",
    "Usage",
    "UsageError",
    "__version__",
    "ask_user_tool",
    "callback_approver",
    "check_args",
    "create_gate",
    "define_tools",
    "event_from_json",
    "event_to_json",
    "function_planner",
    "scripted_planner",
    "terminal_approver",
    "tool",
    "tool_specs",
]

_HOMES: Final[dict[str, tuple[str, ...]]] = {
    ".actions": (
        "Action",
        "Allow",
        "ApprovalRequest",
        "Ask",
        "CheckLine",
        "CheckResult",
        "Deny",
        "Effect",
        "Money",
        "Permit",
        "Scope",
        "ToolContext",
        "ToolOutput",
    ),
    ".errors": (
        "BadOptionsError",
        "BadSchemaError",
        "BadToolError",
        "BrowserError",
        "BusyError",
        "ChannelBroken",
        "ChannelClosed",
        "ChannelError",
        "FoxloopError",
        "GateError",
        "LocalProtocolError",
        "NotJsonError",
        "PlannerError",
        "Refuse",
        "RemoteProtocolError",
        "TrailError",
        "UsageError",
    ),
    ".events": (
        "Aborted",
        "ApprovalNeeded",
        "Blocked",
        "BlockReason",
        "Check",
        "Done",
        "GateDecision",
        "InFlight",
        "LoopEvent",
        "Outcome",
        "Plan",
        "PlannedCall",
        "ResultReason",
        "ToolCall",
        "ToolResult",
        "event_from_json",
        "event_to_json",
    ),
    ".gate": ("Grant", "MemoryGateStore", "SqliteGateStore", "callback_approver", "create_gate", "terminal_approver"),
    ".loop": (
        "Budget",
        "CheckInput",
        "Denials",
        "Difference",
        "Loop",
        "LoopRun",
        "Replayed",
        "SettleCall",
        "SettleInput",
        "Statistics",
    ),
    ".planners": (
        "function_planner",
        "scripted_planner",
    ),
    ".ports": (
        "ChatReply",
        "Planner",
        "Usage",
    ),
    ".tools": (
        "Tool",
        "ask_user_tool",
        "check_args",
        "define_tools",
        "tool",
        "tool_specs",
    ),
}
_SUBMODULES: Final = frozenset({"browser", "channel", "gate", "planners", "prompt", "trail", "webextension", "wire"})
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f".{name}", __name__)
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home, __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
