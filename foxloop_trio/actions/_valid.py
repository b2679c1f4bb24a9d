"""Validators that the frozen nouns share: a value of a wrong type cannot be built. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import attrs

from ..errors import BadOptionsError

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


class must_be:  # noqa: N801  # used like the attrs validators beside it
    """An option that is `what`, which `holds` tells. Raises BadOptionsError, naming the option (after its `owner`) and the value.

    `of` is for an option that is no field of an attrs class.
    """

    def __init__(self, what: str, holds: Callable[[Any], bool], *, owner: str = "") -> None:
        self.what = what
        self.holds = holds
        self.owner = owner

    def __call__(self, _: object, option: attrs.Attribute[Any], value: Any) -> None:
        if not self.holds(value):
            raise self._wrong(option.name, value)

    def of(self, name: str, value: Any) -> Any:
        """The value, when it will do."""
        if not self.holds(value):
            raise self._wrong(name, value)
        return value

    def _wrong(self, name: str, value: object) -> BadOptionsError:
        told = repr(value)[:80] if value is None or isinstance(value, str | int | float) else type(value).__name__
        return BadOptionsError(f"{self.owner}{name} must be {self.what}, not {told}")


def whole_from(least: int, *, owner: str = "") -> must_be:
    """An option that is a whole number of `least` or more; a bool is none."""
    return must_be(f"a whole number of {least} or more", lambda value: _is_number(value, int) and value >= least, owner=owner)


def _is_number(value: object, kind: Any = (int, float)) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


flag_option = must_be("True or False", lambda value: isinstance(value, bool))
seconds_above_0 = must_be("a number of seconds above 0", lambda value: _is_number(value) and value > 0)
seconds_from_0 = must_be("a number of seconds, 0 or more", lambda value: _is_number(value) and value >= 0)


def has_method(name: str) -> Callable[[Any, attrs.Attribute[Any], object], None]:
    """An option that is an object with this async method."""
    return lambda _, option, value: require_method(option.name, value, name)


def require_method(option: str, value: object, *methods: str) -> None:
    """Raises BadOptionsError, naming the option, for an object that has not all of these async methods; with the way out, where it
    shows what was meant.
    """
    if isinstance(value, type):
        raise BadOptionsError(f"{option} must be an object, not the class {value.__name__}; make one: {value.__name__}(...)")
    for method in methods:
        if not callable(getattr(value, method, None)):
            words = f"{option} must have an async method {method!r}; {type(value).__name__} has none{_way_out(option, value)}"
            raise BadOptionsError(words)


def _way_out(option: str, value: object) -> str:
    if hasattr(value, "__aenter__"):
        return f"; open it first: async with ... as {option}"
    if option == "gate" and isinstance(value, tuple):
        return "; create_gate gives two objects: gate, host = create_gate(...)"
    if option == "gate" and hasattr(value, "add_grant"):
        return ", since it is the host's side; give the other one of: gate, host = create_gate(...)"
    if option == "host" and hasattr(value, "redeem"):
        return ", since it is the planner's side; give the other one of: gate, host = create_gate(...)"
    if option == "planner" and callable(value):
        return "; make a planner of it with function_planner(...)"
    return ""
