"""What each side can do, and that nothing leads from the planner's side to the host's."""

from __future__ import annotations

import collections
import contextlib
import copy
import pickle
import types
from typing import Any

import pytest

from foxloop_trio.gate import GateKey, GateSide, HostSide, MemoryGateStore
from foxloop_trio.gate._core import Core
from foxloop_trio.ports import Gate


def test_the_planner_side_offers_check_and_redeem_and_nothing_else(setup: Any) -> None:
    """GR-05, UR-17; `check_now` is `check` for whoever need not wait."""
    gate = setup().gate
    assert [name for name in dir(gate) if not name.startswith("_")] == ["check", "check_now", "redeem"]
    assert isinstance(gate, Gate)
    assert not hasattr(gate, "__dict__")


def test_the_planner_side_cannot_be_altered(setup: Any) -> None:
    """GR-05: neither the object nor its class; the twin is that it still works, which all other tests show."""
    gate = setup().gate
    for name in ("check", "redeem", "extra", "__class__"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(gate, name, None)
        with pytest.raises((AttributeError, TypeError)):
            object.__setattr__(gate, name, None)
        with pytest.raises((AttributeError, TypeError)):
            delattr(gate, name)
        with pytest.raises(AttributeError):
            setattr(GateSide, name, None)
    with pytest.raises(AttributeError):
        del GateSide.check


_HIDDEN_LINKS = (
    "__dict__",
    "__self__",
    "__func__",
    "__closure__",
    "__defaults__",
    "__kwdefaults__",
    "__wrapped__",
    "cell_contents",
)


def _reachable(start: Any) -> list[Any]:
    """All that attributes, slots, bound methods, closures and containers lead to; not modules and the globals of functions."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = collections.deque([start])
    while waiting:
        thing = waiting.popleft()
        if id(thing) in seen or isinstance(thing, (types.ModuleType, str, bytes, int, float, type(None))):
            continue
        seen.add(id(thing))
        found.append(thing)
        if isinstance(thing, (list, tuple, set, frozenset)):
            waiting.extend(thing)
        elif isinstance(thing, (dict, types.MappingProxyType)):
            waiting.extend([*thing.keys(), *thing.values()])
        for name in dir(thing):
            if name in _HIDDEN_LINKS or not name.startswith("__"):
                with contextlib.suppress(Exception):
                    waiting.append(getattr(thing, name))
        assert len(found) < 20_000, "the walk has left the gate"
    return found


async def test_no_attribute_leads_from_the_planner_side_to_what_it_works_on(setup: Any) -> None:
    """GR-05: not from the gate, and not from the decisions and permits that it gives out. The host side is the planted opposite."""
    s = setup(key=GateKey(b"k" * 32))
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    allowed = await s.gate.check(s.save())
    asked = await s.gate.check(s.send())
    hidden = (HostSide, Core, MemoryGateStore, GateKey)
    for start in (s.gate, allowed, asked):
        assert [thing for thing in _reachable(start) if isinstance(thing, hidden)] == []
    assert any(isinstance(thing, MemoryGateStore) for thing in _reachable(s.host))


@pytest.mark.parametrize("side", ["gate", "host"])
def test_the_sides_are_made_by_create_gate_only_and_do_not_copy(setup: Any, side: str) -> None:
    """No constructor, no copy, no pickle; a copied key would be a second gate."""
    made = getattr(setup(), side)
    for attempt in (type(made), lambda: copy.copy(made), lambda: copy.deepcopy(made), lambda: pickle.dumps(made)):
        with pytest.raises(TypeError):
            attempt()


def test_a_key_does_not_copy_or_pickle() -> None:
    """The key never leaves its object."""
    key = GateKey(b"k" * 32)
    for attempt in (lambda: copy.copy(key), lambda: copy.deepcopy(key), lambda: pickle.dumps(key)):
        with pytest.raises(TypeError):
            attempt()
    assert repr(key) == "<GateKey>"


async def test_a_permit_cannot_be_made_or_pickled(setup: Any) -> None:
    """Only the gate mints."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    permit = (await s.gate.check(s.save())).permit
    for attempt in (type(permit), lambda: copy.copy(permit), lambda: pickle.dumps(permit)):
        with pytest.raises(TypeError):
            attempt()
