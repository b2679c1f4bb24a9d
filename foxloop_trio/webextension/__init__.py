"""The add-on that Firefox loads: where its files are, and the same files as one package.

The add-on itself is plain JavaScript in ``addon/``, without a build step: what lies there is what Firefox runs and what a reviewer
reads. It holds no policy. It proves who it talks to, does what the runtime asks after checking it against the page, and reports.
"""

from __future__ import annotations

from ._pack import ADDON_ID, addon_path, pack_addon

__all__ = ["ADDON_ID", "addon_path", "pack_addon"]
