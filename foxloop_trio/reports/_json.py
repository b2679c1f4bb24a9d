"""A story as plain JSON, for programs."""

from __future__ import annotations

from typing import Any

import attrs

from ..trail import Fault
from ._nouns import Picture, Proof, Story


def story_to_json(story: Story) -> dict[str, Any]:
    """The story as plain JSON. Pictures are given by their hashes; values of the trail are as the trail holds them."""
    return _plain(story)  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, Proof):
        fault = value.fault
        return {
            "state": value.state,
            "count": value.count,
            "head": value.head,
            "missing": value.missing,
            "fault": None if fault is None else _fault(fault),
        }
    if attrs.has(type(value)):
        names = [field.name for field in attrs.fields(type(value)) if not (isinstance(value, Picture) and field.name == "content")]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _fault(fault: Fault) -> dict[str, Any]:
    plain = {"line": fault.line, "reason": fault.reason, "message": fault.message}
    return plain if fault.file is None else {**plain, "file": fault.file}
