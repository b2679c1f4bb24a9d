"""Fields whose value is nobody's business: secret ones (never typed without leave), and sensitive ones (masked where shown). Pure.

Page reference, 13.3. The page says that a field is secret when its markup does; labels are judged here as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .._snapshot import MASK, Control
from ._folding import plain
from ._nouns import Goal, Requirement

__all__ = ["TYPABLE", "asks_secret", "is_secret", "is_sensitive", "is_typable", "shown_goal", "shown_text", "shown_value"]

TYPABLE: Final = frozenset({"textbox", "searchbox", "spinbutton"})

_SECRET = re.compile(
    r"\b(?:pass[\s-]?(?:word|phrase|code)|pin|cv[vc]2?|(?:card\s+)?security\s+code|card\s+verification|(?:one[\s-]?time|verification)"
    r"\s+(?:pass)?code|otp)\b"
)
_SENSITIVE = re.compile(
    r"\b(?:card\s*(?:number|holder|expir\w*)|name\s+on\s+(?:the\s+)?card|card\s?holder\w*|expir(?:y|ation)(?:\s+date)?|iban|bic|swift"
    r"|(?:bank\s+)?account\s+(?:number|no)|sort\s+code|routing\s+number|social\s+security|ssn|national\s+(?:id|insurance)\w*"
    r"|tax\s+(?:id|number|file)\w*|passport(?:\s+(?:number|no))?|api[\s-]?(?:key|token)|access\s+token|secret\s+key)\b"
)


def is_typable(control: Control) -> bool:
    """Text can be typed into it."""
    return control.role in TYPABLE or (control.role == "combobox" and control.tag == "input")


def is_secret(control: Control) -> bool:
    """Its value is masked everywhere, and typed only with the host's leave."""
    return control.secret or (is_typable(control) and _speaks_of(_SECRET, _told(control)))


def is_sensitive(control: Control) -> bool:
    """Its value is masked where it is shown or recorded, and may be typed."""
    return control.sensitive or is_secret(control) or _speaks_of(_SENSITIVE, _told(control))


def asks_secret(requirement: Requirement) -> bool:
    """The goal names a secret field: only then may one be chosen."""
    return _speaks_of(_SECRET, requirement.key)


def shown_value(control: Control, value: str | None) -> str | None:
    """A value for this control, as it may be shown."""
    return MASK if value and is_sensitive(control) else value


def shown_text(requirement: Requirement) -> str:
    """The requirement's words, without the value of a sensitive thing."""
    if requirement.value and (asks_secret(requirement) or _speaks_of(_SENSITIVE, requirement.key)):
        return requirement.text.replace(requirement.value, MASK) if requirement.value in requirement.text else MASK
    return requirement.text


def shown_goal(goal: Goal) -> str:
    """The goal's words, without the values of sensitive things."""
    text = goal.text
    for part in goal.requirements:
        if part.value and shown_text(part) != part.text:
            text = text.replace(part.value, MASK)
    return text


def _told(control: Control) -> str:
    return " | ".join((control.label, control.placeholder, control.name.replace("_", " ").replace("-", " ")))


@lru_cache(maxsize=2048)
def _plain(text: str) -> str:
    return plain(text)


def _speaks_of(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(_plain(text)) is not None
