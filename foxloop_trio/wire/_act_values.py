"""JSON Schemas of what an act is given beside its target: the value of each operation, and how it is to be done.

* ``click``, ``hover``: null, or a point in percent of the control's box; a click also has `count` and `button`.
* ``press``: a text of keys. ``type``, ``date``, ``paste``: a text (``paste``: or null for what was copied on the page).
* ``select``: a text, or a list of texts. ``select_text``: null, a text, `text` and `nth`, or `start` and `end`.
* ``scroll``: a number, or one of `down` and `right` in CSS px, `edge`, `until`.
* ``drag``: one of `onto` (another control as it was judged), `by` in CSS px, `path` in percent; `from` and `how` as one likes.
* ``files``: what was judged of each file. The bytes go before it, by ``page.stage``.

The schema is the union of these, since its keywords cannot tell the operations apart; the page script judges by operation.
"""

from __future__ import annotations

from typing import Any, Final

from ._limits import LIMITS, MAX_SAFE_INTEGER
from ._shapes import BOOLEAN, DIGEST, NATURAL, NUMBER, Schema, choice, listing, record, text

__all__ = ["ACTION", "ACT_VALUE", "HOW", "PIECE", "SCROLL_EDGES"]

SCROLL_EDGES: Final = ("top", "bottom", "here")

POINT: Final = record({"x": NUMBER, "y": NUMBER})
_PAIR: Final[Schema] = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
_FILE: Final = record({"name": text("attribute", least=1), "type": text("token"), "size": NATURAL}, {"sha256": text("token")})
_TARGET: Final = record({"node": NATURAL, "guard": DIGEST}, {"x": NUMBER, "y": NUMBER, "control": text("token")})

_FIELDS: Final[dict[str, Schema]] = {
    "x": NUMBER,
    "y": NUMBER,
    "count": {"type": "integer", "minimum": 1, "maximum": 2},
    "button": choice("left", "right"),
    "onto": _TARGET,
    "by": POINT,
    "path": listing(_PAIR, "path"),
    "from": POINT,
    "how": choice("html", "pointer"),
    "text": text("find", least=1),
    "nth": NATURAL,
    "start": NATURAL,
    "end": NATURAL,
    "down": NUMBER,
    "right": NUMBER,
    "edge": choice(*SCROLL_EDGES),
    "until": text("find", least=1),
    "files": listing(_FILE, "files"),
}

ACT_VALUE: Final[Schema] = {
    "type": ["string", "number", "null", "array", "object"],
    "minimum": -MAX_SAFE_INTEGER,
    "maximum": MAX_SAFE_INTEGER,
    "items": text("option"),
    "maxItems": LIMITS["options"],
    "properties": _FIELDS,
    "additionalProperties": False,
}

HOW: Final[dict[str, Schema]] = {
    "input": choice("sent", "stopped"),
    "form_key": DIGEST,
    "dialog": record({"accept": BOOLEAN}, {"reply": text("message")}),
}
"""What may be left out: `input`, for the second half of an act that began with ``page.aim``: whether all of the input was sent;
`form_key`, for an act that is not to mind changes elsewhere than in its own form; `dialog`, the answer
that the first question of the page gets, once."""

ACTION: Final = record(
    {"do": choice("move", "down", "up", "key_down", "key_up", "pause")},
    {
        "x": NATURAL,
        "y": NATURAL,
        "button": {"type": "integer", "minimum": 0, "maximum": 2},
        "char": {"type": "string", "minLength": 1, "maxLength": 2},
        "ms": {"type": "integer", "minimum": 0, "maximum": 1000},
    },
)
"""One tick of input of Firefox's own: where the pointer goes in the viewport of the top document, a button, a key (a character, or
a code point of W3C WebDriver section 17.4.2), or a pause."""

PIECE: Final[dict[str, Any]] = {
    "index": {"type": "integer", "minimum": 0, "maximum": LIMITS["files"] - 1},
    "data": {"type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$", "maxLength": LIMITS["piece"]},
}
"""A piece of the file of that number, in base64."""
