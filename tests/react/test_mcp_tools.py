"""Tools of an MCP server: against a session object of the SDK's shape, in the spelling of its releases 1 and 2."""

from __future__ import annotations

import sys
import types
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from foxloop_trio.react import mcp_tools, run_react_loop
from foxloop_trio.testing import scripted_llm

SCHEMA = {"$schema": "x", "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ODD = {"type": "object", "anyOf": [{"required": ["a"]}]}
DONE = {"calls": [("task_done", {"summary": "s"})]}


def text(words: str) -> Any:
    return SimpleNamespace(type="text", text=words)


class Session:
    """Answers as the server would; `called` are the calls that it got."""

    def __init__(self, release: int, *pages: list[Any], **results: Any) -> None:
        self.names = ("input_schema", "is_error", "structured_content", "read_only_hint", "next_cursor")
        if release == 1:
            self.names = ("inputSchema", "isError", "structuredContent", "readOnlyHint", "nextCursor")
        self.pages = pages or ([self.tool("weather", SCHEMA)],)
        self.results = results
        self.called: list[Any] = []

    def tool(self, name: str, schema: Any, *, read_only: bool | None = None) -> Any:
        annotations = None if read_only is None else SimpleNamespace(**{self.names[3]: read_only})
        return SimpleNamespace(name=name, description=None, annotations=annotations, **{self.names[0]: schema})

    async def list_tools(self, *, params: Any = None) -> Any:
        await trio.lowlevel.checkpoint()
        index = 0 if params is None else int(params.cursor)
        last = index + 1 == len(self.pages)
        return SimpleNamespace(tools=self.pages[index], **{self.names[4]: None if last else str(index + 1)})

    async def call_tool(self, name: str, arguments: Any) -> Any:
        await trio.lowlevel.checkpoint()
        self.called.append((name, arguments))
        content, is_error, structured = self.results.get(name, ([text("sunny")], False, None))
        return SimpleNamespace(content=content, **{self.names[1]: is_error, self.names[2]: structured})


async def observed(session: Session, *calls: tuple[str, Any], **options: Any) -> list[str]:
    llm = scripted_llm([{"calls": list(calls)}, DONE])
    result = await run_react_loop(llm=llm, tools=await mcp_tools(session, **options), system="")
    return [message.content for message in result.messages if message.role == "tool"]


@pytest.mark.parametrize("release", [1, 2])
async def test_a_servers_tools_are_tools(release: int) -> None:
    """Called with the arguments as they are; the text of the result is the observation; arguments that do not fit are not sent."""
    session = Session(release)
    told = await observed(session, ("weather", {"city": "Lisbon", "extra": 1}), ("weather", {}))
    assert session.called == [("weather", {"city": "Lisbon", "extra": 1})]
    assert told[0] == "sunny"
    assert "city: is required" in told[1]


@pytest.mark.parametrize("release", [1, 2])
async def test_what_is_no_text_is_told_by_kind_and_size(release: int) -> None:
    """Never base64 in text (buglog B92); structured content stands in for missing text, and an error stays one."""
    image = SimpleNamespace(type="image", data="A" * 1000)
    resource = SimpleNamespace(type="resource", resource=SimpleNamespace(text="a file"))
    session = Session(release)
    session.pages = ([session.tool(name, SCHEMA) for name in ("both", "structured", "broken")],)
    session.results = {
        "both": ([text("a"), image, resource], False, None),
        "structured": ([], False, {"degrees": 20}),
        "broken": ([text("no such city")], True, None),
    }
    tools = await mcp_tools(session)
    results = [await tool.handler({"city": "x"}, None) for tool in tools]
    assert [result.content for result in results] == [
        "a\n[image, 1000 characters, not shown]\na file",
        '{"degrees": 20}',
        "no such city",
    ]
    assert [result.is_error for result in results] == [False, False, True]


async def test_a_schema_beyond_the_subset_is_left_to_the_server() -> None:
    """It is shown to the model as it is, and only that arguments are an object is checked here."""
    session = Session(2)
    session.pages = ([session.tool("odd", ODD, read_only=True)],)
    (tool,) = await mcp_tools(session, prefix="srv_")
    assert (tool.name, tool.parameters, tool.read_only, tool.description) == ("srv_odd", ODD, True, "")
    told = await observed(session, ("srv_odd", {"b": 1}), ("srv_odd", [1]), prefix="srv_")
    assert session.called == [("odd", {"b": 1})]
    assert "must be an object" in told[1]


async def test_all_pages_of_a_servers_tools_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor is passed on in the SDK's own type; a server that has no end of pages is refused."""
    fake = types.ModuleType("mcp.types")
    fake.PaginatedRequestParams = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mcp", types.ModuleType("mcp"))
    monkeypatch.setitem(sys.modules, "mcp.types", fake)
    session = Session(2)
    session.pages = tuple([session.tool(f"t{index}", SCHEMA)] for index in range(3))
    assert [tool.name for tool in await mcp_tools(session)] == ["t0", "t1", "t2"]

    class Client:
        call_tool = session.call_tool

        async def list_tools(self, *, cursor: str | None = None) -> Any:
            return await session.list_tools(params=None if cursor is None else SimpleNamespace(cursor=cursor))

    assert len(await mcp_tools(Client())) == 3
    session.pages = tuple([session.tool(f"t{index}", SCHEMA)] for index in range(200))
    with pytest.raises(ValueError, match="more than 100 pages"):
        await mcp_tools(session)


async def test_what_is_no_session_is_refused() -> None:
    """A ValueError that names the method; a tool without a schema too."""
    with pytest.raises(ValueError, match="list_tools"):
        await mcp_tools(object())
    session = Session(2)
    session.pages = ([session.tool("bare", None)],)
    with pytest.raises(ValueError, match="no input schema"):
        await mcp_tools(session)
