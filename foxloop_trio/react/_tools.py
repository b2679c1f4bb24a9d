"""The tools of a ReAct run: plain functions with a schema, the registry that holds them, and the stop tool."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from ..errors import BadToolError
from ..guarding._nouns import ToolSpec
from ..loop._words import class_and_words
from ..prompt import FINISH_TOOL
from ..tools import Tool
from ..tools._check import ArgsCheck, args_check
from ..tools._schema import accept_schema
from ..tools._tool import need_callable

Handler = Callable[[dict[str, Any], Any], Any]
"""``(args, context)``, sync or async; returns text, a `ToolResult`, or any other JSON."""

HostCheck = Callable[[object], str | None]

NO_ARGUMENTS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


@attrs.frozen(kw_only=True)
class ReactTool:
    """One tool: `handler(args, context)` does it, sync or async.

    * `parameters`: a JSON Schema of the subset of `foxloop_trio.tools`; arguments that do not fit it never reach the handler.
    * `parallel_safe`: may run beside other such tools with ``run_react_loop(parallel=True)``.
    * `read_only`: changes nothing; guards may ask. `scope`, `risk`: tags that policy rules can match.
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
    check: HostCheck | None = None

    @functools.cached_property
    def _spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, parameters=self.parameters)

    @functools.cached_property
    def _problem(self) -> ArgsCheck:
        """Why arguments do not fit, or None when they do. Raises BadSchemaError for parameters outside the subset."""
        if self.check is not None:
            return functools.partial(_problem_of_objects, self.check)
        rules = accept_schema(self.parameters, f"{self.name}.parameters")
        if rules["type"] != "object":
            raise BadToolError(f"tool {self.name!r}: parameters must have the type 'object', since arguments are named")
        return args_check(rules)


def _problem_of_objects(check: HostCheck, value: object, *, is_json: bool = False) -> str | None:
    """What the host's own check says. It sees objects only (R15), and what it raises is said of the arguments."""
    if not isinstance(value, dict):
        return "arguments: must be an object"
    try:
        return check(value)
    except Exception as fault:
        return class_and_words(fault)


class ToolRegistry:
    """The tools by name, in the order in which they were registered; also while a run goes on, and its next turn shows them.

    Raises ValueError (as `BadToolError`) for an empty or repeated name and for a handler that cannot be called, and BadSchemaError
    for parameters outside the subset.
    """

    def __init__(self, tools: Iterable[ReactTool | Tool] = ()) -> None:
        self._tools: dict[str, ReactTool] = {}
        self._stop: ReactTool | None = None
        for tool in tools:
            self.register(tool)

    def register(self, tool: ReactTool | Tool) -> None:
        """Add a tool; one of `foxloop_trio.tools` will do too, see `react_tool`."""
        if isinstance(tool, Tool):
            from .adapters._gate import react_tool  # which needs this module

            tool = react_tool(tool)
        _validate(tool)
        if tool.name in self._tools:
            raise BadToolError(f"tool {tool.name!r}: two tools have this name")
        self._tools[tool.name] = tool

    def get(self, name: str) -> ReactTool | None:
        """The tool of this name, the stop tool included."""
        found = self._tools.get(name)
        return self._stop if found is None and self._stop is not None and self._stop.name == name else found

    def has(self, name: str) -> bool:
        """Whether there is a tool of this name, the stop tool included."""
        return self.get(name) is not None

    def list(self) -> Sequence[ReactTool]:
        """All tools in order; the stop tool that the run brought along comes last."""
        tools = [*self._tools.values()]
        return tools if self._stop is None or self._stop.name in self._tools else [*tools, self._stop]

    def to_specs(self) -> Sequence[ToolSpec]:
        """What the model is shown of each, in the same order."""
        return [tool._spec for tool in self.list()]

    def __iter__(self) -> Iterator[ReactTool]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self.list())


def registry_of_run(tools: Iterable[ReactTool | Tool] | ToolRegistry, stop_tool_name: str) -> ToolRegistry:
    """The tools as one run sees them: the very same, and behind them the built-in stop tool, unless one has its name (R1)."""
    base = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
    seen = ToolRegistry()
    seen._tools, seen._stop = base._tools, _stop_tool(stop_tool_name)
    return seen


@functools.lru_cache(maxsize=64)
def _stop_tool(name: str) -> ReactTool:
    return ReactTool(
        name=name,
        description="Call this when the task is done, or cannot be done, and say in `summary` what came of it.",
        parameters=FINISH_TOOL["function"]["parameters"],
        handler=lambda args, context: "The run ends here.",
        read_only=True,
    )


def _validate(tool: object) -> None:
    if not isinstance(tool, ReactTool):
        raise BadToolError(f"a tool is a ReactTool, or a Tool of foxloop_trio.tools, not {type(tool).__name__}")
    if not isinstance(tool.name, str) or not tool.name.strip():
        raise BadToolError(f"a tool needs a name that is not empty, not {tool.name!r}")
    if not isinstance(tool.description, str):
        raise BadToolError(f"tool {tool.name!r}: description must be text, not {type(tool.description).__name__}")
    need_callable(tool, "handler")
    for part in ("check", "cost"):
        need_callable(tool, part, optional=True)
        if inspect.iscoroutinefunction(getattr(tool, part)):
            raise BadToolError(f"tool {tool.name!r}: {part} must be a plain function, not an async one")
    _ = tool._problem  # what is wrong with the schema shows here
