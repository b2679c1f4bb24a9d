"""Two connections joined: what one can say, the other understands; everything else it survives, or ends for good."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio import wire
from foxloop_trio.errors import LocalProtocolError, RemoteProtocolError
from foxloop_trio.wire._connection import MAX_ABANDONED, MAX_THEIR_REQUESTS
from foxloop_trio.wire._samples import samples

SAMPLES = samples()
PING = {"deadline_ms": 5000}
OPEN = wire.State.OPEN


def pair(**options: Any) -> tuple[wire.Connection, wire.Connection]:
    """Runtime and add-on after their hello."""
    return (
        wire.Connection(role=wire.RUNTIME, id_prefix="5e55", state=OPEN, **options),
        wire.Connection(role=wire.ADDON, id_prefix="1", state=OPEN, **options),
    )


def text_of(message: Any) -> str:
    return wire.encode(message, max_bytes=wire.MAX_MESSAGE_BYTES)


def ask(runtime: wire.Connection, addon: wire.Connection, method: str = "session.ping", params: Any = PING) -> wire.Request:
    """Send a request over; what arrived."""
    event = addon.receive_text(runtime.send_request(runtime.prepare(method, params)))
    assert isinstance(event, wire.Request)
    return event


def exchanges() -> list[tuple[str, Any, Any]]:
    """Method, params, and result of each sample that is asked by the runtime."""
    asked = [one for one in SAMPLES if one["from"] == wire.RUNTIME and "id" in one["message"] and "params" in one["message"]]
    answered = [one for one in SAMPLES if one["from"] == wire.ADDON and "result" in one["message"]]
    assert [one["method"] for one in asked] == [one["method"] for one in answered]
    pairs = zip(asked, answered, strict=True)
    return [(one["method"], one["message"]["params"], other["message"]["result"]) for one, other in pairs]


def test_two_connections_understand_each_other_through_all_methods() -> None:
    """Every request with each of its sample results, in one connection; both sides agree after each."""
    runtime, addon = pair()
    for count, (method, params, result) in enumerate(exchanges(), start=1):
        request = ask(runtime, addon, method, params)
        assert (f"r5e55-{count}", method, params) == (request.id, request.method, request.params)
        assert (wire.CallState.SENT, 1) == (runtime.state_of(request.id), runtime.unanswered)
        answer = runtime.receive_text(addon.send_result(request.id, result))
        assert wire.Answer(id=request.id, method=method, result=result) == answer
        assert (None, 0) == (runtime.state_of(request.id), runtime.unanswered)
    assert OPEN is runtime.state is addon.state


def test_all_notifications_arrive_in_both_directions() -> None:
    """Each with its sample params."""
    told = [one for one in SAMPLES if "id" not in one["message"] and one["method"] != "hello.challenge"]
    runtime, addon = pair()
    for one in told:
        ours, theirs = (runtime, addon) if one["from"] == wire.RUNTIME else (addon, runtime)
        params = one["message"]["params"]
        assert wire.Notification(method=one["method"], params=params) == theirs.receive_text(
            ours.send_notification(one["method"], params)
        )
    assert {wire.RUNTIME, wire.ADDON} == {one["from"] for one in told}


@pytest.mark.parametrize("code", [*wire.ERROR_NUMBERS, *wire.ERROR_CODES])
def test_every_error_arrives_as_a_failure_of_its_call(code: str) -> None:
    """With its code and the peer's words."""
    runtime, addon = pair()
    request = ask(runtime, addon)
    failure = runtime.receive_text(addon.send_error(request.id, code, "why"))
    assert wire.Failure(id=request.id, method="session.ping", code=code, message="why") == failure
    assert 0 == runtime.unanswered


def test_replies_in_any_order_find_their_own_calls() -> None:
    """Fifty calls, answered in a random order (buglog B23)."""
    runtime, addon = pair()
    asked = [ask(runtime, addon, "tab.get", {"tab": number, **PING}) for number in range(50)]
    random.Random(7).shuffle(asked)
    tab = exchanges()[2][2]["tab"]
    for request in asked:
        answer = runtime.receive_text(addon.send_result(request.id, {"tab": {**tab, "tab": request.params["tab"]}}))
        assert isinstance(answer, wire.Answer)
        assert (request.id, request.params["tab"]) == (answer.id, answer.result["tab"]["tab"])


def test_late_duplicate_and_stranger_replies_are_told_apart_and_touch_no_other_call() -> None:
    """Each is dropped by name; the younger call waits for its own answer (buglog B23)."""
    runtime, addon = pair()
    left, answered = ask(runtime, addon), ask(runtime, addon)
    late, first = addon.send_result(left.id, {}), addon.send_result(answered.id, {})
    runtime.abandon(left.id)
    assert wire.CallState.ABANDONED is runtime.state_of(left.id)
    waiting = ask(runtime, addon)
    assert isinstance(runtime.receive_text(first), wire.Answer)
    assert wire.StrayReply(id=left.id, why="late") == runtime.receive_text(late)
    for text in (late, first):
        assert isinstance(stray := runtime.receive_text(text), wire.StrayReply)
        assert "duplicate" == stray.why
    for stranger in (
        None,
        "r5e55-4",
        "r5e55-999999999999999",
        "r5e55-03",
        "r5e55-1x",
        "r5e55-",
        "r5e55-" + "9" * 50,
        "rdead-1",
        "x1-1",
    ):
        message = {"jsonrpc": "2.0", "id": stranger, "error": {"code": -32000, "message": "", "data": {"code": "internal"}}}
        assert wire.StrayReply(id=stranger, why="stranger") == runtime.receive_text(text_of(message))
    assert wire.CallState.SENT is runtime.state_of(waiting.id)
    assert isinstance(runtime.receive_text(addon.send_result(waiting.id, {})), wire.Answer)


def test_a_stray_reply_of_any_shape_is_only_stray() -> None:
    """Nobody waits for it, so nobody judges its content."""
    runtime, _addon = pair()
    event = runtime.receive_text(text_of({"jsonrpc": "2.0", "id": "r5e55-1", "result": {"any": ["thing"]}}))
    assert wire.StrayReply(id="r5e55-1", why="stranger") == event


def test_abandoning_is_idempotent_and_bounded() -> None:
    """Unknown ids are ignored; of very many abandoned calls the oldest are forgotten, and count as duplicates then."""
    runtime, _addon = pair()
    runtime.abandon("r5e55-1")
    asked = [runtime.prepare("session.ping", PING) for _ in range(MAX_ABANDONED + 1)]
    for request in asked:
        runtime.send_request(request)
        runtime.abandon(request.id)
        runtime.abandon(request.id)
    assert 0 == runtime.unanswered
    events = [runtime.receive_text(text_of({"jsonrpc": "2.0", "id": asked[at].id, "result": {}})) for at in (0, 1, -1)]
    assert ["duplicate", "late", "late"] == [event.why for event in events if isinstance(event, wire.StrayReply)]


@pytest.mark.parametrize(
    "result", [{}, {"tab": None}, {"tab": {}}, {"tab": 7}, {"tab": exchanges()[2][2]["tab"], "more": 1}], ids=str
)
def test_a_reply_of_the_wrong_shape_fails_that_call_only(result: Any) -> None:
    """The call is over, the connection is not; the problem quotes no value."""
    runtime, addon = pair()
    request, other = ask(runtime, addon, "tab.get", {"tab": 7, **PING}), ask(runtime, addon)
    refused = runtime.receive_text(text_of({"jsonrpc": "2.0", "id": request.id, "result": result}))
    assert isinstance(refused, wire.AnswerRefused)
    assert (request.id, "tab.get") == (refused.id, refused.method)
    assert refused.problem.startswith("result")
    assert None is runtime.state_of(request.id)
    assert isinstance(runtime.receive_text(addon.send_result(other.id, {})), wire.Answer)


@pytest.mark.parametrize(
    "error",
    [
        {},
        {"code": -32000, "message": "x"},
        {"code": -32000, "message": "x", "data": {"code": "unheard-of"}},
        {"code": -32601, "message": "x", "data": {"code": "internal"}},
        {"code": -32000, "message": "x", "data": {"code": "parse"}},
        {"code": -1, "message": "x", "data": {"code": "internal"}},
        {"code": "-32000", "message": "x", "data": {"code": "internal"}},
        {"code": -32000, "message": "x" * 2_001, "data": {"code": "internal"}},
        {"code": -32000, "message": "x", "data": {"code": "internal", "stack": "…"}},
    ],
    ids=str,
)
def test_an_error_of_the_wrong_shape_fails_that_call_only(error: Any) -> None:
    """As above, for errors: an unknown code, one under a wrong number, unknown keys, too long a message."""
    runtime, addon = pair()
    request = ask(runtime, addon)
    refused = runtime.receive_text(text_of({"jsonrpc": "2.0", "id": request.id, "error": error}))
    assert isinstance(refused, wire.AnswerRefused)
    assert (request.id, 0, OPEN) == (refused.id, runtime.unanswered, runtime.state)


def test_started_moves_its_call_and_no_other() -> None:
    """Before, twice, after the answer, for an abandoned and for an unknown call: news in each case, and never a fault."""
    runtime, addon = pair()
    one, two, left = ask(runtime, addon), ask(runtime, addon), ask(runtime, addon)
    runtime.abandon(left.id)
    for request_id in (one.id, one.id, left.id, "r5e55-99", "x1"):
        told = runtime.receive_text(addon.send_notification("page.started", {"id": request_id}))
        assert wire.Notification(method="page.started", params={"id": request_id}) == told
    assert [wire.CallState.STARTED, wire.CallState.SENT, wire.CallState.ABANDONED] == [
        runtime.state_of(request.id) for request in (one, two, left)
    ]
    assert isinstance(runtime.receive_text(addon.send_result(one.id, {})), wire.Answer)
    assert isinstance(runtime.receive_text(addon.send_notification("page.started", {"id": one.id})), wire.Notification)
    assert None is runtime.state_of(one.id)


# What ends the connection

BROKEN: dict[str, str] = {
    "no json": "hello",
    "nothing": "",
    "a batch": "[" + text_of(SAMPLES[3]["message"]) + "]",
    "an empty batch": "[]",
    "a text": '"x"',
    "a number": "7",
    "null": "null",
    "an empty object": "{}",
    "no version": '{"method":"tab.removed","params":{"tab":1}}',
    "version 1.0": '{"jsonrpc":"1.0","method":"tab.removed","params":{"tab":1}}',
    "version as a number": '{"jsonrpc":2.0,"method":"tab.removed","params":{"tab":1}}',
    "params as a list": '{"jsonrpc":"2.0","method":"tab.removed","params":[1]}',
    "no params": '{"jsonrpc":"2.0","method":"tab.removed"}',
    "method as a number": '{"jsonrpc":"2.0","method":1,"params":{}}',
    "method as an object": '{"jsonrpc":"2.0","method":{},"params":{}}',
    "an empty method": '{"jsonrpc":"2.0","method":"","params":{}}',
    "a long method": json.dumps({"jsonrpc": "2.0", "method": "x" * 101, "params": {}}),
    "an unknown key": '{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":1},"x":1}',
    "id as a number": '{"jsonrpc":"2.0","id":1,"method":"tab.removed","params":{}}',
    "id null": '{"jsonrpc":"2.0","id":null,"method":"tab.removed","params":{}}',
    "id as a list": '{"jsonrpc":"2.0","id":[],"result":{}}',
    "id with a space": '{"jsonrpc":"2.0","id":"r 1","result":{}}',
    "id with a line end": '{"jsonrpc":"2.0","id":"r1\\n","result":{}}',
    "a long id": json.dumps({"jsonrpc": "2.0", "id": "r" + "1" * 64, "result": {}}),
    "a result for nobody": '{"jsonrpc":"2.0","id":null,"result":{}}',
    "result and error": '{"jsonrpc":"2.0","id":"r5e55-1","result":{},"error":{}}',
    "result as null": '{"jsonrpc":"2.0","id":"r5e55-1","result":null}',
    "error as a text": '{"jsonrpc":"2.0","id":"r5e55-1","error":"no"}',
    "neither": '{"jsonrpc":"2.0","id":"r5e55-1"}',
    "our own kind of id": '{"jsonrpc":"2.0","id":"r5e55-1","method":"session.ping","params":{"deadline_ms":1}}',
    "a double key": '{"jsonrpc":"2.0","jsonrpc":"2.0","method":"tab.removed","params":{"tab":1}}',
    "a number that is none": '{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":NaN}}',
    "a byte order mark": '\ufeff{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":1}}',
    "a nesting bomb": '{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":' + "[" * 100_000,
    "too deep": '{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":' + "[" * 40 + "]" * 40 + "}}",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_no_message_ends_the_connection_for_good(text: str) -> None:
    """After the good twin it was fine; after the broken text even the good twin raises, and nothing can be sent any more."""
    good = '{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":1}}'
    runtime, addon = pair()
    request = ask(runtime, addon)
    assert isinstance(runtime.receive_text(good), wire.Notification)
    with pytest.raises(RemoteProtocolError, match="the addon broke the protocol") as caught:
        runtime.receive_text(text)
    assert "remote-protocol" == caught.value.code
    assert wire.State.ERROR is runtime.state
    assert_dead(runtime, good, request)


def assert_dead(runtime: wire.Connection, good: str, request: wire.Request) -> None:
    for _ in range(2):
        with pytest.raises(RemoteProtocolError):
            runtime.receive_text(good)
        with pytest.raises(RemoteProtocolError):
            runtime.receive_text(text_of({"jsonrpc": "2.0", "id": request.id, "result": {}}))
    prepared = runtime.prepare("session.ping", PING)
    with pytest.raises(LocalProtocolError, match="while the connection is error"):
        runtime.send_request(prepared)
    with pytest.raises(LocalProtocolError, match="while the connection is error"):
        runtime.send_notification("call.cancel", {"id": request.id})
    runtime.abandon(request.id)
    runtime.close()
    assert wire.State.ERROR is runtime.state


def test_a_message_over_the_limit_ends_the_connection_as_too_large() -> None:
    """At the limit it is taken."""
    text = text_of({"jsonrpc": "2.0", "id": "r9", "result": {"data": "a" * 900}})
    exact, small = pair(max_message_bytes=len(text))[0], pair(max_message_bytes=len(text) - 1)[0]
    assert isinstance(exact.receive_text(text), wire.StrayReply)
    with pytest.raises(RemoteProtocolError) as caught:
        small.receive_text(text)
    assert ("too-large", wire.State.ERROR) == (caught.value.code, small.state)


def test_a_closed_connection_says_and_hears_nothing() -> None:
    """In either direction."""
    runtime, addon = pair()
    text = addon.send_notification("tab.removed", {"tab": 1})
    runtime.close()
    assert wire.State.CLOSED is runtime.state
    with pytest.raises(LocalProtocolError, match="closed"):
        runtime.send_notification("call.cancel", {"id": "r1"})
    with pytest.raises(RemoteProtocolError, match="closed"):
        runtime.receive_text(text)


# What the peer asks


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"method": "tab.fly", "params": {}}, "unknown-method"),
        ({"method": "session.ping", "params": PING}, "unknown-method"),
        ({"method": "tab.removed", "params": {"tab": 1}}, "unknown-method"),
        ({"method": "__proto__", "params": {}}, "unknown-method"),
    ],
    ids=str,
)
def test_a_request_that_the_runtime_does_not_have_is_to_be_answered_with_an_error(message: Any, code: str) -> None:
    """The peer's words are not repeated in the answer; after it, the same id can be asked again."""
    runtime, _addon = pair()
    for _ in range(2):
        event = runtime.receive_text(text_of({"jsonrpc": "2.0", "id": "x1", **message}))
        assert isinstance(event, wire.RequestRefused)
        assert (code, "x1") == (event.code, event.id)
        assert message["method"] not in event.problem
        told = json.loads(runtime.send_error(event.id, event.code, event.problem))
        assert {"code": -32601, "message": event.problem, "data": {"code": code}} == told["error"]
    with pytest.raises(LocalProtocolError, match="no open request"):
        runtime.send_error("x1", "internal", "twice")


def test_a_request_with_params_that_do_not_fit_is_to_be_answered_with_an_error() -> None:
    """On the add-on's side, which has requests to take."""
    runtime, addon = pair()
    event = addon.receive_text(text_of({"jsonrpc": "2.0", "id": "r1", "method": "tab.get", "params": {"tab": "7", **PING}}))
    assert wire.RequestRefused(id="r1", code="invalid-params", problem="tab.get: params.tab breaks its type") == event
    assert isinstance(runtime.receive_text(addon.send_error("r1", "invalid-params", "no")), wire.StrayReply)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tab.removed", {}),
        ("tab.removed", {"tab": -1}),
        ("tab.flown", {"tab": 1}),
        ("call.cancel", {"id": "r1"}),
        ("tab.get", {"tab": 1, **PING}),
    ],
    ids=str,
)
def test_a_notification_that_does_not_fit_is_dropped_by_name(method: str, params: Any) -> None:
    """Wrong params, unknown, one that only we may send, and a request without an id."""
    runtime, addon = pair()
    event = runtime.receive_text(text_of({"jsonrpc": "2.0", "method": method, "params": params}))
    assert isinstance(event, wire.NotificationRefused)
    assert method == event.method
    assert isinstance(runtime.receive_text(addon.send_notification("tab.removed", {"tab": 1})), wire.Notification)


def test_two_open_requests_with_one_id_end_the_connection() -> None:
    """An answer could mean either."""
    runtime, addon = pair()
    text = runtime.send_request(runtime.prepare("session.ping", PING))
    addon.receive_text(text)
    with pytest.raises(RemoteProtocolError, match="same id"):
        addon.receive_text(text)


def test_requests_that_wait_for_our_answer_are_bounded() -> None:
    """A peer that asks without end is ended, before it fills our memory; one whose requests are answered is not."""
    runtime, addon = pair()
    for _ in range(MAX_THEIR_REQUESTS + 1):
        addon.send_result(ask(runtime, addon).id, {})
    for _ in range(MAX_THEIR_REQUESTS):
        ask(runtime, addon)
    with pytest.raises(RemoteProtocolError, match="requests wait"):
        ask(runtime, addon)


# What we send


def test_our_own_mistakes_raise_and_say_nothing() -> None:
    """Each leaves the connection as it was: the next good request has the next id and works."""
    runtime, addon = pair()
    mistakes: list[Any] = [
        lambda: runtime.prepare("tab.fly", {}),
        lambda: runtime.prepare("tab.get", {"tab": 7}),
        lambda: runtime.prepare("tab.get", {"tab": True, **PING}),
        lambda: runtime.prepare("call.cancel", {"id": "r1"}),
        lambda: runtime.prepare("hello.open", {}),
        lambda: runtime.send_notification("session.ping", PING),
        lambda: runtime.send_notification("tab.removed", {"tab": 1}),
        lambda: runtime.send_notification("call.cancel", {"id": ""}),
        lambda: runtime.send_result("x1", {}),
        lambda: runtime.send_error("x1", "internal", "x"),
        lambda: runtime.send_request(wire.Request(id="rdead-1", method="session.ping", params=PING)),
        lambda: runtime.send_request(wire.Request(id="r5e55-1", method="tab.fly", params=PING)),
        lambda: runtime.send_request(wire.Request(id="r5e55-1", method="session.ping", params={})),
    ]
    for mistake in mistakes:
        with pytest.raises(LocalProtocolError):
            mistake()
    assert "r5e55-1" == ask(runtime, addon).id


def test_an_answer_that_does_not_fit_is_not_sent_and_can_be_corrected() -> None:
    """Wrong result, unknown code, too long a message: the request is still open."""
    runtime, addon = pair()
    request = ask(runtime, addon)
    mistakes: list[Callable[[], str]] = [
        lambda: addon.send_result(request.id, {"x": 1}),
        lambda: addon.send_error(request.id, "unheard-of", "x"),
        lambda: addon.send_error(request.id, "internal", "x" * 2_001),
    ]
    for mistake in mistakes:
        with pytest.raises(LocalProtocolError, match=r"session\.ping"):
            mistake()
    assert isinstance(runtime.receive_text(addon.send_result(request.id, {})), wire.Answer)


def test_a_request_is_sent_once_and_in_its_order() -> None:
    """So no id is ever used twice, and an answer to something unsent is a stranger."""
    runtime, _addon = pair()
    first, second, third = (runtime.prepare("session.ping", PING) for _ in range(3))
    runtime.send_request(second)
    for request in (second, first):
        with pytest.raises(LocalProtocolError, match="sent once, in the order"):
            runtime.send_request(request)
    assert (1, None) == (runtime.unanswered, runtime.state_of(first.id))
    runtime.send_request(third)


def test_a_request_that_is_too_large_is_not_sent() -> None:
    """Code `too-large`, no state changed; a smaller one goes."""
    runtime, addon = pair(max_message_bytes=4096)
    params = next(params for method, params, _ in exchanges() if method == "page.act")
    request = runtime.prepare("page.act", {**params, "value": "x" * 5_000})
    with pytest.raises(LocalProtocolError) as caught:
        runtime.send_request(request)
    assert ("too-large", 0, None) == (caught.value.code, runtime.unanswered, runtime.state_of(request.id))
    assert "page.act" == ask(runtime, addon, "page.act", params).method


def test_the_deadline_can_be_renewed_when_it_is_sent_and_is_judged_again() -> None:
    """What is left by then; a negative or endless one is our mistake, and nothing is sent."""
    runtime, addon = pair()
    request = runtime.prepare("session.ping", PING)
    for wrong in (-1, 3_600_001, True):
        with pytest.raises(LocalProtocolError):
            runtime.send_request(request, deadline_ms=wrong)
    event = addon.receive_text(runtime.send_request(request, deadline_ms=17))
    assert isinstance(event, wire.Request)
    assert ({"deadline_ms": 17}, PING) == (event.params, {"deadline_ms": 5000})


def test_params_changed_after_preparing_are_judged_again() -> None:
    """What goes out fits, whatever the caller did to its own dict meanwhile."""
    runtime, _addon = pair()
    params: dict[str, Any] = {"tab": 7, **PING}
    request = runtime.prepare("tab.get", params)
    params["tab"] = "7"
    with pytest.raises(LocalProtocolError, match=r"params\.tab"):
        runtime.send_request(request)
    assert 0 == runtime.unanswered


def test_lone_surrogates_arrive_as_replacement_characters_on_both_ways() -> None:
    """In params and in results; both sides see the same text (buglog B95)."""
    runtime, addon = pair()
    params = next(params for method, params, _ in exchanges() if method == "page.act")
    request = ask(runtime, addon, "page.act", {**params, "value": "a\ud83cb\ud83c\udf78"})
    assert "a\ufffdb\U0001f378" == request.params["value"]
    _, _, result = next(one for one in exchanges() if one[0] == "page.act")
    text = json.dumps({"jsonrpc": "2.0", "id": request.id, "result": {**result, "value": "\udf78x"}})
    assert "\\udf78" in text
    answer = runtime.receive_text(text)
    assert isinstance(answer, wire.Answer)
    assert "\ufffdx" == answer.result["value"]


def test_reprs_show_state_and_no_content() -> None:
    """Counts and states are enough to look for a fault."""
    runtime, addon = pair()
    ask(runtime, addon)
    assert "<Connection of the runtime, open, 1 calls unanswered>" == repr(runtime)


@given(st.integers(0, len(SAMPLES) - 1), st.data())
def test_a_damaged_message_is_understood_refused_or_ends_the_connection(which: int, data: st.DataObject) -> None:
    """One span of a good message cut out, doubled, or replaced: never another exception."""
    text = text_of(SAMPLES[which]["message"])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    put = data.draw(st.sampled_from(["", text[start:end] * 2, '"', "{}", "null", "1e999", "\\ud800", "\ud800", ",", "[[", "\x00"]))
    runtime, addon = pair()
    for connection in (runtime, addon):
        connection.send_notification(*(("call.cancel", {"id": "r1"}) if connection is runtime else ("tab.removed", {"tab": 1})))
        try:
            connection.receive_text(text[:start] + put + text[end:])
        except RemoteProtocolError:
            assert wire.State.ERROR is connection.state
        else:
            assert OPEN is connection.state
