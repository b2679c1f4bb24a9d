"""No public path runs a tool, or acts on a page, without a permit that the gate minted.

First what the source says (who can mint, who can reach the wire with an act, who can run a tool), then what happens when one tries.
"""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foxloop_trio
from foxloop_trio.actions import Action, Allow, Permit, closed_permit
from foxloop_trio.browser import browser_tools
from foxloop_trio.errors import UsageError
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing import FakeBrowser

PACKAGE = Path(foxloop_trio.__file__).parent
SHIPPING = [path for path in sorted(PACKAGE.rglob("*.py")) if "testing" not in path.relative_to(PACKAGE).parts]

PAGE = {
    "http://shop.test/": {
        "title": "Shop",
        "controls": [{"role": "textbox", "label": "Name"}, {"role": "button", "label": "Go", "on_click": {"text": "Gone."}}],
    }
}


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in SHIPPING:
        yield place(path), ast.parse(path.read_text(encoding="utf-8"))


def functions(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Each node with the innermost named function or class path around it."""
    for node in ast.iter_child_nodes(tree):
        name = inside
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{inside}.{node.name}".lstrip(".")
        yield name, node
        yield from functions(node, name)


def docstrings(tree: ast.Module) -> set[int]:
    """Ids of the nodes that are docstrings and texts that stand alone."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}


# What the source says


def test_only_the_gate_imports_the_mint() -> None:
    """And of the gate only the module that turns a saved allow into a decision."""
    found = set()
    for file, tree in trees():
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module or ''}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            if any("_mint" in name for name in names):
                found.add(file)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "actions._mint" in node.value:
                found.add(file)  # an import by name
    assert found == {"gate/_planner_side.py"}


def test_only_the_mint_makes_a_permit() -> None:
    """`object.__new__(Permit)`, `Permit.__new__` and copies of one occur nowhere else; the constructor raises."""
    found = set()
    for file, tree in trees():
        for where, node in functions(tree):
            if not isinstance(node, ast.Call):
                continue
            called, *_ = [ast.unparse(node.func)]
            arguments = {ast.unparse(argument) for argument in node.args}
            of_its_own = file.startswith("actions/") and "cls" in arguments
            if called == "Permit" or (called.endswith("__new__") and (of_its_own or "Permit" in arguments or "Permit" in called)):
                found.add((file, where))
    assert found == {("actions/_mint.py", "mint_permit"), ("actions/_permit.py", "closed_permit")}


async def test_the_permit_of_a_replay_is_closed_and_opens_nothing() -> None:
    """It stands for a recorded one; what acts refuses it, as any permit that is closed."""
    permit = closed_permit(Action(tool="click", args={}, domain="a.test", scope="submit"))
    assert permit.alive is False
    assert await permit.valid() is False
    await permit.settle()
    assert permit.alive is False


def test_a_saved_allow_is_the_only_thing_that_is_minted() -> None:
    """`mint_permit` is called in one place, on an `Allowed`, and an `Allowed` is made in one place, where the use is counted."""
    minted, allowed = set(), set()
    for file, tree in trees():
        for where, node in functions(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "mint_permit":
                minted.add((file, where))
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Allowed":
                allowed.add((file, where))
    assert minted == {("gate/_planner_side.py", "_answer")}
    assert allowed == {("gate/_judge.py", "_allow")}


def test_only_tab_act_can_send_an_act() -> None:
    """The method's name stands in one function only, which compares the permit first; `BrowserSession.call` refuses it."""
    found = set()
    for file, tree in trees():
        spoken = docstrings(tree)
        for where, node in functions(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and "page.act" in node.value
                and id(node) not in spoken
            ):
                found.add((file.split("/")[0] if file.startswith("wire/") else file, where if not file.startswith("wire/") else ""))
    assert found == {("wire", ""), ("browser/_tab.py", "Tab._send_act"), ("browser/_session.py", "BrowserSession.call")}
    act = next(
        node
        for where, node in functions(ast.parse((PACKAGE / "browser/_tab.py").read_text("utf-8")))
        if where == "Tab.act" and isinstance(node, ast.AsyncFunctionDef)
    )
    order = [ast.unparse(node.func) for node in ast.walk(act) if isinstance(node, ast.Call)]
    lines = {ast.unparse(node.func): node.lineno for node in ast.walk(act) if isinstance(node, ast.Call)}
    assert order.count("self._send_act") == order.count("self._by_hand") == 1
    assert lines["check_permit"] < lines["self._send_act"] < lines["self._by_hand"]
    between = [node for node in ast.walk(act) if isinstance(node, ast.Await)]
    assert not [node for node in between if lines["check_permit"] < node.lineno < lines["self._send_act"]]
    asking = {
        (file, where)
        for file, tree in trees()
        for where, node in functions(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("_send_act", "_by_hand")
    }
    # `finish` ends what came by Firefox's own input: each piece of that has asked the permit again (`allowed`).
    assert asking == {("browser/_tab.py", "Tab.act"), ("browser/_tab.py", "Tab._by_hand.finish")}


def test_whoever_starts_a_call_of_the_wire_is_known() -> None:
    """A method name that is not a literal is passed on by these functions only, and none of them passes an act."""
    found = set()
    for file, tree in trees():
        if not file.startswith("browser/"):
            continue
        for where, node in functions(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("start", "call", "_call")
                and node.args
                and not isinstance(node.args[0], ast.Constant)
            ):
                found.add((file, where, ast.unparse(node.func)))
    passing_on = {
        ("browser/_session.py", "BrowserSession.call", "self.channel.call"),
        ("browser/_tab.py", "Tab._call", "self.session.call"),
    }
    assert {entry for entry in found if "channel" in entry[2] or "session" in entry[2] or "_call" in entry[2]} == passing_on


def test_only_the_runner_runs_a_tool_and_only_with_a_permit() -> None:
    """`tool.run` is called in one place of the loop; what leads there is an effect that has a permit, whose arguments it runs.

    The ReAct facade has two more: behind its gate hook, with a permit's own arguments; and `react_tool`, which is for tools without
    a gate and gives no permit, so that whatever acts on a page refuses it.
    """
    found = set()
    for file, tree in trees():
        if file.startswith("cli/"):
            continue
        for where, node in functions(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tool.run", "self.run", "effect.tool.run"):
                found.add((file, where))
    runs = {(file, where) for file, where in found if where.split(".")[-1] != "complete"}
    assert runs == {
        ("loop/_performing.py", "Performer._begin"),
        ("react/adapters/_gate.py", "_GateHook._run"),
        ("react/adapters/_gate.py", "react_tool.handler"),
    }
    from foxloop_trio.loop._effects import RunTool

    assert inspect.signature(RunTool).parameters["permit"].default is inspect.Parameter.empty


# What happens when one tries


async def allowed(action: Action) -> Permit:
    gate, host = create_gate(tools={"click": "submit"})
    await host.add_grant(scope="submit", domains=["shop.test"], approval="never")
    answer = await gate.check(action)
    assert isinstance(answer, Allow)
    return answer.permit


async def test_an_act_without_a_minted_permit_sends_nothing(virtual_time: Any) -> None:
    """None, look-alikes, subclasses, a closed permit; and the raw call of the session. The minted twin acts."""
    browser = FakeBrowser(PAGE)
    async with browser as session:
        tab = await session.open_tab("http://shop.test/")
        seen = await tab.snapshot()
        control = seen.control("0:2") or seen.frames[0].controls[-1]
        tools = {tool.name: tool for tool in browser_tools(tab)}
        context: Any = foxloop_trio.ToolContext(run_id="r", step=1, goal="g", domain="shop.test")
        await tools["snapshot"].run({}, context)
        prepared: Any = await tools["click"].prepare({"control_id": control.id}, context)  # type: ignore[misc]
        action = Action(tool="click", args=prepared, domain="shop.test", scope="submit")
        permit = await allowed(action)
        closed = await allowed(action)
        await closed.settle()

        class LooksLikeOne:
            alive = True
            __class__ = Permit  # what isinstance believes

            def __init__(self, action: Action) -> None:
                self.action = action

        forged: list[Any] = [LooksLikeOne(permit.action), None, True, "permit", permit.id, permit.action, closed, {"alive": True}]
        for fake in forged:
            with pytest.raises(UsageError) as caught:
                await tab.act(prepared["target"], "click", permit=fake)
            assert caught.value.code in ("permit-missing", "permit-closed")
        with pytest.raises(UsageError) as caught:
            await session.call("page.act", {"tab": tab.id}, timeout=1)
        assert caught.value.code == "permit-missing"
        assert browser.acts == []
        assert (await tab.act(prepared["target"], "click", permit=permit)).ok
        assert [act.label for act in browser.acts] == ["Go"]


async def test_a_permit_cannot_be_made_copied_or_carried_away() -> None:
    """No constructor, no subclass, no copy, no pickle."""
    permit = await allowed(Action(tool="click", args={}, domain="shop.test", scope="submit"))
    with pytest.raises(TypeError, match="minted by the gate only"):
        Permit()
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            duplicate(permit)
    assert not hasattr(permit, "__dict__")


EVERY_CALL: dict[str, dict[str, Any]] = {
    "snapshot": {},
    "screenshot": {},
    "browser_task": {"goal": "Name: Ada"},
    "act": {"control_id": "0:1", "op": "type", "value": "Ada"},
    "click": {"control_id": "0:2"},
    "press": {"control_id": "0:1", "keys": "Enter"},
    "hover": {"control_id": "0:2"},
    "click_at": {"control_id": "0:2", "x": 50, "y": 50},
    "drag": {"control_id": "0:2", "onto": "0:1"},
    "select_text": {"control_id": "0:1"},
    "clipboard": {"control_id": "0:1", "op": "paste", "text": "Ada"},
    "scroll": {"down": 100},
    "answer_dialog": {"control_id": "0:2", "accept": True},
    "wait_for": {"text": "Gone.", "seconds": 1},
    "history": {"go": "reload"},
    "list_tabs": {},
    "open_tab": {"url": "http://shop.test/"},
    "use_tab": {"tab_id": 2},
    "close_tab": {"tab_id": 3},
    "read_table": {},
    "upload": {"control_id": "0:1", "files": ["a.txt"]},
    "download": {"control_id": "0:2"},
    "fill": {"fields": {"0:1": "Ada"}},
    "fill_and_send": {"fields": {"0:1": "Ada"}, "send_id": "0:2"},
    "pay": {"control_id": "0:2"},
    "open_url": {"url": "http://shop.test/"},
}


@pytest.mark.parametrize("tool", list(EVERY_CALL))
@pytest.mark.parametrize("store", ["no grant", "asks and nobody answers", "asks and a made-up token"])
async def test_a_loop_whose_gate_allows_nothing_does_nothing(virtual_time: Any, tmp_path: Path, tool: str, store: str) -> None:
    """B53, B47: for each tool of the browser, no act reaches the page and no document is read or opened.

    But for `browser_task`, whose `prepare` looks at the page by contract: what the form would send is a part of what is judged.
    """
    browser = FakeBrowser(PAGE)
    async with browser as session:
        tab = await session.open_tab("http://shop.test/")
        looking = await tab.snapshot()
        assert looking.frames
        prices = lambda page, control: foxloop_trio.Money(value=1, currency="EUR")  # noqa: E731
        tools = browser_tools(tab, prices=prices, upload_from=tmp_path, download_to=tmp_path)
        assert {each.name for each in tools} == set(EVERY_CALL)
        gate, host = create_gate(tools=tools)
        if store != "no grant":
            for scope in ("read", "fill", "submit", "pay"):
                await host.add_grant(scope=scope, domains=["shop.test"], approval="always")  # type: ignore[arg-type]

        async def approve(request: Any) -> Any:
            return "fgt1.e30." + "A" * 43

        before = len(browser.asked)
        loop = Loop(
            planner=scripted_planner([{"calls": [{"name": tool, "args": EVERY_CALL[tool]}]}]),
            gate=gate,
            tools=tools,
            on_approval=approve if "token" in store else None,
        )
        outcome = await loop.complete("Try it.")
        assert outcome.status == "blocked"
        assert browser.acts == []
        looks = ["tab.get", "page.read"] if tool == "browser_task" else []
        assert [method for method in browser.asked[before:] if method != "session.ping"] == looks
