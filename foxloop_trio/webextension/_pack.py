"""Owns the add-on as files: its folder, and the zip that Firefox installs. Knows nothing of Firefox or of sockets."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError

__all__ = ["ADDON_ID", "addon_path", "pack_addon"]

ADDON_ID: Final = "addon@foxloop-trio"
"""The id in the manifest. Firefox names the add-on's origin after it, by a UUID of its own choice unless a preference sets one."""

CONFIG: Final = "config.json"
"""Name of the file that tells a packed copy where its runtime listens. It is never in the folder."""

_SHIPPED: Final = frozenset({".css", ".html", ".js", ".json", ".svg"})
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # the first instant that a zip can name
_PLAIN_FILE: Final = 0o100644 << 16
_UNIX: Final = 3


def addon_path() -> Path:
    """The folder with `manifest.json`, for "Load Temporary Add-on" and for web-ext.

    Raises:
        UsageError: the package is not installed as files (it was imported from a zip); unpack it first, or use `pack_addon`.
    """
    folder = files(__package__) / "addon"
    if not isinstance(folder, Path):
        raise UsageError(f"the add-on lies in {folder}, which is no folder; install foxloop_trio unzipped, or use pack_addon()")
    return folder


def pack_addon(config: Mapping[str, Any] | None = None) -> bytes:
    """The add-on as the bytes of an .xpi: equal bytes for equal files and an equal `config`, on every machine.

    `config` goes in as ``config.json``: ``{"url": "ws://127.0.0.1:PORT/foxloop", "token": "…"}``, with which the add-on finds its
    runtime. The bytes then hold the token: keep them from others. Without it the add-on waits to be paired.

    Raises:
        UsageError: `config` has other keys, or values that are not texts. The message never shows a value.
    """
    packed = io.BytesIO()
    # Stored, not compressed: compressed bytes differ from one zlib to the next, and 100 KB need no saving.
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(_contents(config)):
            entry = zipfile.ZipInfo(name, date_time=_EPOCH)
            entry.external_attr = _PLAIN_FILE
            entry.create_system = _UNIX
            archive.writestr(entry, data)
    return packed.getvalue()


def _contents(config: Mapping[str, Any] | None) -> Iterator[tuple[str, bytes]]:
    root = addon_path()
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if path.is_file() and path.suffix in _SHIPPED and name.as_posix() != CONFIG:
            yield name.as_posix(), path.read_bytes()
    if config is not None:
        yield CONFIG, _config_bytes(config)


def _config_bytes(config: Mapping[str, Any]) -> bytes:
    if set(config) != {"url", "token"}:
        raise UsageError(f"the add-on's config has the keys url and token, not {', '.join(sorted(map(str, config))) or 'none'}")
    for key, value in config.items():
        if not isinstance(value, str) or not value:
            raise UsageError(f"the add-on's config has a text for {key}, not {type(value).__name__}")
    return json.dumps(dict(config), sort_keys=True).encode()
