"""Entries to and from text: strict JSON lines, where everything that two parsers could read differently is refused.

Numbers are doubles, as in every browser: an integer beyond ±(2**53 - 1) is read as the nearest double, which is what canonical JSON
then prints. A CR before the LF is fine; a blank line, NaN, a repeated key (however spelled), bad UTF-8 and
a nesting bomb are parse faults that name their line.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn, TypeGuard

from ..actions import MAX_SAFE_INTEGER
from ._errors import InvalidEntryError
from ._records import FIELDS, Entry

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""Longest line that is read. An entry has at most 1 MiB of canonical text, which another writer may spell with six-byte escapes."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LONGEST_SAFE: Final = len(str(-MAX_SAFE_INTEGER))
_HEX64 = re.compile(r"[0-9a-f]{64}\Z")


class _ParseFault(ValueError):
    """Raised inside the decoder's hooks; never leaves this module."""


def _integer(text: str) -> int | float:
    if len(text) <= _LONGEST_SAFE:
        value = int(text)
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return value
    return float(text)


def _no_constant(name: str) -> NoReturn:
    raise _ParseFault(f"{name} is not JSON")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _ParseFault(f"the key {name[:40]!a} is repeated in one object; parsers disagree on which one counts")
            seen.add(name)
    return whole


_STRICT = json.JSONDecoder(object_pairs_hook=_once_each, parse_int=_integer, parse_constant=_no_constant)


def parse_line(line: bytes, number: int) -> Any:
    """The JSON value of one line, without its line feed. Raises InvalidEntryError with the line's 1-based `number`."""
    if not line.strip(b" \t\r"):
        raise InvalidEntryError("blank", line=number)
    try:
        return _STRICT.decode(line.decode())
    except UnicodeDecodeError as fault:
        raise InvalidEntryError(f"not UTF-8 at byte {fault.start + 1}", line=number) from None
    except json.JSONDecodeError as fault:
        raise InvalidEntryError(f"not JSON at column {fault.colno}: {fault.msg}", line=number) from None
    except _ParseFault as fault:
        raise InvalidEntryError(str(fault), line=number) from None
    except RecursionError:
        raise InvalidEntryError("nested too deeply", line=number) from None


def whole_number(value: object) -> int | None:
    """`value` as an integer of 0 to 2**53 - 1, or None. In JSON ``1.0`` and ``1`` are the same number."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int and 0 <= value <= MAX_SAFE_INTEGER:
        return value
    return None


def is_hash(value: object) -> TypeGuard[str]:
    """64 lower-case hex digits."""
    return isinstance(value, str) and _HEX64.match(value) is not None


def shape_problem(value: Any) -> str | None:
    """What keeps a JSON value from being an entry (its eight fields and their types, not their truth); None when nothing does."""
    if type(value) is not dict:
        return "not an object"
    if value.keys() != _FIELD_SET:
        missing = [name for name in FIELDS if name not in value]
        return f"the field {missing[0]} is missing" if missing else "a field that does not belong to an entry"
    for name in ("seq", "ts"):
        if whole_number(value[name]) is None:
            return f"{name} is not a whole number of 0 to 2**53 - 1"
    for name in ("actor", "kind"):
        if type(value[name]) is not str or not value[name]:
            return f"{name} is not a non-empty text"
    for name in ("prev", "hash", "mac"):
        if not is_hash(value[name]):
            return f"{name} is not 64 lower-case hex digits"
    return None


_FIELD_SET: Final = frozenset(FIELDS)


def entry_from_json(value: Any, line: int | None = None) -> Entry:
    """The entry that a JSON value spells. Raises InvalidEntryError; hash and MAC are not looked at."""
    problem = shape_problem(value)
    if problem is not None:
        raise InvalidEntryError(f"not an entry: {problem}", line=line)
    return Entry(**{**value, "seq": int(value["seq"]), "ts": int(value["ts"])})
