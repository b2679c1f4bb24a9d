"""JSON Schemas of the things that messages carry: tabs, frames, controls, outcomes of acts.

Every object is closed: unknown keys are refused. Optional fields are left out when they do not apply, never sent as null, save
where the shape says null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ._limits import LIMITS, MAX_SAFE_INTEGER

__all__ = [
    "ACT_OPERATIONS",
    "ACT_REFUSALS",
    "ACT_RESULT",
    "BOOLEAN",
    "CONTROL",
    "DIALOG",
    "FRAME_STATE",
    "HEX_32",
    "HEX_64",
    "NATURAL",
    "TAB",
    "TABLE",
    "Schema",
    "choice",
    "listing",
    "nullable",
    "record",
    "text",
]

Schema = dict[str, Any]

ACT_OPERATIONS: Final = (
    "check",
    "click",
    "copy",
    "cut",
    "date",
    "download",
    "drag",
    "enter",
    "files",
    "hover",
    "paste",
    "press",
    "scroll",
    "select",
    "select_text",
    "type",
    "uncheck",
)
"""What can be done to a control. An add-on that cannot do one refuses it as ``unsupported``."""

ACT_REFUSALS: Final = (
    "cancelled",
    "covered",
    "dialog",
    "disabled",
    "gone",
    "hidden",
    "mismatch",
    "navigated",
    "needs-focus",
    "not-found",
    "nothing-changed",
    "other-site",
    "popup-blocked",
    "readonly",
    "secret",
    "stale",
    "timeout",
    "unsupported",
)
"""Reasons of an act that was not done. A newer add-on may know more of them: the schema asks only for a word of this form."""


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """A closed object: all of `required`, any of `optional`, nothing else."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def text(limit: str, *, least: int = 0) -> Schema:
    """A string of at most ``LIMITS[limit]`` characters."""
    schema: Schema = {"type": "string", "maxLength": LIMITS[limit]}
    return {**schema, "minLength": least} if least else schema


def listing(item: Schema, limit: str) -> Schema:
    """A list of at most ``LIMITS[limit]`` items."""
    return {"type": "array", "items": item, "maxItems": LIMITS[limit]}


def choice(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def nullable(schema: Schema) -> Schema:
    """The same or null. Only for schemas with one plain `type`."""
    return {**schema, "type": [schema["type"], "null"]}


BOOLEAN: Final[Schema] = {"type": "boolean"}
NUMBER: Final[Schema] = {"type": "number", "minimum": -MAX_SAFE_INTEGER, "maximum": MAX_SAFE_INTEGER}
INTEGER: Final[Schema] = {**NUMBER, "type": "integer"}
TRUE: Final[Schema] = {"type": "boolean", "const": True}
NATURAL: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": MAX_SAFE_INTEGER}
HEX_32: Final[Schema] = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
HEX_64: Final[Schema] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
WORD: Final[Schema] = {"type": "string", "pattern": "^[a-z][a-z-]{0,39}$"}
ADDRESS: Final = text("addresses")
# 64 bits are 11 characters of base64, 13 of base 36, 16 of hex; a digest in base 36 can begin with zeros that were dropped.
DIGEST: Final = text("guard", least=8)

TAB: Final = record(
    {
        "tab": NATURAL,
        "url": ADDRESS,
        "title": text("title"),
        "active": BOOLEAN,
        "status": choice("loading", "complete"),
        "window": NATURAL,
        "document": nullable(HEX_32),
    }
)

OPTION: Final = record({"value": text("option"), "label": text("option"), "selected": BOOLEAN})

DESTINATION: Final = record({"url": ADDRESS, "method": text("token"), "target": text("attribute")})

# Left and top of a frame's content in the viewport of the top frame, in CSS px.
ORIGIN: Final[Schema] = {"type": "array", "items": INTEGER, "minItems": 2, "maxItems": 2}
# Left, top, width, height in CSS px of the frame's own viewport.
BOX: Final[Schema] = {"type": "array", "items": NUMBER, "minItems": 4, "maxItems": 4}

CONTROL: Final = record(
    {
        "node": NATURAL,
        "role": text("token"),
        "tag": text("token"),
        "type": text("token"),
        "label": text("label"),
        "name": text("attribute"),
        "placeholder": text("attribute"),
        "section": text("section"),
        "value": text("value"),
        "disabled": BOOLEAN,
        "read_only": BOOLEAN,
        "required": BOOLEAN,
        "offscreen": BOOLEAN,
        "submit": BOOLEAN,
        "dialog": BOOLEAN,
        "autocomplete": BOOLEAN,
        "picker": BOOLEAN,
        "secret": BOOLEAN,
        "guard": DIGEST,
    },
    {
        "options": listing(OPTION, "options"),
        # The type is not idle: to Python, and so to the enum alone, 1 is true and 0 is false.
        "checked": {"type": ["boolean", "string"], "enum": [True, False, "mixed"]},
        "expanded": BOOLEAN,
        "form": NATURAL,
        "date_format": text("token"),
        "href": ADDRESS,
        "row": text("token"),
        "via": choice("label"),
        "destination": DESTINATION,
        "multiple": BOOLEAN,
        "description": text("description"),
        "popup_for": NATURAL,
        "sensitive": TRUE,
        "behind_modal": TRUE,
        "hover_only": NATURAL,
        # How much was cut: options left out, characters of the value, of the label.
        "options_more": NATURAL,
        "value_more": NATURAL,
        "label_more": NATURAL,
        "accept": text("attribute"),
        "files": listing(text("attribute"), "files"),
        "row_text": text("description"),
        "look": text("look"),
        "box": BOX,
        "current": text("token"),
        "level": NATURAL,
        "opens": text("token"),
        # Like the frame's key, but of the control's own form only.
        "form_key": DIGEST,
    },
)

FRAME_STATE: Final = record(
    {
        "frame": NATURAL,
        "document": HEX_32,
        "url": ADDRESS,
        "title": text("title"),
        "text": text("text"),
        "headings": listing(text("heading"), "headings"),
        "controls": listing(CONTROL, "controls"),
        "captcha": BOOLEAN,
        "more": BOOLEAN,
        "truncated": NATURAL,
        "key": DIGEST,
    },
    {
        "parent": nullable(NATURAL),
        "origin": ORIGIN,
        "captcha_passive": BOOLEAN,
        "text_truncated": NATURAL,
        "total_controls": NATURAL,
        "total_text": NATURAL,
        "took_ms": {"type": "number", "minimum": 0, "maximum": MAX_SAFE_INTEGER},
    },
)

TABLE: Final = record(
    {
        "url": ADDRESS,
        "tables": NATURAL,
        "nth": NATURAL,
        "caption": text("cell"),
        "header": listing(text("cell"), "cells"),
        "rows": listing(listing(text("cell"), "cells"), "rows"),
        "total": NATURAL,
        "left": NATURAL,
        "declared": nullable(NATURAL),
    }
)
"""A table of a page: its columns, some of its rows, and how many there are."""

DIALOG: Final = record(
    {
        "kind": choice("alert", "confirm", "prompt", "beforeunload", "print"),
        "message": text("message"),
        "answer": {"type": ["boolean", "string", "null"], "maxLength": LIMITS["message"]},
    }
)

ACT_RESULT: Final = record(
    {
        "ok": BOOLEAN,
        "started": BOOLEAN,
        "submitted": BOOLEAN,
        "navigated": BOOLEAN,
        "dialogs": listing(DIALOG, "dialogs"),
    },
    {
        "reason": WORD,
        "detail": text("detail"),
        "value": nullable(text("value")),
        "checked": {"type": ["boolean", "null"]},
        # What was done, step by step, in words of ours; what came of it (the words of content/effects.js).
        "did": listing(text("token"), "steps"),
        "changed": listing(WORD, "steps"),
        "changed_elsewhere": TRUE,
        "leads_to": ADDRESS,
        # A file that the act took; its bytes are fetched in pieces.
        "download": record({"ticket": HEX_32, "name": text("attribute"), "type": text("token"), "url": ADDRESS}, {"size": NATURAL}),
        "opened_tabs": listing(NATURAL, "opened"),
        "popups": listing(record({"url": ADDRESS}), "opened"),
    },
)
