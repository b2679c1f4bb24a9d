"""Reading what a model answered: a mapping or an object with `text` and `tool_calls`, and calls whose ids can stand (R20). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs

from ..actions import MAX_SAFE_INTEGER, Money, unchecked
from ..errors import PlannerError
from ..guarding import Message, ModelReply, ToolCall
from ..loop._repair import NOT_JSON, mended, read_arguments
from ..loop._reply import CALLS_LIMIT, new_id, usable_id
from ..ports import Usage

_reply: Callable[..., ModelReply] = unchecked(ModelReply)
_call: Callable[..., ToolCall] = unchecked(ToolCall)
_message: Callable[..., Message] = unchecked(Message)


def read_reply(raw: Any, turn: int, used: set[str]) -> ModelReply:
    """The reply as we know it. Ids that are empty, unusable or used before are replaced; all are added to `used`.

    Arguments may be an object or its JSON text; what is neither stays as it came, for the model to be told of. Raises PlannerError
    for what is no reply, and for one that was cut at its length limit.
    """
    part = raw.get if isinstance(raw, dict) else partial(_part, raw)
    text, calls = part("text"), part("tool_calls")
    if text is not None and not isinstance(text, str):
        raise PlannerError(f"the model's text is {type(text).__name__}, not text")
    if calls is None:
        calls = ()
    elif not isinstance(calls, list | tuple):
        raise PlannerError(f"the model's tool_calls are {type(calls).__name__}, not a list")
    elif len(calls) > CALLS_LIMIT:
        raise PlannerError(f"the model made {len(calls)} calls at once; at most {CALLS_LIMIT} are read")
    if part("finish_reason") == "length":
        raise PlannerError('the reply was cut (finish_reason is "length"); nothing of it is used')
    if text is None and not calls and not _is_reply(raw):
        raise PlannerError(f"the model answered {type(raw).__name__}; a reply has text and tool_calls")
    model, usage = part("model"), part("usage")
    return _reply(
        text=mended(text) if text is not None else None,
        tool_calls=tuple([_read_call(call, turn, index, used) for index, call in enumerate(calls)]),
        usage=read_usage(usage) if usage is not None else None,
        model=model if isinstance(model, str) else None,
    )


def _is_reply(raw: Any) -> bool:
    """A mapping, or an object that could have had something to say."""
    return isinstance(raw, Mapping) or hasattr(raw, "text") or hasattr(raw, "tool_calls")


def _part(raw: Any, name: str) -> Any:
    return raw.get(name) if type(raw) is dict or isinstance(raw, Mapping) else getattr(raw, name, None)


def _read_call(raw: Any, turn: int, index: int, used: set[str]) -> ToolCall:
    if type(raw) is dict and "function" not in raw:  # the plain case, at once
        call_id, name, arguments = raw.get("id"), raw.get("name"), raw.get("arguments")
    else:
        function = _part(raw, "function")
        if function is None:
            function = raw  # the other is the shape of chat completions
        call_id, name, arguments = _part(raw, "id"), _part(function, "name"), _part(function, "arguments")
    if type(call_id) is not str or call_id in used or usable_id(call_id) is None:
        call_id = new_id(turn, index, used)
    used.add(call_id)
    if isinstance(arguments, str):
        value, _ = read_arguments(arguments)
        arguments = arguments if value is NOT_JSON else value
    elif arguments is None:
        arguments = {}
    return _call(id=call_id, name=mended(name) if isinstance(name, str) else "", arguments=arguments)


def message_of(reply: ModelReply) -> Message:
    """The reply as a message of the conversation."""
    return _message(role="assistant", content=reply.text or "", tool_calls=reply.tool_calls)


def read_usage(raw: Any) -> Usage | None:
    """What the reply says that it used; None when it says nothing, or nonsense: that must never lower a sum."""
    if raw is None:
        return None
    counts = [_part(raw, name) for name in ("input_tokens", "output_tokens", "cached_tokens")]
    if counts[2] is None:
        counts[2] = 0
    if not all(type(count) is int and 0 <= count <= MAX_SAFE_INTEGER for count in counts):
        return None
    cost = _part(raw, "cost")
    return Usage(
        input_tokens=counts[0], output_tokens=counts[1], cached_tokens=counts[2], cost=cost if isinstance(cost, Money) else None
    )


def added(total: Usage, more: Usage) -> Usage:
    """The sum; costs of two currencies cannot be added, so then the sum has none."""
    cost = total.cost or more.cost
    if total.cost is not None and more.cost is not None:
        same = total.cost.currency == more.cost.currency
        cost = attrs.evolve(total.cost, value=total.cost.value + more.cost.value) if same else None
    return Usage(
        input_tokens=total.input_tokens + more.input_tokens,
        output_tokens=total.output_tokens + more.output_tokens,
        cached_tokens=total.cached_tokens + more.cached_tokens,
        cost=cost,
    )
