"""What one look at a page found: frames, controls, text. Frozen nouns made from the wire's `page.read`; pure.

Every string in here comes out of a page and is untrusted. An id is ``<frame>:<node>``: unique in the snapshot, and the same for the
same element as long as its document lives. Whatever was cut is counted: `Frame.truncated` and `text_more`, `Control.value_more`,
`label_more` and `options_more`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import attrs

from ..errors import BrowserError

__all__ = ["MASK", "Box", "Changes", "Control", "Destination", "Frame", "Option", "Part", "Snapshot", "Unreadable", "whole_text"]

MASK: Final = "•••"
"""Stands for the value of a secret field that is not empty."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def whole_text(text: str) -> str:
    """The text with surrogate pairs joined and lone ones replaced: a page can hold halves, and nothing that encodes can."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text() -> Any:
    return attrs.field(converter=whole_text)


def _optional_text() -> Any:
    return attrs.field(default=None, converter=attrs.converters.optional(whole_text))


@attrs.frozen(kw_only=True)
class Option:
    """One enabled option of a select."""

    value: str = _text()
    label: str = _text()
    selected: bool


@attrs.frozen(kw_only=True)
class Destination:
    """Where a submit control sends its form: the resolved address, the method, and the name of the window it opens in."""

    url: str = _text()
    method: str
    target: str = _text()


@attrs.frozen(kw_only=True)
class Box:
    """Where something is: left and top in the viewport of the tab, width and height; CSS pixels, in halves, so that the middle of a
    small mark is not missed by one. Off screen it may be negative.
    """

    x: float
    y: float
    width: float
    height: float


@attrs.frozen(kw_only=True)
class Part:
    """What a look was narrowed down to; a look at the whole page has none of it.

    `region` is the id of the element that was looked into. `offset` counts controls and `text_offset` characters that were passed
    over, in each frame.
    """

    frame: int | None = None
    region: str | None = None
    find: str | None = None
    offset: int = 0
    text_offset: int = 0

    def __bool__(self) -> bool:
        return self != Part()


@attrs.frozen(kw_only=True)
class Control:
    """One thing that a person can use.

    * `guard`: an opaque digest of how the control looks: what an act compares.
    * `via`: ``label`` when the control itself cannot be seen and is used through its label.
    * `popup_for`: the id of the field whose list of suggestions this belongs to. `hover_only`: the id of the element over which the
      pointer must be for this to show.
    * `sensitive`: what it holds is masked wherever it is shown, but may be filled in; `secret`: it is not even sent, and filled in
      only with the host's leave.
    * `behind_modal`: an open dialog lies over it, so it cannot be used now.
    * `row_text`: the words of the row or card it stands in. `look`: what a small picture or coloured box looks like.
    * `value_more`, `label_more`, `options_more`: how many characters or options were cut.

    A field that does not apply is None.
    """

    frame: int
    node: int
    role: str
    tag: str
    type: str
    label: str = _text()
    name: str = _text()
    placeholder: str = _text()
    section: str = _text()
    value: str = _text()
    options: tuple[Option, ...] | None = None
    multiple: bool | None = None
    checked: bool | Literal["mixed"] | None = None
    expanded: bool | None = None
    disabled: bool
    read_only: bool
    required: bool
    offscreen: bool
    form: int | None = None
    submit: bool
    dialog: bool
    autocomplete: bool
    picker: bool
    date_format: str | None = None
    secret: bool
    href: str | None = _optional_text()
    row: str | None = None
    via: str | None = None
    destination: Destination | None = None
    description: str = attrs.field(default="", converter=whole_text)
    popup_for: str | None = None
    hover_only: str | None = None
    sensitive: bool = False
    behind_modal: bool = False
    accept: str | None = _optional_text()
    files: tuple[str, ...] | None = None
    row_text: str | None = _optional_text()
    look: str | None = _optional_text()
    box: Box | None = None
    current: str | None = None
    level: int | None = None
    opens: str | None = None
    form_key: str | None = None
    value_more: int = 0
    label_more: int = 0
    options_more: int = 0
    guard: str

    @property
    def id(self) -> str:
        return f"{self.frame}:{self.node}"

    @property
    def shown_value(self) -> str:
        """The value as it may be shown: a mask for a secret or sensitive field that is filled, whatever the page sent."""
        return (MASK if self.value else "") if self.secret or self.sensitive else self.value


@attrs.frozen(kw_only=True)
class Frame:
    """One frame's document.

    * `key`: an opaque digest of its address and fields.
    * `parent`: the frame it stands in; None for the top one.
    * `captcha`: it shows one that has to be solved. `captcha_passive`: one is there, and asks nothing of anybody.
    * `truncated`: controls that were left out after those that are listed; `text_more`: characters likewise.
    * `total_controls`, `total_text`: how many there are in all, of what was looked at (None: not told).
    * `took`: seconds that the reading took in the page.
    """

    frame: int
    document: str
    url: str = _text()
    title: str = _text()
    text: str = _text()
    headings: tuple[str, ...]
    captcha: bool
    more: bool
    truncated: int
    key: str
    parent: int | None = None
    captcha_passive: bool = False
    text_more: int = 0
    total_controls: int | None = None
    total_text: int | None = None
    took: float = 0.0


@attrs.frozen(kw_only=True)
class Unreadable:
    """A frame that could not be read, and why; or `count` frames alike."""

    url: str = _text()
    reason: str = _text()
    frame: int | None = None
    count: int = 1


@attrs.frozen(kw_only=True)
class Changes:
    """What changed from one look to a later one at the same documents. All strings in it come out of the page.

    * `another_page`: the two cannot be compared, since documents or addresses differ; there is nothing else then.
    * `changed`: each control as it was and as it is.
    * `text_added`: lines that were not there before, or not so often; `text_removed`: how many went.
    * `title`: the new one, or None when it is as it was. `captcha`: one appeared.
    """

    another_page: bool = False
    appeared: tuple[Control, ...] = ()
    disappeared: tuple[Control, ...] = ()
    changed: tuple[tuple[Control, Control], ...] = ()
    text_added: tuple[str, ...] = ()
    text_removed: int = 0
    title: str | None = None
    captcha: bool = False

    def __bool__(self) -> bool:
        return self != Changes()


@attrs.frozen(kw_only=True)
class Snapshot:
    """One look at a tab. `generation` tells the looks at one tab apart: each has a higher one than those before it.

    `part` says what the look was narrowed down to. `changes` says what is different from an earlier look, when one was given
    (``tab.snapshot(since=…)``).
    """

    generation: int
    frames: tuple[Frame, ...]
    controls: tuple[Control, ...]
    unreadable: tuple[Unreadable, ...] = ()
    part: Part = Part()
    changes: Changes | None = None
    _by_id: Mapping[str, Control] = attrs.field(init=False, repr=False, eq=False)

    @_by_id.default
    def _index(self) -> Mapping[str, Control]:
        return {control.id: control for control in self.controls}

    @classmethod
    def from_wire(cls, obj: Mapping[str, Any], *, generation: int = 0, part: Part | None = None) -> Snapshot:
        """From the result of `page.read`, whose schema was checked on arrival: frames in the order of their numbers.

        Raises BrowserError, code ``no-document``, when the top frame is not among them.
        """
        states = sorted(obj["frames"], key=lambda state: state["frame"])
        if not states or states[0]["frame"] != 0:
            raise BrowserError(
                "the page is not readable: its top frame did not answer; wait until it has loaded", code="no-document"
            )
        return cls(
            generation=generation,
            frames=tuple(_frame(state) for state in states),
            controls=tuple(control for state in states for control in _controls(state)),
            unreadable=tuple(Unreadable(**entry) for entry in obj.get("unreadable", ())),
            part=part or Part(),
        )

    def control(self, control_id: str) -> Control | None:
        """The control with this id, or None."""
        return self._by_id.get(control_id)

    def frame(self, number: int) -> Frame | None:
        """The frame with this number, or None."""
        return next((frame for frame in self.frames if frame.frame == number), None)

    @property
    def top(self) -> Frame:
        return self.frames[0]

    @property
    def url(self) -> str:
        return self.top.url

    @property
    def title(self) -> str:
        return self.top.title

    @property
    def text(self) -> str:
        """The top frame's text, one line per text node."""
        return self.top.text

    @property
    def headings(self) -> tuple[str, ...]:
        return self.top.headings

    @property
    def more(self) -> bool:
        """The page goes on below what is in view."""
        return self.top.more

    @property
    def captcha(self) -> bool:
        """Some frame shows a captcha."""
        return any(frame.captcha for frame in self.frames)

    @property
    def captcha_passive(self) -> bool:
        """Some frame has a captcha that asks nothing of anybody."""
        return any(frame.captcha_passive for frame in self.frames)

    @property
    def truncated(self) -> int:
        """How many controls were left out of all frames together."""
        return sum(frame.truncated for frame in self.frames)

    @property
    def text_more(self) -> int:
        """How many characters of text were left out of all frames together."""
        return sum(frame.text_more for frame in self.frames)

    def joined(self, before: Snapshot) -> Snapshot:
        """This look, with the controls that an earlier one at the very same page knew besides.

        A frame's earlier controls are taken over only when its document and its key are still the same, so that all that was
        decided on them still holds.
        """
        same = {frame.frame for frame in before.frames if (now := self.frame(frame.frame)) and _of(now) == _of(frame)}
        known = [control for control in before.controls if control.frame in same and control.id not in self._by_id]
        controls = sorted((*self.controls, *known), key=lambda control: control.frame) if known else self.controls
        return attrs.evolve(self, controls=tuple(controls))


def _of(frame: Frame) -> tuple[str, str]:
    return frame.document, frame.key


def _frame(state: Mapping[str, Any]) -> Frame:
    fields = {name: value for name, value in state.items() if name not in ("controls", "origin", "took_ms", "text_truncated")}
    return Frame(
        **{**fields, "headings": tuple(whole_text(heading) for heading in state["headings"])},
        text_more=state.get("text_truncated", 0),
        took=state.get("took_ms", 0) / 1000,
    )


def _controls(state: Mapping[str, Any]) -> Iterator[Control]:
    frame = state["frame"]
    left, top = state.get("origin", (0, 0))
    for found in state["controls"]:
        parts: dict[str, Any] = {"frame": frame, **found}
        if "options" in found:
            parts["options"] = tuple(Option(**option) for option in found["options"])
        if "destination" in found:
            parts["destination"] = Destination(**found["destination"])
        if "files" in found:
            parts["files"] = tuple(whole_text(name) for name in found["files"])
        if "box" in found:
            x, y, width, height = found["box"]
            parts["box"] = Box(x=left + x, y=top + y, width=width, height=height)
        for name in ("popup_for", "hover_only"):
            if name in found:
                parts[name] = f"{frame}:{found[name]}"
        yield Control(**parts)
