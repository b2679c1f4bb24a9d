"""The wire protocol between runtime and add-on, without I/O: JSON-RPC 2.0 text messages, their schemas, and `Connection`.

`_messages.py` is the protocol. `python -m foxloop_trio.wire` prints it as the JSON file that the add-on reads.
"""

from ._codec import clean_text, decode, encode
from ._connection import (
    Answer,
    AnswerRefused,
    Connection,
    Event,
    Failure,
    Notification,
    NotificationRefused,
    Request,
    RequestRefused,
    StrayReply,
)
from ._golden import protocol_json, protocol_text
from ._hello import addon_proof, proofs_equal, runtime_proof
from ._limits import LIMITS, MAX_DEPTH, MAX_HELLO_BYTES, MAX_MESSAGE_BYTES, PATH, PROTOCOL, REFUSED_CODE
from ._messages import ADDON, APPLICATION_ERROR, ERROR_CODES, ERROR_NUMBERS, METHODS, RUNTIME, Kind, Method, Role
from ._shapes import ACT_OPERATIONS, ACT_REFUSALS
from ._state import CALL_TABLE, CONNECTION_TABLE, CallState, State

__all__ = [
    "ACT_OPERATIONS",
    "ACT_REFUSALS",
    "ADDON",
    "APPLICATION_ERROR",
    "CALL_TABLE",
    "CONNECTION_TABLE",
    "ERROR_CODES",
    "ERROR_NUMBERS",
    "LIMITS",
    "MAX_DEPTH",
    "MAX_HELLO_BYTES",
    "MAX_MESSAGE_BYTES",
    "METHODS",
    "PATH",
    "PROTOCOL",
    "REFUSED_CODE",
    "RUNTIME",
    "Answer",
    "AnswerRefused",
    "CallState",
    "Connection",
    "Event",
    "Failure",
    "Kind",
    "Method",
    "Notification",
    "NotificationRefused",
    "Request",
    "RequestRefused",
    "Role",
    "State",
    "StrayReply",
    "addon_proof",
    "clean_text",
    "decode",
    "encode",
    "proofs_equal",
    "protocol_json",
    "protocol_text",
    "runtime_proof",
]
