"""Conditions of policy rules: a path into the arguments, and what must hold of what is found there. Pure.

Every answer is True, False, or None for "cannot be told": a text too long to look at, an address that cannot be read. A rule that
takes something away counts that as a match, one that allows does not.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ....canonical import canonical_json
from ....errors import BadOptionsError, GateError, NotJsonError
from ....gate._hosts import normalise_host
from ._patterns import BoundedPattern

Truth = bool | None
Test = Callable[[list[Any]], Truth]
"""What must hold of the values found at a path."""

MOST_VALUES: Final = 10_000
"""Values that one path with stars may find; more cannot be told."""


class Condition:
    """`path` into the arguments (dotted; ``*`` is any one step) and ``{condition: operand, …}``, all of which must hold.

    `every`: where a star finds several values, all of them must do, and there must be one; else any one is enough.
    """

    def __init__(self, path: str, wanted: object) -> None:
        if not isinstance(path, str) or not path or "" in path.split("."):
            raise BadOptionsError(f"a path is dotted text such as form.fields.0.name, not {path!r}")
        if not isinstance(wanted, Mapping) or not wanted:
            raise BadOptionsError(f"args[{path!r}] must be an object of conditions, not {wanted!r}")
        self._steps = path.split(".")
        self._tests = [_test(name, operand) for name, operand in wanted.items()]

    def holds(self, arguments: Any, *, every: bool) -> Truth:
        found = values_at(arguments, self._steps)
        if found is None:
            return None
        return _all(test(found, every) for test in self._tests)


def values_at(arguments: Any, steps: list[str]) -> list[Any] | None:
    """What a path finds, in order; nothing when it leads nowhere. None when it finds more than can be looked at."""
    found = [arguments]
    for step in steps:
        below: list[Any] = []
        for value in found:
            if isinstance(value, Mapping):
                if step == "*":
                    below += value.values()
                elif step in value:
                    below.append(value[step])
            elif isinstance(value, list | tuple):
                if step == "*":
                    below += value
                elif step.isascii() and step.isdigit() and len(step) < 10 and int(step) < len(value):
                    below.append(value[int(step)])
            if len(below) > MOST_VALUES:
                return None
        found = below
    return found


def _all(truths: Iterable[Truth]) -> Truth:
    told: Truth = True
    for truth in truths:
        if truth is False:
            return False
        told = None if truth is None else told
    return told


def _any(truths: Iterable[Truth]) -> Truth:
    told: Truth = False
    for truth in truths:
        if truth is True:
            return True
        told = None if truth is None else told
    return told


def _test(name: object, operand: Any) -> Callable[[list[Any], bool], Truth]:
    """What one condition says of the values found."""
    if name in ("present", "absent"):
        if operand is not True:
            raise BadOptionsError(f"{name} takes True and nothing else, not {operand!r}")
        return lambda found, _: bool(found) == (name == "present")
    if name == "not":
        if not isinstance(operand, Mapping) or not operand:
            raise BadOptionsError(f"not takes an object of conditions, not {operand!r}")
        inner = [_test(key, value) for key, value in operand.items()]

        def negated(found: list[Any], every: bool) -> Truth:
            truth = _all(test(found, not every) for test in inner)
            return None if truth is None else not truth

        return negated
    make = _TESTS.get(name) if isinstance(name, str) else None
    if make is None:
        raise BadOptionsError(f"there is no condition {name!r}; there are {', '.join([*_TESTS, 'present', 'absent', 'not'])}")
    one: Callable[[Any], Truth] = make(operand)

    def over(found: list[Any], every: bool) -> Truth:
        if not found:
            return False
        return _all(map(one, found)) if every else _any(map(one, found))

    return over


# One value


def _same(value: Any, other: Any) -> bool:
    """Equal as JSON: 1 and 1.0 are, 1 and true are not."""
    try:
        return canonical_json(value) == canonical_json(other)
    except NotJsonError:
        return False


def _equals(operand: Any) -> Callable[[Any], Truth]:
    _json("equals", operand)
    return lambda value: _same(value, operand)


def _in(operand: Any) -> Callable[[Any], Truth]:
    if isinstance(operand, str) or not isinstance(operand, Iterable):
        raise BadOptionsError(f"in takes a list of values, not {operand!r}")
    listed = list(operand)
    texts = {_json("in", value) for value in listed}

    def among(value: Any) -> Truth:
        try:
            return canonical_json(value) in texts
        except NotJsonError:
            return False

    return among


def _json(name: str, value: Any) -> str:
    try:
        return canonical_json(value)
    except NotJsonError as fault:
        raise BadOptionsError(f"{name}: {fault}") from fault


def _matches(operand: Any) -> Callable[[Any], Truth]:
    pattern = BoundedPattern(operand)
    return lambda value: pattern.full_match(value) if isinstance(value, str) else False


def _compared(name: str, holds: Callable[[Any, Any], bool]) -> Callable[[Any], Callable[[Any], Truth]]:
    def make(operand: Any) -> Callable[[Any], Truth]:
        if not _is_number(operand):
            raise BadOptionsError(f"{name} takes a number, not {operand!r}")
        return lambda value: holds(value, operand) if _is_number(value) else None

    return make


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _host_in(operand: Any) -> Callable[[Any], Truth]:
    """The host of a URL, or a bare host, is an entry or below one. An empty list holds nothing (R55)."""
    if isinstance(operand, str) or not isinstance(operand, Iterable):
        raise BadOptionsError(f"host_in takes a list of host names, not {operand!r}")
    try:
        entries = frozenset(normalise_host(entry) for entry in operand)
    except GateError as fault:
        raise BadOptionsError(f"host_in: {fault}") from fault

    def within(value: Any) -> Truth:
        if not isinstance(value, str) or not entries:
            return False
        host = host_of(value)
        if host is None:
            return None
        labels = host.split(".")
        return any(".".join(labels[start:]) in entries for start in range(len(labels)))

    return within


def host_of(address: str) -> str | None:
    """The host of an address as a browser would read it; None when it has none, or is written to be misread."""
    address = address.strip("".join(map(chr, range(33))))
    if any(char in address for char in "\t\r\n\\"):
        return None  # browsers drop or turn these, others do not
    try:
        if "//" in address:
            parts = urlsplit(address)
            if parts.scheme not in ("http", "https", "ws", "wss", "ftp") or "@" in parts.netloc or parts.hostname is None:
                return None
            host: str = parts.netloc.rpartition(":")[0] if parts.port is not None else parts.netloc.removesuffix(":")
        else:
            host = address
        return normalise_host(host)
    except (ValueError, GateError):
        return None


def _path_under(operand: Any) -> Callable[[Any], Truth]:
    """A file path is one of these folders or below one, once each ``..`` is resolved. Links are not followed: this reads text."""
    folders = [operand] if isinstance(operand, str) else list(operand) if isinstance(operand, Iterable) else None
    if not folders or not all(isinstance(folder, str) and folder.startswith("/") for folder in folders):
        raise BadOptionsError(f"path_under takes an absolute folder, or several, not {operand!r}")
    tops = [posixpath.normpath("/" + folder.strip("/")) for folder in folders]

    def below(value: Any) -> Truth:
        if not isinstance(value, str):
            return False
        if "\0" in value or "\\" in value or value.startswith("~") or "%" in value:
            return None  # who opens it may read it another way
        if not value.startswith("/"):
            return None  # below what is not ours to know
        path = posixpath.normpath("/" + value.strip("/"))
        return any(top == "/" or path == top or path.startswith(top + "/") for top in tops)

    return below


_TESTS: Final[Mapping[str, Callable[[Any], Callable[[Any], Truth]]]] = {
    "equals": _equals,
    "in": _in,
    "matches": _matches,
    "lt": _compared("lt", lambda value, limit: value < limit),
    "le": _compared("le", lambda value, limit: value <= limit),
    "gt": _compared("gt", lambda value, limit: value > limit),
    "ge": _compared("ge", lambda value, limit: value >= limit),
    "host_in": _host_in,
    "path_under": _path_under,
}
