"""Tools and the registries made of them: each rule of a tool definition, and in which order they are looked at."""

from types import MappingProxyType

import pytest

from foxloop_trio.actions import Money, ToolContext, ToolOutput
from foxloop_trio.errors import BadSchemaError, BadToolError
from foxloop_trio.tools import Tool, ToolSpec, define_tools, tool_specs


async def run(args, ctx):
    return ToolOutput(ok=True, summary="done")


def price(args):
    return Money(value=100, currency="EUR")


def a_tool(**changes):
    parts = {
        "name": "save_note",
        "description": "Save a note.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        "scope": "fill",
        "domain": "notes.local",
        "run": run,
    }
    return Tool(**(parts | changes))


class Ready:
    async def ready(self):
        return None


def test_define_tools_gives_the_tools_by_name_in_their_order():
    """A good list passes, as a list or a tuple."""
    first, second = (
        a_tool(),
        a_tool(name="Read-2", scope="read", domain=lambda args, ctx: "a.test", environment=Ready(), human=True),
    )
    assert list(define_tools((first, second)).items()) == [("save_note", first), ("Read-2", second)]


def test_tool_specs_gives_the_gate_scope_and_the_same_amount_function():
    """The gate learns nothing else of a tool."""
    specs = tool_specs([a_tool(), a_tool(name="pay", scope="pay", amount=price)])
    assert specs == {"save_note": ToolSpec(scope="fill"), "pay": ToolSpec(scope="pay", amount=price)}


@pytest.mark.parametrize("tools", [None, {"a": a_tool()}, {a_tool().name}, "abc", a_tool()])
def test_a_registry_that_is_no_list_is_refused(tools):
    """Only a list or a tuple has an order."""
    with pytest.raises(BadToolError) as caught:
        define_tools(tools)
    assert caught.value.code == "bad-tool"


@pytest.mark.parametrize("element", [None, "save_note", {"name": "save_note"}, run])
def test_an_element_that_is_no_tool_is_refused(element):
    """The message says which element."""
    with pytest.raises(BadToolError, match=r"tools\[1\]"):
        define_tools([a_tool(), element])


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": "a" * 65},
        {"name": "save note"},
        {"name": "save\n"},
        {"name": "sävé"},
        {"name": None},
        {"name": "finish"},
        {"description": None},
        {"scope": "admin"},
        {"scope": None},
        {"scope": ["read"]},
        {"scope": "pay"},
        {"scope": "pay", "amount": 5},
        {"amount": 5},
        {"domain": None},
        {"domain": ""},
        {"domain": "https://notes.local"},
        {"run": None},
        {"describe": "words"},
        {"prepare": 1},
        {"environment": object()},
        {"human": 1},
    ],
)
def test_each_wrong_part_is_a_bad_tool(changes):
    """A tool is refused when the registry is built, and the message names it."""
    with pytest.raises(BadToolError) as caught:
        define_tools([a_tool(**changes)])
    assert caught.value.code == "bad-tool"
    assert "save_note" in str(caught.value) or "tools[0]" in str(caught.value)


def test_a_second_tool_of_the_same_name_is_refused():
    """Names are unique."""
    with pytest.raises(BadToolError, match="save_note"):
        define_tools([a_tool(), a_tool(scope="read")])


@pytest.mark.parametrize("name", ["a" * 64, "A-b_9", "-"])
def test_a_name_at_the_edge_is_accepted(name):
    """1 to 64 characters of the allowed ones."""
    assert name in define_tools([a_tool(name=name)])


@pytest.mark.parametrize("parameters", [None, {"type": "string"}, {"type": "object", "oneOf": []}])
def test_wrong_parameters_are_a_bad_schema_that_names_the_tool(parameters):
    """The schema's type is object, and it is in our subset."""
    with pytest.raises(BadSchemaError, match="save_note") as caught:
        define_tools([a_tool(parameters=parameters)])
    assert caught.value.code == "bad-schema"


def test_the_parts_are_looked_at_in_the_documented_order():
    """With everything wrong the name comes first; put right one by one, the next fault shows."""
    wrong = {"name": "finish ", "description": 1, "scope": "x", "domain": None, "run": None, "parameters": {}}
    right = {"name": "ok", "description": "", "scope": "read", "domain": "a.test", "run": run}
    words = []
    for part in [None, *right]:
        if part is not None:
            wrong[part] = right[part]
        with pytest.raises((BadToolError, BadSchemaError)) as caught:
            define_tools([a_tool(**wrong)])
        words.append(str(caught.value))
    for word, text in zip(["name", "description", "scope", "domain", "run", "parameters"], words, strict=True):
        assert word in text


def test_redact_is_a_function_or_nothing():
    """Like the tool's other functions."""
    with pytest.raises(BadToolError, match="redact"):
        define_tools([a_tool(redact="yes")])
    define_tools([a_tool(redact=lambda args: args)])


def test_args_problem_judges_by_the_tools_schema():
    """None for what fits; else the path and the reason."""
    tool = a_tool()
    assert tool.args_problem({"text": "milk"}) is None
    assert tool.args_problem({"text": 1}).startswith("text: ")
    assert tool.args_problem({"scope": "read"}).startswith("scope: ")


def test_a_schema_that_is_changed_after_the_tool_was_made_changes_nothing():
    """Neither what the planner is told nor what its arguments are held to, also when they are checked for the first time later."""
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}
    tool = define_tools([a_tool(parameters=parameters)])["save_note"]
    parameters["properties"]["text"]["pattern"] = "a"
    parameters["properties"]["evil"] = {"type": "string"}
    assert tool.parameters == {"type": "object", "properties": {"text": {"type": "string"}}}
    assert tool.args_problem({"text": "a"}) is None
    assert "evil" in tool.args_problem({"text": "a", "evil": "b"})


def test_a_read_only_schema_will_do():
    """A mapping proxy cannot be deep-copied, and need not be."""
    tool = a_tool(parameters=MappingProxyType({"type": "object", "properties": MappingProxyType({"text": {"type": "string"}})}))
    assert define_tools([tool])["save_note"].args_problem({"text": "a"}) is None


def test_tools_compare_by_their_parts():
    """Whether a check was compiled makes no difference."""
    used = a_tool()
    used.args_problem({})
    assert used == a_tool()


async def test_run_gets_args_and_context():
    """A tool's functions are the very functions that were given."""
    ctx = ToolContext(run_id="r", step=1, goal="g")
    assert (await a_tool().run({}, ctx)).summary == "done"
