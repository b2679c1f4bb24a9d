"""The gate's own list of tools: what scope each has and how its cost is computed. Fixed when the gate is created.

The list is a copy, so nothing that happens to the tools later changes it, and only names that the host wrote are in it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from ..actions import SCOPES, Scope
from ..canonical import canonical_json
from ..errors import GateError
from ._shown import shown

MAX_TOOL_NAME: Final = 128
"""Longest tool name in characters; an action with a longer one is refused, so none can be registered."""


@attrs.frozen(kw_only=True)
class ToolEntry:
    """One registered tool. `quoted` is its name as JSON, made once since it is part of every action's text. `asks` says of which
    calls a human is to be asked each time.
    """

    name: str
    quoted: str
    scope: Scope
    amount: Callable[[dict[str, Any]], object] | None
    asks: Callable[[dict[str, Any]], object] | None = None


Registry = Mapping[str, ToolEntry]


def read_registry(tools: object) -> dict[str, ToolEntry]:
    """The registry from a list or tuple of tools (objects with `name`, `scope` and optional `amount` and `asks`), or from a mapping
    of name to scope or to an object with `scope` and the same options.

    Raises GateError, code ``bad-tools``, naming the tool.
    """
    entries: dict[str, ToolEntry] = {}
    for name, value in _pairs(tools):
        if name is None and not hasattr(value, "scope"):
            raise _bad(f"tools holds {shown(value, 140)}, which is not a Tool; build it with Tool(...) or @tool(...)")
        if type(name) is not str or not 1 <= len(name) <= MAX_TOOL_NAME:
            raise _bad(f"a tool name must be a string of 1 to {MAX_TOOL_NAME} characters, not {shown(name, 140)}")
        if name in entries:
            raise _bad(f"two tools are named {name!r}")
        scope = value if isinstance(value, str) else getattr(value, "scope", None)
        amount = None if isinstance(value, str) else getattr(value, "amount", None)
        if not isinstance(scope, str) or scope not in SCOPES:
            raise _bad(f"tool {name!r}: scope must be one of {', '.join(SCOPES)}, not {shown(scope, 80)}")
        asks = None if isinstance(value, str) else getattr(value, "asks", None)
        for part, function in (("amount", amount), ("asks", asks)):
            if function is not None and (not callable(function) or inspect.iscoroutinefunction(function)):
                raise _bad(f"tool {name!r}: {part} must be a plain function of the arguments, not {type(function).__name__}")
        if scope == "pay" and amount is None:
            raise _bad(f"tool {name!r}: scope 'pay' needs an amount function")
        entries[name] = ToolEntry(name=name, quoted=canonical_json(name), scope=scope, amount=amount, asks=asks)
    if not entries:
        raise _bad("tools is empty; a gate without tools could allow nothing")
    return entries


def _pairs(tools: object) -> Iterable[tuple[object, object]]:
    if isinstance(tools, Mapping):
        return tools.items()
    if isinstance(tools, (list, tuple)):
        return [(getattr(tool, "name", None), tool) for tool in tools]
    raise _bad(f"tools must be a list of Tool or a mapping of names to scopes, not {type(tools).__name__}")


def _bad(message: str) -> GateError:
    return GateError(message, code="bad-tools")
