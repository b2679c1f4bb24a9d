"""The pin of the page itself, for what is done without a control: scrolling. It is bound to one document and one look at it."""

from __future__ import annotations

from typing import Any, Final

from .._snapshot import Snapshot
from ._pin import MAX_PINNED_ADDRESS

__all__ = ["PAGE_ID", "page_pin"]

PAGE_NODE: Final = 0
"""The wire's number of the page itself; no element has it."""
PAGE_ID: Final = f"0:{PAGE_NODE}"


def page_pin(tab: int, snapshot: Snapshot) -> dict[str, Any]:
    """The top frame's document, in the words of a control's pin."""
    return {
        "tab": tab,
        "generation": snapshot.generation,
        "control": PAGE_ID,
        "document": snapshot.top.document,
        "frame": snapshot.top.frame,
        "node": PAGE_NODE,
        "guard": "",
        "key": snapshot.top.key,
        "role": "page",
        "label": snapshot.title,
        "section": "",
        "submit": False,
        "secret": False,
        "url": snapshot.url[:MAX_PINNED_ADDRESS],
        "destination": None,
    }
