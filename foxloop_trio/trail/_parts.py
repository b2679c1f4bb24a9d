"""The files of one trail: ``run.trail`` is the first, ``run.trail.1`` goes on from it, then ``run.trail.2``; the highest number is
the newest.

No file is ever renamed, and once the next one is there a file is not written any more. So whoever reads needs no lock, and a copy
of an older file stays a good copy. Files are found by their names, since any of them may be missing.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from ..errors import UsageError
from ._errors import StoreError, words_of
from ._system import READING

__all__ = [
    "TrailPath",
    "begins_as_trail",
    "blob_folders",
    "file_before",
    "first_of",
    "folder_of",
    "numbers_of",
    "part_name",
    "parts_of",
    "real_name",
    "trail_files",
]

TrailPath = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""The first file of a trail, whose others are found beside it; or all its files in their order, wherever they are."""

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}\Z")
_LATER: Final = re.compile(r"(.+)\.[1-9][0-9]{0,8}\Z", re.DOTALL)


def part_name(path: str, number: int) -> str:
    """The file of this number; 0 is the first."""
    return path if number == 0 else f"{path}.{number}"


def folder_of(path: str) -> str:
    """Where the blobs of the trail `path` lie."""
    return f"{path}.blobs"


def first_of(path: str) -> str | None:
    """The trail that a file would belong to by its name, if it were a later one of it."""
    found = _LATER.match(path)
    return None if found is None else found[1]


def file_before(path: str) -> str | None:
    """The file of another trail that this one would go on from by its name. Raises OSError, ValueError."""
    first = first_of(path)
    if first is None:
        return None
    number = int(path[len(first) + 1 :]) - 1
    return part_name(first, number) if number in numbers_of(first) else None


def begins_as_trail(name: str, seq: int | None = None) -> bool:
    """Whether it is a file whose first line looks like an entry, of that number if one is given. Raises OSError."""
    try:
        if not stat.S_ISREG(os.lstat(name).st_mode):
            return False
        fd = os.open(name, READING)
    except FileNotFoundError:
        return False
    try:
        return os.read(fd, 16).startswith(b'{"seq":' if seq is None else b'{"seq":%d,' % seq)
    finally:
        os.close(fd)


def numbers_of(path: str) -> list[int]:
    """The numbers of the files that are there, lowest first. Raises OSError, ValueError."""
    folder, name = os.path.split(path)
    found = {0} if os.path.lexists(path) else set()
    try:
        with os.scandir(folder or ".") as listing:
            names = [item.name for item in listing if item.name.startswith(f"{name}.")]
    except (FileNotFoundError, NotADirectoryError):
        return sorted(found)
    except PermissionError:  # a folder whose files one may open but not list
        number = 1
        while os.path.lexists(part_name(path, number)):
            found.add(number)
            number += 1
        return sorted(found)
    found |= {int(number) for number in (item[len(name) + 1 :] for item in names) if _NUMBER.match(number)}
    kept: list[int] = []
    for number in _completed(path, found):
        if number == 0 or number - 1 in kept[-1:] or not _is_foreign(part_name(path, number)):
            kept.append(number)
    return kept


def _completed(path: str, found: set[int]) -> list[int]:
    """With what a listing may have missed since it was made while the listing went on."""
    number = 0
    newest = max(found, default=0)
    while number < newest and (number in found or os.path.lexists(part_name(path, number))):
        found.add(number)
        number += 1
    return sorted(found)


def _is_foreign(name: str) -> bool:
    """Whether something has but the name of a later file: ``run.20250101`` beside ``run``, a folder, or a trail of its own.

    Only asked where the number before is not there. What follows a file of ours by its number should be ours too.
    """
    return not stat.S_ISREG(os.lstat(name).st_mode) or begins_as_trail(name, 0)


def parts_of(path: TrailPath) -> tuple[list[str], str | None]:
    """The files of a trail in their order, up to the first that is missing, and the name of that one.

    Raises StoreError when they cannot be looked for, UsageError for an empty list.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        names = [os.fsdecode(name) for name in path]
        if not names:
            raise UsageError("there is no file in the list; name the trail's files, oldest first")
        return names, None
    name = real_name(path)
    try:
        numbers = numbers_of(name)
    except (OSError, ValueError) as fault:
        raise StoreError(f"{name}: its files cannot be looked for ({words_of(fault)})") from fault
    if not numbers:
        return [name], None  # whoever opens it says that there is none
    there = list(_without_gap(numbers))
    whole = len(there) == len(numbers)
    return [part_name(name, number) for number in there], None if whole else part_name(name, len(there))


def blob_folders(path: TrailPath) -> list[str]:
    """Where the blobs of a trail may lie: beside its first file. Of files that are listed, that is beside any of them."""
    if isinstance(path, str | bytes | os.PathLike):
        return [folder_of(real_name(path))]
    folders: dict[str, None] = {}
    for name in map(real_name, path):
        first = first_of(name)
        folders |= dict.fromkeys(map(folder_of, (name,) if first is None else (name, first)))
    return list(folders)


def _without_gap(numbers: Iterable[int]) -> Iterable[int]:
    for place, number in enumerate(numbers):
        if place != number:
            return
        yield number


def trail_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files of the trail `path` that are there, oldest first: `path`, then ``<path>.1``, ``<path>.2``, …

    Only the last one is still written to. Of a link, the files where it leads to. Raises StoreError when the folder cannot be read.
    """
    name = real_name(path)
    try:
        return [Path(part_name(name, number)) for number in numbers_of(name)]
    except (OSError, ValueError) as fault:
        raise StoreError(f"{name}: its files cannot be looked for ({words_of(fault)})") from fault


def real_name(path: str | os.PathLike[str]) -> str:
    """The file itself when `path` is a link to one: the others lie beside it, and so do the blobs."""
    name = os.fsdecode(path)
    try:
        if os.path.islink(name):
            real = os.path.realpath(name)
            return real if os.path.isfile(real) else name
    except (OSError, ValueError):
        pass  # opening it says what is wrong
    return name
