"""The permission gate: who may do what, on which host, how often, and when a human must say yes.

`create_gate` makes two objects. The loop gets the gate, which judges; the host program keeps the other, which grants. When the gate
is not sure, the answer is no.
"""

from ._core import HOOK_TIMEOUT, LOCK_TIMEOUT, STORE_TIMEOUT
from ._create import create_gate
from ._hook import DecisionEvent, DecisionHook
from ._host_side import HostSide
from ._hosts import normalise_host
from ._planner_side import GateSide
from ._reasons import DENY_REASONS, DenyReason
from ._rows import ApprovalRow, Grant, SpendRow
from ._store import GateStore, GateTransaction, MemoryGateStore, SqliteGateStore
from ._terminal import terminal_approver
from ._tokens import GateKey

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
    "SpendRow",
    "SqliteGateStore",
    "create_gate",
    "normalise_host",
    "terminal_approver",
]
