"""The page of guards is complete: every option, field, condition and verdict has its row."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import attrs
import pytest

from foxloop_trio.guarding import Ask, Block, Note, Rewrite, Stop
from foxloop_trio.guarding._chain import METHODS
from foxloop_trio.react import BudgetGuard, Decision, Ledger, LoopDetector, PolicyEngine, Rule, RuleLimit
from foxloop_trio.react.guards.policy._conditions import _TESTS
from foxloop_trio.react.guards.policy._rules import MATCH_KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "guards.md").read_text(encoding="utf-8")


def words(text: str) -> set[str]:
    """Every name in backticks, also those within a call."""
    return {name for quoted in re.findall(r"`([^`\n]+)`", text) for name in re.findall(r"\w+", quoted)}


def section(title: str) -> set[str]:
    match = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert match is not None, title
    return words(match[1])


@pytest.mark.parametrize(
    ("title", "kinds"),
    [
        ("`LoopDetector`", [LoopDetector]),
        ("`PolicyEngine`", [PolicyEngine, Rule, RuleLimit, Decision]),
        ("`BudgetGuard`", [BudgetGuard, Ledger]),
        ("Verdicts", [Ask, Block, Note, Rewrite, Stop]),
    ],
)
def test_every_option_and_field_is_in_its_section(title: str, kinds: list[type]) -> None:
    """A name that is added gets a word; by signature or by field."""
    for kind in kinds:
        fields = {field.alias for field in attrs.fields(kind)} if attrs.has(kind) else set(inspect.signature(kind).parameters)
        assert fields - section(title) == set(), kind.__name__


def test_every_moment_match_key_and_condition_is_on_the_page() -> None:
    """What a guard may have, and what a rule may say."""
    assert {*METHODS, "deadline", "on_run_end"} - words(PAGE) == set()
    assert {*_TESTS, *MATCH_KEYS, "present", "absent", "not"} - section("`PolicyEngine`") == set()
