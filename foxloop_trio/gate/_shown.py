"""How an error shows a value that was not acceptable: short, and without trusting the value to show itself."""

from __future__ import annotations


def shown(value: object, limit: int = 100) -> str:
    """The start of the repr of `value`, or its type where that fails, as it does for an int of 5,000 digits."""
    if type(value) is str or type(value) is bytes:
        value = value[:limit]  # the rest would be cut from the repr, which has not fewer characters
    try:
        return repr(value)[:limit]
    except Exception:
        return f"a value of type {type(value).__name__}"
