"""One site per run: which addresses belong together, by the public suffix list (page reference, section 14). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ...gate._suffixes import registrable_domain

__all__ = ["host_in", "is_downgrade", "same_site", "site_of"]

_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}\Z|\[.*\]\Z")
_CHECKED: Final = 256


@lru_cache(maxsize=_CHECKED)
def host_in(url: str) -> str | None:
    """The host of an address: lower case, without a dot at the end; an IPv6 one in its brackets. None when there is none."""
    parts = _split(url)
    if parts is None or not parts.netloc:
        return None
    authority = parts.netloc.rpartition("@")[2]
    host = authority[: authority.index("]") + 1] if authority.startswith("[") and "]" in authority else authority.partition(":")[0]
    return host.lower().removesuffix(".") or None


def site_of(url: str) -> str | None:
    """What somebody registered of the host: ``shop.co.uk`` for ``www.shop.co.uk``.

    An IP address, a name of one label, and a public suffix are their own site. None without a host.
    """
    host = host_in(url)
    if host is None or _ADDRESS.match(host) or "." not in host:
        return host
    return registrable_domain(host) or host


def same_site(start: str, url: str, allowed: Iterable[str] = ()) -> bool:
    """Whether a run that began at `start` may be at `url`; `allowed` are further hosts, each with its subdomains."""
    site, host = site_of(start), host_in(url)
    if host is None:
        return site is None and _scheme(start) == _scheme(url)
    if site is not None and site_of(url) == site:
        return True
    names = (name.lower().removeprefix("*.").removeprefix(".").removesuffix(".") for name in allowed)
    return any(name and (host == name or host.endswith(f".{name}")) for name in names)


def is_downgrade(start: str, url: str) -> bool:
    """From https to http."""
    return _scheme(start) == "https" and _scheme(url) == "http"


def _scheme(url: str) -> str | None:
    parts = _split(url)
    return None if parts is None else parts.scheme


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None
