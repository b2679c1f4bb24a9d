"""Does a label name a value? Word by word, with a few words in between and a letter or two wrong. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from ._folding import plain
from ._numbers import FEW_EDITS_UP_TO, FUZZY_FROM, SKIPPED_WORDS

__all__ = ["edits", "match_words", "names", "nearly_names"]

_RUN = re.compile(r"[\w@.+-]+")


@lru_cache(maxsize=4096)
def match_words(text: str) -> tuple[str, ...]:
    """Runs of letters, digits and ``_ @ . + -``, without case, accents, and the signs ``. + -`` around them."""
    return tuple(word for run in _RUN.findall(plain(text)) if (word := run.strip(".+-")))


def names(value: str, label: str) -> bool:
    """The value's words stand in the label one after the other. An empty value names nothing."""
    wanted, words = match_words(value), match_words(label)
    return bool(wanted) and any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1))


def nearly_names(value: str, label: str) -> bool:
    """`names`, or the words stand there in order, with at most eight others between, each written nearly so."""
    if names(value, label):
        return True
    wanted, words = match_words(value), match_words(label)
    return bool(wanted) and any(_from(wanted, words, start) for start in range(len(words) - len(wanted) + 1))


def _from(wanted: tuple[str, ...], words: tuple[str, ...], start: int) -> bool:
    """The earliest words that fit, from `start` on: taking any later one can only skip more."""
    if not _fits(wanted[0], words[start]):
        return False
    at = start
    for word in wanted[1:]:
        at = next((place for place in range(at + 1, len(words)) if _fits(word, words[place])), -1)
        if at < 0:
            return False
    return at - start + 1 - len(wanted) <= SKIPPED_WORDS


@lru_cache(maxsize=8192)
def _fits(wanted: str, word: str) -> bool:
    if wanted == word:
        return True
    if len(wanted) < FUZZY_FROM or any(sign.isdigit() for sign in wanted):
        return False
    most = 1 if len(wanted) <= FEW_EDITS_UP_TO else 2
    return abs(len(wanted) - len(word)) <= most and edits(wanted, word, most) <= most


def edits(one: str, other: str, most: int | None = None) -> int:
    """Signs to insert, delete, replace, or neighbours to swap, to make one text of the other. Past `most` it may stop counting."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, sign in enumerate(one, start=1):
        earlier, before, row = before, row, [at]
        for place, there in enumerate(other, start=1):
            cost = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (sign != there))
            if at > 1 and place > 1 and sign == other[place - 2] and one[at - 2] == there:
                cost = min(cost, earlier[place - 2] + 1)
            row.append(cost)
        if most is not None and min(row) > most and (not before or min(before) > most):
            return most + 1
    return row[-1]
