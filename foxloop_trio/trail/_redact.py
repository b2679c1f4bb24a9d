"""Values that must not be in the trail: marked with `secret`, or standing under a key name that the host listed.

Such a value is written as ``{"$redacted": "<salt>:<digest>"}`` with a salt of its own, so that equal secrets do not look equal, and
somebody who knows a candidate can test it with `check_redacted`. Beware: the digest of a short secret can be guessed by whoever has
the file, by trying all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, final

from ..canonical import canonical_json
from ..errors import BadOptionsError, NotJsonError, TrailError
from ..ports import Ids
from ._errors import InvalidEntryError
from ._records import MAX_DEPTH, MAX_ENTRY_BYTES, too_large

__all__ = ["Secret", "check_redacted", "fold_names", "redact", "secret"]

_MARKER: Final = "$redacted"
_MARK = re.compile(r"([0-9a-f]{32}):([0-9a-f]{64})\Z")
_SALT_BYTES: Final = 16


@final
class Secret:
    """A value that is hidden from the trail. It cannot be shown, formatted, pickled, dumped as JSON or compared by value."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        raise TypeError("a secret cannot be formatted into text")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a secret can be neither pickled nor copied")


def secret(value: Any) -> Secret:
    """Mark `value` (plain JSON) as secret: wherever it stands in the data of an entry, the trail holds a salted digest instead."""
    return Secret(value)


def check_redacted(marker: object, candidate: object) -> bool:
    """Whether `marker` stands for `candidate`. False, never an exception, for whatever is no marker or has no JSON."""
    if type(marker) is not dict or marker.keys() != {_MARKER}:
        return False
    text = marker[_MARKER]
    found = _MARK.match(text) if type(text) is str else None
    if found is None:
        return False
    try:
        plain = canonical_json(_copy(candidate, names=frozenset(), ids=None), max_bytes=MAX_ENTRY_BYTES)
    except (NotJsonError, TrailError):
        return False
    return compare_digest(_digest(found[1], plain), found[2])


def fold_names(names: Iterable[str]) -> frozenset[str]:
    """Key names in the form in which they are compared: without case, ``-`` and ``_``, so that ``api_key`` also hides ``apiKey``.

    Raises BadOptionsError for anything but a collection of texts.
    """
    if isinstance(names, str):
        raise BadOptionsError(f"redact: a collection of key names is needed, not the single text {names!r}; write [{names!r}]")
    if not isinstance(names, Iterable):
        raise BadOptionsError(f"redact: a collection of key names is needed, not {type(names).__name__}")
    whole = list(names)
    for name in whole:
        if not isinstance(name, str):
            raise BadOptionsError(f"redact: key names are texts, not {type(name).__name__}")
    return frozenset(map(_fold, whole))


def redact(value: Any, *, names: frozenset[str], ids: Ids) -> Any:
    """A deep copy of `value` with a marker in place of each secret and of each value under one of the folded `names`.

    Raises InvalidEntryError when a secret is not JSON or the value contains itself, EntryTooLargeError when it is over the limit.
    """
    return _copy(value, names=names, ids=ids)


def _copy(value: Any, *, names: frozenset[str], ids: Ids | None) -> Any:
    """The deep copy. With `ids` secrets become markers, without it they are revealed (for the digest of what surrounds them).

    It keeps its own stack, and counts what it copies: a small value with shared parts can stand for a text without end.
    """
    top: list[Any] = []
    frames: list[tuple[Iterator[tuple[Any, Any]], Any, int]] = [(iter([(None, value)]), top, 0)]
    open_ids: set[int] = set()
    nodes = 0
    while frames:
        members, target, source = frames[-1]
        member = next(members, None)
        if member is None:
            open_ids.discard(source)
            frames.pop()
            continue
        key, item = member
        nodes += 1
        if nodes > MAX_ENTRY_BYTES // 2:  # each costs two bytes or more: itself and a comma or bracket
            raise too_large()
        if ids is not None and (type(item) is Secret or (type(key) is str and _fold(key) in names)):
            copy: Any = _mark(item, ids)
        else:
            while type(item) is Secret:
                item = item._value
            kind = type(item)
            if kind is dict or kind is list:
                if id(item) in open_ids:
                    raise InvalidEntryError(f"data: a {kind.__name__} that contains itself")
                if len(frames) > MAX_DEPTH + 1:
                    raise InvalidEntryError(f"data: nested deeper than {MAX_DEPTH} levels; flatten the value")
                open_ids.add(id(item))
                copy = {} if kind is dict else []
                frames.append((iter(item.items()) if kind is dict else ((None, part) for part in item), copy, id(item)))
            else:
                copy = item
        if type(target) is dict:
            target[key] = copy
        else:
            target.append(copy)
    return top[0]


def _mark(item: Any, ids: Ids) -> dict[str, str]:
    plain = _copy(item, names=frozenset(), ids=None)
    try:
        text = canonical_json(plain, max_bytes=MAX_ENTRY_BYTES)
    except NotJsonError as fault:
        if fault.code == "too-large":
            raise too_large() from None
        raise InvalidEntryError(f"data: a value to be hidden is {fault}") from None
    salt = ids(_SALT_BYTES, "trail-salt").hex()
    return {_MARKER: f"{salt}:{_digest(salt, text)}"}


def _digest(salt: str, text: str) -> str:
    return sha256(f"{salt}:{text}".encode()).hexdigest()


def _fold(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
