"""Text without accents and case, in the two ways that are needed: one sign for one sign, and in full."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["composed", "folded", "plain"]


def composed(text: str) -> str:
    """Letters with their marks as one sign each, so that `folded` is of the same length."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Lower case without accents, each sign in its old place: for text from `composed`."""
    return text.lower() if text.isascii() else "".join(_folded_sign(sign) for sign in text)


@lru_cache(maxsize=1024)
def _folded_sign(sign: str) -> str:
    base = unicodedata.normalize("NFKD", sign)[0]
    lower = base.lower()
    return lower if len(lower) == 1 else base


def plain(text: str) -> str:
    """NFKD without marks, lower case. The length may differ."""
    if text.isascii():
        return text.lower()
    return "".join(sign for sign in unicodedata.normalize("NFKD", text).lower() if not unicodedata.combining(sign))
