"""Host names: the one spelling of a host that a browser reports, or a refusal.

Two spellings of one host must meet here, and two hosts must never: what this module lets through is what a browser's URL parser
(WHATWG URL, "host parsing", with UTS #46 non-transitional processing and the loose ASCII rules) makes of the same text, minus what
nobody can own: numeric names other than the plain dotted IPv4 form, IPv6 literals, and names that DNS cannot carry.

`idna` is used for its tables and its label rules. Its `encode` is not: it refuses names that browsers open (symbols, underscores).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, Final

from ..errors import GateError
from ._shown import shown

MAX_SPELLING: Final = 1024
"""Longest text that is looked at, in characters; four times what a host can have, since ignored characters may be among it."""

MAX_HOST: Final = 253
"""Longest host in characters (RFC 1035 section 2.3.4: 255 octets on the wire, two of which the text form lacks)."""

MAX_LABEL: Final = 63
"""Longest label in characters (RFC 1035 section 2.3.4)."""

_NEVER = re.compile(r"[\x00-\x20\x7f#%*/:<>?@\[\\\]^|]|\s")
"""WHATWG's forbidden domain code points, all white space, and `*`, which is for patterns."""

_TWO_READINGS: Final = "\u1e9e"
"""What browsers of different age read differently: the capital sharp s was `ss` before Unicode 15.1, and is its small form now."""

_NUMERIC = re.compile(r"[0-9]+\Z|0x[0-9a-f]*\Z")
"""A last label that makes a browser read the whole host as an IPv4 address (WHATWG, "ends in a number checker")."""

_OCTET: Final = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}\Z")

_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
"""Bidirectional classes that put a whole name under the Bidi rule (RFC 5893 section 1.4)."""


def normalise_host(host: object) -> str:
    """`host` as a browser reports it: lower case, punycode, without the one trailing dot it may have.

    Raises GateError, code ``bad-domain``, for anything but a bare host name; the message shows the value.
    """
    if type(host) is not str or not host:
        raise _bad(host, "a host name is needed")
    if len(host) > MAX_SPELLING:
        raise _bad(host, f"longer than {MAX_SPELLING} characters")
    return _normalise(host)


# An agent works on a handful of hosts and names each of them at every step.
@lru_cache(maxsize=512)
def _normalise(host: str) -> str:
    if _NEVER.search(host):
        raise _bad(host, "give the host alone: no scheme, port, path, user, space, percent sign or star")
    plain = host.lower() if host.isascii() else _mapped(host)
    labels = plain.removesuffix(".").split(".")
    if "" in labels:
        raise _bad(host, "a label is empty")
    if not plain.isascii() or any(label.startswith("xn--") for label in labels):
        labels = _to_ascii(host, labels)
    plain = ".".join(labels)
    if len(plain) > MAX_HOST or any(len(label) > MAX_LABEL for label in labels):
        raise _bad(host, f"more than {MAX_HOST} characters, or a label of more than {MAX_LABEL}")
    if _NUMERIC.match(labels[-1]) and not _IPV4.match(plain):
        raise _bad(host, "its last label is a number, so only the plain form of an IPv4 address such as 127.0.0.1 will do")
    return plain


def is_address(host: str) -> bool:
    """Whether `host`, in normal form, is an IPv4 address; there are no others in normal form."""
    return host[-1].isdigit() and _IPV4.match(host) is not None


def _mapped(host: str) -> str:
    """The UTS #46 mapping: other dots become dots, letters lower case, ignored characters vanish."""
    import idna  # its tables are large and most hosts need none of them

    if _TWO_READINGS in host:
        raise _bad(host, "it has a letter that not all browsers read alike; write the name in lower case or in punycode")
    try:
        plain = idna.uts46_remap(host, std3_rules=False)
    except ValueError:
        raise _bad(host, "it has characters that no host name has") from None
    # A fullwidth slash, percent sign or space turns into the real one only here.
    if _NEVER.search(plain):
        raise _bad(host, "it has characters that turn into a separator, a space or a percent sign")
    return plain


def _to_ascii(host: str, labels: list[str]) -> list[str]:
    import idna

    try:
        unicode_labels = [_decoded(label) for label in labels]
        bidi = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for label in unicode_labels for char in label)
        ascii_labels = []
        for label, unicode_label in zip(labels, unicode_labels, strict=True):
            if bidi:
                idna.check_bidi(unicode_label, check_ltr=True)
            if unicode_label.isascii():
                ascii_labels.append(label)
            else:
                _check_label(idna, unicode_label)
                ascii_labels.append("xn--" + unicode_label.encode("punycode").decode("ascii"))
                if label.isascii() and label != ascii_labels[-1]:
                    raise ValueError("not the shortest punycode")
    except (ValueError, OverflowError, IndexError):
        raise _bad(host, "it is not a valid internationalised name") from None
    return ascii_labels


def _decoded(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    if not label.isascii():
        raise ValueError("punycode and other letters mixed")
    decoded = label[4:].encode("ascii").decode("punycode")
    if decoded.isascii():
        raise ValueError("punycode around nothing but ASCII")
    return decoded


def _check_label(idna: Any, label: str) -> None:
    """UTS #46 section 4.1, the validity criteria for a label that is not ASCII."""
    if label.startswith("xn--") or idna.uts46_remap(label, std3_rules=False) != label or _NEVER.search(label):
        raise ValueError("not in mapped form")
    idna.check_initial_combiner(label)
    for position, char in enumerate(label):
        if char in "\u200c\u200d" and not idna.valid_contextj(label, position):
            raise ValueError("a joiner out of place")


def _bad(host: object, why: str) -> GateError:
    return GateError(f"{shown(host)} is not acceptable as a host: {why}", code="bad-domain")
