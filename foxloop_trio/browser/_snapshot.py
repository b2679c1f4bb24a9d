"""What one look at a page found: frames, controls, text. Frozen nouns made from the wire's `page.read`; pure.

Every string in here comes out of a page and is untrusted. An id is ``<frame>:<node>``: unique in the snapshot, and the same for the
same element as long as its document lives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import attrs

from ..errors import BrowserError

__all__ = ["MASK", "Control", "Destination", "Frame", "Option", "Snapshot", "Unreadable"]

MASK: Final = "•••"
"""Stands for the value of a secret field that is not empty."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def _whole(text: str) -> str:
    """The text with surrogate pairs joined and lone ones replaced: a page can hold halves, and nothing that encodes can."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text() -> Any:
    return attrs.field(converter=_whole)


def _optional_text() -> Any:
    return attrs.field(default=None, converter=attrs.converters.optional(_whole))


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
class Control:
    """One thing that a person can use.

    `guard` is an opaque digest of how the control looks: what an act compares. `via` is ``label`` when the control itself cannot be
    seen and is used through its label. A field that does not apply is None.
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
    guard: str

    @property
    def id(self) -> str:
        return f"{self.frame}:{self.node}"

    @property
    def shown_value(self) -> str:
        """The value as it may be shown: a mask for a secret that is filled, whatever the page sent."""
        return (MASK if self.value else "") if self.secret else self.value


@attrs.frozen(kw_only=True)
class Frame:
    """One frame's document. `key` is an opaque digest of its address and fields; `truncated` counts controls that were left out."""

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


@attrs.frozen(kw_only=True)
class Unreadable:
    """A frame that could not be read, and why."""

    url: str = _text()
    reason: str = _text()


@attrs.frozen(kw_only=True)
class Snapshot:
    """One look at a tab. `generation` tells the looks at one tab apart: each has a higher one than those before it."""

    generation: int
    frames: tuple[Frame, ...]
    controls: tuple[Control, ...]
    unreadable: tuple[Unreadable, ...] = ()
    _by_id: Mapping[str, Control] = attrs.field(init=False, repr=False, eq=False)

    @_by_id.default
    def _index(self) -> Mapping[str, Control]:
        return {control.id: control for control in self.controls}

    @classmethod
    def from_wire(cls, obj: Mapping[str, Any], *, generation: int = 0) -> Snapshot:
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
    def truncated(self) -> int:
        """How many controls were left out of all frames together."""
        return sum(frame.truncated for frame in self.frames)


def _frame(state: Mapping[str, Any]) -> Frame:
    fields = {name: value for name, value in state.items() if name != "controls"}
    return Frame(**{**fields, "headings": tuple(_whole(heading) for heading in state["headings"])})


def _controls(state: Mapping[str, Any]) -> Iterator[Control]:
    for found in state["controls"]:
        parts: dict[str, Any] = {"frame": state["frame"], **found}
        if "options" in found:
            parts["options"] = tuple(Option(**option) for option in found["options"])
        if "destination" in found:
            parts["destination"] = Destination(**found["destination"])
        yield Control(**parts)
