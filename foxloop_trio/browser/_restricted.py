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

PROTECTED: Final = frozenset(
    (
        *("accounts.firefox.com", "accounts-static.cdn.mozilla.net", "addons.cdn.mozilla.net", "addons.mozilla.org"),
        *("api.accounts.firefox.com", "content.cdn.mozilla.net", "discovery.addons.mozilla.org", "oauth.accounts.firefox.com"),
        *("profile.accounts.firefox.com", "support.mozilla.org", "sync.services.mozilla.com"),
    )
)
"""Firefox's own list, as its preference ``extensions.webextensions.restrictedDomains`` has it by default."""

_WORDS: Final = {
    "about": "it is one of Firefox's own pages, which no extension may read; open a web page instead",
    "blank": "it is an empty tab; open a web page first",
    "error": "the address could not be loaded and Firefox shows its own error page; check the address, or open another one",
    "extension": "it is a page of an extension, which no other extension may read; open a web page instead",
    "guarded": "Firefox protects its site from all extensions; a person has to do by hand what is to be done there",
    "instead": (
        "Firefox shows something of its own at this address: an error page because it could not be loaded, a PDF, or a site that "
        "it protects; check the address, or open another one"
    ),
    "local": "it is a local or generated document, which the add-on does not read; open an http or https page instead",
    PDF: "it is a PDF in Firefox's own viewer, which no extension may read; look for the same text as a web page, or ask the user",
    "reader": "it is Firefox's reader view, which no extension may read; open the article's own address instead",
    "source": "it is the source of a page, which no extension may read; open the page itself instead",
}


def restriction_of(url: str) -> str:
    """The kind of page: a key of the words, such as ``about``, ``reader``, ``pdf`` or ``guarded``.

    At an http or https address the reason is not told: the address itself says what it most likely is.
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
            if parts.hostname in PROTECTED:
                return "guarded"
            return PDF if parts.path.lower().endswith(".pdf") else "instead"
        case scheme:
            return _BY_SCHEME.get(scheme, "about")


def restriction_words(url: str) -> str:
    """Why the page at `url` cannot be read, and what to do: our words only."""
    return _WORDS[restriction_of(url)]
