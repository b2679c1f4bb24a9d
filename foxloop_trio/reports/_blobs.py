"""Texts and pictures that lie beside the trail: finding their markers in an entry, and what they stand for. Nothing here raises.

A marker is ``{"$blob": <SHA-256 as hex>, "bytes": <length>, "type": <media type>}``; an object that only looks like one stands in a
``{"$literal": …}``, and is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from ..trail import TrailError
from ._nouns import Picture
from ._values import mapping, text, whole

Blobs = Mapping[str, bytes] | Callable[[Mapping[str, Any]], bytes | None]
"""What lies beside a trail: bytes by their SHA-256 as hex, or a function from a marker to bytes, such as
``partial(read_blob, path)``. It may return None or raise TrailError for what is not there."""

BLOB: Final = "$blob"
LITERAL: Final = "$literal"
MAX_PICTURE_BYTES: Final = 4 * 1024 * 1024
"""A screenshot of a large window has about 1 MiB; what is far over that does not belong in a page that people send around."""
MAX_TEXT_BYTES: Final = 8 * 1024 * 1024
"""Of a text that is put back in its place; only its beginning is shown anyway."""
MAX_PICTURES: Final = 50
"""Pictures of one call."""
MAX_NODES: Final = 20_000
"""Values of one entry that are looked at. An entry of 1 MiB can hold half a million, but no tool's data has as many."""
MAX_DEPTH: Final = 80
"""Levels that are looked at; an entry of the trail has at most 64."""

_HEX64: Final = re.compile(r"[0-9a-f]{64}\Z")
_KINDS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
"""What a browser shows without running anything, by its first bytes; the trail's word for it does not count."""

_CLOSING: Final = re.compile(r"\n<<<END ([0-9a-f]{1,64})>>>\Z")
"""The last line of what a planner reads of a result with outside text."""


def hash_of(value: Any) -> str | None:
    """The hash when `value` is the marker of a blob."""
    plain = mapping(value)
    named = plain.get(BLOB)
    return named if type(named) is str and _HEX64.match(named) and type(plain.get("type")) is str else None


class Beside:
    """What lies beside one trail."""

    def __init__(self, blobs: Blobs | None) -> None:
        self._blobs = blobs

    def fetch(self, marker: Mapping[str, Any], limit: int) -> tuple[bytes | None, str | None]:
        """The bytes, or why there are none."""
        named = hash_of(marker)
        length = whole(marker.get("bytes"))
        if named is None or length is None:
            return None, "its marker is none of ours"
        if length > limit:
            return None, f"it has {length:,} bytes, too many to be shown"
        try:
            content = self._blobs.get(named) if isinstance(self._blobs, Mapping) else self._blobs and self._blobs(marker)
        except TrailError as fault:
            content = None
            if fault.code == "invalid-entry":
                return None, "what lies beside the trail is not what was recorded"
        if not isinstance(content, bytes):
            return None, "it is not beside the trail"
        if len(content) != length or sha256(content).hexdigest() != named:
            return None, "what lies beside the trail is not what was recorded"
        return content, None

    def whole(self, value: Any, depth: int = 0) -> Any:
        """A copy of an entry's data with its long texts back in their places; what cannot be had keeps its marker."""
        if depth > MAX_DEPTH:
            return value
        if isinstance(value, list):
            return [self.whole(item, depth + 1) for item in value]
        if not isinstance(value, Mapping):
            return value
        if value.keys() == {LITERAL} and isinstance(value[LITERAL], Mapping):
            return {key: self.whole(item, depth + 1) for key, item in value[LITERAL].items()}
        if hash_of(value) is not None:
            content, _ = self.fetch(value, MAX_TEXT_BYTES) if value["type"].startswith("text/") else (None, None)
            return dict(value) if content is None else content.decode("utf-8", "replace")
        return {key: self.whole(item, depth + 1) for key, item in value.items()}

    def page(self, shown: Any) -> tuple[str | None, str | None]:
        """The outside text in what the planner read, and why it is missing when it is."""
        named = hash_of(shown)
        if named is not None:
            content, problem = self.fetch(shown, MAX_TEXT_BYTES)
            if content is None:
                return None, f"The text with the hash {named} is not shown: {problem}."
            shown = content.decode("utf-8", "replace")
        words = text(shown)
        return (None if words is None else _between_marks(words)), None

    def pictures(self, data: Any) -> list[Picture]:
        """The pictures that a tool's data points at, in order."""
        found: list[Picture] = []
        waiting = [data]
        nodes = 0
        while waiting and nodes < MAX_NODES and len(found) < MAX_PICTURES:
            value = waiting.pop()
            nodes += 1
            if isinstance(value, list):
                waiting += reversed(value[:MAX_NODES])
            elif isinstance(value, Mapping):
                if value.keys() == {LITERAL}:
                    value = mapping(value[LITERAL])
                elif hash_of(value) is not None:
                    found += self._picture(value)
                    continue
                waiting += reversed(list(value.values())[:MAX_NODES])
        return found

    def _picture(self, marker: Mapping[str, Any]) -> list[Picture]:
        """A picture, or why it is missing; nothing for what is no picture."""
        named: str = marker[BLOB]
        if not marker["type"].startswith("image/"):
            return []
        content, problem = self.fetch(marker, MAX_PICTURE_BYTES)
        if content is None:
            return [Picture(sha256=named, problem=problem)]
        media = next((kind for start, kind in _KINDS if content.startswith(start)), None)
        if media is None:
            return [Picture(sha256=named, problem="it is neither PNG nor JPEG")]
        return [Picture(sha256=named, media=media, content=content)]


def _between_marks(words: str) -> str | None:
    """The text between the run's marks, whose nonce stands in both; None when it has none."""
    closing = _CLOSING.search(words, max(0, len(words) - 80))
    if closing is None:
        return None
    opening = f"\n<<<DATA {closing[1]}>>>\n"
    start = words.find(opening)
    return None if start < 0 else words[start + len(opening) : closing.start()]
