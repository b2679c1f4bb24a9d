"""Text of a page as one quoted line, and what it hides: invisible characters, words of mixed scripts, odd hosts. Pure.

Nothing that comes out of here can end a line, open a marker or reorder what stands beside it. What was taken out is counted, and
what looks like something else is named, so that a trick is visible as one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

import idna

__all__ = ["MAX_ADDRESS", "hidden_in", "host_of_link", "quote", "quote_address", "quote_strictly", "remarks", "visible"]

MAX_ADDRESS: Final = 300
MAX_NAMED_WORDS: Final = 3
"""Words of mixed script that are spelled out; one is enough to make anybody look twice."""

# Soft hyphen, zero-width characters, directional controls, word joiner, invisible operators, byte order mark, Mongolian separators,
# grapheme joiner, Hangul fillers, variation selectors, interlinear marks, invisible marks of music, tag characters.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ORDINARY: Final = frozenset("\u00ad\ufe0e\ufe0f")
"""Invisible, and common in honest text: soft hyphens, and the two that choose between a letter's and a picture's look."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Honest beside letters of some scripts and in composed pictures, never between two ASCII letters."""
_SPACES: Final = re.compile(r"\s+")  # of str, so NEL and the line and paragraph separators are among them
_MARKER: Final = re.compile(r"<(?=\s*/?\s*untrusted-data)", re.IGNORECASE)
_ENDS: Final = re.compile(r"\A[\x00-\x20]+|[\x00-\x20]+\Z")
_BREAKS: Final = re.compile(r"[\t\n\r]")
_ADDRESS: Final = re.compile(r"(?:(?P<scheme>[a-z][a-z0-9+.-]*):)?(?P<slashes>[/\\]*)(?P<rest>.*)\Z", re.IGNORECASE | re.DOTALL)
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\ud800-\udfff]")
_QUOTES: Final = re.compile(
    "[\u02ba\u02dd\u02ee\u02f6\u05f2\u05f4\u1cd3\u201c-\u201f\u2033\u2036\u275d\u275e\u3003\u301d-\u301f\uff02]"
)
"""Signs that look like the straight double quote, or end what it began in some script."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_FOREIGN: Final = frozenset(
    ("ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "FULLWIDTH", "GEORGIAN", "GREEK", "LISU", "MATHEMATICAL", "MODIFIER")
)
"""First words of the names of letters that can be taken for Latin ones."""


def visible(text: str) -> str:
    """The text without its invisible characters."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def quote(text: str) -> str:
    """The text as one line in JSON string syntax: spaces run together, invisible characters removed, no `untrusted-data` marker."""
    text = _MARKER.sub("&lt;", _SPACES.sub(" ", visible(text)))
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def quote_strictly(text: str) -> str:
    """As `quote`, for a human who decides by it: no sign in it can be taken for the quote that ends it."""
    return _QUOTES.sub(lambda found: f"\\u{ord(found[0]):04x}", quote(text))


def hidden_in(text: str) -> int:
    """How many invisible characters there are, of those that honest text does not have at their place."""
    if text.isascii():
        return 0
    return sum(1 for found in _INVISIBLE.finditer(text) if not _is_honest(text, found.start()))


def remarks(text: str) -> Iterator[str]:
    """What a reader of the quoted text cannot see in it, in our words and ASCII letters. Nothing for plain text."""
    if text.isascii():
        return
    count = hidden_in(text)
    if count:
        yield f"{count} invisible character{'' if count == 1 else 's'} removed"
    mixed = list(dict.fromkeys(_spelled(word) for word in _WORD.findall(visible(text)) if _is_mixed(word)))
    if mixed:
        more = f", +{len(mixed) - MAX_NAMED_WORDS}" if len(mixed) > MAX_NAMED_WORDS else ""
        yield f"letters of several scripts in one word: {', '.join(mixed[:MAX_NAMED_WORDS])}{more}"


def quote_address(url: str) -> str:
    """An address of at most `MAX_ADDRESS` characters, quoted; how much was cut, and what is odd about its host, stand behind it."""
    parts = _split(url)
    ascii_host = _ascii(parts.hostname or "") if parts is not None else ""
    if parts is not None and parts.hostname and ascii_host != parts.hostname:
        url = url.replace(parts.netloc, parts.netloc.lower().replace(parts.hostname, ascii_host), 1)
    words = list(_odd_host(parts, ascii_host)) if parts is not None else []
    if len(url) > MAX_ADDRESS:
        words.insert(0, f"+{len(url) - MAX_ADDRESS} characters")
    count = hidden_in(url)
    if count:
        words.append(f"{count} invisible character{'' if count == 1 else 's'} removed")
    return " ".join([quote(url[:MAX_ADDRESS]), *(f"({word})" for word in words)])


def host_of_link(href: str, base: str) -> str | None:
    """The host to which a link leads from the page at `base`, in ASCII; None when it leads to none."""
    try:
        parts = _split(urljoin(base, _as_browsers_read(href, base)))
    except ValueError:
        return None
    return _ascii(parts.hostname) if parts is not None and parts.hostname and parts.scheme in ("http", "https") else None


def _as_browsers_read(href: str, base: str) -> str:
    """The address in the form in which Python takes it for what browsers do: a backslash is a slash, and more slashes are two."""
    href = _ENDS.sub("", href)
    href = _BREAKS.sub("", href)
    found = _ADDRESS.match(href)
    if found is None or (found["scheme"] or urlsplit(base).scheme).lower() not in ("http", "https"):
        return href
    scheme, slashes, rest = found["scheme"], found["slashes"].replace("\\", "/"), found["rest"]
    if (scheme is not None and scheme.lower() != urlsplit(base).scheme) or len(slashes) > 1:
        slashes = "//"
    elif scheme is not None:
        scheme = None  # of the same scheme, and without its two slashes, it is a path
    end = min((at for mark in "?#" if (at := rest.find(mark)) >= 0), default=len(rest))
    path = rest[:end].replace("\\", "/")
    return f"{'' if scheme is None else scheme + ':'}{slashes}{path}{rest[end:]}"


def _is_honest(text: str, at: int) -> bool:
    if text[at] in _ORDINARY:
        return True
    return text[at] in _JOINERS and not (text[at - 1 : at].isascii() and text[at + 1 : at + 2].isascii())


def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "?").split(" ", 1)[0]


def _is_mixed(word: str) -> bool:
    if word.isascii():
        return False
    scripts = {_script(letter) for letter in word}
    return len(scripts) > 1 and not scripts.isdisjoint(_FOREIGN)


def _spelled(word: str) -> str:
    """The word in ASCII, each other letter as an escape."""
    return word[:40].encode("ascii", "backslashreplace").decode()


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _ascii(host: str) -> str:
    """The host as the network knows it."""
    if host.isascii():
        return host
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return host.encode("ascii", "backslashreplace").decode()


def _odd_host(parts: SplitResult, host: str) -> Iterator[str]:
    if parts.username is not None and parts.scheme in ("http", "https"):
        yield f"the host is {quote(host)}; what stands before the @ is a user name"
    if "xn--" not in host:
        return
    try:
        shown = idna.decode(host)
    except idna.IDNAError:
        yield f"{quote(host)} is no valid international name"
        return
    scripts = sorted({_script(letter).capitalize() for letter in shown if letter.isalpha()})
    yield f"{quote(host)} may be displayed as {quote(shown)}, with {' and '.join(scripts)} letters"
