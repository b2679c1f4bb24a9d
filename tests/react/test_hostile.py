"""A ReAct run among hostile parts: arguments that are no data, hooks that spoil the state, checks that break, interrupts.

Each test is over a whole kind: whatever of it comes, the run ends as its rules say, and the conversation that is left can be sent
to a model server, stored as JSON, and gone on from.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.actions import Money
from foxloop_trio.errors import BadOptionsError, BadSchemaError, BadToolError, PlannerError
from foxloop_trio.loop._reply import REPLY_LIMIT
from foxloop_trio.ports import Usage
from foxloop_trio.react import (
    AgentRunResult,
    BudgetGuard,
    Instead,
    LoopDetector,
    Message,
    PolicyEngine,
    ReactTool,
    Rewrite,
    StateHolder,
    ToolCall,
    ToolRegistry,
    run_react_loop,
)
from foxloop_trio.testing import scripted_llm
from foxloop_trio.tools import Tool

ANY: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
DONE = {"calls": [("task_done", {"summary": "s"})]}
CALL = {"calls": [("look", {"n": 1})]}


def look(handler: Any = None, **changes: Any) -> ReactTool:
    return ReactTool(**{"name": "look", "parameters": ANY, "handler": handler or (lambda args, context: "seen"), **changes})


async def run(*steps: Any, **options: Any) -> Any:
    return await run_react_loop(**{"llm": scripted_llm(steps), "tools": [look()], "system": "", **options})


def observations(result: Any) -> list[str]:
    return [message.content for message in result.messages if message.role == "tool"]


def assert_can_go_on(result: AgentRunResult) -> None:
    """Every call answered once under an id of its own; strict JSON in UTF-8; and the way back."""
    calls = [call.id for message in result.messages for call in message.tool_calls]
    assert [message.tool_call_id for message in result.messages if message.role == "tool"] == calls
    assert len(set(calls)) == len(calls)
    text = json.dumps(result.to_json(), ensure_ascii=False, allow_nan=False)
    text.encode()
    assert len(AgentRunResult.from_json(json.loads(text)).messages) == len(result.messages)


# What the model writes


def circle() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["n"] = found
    return found


def nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(depth):
        found = {"n": found}
    return found


NO_DATA: dict[str, Callable[[], Any]] = {
    "a circle": circle,
    "far too deep": lambda: nested(100_000),
    "one level too deep": lambda: nested(32),
    "NaN": lambda: {"n": float("nan")},
    "an infinity": lambda: {"n": float("-inf")},
    "an integer that others round": lambda: {"n": 2**60},
    "a key that is a number": lambda: {1: 2},
    "a key that is a tuple": lambda: {(1, 2): 3},
    "a set": lambda: {"n": {1}},
    "bytes": lambda: {"n": b"x"},
    "an object": object,
    "an exception": lambda: ValueError("x"),
    "text that is no JSON": lambda: '{"n": 1',
    "text with half a character": lambda: '{"n": \ud800',
    "a list": lambda: [1],
    "a number": lambda: 5,
}


@pytest.mark.parametrize("free", [True, False], ids=["no schema", "a schema"])
@pytest.mark.parametrize("arguments", NO_DATA.values(), ids=NO_DATA)
async def test_arguments_that_are_no_object_of_plain_json_reach_nobody(arguments: Callable[[], Any], free: bool) -> None:
    """R15: neither handler nor guard, also where the tool's own check would take anything; what stays can be sent and stored."""
    asked: list[Any] = []
    tool = look(lambda args, context: asked.append(args), **({"check": lambda args: None} if free else {}))
    policy = PolicyEngine([], log=asked.append)
    reply = {"tool_calls": [{"id": "a", "name": "look", "arguments": arguments()}]}
    guards = [policy, BudgetGuard(tokens=10**9), LoopDetector()]
    result = await run(reply, DONE, tools=[tool], guards=guards, max_turns=2)
    assert [decision.evaluated for decision in asked] == [0]  # of the stop tool
    assert "arguments: must be an object" in observations(result)[0]
    assert result.stopped == "task_done"
    assert_can_go_on(result)


async def test_arguments_beside_them_that_are_plain_json_do_reach_the_handler() -> None:
    """The twin: 32 levels, and whatever looks like an object; halves of a character are mended in text, keys and values."""
    got: list[Any] = []
    tool = look(lambda args, context: got.append(args), check=lambda args: None)
    given = [nested(31), {"\ud800": ["\udfff", 1.5]}, ToolCall(id="i", name="n", arguments={}).to_json(), '{"n": "\\ud800"}', None]
    reply = {"tool_calls": [{"id": "", "name": "look", "arguments": arguments} for arguments in given]}
    result = await run(reply, DONE, tools=[tool])
    assert got == [nested(31), {"\ufffd": ["\ufffd", 1.5]}, {"id": "i", "name": "n", "arguments": {}}, {"n": "\ufffd"}, {}]
    assert_can_go_on(result)


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "x" * (REPLY_LIMIT + 1)},
        {"tool_calls": [{"id": "a", "name": "look", "arguments": {"n": "x" * REPLY_LIMIT}}]},
        {"tool_calls": [{"id": "a", "name": "look", "arguments": '{"n": "' + "x" * REPLY_LIMIT + '"}'}]},
        {"tool_calls": [{"id": "a", "name": "look", "arguments": {"n": ["x" * 1000] * 200}}]},
        {"tool_calls": [{"id": str(n), "name": "look" * 100, "arguments": {}} for n in range(1000)]},
        {"tool_calls": [{"id": "a", "name": "x" * (REPLY_LIMIT + 1), "arguments": {}}]},
        {"tool_calls": [{"id": str(n), "name": "look", "arguments": {}} for n in range(2049)]},
    ],
    ids=["text", "value", "argument text", "many values", "names", "a name", "calls"],
)
async def test_a_reply_beyond_its_limit_is_an_error_of_the_model(reply: Any) -> None:
    """R17: bounded as in the loop, and nothing of it gets into the conversation; the next reply is read as ever."""
    with pytest.raises(PlannerError, match=r"at most|more than"):
        await run(reply)
    result = await run(reply, CALL, DONE, llm_errors=1)
    assert observations(result)[0] == "seen"
    assert len(json.dumps(result.to_json())) < 3000


GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=4) | st.just(b"x"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3),
    max_leaves=8,
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["a", "a", "", "\ud800", "x" * 65, None, 5]),
        "name": st.sampled_from(["look", "task_done", "", "\ud800", None, 7]),
        "arguments": GARBAGE | st.just({"n": 1}) | st.just('{"n": 1}'),
        "function": st.none() | st.fixed_dictionaries({"name": st.just("look"), "arguments": GARBAGE}) | st.just(3),
    },
)
REPLIES = GARBAGE | st.fixed_dictionaries(
    {},
    optional={
        "text": st.none() | st.text(st.characters(codec=None), max_size=5) | st.just(3),
        "tool_calls": st.none() | st.lists(CALLS | GARBAGE, max_size=4) | st.just("x"),
        "usage": GARBAGE,
        "model": GARBAGE,
        "finish_reason": st.sampled_from([None, "stop", "length", 3]),
    },
)


@settings(max_examples=150, deadline=None)
@given(replies=st.lists(REPLIES, min_size=1, max_size=3), guarded=st.booleans())
def test_whatever_a_model_answers_the_conversation_stays_whole(replies: list[Any], guarded: bool) -> None:
    """R17 and R20 by chance: garbage is an error of the model, and every call that is read gets its one answer."""

    class Model:
        async def complete(self, **_: Any) -> Any:
            return replies.pop(0) if replies else {"text": "no more"}

    async def main() -> Any:
        guards = [LoopDetector(), PolicyEngine([]), BudgetGuard(tokens=10**6)] if guarded else []
        return await run_react_loop(llm=Model(), tools=[look()], system="", guards=guards, max_turns=3, llm_errors=3)

    result = trio.run(main)
    assert result.stopped in ("task_done", "max_turns", "loop_detected")
    assert_can_go_on(result)


# What hooks leave behind


@attrs.frozen
class NoMessage:
    role: str = "user"


SPOILED: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "text": "abc",
    "a tuple": (Message(role="user", content="Hi"),),
    "an iterator": iter(()),
    "a list of text": ["abc"],
    "a list of mappings": [{"role": "user", "content": "Hi"}, {"role": "robot"}, {"content": "x"}, {"role": "user", "extra": 1}],
    "bad calls": [{"role": "assistant", "tool_calls": [[5]]}, {"role": "assistant", "tool_calls": [{"id": 5}]}],
    "an object": [NoMessage(), None, Message(role="user", content="Hi")],
}


def interrupt() -> None:
    raise KeyboardInterrupt


def fail() -> None:
    raise LookupError("mine")


@pytest.mark.parametrize("end", ["the hook raises", "an interrupt", "a cancel", "it goes on"])
@pytest.mark.parametrize("hook", ["build_context", "before_tool_call", "on_tool_result"])
@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED)
async def test_a_spoiled_conversation_never_hides_what_ended_the_run(spoiled: Any, hook: str, end: str) -> None:
    """R16, R18, J9: the hook's own exception, the interrupt or the cancel comes out; what can be read can be gone on from."""
    holder = StateHolder()
    raised: list[BaseException] = []
    with trio.CancelScope() as scope:

        async def spoil(*args: Any) -> None:
            args[-1].messages = spoiled
            if end != "it goes on":
                {"the hook raises": fail, "an interrupt": interrupt, "a cancel": scope.cancel}[end]()
            await trio.lowlevel.checkpoint()

        try:
            await run(CALL, DONE, hooks={hook: spoil}, state_out=holder)
        except trio.Cancelled:
            raise
        except BaseException as fault:
            raised.append(fault)
    if end == "a cancel":
        assert scope.cancelled_caught
    elif end == "it goes on":
        assert all(type(fault) in (TypeError, ValueError) and "message" in str(fault) for fault in raised)
    else:
        assert type(raised[0]) is (KeyboardInterrupt if end == "an interrupt" else LookupError)
    partial = raised[0].partial_result if raised and isinstance(raised[0], Exception) else holder.partial_result()  # type: ignore[attr-defined]
    assert partial is not None
    assert_can_go_on(partial)
    assert (await run(DONE, resume_from=partial.to_json())).stopped == "task_done"


@pytest.mark.parametrize("state", [{"turn": None}, {"turn": -7}, {"usage": 5}, {"registry": None}, {"context": object()}])
async def test_other_parts_of_the_state_that_a_hook_spoils_hide_nothing_either(state: dict[str, Any]) -> None:
    """R16: the exception of the hook comes out."""

    def spoil(given: Any) -> None:
        for name, value in state.items():
            setattr(given, name, value)
        fail()

    with pytest.raises(LookupError, match="mine"):
        await run(DONE, hooks={"on_turn_start": spoil})


@pytest.mark.parametrize(
    "answer", [{"arguments": {"n": 2}, "blok": True}, {"reason": "no"}, {"blocked": True}, True, False, "no", [], 0], ids=str
)
async def test_a_refusal_that_is_misspelt_does_not_pass(answer: Any) -> None:
    """R16: whatever `before_tool_call` may not return ends the run, and nothing has run."""
    ran: list[Any] = []
    with pytest.raises(TypeError, match="before_tool_call may return"):
        await run(
            CALL, tools=[look(lambda args, context: ran.append(args))], hooks={"before_tool_call": lambda call, state: answer}
        )
    assert ran == []


@pytest.mark.parametrize("who", ["guard", "hook"])
async def test_only_a_verdict_changes_a_call(who: str) -> None:
    """R30: an edit of what is shown would run unchecked; and the conversation keeps what the model wrote."""
    ran: list[Any] = []

    class Editor:
        def before_tool(self, call: Any, state: Any) -> None:
            call.arguments["n"] = "no number"

    options: dict[str, Any] = {"guards": [Editor()]} if who == "guard" else {"hooks": {"before_tool_call": Editor().before_tool}}
    result = await run(CALL, DONE, tools=[look(lambda args, context: ran.append(args))], **options)
    assert ran == [{"n": 1}]
    assert result.messages[0].tool_calls[0].arguments == {"n": 1}


async def test_a_rewrite_that_does_not_fit_is_free_for_the_guards_that_let_it_pass() -> None:
    """R32: the call never ran, so it is shown as blocked, and neither a budget nor a limit counts it."""

    class Spoiler:
        def before_tool(self, call: Any, state: Any) -> Rewrite | None:
            return Rewrite({"n": "no number"}) if call.name == "look" else None

    shown: list[bool] = []
    budget = BudgetGuard(tool_calls=1)
    policy = PolicyEngine([{"id": "one", "effect": "allow", "match": {"tool": "look"}, "limit": {"per": "run", "max": 1}}])
    hooks = {"on_tool_result": lambda result, call, state: shown.append(result.blocked)}
    result = await run(CALL, CALL, DONE, guards=[budget, policy, Spoiler()], hooks=hooks)
    assert all("n: must be" in words for words in observations(result)[:2])
    assert shown[:2] == [True, True]
    assert budget.statistics()["tool_calls"] == 0


async def test_the_record_of_a_turn_is_plain_json() -> None:
    """Section 3: `persist_turn` can write it as it is, usage and money included."""
    lines: list[str] = []
    usage = {"input_tokens": 3, "output_tokens": 2, "cost": Money(value=5, currency="EUR")}
    await run({**CALL, "usage": usage}, DONE, hooks={"persist_turn": lambda turn: lines.append(json.dumps(turn.to_json()))})
    told = {"input_tokens": 3, "output_tokens": 2, "cached_tokens": 0, "cost": {"value": 5, "currency": "EUR"}}
    assert [json.loads(line).get("usage") for line in lines] == [told, None]


# The host's own check of arguments


def _raise(args: Any) -> None:
    raise ValueError("7 is not of type 'string'")


@pytest.mark.parametrize(
    ("check", "words"),
    [(_raise, "ValueError: 7 is not of type 'string'"), (lambda args: "too small", "too small"), (lambda args: False, "False")],
    ids=["raises", "words", "no words"],
)
async def test_a_check_that_does_not_say_none_refuses(check: Any, words: str) -> None:
    """R15: also one that raises, as validators of JSON Schema do."""
    ran: list[Any] = []
    result = await run(CALL, DONE, tools=[look(lambda args, context: ran.append(args), check=check)])
    assert ran == []
    assert observations(result)[0] == f"The arguments do not fit look, so it was not run. {words}"


@pytest.mark.parametrize("part", ["check", "cost"])
def test_an_async_check_or_cost_is_refused_at_once(part: str) -> None:
    """R3: a coroutine would never say None, nor a number."""

    async def later(args: Any) -> None:
        raise NotImplementedError

    with pytest.raises(ValueError, match=f"{part} must be a plain function"):
        ToolRegistry([look(**{part: later})])


# Leave that cannot be given back


async def hang() -> None:
    await trio.sleep_forever()


@pytest.mark.parametrize("drop", [fail, hang, lambda: None], ids=["raises", "hangs", "sync"])
async def test_leave_that_cannot_be_given_back_hides_neither_the_end_nor_that_of_the_others(
    drop: Any, autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    """R16, R18: in a row of three, what was admitted is given back, within five seconds each; the hook's exception or the cancel
    comes out."""
    dropped: list[int] = []
    with trio.CancelScope() as scope:

        def admit(call: Any, state: Any) -> Any:
            def give_back() -> Any:
                dropped.append(call.arguments["n"])
                return drop()

            if call.arguments["n"] == 3:
                if cancels:
                    scope.cancel()
                else:
                    raise IndexError("broken")
            return Instead(run=lambda args, context: "never", drop=give_back)

        row = {"calls": [("look", {"n": n}) for n in (1, 2, 3)]}
        for cancels in (False, True):
            options: dict[str, Any] = {"tools": [look(parallel_safe=True)], "parallel": True, "hooks": {"before_tool_call": admit}}
            begun = trio.current_time()
            if not cancels:
                with pytest.raises(IndexError, match="broken"):
                    await run(row, **options)
                assert sorted(dropped) == [1, 2]
                assert trio.current_time() - begun == (10 if drop is hang else 0)
                dropped.clear()
            else:
                await run(row, **options)
    assert scope.cancelled_caught
    assert sorted(dropped) == [1, 2, 3]
    assert ("could not be given back" in caplog.text) == (drop is fail)


@pytest.mark.parametrize("wrong", [{"run": 5}, {"run": len, "drop": 5}], ids=str)
def test_instead_takes_functions_only(wrong: dict[str, Any]) -> None:
    """R16: found where it is made, and not when it is needed."""
    with pytest.raises(TypeError):
        Instead(**wrong)


# Interrupts and ends that are no Exception


class Everywhere:
    """A run all of whose parts call `strike` when their turn comes; and the guard, which must be free afterwards."""

    PLACES = ("build_context", "on_turn_start", "before_tool_call", "on_tool_result", "on_turn_end", "persist_turn", "should_stop")
    GUARD = ("on_run_start", "before_model", "after_model", "before_tool", "after_tool", "on_run_end")
    OTHER = ("model", "handler", "handler in a row", "check", "cost", "on_ask")

    def __init__(self, place: str, strike: Callable[[], None]) -> None:
        self.place, self.strike = place, strike
        for moment in self.GUARD:
            setattr(self, moment, self._at(moment))
        self.ended = 0

    def _at(self, place: str) -> Callable[..., Any]:
        def at(*args: Any, **options: Any) -> None:
            if place == "on_run_end":
                self.ended += 1
            if place == self.place:
                self.strike()

        return at

    async def run(self) -> Any:
        async def model(request: Any) -> Any:
            self._at("model")()
            return {"calls": [("look", {"n": 1}), ("safe", {"n": 1}), ("safe", {"n": 2})]}

        async def safe(args: Any, context: Any) -> str:
            await trio.lowlevel.checkpoint()
            self._at("handler in a row")()
            return "ok"

        def cost(args: Any) -> int:
            self._at("cost")()
            return 0

        asks = PolicyEngine([{"id": "ask", "effect": "ask", "match": {"tool": "look"}}], on_ask=self._yes)
        tools = [
            look(lambda args, context: self._at("handler")() or "ok", check=self._at("check"), cost=cost),
            ReactTool(name="safe", parameters=ANY, handler=safe, parallel_safe=True),
        ]
        return await run_react_loop(
            llm=scripted_llm([model, model]),
            tools=tools,
            system="",
            hooks={place: self._at(place) for place in self.PLACES},
            guards=[self, asks, BudgetGuard(cost=5, prices={})],
            parallel=True,
            max_turns=2,
        )

    def _yes(self, *args: Any) -> bool:
        self._at("on_ask")()
        return True


class Abrupt(BaseException):
    """Such as a test runner's or a framework's own way out."""


def group() -> None:
    raise BaseExceptionGroup("several", [ValueError("x"), KeyboardInterrupt()])


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def leave() -> None:
    raise SystemExit(3)


def abrupt() -> None:
    raise Abrupt


STRIKES: dict[str, tuple[Callable[[], None], type[BaseException]]] = {
    "a key that is pressed": (press, KeyboardInterrupt),
    "an exit": (leave, SystemExit),
    "a group with an interrupt": (group, BaseExceptionGroup),
    "a way out of somebody's own": (abrupt, Abrupt),
}


@pytest.mark.parametrize("place", [*Everywhere.PLACES, *Everywhere.GUARD, *Everywhere.OTHER])
@pytest.mark.parametrize("strike", STRIKES)
def test_what_is_no_exception_comes_out_of_every_part_as_it_is(place: str, strike: str) -> None:
    """R13: swallowed nowhere, in no group of ours, and the guards are free for the next run."""
    how, kind = STRIKES[strike]
    scene = Everywhere(place, how)
    with pytest.raises(BaseException) as caught:  # which class is asserted below
        trio.run(scene.run)
    assert type(caught.value) is kind
    assert scene.ended == 1 or place == "on_run_start"
    scene.place = ""
    assert trio.run(scene.run).stopped == "max_turns"


# What cannot work is a ValueError before the model is asked


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: {"guards": [object()]}, BadOptionsError),
        (lambda: {"guards": [LoopDetector]}, BadOptionsError),
        (lambda: {"guards": [LoopDetector(repeat=0)]}, BadOptionsError),
        (lambda: {"tools": [look(parameters={"type": "object", "patternProperties": {}})]}, BadSchemaError),
        (lambda: {"tools": [_loop_tool(name="")]}, BadToolError),
        (lambda: {"tools": [_loop_tool(), _loop_tool()]}, BadToolError),
        (lambda: {"tools": [_loop_tool(run=None)]}, BadToolError),
        (lambda: {"tools": [_loop_tool(parameters={"type": "object", "if": {}})]}, BadSchemaError),
        (lambda: {"initial_messages": [{"role": "assistant", "tool_calls": [[5]]}]}, BadOptionsError),
        (lambda: {"initial_messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]}, BadOptionsError),
        (lambda: {"initial_messages": [{"role": "assistant", "tool_calls": 5}]}, BadOptionsError),
        (lambda: {"initial_messages": [{"role": "user", "content": ["x"]}]}, BadOptionsError),
        (lambda: {"initial_messages": [None]}, BadOptionsError),
        (lambda: {"resume_from": AgentRunResult(stopped="x", turns=1, messages=["x"])}, BadOptionsError),  # type: ignore[list-item]
        (lambda: {"resume_from": {"version": 1}}, BadOptionsError),
    ],
)
async def test_what_cannot_work_is_a_value_error_before_the_model_is_asked(make: Any, kind: type[Exception]) -> None:
    """R3 and section 1, for every part that is checked beforehand."""
    llm = scripted_llm([DONE])
    with pytest.raises(ValueError) as caught:  # the class is what is asserted
        await run(llm=llm, **make())
    assert isinstance(caught.value, kind)
    assert llm.seen == []


def _loop_tool(**changes: Any) -> Tool:
    async def act(args: Any, ctx: Any) -> Any:
        raise NotImplementedError

    fields = {"name": "act", "description": "Acts.", "parameters": ANY, "scope": "read", "domain": "a.local", "run": act}
    return Tool(**{**fields, **changes})


# Going on from what somebody else has stored


def places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key in plain if isinstance(plain, dict) else range(len(plain)) if isinstance(plain, list) else ():
        yield from places(plain[key], (*path, key))


STORED = AgentRunResult(
    stopped="max_turns",
    turns=2,
    messages=[
        Message(role="user", content="Look."),
        Message(role="assistant", tool_calls=(ToolCall(id="a", name="look", arguments={"n": 1}),)),
        Message(role="tool", content="seen", tool_call_id="a", name="look"),
    ],
    usage=Usage(input_tokens=1, output_tokens=2, cost=Money(value=4, currency="EUR")),
    stop_detail={"guard": "G"},
).to_json()
ODD: tuple[Any, ...] = (None, -1, 2**70, 1.5, True, "", "x", "\ud800", [], [[]], {}, {"role": "tool"}, float("nan"))


@pytest.mark.parametrize("path", list(places(STORED)), ids=lambda path: ".".join(map(str, path)) or "all")
async def test_a_stored_run_that_was_changed_goes_on_or_is_refused(path: tuple[Any, ...]) -> None:
    """J8: each place of the JSON gets each odd value, or is taken out: it is a ValueError, or the run goes on."""
    for odd in (*ODD, "TAKE OUT"):
        plain = json.loads(json.dumps(STORED))
        holder: Any = plain
        for key in path[:-1]:
            holder = holder[key]
        if not path:
            plain = odd
        elif odd == "TAKE OUT":
            del holder[path[-1]]
        else:
            holder[path[-1]] = odd
        llm = scripted_llm([CALL, DONE])
        try:
            result = await run(llm=llm, resume_from=plain)
        except ValueError:
            assert llm.seen == []
            continue
        assert result.stopped == "task_done"
        assert_can_go_on(result)


@pytest.mark.parametrize("arguments", NO_DATA.values(), ids=NO_DATA)
def test_a_result_with_anything_in_it_can_be_stored(arguments: Callable[[], Any]) -> None:
    """J8: a host may seed what no model may write; its words stand for what is no JSON."""
    call = ToolCall(id="a", name="look", arguments={"given": arguments()})
    result = AgentRunResult(
        stopped="x", turns=1, messages=[Message(role="assistant", tool_calls=(call,))], stop_detail={"why": arguments()}
    )
    text = json.dumps(result.to_json(), allow_nan=False)
    assert AgentRunResult.from_json(json.loads(text)).stopped == "x"


@pytest.mark.parametrize("wrong", [{"turns": -1}, {"turns": "3"}, {"turns": True}, {"stopped": 5}], ids=str)
def test_a_result_that_cannot_be_cannot_be_made(wrong: dict[str, Any]) -> None:
    """J8: a count of turns below none would let a run go on for ever."""
    with pytest.raises((TypeError, ValueError)):
        AgentRunResult(**{"stopped": "x", "turns": 1, "messages": [], **wrong})
