"""Blobs: long texts, screenshots and other bulk, beside the trail's file and named by their hash.

An entry holds ``{"$blob": <SHA-256 as hex>, "bytes": <length>, "type": <media type>}`` in place of the bytes, which lie in the
folder ``<file>.blobs`` under their hash. A blob is on disk, name and all, before the entry that names it is written. So the chain
covers the blob too: whoever changes it is found, and whoever removes it leaves an entry that says what is missing.

An object in an entry's data that only looks like a marker of ours is written as ``{"$literal": <the object>}``.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final

from ._aside import put_in_place
from ._errors import InvalidEntryError, StoreError, words_of
from ._parts import folder_of, real_name

__all__ = [
    "BLOB",
    "LITERAL",
    "TEXT_TYPE",
    "blob_marker",
    "blob_of",
    "expand",
    "load_blob",
    "load_blob_from",
    "named_blobs",
    "read_blob",
    "write_blob",
]

BLOB: Final = "$blob"
LITERAL: Final = "$literal"
TEXT_TYPE: Final = "text/plain; charset=utf-8"
"""The type of texts that were taken out of an entry for their length; they can be put back."""

MAX_BLOB_BYTES: Final = 64 * 1024 * 1024
"""Longest blob: a full-page screenshot of a long page has some tens of megabytes."""

MAX_TYPE_CHARS: Final = 200
"""Of a media type. RFC 6838, section 4.2 has 127 for each of its two names, and what is in use is far shorter."""

_HEX64 = re.compile(r"[0-9a-f]{64}\Z")
_KEYS: Final = frozenset({BLOB, "bytes", "type"})


def blob_marker(data: bytes, media_type: str) -> dict[str, Any]:
    """What an entry holds in place of `data`."""
    return {BLOB: sha256(data).hexdigest(), "bytes": len(data), "type": media_type}


def blob_of(value: Any) -> tuple[str, int] | None:
    """Hash and length when `value` is a marker of a blob, else None."""
    if type(value) is not dict or value.keys() != _KEYS:
        return None
    digest, length = value[BLOB], value["bytes"]
    if type(digest) is not str or not _HEX64.match(digest) or type(value["type"]) is not str:
        return None
    if isinstance(length, bool) or not isinstance(length, int | float) or length < 0 or length != int(length):
        return None
    return digest, int(length)


def named_blobs(data: Any) -> list[tuple[str, int]]:
    """Hash and length of every blob that the data of an entry names, in order."""
    found: list[tuple[str, int]] = []
    rest = [data]
    while rest:
        item = rest.pop()
        if type(item) is list:
            rest += reversed(item)
        elif type(item) is dict:
            if item.keys() == {LITERAL}:
                # The object inside is the caller's; what stands in it may be ours again.
                inner = item[LITERAL]
                rest += reversed(inner.values()) if type(inner) is dict else [inner]
                continue
            blob = blob_of(item)
            if blob is not None:
                found.append(blob)
            else:
                rest += reversed(item.values())
    return found


def expand(data: Any, load: Callable[[str, int], bytes | None]) -> Any:
    """A copy of an entry's data as it was given: long texts are back in place, and look-alikes out of their ``$literal``.

    `load` gives the bytes for a hash and a length, or None; a text that it does not have keeps its marker, as does what is no text.
    """
    if type(data) is list:
        return [expand(item, load) for item in data]
    if type(data) is not dict:
        return data
    if data.keys() == {LITERAL} and type(data[LITERAL]) is dict:
        return {key: expand(item, load) for key, item in data[LITERAL].items()}
    blob = blob_of(data)
    if blob is not None:
        raw = load(*blob) if data["type"] == TEXT_TYPE else None
        return dict(data) if raw is None else raw.decode("utf-8", "replace")
    return {key: expand(item, load) for key, item in data.items()}


def read_blob(path: str | os.PathLike[str], marker: Mapping[str, Any]) -> bytes:
    """The bytes that `marker`, from an entry of the trail `path`, stands for.

    Raises StoreError when they are not beside the trail or cannot be read, InvalidEntryError when `marker` is none, or the bytes
    are not those that the entry names.
    """
    blob = blob_of(dict(marker)) if isinstance(marker, Mapping) else None
    if blob is None:
        raise InvalidEntryError(f"not a marker of a blob: expected an object with {BLOB}, bytes and type")
    digest, length = blob
    folder = folder_of(real_name(path))
    raw = load_blob(folder, digest, length)
    if raw is None:
        raise StoreError(f"{os.path.join(folder, digest)}: the blob is missing")
    return raw


def load_blob_from(folders: Sequence[str], digest: str, length: int) -> bytes | None:
    """The bytes of one blob from the first of the folders that has it, None when none does. Raises as `load_blob` does."""
    for folder in folders:
        raw = load_blob(folder, digest, length)
        if raw is not None:
            return raw
    return None


def load_blob(folder: str, digest: str, length: int) -> bytes | None:
    """The bytes of one blob, None when there is no such file.

    Raises InvalidEntryError when they are others, StoreError when they cannot be read.
    """
    name = os.path.join(folder, digest)
    try:
        status = os.lstat(name)
        whole = stat.S_ISREG(status.st_mode) and status.st_size == length
        raw = b""
        if whole:
            fd = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
            with open(fd, "rb") as file:
                raw = file.read(length + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as fault:
        raise StoreError(f"{name}: the blob cannot be read ({words_of(fault)})") from fault
    if not whole or len(raw) != length or sha256(raw).hexdigest() != digest:
        raise InvalidEntryError(f"the blob {digest} is not the one that was written")
    return raw


def write_blob(folder: str, digest: str, raw: bytes, sync: Callable[[int], None], sync_folder: Callable[[str], None]) -> None:
    """Put a blob on disk: written aside, synced, then named, so that nobody ever finds half of it under its hash.

    One that is there already is left alone, when it has the right length. Raises OSError.
    """
    name = os.path.join(folder, digest)
    try:
        status = os.lstat(name)
        if stat.S_ISREG(status.st_mode) and status.st_size == len(raw):
            return
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            sync_folder(folder)
    put_in_place(name, raw, sync, sync_folder)
