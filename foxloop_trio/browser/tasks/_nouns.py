"""What a goal asks for, as data: requirements, each a value, a date or a setting."""

from __future__ import annotations

from typing import Literal

import attrs

__all__ = ["Goal", "Kind", "Requirement", "Wish"]

Kind = Literal["value", "date", "setting"]
Wish = Literal["on", "off"]


@attrs.frozen(kw_only=True)
class Requirement:
    """One thing that a goal asks for.

    * `text`: the piece of the goal that says so. `key`: what it is about, such as ``name``; may be empty.
    * `value`: for kind ``value``. `date`: ISO, for kind ``date``.
    * `wish`: for kind ``setting``, ``on`` with a verb of consent or switching ("accept", "turn on"), ``off`` with its opposite.
    """

    text: str
    key: str
    kind: Kind
    value: str | None = None
    date: str | None = None
    wish: Wish | None = None


@attrs.frozen(kw_only=True)
class Goal:
    """A goal as it was understood: `text` with its white space run together, of which every value is a part.

    `submit` is False when it says that nothing is to be sent.
    """

    text: str
    requirements: tuple[Requirement, ...]
    submit: bool = True
