"""The options of `Loop` and `Budget`: what is refused when they are built, and what is not there yet."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.actions import Money
from foxloop_trio.errors import BadOptionsError, BadToolError, UsageError
from foxloop_trio.loop import Budget, Loop
from foxloop_trio.planners import scripted_planner


def make(parts: Any, **options: Any) -> Loop:
    fields: dict[str, Any] = {"planner": scripted_planner([]), "gate": parts.StubGate(), "tools": [parts.save_note([])]}
    return Loop(**{**fields, **options})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("planner", object()),
        ("gate", object()),
        ("trail", object()),
        ("max_steps", 0),
        ("max_steps", True),
        ("max_steps", 2.5),
        ("max_calls_per_turn", 0),
        ("on_approval", "yes"),
        ("on_approval", lambda: "t"),
        ("check", 5),
        ("budget", {"tokens": 5}),
        ("cancel_grace", -1),
        ("cancel_grace", float("nan")),
        ("trail_timeout", "5"),
        ("first_read", "save_note"),
        ("first_read", "nobody"),
        ("first_read", 5),
        ("settle", "yes"),
        ("settle", lambda: None),
        ("denials", object()),
    ],
)
def test_an_option_out_of_its_range_is_refused_and_named(parts: Any, option: str, value: Any) -> None:
    """Section 1: bad-options, a ValueError too, when the loop is made and not when it runs."""
    with pytest.raises(BadOptionsError, match=option) as caught:
        make(parts, **{option: value})
    assert caught.value.code == "bad-options"
    assert isinstance(caught.value, ValueError)


def test_what_is_no_guard_is_refused(parts: Any) -> None:
    """An option is never silently ignored; its default is accepted."""
    for none in ([object()], 3, "LoopDetector"):
        with pytest.raises(BadOptionsError, match="guards"):
            make(parts, guards=none)
    make(parts, guards=())
    make(parts, guards=iter(()))


@pytest.mark.parametrize("name", ["tokens", "tool_calls", "seconds", "planner_seconds", "tool_seconds", "approval_seconds"])
@pytest.mark.parametrize("value", [-1, float("nan"), "5", True])
def test_a_limit_that_is_no_number_of_zero_or_more_is_refused(name: str, value: Any) -> None:
    """Section 1; zero is a limit too."""
    with pytest.raises(BadOptionsError, match=name):
        Budget(**{name: value})
    Budget(**{name: 0})


def test_a_cost_limit_is_money(parts: Any) -> None:
    """Minor units of one currency, never a bare number."""
    with pytest.raises(BadOptionsError, match="cost"):
        Budget(cost=5)  # type: ignore[arg-type]
    assert Budget(cost=Money(value=5, currency="EUR")).to_json() == {"cost": {"value": 5, "currency": "EUR"}}


def test_tools_are_validated_with_the_loop_and_goals_with_the_run(parts: Any) -> None:
    """bad-tool and usage, with the name of what is wrong."""
    with pytest.raises(BadToolError, match="save_note"):
        make(parts, tools=[parts.save_note([]), parts.save_note([])])
    with pytest.raises(UsageError, match="goal"):
        make(parts).run(5)  # type: ignore[arg-type]
