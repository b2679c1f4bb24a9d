"""What changed between two looks at one page, and that as text for a planner. Pure.

Controls pair by their ids, which live as long as their elements. Another document, another address, or too many changes to be
worth telling one by one: then the whole page is shown instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from ._control_lines import LineWriter, control_line
from ._page_text import MAX_CONTROLS, page_text
from ._quoting import quote, quote_address
from ._snapshot import Changes, Control, Snapshot
from ._text_lines import text_units

__all__ = ["ChangeText", "change_text", "changes"]

MAX_NEW_TEXT: Final = 1200
"""Characters of new text, over which the whole page is shown."""


@attrs.frozen(kw_only=True)
class ChangeText:
    """`text`, and whether it is that of the whole page (`full`) or of what changed."""

    full: bool
    text: str


def changes(before: Snapshot, after: Snapshot) -> Changes:
    """What changed. Looks at other documents, or looks that were narrowed down in other ways, cannot be compared."""
    if before.part != after.part or not _same_documents(before, after):
        return Changes(another_page=True)
    earlier = {control.id: control for control in before.controls}
    later = {control.id: control for control in after.controls}
    had, has = (Counter(_units(snapshot)) for snapshot in (before, after))
    return Changes(
        appeared=tuple(control for control in after.controls if control.id not in earlier),
        disappeared=tuple(control for control in before.controls if control.id not in later),
        changed=tuple(
            (earlier[control.id], control)
            for control in after.controls
            if control.id in earlier and _looks(earlier[control.id]) != _looks(control)
        ),
        text_added=tuple((has - had).elements()),
        text_removed=(had - has).total(),
        title=after.title if after.title != before.title else None,
        captcha=after.captcha and not before.captcha,
    )


def change_text(
    before: Snapshot,
    after: Snapshot,
    target: str | None = None,
    max_controls: int = MAX_CONTROLS,
    *,
    whole: Callable[[Snapshot], str] | None = None,
) -> ChangeText:
    """What changed, in lines; or the whole page where that says more. `target` is the id of the control that was acted on, which is
    shown in any case.

    `whole` makes the text of the whole page (default: `page_text` with `max_controls`).
    """
    page = whole(after) if whole is not None else page_text(after, max_controls)
    found = changes(before, after)
    if found.another_page:
        return ChangeText(full=True, text=page)
    counts = [len(found.appeared), len(found.disappeared), len(found.changed)]
    ids = {control.id for control in (*before.controls, *after.controls)}
    added = [line for unit in found.text_added for line in unit.split("\n")]
    size = sum(len(line) + 1 for line in added)
    if sum(counts) > len(ids) / 2 or max(counts) > max_controls or size > MAX_NEW_TEXT or size > len(page) / 2:
        return ChangeText(full=True, text=page)
    lines = [f"Same document: {quote_address(after.url)}", *_diff(before, after, found, target), *added]
    return ChangeText(full=False, text="\n".join(lines))


def _diff(before: Snapshot, after: Snapshot, found: Changes, target: str | None) -> Iterator[str]:
    writer, earlier = LineWriter(after), LineWriter(before)
    if not found:
        yield "No visible change."
    if found.title is not None:
        yield f"Title now: {quote(found.title)}"
    if found.captcha:
        yield "Captcha appeared."
    control = after.control(target) if target is not None else None
    if control is not None and all(one.id != target for one in (*found.appeared, *(now for _, now in found.changed))):
        yield "Target:"
        yield writer.line(control)
    if found.changed:
        yield "Changed:"
        for was, now in found.changed:
            yield writer.line(now) + _secret_change(was, now)
    if found.appeared:
        yield "Appeared:"
        yield from (writer.line(one) for one in found.appeared)
    if found.disappeared:
        yield "Disappeared:"
        yield from (earlier.line(one) for one in found.disappeared)
    if found.text_removed:
        yield f"({found.text_removed} text line{'' if found.text_removed == 1 else 's'} removed)"
    if found.text_added:
        yield "Text added:"


def _secret_change(was: Control, now: Control) -> str:
    """What became of a value that is never shown."""
    if not (now.secret or now.sensitive) or was.value == now.value:
        return ""
    if not was.value:
        return ": filled"
    return ": changed" if now.value else ": cleared"


def _looks(control: Control) -> tuple[str, bool, str]:
    """All of a control that a person could see change."""
    return control_line(control), control.read_only, control.value


def _same_documents(before: Snapshot, after: Snapshot) -> bool:
    def frames(snapshot: Snapshot) -> list[tuple[int, str, str]]:
        return [(frame.frame, frame.url, frame.document) for frame in snapshot.frames]

    return before.url == after.url and frames(before) == frames(after)


def _units(snapshot: Snapshot) -> Iterator[str]:
    for frame in snapshot.frames:
        yield from (unit.text for unit in text_units(frame.text, frame=frame.frame))
