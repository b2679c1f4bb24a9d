"""Reading replies: what is repaired, what is refused, what the history keeps (ruling 11; B65, B95, B97, B98, B100, B101, B103)."""

from __future__ import annotations

import enum
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.events import Plan, PlannedCall
from foxloop_trio.loop._frozen import FrozenDict, FrozenList
from foxloop_trio.loop._repair import READ_DEPTH, REPAIRS, mended, read_arguments
from foxloop_trio.loop._reply import (
    ARGUMENT_DEPTH,
    CALLS_LIMIT,
    HISTORY_CALLS,
    NOT_JSON,
    REPLY_LIMIT,
    BadReplyError,
    ReadReply,
    contains_text,
    parse_arguments,
    read_reply,
)
from foxloop_trio.ports import ChatReply

NAMES = {"save_note": 1, "finish": 2, "go": 3, "Go": 4}
FOLDER = Path(__file__).parent / "replies"
ARGUMENTS: list[dict[str, Any]] = json.loads((FOLDER / "arguments.json").read_text())
REPLIES: list[dict[str, Any]] = json.loads((FOLDER / "replies.json").read_text())


def a_call(args: Any = '{"text":"a"}', *, name: Any = "save_note", call_id: Any = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": args}}


def read(message: Any, *, step: int = 7, names: Any = NAMES, **fields: Any) -> ReadReply:
    return read_reply(ChatReply(message=message, **fields), step=step, names=names)


def read_calls(*calls: Any, **fields: Any) -> ReadReply:
    return read({"role": "assistant", "content": None, "tool_calls": list(calls)}, **fields)


def refused(message: Any, **fields: Any) -> str:
    with pytest.raises(BadReplyError) as caught:
        read(message, **fields)
    return str(caught.value)


def assert_frozen(value: Any) -> None:
    """Nothing in it can be changed, and no text holds half a character."""
    if isinstance(value, dict):
        assert type(value) is FrozenDict
        for key, inner in value.items():
            assert_frozen(key)
            assert_frozen(inner)
    elif isinstance(value, list):
        assert type(value) is FrozenList
        for inner in value:
            assert_frozen(inner)
    elif isinstance(value, str):
        assert type(value) is str
        value.encode()


def assert_plain(value: Any) -> None:
    """Ordinary JSON, as a schema check and the gate take it, and no text holds half a character."""
    if isinstance(value, dict):
        assert type(value) is dict
        for key, inner in value.items():
            assert_plain(key)
            assert_plain(inner)
    elif isinstance(value, list):
        assert type(value) is list
        for inner in value:
            assert_plain(inner)
    elif isinstance(value, str):
        assert type(value) is str
        value.encode()


def assert_history_is_valid(reply: ReadReply) -> None:
    """What the strictest servers check in an assistant message, and that it speaks of the calls that were read."""
    message = reply.message
    assert_frozen(message)
    assert message["role"] == "assistant"
    assert message["content"] is None or type(message["content"]) is str
    sent = message.get("tool_calls", [])
    assert ("tool_calls" in message) == bool(reply.calls)
    assert len(sent) == reply.kept == min(len(reply.calls), HISTORY_CALLS)
    assert [call["id"] for call in sent] == [call.planned.id for call in reply.calls[: reply.kept]]
    ids = [call.planned.id for call in reply.calls]
    assert len(set(ids)) == len(ids)
    assert "first_read" not in ids
    for call in sent:
        assert set(call) == {"id", "type", "function"}
        assert call["type"] == "function"
        assert re.fullmatch(r"[A-Za-z0-9_.:-]{1,80}", call["id"])
        assert set(call["function"]) == {"name", "arguments"}
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
        json.loads(call["function"]["arguments"])


def assert_sound(reply: ReadReply) -> None:
    """What holds for whatever was read."""
    assert_history_is_valid(reply)
    assert reply.text == reply.message["content"]
    for call in reply.calls:
        for text in (call.planned.id, call.planned.name, call.planned.args):
            assert_frozen(text)
        if call.args is not NOT_JSON:
            assert_plain(call.args)
    for repair in reply.repairs:
        index, _, name = repair.rpartition(":")
        assert name in REPAIRS
        assert int(index) < len(reply.calls) if index else name in ("content-parts", "surrogates")
    assert len(set(reply.repairs)) == len(reply.repairs)


@pytest.mark.parametrize("case", ARGUMENTS, ids=lambda case: case["case"])
def test_arguments_of_the_corpus_are_read_or_refused_as_it_says(case: dict[str, Any]) -> None:
    """B97, B98: safe faults are repaired by fixed rules and marked, and no other text is read."""
    reply = read_calls(a_call(case["raw"]))
    assert_sound(reply)
    (call,) = reply.calls
    sent = reply.message["tool_calls"][0]["function"]["arguments"]
    assert call.planned.args == mended(case["raw"])
    if case.get("not_json"):
        assert call.args is NOT_JSON
        assert reply.repairs == ()
        assert sent == "{}"
        return
    assert json.dumps(call.args) == json.dumps(case["value"])
    assert reply.repairs == tuple(f"0:{name}" for name in case["repairs"])
    if not case["repairs"]:
        assert sent == case["raw"]
    elif mended(case["raw"]) == case["raw"]:
        assert sent == json.dumps(case["value"], ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: case["case"])
def test_replies_of_the_corpus_are_read_or_refused_as_it_says(case: dict[str, Any]) -> None:
    """B100, B101, B103: shapes, names, ids and endings."""
    fields = {"finish_reason": case["finish_reason"]} if "finish_reason" in case else {}
    if "problem" in case:
        assert case["problem"] in refused(case["message"], **fields)
        return
    reply = read(case["message"], **fields)
    assert_sound(reply)
    found = [[call.planned.id, call.planned.name, "NOT_JSON" if call.args is NOT_JSON else call.args] for call in reply.calls]
    assert json.dumps(found) == json.dumps(case["calls"])
    assert list(reply.repairs) == case["repairs"]
    if "text" in case:
        assert reply.text == case["text"]


def test_the_corpus_is_large_and_shows_every_repair() -> None:
    """B98 asks for 40 bad replies; each repair that is documented is made by one at least."""
    bad = [case for case in ARGUMENTS + REPLIES if case.get("not_json") or case.get("problem") or case.get("repairs")]
    assert len(bad) >= 40
    made = {name.rpartition(":")[2] for case in ARGUMENTS + REPLIES for name in case.get("repairs", ())}
    assert made == set(REPAIRS)


def test_the_message_of_a_sound_reply_is_what_the_planner_wrote() -> None:
    """No repair, nothing added, raw argument text as it was."""
    raw = ' {"text" : "\u00e9\\u00e9"} '
    reply = read({"role": "assistant", "content": "I save it.", "tool_calls": [a_call(raw)]})
    assert reply.message == {"role": "assistant", "content": "I save it.", "tool_calls": [a_call(raw)]}
    assert (reply.text, reply.repairs, reply.kept) == ("I save it.", (), 1)
    assert reply.calls[0].planned == PlannedCall(id="c1", name="save_note", args=raw)
    assert reply.calls[0].args == {"text": "\u00e9\u00e9"}


def test_calls_that_were_read_fit_into_a_plan_event() -> None:
    """They are built without validation, so they must be what validation accepts."""
    reply = read_calls(a_call(), {}, a_call(5, name=None, call_id=None))
    planned = tuple(call.planned for call in reply.calls)
    plan = Plan(step=1, text=reply.text, calls=planned, repairs=reply.repairs)
    assert plan.calls == tuple(PlannedCall(id=call.id, name=call.name, args=call.args) for call in planned)
    assert hash(planned[0]) == hash(plan.calls[0])
    assert repr(planned[0]) == "PlannedCall(id='c1', name='save_note', args='{\"text\":\"a\"}')"


@pytest.mark.parametrize("name", ["", None, "save\ud83c", "a name", "n" * 65, "n" * 100_000, "caf\u00e9"])
def test_a_name_that_no_server_takes_is_unknown_in_the_history(name: Any) -> None:
    """B101: a history with such a name would be refused at every later request."""
    reply = read_calls(a_call(name=name))
    assert_sound(reply)
    assert reply.message["tool_calls"][0]["function"]["name"] == "unknown"


def test_an_unknown_name_that_servers_take_stays_in_the_history() -> None:
    """The planner reads what it called."""
    assert read_calls(a_call(name="delete_all")).message["tool_calls"][0]["function"]["name"] == "delete_all"


def test_names_that_cannot_be_listed_are_compared_as_they_are() -> None:
    """A Container that is no Iterable gives no repair of case."""

    class Names:
        def __contains__(self, name: object) -> bool:
            return name == "save_note"

    assert read_calls(a_call(), names=Names()).repairs == ()
    assert read_calls(a_call(name=" Save_note"), names=Names()).calls[0].planned.name == "Save_note"


def test_raw_halves_of_a_character_are_joined_or_replaced_everywhere() -> None:
    """B95: in text, names and arguments alike; the repairs say where, once per call."""
    pair, half = "\ud83c" + "\udf78", "\udf78"
    message = {"content": pair, "tool_calls": [a_call(f'{{"text":"{pair}{half}"}}', name=half), a_call(call_id=pair)]}
    reply = read(message)
    assert_sound(reply)
    assert reply.text == "\U0001f378"
    assert reply.calls[0].planned.name == "\ufffd"
    assert reply.calls[0].args == {"text": "\U0001f378\ufffd"}
    assert reply.repairs == ("surrogates", "0:surrogates", "1:id")


HALVES = {
    "a": "a",
    "\u00e9\U0001f378": "\u00e9\U0001f378",
    "\ud83cA": "\ufffdA",
    "\ud83c": "\ufffd",
    "\udf78\ud83c": "\ufffd\ufffd",
    "\ud83c\ud83c" + "\udf78": "\ufffd\U0001f378",
    "\ud83c\U0001f378": "\ufffd\U0001f378",
}


@pytest.mark.parametrize(("text", "right"), HALVES.items(), ids=range(len(HALVES)))
def test_each_half_is_one_replacement_and_its_neighbours_stay(text: str, right: str) -> None:
    """No character beside a half is swallowed."""
    assert mended(text) == right


@pytest.mark.parametrize("half", ["\ud83c", "\\ud83c", "\\uD83C"])
def test_written_and_escaped_halves_give_the_same_value(half: str) -> None:
    """B95: the same on both sides, so digests agree."""
    assert read_calls(a_call(f'{{"text":"{half}"}}')).calls[0].args == {"text": "\ufffd"}


def test_an_escaped_backslash_before_u_is_no_half() -> None:
    """The text `\\ud83c` spelled out is text and stays."""
    reply = read_calls(a_call('{"text":"\\\\ud83c"}'))
    assert reply.calls[0].args == {"text": "\\ud83c"}
    assert reply.repairs == ()


@pytest.mark.parametrize("count", [1, HISTORY_CALLS, HISTORY_CALLS + 1, 1000])
def test_the_history_keeps_as_many_calls_as_providers_take(count: int) -> None:
    """B65: all calls are read, at most 128 are in the message."""
    reply = read_calls(*(a_call("{}", call_id=f"c{index}") for index in range(count)))
    assert_sound(reply)
    assert len(reply.calls) == count
    assert reply.kept == min(count, 128)


def test_more_calls_than_are_read_are_a_bad_reply() -> None:
    """Their number is bounded even when each is empty."""
    assert len(read_calls(*[{}] * CALLS_LIMIT).calls) == CALLS_LIMIT
    assert f"{CALLS_LIMIT + 1} calls" in refused({"tool_calls": [{}] * (CALLS_LIMIT + 1)})
    assert "parts" in refused({"content": [{"type": "text", "text": ""}] * (CALLS_LIMIT + 1)})


def test_ids_of_ours_are_unique_whatever_was_given() -> None:
    """B101: also against given ids that look like ours, before and after."""
    ids = ["call_7_1", "", "call_7_1_2", None, "call_7_4", "call_7_4", "first_read", "call_7_1"]
    reply = read_calls(*(a_call(call_id=call_id) for call_id in ids))
    assert_sound(reply)
    assert [call.planned.id for call in reply.calls][:3] == ["call_7_1", "call_7_1_2", "call_7_2"]


SIZED: list[Any] = [
    lambda text: {"content": text},
    lambda text: {"content": [{"type": "text", "text": text}]},
    lambda text: {"content": [{"type": "text", "text": text[::2]}, {"type": "text", "text": text[1::2]}]},
    lambda text: {"tool_calls": [a_call("{}", name=text[7:], call_id="c1234")]},
    lambda text: {"tool_calls": [a_call(text[13:], name="save_note", call_id="c123")]},
    lambda text: {"content": text[20:], "tool_calls": [a_call('{"a":1}', name="save_note", call_id="c123")]},
]


@pytest.mark.parametrize("make", SIZED)
def test_a_reply_is_read_up_to_its_limit_and_refused_beyond(make: Any) -> None:
    """Text, names, ids and arguments count together, in characters."""
    assert_sound(read(make("x" * REPLY_LIMIT)))
    assert f"more than {REPLY_LIMIT} characters" in refused(make("x" * (REPLY_LIMIT + 1)))


@pytest.mark.parametrize("args", [{"a": "x" * REPLY_LIMIT}, ["x"] * REPLY_LIMIT, {"x" * REPLY_LIMIT: 1}], ids=range(3))
def test_arguments_that_are_values_count_as_their_text(args: Any) -> None:
    """A planner in Python cannot hand over more than one that writes text."""
    assert "characters" in refused({"tool_calls": [a_call(args)]})


class Raising(dict[str, Any]):
    def get(self, key: Any, default: Any = None) -> Any:
        raise RuntimeError("bad mapping")


class Cyclic(list[Any]):
    def __init__(self) -> None:
        super().__init__([self])


BROKEN: list[Any] = [
    Raising(),
    {"tool_calls": [Raising()]},
    {"tool_calls": [{"id": "c1", "function": Raising()}]},
    {"content": [Raising()]},
    {"tool_calls": [a_call(b"{}")]},
    {"tool_calls": [a_call(object())]},
    {"tool_calls": [a_call({"n": float("nan")})]},
    {"tool_calls": [a_call({"n": float("inf")})]},
    {"tool_calls": [a_call(float("nan"))]},
    {"tool_calls": [a_call({1: "a"})]},
    {"tool_calls": [a_call({"a": {"b"}})]},
    {"tool_calls": [a_call(dict.fromkeys(("\ud83c", "\ud83d")))]},
    {"tool_calls": [a_call({"n": 10**5000})]},
    {"tool_calls": [a_call(Cyclic())]},
]


@pytest.mark.parametrize("message", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_json_and_what_raises_is_a_bad_reply_that_names_itself(message: Any) -> None:
    """GB-L6: nothing but BadReplyError leaves, and nothing is converted on the way."""
    assert re.search(r"raised RuntimeError|arguments is .*, not text: ", refused(message))


@pytest.mark.parametrize("reply", [None, "text", {"content": "x"}, ChatReply])
def test_what_is_no_chat_reply_is_a_bad_reply(reply: Any) -> None:
    """The class is named."""
    with pytest.raises(BadReplyError, match=r"the planner returned .*, not a ChatReply"):
        read_reply(reply, step=1, names=NAMES)


@pytest.mark.parametrize("field", ["provider", "tier"])
def test_a_provider_or_tier_that_is_no_text_is_a_bad_reply(field: str) -> None:
    """The field is named."""
    assert f"{field} is int, not text or None" in refused({"content": "x"}, **{field: 5})


def test_subclasses_of_str_and_mapping_are_read_as_what_they_are() -> None:
    """Enum members and proxies are fine; what leaves is plain str and our own dicts."""

    class Name(enum.StrEnum):
        SAVE = "save_note"
        ARGS = '{"text":"a"}'

    call = MappingProxyType({"id": "c1", "function": MappingProxyType({"name": Name.SAVE, "arguments": Name.ARGS})})
    reply = read(MappingProxyType({"content": Name.SAVE, "tool_calls": (call,)}))
    assert_sound(reply)
    assert reply.repairs == ()
    assert reply.calls[0].planned.name == "save_note"
    assert reply.calls[0].args == {"text": "a"}
    nested = read_calls(a_call(MappingProxyType({"text": (Name.SAVE, MappingProxyType({}))})))
    assert_sound(nested)
    assert nested.calls[0].args == {"text": ["save_note", {}]}


def test_a_reply_is_read_without_touching_what_the_planner_holds() -> None:
    """The planner's own message stays as it is, and later changes of it change nothing here."""
    args = {"text": ["a"]}
    message = {"content": None, "tool_calls": [a_call(args, name=" save_note", call_id="")]}
    before = json.dumps(message)
    reply = read(message)
    assert json.dumps(message) == before
    args["text"].append("b")
    assert reply.calls[0].args == {"text": ["a"]}


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize("levels", [READ_DEPTH, READ_DEPTH + 1, 5_000, 20_000])
@pytest.mark.parametrize("comma", ["", ","])
def test_nesting_is_read_to_a_fixed_depth(levels: int, comma: str) -> None:
    """The answer depends on the text alone, not on how deep the caller stands."""
    text = nested(levels)[:-1] + comma + "}"
    value, _ = read_arguments(text)
    assert (value is not NOT_JSON) == (levels == READ_DEPTH)
    lists = "[" * levels + "]" * levels
    assert (parse_arguments(lists) is not NOT_JSON) == (levels == READ_DEPTH)
    assert READ_DEPTH == ARGUMENT_DEPTH  # what the gate takes


SLOW = {
    "spaces": " " * 1_000_000,
    "no-break spaces": "\u00a0" * 1_000_000,
    "spaces and a brace": " " * 500_000 + "{" + " " * 500_000,
    "spaces before a comma": '{"a":1' + " " * 500_000 + "," + " " * 500_000 + "}",
    "quotes": '"' * 100_000,
    "quotes in an object": "{" + '"' * 100_001,
    "apostrophes in an object": "{" + "'" * 100_001,
    "escaped quotes": '{"' + '\\"' * 100_000,
    "apostrophes and quotes": "{" + "'\"" * 100_000,
    "open brackets": "[" * 100_000,
    "open braces": "{" * 100_000,
    "open objects": '{"a":' * 100_000,
    "open comments": "{" + "/*" * 100_000,
    "comments": "{" + "/**/" * 50_000 + "}",
    "slashes": "{" + "/ " * 100_000 + "}",
    "commas": "{" + "," * 100_000 + "}",
    "colons": "{" + ":" * 100_000 + "}",
    "fences": "```" * 100_000 + "{}" + "```" * 100_000,
    "think": "<think>" * 100_000 + "{}",
    "byte order marks": "\ufeff" * 1_000_000,
    "backslashes": "{" + "\\" * 100_001,
    "digits": "9" * 100_000,
    "a long number": '{"a":' + "9" * 100_000 + ",}",
    "many keys": "{" + ",".join(f'"{n}":1' for n in range(10_000)) + ",}",
    "many strings in single quotes": "{" + ",".join(f"'{n}':1" for n in range(10_000)) + ",}",
    "halves": '{"a":"' + "\\ud83c" * 20_000 + '"}',
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW.keys())
def test_no_text_takes_long(text: str) -> None:
    """Reading is linear: the fastest of three readings is under 0.2 s."""
    took = []
    for _ in range(3):
        start = time.process_time()
        read_arguments(text)
        took.append(time.process_time() - start)
        if took[-1] < 0.2:
            break
    assert min(took) < 0.2
    try:
        assert_sound(read_calls(a_call(text)))
    except BadReplyError:
        assert len(text) + len("c1save_note") > REPLY_LIMIT


# What Hypothesis tries ------------------------------------------------------------------------------------------------------------

SIGNS = "{}[]\",:'\\/* \n`a1-.\ufeff\u00a0\ud83c\u00e9"
WORDS = ("True", "None", "null", "NaN", '"a"', "'b'", '{"a":1}', ",}", "\\u0041", "\\ud83c", "//", "/*", "*/")
WRAPS = ("```json", "```", "<think>", "</think>")
PIECES = st.sampled_from([*SIGNS, *WORDS, *WRAPS])
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(st.characters(codec=None), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.integers(), inner, max_size=3),
    max_leaves=8,
)
FUNCTIONS = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["save_note", "GO ", ""]) | VALUES, "arguments": VALUES})
CALLS = st.fixed_dictionaries({}, optional={"id": st.sampled_from(["c1", "call_7_1"]) | VALUES, "function": FUNCTIONS | VALUES})
PARTS = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
MESSAGES = st.fixed_dictionaries(
    {}, optional={"content": VALUES | st.lists(PARTS), "tool_calls": st.lists(CALLS | VALUES) | VALUES}
)


@given(MESSAGES | VALUES, st.sampled_from([None, "stop", "length", 5]))
def test_any_reply_gives_what_was_read_or_a_bad_reply_and_nothing_else(message: Any, finish_reason: Any) -> None:
    """No other exception, and whatever is read is sound."""
    try:
        reply = read(message, finish_reason=finish_reason)
    except BadReplyError:
        return
    assert finish_reason != "length"
    assert_sound(reply)


def strict(text: str) -> Any:
    """A strict parser of this test's own: what the standard library reads, without repeated keys, NaN and infinities."""

    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError
        return dict(pairs)

    def refuse(word: str) -> None:
        raise ValueError

    return json.loads(text, object_pairs_hook=no_repeats, parse_constant=refuse)


def strings(value: Any) -> list[str]:
    """All strings and keys of a value, in order."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, inner in value.items() for text in (key, *strings(inner))]
    return [text for inner in value for text in strings(inner)] if isinstance(value, list) else []


LIST_MARKS = str.maketrans("", "", " \n\t\r")


def skeleton(text: str) -> str:
    """A text as it would be if syntax were all there is: single quotes as double, Python's words as JSON's, no white space."""
    for python, word in (("True", "true"), ("False", "false"), ("None", "null")):
        text = text.replace(python, word)
    return text.replace("'", '"').translate(LIST_MARKS)


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(character in rest for character in part)


@given(TEXTS)
def test_text_is_only_read_when_dropping_some_of_it_makes_it_strict_json(raw: str) -> None:
    """Nothing is ever added: the value's own text, with all its brackets, keys and numbers, stands in the raw one in that order."""
    value, repairs = read_arguments(mended(raw))
    try:
        plain = strict(mended(raw))
    except (ValueError, RecursionError):
        plain = NOT_JSON
    if not repairs:
        assert value is NOT_JSON or json.dumps(value) == json.dumps(plain)
        return
    assert plain is NOT_JSON or set(repairs) <= {"null-arguments", "double-encoding", "surrogates"}
    assert isinstance(value, dict) or set(repairs) <= {"byte-order-mark", "white-space", "surrogates"}
    if value and not {"double-encoding", "surrogates"} & set(repairs) and "\\" not in raw:
        assert is_subsequence(skeleton(json.dumps(value, ensure_ascii=False)), skeleton(mended(raw)))


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8)
OBJECTS = st.dictionaries(
    PLAIN,
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53) + 1, 2**53 - 1)
        | PLAIN
        | st.sampled_from(["[1,2]", '{"a":1}', "True", "// x", "it's", "```"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)


class Sloppy:
    """Writes JSON with faults of the listed kinds, and remembers which it made."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self.made: set[str] = set()

    def maybe(self, repair: str, text: str, *, otherwise: str = "") -> str:
        if not self._draw(st.booleans()):
            return otherwise
        self.made.add(repair)
        return text

    def write(self, value: Any) -> str:
        if isinstance(value, dict):
            members = [f"{json.dumps(key)}:{self.write(inner)}" for key, inner in value.items()]
            return "{" + self._members(members) + "}"
        if isinstance(value, list):
            return "[" + self._members([self.write(inner) for inner in value]) + "]"
        if value is None or isinstance(value, bool):
            return self.maybe("python-constants", str(value), otherwise=json.dumps(value))
        return json.dumps(value, ensure_ascii=self._draw(st.booleans()))

    def _members(self, members: list[str]) -> str:
        text = self.maybe("comments", '/* {"x": 1,} */') + ",".join(members)
        return text + (self.maybe("trailing-commas", " ,") if members else "") + self.maybe("comments", " // ' \"\n")

    def wrap(self, text: str) -> str:
        text = self.maybe("code-fence", f"```json\n{text}\n```", otherwise=text)
        text = self.maybe("surrounding-text", f"Here you are: {text} Done.", otherwise=text)
        text = self.maybe("think-block", f'<think>{{"x": 1}}</think>{text}', otherwise=text)
        text = self.maybe("white-space", f"\u00a0{text}", otherwise=text)
        return self.maybe("byte-order-mark", f"\ufeff{text}", otherwise=text)


@given(st.data(), OBJECTS)
def test_an_object_comes_through_every_mixture_of_listed_faults_as_it_was(data: Any, value: dict[str, Any]) -> None:
    """And exactly the faults that were made are named."""
    sloppy = Sloppy(data.draw)
    text = sloppy.wrap(sloppy.write(value))
    found, repairs = read_arguments(text)
    assert json.dumps(found) == json.dumps(value)
    assert set(repairs) == sloppy.made
    assert list(repairs) == [name for name in REPAIRS if name in sloppy.made]


@given(OBJECTS)
def test_what_python_prints_is_read_as_what_it_was_or_not_at_all(value: dict[str, Any]) -> None:
    """Single quotes: Python's escapes that JSON does not have are refused, never guessed."""
    found, _ = read_arguments(repr(value))
    assert found is NOT_JSON or json.dumps(found) == json.dumps(value)
    if "\\" not in repr(value):
        assert found == value


@given(OBJECTS)
def test_strict_json_is_never_repaired(value: dict[str, Any]) -> None:
    """B97: whatever its strings look like, they arrive to the last byte."""
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        found, repairs = read_arguments(text)
        assert repairs == ()
        assert strings(found) == strings(value)
        assert json.dumps(found) == json.dumps(value)


@given(TEXTS.map(mended), st.text("0123456789abcdef", min_size=1, max_size=3))
def test_a_needle_is_found_in_raw_text_and_value_alike(raw: str, needle: str) -> None:
    """GB-L7: the short way for text without escapes gives the same answer as the walk through all strings."""
    value, _ = read_arguments(raw)
    found = [] if value is NOT_JSON else strings(value)
    expected = any(needle in text.casefold() for text in (raw, *found))
    assert contains_text(value, raw, needle.upper()) == expected


def test_an_escaped_needle_is_found_in_the_value() -> None:
    """GB-L7: one digit written as an escape does not hide it."""
    raw = '{"a":["\\u0061bc"]}'
    assert contains_text(parse_arguments(raw), raw, "ABC")
    assert not contains_text(parse_arguments(raw), raw, "abd")
