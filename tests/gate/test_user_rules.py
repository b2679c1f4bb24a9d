"""Standing answers of a user, the pure part: which rules there may be, which apply, and what they change."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from foxloop_trio.errors import GateError
from foxloop_trio.gate import Grant, Rule
from foxloop_trio.gate._registry import read_registry
from foxloop_trio.gate._user_rules import MAX_RULES, Standing, allowed_by_rule, live, read_rule, runs_unasked, standing, usable

TOOLS = read_registry({"look": "read", "peek": "read", "save": "fill", "send": "submit"})
RULE = Rule(id="r1", created_at=1.0, site="example.com", scope="submit", effect="deny")


def read(**changes: Any) -> Any:
    fields: dict[str, Any] = {"site": "example.com", "scope": "submit", "effect": "allow", "tool": None, "expires_at": None}
    return read_rule(**fields | changes, tools=TOOLS)


def said(*rules: Rule, scope: Any = "submit", tool: str = "send", host: str = "example.com", at: float = 5.0) -> Standing:
    return standing(rules, scope=scope, tool=tool, host=host, at=at)


def test_a_rule_is_kept_with_its_site_in_normal_form() -> None:
    """UR-04: and everything else as it was said."""
    rule = read(site="Example.COM.", tool="send", effect="ask", expires_at=9).rule("r2", 3.0)
    assert rule == Rule(id="r2", created_at=3.0, site="example.com", scope="submit", tool="send", effect="ask", expires_at=9.0)


@pytest.mark.parametrize(
    "bad",
    [
        {"scope": "pay"},
        {"scope": "fill"},
        {"scope": "write"},
        {"scope": None},
        {"scope": ["read"]},
        {"effect": "never"},
        {"effect": True},
        {"effect": []},
        {"tool": "nobody"},
        {"tool": "look"},
        {"tool": "__class__"},
        {"tool": ["send"]},
        {"tool": ""},
        {"expires_at": "tomorrow"},
        {"expires_at": True},
        {"expires_at": float("nan")},
        {"expires_at": float("inf")},
        {"site": "www.example.com"},
        {"site": "com"},
        {"site": "127.0.0.1"},
        {"site": "*.example.com"},
        {"site": None},
    ],
    ids=str,
)
def test_what_is_no_rule_is_refused_by_name(bad: dict[str, Any]) -> None:
    """UR-03, UR-04, UR-14: bad-rule, with the field and the value."""
    [(field, value)] = bad.items()
    with pytest.raises(GateError) as caught:
        read(**bad)
    assert caught.value.code == "bad-rule"
    assert field in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "about", "applies"),
    [
        ({}, {}, True),
        ({}, {"host": "a.b.example.com"}, True),
        ({}, {"host": "badexample.com"}, False),
        ({}, {"host": "example.com.evil.test"}, False),
        ({}, {"scope": "read", "tool": "look"}, False),
        ({"tool": "send"}, {}, True),
        ({"tool": "other"}, {}, False),
        ({"expires_at": 5.1}, {}, True),
        ({"expires_at": 5.0}, {}, False),
    ],
)
def test_a_rule_applies_to_its_site_scope_tool_and_time(changes: Any, about: Any, applies: bool) -> None:
    """UR-01, UR-08: whole labels; over at its expiry."""
    assert said(attrs.evolve(RULE, **changes), **about) == Standing(deny="r1" if applies else None)


def test_of_several_rules_each_effect_is_told_by_its_oldest() -> None:
    """UR-07: a rule for the tool alone stands beside the one for all tools and does not replace it."""
    rules = [
        attrs.evolve(RULE, id="a", effect="allow", tool="send"),
        attrs.evolve(RULE, id="b", effect="ask"),
        attrs.evolve(RULE, id="c", effect="allow"),
        attrs.evolve(RULE, id="d", effect="deny", tool="post"),
    ]
    assert said(*rules) == Standing(allow="a", ask="b")
    assert said() == Standing()


@pytest.mark.parametrize(
    ("approval", "rules", "allow", "unasked", "by"),
    [
        ("never", False, None, True, None),
        ("never", True, "r", True, None),
        ("always", False, None, False, None),
        ("always", False, "r", False, None),
        ("always", True, None, False, None),
        ("always", True, "r", True, "r"),
    ],
)
def test_an_allow_rule_works_only_on_a_grant_that_asks_and_opted_in(
    approval: Any, rules: bool, allow: str | None, unasked: bool, by: str | None
) -> None:
    """UR-05, UR-11: and only then its id is told."""
    grant = Grant(id="g", scope="submit", domains=("example.com",), approval=approval, rules=rules, created_at=0.0)
    assert runs_unasked(grant, Standing(allow=allow)) is unasked
    assert allowed_by_rule(grant, Standing(allow=allow)) == by


@pytest.mark.parametrize(
    "changes",
    [
        {"scope": "pay"},
        {"scope": "fill"},
        {"tool": "nobody"},
        {"tool": "look"},
        {"site": "EXAMPLE.com"},
        {"site": "www.example.com"},
        {"site": "com"},
        {"site": ""},
    ],
    ids=str,
)
def test_a_stored_rule_that_could_not_have_been_added_makes_all_unusable(changes: Any) -> None:
    """UR-12."""
    assert usable([RULE], TOOLS)
    assert not usable([RULE, attrs.evolve(RULE, id="r2", **changes)], TOOLS)


def test_more_stored_rules_than_can_be_added_are_unusable() -> None:
    """UR-12: at most 500; expired ones count as usable until they are dropped."""
    rules = [attrs.evolve(RULE, id=str(number), expires_at=0.0) for number in range(MAX_RULES + 1)]
    assert usable(rules[1:], TOOLS)
    assert not usable(rules, TOOLS)
    assert not any(live(rule, 5.0) for rule in rules)
