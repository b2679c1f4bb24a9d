"""From what a caller hands to `append` to a frozen draft: checked, redacted, canonical.

Once there is a draft, the caller's objects do not matter any more: later changes of them do not show in the trail.
"""

from __future__ import annotations

import inspect
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..actions import MAX_SAFE_INTEGER
from ..canonical import canonical_json
from ..errors import BadOptionsError, NotJsonError
from ..ports import Ids, WallClock
from ._errors import InvalidEntryError, StoreError
from ._records import MAX_DATA_DEPTH, MAX_ENTRY_BYTES, Draft, too_large
from ._redact import fold_names, redact

__all__ = ["Drafter"]


class Drafter:
    """Makes drafts, with the trail's clock, source of salts and list of hidden key names.

    Raises BadOptionsError when `names` is not a collection of texts, or `now` or `ids` is no plain function.
    """

    def __init__(self, *, names: Iterable[str] = (), now: WallClock | None = None, ids: Ids | None = None) -> None:
        self._names = fold_names(names)
        self._now: WallClock = time.time if now is None else _plain_function("now", now)
        self._ids: Ids = secret_bytes if ids is None else _plain_function("ids", ids)

    def draft(self, actor: Any, kind: Any, data: Any) -> Draft:
        """Raises InvalidEntryError or EntryTooLargeError."""
        for name, value in (("actor", actor), ("kind", kind)):
            if type(value) is not str or not value:
                raise InvalidEntryError(f"{name} must be a non-empty text, not {_describe(value)}")
        return Draft(
            actor=actor,
            kind=kind,
            actor_json=_text(actor, "actor"),
            kind_json=_text(kind, "kind"),
            data_json=self._data_json(data),
        )

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

    def _data_json(self, data: Any) -> str:
        if not self._names:
            # A secret is no JSON, so data that has canonical text holds none, and the text is as good as a deep copy.
            try:
                return canonical_json(data, max_depth=MAX_DATA_DEPTH, max_bytes=MAX_ENTRY_BYTES)
            except NotJsonError as fault:
                if fault.code == "too-large":
                    raise too_large() from None
        return _text(redact(data, names=self._names, ids=self.ids), "data")


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
