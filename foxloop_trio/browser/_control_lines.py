"""Controls as lines of text: one control each, or a run of links folded together; and which of them fit. Pure.

What a page wrote is quoted, whatever it imitates; what stands outside quotes is ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from ._quoting import host_of_link, quote, remarks, visible
from ._snapshot import Control, Option, Snapshot

__all__ = ["FIELDS", "SHORT", "Item", "LineWriter", "choose", "control_line", "items"]

MAX_OPTIONS: Final = 30
FOLD_FROM: Final = 5
"""Links that make a run worth folding into one line."""
SHORT: Final = 40
"""Longest label of a link that is folded, and of a text line that is dropped when it repeats."""
LINKS_PER_COST: Final = 4
"""Folded links that cost as much as one control."""

FIELDS: Final = frozenset({"textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "spinbutton"})
BOXES: Final = frozenset({"checkbox", "radio"})
"""Types whose value is what a form would send, which no person sees; what they see is whether it is on."""
CAPTIONED: Final = frozenset({"button", "reset", "submit"})
"""Types of inputs whose value is what is written on them."""
MAX_ROW: Final = 80
"""Characters of a row's words: enough to tell it from the next one."""
LONG_ROW: Final = 30
"""Characters of a row's words from which it is shorter to name an earlier control of that row."""
CELL: Final = " | "
"""What the add-on puts between the cells of a row."""
PLACED: Final = frozenset({"canvas", "draggable", "drawing", "shape"})
"""Roles whose place on the page is all that tells them apart."""

_ROLE = re.compile(r"[a-z][a-z-]*\Z")
_WORD = re.compile(r"[a-z][a-z-]{0,19}\Z")
_HOST = re.compile(r"(?:https?://)?(?P<host>(?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]\S*)?\Z", re.IGNORECASE)


def control_line(
    control: Control,
    *,
    told_by: str = "",
    page_url: str = "",
    text: str = "",
    same_options: str | None = None,
    same_row: str | None = None,
) -> str:
    """``[id] role "label" value="…" options=["v1","v2=its label"] more=… (flags) (remarks)``; a secret's value is a mask.

    `told_by` says by what it differs from others of the same role and label: ``row`` or ``section``. `page_url` is the address of
    its document, for saying where it leads; a description that stands in `text` already is not repeated. `same_options` and
    `same_row` are the ids of earlier controls whose options, or whose row's words, are the same.
    """
    parts = [
        f"[{control.id}]",
        control.role if _ROLE.match(control.role) else "control",
        quote(control.label) + _cut(control.label_more),
    ]
    if control.shown_value and control.type not in BOXES and not (control.type in CAPTIONED and control.value == control.label):
        parts.append(f"value={quote(control.shown_value)}{_cut(control.value_more)}")
    if same_options is not None:
        parts.append(f"options=those of {same_options}")
    elif control.options is not None and not control.secret:
        parts.append(f"options=[{','.join(_options(control.options, control.options_more))}]")
    parts += [f"{name}={shown}" for name, shown in _extras(control, told_by, page_url, text, same_row)]
    flags = [flag for flag, holds in _flags(control) if holds]
    if flags:
        parts.append(f"({', '.join(flags)})")
    parts += [f"({remark})" for remark in remarks(control.label + "\n" + control.shown_value)]
    return " ".join(parts)


def _extras(control: Control, told_by: str, page_url: str, text: str, same_row: str | None) -> Iterator[tuple[str, str]]:
    """What only some controls have, quoted where it is the page's."""
    if control.look and control.look != control.label and control.role not in FIELDS:
        yield "look", quote(control.look)
    if control.files:
        yield "files", f"[{','.join(quote(name) for name in control.files)}]"
    if told_by == "row" and same_row is not None:
        yield "row", f"that of {same_row}"
    elif told_by == "row" and control.row_text:
        words = row_words(control)
        yield "row", quote(words[:MAX_ROW]) + _cut(max(0, len(words) - MAX_ROW))
    elif told_by == "section" and control.section:
        yield "section", quote(control.section)
    if control.description and control.description not in text:
        yield "description", quote(control.description)
    if control.box is not None and control.role in PLACED:
        yield "box", f"[{','.join(f'{part:g}' for part in attrs.astuple(control.box))}]"
    if control.level is not None:
        yield "level", str(control.level)
    if control.opens and _WORD.match(control.opens):
        yield "opens", control.opens
    if control.popup_for is not None:
        yield "suggestion_for", control.popup_for
    if control.hover_only is not None:
        yield "shown_while_over", control.hover_only
    yield from _elsewhere(control, page_url)


def row_words(control: Control) -> str:
    """The words of its row without its own label, which stands in the line already; all of them when nothing else is left."""
    row, label = control.row_text or "", control.label
    if not label:
        return row
    words = CELL.join(cell for cell in row.split(CELL) if cell != label)
    return words.removeprefix(f"{label} ").removesuffix(f" {label}") or row


def _flags(control: Control) -> Iterator[tuple[str, object]]:
    yield "required", control.required
    yield "disabled", control.disabled
    yield "checked", control.checked is True
    yield "mixed", control.checked == "mixed"
    yield "expanded", control.expanded
    yield "submits", control.submit
    yield "multiple", control.multiple and control.options is not None
    yield "multiline", control.tag == "textarea"
    yield "current", control.current
    yield "behind a dialog", control.behind_modal


def _elsewhere(control: Control, page_url: str) -> Iterator[tuple[str, str]]:
    """Where it leads, when that is not where it seems to."""
    if control.submit and control.destination is not None:
        there = host_of_link(control.destination.url, page_url)
        if there is not None and there != host_of_link("", page_url):
            yield "sends_to", quote(there)
    elif control.href and (named := _HOST.match(visible(control.label).strip())) is not None:
        there, said = host_of_link(control.href, page_url), host_of_link(f"http://{named['host']}/", page_url)
        if there is not None and said is not None and _plain(there) != _plain(said):
            yield "leads_to", quote(there)


def _plain(host: str) -> str:
    return host.removeprefix("www.").removesuffix(".")


def _cut(count: int) -> str:
    return f" (+{count} characters)" if count else ""


def _options(options: Sequence[Option], more: int) -> Iterator[str]:
    """At most `MAX_OPTIONS`, in page order, those that are selected before others, and how many are left out."""
    wanted = [index for index, option in enumerate(options) if option.selected]
    wanted += [index for index, option in enumerate(options) if not option.selected]
    for index in sorted(wanted[:MAX_OPTIONS]):
        yield _option(options[index])
    left_out = max(0, len(options) - MAX_OPTIONS) + more
    if left_out:
        yield f"+{left_out}"


def _option(option: Option) -> str:
    """``"value"``, or ``"value=label"`` in one pair of quotes, which is a third cheaper; the first ``=`` always parts the two."""
    if "=" in option.value:
        return f"{quote(option.value)}={quote(option.label)}"
    return quote(option.value if option.label == option.value else f"{option.value}={option.label}")


class LineWriter:
    """Writes the lines of one snapshot: it knows which controls have to be told apart, and what the text says already."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._text = "\n".join(frame.text for frame in snapshot.frames)
        self._urls = {frame.frame: frame.url for frame in snapshot.frames}
        self._alike = Counter((control.role, control.label) for control in snapshot.controls)
        self._in_row = Counter((control.role, control.label, control.row_text) for control in snapshot.controls)
        self._in_section = Counter((control.role, control.label, control.section) for control in snapshot.controls)

    def line(
        self, control: Control, *, section: str | None = None, same_options: str | None = None, same_row: str | None = None
    ) -> str:
        """The line of a control. `section` was named in the line before; `same_options` and `same_row` as in `control_line`."""
        told_by = self._told_by(control)
        if told_by == "section" and control.section == section:
            told_by = ""
        url = self._urls.get(control.frame, "")
        return control_line(control, told_by=told_by, page_url=url, text=self._text, same_options=same_options, same_row=same_row)

    def lines(self, chosen: Iterable[Item]) -> Iterator[str]:
        """The lines of these, in order: a section is named where it begins, options and the words of a row once."""
        section: str | None = None
        rows: dict[tuple[int, str | None, str], str] = {}
        options: dict[tuple[tuple[str, str], ...], str] = {}
        for item in chosen:
            control = item.controls[0]
            if item.folded:
                section = None
                yield self.links(item.controls)
                continue
            same = None
            if control.options is not None and len(control.options) > 2 and not control.secret:
                held = tuple((option.value, option.label) for option in control.options)
                same = options.get(held)
                options.setdefault(held, control.id)
            row = None
            if len(words := control.row_text or "") >= LONG_ROW and self._told_by(control) == "row":
                place = (control.frame, control.row, words)
                row = rows.get(place)
                rows.setdefault(place, control.id)
            yield self.line(control, section=section, same_options=same, same_row=row)
            if control.section != section:
                section = control.section if self._told_by(control) == "section" else None

    def words_of(self, control: Control) -> Iterator[str]:
        """The words of the page that stand in its line."""
        yield control.label
        if control.options is None:
            yield control.shown_value
        told_by = self._told_by(control)
        if told_by == "section":
            yield control.section
        elif told_by == "row" and control.row_text and len(control.row_text) <= MAX_ROW:
            yield control.row_text

    def _told_by(self, control: Control) -> str:
        """What tells it from others of its role and label, or says something of one without a label."""
        alike = self._alike[control.role, control.label]
        if alike < 2:
            says_more = not control.label and control.row_text and control.row_text != control.value
            return "row" if says_more else ""
        in_section = self._in_section[control.role, control.label, control.section]
        in_row = self._in_row[control.role, control.label, control.row_text]
        if control.section and in_section == 1:
            return "section"
        if control.row_text and in_row < alike:
            return "row"
        return "section" if control.section and in_section < alike else ""

    def links(self, links: Sequence[Control]) -> str:
        return f"({len(links)} links: {', '.join(f'{quote(link.label)}={link.id}' for link in links)})"

    def has_remarks(self, control: Control) -> bool:
        """It needs a line of its own, for what there is to say of it."""
        if next(remarks(control.label), None) is not None or (control.row_text and self._told_by(control) == "row"):
            return True
        return next(_elsewhere(control, self._urls.get(control.frame, "")), None) is not None


@attrs.frozen(eq=False)
class Item:
    """One line: a control, or a run of links folded together."""

    controls: tuple[Control, ...]
    folded: bool = False

    @property
    def cost(self) -> int:
        return -(-len(self.controls) // LINKS_PER_COST) if self.folded else 1

    @property
    def rank(self) -> int:
        """What a planner needs first: what sends, what is filled in, what is in view, folded links, what is off screen, and last
        what lies behind a dialog.
        """
        control = self.controls[0]
        if control.behind_modal:
            return 5
        if self.folded:
            return 3
        if control.submit:
            return 0
        if control.role in FIELDS or control.dialog:
            return 1
        return 4 if control.offscreen else 2

    def line(self, writer: LineWriter) -> str:
        return writer.links(self.controls) if self.folded else writer.line(self.controls[0])


def items(controls: Sequence[Control], writer: LineWriter) -> Iterator[Item]:
    """The lines in page order: runs of links folded, repeated links dropped."""
    run: list[Control] = []
    for control in _without_repeats(controls):
        foldable = _can_fold(control) and not writer.has_remarks(control)
        if run and not (foldable and _continues(run[-1], control)):
            yield from _folded(run)
            run = []
        if foldable:
            run.append(control)
        else:
            yield Item((control,))
    yield from _folded(run)


def _folded(run: list[Control]) -> Iterator[Item]:
    if len(run) >= FOLD_FROM:
        yield Item(tuple(run), folded=True)
    else:
        yield from (Item((link,)) for link in run)


def _can_fold(control: Control) -> bool:
    plain = not (control.disabled or control.expanded or control.look or control.hover_only or control.label_more)
    return plain and control.role == "link" and control.form is None and not control.dialog and len(control.label) <= SHORT


def _continues(before: Control, control: Control) -> bool:
    same_row = control.row is not None and control.row == before.row
    here = (control.section, control.frame, control.behind_modal)
    return not same_row and here == (before.section, before.frame, before.behind_modal)


def _without_repeats(controls: Iterable[Control]) -> Iterator[Control]:
    seen: set[tuple[int, str, str | None]] = set()
    for control in controls:
        if control.role == "link":
            link = (control.frame, control.label, control.href)
            in_page = control.href is not None and control.href.startswith(("#", "javascript:"))
            if link in seen and not in_page:
                continue
            seen.add(link)
        yield control


def choose(candidates: Sequence[Item], budget: int) -> list[Item]:
    """What fits, best rank first, then in page order; what does not fit is passed over, and something cheaper may still fit."""
    chosen: set[Item] = set()
    for item in sorted(candidates, key=lambda item: item.rank):
        if item.cost <= budget:
            budget -= item.cost
            chosen.add(item)
    return [item for item in candidates if item in chosen]
