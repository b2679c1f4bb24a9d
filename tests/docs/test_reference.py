"""The reference is complete: whatever is public, and whatever a program can branch on, has its place in it."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import click
import pytest

from foxloop_trio import errors
from foxloop_trio.browser import browser_tools, launch_firefox
from foxloop_trio.browser.tasks import PAGE_PROBLEMS, TASK_BLOCKS
from foxloop_trio.cli._app import app
from foxloop_trio.events import (
    BLOCK_REASONS,
    LIMIT_NAMES,
    RESULT_REASONS,
    Aborted,
    ApprovalNeeded,
    Blocked,
    Check,
    Done,
    GateDecision,
    Outcome,
    Plan,
    ToolCall,
    ToolResult,
)
from foxloop_trio.gate import DENY_REASONS, create_gate
from foxloop_trio.loop import Budget, Denials, Loop, Statistics
from foxloop_trio.loop._repair import REPAIRS
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.react import Hooks, run_react_loop
from foxloop_trio.tools import Tool, ask_user_tool, tool
from foxloop_trio.trail import FAULT_REASONS, open_trail
from foxloop_trio.wire import ACT_OPERATIONS, ACT_REFUSALS, ERROR_CODES, ERROR_NUMBERS, METHODS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"

PUBLIC = [
    "foxloop_trio",
    "foxloop_trio.browser",
    "foxloop_trio.browser.tasks",
    "foxloop_trio.channel",
    "foxloop_trio.corpora",
    "foxloop_trio.gate",
    "foxloop_trio.planners",
    "foxloop_trio.prompt",
    "foxloop_trio.reports",
    "foxloop_trio.react",
    "foxloop_trio.testing",
    "foxloop_trio.tools",
    "foxloop_trio.trail",
    "foxloop_trio.webextension",
    "foxloop_trio.wire",
]


def words(page: str) -> set[str]:
    """Everything in backticks on a page of the reference, and the first word of each, without what stands in brackets after it."""
    quoted = re.findall(r"`([^`\n]+)`", (REFERENCE / page).read_text(encoding="utf-8"))
    return {*quoted, *(re.split(r"[ (=]", text)[0] for text in quoted)}


def section(page: str, title: str) -> set[str]:
    """The words of one section, up to the next heading of its level."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match is not None, f"{page} has no section {title!r}"
    return set(re.findall(r"`([^`\n]+)`", match[1]))


@pytest.mark.parametrize("module", PUBLIC)
def test_the_names_page_lists_exactly_the_public_names(module: str) -> None:
    """Under the heading of the module that has them; a name that went away leaves the page too."""
    text = (REFERENCE / "names.md").read_text(encoding="utf-8")
    match = re.search(rf"^## `{re.escape(module)}`$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match is not None
    assert re.findall(r"^\| `(\w+)` \|", match[1], re.MULTILINE) == list(importlib.import_module(module).__all__)


@pytest.mark.parametrize(
    ("page", "title", "expected"),
    [
        ("events.md", "Block reasons", BLOCK_REASONS),
        ("events.md", "Result reasons", RESULT_REASONS),
        ("events.md", "Limits", LIMIT_NAMES),
        ("tasks.md", "Why a task stops", TASK_BLOCKS),
        ("tasks.md", "Problems of the page", PAGE_PROBLEMS),
        ("gate.md", "Deny reasons", DENY_REASONS),
        ("trail.md", "Faults", FAULT_REASONS),
        ("wire.md", "Result of an act", (*ACT_REFUSALS, *ACT_OPERATIONS)),
        ("wire.md", "Errors", (*ERROR_NUMBERS, *ERROR_CODES)),
    ],
)
def test_every_reason_is_in_its_table(page: str, title: str, expected: tuple[str, ...]) -> None:
    """Closed sets of strings are the contract that programs branch on."""
    assert set(expected) - section(page, title) == set()


def test_the_table_of_repairs_is_the_list_of_repairs() -> None:
    """Name by name, in the same words, and no others: what is not in it is not repaired."""
    text = (REFERENCE / "events.md").read_text(encoding="utf-8")
    match = re.search(r"^## Repairs$(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert match is not None
    assert dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", match[1], re.MULTILINE)) == dict(REPAIRS)


@pytest.mark.parametrize(
    "event", [Plan, ToolCall, GateDecision, ApprovalNeeded, ToolResult, Check, Done, Blocked, Aborted], ids=lambda event: event.type
)
def test_every_field_of_an_event_is_in_its_row(event: type) -> None:
    """Besides `type` and `step`, which all have."""
    text = (REFERENCE / "events.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{event.__name__}` \| .*$", text, re.MULTILINE)
    assert {field.name for field in attrs.fields(event)} - {"step"} - set(re.findall(r"`(\w+)`", row)) == set()


@pytest.mark.parametrize(("page", "kind"), [("events.md", Outcome), ("options.md", Statistics)])
def test_every_field_of_what_a_run_tells_is_in_the_reference(page: str, kind: type) -> None:
    """How it ended, and where it is now."""
    assert {field.name for field in attrs.fields(kind)} - words(page) == set()


def test_every_wire_method_is_in_the_reference() -> None:
    """With all its params."""
    listed = words("wire.md")
    for method in METHODS.values():
        assert method.name in listed
        assert set(method.params["properties"]) - {"deadline_ms"} - listed == set(), method.name


def test_every_error_class_and_its_code_are_in_the_reference() -> None:
    """The tree and the table are the same."""
    listed = words("errors.md")
    for name in errors.__all__:
        assert name in listed
        code = getattr(getattr(errors, name), "default_code", None)
        assert code is None or code in listed, name


def codes_in_the_source() -> Iterator[tuple[str, str]]:
    """`(file, code)` of every `code="…"` argument and every `default_code`."""
    for path in sorted((ROOT / "foxloop_trio").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                    yield path.name, code
                case ast.Assign(targets=[ast.Name(id="default_code")], value=ast.Constant(value=str(code))):
                    yield path.name, code


def test_every_code_that_an_error_is_given_is_in_the_reference() -> None:
    """Also those that a raise names on the spot."""
    listed = words("errors.md")
    assert sorted({(file, code) for file, code in codes_in_the_source() if code not in listed}) == []


def options_of(function: object) -> set[str]:
    return {name for name in inspect.signature(function).parameters if name != "self"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "function"),
    [
        ("`Loop`", Loop),
        ("`Budget`", Budget),
        ("`Denials`", Denials),
        ("`ChatReply`", ChatReply),
        ("`ChatReply`", Usage),
        ("`ask_user_tool`", ask_user_tool),
        ("`create_gate`", create_gate),
        ("`Tool` and `@tool`", Tool),
        ("`Tool` and `@tool`", tool),
        ("`launch_firefox`", launch_firefox),
        ("`browser_tools`", browser_tools),
        ("`open_trail`", open_trail),
    ],
)
def test_every_option_is_in_the_reference(title: str, function: object) -> None:
    """All of them keyword-only, each with a row."""
    assert options_of(function) - section("options.md", title) == set()


def test_every_option_of_the_react_facade_is_in_the_reference() -> None:
    """And every hook."""
    assert options_of(run_react_loop) - section("react.md", "`run_react_loop`") == set()
    assert options_of(Hooks) - section("react.md", "Hooks") == set()


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


@pytest.mark.parametrize(("name", "command"), list(commands(app)), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_and_every_option_of_it_is_in_the_reference(name: str, command: click.Command) -> None:
    """Under the command's own heading."""
    listed = {text.split(" ")[0] for text in section("command-line.md", f"`{name}`")}
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert set(parameter.opts) - listed == set(), name
