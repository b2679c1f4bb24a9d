"""The text of ``protocol.json``: everything that the add-on must know of this package, in one file.

The add-on has no schema compiler and no Python; it reads this file, and a test compares it with what this module says.
"""

from __future__ import annotations

import json
from typing import Any

from ._hello import ADDON_PREFIX, RUNTIME_PREFIX
from ._limits import LIMITS, MAX_DEPTH, MAX_HELLO_BYTES, MAX_MESSAGE_BYTES, MAX_SAFE_INTEGER, PATH, PROTOCOL, REFUSED_CODE
from ._messages import APPLICATION_ERROR, ENVELOPES, ERROR, ERROR_CODES, ERROR_NUMBERS, ID_PREFIX, METHODS
from ._samples import hello_vectors, refused_samples, samples
from ._shapes import ACT_OPERATIONS, ACT_REFUSALS

__all__ = ["protocol_json", "protocol_text"]


def protocol_json() -> dict[str, Any]:
    """The protocol as plain JSON."""
    methods: dict[str, Any] = {}
    for method in METHODS.values():
        entry: dict[str, Any] = {"sender": method.sender, "kind": method.kind, "params": method.params}
        if method.result is not None:
            entry["result"] = method.result
        methods[method.name] = entry
    return {
        "about": "Generated from foxloop_trio.wire by `python -m foxloop_trio.wire`. Do not edit.",
        "protocol": PROTOCOL,
        "path": PATH,
        "id_prefix": ID_PREFIX,
        "hello": {
            "algorithm": "HMAC-SHA-256 keyed by the UTF-8 text of the token, 64 hex digits",
            "addon_prefix": ADDON_PREFIX,
            "addon_fields": ["runtime_nonce", "addon_nonce", "incarnation"],
            "runtime_prefix": RUNTIME_PREFIX,
            "runtime_fields": ["addon_nonce", "runtime_nonce", "session"],
            "separator": "\n",
            "refused_close_code": REFUSED_CODE,
            "vectors": hello_vectors(),
        },
        "limits": {
            **LIMITS,
            "depth": MAX_DEPTH,
            "hello_bytes": MAX_HELLO_BYTES,
            "message_bytes": MAX_MESSAGE_BYTES,
            "safe_integer": MAX_SAFE_INTEGER,
        },
        "errors": {"numbers": ERROR_NUMBERS, "application": APPLICATION_ERROR, "codes": list(ERROR_CODES)},
        "act": {"operations": list(ACT_OPERATIONS), "refusals": list(ACT_REFUSALS)},
        "envelopes": {**ENVELOPES, "error_object": ERROR},
        "methods": methods,
        "samples": samples(),
        "refused_samples": refused_samples(),
    }


def protocol_text() -> str:
    """The file's text: two spaces of indent, ASCII only, one newline at the end."""
    return json.dumps(protocol_json(), indent=2, ensure_ascii=True, allow_nan=False) + "\n"
