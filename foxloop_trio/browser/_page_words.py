"""The words of a page within the room that is left: frame by frame, alerts first, each cut with the place to go on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from ._focus import nearness, words_of
from ._quoting import hidden_in, quote_address, visible
from ._snapshot import Frame, Snapshot
from ._text_lines import Shown, Unit, text_units

__all__ = ["Room", "page_words", "size_of"]

FOCUS_LINES: Final = 10
"""Lines that are shown because they are near to a focus."""
TOP_SHARE: Final = 0.7
"""Of a bounded text: what the top frame may take at most, when other frames have words too."""
COUNT_LINE: Final = 100
"""Characters that a line with a count has at most."""


@attrs.define
class Room:
    """Characters that are left, counted as a planner gets them; None: no bound."""

    left: int | None = None

    def take(self, *lines: str) -> bool:
        """Take the room that these lines need, all or none; whether there was enough."""
        if self.left is None:
            return True
        size = sum(map(size_of, lines))
        if size > self.left:
            return False
        self.left -= size
        return True

    def reserve(self, lines: Iterable[str]) -> None:
        """Take the room of lines that are shown in any case."""
        if self.left is not None:
            self.left -= sum(map(size_of, lines))


def size_of(line: str) -> int:
    """Characters of a line and its end, with its angle brackets escaped."""
    return len(line) + 1 + 3 * (line.count("<") + line.count(">"))


def page_words(snapshot: Snapshot, shown: Shown, near: frozenset[str], room: Room) -> Iterator[str]:
    """The lines from ``Text:`` on. `shown` are words that need not be repeated; `near`, when there are any, chooses the lines."""
    offset = snapshot.part.text_offset
    found = {frame.frame: list(text_units(frame.text, shown, at=offset, frame=frame.frame)) for frame in snapshot.frames}
    wanted = _near(snapshot, found.values(), near) if near else None
    top, *others = snapshot.frames
    hidden = sum(hidden_in(frame.text) for frame in snapshot.frames)
    room.reserve(["Text:", "x" * COUNT_LINE * (1 + bool(hidden) + bool(others) + bool(near))])
    kept_back = 0
    if room.left is not None and any(found[frame.frame] for frame in others):
        kept_back = max(0, int(room.left * (1 - TOP_SHARE)))
        room.left -= kept_back
    yield "Text:"
    yield from _frame_words(snapshot, top, found[top.frame], wanted, room)
    if room.left is not None:
        room.left += kept_back
    silent: list[Frame] = []
    for frame in others:
        if not (found[frame.frame] or frame.text_more):
            continue
        head = f"Text of frame {frame.frame}, {quote_address(frame.url)}:"
        if not room.take(head, "x" * COUNT_LINE):
            silent.append(frame)
            continue
        lines = list(_frame_words(snapshot, frame, found[frame.frame], wanted, room))
        if lines:
            yield from [head, *lines]
    if silent:
        count = sum(_units(frame.text) + frame.text_more for frame in silent)
        yield f"(+{count} characters of text in {len(silent)} frames not shown: snapshot with frame={silent[0].frame} and so on)"
    if hidden:
        yield f"({hidden} invisible character{'' if hidden == 1 else 's'} removed from the text)"


def _frame_words(snapshot: Snapshot, frame: Frame, units: Sequence[Unit], wanted: set[Unit] | None, room: Room) -> Iterator[str]:
    """One frame's lines, and what is left out of them."""
    kept = _fitting([unit for unit in units if wanted is None or unit in wanted], room)
    for unit in units:
        if unit in kept:
            yield from unit.lines
    dropped = [unit for unit in units if unit not in kept]
    if wanted is not None and dropped:
        yield f"(+{len(dropped)} line{'' if len(dropped) == 1 else 's'} not shown)"
    end = snapshot.part.text_offset + _units(frame.text)
    resume = end if wanted is not None or not dropped else dropped[0].at
    left = end - resume + frame.text_more
    if left:
        where = f"frame={frame.frame} and " if frame.frame else ""
        yield f"(+{left} characters of text not shown: snapshot with {where}text_offset={resume})"


def _fitting(units: Sequence[Unit], room: Room) -> set[Unit]:
    """Those for which there is room: alerts first, then the others in order until one does not fit."""
    fitting = {unit for unit in units if unit.alert and room.take(unit.text)}
    for unit in units:
        if not unit.alert:
            if not room.take(unit.text):
                break
            fitting.add(unit)
    return fitting


def _near(snapshot: Snapshot, found: Iterable[Sequence[Unit]], near: frozenset[str]) -> set[Unit]:
    """The lines that share the most words with the focus; alerts and headings in any case."""
    headings = {visible(heading) for frame in snapshot.frames for heading in frame.headings}
    every = [unit for units in found for unit in units]
    kept = {unit for unit in every if unit.alert or unit.text.removeprefix("| ") in headings}
    scored = [(nearness(words_of(unit.text), near), unit) for unit in every if unit not in kept]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return kept | {unit for _, unit in best[:FOCUS_LINES]}


def _units(text: str) -> int:
    """Its length in UTF-16 units, as the add-on counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
