"""Hooks: their order, what each is called with, what its return does, and what it may break (R16, R20, section 3)."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.react import Block, Hooks, Instead, Message, ReactTool, Rewrite, StateHolder, run_react_loop
from foxloop_trio.testing import scripted_llm

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DONE = {"calls": [("task_done", {"summary": "Sunny."})]}
NAMES = ("build_context", "on_turn_start", "before_tool_call", "on_tool_result", "on_turn_end", "persist_turn", "should_stop")


def call(city: str = "Lisbon") -> dict[str, Any]:
    return {"calls": [("weather", {"city": city})]}


class Scene:
    """A run whose every part writes into `log`."""

    def __init__(self, *steps: Any, hooks: dict[str, Any] | None = None, sync: bool = True) -> None:
        self.log: list[str] = []
        self.seen: dict[str, list[Any]] = {name: [] for name in NAMES}
        self.llm = scripted_llm([self._step(step) for step in steps])
        self.hooks = {**{name: self._hook(name, sync) for name in NAMES}, **(hooks or {})}
        self.ran: list[Any] = []
        self.tool = ReactTool(name="weather", parameters=CITY, handler=self._weather)

    def _step(self, step: Any) -> Any:
        def answer(request: Any) -> Any:
            self.log.append("model")
            return step

        return answer

    def _hook(self, name: str, sync: bool) -> Any:
        def hook(*args: Any) -> Any:
            self.log.append(name)
            self.seen[name].append(args)

        async def later(*args: Any) -> Any:
            await trio.lowlevel.checkpoint()
            return hook(*args)

        return hook if sync else later

    def _weather(self, args: dict[str, Any], context: Any) -> str:
        self.log.append("handler")
        self.ran.append(args)
        return f"sunny in {args['city']}"

    async def run(self, **options: Any) -> Any:
        return await run_react_loop(llm=self.llm, tools=[self.tool], system="", hooks=self.hooks, **options)


def observations(result: Any) -> list[str]:
    return [message.content for message in result.messages if message.role == "tool"]


@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
async def test_the_order_of_a_turn_is_that_of_the_table(sync: bool) -> None:
    """Section 3: build, start, model, each call with its hooks around it, end, persist, stop."""
    scene = Scene({"calls": [("weather", {"city": "a"}), ("nothing", {})]}, DONE, sync=sync)
    await scene.run()
    first = ["build_context", "on_turn_start", "model"]
    last = ["on_turn_end", "persist_turn"]
    assert scene.log == [
        *first,
        *["before_tool_call", "handler", "on_tool_result", "on_tool_result"],
        *last,
        "should_stop",
        *first,
        *["before_tool_call", "on_tool_result"],
        *last,
    ]


async def test_each_hook_is_called_with_what_the_table_says() -> None:
    """Section 3: the one state of the run; call, result and turn with their parts."""
    scene = Scene({"text": "Looking.", "usage": {"input_tokens": 3, "output_tokens": 1}, **call()}, DONE)
    await scene.run(context={"user": 1}, initial_messages=[{"role": "user", "content": "Hi"}])
    ((state,), _) = scene.seen["build_context"]
    assert (state.turn, state.context) == (2, {"user": 1})
    assert state.usage.input_tokens == 3
    assert state.registry.has("task_done")
    asked, same = scene.seen["before_tool_call"][0]
    assert (asked.name, asked["arguments"], same) == ("weather", {"city": "Lisbon"}, state)
    result, heard, _ = scene.seen["on_tool_result"][0]
    assert (dict(result), heard) == ({"tool_call_id": asked.id, "content": "sunny in Lisbon", "is_error": False}, asked)
    ended_state, turn = scene.seen["on_turn_end"][0]
    assert (ended_state, turn) == (state, scene.seen["persist_turn"][0][0])
    assert (turn.number, turn["text"], turn.tool_calls, turn.results) == (1, "Looking.", (asked,), (result,))
    assert turn.usage.output_tokens == 1
    assert turn.started <= turn.ended
    assert "usage" not in scene.seen["persist_turn"][1][0]


async def test_hooks_may_be_an_object_or_a_mapping_or_hooks() -> None:
    """Section 3: whatever has some of the names."""

    class Mine:
        def should_stop(self, state: Any) -> bool:
            return True

    for hooks in (Mine(), {"should_stop": lambda state: True}, Hooks(should_stop=lambda state: True)):
        assert await _stopped(hooks) == "should_stop"


async def _stopped(hooks: Any) -> str:
    result = await run_react_loop(llm=scripted_llm(["hm", "hm"]), tools=[], system="", hooks=hooks)
    return result.stopped


@pytest.mark.parametrize("answer", [{"block": True, "reason": "not that city"}, Block("not that city")], ids=["mapping", "verdict"])
async def test_a_refused_call_leaves_its_handler_untouched(answer: Any) -> None:
    """Section 11, 6: the reason is in the conversation, and `on_tool_result` hears of it."""
    scene = Scene(call(), DONE)
    scene.hooks["before_tool_call"] = lambda call, state: answer if call.name == "weather" else None
    result = await scene.run()
    assert scene.ran == []
    assert observations(result)[0] == "not that city"
    told = scene.seen["on_tool_result"][0][0]
    assert (told.is_error, told.blocked) == (True, True)


@pytest.mark.parametrize("answer", [{"arguments": {"city": "Porto"}}, Rewrite({"city": "Porto"}, "asked for Porto")], ids=str)
async def test_a_hook_may_rewrite_the_arguments(answer: Any) -> None:
    """Section 3: the handler gets them, the conversation keeps what the model wrote, a note is put in front of the observation."""
    scene = Scene(call(), DONE)
    scene.hooks["before_tool_call"] = lambda call, state: answer if call.name == "weather" else None
    result = await scene.run()
    assert scene.ran == [{"city": "Porto"}]
    assert result.messages[0].tool_calls[0].arguments == {"city": "Lisbon"}
    assert observations(result)[0] == ("asked for Porto\n" if isinstance(answer, Rewrite) else "") + "sunny in Porto"
    assert scene.seen["on_tool_result"][0][1].arguments == {"city": "Porto"}


async def test_rewritten_arguments_that_do_not_fit_are_refused() -> None:
    """Section 11, 14: nothing runs."""
    scene = Scene(call(), DONE)
    scene.hooks["before_tool_call"] = lambda call, state: {"arguments": {"town": "x"}} if call.name == "weather" else {}
    result = await scene.run()
    assert scene.ran == []
    assert "do not fit weather" in observations(result)[0]


async def test_a_hook_may_have_something_else_run_in_place_of_the_handler() -> None:
    """`Instead`: with the same arguments and context; what it holds is given back when it is not run."""
    dropped: list[str] = []

    async def drop() -> None:
        await trio.lowlevel.checkpoint()
        dropped.append("given back")

    async def other(args: dict[str, Any], context: Any) -> str:
        return f"{args['city']} for {context}"

    scene = Scene(call(), DONE)
    scene.hooks["before_tool_call"] = lambda call, state: Instead(run=other, drop=drop) if call.name == "weather" else None
    result = await scene.run(context="you")
    assert observations(result)[0] == "Lisbon for you"
    assert (scene.ran, dropped) == ([], [])

    with trio.CancelScope() as scope:
        again = Scene(call())

        def cancelled(call: Any, state: Any) -> Instead:
            scope.cancel()
            return Instead(run=other, drop=drop)

        again.hooks["before_tool_call"] = cancelled
        await again.run()
    assert dropped == ["given back"]


async def test_a_return_that_means_nothing_ends_the_run() -> None:
    """R16: it is the host's code, and a refusal that was misspelt must not pass."""
    scene = Scene(call())
    scene.hooks["before_tool_call"] = lambda call, state: {"blocked": True}
    with pytest.raises(TypeError, match="before_tool_call may return"):
        await scene.run()
    assert scene.ran == []


@pytest.mark.parametrize("name", NAMES)
async def test_a_hook_that_raises_ends_the_run_and_nothing_is_lost(name: str) -> None:
    """R16, section 11, 5: its very exception, with `partial_result`; the conversation in it is validly paired."""
    fault = LookupError(name)

    def broken(*args: Any) -> None:
        raise fault

    scene = Scene({"calls": [("weather", {"city": "a"}), ("weather", {"city": "b"})]}, hooks={name: broken})
    holder = StateHolder()
    with pytest.raises(LookupError) as caught:
        await scene.run(state_out=holder)
    assert caught.value is fault
    partial = fault.partial_result  # type: ignore[attr-defined]
    assert partial.messages == holder.messages
    calls = [call.id for message in partial.messages for call in message.tool_calls]
    assert [message.tool_call_id for message in partial.messages if message.role == "tool"] == calls
    if name == "persist_turn":
        assert observations(partial) == ["sunny in a", "sunny in b"]
    assert type(partial).from_json(partial.to_json()) == partial


# Editing the conversation


async def test_a_hook_may_edit_the_conversation_in_place() -> None:
    """Section 3: with messages or mappings; the next request has them, and so has the result."""
    scene = Scene(call(), DONE)
    scene.hooks["build_context"] = lambda state: state.messages.append({"role": "system", "content": f"turn {state.turn}"})
    result = await scene.run()
    assert [message.content for message in scene.llm.seen[1].messages] == ["turn 1", "", "sunny in Lisbon", "turn 2"]
    assert all(isinstance(message, Message) for message in result.messages)


@pytest.mark.parametrize(
    "edit",
    [
        lambda messages: messages.clear(),
        lambda messages: messages.pop(0),
        lambda messages: messages.pop(),
        lambda messages: messages.__delitem__(0),
        lambda messages: messages.__setitem__(slice(0, 1), []),
        lambda messages: messages.remove(messages[1]),
        lambda messages: messages.insert(1, {"role": "user", "content": "between"}),
        lambda messages: messages.extend([messages[0]]),
        lambda messages: messages.reverse(),
        lambda messages: messages.sort(key=lambda message: message.role, reverse=True),
        lambda messages: messages.__iadd__([messages[0], messages[1]]),
        lambda messages: messages.__imul__(2),
    ],
    ids=["clear", "pop first", "pop last", "del", "set", "remove", "insert", "extend", "reverse", "sort", "iadd", "imul"],
)
async def test_whatever_a_hook_does_to_the_conversation_no_request_is_invalid(edit: Any) -> None:
    """R20, section 11, 17: calls and results stay paired, each under an id of its own; none of the run's ids comes twice."""
    scene = Scene(call("a"), call("b"), {"calls": [("weather", {"city": "c"}), ("task_done", {"summary": "s"})]})
    scene.hooks["on_turn_start"] = lambda state: edit(state.messages) if state.turn == 2 else None
    result = await scene.run()
    for messages in [*(request.messages for request in scene.llm.seen), result.messages]:
        assert_paired(messages)


async def test_a_list_that_a_hook_puts_in_the_place_of_the_conversation_is_taken() -> None:
    """Section 11, 17: also in the middle of a turn; what comes after it is kept."""
    scene = Scene(call("a"), {"calls": [("weather", {"city": "b"}), ("weather", {"city": "c"})]}, DONE)

    def replace(result: Any, call: Any, state: Any) -> None:
        if call.arguments == {"city": "b"}:
            state.messages = [*state.messages[-2:]]

    scene.hooks["on_tool_result"] = replace
    result = await scene.run()
    assert [message.content for message in scene.llm.seen[2].messages] == ["", "sunny in b", "sunny in c"]
    assert len(result.messages) == 5
    assert_paired(result.messages)


async def test_a_hook_that_puts_in_what_is_no_message_ends_the_run() -> None:
    """R16: the host's mistake, and its exception names it."""
    scene = Scene(call())
    scene.hooks["build_context"] = lambda state: state.messages.append("hello")
    with pytest.raises(TypeError, match="a message is a Message or a mapping"):
        await scene.run()


def assert_paired(messages: Any) -> None:
    """As the strictest provider checks it: after each assistant message the results of its calls, in order, and no others."""
    ids: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert waiting
            assert message.tool_call_id == waiting.pop(0)
            continue
        assert not waiting
        waiting = [call.id for call in message.tool_calls]
        assert not ids & set(waiting)
        assert len(set(waiting)) == len(waiting)
        ids |= set(waiting)
    assert not waiting
