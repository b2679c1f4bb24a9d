"""A trail as text that goes from one store to another: exported line by line, imported whole or not at all."""

from __future__ import annotations

from typing import Any

from ._codec import BYTE_ORDER_MARK, entry_from_json, parse_line
from ._errors import InvalidEntryError
from ._key import TrailKey
from ._records import Fault, Head, line_of
from ._verify import verify_entries

__all__ = ["checked_import", "parse_jsonl"]


def parse_jsonl(text: str) -> list[Any]:
    """The JSON value of each line. A byte order mark, CRLF and a missing last line feed are fine; empty text is an empty log.

    Raises InvalidEntryError, with the 1-based `line`, for a blank line or one that is no strict JSON.
    """
    try:
        raw = text.encode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeEncodeError:
        raise InvalidEntryError("the text has a lone surrogate in it, which no file of UTF-8 has") from None
    lines = raw.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [parse_line(line, number) for number, line in enumerate(lines, 1)]


def checked_import(text: str, key: TrailKey) -> tuple[bytes, Head | None]:
    """The entries of `text` as the lines that we would have written, and the last of them.

    Raises InvalidEntryError when a line is no strict JSON, or the entries do not verify.
    """
    values = parse_jsonl(text)
    result = verify_entries(values, key=key)
    if isinstance(result, Fault):
        raise InvalidEntryError(f"{result.reason}: {result.message}", line=result.line)
    entries = [entry_from_json(value) for value in values]
    if not entries:
        return b"", None
    last = entries[-1]
    return "".join(map(line_of, entries)).encode(), Head(last.seq, last.ts, last.hash)
