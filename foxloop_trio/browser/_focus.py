"""What has to do with a text: words by which a control or a line is near to a goal. Pure.

Words are compared as the rule chooser compares them: without case, accents and plural, common names of one thing made alike, and
words that say nothing left out.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ._snapshot import Control

__all__ = ["nearness", "words_of", "words_of_control"]

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_POSTCODE: Final = re.compile(r"\b(?:zip|postal|post)[^a-z0-9]*code\b")
_EMAIL: Final = re.compile(r"\be[- ]mail\b")
_RUN: Final = re.compile(r"[^\W_]+")

_ONE_THING: Final = {
    "agree": "accept",
    **dict.fromkeys(("cell", "mobile", "tel", "telephone"), "phone"),
    **dict.fromkeys(("departing", "departure", "leave", "leaving", "outbound"), "depart"),
    "destination": "to",
    **dict.fromkeys(("inbound", "returning"), "return"),
    "mail": "email",
    "origin": "from",
    **dict.fromkeys(("postal", "zip"), "postcode"),
    "qty": "quantity",
}
_SAY_NOTHING: Final = frozenset(
    (
        *(
            "a",
            "an",
            "and",
            "as",
            "box",
            "choose",
            "enter",
            "field",
            "find",
            "for",
            "here",
            "i",
            "in",
            "into",
            "is",
            "me",
            "my",
            "of",
        ),
        *("or", "our", "pick", "please", "select", "set", "that", "the", "this", "type", "use", "with", "your"),
    )
)


def words_of(text: str) -> frozenset[str]:
    """The words of `text`, each as its group's one name."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    plain = _CAMEL.sub(" ", plain).lower()
    plain = _EMAIL.sub("email", _POSTCODE.sub("postcode", plain))
    return frozenset(filter(None, (_word(run) for run in _RUN.findall(plain))))


def _word(run: str) -> str | None:
    word = _ONE_THING.get(run, run)
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
        word = _ONE_THING.get(word, word)
    return None if word in _SAY_NOTHING else word


def words_of_control(control: Control) -> frozenset[str]:
    """Of all that names it: label, attributes, section, row."""
    named = (control.label, control.name, control.placeholder, control.section, control.row_text or "", control.description)
    return words_of(" ".join(named).replace("_", " ").replace("-", " ") + " " + control.label)


def nearness(words: frozenset[str], focus: frozenset[str]) -> int:
    """How many words they share."""
    return len(words & focus)
