"""A `FakeBrowser` for tests of session and tab whose answers a test writes one by one.

::

    async with stand_in() as (session, addon):
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7)}
        ...
    assert addon.asked == ["tab.get"]
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

from ..browser._session import BrowserSession
from ..ports import Ids
from ._seeded import seeded_ids
from .fake_browser import Answer, FakeBrowser, Refused

__all__ = ["Answer", "Refused", "StandIn", "stand_in", "tab_state"]

StandIn = FakeBrowser

KNOWN: Final = {"session": b"\x5e", "incarnation": b"\x1c"}
"""Ids that tests can tell at sight."""


def _plain_ids() -> Ids:
    others = seeded_ids("stand-in")
    return lambda nbytes, purpose: KNOWN[purpose] * nbytes if purpose in KNOWN else others(nbytes, purpose)


def tab_state(tab: int, **more: Any) -> dict[str, Any]:
    """A tab as the wire has it: complete, on a page of shop.test."""
    plain = {"url": "http://shop.test/", "title": "Shop", "active": True, "status": "complete", "window": 1, "document": "d0" * 16}
    return {"tab": tab, **plain, **more}


@asynccontextmanager
async def stand_in() -> AsyncGenerator[tuple[BrowserSession, StandIn], None]:
    """A session, and the stand-in at its other end."""
    addon = FakeBrowser(ids=_plain_ids())
    async with addon as session:
        yield session, addon
