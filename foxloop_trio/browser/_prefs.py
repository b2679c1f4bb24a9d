"""The preferences that a Firefox of ours starts with, and the one of them that fixes the add-on's origin.

Firefox's remote agent sets about 90 more by itself (no telemetry, no updates, no safe browsing, no pop-up blocker); those are not
repeated here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

from ..errors import BadOptionsError
from ._process import PLACEHOLDER

__all__ = ["UUIDS_PREF", "Pref", "check_prefs", "known_uuids", "launch_prefs"]

Pref = bool | int | str

UUIDS_PREF: Final = "extensions.webextensions.uuids"
"""JSON text, add-on id to UUID. Given beforehand, it makes ``moz-extension://UUID`` known before the add-on is installed."""

OURS: Final[dict[str, Pref]] = {
    # Nothing opens by itself.
    "browser.startup.page": 0,
    "browser.startup.homepage": "about:blank",
    "browser.newtabpage.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "toolkit.cosmeticAnimations.enabled": False,
    # A socket that could not be opened does not delay the next try.
    "network.websocket.delay-failed-reconnects": False,
    # Timers of hidden tabs run on time: five chained 10 ms timeouts took 4019 ms by default, 41 ms with these three.
    "dom.min_background_timeout_value": 4,
    "dom.min_background_timeout_value_without_budget_throttling": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
    # Nobody is there to answer whether a page may be left. Firefox asks only after a trusted input, so acts see no difference.
    "dom.disable_beforeunload": True,
    # Media may play without a person's click.
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    # JSON stays a page that the add-on can read, a PDF becomes a download.
    "devtools.jsonview.enabled": False,
    "pdfjs.disabled": True,
    # Downloads never go to the user's own folder.
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.download.dir": f"{PLACEHOLDER}/downloads",
}

_UUIDS_LINE: Final = re.compile(r'^user_pref\("extensions\.webextensions\.uuids", ("(?:[^"\\]|\\.)*")\);', re.MULTILINE)


def check_prefs(prefs: Mapping[str, Pref] | None) -> dict[str, Pref]:
    """`prefs` as given. Raises BadOptionsError for a value that Firefox has no type for, and for the one preference that is
    ours.
    """
    for name, value in (prefs or {}).items():
        if not isinstance(name, str) or not isinstance(value, bool | int | str):
            raise BadOptionsError(f"prefs: {name!r} must be a name with a bool, int or str, not {type(value).__name__}")
        if isinstance(value, int) and not -(2**31) <= value < 2**31:
            raise BadOptionsError(f"prefs: {name!r} is {value}, but Firefox keeps 32 bits; write it as text")
        if name == UUIDS_PREF:
            raise BadOptionsError(f"prefs: {UUIDS_PREF} is set by launch_firefox, which takes the add-on's origin from it")
    return dict(prefs or {})


def launch_prefs(uuids: Mapping[str, str], prefs: Mapping[str, Pref]) -> dict[str, Pref]:
    """All that goes into ``user.js``: ours, then the caller's, then the UUIDs."""
    return {**OURS, **prefs, UUIDS_PREF: json.dumps(dict(uuids))}


def known_uuids(profile: Path) -> dict[str, str]:
    """The UUIDs that an existing profile has for its add-ons. They are kept: an add-on's own storage hangs on its UUID."""
    try:
        found = _UUIDS_LINE.search((profile / "prefs.js").read_text(encoding="utf-8", errors="replace"))
        uuids = json.loads(json.loads(found[1])) if found else {}
        return {str(addon): str(UUID(uuid)) for addon, uuid in uuids.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
