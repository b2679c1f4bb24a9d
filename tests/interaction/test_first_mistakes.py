"""What people get wrong on their first day, and what is said about it: the value, and the way out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from foxloop_trio import (
    BadOptionsError,
    BrowserError,
    ChatReply,
    CheckResult,
    FoxloopError,
    GateError,
    Loop,
    Outcome,
    ToolOutput,
    UsageError,
    callback_approver,
    create_gate,
    function_planner,
    scripted_planner,
    terminal_approver,
    tool,
)
from foxloop_trio.react import LoopDetector
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.trail import TrailKeyError, open_trail, verify_trail


@tool(scope="fill", domain="notes.local")
async def save_note(text: str) -> ToolOutput:
    """Save a note."""
    return ToolOutput(ok=True, summary="Saved.", check=CheckResult(ok=True))


async def plan(messages: object, tools: object) -> None:
    """A planner's function that nobody made a planner of."""


class Planner:
    async def chat(self, messages: object, *, tools: object) -> None:
        """Never asked."""


def loop(**options: object) -> Loop:
    gate, _ = create_gate(tools=[save_note])
    return Loop(**({"planner": scripted_planner([]), "gate": gate, "tools": [save_note]} | options))  # type: ignore[arg-type]


BOTH = create_gate(tools=[save_note])
GATE, HOST = BOTH

MISTAKES: list[tuple[str, Callable[[], object], str]] = [
    ("both sides as the gate", lambda: loop(gate=BOTH), "gate, host = create_gate(...)"),
    ("the host's side as the gate", lambda: loop(gate=HOST), "it is the host's side"),
    ("the planner's side as the host", lambda: terminal_approver(GATE), "it is the planner's side"),  # type: ignore[arg-type]
    ("the same for a callback", lambda: callback_approver(GATE, bool), "it is the planner's side"),  # type: ignore[arg-type]
    ("a function as the planner", lambda: loop(planner=plan), "function_planner(...)"),
    ("a class as the planner", lambda: loop(planner=Planner), "not the class Planner; make one: Planner(...)"),
    ("a trail that is not open", lambda: loop(trail=open_trail("a.jsonl", key="ab" * 32)), "async with ... as trail"),
    ("a class as a guard", lambda: loop(guards=[LoopDetector]), "LoopDetector is a class; give an object: LoopDetector(...)"),
    ("a path as the key", lambda: verify_trail("a.jsonl", key=Path("trail.key")), "load_key"),  # type: ignore[arg-type]
    ("a path's text as the key", lambda: verify_trail("a.jsonl", key="trail.key"), "load_key"),
    ("a function as a tool", lambda: create_gate(tools=[plan]), "which is not a Tool; build it with Tool(...) or @tool(...)"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("mistake", "words"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES])
def test_a_wrong_object_is_refused_with_the_way_out(mistake: Callable[[], object], words: str) -> None:
    """At once, in the line that is wrong."""
    with pytest.raises((BadOptionsError, GateError, TrailKeyError)) as caught:
        mistake()
    assert isinstance(caught.value, FoxloopError)
    assert words in str(caught.value)


@pytest.mark.parametrize("pattern", ["*", "foo*.example.com", "www.*", "*example.com"])
async def test_a_star_in_the_wrong_place_is_refused_with_the_right_one(pattern: str) -> None:
    """A star that stands for anything else would cover more than anybody means."""
    _, host = create_gate(tools=[save_note])
    with pytest.raises(GateError, match=r"as in '\*\.example\.com'") as caught:
        await host.add_grant(scope="fill", domains=[pattern])
    assert caught.value.code == "bad-domain"
    assert repr(pattern) in str(caught.value)


async def test_an_address_without_its_scheme_is_refused_with_one() -> None:
    """People write addresses as they see them."""
    async with FakeBrowser({}) as session:
        with pytest.raises(BrowserError, match=r"not 'shop\.test'; write a whole address, such as 'https://shop\.test'"):
            await session.open_tab("shop.test")
        with pytest.raises(BrowserError, match=r"not 'file:///etc/passwd'$"):
            await session.open_tab("file:///etc/passwd")


async def test_an_act_on_a_control_that_is_no_pin_is_refused_by_name() -> None:
    """What a look lists is not what a gate judged."""
    async with FakeBrowser({"http://shop.test/": {"controls": [{"role": "button", "label": "Go"}]}}) as session:
        tab = await session.open_tab("http://shop.test/")
        control = (await tab.snapshot()).control("0:1")
        with pytest.raises(UsageError, match="must be a pin, not Control") as caught:
            await tab.act(control, "click", permit=None)  # type: ignore[arg-type]
        assert caught.value.code == "bad-target"


async def test_an_address_that_does_not_open_is_named() -> None:
    """A program opens many, and only one of them was wrong."""
    async with FakeBrowser({"http://shop.test/": {}}) as session:
        with pytest.raises(BrowserError, match=r"^'http://shop\.test/nothing' did not open: ") as caught:
            await session.open_tab("http://shop.test/nothing")
        assert caught.value.code == "navigation-failed"
        tab = await session.open_tab("http://shop.test/")
        with pytest.raises(BrowserError, match=r"^'http://shop\.test/nothing' did not open: ") as caught:
            await tab.goto("http://shop.test/nothing")
        assert caught.value.code == "navigation-failed"


async def of_a_run(planner: object, *, approval: str = "never", **options: object) -> Outcome:
    gate, host = create_gate(tools=[save_note])
    await host.add_grant(scope="fill", domains=["notes.local"], approval=approval)  # type: ignore[arg-type]
    made = Loop(**({"planner": planner, "gate": gate, "tools": [save_note]} | options))  # type: ignore[arg-type]
    return await made.complete("Save a note.")


async def test_a_key_that_a_planner_does_not_find_is_told_as_that() -> None:
    """Python's own words for it are the bare key."""

    async def lacking(messages: object, tools: object) -> ChatReply:
        return ChatReply(message={"role": "assistant", "content": {}["content"]})

    assert (await of_a_run(function_planner(lacking))).message == "KeyError: 'content'"


async def test_a_plain_function_where_an_async_one_belongs_is_told_as_that() -> None:
    """Of a planner, and of who is asked."""

    class Plain:
        def chat(self, messages: object, *, tools: object) -> ChatReply:
            return ChatReply(message={"role": "assistant", "content": "Done."})

    outcome = await of_a_run(Plain())
    assert outcome.reason == "model-error"
    assert "must be an async function" in str(outcome.message)
    planner = scripted_planner([{"calls": [{"name": "save_note", "args": {"text": "milk"}}]}])
    outcome = await of_a_run(planner, approval="always", on_approval=lambda request: None)
    assert outcome.reason == "approval-error"
    assert "must be an async function" in str(outcome.message)


async def test_a_path_in_place_of_a_trails_entries_is_told_where_entries_come_from() -> None:
    """A text is a sequence too."""
    with pytest.raises(UsageError, match=r"read_trail\(path, whole=True\)"):
        async with loop().resume("run.jsonl"):  # type: ignore[arg-type]
            pass
