"""The approver that asks the host program: True is yes for exactly that request, and everything else is no."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from foxloop_trio.actions import ApprovalRequest
from foxloop_trio.errors import BadOptionsError
from foxloop_trio.gate import callback_approver


@pytest.fixture
async def s(setup: Any) -> Any:
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    return s


async def request(s: Any, text: str = "Hello", **changes: Any) -> ApprovalRequest:
    action = s.send(text)
    asked = await s.gate.check(action)
    made = ApprovalRequest(step=1, call_id="c1", request_id=asked.request_id, action=action, expires_at=asked.expires_at)
    return attrs.evolve(made, **changes)


class Answer:
    """A callable object, as a window's method might be."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, request: ApprovalRequest) -> Any:
        return self.value


async def yes(request: ApprovalRequest) -> bool:
    await trio.lowlevel.checkpoint()
    return True


@pytest.mark.parametrize("ask", [lambda request: True, yes, Answer(True)], ids=["sync", "async", "object"])
async def test_true_gives_the_token_of_exactly_that_request(s: Any, ask: Any) -> None:
    """And leaves others waiting."""
    other = await request(s, "other")
    token = await callback_approver(s.host, ask, wall_clock=s.wall)(await request(s))
    assert (await s.gate.redeem(token, s.send())).decision == "allow"
    assert [row.id for row in await s.host.pending()] == [other.request_id]


@pytest.mark.parametrize("said", [False, None, 1, 0, "", "yes", "no", object(), [True], "fgt1.x.y"])
async def test_anything_but_true_is_a_no_on_record(s: Any, said: Any) -> None:
    """B47: also what counts as true."""
    assert await callback_approver(s.host, Answer(said), wall_clock=s.wall)(await request(s)) is None
    assert (await s.gate.check(s.send())).reason == "rejected"


async def test_an_async_answer_that_is_not_true_is_a_no_too(s: Any) -> None:
    """B47: an awaitable is no True by itself."""

    async def ask(request: ApprovalRequest) -> Any:
        return yes

    assert await callback_approver(s.host, ask, wall_clock=s.wall)(await request(s)) is None


async def test_what_is_asked_about_is_what_the_gate_has_stored(s: Any) -> None:
    """Not what the request object says: the token is bound to the former."""
    seen: list[ApprovalRequest] = []
    made = await request(s, action=s.send("harmless"), detail="Sends it.", expires_at=s.wall.at + 5e8)
    await callback_approver(s.host, seen.append, wall_clock=s.wall)(made)
    assert [(one.action.args, one.detail, one.expires_at) for one in seen] == [({"text": "Hello"}, "Sends it.", s.wall.at + 600)]


async def test_a_request_that_waits_no_more_is_not_asked(s: Any) -> None:
    """Somebody else answered it, or it is not this gate's."""
    seen: list[ApprovalRequest] = []
    made = await request(s)
    await s.host.reject(made.request_id)
    assert await callback_approver(s.host, seen.append, wall_clock=s.wall)(made) is None
    assert seen == []


async def test_no_answer_in_time_is_a_no(s: Any, autojump_clock: trio.testing.MockClock) -> None:
    """At `expires_at`, and the one who was asked is told by a cancel."""
    ended: list[str] = []

    async def ask(request: ApprovalRequest) -> bool:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("cancelled")
        return True

    made = await request(s)
    assert await callback_approver(s.host, ask, wall_clock=s.wall)(made) is None
    assert trio.current_time() == 600.0
    assert ended == ["cancelled"]
    assert (await s.gate.check(s.send())).reason == "rejected"


async def test_a_yes_that_comes_too_late_for_the_gate_gives_no_token(s: Any) -> None:
    """A sync callback that took its time: the gate has the last word on expiry."""

    def ask(request: ApprovalRequest) -> bool:
        s.wall.at += 600
        return True

    assert await callback_approver(s.host, ask, wall_clock=s.wall)(await request(s)) is None


@pytest.mark.parametrize("fault", [ValueError("no window"), trio.Cancelled], ids=["raises", "cancelled"])
async def test_an_error_or_a_cancel_decides_nothing(s: Any, fault: Any) -> None:
    """LG-07: it comes out, and the request waits on."""
    made = await request(s)
    with trio.CancelScope() as scope:

        async def ask(request: ApprovalRequest) -> bool:
            if isinstance(fault, Exception):
                raise fault
            scope.cancel()
            await trio.sleep_forever()
            raise AssertionError

        approve = callback_approver(s.host, ask, wall_clock=s.wall)
        if isinstance(fault, Exception):
            with pytest.raises(ValueError, match="no window"):
                await approve(made)
        else:
            await approve(made)
    assert scope.cancelled_caught is not isinstance(fault, Exception)
    assert [row.id for row in await s.host.pending()] == [made.request_id]


@pytest.mark.parametrize("ask", [None, "yes", lambda: True, lambda request, other: True, lambda *, request: True])
async def test_what_cannot_be_called_with_a_request_is_refused_at_once(s: Any, ask: Any) -> None:
    """B52: not when somebody waits for it. An optional second argument is fine."""
    with pytest.raises(BadOptionsError, match="ask must be"):
        callback_approver(s.host, ask)
    callback_approver(s.host, lambda request, shown=True: True)
    callback_approver(s.host, max)  # tells no signature
