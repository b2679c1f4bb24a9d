"""From what a caller hands to `append` to a frozen draft: checked, redacted, canonical.

Once there is a draft, the caller's objects do not matter any more: later changes of them do not show in the trail.
"""

from __future__ import annotations

import inspect
import secrets
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, TypeVar, get_args

from ..actions import MAX_SAFE_INTEGER
from ..canonical import canonical_json
from ..errors import BadOptionsError, NotJsonError
from ..ports import Ids, WallClock
from ._blobs import BLOB, MAX_BLOB_BYTES, MAX_TYPE_CHARS, blob_marker
from ._errors import EntryTooLargeError, InvalidEntryError, StoreError
from ._key import TrailKey
from ._patterns import mask
from ._records import MAX_DATA_DEPTH, MAX_ENTRY_BYTES, Draft, too_large
from ._redact import MarkerVersion, Shape, fold_names, redact

__all__ = ["BLOBS_OVER", "Drafter"]

BLOBS_OVER: Final = 32 * 1024
"""Bytes of UTF-8 above which a text goes beside the file. The longest page text that a planner is shown is 4,000 characters, so the
entries of a run stay whole; a blob costs two more syncs than a line does."""

_NO_BLOBS: Final[dict[str, bytes]] = {}


class Drafter:
    """Makes drafts, with the trail's clock, source of salts and list of hidden key names.

    Raises BadOptionsError when `names` is not a collection of texts, or `now` or `ids` is no plain function.
    """

    def __init__(
        self,
        *,
        names: Iterable[str] = (),
        now: WallClock | None = None,
        ids: Ids | None = None,
        blobs_over: int | None = None,
        markers: MarkerVersion = "v2",
        patterns: bool = False,
    ) -> None:
        if type(patterns) is not bool:
            raise BadOptionsError(f"patterns is True or False, not {patterns!r}")
        if markers not in get_args(MarkerVersion):
            raise BadOptionsError(f'markers are "v1" or "v2", not {markers!r}')
        if blobs_over is not None and (type(blobs_over) is not int or blobs_over < 0):
            raise BadOptionsError(f"blobs_over is a number of bytes or None, not {blobs_over!r}")
        self._names = fold_names(names)
        self._blobs_over = blobs_over
        self._known: dict[str, int] = {}
        self._markers = markers
        self._patterns = patterns
        self._key: TrailKey | None = None
        self._now: WallClock = time.time if now is None else _plain_function("now", now)
        self._ids: Ids = secret_bytes if ids is None else _plain_function("ids", ids)

    def seal_markers_with(self, key: TrailKey) -> None:
        """The trail's key, for markers of version 2. It may come later than the drafter."""
        self._key = key if self._markers == "v2" else None

    def draft(self, actor: Any, kind: Any, data: Any) -> Draft:
        """Raises InvalidEntryError or EntryTooLargeError."""
        for name, value in (("actor", actor), ("kind", kind)):
            if type(value) is not str or not value:
                raise InvalidEntryError(f"{name} must be a non-empty text, not {_describe(value)}")
        if self._patterns:
            actor, kind = mask(actor), mask(kind)
        data_json, blobs = self._data_json(data)
        return Draft(actor, kind, _name(actor, "actor"), _name(kind, "kind"), data_json, blobs)

    def blob(self, data: Any, media_type: Any) -> tuple[dict[str, Any], bytes]:
        """The marker and a copy of a blob's bytes. Raises InvalidEntryError or EntryTooLargeError."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InvalidEntryError(f"a blob is bytes, not {type(data).__name__}; encode text first")
        if type(media_type) is not str or not 0 < len(media_type) <= MAX_TYPE_CHARS or not media_type.isprintable():
            raise InvalidEntryError(f"the type of a blob is a media type such as image/png, of {MAX_TYPE_CHARS} characters at most")
        raw = bytes(data)
        if len(raw) > MAX_BLOB_BYTES:
            raise EntryTooLargeError(f"the blob has {len(raw)} bytes and is over the {MAX_BLOB_BYTES} of one blob; split it")
        marker = blob_marker(raw, media_type)
        self._known[marker[BLOB]] = len(raw)
        return marker, raw

    def now_ms(self) -> int:
        """Whole milliseconds since 1970. Raises StoreError when the clock gives none."""
        try:
            now = self._now()
        except Exception as fault:
            raise StoreError(f"the wall clock raised {type(fault).__name__}, so the entry has no time") from fault
        if isinstance(now, bool) or not isinstance(now, (int, float)):
            raise StoreError(f"the wall clock gave a {type(now).__name__}, not seconds since 1970")
        if not abs(now) <= MAX_SAFE_INTEGER // 1000:  # which NaN and the infinities are not either
            raise StoreError("the wall clock gave a number that is no time in seconds since 1970")
        return round(now * 1000)

    def ids(self, nbytes: int, purpose: str) -> bytes:
        """Random bytes for a salt or a key. Raises StoreError when the source gives anything else: an empty salt hides little."""
        try:
            raw: object = self._ids(nbytes, purpose)
        except Exception as fault:
            raise StoreError(f"ids({nbytes}, {purpose!r}) raised {type(fault).__name__}") from fault
        if type(raw) is not bytes or len(raw) != nbytes:
            raise StoreError(f"ids({nbytes}, {purpose!r}) must return {nbytes} bytes")
        return raw

    def _data_json(self, data: Any) -> tuple[str, dict[str, bytes]]:
        if not self._names and not self._patterns:
            # A secret is no JSON, so data that has canonical text holds none, and the text is as good as a deep copy.
            try:
                text = canonical_json(data, max_depth=MAX_DATA_DEPTH, max_bytes=MAX_ENTRY_BYTES)
            except NotJsonError as fault:
                if fault.code == "too-large" and self._blobs_over is None:
                    raise too_large() from None
            else:
                # A text within is no longer than the whole, in bytes of UTF-8: escapes only make it longer.
                over = self._blobs_over
                long = over is not None and len(text) * 4 > over and (len(text) if text.isascii() else len(text.encode())) > over
                if not long and _MARK_BEGINS not in text:
                    return text, _NO_BLOBS
        assert self._key is not None or self._markers == "v1"  # else short secrets could be guessed
        shape = Shape(
            names=self._names,
            ids=self.ids,
            blobs_over=self._blobs_over,
            key=self._key,
            patterns=self._patterns,
            known=lambda digest, length: self._known.get(digest) == length,
        )
        return _text(redact(data, shape), "data"), shape.blobs


_MARK_BEGINS: Final = '"$'
"""What the canonical text of data has in it when an object there could pass as a marker of ours: all of them begin so."""


def _name(value: str, name: str) -> str:
    return _short(value, name) if len(value) <= _SHORT else _text(value, name)


_SHORT: Final = 100
"""Characters of the longest actor or kind whose text is remembered; ours have some twenty."""


@lru_cache(maxsize=256)
def _short(value: str, name: str) -> str:
    """The canonical text of an actor or a kind; there are few of them, and each comes back again and again."""
    return _text(value, name)


def _text(value: Any, name: str) -> str:
    try:
        return canonical_json(value, max_depth=MAX_DATA_DEPTH, max_bytes=MAX_ENTRY_BYTES)
    except NotJsonError as fault:
        if fault.code == "too-large":
            raise too_large() from None
        raise InvalidEntryError(f"{name}: {fault}") from None


def _describe(value: object) -> str:
    return "an empty one" if value == "" else type(value).__name__


def secret_bytes(nbytes: int, purpose: str) -> bytes:
    """The default of `ids`: the system's cryptographic source, whatever the purpose."""
    return secrets.token_bytes(nbytes)


F = TypeVar("F", bound=Callable[..., Any])


def _plain_function(name: str, value: F) -> F:
    if not callable(value) or inspect.iscoroutinefunction(value):
        raise BadOptionsError(f"{name} must be a plain function, not {_kind_of(value)}")
    return value


def _kind_of(value: object) -> str:
    return "an async one" if callable(value) else type(value).__name__
