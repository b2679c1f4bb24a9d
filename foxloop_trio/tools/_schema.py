"""Which parameter schemas we accept: a small subset of JSON Schema, each rule of which is enforced.

`accept_schema` refuses everything else with the path and the keyword, so that no rule is silently skipped, and returns a plain
copy that holds rules only. Checking values against that copy is `_check`'s work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ..canonical import canonical_json
from ..errors import BadSchemaError, NotJsonError

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

ANNOTATIONS: Final = frozenset({"description", "title", "default", "examples"})
"""Words for the planner; they judge nothing, but they are sent, so they must be JSON."""

MAX_ANNOTATION_BYTES: Final = 65_536
"""Longest annotation as JSON, in bytes: it goes to the planner with every request."""

MAX_DEPTH: Final = 31
"""Deepest value in arguments, whose outermost object is depth 0: the gate refuses an action nested deeper than 32, and the
arguments are at its depth 1."""

MAX_NODES: Final = 5000
"""Most schema nodes in one tool. Real tools have tens; a mapping shared at every level would grow without end."""

_LENGTHS: Final = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
_BOUNDS: Final = ("minimum", "maximum")
_ONLY_FOR: Final = {
    "properties": ("object",),
    "required": ("object",),
    "additionalProperties": ("object",),
    "items": ("array",),
    "minItems": ("array",),
    "maxItems": ("array",),
    "minLength": ("string",),
    "maxLength": ("string",),
    "minimum": ("number", "integer"),
    "maximum": ("number", "integer"),
}
RULES: Final = frozenset({"type", "enum", *_ONLY_FOR})

Node = dict[str, Any]
"""An accepted schema node: plain JSON, rules only, with `additionalProperties` always there for objects."""


def accept_schema(schema: object, path: str) -> Node:
    """The rules of `schema` as a fresh plain copy.

    Raises BadSchemaError, naming the path and the keyword, for a keyword we do not enforce, a rule whose value has the wrong type,
    a rule that cannot apply to the node's type, a minimum above its maximum, a required name that is not declared, and
    nesting beyond `MAX_DEPTH`.
    """
    return _Acceptor().node(schema, path, 0)


class _Acceptor:
    """One walk over one schema; it counts the nodes."""

    def __init__(self) -> None:
        self._nodes = 0

    def node(self, schema: object, path: str, depth: int) -> Node:
        if not isinstance(schema, Mapping):
            raise BadSchemaError(f"{path}: a schema must be an object, not {_shown(schema)}")
        self._nodes += 1
        if depth > MAX_DEPTH:
            raise BadSchemaError(f"{path}: nested deeper than {MAX_DEPTH} levels, which no arguments may be")
        if self._nodes > MAX_NODES:
            raise BadSchemaError(f"{path}: more than {MAX_NODES} schema nodes in one tool")
        kind = _kind(schema, path)
        for keyword in schema:
            if keyword in ANNOTATIONS:
                _need_json(schema[keyword], keyword, path)
                continue
            if keyword not in RULES:
                raise BadSchemaError(f"{path}: keyword {_shown(keyword)} is not enforced; use only {', '.join(sorted(RULES))}")
            if kind not in _ONLY_FOR.get(keyword, (kind,)):
                raise BadSchemaError(
                    f"{path}: {keyword} does nothing for type {kind!r}; it goes with {' or '.join(_ONLY_FOR[keyword])}"
                )
        rules: Node = {"type": kind}
        if "enum" in schema:
            rules["enum"] = _enum(schema["enum"], kind, path)
        if kind in _LENGTHS:
            _add_range(rules, schema, _LENGTHS[kind], _length, path)
        elif kind in ("number", "integer"):
            _add_range(rules, schema, _BOUNDS, _bound, path)
        if kind == "array" and "items" in schema:
            rules["items"] = self.node(schema["items"], f"{path}[]", depth + 1)
        if kind == "object":
            self._add_object(rules, schema, path, depth)
        return rules

    def _add_object(self, rules: Node, schema: Mapping[Any, Any], path: str, depth: int) -> None:
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise BadSchemaError(f"{path}: properties must be an object of schemas, not {_shown(properties)}")
        for name in properties:
            if not isinstance(name, str):
                raise BadSchemaError(f"{path}: properties has a name that is not a string: {_shown(name)}")
        required = schema.get("required", [])
        if not isinstance(required, (list, tuple)) or not all(isinstance(name, str) for name in required):
            raise BadSchemaError(f"{path}: required must be a list of strings, not {_shown(required)}")
        for name in required:
            if name not in properties:
                raise BadSchemaError(f"{path}: required names {_shown(name)}, which properties does not declare")
        additional = schema.get("additionalProperties", False)
        if not isinstance(additional, bool):
            raise BadSchemaError(f"{path}: additionalProperties must be true or false, not {_shown(additional)}")
        rules["properties"] = {name: self.node(inner, f"{path}.{name}", depth + 1) for name, inner in properties.items()}
        rules["required"] = list(dict.fromkeys(required))
        rules["additionalProperties"] = additional


def _kind(schema: Mapping[Any, Any], path: str) -> str:
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise BadSchemaError(f"{path}: type must be one of {', '.join(TYPES)}, not {_shown(kind)}")
    return kind


def _enum(members: object, kind: str, path: str) -> list[Any]:
    """The members that a value of this type can equal. JSON scalars are equal only to their own kind: true is not 1."""
    if not isinstance(members, (list, tuple)):
        raise BadSchemaError(f"{path}: enum must be a list, not {_shown(members)}")
    for member in members:
        if not (member is None or isinstance(member, (str, bool)) or _is_finite_number(member)):
            raise BadSchemaError(f"{path}: enum may hold strings, finite numbers, true, false and null, not {_shown(member)}")
    fits = {
        "string": lambda member: isinstance(member, str),
        "boolean": lambda member: isinstance(member, bool),
        "null": lambda member: member is None,
        "number": _is_finite_number,
        "integer": _is_finite_number,
    }.get(kind)
    return [member for member in members if fits(member)] if fits is not None else []


def _need_json(value: object, keyword: object, path: str) -> None:
    try:
        canonical_json(value, max_bytes=MAX_ANNOTATION_BYTES)
    except NotJsonError as fault:
        raise BadSchemaError(f"{path}: {keyword} goes to the planner, so it must be JSON: {fault}") from None


def _add_range(rules: Node, schema: Mapping[Any, Any], keywords: tuple[str, str], read: Any, path: str) -> None:
    for keyword in keywords:
        if keyword in schema:
            rules[keyword] = read(schema[keyword], keyword, path)
    least, most = keywords
    if least in rules and most in rules and rules[least] > rules[most]:
        raise BadSchemaError(f"{path}: {least} {rules[least]} is above {most} {rules[most]}")


def _length(value: object, keyword: str, path: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadSchemaError(f"{path}: {keyword} must be a whole number, 0 or more, not {_shown(value)}")
    return value


def _bound(value: Any, keyword: str, path: str) -> int | float:
    if not _is_finite_number(value):
        raise BadSchemaError(f"{path}: {keyword} must be a finite number, not {_shown(value)}")
    bound: int | float = value
    return bound


def _is_finite_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (isinstance(value, int) or math.isfinite(value))


def _shown(value: object) -> str:
    """The value in a message, at most 80 characters; a container as its type, since a deep one has no short repr."""
    text = f"a {type(value).__name__}" if isinstance(value, (Mapping, list, tuple, set)) and len(value) > 3 else _safe_repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _safe_repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return f"a {type(value).__name__}"
