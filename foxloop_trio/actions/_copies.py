"""Copies of JSON values: what one part holds and changes must not change what another part has judged or shown. Pure."""

from __future__ import annotations

import copy
from typing import Any, Final

_SHARED: Final = frozenset({str, int, float, bool, type(None)})


def copied(value: Any) -> Any:
    """A deep copy of plain JSON, several times faster than `copy.deepcopy`, which gets whatever is no plain JSON."""
    kind = type(value)
    if kind in _SHARED:
        return value
    if kind is dict:
        if _SHARED.issuperset(map(type, value.values())):
            return value.copy()
        return {key: inner if type(inner) in _SHARED else copied(inner) for key, inner in value.items()}
    if kind is list:
        return [inner if type(inner) in _SHARED else copied(inner) for inner in value]
    return copy.deepcopy(value)
