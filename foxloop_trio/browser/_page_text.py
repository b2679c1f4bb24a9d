"""A page as text for a planner: title, address, the controls that matter most, and the lines that say something. Pure.

Everything in the result is untrusted. What a page wrote is quoted or prefixed, so that no page can write a line of its own; what is
left out is counted, and each count says how to get the rest from the `snapshot` tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ._control_lines import FIELDS, Item, LineWriter, choose, items
from ._focus import nearness, words_of, words_of_control
from ._quoting import hidden_in, quote, quote_address, visible
from ._snapshot import Frame, Snapshot
from ._text_lines import Unit, text_units

__all__ = ["MAX_CONTROLS", "page_text"]

MAX_CONTROLS: Final = 40
FOCUS_CONTROLS: Final = 20
FOCUS_LINES: Final = 10
"""What is shown besides fields and what sends, when a focus is given."""
MAX_UNREADABLE: Final = 5
"""Frames that could not be read and are named; more are counted."""
TEXT_SHARE: Final = 0.35
"""Of a bounded text: what is kept for the page's words when there are many controls."""
TAIL: Final = 400
"""Characters that are kept free for counts and for what could not be read."""


def page_text(
    snapshot: Snapshot,
    max_controls: int = MAX_CONTROLS,
    *,
    focus: str | None = None,
    in_order: bool = False,
    max_characters: int | None = None,
) -> str:
    """The page in lines: title, address, at most `max_controls` controls (a folded run of links costs a quarter of them), text.

    * `focus`: show what sends, what is filled in, and what shares the most words with this text, instead of the first controls.
    * `in_order`: show the first controls of the page and not the most important ones, for paging through all of them.
    * `max_characters`: of the result once its angle brackets are escaped, as they are for a planner.
    """
    page = _Page(snapshot, max_characters)
    head = [f"Title: {quote(snapshot.title)}", f"URL: {quote_address(snapshot.url)}"]
    page.spend(head)
    near = words_of(focus) if focus is not None else frozenset()
    if near:
        controls = page.fit_controls(_near_items(page.items, near))
    elif in_order:
        controls = page.fit_controls(_first(page.items, max_controls), in_order=True)
    else:
        controls = page.fit_controls(choose(page.items, max_controls))
    count, ways = page.left_out(controls, in_order=in_order)
    lines = [*head, "Controls:", *(item.line(page.writer) for item in controls), *count]
    labels = {visible(control.label) for item in controls for control in item.controls}
    return "\n".join([*lines, *page.texts(labels, near), *page.unreadable(), *ways])


class _Page:
    """One text in the making, and how many characters are left for it."""

    def __init__(self, snapshot: Snapshot, max_characters: int | None) -> None:
        self._snapshot = snapshot
        self._room = None if max_characters is None else max_characters - TAIL
        self.writer = LineWriter(snapshot)
        self.items = list(items(snapshot.controls, self.writer))

    def spend(self, lines: Sequence[str]) -> None:
        if self._room is not None:
            self._room -= sum(map(_size, lines))

    # Controls

    def fit_controls(self, chosen: Sequence[Item], *, in_order: bool = False) -> list[Item]:
        """Those of `chosen` for whose lines there is room, best rank first; with `in_order` the first ones, without a gap."""
        if self._room is None:
            return list(chosen)
        words = sum(min(len(frame.text), self._room) for frame in self._snapshot.frames)
        room = self._room - min(words, int(self._room * TEXT_SHARE))
        fitting: set[Item] = set()
        for item in chosen if in_order else sorted(chosen, key=lambda item: item.rank):
            size = _size(item.line(self.writer))
            if size <= room:
                room -= size
                self._room -= size
                fitting.add(item)
            elif in_order:
                break
        return [item for item in chosen if item in fitting]

    def left_out(self, shown: Sequence[Item], *, in_order: bool) -> tuple[list[str], list[str]]:
        """How many controls are not shown, and how to see them: a line each, or none."""
        listed = {control.id for item in shown for control in item.controls}
        offered = Counter(control.frame for item in self.items for control in item.controls)
        seen = Counter(control.frame for item in shown for control in item.controls)
        missing = {frame.frame: offered[frame.frame] - seen[frame.frame] + frame.truncated for frame in self._snapshot.frames}
        count = sum(missing.values())
        if not count:
            return [], []
        ways = []
        for frame, left in missing.items():
            if left:
                offset = self._next_offset(frame, listed) if in_order else 0
                ways.append(f"snapshot with {f'frame={frame} and ' if frame else ''}offset={offset}")
        words = f"{'; '.join(ways[:3])}{' and so on' if len(ways) > 3 else ''}; or with find"
        return [f"(+{count} controls not shown)"], [f"(controls in page order: {words})"]

    def _next_offset(self, frame: int, listed: set[str]) -> int:
        """Past the last control that is shown; those before it are shown or repeat one that is."""
        here = [control.id for control in self._snapshot.controls if control.frame == frame]
        last = max((index for index, one in enumerate(here) if one in listed), default=-1)
        return self._snapshot.part.offset + last + 1

    # Text

    def texts(self, labels: set[str], near: frozenset[str]) -> Iterator[str]:
        offset = self._snapshot.part.text_offset
        units = {frame.frame: list(text_units(frame.text, labels, at=offset, frame=frame.frame)) for frame in self._snapshot.frames}
        kept = self._fitting(self._near_units(units, near) if near else {unit for some in units.values() for unit in some})
        for frame in self._snapshot.frames:
            shown = [unit for unit in units[frame.frame] if unit in kept]
            lines = [line for unit in shown for line in unit.lines]
            more = list(self._more_text(frame, units[frame.frame], kept, focused=bool(near)))
            if frame.frame == self._snapshot.top.frame:
                yield "Text:"
            elif lines or more:
                yield f"Text of frame {frame.frame}, {quote_address(frame.url)}:"
            yield from lines
            yield from more
        hidden = sum(hidden_in(frame.text) for frame in self._snapshot.frames)
        if hidden:
            yield f"({hidden} invisible character{'' if hidden == 1 else 's'} removed from the text)"

    def _near_units(self, units: Mapping[int, Sequence[Unit]], near: frozenset[str]) -> set[Unit]:
        """The lines that share the most words with the focus; alerts and headings in any case."""
        headings = {visible(heading) for frame in self._snapshot.frames for heading in frame.headings}
        every = [unit for some in units.values() for unit in some]
        kept = {unit for unit in every if unit.alert or unit.text.removeprefix("| ") in headings}
        scored = [(nearness(words_of(unit.text), near), unit) for unit in every if unit not in kept]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return kept | {unit for _, unit in best[:FOCUS_LINES]}

    def _fitting(self, wanted: set[Unit]) -> set[Unit]:
        """Those for which there is room: alerts first, then the others in order until one does not fit."""
        if self._room is None:
            return wanted
        fitting: set[Unit] = set()
        for unit in sorted(wanted, key=lambda unit: (not unit.alert, unit.frame, unit.at)):
            size = _size(unit.text)
            if size > self._room:
                if unit.alert:
                    continue
                break
            self._room -= size
            fitting.add(unit)
        return fitting

    def _more_text(self, frame: Frame, units: Sequence[Unit], kept: set[Unit], *, focused: bool) -> Iterator[str]:
        dropped = [unit for unit in units if unit not in kept]
        if focused and dropped:
            yield f"(+{len(dropped)} line{'' if len(dropped) == 1 else 's'} not shown)"
        end = self._snapshot.part.text_offset + _units_of(frame.text)
        resume = end if focused or not dropped else dropped[0].at
        left = end - resume + frame.text_more
        if left:
            where = f"frame={frame.frame} and " if frame.frame else ""
            yield f"(+{left} characters of text not shown: snapshot with {where}text_offset={resume})"

    def unreadable(self) -> Iterator[str]:
        entries = self._snapshot.unreadable
        for entry in entries[:MAX_UNREADABLE]:
            which = "A frame" if entry.count == 1 else f"{entry.count} frames"
            yield f"({which} could not be read: {quote_address(entry.url)}, {quote(entry.reason[:200])})"
        if len(entries) > MAX_UNREADABLE:
            yield f"(+{sum(entry.count for entry in entries[MAX_UNREADABLE:])} frames that could not be read)"


def _near_items(candidates: Sequence[Item], near: frozenset[str]) -> list[Item]:
    """What sends, what is filled in and what is in a dialog; of the rest those that share the most words with the focus."""
    always = {item for item in candidates if not item.folded and _always(item)}
    singles = [Item((one,)) for item in candidates if item not in always for one in item.controls]
    scored = [(nearness(words_of_control(item.controls[0]), near), item) for item in singles]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    kept = {control.id for _, item in best[:FOCUS_CONTROLS] for control in item.controls}
    return [
        one
        for item in candidates
        for one in ([item] if item in always else [Item((control,)) for control in item.controls if control.id in kept])
    ]


def _always(item: Item) -> bool:
    control = item.controls[0]
    return control.submit or control.role in FIELDS or control.dialog


def _first(candidates: Sequence[Item], budget: int) -> list[Item]:
    chosen = []
    for item in candidates:
        budget -= item.cost
        if budget < 0:
            break
        chosen.append(item)
    return chosen


def _size(line: str) -> int:
    """Characters of a line and its end, with its brackets escaped."""
    return len(line) + 1 + 3 * (line.count("<") + line.count(">"))


def _units_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
