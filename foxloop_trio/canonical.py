"""Canonical JSON: one text for one value, bit for bit what RFC 8785 and an ECMAScript engine write.

The text is what a human approves, what a token is bound to and what the trail hashes, so this module owns every rule of it: keys in
UTF-16 order, strings escaped the shortest way and never normalised, numbers as a browser prints them, and a refusal, never a guess,
for whatever JSON cannot say.

There are two ways through. `_general` walks any value with a stack of its own (nothing here leans on Python's recursion limit) and
knows all rules. `_fast` lets the standard library's C encoder write the values for which that gives the same text, if need be after
it has put numbers and keys into a form that the encoder writes right, and declines all others: those with surrogates, with numbers
that need an exponent, or with anything that is to be refused. So errors are always worded by `_general`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any, Final, NoReturn

from .errors import NotJsonError

__all__ = ["canonical_json", "canonical_sha256", "read_canonical"]

_MAX_SAFE: Final = 2**53 - 1
"""ECMAScript's Number.MAX_SAFE_INTEGER: the largest integer that every JSON reader keeps exactly."""

_C_ENCODER_DEPTH: Final = 200
"""Deepest nesting given to the C encoder, which recurses; Python's default limit is 1000 frames for the whole program."""

_MOST_CONTAINERS: Final = 100_000
"""Containers that the fast way looks at: a small value with shared parts can stand for a text without end."""

_FEW: Final = 32
"""Members of a container, and containers of a level, whose texts are not added up before they are written."""

_WHOLE_BELOW: Final = 1e21
"""ECMAScript writes numbers from here on with an exponent (Number::toString, step 6)."""

_PLAIN_FROM: Final = 1e-4
"""Python's repr writes nearer to zero than this with an exponent; fractions above have no more than 17 digits and none."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_ONLY: Final = frozenset({str})
_AS_THEY_ARE: Final = frozenset({str, bool, type(None)})
_QUICK_TYPES: Final = frozenset({*_AS_THEY_ARE, int, float, dict, list})


def canonical_json(value: Any, *, max_depth: int = 64, max_bytes: int | None = None) -> str:
    """The canonical JSON text of `value`; two values have the same text exactly when JSON cannot tell them apart.

    Accepted are None, bool, int within ±(2**53 - 1), finite float, str, and list and dict (with str keys) of these: exactly these
    types, no subclasses, and nothing that contains itself. Nothing is dropped or converted. The outermost value is at depth 0.

    Raises NotJsonError, code ``not-json`` (the message names the place and the type, never the value) or ``too-large`` when the
    text has more than `max_bytes` bytes in UTF-8. Limits of depth and size are the caller's; 64 is that of the trail.
    """
    text = _fast(value, max_depth, max_bytes)
    return text if text is not None else _general(value, max_depth, max_bytes)


def canonical_sha256(text: str) -> str:
    """SHA-256 of the UTF-8 bytes of a canonical text, as 64 lower-case hex digits."""
    return sha256(text.encode()).hexdigest()


def read_canonical(text: str) -> Any:
    """The value whose canonical JSON is `text`.

    Canonical JSON writes the float 1e20 with all its digits. Read back as an int it would be a value that has no canonical JSON.
    """
    return _read(text)


def _whole(digits: str) -> int | float:
    number = int(digits)
    return number if abs(number) <= _MAX_SAFE else float(digits)


_read = json.JSONDecoder(parse_int=_whole).decode


def _encoder(*, sort_keys: bool) -> Callable[[Any], str]:
    """The C encoder without the set-up that `JSONEncoder.encode` repeats at each call, or that where there is no C encoder."""
    c_make_encoder = getattr(json.encoder, "c_make_encoder", None)
    if c_make_encoder is None:
        return json.JSONEncoder(
            ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=sort_keys, separators=(",", ":")
        ).encode
    encode = c_make_encoder(None, _nothing_else, encode_basestring, None, ":", ",", sort_keys, False, False)
    return lambda value: "".join(encode(value, 0))


def _nothing_else(value: object) -> NoReturn:
    raise TypeError(type(value).__name__)


_encode_sorting: Final = _encoder(sort_keys=True)
_encode_in_order: Final = _encoder(sort_keys=False)


def _fast(value: Any, max_depth: int, max_bytes: int | None) -> str | None:
    """The text by way of the C encoder, or None when it is not certain that this is the canonical text.

    It looks at whole containers at a time, level by level, with loops that run in C.
    """
    kind: type = type(value)
    if kind is not dict and kind is not list:
        return None  # a bare scalar gains nothing
    level: list[Any] = [value]
    keys: list[Any] = []
    left = _MOST_CONTAINERS
    room = min(max_depth, _C_ENCODER_DEPTH)
    whole_floats = False
    size = 0
    while level:
        if room <= 0:
            return None
        room -= 1
        below: list[Any] = []
        for items in level:
            if type(items) is dict:
                keys += items
                items = items.values()
            kinds = set(map(type, items))
            if max_bytes is not None and (len(items) > _FEW or len(level) > _FEW):
                # One long text in many places is little memory and much text; in a few places it does not matter.
                size += len(items)
                if str in kinds:
                    size += sum([len(item) for item in items if type(item) is str])
                if size > max_bytes:
                    return None
            if kinds <= _AS_THEY_ARE:
                continue
            if not kinds <= _QUICK_TYPES:
                return None
            if int in kinds:
                for item in items:
                    if type(item) is int and not -_MAX_SAFE <= item <= _MAX_SAFE:
                        return None
            if float in kinds:
                for item in items:
                    if type(item) is float:
                        if item.is_integer():
                            if not -_WHOLE_BELOW < item < _WHOLE_BELOW:
                                return None
                            whole_floats = True
                        elif not (item >= _PLAIN_FROM or item <= -_PLAIN_FROM):  # NaN is neither
                            return None
            if dict in kinds or list in kinds:
                below += [item for item in items if type(item) is dict or type(item) is list]
        left -= len(below)
        if left < 0:
            return None
        level = below
    if not _TEXT_ONLY.issuperset(map(type, keys)):
        return None
    try:
        # Code point order and UTF-16 order part only where a key leaves the Basic Multilingual Plane.
        joined = "".join(keys)
        if whole_floats or (not joined.isascii() and max(joined) > "\uffff"):
            text = _encode_in_order(_plain_form(value))
        else:
            text = _encode_sorting(value)
        length = len(text) if text.isascii() else len(text.encode())
    except (ValueError, RecursionError):
        return None  # infinity, a lone surrogate (UnicodeEncodeError); a caller that is itself close to the recursion limit
    return text if max_bytes is None or length <= max_bytes else None


def _plain_form(value: Any) -> Any:
    """A copy with keys in UTF-16 order, and whole floats as the integers with their digits. Recurses as deep as the value is."""
    kind = type(value)
    if kind is dict:
        names = sorted(value) if "".join(value).isascii() else sorted(value, key=_utf16)
        return {name: _plain_form(value[name]) for name in names}
    if kind is list:
        return [_plain_form(item) for item in value]
    if kind is float and value.is_integer():
        return int(value) if -_MAX_SAFE <= value <= _MAX_SAFE else int(_number(value) or 0)
    return value


class _Frame:
    """One open container: what is still to be written of it, and under which name its current member stands."""

    __slots__ = ("container", "is_list", "label", "members", "started")

    def __init__(self, container: Any, is_list: bool, members: Iterator[tuple[Any, str, Any]]) -> None:
        self.container = container
        self.is_list = is_list
        self.members = members
        self.label: Any = None
        self.started = False


def _general(value: Any, max_depth: int, max_bytes: int | None) -> str:
    parts: list[str] = []
    size = 0
    frames: list[_Frame] = []
    open_ids: set[int] = set()
    item = value
    while True:
        if len(frames) > max_depth:
            raise _refusal(frames, f"nested deeper than {max_depth} levels; flatten the value")
        kind = type(item)
        if kind is dict or kind is list:
            if id(item) in open_ids:
                raise _refusal(frames, f"a {kind.__name__} that contains itself")
            open_ids.add(id(item))
            members = _list_members(item) if kind is list else _dict_members(item, frames)
            frames.append(_Frame(item, kind is list, members))
            piece = "[" if kind is list else "{"
        else:
            piece = _scalar(item, frames)
        parts.append(piece)
        size += _utf8_length(piece)
        # Go on to the next member, closing every container that has none left.
        while frames:
            frame = frames[-1]
            member = next(frame.members, None)
            if member is not None:
                break
            parts.append("]" if frame.is_list else "}")
            size += 1
            open_ids.discard(id(frame.container))
            frames.pop()
        if max_bytes is not None and size > max_bytes:
            raise NotJsonError(f"more than {max_bytes} bytes of JSON; make it smaller or keep the bulk elsewhere", code="too-large")
        if not frames:
            return "".join(parts)
        assert member is not None
        frame.label, prefix, item = member
        if frame.started:
            prefix = "," + prefix
        frame.started = True
        if prefix:
            parts.append(prefix)
            size += _utf8_length(prefix)


def _list_members(items: list[Any]) -> Iterator[tuple[Any, str, Any]]:
    for index, item in enumerate(items):
        yield index, "", item


def _dict_members(items: dict[Any, Any], frames: list[_Frame]) -> Iterator[tuple[Any, str, Any]]:
    whole: dict[str, Any] = {}
    for key, item in items.items():
        if type(key) is not str:
            raise _refusal(frames, f"a key of type {type(key).__name__}; JSON has text keys only")
        whole[_join_pairs(key)] = item
    if len(whole) != len(items):
        raise _refusal(frames, "two keys that are the same text in JSON, one of them written with surrogates")
    for key in sorted(whole, key=_utf16):
        yield key, _string(key) + ":", whole[key]


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _scalar(item: Any, frames: list[_Frame]) -> str:
    kind = type(item)
    if kind is str:
        return _string(_join_pairs(item))
    if item is None:
        return "null"
    if kind is bool:
        return "true" if item else "false"
    if kind is int:
        if -_MAX_SAFE <= item <= _MAX_SAFE:
            return repr(item)
        raise _refusal(frames, "an integer beyond ±(2**53 - 1), which other JSON readers would round; write it as text")
    if kind is float:
        text = _number(item)
        if text is not None:
            return text
        raise _refusal(frames, "a float that is NaN or infinite; write None or text")
    raise _refusal(frames, f"a value of type {kind.__name__}; use None, bool, int, float, str, list or dict (no subclasses)")


def _join_pairs(text: str) -> str:
    """Two surrogates that stand as a pair are one character: JSON cannot tell them apart, and would read them back as one."""
    if _is_clean(text):
        return text
    return _utf16(text).decode("utf-16-be", "surrogatepass")


def _string(text: str) -> str:
    quoted = encode_basestring(text)
    if _is_clean(quoted):
        return quoted
    return _SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", quoted)


def _is_clean(text: str) -> bool:
    """Whether there is no surrogate in it; the encoder in C looks faster than a pattern does."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number(value: float) -> str | None:
    """ECMAScript's Number::toString of a finite double, else None. Python's repr has the same digits, laid out otherwise."""
    if value == 0:
        return "0"  # also minus zero
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    if not e:
        if text[-1] in "fn":  # inf, nan
            return None
        return text.removesuffix(".0")
    sign = "-" if mantissa[0] == "-" else ""
    digits = mantissa.lstrip("-").replace(".", "")
    point = int(exponent) + 1  # where the decimal point stands, counted from the first digit
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    head, tail = digits[0], digits[1:]
    return f"{sign}{head}{'.' + tail if tail else ''}e{point - 1:+d}"


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _refusal(frames: list[_Frame], what: str) -> NotJsonError:
    return NotJsonError(f"not JSON at {_place(frames)}: {what}")


def _place(frames: list[_Frame]) -> str:
    """Where the walk stands, such as ``$.items[3]``; long names and deep places are cut, so that the message stays short."""
    place = "$"
    for frame in frames[:8]:
        if frame.label is None:
            break
        name = str(frame.label)
        if frame.is_list:
            place += f"[{name}]"
        elif len(name) <= 40 and name.isidentifier() and name.isascii():
            place += f".{name}"
        else:
            place += f"[{name[:40]!a}]"
    return place + ("…" if len(frames) > 8 else "")
