"""Files for a page: what was judged of them, and their bytes in pieces. Pure; whoever reads files decides which may be read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..errors import UsageError

__all__ = ["MAX_FILES", "MAX_UPLOAD_BYTES", "check_files", "describe_file", "pieces"]

MAX_FILES: Final = 10
MAX_UPLOAD_BYTES: Final = 25 * 2**20
"""Of one act, all files together (page reference, section 21.7)."""

PIECE_BYTES: Final = 3 * 2**20
"""Of one message: 4 MiB of base64, the wire's limit."""


def describe_file(name: str, data: bytes, *, type: str = "application/octet-stream") -> dict[str, Any]:  # noqa: A002
    """What is judged of a file: name, type, size and SHA-256. The value of ``files`` is ``{"files": [...]}`` of these."""
    return {"name": name, "type": type, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def check_files(value: Any, files: Sequence[bytes]) -> None:
    """Raises UsageError, code ``permit-files``, unless these bytes are the files that were judged, all of them in their order."""
    judged = value.get("files") if isinstance(value, Mapping) else None
    if not isinstance(judged, Sequence) or len(judged) != len(files) or len(files) > MAX_FILES:
        raise UsageError(f"tab.act: the value names the files, at most {MAX_FILES}, and `files` has the bytes", code="permit-files")
    if sum(map(len, files)) > MAX_UPLOAD_BYTES:
        raise UsageError(f"tab.act: at most {MAX_UPLOAD_BYTES} bytes in all", code="permit-files")
    for one, data in zip(judged, files, strict=True):
        same = one.get("size") == len(data) and one.get("sha256") == hashlib.sha256(data).hexdigest()
        if not same:
            raise UsageError(f"tab.act: file {one.get('name')!r} has other bytes than those that were judged", code="permit-files")


def pieces(files: Sequence[bytes]) -> Iterator[tuple[int, str]]:
    """Number of the file and a piece of it in base64, in order. A file without a byte has no piece."""
    for index, data in enumerate(files):
        for start in range(0, len(data), PIECE_BYTES):
            yield index, base64.b64encode(data[start : start + PIECE_BYTES]).decode("ascii")
