"""Addresses that may be opened: http and https only, and only those that every URL parser reads alike.

What a browser would repair (a missing slash, a backslash, a space, a user name in front of the host) is refused with the way out,
since the host that is judged must be the host that is opened. The address is rebuilt from its parts, its host as the gate has it.
"""

from __future__ import annotations

import re
from typing import Final

import attrs

from ...errors import GateError, Refuse
from ...gate import normalise_host

__all__ = ["Address", "host_of", "parse_address", "plain_host"]

MAX_PORT: Final = 65_535

_SHAPE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>/*)(?P<authority>[^/?#]*)(?P<rest>.*)\Z", re.DOTALL)
_NEVER = re.compile(r"[\x00-\x20\x7f-\x9f\\\ud800-\udfff]|\s")
_PORT = re.compile(r"[0-9]{1,5}\Z", re.ASCII)


@attrs.frozen(kw_only=True)
class Address:
    """`url` is the address to open, `host` the one that is judged: lower case, punycode, without port."""

    url: str
    host: str


def parse_address(text: str) -> Address:
    """The address in `text`. Raises Refuse, in words for the planner, for anything but a plain http or https address."""
    if _NEVER.search(text):
        raise Refuse(
            "The address has a space, a control character or a backslash in it. Write it as one plain http or https address."
        )
    parts = _SHAPE.match(text)
    if parts is None or parts["scheme"].lower() not in ("http", "https"):
        raise Refuse("Only http and https addresses can be opened. Give a whole address, such as https://example.org/page.")
    if parts["slashes"] != "//":
        raise Refuse("After http: or https: exactly two slashes and then the host must follow, as in https://example.org/page.")
    authority = parts["authority"]
    if "@" in authority:
        raise Refuse("Addresses with a user name in front of the host are not opened. Give the address without it.")
    host, colon, port = authority.partition(":")
    if colon and (not _PORT.match(port) or int(port) > MAX_PORT):
        raise Refuse("The port of the address is not a number from 0 to 65535. Give a plain address.")
    try:
        host = normalise_host(host)
    except GateError:
        raise Refuse("The address has no plain host name. Give a whole address, such as https://example.org/page.") from None
    return Address(url=f"{parts['scheme'].lower()}://{host}{colon}{port}{parts['rest']}", host=host)


def host_of(url: str) -> str | None:
    """The host of an address that Firefox reported, as the gate knows it; None when it is no http or https page.

    Firefox has parsed it already, so this need not be strict; a query may hold anything.
    """
    parts = _SHAPE.match(url)
    if parts is None or parts["scheme"].lower() not in ("http", "https") or parts["slashes"] != "//":
        return None
    return plain_host(parts["authority"].rpartition("@")[2].partition(":")[0])


def plain_host(host: str | None) -> str | None:
    """The host as the gate knows it, or None when the gate would not take it."""
    try:
        return normalise_host(host)
    except GateError:
        return None
