"""What is not there yet says so, by name."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.actions import Money
from foxloop_trio.errors import BadOptionsError
from foxloop_trio.gate import SqliteGateStore, create_gate


@pytest.mark.parametrize("name", ["spend_cap", "cap_per_act", "cap_per_run", "cap_per_day"])
async def test_a_cap_is_not_silently_ignored(setup: Any, name: str) -> None:
    """A host that believes in a cap must not run without one."""
    s = setup()
    with pytest.raises(NotImplementedError, match=name):
        await s.host.add_grant(scope="pay", domains=["a.local"], **{name: Money(value=1, currency="EUR")})
    assert await s.host.grants() == []


async def test_a_subdomain_pattern_is_not_taken_for_a_host(setup: Any) -> None:
    """DN-03, DN-10, DN-11 come with the public suffix list."""
    s = setup()
    with pytest.raises(NotImplementedError, match=r"\*\."):
        await s.host.add_grant(scope="fill", domains=["a.local", "*.a.local"])
    assert await s.host.grants() == []


async def test_other_later_parts_name_themselves(setup: Any) -> None:
    """Waiting for a decision, user rules, the store in a file."""
    s = setup()
    with pytest.raises(NotImplementedError, match="wait_decision"):
        await s.host.wait_decision("x")
    with pytest.raises(NotImplementedError, match="user rules"):
        await s.host.add_rule(site="a.local", scope="read", effect="deny")
    with pytest.raises(NotImplementedError, match="SqliteGateStore"):
        SqliteGateStore("gate.db")


@pytest.mark.parametrize(
    "option",
    [
        {"store": object()},
        {"on_decision": "print"},
        {"now": 5},
        {"ids": b"x"},
        {"request_ttl": 0},
        {"request_ttl": float("nan")},
        {"request_ttl": True},
        {"token_ttl": -1.0},
        {"token_ttl": float("inf")},
        {"token_ttl": "120"},
        {"max_pending": 0},
        {"max_pending": 2.0},
        {"max_pending": True},
    ],
)
def test_a_bad_option_is_named(option: dict[str, Any]) -> None:
    """bad-options, with the option's name."""
    [name] = option
    with pytest.raises(BadOptionsError, match=name):
        create_gate(tools={"save": "fill"}, **option)
