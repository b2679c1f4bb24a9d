"""A page as text for a planner: title, address, the controls that matter most, and the lines that say something. Pure.

Everything in the result is untrusted. Labels and values are quoted onto one line, so that no page can write a control line of
its own; what is left out is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from ._snapshot import Control, Option, Snapshot

__all__ = ["control_line", "page_text", "quote"]

MAX_CONTROLS: Final = 40
MAX_OPTIONS: Final = 30
MAX_ADDRESS: Final = 300
FOLD_FROM: Final = 5
"""Links that make a run worth folding into one line."""
SHORT: Final = 40
"""Longest label of a link that is folded, and of a text line that is dropped when it repeats."""
LINKS_PER_COST: Final = 4
"""Folded links that cost as much as one control."""

FIELDS: Final = frozenset({"textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "spinbutton"})

# Zero-width characters, directional controls, word joiner, byte order mark, Mongolian vowel separator, tag characters.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u061c\u180e\ufeff\U000e0000-\U000e007f]")
_SPACES = re.compile(r"\s+")  # of str, so NEL and the line and paragraph separators are among them
_MARKER = re.compile(r"<(?=\s*/?\s*untrusted-data)", re.IGNORECASE)
_UNPRINTABLE = re.compile("[\x7f-\x9f\ud800-\udfff]")
_ROLE = re.compile(r"[a-z][a-z-]*\Z")

_LINE_ENDS = re.compile("[\r\n\x85\u2028\u2029]")
_OPENS = re.compile(r"<\s*untrusted-data\b", re.IGNORECASE)
_CLOSES = re.compile(r"<\s*/\s*untrusted-data\b", re.IGNORECASE)
_ALERT = re.compile(
    r"\b(?:alert|declined|denied|errors?|failed|incorrect|invalid|must|not valid|please|required|warning|wrong)\b", re.IGNORECASE
)


def page_text(snapshot: Snapshot, max_controls: int = MAX_CONTROLS) -> str:
    """The page in lines: title, address, at most `max_controls` controls (a folded run of links costs a quarter of them), text."""
    items = list(_items(snapshot.controls))
    shown = _chosen(items, max_controls)
    left_out = sum(len(item.controls) for item in items if item not in shown) + snapshot.truncated
    lines = [f"Title: {quote(snapshot.title)}", f"URL: {_address(snapshot.url)}", "Controls:"]
    lines += [item.line() for item in items if item in shown]
    if left_out:
        lines.append(f"(+{left_out} controls not shown)")
    labels = {_visible(control.label) for item in shown for control in item.controls}
    return "\n".join([*lines, "Text:", *_text_lines(snapshot.text, labels)])


def control_line(control: Control) -> str:
    """``[id] role "label" value="…" options=["v1","v2"="its label"] (flags)``; a secret's value is a mask."""
    parts = [f"[{control.id}]", control.role if _ROLE.match(control.role) else "control", quote(control.label)]
    if control.shown_value:
        parts.append(f"value={quote(control.shown_value)}")
    if control.options is not None and not control.secret:
        parts.append(f"options=[{','.join(_options(control.options))}]")
    flags = [
        flag
        for flag, holds in (
            ("required", control.required),
            ("disabled", control.disabled),
            ("checked", control.checked is True),
            ("mixed", control.checked == "mixed"),
            ("expanded", control.expanded),
            ("submits", control.submit),
        )
        if holds
    ]
    if flags:
        parts.append(f"({', '.join(flags)})")
    return " ".join(parts)


def quote(text: str) -> str:
    """The text as one line in JSON string syntax: spaces run together, invisible characters removed, no `untrusted-data` marker."""
    text = _MARKER.sub("&lt;", _SPACES.sub(" ", _visible(text)))
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _visible(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub("", text)


def _address(url: str) -> str:
    if len(url) <= MAX_ADDRESS:
        return quote(url)
    return f"{quote(url[:MAX_ADDRESS])} (+{len(url) - MAX_ADDRESS} characters)"


def _options(options: Sequence[Option]) -> Iterator[str]:
    """At most `MAX_OPTIONS`, in page order, those that are selected before others, and how many are left out."""
    wanted = [index for index, option in enumerate(options) if option.selected]
    wanted += [index for index, option in enumerate(options) if not option.selected]
    for index in sorted(wanted[:MAX_OPTIONS]):
        option = options[index]
        yield quote(option.value) + (f"={quote(option.label)}" if option.label != option.value else "")
    if len(options) > MAX_OPTIONS:
        yield f"+{len(options) - MAX_OPTIONS}"


# Folding and choosing


@attrs.frozen(eq=False)
class _Item:
    """One line: a control, or a run of links folded together."""

    controls: tuple[Control, ...]
    folded: bool = False

    @property
    def cost(self) -> int:
        return -(-len(self.controls) // LINKS_PER_COST) if self.folded else 1

    @property
    def rank(self) -> int:
        """What a planner needs first: what sends, what is filled in, what is in view, folded links, the rest."""
        control = self.controls[0]
        if self.folded:
            return 3
        if control.submit:
            return 0
        if control.role in FIELDS or control.dialog:
            return 1
        return 4 if control.offscreen else 2

    def line(self) -> str:
        if not self.folded:
            return control_line(self.controls[0])
        links = ", ".join(f"{quote(link.label)}={link.id}" for link in self.controls)
        return f"({len(self.controls)} links: {links})"


def _items(controls: Sequence[Control]) -> Iterator[_Item]:
    """The lines in page order: runs of links folded, repeated links dropped."""
    run: list[Control] = []
    for control in _without_repeats(controls):
        if run and not _continues(run[-1], control):
            yield from _folded(run)
            run = []
        if _can_fold(control):
            run.append(control)
        else:
            yield _Item((control,))
    yield from _folded(run)


def _folded(run: list[Control]) -> Iterator[_Item]:
    if len(run) >= FOLD_FROM:
        yield _Item(tuple(run), folded=True)
    else:
        yield from (_Item((link,)) for link in run)


def _can_fold(control: Control) -> bool:
    return control.role == "link" and control.form is None and not control.dialog and len(control.label) <= SHORT


def _continues(before: Control, control: Control) -> bool:
    same_row = control.row is not None and control.row == before.row
    return _can_fold(control) and not same_row and (control.section, control.frame) == (before.section, before.frame)


def _without_repeats(controls: Sequence[Control]) -> Iterator[Control]:
    seen: set[tuple[int, str, str | None]] = set()
    for control in controls:
        if control.role == "link":
            link = (control.frame, control.label, control.href)
            in_page = control.href is not None and control.href.startswith(("#", "javascript:"))
            if link in seen and not in_page:
                continue
            seen.add(link)
        yield control


def _chosen(items: Sequence[_Item], budget: int) -> set[_Item]:
    """What fits, best rank first; what does not fit is passed over, and something cheaper may still fit."""
    chosen: set[_Item] = set()
    for item in sorted(items, key=lambda item: item.rank):
        if item.cost <= budget:
            budget -= item.cost
            chosen.add(item)
    return chosen


# Text


def _text_lines(text: str, labels: set[str]) -> Iterator[str]:
    """The lines worth reading. A block marked `untrusted-data` by the page is kept whole."""
    inside = False
    seen: set[str] = set()
    for line in (_visible(part).strip() for part in _LINE_ENDS.split(text)):
        if not line:
            continue
        if inside or _OPENS.match(line):
            is_marker = not inside or _CLOSES.match(line) is not None
            inside = _CLOSES.search(line) is None
            yield line if is_marker else f"| {line}"
        elif _says_something(line, labels, seen):
            yield f"| {line}"


def _says_something(line: str, labels: set[str], seen: set[str]) -> bool:
    if _ALERT.search(line):
        return True
    if line in labels or not any(char.isalnum() for char in line):
        return False
    if len(line) > SHORT or any(char.isdigit() for char in line):
        return True
    if line in seen:
        return False
    seen.add(line)
    return True
