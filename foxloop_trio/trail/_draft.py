"""From what a caller hands to `append` to a frozen draft: checked, redacted, canonical.

Once there is a draft, the caller's objects do not matter any more: later changes of them do not show in the trail.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterable
from typing import Any

from ..actions import MAX_SAFE_INTEGER
from ..canonical import canonical_json
from ..errors import NotJsonError
from ..ports import Ids, WallClock
from ._errors import InvalidEntryError, StoreError
from ._records import MAX_DATA_DEPTH, MAX_ENTRY_BYTES, Draft, too_large
from ._redact import fold_names, redact

__all__ = ["Drafter"]


class Drafter:
    """Makes drafts, with the trail's clock, source of salts and list of hidden key names.

    Raises BadOptionsError when `names` is not a collection of texts.
    """

    def __init__(self, *, names: Iterable[str] = (), now: WallClock | None = None, ids: Ids | None = None) -> None:
        self._names = fold_names(names)
        self._now = time.time if now is None else now
        self.ids: Ids = _system_ids if ids is None else ids

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
        now = self._now() * 1000
        if not math.isfinite(now) or abs(now) > MAX_SAFE_INTEGER:
            raise StoreError(f"the wall clock gave {now / 1000!r}, which is no time in seconds since 1970")
        return round(now)

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


def _system_ids(nbytes: int, purpose: str) -> bytes:
    return secrets.token_bytes(nbytes)
