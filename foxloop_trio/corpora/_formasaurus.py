"""Formasaurus, 954 saved real pages with labelled forms: the half that is for development, and what is known of their fields.

Only pages at an odd position of the index (counted from 0) are unpacked: the even ones are kept for checks, and are never touched.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from ._pinned import CorpusError, Download, Pinned, unpacked

__all__ = ["FORMASAURUS", "SavedPage", "formasaurus_pages", "saved_pages"]

FORMASAURUS: Final = Pinned(
    package="formasaurus",
    version="0.10.0",
    file="formasaurus-0.10.0.tar.gz",
    sha256="e2bfdd91ffac16ae3be2238b35e4b221e8902c73d62e85ba1791a02aeec6760d",
    source=True,
)
"""The source package on PyPI (13,439,867 bytes, MIT licence)."""

INDEX: Final = "index.json"


@attrs.frozen(kw_only=True)
class SavedPage:
    """One page: its position in the index, its file, the address it was saved from, and the typed fields of each of its forms, name
    to type (``password``, ``email``, …), as people labelled them.
    """

    position: int
    file: str
    url: str
    forms: tuple[Mapping[str, str], ...]


def formasaurus_pages(cache: Path | None = None, *, download: Download | None = None, pinned: Pinned = FORMASAURUS) -> Path:
    """The folder with the pages of odd positions and the index; fetched once, then kept, as `unpacked` says."""
    return unpacked(pinned, _unpack, cache=cache, download=download)


def saved_pages(folder: Path) -> list[SavedPage]:
    """The pages of odd positions in `folder`, in the order of the index. Raises CorpusError for an index that is none."""
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        return list(_odd_ones(index))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise CorpusError(f"{folder / INDEX} is no index of formasaurus: {fault!r}. Remove the folder and try again") from fault


def _odd_ones(index: Mapping[str, Any]) -> Iterator[SavedPage]:
    for position, (file, known) in enumerate(index.items()):
        if position % 2:
            forms = tuple(dict(fields or {}) for fields in known.get("visible_html_fields") or ())
            yield SavedPage(position=position, file=file.removeprefix("html/"), url=known.get("url", ""), forms=forms)


def _unpack(source: Path, scratch: Path) -> Path:
    pages = scratch / "pages"
    pages.mkdir()
    with tarfile.open(source) as archive:
        data = f"{source.name.removesuffix('.tar.gz')}/formasaurus/data"
        (pages / INDEX).write_bytes(_content(archive, f"{data}/{INDEX}"))
        for page in _odd_ones(json.loads((pages / INDEX).read_bytes())):
            (pages / page.file).write_bytes(_content(archive, f"{data}/html/{page.file}"))
    return pages


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise CorpusError(f"{archive.name!s} has no {name}")
    with file:
        return file.read()
