"""Arguments against schemas: what fits, what does not, and which fault is named first."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.errors import BadSchemaError
from foxloop_trio.tools import check_args
from foxloop_trio.tools._check import args_check
from foxloop_trio.tools._explain import explain
from foxloop_trio.tools._schema import MAX_DEPTH, accept_schema


def an_object(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def problem_of(schema, value):
    """What is said of `value` under `schema`, as the argument `x`."""
    return check_args(an_object(x=schema), {"x": value})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, ""),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "🦊🦊"),
        ({"type": "number"}, 1),
        ({"type": "number"}, 1.5),
        ({"type": "integer"}, 1.0),
        ({"type": "integer", "minimum": 1, "maximum": 1}, 1),
        ({"type": "integer", "enum": [1]}, 1.0),
        ({"type": "boolean", "enum": [True]}, True),
        ({"type": "null"}, None),
        ({"type": "array"}, [1, "a", [None, {"k": 2.5}]]),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2}, ["a", "b"]),
        ({"type": "object", "additionalProperties": True}, {"any": [1]}),
        ({"type": "string"}, "[1,2]"),
        ({"type": "string"}, '{"a":1}'),
    ],
)
def test_a_value_that_fits_is_accepted(schema, value):
    """Whole-valued floats are integers, integers are numbers, lengths count code points, text that looks like JSON is text."""
    assert problem_of(schema, value) is None


@pytest.mark.parametrize(
    ("schema", "value", "path"),
    [
        ({"type": "string"}, 1, "x"),
        ({"type": "string", "minLength": 2}, "a", "x"),
        ({"type": "string", "maxLength": 2}, "abc", "x"),
        ({"type": "number"}, True, "x"),
        ({"type": "number"}, "1", "x"),
        ({"type": "number"}, math.nan, "x"),
        ({"type": "number"}, math.inf, "x"),
        ({"type": "integer"}, 1.5, "x"),
        ({"type": "integer"}, False, "x"),
        ({"type": "integer"}, 2**53, "x"),
        ({"type": "integer", "enum": [1]}, True, "x"),
        ({"type": "boolean", "enum": [True]}, 1, "x"),
        ({"type": "boolean", "enum": [1]}, True, "x"),
        ({"type": "integer", "enum": [True, 2]}, 1, "x"),
        ({"type": "string", "enum": ["a", "b"]}, "A", "x"),
        ({"type": "string", "enum": []}, "a", "x"),
        ({"type": "integer", "minimum": 1}, 0, "x"),
        ({"type": "number", "maximum": 1}, 1.01, "x"),
        ({"type": "null"}, False, "x"),
        ({"type": "array"}, ("a",), "x"),
        ({"type": "array"}, ["a", ("b",)], "x[1]"),
        ({"type": "array", "minItems": 1}, [], "x"),
        ({"type": "array", "maxItems": 1}, [1, 2], "x"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], "x[1]"),
        ({"type": "object"}, {"y": 1}, "x.y"),
        ({"type": "object", "additionalProperties": True}, {1: 2}, "x"),
        ({"type": "object", "additionalProperties": True}, {"y": {"z": math.nan}}, "x.y.z"),
        ({"type": "object", "additionalProperties": True}, {"y": b"bytes"}, "x.y"),
        ({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}, {}, "x.ok"),
        ({"type": "object", "properties": {"ok": {"type": "boolean"}}}, {"ok": 1}, "x.ok"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_at_its_path(schema, value, path):
    """Each rule and each Python trap is a refusal that starts with the path, a colon and a space."""
    problem = problem_of(schema, value)
    assert problem is not None
    assert problem.startswith(f"{path}: ")


@pytest.mark.parametrize("value", [None, 1, "text", [], ("a",), True, [["a", 1]]])
def test_arguments_that_are_no_object_are_refused_at_arguments(value):
    """Only a JSON object is arguments."""
    problem = check_args(an_object(), value)
    assert problem is not None
    assert problem.startswith("arguments: ")


@pytest.mark.parametrize("name", ["scope", "amount", "domain", "target", "__proto__", ""])
def test_a_property_that_the_schema_does_not_name_is_refused(name):
    """The planner cannot smuggle in what the host decides."""
    problem = check_args(an_object(text={"type": "string"}), {"text": "a", name: "read"})
    assert problem is not None
    assert problem.startswith(f"{name or chr(34) * 2}: ")


def test_required_names_are_looked_at_before_the_properties_and_in_their_order():
    """The first missing name wins over a wrong value, however the value is ordered."""
    schema = an_object(("b", "a"), a={"type": "string"}, b={"type": "string"}, c={"type": "string"})
    assert check_args(schema, {"c": 1}) == "b: is required"
    assert check_args(schema, {"c": 1, "b": ""}) == "a: is required"


def test_properties_are_looked_at_in_the_order_of_the_value():
    """Two faults: the one that the planner wrote first is named."""
    schema = an_object(a={"type": "string"}, b={"type": "string"})
    assert check_args(schema, {"b": 1, "a": 1}).startswith("b: ")
    assert check_args(schema, {"a": 1, "b": 1}).startswith("a: ")


def test_type_comes_before_enum_and_enum_before_length():
    """The order inside one node."""
    schema = {"type": "string", "enum": ["abcdef"], "maxLength": 2}
    assert "must be a string" in problem_of(schema, 1)
    assert "must be one of" in problem_of(schema, "abc")
    assert "at most 2" in problem_of(schema, "abcdef")


def test_a_deep_value_is_refused_without_a_recursion_error():
    """Depth has an end in free-form parts, also for a value that contains itself."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    problem = check_args(an_object(x={"type": "array"}), {"x": deep})
    assert problem is not None
    assert f"deeper than {MAX_DEPTH}" in problem
    loop = []
    loop.append([loop, loop])
    assert "contain itself" in problem_of({"type": "array"}, loop)
    while deep:  # taken apart by hand: a list this deep must not be left to the garbage collector's recursion
        deep = deep[0]


@pytest.mark.parametrize("kind", ["array", "object"])
def test_a_schema_of_the_greatest_depth_compiles_and_judges(kind):
    """The compiled code is cut into functions, so Python's limits on nested blocks are not met."""
    schema, good, bad = {"type": "string"}, "a", 1
    for _ in range(MAX_DEPTH - 1):
        if kind == "array":
            schema, good, bad = {"type": "array", "items": schema}, [good], [bad]
        else:
            schema, good, bad = an_object(("k",), k=schema), {"k": good}, {"k": bad}
    assert problem_of(schema, good) is None
    assert "must be a string" in problem_of(schema, bad)


def test_defaults_are_not_filled_in():
    """A default is a word for the planner; the arguments stay as they are."""
    args = {}
    assert check_args(an_object(x={"type": "string", "default": "a"}), args) is None
    assert args == {}


def test_check_args_refuses_a_schema_outside_the_subset():
    """A rule that is not enforced is an error, not a rule that is skipped."""
    with pytest.raises(BadSchemaError, match=r"parameters\.x.*pattern"):
        check_args(an_object(x={"type": "string", "pattern": "a"}), {"x": "b"})


# What fastjsonschema says and what the explainer finds must be the same verdict.

names = st.one_of(
    st.sampled_from(["a", "b", "a-b", "ab", "a.b", "$ref", "id", "$id", "{x}", '"', "\\", "\n", "é", ""]), st.text(max_size=4)
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2, 1.0, 0.5, 1e300, math.nan, math.inf, 2**53, "a", "ab", "é"]),
    st.text(max_size=3),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3), st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=6,
)


@st.composite
def ranges(draw, least, most, numbers):
    low, high = sorted((draw(numbers), draw(numbers)))
    picked = {least: low, most: high}
    return {key: picked[key] for key in draw(st.sets(st.sampled_from([least, most])))}


@st.composite
def schemas(draw, depth=0):
    kinds = ["string", "number", "integer", "boolean", "null"] + (["array", "object"] * 2 if depth < 3 else [])
    kind = draw(st.sampled_from(kinds))
    schema = {"type": kind}
    if draw(st.integers(0, 4)) == 0:
        schema["enum"] = draw(st.lists(st.sampled_from([None, True, False, 0, 1, 1.0, 2, "a", "ab", ""]), max_size=3))
    small = st.integers(0, 3)
    if kind == "string":
        schema |= draw(ranges("minLength", "maxLength", small))
    elif kind in ("number", "integer"):
        schema |= draw(ranges("minimum", "maximum", st.sampled_from([-1, 0, 0.5, 1, 2])))
    elif kind == "array":
        schema |= draw(ranges("minItems", "maxItems", small))
        if draw(st.booleans()):
            schema["items"] = draw(schemas(depth=depth + 1))
    elif kind == "object":
        properties = draw(st.dictionaries(names, schemas(depth=depth + 1), max_size=3))
        schema["properties"] = properties
        schema["required"] = [name for name in properties if draw(st.booleans())]
        if draw(st.booleans()):
            schema["additionalProperties"] = draw(st.booleans())
    return schema


@st.composite
def fitting(draw, schema):
    """A value that mostly fits `schema`, so that both verdicts are met often."""
    if draw(st.integers(0, 11)) == 0:
        return draw(values)
    if schema.get("enum") and draw(st.booleans()):
        return draw(st.sampled_from(schema["enum"]))
    match schema["type"]:
        case "string":
            low = schema.get("minLength", 0)
            return draw(st.text(min_size=low, max_size=max(low, schema.get("maxLength", low + 2))))
        case "number" | "integer":
            return draw(st.sampled_from([schema.get("minimum", 0), schema.get("maximum", 1), 1]))
        case "boolean":
            return draw(st.booleans())
        case "null":
            return None
        case "array":
            low = schema.get("minItems", 0)
            inner = fitting(schema["items"]) if "items" in schema else values
            return draw(st.lists(inner, min_size=low, max_size=max(low, schema.get("maxItems", low + 1))))
        case _:
            made = {name: draw(fitting(inner)) for name, inner in schema["properties"].items() if draw(st.integers(0, 5))}
            return made | draw(st.dictionaries(names, values, max_size=1))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_verdict_and_the_explanation_agree(data):
    """A fault is found in exactly the values that the compiled validator refuses."""
    schema = data.draw(schemas().filter(lambda made: made["type"] == "object"), "schema")
    value = data.draw(fitting(schema).filter(lambda made: isinstance(made, dict)), "value")
    rules = accept_schema(schema, "parameters")
    problem, fault = args_check(rules)(value), explain(rules, value)
    assert problem == (None if fault is None else f"{fault[0]}: {fault[1]}")
