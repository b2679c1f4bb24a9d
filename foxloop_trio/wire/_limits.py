"""The numbers of the protocol, each with its reason. Both ends keep them; the add-on reads them from `protocol.json`.

Lengths of text are counted by the add-on in UTF-16 units and checked here in code points, of which there are never more. What is
longer is cut by the add-on before it is sent, never inside a character.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LIMITS", "MAX_DEPTH", "MAX_HELLO_BYTES", "MAX_MESSAGE_BYTES", "MAX_SAFE_INTEGER", "PATH", "PROTOCOL", "REFUSED_CODE"]

PROTOCOL: Final = 1
"""Version of the protocol. A peer with another one is refused like any other stranger."""

PATH: Final = "/foxloop"
"""Path of the websocket."""

REFUSED_CODE: Final = 4403
"""Close code of every refusal in the hello, from the range that RFC 6455 (7.4.2) leaves to applications. It comes without a
reason."""

MAX_MESSAGE_BYTES: Final = 16 * 2**20
"""Largest message in bytes of UTF-8. The largest honest one is a full-page picture: 1.4 MB of base64 for 1280 x 4880 pixels, so
this leaves room for ten of those; and the worst JSON of this size (nested empty lists) takes about 350 MB once parsed, no more."""

MAX_HELLO_BYTES: Final = 4096
"""Largest message before the peer has shown that it knows the token. An honest hello.open has about 450 bytes."""

MAX_DEPTH: Final = 32
"""Deepest nesting of a message; the deepest honest one (an option of a control of a frame of a result) has 9 levels."""

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Largest integer that JavaScript keeps exact. Firefox's own frame ids exceed 32 bits."""

LIMITS: Final[dict[str, int]] = {
    "actions": 500,  # ticks of one piece of input of Firefox's own
    "addresses": 65_536,  # url, href, destination: Firefox loads longer ones, but nothing that a person would be asked about
    "attribute": 1_000,  # name and placeholder, as written by the page
    "chunks": 100,  # pieces of input of one act
    "controls": 1_000,  # controls of one frame in one answer; 300 unless more are asked for (section 2.11)
    "calls": 32,  # outcomes that a document keeps, and so calls in one acknowledgement
    "cell": 300,  # text of one cell of a table, name of a column
    "cells": 50,  # columns of a table
    "deadline_ms": 3_600_000,  # an hour: longer waits are many calls
    "description": 200,  # computed description, and the text of the row around a control
    "detail": 1_000,  # our own words in an act's refusal
    "dialogs": 50,  # script dialogs answered during one act; later ones are answered but not reported
    "files": 10,  # names of files that a field holds
    "find": 200,  # text to look for
    "focus": 500,  # words that say what matters on the page
    "frames": 500,  # frames of one tab that are read
    "guard": 256,  # guard and key: keyed digests
    "heading": 500,
    "headings": 200,
    "hosts": 100,  # hosts that a held tab may show beside its own
    "label": 200,  # computed name (2.5)
    "look": 60,  # what a small picture or box looks like
    "marks": 1_000,  # controls whose ids are drawn on one picture
    "message": 2_000,  # text of a script dialog, of an error
    "opened": 10,  # tabs that one act opened, windows that it asked for
    "option": 500,  # value and label of an option, each
    "options": 300,  # options of one select in one answer; how many more there are is told
    "path": 200,  # points of a way along which something is dragged
    "piece": 2**22,  # characters of base64 of a file in one message: 3 MiB, well under MAX_MESSAGE_BYTES
    "rows": 200,  # rows of a table in one answer: 3 MB of text at most
    "section": 70,  # name of the enclosing region (2.6)
    "steps": 50,  # that a result names
    "tabs": 2_000,
    "text": 60_000,  # page text of a frame in one answer; 6,000 characters in all unless more are asked for (2.10)
    "title": 1_000,
    "token": 100,  # role, tag, type, row, versions and other short words
    "value": 500,  # current value of a control (2.7)
}
"""What each kind of text or list may hold at most."""
