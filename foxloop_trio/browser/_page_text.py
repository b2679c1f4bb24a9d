"""A page as text for a planner: title, address, the controls that matter most, and the lines that say something. Pure.

Everything in the result is untrusted. What a page wrote is quoted or prefixed, so that no page can write a line of its own; what is
left out is counted, and each count says how to get the rest from the `snapshot` tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ._control_lines import FIELDS, Item, LineWriter, choose, items
from ._focus import nearness, words_of, words_of_control
from ._page_words import Room, page_words, size_of
from ._quoting import quote, quote_address
from ._snapshot import Snapshot
from ._text_lines import Shown

__all__ = ["MAX_CONTROLS", "page_text"]

MAX_CONTROLS: Final = 40
FOCUS_CONTROLS: Final = 20
"""What is shown besides fields and what sends, when a focus is given."""
MAX_TITLE: Final = 300
MAX_UNREADABLE: Final = 5
"""Frames that could not be read and are named; more are counted."""
MAX_REASON: Final = 150
MAX_WAYS: Final = 3
TEXT_SHARE: Final = 0.35
"""Of a bounded text: what is kept for the page's words when there are many controls."""
TAIL: Final = 300
"""Characters that are kept free for the counts of controls."""


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
    * `max_characters`: of the result once its angle brackets are escaped, as they are for a planner; at least 2,000 make sense.
    """
    room = Room(None if max_characters is None else max_characters - TAIL)
    writer = LineWriter(snapshot)
    candidates = list(items(snapshot.controls, writer))
    head = [f"Title: {_title(snapshot.title)}", f"URL: {quote_address(snapshot.url)}"]
    tail = list(_unreadable(snapshot, room))
    room.reserve([*head, "Controls:", *tail])
    near = words_of(focus) if focus is not None else frozenset()
    if near:
        chosen = _near_items(candidates, near)
    else:
        chosen = _first(candidates, max_controls) if in_order else choose(candidates, max_controls)
    shown = _fitting(chosen, snapshot, writer, room, in_order=in_order)
    count, ways = _left_out(snapshot, candidates, shown, in_order=in_order)
    labels = [words for item in shown for control in item.controls for words in writer.words_of(control)]
    known = Shown([snapshot.title, *labels])
    lines = [*head, "Controls:", *writer.lines(shown), *count]
    return "\n".join([*lines, *page_words(snapshot, known, near, room), *tail, *ways])


def _title(title: str) -> str:
    more = len(title) - MAX_TITLE
    return quote(title[:MAX_TITLE]) + (f" (+{more} characters)" if more > 0 else "")


# Controls


def _fitting(chosen: Sequence[Item], snapshot: Snapshot, writer: LineWriter, room: Room, *, in_order: bool) -> list[Item]:
    """Those of `chosen` for whose lines there is room, best rank first; with `in_order` the first ones, without a gap."""
    if room.left is None:
        return list(chosen)
    words = sum(min(len(frame.text), room.left) for frame in snapshot.frames)
    kept_back = max(0, min(words, int(room.left * TEXT_SHARE)))
    room.left -= kept_back
    fitting: set[Item] = set()
    for item in chosen if in_order else sorted(chosen, key=lambda item: item.rank):
        if room.take(item.line(writer)):
            fitting.add(item)
        elif in_order:
            break
    room.left += kept_back
    return [item for item in chosen if item in fitting]


def _left_out(
    snapshot: Snapshot, candidates: Sequence[Item], shown: Sequence[Item], *, in_order: bool
) -> tuple[list[str], list[str]]:
    """How many controls are not shown, and how to see them: a line each, or none."""
    offered = Counter(control.frame for item in candidates for control in item.controls)
    seen = Counter(control.frame for item in shown for control in item.controls)
    missing = {frame.frame: offered[frame.frame] - seen[frame.frame] + frame.truncated for frame in snapshot.frames}
    count = sum(missing.values())
    if not count:
        return [], []
    listed = {control.id for item in shown for control in item.controls}
    ways = [
        f"snapshot with {f'frame={frame} and ' if frame else ''}offset={_next_offset(snapshot, frame, listed) if in_order else 0}"
        for frame, left in missing.items()
        if left
    ]
    words = f"{'; '.join(ways[:MAX_WAYS])}{' and so on' if len(ways) > MAX_WAYS else ''}; or with find"
    return [f"(+{count} controls not shown)"], [f"(controls in page order: {words})"]


def _next_offset(snapshot: Snapshot, frame: int, listed: set[str]) -> int:
    """Past the last control that is shown; those before it are shown or repeat one that is."""
    here = [control.id for control in snapshot.controls if control.frame == frame]
    last = max((index for index, one in enumerate(here) if one in listed), default=-1)
    return snapshot.part.offset + last + 1


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


# Frames


def _unreadable(snapshot: Snapshot, room: Room) -> Iterator[str]:
    """What could not be read; in a bounded text no more of it than a fifth."""
    most = None if room.left is None else room.left // 5
    named = 0
    for entry in snapshot.unreadable[:MAX_UNREADABLE]:
        which = "A frame" if entry.count == 1 else f"{entry.count} frames"
        line = f"({which} could not be read: {quote_address(entry.url)}, {quote(entry.reason[:MAX_REASON])})"
        if most is not None:
            most -= size_of(line)
            if most < 0:
                break
        named += 1
        yield line
    rest = snapshot.unreadable[named:]
    if rest:
        yield f"(+{sum(entry.count for entry in rest)} frames that could not be read)"
