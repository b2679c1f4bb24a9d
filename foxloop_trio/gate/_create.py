"""Making a gate: options read and tested, defaults of the system, and the two sides that come of it."""

from __future__ import annotations

import inspect
import secrets
import time
from typing import Any, Final

from ..errors import BadOptionsError, GateError
from ..ports import Ids, WallClock
from ._core import Core
from ._hook import DecisionHook
from ._host_side import HostSide, open_host_side
from ._memory_store import MemoryGateStore
from ._planner_side import GateSide, open_gate_side
from ._registry import read_registry
from ._shown import shown
from ._store import GateStore
from ._tokens import MIN_KEY_BYTES, GateKey

MAX_TTL: Final = 366 * 86_400.0
"""Longest life of a request or token, in seconds: a year. What waits longer should be a grant."""


def create_gate(
    *,
    tools: Any,
    store: GateStore | None = None,
    on_decision: DecisionHook | None = None,
    request_ttl: float = 600.0,
    max_pending: int = 20,
    token_ttl: float = 120.0,
    key: GateKey | None = None,
    now: WallClock | None = None,
    ids: Ids | None = None,
) -> tuple[GateSide, HostSide]:
    """A permission gate as two objects: one for the loop, one for the host program.

    Args:
        tools: a list of tools, or what `tool_specs` returns, or a mapping of names to scopes. Copied.
        store: where grants and requests live; a new `MemoryGateStore` by default.
        on_decision: called with a `DecisionEvent` before each decision is saved; see `DecisionHook`.
        request_ttl: seconds that a request waits for a human (10 minutes).
        max_pending: most requests that wait at once, over all grants.
        token_ttl: seconds that an approval token is valid (2 minutes): the loop redeems it at once.
        key: signs the tokens; a new random one by default, so that tokens die with the process.
        now: wall time in seconds since 1970.
        ids: `ids(nbytes, purpose) -> bytes`, from a cryptographic source.

    Raises GateError, code ``bad-tools`` or ``bad-key``; BadOptionsError for the others.
    """
    registry = read_registry(tools)
    ids = _callable("ids", ids) or _system_ids
    if key is None:
        key = GateKey(ids(MIN_KEY_BYTES, "gate-key"))
    elif type(key) is not GateKey:
        raise GateError(f"key must be a GateKey, not {type(key).__name__}; build one with GateKey(random_bytes)", code="bad-key")
    if store is not None and not callable(getattr(store, "transaction", None)):
        raise BadOptionsError(f"store must be a gate store such as MemoryGateStore(), not {type(store).__name__}")
    if type(max_pending) is not int or max_pending < 1:
        raise BadOptionsError(f"max_pending must be a whole number of at least 1, not {shown(max_pending)}")
    core = Core(
        store=MemoryGateStore() if store is None else store,
        hook=_callable("on_decision", on_decision),
        now=_callable("now", now) or time.time,
        ids=ids,
        key=key,
        tools=registry,
        request_ttl=_seconds("request_ttl", request_ttl),
        token_ttl=_seconds("token_ttl", token_ttl),
        max_pending=max_pending,
    )
    return open_gate_side(core), open_host_side(core)


def _system_ids(nbytes: int, purpose: str) -> bytes:
    return secrets.token_bytes(nbytes)


def _callable(name: str, value: Any) -> Any:
    if value is not None and not callable(value):
        raise BadOptionsError(f"{name} must be callable, not {type(value).__name__}")
    if name in ("now", "ids") and inspect.iscoroutinefunction(value):
        raise BadOptionsError(f"{name} must be a plain function: the gate does not wait for it")
    return value


def _seconds(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MAX_TTL:
        raise BadOptionsError(f"{name} must be more than 0 and at most {MAX_TTL:.0f} seconds, not {shown(value)}")
    return float(value)
