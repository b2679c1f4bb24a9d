"""States of a connection and of a call, as tables.

Rules of this file:

1. All transitions live here. Whoever changes a state asks `ConnectionState.move` or `CallState.move`.
2. This file does not know which side we are. It knows who says something, and what.

Theory of the connection. The hello alternates strictly: the runtime challenges, the add-on claims to know the token, the runtime
judges and welcomes. Therefore both sides see the same moves in the same order, and one table serves both; there are no joint states
to keep apart as in HTTP. From OPEN on, messages cross freely and the state no longer moves. There is no refusal message: a claim
that fails is answered by closing, and looks from outside like any other end::

    NEW --runtime challenge--> CHALLENGED --addon claim--> CLAIMED --runtime welcome--> OPEN (requests, notifications, replies)

    any of them --close--> CLOSED        any of them --fault--> ERROR, for good

Whether a claim is *true* is no question of state: it stands in `_hello.py`.

Theory of a call (a request that was sent). Its answer always comes, or the connection ends. A caller who has left makes the call
ABANDONED: then the answer is late, and dropped, but known. An answer to a call that is not in this table any more is a duplicate
when we once sent its id, and a stranger when we never did; ids are never used again, so neither can meet a younger call::

    SENT --started--> STARTED --answered--> ANSWERED
    SENT --answered--> ANSWERED
    SENT, STARTED --abandoned--> ABANDONED --answered--> LATE

A transition that is not in a table raises LocalProtocolError and leaves the state as it was. On the receiving side `Connection`
turns that into RemoteProtocolError and the state into ERROR.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from ..errors import LocalProtocolError
from ._messages import ADDON, RUNTIME, Role

__all__ = ["CALL_TABLE", "CONNECTION_TABLE", "CallEvent", "CallState", "ConnectionState", "Move", "State"]


class State(Enum):
    """Where a connection stands."""

    NEW = "new"  # nothing was said
    CHALLENGED = "challenged"  # the runtime has sent its nonce
    CLAIMED = "claimed"  # the add-on has sent its proof
    OPEN = "open"  # both have shown that they know the token
    CLOSED = "closed"  # ended in order, by either side
    ERROR = "error"  # somebody broke the protocol


Move = Literal["challenge", "claim", "welcome", "request", "notification", "reply"]

CONNECTION_TABLE: Final[dict[State, dict[tuple[Role, Move], State]]] = {
    State.NEW: {(RUNTIME, "challenge"): State.CHALLENGED},
    State.CHALLENGED: {(ADDON, "claim"): State.CLAIMED},
    State.CLAIMED: {(RUNTIME, "welcome"): State.OPEN},
    State.OPEN: {
        (RUNTIME, "request"): State.OPEN,
        (RUNTIME, "notification"): State.OPEN,
        (RUNTIME, "reply"): State.OPEN,
        (ADDON, "request"): State.OPEN,
        (ADDON, "notification"): State.OPEN,
        (ADDON, "reply"): State.OPEN,
    },
    State.CLOSED: {},
    State.ERROR: {},
}


class ConnectionState:
    """The state of one connection."""

    __slots__ = ("now",)

    def __init__(self, start: State = State.NEW) -> None:
        self.now = start

    def __repr__(self) -> str:
        return f"<ConnectionState {self.now.value}>"

    def check(self, sender: Role, move: Move) -> State:
        """The state that the move would lead to. Raises LocalProtocolError when it is not allowed now."""
        following = CONNECTION_TABLE[self.now].get((sender, move))
        if following is None:
            raise LocalProtocolError(f"the {sender} cannot send a {move} while the connection is {self.now.value}")
        return following

    def move(self, sender: Role, move: Move) -> None:
        """Note that `sender` said it. Raises LocalProtocolError, and stays, when it is not allowed now."""
        self.now = self.check(sender, move)

    def close(self) -> None:
        """The connection ended in order. An error stays an error."""
        if self.now is not State.ERROR:
            self.now = State.CLOSED

    def fail(self) -> None:
        """Somebody broke the protocol: nothing more is said or heard."""
        self.now = State.ERROR


class CallState(Enum):
    """Where a request that was sent stands."""

    SENT = "sent"
    STARTED = "started"  # its first effect is about to happen
    ANSWERED = "answered"
    ABANDONED = "abandoned"  # nobody waits for the answer
    LATE = "late"  # the answer to an abandoned call has come

    def move(self, event: CallEvent) -> CallState:
        """The state after the event. Raises LocalProtocolError when it cannot happen now."""
        following = CALL_TABLE[self].get(event)
        if following is None:
            raise LocalProtocolError(f"a call that is {self.value} cannot be {event}")
        return following


CallEvent = Literal["started", "answered", "abandoned"]

CALL_TABLE: Final[dict[CallState, dict[CallEvent, CallState]]] = {
    CallState.SENT: {"started": CallState.STARTED, "answered": CallState.ANSWERED, "abandoned": CallState.ABANDONED},
    CallState.STARTED: {"started": CallState.STARTED, "answered": CallState.ANSWERED, "abandoned": CallState.ABANDONED},
    CallState.ABANDONED: {"started": CallState.ABANDONED, "answered": CallState.LATE, "abandoned": CallState.ABANDONED},
    CallState.ANSWERED: {},
    CallState.LATE: {},
}
