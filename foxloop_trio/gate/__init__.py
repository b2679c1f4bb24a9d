"""The permission gate: who may do what, on which host, how often, and when a human must say yes.

`create_gate` makes two objects. The loop gets the gate, which judges; the host program keeps the other, which grants. When the gate
is not sure, the answer is no.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._callback import callback_approver
from ._core import HOOK_TIMEOUT, LOCK_TIMEOUT, STORE_TIMEOUT
from ._create import create_gate
from ._hook import DecisionEvent, DecisionHook
from ._host_side import HostSide
from ._hosts import normalise_host
from ._memory_store import MemoryGateStore
from ._planner_side import GateSide
from ._reasons import DENY_REASONS, DenyReason
from ._rows import ApprovalRow, Grant, Rule, SpendRow
from ._store import GateStore, GateTransaction
from ._terminal import terminal_approver
from ._tokens import GateKey
from ._waiting import RequestOutcome

if TYPE_CHECKING:
    from ._sqlite_store import SqliteGateStore

__all__ = [
    "DENY_REASONS",
    "HOOK_TIMEOUT",
    "LOCK_TIMEOUT",
    "STORE_TIMEOUT",
    "ApprovalRow",
    "DecisionEvent",
    "DecisionHook",
    "DenyReason",
    "GateKey",
    "GateSide",
    "GateStore",
    "GateTransaction",
    "Grant",
    "HostSide",
    "MemoryGateStore",
    "RequestOutcome",
    "Rule",
    "SpendRow",
    "SqliteGateStore",
    "callback_approver",
    "create_gate",
    "normalise_host",
    "terminal_approver",
]


def __getattr__(name: str) -> Any:
    """`SqliteGateStore` is loaded when it is first used: who keeps grants in memory does not load SQLite."""
    if name == "SqliteGateStore":
        from ._sqlite_store import SqliteGateStore

        return SqliteGateStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
