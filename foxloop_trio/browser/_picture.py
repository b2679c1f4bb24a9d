"""`Screenshot`: a picture of a tab, as bytes that know what they show; and what may be asked for. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from ..errors import BadOptionsError

__all__ = ["MAX_PICTURE_BYTES", "Screenshot", "check_picture"]

MAX_PICTURE_BYTES: Final = 2 * 2**20
"""Largest picture, from the page reference. The add-on makes it smaller until it fits."""

MIN_SCALE: Final = 0.05
MAX_SCALE: Final = 4.0


class Screenshot(bytes):
    """The bytes of a PNG or JPEG file.

    * `media_type`: ``image/png`` or ``image/jpeg``. `width`, `height`: in its own pixels. `scale`: its pixels to one CSS pixel.
    * `painted_over`: how many secret and sensitive fields were blackened, in the picture only.
    * `marked`: ids of the controls whose ids are drawn on it. `cut`: the page goes on beyond it.
    """

    media_type: str
    width: int
    height: int
    scale: float
    painted_over: int
    marked: tuple[str, ...]
    cut: bool

    @classmethod
    def from_wire(cls, answer: Mapping[str, Any], media_type: str) -> Self:
        """From the wire's result of ``tab.capture``, whose schema was checked on arrival."""
        picture = cls(base64.b64decode(answer["data"]))
        picture.media_type = media_type
        picture.width, picture.height = answer.get("width", 0), answer.get("height", 0)
        picture.scale = float(answer.get("scale", 1))
        picture.painted_over = answer.get("painted_over", 0)
        picture.marked = tuple(answer.get("marked", ()))
        picture.cut = answer.get("cut", False)
        return picture

    def __repr__(self) -> str:
        return f"<Screenshot {self.media_type}, {self.width} x {self.height}, {len(self)} bytes>"


def check_picture(format: str, quality: int | None, scale: float | None, *, element: bool, full_page: bool) -> None:  # noqa: A002
    """Raises BadOptionsError for what no picture can be."""
    if format not in ("png", "jpeg"):
        raise BadOptionsError(f"screenshot: format must be 'png' or 'jpeg', not {format!r}")
    if quality is not None and (format != "jpeg" or isinstance(quality, bool) or not 1 <= quality <= 100):
        raise BadOptionsError(f"screenshot: quality is for jpeg, from 1 to 100, not {quality!r} for {format}")
    if scale is not None and not MIN_SCALE <= scale <= MAX_SCALE:
        raise BadOptionsError(f"screenshot: scale must be from {MIN_SCALE:g} to {MAX_SCALE:g}, not {scale!r}")
    if element and full_page:
        raise BadOptionsError("screenshot: either one element or the full page; leave one of them out")


Format = Literal["png", "jpeg"]
