"""`protocol.json`, which the add-on reads, is what this package says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import foxloop_trio
from foxloop_trio import wire

FILE = Path(foxloop_trio.__file__).parent / "webextension" / "addon" / "shared" / "protocol.json"


def test_the_file_is_what_the_command_prints() -> None:
    """After a change: ``python -m foxloop_trio.wire > foxloop_trio/webextension/addon/shared/protocol.json``."""
    printed = subprocess.run([sys.executable, "-m", "foxloop_trio.wire"], capture_output=True, check=True, timeout=60)
    assert FILE.read_bytes() == printed.stdout
    assert b"" == printed.stderr


def test_the_file_is_strict_ascii_json_of_the_protocol() -> None:
    """Read with Python's own reader: nothing is lost in the text, and each call makes a fresh copy of it."""
    text = FILE.read_bytes().decode("ascii")
    assert text == wire.protocol_text()
    assert wire.protocol_json() == json.loads(text)
    changed = wire.protocol_json()
    changed["samples"].clear()
    assert wire.protocol_json()["samples"]


def test_the_file_holds_what_the_addon_needs() -> None:
    """Methods with direction and schemas, codes, limits, the hello, and samples of all of them."""
    found = json.loads(FILE.read_text(encoding="ascii"))
    assert (1, "/foxloop", 4403) == (found["protocol"], found["path"], found["hello"]["refused_close_code"])
    assert set(wire.METHODS) == set(found["methods"])
    for name, method in wire.METHODS.items():
        entry = found["methods"][name]
        assert (method.sender, method.kind, method.params) == (entry["sender"], entry["kind"], entry["params"])
        assert method.result == entry.get("result")
    assert {"numbers": wire.ERROR_NUMBERS, "application": -32000, "codes": list(wire.ERROR_CODES)} == found["errors"]
    assert wire.LIMITS.items() <= found["limits"].items()
    numbers = {"depth": 32, "hello_bytes": 4096, "message_bytes": 16 * 2**20, "safe_integer": 2**53 - 1}
    assert numbers.items() <= found["limits"].items()
    assert (list(wire.ACT_OPERATIONS), list(wire.ACT_REFUSALS)) == (found["act"]["operations"], found["act"]["refusals"])
