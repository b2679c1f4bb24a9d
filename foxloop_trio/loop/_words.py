"""Words for exceptions: short, bounded, and never hiding that there were several. Pure."""

from __future__ import annotations

from .. import prompt
from ..errors import Refuse
from ._effects import Raised, ToolEnd


def raised(fault: BaseException, *, tool: ToolEnd | None = None) -> Raised:
    """The answer for a step that raised; a group is told by its first leaf and the number of the others (GB-L18)."""
    leaves = _leaves(fault)
    first = leaves[0]
    text = _text(first)
    if len(leaves) > 1:
        text = f"{text[: prompt.LIMITS['error'] - 20]} (and {len(leaves) - 1} more)"
    return Raised(text[: prompt.LIMITS["error"]], type(first).__name__, isinstance(first, Refuse) and len(leaves) == 1, tool)


def _text(fault: BaseException) -> str:
    """Its words; the name of its class where it has none, or cannot say them."""
    try:
        return str(fault) or type(fault).__name__
    except Exception:
        return type(fault).__name__


def _leaves(fault: BaseException) -> list[BaseException]:
    if not isinstance(fault, BaseExceptionGroup):
        return [fault]
    return [leaf for inner in fault.exceptions for leaf in _leaves(inner)]
