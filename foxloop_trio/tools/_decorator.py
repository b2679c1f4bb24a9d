"""`@tool(...)`: a Tool from an async function, its schema from the annotations, its words from the docstring.

The first part of the docstring is the description; an ``Args:`` section (or ``:param name:`` lines) describes the parameters.
Annotations understood: str, int, float, bool, None, Literal, list[...], dict[str, Any], TypedDict, `X | None` with the default
None, and Annotated[X, "words", {"maxLength": 80}] for words and rules of the schema subset.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from ..actions import Scope, ToolContext, ToolOutput
from ..canonical import canonical_json
from ..errors import BadToolError, NotJsonError
from ..ports import Environment
from ._tool import (
    AmountFunction,
    Args,
    AsksFunction,
    DescribeFunction,
    DomainFunction,
    PrepareFunction,
    RedactFunction,
    Tool,
    define_tools,
)

_PLAIN: Final = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_SECTION = re.compile(r"(?:Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?):\s*\Z")
_ARGS_SECTION = re.compile(r"(?:Args|Arguments|Parameters):\s*\Z")
_ARG_LINE = re.compile(r"(\w+)\s*(?:\([^)]*\))?:\s*(.*)\Z")
_PARAM_LINE = re.compile(r":param\s+(?:[^:]*\s)?(\w+):\s*(.*)\Z")


def tool(
    *,
    scope: Scope,
    domain: str | DomainFunction,
    name: str | None = None,
    description: str | None = None,
    amount: AmountFunction | None = None,
    asks: AsksFunction | None = None,
    prepare: PrepareFunction | None = None,
    describe: DescribeFunction | None = None,
    redact: RedactFunction | None = None,
    environment: Environment | None = None,
    human: bool = False,
) -> Callable[[Callable[..., Awaitable[ToolOutput]]], Tool]:
    """Make a Tool of an async function that takes its arguments by name.

    ::

        @tool(scope="fill", domain="notes.local")
        async def save_note(text: str) -> ToolOutput:
            "Save one note."

    A parameter that is annotated `ToolContext`, or is called `ctx` and has no annotation, gets the context and is not part of the
    schema. A parameter with a default is optional. Raises BadToolError, naming the function and the parameter, for anything
    that has no place in the schema subset.
    """

    def make(function: Callable[..., Awaitable[ToolOutput]]) -> Tool:
        own_name = name if name is not None else getattr(function, "__name__", "")
        if not inspect.iscoroutinefunction(function):
            raise BadToolError(f"@tool {own_name!r}: write it as an async function, so that it can be cancelled")
        words, param_words = _read_docstring(inspect.getdoc(function) or "")
        parameters, context_name = _parameters(function, own_name, param_words)

        async def run(args: Args, ctx: ToolContext) -> ToolOutput:
            if context_name is None:
                return await function(**args)
            return await function(**args, **{context_name: ctx})

        made = Tool(
            name=own_name,
            description=words if description is None else description,
            parameters=parameters,
            scope=scope,
            domain=domain,
            run=run,
            amount=amount,
            asks=asks,
            prepare=prepare,
            describe=describe,
            redact=redact,
            environment=environment,
            human=human,
        )
        define_tools([made])  # a mistake shows where the function stands, not when a registry is built
        return made

    return make


def _parameters(function: Callable[..., Any], name: str, words: Mapping[str, str]) -> tuple[dict[str, Any], str | None]:
    """The schema of the function's parameters, and which of them takes the context."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as fault:
        raise BadToolError(f"@tool {name!r}: its annotations cannot be resolved: {fault}") from fault
    returned = hints.get("return")
    if returned in _PLAIN or get_origin(returned) in (dict, list, tuple):
        raise BadToolError(f"@tool {name!r}: must return a ToolOutput, not {_named(returned)}: ToolOutput(ok=True, summary=...)")
    properties: dict[str, Any] = {}
    required: list[str] = []
    context_name: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        where = f"@tool {name!r}, parameter {parameter.name!r}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise BadToolError(f"{where}: arguments come by name; *args, **kwargs and positional-only have no place in a schema")
        hint = hints.get(parameter.name, parameter.empty)
        if hint is ToolContext or (hint is parameter.empty and parameter.name == "ctx"):
            if context_name is not None:
                raise BadToolError(f"{where}: {context_name!r} takes the context already")
            context_name = parameter.name
            continue
        if hint is parameter.empty:
            raise BadToolError(f"{where}: needs an annotation such as str")
        optional = parameter.default is not parameter.empty
        schema = _schema_of(_without_none(hint) if parameter.default is None else hint, where)
        if parameter.name in words:
            schema.setdefault("description", words[parameter.name])
        if optional and isinstance(parameter.default, (str, int, float, bool)) and _is_json(parameter.default):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
        if not optional:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required}, context_name


def _named(hint: Any) -> str:
    return str(getattr(hint, "__name__", hint))


def _is_json(default: object) -> bool:
    """A default that JSON cannot say, such as infinity, is not told to the planner; the function has it all the same."""
    try:
        canonical_json(default)
    except NotJsonError:
        return False
    return True


def _without_none(hint: Any) -> Any:
    """`X` of `X | None`: an argument that may be left out is simply left out."""
    if get_origin(hint) in (Union, types.UnionType):
        rest = [part for part in get_args(hint) if part is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return hint


def _schema_of(hint: Any, where: str) -> dict[str, Any]:
    if isinstance(hint, type) and hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint is None:
        return {"type": "null"}
    if hint is list:
        return {"type": "array"}
    if hint is dict:
        return {"type": "object", "additionalProperties": True}
    if typing.is_typeddict(hint):
        return _schema_of_typed_dict(hint, where)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(_schema_of(parts[0], where), parts[1:])
    if origin is Literal:
        return _schema_of_literal(parts, where)
    if origin is list:
        return {"type": "array", "items": _schema_of(parts[0], where)}
    if origin is dict and parts == (str, Any):
        return {"type": "object", "additionalProperties": True}
    if origin in (typing.Required, typing.NotRequired):
        return _schema_of(parts[0], where)
    raise BadToolError(
        f"{where}: {hint!r} has no place in the schema subset; use str, int, float, bool, Literal, list or TypedDict"
    )


def _schema_of_literal(members: tuple[Any, ...], where: str) -> dict[str, Any]:
    kinds = {type(member) for member in members}
    kind = _PLAIN.get(kinds.pop()) if len(kinds) == 1 else None
    if kind is None:
        raise BadToolError(f"{where}: the members of a Literal must all be str, all int or all bool")
    return {"type": kind, "enum": list(members)}


def _schema_of_typed_dict(hint: Any, where: str) -> dict[str, Any]:
    fields = get_type_hints(hint, include_extras=True)
    return {
        "type": "object",
        "properties": {name: _schema_of(inner, f"{where}.{name}") for name, inner in fields.items()},
        "required": [name for name in fields if name in hint.__required_keys__],
    }


def _annotated(schema: dict[str, Any], extras: tuple[Any, ...]) -> dict[str, Any]:
    for extra in extras:
        if isinstance(extra, str):
            schema["description"] = extra
        elif isinstance(extra, Mapping):
            schema.update(extra)
    return schema


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Description, and the words for each parameter."""
    description: list[str] = []
    words: dict[str, str] = {}
    section: str | None = None
    current: str | None = None
    for line in text.splitlines():
        stripped = line.strip()
        if (param := _PARAM_LINE.match(stripped)) is not None:
            section, current = "args", param[1]
            words[current] = param[2]
        elif line == line.lstrip() and _SECTION.match(stripped):
            section = "args" if _ARGS_SECTION.match(stripped) else "other"
            current = None
        elif section is None:
            description.append(line)
        elif section == "args" and stripped:
            named = _ARG_LINE.match(stripped)
            if named is not None and _indent(line) <= 4:
                current = named[1]
                words[current] = named[2]
            elif current is not None:
                words[current] = f"{words[current]} {stripped}".strip()
    return "\n".join(description).strip(), words


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
