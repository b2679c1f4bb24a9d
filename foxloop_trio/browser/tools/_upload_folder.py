"""The folder out of which files may be given to pages. Owns which names are plain ones, how they are opened, and the bytes read.

A file is opened by its name inside the opened folder, never through a link, and read once: the bytes that were judged are those
that are sent, whatever becomes of the file meanwhile.
"""

from __future__ import annotations

import errno
import mimetypes
import os
import stat
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from ...errors import BadOptionsError, Refuse
from .._uploads import MAX_UPLOAD_BYTES, describe_file

__all__ = ["UploadFolder"]

MAX_KEPT_BYTES: Final = 4 * MAX_UPLOAD_BYTES
"""Bytes that are kept between judging and sending, of all calls together; the oldest go first."""

_NOT_PLAIN: Final = frozenset("/\\\0:")


@attrs.frozen(kw_only=True)
class _Kept:
    data: bytes


class UploadFolder:
    """`read(names)` answers what is judged of each file; `bytes_of(value)` the bytes of what was judged, or None."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Raises BadOptionsError when there is no such folder."""
        self.path = Path(folder).resolve()
        if not self.path.is_dir():
            raise BadOptionsError(f"upload_from: {str(folder)!r} is not a folder; name one that exists")
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def read(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Name, type, size and SHA-256 of each file. Raises Refuse for anything but plain files that lie in the folder itself.

        Blocking: call it in a thread.
        """
        room = MAX_UPLOAD_BYTES
        described = []
        for name in names:
            data = self._bytes(name, room)
            room -= len(data)
            one = describe_file(name, data, type=mimetypes.guess_type(name)[0] or "application/octet-stream")
            self._keep(one["sha256"], data)
            described.append(one)
        return described

    def bytes_of(self, value: Mapping[str, Any]) -> list[bytes] | None:
        """The bytes that were read for these judged files, in their order; None when they are not kept any more."""
        kept = [self._kept.get(one["sha256"]) for one in value["files"]]
        return [one.data for one in kept if one is not None] if None not in kept else None

    def _keep(self, sha256: str, data: bytes) -> None:
        self._kept.pop(sha256, None)
        self._kept[sha256] = _Kept(data=data)
        while sum(len(one.data) for one in self._kept.values()) > MAX_KEPT_BYTES:
            self._kept.popitem(last=False)

    def _bytes(self, name: str, room: int) -> bytes:
        if not name or name in (".", "..") or any(letter in _NOT_PLAIN for letter in name):
            raise Refuse("Files are named by their plain names in the upload folder, without any path.")
        handle = self._open(name)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise Refuse("Only plain files are uploaded; one of these is none.")
        with os.fdopen(handle, "rb") as file:
            data = file.read(room + 1)
        if len(data) > room:
            raise Refuse(f"These files have more than {MAX_UPLOAD_BYTES} bytes in all. Upload fewer of them.")
        return data

    def _open(self, name: str) -> int:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            if os.open in os.supports_dir_fd:
                folder = os.open(self.path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
                try:
                    return os.open(name, flags, dir_fd=folder)
                finally:
                    os.close(folder)
            if (self.path / name).is_symlink():
                raise Refuse("One of these files is a link, and links are not followed.")
            return os.open(self.path / name, flags)
        except UnicodeError as error:
            raise Refuse("One of these names is no text that a file can have.") from error
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise Refuse("One of these files is a link, and links are not followed.") from error
            raise Refuse("The upload folder has no file of one of these names that can be read.") from error
