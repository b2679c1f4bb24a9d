"""Validators that the frozen nouns share: a value of a wrong type cannot be built. Pure."""

from __future__ import annotations

import math
from typing import Any, Final

import attrs

LATEST_INSTANT: Final = 8.64e12
"""Seconds: the last instant that an ECMAScript Date can hold (100 million days after 1970); later ones cannot be shown anywhere."""


class of:  # noqa: N801  # used like the attrs validators, whose own `instance_of` words its error as a tuple
    """A value of one class; with `optional`, or None."""

    def __init__(self, kind: type, *, optional: bool = False) -> None:
        self.kind = kind
        self.optional = optional

    def __call__(self, _: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, self.kind) and not (self.optional and value is None):
            none = " or None" if self.optional else ""
            raise TypeError(f"{attribute.name} must be {self.kind.__name__}{none}, not {type(value).__name__}")


text = of(str)
flag = of(bool)
optional_text = of(str, optional=True)


def whole(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    """A whole number of 0 or more; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{attribute.name} must be a whole number of 0 or more, not {value!r}")


def instant(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Wall-clock seconds since 1970, finite and no later than `LATEST_INSTANT`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{attribute.name} must be seconds since 1970, not {type(value).__name__}")
    if not abs(value) <= LATEST_INSTANT or not math.isfinite(value):
        raise ValueError(f"{attribute.name} must be an instant that a calendar has, not {value!r}")


class one_of:  # noqa: N801  # used like the attrs validators beside it
    """One of a closed set of strings; with `optional`, or None."""

    def __init__(self, allowed: tuple[str, ...], *, optional: bool = False) -> None:
        self.allowed = frozenset(allowed)
        self.optional = optional

    def __call__(self, _: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if value is None and self.optional:
            return
        if not isinstance(value, str) or value not in self.allowed:
            raise ValueError(f"{attribute.name} must be one of {', '.join(sorted(self.allowed))}, not {value!r}")


class all_of:  # noqa: N801  # used like the attrs validators beside it
    """A tuple whose members are all of one class."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __call__(self, _: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, tuple) or not all(isinstance(member, self.kind) for member in value):
            raise TypeError(f"{attribute.name} must hold {self.kind.__name__} only")
