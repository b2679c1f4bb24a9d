"""From the text of a call's arguments to their value: the strict reader, and a fixed list of repairs for what it refuses. Pure.

Local models write JSON with a code fence around it, a comma too many or a Python `True`. Such text is repaired by fixed rules that
change syntax only: a repaired value is what the strict reader finds in a text that differs from the planner's in nothing but the
entries of `REPAIRS`. No rule closes a bracket or a string, guesses a key or a value, picks one of two objects, merges repeated keys
or replaces NaN; text that needs that is no JSON here, and the planner is told so. Only the outermost level is decoded: strings
inside stay as they are to the last character, whatever they look like.

Every rule reads the text once, so reading takes time in proportion to its length.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from ..actions import MAX_SAFE_INTEGER

REPAIRS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "content-parts": "The content was a list of text parts; their texts were joined.",
        "surrogates": "Halves of a character (lone surrogates) were replaced by U+FFFD, and two halves that stand together joined.",
        "call-shape": "The call was no object with a function in it; it is read as a call without name and arguments.",
        "id": "The id was missing, unusable or used before in the same reply; it was replaced by one of ours.",
        "name-missing": "The name was missing or no text; it is read as the empty name, which is no tool.",
        "name-white-space": "White space around the name was dropped.",
        "name-case": "The name differed from exactly one known name in upper and lower case only; it was replaced by that name.",
        "value-arguments": "The arguments arrived as a JSON value instead of its text.",
        "null-arguments": "The arguments were missing or null; they are read as {}.",
        "empty-arguments": "The arguments were empty text; they are read as {}.",
        "byte-order-mark": "A byte order mark before the arguments was dropped.",
        "white-space": "White space that JSON does not know (such as no-break spaces) was dropped around the arguments.",
        "think-block": "A <think> block before the arguments was dropped.",
        "code-fence": "The code fence around the arguments was dropped.",
        "surrounding-text": "Text around the one outermost object was dropped.",
        "comments": "Comments outside strings were dropped.",
        "trailing-commas": "Commas between a last value and its closing bracket were dropped.",
        "python-constants": "True, False and None outside strings were read as true, false and null.",
        "single-quotes": "Strings in single quotes were read as strings, Python reading the same value from the text.",
        "double-encoding": "The arguments were JSON text of a JSON text of an object; the inner one was read.",
    }
)
"""Every repair there is. Those of one call are reported as ``<index of the call>:<name>``, the first two also without an index."""

READ_DEPTH: Final = 32
"""Levels of nesting that are read: no action may have more (gate specification, section 3)."""

PYTHON_LIMIT: Final = 16_384
"""Characters of a text with single quotes that are given to Python's own parser. Ours: a call that long was not typed by a hand."""


class NotJson:
    """Marks arguments that are not strict JSON."""


NOT_JSON: Final = NotJson()


def parse_arguments(raw: str) -> Any:
    """The arguments as a value, or NOT_JSON when `raw` is not strict JSON; nothing is repaired.

    Refused are NaN, infinities (also those that a number like 1e999 would become), integers beyond 2**53 - 1, repeated keys and
    nesting beyond `READ_DEPTH`.
    """
    try:
        value, end = _raw_decode(raw) if raw.startswith("{") else (None, -1)
        if end != len(raw):
            value = _decode(raw)  # knows the white space around; the other one is faster
    except (ValueError, RecursionError):
        return NOT_JSON
    if len(raw) > 2 * READ_DEPTH and _is_deep(value):
        return NOT_JSON
    return value


def plain_arguments(raw: str) -> dict[str, Any] | None:
    """What `read_arguments` reads without repairs in ASCII text that is nothing but an object, and that cannot be nested too deep
    for anybody, as nearly all are; None says nothing."""
    braces = raw.count("{")
    if not raw.isascii() or "\\u" in raw or braces + raw.count("[") >= READ_DEPTH - 1:
        return None
    try:
        # With one object and one colon for each of its keys, no key is repeated, and nobody need look for that.
        value, end = _scan_flat(raw, 0) if braces == 1 else _scan(raw, 0)
        if braces == 1 and len(value) != raw.count(":"):
            value, end = _scan(raw, 0)
    except (ValueError, TypeError, RecursionError, StopIteration):
        return None
    return value if type(value) is dict and end == len(raw) else None


def read_arguments(raw: str) -> tuple[Any, tuple[str, ...]]:
    """The arguments as a value and the names of the repairs that this took; NOT_JSON and none when they cannot be read."""
    value = parse_arguments(raw)
    if type(value) is dict and "\\u" not in raw:
        return value, ()
    repairs: list[str] = []
    if value is NOT_JSON:
        value = _repaired(raw, repairs)
    if value is None:
        value = {}
        repairs.append("null-arguments")
    elif type(value) is str:
        inner = parse_arguments(value)
        if type(inner) is dict:
            value = inner
            repairs.append("double-encoding")
    if value is not NOT_JSON and _ESCAPED_SURROGATE.search(raw) is not None:
        whole = _mended_value(value)
        if whole is not value:
            value = whole
            repairs.append("surrogates")
    return (NOT_JSON, ()) if value is NOT_JSON else (value, tuple(repairs))


def mended(text: str) -> str:
    """`text` without lone surrogates: two halves in a row become their character, any other half becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def compact_json(value: Any) -> str:
    """The value as JSON text without spaces, keys in their order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Parsers disagree on which of two equal keys counts, so an object with a repeated key is no JSON here, as in the trail."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a repeated key")
    return found


def _whole(digits: str) -> int:
    number = int(digits)
    if abs(number) > MAX_SAFE_INTEGER:
        raise ValueError("an integer that other JSON readers would round")
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number that is read as infinite")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_finite, parse_constant=_refuse_constant
)
_FLAT_DECODER: Final = json.JSONDecoder(parse_int=_whole, parse_float=_finite, parse_constant=_refuse_constant)
_scan_flat: Final = _FLAT_DECODER.scan_once  # type: ignore[attr-defined]
_decode: Final = _DECODER.decode
_raw_decode: Final = _DECODER.raw_decode
_scan: Final = _DECODER.scan_once  # type: ignore[attr-defined]  # the part of `raw_decode` that is no error handling
_JSON_SPACE: Final = " \t\n\r"

_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def _is_deep(value: Any) -> bool:
    """Whether more than `READ_DEPTH` containers stand inside each other."""
    level = [value]
    for _ in range(READ_DEPTH):
        below: list[Any] = []
        for item in level:
            if type(item) is dict:
                below += item.values()
            elif type(item) is list:
                below += item
        level = [item for item in below if type(item) is dict or type(item) is list]
        if not level:
            return False
    return True


def _mended_value(value: Any) -> Any:
    """The value with `mended` strings and keys: the very same object when nothing was to do, NOT_JSON when two keys become one."""
    if type(value) is str:
        return mended(value)
    if type(value) is list:
        items = [_mended_value(item) for item in value]
        if NOT_JSON in items:
            return NOT_JSON
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if type(value) is dict:
        pairs = [(mended(key), _mended_value(item)) for key, item in value.items()]
        found = dict(pairs)
        if len(found) != len(pairs) or NOT_JSON in found.values():
            return NOT_JSON
        same = all(new[0] is key and new[1] is item for new, (key, item) in zip(pairs, value.items(), strict=True))
        return value if same else found
    return value


def _repaired(raw: str, repairs: list[str]) -> Any:
    """What the strict reader finds once the syntax of `raw` is repaired, or NOT_JSON. Names of repairs are added to `repairs`."""
    text = _trimmed(raw, repairs)
    if not text:
        repairs.append("empty-arguments")
        return {}
    if text == "None":
        repairs.append("python-constants")
        return None
    if repairs:
        value = parse_arguments(text)
        if value is not NOT_JSON:
            return value
    if text.startswith("<think>") and (end := text.find("</think>")) >= 0:
        text = text[end + len("</think>") :]
        repairs.append("think-block")
    start = text.find("{")
    rewriting = _rewritten(text, start) if start >= 0 else None
    if rewriting is None:
        return NOT_JSON
    end, strict, inside, python = rewriting
    around = _names_of_what_is_around(text[:start], text[end:])
    if around is None:
        return NOT_JSON
    repairs += around + inside
    value = parse_arguments(strict)
    if python and value is not NOT_JSON and not _python_reads_the_same(text[start:end], value):
        return NOT_JSON
    return value


def _trimmed(raw: str, repairs: list[str]) -> str:
    """Without byte order mark and white space around; JSON's own white space is no fault and no repair."""
    text = raw.strip(_JSON_SPACE)
    if text.startswith("\ufeff"):
        text = text[1:].strip(_JSON_SPACE)
        repairs.append("byte-order-mark")
    bare = text.strip()
    if bare != text:
        repairs.append("white-space")
    return bare


_TOKEN: Final = re.compile(
    r"""
      "[^"\\]*+(?:\\.[^"\\]*+)*+"         # a string
    | '[^'\\]*+(?:\\.[^'\\]*+)*+'         # a string as Python may write it
    | //[^\n\r]*+ | /\*.*?\*/             # a comment
    | \s++
    | [^\s"'/\\{}\[\],:]++                # a number or a word
    | .                                   # a bracket, a comma, a colon; or what has no business here, an open string above all
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS: Final = {"True": "true", "False": "false", "None": "null"}
_CLOSERS: Final = {"{": "}", "[": "]"}


def _rewritten(text: str, start: int) -> tuple[int, str, list[str], bool] | None:
    """The object that opens at `start`: where it ends, its text as strict JSON, the repairs, whether it has single quotes.

    None when its brackets or strings do not close. The text may still be no JSON: that is for the strict reader to say.
    """
    out: list[str] = []
    open_: list[str] = []
    done: dict[str, None] = {}
    last = before_comma = ""
    comma_at = 0
    for match in _TOKEN.finditer(text, start):
        piece = match[0]
        first = piece[0]
        if first == '"' or first == "'":
            if len(piece) == 1:
                return None
            if first == "'":
                done["single-quotes"] = None
                piece = _in_double_quotes(piece)
        elif first in _CLOSERS:
            open_.append(_CLOSERS[first])
            if len(open_) > READ_DEPTH:
                return None
        elif first == "}" or first == "]":
            if open_.pop() != first:
                return None
            if last == "," and before_comma not in "{[,:":
                out[comma_at] = ""
                done["trailing-commas"] = None
            if not open_:
                out.append(piece)
                order = [name for name in REPAIRS if name in done]
                return match.end(), "".join(out), order, "single-quotes" in done
        elif first == ",":
            before_comma, comma_at = last, len(out)
        elif first == "/":
            if len(piece) == 1:
                return None
            out.append(" ")  # so that what stood apart does not come together
            done["comments"] = None
            continue
        elif piece.isspace():
            out.append(piece)
            continue
        elif piece in _CONSTANTS:
            piece = _CONSTANTS[piece]
            done["python-constants"] = None
        out.append(piece)
        last = first
    return None


_TO_ESCAPE: Final = re.compile(r'\\.|"', re.DOTALL)


def _in_double_quotes(piece: str) -> str:
    inside = _TO_ESCAPE.sub(lambda found: {'"': '\\"', "\\'": "'"}.get(found[0], found[0]), piece[1:-1])
    return f'"{inside}"'


_ESCAPES_OF_BOTH: Final = re.compile(r"""\\(?:["'\\nrtbf]|u[0-9a-fA-F]{4})""")


def _python_reads_the_same(source: str, value: Any) -> bool:
    """Whether Python finds the value in the text as it was written. Escapes that only one of the two languages has are refused."""
    if len(source) > PYTHON_LIMIT or "\\" in _ESCAPES_OF_BOTH.sub("", source):
        return False
    try:
        return json.dumps(ast.literal_eval(source)) == json.dumps(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


def _names_of_what_is_around(before: str, after: str) -> list[str] | None:
    """The repairs that drop the text around an object, or None when that text may be a part of what was meant."""
    before, after = before.strip(), after.strip()
    names: list[str] = []
    fence = before.rfind("```")
    if fence >= 0 and after.startswith("```"):
        tag = before[fence + 3 :]
        if not tag or (tag.isascii() and tag.isalnum()):
            before, after = before[:fence].rstrip(), after[3:].lstrip()
            names.append("code-fence")
    if not before and not after:
        return names
    if _BRACKETS.search(before) or _BRACKETS.search(after) or "<think>" in before:
        return None  # another object, an array around this one, or thoughts that do not end
    if _ends_inside(before) or _ends_inside(after[::-1]):
        return None
    return [*names, "surrounding-text"]


_BRACKETS: Final = re.compile(r"[{}\[\]]")


def _ends_inside(text: str) -> bool:
    """Whether the text breaks off at a quote (and a comma or colon): then the object beside is a member or a string."""
    if text[-1:] in (",", ":"):
        text = text[:-1].rstrip()
    return text[-1:] in ('"', "'", "\\")
