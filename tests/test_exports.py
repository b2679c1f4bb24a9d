"""The public names: sorted, complete, and each where the names page says it is."""

import ast
import importlib
from pathlib import Path

import pytest

import foxloop_trio

LOOP = """
    Loop Budget Outcome CheckInput ApprovalRequest Replayed Difference
    Plan ToolCall GateDecision ApprovalNeeded ToolResult Check Done Blocked Aborted LoopEvent event_to_json event_from_json
    scripted_planner function_planner Planner ChatReply Usage
"""
TOOLS = "Tool tool ToolOutput ToolContext CheckLine CheckResult Refuse define_tools tool_specs check_args"
GATE = "create_gate Action Money Scope Allow Ask Deny Permit Grant MemoryGateStore SqliteGateStore"
ERRORS = """
    FoxloopError UsageError BadToolError BadSchemaError BadOptionsError BusyError GateError TrailError PlannerError
    ChannelError ChannelClosed ChannelBroken RemoteProtocolError LocalProtocolError BrowserError
"""

SUBMODULES = {
    "foxloop_trio.prompt": "planner_prompt goal_message result_text fit_history new_nonce LIMITS",
    "foxloop_trio.gate": "terminal_approver",
    "foxloop_trio.trail": """
        open_trail MemoryTrail read_trail verify_trail load_or_create_key secret check_redacted canonical_json Verified Fault replay
    """,
    "foxloop_trio.planners": "scripted_planner function_planner",
    "foxloop_trio.browser": "launch_firefox browser_tools find_firefox install_firefox",
    "foxloop_trio.react": """
        run_react_loop AgentRunResult Hooks ReactTool ToolRegistry Message LoopDetector PolicyEngine BudgetGuard
    """,
    "foxloop_trio.wire": "Connection METHODS",
    "foxloop_trio.channel": "ChannelSession",
    "foxloop_trio.reports": "list_runs tell_story render_report render_page render_story story_to_json Story",
    "foxloop_trio.webextension": "ADDON_ID addon_path pack_addon",
    "foxloop_trio.testing": "memory_channel_pair scripted_llm",
}
"""Public submodules, and the names that the names page promises of them; they may have more."""


@pytest.mark.parametrize("section", [LOOP, TOOLS, GATE, ERRORS], ids=["loop", "tools", "gate", "errors"])
def test_every_promised_name_is_exported_at_the_top(section: str) -> None:
    """Loop, Tools, Gate and Errors live in `foxloop_trio` itself."""
    assert set(section.split()) - set(foxloop_trio.__all__) == set()


@pytest.mark.parametrize("module", ["foxloop_trio", *SUBMODULES])
def test_all_is_sorted_complete_and_without_repeats(module: str) -> None:
    """`__all__` is the public face: each name is there, in the order of ruff's RUF022, and named once."""
    public = importlib.import_module(module)
    names = list(public.__all__)
    assert len(names) == len(set(names))
    assert names == sorted(names, key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name))
    assert [name for name in names if not hasattr(public, name)] == []


@pytest.mark.parametrize("module", list(SUBMODULES))
def test_every_promised_name_of_a_submodule_is_there(module: str) -> None:
    """What is not at the top lives in the submodule named for it."""
    assert set(SUBMODULES[module].split()) - set(importlib.import_module(module).__all__) == set()


def test_type_checkers_see_the_names_that_are_loaded_on_first_use() -> None:
    """The top module says each name three times: for type checkers, in `__all__`, and in the table of where it is loaded from."""
    tree = ast.parse(Path(foxloop_trio.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name: f".{node.module}" for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == foxloop_trio._HOME_OF
    assert {*imported, "__version__"} == set(foxloop_trio.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """Loading on first use must not change what a typing error looks like."""
    with pytest.raises(AttributeError, match="no attribute 'Lop'"):
        foxloop_trio.Lop  # noqa: B018 - the access is what is tested


def test_one_object_has_one_identity_wherever_it_is_exported() -> None:
    """A name that is exported twice is the same object both times."""
    for module, names in SUBMODULES.items():
        public = importlib.import_module(module)
        for name in set(names.split()) & set(foxloop_trio.__all__):
            assert getattr(public, name) is getattr(foxloop_trio, name), f"{module}.{name}"
