"""The tables of states: what is not in them raises and changes nothing."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from foxloop_trio.errors import LocalProtocolError
from foxloop_trio.wire import ADDON, CALL_TABLE, CONNECTION_TABLE, RUNTIME, CallState, Role, State
from foxloop_trio.wire._state import CallEvent, ConnectionState, Move

ROLES = (RUNTIME, ADDON)
MOVES: tuple[Move, ...] = get_args(Move)
EVENTS: tuple[CallEvent, ...] = get_args(CallEvent)

ALLOWED = {
    (State.NEW, RUNTIME, "challenge"): State.CHALLENGED,
    (State.CHALLENGED, ADDON, "claim"): State.CLAIMED,
    (State.CLAIMED, RUNTIME, "welcome"): State.OPEN,
    **{(State.OPEN, role, move): State.OPEN for role in ROLES for move in ("request", "notification", "reply")},
}
"""The whole table once more, flat: nine moves are allowed, all others are not."""

ALLOWED_CALL = {
    (CallState.SENT, "started"): CallState.STARTED,
    (CallState.SENT, "answered"): CallState.ANSWERED,
    (CallState.SENT, "abandoned"): CallState.ABANDONED,
    (CallState.STARTED, "started"): CallState.STARTED,
    (CallState.STARTED, "answered"): CallState.ANSWERED,
    (CallState.STARTED, "abandoned"): CallState.ABANDONED,
    (CallState.ABANDONED, "started"): CallState.ABANDONED,
    (CallState.ABANDONED, "answered"): CallState.LATE,
    (CallState.ABANDONED, "abandoned"): CallState.ABANDONED,
}


def test_the_tables_know_every_state() -> None:
    """A state without a row would be a KeyError instead of a refusal."""
    assert set(State) == set(CONNECTION_TABLE)
    assert set(CallState) == set(CALL_TABLE)


@pytest.mark.parametrize(("state", "role", "move"), list(product(State, ROLES, MOVES)), ids=str)
def test_each_move_is_in_the_table_or_raises_and_leaves_the_state(state: State, role: Role, move: Move) -> None:
    """All 72 of them."""
    connection = ConnectionState(state)
    following = ALLOWED.get((state, role, move))
    if following is None:
        with pytest.raises(LocalProtocolError, match=f"the {role} cannot send a {move} while the connection is {state.value}"):
            connection.move(role, move)
        assert state is connection.now
    else:
        assert following is connection.check(role, move)
        assert state is connection.now
        connection.move(role, move)
        assert following is connection.now


@pytest.mark.parametrize("state", list(State))
def test_an_error_is_for_good(state: State) -> None:
    """Neither a close nor any move leads out of it; a close leads out of all others."""
    connection = ConnectionState(state)
    connection.close()
    assert (State.ERROR if state is State.ERROR else State.CLOSED) is connection.now
    connection.fail()
    assert State.ERROR is connection.now
    connection.close()
    assert State.ERROR is connection.now
    for role, move in product(ROLES, MOVES):
        with pytest.raises(LocalProtocolError):
            connection.move(role, move)
    assert (State.ERROR, "<ConnectionState error>") == (connection.now, repr(connection))


@pytest.mark.parametrize(("state", "event"), list(product(CallState, EVENTS)), ids=str)
def test_each_event_of_a_call_is_in_the_table_or_raises(state: CallState, event: CallEvent) -> None:
    """All 15 of them; states are values, so there is nothing to leave untouched."""
    following = ALLOWED_CALL.get((state, event))
    if following is None:
        with pytest.raises(LocalProtocolError, match=f"{state.value} cannot be {event}"):
            state.move(event)
    else:
        assert following is state.move(event)
