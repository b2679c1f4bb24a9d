"""What the tools `snapshot` and `screenshot` may be asked, and how a page is shown for it.

A page's text is made to fit what a planner gets of a result, so that nothing of it is cut without being counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs
import trio

from ...actions import ToolContext
from ...errors import Refuse
from ...prompt import LIMITS
from ...wire import LIMITS as WIRE
from .._changes import change_text
from .._page_text import MAX_CONTROLS, page_text
from .._snapshot import Snapshot

__all__ = ["CONTROL_ID", "SCREENSHOT_ARGS", "SNAPSHOT_ARGS", "View", "check_screenshot_args", "check_snapshot_args"]

CONTROL_ID: Final = {"type": "string", "description": 'The id in square brackets, such as "0:3".'}

SNAPSHOT_ARGS: Final = {
    "type": "object",
    "properties": {
        "find": {
            "type": "string",
            "minLength": 1,
            "maxLength": WIRE["find"],
            "description": "Only controls and lines of text that hold these words.",
        },
        "region": {"type": "string", "maxLength": 40, "description": "Only what is inside the control with this id."},
        "frame": {"type": "integer", "minimum": 0, "description": "Only this frame: the number before the colon of an id."},
        "offset": {"type": "integer", "minimum": 0, "description": "List the controls in page order, from this one on."},
        "text_offset": {"type": "integer", "minimum": 0, "description": "Show the text from this character on."},
        "focus": {"type": "string", "maxLength": WIRE["focus"], "description": "Show what has to do with these words first."},
        "since": {"type": "string", "enum": ["last"], "description": "Show only what changed since the last snapshot."},
    },
}

SCREENSHOT_ARGS: Final = {
    "type": "object",
    "properties": {
        "area": {
            "type": "string",
            "enum": ["viewport", "page"],
            "description": "What is in view, or the whole page.",
        },
        "control_id": {**CONTROL_ID, "description": "Only this control, by its id in the newest snapshot."},
        "marks": {"type": "boolean", "description": "Draw the ids of the controls on the picture."},
    },
}

_ID: Final = re.compile(r"(?:0|[1-9][0-9]{0,5}):[1-9][0-9]{0,14}\Z", re.ASCII)


async def check_snapshot_args(args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
    """The arguments as they are. Raises Refuse, in words for the planner, for what cannot be asked."""
    await trio.lowlevel.checkpoint()
    region, frame = args.get("region"), args.get("frame")
    if region is not None:
        _must_be_id(region, "region")
        if frame is not None and int(region.partition(":")[0]) != frame:
            raise Refuse("The region lies in another frame than the one named. Leave frame out.")
    if "find" in args and not args["find"].strip():
        raise Refuse("find needs at least one word.")
    if "since" in args and len(args) > 1:
        raise Refuse("since compares whole pages. Use it alone, or leave it out.")
    return args


async def check_screenshot_args(args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
    """The arguments as they are. Raises Refuse for what cannot be asked."""
    await trio.lowlevel.checkpoint()
    if "control_id" in args:
        _must_be_id(args["control_id"], "control_id")
        if args.get("area") == "page":
            raise Refuse("A picture shows either one control or the whole page. Leave control_id or area out.")
    return args


def _must_be_id(given: str, name: str) -> None:
    if not _ID.match(given):
        raise Refuse(f'{name} is not an id. Use one that the newest snapshot shows in square brackets, such as "0:3".')


@attrs.frozen(kw_only=True)
class View:
    """One way to look at a page: the options of `Tab.snapshot`, and how its text is made."""

    options: Mapping[str, Any]
    focus: str | None
    in_order: bool

    @classmethod
    def of(cls, args: Mapping[str, Any], host_focus: str | None) -> View:
        """From the arguments of `snapshot`; the planner's own focus goes before the host's."""
        options = {name: args[name] for name in ("find", "region", "frame", "offset", "text_offset") if name in args}
        in_order = "offset" in args
        if in_order and "region" not in options:
            options.setdefault("frame", 0)  # positions are those of one frame
        focus = args.get("focus") or host_focus
        if focus:
            options["focus"] = focus
        return cls(options=options, focus=None if in_order else focus, in_order=in_order)

    def text(self, page: Snapshot, *, since: Snapshot | None = None, after: str | None = None, target: str | None = None) -> str:
        """The page for a planner, within what it gets of one result; `after` is what stands before it there. With `since` only what
        changed, where that can be told, and in any case the control `target`.
        """
        before = "" if after is None else after
        room = LIMITS["untrusted"] - len(before) - 3 * (before.count("<") + before.count(">")) - 1

        def whole(snapshot: Snapshot) -> str:
            return page_text(snapshot, MAX_CONTROLS, focus=self.focus, in_order=self.in_order, max_characters=max(room, 0))

        return whole(page) if since is None else change_text(since, page, target, whole=whole).text
