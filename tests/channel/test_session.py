"""Calls: matched by id, bounded by their deadline, failed alone or together."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from foxloop_trio import wire
from foxloop_trio.channel import (
    MAX_CALLS,
    SEND_SECONDS,
    Call,
    CallTimeout,
    ChannelSession,
    RemoteCallError,
    open_session,
)
from foxloop_trio.errors import (
    BadOptionsError,
    ChannelBroken,
    ChannelClosed,
    ChannelError,
    LocalProtocolError,
    RemoteProtocolError,
)
from foxloop_trio.testing import memory_channel_pair


async def outcome(call: Call) -> Any:
    """Its result, or the exception it ends with."""
    try:
        return await call.result()
    except ChannelError as error:
        return error


async def test_a_call_gets_the_result_of_its_own_request(autojump_clock: Any, attached: Any, tab: Any) -> None:
    """Two calls are answered in reverse order, and each gets its own result (protocol; buglog B23)."""
    async with attached() as (session, addon):
        first = session.start("tab.get", {"tab": 1}, timeout=5)
        second = session.start("tab.get", {"tab": 2}, timeout=5)
        asked = [await addon.request(), await addon.request()]
        for request in reversed(asked):
            await addon.answer(request, {"tab": {**tab, "tab": request.params["tab"]}})
        assert [1, 2] == [(await call.result())["tab"]["tab"] for call in (first, second)]


async def test_the_deadline_on_the_wire_is_what_is_left_when_it_is_sent(autojump_clock: Any, attached: Any) -> None:
    """Time in the queue counts: the second request has waited 2 of its 5 seconds (buglog B26)."""
    async with attached(buffer=0) as (session, addon):
        session.start("session.ping", {}, timeout=5)
        session.start("session.ping", {}, timeout=5)
        await trio.sleep(2)
        assert [5000, 3000] == [(await addon.request()).params["deadline_ms"] for _ in range(2)]


async def test_a_call_ends_at_its_deadline_and_asks_the_addon_to_stop(autojump_clock: Any, attached: Any, act: Any) -> None:
    """At 2 s exactly the caller is told, and `call.cancel` for that id goes out (buglog B04)."""
    async with attached() as (session, addon):
        start = trio.current_time()
        with pytest.raises(CallTimeout) as caught:
            await session.call("page.act", act, timeout=2)
        assert 2 == trio.current_time() - start
        assert (True, False, "call-timeout") == (caught.value.sent, caught.value.started, caught.value.code)
        request = await addon.request()
        assert ("call.cancel", {"id": request.id}) == ((told := await addon.next()).method, told.params)


async def test_a_call_that_waits_too_long_in_the_queue_is_never_sent(autojump_clock: Any, attached: Any, act: Any) -> None:
    """A stuck peer: the second call ends at its own 3 s, says that it was not sent, and never reaches the peer (buglog B26)."""
    async with attached(buffer=0) as (session, addon):
        stuck = session.start("session.ping", {}, timeout=9)
        with pytest.raises(CallTimeout) as caught:
            await session.call("page.act", act, timeout=3)
        assert (3, False) == (trio.current_time(), caught.value.sent)
        await addon.answer(await addon.request(), {})
        await stuck.result()
        session.notify("call.cancel", {"id": stuck.id})
        await addon.next()
        assert ["session.ping", "call.cancel"] == addon.methods


async def test_a_call_whose_deadline_passes_while_its_caller_looks_away_is_not_sent(
    autojump_clock: Any, attached: Any, act: Any
) -> None:
    """Nobody awaits the result when the deadline passes; the writer itself refuses to send it late."""
    async with attached(buffer=0) as (session, addon):
        session.start("session.ping", {}, timeout=9)
        late = session.start("page.act", act, timeout=3)
        await trio.sleep(4)
        await addon.answer(await addon.request(), {})
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(CallTimeout, match="could not be sent"):
            await late.result()
        assert (False, 1, 0) == (late.sent, session.statistics().sent, session.statistics().waiting)


async def test_an_error_answer_raises_with_its_code(autojump_clock: Any, attached: Any) -> None:
    """`data.code` is the code to branch on; the words are the peer's."""
    async with attached() as (session, addon):
        call = session.start("tab.get", {"tab": 1}, timeout=5)
        await addon.fail(await addon.request(), "no-tab", "tab 1 is gone")
        with pytest.raises(RemoteCallError, match="tab 1 is gone") as caught:
            await call.result()
        assert ("no-tab", "tab.get") == (caught.value.code, caught.value.method)


@pytest.mark.parametrize(
    "result",
    [{}, {"tab": {}}, {"tab": 7}, {"tab": None, "more": 1}],
    ids=["missing", "empty", "number", "unknown key"],
)
async def test_a_result_of_the_wrong_shape_fails_that_call_only(autojump_clock: Any, attached: Any, tab: Any, result: Any) -> None:
    """The other call on the same connection gets its answer."""
    async with attached() as (session, addon):
        wrong = session.start("tab.get", {"tab": 1}, timeout=5)
        right = session.start("tab.get", {"tab": 7}, timeout=5)
        asked = [await addon.request(), await addon.request()]
        await addon.say({"jsonrpc": "2.0", "id": asked[0].id, "result": result})
        await addon.answer(asked[1], {"tab": tab})
        with pytest.raises(RemoteProtocolError, match=r"answer to tab\.get does not fit"):
            await wrong.result()
        assert {"tab": tab} == await right.result()
        assert (1, False) == (session.statistics().refused_results, session.closed)


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32000, "message": "x", "data": {"code": "made-up"}},
        {"code": -32601, "message": "x", "data": {"code": "no-tab"}},
        {"code": -32000, "message": "x"},
        {"message": "x"},
    ],
    ids=["unknown code", "number of another code", "no data", "no number"],
)
async def test_an_error_of_the_wrong_shape_fails_that_call_only(autojump_clock: Any, attached: Any, error: Any) -> None:
    """An error that cannot be understood is not taken for one that can."""
    async with attached() as (session, addon):
        call = session.start("session.ping", {}, timeout=5)
        await addon.say({"jsonrpc": "2.0", "id": (await addon.request()).id, "error": error})
        with pytest.raises(RemoteProtocolError, match="does not fit"):
            await call.result()
        assert not session.closed


async def test_late_duplicate_and_stranger_replies_are_dropped_and_counted(autojump_clock: Any, attached: Any) -> None:
    """None of them reaches the call that is waiting, which gets its own answer (buglog B02, B23)."""
    async with attached() as (session, addon):
        with pytest.raises(CallTimeout):
            await session.call("session.ping", {}, timeout=1)
        late = await addon.request()
        await addon.next()
        waiting = session.start("tab.list", {}, timeout=5)
        asked = await addon.request()
        await addon.answer(late, {})
        await addon.say({"jsonrpc": "2.0", "id": late.id, "result": {}})
        await addon.say({"jsonrpc": "2.0", "id": "rffffff-1", "result": {}})
        await addon.say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?", "data": {"code": "parse"}}})
        await trio.testing.wait_all_tasks_blocked()
        assert not waiting.done
        await addon.answer(asked, {"tabs": []})
        assert {"tabs": []} == await waiting.result()
        counts = session.statistics()
        assert (1, 1, 2) == (counts.late_replies, counts.duplicate_replies, counts.strange_replies)


async def test_a_failing_sibling_is_the_only_error_that_is_seen(autojump_clock: Any, attached: Any) -> None:
    """A call is cancelled because its sibling failed; the late reply adds no second error (buglog B02)."""

    async def fail(addon: Any) -> None:
        asked.append(await addon.request())
        raise ValueError("the sibling")

    asked: list[wire.Request] = []
    async with attached() as (session, addon):
        with pytest.RaisesGroup(pytest.RaisesExc(ValueError, match="the sibling")):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lambda: session.call("session.ping", {}, timeout=5))
                nursery.start_soon(fail, addon)
        await addon.next()
        await addon.answer(asked[0], {})
        again = session.start("session.ping", {}, timeout=5)
        await addon.answer(await addon.request(), {})
        assert {} == await again.result()
        assert 1 == session.statistics().late_replies


async def test_ids_are_never_used_again(autojump_clock: Any, attached: Any) -> None:
    """Not after an answer, a timeout or a call that was taken back."""
    async with attached() as (session, addon):
        ids = []
        for _ in range(5):
            answered = session.start("session.ping", {}, timeout=5)
            taken_back = session.start("session.ping", {}, timeout=5)
            await taken_back.cancel(0)
            await addon.answer(await addon.request(), {})
            await answered.result()
            ids += [answered.id, taken_back.id]
        assert 10 == len(set(ids))
        assert all(call_id.startswith("r") for call_id in ids)


async def test_an_answer_to_an_earlier_session_on_the_same_connection_is_a_stranger(autojump_clock: Any, peer: Any) -> None:
    """A relay keeps the socket while sessions come and go; their id prefixes differ."""
    prefixes = iter([b"first!", b"second"])
    sessions = []
    for _ in range(2):
        ours, theirs = memory_channel_pair()
        async with open_session(ours, peer, ids=lambda nbytes, purpose: next(prefixes)) as session:
            sessions.append(session.start("session.ping", {}, timeout=5).id)
            if len(sessions) == 2:
                await theirs.send_text(json.dumps({"jsonrpc": "2.0", "id": sessions[0], "result": {}}))
                await trio.testing.wait_all_tasks_blocked()
                assert (1, 0) == (session.statistics().strange_replies, session.statistics().duplicate_replies)


async def test_a_lost_peer_breaks_every_call_with_an_exception_of_its_own(autojump_clock: Any, attached: Any) -> None:
    """Peer lost mid-call: all of them raise ChannelBroken, later calls too."""
    async with attached() as (session, addon):
        calls = [session.start("session.ping", {}, timeout=60) for _ in range(3)]
        for _ in calls:
            await addon.request()
        await addon.transport.aclose(1001)
        errors = [await outcome(call) for call in calls]
        assert [ChannelBroken] * 3 == [type(error) for error in errors]
        assert 3 == len({id(error) for error in errors})
        assert "code 1001" in str(errors[0])
        assert 0 == trio.current_time()
        await session.wait_closed()
        with pytest.raises(ChannelBroken):
            await session.call("session.ping", {}, timeout=1)


async def test_the_body_of_a_session_goes_on_when_the_peer_is_lost(autojump_clock: Any, attached: Any) -> None:
    """The end of the connection is told by calls and `wait_closed`, not by cancelling whoever uses it."""
    async with attached() as (session, addon):
        await addon.transport.abort()
        await session.wait_closed()
        await trio.sleep(5)
        with pytest.raises(ChannelBroken):
            session.check_open()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "1",
        '[{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":1}}]',
        '{"method":"tab.removed","params":{"tab":1}}',
        '{"jsonrpc":"1.0","method":"tab.removed","params":{"tab":1}}',
        '{"jsonrpc":"2.0","method":"tab.removed","params":[1]}',
        '{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":1},"extra":1}',
        '{"jsonrpc":"2.0","id":7,"result":{}}',
        '{"jsonrpc":"2.0","id":"r1","result":{},"error":{}}',
        '{"jsonrpc":"2.0","id":"r1","result":1}',
        '{"jsonrpc":"2.0","id":"r1"}',
        '{"jsonrpc":"2.0","id":"r-theirs-is-x","method":"tab.list","params":{}}',
        '{"jsonrpc":"2.0","jsonrpc":"2.0","method":"tab.removed","params":{"tab":1}}',
        '{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":NaN}}',
        "[" * 100_000,
        '{"jsonrpc":"2.0","method":"hello.challenge","params":{}}',
        '{"jsonrpc":"2.0","id":"x1","method":"hello.open","params":{}}',
    ],
)
async def test_what_is_no_message_ends_the_session_with_a_protocol_error_for_its_callers(
    autojump_clock: Any, attached: Any, text: str
) -> None:
    """A text that is not JSON-RPC ends this session: its calls and later ones raise RemoteProtocolError; the peer sees 1002."""
    async with attached() as (session, addon):
        call = session.start("session.ping", {}, timeout=60)
        await addon.request()
        await addon.transport.send_text(text)
        with pytest.raises(RemoteProtocolError, match="broke the protocol"):
            await call.result()
        with pytest.raises(RemoteProtocolError):
            session.start("session.ping", {}, timeout=60)
        await trio.testing.wait_all_tasks_blocked()
        assert 1002 == addon.transport.statistics().close_code


async def test_news_that_do_not_fit_are_dropped_and_the_session_goes_on(autojump_clock: Any, attached: Any, tab: Any) -> None:
    """A page with an absurd title must not be able to end the session; unknown names are ignored as JSON-RPC says."""
    async with attached() as (session, addon):
        with session.events() as events:
            await addon.say({"jsonrpc": "2.0", "method": "tab.changed", "params": {"tab": {**tab, "title": "x" * 5000}}})
            await addon.say({"jsonrpc": "2.0", "method": "tab.flew", "params": {}})
            await addon.say({"jsonrpc": "2.0", "method": "tab.list", "params": {}})
            await addon.tell("tab.removed", {"tab": 3})
            assert "tab.removed" == (await events.receive()).method
        assert 3 == session.statistics().refused_notifications


async def test_a_request_of_the_addon_is_answered_with_an_error(autojump_clock: Any, attached: Any) -> None:
    """In this version the add-on has nothing to ask after the hello."""
    async with attached() as (session, addon):
        for request_id, method in (("x1", "tab.list"), ("x2", "what.ever")):
            await addon.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": {}})
            answer = json.loads(await addon.transport.receive_text())
            assert (request_id, -32601) == (answer["id"], answer["error"]["code"])
        assert (2, False) == (session.statistics().refused_requests, session.closed)


async def test_a_peer_that_asks_without_reading_answers_is_ended(autojump_clock: Any, attached: Any) -> None:
    """The answers we owe are bounded; over the bound the peer, not our memory, gives way."""
    async with attached() as (session, addon):
        with pytest.raises(ChannelBroken):
            for number in range(1000):
                await addon.say({"jsonrpc": "2.0", "id": f"x{number}", "method": "what.ever", "params": {}})
        assert session.statistics().refused_requests < 300
        with pytest.raises(RemoteProtocolError, match="asks more than it reads"):
            session.check_open()


async def test_a_peer_that_does_not_read_is_dropped_after_the_send_limit(autojump_clock: Any, attached: Any) -> None:
    """A message that cannot be sent in 10 s drops the connection: every call ends, none hangs (buglog B25)."""
    async with attached(buffer=0) as (session, _addon):
        calls = [session.start("session.ping", {}, timeout=60) for _ in range(2)]
        await trio.testing.wait_all_tasks_blocked()
        assert (0, 1) == (session.statistics().sending_since, session.statistics().waiting)
        error = await outcome(calls[0])
        assert (ChannelBroken, "peer-stuck", SEND_SECONDS) == (type(error), error.code, trio.current_time())
        assert [True, False] == [call.sent for call in calls]
        assert ChannelBroken is type(await outcome(calls[1]))


async def test_a_silent_peer_is_told_from_a_healthy_one_by_the_statistics(autojump_clock: Any, attached: Any, act: Any) -> None:
    """It answers pings and never acts: the session is not blocked, and says since when what waits for an answer (buglog B25)."""
    async with attached() as (session, addon):
        await trio.sleep(3)
        silent = session.start("page.act", act, timeout=60)
        await addon.request()
        await trio.sleep(4)
        ping = session.start("session.ping", {}, timeout=1)
        await addon.answer(await addon.request(), {})
        assert {} == await ping.result()
        counts = session.statistics()
        assert (False, 3, 7, None, 1) == (
            counts.closed,
            counts.unanswered_since,
            counts.heard_at,
            counts.sending_since,
            counts.unanswered,
        )
        assert not silent.done


async def test_calls_are_bounded(autojump_clock: Any, attached: Any) -> None:
    """Over the bound a caller gets an error at once; a call that ends makes room."""
    async with attached() as (session, addon):
        calls = [session.start("session.ping", {}, timeout=60) for _ in range(MAX_CALLS)]
        with pytest.raises(ChannelError) as caught:
            session.start("session.ping", {}, timeout=60)
        assert "too-many-calls" == caught.value.code
        await addon.answer(await addon.request(), {})
        await calls[0].result()
        session.start("session.ping", {}, timeout=60)


async def test_calls_that_nobody_followed_up_give_their_places_back(autojump_clock: Any, attached: Any) -> None:
    """A minute after their deadline forgotten calls no longer count; their answers would be late."""
    async with attached(buffer=1000) as (session, addon):
        for _ in range(MAX_CALLS):
            session.start("session.ping", {}, timeout=1)
        await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(62)
        again = session.start("session.ping", {}, timeout=5)
        requests = [await addon.request() for _ in range(MAX_CALLS)]
        await addon.answer(requests[0], {})
        for _ in requests:
            assert "call.cancel" == (await addon.next()).method
        await addon.answer(await addon.request(), {})
        assert {} == await again.result()
        assert 1 == session.statistics().late_replies


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 3601])
async def test_a_timeout_out_of_range_is_refused(autojump_clock: Any, attached: Any, timeout: float) -> None:
    """The error names the method, the value and the range."""
    async with attached() as (session, _addon):
        with pytest.raises(BadOptionsError, match=r"session.ping: timeout must be over 0 and at most 3600 seconds"):
            session.start("session.ping", {}, timeout=timeout)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tab.fly", {}),
        ("tab.removed", {"tab": 1}),
        ("hello.open", {}),
        ("call.cancel", {"id": "r1"}),
        ("tab.get", {}),
        ("tab.get", {"tab": "7"}),
        ("tab.get", {"tab": True}),
        ("tab.get", {"tab": 7, "surprise": 1}),
    ],
)
async def test_a_wrong_call_raises_in_its_caller_and_nothing_is_sent(
    autojump_clock: Any, attached: Any, method: str, params: dict[str, Any]
) -> None:
    """Our own fault is ours: LocalProtocolError at once, the connection goes on."""
    async with attached() as (session, addon):
        with pytest.raises(LocalProtocolError):
            session.start(method, params, timeout=5)
        good = session.start("session.ping", {}, timeout=5)
        await addon.answer(await addon.request(), {})
        await good.result()
        assert ["session.ping"] == addon.methods


async def test_a_request_that_is_too_large_fails_alone(autojump_clock: Any, peer: Any, make_addon: Any, act: Any) -> None:
    """The connection's limit is in bytes of UTF-8 (buglog B44)."""
    ours, theirs = memory_channel_pair()
    async with open_session(ours, attrs.evolve(peer, max_message_bytes=5000)) as session:
        addon = make_addon(theirs)
        with pytest.raises(LocalProtocolError) as caught:
            await session.call("page.act", {**act, "op": "type", "value": "€" * 2000}, timeout=5)
        assert "too-large" == caught.value.code
        good = session.start("page.act", {**act, "op": "type", "value": "e" * 2000}, timeout=5)
        await addon.fail(await addon.request(), "cancelled")
        with pytest.raises(RemoteCallError):
            await good.result()


async def test_params_are_taken_as_they_were_when_the_call_was_started(autojump_clock: Any, attached: Any) -> None:
    """What was judged is what is sent, even if the caller changes its dict while the call waits."""
    async with attached() as (session, addon):
        params = {"tab": 1}
        session.start("tab.get", params, timeout=5)
        params["tab"] = 2
        assert 1 == (await addon.request()).params["tab"]


async def test_lone_surrogates_reach_the_peer_as_replacement_characters(autojump_clock: Any, attached: Any, act: Any) -> None:
    """A pair becomes its character, a lone half U+FFFD, in both directions (buglog B95)."""
    async with attached() as (session, addon):
        call = session.start("page.act", {**act, "op": "type", "value": "\ud83c\udf78 \ud835"}, timeout=5)
        request = await addon.request()
        assert "\U0001f378 \ufffd" == request.params["value"]
        text = '{"jsonrpc":"2.0","id":"%s","result":{"ok":true,"started":true,"submitted":false,"navigated":false,"dialogs":[],'
        await addon.transport.send_text((text % request.id) + '"value":"\\ud83c\\udf78 \\ud835 \\u0000"}}')
        assert "\U0001f378 \ufffd \x00" == (await call.result())["value"]


async def test_started_is_known_before_the_answer(autojump_clock: Any, attached: Any, act: Any, acted: Any) -> None:
    """`page.started` marks its own call and no other; it is no news for subscribers."""
    async with attached() as (session, addon):
        with session.events() as events:
            first = session.start("page.act", act, timeout=5)
            second = session.start("page.act", act, timeout=5)
            asked = [await addon.request(), await addon.request()]
            await addon.tell("page.started", {"id": asked[1].id})
            await addon.tell("page.started", {"id": "r-unknown"})
            await trio.testing.wait_all_tasks_blocked()
            assert [(True, False), (True, True)] == [(call.sent, call.started) for call in (first, second)]
            await addon.answer(asked[1], acted)
            assert acted == await second.result()
            with pytest.raises(trio.WouldBlock):
                events.receive_nowait()


async def test_a_closed_session_refuses_calls_as_closed(autojump_clock: Any, attached: Any) -> None:
    """We closed it: ChannelClosed, not ChannelBroken."""
    async with attached() as (session, _addon):
        await session.aclose()
        with pytest.raises(ChannelClosed):
            await session.call("session.ping", {}, timeout=1)
        with pytest.raises(ChannelClosed):
            session.notify("call.cancel", {"id": "r1"})
        with pytest.raises(ChannelClosed):
            session.events()


async def test_notifications_to_a_peer_that_does_not_read_are_bounded(autojump_clock: Any, attached: Any) -> None:
    """A clear error instead of an endless queue."""
    async with attached(buffer=0) as (session, _addon):
        with pytest.raises(ChannelError) as caught:
            for _ in range(1000):
                session.notify("call.cancel", {"id": "r1"})
        assert "too-many-messages" == caught.value.code


async def test_reprs_show_state_and_no_content(autojump_clock: Any, attached: Any, act: Any) -> None:
    """For logs and debuggers: the state, never params."""
    async with attached() as (session, addon):
        call = session.start("page.act", {**act, "op": "type", "value": "hunter2"}, timeout=5)
        shown = [repr(call)]
        await addon.request()
        shown += [repr(call), repr(session), repr(addon.transport), repr(session._connection)]
        assert "hunter2" not in " ".join(shown)
        assert ["waiting", "sent"] == [text.rstrip(">").rpartition(", ")[2] for text in shown[:2]]


def test_a_session_type_is_exported_for_annotations() -> None:
    """Users annotate with it; they do not construct it."""
    assert "open_session" in (ChannelSession.__doc__ or "")
