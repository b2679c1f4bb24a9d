"""`Connection`: one side of the protocol, without I/O. Text goes in and events come out; `send_…` gives text to send.

Synopsis::

    connection = Connection(role=RUNTIME, id_prefix="5e55", state=State.OPEN)
    request = connection.prepare("tab.get", {"tab": 7, "deadline_ms": 5000})
    text = connection.send_request(request)          # now the transport must send it, whole
    event = connection.receive_text(reply_text)      # Answer(id=request.id, method="tab.get", result={…})

It matches replies to requests by id, judges every params and result by the method's schema, and keeps who said what in the tables
of `_state.py`. It does not know time, sockets, tokens, or who waits for an answer.

Faults. A reply that does not fit its method fails that one call (`AnswerRefused`). A notification that does not fit is dropped
(`NotificationRefused`), a request that does not fit is to be answered with an error (`RequestRefused`). A text that is no message
of the protocol at all, or comes at the wrong time, raises RemoteProtocolError and ends the connection for good. A wrong `send_…`
raises LocalProtocolError and changes nothing: nothing was said.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

from ..errors import LocalProtocolError, RemoteProtocolError
from ._codec import decode, encode
from ._limits import MAX_MESSAGE_BYTES
from ._messages import APPLICATION_ERROR, ERROR_NUMBERS, ID_PREFIX, METHODS, Role, other
from ._state import CallState, ConnectionState, Move, State
from ._validate import envelope_problem, error_problem, params_problem, result_problem

__all__ = [
    "Answer",
    "AnswerRefused",
    "Connection",
    "Event",
    "Failure",
    "Notification",
    "NotificationRefused",
    "Request",
    "RequestRefused",
    "StrayReply",
]

MAX_ABANDONED: Final = 1024
"""Abandoned calls that are remembered. An older one's answer counts as a duplicate instead of late; nothing else depends on it."""

MAX_THEIR_REQUESTS: Final = 1024
"""Requests of the peer that wait for our reply. Four times what a runtime has pending; a peer with more does not wait for
replies."""


@attrs.frozen(kw_only=True)
class Request:
    """A request: one of ours that is prepared, or one that came and must be answered."""

    id: str
    method: str
    params: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Notification:
    """The peer told us something that has no answer."""

    method: str
    params: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Answer:
    """The result of one of our calls."""

    id: str
    method: str
    result: dict[str, Any]


@attrs.frozen(kw_only=True)
class Failure:
    """One of our calls was answered with an error. `code` is ``data.code``; the message is the peer's text, and untrusted."""

    id: str
    method: str
    code: str
    message: str


@attrs.frozen(kw_only=True)
class AnswerRefused:
    """One of our calls was answered with something that does not fit the method. `problem` quotes no value."""

    id: str
    method: str
    problem: str


@attrs.frozen(kw_only=True)
class StrayReply:
    """A reply that no call waits for, and why: the caller left, it came before, or we never sent such a request."""

    id: str | None
    why: Literal["late", "duplicate", "stranger"]


@attrs.frozen(kw_only=True)
class RequestRefused:
    """The peer asked for something we do not have or cannot read; answer it with ``send_error(id, code, problem)``."""

    id: str
    code: Literal["unknown-method", "invalid-params"]
    problem: str


@attrs.frozen(kw_only=True)
class NotificationRefused:
    """The peer told us something that does not fit; it is dropped."""

    method: str
    problem: str


Event = Request | Notification | Answer | Failure | AnswerRefused | StrayReply | RequestRefused | NotificationRefused

# As we write them, without zeros in front. The length bounds what int() is given: no connection makes 10**15 requests.
_COUNT: Final = re.compile(r"[1-9][0-9]{0,14}")

_HELLO_MOVES: Final[dict[str, Move]] = {"hello.challenge": "challenge", "hello.open": "claim"}


class Connection:
    """One side of one connection.

    `role` says which side. `id_prefix` makes ids unique among connections that share a transport one after the other: an answer to
    an earlier one is then a stranger. A connection whose hello was done elsewhere starts with ``state=State.OPEN``.
    """

    def __init__(self, *, role: Role, id_prefix: str, state: State = State.NEW, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._role = role
        self._peer = other(role)
        self._state = ConnectionState(state)
        self._max_bytes = max_message_bytes
        self._id_head = f"{ID_PREFIX[role]}{id_prefix}-"
        self._made = 0
        self._sent = 0
        self._calls: dict[str, tuple[str, CallState]] = {}
        self._abandoned: OrderedDict[str, str] = OrderedDict()
        self._theirs: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Connection of the {self._role}, {self._state.now.value}, {len(self._calls)} calls unanswered>"

    @property
    def state(self) -> State:
        """Where the connection stands."""
        return self._state.now

    @property
    def unanswered(self) -> int:
        """Requests that were sent, not answered, and not abandoned."""
        return len(self._calls)

    def state_of(self, request_id: str) -> CallState | None:
        """Where a sent call stands; None when it was not sent, or is answered."""
        if request_id in self._abandoned:
            return CallState.ABANDONED
        entry = self._calls.get(request_id)
        return entry[1] if entry is not None else None

    # Sending

    def prepare(self, method: str, params: Mapping[str, Any]) -> Request:
        """A request with a new id, judged but not sent. Raises LocalProtocolError when the peer does not have the method or the
        params do not fit it."""
        self._check_outgoing("request", method, params)
        self._made += 1
        return Request(id=f"{self._id_head}{self._made}", method=method, params=params)

    def send_request(self, request: Request, *, deadline_ms: int | None = None) -> str:
        """The text of a prepared request; its reply is expected from now on. `deadline_ms` replaces the one in the params.

        Raises LocalProtocolError (code ``too-large`` when it exceeds the connection's limit); then nothing was sent, and the
        request may be tried again as long as no later one was sent.
        """
        if request.id in self._calls or not request.id.startswith(self._id_head) or self._number(request.id) <= self._sent:
            raise LocalProtocolError("a request is sent once, in the order of preparing, on the connection that prepared it")
        params = request.params if deadline_ms is None else {**request.params, "deadline_ms": deadline_ms}
        # Judged once more: what was prepared can be changed since, and what goes out must fit.
        self._check_outgoing("request", request.method, params)
        move = _HELLO_MOVES.get(request.method, "request")
        self._state.check(self._role, move)
        text = self._encode({"jsonrpc": "2.0", "id": request.id, "method": request.method, "params": params})
        self._state.move(self._role, move)
        self._sent = self._number(request.id)
        self._calls[request.id] = (request.method, CallState.SENT)
        return text

    def send_notification(self, method: str, params: Mapping[str, Any]) -> str:
        """The text of a notification. Raises LocalProtocolError when the peer does not have it, or the params do not fit it."""
        self._check_outgoing("notification", method, params)
        move = _HELLO_MOVES.get(method, "notification")
        self._state.check(self._role, move)
        text = self._encode({"jsonrpc": "2.0", "method": method, "params": params})
        self._state.move(self._role, move)
        return text

    def send_result(self, request_id: str, result: Mapping[str, Any]) -> str:
        """The text of our answer to a request of the peer. Raises LocalProtocolError when there is no such request, or it does not
        fit the method."""
        method = self._their_method(request_id)
        problem = result_problem(method, result)
        if problem is not None:
            raise LocalProtocolError(f"{method}: {problem}")
        move: Move = "welcome" if method == "hello.open" else "reply"
        self._state.check(self._role, move)
        text = self._encode({"jsonrpc": "2.0", "id": request_id, "result": result})
        self._state.move(self._role, move)
        del self._theirs[request_id]
        return text

    def send_error(self, request_id: str, code: str, message: str) -> str:
        """The text of an error in answer to a request of the peer. Raises LocalProtocolError when there is no such request or
        code."""
        method = self._their_method(request_id)
        error = {"code": ERROR_NUMBERS.get(code, APPLICATION_ERROR), "message": message, "data": {"code": code}}
        problem = error_problem(error)
        if problem is not None:
            raise LocalProtocolError(f"{method}: {problem}")
        self._state.check(self._role, "reply")
        text = self._encode({"jsonrpc": "2.0", "id": request_id, "error": error})
        del self._theirs[request_id]
        return text

    def abandon(self, request_id: str) -> None:
        """Nobody waits for that call any more: its answer will be a `StrayReply` that is late. Unknown ids are ignored."""
        entry = self._calls.pop(request_id, None)
        if entry is None:
            return
        entry[1].move("abandoned")
        self._abandoned[request_id] = entry[0]
        if len(self._abandoned) > MAX_ABANDONED:
            self._abandoned.popitem(last=False)

    def close(self) -> None:
        """The transport ended. Nothing can be said or heard after that."""
        self._state.close()

    # Receiving

    def receive_text(self, text: str) -> Event:
        """Take one whole message and say what it means. Mutates the connection.

        Raises RemoteProtocolError when the text is no message that the peer may send now (code ``too-large`` when it exceeds the
        limit); from then on every call raises. Any other exception is a bug here.
        """
        try:
            if self._state.now in (State.CLOSED, State.ERROR):
                raise LocalProtocolError(f"the {self._peer} cannot send anything while the connection is {self._state.now.value}")
            return self._receive(decode(text, max_bytes=self._max_bytes))
        except LocalProtocolError as fault:
            self._state.fail()
            code = fault.code if fault.code == "too-large" else None
            raise RemoteProtocolError(f"the {self._peer} broke the protocol: {fault}", code=code) from None

    def _receive(self, message: Any) -> Event:
        form = _form_of(message)
        problem = envelope_problem(form, message)
        if problem is not None:
            raise LocalProtocolError(f"no JSON-RPC 2.0 message of this protocol: {problem}")
        if form == "request":
            return self._take_request(message["id"], message["method"], message["params"])
        if form == "notification":
            return self._take_notification(message["method"], message["params"])
        return self._take_reply(form, message)

    def _take_request(self, request_id: str, method: str, params: dict[str, Any]) -> Event:
        if not request_id.startswith(ID_PREFIX[self._peer]):
            raise LocalProtocolError(f"the ids of the {self._peer}'s requests begin with {ID_PREFIX[self._peer]!r}")
        if request_id in self._theirs:
            raise LocalProtocolError("two open requests have the same id")
        if len(self._theirs) >= MAX_THEIR_REQUESTS:
            raise LocalProtocolError(f"more than {MAX_THEIR_REQUESTS} requests wait for a reply")
        self._state.move(self._peer, _HELLO_MOVES.get(method, "request"))
        code, problem = self._incoming_problem("request", method, params)
        if code is not None and self._state.now is not State.OPEN:
            # In the hello nothing is answered but a whole and true claim.
            raise LocalProtocolError(problem)
        self._theirs[request_id] = method
        if code is not None:
            return RequestRefused(id=request_id, code=code, problem=problem)
        return Request(id=request_id, method=method, params=params)

    def _take_notification(self, method: str, params: dict[str, Any]) -> Event:
        self._state.move(self._peer, _HELLO_MOVES.get(method, "notification"))
        code, problem = self._incoming_problem("notification", method, params)
        if code is not None and self._state.now is not State.OPEN:
            raise LocalProtocolError(problem)
        if code is not None:
            return NotificationRefused(method=method, problem=problem)
        if method == "page.started":
            entry = self._calls.get(params["id"])
            if entry is not None:
                self._calls[params["id"]] = (entry[0], entry[1].move("started"))
        return Notification(method=method, params=params)

    def _take_reply(self, form: str, message: dict[str, Any]) -> Event:
        request_id: str | None = message["id"]
        entry = self._calls.get(request_id) if request_id is not None else None
        welcomed = entry is not None and entry[0] == "hello.open" and form == "result"
        self._state.check(self._peer, "welcome" if welcomed else "reply")
        if request_id is None or entry is None:
            return StrayReply(id=request_id, why=self._why_stray(request_id))
        del self._calls[request_id]
        method, state = entry
        state.move("answered")
        if form == "error":
            return self._failure(request_id, method, message["error"])
        problem = result_problem(method, message["result"])
        if problem is not None:
            if welcomed:
                raise LocalProtocolError(f"{method}: {problem}")
            return AnswerRefused(id=request_id, method=method, problem=problem)
        self._state.move(self._peer, "welcome" if welcomed else "reply")
        return Answer(id=request_id, method=method, result=message["result"])

    def _failure(self, request_id: str, method: str, error: Any) -> Event:
        problem = error_problem(error)
        if problem is None and error["code"] != ERROR_NUMBERS.get(error["data"]["code"], APPLICATION_ERROR):
            problem = "error.code does not belong to error.data.code"
        if problem is not None:
            return AnswerRefused(id=request_id, method=method, problem=problem)
        return Failure(id=request_id, method=method, code=error["data"]["code"], message=error["message"])

    # Helpers

    def _why_stray(self, request_id: str | None) -> Literal["late", "duplicate", "stranger"]:
        if request_id is None:
            return "stranger"
        if request_id in self._abandoned:
            del self._abandoned[request_id]
            CallState.ABANDONED.move("answered")
            return "late"
        return "duplicate" if 0 < self._number(request_id) <= self._sent else "stranger"

    def _number(self, request_id: str) -> int:
        """Which of our requests it is, counted from 1; 0 for an id that we did not make."""
        digits = request_id.removeprefix(self._id_head)
        ours = digits != request_id and _COUNT.fullmatch(digits) is not None
        return int(digits) if ours else 0

    def _their_method(self, request_id: str) -> str:
        method = self._theirs.get(request_id)
        if method is None:
            raise LocalProtocolError("the peer has no open request with that id")
        return method

    def _check_outgoing(self, kind: Literal["request", "notification"], method: str, params: Mapping[str, Any]) -> None:
        entry = METHODS.get(method)
        if entry is None or entry.kind != kind or entry.sender != self._role:
            raise LocalProtocolError(f"the {self._role} has no {kind} {method!r} to send")
        problem = params_problem(method, params)
        if problem is not None:
            raise LocalProtocolError(f"{method}: {problem}")

    def _incoming_problem(
        self, kind: Literal["request", "notification"], method: str, params: dict[str, Any]
    ) -> tuple[Literal["unknown-method", "invalid-params"] | None, str]:
        entry = METHODS.get(method)
        if entry is None or entry.kind != kind or entry.sender != self._peer:
            # The name is not repeated: it is the peer's text.
            return "unknown-method", f"the {self._peer} has no such {kind}"
        problem = params_problem(method, params)
        return (None, "") if problem is None else ("invalid-params", f"{method}: {problem}")

    def _encode(self, message: Mapping[str, Any]) -> str:
        return encode(message, max_bytes=self._max_bytes)


def _form_of(message: Any) -> str:
    """Which of the four forms a message claims to have; its envelope's schema then decides whether it has it."""
    if not isinstance(message, dict):
        kind = "a batch" if isinstance(message, list) else "no object"
        raise LocalProtocolError(f"no JSON-RPC 2.0 message of this protocol: it is {kind}")
    if "method" in message:
        return "request" if "id" in message else "notification"
    return "error" if "error" in message else "result"
