"""The rule packs: each takes something away, and none of them allows anything."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.guarding import Block, State, ToolCall, ToolResult
from foxloop_trio.react import PolicyEngine
from foxloop_trio.react._tools import ReactTool, ToolRegistry
from foxloop_trio.react.guards.policy._packs import host_allow_list, no_shell_metacharacters, read_only, spend_cap

REGISTRY = ToolRegistry([ReactTool(name="look", handler=print, read_only=True), ReactTool(name="act", handler=print)])
STATE = State(messages=[], turn=1, registry=REGISTRY)


def effect(rules: list[Any], name: str = "act", **args: Any) -> str:
    return PolicyEngine(rules).decide(ToolCall(id="c1", name=name, arguments=args), STATE)[0].effect


@pytest.mark.parametrize(
    "packs", [no_shell_metacharacters(["x"]), host_allow_list("act", ["a.example"]), read_only(), spend_cap("x", 5, "run")]
)
def test_no_pack_allows_anything(packs: list[Any]) -> None:
    """Joined with a default of deny, everything is still denied."""
    decision = PolicyEngine(packs, default="deny").decide(ToolCall(id="c", name="look", arguments={"x": 1}), STATE)[0]
    assert decision.effect == "deny"


@pytest.mark.parametrize(
    "text", ["a; rm -rf /", "$(id)", "`id`", "a|b", "a&b", "a>b", "a\nb", "a*", "~root", "a'b", 'a"b', "x" * 70_000]
)
def test_an_argument_with_a_shell_character_is_refused(text: str) -> None:
    """`no_shell_metacharacters`, also within a list, and also when the text is too long to look at."""
    rules = no_shell_metacharacters(["file"])
    assert (effect(rules, file=text), effect(rules, file=["ok", text])) == ("deny", "deny")
    assert effect(rules, file="report-2026_v1.txt") == effect(rules, other=text) == "allow"
    assert effect(rules, file="x" * 60_000) == "allow"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"url": "https://docs.good.example/x"}, "allow"),
        ({"url": "https://evil.example/?good.example"}, "deny"),
        ({"url": "https://good.example@evil.example"}, "deny"),
        ({}, "deny"),
        ({"url": 5}, "deny"),
    ],
)
def test_a_host_that_is_not_on_the_list_is_refused(args: dict[str, Any], expected: str) -> None:
    """`host_allow_list`: missing and unreadable addresses too; other tools are not concerned."""
    rules = host_allow_list("act", ["good.example"])
    assert effect(rules, **args) == expected
    assert effect(rules, "look", url="https://evil.example") == "allow"
    assert effect(host_allow_list("act", []), **args) == "deny"


def test_read_only_leaves_tools_that_read_and_the_stop_tool() -> None:
    """`read_only`: an unknown tool reads nothing that we know of."""
    assert [effect(read_only(), name) for name in ("look", "act", "unknown", "task_done")] == ["allow", "deny", "deny", "allow"]


async def test_a_spend_cap_adds_up_what_was_admitted() -> None:
    """`spend_cap`: up to the cap and not beyond; what is no amount is refused, calls without one pass."""
    engine = PolicyEngine(spend_cap("amount", 100, "run"))

    async def passes(number: int, **args: Any) -> bool:
        call = ToolCall(id=f"c{number}", name="act", arguments=args)
        blocked = isinstance(await engine.before_tool(call, STATE), Block)
        engine.after_tool(call, ToolResult(tool_call_id=call.id, content="", blocked=blocked), STATE)
        return not blocked

    spent = [60, 41, 40, 0, 1]
    assert [await passes(number, amount=amount) for number, amount in enumerate(spent)] == [True, False, True, True, False]
    wrong: list[Any] = [-1, 0.5, "1", None, True, float("nan")]
    assert [await passes(number, amount=amount) for number, amount in enumerate(wrong)] == [False] * len(wrong)
    assert await passes(9)
