"""What a tool's own functions and a gate have promised to answer: checked, and as plain values. Pure.

Both doors ask here: the loop, and the gate in front of a ReAct run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..actions import Action, Allow, ApprovalRequest, Ask, Deny, copied
from ..canonical import canonical_json
from ._reply import ARGUMENT_DEPTH

DETAIL_LIMIT: Final = 2000
"""Characters of `detail` and of a description (GB-L17)."""


def prepared(answer: object) -> dict[str, Any]:
    """What `prepare` answered, as the arguments to judge. Raises TypeError, or NotJsonError: what no gate could judge and no trail
    hold is refused here.

    A copy: what a tool's own code still holds and changes must not change what was judged.
    """
    if not isinstance(answer, Mapping):
        raise TypeError(f"prepare answered {type(answer).__name__}, not a mapping")
    args = dict(answer)
    canonical_json(args, max_depth=ARGUMENT_DEPTH)
    found: dict[str, Any] = copied(args)
    return found


def host_name(answer: object) -> str:
    """What `domain` answered: a plain text, also for a member of an enum. Raises TypeError."""
    if not isinstance(answer, str):
        raise TypeError(f"domain answered {type(answer).__name__}, not a host name")
    return str.__str__(answer)


def approval_request(asked: Ask, action: Action, *, step: int, call_id: str, described: str | None) -> ApprovalRequest:
    """What a person is asked, once the gate has stored a request: the very action, in a copy of its own, and what the
    tool's `describe` says of it, cut at `DETAIL_LIMIT`."""
    assert asked.request_id is not None
    return ApprovalRequest(
        step=step,
        call_id=call_id,
        request_id=asked.request_id,
        action=action.copy(),
        expires_at=asked.expires_at,
        detail=None if described is None else described[:DETAIL_LIMIT],
    )


def decided(answer: object) -> Allow | Ask | Deny:
    """What a gate decided. Raises TypeError for what is no decision, and ValueError for leave that is closed already."""
    if type(answer) is Allow:
        if not answer.permit.alive:
            raise ValueError("the gate gave a permit that is closed already")
        return answer
    if type(answer) is Ask or type(answer) is Deny:
        return answer
    raise TypeError(f"the gate answered {type(answer).__name__}, not Allow, Ask or Deny")
