"""What a planner may call: a tool with its schema, its scope and its functions, and the registries made of tools.

A `Tool` is plain data; `define_tools` and `tool_specs` validate it, in one fixed order, when a registry is built.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs

from ..actions import SCOPES, Money, Scope, ToolContext, ToolOutput
from ..errors import BadSchemaError, BadToolError
from ..ports import Environment
from ..prompt import FINISH
from ._check import ArgsCheck, args_check
from ._schema import accept_schema

Args = dict[str, Any]
"""The arguments of one call: a plain JSON object."""

DomainFunction = Callable[[Args, ToolContext], str | Awaitable[str]]
RunFunction = Callable[[Args, ToolContext], Awaitable[ToolOutput]]
AmountFunction = Callable[[Args], Money]
AsksFunction = Callable[[Args], bool]
PrepareFunction = Callable[[Args, ToolContext], Args | Awaitable[Args]]
DescribeFunction = Callable[[Args, ToolContext], str | Awaitable[str]]
RedactFunction = Callable[[Args], Args]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z", re.ASCII)
_HOST_STAINS = re.compile(r"[\s/\\@?#]")


@attrs.frozen(kw_only=True)
class Tool:
    """One capability that the planner may call.

    * `name`: 1 to 64 of ``A-Z a-z 0-9 _ -``; `description` and `parameters` (a JSON Schema of our subset) are for the planner.
    * `scope`: ``read``, ``fill``, ``submit`` or ``pay``; the planner cannot change it. `amount` (needed for ``pay``) computes what
      a call costs.
    * `domain`: a host name, or `(args, ctx) -> host name`, sync or async; what the gate judges the call for.
    * `asks`: `(args) -> bool`, pure and fast: True for a call about which a human must be asked each time, whatever a standing
      grant or a rule allows. Anything but False, an exception too, counts as True.
    * `prepare`: `(args, ctx) -> args`, sync or async: the arguments that are judged, approved and run. It changes nothing outside.
    * `describe`: `(args, ctx) -> str`, sync or async: the action in words for the human who is asked.
    * `run`: async `(args, ctx) -> ToolOutput`, called only with what the gate allowed.
    * `redact`: `(args) -> args`, pure and fast: the copy of the arguments that events and trail may hold. It gets them as the
      planner wrote them, valid or not, and again as prepared. Every text and number that it takes out is masked in whatever the
      run says later. When it raises, nothing of the arguments is shown, and the call is refused.
    * `environment`: what the tool acts on; asked to be ready before the planner is.
    * `human`: True when running the tool waits for a person, whose time is not work time.

    `parameters` is copied, so nobody who changes their dict later changes the tool. Validated when a registry is built, not
    here.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    scope: Scope
    domain: str | DomainFunction
    run: RunFunction
    amount: AmountFunction | None = None
    asks: AsksFunction | None = None
    prepare: PrepareFunction | None = None
    describe: DescribeFunction | None = None
    redact: RedactFunction | None = None
    environment: Environment | None = None
    human: bool = False
    _check: ArgsCheck | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "parameters", _own_copy(self.parameters))

    def args_problem(self, value: object, *, is_json: bool = False) -> str | None:
        """None when `value` fits `parameters`, else ``path: reason`` for the planner. Compiled at the first call.

        `is_json`: it is known to be JSON as the gate takes it (text as keys, no NaN, no integer beyond 2**53 - 1, not too deep), so
        that this need not be looked at again.
        """
        if self._check is None:
            object.__setattr__(self, "_check", args_check(accept_schema(self.parameters, f"{self.name}.parameters")))
        assert self._check is not None
        return self._check(value, is_json=is_json)


def _own_copy(parameters: Any) -> Any:
    """A deep copy. What cannot be copied, such as a read-only mapping, is taken as it is; the registry says whether it will do."""
    try:
        return copy.deepcopy(parameters)
    except Exception:
        return parameters


@attrs.frozen(kw_only=True)
class ToolSpec:
    """What the gate knows of a tool: its scope and, when it has them, its functions `amount` and `asks`."""

    scope: Scope
    amount: AmountFunction | None = None
    asks: AsksFunction | None = None


def define_tools(tools: list[Tool] | tuple[Tool, ...]) -> dict[str, Tool]:
    """The tools by name, validated one after the other.

    Raises BadToolError, naming the tool, or BadSchemaError, naming the path and the keyword.
    """
    if not isinstance(tools, (list, tuple)):
        raise BadToolError(f"tools must be a list of Tool, not {type(tools).__name__}")
    by_name: dict[str, Tool] = {}
    for index, tool in enumerate(tools):
        if not isinstance(tool, Tool):
            raise BadToolError(f"tools[{index}] is not a Tool but {type(tool).__name__}; build it with Tool(...) or @tool(...)")
        _validate_name(tool, index, by_name)
        _validate_parts(tool)
        _validate_parameters(tool)
        by_name[tool.name] = tool
    return by_name


def tool_specs(tools: list[Tool] | tuple[Tool, ...]) -> dict[str, ToolSpec]:
    """What the gate takes, after the same validation as `define_tools`."""
    return {name: ToolSpec(scope=tool.scope, amount=tool.amount, asks=tool.asks) for name, tool in define_tools(tools).items()}


def _validate_name(tool: Tool, index: int, earlier: Mapping[str, Tool]) -> None:
    name: object = tool.name
    if not isinstance(name, str) or not _NAME.match(name):
        raise BadToolError(f"tools[{index}]: name must be 1 to 64 of A-Z a-z 0-9 _ -, not {repr(name)[:80]}")
    if name == FINISH:
        raise BadToolError(f"tools[{index}]: the name {FINISH!r} is the built-in completion claim; choose another")
    if name in earlier:
        raise BadToolError(f"tool {name!r}: two tools have this name")


def _validate_parts(tool: Tool) -> None:
    description: object = tool.description
    if not isinstance(description, str):
        raise BadToolError(f"tool {tool.name!r}: description must be a string, not {type(description).__name__}")
    if not isinstance(tool.scope, str) or tool.scope not in SCOPES:
        raise BadToolError(f"tool {tool.name!r}: scope must be one of {', '.join(SCOPES)}, not {repr(tool.scope)[:80]}")
    if tool.scope == "pay" and tool.amount is None:
        raise BadToolError(f"tool {tool.name!r}: scope 'pay' needs an amount function")
    need_callable(tool, "amount", optional=True)
    need_callable(tool, "asks", optional=True)
    if isinstance(tool.domain, str):
        if not tool.domain or _HOST_STAINS.search(tool.domain):
            raise BadToolError(f"tool {tool.name!r}: domain must be a host name such as notes.local, not {tool.domain[:80]!r}")
    else:
        need_callable(tool, "domain")
    need_callable(tool, "run")
    need_callable(tool, "describe", optional=True)
    need_callable(tool, "prepare", optional=True)
    need_callable(tool, "redact", optional=True)
    if tool.environment is not None and not callable(getattr(tool.environment, "ready", None)):
        raise BadToolError(
            f"tool {tool.name!r}: environment must have an async ready(), {type(tool.environment).__name__} has none"
        )
    human: object = tool.human
    if not isinstance(human, bool):
        raise BadToolError(f"tool {tool.name!r}: human must be True or False, not {repr(human)[:80]}")


def need_callable(tool: Any, part: str, *, optional: bool = False) -> None:
    value = getattr(tool, part)
    if not callable(value) and not (optional and value is None):
        wanted = "a host name or a function" if part == "domain" else "a function"
        raise BadToolError(f"tool {tool.name!r}: {part} must be {wanted}, not {type(value).__name__}")


def _validate_parameters(tool: Tool) -> None:
    path = f"{tool.name}.parameters"
    rules = accept_schema(tool.parameters, path)
    if rules["type"] != "object":
        raise BadSchemaError(f"{path}: type must be 'object', since arguments are named, not {rules['type']!r}")
