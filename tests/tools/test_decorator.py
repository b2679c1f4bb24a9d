"""`@tool`: the schema and the words of a tool from an async function."""

import math
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from foxloop_trio.actions import ToolContext, ToolOutput
from foxloop_trio.errors import BadSchemaError, BadToolError
from foxloop_trio.tools import Tool, tool


class Line(TypedDict):
    what: str
    pieces: NotRequired[int]


def ctx():
    return ToolContext(run_id="r", step=1, goal="g")


def make(function, **options):
    words = {} if function.__doc__ else {"description": "What it does."}
    return tool(**({"scope": "fill", "domain": "notes.local"} | words | options))(function)


async def test_the_quick_example_makes_a_whole_tool():
    """Name, description, schema, scope and domain; run calls the function by name."""

    @tool(scope="fill", domain="notes.local")
    async def save_note(text: str) -> ToolOutput:
        """Save one note."""
        return ToolOutput(ok=True, summary=f"Saved {text}.")

    assert isinstance(save_note, Tool)
    assert (save_note.name, save_note.description) == ("save_note", "Save one note.")
    assert (save_note.scope, save_note.domain) == ("fill", "notes.local")
    assert save_note.parameters == {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    assert (await save_note.run({"text": "milk"}, ctx())).summary == "Saved milk."


def test_each_annotation_has_its_schema():
    """Plain types, lists, literals, typed dicts and annotated words and rules."""

    async def order(
        text: Annotated[str, "What to write.", {"maxLength": 80}],
        pieces: int,
        weight: float,
        fast: bool,
        size: Literal["s", "m"],
        lines: list[Line],
        extra: dict[str, Any],
        note: str | None = None,
        times: int = 2,
    ) -> ToolOutput:
        raise AssertionError

    assert make(order).parameters == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to write.", "maxLength": 80},
            "pieces": {"type": "integer"},
            "weight": {"type": "number"},
            "fast": {"type": "boolean"},
            "size": {"type": "string", "enum": ["s", "m"]},
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"what": {"type": "string"}, "pieces": {"type": "integer"}},
                    "required": ["what"],
                },
            },
            "extra": {"type": "object", "additionalProperties": True},
            "note": {"type": "string"},
            "times": {"type": "integer", "default": 2},
        },
        "required": ["text", "pieces", "weight", "fast", "size", "lines", "extra"],
    }


def test_the_docstring_gives_the_words():
    """What stands before the first section describes the tool; the Args section describes the parameters."""

    async def find(query: str, most: int = 5) -> ToolOutput:
        """Find notes.

        Looks at titles only.

        Args:
            query: words to look for,
                in any order
            most (int): how many to return

        Returns:
            The notes.
        """
        raise AssertionError

    made = make(find)
    assert made.description == "Find notes.\n\nLooks at titles only."
    assert made.parameters["properties"]["query"]["description"] == "words to look for, in any order"
    assert made.parameters["properties"]["most"]["description"] == "how many to return"


def test_the_param_field_style_is_understood_too():
    """`:param name:` lines describe parameters and are not part of the description."""

    async def find(query: str) -> ToolOutput:
        """Find notes.

        :param query: words to look for
        """
        raise AssertionError

    made = make(find)
    assert made.description == "Find notes."
    assert made.parameters["properties"]["query"]["description"] == "words to look for"


async def test_a_context_parameter_gets_the_context_and_is_not_in_the_schema():
    """By annotation, or by the name ctx without one."""

    async def annotated(text: str, context: ToolContext) -> ToolOutput:
        return ToolOutput(ok=True, summary=context.goal + text)

    async def named(text: str, ctx) -> ToolOutput:  # type: ignore[no-untyped-def]
        return ToolOutput(ok=True, summary=ctx.goal + text)

    for function in (annotated, named):
        made = make(function)
        assert list(made.parameters["properties"]) == ["text"]
        assert (await made.run({"text": "!"}, ctx())).summary == "g!"


def test_a_default_that_json_cannot_say_is_the_functions_own():
    """The parameter is optional, and the planner is told no default."""

    async def wait(limit: float = math.inf, big: int = 2**60, text: str = "a") -> ToolOutput:
        raise AssertionError

    made = make(wait)
    assert made.parameters["properties"] == {
        "limit": {"type": "number"},
        "big": {"type": "integer"},
        "text": {"type": "string", "default": "a"},
    }
    assert made.parameters["required"] == []


def test_options_go_into_the_tool():
    """Name and description can be given; the functions are the very functions."""

    async def pay(cents: int) -> ToolOutput:
        raise AssertionError

    async def describe(args, ctx):
        return "pay"

    def price(args):
        raise AssertionError

    made = make(pay, scope="pay", name="pay_now", description="Pays.", amount=price, describe=describe, human=True)
    assert (made.name, made.description, made.amount, made.describe, made.human) == ("pay_now", "Pays.", price, describe, True)


async def takes_any(*args: str) -> ToolOutput:
    raise AssertionError


async def takes_names(**kwargs: str) -> ToolOutput:
    raise AssertionError


async def by_position(text: str, /) -> ToolOutput:
    raise AssertionError


async def unannotated(text) -> ToolOutput:  # type: ignore[no-untyped-def]
    raise AssertionError


async def takes_bytes(text: bytes) -> ToolOutput:
    raise AssertionError


async def takes_either(text: str | int) -> ToolOutput:
    raise AssertionError


async def mixed(text: Literal["a", 1]) -> ToolOutput:
    raise AssertionError


async def unknown(text: "NoSuchName") -> ToolOutput:  # type: ignore[name-defined]  # noqa: F821
    raise AssertionError


async def two_contexts(one: ToolContext, two: ToolContext) -> ToolOutput:
    raise AssertionError


def not_async(text: str) -> ToolOutput:
    raise AssertionError


@pytest.mark.parametrize(
    "function",
    [takes_any, takes_names, by_position, unannotated, takes_bytes, takes_either, mixed, unknown, two_contexts, not_async],
)
def test_a_function_that_has_no_schema_is_refused_by_name(function):
    """The message names the function, so the mistake is found where it stands."""
    with pytest.raises(BadToolError, match=function.__name__):
        make(function)


def test_a_wrong_tool_is_refused_where_it_is_decorated():
    """Validation does not wait for a registry."""

    async def note(text: Annotated[str, {"pattern": "a"}]) -> ToolOutput:
        raise AssertionError

    with pytest.raises(BadSchemaError, match="pattern"):
        make(note)
    with pytest.raises(BadToolError, match="scope"):
        make(by_name, scope="admin")


async def by_name(text: str) -> ToolOutput:
    raise AssertionError


def test_a_tool_has_the_words_that_it_is_given_or_none():
    """A planner chooses by them; a name may say enough."""
    assert tool(scope="fill", domain="notes.local")(by_name).description == ""
    assert tool(scope="fill", domain="notes.local", description="By name.")(by_name).description == "By name."


async def returns_text(text: str) -> str:
    return text


async def returns_a_list(text: str) -> list[str]:
    return [text]


@pytest.mark.parametrize(("function", "named"), [(returns_text, "str"), (returns_a_list, "list")])
def test_a_function_that_says_it_returns_something_else_is_refused(function, named):
    """Each of its calls would fail, and only the planner would be told."""
    with pytest.raises(BadToolError, match=f"must return a ToolOutput, not {named}"):
        make(function)


def test_a_decorated_tool_may_say_which_of_its_calls_always_ask():
    """As a Tool that is built by hand."""

    def asks(args):
        return args["text"] == "send it"

    assert make(by_name, asks=asks).asks is asks
    assert make(by_name).asks is None
