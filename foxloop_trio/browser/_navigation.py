"""Where a page may lead by itself: the words of `BrowserSession.lease`, and what was stopped. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

from ..errors import BadOptionsError, FoxloopError
from ..gate import normalise_host
from ..wire import LIMITS

__all__ = ["MAX_STOPPED", "Navigation", "check_navigation"]

Navigation = Literal["notice", "block"]
"""What is done about a page that leads to another host: it is told, or it is stopped before it loads."""

MAX_STOPPED: Final = 50
"""Addresses that are remembered of a tab; a page can try for ever."""


def check_navigation(navigation: str, hosts: Sequence[str]) -> list[str]:
    """The hosts as they are compared. Raises BadOptionsError for another word, for what is no host, and for too many."""
    words = get_args(Navigation)
    if navigation not in words:
        raise BadOptionsError(f"lease: navigation is one of {', '.join(words)}, not {str(navigation)[:100]!r}")
    if isinstance(hosts, str) or len(hosts) > LIMITS["hosts"]:
        raise BadOptionsError(f"lease: hosts is a list of at most {LIMITS['hosts']} host names")
    if hosts and navigation == "notice":
        raise BadOptionsError('lease: hosts says where a page may lead with navigation="block"; without it, leave hosts out')
    try:
        return [normalise_host(host) for host in hosts]
    except FoxloopError as error:
        raise BadOptionsError(f"lease: {error}") from error
