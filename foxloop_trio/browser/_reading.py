"""What a look is asked for: the options of `Tab.snapshot`, checked, as the params of the wire's `page.read`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from ..errors import BadOptionsError, BrowserError
from ..wire import LIMITS
from ._snapshot import Control, Part, Snapshot, whole_text

__all__ = ["TOP_ONLY", "Question", "documents_of", "element_of", "with_top"]

TOP_ONLY: Final[Mapping[str, Any]] = {"frame": 0, "max_controls": 1, "max_text": 0}
"""Asks for what the top frame is, with as little of its content as may be asked for."""

MOST: Final = 2**53 - 1
"""The largest whole number that the add-on's language holds."""

_ID: Final = re.compile(r"(0|[1-9][0-9]{0,5}):([1-9][0-9]{0,14})\Z", re.ASCII)


def _id_of(given: str | Control, what: str) -> tuple[int, int]:
    """Frame and number of the element that is meant. Raises BadOptionsError for what is no id of a snapshot."""
    if isinstance(given, Control):
        return given.frame, given.node
    found = _ID.match(given) if isinstance(given, str) else None
    if found is None:
        raise BadOptionsError(f"{what} is the id of a control, such as '0:12', or a control of a snapshot, not {given!r}")
    return int(found[1]), int(found[2])


def element_of(given: str | Control, documents: Mapping[int, str], what: str) -> dict[str, Any]:
    """The element, in the document in which the newest look saw it.

    Raises BrowserError, code ``document-gone``, when no look of this tab has seen its frame.
    """
    frame, node = _id_of(given, what)
    if frame not in documents:
        raise BrowserError(
            f"no snapshot of this tab has shown frame {frame}; take one, and use an id that it shows", code="document-gone"
        )
    return {"frame": frame, "document": documents[frame], "node": node}


@attrs.frozen(kw_only=True)
class Question:
    """One look: what it is narrowed down to, and how much of it is wanted at most."""

    params: Mapping[str, Any]
    part: Part

    @classmethod
    def of(
        cls,
        documents: Mapping[int, str],
        *,
        focus: str | None,
        region: str | Control | None,
        find: str | None,
        frame: int | None,
        offset: int,
        text_offset: int,
        max_controls: int | None,
        max_text: int | None,
    ) -> Question:
        """Raises BadOptionsError for what cannot be asked, and BrowserError as `element_of` does."""
        numbers = {
            "frame": (frame, 0, MOST),
            "offset": (offset, 0, MOST),
            "text_offset": (text_offset, 0, MOST),
            "max_controls": (max_controls, 1, LIMITS["controls"]),
            "max_text": (max_text, 0, LIMITS["text"]),
        }
        for name, (value, least, most) in numbers.items():
            _check_number(name, value, least, most)
        if find is not None and not (isinstance(find, str) and find.strip() and len(find) <= LIMITS["find"]):
            raise BadOptionsError(f"snapshot: find is a text of 1 to {LIMITS['find']} characters, not {find!r}")
        if focus is not None and not isinstance(focus, str):
            raise BadOptionsError(f"snapshot: focus is a text, not {focus!r}")
        params: dict[str, Any] = {name: value for name, (value, _, _) in numbers.items() if value}
        if frame is not None:
            params["frame"] = frame
        if max_text is not None:
            params["max_text"] = max_text
        if focus is not None and focus.strip():
            params["focus"] = whole_text(focus[: LIMITS["focus"]])
        if find is not None:
            params["find"] = whole_text(find)
        inside = None
        if region is not None:
            element = params["region"] = element_of(region, documents, "snapshot: region")
            inside = f"{element['frame']}:{element['node']}"
            if frame is not None and frame != element["frame"]:
                raise BadOptionsError(f"snapshot: the region is in frame {element['frame']}, not in {frame}; leave frame out")
        return cls(params=params, part=Part(frame=frame, region=inside, find=find, offset=offset, text_offset=text_offset))

    @property
    def of_one_document(self) -> bool:
        """It asks for something in one document, so that waiting for another document cannot help."""
        return "region" in self.params or self.params.get("frame", 0) != 0


def with_top(answer: dict[str, Any], top: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The answer, with the top frame in front as far as it says where all this is."""
    return {**answer, "frames": [*(_without_content(state) for state in top if state["frame"] == 0), *answer["frames"]]}


def _without_content(state: Mapping[str, Any]) -> dict[str, Any]:
    """A frame that was not looked into: nothing of it is listed, and nothing counts as cut."""
    return {**state, "controls": [], "text": "", "headings": [], "truncated": 0, "text_truncated": 0}


def _check_number(name: str, value: object, least: int, most: int) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadOptionsError(f"snapshot: {name} is a whole number from {least} to {most}, not {str(value)[:100]}")


def documents_of(snapshot: Snapshot) -> dict[int, str]:
    """Which document each frame showed."""
    return {frame.frame: frame.document for frame in snapshot.frames}
