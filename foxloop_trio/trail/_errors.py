"""The errors of the trail: each has a code of its own, and says what was refused and what to do about it.

None of them ever quotes a value of an entry or a key, since either may be a secret.
"""

from __future__ import annotations

from ..errors import TrailError

__all__ = ["ConflictError", "EntryTooLargeError", "InvalidEntryError", "StoreError", "TrailKeyError", "words_of"]


class InvalidEntryError(TrailError):
    """An entry, or a line of a file, that the trail cannot hold.

    `line` is the 1-based line number when it was read from a file, `file` the file when it is not the trail's first, and `problem`
    the message without them.
    """

    default_code = "invalid-entry"

    def __init__(self, message: str, *, code: str | None = None, line: int | None = None, file: str | None = None) -> None:
        place = [*([] if file is None else [file]), *([] if line is None else [f"line {line}"])]
        super().__init__(": ".join([*place, message]), code=code)
        self.line = line
        self.file = file
        self.problem = message


class TrailKeyError(TrailError):
    """No key, a key that is too short or not hex, an unreadable key file, or not the key that the file was written with."""

    default_code = "key"


class EntryTooLargeError(TrailError):
    """The canonical text of an entry is over the limit; keep bulk elsewhere and put its hash in the entry."""

    default_code = "entry-too-large"


class ConflictError(TrailError):
    """Somebody else appended in between."""

    default_code = "conflict"


class StoreError(TrailError):
    """The file cannot be read or written, or is not as it was left. Nothing is retried; what is on disk stays as it is."""

    default_code = "store"


def words_of(fault: OSError | ValueError) -> str:
    """Why a file could not be had, without its name. `ValueError` is for paths that no file can have, such as one with a NUL."""
    return (fault.strerror if isinstance(fault, OSError) else None) or str(fault) or type(fault).__name__
