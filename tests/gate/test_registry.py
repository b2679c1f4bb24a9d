"""The gate's list of tools: what it takes, and that a planner cannot bend it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from foxloop_trio.actions import Action, Money
from foxloop_trio.errors import GateError
from foxloop_trio.gate import create_gate


async def _coroutine_amount(args: dict[str, Any]) -> Money:
    raise NotImplementedError


def _tool(**parts: object) -> SimpleNamespace:
    return SimpleNamespace(**parts)


@pytest.mark.parametrize(
    "tools",
    [
        None,
        {},
        [],
        "save",
        {"save"},
        iter([]),
        {"save": "write"},
        {"save": "FILL"},
        {"save": None},
        {"save": _tool()},
        {"save": _tool(scope=["fill"])},
        {5: "fill"},
        {"": "fill"},
        {"x" * 129: "fill"},
        {"buy": "pay"},
        {"buy": _tool(scope="pay", amount=None)},
        {"buy": _tool(scope="pay", amount=5)},
        {"buy": _tool(scope="pay", amount=_coroutine_amount)},
        [_tool(scope="fill")],
        [_tool(name="save", scope="fill"), _tool(name="save", scope="read")],
    ],
)
def test_a_bad_registry_makes_no_gate(tools: object) -> None:
    """TR-06: bad-tools at creation."""
    with pytest.raises(GateError) as caught:
        create_gate(tools=tools)
    assert caught.value.code == "bad-tools"


@pytest.mark.parametrize(
    "tools",
    [
        [_tool(name="save", scope="fill", amount=None)],
        (_tool(name="save", scope="fill"),),
        {"save": "fill"},
        {"save": _tool(scope="fill")},
    ],
)
async def test_tools_come_as_a_list_or_a_mapping(setup: Any, tools: object) -> None:
    """A list of tools, what tool_specs returns, and plain scopes all name the same tool."""
    s = setup(tools=tools)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    assert (await s.gate.check(s.save())).decision == "allow"


async def test_a_claimed_lower_scope_is_wrong(setup: Any) -> None:
    """TR-01, GR-02: the scope is the registered one, whatever grants there are."""
    s = setup()
    await s.host.add_grant(scope="read", domains=["notes.local"])
    denied = await s.gate.check(Action(tool="send", args={}, domain="notes.local", scope="read"))
    assert denied.reason == "wrong-scope"


@pytest.mark.parametrize("name", ["delete", "toString", "__proto__", "__class__", "__init__", "keys", "get", "Save", "save "])
async def test_a_tool_nobody_registered_is_unknown(setup: Any, name: str) -> None:
    """TR-02, TR-08: also with a grant that names no tools, also for names that every object has."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    denied = await s.gate.check(Action(tool=name, args={}, domain="notes.local", scope="fill"))
    assert denied.reason == "unknown-tool"
    assert (await s.gate.check(s.save())).decision == "allow"


async def test_changing_the_registry_later_changes_nothing(setup: Any) -> None:
    """The gate has its own copy of the tools."""
    tools = {"save": "fill"}
    s = setup(tools=tools)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    tools["other"] = "fill"
    del tools["save"]
    assert (await s.gate.check(s.save())).decision == "allow"
    assert (await s.gate.check(Action(tool="other", args={}, domain="notes.local", scope="fill"))).reason == "unknown-tool"
