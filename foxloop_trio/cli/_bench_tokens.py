"""An estimate of how many tokens a text costs a model, the same for every text and without any model's own word list.

A text is cut as current tokenisers cut it first: words with the sign before them, digits in groups of three, runs of other signs,
ends of lines with the spaces after them. Then each long piece is counted in parts. On the forms and trees of `bench snapshot` the
sums are within five in a hundred of those of cl100k_base. It serves for ratios between two texts of one page.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["tokens"]

WORD: Final = 8
"""Letters that one token of a word holds at most, about."""
SIGNS: Final = 2
"""Signs in a row that one token holds, about."""

_PIECE: Final = re.compile(r"(?P<word>[^\r\n\w]?[^\W\d_]+)|\d{1,3}|(?P<signs> ?(?:[^\s\w]|_)+[\r\n]*)|\s*[\r\n]+|\s+(?!\S)|\s+")


def tokens(text: str) -> int:
    """The estimated number of tokens of `text`."""
    return sum(_of(found) for found in _PIECE.finditer(text))


def _of(found: re.Match[str]) -> int:
    piece = found[0].strip()
    match found.lastgroup:
        case "word":
            sign = not piece[0].isalpha()
            return sign + -(-(len(piece) - sign) // WORD)
        case "signs":
            return -(-len(piece) // SIGNS)
        case _:
            return 1
