"""Which parameter schemas are accepted."""

import math

import pytest

from foxloop_trio.errors import BadSchemaError
from foxloop_trio.tools._schema import MAX_DEPTH, accept_schema


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ("string", "object"),
        ({}, "type"),
        ({"type": "text"}, "type"),
        ({"type": ["string", "null"]}, "type"),
        ({"type": "string", "pattern": "a"}, "pattern"),
        ({"type": "string", "format": "date"}, "format"),
        ({"type": "string", "$ref": "#/x"}, "$ref"),
        ({"type": "string", 1: 2}, "1"),
        ({"type": "string", "minLength": "5"}, "minLength"),
        ({"type": "string", "minLength": -1}, "minLength"),
        ({"type": "string", "minLength": True}, "minLength"),
        ({"type": "string", "maxLength": 1.5}, "maxLength"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength"),
        ({"type": "string", "minimum": 3}, "minimum"),
        ({"type": "integer", "minimum": "3"}, "minimum"),
        ({"type": "integer", "minimum": math.nan}, "minimum"),
        ({"type": "number", "minimum": 2, "maximum": 1}, "minimum"),
        ({"type": "number", "maximum": False}, "maximum"),
        ({"type": "array", "minItems": "1"}, "minItems"),
        ({"type": "array", "minItems": 2, "maxItems": 1}, "minItems"),
        ({"type": "array", "items": [{"type": "string"}]}, "object"),
        ({"type": "string", "items": {"type": "string"}}, "items"),
        ({"type": "string", "enum": "ab"}, "enum"),
        ({"type": "string", "enum": [["a"]]}, "enum"),
        ({"type": "number", "enum": [math.inf]}, "enum"),
        ({"type": "object", "required": "a"}, "required"),
        ({"type": "object", "required": [1]}, "required"),
        ({"type": "object", "required": ["a"]}, "required"),
        ({"type": "object", "properties": ["a"]}, "properties"),
        ({"type": "object", "properties": {1: {"type": "string"}}}, "properties"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "additionalProperties"),
    ],
)
def test_a_schema_that_is_not_wholly_enforced_is_refused(schema, word):
    """The message holds the path and the keyword."""
    with pytest.raises(BadSchemaError) as caught:
        accept_schema({"type": "object", "properties": {"x": schema}}, "save.parameters")
    assert caught.value.code == "bad-schema"
    assert "save.parameters.x" in str(caught.value)
    assert word in str(caught.value)


def test_the_path_of_an_array_item_ends_in_brackets():
    """Paths look like `save_note.parameters.tags[]`."""
    schema = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string", "pattern": "a"}}}}
    with pytest.raises(BadSchemaError, match=r"save_note\.parameters\.tags\[\]"):
        accept_schema(schema, "save_note.parameters")


def test_annotations_are_ignored_at_every_depth_and_left_out_of_the_rules():
    """Words for the planner judge nothing, also where their values are nonsense."""
    words = {"description": 1, "title": None, "default": {"deep": [1.5]}, "examples": "x"}
    schema = {"type": "object", "properties": {"x": {"type": "string", **words}}, **words}
    assert accept_schema(schema, "p") == {
        "type": "object",
        "properties": {"x": {"type": "string"}},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 100_000])
def test_a_schema_that_is_too_deep_is_refused_without_a_recursion_error(levels):
    """The depth of a schema has an end that is named."""
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    with pytest.raises(BadSchemaError, match="nested deeper"):
        accept_schema(schema, "p")
    while "items" in schema:
        schema = schema["items"]


def test_a_schema_that_contains_itself_is_refused():
    """Neither depth nor width grows without end."""
    loop = {"type": "object", "properties": {}}
    loop["properties"] = {"a": loop, "b": loop}
    with pytest.raises(BadSchemaError, match="nested deeper"):
        accept_schema(loop, "p")
    wide = {"type": "string"}
    for _ in range(MAX_DEPTH - 1):
        wide = {"type": "object", "properties": {"a": wide, "b": wide}}
    with pytest.raises(BadSchemaError, match="schema nodes"):
        accept_schema(wide, "p")


@pytest.mark.parametrize("value", [object(), math.inf, (1,), {1: 2}, {1: 2, "a": 3}, 2**60, "x" * 70_000])
@pytest.mark.parametrize("keyword", ["description", "title", "default", "examples"])
def test_an_annotation_that_cannot_be_sent_to_a_planner_is_refused(keyword, value):
    """It would break the planner's request, or the record of the run, long after the tool was written."""
    with pytest.raises(BadSchemaError, match=rf"p\.x: {keyword} .*must be JSON"):
        accept_schema({"type": "object", "properties": {"x": {"type": "string", keyword: value}}}, "p")


def test_an_annotation_that_contains_the_schema_is_refused():
    """A cycle has no JSON either."""
    schema = {"type": "object"}
    schema["default"] = schema
    with pytest.raises(BadSchemaError, match="default"):
        accept_schema(schema, "p")
