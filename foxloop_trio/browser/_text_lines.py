"""The text of a page as lines worth reading: what repeats or says nothing is dropped, what reads as an alert never. Pure.

Every line of the page gets a prefix, so that none can pass for one of ours. A block that is marked `untrusted-data` is one unit,
kept whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from ._control_lines import SHORT
from ._quoting import visible

__all__ = ["Shown", "Unit", "is_alert", "text_units"]

# All that some reader takes for the end of a line: also vertical tab, form feed and the separators of ASCII.
_LINE_ENDS: Final = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_OPENS: Final = re.compile(r"<\s*untrusted-data\b", re.IGNORECASE)
_CLOSES: Final = re.compile(r"<\s*/\s*untrusted-data\b", re.IGNORECASE)
_ONLY_A_MARKER: Final = re.compile(r"<[^<>]{1,100}>\Z")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_ALERT: Final = re.compile(
    r"\b(?:alert|declined|denied|errors?|failed|incorrect|invalid|must|not valid|please|required|warning|wrong)\b", re.IGNORECASE
)


PART_OF: Final = 10
"""Shortest line that counts as shown when it stands somewhere inside of what is shown."""

PIECE: Final = 3
"""Shortest words that count as a piece of a line: a sum made of the digits on buttons says more than the buttons."""


def is_alert(line: str) -> bool:
    """It has a word with which pages tell that something is wrong."""
    return _ALERT.search(line) is not None


class Shown:
    """Words that stand in the lines of controls already: a line of text that holds nothing else need not be shown again."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words = {visible(text).strip() for text in words} - {""}
        pieces = [text for text in self._words if len(text) >= PIECE and any(char.isalpha() for char in text)]
        self._longest_first = sorted(pieces, key=len, reverse=True)

    def covers(self, line: str) -> bool:
        """The line is one of them (a point of a list, perhaps), or nothing but several of them."""
        if not self._words:
            return False
        if line in self._words or line.removeprefix("- ") in self._words:
            return True
        for words in self._longest_first:
            if len(line) >= PART_OF and line in words:  # a line of what a larger field holds
                return True
            if words in line:
                line = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", " ", line)
        return not any(char.isalnum() for char in line)


@attrs.frozen(kw_only=True)
class Unit:
    """One line, or one marked block; `at` is where it begins in its frame's text, in UTF-16 units, as the add-on counts them."""

    lines: tuple[str, ...]
    at: int
    frame: int = 0
    alert: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def text_units(text: str, shown: Shown | None = None, *, at: int = 0, frame: int = 0) -> Iterator[Unit]:
    """The units worth reading, in order. A line that only repeats what is `shown` already is dropped.

    `at` is where `text` itself begins.
    """
    known = shown if shown is not None else Shown()
    seen: set[str] = set()
    block: list[str] = []
    began = at
    for line, start in _lines(text, at):
        if block or _OPENS.match(line):
            began = began if block else start
            closes = _CLOSES.search(line) is not None
            is_marker = (not block or closes) and _ONLY_A_MARKER.match(line) is not None
            block.append(line if is_marker else f"| {line}")
            if closes:
                yield Unit(lines=tuple(block), at=began, frame=frame)
                block = []
        elif is_alert(line):
            yield Unit(lines=(f"| {line}",), at=start, frame=frame, alert=True)
        elif _says_something(line, known, seen):
            yield Unit(lines=(f"| {line}",), at=start, frame=frame)
    if block:
        yield Unit(lines=tuple(block), at=began, frame=frame)


def _lines(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Trimmed lines that are not empty, with where they begin; control characters are written out."""
    wide = not text.isascii()
    start = 0
    for end in (*_LINE_ENDS.finditer(text), None):
        raw = text[start : end.start() if end is not None else len(text)]
        line = visible(raw).strip()
        if line:
            yield _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line), at
        passed = text[start : end.end() if end is not None else len(text)]
        at += sum(2 if char > "\uffff" else 1 for char in passed) if wide and not passed.isascii() else len(passed)
        start += len(passed)


def _says_something(line: str, shown: Shown, seen: set[str]) -> bool:
    if not any(char.isalnum() for char in line) or shown.covers(line):
        return False
    if len(line) > SHORT or any(char.isdigit() for char in line):
        return True
    if line in seen:
        return False
    seen.add(line)
    return True
