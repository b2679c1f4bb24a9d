"""Which part of the arguments does not fit, in words for the planner: the first fault, in the order of the schema rules.

Order inside a node: type; enum; the range of a string or number; for an array its range, then each item; for an object each
required name as listed, then each property of the value in its own order. Everything here runs only after a refusal.
"""

from __future__ import annotations

import json
import math
from typing import Any

from ..actions import MAX_SAFE_INTEGER
from ._schema import MAX_DEPTH, Node

Fault = tuple[str, str]
"""Path and reason."""

_ARTICLES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


def explain(rules: Node, value: object, path: str = "", depth: int = 0) -> Fault | None:
    """The first fault of `value` under accepted `rules`, or None when it fits. `path` is empty for the arguments themselves."""
    fault = scalar_fault(value, path, depth) or _type_fault(rules["type"], value, path)
    if fault is not None:
        return fault
    if "enum" in rules and value not in rules["enum"]:
        allowed = ", ".join(json.dumps(member, ensure_ascii=False) for member in rules["enum"])
        return _at(path), f"must be one of {_short(allowed, 300)}" if allowed else "no value is allowed here"
    match value:
        case str():
            return _range_fault(rules, len(value), "minLength", "maxLength", "characters", path)
        case list():
            return _range_fault(rules, len(value), "minItems", "maxItems", "items", path) or _items_fault(rules, value, path, depth)
        case dict():
            return _object_fault(rules, value, path, depth)
        case int() | float():
            return _range_fault(rules, value, "minimum", "maximum", "", path)
    return None


def json_fault(value: object, path: str = "", depth: int = 0, inside: frozenset[int] = frozenset()) -> Fault | None:
    """The first part of `value` that is not JSON as the gate takes it, or None. Recursion ends at `MAX_DEPTH`."""
    fault = scalar_fault(value, path, depth)
    if fault is not None:
        return fault
    if not isinstance(value, (dict, list)):
        return None
    if id(value) in inside:
        return _at(path), "must not contain itself"
    inside |= {id(value)}
    if isinstance(value, list):
        for index, item in enumerate(value):
            if (fault := json_fault(item, f"{path}[{index}]", depth + 1, inside)) is not None:
                return fault
        return None
    for key, item in value.items():
        if not isinstance(key, str):
            return _at(path), "every key must be a string"
        if (fault := json_fault(item, _join(path, key), depth + 1, inside)) is not None:
            return fault
    return None


def scalar_fault(value: object, path: str, depth: int) -> Fault | None:
    """Why this one value, without what is in it, is not JSON as the gate takes it; None when it is."""
    if depth > MAX_DEPTH:
        return _at(path), f"is nested deeper than {MAX_DEPTH} levels"
    if value is None or isinstance(value, (bool, str)) or type(value) is dict or type(value) is list:
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else (_at(path), f"{value} is not a JSON number")
    if isinstance(value, int):
        return None if abs(value) <= MAX_SAFE_INTEGER else (_at(path), "whole numbers must be within 2**53 - 1")
    return _at(path), f"a Python {type(value).__name__} is not JSON"


def _type_fault(kind: str, value: object, path: str) -> Fault | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "number": is_number,
        "integer": is_number and float(value).is_integer(),  # type: ignore[arg-type]
        "boolean": isinstance(value, bool),
        "null": value is None,
    }[kind]
    return None if fits else (_at(path), f"must be {_ARTICLES[kind]}, not {_what(value)}")


def _range_fault(rules: Node, size: float, least: str, most: str, unit: str, path: str) -> Fault | None:
    if least in rules and size < rules[least]:
        return _at(path), f"must have at least {rules[least]} {unit}" if unit else f"must be at least {rules[least]}"
    if most in rules and size > rules[most]:
        return _at(path), f"must have at most {rules[most]} {unit}" if unit else f"must be at most {rules[most]}"
    return None


def _items_fault(rules: Node, items: list[Any], path: str, depth: int) -> Fault | None:
    inner = rules.get("items")
    for index, item in enumerate(items):
        where = f"{path}[{index}]"
        fault = json_fault(item, where, depth + 1) if inner is None else explain(inner, item, where, depth + 1)
        if fault is not None:
            return fault
    return None


def _object_fault(rules: Node, value: dict[Any, Any], path: str, depth: int) -> Fault | None:
    for name in rules["required"]:
        if name not in value:
            return _join(path, name), "is required"
    for key, item in value.items():
        if not isinstance(key, str):
            return _at(path), "every key must be a string"
        where = _join(path, key)
        inner = rules["properties"].get(key)
        if inner is not None:
            fault = explain(inner, item, where, depth + 1)
        elif rules["additionalProperties"]:
            fault = json_fault(item, where, depth + 1)
        else:
            known = ", ".join(rules["properties"])
            return (
                where,
                f"is not a known name; known here: {_short(known, 300)}" if known else "is not a known name; none is allowed",
            )
        if fault is not None:
            return fault
    return None


def _at(path: str) -> str:
    return path or "arguments"


def _join(path: str, name: str) -> str:
    name = _short(name, 100) or '""'
    return f"{path}.{name}" if path else name


def _what(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "a string"
        case int() | float():
            return f"the number {value}"
        case list():
            return "an array"
        case _:
            return "an object"


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
