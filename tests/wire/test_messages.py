"""Every message has schemas and a sample that fits; a message that differs from a good one in one place is refused.

What may be left out, be null or have another type stands here once more, by hand, so that a schema that grew lax is caught by a
test that does not read it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from foxloop_trio import wire
from foxloop_trio.errors import RemoteProtocolError
from foxloop_trio.wire._messages import ENVELOPES, ERROR, other
from foxloop_trio.wire._samples import REQUEST, refused_samples, samples
from foxloop_trio.wire._validate import params_problem, result_problem

Sample = dict[str, Any]
Path = tuple[str | int, ...]

SAMPLES = samples()
IDS = [f"{at}-{sample['method']}" for at, sample in enumerate(SAMPLES)]

OPTIONAL = [
    r"result\.frames\[\]\.controls\[\]\.(options|checked|expanded|form|date_format|href|row|via|destination|multiple|description)",
    r"result\.frames\[\]\.controls\[\]\.(popup_for|sensitive|behind_modal|hover_only|options_more|value_more|label_more|accept)",
    r"result\.frames\[\]\.controls\[\]\.(files|row_text|look|box|current|level|opens)",
    r"result\.frames\[\]\.(parent|origin|captcha_passive|text_truncated|total_controls|total_text|took_ms)",
    r"result\.unreadable\[\]\.(frame|count)",
    r"(result|result\.(?:result|outcome))\.(reason|detail|value|checked)",
    r"result\.frames\[\]\.controls\[\]\.form_key",
]
"""Keys that may be left out. All others are required."""

OPTIONAL_OF = {
    "tab.open": [r"params\.held_with"],
    "page.act": [
        r"params\.(input|form_key|dialog|dialog\.reply)|params\.value\.(onto|from|how|files|until|onto\.[xy])",
        r"result\.(did|changed|changed_elsewhere|download|download\.size|leads_to|opened_tabs|popups)",
    ],
    "page.aim": [r"params\.(form_key|dialog)", r"result\.(outcome|chunks)", r"result\.chunks\[\]\[\]\.(x|y|button|ms|char)"],
    "page.table": [r"params\.find"],
    "page.read": [r"params\.(focus|frame|region|find|offset|text_offset|max_controls|max_text)"],
    "tab.capture": [
        r"params\.(quality|area|marks|scale|marks\[\]\.label)",
        r"result\.(width|height|scale|painted_over|marked|cut)",
    ],
}
"""The same, of one method only."""

ALSO = {
    r"result\.declared": {"null", "number"},
    r"params\.value": {"string", "number", "null", "array", "object"},
    r"params\.list_for": {"number", "null"},
    r"params\.area": {"string", "object"},
    r"params\.marks": {"string", "array"},
    r"params\.hosts": {"array", "null"},
    r"result\.frames\[\]\.parent": {"number", "null"},
    r"(params|result)\.tab\.document|result\.tabs\[\]\.document": {"string", "null"},
    r"(result|result\.(?:result|outcome))\.value": {"string", "null"},
    r"(result|result\.(?:result|outcome))\.checked": {"boolean", "null"},
    r"result\.result": {"object", "null"},
    r"(params|(result|result\.(?:result|outcome))\.dialogs\[\])\.answer": {"boolean", "string", "null"},
    r"result\.frames\[\]\.controls\[\]\.checked": {"boolean", "string"},
}
"""Places whose value may have more than the one type that it has in a sample."""

POINTS = {f"params.value.{end}.{axis}" for end in ("onto", "from", "by") for axis in ("x", "y")}

FRACTIONS = {*POINTS, "params.value", "params.scale", "result.scale", "result.frames[].took_ms", "result.frames[].controls[].box[]"}
"""Numbers that need not be whole."""

NEGATIVE = {*POINTS, "params.value", "result.frames[].controls[].box[]", "result.frames[].origin[]"}
"""Numbers that may be below zero."""

WORDS = {"params.area": "page", "params.marks": "controls"}
"""Places that take a word instead of a thing."""

STRANGE: list[Any] = [None, True, False, 0, 1, 1.5, "", "x", [], {}, [{}]]

LENGTHS = {
    **dict.fromkeys(["url", "href"], 65_536),
    **dict.fromkeys(["name", "placeholder", "target", "host", "detail", "title"], 1_000),
    **dict.fromkeys(["guard", "key"], 256),
    **dict.fromkeys(["role", "tag", "type", "row", "date_format", "version"], 100),
    "label": 200,
    "message": 2_000,
    "section": 70,
    "text": 60_000,
}
"""Longest texts, by key."""


def kind_of(value: Any) -> str:
    names = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


def accepted(sample: Sample, message: Any = None) -> bool:
    """Whether a connection takes the sample's message, or another one in its place, for what it says it is."""
    message = sample["message"] if message is None else message
    sender, method = sample["from"], sample["method"]
    reply = "params" not in sample["message"]
    receiver = wire.Connection(role=other(sender), id_prefix="5e55", state=state_before(method, reply))
    if reply:
        request = next(one for one in SAMPLES if one["method"] == method and "params" in one["message"])["message"]
        prepared = receiver.prepare(method, request["params"])
        receiver.send_request(prepared)
        if message.get("id") == sample["message"]["id"]:
            message = {**message, "id": prepared.id}
    try:
        event = receiver.receive_text(wire.encode(message, max_bytes=wire.MAX_MESSAGE_BYTES))
    except RemoteProtocolError:
        assert receiver.state is wire.State.ERROR
        return False
    if isinstance(event, wire.Answer):
        assert message["result"] == event.result
    return isinstance(event, wire.Request | wire.Notification | wire.Answer | wire.Failure)


def state_before(method: str, reply: bool) -> wire.State:
    if method == "hello.challenge":
        return wire.State.NEW
    return wire.State.CHALLENGED if method == "hello.open" else wire.State.OPEN


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of everything inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in items:
        yield (*path, step)
        yield from places(child, (*path, step))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(message: Any, path: Path, value: Any) -> Any:
    message = copy.deepcopy(message)
    at(message, path[:-1])[path[-1]] = value
    return message


def without(message: Any, path: Path) -> Any:
    message = copy.deepcopy(message)
    del at(message, path[:-1])[path[-1]]
    return message


def named(path: Path) -> str:
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def may_be(path: Path, value: Any) -> set[str]:
    found = {kind_of(value)}
    for pattern, kinds in ALSO.items():
        if re.fullmatch(pattern, named(path)):
            found |= kinds
    return found


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_every_sample_fits(sample: Sample) -> None:
    """The accepted twin of all that is refused below."""
    assert accepted(sample)


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_every_sample_survives_encode_and_decode(sample: Sample) -> None:
    """Nothing is lost, added or turned into something else on the way."""
    text = wire.encode(sample["message"], max_bytes=wire.MAX_MESSAGE_BYTES)
    assert sample["message"] == wire.decode(text, max_bytes=wire.MAX_MESSAGE_BYTES)
    assert text == wire.encode(wire.decode(text, max_bytes=wire.MAX_MESSAGE_BYTES), max_bytes=wire.MAX_MESSAGE_BYTES)


def test_every_method_has_schemas_and_samples_of_all_its_messages() -> None:
    """Params and result of each; requests have both, notifications have no result."""
    with_params = {sample["method"] for sample in SAMPLES if "params" in sample["message"]}
    with_result = {sample["method"] for sample in SAMPLES if "result" in sample["message"]}
    requests = {name for name, method in wire.METHODS.items() if method.kind == "request"}
    assert (set(wire.METHODS), requests) == (with_params, with_result)
    assert requests == {name for name, method in wire.METHODS.items() if method.result is not None}
    assert len(wire.METHODS) == 29
    for name, method in wire.METHODS.items():
        assert name == method.name
        assert method.params["additionalProperties"] is False


def test_every_request_of_the_runtime_carries_its_deadline() -> None:
    """The add-on never starts anything after it, so no request can do without."""
    requests = [method for method in wire.METHODS.values() if method.kind == "request" and method.sender == wire.RUNTIME]
    assert requests
    for method in requests:
        assert "deadline_ms" in method.params["required"]


def all_schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for child in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from all_schemas(child)


def test_every_schema_is_closed_bounded_and_names_its_type() -> None:
    """No object takes unknown keys, no list and no number is unbounded, and no place is left without a type: without one, an enum
    would take 1 for true."""
    parts = [part for method in wire.METHODS.values() for part in (method.params, method.result) if part is not None]
    seen = [schema for part in (*parts, ERROR) for schema in all_schemas(part)]
    assert len(seen) > 200
    for schema in seen:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if "object" in kinds:
            assert schema["additionalProperties"] is False, schema
        if "array" in kinds:
            assert schema["maxItems"] <= 2_000, schema
        if "integer" in kinds and "const" not in schema and "enum" not in schema:
            assert schema["minimum"] in (0, 1, -(2**53) + 1), schema
            assert schema["maximum"] <= 2**53 - 1, schema
    for envelope in ENVELOPES.values():
        assert envelope["additionalProperties"] is False


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_an_unknown_key_is_refused_in_every_object(sample: Sample) -> None:
    """At every depth, the envelope included."""
    message = sample["message"]
    objects = [(), *(path for path in places(message) if isinstance(at(message, path), dict))]
    for path in objects:
        assert not accepted(sample, changed(message, (*path, "unknown"), 1)), named(path)


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_a_missing_key_is_refused_unless_it_may_be_left_out(sample: Sample) -> None:
    """Each key of each object, one at a time; without the optional ones the message is still taken."""
    message = sample["message"]
    for path in places(message):
        if isinstance(path[-1], str):
            patterns = [*OPTIONAL, *OPTIONAL_OF.get(sample["method"], [])]
            optional = any(re.fullmatch(pattern, named(path)) for pattern in patterns)
            # Without its id a request of a method is a notification that nobody knows, and a reply is no message at all.
            assert optional == accepted(sample, without(message, path)), named(path)


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_a_value_of_another_type_is_refused_at_every_place(sample: Sample) -> None:
    """Booleans are no numbers, numbers no booleans, null is not absence, and 1.5 is no integer."""
    message = sample["message"]
    for path in places(message):
        kinds = may_be(path, at(message, path))
        for value in STRANGE:
            if kind_of(value) not in kinds or (value == 1.5 and named(path) not in FRACTIONS):
                assert not accepted(sample, changed(message, path, value)), (named(path), value)


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_what_may_be_null_or_of_another_type_is_taken_so(sample: Sample) -> None:
    """The accepted twins of the test above."""
    message = sample["message"]
    for path in places(message):
        name = named(path)
        text = WORDS.get(name, "ab" * 16 if name.endswith("document") else "mixed")
        fitting = {"null": None, "boolean": True, "string": text, "number": 7}
        kinds = may_be(path, at(message, path)) if any(re.fullmatch(pattern, name) for pattern in ALSO) else set()
        for kind in kinds & set(fitting):
            assert accepted(sample, changed(message, path, fitting[kind])), (name, kind)


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_numbers_out_of_range_are_refused(sample: Sample) -> None:
    """Few may be negative, and none is one that JavaScript cannot keep."""
    message = sample["message"]
    for path in places(message):
        if kind_of(at(message, path)) == "number":
            for value in (2**53, -(2**53), 10**400, 1e300):
                assert not accepted(sample, changed(message, path, value)), (named(path), value)
            assert accepted(sample, changed(message, path, -1)) == (named(path) in NEGATIVE), named(path)


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
def test_texts_are_bounded_and_may_be_as_long_as_their_bound(sample: Sample) -> None:
    """Each text with a limit, at its limit and one over it. A pair of surrogates is one character."""
    message = sample["message"]
    for path in places(message):
        value, key = at(message, path), path[-1]
        part = path[0] in ("params", "result") or path == ("error", "message")
        if not part or not isinstance(value, str) or key not in LENGTHS or named(path) == "result.data":
            continue
        if path[-2:] in (("browser", "name"),) or named(path) == "params.marks[].label":
            limit = 100
        elif isinstance(path[-1], str) and len(path) > 2 and path[-3] == "options":
            limit = 500
        else:
            limit = LENGTHS[str(key)]
        assert accepted(sample, changed(message, path, "\U0001f9fa" * limit)), named(path)
        assert not accepted(sample, changed(message, path, "x" * (limit + 1))), named(path)


def test_every_text_of_every_sample_is_bounded() -> None:
    """Whatever is not listed above is a word, a digest or an id: none takes a long text, but the three that the message's own size
    bounds."""
    unbounded = set()
    for sample in SAMPLES:
        for path in places(sample["message"]):
            long = "a" * 70_000
            if isinstance(at(sample["message"], path), str) and accepted(sample, changed(sample["message"], path, long)):
                unbounded.add((sample["method"], named(path)))
    assert {
        ("page.act", "params.value"),
        ("page.stage", "params.data"),
        ("page.fetch", "result.data"),
        ("tab.capture", "result.data"),
    } == unbounded


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [
        ("tab.list", ("result", "tabs"), 2_000),
        ("page.read", ("result", "frames"), 500),
        ("page.read", ("result", "unreadable"), 500),
        ("page.read", ("result", "frames", 0, "controls"), 1_000),
        ("page.read", ("result", "frames", 0, "headings"), 200),
        ("page.read", ("result", "frames", 0, "controls", 2, "options"), 300),
        ("page.acknowledge", ("params", "calls"), 32),
    ],
)
def test_lists_are_bounded_and_may_be_as_long_as_their_bound(method: str, path: Path, limit: int) -> None:
    """At the limit, one over it, and empty."""
    sample = next(one for one in SAMPLES if one["method"] == method and path[0] in one["message"])
    one = at(sample["message"], path)[0]
    assert accepted(sample, changed(sample["message"], path, []))
    assert accepted(sample, changed(sample["message"], path, [one] * limit))
    assert not accepted(sample, changed(sample["message"], path, [one] * (limit + 1)))


@pytest.mark.parametrize("length", [16, 32, 64])
def test_digests_and_ids_are_lower_case_hex_of_one_length(length: int) -> None:
    """No capitals, no longer or shorter ones, no line end after them, no digits of other scripts."""
    tried = 0
    for sample in SAMPLES:
        message = sample["message"]
        for path in places(message):
            value = at(message, path)
            if not (isinstance(value, str) and len(value) == length and re.fullmatch("[0-9a-f]+", value)):
                continue
            if path[-1] in ("guard", "key", "form_key"):
                bad = ["", "1234567"]  # any form of at least 64 bits
            else:
                bad = [value[:-1], value + "0", value[:-1] + "F", value + "\n", value[:-1] + "g", value[:-1] + "\u0660", ""]
            if named(path) == "params.guard" or named(path) == "params.key":
                bad = []  # what came from the page goes back to it, whatever it is
            for text in bad:
                tried += 1
                assert not accepted(sample, changed(message, path, text)), (named(path), text)
    assert tried > 5


def test_one_and_zero_are_not_true_and_false() -> None:
    """To Python 1 == True: the state of a checkbox must still be a boolean, or "mixed"."""
    sample = next(one for one in SAMPLES if one["method"] == "page.read" and "result" in one["message"])
    path = ("result", "frames", 0, "controls", 3, "checked")
    for good in (True, False, "mixed"):
        assert accepted(sample, changed(sample["message"], path, good))
    for bad in (1, 0, 1.0, 0.0, "true", None):
        assert not accepted(sample, changed(sample["message"], path, bad))


@pytest.mark.parametrize("operation", wire.ACT_OPERATIONS)
def test_every_operation_is_known_and_no_other(operation: str) -> None:
    """A word that is nearly one is none."""
    sample = next(one for one in SAMPLES if one["method"] == "page.act")
    assert accepted(sample, changed(sample["message"], ("params", "op"), operation))
    for word in (operation.upper(), operation + " ", operation + "\n", "eval"):
        assert not accepted(sample, changed(sample["message"], ("params", "op"), word))


@pytest.mark.parametrize("code", [*wire.ERROR_NUMBERS, *wire.ERROR_CODES])
def test_every_error_code_is_known_under_its_number_only(code: str) -> None:
    """`data.code` decides; a number that belongs to another code is a fault."""
    sample = next(one for one in SAMPLES if "error" in one["message"])
    numbers = [*wire.ERROR_NUMBERS.values(), wire.APPLICATION_ERROR]
    right = wire.ERROR_NUMBERS.get(code, wire.APPLICATION_ERROR)
    for number in numbers:
        message = changed(changed(sample["message"], ("error", "code"), number), ("error", "data"), {"code": code})
        assert accepted(sample, message) == (number == right)


@pytest.mark.parametrize("reason", wire.ACT_REFUSALS)
def test_every_refusal_of_an_act_fits_and_so_does_a_newer_one(reason: str) -> None:
    """A newer add-on may know more reasons, but only words of that form."""
    sample = next(one for one in SAMPLES if one["message"].get("result", {}).get("reason"))
    for good in (reason, "a-new-reason"):
        assert accepted(sample, changed(sample["message"], ("result", "reason"), good))
    for bad in (reason.upper(), reason + "\n", "", "-x", "a b", "x" * 41):
        assert not accepted(sample, changed(sample["message"], ("result", "reason"), bad))


@pytest.mark.parametrize("sample", refused_samples(), ids=lambda sample: sample["why"])
def test_every_refused_sample_is_refused(sample: Sample) -> None:
    """The same list is refused by the add-on."""
    assert not accepted(sample)


def test_the_words_about_a_fault_name_the_place_and_never_the_value() -> None:
    """What stands there may be a page's text or a secret."""
    sample = next(one for one in SAMPLES if one["method"] == "page.read" and "result" in one["message"])
    result = sample["message"]["result"]
    secret = "hunter2" * 1_000
    problem = result_problem("page.read", changed(result, ("frames", 0, "controls", 1, "label"), secret))
    assert problem == "result.frames[0].controls[1].label breaks its largest length"
    problem = result_problem("page.read", changed(result, ("frames", 0, secret), 1))
    assert problem == "result.frames[0] breaks the rule that unknown keys are refused"
    assert params_problem("tab.get", {"tab": 7}) == "params breaks the rule that no required key is missing"


def test_judging_changes_nothing() -> None:
    """A schema compiler may write defaults into what it judges; ours does not."""
    for sample in SAMPLES:
        before = copy.deepcopy(sample)
        accepted(sample)
        assert before == sample


def test_the_samples_use_the_id_that_a_connection_makes() -> None:
    """So that they can be replayed as they are."""
    connection = wire.Connection(role=wire.RUNTIME, id_prefix="5e55", state=wire.State.OPEN)
    assert REQUEST == connection.prepare("session.ping", {"deadline_ms": 1}).id
