"""Yes or no from a JSON Schema, and where the first fault lies. Compiled at first use, once per schema.

fastjsonschema decides: with ``use_default=False``, since it would otherwise write defaults into what it judges. The words about a
fault name the place and the broken rule, never the value: that may be a page's text or a secret.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

import fastjsonschema

from ._messages import ENVELOPES, ERROR, METHODS

__all__ = ["envelope_problem", "error_problem", "params_problem", "result_problem"]

Part = Literal["params", "result"]


def envelope_problem(form: str, message: Any) -> str | None:
    """What is wrong with the outer form of a message, or None. `form` is a key of `ENVELOPES`."""
    return _problem(_envelope(form), message, "message")


def params_problem(method: str, params: Any) -> str | None:
    """What is wrong with the params of a known method, or None."""
    return _problem(_part(method, "params"), params, "params")


def result_problem(method: str, result: Any) -> str | None:
    """What is wrong with the result of a known request, or None."""
    return _problem(_part(method, "result"), result, "result")


def error_problem(error: Any) -> str | None:
    """What is wrong with an error object, or None."""
    return _problem(_error(), error, "error")


def _compile(schema: dict[str, Any]) -> Callable[[Any], Any]:
    compiled: Callable[[Any], Any] = fastjsonschema.compile(schema, use_default=False)
    return compiled


@functools.cache
def _envelope(form: str) -> Callable[[Any], Any]:
    return _compile(ENVELOPES[form])


@functools.cache
def _part(method: str, part: Part) -> Callable[[Any], Any]:
    entry = METHODS[method]
    schema = entry.params if part == "params" else entry.result
    assert schema is not None, f"{method} has no {part}"
    return _compile(schema)


@functools.cache
def _error() -> Callable[[Any], Any]:
    return _compile(ERROR)


def _problem(check: Callable[[Any], Any], value: Any, root: str) -> str | None:
    try:
        check(value)
    except fastjsonschema.JsonSchemaValueException as fault:
        place = "".join(f"[{step}]" if str(step).isdigit() else f".{step}" for step in fault.path[1:])
        return f"{root}{place} breaks {_RULES.get(str(fault.rule), str(fault.rule))}"
    return None


_RULES = {
    "additionalProperties": "the rule that unknown keys are refused",
    "const": "its only allowed value",
    "enum": "its list of allowed values",
    "maxItems": "its largest number of items",
    "maxLength": "its largest length",
    "maximum": "its maximum",
    "minItems": "its least number of items",
    "minLength": "its least length",
    "minimum": "its minimum",
    "pattern": "its form",
    "required": "the rule that no required key is missing",
    "type": "its type",
}
