"""The words that a goal and a control are compared by: without accents, plurals, synonyms and filling words. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["words"]

_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_POSTCODE = re.compile(r"\b(?:zip|postal|post)[\W_]*code\b")
_EMAIL = re.compile(r"\be[\s-]+mail")
_RUN = re.compile(r"[^\W_]+")

_SYNONYMS: Final = {
    synonym: word
    for word, synonyms in {
        "accept": "agree",
        "phone": "cell mobile tel telephone",
        "depart": "departing departure leave leaving outbound",
        "to": "destination",
        "return": "inbound returning",
        "email": "mail",
        "from": "origin",
        "postcode": "postal zip",
        "quantity": "qty",
    }.items()
    for synonym in synonyms.split()
}
_STOP: Final = frozenset(
    """a an and as box choose enter field find for here i in into is me my of or our pick please select set that the this type use
    with your""".split()  # noqa: SIM905
)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Each word once, in the order of the text."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    bare = _EMAIL.sub("email", _POSTCODE.sub("postcode", _CAMEL.sub(" ", bare).lower()))
    found: dict[str, None] = {}
    for run in _RUN.findall(bare):
        word = _singular(_SYNONYMS.get(run, run))
        word = _SYNONYMS.get(word, word)
        if word not in _STOP:
            found[word] = None
    return tuple(found)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
