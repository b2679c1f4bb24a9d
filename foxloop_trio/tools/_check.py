"""Do these arguments fit this schema? A compiled validator says yes or no; words are looked for only after a no.

fastjsonschema compiles one function per schema, lazily, cached by the schema's text. What it would let through and JSON would not
(tuples, NaN, keys that are no strings, Python's `True == 1`) is seen to around it and in the copy that it compiles.
"""

from __future__ import annotations

import functools
import json
from typing import Any, Final, Protocol

from ..actions import MAX_SAFE_INTEGER
from ._explain import explain, json_fault
from ._schema import Node, accept_schema


class ArgsCheck(Protocol):
    """Takes arguments and returns None when they fit, else ``path: reason``. `is_json`: they are known to be JSON as the gate takes
    it."""

    def __call__(self, value: object, /, *, is_json: bool = False) -> str | None: ...


_LEVELS_PER_FUNCTION: Final = 8
"""Schema levels compiled into one function. CPython allows 20 loops inside each other and 100 levels of indentation."""


def check_args(schema: object, value: object) -> str | None:
    """None when `value` fits `schema`, else one string: the path of the first error, a colon and a space, the reason.

    Arguments are a JSON object; anything else is refused at the path ``arguments``. Raises BadSchemaError for a schema outside
    our subset.
    """
    return args_check(accept_schema(schema, "parameters"))(value)


def args_check(rules: Node) -> ArgsCheck:
    """The check for accepted rules; equal rules share one compiled validator."""
    return _compiled(json.dumps(rules, allow_nan=False))


@functools.lru_cache(maxsize=256)
def _compiled(text: str) -> ArgsCheck:
    import fastjsonschema  # here and not above: a program that never checks arguments need not pay for it at import

    rules: Node = json.loads(text)
    definitions: dict[str, Node] = {}
    top = _compilable(rules, 0, definitions)
    validate = fastjsonschema.compile(
        {**top, "definitions": definitions}, use_default=False, use_formats=False, detailed_exceptions=False
    )

    def problem(value: object, /, *, is_json: bool = False) -> str | None:
        if type(value) is not dict:
            return f"arguments: must be an object, not {_kind(value)}"
        if is_json or _is_flat(value) or json_fault(value) is None:
            try:
                validate(value)
                return None
            except Exception:
                pass  # only a plain return is a yes; whatever a validator raises, it has not accepted the value
        path, reason = explain(rules, value) or ("arguments", "do not fit the schema")
        return f"{path}: {reason}"

    return problem


def _is_flat(value: dict[Any, Any]) -> bool:
    """Whether it is JSON at one glance, as most arguments are; a False says nothing."""
    for key, inner in value.items():
        kind = type(inner)
        if type(key) is not str:
            return False
        if kind is int:
            if not -MAX_SAFE_INTEGER <= inner <= MAX_SAFE_INTEGER:
                return False
        elif kind is not str and kind is not bool and inner is not None:
            return False
    return True


def _compilable(rules: Node, depth: int, definitions: dict[str, Node]) -> Node:
    """A copy for fastjsonschema (which writes into its input), cut into functions of `_LEVELS_PER_FUNCTION` levels."""
    node: dict[str, Any] = dict(rules)
    if "properties" in rules:
        node["properties"] = {name: _compilable(inner, depth + 1, definitions) for name, inner in rules["properties"].items()}
    if "items" in rules:
        node["items"] = _compilable(rules["items"], depth + 1, definitions)
    if depth and depth % _LEVELS_PER_FUNCTION == 0 and rules["type"] in ("object", "array"):
        name = f"part{len(definitions)}"
        definitions[name] = node
        return {"$ref": f"#/definitions/{name}"}
    return node


def _kind(value: object) -> str:
    names = {str: "a string", list: "an array", int: "a number", float: "a number", bool: "true or false", type(None): "null"}
    return names.get(type(value), f"a Python {type(value).__name__}")
