"""Pages that Firefox keeps every extension out of: which kind one is, by its address, and what can be done instead. Pure.

Trying again never helps there, and the words say so, since a planner that is only told of a failure tries again.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

__all__ = ["PDF", "restriction_of", "restriction_words"]

PDF: Final = "pdf"

_BY_SCHEME: Final = {
    "about": "about",
    "chrome": "about",
    "data": "local",
    "file": "local",
    "blob": "local",
    "moz-extension": "extension",
    "resource": "about",
    "view-source": "source",
    "javascript": "local",
}

_WORDS: Final = {
    "about": "it is one of Firefox's own pages, which no extension may read; open a web page instead",
    "blank": "it is an empty tab; open a web page first",
    "error": "the address could not be loaded and Firefox shows its own error page; check the address, or open another one",
    "extension": "it is a page of an extension, which no other extension may read; open a web page instead",
    "guarded": "it is on a site that Firefox protects from extensions, such as addons.mozilla.org; a person has to do it by hand",
    "local": "it is a local or generated document, which the add-on does not read; open an http or https page instead",
    PDF: "it is a PDF in Firefox's own viewer, which no extension may read; look for the same text as a web page, or ask the user",
    "reader": "it is Firefox's reader view, which no extension may read; open the article's own address instead",
    "source": "it is the source of a page, which no extension may read; open the page itself instead",
}


def restriction_of(url: str) -> str:
    """The kind of page: a key of the words, such as ``about``, ``reader``, ``pdf`` or ``guarded``.

    An http or https address that Firefox keeps extensions out of shows a PDF when it says so, and is on a protected site otherwise.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "about"
    match parts.scheme:
        case "about" if parts.path == "blank":
            return "blank"
        case "about" if parts.path == "reader":
            return "reader"
        case "about" if parts.path in ("neterror", "certerror", "blocked", "tabcrashed", "httpsonlyerror"):
            return "error"
        case "http" | "https":
            return PDF if parts.path.lower().endswith(".pdf") else "guarded"
        case scheme:
            return _BY_SCHEME.get(scheme, "about")


def restriction_words(url: str) -> str:
    """Why the page at `url` cannot be read, and what to do: our words only."""
    return _WORDS[restriction_of(url)]
