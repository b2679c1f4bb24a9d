"""The methods of the protocol: name, direction, kind, and the JSON Schemas of params and result.

This table is the protocol; everything else looks things up in it. Method names are ``area.verb``. `RUNTIME` is the Python side,
`ADDON` the WebExtension. Each request's params carry ``deadline_ms``, the milliseconds that are left when it is sent: the add-on
never starts anything after them. The hello is the one request that goes the other way, and has no deadline of its own.

A cancelled request is answered all the same: with the error ``cancelled`` (nothing was done) or, for an act, its true result.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs

from ._act_values import ACT_VALUE, ACTION, HOW, PIECE
from ._limits import LIMITS, PROTOCOL
from ._shapes import (
    ACT_OPERATIONS,
    ACT_RESULT,
    ADDRESS,
    BOOLEAN,
    DIALOG,
    FRAME_STATE,
    HEX_32,
    HEX_64,
    NATURAL,
    NUMBER,
    TAB,
    TABLE,
    Schema,
    choice,
    listing,
    nullable,
    record,
    text,
)

__all__ = [
    "ADDON",
    "APPLICATION_ERROR",
    "ENVELOPES",
    "ERROR",
    "ERROR_CODES",
    "ERROR_NUMBERS",
    "ID_PREFIX",
    "METHODS",
    "RUNTIME",
    "Kind",
    "Method",
    "Role",
    "other",
]

Role = Literal["runtime", "addon"]
Kind = Literal["request", "notification"]

RUNTIME: Final[Role] = "runtime"
ADDON: Final[Role] = "addon"

ID_PREFIX: Final[dict[Role, str]] = {RUNTIME: "r", ADDON: "x"}
"""First letter of the ids of each side's requests, so that the two can never be mistaken for each other."""

ERROR_NUMBERS: Final[dict[str, int]] = {
    "parse": -32700,
    "invalid-request": -32600,
    "unknown-method": -32601,
    "invalid-params": -32602,
}
"""Errors that JSON-RPC 2.0 (section 5.1) has numbers for."""

APPLICATION_ERROR: Final = -32000
"""Number of all other errors; ``data.code`` tells them apart."""

ERROR_CODES: Final = (
    "cancelled",  # stopped before anything was done
    "document-gone",  # the document went away before anything was done
    "illegal-url",  # Firefox does not let an extension open that address
    "internal",  # a bug in the add-on
    "navigation-failed",  # no new document came
    "no-document",  # the tab has no document that the add-on can talk to (yet)
    "no-tab",
    "other-incarnation",  # meant for a background page that was restarted since; nothing was done
    "restricted-page",  # Firefox keeps extensions out of that page
    "timeout",  # the deadline passed before anything was done
    "too-large",  # the answer would exceed max_message_bytes
)
"""Values of ``data.code`` with number -32000."""


def other(role: Role) -> Role:
    """The side that `role` talks to."""
    return ADDON if role == RUNTIME else RUNTIME


@attrs.frozen(kw_only=True)
class Method:
    """One entry of the table. `sender` may send it, the other side takes it. `result` is None for notifications."""

    name: str
    sender: Role
    kind: Kind
    params: Schema
    result: Schema | None


DEADLINE: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": LIMITS["deadline_ms"]}
PLACE: Final[dict[str, Schema]] = {"tab": NATURAL, "frame": NATURAL, "document": HEX_32}
NOTHING: Final = record({})
ONE_TAB: Final = record({"tab": TAB})

UNREADABLE: Final = record({"url": ADDRESS, "reason": text("message")}, {"frame": NATURAL, "count": NATURAL})

ELEMENT: Final = {"frame": NATURAL, "document": HEX_32, "node": NATURAL}

READ: Final[dict[str, Schema]] = {
    "focus": text("focus"),
    "frame": NATURAL,
    "region": record(ELEMENT),
    "find": text("find", least=1),
    "offset": NATURAL,
    "text_offset": NATURAL,
    "max_controls": {"type": "integer", "minimum": 1, "maximum": LIMITS["controls"]},
    "max_text": {"type": "integer", "minimum": 0, "maximum": LIMITS["text"]},
}
"""What narrows a read down or pages through it; all of it may be left out."""

FETCH_BYTES: Final = LIMITS["piece"] // 4 * 3
"""Bytes of a file in one answer; in base64 they are a third more."""

HISTORY: Final = ("back", "forward", "reload")
ACT: Final[dict[str, Schema]] = {
    "incarnation": HEX_32,
    "call": HEX_32,
    **PLACE,
    "host": text("attribute"),
    "node": NATURAL,
    "guard": text("guard"),
    "key": text("guard"),
    "op": choice(*ACT_OPERATIONS),
    "value": ACT_VALUE,
    "mark": BOOLEAN,
    "focus": BOOLEAN,
}
"""What is done to which control, as it was judged."""

MARK: Final = record({"frame": NATURAL, "node": NATURAL}, {"label": text("token")})

# Keywords for texts do not judge objects and lists, nor the other way round: each of these is "one of the words, or such a thing".
PICTURE: Final[dict[str, Schema]] = {
    "quality": {"type": "integer", "minimum": 1, "maximum": 100},
    "area": {**record(ELEMENT), "type": ["string", "object"], "pattern": "^(viewport|page)$"},
    "marks": {**listing(MARK, "marks"), "type": ["string", "array"], "pattern": "^controls$"},
    "scale": {"type": "number", "minimum": 0.05, "maximum": 4},
}
"""What a picture shows, and how; all of it may be left out."""


def _request(name: str, params: dict[str, Schema], result: Schema, *, optional: dict[str, Schema] | None = None) -> Method:
    complete = record({**params, "deadline_ms": DEADLINE}, optional)
    return Method(name=name, sender=RUNTIME, kind="request", params=complete, result=result)


def _told_by(sender: Role, name: str, params: dict[str, Schema]) -> Method:
    return Method(name=name, sender=sender, kind="notification", params=record(params), result=None)


_TABLE: Final = (
    # The hello.
    _told_by(RUNTIME, "hello.challenge", {"protocol": NATURAL, "nonce": HEX_32}),
    Method(
        name="hello.open",
        sender=ADDON,
        kind="request",
        params=record(
            {
                "protocol": {"type": "integer", "const": PROTOCOL},
                "incarnation": HEX_32,
                "nonce": HEX_32,
                "proof": HEX_64,
                "addon": record({"version": text("token")}),
                "browser": record({"name": text("token"), "version": text("token")}),
            }
        ),
        result=record({"session": HEX_32, "proof": HEX_64, "max_message_bytes": NATURAL}),
    ),
    # The connection itself.
    _request("session.ping", {}, NOTHING),
    _told_by(RUNTIME, "call.cancel", {"id": {"type": "string", "minLength": 1, "maxLength": 64}}),
    # Tabs.
    _request("tab.list", {}, record({"tabs": listing(TAB, "tabs")})),
    _request("tab.get", {"tab": NATURAL}, ONE_TAB),
    _request("tab.open", {"url": ADDRESS, "active": BOOLEAN}, ONE_TAB, optional={"held_with": NATURAL}),
    _request("tab.close", {"tab": NATURAL}, NOTHING),
    _request("tab.activate", {"tab": NATURAL}, NOTHING),
    _request("tab.goto", {"tab": NATURAL, "url": ADDRESS}, ONE_TAB),
    _request("tab.hold", {"tab": NATURAL, "hosts": nullable(listing(text("attribute", least=1), "hosts"))}, NOTHING),
    _request("tab.history", {"tab": NATURAL, "go": choice(*HISTORY)}, ONE_TAB),
    _request(
        "tab.capture",
        {"tab": NATURAL, "format": choice("png", "jpeg")},
        record(
            {"data": {"type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$"}},
            {
                "width": NATURAL,
                "height": NATURAL,
                "scale": {**NUMBER, "minimum": 0},
                "painted_over": NATURAL,
                "marked": listing(text("token"), "marks"),
                "cut": BOOLEAN,
            },
        ),
        optional=PICTURE,
    ),
    _told_by(ADDON, "tab.changed", {"tab": TAB}),
    _told_by(ADDON, "tab.removed", {"tab": NATURAL}),
    _told_by(ADDON, "tab.stopped", {"tab": NATURAL, "url": ADDRESS}),
    # Documents and what is done in them.
    _told_by(ADDON, "document.here", {**PLACE, "url": ADDRESS}),
    _told_by(ADDON, "document.gone", PLACE),
    _request(
        "page.read",
        {"tab": NATURAL},
        record({"frames": listing(FRAME_STATE, "frames"), "unreadable": listing(UNREADABLE, "frames")}),
        optional=READ,
    ),
    _request("page.act", ACT, ACT_RESULT, optional=HOW),
    _request(
        "page.aim",
        ACT,
        record({}, {"outcome": ACT_RESULT, "chunks": listing(listing(ACTION, "actions"), "chunks")}),
        optional={name: schema for name, schema in HOW.items() if name != "input"},
    ),
    _request(
        "page.table",
        {
            "tab": NATURAL,
            "frame": NATURAL,
            "nth": {**NATURAL, "minimum": 1},
            "offset": NATURAL,
            "rows": {"type": "integer", "minimum": 1, "maximum": LIMITS["rows"]},
        },
        TABLE,
        optional={"find": text("find", least=1)},
    ),
    _request("page.stage", {**PLACE, "call": HEX_32, **PIECE}, NOTHING),
    _request(
        "page.fetch",
        {**PLACE, "call": HEX_32, "offset": NATURAL, "most": {"type": "integer", "minimum": 1, "maximum": FETCH_BYTES}},
        record({"data": PIECE["data"], "end": BOOLEAN}),
    ),
    _told_by(ADDON, "page.started", {"id": {"type": "string", "minLength": 1, "maxLength": 64}}),
    _request("page.settle", {**PLACE, "list_for": nullable(NATURAL)}, record({"waited_ms": NATURAL, "gone": BOOLEAN})),
    _request(
        "page.outcome",
        {**PLACE, "call": HEX_32},
        record({"known": BOOLEAN, "result": nullable(ACT_RESULT)}),
    ),
    _told_by(RUNTIME, "page.acknowledge", {**PLACE, "calls": listing(HEX_32, "calls")}),
    _told_by(ADDON, "dialog.shown", {"tab": NATURAL, "frame": NATURAL, **DIALOG["properties"]}),
)

METHODS: Final[dict[str, Method]] = {method.name: method for method in _TABLE}
"""All methods by name."""

_ID: Final[Schema] = {"type": "string", "pattern": "^[rx][!-~]{1,63}$"}
_OBJECT: Final[Schema] = {"type": "object"}
_JSONRPC: Final[Schema] = {"type": "string", "const": "2.0"}
_NAME: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": LIMITS["token"]}

ENVELOPES: Final[dict[str, Schema]] = {
    "request": record({"jsonrpc": _JSONRPC, "id": _ID, "method": _NAME, "params": _OBJECT}),
    "notification": record({"jsonrpc": _JSONRPC, "method": _NAME, "params": _OBJECT}),
    "result": record({"jsonrpc": _JSONRPC, "id": _ID, "result": _OBJECT}),
    # JSON-RPC has a null id for an error about a message whose id could not be read.
    "error": record({"jsonrpc": _JSONRPC, "id": nullable(_ID), "error": _OBJECT}),
}
"""The four forms of a message. What stands in params, result and error is judged by the method's own schema and by `ERROR`."""

ERROR: Final = record(
    {
        "code": {"type": "integer", "enum": [*ERROR_NUMBERS.values(), APPLICATION_ERROR]},
        "message": text("message"),
        "data": record({"code": choice(*ERROR_NUMBERS, *ERROR_CODES)}),
    }
)
"""What stands in ``error``. The number follows from ``data.code``: the one of `ERROR_NUMBERS`, else `APPLICATION_ERROR`."""
