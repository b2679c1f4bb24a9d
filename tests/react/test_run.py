"""`run_react_loop`, rule by rule (R1 to R21): what ends a run, what each call is answered, what is refused before it begins."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
import trio

from foxloop_trio.errors import BadOptionsError, BadSchemaError, BadToolError, PlannerError
from foxloop_trio.ports import Usage
from foxloop_trio.react import Message, ReactTool, StateHolder, ToolRegistry, ToolResult, run_react_loop
from foxloop_trio.testing import scripted_llm

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DONE = {"calls": [("task_done", {"summary": "Sunny."})]}


def weather(handler: Any = None, **changes: Any) -> ReactTool:
    """A tool that tells the weather; its calls are in `asked`, when the handler is ours."""
    fields: dict[str, Any] = {"name": "weather", "description": "Tells the weather.", "parameters": CITY}
    return ReactTool(**{**fields, "handler": handler or (lambda args, context: f"sunny in {args['city']}"), **changes})


async def run(*steps: Any, tools: Any = None, **options: Any) -> Any:
    """A run over these steps; `result.llm` is what the model saw."""
    llm = options.pop("llm", None) or scripted_llm(steps)
    options.setdefault("system", "You tell the weather.")
    return await run_react_loop(llm=llm, tools=[weather()] if tools is None else tools, **options)


def observations(result: Any) -> list[str]:
    return [message.content for message in result.messages if message.role == "tool"]


def call(city: str = "Lisbon") -> dict[str, Any]:
    return {"calls": [("weather", {"city": city})]}


# The stop tool


async def test_the_stop_tool_is_there_by_itself_and_last_in_the_specs() -> None:
    """R1: one required text parameter, listed last, with an acknowledgement; the caller's registry is not changed by it."""
    registry = ToolRegistry([weather()])
    llm = scripted_llm([DONE])
    result = await run(llm=llm, tools=registry)
    assert [spec.name for spec in llm.seen[0].tools] == ["weather", "task_done"]
    assert llm.seen[0].tools[1].parameters["required"] == ["summary"]
    assert (result.stopped, result.final_summary, result.turns) == ("task_done", "Sunny.", 1)
    assert observations(result) == ["The run ends here."]
    assert [tool.name for tool in registry] == ["weather"]


async def test_another_name_can_be_given_to_the_stop_tool() -> None:
    """R1: the built-in tool goes by the name."""
    result = await run({"calls": [("finish_up", {"summary": "x"})]}, stop_tool_name="finish_up")
    assert (result.stopped, result.final_summary) == ("task_done", "x")


@pytest.mark.parametrize(("arguments", "summary"), [({"summary": "said"}, "said"), ({}, "answered"), ({"summary": 3}, "answered")])
async def test_a_stop_tool_of_the_hosts_is_run_and_then_the_run_ends(arguments: dict[str, Any], summary: str) -> None:
    """R2: its result is recorded; the summary is its argument when that is text, else what it answered."""
    seen: list[Any] = []

    async def finish(args: dict[str, Any], context: Any) -> str:
        seen.append(args)
        return "answered"

    schema = {"type": "object", "properties": {"summary": {"type": "string"}}, "additionalProperties": True}
    own = ReactTool(name="task_done", parameters=schema, handler=finish, check=lambda args: None)
    llm = scripted_llm([{"calls": [("task_done", arguments)]}])
    result = await run(llm=llm, tools=[own, weather()])
    assert seen == [arguments]
    assert (result.stopped, result.final_summary) == ("task_done", summary)
    assert observations(result) == ["answered"]
    assert [spec.name for spec in llm.seen[0].tools] == ["task_done", "weather"]


async def test_a_stop_tool_of_the_hosts_that_fails_does_not_end_the_run() -> None:
    """R2, R13: it did not say that the task is done; the model may try again."""
    answers = iter([RuntimeError("not yet"), ToolResult(content="tests fail", is_error=True), "fine"])

    def finish(args: dict[str, Any], context: Any) -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    result = await run(*[{"calls": [("task_done", {})]}] * 3, tools=[ReactTool(name="task_done", handler=finish)])
    assert (result.stopped, result.turns, result.final_summary) == ("task_done", 3, "fine")
    assert observations(result) == ["RuntimeError: not yet", "tests fail", "fine"]


@pytest.mark.parametrize(
    "tools",
    [[weather(), weather()], [weather(name="")], [weather(name="  ")], [weather(handler=3)], ["weather"]],
    ids=["the same name", "no name", "a blank name", "no handler", "no tool"],
)
async def test_tools_that_cannot_be_told_apart_or_run_are_refused_before_the_model_is_asked(tools: Any) -> None:
    """R3: a ValueError."""
    llm = scripted_llm([])
    with pytest.raises(ValueError) as caught:
        await run(llm=llm, tools=tools)
    assert isinstance(caught.value, BadToolError)
    assert llm.seen == []


async def test_parameters_outside_the_subset_are_refused_before_the_model_is_asked() -> None:
    """R3: a rule that would not be enforced is not taken; `check` is the way out."""
    odd = {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}}
    with pytest.raises(BadSchemaError, match="pattern"):
        await run(tools=[weather(parameters=odd)])
    result = await run({"calls": [("weather", {"a": "y"})]}, DONE, tools=[weather(parameters=odd, check=lambda args: "a: no x")])
    assert "a: no x" in observations(result)[0]


# What ends a run


async def test_a_turn_without_calls_goes_on() -> None:
    """R10: until one of the reasons to stop, here `max_turns`. The content of a turn without text is empty."""
    result = await run("Let me think.", {}, "Still thinking.", max_turns=3)
    assert (result.stopped, result.turns, result.final_summary) == ("max_turns", 3, None)
    assert [message.content for message in result.messages] == ["Let me think.", "", "Still thinking."]


async def test_a_turn_with_text_and_without_calls_can_end_the_run() -> None:
    """R10, ours: only with `stop_on_text`, and not for a turn that says nothing or calls something."""
    result = await run({}, {"text": "Looking.", **call()}, "It is sunny.", "never", stop_on_text=True)
    assert (result.stopped, result.turns, result.final_summary) == ("text", 3, "It is sunny.")


async def test_calls_after_the_stop_tool_are_answered_and_not_run() -> None:
    """R11: those before it run; the turn is persisted with all of them."""
    ran: list[str] = []
    turns: list[Any] = []
    tool = weather(lambda args, context: ran.append(args["city"]) or "ok")
    calls = [("weather", {"city": "a"}), ("task_done", {"summary": "s"}), ("weather", {"city": "b"}), ("nothing", {})]
    result = await run({"calls": calls}, tools=[tool], hooks={"persist_turn": turns.append})
    assert ran == ["a"]
    assert result.stopped == "task_done"
    assert observations(result)[2:] == ["Not run: the run had already ended with the stop tool."] * 2
    assert [found.blocked for found in turns[0].results] == [False, False, True, True]


async def test_a_blocked_stop_tool_does_not_stop_the_run() -> None:
    """R12: the reason is in the conversation, and the next turn comes."""
    blocked = iter([True, False])
    hooks = {"before_tool_call": lambda call, state: {"block": next(blocked), "reason": "look again"}}
    result = await run(DONE, DONE, hooks=hooks)
    assert (result.stopped, result.turns) == ("task_done", 2)
    assert observations(result) == ["look again", "The run ends here."]


async def test_a_stop_tool_with_wrong_arguments_does_not_stop_the_run() -> None:
    """R12, R15: it was not run."""
    result = await run({"calls": [("task_done", {})]}, DONE)
    assert (result.stopped, result.turns) == ("task_done", 2)
    assert observations(result)[0] == "The arguments do not fit task_done, so it was not run. summary: is required"


async def test_the_host_can_stop_a_run_after_each_turn() -> None:
    """Section 4: `should_stop`, asked once the turn is persisted; a turn with the stop tool is done all the same."""
    order: list[str] = []
    hooks = {
        "persist_turn": lambda turn: order.append("persist"),
        "should_stop": lambda state: order.append("ask") or state.turn == 2,
    }
    result = await run(call("a"), call("b"), hooks=hooks)
    assert (result.stopped, result.turns) == ("should_stop", 2)
    assert order == ["persist", "ask"] * 2
    assert (await run(DONE, hooks={"should_stop": lambda state: True})).stopped == "task_done"
    assert (await run(call(), max_turns=1, hooks={"should_stop": lambda state: True})).stopped == "should_stop"


# Handlers


async def test_a_handler_that_raises_is_an_observation_and_the_run_goes_on() -> None:
    """R13: class and message, cut to 2,000 characters; the first of a group stands for it."""

    def handler(args: dict[str, Any], context: Any) -> str:
        if args["city"] == "group":
            raise ExceptionGroup("several", [ExceptionGroup("two", [KeyError("a"), ValueError("b")]), OSError("c")])
        raise ValueError(args["city"] * 3000)

    turns: list[Any] = []
    result = await run(call("x"), call("group"), DONE, tools=[weather(handler)], hooks={"persist_turn": turns.append})
    first, second, _ = observations(result)
    assert first == ("ValueError: " + "x" * 3000)[:2000]
    assert second == "KeyError: 'a' (and 2 more)"
    assert turns[0].results[0].is_error
    assert not turns[0].results[0].blocked
    assert result.stopped == "task_done"


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit])
async def test_an_interrupt_in_a_handler_is_not_swallowed(fault: type[BaseException]) -> None:
    """R13: it comes out as it is, and the conversation has its answer."""

    async def handler(args: dict[str, Any], context: Any) -> str:
        await trio.lowlevel.checkpoint()
        raise fault

    holder = StateHolder()
    with pytest.raises(fault):
        await run(call(), tools=[weather(handler)], state_out=holder)
    assert holder.messages[-1].content == "The run ended while this call was running. It may have had an effect."


async def test_a_call_of_an_unknown_tool_is_told_the_known_names() -> None:
    """R14: nothing runs."""
    result = await run({"calls": [("Weather", {"city": "x"}), ("", {})]}, DONE)
    assert observations(result)[:2] == [
        "There is no tool 'Weather'. The tools are: weather, task_done.",
        "There is no tool ''. The tools are: weather, task_done.",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "city: is required"),
        ({"city": 3}, "city: must be a string"),
        ([], "arguments: must be an object, not an array"),
        ("{broken", "arguments: must be an object, not a string"),
        (object(), "it has a object in it that JSON cannot keep"),
    ],
    ids=["missing", "wrong type", "a list", "no JSON", "no data"],
)
async def test_arguments_that_do_not_fit_never_reach_the_handler(arguments: Any, words: str) -> None:
    """R15: an error observation that says where."""
    ran: list[Any] = []
    result = await run({"calls": [("weather", arguments)]}, DONE, tools=[weather(lambda args, context: ran.append(args))])
    assert ran == []
    assert words in observations(result)[0]
    assert result.stopped == "task_done"


async def test_arguments_as_json_text_are_read() -> None:
    """R15: as model servers send them, also in the nested shape of chat completions; null is no arguments."""
    raw = [
        {"id": "a", "name": "weather", "arguments": '{"city": "Porto"}'},
        {"id": "b", "function": {"name": "weather", "arguments": '{"city": "Faro",}'}},
        {"id": "c", "name": "task_done", "arguments": None},
    ]
    result = await run({"tool_calls": raw}, max_turns=1)
    assert observations(result)[:2] == ["sunny in Porto", "sunny in Faro"]
    assert result.messages[0].tool_calls[2].arguments == {}


async def test_a_handler_cannot_change_what_the_conversation_says_it_was_called_with() -> None:
    """Its arguments are a copy of its own."""

    def handler(args: dict[str, Any], context: Any) -> str:
        args["city"] = "Paris"
        return "ok"

    result = await run(call(), DONE, tools=[weather(handler)])
    assert result.messages[0].tool_calls[0].arguments == {"city": "Lisbon"}


async def test_the_handler_gets_the_context_and_may_be_sync_or_async() -> None:
    """Section 1: any value, as it is."""
    context = object()
    seen: list[Any] = []

    async def handler(args: dict[str, Any], given: Any) -> str:
        seen.append(given)
        return "ok"

    await run(call(), DONE, tools=[weather(handler)], context=context)
    await run(call(), DONE, tools=[weather(lambda args, given: seen.append(given) or "ok")], context=context)
    assert seen == [context, context]


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        (3.5, "3.5"),
        (None, "null"),
        (ToolResult(content={"ok": True}), '{"ok": true}'),
        ("\ud83c\udf78 \ud800", "🍸 \ufffd"),
        ("x" * 12, "x" * 10 + "\n[cut here: 2 of 12 characters are left out]"),
        (object, "TypeError: Object of type type is not JSON serializable"),
    ],
    ids=["text", "object", "number", "none", "result", "surrogates", "long", "no JSON"],
)
async def test_what_a_handler_hands_back_becomes_text(value: Any, content: str) -> None:
    """R19: other JSON is dumped, what is too long is cut with a note of how much was lost, what is no JSON is an error."""
    limit = 10 if content.startswith("xx") else 100
    result = await run(call(), DONE, tools=[weather(lambda args, context: value)], max_result_chars=limit)
    assert observations(result)[0] == content


async def test_a_handler_that_takes_too_long_is_cut(autojump_clock: trio.testing.MockClock) -> None:
    """J1: after exactly `tool_timeout` seconds, with words that it may have had an effect; what its clean-up raises is told too."""

    async def handler(args: dict[str, Any], context: Any) -> str:
        try:
            await trio.sleep_forever()
        finally:
            if args["city"] == "b":
                raise ValueError("clean-up failed")
        return "never"

    result = await run(call("a"), call("b"), DONE, tools=[weather(handler)], tool_timeout=3)
    assert trio.current_time() == 6
    assert observations(result)[:2] == [
        "Timed out after 3 s and was cut. It may have had an effect.",
        "Timed out after 3 s and was cut. It may have had an effect. ValueError: clean-up failed",
    ]
    assert result.stopped == "task_done"


# Ids and the cap


async def test_each_call_has_one_observation_under_an_id_of_its_own() -> None:
    """R20: same order, same id; empty, repeated and unusable ids are replaced before anybody sees them."""
    ids = ["", "a", "a", "b" * 65, "ünf", None]
    raw = [{"id": given, "name": "weather", "arguments": {"city": str(index)}} for index, given in enumerate(ids)]
    result = await run({"tool_calls": raw}, {"tool_calls": raw[1:2]}, DONE)
    calls = [call for message in result.messages for call in message.tool_calls]
    answers = [message for message in result.messages if message.role == "tool"]
    assert [answer.tool_call_id for answer in answers] == [call.id for call in calls]
    assert len({call.id for call in calls}) == len(calls) == 8
    assert calls[1].id == "a"
    assert [answer.content for answer in answers[:6]] == [f"sunny in {index}" for index in range(6)]
    assert {answer.name for answer in answers[:6]} == {"weather"}


async def test_ids_of_the_seed_are_not_used_again() -> None:
    """R20: no id is ambiguous in the whole conversation."""
    seed = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "name": "weather", "arguments": {}}]},
        {"role": "tool", "content": "rain", "tool_call_id": "call_1"},
    ]
    result = await run(call(), DONE, initial_messages=seed)
    ids = [call.id for message in result.messages for call in message.tool_calls]
    assert ids[0] == "call_1"
    assert len(set(ids)) == 3


async def test_a_thousand_calls_are_capped_and_all_answered() -> None:
    """Section 11, 18: further calls of the turn get a refused observation, and the hooks hear of them."""
    heard: list[bool] = []
    calls = [("weather", {"city": str(index)}) for index in range(1000)]
    hooks = {"on_tool_result": lambda result, call, state: heard.append(result.blocked)}
    result = await run({"calls": calls}, DONE, max_tool_calls_per_turn=3, hooks=hooks)
    told = observations(result)
    assert told[:3] == ["sunny in 0", "sunny in 1", "sunny in 2"]
    assert set(told[3:1000]) == {"Not run: at most 3 calls of one turn are run."}
    assert heard == [False] * 3 + [True] * 997 + [False]
    assert len((await run({"calls": calls}, DONE)).messages) == 1003


# The model


async def test_what_the_model_raises_comes_out_with_what_was_done() -> None:
    """R17, J9: `partial_result` has the messages up to then."""
    fault = OSError("no route")
    with pytest.raises(OSError, match="no route") as caught:
        await run(call(), fault, initial_messages=[{"role": "user", "content": "Hi"}])
    assert caught.value is fault
    partial = fault.partial_result  # type: ignore[attr-defined]
    assert (partial.stopped, partial.turns) == ("unfinished", 2)
    assert [message.role for message in partial.messages] == ["user", "assistant", "tool"]


async def test_some_errors_of_the_model_in_a_row_become_notes() -> None:
    """R17, ours: up to `llm_errors` of them, each of which costs a turn; a reply in between starts the count anew."""
    fault = PlannerError("overloaded")
    result = await run(fault, fault, call(), fault, fault, DONE, llm_errors=2)
    assert (result.stopped, result.turns) == ("task_done", 6)
    notes = [message.content for message in result.messages if message.role == "system"]
    assert notes == ["The last request to the model failed (PlannerError: overloaded). Go on from here."] * 4
    with pytest.raises(PlannerError, match="overloaded") as caught:
        await run(fault, fault, fault, llm_errors=2)
    assert caught.value.partial_result.turns == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "reply",
    [
        None,
        3,
        {"text": 3},
        {"tool_calls": "weather"},
        {"tool_calls": [{"id": "a"}] * 2049},
        {"text": "half", "finish_reason": "length", "tool_calls": []},
    ],
    ids=["none", "number", "text", "calls", "many", "cut"],
)
async def test_a_reply_that_is_none_is_an_error_of_the_model(reply: Any) -> None:
    """R17: nothing of it is run."""

    class Odd:
        async def complete(self, **_: Any) -> Any:
            return reply

    with pytest.raises(PlannerError):
        await run(llm=Odd())


async def test_a_reply_may_be_an_object() -> None:
    """Section 1: with attributes in place of keys."""

    class Reply:
        text = None
        tool_calls = (type("Call", (), {"id": "x", "name": "task_done", "arguments": {"summary": "s"}})(),)
        usage = Usage(input_tokens=3, output_tokens=4)

    class Model:
        async def complete(self, **_: Any) -> Any:
            return Reply()

    result = await run(llm=Model())
    assert (result.stopped, result.usage) == ("task_done", Usage(input_tokens=3, output_tokens=4))


@pytest.mark.parametrize(
    "odd", [{"input_tokens": -5, "output_tokens": 1}, {"input_tokens": math.nan, "output_tokens": 1}, "many", {}]
)
async def test_nonsense_about_usage_never_lowers_the_sum(odd: Any) -> None:
    """Buglog B61: it counts as no report."""
    usage = {"input_tokens": 10, "output_tokens": 2, "cached_tokens": 4}
    result = await run({**call(), "usage": usage}, {**call("b"), "usage": odd}, {**DONE, "usage": usage})
    assert result.usage == Usage(input_tokens=20, output_tokens=4, cached_tokens=8)


async def test_the_model_gets_system_prompt_conversation_and_specs() -> None:
    """Section 1: the system prompt as it is and never among the messages; the seed is copied; a list of its own."""
    seed = [Message(role="user", content="How is it in Lisbon?")]
    llm = scripted_llm([call(), DONE])
    await run(llm=llm, initial_messages=seed, system="S")
    assert len(seed) == 1
    assert [request.system for request in llm.seen] == ["S", "S"]
    assert [message["role"] for message in llm.seen[1].messages] == ["user", "assistant", "tool"]
    assert dict(llm.seen[0].tools[0]) == {"name": "weather", "description": "Tells the weather.", "parameters": CITY}
    assert len(llm.seen[0].messages) == 1


async def test_a_tool_that_is_registered_during_a_run_is_in_the_next_turns_specs() -> None:
    """Section 11, 16: in the host's registry, from within a handler or a hook."""
    registry = ToolRegistry()
    registry.register(weather(lambda args, context: registry.register(ReactTool(name="tides", handler=lambda a, c: "low")) or "ok"))
    llm = scripted_llm([call(), {"calls": [("tides", {})]}, DONE])
    result = await run(llm=llm, tools=registry)
    assert [[spec.name for spec in request.tools] for request in llm.seen[:2]] == [
        ["weather", "task_done"],
        ["weather", "tides", "task_done"],
    ]
    assert observations(result)[1] == "low"


async def test_every_turn_is_a_checkpoint_also_with_a_model_that_never_waits() -> None:
    """R21: another task gets its turn between two turns, and a cancel is seen."""

    class Quick:
        async def complete(self, **_: Any) -> Any:
            return {"tool_calls": [{"id": "", "name": "weather", "arguments": {"city": "x"}}]}

    turns = 0
    seen: list[int] = []

    def count(turn: Any) -> None:
        nonlocal turns
        turns = turn.number

    async with trio.open_nursery() as nursery:

        async def watch() -> None:
            while turns < 20:
                seen.append(turns)
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch)
        await run(llm=Quick(), hooks={"persist_turn": count}, max_turns=10_000)
    assert 20 <= turns <= 22
    assert max(later - earlier for earlier, later in pairwise(seen)) <= 2  # Trio shuffles who is first in a round


# Cancelling and what is handed out


async def test_a_cancel_ends_a_run_at_once_and_the_state_is_kept(autojump_clock: trio.testing.MockClock) -> None:
    """R18: a handler in flight is cancelled; no hook and no model call after it; the holder's messages are validly paired."""
    log: list[str] = []

    async def handler(args: dict[str, Any], context: Any) -> str:
        try:
            await trio.sleep(10)
        finally:
            log.append("handler left")
        return "never"

    llm = scripted_llm([{"calls": [("weather", {"city": "a"}), ("weather", {"city": "b"})]}])
    hooks = {name: lambda *_, name=name: log.append(name) for name in ("on_tool_result", "on_turn_end", "persist_turn")}
    holder = StateHolder()
    with trio.move_on_after(5) as scope:
        await run(llm=llm, tools=[weather(handler)], hooks=hooks, state_out=holder)
    assert scope.cancelled_caught
    assert log == ["handler left"]
    assert len(llm.seen) == 1
    assert [message.content for message in holder.messages if message.role == "tool"] == [
        "The run ended while this call was running. It may have had an effect.",
        "Not run: the run ended before this call began.",
    ]
    partial = holder.partial_result()
    assert partial is not None
    assert (partial.stopped, partial.turns) == ("unfinished", 1)


async def test_a_handler_that_swallows_a_cancel_has_nothing_after_it() -> None:
    """R18, section 11, 9: what it returned is recorded, and neither a hook nor another handler begins."""
    log: list[str] = []
    holder = StateHolder()

    async def handler(args: dict[str, Any], context: Any) -> str:
        log.append("begun")
        scope.cancel()
        with trio.CancelScope(shield=True):
            await trio.lowlevel.checkpoint()
        return "saved"

    hooks = {"on_tool_result": lambda *_: log.append("hook"), "on_turn_end": lambda *_: log.append("hook")}
    with trio.CancelScope() as scope:
        calls = [("weather", {"city": "a"}), ("weather", {"city": "b"})]
        await run({"calls": calls}, tools=[weather(handler)], hooks=hooks, state_out=holder)
    assert scope.cancelled_caught
    assert log == ["begun"]
    assert [message.content for message in holder.messages[1:]] == ["saved", "Not run: the run ended before this call began."]


# Options


@pytest.mark.parametrize(
    "options",
    [
        {"max_turns": 0},
        {"max_turns": True},
        {"max_turns": 2.0},
        {"system": None},
        {"stop_tool_name": ""},
        {"initial_messages": "Hi"},
        {"initial_messages": ""},
        {"initial_messages": 3},
        {"initial_messages": [{"role": "robot", "content": ""}]},
        {"initial_messages": [{"content": ""}]},
        {"initial_messages": [{"role": "user", "content": "", "extra": 1}]},
        {"initial_messages": [3]},
        {"hooks": {"before_tool": print}},
        {"hooks": {"should_stop": 3}},
        {"hooks": object()},
        {"guards": "loop"},
        {"guards": ""},
        {"guards": 3},
        {"guards": [object()]},
        {"on_ask": 3},
        {"max_tool_calls_per_turn": -1},
        {"tool_timeout": 0},
        {"tool_timeout": math.nan},
        {"parallel": 1},
        {"llm_errors": -1},
        {"stop_on_text": None},
        {"max_result_chars": 0},
        {"resume_from": {"version": 2}},
        {"resume_from": {}},
        {"resume_from": 3},
        {"state_out": {}},
        {"tools": "weather"},
        {"tools": 3},
        {"llm": object()},
    ],
)
async def test_an_option_that_cannot_be_is_refused_before_the_model_is_asked(options: dict[str, Any]) -> None:
    """Section 1: a BadOptionsError, whose message names the option."""
    llm = scripted_llm([])
    with pytest.raises(BadOptionsError, match=next(iter(options))):
        await run(**{"llm": llm, **options})
    assert llm.seen == []
