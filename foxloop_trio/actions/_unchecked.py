"""Constructors without validation, for the loop's own values, whose types are known where they are built.

A frozen class validates what strangers give it. The loop builds some ten such values in every step from parts that were validated
when they came in; checking those again would take a tenth of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

T = TypeVar("T")


def unchecked(cls: type[T]) -> Callable[..., T]:
    """A function that builds `cls` from keyword arguments named like its fields, and checks and converts nothing."""
    given: dict[str, Any] = {"new": object.__new__, "cls": cls}
    parameters: list[str] = []
    lines: list[str] = []
    for field in attrs.fields(cls):  # type: ignore[arg-type]
        name = field.alias
        given[f"set_{name}"] = getattr(cls, field.name).__set__
        value = name
        if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
            given[f"make_{name}"] = field.default.factory
            value = f"make_{name}()"
        elif field.default is attrs.NOTHING:
            parameters.insert(0, name)
        else:
            given[f"default_{name}"] = field.default
            parameters.append(f"{name}=default_{name}")
        lines.append(f"    set_{name}(self, {value})")
    head = f"def build(*, {', '.join(parameters)}):\n    self = new(cls)\n"
    exec(head + "\n".join(lines) + "\n    return self\n", given)  # as attrs itself builds its constructors
    build: Callable[..., T] = given["build"]
    return build
