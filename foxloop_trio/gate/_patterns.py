"""Patterns of hosts, as grants name them, and sites, as user rules name them. Matching is by whole labels and nothing else.

A pattern is an exact host, or ``*.`` and a host, which stands for all names below that host and not for the host itself. A store
finds the grants for a host by equality alone: `names_of` lists every pattern that can match a host.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ..errors import GateError
from ._hosts import is_address, normalise_host
from ._shown import shown
from ._suffixes import registrable_domain

STAR: Final = "*."


def read_pattern(pattern: object) -> str:
    """`pattern` in normal form. Raises GateError, code ``bad-domain``, for anything that is no pattern, for ``*.`` before a public
    suffix or an IP address, and for every ``*.`` when there is no suffix list.
    """
    if type(pattern) is not str or not pattern.startswith(STAR):
        if type(pattern) is str and "*" in pattern:
            raise _bad(pattern, "a star stands for whole labels at the beginning only, as in '*.example.com'")
        return normalise_host(pattern)
    try:
        host = normalise_host(pattern.removeprefix(STAR))
    except GateError:
        raise _bad(pattern, "after '*.' a bare host name must follow") from None
    if is_address(host):
        raise _bad(pattern, "an IP address has nothing below it; name it exactly")
    if registrable_domain(host) is None:
        raise _bad(pattern, "anybody can register a name below it; name the domain that you mean")
    return STAR + host


@lru_cache(maxsize=512)
def names_of(host: str) -> tuple[str, ...]:
    """Every pattern that matches `host`, which is in normal form: the host, then ``*.`` before each name above it."""
    if is_address(host):
        return (host,)
    labels = host.split(".")
    return (host, *(STAR + ".".join(labels[at:]) for at in range(1, len(labels))))


def matches(pattern: str, host: str) -> bool:
    """Whether `pattern` stands for `host`; both in normal form."""
    return host.endswith(pattern[1:]) and not is_address(host) if pattern.startswith(STAR) else host == pattern


def read_site(site: object) -> str:
    """`site` in normal form.

    Raises GateError, code ``bad-domain``, for anything but a whole registrable domain; a name below one is refused and not widened.
    """
    host = normalise_host(site)
    if is_address(host):
        raise GateError(f"{shown(site)} is not acceptable as a site: an IP address has no owner's domain", code="bad-domain")
    domain = registrable_domain(host)
    if domain != host:
        way_out = "it is a public suffix" if domain is None else f"the site is {domain!r}"
        raise GateError(f"{shown(site)} is not acceptable as a site: {way_out}", code="bad-domain")
    return host


def on_site(host: str, site: str) -> bool:
    """Whether `host` is the site or a name below it; both in normal form."""
    return host == site or host.endswith("." + site)


def _bad(pattern: str, why: str) -> GateError:
    return GateError(f"{shown(pattern)} is not acceptable as a pattern of hosts: {why}", code="bad-domain")
