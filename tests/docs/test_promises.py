"""The cancellation contract is a list of promises, and each of them names tests that exist."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "cancellation.md").read_text(encoding="utf-8")

PROMISE = re.compile(r"^(\d+)\. \*\*(.+?)\*\* (.+)$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")

PROMISES = PROMISE.findall(PAGE)
NAMED = sorted(set(TEST.findall(PAGE)))


@functools.cache
def names_of_tests(path: str) -> frozenset[str]:
    """The names of the test functions of a module, as pytest collects them."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


def test_the_promises_are_numbered_from_one_without_a_gap() -> None:
    """So that one can be spoken of by its number; every numbered line of the page is one."""
    assert [int(number) for number, _, _ in PROMISES] == list(range(1, len(PROMISES) + 1))
    assert len(PROMISES) == len(re.findall(r"^\d+\. ", PAGE, re.MULTILINE))
    assert len(PROMISES) >= 20


@pytest.mark.parametrize(("number", "name", "words"), PROMISES, ids=lambda value: value if value.isdigit() else "")
def test_every_promise_has_a_test(number: str, name: str, words: str) -> None:
    """At the end of its line; the words before it say what is promised."""
    promised, _, held = words.partition(" Held by ")
    assert len(promised) > 20, f"promise {number} says nothing"
    assert TEST.findall(held), f"promise {number} names no test"
    assert re.fullmatch(r"(`[\w/]+\.py::\w+`, )*`[\w/]+\.py::\w+`\.", held), f"promise {number} names something else: {held}"


@pytest.mark.parametrize(("path", "test"), NAMED, ids=lambda value: value if value.startswith("test_") else "")
def test_every_test_that_a_promise_names_exists(path: str, test: str) -> None:
    """In the module that is named with it."""
    assert (ROOT / path).is_file(), path
    assert test in names_of_tests(path)


def test_the_page_names_no_test_outside_its_promises() -> None:
    """A test that holds nothing has no place there."""
    assert {found for _, _, words in PROMISES for found in TEST.findall(words)} == set(NAMED)
