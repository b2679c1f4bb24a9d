"""Values that must not be in the trail: marked with `secret`, or standing under a key name that the host listed.

Such a value is written as ``{"$redacted": "v2:<salt>:<HMAC>"}`` with a salt of its own, so that equal secrets do not look equal,
and somebody who knows a candidate and has the trail's key can test it with `check_redacted`. A marker of version 1, written on
request and read for ever, is ``"<salt>:<digest>"`` and needs no key. Beware: whoever has the file can guess a short secret by
trying all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, Literal, final

import attrs

from ..canonical import canonical_json
from ..errors import BadOptionsError, NotJsonError, TrailError
from ..ports import Ids
from ._blobs import BLOB, LITERAL, TEXT_TYPE, blob_marker, blob_of
from ._errors import InvalidEntryError
from ._key import TrailKey
from ._patterns import mask
from ._records import MAX_DEPTH, MAX_ENTRY_BYTES, too_large

__all__ = ["REDACTED", "Secret", "Shape", "check_redacted", "fold_names", "redact", "secret"]

REDACTED: Final = "$redacted"
_MARK = re.compile(r"(v2:)?([0-9a-f]{32}):([0-9a-f]{64})\Z")
_SALT_BYTES: Final = 16

MarkerVersion = Literal["v1", "v2"]
"""Which markers are written for hidden values; both are read for ever."""


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


def check_redacted(marker: object, candidate: object, *, key: TrailKey | bytes | str | None = None) -> bool:
    """Whether `marker` stands for `candidate`. A marker of version 2 needs the `key` of the trail, and is False without it.

    False, never an exception, for whatever is no marker, has no JSON, or is no key.
    """
    if type(marker) is not dict or marker.keys() != {REDACTED}:
        return False
    text = marker[REDACTED]
    found = _MARK.match(text) if type(text) is str else None
    if found is None:
        return False
    try:
        sealed_with = TrailKey.of(key) if found[1] else None
        plain = canonical_json(_copy(candidate, None), max_bytes=MAX_ENTRY_BYTES)
    except (NotJsonError, TrailError):
        return False
    return compare_digest(_digest(found[2], plain, sealed_with), found[3])


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


@attrs.define(kw_only=True)
class Shape:
    """What becomes of an entry's data on its way into the trail, and what came out of it beside the data.

    `names` are folded key names whose values are hidden. Texts of more than `blobs_over` bytes become blobs (None: none do), which
    are put into `blobs`. With a `key` the markers of hidden values are of version 2. `known` says whether a marker of a blob is one
    that the trail itself handed out. With `patterns` whatever looks like a secret is masked in texts and keys.
    """

    ids: Ids
    names: frozenset[str] = frozenset()
    blobs_over: int | None = None
    key: TrailKey | None = None
    patterns: bool = False
    known: Callable[[str, int], bool] = lambda digest, length: False
    blobs: dict[str, bytes] = attrs.Factory(dict)

    def hides(self, key: object, item: object) -> bool:
        return type(item) is Secret or (type(key) is str and bool(self.names) and _fold(key) in self.names)

    def imitates(self, item: dict[Any, Any]) -> bool:
        """Whether the caller's object would pass as a marker of ours."""
        if len(item) == 1:
            return REDACTED in item or LITERAL in item
        blob = blob_of(item) if BLOB in item else None
        return blob is not None and not self.known(*blob)

    def text(self, text: str) -> Any:
        """The text, or the marker of the blob that it becomes."""
        if self.patterns:
            text = mask(text)
        if self.blobs_over is None or len(text) * 4 <= self.blobs_over:  # UTF-8 has four bytes for a character at most
            return text
        try:
            raw = text.encode()
        except UnicodeEncodeError:
            return text  # a lone surrogate has no UTF-8; JSON can escape it
        if len(raw) <= self.blobs_over:
            return text
        marker = blob_marker(raw, TEXT_TYPE)
        self.blobs[marker[BLOB]] = raw
        return marker


def redact(value: Any, shape: Shape) -> Any:
    """A deep copy of `value` in its shape: with a marker in place of each secret and of each value under a hidden name, and of each
    long text.

    Raises InvalidEntryError when a secret is not JSON or the value contains itself, EntryTooLargeError when it is over the limit.
    """
    return _copy(value, shape)


def _copy(value: Any, shape: Shape | None) -> Any:
    """The deep copy. With a `shape` secrets become markers, without it they are revealed (for the digest of what surrounds them).

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
        whole: Any = None
        if shape is not None and shape.hides(key, item):
            copy: Any = _mark(item, shape)
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
                if kind is dict and shape is not None and shape.imitates(item):
                    whole = {LITERAL: copy}
            elif kind is str and shape is not None:
                copy = shape.text(item)
            else:
                copy = item
        if type(target) is dict:
            if shape is not None and shape.patterns and type(key) is str:
                key = _free_name(mask(key), target)
            target[key] = copy if whole is None else whole
        else:
            target.append(copy if whole is None else whole)
    return top[0]


def _free_name(name: str, taken: dict[Any, Any]) -> str:
    """Two keys that are masked to the same text stay two."""
    whole, number = name, 1
    while whole in taken:
        number += 1
        whole = f"{name} ({number})"
    return whole


def _mark(item: Any, shape: Shape) -> dict[str, str]:
    plain = _copy(item, None)
    try:
        text = canonical_json(plain, max_bytes=MAX_ENTRY_BYTES)
    except NotJsonError as fault:
        if fault.code == "too-large":
            raise too_large() from None
        raise InvalidEntryError(f"data: a value to be hidden is {fault}") from None
    salt = shape.ids(_SALT_BYTES, "trail-salt").hex()
    return {REDACTED: f"{'' if shape.key is None else 'v2:'}{salt}:{_digest(salt, text, shape.key)}"}


def _digest(salt: str, text: str, key: TrailKey | None) -> str:
    whole = f"{salt}:{text}"
    return sha256(whole.encode()).hexdigest() if key is None else key.mac(whole)


def _fold(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
