"""Canonical JSON: its rules one by one, and three ways to the same text (C encoder, own encoder, the `rfc8785` package)."""

from __future__ import annotations

import enum
import json
import math
import random
import struct
import sys
import tracemalloc
from collections import OrderedDict
from datetime import date
from typing import Any

import attrs
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.canonical import _fast, _general, canonical_json, canonical_sha256
from foxloop_trio.errors import NotJsonError

# Characters around every border that the rules know: control, quoting, Latin-1, line separators, surrogates, private use, astral.
BORDERS = '\x00\x01\x07\x08\t\n\x0b\x0c\r\x1f "/\\a\x7f\x80\xe9e\u0301\u2028\u2029\ud7ff\ue000\ufb33\uffff\U00010000\U0001f600'
texts = st.text(alphabet=st.one_of(st.sampled_from(BORDERS), st.characters(exclude_categories=["Cs"])), max_size=8)
ragged = st.text(alphabet=st.one_of(st.sampled_from(BORDERS + "\ud800\ud83d\udc00\ude00\udfff"), st.characters()), max_size=6)
safe_integers = st.integers(-(2**53) + 1, 2**53 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)


def json_values(text: st.SearchStrategy[str], *numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    leaves = st.one_of(st.none(), st.booleans(), text, *numbers)
    return st.recursive(leaves, lambda below: st.lists(below, max_size=4) | st.dictionaries(text, below, max_size=4), max_leaves=12)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-1, "-1"),
        ("", '""'),
        ([], "[]"),
        ({}, "{}"),
        ([[], {}, [{}]], "[[],{},[{}]]"),
        ({"b": [1, 2], "a": {"d": 4, "c": None}}, '{"a":{"c":null,"d":4},"b":[1,2]}'),
        ([True, 1, "1", None], '[true,1,"1",null]'),
    ],
)
def test_text_has_no_whitespace_and_sorted_keys(value: Any, text: str) -> None:
    """T1: nothing between the tokens; lists keep their order, objects are sorted."""
    assert text == canonical_json(value) == _general(value, 64, None)


def test_keys_are_sorted_by_utf16_code_units() -> None:
    """T2: an astral key (surrogates from U+D800) sorts before one at U+FB33, though its code point is higher."""
    assert canonical_json({"\ufb33": 2, "\U0001f600": 1, "a": 0}) == '{"a":0,"\U0001f600":1,"\ufb33":2}'


def test_strings_are_escaped_only_where_they_must_be() -> None:
    """T3: short escapes where there are some, lower-case hex for other controls, everything else raw."""
    assert canonical_json('"\\\b\t\n\f\r') == r'"\"\\\b\t\n\f\r"'
    assert canonical_json("\x00\x01\x0b\x1f") == r'"\u0000\u0001\u000b\u001f"'
    assert canonical_json("\x7f\u2028\u2029/\xe9\U0001f600") == '"\x7f\u2028\u2029/\xe9\U0001f600"'


def test_strings_are_never_normalised() -> None:
    """T3: composed and decomposed accents are different texts."""
    assert canonical_json("\xe9") != canonical_json("e\u0301")


def test_a_lone_surrogate_is_escaped_in_lower_case() -> None:
    """T3: it stays apart from U+FFFD and the text can be written as UTF-8."""
    assert canonical_json(["\ud83d", "a\udfff", {"\ud800": 1}]) == r'["\ud83d","a\udfff",{"\ud800":1}]'


def test_two_surrogates_that_make_a_pair_are_the_one_character() -> None:
    """Written as two escapes they would be read back as one character, and the hash of what was read would differ."""
    assert canonical_json("\U0001f600") == canonical_json("\ud83d\ude00")
    assert canonical_json({"\U0001f600": 1}) == canonical_json({"\ud83d\ude00": 1})
    with pytest.raises(NotJsonError, match="same text"):
        canonical_json({"\U0001f600": 1, "\ud83d\ude00": 2})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.30000000000000004"),
        (5e-324, "5e-324"),
        (1e16, "10000000000000000"),
        (1.5e-7, "1.5e-7"),
        (123456789012345680000.0, "123456789012345680000"),
        (-0.00001, "-0.00001"),
        (9007199254740993.0, "9007199254740992"),
        (1.2345678901234567e19, "12345678901234567000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-0.0, "0"),
        (5.0, "5"),
        (0.5, "0.5"),
        (-123.25, "-123.25"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2**53 - 1, "9007199254740991"),
        (-(2**53) + 1, "-9007199254740991"),
    ],
)
def test_numbers_print_as_ecmascript_prints_a_double(value: float, text: str) -> None:
    """T4: shortest digits that read back, laid out by ECMAScript's rules."""
    assert text == canonical_json(value)


def test_a_key_named_proto_is_an_ordinary_key() -> None:
    """T7: special-looking names are plain data."""
    assert canonical_json({"__proto__": 1, "__class__": 2}) == '{"__class__":2,"__proto__":1}'


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


@attrs.frozen
class Point:
    x: int = 1


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        2**53,
        -(2**53),
        10**6000,
        b"bytes",
        bytearray(b"x"),
        {1},
        frozenset(),
        (1, 2),
        date(2020, 1, 1),
        Point(),
        Colour.RED,
        Text("x"),
        OrderedDict(a=1),
        range(3),
        object(),
        len,
        1j,
        {1: "a"},
        {None: 1},
        {True: 1},
        {Text("x"): 1},
        {("a",): 1},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_say_is_refused_and_never_converted(value: Any) -> None:
    """T5: at the top and deep inside, also beside values that are fine."""
    for place in (value, ["a", {"k": [None, value]}], {"k": value, "z": 1}):
        with pytest.raises(NotJsonError) as caught:
            canonical_json(place)
        assert caught.value.code == "not-json"


def test_a_refusal_names_the_place_and_the_type_but_not_the_value() -> None:
    """The value may be a secret; where it stands is what one needs."""
    with pytest.raises(NotJsonError) as caught:
        canonical_json({"items": [0, {"api key": b"hunter2"}]})
    assert "$.items[1]['api key']" in str(caught.value)
    assert "bytes" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_depth_counts_from_the_outermost_value_at_zero() -> None:
    """T6: 64 lists around a number pass and 65 do not; with a limit of 32 the same holds for 32 and 33."""
    assert canonical_json(nested(64)) == "[" * 64 + "1" + "]" * 64
    assert canonical_json(nested(32), max_depth=32) == "[" * 32 + "1" + "]" * 32
    for levels, limit in ((65, 64), (33, 32)):
        with pytest.raises(NotJsonError, match=f"deeper than {limit}"):
            canonical_json(nested(levels), max_depth=limit)


def test_a_nesting_bomb_is_refused_without_recursion() -> None:
    """T6: 200,000 levels end in our error, and a high limit of the caller's does not end in Python's."""
    bomb = nested(200_000)
    with pytest.raises(NotJsonError, match="deeper"):
        canonical_json(bomb)
    assert len(canonical_json(nested(100_000), max_depth=100_000)) == 2 * 100_000 + 1


def test_a_caller_close_to_the_recursion_limit_gets_the_same_text() -> None:
    """The C encoder recurses; where it has no room the other way is taken."""
    value = nested(60)
    expected = canonical_json(value)

    def dive(room: int) -> str:
        return canonical_json(value) if room == 0 else dive(room - 1)

    depth = len(__import__("inspect").stack())
    assert expected == dive(sys.getrecursionlimit() - depth - 40)


def test_a_container_inside_itself_is_refused_at_once() -> None:
    """T6: also one that holds itself many times, which a walk level by level would double at each level."""
    inner: list[Any] = []
    inner.extend([inner] * 10)
    outer: dict[str, Any] = {}
    outer["a"] = {"b": [outer]}
    for value in (inner, outer):
        with pytest.raises(NotJsonError, match="contains itself"):
            canonical_json(value)


def test_a_small_value_that_stands_for_much_is_refused_in_little_memory() -> None:
    """Twenty thousand times the same thousand keys: looking at all of them would take 160 MB."""
    part = {f"k{n}": n for n in range(1000)}
    tracemalloc.start()
    with pytest.raises(NotJsonError) as caught:
        canonical_json([part] * 20_000, max_bytes=1_048_576)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.code == "too-large"
    assert peak < 20_000_000


def test_a_shared_part_is_no_cycle() -> None:
    """The same object in two places is fine, and is written twice."""
    part = {"x": [1]}
    assert canonical_json([part, part]) == '[{"x":[1]},{"x":[1]}]'


def test_a_small_value_that_stands_for_an_endless_text_ends_at_the_limit() -> None:
    """Shared parts can double at each level; the limit of bytes ends that early."""
    value: Any = "x"
    for _ in range(60):
        value = [value, value]
    with pytest.raises(NotJsonError) as caught:
        canonical_json(value, max_bytes=10_000)
    assert caught.value.code == "too-large"
    with pytest.raises(NotJsonError):
        canonical_json(["x" * 1000] * 1_000_000, max_bytes=10_000)


@pytest.mark.parametrize(
    "value", ["aaaa", "\xe9\xe9", ["a", 1], {"a": 1}, [1.5], ["\ud800"], {"\U0001f600": 1}, [[], {}], [0.5, "\xe9"]]
)
def test_the_limit_counts_utf8_bytes_exactly(value: Any) -> None:
    """A text of exactly `max_bytes` passes and one byte less does not, on both ways."""
    size = len(canonical_json(value).encode())
    assert canonical_json(value) == canonical_json(value, max_bytes=size)
    with pytest.raises(NotJsonError) as caught:
        canonical_json(value, max_bytes=size - 1)
    assert caught.value.code == "too-large"


def test_digest_is_sha256_of_the_utf8_text() -> None:
    """Known answer: SHA-256 of the two bytes ``{}``."""
    assert canonical_sha256(canonical_json({})) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@settings(max_examples=150, deadline=None)
@given(json_values(texts, safe_integers))
def test_both_ways_give_the_same_text(value: Any) -> None:
    """Where the C encoder is used at all, its text is that of the general walk."""
    quick = _fast(value, 64, None)
    assert quick in (None, _general(value, 64, None))


@settings(max_examples=150, deadline=None)
@given(json_values(st.text(alphabet=st.characters(max_codepoint=0xD7FF), max_size=8), safe_integers))
def test_the_quick_way_is_taken_for_plain_values(value: Any) -> None:
    """No floats, no surrogates, nothing beyond the BMP: then the C encoder does it."""
    assert _general([value], 64, None) == _fast([value], 64, None)


@settings(max_examples=150, deadline=None)
@given(json_values(texts, safe_integers, finite))
def test_text_equals_that_of_an_independent_implementation(value: Any) -> None:
    """RFC 8785 by the `rfc8785` package."""
    assert rfc8785.dumps(value).decode() == canonical_json(value)


@settings(max_examples=150, deadline=None)
@given(json_values(ragged, safe_integers, finite))
def test_text_is_a_fixed_point_of_reading_and_writing(value: Any) -> None:
    """Whatever has a text, lone surrogates too: reading it and writing it again gives the same text."""
    try:
        text = canonical_json(value)
    except NotJsonError as refused:
        if "same text" not in str(refused):  # two keys that are one in JSON: nothing to read back
            raise
        return
    text.encode()
    assert text == canonical_json(json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 16 else float(digits)))


def test_random_doubles_print_as_the_oracle_prints_them() -> None:
    """Seeded sample of bit patterns, so that all exponents come up."""
    draw = random.Random(8785)
    values = [struct.unpack("<d", draw.randbytes(8))[0] for _ in range(5000)]
    values = [value for value in values if math.isfinite(value)]
    assert len(values) > 4900
    for value in values:
        assert rfc8785.dumps(value).decode() == canonical_json(value)
