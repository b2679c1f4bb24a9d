"""Constructors without validation, for the loop's own values, whose types are known where they are built.

A frozen class validates what strangers give it. The loop builds some ten such values in every step from parts that were validated
when they came in; checking those again, and getting around the freezing field by field, would take a tenth of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

T = TypeVar("T")


def unchecked(cls: type[T]) -> Callable[..., T]:
    """A function that builds `cls` as its constructor does, from the same arguments, but checks and converts nothing.

    A field with a factory always gets what that makes.

    A value is filled in while it is of a class of its own that may be written to, and becomes a `cls` before anybody sees it.
    """
    unfrozen = {"__slots__": (), "__init__": object.__init__, "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    given: dict[str, Any] = {"cls": cls, "draft": type(f"_{cls.__name__}Draft", (cls,), unfrozen)}
    parameters: list[str] = []
    lines: list[str] = []
    needed = 0
    for field in attrs.fields(cls):  # type: ignore[arg-type]
        name = field.alias
        value = name
        if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
            given[f"make_{name}"] = field.default.factory
            value = f"make_{name}()"
        elif field.default is attrs.NOTHING:
            parameters.insert(needed, name)
            needed += 1
        else:
            given[f"default_{name}"] = field.default
            parameters.append(f"{name}=default_{name}")
        lines.append(f"    self.{field.name} = {value}")
    by_name = "*, " if any(field.kw_only for field in attrs.fields(cls)) else ""  # type: ignore[arg-type]
    head = f"def build({by_name}{', '.join(parameters)}):\n    self = draft()\n"
    exec(head + "\n".join(lines) + "\n    self.__class__ = cls\n    return self\n", given)  # as attrs builds its constructors
    build: Callable[..., T] = given["build"]
    return build
