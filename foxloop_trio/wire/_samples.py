"""One sample of every message, and messages that must be refused: read by the tests of both languages."""

from __future__ import annotations

from typing import Any, Final

from ._hello import addon_proof, runtime_proof
from ._limits import MAX_MESSAGE_BYTES, PROTOCOL
from ._messages import ADDON, APPLICATION_ERROR, ERROR_NUMBERS, RUNTIME, Role

__all__ = ["hello_vectors", "refused_samples", "samples"]

TOKEN: Final = "a token of the samples, not of any browser \u2713"
RUNTIME_NONCE: Final = "00112233445566778899aabbccddeeff"
ADDON_NONCE: Final = "ffeeddccbbaa99887766554433221100"
INCARNATION: Final = "0123456789abcdef0123456789abcdef"
SESSION: Final = "fedcba9876543210fedcba9876543210"
DOCUMENT: Final = "d0c0d0c0d0c0d0c0d0c0d0c0d0c0d0c0"
CALL: Final = "ca11ca11ca11ca11ca11ca11ca11ca11"
REQUEST: Final = "r5e55-1"

Json = dict[str, Any]


def hello_vectors() -> list[Json]:
    """Inputs and outputs of the two proofs."""
    return [
        {
            "token": TOKEN,
            "runtime_nonce": RUNTIME_NONCE,
            "addon_nonce": ADDON_NONCE,
            "incarnation": INCARNATION,
            "session": SESSION,
            "addon_proof": addon_proof(TOKEN, runtime_nonce=RUNTIME_NONCE, addon_nonce=ADDON_NONCE, incarnation=INCARNATION),
            "runtime_proof": runtime_proof(TOKEN, addon_nonce=ADDON_NONCE, runtime_nonce=RUNTIME_NONCE, session=SESSION),
        }
    ]


def _request(method: str, params: Json, *, id: str = REQUEST) -> Json:  # noqa: A002  # the name it has on the wire
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def _notification(method: str, params: Json) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _result(result: Json, *, id: str = REQUEST) -> Json:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "result": result}


def _error(code: str, message: str) -> Json:
    number = ERROR_NUMBERS.get(code, APPLICATION_ERROR)
    return {"jsonrpc": "2.0", "id": REQUEST, "error": {"code": number, "message": message, "data": {"code": code}}}


def _input() -> list[Json]:
    return [
        {"do": "move", "x": 120, "y": 300},
        {"do": "down", "button": 0},
        {"do": "up", "button": 0},
        {"do": "pause", "ms": 50},
        {"do": "key_down", "char": "A"},
        {"do": "key_up", "char": "A"},
    ]


def _tab() -> Json:
    return {
        "tab": 7,
        "url": "https://shop.example/basket",
        "title": "Basket \U0001f9fa",
        "active": True,
        "status": "complete",
        "window": 1,
        "document": DOCUMENT,
    }


def _place() -> Json:
    return {"tab": 7, "frame": 0, "document": DOCUMENT}


def _text_field() -> Json:
    return {
        "node": 1,
        "role": "textbox",
        "tag": "input",
        "type": "email",
        "label": "E-mail",
        "name": "mail",
        "placeholder": "you@example.org",
        "section": "Delivery",
        "value": "",
        "disabled": False,
        "read_only": False,
        "required": True,
        "offscreen": False,
        "form": 2,
        "submit": False,
        "dialog": False,
        "autocomplete": False,
        "picker": False,
        "secret": False,
        "guard": "9c3f0a7be21d5544",
    }


def _select() -> Json:
    return {
        **_text_field(),
        "node": 4,
        "role": "combobox",
        "tag": "select",
        "type": "",
        "label": "Country",
        "name": "country",
        "placeholder": "",
        "value": "no",
        "options": [
            {"value": "no", "label": "Norway", "selected": True},
            {"value": "se", "label": "Sweden", "selected": False},
        ],
        "multiple": False,
        "guard": "0f7d51c2a9b83e66",
    }


def _button() -> Json:
    return {
        **_text_field(),
        "node": 3,
        "role": "button",
        "tag": "button",
        "type": "submit",
        "label": "Send",
        "name": "",
        "placeholder": "",
        "submit": True,
        "required": False,
        "expanded": False,
        "row": "1k3x9",
        "via": "label",
        "destination": {"url": "https://shop.example/send", "method": "post", "target": ""},
        "guard": "71b2aa90c4de0f13",
    }


def _checkbox() -> Json:
    return {
        **_text_field(),
        "node": 5,
        "role": "checkbox",
        "type": "checkbox",
        "label": "Gift",
        "placeholder": "",
        "checked": "mixed",
        "date_format": "DD/MM/YYYY",
        "href": "#gift",
        "guard": "5d5d1c0e7a6b9f28",
    }


def _rich_field() -> Json:
    """With every field that is there only when it applies."""
    return {
        **_text_field(),
        "node": 6,
        "label": "Address",
        "description": "As on the invoice",
        "popup_for": 1,
        "sensitive": True,
        "behind_modal": True,
        "hover_only": 4,
        "options_more": 12,
        "value_more": 1500,
        "label_more": 3,
        "accept": "image/*",
        "files": ["me.png"],
        "row_text": "Address As on the invoice",
        "look": "red circle",
        "box": [-8, 0, 640, 24],
        "current": "page",
        "level": 2,
        "opens": "listbox",
        "form_key": "bb11cc22dd33ee44",
        "guard": "2c5d1c0e7a6b9f28",
    }


def _frame() -> Json:
    return {
        "frame": 0,
        "document": DOCUMENT,
        "url": "https://shop.example/basket",
        "title": "Basket",
        "text": "Basket\nE-mail",
        "headings": ["Basket"],
        "controls": [_text_field(), _button(), _select(), _checkbox()],
        "captcha": False,
        "more": True,
        "truncated": 0,
        "key": "aa00bb11cc22dd33",
    }


def _child_frame() -> Json:
    return {
        **_frame(),
        "frame": 1,
        "controls": [_rich_field()],
        "parent": 0,
        "origin": [8, 120],
        "captcha_passive": False,
        "text_truncated": 240,
        "total_controls": 1201,
        "total_text": 6240,
        "took_ms": 12.5,
    }


def _element() -> Json:
    return {"frame": 1, "document": DOCUMENT, "node": 6}


def _frame_with(**changes: Any) -> Json:
    return {**_frame(), "controls": [{**_checkbox(), **changes}]}


def _act() -> Json:
    return {
        "incarnation": INCARNATION,
        "call": CALL,
        **_place(),
        "host": "shop.example",
        "node": 1,
        "guard": "9c3f0a7be21d5544",
        "key": "aa00bb11cc22dd33",
        "op": "type",
        "value": "ada@example.org",
        "mark": True,
        "focus": False,
        "deadline_ms": 5000,
    }


def _acted() -> Json:
    return {"ok": True, "started": True, "value": "ada@example.org", "submitted": False, "navigated": False, "dialogs": []}


def _refused() -> Json:
    return {
        "ok": False,
        "started": False,
        "reason": "covered",
        "detail": "another element lies over it",
        "value": None,
        "submitted": False,
        "navigated": False,
        "checked": None,
        "dialogs": [{"kind": "confirm", "message": "Leave?", "answer": False}],
    }


def _drag() -> Json:
    return {"onto": {"node": 4, "guard": "0f7d51c2a9b83e66", "x": 50, "y": 12.5}, "from": {"x": 1, "y": 99}, "how": "html"}


def _proven() -> Json:
    return {
        **_refused(),
        "reason": "popup-blocked",
        "dialogs": [{"kind": "print", "message": "", "answer": None}],
        "did": ["press"],
        "changed": ["page", "tab"],
        "changed_elsewhere": True,
        "download": {"ticket": CALL, "name": "a.pdf", "type": "application/pdf", "url": "https://shop.example/a", "size": 12},
        "leads_to": "https://shop.example/next",
        "opened_tabs": [8],
        "popups": [{"url": "https://shop.example/help"}],
    }


def samples() -> list[Json]:
    """Good messages, at least one for every method, result and error: ``{"from", "method", "message"}``."""
    vector = hello_vectors()[0]
    opened = {
        "protocol": PROTOCOL,
        "incarnation": INCARNATION,
        "nonce": ADDON_NONCE,
        "proof": vector["addon_proof"],
        "addon": {"version": "0.1.0"},
        "browser": {"name": "Firefox", "version": "153.8.0"},
    }
    welcome = {"session": SESSION, "proof": vector["runtime_proof"], "max_message_bytes": MAX_MESSAGE_BYTES}
    limit = {"deadline_ms": 5000}
    exchanges: list[tuple[str, Json, Json]] = [
        ("session.ping", {}, {}),
        ("tab.list", {}, {"tabs": [_tab(), {**_tab(), "tab": 8, "url": "about:blank", "status": "loading", "document": None}]}),
        ("tab.get", {"tab": 7}, {"tab": _tab()}),
        ("tab.open", {"url": "https://shop.example/basket", "active": True}, {"tab": _tab()}),
        ("tab.open", {"url": "https://shop.example/basket", "active": True, "held_with": 6}, {"tab": _tab()}),
        ("tab.close", {"tab": 7}, {}),
        ("tab.activate", {"tab": 7}, {}),
        ("tab.goto", {"tab": 7, "url": "https://shop.example/"}, {"tab": _tab()}),
        ("tab.hold", {"tab": 7, "hosts": ["shop.example", "pay.example"]}, {}),
        ("tab.hold", {"tab": 7, "hosts": None}, {}),
        ("tab.history", {"tab": 7, "go": "back"}, {"tab": _tab()}),
        ("tab.capture", {"tab": 7, "format": "png"}, {"data": "iVBORw0KGgo="}),
        ("page.read", {"tab": 7}, {"frames": [_frame()], "unreadable": [{"url": "about:blank", "reason": "no document"}]}),
        (
            "tab.capture",
            {
                "tab": 7,
                "format": "jpeg",
                "quality": 70,
                "area": _element(),
                "marks": [{"frame": 1, "node": 6, "label": "1:6"}],
                "scale": 0.5,
            },
            {
                "data": "/9j/",
                "width": 640,
                "height": 24,
                "scale": 0.5,
                "painted_over": 1,
                "marked": ["1:6"],
                "cut": False,
            },
        ),
        ("tab.capture", {"tab": 7, "format": "png", "area": "page", "marks": "controls"}, {"data": "iVBORw0KGgo="}),
        (
            "page.read",
            {
                "tab": 7,
                "focus": "the delivery address",
                "frame": 1,
                "region": _element(),
                "find": "Address",
                "offset": 300,
                "text_offset": 6000,
                "max_controls": 1000,
                "max_text": 0,
            },
            {
                "frames": [_frame(), _child_frame()],
                "unreadable": [{"url": "about:reader", "reason": "Firefox keeps extensions out", "frame": 2, "count": 1}],
            },
        ),
        (
            "page.fetch",
            {"tab": 7, "frame": 0, "document": _act()["document"], "call": _act()["call"], "offset": 0, "most": 1024},
            {"data": "AAEC", "end": True},
        ),
        (
            "page.table",
            {"tab": 7, "frame": 0, "nth": 1, "offset": 20, "rows": 10, "find": "Ada"},
            {
                "url": "https://shop.example/orders",
                "tables": 2,
                "nth": 1,
                "caption": "Orders",
                "header": ["Name", "column 2"],
                "rows": [["Ada", "7"]],
                "total": 21,
                "left": 0,
                "declared": None,
            },
        ),
        ("page.act", _act(), _acted()),
        ("page.act", {**_act(), "op": "scroll", "value": -560}, _refused()),
        ("page.act", {**_act(), "op": "click", "value": None}, {**_acted(), "checked": True}),
        ("page.act", {**_act(), "op": "drag", "value": _drag(), "form_key": "bb11cc22dd33ee44"}, _proven()),
        ("page.act", {**_act(), "op": "select", "value": ["no", "se"], "dialog": {"accept": True, "reply": "Ada"}}, _acted()),
        ("page.act", {**_act(), "op": "files", "value": {"files": [{"name": "a.txt", "type": "text/plain", "size": 3}]}}, _acted()),
        ("page.act", {**_act(), "op": "scroll", "value": {"until": "Terms"}}, _acted()),
        ("page.aim", {**_act(), "op": "click", "value": None, "form_key": "bb11cc22dd33ee44"}, {"chunks": [_input()]}),
        ("page.aim", {**_act(), "op": "click", "value": None, "dialog": {"accept": False}}, {"outcome": _refused()}),
        ("page.act", {**_act(), "op": "click", "value": None, "input": "sent"}, _acted()),
        ("page.stage", {**_place(), "call": CALL, "index": 0, "data": "YWJj"}, {}),
        ("page.settle", {**_place(), "list_for": None}, {"waited_ms": 120, "gone": False}),
        ("page.settle", {**_place(), "list_for": 4}, {"waited_ms": 600, "gone": True}),
        ("page.outcome", {**_place(), "call": CALL}, {"known": True, "result": _acted()}),
        ("page.outcome", {**_place(), "call": CALL}, {"known": True, "result": _refused()}),
        ("page.outcome", {**_place(), "call": CALL}, {"known": False, "result": None}),
    ]
    told: list[tuple[Role, str, Json]] = [
        (RUNTIME, "call.cancel", {"id": REQUEST}),
        (RUNTIME, "page.acknowledge", {**_place(), "calls": [CALL]}),
        (ADDON, "page.started", {"id": REQUEST}),
        (ADDON, "tab.changed", {"tab": _tab()}),
        (ADDON, "tab.removed", {"tab": 7}),
        (ADDON, "tab.stopped", {"tab": 7, "url": "https://elsewhere.example/"}),
        (ADDON, "document.here", {**_place(), "url": "https://shop.example/basket"}),
        (ADDON, "document.gone", _place()),
        (ADDON, "dialog.shown", {"tab": 7, "frame": 0, "kind": "prompt", "message": "Name?", "answer": None}),
    ]
    found: list[tuple[Role, str, Json]] = [
        (RUNTIME, "hello.challenge", _notification("hello.challenge", {"protocol": PROTOCOL, "nonce": RUNTIME_NONCE})),
        (ADDON, "hello.open", _request("hello.open", opened, id="x1")),
        (RUNTIME, "hello.open", _result(welcome, id="x1")),
    ]
    for method, params, result in exchanges:
        found.append((RUNTIME, method, _request(method, {**params, **limit})))
        found.append((ADDON, method, _result(result)))
    found += [(sender, method, _notification(method, params)) for sender, method, params in told]
    found += [
        (ADDON, "page.act", _error("cancelled", "stopped before the first event")),
        (ADDON, "tab.goto", _error("navigation-failed", "the server did not answer")),
        (ADDON, "page.act", _error("invalid-params", "params.node: not a number")),
    ]
    return [{"from": sender, "method": method, "message": message} for sender, method, message in found]


def refused_samples() -> list[Json]:
    """Messages that differ from a good one in one thing, and must be refused: ``{"from", "method", "message", "why"}``."""
    bad: list[tuple[Role, str, Json, str]] = [
        (RUNTIME, "tab.get", _request("tab.get", {"tab": 7}), "no deadline_ms"),
        (RUNTIME, "tab.get", _request("tab.get", {"tab": "7", "deadline_ms": 1}), "tab is not a number"),
        (RUNTIME, "tab.get", _request("tab.get", {"tab": True, "deadline_ms": 1}), "true is not 1"),
        (RUNTIME, "tab.get", _request("tab.get", {"tab": -1, "deadline_ms": 1}), "a negative tab"),
        (RUNTIME, "tab.get", _request("tab.get", {"tab": 7, "deadline_ms": 1, "window": 1}), "an unknown key"),
        (RUNTIME, "tab.fly", _request("tab.fly", {"deadline_ms": 1}), "an unknown method"),
        (RUNTIME, "page.act", _request("page.act", {**_act(), "op": "eval"}), "an unknown operation"),
        (RUNTIME, "page.act", _request("page.act", {**_act(), "document": DOCUMENT.upper()}), "capital hex digits"),
        (RUNTIME, "page.act", _request("page.act", {**_act(), "value": {"left": 3}}), "a value with a key of no operation"),
        (RUNTIME, "page.act", _request("page.act", {**_act(), "value": [["no"]]}), "a list of lists"),
        (ADDON, "tab.removed", _notification("tab.removed", {}), "no tab"),
        (ADDON, "page.act", _result({**_acted(), "ok": "yes"}), "ok is not a boolean"),
        (ADDON, "page.act", _result({"ok": True}), "missing keys"),
        (ADDON, "page.read", _result({"frames": [{**_frame(), "secret": "x"}], "unreadable": []}), "an unknown key, deep inside"),
        (ADDON, "page.read", _result({"frames": [_frame_with(checked=1)], "unreadable": []}), "1 is not true"),
        (ADDON, "page.read", _result({"frames": [_frame_with(box=[1, 2, 3])], "unreadable": []}), "a box of three numbers"),
        (RUNTIME, "page.read", _request("page.read", {"tab": 7, "find": "", "deadline_ms": 1}), "nothing to find"),
        (
            RUNTIME,
            "tab.capture",
            _request("tab.capture", {"tab": 7, "format": "png", "area": "window", "deadline_ms": 1}),
            "an area of another name",
        ),
    ]
    return [{"from": sender, "method": method, "message": message, "why": why} for sender, method, message, why in bad]
