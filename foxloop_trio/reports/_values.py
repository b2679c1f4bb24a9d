"""Reading plain JSON from which anything may be missing, or be of another type than it should. Nothing here raises.

A trail may come from a newer version, another program or an attacker, so no field is taken for granted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ..errors import NotJsonError
from ..trail import canonical_json

MAX_NUMBER: Final = 2**53 - 1
MAX_DEPTH: Final = 80
"""Levels of a value that are shown; an entry of the trail has at most 64."""
HIDDEN: Final = "[hidden]"
NOTHING: Final[Mapping[str, Any]] = {}


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else NOTHING


def items(value: Any) -> list[Any]:
    """`value` when it is a list, else an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


def text(value: Any) -> str | None:
    """A text as it is, None for nothing, and anything else as JSON."""
    if value is None or type(value) is str:
        return value
    return compact(value)


def whole(value: Any) -> int | None:
    """A whole number of 0 or more, or None."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MAX_NUMBER else None


def number(value: Any) -> float | None:
    """A finite number of 0 or more, or None."""
    return float(value) if type(value) in (int, float) and 0 <= value <= MAX_NUMBER else None


def compact(value: Any) -> str:
    """Any value as one line of JSON; what is no JSON in its place as words."""
    return _dumped(value, indent=None)


def spread(value: Any) -> str:
    """Any value as indented JSON."""
    return _dumped(value, indent=2)


def same(one: Any, other: Any) -> bool:
    """Whether two values have the same canonical JSON."""
    try:
        return canonical_json(one) == canonical_json(other)
    except NotJsonError:
        return False


def _dumped(value: Any, *, indent: int | None) -> str:
    try:
        return json.dumps(_masked(value), ensure_ascii=False, indent=indent, default=_words)
    except (ValueError, TypeError, RecursionError):
        return f"[no JSON: {type(value).__name__}]"


def _masked(value: Any, depth: int = 0) -> Any:
    """The value with the trail's markers of hidden values as one word: a salt and a digest say nothing to a person."""
    if isinstance(value, Mapping):
        if value.keys() == {"$redacted"} or depth > MAX_DEPTH:
            return HIDDEN
        return {str(key): _masked(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return HIDDEN if depth > MAX_DEPTH else [_masked(item, depth + 1) for item in value]
    return value


def _words(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else f"[no JSON: {type(value).__name__}]"
