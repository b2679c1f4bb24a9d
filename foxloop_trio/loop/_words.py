"""Words for exceptions: short, bounded, and never hiding that there were several; and for what was handed back. Pure."""

from __future__ import annotations

import json

from .. import prompt
from ..errors import Refuse
from ._effects import Raised, ToolEnd
from ._repair import mended


def raised(fault: BaseException, *, tool: ToolEnd | None = None) -> Raised:
    """The answer for a step that raised; a group is told by its first leaf and the number of the others (GB-L18)."""
    leaves = _leaves(fault)
    first = leaves[0]
    text = _explained(first, _text(first, type(first).__name__))
    if len(leaves) > 1:
        text = f"{text[: prompt.LIMITS['error'] - 20]} (and {len(leaves) - 1} more)"
    return Raised(text[: prompt.LIMITS["error"]], type(first).__name__, isinstance(first, Refuse) and len(leaves) == 1, tool)


def class_and_words(fault: BaseException) -> str:
    """Its class and message, up to the length of a summary; a group is told by its first leaf and the number of the others."""
    leaves = _leaves(fault)
    more = f" (and {len(leaves) - 1} more)" if len(leaves) > 1 else ""
    words = f"{type(leaves[0]).__name__}: {_text(leaves[0], otherwise='')}"
    return mended(words[: prompt.LIMITS["summary"] - len(more)] + more)


def _explained(fault: BaseException, text: str) -> str:
    """Words that Python leaves bare, and that nobody could place without the line they came from."""
    if isinstance(fault, KeyError):
        return f"KeyError: {text}"
    if isinstance(fault, TypeError) and text.endswith("can't be used in 'await' expression"):
        return f"{text}; what gave it must be an async function"
    return text


def _text(fault: BaseException, otherwise: str) -> str:
    """Its words; something else where it has none, or cannot say them."""
    try:
        return str(fault) or otherwise
    except Exception:
        return otherwise


def _leaves(fault: BaseException) -> list[BaseException]:
    leaves: list[BaseException] = []
    inner = [fault]
    while inner:
        one = inner.pop()
        if isinstance(one, BaseExceptionGroup):
            inner += reversed(one.exceptions)
        else:
            leaves.append(one)
    return leaves


def as_text(value: object, most: int) -> str:
    """What was handed back, as text of at most `most` characters and a note of how many are lost.

    Raises TypeError or ValueError for what is neither text nor JSON.
    """
    text = str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not text.isascii():
        text = mended(text)
    return text if len(text) <= most else f"{text[:most]}\n[cut here: {len(text) - most} of {len(text)} characters are left out]"
