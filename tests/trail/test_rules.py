"""Every rule of the trail's format has a test that names it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]

RULES = {
    *(f"T{n}" for n in range(1, 8)),
    *(f"T{n}" for n in range(10, 14)),
    *(f"T{n}" for n in range(20, 25)),
    "T22a",
    *(f"T{n}" for n in range(30, 42)),
    *(f"T{n}" for n in range(50, 55)),
    "T60",
    "T61",
    *(f"T{n}" for n in range(70, 75)),
    *(f"T{n}" for n in range(80, 87)),
}
"""The rules of the format by their numbers, T1 to T86 with gaps."""


def named_in(text: str) -> set[str]:
    named = set(re.findall(r"\bT\d+a?\b", text))
    for first, last in re.findall(r"\bT(\d+) to T(\d+)\b", text):
        named |= {f"T{n}" for n in range(int(first), int(last) + 1)}
    return named


def test_every_rule_is_named_by_a_test() -> None:
    """In its docstring; comments and module docstrings do not count."""
    named: set[str] = set()
    for path in [*TESTS.glob("trail/test_*.py"), *TESTS.glob("cli/test_trail_*.py"), TESTS / "test_canonical.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                named |= named_in(ast.get_docstring(node) or "")
    assert sorted(RULES - named) == []
    assert sorted(named - RULES) == []
