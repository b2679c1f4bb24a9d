"""Values that were built without validation are the very same as those that were built with it."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import attrs
import pytest

from foxloop_trio.actions import Action, Money, ToolContext, ToolOutput, unchecked
from foxloop_trio.events import PlannedCall, ToolResult


@attrs.define
class Written:
    """One that may be written to, with a field that is needed after none that is not."""

    first: int
    second: int
    third: list[int] = attrs.field(factory=list)
    fourth: str = "4"


CASES: list[tuple[Any, dict[str, Any]]] = [
    (PlannedCall, {"id": "1", "name": "save", "args": "{}"}),
    (ToolResult, {"step": 1, "id": "1", "name": "save", "ok": False, "summary": "s", "reason": "failed"}),
    (Action, {"tool": "save", "args": {}, "domain": "notes.local", "scope": "pay", "amount": Money(value=1, currency="EUR")}),
    (Action, {"tool": "save", "args": {}, "domain": "notes.local", "scope": "fill"}),
    (ToolOutput, {"ok": True, "summary": "s"}),
    (ToolContext, {"run_id": "r", "step": 1, "goal": "g", "cancel_grace": 0.5}),
    (Written, {"first": 1, "second": 2}),
    (Written, {"first": 1, "second": 2, "fourth": "iv"}),
]


@pytest.mark.parametrize(("cls", "fields"), CASES)
def test_a_value_that_was_not_checked_is_as_one_that_was(cls: Any, fields: dict[str, Any]) -> None:
    """Its class, equality, words, fields, copies and weak references."""
    checked, built = cls(**fields), unchecked(cls)(**fields)
    assert type(built) is cls
    assert (built, repr(built)) == (checked, repr(checked))
    assert attrs.asdict(built, recurse=False).keys() == attrs.asdict(checked, recurse=False).keys()
    assert copy.copy(built) == checked
    assert weakref.ref(built)() is built


@pytest.mark.parametrize(("cls", "fields"), [case for case in CASES if case[0] not in (ToolContext, Written)])
def test_it_is_frozen_and_pickles(cls: Any, fields: dict[str, Any]) -> None:
    """The class that it was filled in as is gone."""
    built = unchecked(cls)(**fields)
    name = next(iter(fields))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(built, name, None)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        delattr(built, name)
    assert pickle.loads(pickle.dumps(built)) == cls(**fields)


def test_each_value_has_defaults_of_its_own() -> None:
    """What a factory makes is shared by no two."""
    build = unchecked(Written)
    one, other = build(1, 2), build(1, 2)
    assert (one, one.third is not other.third, build(2, 1).first) == (other, True, 2)
    with pytest.raises(TypeError):
        build(1)
    with pytest.raises(TypeError):
        unchecked(PlannedCall)("1", "save", "{}")
