"""The tools of an MCP server as tools of a ReAct run. The official SDK (extra ``mcp``) makes the session; it runs under Trio.

::

    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await run_react_loop(llm=llm, tools=await mcp_tools(session), system="…")

A `Client` of release 2 will do in place of the session. Nothing here imports the SDK but asking a session for a second page of
tools: what is needed is in the shape of the answers. Names of fields are those of releases 1 (`inputSchema`) and 2
(`input_schema`).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any, Final

from ...actions._valid import require_method
from ...errors import BadSchemaError, BadToolError
from ...guarding import ToolResult
from ...tools._check import args_check
from ...tools._schema import accept_schema
from .._tools import HostCheck, ReactTool

MOST_PAGES: Final = 100
"""Pages of tools that are asked for; a server that always has another one is at fault."""


async def mcp_tools(session: Any, *, prefix: str = "") -> list[ReactTool]:
    """One `ReactTool` for each tool of the server, in its order, named as there, after `prefix`.

    Arguments that fit a schema of our subset are checked before they are sent; what the subset does not know, the server checks
    itself. A result's text is the observation; of other content its kind and size are told, and an error stays an error.
    `read_only` is what the server claims in its annotations. Raises ValueError for what is no session.
    """
    require_method("session", session, "list_tools", "call_tool")
    found: list[ReactTool] = []
    page = await session.list_tools()
    for _ in range(MOST_PAGES):
        found += [_tool(session, tool, prefix) for tool in page.tools]
        cursor = _either(page, "next_cursor", "nextCursor")
        if cursor is None:
            return found
        page = await _next_page(session, cursor)
    raise BadToolError(f"the MCP server has more than {MOST_PAGES} pages of tools")


async def _next_page(session: Any, cursor: Any) -> Any:
    """A `ClientSession` takes the cursor inside its params; a `Client` of release 2 takes it as it is."""
    if "params" not in inspect.signature(session.list_tools).parameters:
        return await session.list_tools(cursor=cursor)
    from mcp.types import PaginatedRequestParams

    return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))


def _tool(session: Any, tool: Any, prefix: str) -> ReactTool:
    schema = _either(tool, "input_schema", "inputSchema")
    if not isinstance(schema, Mapping):
        raise BadToolError(f"MCP tool {tool.name!r} has no input schema")

    async def handler(args: dict[str, Any], context: Any) -> ToolResult:
        return _as_result(await session.call_tool(tool.name, args))

    annotations = getattr(tool, "annotations", None)
    return ReactTool(
        name=f"{prefix}{tool.name}",
        description=tool.description or "",
        parameters=schema,
        handler=handler,
        read_only=_either(annotations, "read_only_hint", "readOnlyHint") is True,
        check=_check(schema),
    )


def _check(schema: Mapping[str, Any]) -> HostCheck:
    """Our check when the schema is of our subset; else only that arguments are an object, and the server checks the rest.

    A schema that does not say `additionalProperties` allows more in MCP, and forbids it in our subset.
    """
    try:
        return args_check(accept_schema(_opened(schema), "parameters"))
    except BadSchemaError:
        return lambda value: None


def _opened(schema: Any) -> Any:
    """The schema with what MCP leaves open said."""
    if not isinstance(schema, Mapping):
        return schema
    opened = dict(schema)
    if isinstance(schema.get("properties"), Mapping):
        opened["properties"] = {name: _opened(inner) for name, inner in schema["properties"].items()}
    if "items" in schema:
        opened["items"] = _opened(schema["items"])
    if schema.get("type") == "object":
        opened.setdefault("additionalProperties", True)
    opened.pop("$schema", None)
    return opened


def _as_result(result: Any) -> ToolResult:
    parts = [_part(block) for block in result.content]
    structured = _either(result, "structured_content", "structuredContent")
    if not parts and structured is not None:
        parts = [json.dumps(structured, ensure_ascii=False, default=repr)]
    return ToolResult(content="\n".join(parts), is_error=bool(_either(result, "is_error", "isError")))


def _part(block: Any) -> str:
    text = getattr(block, "text", None)
    if text is None:
        text = getattr(getattr(block, "resource", None), "text", None)
    if isinstance(text, str):
        return text
    size = len(getattr(block, "data", None) or "")
    return f"[{getattr(block, 'type', type(block).__name__)}, {size} characters, not shown]"


def _either(value: Any, new: str, old: str) -> Any:
    return getattr(value, new, getattr(value, old, None))
