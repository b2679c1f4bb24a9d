"""Frozen JSON: read like plain JSON, changed by nobody, thawed into a copy that is the owner's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.loop._frozen import FrozenDict, FrozenList, freeze, thaw

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


def kinds(value: Any) -> set[type]:
    """The classes of all containers of a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = {type(value)} if isinstance(value, dict | list) else set()
    return found.union(*map(kinds, inner))


DICT_CHANGES: list[Any] = [
    lambda d: d.__setitem__("a", 2),
    lambda d: d.__delitem__("a"),
    lambda d: d.clear(),
    lambda d: d.pop("a"),
    lambda d: d.popitem(),
    lambda d: d.setdefault("b", 1),
    lambda d: d.update(a=2),
    lambda d: d.__ior__({"a": 2}),
]
LIST_CHANGES: list[Any] = [
    lambda items: items.__setitem__(0, 2),
    lambda items: items.__delitem__(0),
    lambda items: items.append(2),
    lambda items: items.clear(),
    lambda items: items.extend([2]),
    lambda items: items.insert(0, 2),
    lambda items: items.pop(),
    lambda items: items.remove(1),
    lambda items: items.reverse(),
    lambda items: items.sort(),
    lambda items: items.__iadd__([2]),
    lambda items: items.__imul__(2),
]


@pytest.mark.parametrize("change", DICT_CHANGES)
def test_every_change_of_a_frozen_dict_raises_and_changes_nothing(change: Any) -> None:
    """All mutating methods of dict are refused."""
    frozen = freeze({"a": 1})
    with pytest.raises(TypeError, match="cannot be changed"):
        change(frozen)
    assert frozen == {"a": 1}


@pytest.mark.parametrize("change", LIST_CHANGES)
def test_every_change_of_a_frozen_list_raises_and_changes_nothing(change: Any) -> None:
    """All mutating methods of list are refused."""
    frozen = freeze([1])
    with pytest.raises(TypeError, match="cannot be changed"):
        change(frozen)
    assert frozen == [1]


def test_no_mutating_method_is_forgotten() -> None:
    """Each method of dict and list either is refused or is known to change nothing."""
    reading = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    for frozen, plain in ((FrozenDict, dict), (FrozenList, list)):
        public = {name for name in vars(plain) if not name.startswith("_")}
        assert {name for name in public if name not in vars(frozen)} <= reading


@given(JSON)
def test_freezing_and_thawing_keep_the_value(value: Any) -> None:
    """freeze freezes all the way down, thaw gives plain containers all the way down, and both leave the value as it was."""
    frozen = freeze(value)
    assert frozen == value
    assert kinds(frozen) <= {FrozenDict, FrozenList}
    thawed = thaw(frozen)
    assert thawed == value
    assert kinds(thawed) <= {dict, list}
    assert freeze(frozen) is frozen


def test_a_thawed_copy_shares_nothing_that_can_change() -> None:
    """Also for a plain value, and for plain parts inside frozen ones."""
    value = {"a": [{"b": 1}]}
    thawed = thaw(value)
    thawed["a"][0]["b"] = 2
    assert value == {"a": [{"b": 1}]}


def test_thawing_shares_what_is_no_json() -> None:
    """Values that are no dict or list stay the same objects."""
    thing = object()
    assert thaw(FrozenList([thing]))[0] is thing
    assert freeze(thing) is thing


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_are_ordinary(way: Any) -> None:
    """copy, deepcopy and pickle give dicts and lists that can be changed."""
    for value in ({"a": 1}, [1]):
        copied = way(freeze(value))
        assert copied == value
        assert type(copied) is type(value)
