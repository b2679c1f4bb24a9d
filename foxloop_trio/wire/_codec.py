"""Between the text of a message and plain JSON values: strict, bounded, and the only place in the package that parses such text.

Refused are: more bytes of UTF-8 than allowed, deeper nesting than `MAX_DEPTH`, a key that stands twice in one object, NaN and
infinities (also as ``1e999``), and whatever else is not JSON. An integer that was written as ``7.0`` becomes 7, as in JavaScript.

Lone surrogates cannot be encoded, hashed or logged. JavaScript strings can hold them, and a page can put them anywhere, so they are
replaced by U+FFFD here, at the border, in both directions; two halves that belong together become the one character they mean.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from ..errors import LocalProtocolError
from ._limits import MAX_DEPTH

__all__ = ["clean_text", "decode", "encode"]

# An escape for a surrogate, or for something that looks like one inside an escaped backslash: then we look closer for nothing.
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def clean_text(text: str) -> str:
    """The same text with each lone surrogate replaced by U+FFFD and each pair of surrogates joined.

    Text without surrogates is returned as it is. The add-on does the same with ``String.prototype.toWellFormed``.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def decode(text: str, *, max_bytes: int) -> Any:
    """Parse one message. Raises LocalProtocolError (code ``too-large`` over `max_bytes`) and quotes nothing of the text."""
    size, clean = _measure(text)
    if size > max_bytes:
        raise LocalProtocolError(f"the message has {size} bytes, the limit is {max_bytes}", code="too-large")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise LocalProtocolError(f"the message is nested deeper than {MAX_DEPTH} levels") from None
    except _NotStrictError as problem:
        raise LocalProtocolError(f"the message is not strict JSON: {problem}") from None
    except ValueError as problem:
        # JSONDecodeError says what and where, without the text; int() of a number with thousands of digits is a ValueError too.
        what = f"{problem.msg} at character {problem.pos}" if isinstance(problem, json.JSONDecodeError) else "a number is too long"
        raise LocalProtocolError(f"the message is not JSON: {what}") from None
    # No more brackets than levels allowed: the nesting needs no look. Long messages have more, and get one.
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(value)
    if not clean or _SURROGATE_ESCAPE.search(text):
        value = _cleaned(value)
    return value


def encode(message: Any, *, max_bytes: int) -> str:
    """The text of one message. Raises LocalProtocolError (code ``too-large`` over `max_bytes`) for what JSON cannot say."""
    text = _dump(message)
    size, clean = _measure(text)
    if not clean:
        _check_depth(message)
        text = _dump(_cleaned(message))
        size, _ = _measure(text)
    if size > max_bytes:
        raise LocalProtocolError(
            f"the message would have {size} bytes, the limit of the connection is {max_bytes}: send less at once", code="too-large"
        )
    return text


class _NotStrictError(ValueError):
    """JSON that Python would take and we do not."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NotStrictError("an object has the same key twice")
    return found


def _constant(name: str) -> Any:
    raise _NotStrictError(f"{name} is not a JSON number")


def _number(text: str) -> float | int:
    value = float(text)
    if not math.isfinite(value):
        raise _NotStrictError("a number is too large")
    # 2**53 bounds what JavaScript prints as an integer without losing digits.
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant, parse_float=_number)


def _dump(message: Any) -> str:
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as problem:
        raise LocalProtocolError(f"the message cannot be written as JSON: {type(problem).__name__}") from None


def _measure(text: str) -> tuple[int, bool]:
    """Bytes of UTF-8, and whether it can be encoded at all. A surrogate counts as the three bytes of its replacement."""
    if text.isascii():
        return len(text), True
    try:
        return len(text.encode("utf-8")), True
    except UnicodeEncodeError:
        return len(text.encode("utf-8", "surrogatepass")), False


def _check_depth(value: Any) -> None:
    """Level by level, so that no depth of the input becomes a depth of our stack."""
    level = [value] if isinstance(value, (dict, list, tuple)) else []
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list, tuple))
        ]
        if not level:
            return
    raise LocalProtocolError(f"the message is nested deeper than {MAX_DEPTH} levels")


def _cleaned(value: Any) -> Any:
    """A copy without lone surrogates. Two keys that become the same are refused like any double key. Depth was checked before."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        pairs = [(clean_text(key), _cleaned(item)) for key, item in value.items()]
        try:
            return _unique(pairs)
        except _NotStrictError as problem:
            raise LocalProtocolError(f"the message is not strict JSON: {problem}") from None
    return value
