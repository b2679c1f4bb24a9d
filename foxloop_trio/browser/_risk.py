"""Which labels do harm, and whether the goal asks for it (page reference, 13.1 and 13.2). Pure.

A control with such a label is touched only when the goal has a verb of the same class, outside of quotes and addresses, with no
negation before it in its clause.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal

__all__ = ["RISK_CLASSES", "RiskClass", "allowed_by", "risk_of"]

RiskClass = Literal["spend money", "delete data", "end an account", "end the session"]

_ONE: Final = r"(?:\s+[\w'-]+)?\s+"
_SESSION: Final = r"(?:sign|log)[\s-]*(?:out|off)"

_LABELS: Final[Mapping[RiskClass, re.Pattern[str]]] = {
    "spend money": re.compile(
        r"\b(?:buy\w*|check[\s-]*out\w*|"
        rf"complete{_ONE}(?:order|payment|purchase)\b|confirm{_ONE}(?:booking|order|payment|purchase)\b|"
        rf"order\s+now\b|pay\w*|place{_ONE}order\b|purchas\w*|subscribe\s+and\s+pay\b)"
    ),
    "delete data": re.compile(r"\b(?:delet|destroy|discard|eras|remov|wipe)\w*"),
    "end an account": re.compile(
        rf"\b(?:cancel{_ONE}(?:account|subscription|membership|plan|order)\b|close{_ONE}account\b|unsubscrib\w*|deactivat\w*)"
    ),
    "end the session": re.compile(rf"\b{_SESSION}\b"),
}
RISK_CLASSES: Final[tuple[RiskClass, ...]] = tuple(_LABELS)

_VERBS: Final[Mapping[RiskClass, re.Pattern[str]]] = {
    "spend money": re.compile(r"\b(?:buy|check\s+out|order|pay|purchase)\b"),
    "delete data": re.compile(r"\b(?:delete|destroy|discard|erase|remove|wipe)\b"),
    "end an account": re.compile(r"\b(?:cancel|close|unsubscribe|deactivate)\b"),
    "end the session": re.compile(rf"\b{_SESSION}\b"),
}
_NEGATION = re.compile(r"\b(?:avoid|don'?t|never|no|not|without|won'?t)\b")
_NO_WORDS = re.compile(
    r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+"  # e-mail addresses
    r"|\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+"  # web addresses
    r'|"[^"]*"|\u201c[^\u201c\u201d]*\u201d|(?<!\w)\u2018[^\u2018\u2019]*\u2019(?!\w)|(?<!\w)\'[^\']*\'(?!\w)'
)
_CLAUSE_END = re.compile(r"[,;.!?\n]|\b(?:then|but)\b")


@lru_cache(maxsize=2048)
def risk_of(label: str) -> RiskClass | None:
    """The class of harm that the label speaks of; None for a safe one."""
    text = _seen(label)
    return next((risk for risk, pattern in _LABELS.items() if pattern.search(text)), None)


@lru_cache(maxsize=256)
def allowed_by(goal: str, risk: RiskClass) -> bool:
    """Whether the goal asks for what has this risk."""
    text = _NO_WORDS.sub(" ", goal.replace("\u2019", "'").lower())
    for clause in _CLAUSE_END.split(text):
        for verb in _VERBS[risk].finditer(clause):
            if not _NEGATION.search(clause[: verb.start()]):
                return True
    return False


def _seen(label: str) -> str:
    """As a person reads it: without signs that cannot be seen, wide and narrow letters alike."""
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", label) if unicodedata.category(sign) != "Cf")
    return " ".join(seen.replace("\u2019", "'").lower().split())
