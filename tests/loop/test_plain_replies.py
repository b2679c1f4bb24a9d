"""The short way through a reply of the usual shape: where it says something, that is what the long way says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.loop import _reply
from foxloop_trio.loop._repair import parse_arguments, plain_arguments, read_arguments
from foxloop_trio.loop._reply import HISTORY_CALLS, REPLY_LIMIT, _read, _read_plain
from foxloop_trio.ports import ChatReply
from foxloop_trio.tools._explain import json_fault

NAMES = frozenset({"save_note", "finish", "café"})
LONG = "x" * (REPLY_LIMIT - 40)


def nested(levels: int) -> str:
    """Arguments of so many containers inside each other."""
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


TEXTS = [
    "{}",
    '{"text":"a"}',
    ' {"text":"a"}',
    '{"text":"a"} ',
    '{"text": "a", "n": 1, "f": 1.5, "l": [1, {"b": null}], "t": true}',
    '{"a":1,"a":2}',
    '{"a":{"b":1,"b":1}}',
    '{"a":NaN}',
    '{"a":1e999}',
    '{"a":9007199254740991}',
    '{"a":9007199254740992}',
    '{"a":"\\u0041"}',
    '{"a":"\\ud800"}',
    '{"a":"é"}',
    '{"a":"\ud800"}',
    '{"a":1,}',
    "{'a':1}",
    '```json\n{"a":1}\n```',
    '"{}"',
    "[]",
    "null",
    "",
    "{",
    "}{",
    "plain words",
    *(nested(levels) for levels in (2, 29, 30, 31, 32, 33, 34)),
]

ARGUMENTS = st.sampled_from([*TEXTS, LONG, None, {}, {"a": 1}, 7]) | st.dictionaries(st.text(max_size=3), st.text(max_size=3)).map(
    json.dumps
)
CALL = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["c1", "c2", "c3", "used", "first_read", "", "a b", "é", "x" * 65, None, 5]),
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["save_note", "finish", "café", "Save_Note", " finish", "other", None]),
                "arguments": ARGUMENTS,
            },
        )
        | st.none(),
    },
)
SOUND = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["c1", "c2", "c3", "used"]),
        "function": st.fixed_dictionaries({"name": st.sampled_from(["save_note", "finish"]), "arguments": st.sampled_from(TEXTS)}),
    }
)
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("assistant"),
        "content": st.sampled_from([None, "", "words", ["part"], 5]),
        "tool_calls": st.lists(CALL | SOUND | SOUND, max_size=3)
        | st.lists(SOUND, min_size=1, max_size=3)
        | st.sampled_from([None, (), 5]),
    },
)
REPLY = st.builds(
    ChatReply,
    message=MESSAGE | st.fixed_dictionaries({"tool_calls": st.lists(SOUND, min_size=1, max_size=2)}),
    provider=st.sampled_from([None, None, "p", 5]),
    tier=st.sampled_from([None, None, "t", b"t"]),
    finish_reason=st.sampled_from([None, None, "stop", "length"]),
)


def sound(count: int = 1, raw: str = '{"text":"a"}') -> ChatReply:
    """A reply as servers write it."""
    calls = [{"id": f"c{i}", "type": "function", "function": {"name": "save_note", "arguments": raw}} for i in range(count)]
    return ChatReply(message={"role": "assistant", "content": None, "tool_calls": calls})


def told(read: Any) -> Any:
    """All that a read reply says, its types included."""
    calls = [(call.planned, repr(call.args)) for call in read.calls]
    return read.text, calls, repr(read.message), type(read.message), read.repairs, read.kept


@settings(max_examples=400)
@given(REPLY)
def test_the_short_way_says_what_the_long_way_says(reply: ChatReply) -> None:
    """Also which ids are used from now on; and it leaves no trace where it says nothing."""
    before = {"used"}
    short = _read_plain(reply, NAMES, before)
    if short is None:
        assert before == {"used"}
        return
    after = {"used"}
    assert told(short) == told(_read(reply, 1, NAMES, after))
    assert before == after
    for call in short.calls:
        assert call.plain
        assert json_fault(call.args) is None


@pytest.mark.parametrize("count", [1, 2, HISTORY_CALLS])
def test_usual_replies_go_the_short_way(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or it would be none."""
    monkeypatch.setattr(_reply, "_read", None)
    assert len(_reply.read_reply(sound(count), step=1, names=NAMES).calls) == count


@pytest.mark.parametrize("reply", [sound(HISTORY_CALLS + 1), sound(2, LONG), sound(1, " {}"), sound(1, nested(31))])
def test_what_is_out_of_the_usual_goes_the_long_way(reply: ChatReply) -> None:
    """More calls than the history keeps, more text than a reply may have, white space, deep nesting."""
    assert _read_plain(reply, NAMES, set()) is None


@pytest.mark.parametrize("raw", TEXTS)
def test_arguments_that_are_read_in_one_glance_are_those_of_the_strict_reader(raw: str) -> None:
    """And they are JSON as the gate takes it, so nobody need look again."""
    value = plain_arguments(raw)
    if value is not None:
        assert (repr(value), ()) == (repr(read_arguments(raw)[0]), read_arguments(raw)[1])
        assert repr(parse_arguments(raw)) == repr(value)
        assert json_fault(value) is None


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", ":", 'q"', ""]),
            st.sampled_from([":", " :", ": ", "\t:"]),
            st.sampled_from(["1", '":"', '"a:b"', "[1, 2]", "null", "-0.5", "[]"]),
        ),
        max_size=4,
    )
)
def test_a_repeated_key_is_seen_however_it_is_written(members: list[tuple[str, str, str]]) -> None:
    """Keys and colons are counted in the first glance; no colon in a text, and no space, may make up for a key too many."""
    raw = "{" + ",".join(f"{json.dumps(key)}{colon}{value}" for key, colon, value in members) + "}"
    keys = [key for key, _, _ in members]
    assert (plain_arguments(raw) is None) == (len(set(keys)) != len(keys))


@pytest.mark.parametrize("raw", ["[{]", '"{"', "{", "7", '["{"]', '"{}"'])
def test_one_brace_makes_no_object(raw: str) -> None:
    """What is no object is not read in the plain way."""
    assert plain_arguments(raw) is None
