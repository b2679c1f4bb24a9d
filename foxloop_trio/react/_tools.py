"""The tools of a ReAct run: plain functions with a schema, the registry that holds them, and the stop tool.

::

    weather = ReactTool(name="weather", description="…", parameters={…}, handler=lambda args, context: "sunny")
    registry = ToolRegistry([weather])
    registry.register(other)        # also while a run goes on: the next turn shows it
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from ..errors import BadSchemaError
from ..guarding._nouns import Record
from ..tools import Tool
from ..tools._check import args_check
from ..tools._schema import accept_schema
from . import _words
from ._errors import ReactSchemaError, ReactToolError

Handler = Callable[[dict[str, Any], Any], Any]
"""``(args, context)``, sync or async; returns text, a `ToolResult`, or any other JSON."""

ArgsCheck = Callable[[object], str | None]

NO_ARGUMENTS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


@attrs.frozen(kw_only=True)
class ToolSpec(Record):
    """What the model sees of a tool."""

    _ALWAYS = ("name", "description", "parameters")

    name: str
    description: str
    parameters: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class ReactTool:
    """One tool: `handler(args, context)` does it, sync or async.

    * `parameters`: a JSON Schema of the subset of `foxloop_trio.tools`; arguments that do not fit it never reach the handler.
    * `parallel_safe`: may run beside other such tools with ``run_react_loop(parallel=True)``.
    * `read_only`: changes nothing; guards may ask.
    * `scope`, `risk`: tags that policy rules can match.
    * `cost`: ``(args) -> int``, what a call costs, for budget guards.
    * `check`: ``(args) -> str | None`` in place of our check, for a schema beyond the subset: None when they fit, else why not. It
      is asked about objects only; arguments of which it raises do not fit either.

    Validated when it is registered.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = NO_ARGUMENTS
    handler: Handler
    parallel_safe: bool = False
    read_only: bool = False
    scope: str | None = None
    risk: str | None = None
    cost: Callable[[dict[str, Any]], int] | None = None
    check: ArgsCheck | None = None


@attrs.frozen
class Registered:
    """A tool, what the model sees of it, and the check of its arguments, compiled once."""

    tool: ReactTool
    spec: ToolSpec
    check: ArgsCheck


class ToolRegistry:
    """The tools by name, in the order in which they were registered.

    Raises ValueError (as `BadToolError`) for an empty or repeated name and for a handler that cannot be called, and BadSchemaError
    for parameters outside the subset.
    """

    def __init__(self, tools: Iterable[ReactTool | Tool] = ()) -> None:
        self._tools: dict[str, Registered] = {}
        self._specs: list[ToolSpec] = []
        for tool in tools:
            self.register(tool)

    def register(self, tool: ReactTool | Tool) -> None:
        """Add a tool; one of `foxloop_trio.tools` will do too, see `react_tool`."""
        if isinstance(tool, Tool):
            from .adapters._gate import react_tool  # which needs this module

            tool = react_tool(tool)
        found = _registered(tool)
        if found.tool.name in self._tools:
            raise ReactToolError(f"tool {found.tool.name!r}: two tools have this name")
        self._tools[found.tool.name] = found
        self._specs.append(found.spec)

    def get(self, name: str) -> ReactTool | None:
        found = self._find(name)
        return found.tool if found is not None else None

    def has(self, name: str) -> bool:
        return self._find(name) is not None

    def list(self) -> Sequence[ReactTool]:
        return [found.tool for found in self._tools.values()]

    def to_specs(self) -> Sequence[ToolSpec]:
        return [*self._specs]

    def __iter__(self) -> Iterator[ReactTool]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self.list())

    def _find(self, name: str) -> Registered | None:
        return self._tools.get(name)


class RunRegistry(ToolRegistry):
    """A registry as one run sees it: the host's own tools, and behind them the built-in stop tool unless the host has one of the
    name (R1)."""

    def __init__(self, base: ToolRegistry, stop_tool_name: str) -> None:
        self._tools, self._specs = base._tools, base._specs  # the very same: what is registered in one of the two is in both
        self._stop = _stop_tool(stop_tool_name)

    def list(self) -> Sequence[ReactTool]:
        return super().list() if self._stop.tool.name in self._tools else [*super().list(), self._stop.tool]

    def to_specs(self) -> Sequence[ToolSpec]:
        return [*self._specs] if self._stop.tool.name in self._tools else [*self._specs, self._stop.spec]

    def _find(self, name: str) -> Registered | None:
        found = self._tools.get(name)
        return self._stop if found is None and name == self._stop.tool.name else found


@functools.lru_cache(maxsize=64)
def _stop_tool(name: str) -> Registered:
    """The built-in stop tool (R1)."""
    tool = ReactTool(
        name=name,
        description="Call this when the task is done, or cannot be done, and say in `summary` what came of it.",
        parameters={
            "type": "object",
            "properties": {"summary": {"type": "string", "description": "What was done, in a sentence or two."}},
            "required": ["summary"],
        },
        handler=lambda args, context: "The run ends here.",
        read_only=True,
    )
    return _registered(tool)


def _registered(tool: object) -> Registered:
    if not isinstance(tool, ReactTool):
        raise ReactToolError(f"a tool is a ReactTool, or a Tool of foxloop_trio.tools, not {type(tool).__name__}")
    name: object = tool.name
    if not isinstance(name, str) or not name.strip():
        raise ReactToolError(f"a tool needs a name that is not empty, not {name!r}")
    description: object = tool.description
    if not isinstance(description, str):
        raise ReactToolError(f"tool {name!r}: description must be text, not {type(description).__name__}")
    for part in ("handler", "check", "cost"):
        value = getattr(tool, part)
        if not callable(value) and (part == "handler" or value is not None):
            raise ReactToolError(f"tool {name!r}: {part} must be a function, not {type(value).__name__}")
        if part != "handler" and inspect.iscoroutinefunction(value):
            raise ReactToolError(f"tool {name!r}: {part} must be a plain function, not an async one")
    spec = ToolSpec(name=name, description=description, parameters=tool.parameters)
    if tool.check is not None:
        return Registered(tool, spec, _objects_only(tool.check))
    try:
        rules = accept_schema(tool.parameters, f"{name}.parameters")
    except BadSchemaError as fault:
        raise ReactSchemaError(str(fault)) from fault
    if rules["type"] != "object":
        raise ReactToolError(f"tool {name!r}: parameters must have the type 'object', since arguments are named")
    return Registered(tool, spec, args_check(rules))


def _objects_only(check: ArgsCheck) -> ArgsCheck:
    """The host's own check, made safe: it sees objects only (R15), and what it raises is said of the arguments."""

    def problem(value: object) -> str | None:
        if not isinstance(value, dict):
            return "arguments: must be an object"
        try:
            return check(value)
        except Exception as fault:
            return _words.raised(fault)

    return problem
