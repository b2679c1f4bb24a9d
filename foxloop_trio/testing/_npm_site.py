"""Pages that use real libraries, served together with these libraries on a port of this machine.

Below one address there are the pages, ``/npm/NAME/…`` with each pinned package as its authors published it, and
``/npm/importmap.js``: a plain script, to be loaded before any module, after which a page may import the packages by their names.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..corpora import Site, serve_pages
from ._npm import Download, npm_packages, read_pins
from ._npm_import_map import import_map

__all__ = ["PINS", "serve_library_pages"]

PINS: Final = "npm.json"
"""The pins' file in the folder of the pages."""

_IMPORT_MAP: Final = """{
  const map = document.createElement("script");
  map.type = "importmap";
  map.textContent = JSON.stringify(%s);
  document.head.append(map);
}
"""


@contextmanager
def serve_library_pages(pages: Path, *, cache: Path | None = None, download: Download | None = None) -> Iterator[Site]:
    """Serve the folder `pages`, whose ``npm.json`` names the packages. Raises CorpusError when one of them cannot be had.

    Fetches what the cache lacks, which takes about 20 s on the first run.
    """
    packages = npm_packages(read_pins(pages / PINS), cache, download=download)
    with tempfile.TemporaryDirectory(prefix="foxloop-pages-") as name:
        root = Path(name)
        for child in pages.iterdir():
            (root / child.name).symlink_to(child.resolve())
        for package, folder in packages.items():
            link = root / "npm" / package
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(folder.resolve())
        script = _IMPORT_MAP % json.dumps(import_map(packages), indent=1)
        (root / "npm" / "importmap.js").write_text(script, encoding="utf-8")
        with serve_pages(root) as site:
            yield site
