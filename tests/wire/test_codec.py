"""Text of messages: strict JSON, bounded in bytes and depth, without lone surrogates; nothing of the text in what is raised."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foxloop_trio import wire
from foxloop_trio.errors import LocalProtocolError
from foxloop_trio.wire._codec import clean_text

LIMIT = 1_000


def nested(depth: int) -> str:
    """An array in an array …, `depth` of them."""
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":1}', {"a": 1}),
        (' \t\r\n{ "a" : [ ] } ', {"a": []}),
        ("null", None),
        ("7.0", 7),
        ("1e3", 1000),
        ("-0.0", 0),
        ("1.5", 1.5),
        ("1e20", 1e20),
        (str(2**53 + 1), 2**53 + 1),
        (r'"\u0000"', "\x00"),
        ('"\u2028\u202e"', "\u2028\u202e"),
        (r'"\ud83c\udf78"', "\U0001f378"),
        ('"\\\\ud83c"', "\\ud83c"),
    ],
)
def test_json_is_read_as_in_javascript(text: str, value: Any) -> None:
    """Also integers that were written with a point or an exponent."""
    found = wire.decode(text, max_bytes=LIMIT)
    assert (value, type(value)) == (found, type(found))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "{}x",
        "{} {}",
        "{'a':1}",
        '{"a":1,}',
        "[1,]",
        '{"a":01}',
        "+1",
        ".5",
        "0x10",
        "NaN",
        "[Infinity]",
        '{"a":-Infinity}',
        "1e999",
        "-1e999",
        '"\t"',
        '"\x00"',
        '"\\x41"',
        '"\\ud83',
        "// x\n{}",
        "\ufeff{}",
        "\u00a0{}",
        "True",
        "undefined",
        '{"a":1,"a":1}',
        '{"a":{"b":1,"b":2}}',
        '[{"a":1,"\\u0061":2}]',
        r'{"\ud800":1,"\udfff":2}',
    ],
)
def test_what_is_not_strict_json_is_refused(text: str) -> None:
    """NaN, infinities, double keys (also when they become equal), a byte order mark, JavaScript's and Python's own spellings."""
    with pytest.raises(LocalProtocolError) as caught:
        wire.decode(text, max_bytes=LIMIT)
    assert "local-protocol" == caught.value.code


def test_integers_of_any_length_are_read_or_refused_but_never_crash() -> None:
    """Python refuses to read thousands of digits; that is a refusal like any other, and quick."""
    assert 10**400 == wire.decode("1" + "0" * 400, max_bytes=LIMIT)
    with pytest.raises(LocalProtocolError, match="a number is too long"):
        wire.decode("1" * 1_000_000, max_bytes=2_000_000)


def test_the_limit_counts_bytes_of_utf_8() -> None:
    """At the limit it is taken, one byte over it is not; a character of three bytes counts three."""
    for text in ('"' + "x" * 98 + '"', '"' + "\u20ac" * 32 + 'xx"'):
        assert 100 == len(text.encode())
        assert json.loads(text) == wire.decode(text, max_bytes=100)
        assert text == wire.encode(json.loads(text), max_bytes=100)
        with pytest.raises(LocalProtocolError, match="100 bytes, the limit is 99") as read:
            wire.decode(text, max_bytes=99)
        with pytest.raises(LocalProtocolError, match="100 bytes, the limit of the connection is 99") as written:
            wire.encode(json.loads(text), max_bytes=99)
        assert ("too-large", "too-large") == (read.value.code, written.value.code)


def test_a_lone_surrogate_counts_as_the_three_bytes_of_its_replacement() -> None:
    """So that a message has the same size before and after it is cleaned."""
    text = '"\ud83c"'
    assert "\ufffd" == wire.decode(text, max_bytes=5)
    with pytest.raises(LocalProtocolError, match="5 bytes"):
        wire.decode(text, max_bytes=4)
    assert '"\ufffd"' == wire.encode("\ud83c", max_bytes=5)


def test_nesting_is_taken_up_to_its_limit() -> None:
    """32 levels are; 33 are not, whether of arrays, objects or both."""
    assert json.loads(nested(32)) == wire.decode(nested(32), max_bytes=LIMIT)
    for text in (nested(33), '{"a":' * 33 + "1" + "}" * 33, "[" + '{"a":[' * 16 + "]}" * 16 + "]"):
        with pytest.raises(LocalProtocolError, match="nested deeper than 32"):
            wire.decode(text, max_bytes=LIMIT)


def test_many_brackets_side_by_side_are_no_nesting() -> None:
    """A long message has more of them than levels."""
    text = "[" + ",".join(["[[]]"] * 100) + "]"
    assert json.loads(text) == wire.decode(text, max_bytes=LIMIT)
    text = json.dumps("[{" * 100)
    assert "[{" * 100 == wire.decode(text, max_bytes=LIMIT)


@pytest.mark.parametrize("text", ["[" * 100_000, nested(100_000), '{"a":' * 100_000, "[" * 990 + "]" * 990])
def test_a_nesting_bomb_is_refused_like_any_fault(text: str) -> None:
    """Neither a RecursionError nor a crash of the interpreter."""
    with pytest.raises(LocalProtocolError):
        wire.decode(text, max_bytes=wire.MAX_MESSAGE_BYTES)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("\U0001f378", "\U0001f378"),
        ("\ud83c\udf78", "\U0001f378"),
        ("\ud83c", "\ufffd"),
        ("\udf78", "\ufffd"),  # noqa: PT014  # to ruff, lone surrogates are all the same
        ("\udf78\ud83c", "\ufffd\ufffd"),
        ("a\ud83cb\udf78c", "a\ufffdb\ufffdc"),
        ("\ud83c\ud83c\udf78\udf78", "\ufffd\U0001f378\ufffd"),
        ("\ufffd\uffff", "\ufffd\uffff"),
    ],
)
def test_lone_surrogates_are_replaced_and_pairs_joined(text: str, clean: str) -> None:
    """In text, in what comes (raw, escaped, in keys, deep inside) and in what goes: the same on all ways (buglog B95)."""
    escaped = json.dumps(text)
    raw = json.dumps(text, ensure_ascii=False)
    assert clean == clean_text(text)
    for form in (escaped, raw):
        assert clean == wire.decode(form, max_bytes=LIMIT)
        assert {clean: [{"k": clean}]} == wire.decode(f'{{{form}:[{{"k":{form}}}]}}', max_bytes=LIMIT)
    assert json.dumps({clean: [clean]}, ensure_ascii=False, separators=(",", ":")) == wire.encode({text: [text]}, max_bytes=LIMIT)


def test_a_high_half_as_text_and_a_low_half_as_an_escape_are_one_character() -> None:
    """However the two halves are written."""
    assert "\U0001f378" == wire.decode('"\ud83c\\udf78"', max_bytes=LIMIT)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), {1, 2}, b"x", object(), {"a": {("t",): 1}}, 10**5000],
    ids=["nan", "inf", "-inf", "set", "bytes", "object", "key", "huge"],
)
def test_what_json_cannot_say_is_not_written(value: Any) -> None:
    """A mistake on our side, told as one; the value is not quoted."""
    with pytest.raises(LocalProtocolError, match="cannot be written as JSON"):
        wire.encode([value], max_bytes=LIMIT)


def test_what_is_nested_too_deep_is_not_written() -> None:
    """Also when it must be cleaned first, which walks it."""
    value: Any = "\ud800"
    for _ in range(950):
        value = [value]
    with pytest.raises(LocalProtocolError):
        wire.encode(value, max_bytes=wire.MAX_MESSAGE_BYTES)
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(LocalProtocolError, match="cannot be written"):
        wire.encode(loop, max_bytes=LIMIT)


@pytest.mark.parametrize(
    "text", ['{"secret-in-here', '{"secret-in-here":1,"secret-in-here":1}', '"secret-in-here" x', "secret-in-here"]
)
def test_an_error_quotes_nothing_of_the_text(text: str) -> None:
    """It may be a page's text, or a password."""
    with pytest.raises(LocalProtocolError) as caught:
        wire.decode(text, max_bytes=LIMIT)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=5), children, max_size=4),
    max_leaves=15,
)


@given(VALUES)
def test_what_is_written_is_read_as_the_same_value(value: Any) -> None:
    """And writing it once more gives the same text."""
    text = wire.encode(value, max_bytes=wire.MAX_MESSAGE_BYTES)
    found = wire.decode(text, max_bytes=wire.MAX_MESSAGE_BYTES)
    assert value == found
    assert found == wire.decode(wire.encode(found, max_bytes=wire.MAX_MESSAGE_BYTES), max_bytes=wire.MAX_MESSAGE_BYTES)


@given(st.text(st.characters(codec=None, categories=["Cs", "Lu", "So"]), max_size=12))
@example("\ud800\udc00")
def test_clean_text_can_always_be_encoded_and_stays_clean(text: str) -> None:
    """With any mixture of halves; and the add-on's `toWellFormed` is the same: each lone half becomes one character."""
    clean = clean_text(text)
    clean.encode("utf-8")
    assert clean == clean_text(clean)
    paired = re.sub("[\ud800-\udbff][\udc00-\udfff]", "_", text)
    assert len(paired) == len(clean)


@given(st.text('{}[]",:\\ud8Ddc0123456789eE+-.truefalsn \ufeff\x00\U0001f378\ud800', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No other exception ever comes out."""
    try:
        value = wire.decode(text, max_bytes=LIMIT)
    except LocalProtocolError:
        return
    wire.encode(value, max_bytes=LIMIT * 2)
