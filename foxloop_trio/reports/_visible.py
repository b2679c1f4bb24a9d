"""Texts from outside, made safe to look at: bounded, and with every character that does not show as itself written out.

Control characters are obeyed by terminals, direction marks reorder what is read, and characters without a shape hide words. Each is
written as its number, such as ``[U+202E]``.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Letters, marks and symbols that show nothing, beyond the categories below: fillers and joiners that Unicode's
# DerivedCoreProperties.txt lists as Default_Ignorable_Code_Point, the Braille pattern without dots and the null notehead.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_KEPT: Final = frozenset("\n\t")
_SUSPECT: Final = re.compile(r"[^\x20-\x7e\n\t]")


def hidden(char: str) -> bool:
    """Whether a character does not show as itself. Line feed and tab do."""
    return char not in _KEPT and (char in _BLANK or unicodedata.category(char) in _HIDDEN)


def pieces(text: str) -> list[tuple[str, bool]]:
    """The text in runs of plain characters, and the codes of hidden ones (True), such as ``U+202E``."""
    found: list[tuple[str, bool]] = []
    start = 0
    for match in _SUSPECT.finditer(text):
        char = match[0]
        if hidden(char):
            if match.start() > start:
                found.append((text[start : match.start()], False))
            found.append((f"U+{ord(char):04X}", True))
            start = match.end()
    if start < len(text):
        found.append((text[start:], False))
    return found


def visible(text: str) -> str:
    """The text with hidden characters as ``[U+…]``."""
    return "".join(f"[{piece}]" if code else piece for piece, code in pieces(text))


def one_line(text: str) -> str:
    """The text with line feeds and tabs as spaces, for places that have one line."""
    return " ".join(text.split())


def clipped(text: str, limit: int) -> tuple[str, int]:
    """At most `limit` characters of the text, and how many were left out."""
    return (text, 0) if len(text) <= limit else (text[:limit], len(text) - limit)
