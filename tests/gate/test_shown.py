"""A value that is refused is named in the error, as far as it lets itself be named."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.errors import FoxloopError, GateError
from foxloop_trio.gate import create_gate
from foxloop_trio.gate._shown import shown


class Loud:
    """Nothing that can be shown, compared or counted on."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\n", r"'a\n'"),
        ("a" * 10**6, "'" + "a" * 99),
        (b"a" * 10**6, "b'" + "a" * 98),
        (None, "None"),
        (10**5000, "a value of type int"),
        (Loud(), "a value of type Loud"),
        ([Loud()], "a value of type list"),
    ],
    ids=type,
)
def test_a_value_is_shown_shortly_or_by_its_type(value: object, text: str) -> None:
    """Python refuses to write out an int of more than 4,300 digits."""
    assert shown(value) == text


@pytest.mark.parametrize("value", [10**5000, Loud(), [Loud()]], ids=type)
async def test_what_cannot_be_shown_is_refused_like_anything_else(setup: Any, value: Any) -> None:
    """By the host side with its own errors; never by an error of the value's."""
    s = setup()
    for changed in ({"scope": value}, {"domains": [value]}, {"max_uses": value}, {"approval": value}, {"cap_per_site": value}):
        fields: dict[str, Any] = {"scope": "fill", "domains": ["notes.local"]}
        with pytest.raises(GateError) as caught:
            await s.host.add_grant(**fields | changed)
        assert caught.value.code == ("bad-domain" if "domains" in changed else "bad-grant")
    for field in ("site", "scope", "tool", "effect", "expires_at"):
        with pytest.raises(GateError) as caught:
            await s.host.add_rule(**{"site": "example.com", "scope": "submit", "effect": "ask"} | {field: value})
        assert caught.value.code == "bad-rule"
    for method in (s.host.approve, s.host.reject, s.host.wait_decision):
        with pytest.raises(GateError) as caught:
            await method(value)
        assert caught.value.code == "not-found"
    with pytest.raises(FoxloopError, match="request_ttl"):
        create_gate(tools={"save": "fill"}, request_ttl=value)
    with pytest.raises(GateError, match="scope must be one of"):
        create_gate(tools={"save": value})
    assert await s.host.grants() == []
    assert await s.host.rules() == []
