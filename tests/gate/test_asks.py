"""A tool may say of a call that a human is to be asked about it each time: no standing grant and no rule covers it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from foxloop_trio.actions import Action
from foxloop_trio.errors import BadToolError, GateError
from foxloop_trio.gate import create_gate
from foxloop_trio.tools import Tool, tool_specs


@attrs.frozen
class Spec:
    scope: str
    asks: Any = None


def press(label: str) -> Action:
    return Action(tool="press", args={"label": label}, domain="shop.local", scope="submit")


def risky(args: dict[str, Any]) -> bool:
    return bool(args["label"] == "Buy")


async def test_what_the_tool_says_is_asked_about_is_never_covered_by_a_standing_grant(setup: Any) -> None:
    """The same tool under the same grant: one call runs unasked, the other waits for a human, who may allow it once."""
    s = setup(tools={"press": Spec("submit", risky)})
    await s.host.add_grant(scope="submit", domains=["shop.local"], approval="never")
    assert (await s.gate.check(press("Next"))).decision == "allow"
    for _ in range(2):
        asked = await s.gate.check(press("Buy"))
        assert (asked.decision, asked.rule_id) == ("ask", None)
        assert (await s.gate.redeem(await s.host.approve(asked.request_id), press("Buy"))).decision == "allow"


async def test_no_rule_of_the_user_covers_it_either(setup: Any) -> None:
    """An allow rule stands in for a human; here there is to be one. A deny rule still denies."""
    s = setup(tools={"press": Spec("submit", risky)})
    await s.host.add_grant(scope="submit", domains=["shop.local"], rules=True)
    await s.host.add_rule(site="shop.local", scope="submit", effect="allow")
    assert (await s.gate.check(press("Next"))).decision == "allow"
    assert (await s.gate.check(press("Buy"))).decision == "ask"
    await s.host.add_rule(site="shop.local", scope="submit", effect="deny")
    assert (await s.gate.check(press("Buy"))).decision == "deny"


async def test_it_makes_no_permission(setup: Any) -> None:
    """Without a grant it is denied like anything else, and nobody is asked."""
    s = setup(tools={"press": Spec("submit", risky)})
    assert (await s.gate.check(press("Buy"))).decision == "deny"
    assert await s.host.pending() == []


def broken(args: dict[str, Any]) -> bool:
    raise KeyError("label")


@pytest.mark.parametrize("asks", [broken, lambda args: None, lambda args: 0, lambda args: "no"])
async def test_an_answer_that_is_not_plainly_no_asks(setup: Any, asks: Any) -> None:
    """To ask once too often harms nobody. The accepted twin says False."""
    for function, decision in ((asks, "ask"), (lambda args: False, "allow")):
        s = setup(tools={"press": Spec("submit", function)})
        await s.host.add_grant(scope="submit", domains=["shop.local"], approval="never")
        assert (await s.gate.check(press("Next"))).decision == decision


async def test_only_a_plain_function_will_do() -> None:
    """An async one could not be asked in the middle of a check."""

    async def later(args: dict[str, Any]) -> bool:
        return False

    for asks in (later, "yes"):
        with pytest.raises(GateError, match="asks must be a plain function"):
            create_gate(tools={"press": Spec("submit", asks)})


async def run(args: dict[str, Any], ctx: Any) -> Any: ...


def test_a_tool_hands_it_to_the_gate() -> None:
    """`tool_specs` carries it; what is no function is a bad tool."""
    tool = Tool(
        name="press", description="d", parameters={"type": "object"}, scope="submit", domain="shop.local", run=run, asks=risky
    )
    assert tool_specs([tool])["press"].asks is risky
    with pytest.raises(BadToolError, match="asks"):
        tool_specs([attrs.evolve(tool, asks=True)])
