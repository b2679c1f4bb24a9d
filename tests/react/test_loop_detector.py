"""The loop detector: each pattern is caught before the call that closes it runs, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.guarding import Block, ModelReply, State, Stop, ToolCall, ToolResult
from foxloop_trio.react._loop import run_react_loop
from foxloop_trio.react._tools import ReactTool, ToolRegistry
from foxloop_trio.react.guards._loop_detector import LoopDetector, call_signature, result_signature
from foxloop_trio.testing import scripted_llm


class Feed:
    """One detector and its run, driven by hand."""

    def __init__(self, detector: LoopDetector | None = None, **options: Any) -> None:
        self.detector = detector or LoopDetector(**options)
        tools = [
            ReactTool(name=name, handler=print, read_only=name.startswith("read")) for name in ("a", "b", "c", "read", "read2")
        ]
        self.state = State(messages=[], registry=ToolRegistry(tools))
        self.number = 0
        self.detector.on_run_start(self.state)

    def call(self, name: str, args: Any = None, result: str | None = None, *, error: bool = False) -> list[str]:
        """One call to its end; the classes of the verdicts, before and after. Without a result of its own, each is another."""
        self.number += 1
        call = ToolCall(id=f"c{self.number}", name=name, arguments=args if args is not None else {})
        before = kinds(self.detector.before_tool(call, self.state))
        blocked = bool({"Block", "Stop"} & set(before))
        content = result if result is not None else f"result {chr(self.number + 200)}"
        told = ToolResult(tool_call_id=call.id, content="no" if blocked else content, is_error=error or blocked, blocked=blocked)
        return before + kinds(self.detector.after_tool(call, told, self.state))

    def turn(self, *names: str) -> list[str]:
        self.state.turn += 1
        said = kinds(self.detector.before_model(self.state))
        calls = tuple(ToolCall(id=f"t{self.state.turn}_{index}", name=name, arguments={}) for index, name in enumerate(names))
        self.detector.after_model(self.state, ModelReply(text=None, tool_calls=calls))
        return said


def kinds(answer: Any) -> list[str]:
    return [type(verdict).__name__ for verdict in answer or ()]


# The patterns


def test_of_three_equal_calls_two_run() -> None:
    """R40: exactly `repeat` equal calls: the last is caught before it runs."""
    feed = Feed()
    assert [feed.call("a", {"q": 1}) for _ in range(3)] == [[], [], ["Block"]]


@pytest.mark.parametrize("repeat", [2, 3, 5])
def test_repeat_says_how_many_equal_calls_are_too_many(repeat: int) -> None:
    """R40, for other numbers."""
    feed = Feed(repeat=repeat)
    assert [bool(feed.call("a")) for _ in range(repeat)] == [False] * (repeat - 1) + [True]


def test_a_circle_of_two_is_caught_at_its_sixth_call() -> None:
    """Section 6: A B A B A B."""
    feed = Feed()
    assert [feed.call(name) for name in "ababab"] == [[], [], [], [], [], ["Block"]]


def test_a_circle_that_is_left_in_time_is_none() -> None:
    """R41: A B A B A C does not trip."""
    feed = Feed()
    assert [feed.call(name) for name in "ababac"] == [[]] * 6


def test_equal_calls_with_others_between_are_no_repetition() -> None:
    """R42: A B A C A does not trip `repeat`."""
    feed = Feed()
    assert [feed.call(name) for name in "abaca"] == [[]] * 5


def test_keys_in_another_order_and_numbers_spelled_otherwise_are_the_same_call() -> None:
    """R43: `{"a": 1, "b": 2}` and `{"b": 2.0, "a": 1}` are equal; 1 and true are not."""
    assert call_signature("a", {"a": 1, "b": 2}) == call_signature("a", {"b": 2.0, "a": 1})
    assert call_signature("a", {"a": 1}) != call_signature("a", {"a": True})
    assert call_signature("a", {}) != call_signature("b", {})
    feed = Feed()
    said = [feed.call("a", args) for args in ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, {"b": 2, "a": 1.0})]
    assert said == [[], [], ["Block"]]


def test_memory_is_bounded_by_the_window() -> None:
    """R44: of ten thousand calls the last `window` are remembered, and no fewer than a circle needs."""
    feed = Feed(window=20)
    for number in range(10_000):
        feed.call("a", {"n": number})
    assert feed.detector.statistics()["remembered"] == 20
    assert feed.detector.statistics()["calls"] == 10_000
    assert Feed(window=1, repeat=3, max_period=4).detector._window == 12


def test_five_equal_results_of_one_tool_are_no_progress() -> None:
    """`no_progress`: whatever the arguments; another tool's result between them begins anew."""
    feed = Feed()
    said = [feed.call("a", {"page": page}, "nothing found") for page in range(5)]
    assert said == [[], [], [], [], ["Block", "Note"]]
    feed = Feed()
    for page in range(4):
        feed.call("a", {"page": page}, "nothing found")
    feed.call("b")
    assert feed.call("a", {"page": 9}, "nothing found") == []


def test_results_that_differ_in_a_time_or_a_long_number_say_the_same() -> None:
    """Section 6: instants and numbers of six digits or more are one mark; shorter numbers count."""
    assert result_signature("at 2026-11-30T10:00:00Z id 123456") == result_signature("at 2027-01-01T09:30:01.5+01:00 id 98765432")
    assert result_signature("12:00:01 ok") == result_signature("12:00:02 ok")
    assert result_signature("page 12345") != result_signature("page 12346")


def test_three_equal_errors_in_a_row_are_caught_whichever_tool_gave_them() -> None:
    """`same_error`: the model is told, and what is left of its turn is refused."""
    feed = Feed()
    said = [feed.call(name, {"n": name}, "no connection", error=True) for name in "abc"]
    assert said == [[], [], ["Block", "Note"]]
    feed = Feed()
    said = [feed.call("a", {"n": 1}, "x", error=True), feed.call("b"), feed.call("a", {"n": 2}, "x", error=True)]
    assert [*said, feed.call("a", {"n": 3}, "x", error=True)] == [[]] * 4


def test_turns_that_only_read_are_idle_when_that_is_asked_for() -> None:
    """`idle`: off by default; true is three turns; a turn without calls neither counts nor breaks the row."""
    feed = Feed(idle_turns=True)
    assert [feed.turn("read"), feed.turn("read", "read2"), feed.turn(), feed.turn("read"), feed.turn("read")] == [
        [], [], [], [], ["Note"],
    ]  # fmt: skip
    feed = Feed(idle_turns=2)
    assert [feed.turn(name) for name in ("read", "a", "read", "read", "read")] == [[], [], [], [], ["Note"]]
    feed = Feed()
    assert [feed.turn("read") for _ in range(9)] == [[]] * 9


# What is done about it


def test_escalation_blocks_then_notes_then_stops() -> None:
    """First `Block`, second `Block` and `Note`, third `Stop("loop_detected")`."""
    feed = Feed()
    assert [feed.call("a") for _ in range(5)] == [[], [], ["Block"], ["Block", "Note"], ["Stop"]]


def test_a_new_call_with_a_new_result_begins_the_escalation_anew() -> None:
    """Section 6: a new signature that returns a new result resets the step; a known result does not."""
    feed = Feed()
    for _ in range(3):
        feed.call("a")
    feed.call("b", result="fresh")
    assert [feed.call("a") for _ in range(3)][-1] == ["Block"]
    feed = Feed()
    feed.call("b", {"n": 0}, "known")
    for _ in range(3):
        feed.call("a", result="known")
    feed.call("b", {"n": 1}, "known")
    assert [feed.call("a", result="known") for _ in range(3)][-1] == ["Block", "Note"]


@pytest.mark.parametrize(("action", "verdicts"), [("note", ["Note"]), ("block", ["Block"]), ("stop", ["Stop"])])
def test_an_action_does_just_that_every_time(action: Any, verdicts: list[str]) -> None:
    """`note`, `block` and `stop` do not escalate."""
    feed = Feed(action=action)
    assert [feed.call("a") for _ in range(4)][2:] == [verdicts, verdicts]


def test_words_name_the_pattern_and_say_what_to_change() -> None:
    """The model reads why, the host which pattern."""
    detector = LoopDetector(action="stop")
    state = State(messages=[])
    calls = [ToolCall(id=str(number), name="look", arguments={}) for number in range(3)]
    (stop,) = [detector.before_tool(call, state) for call in calls][-1]
    assert isinstance(stop, Stop)
    assert (stop.reason, stop.detail["pattern"], stop.detail["tool"]) == ("loop_detected", "repeat", "look")
    feed = LoopDetector(repeat=2, action="block")
    feed.before_tool(calls[0], state)
    (block,) = feed.before_tool(calls[1], state)
    assert isinstance(block, Block)
    assert "change the arguments" in block.reason


# What counts


def test_ignored_tools_neither_count_nor_break_a_row() -> None:
    """`ignore`."""
    feed = Feed(ignore=("b",))
    assert [feed.call(name) for name in "abbbbaba"] == [[]] * 7 + [["Block"]]


def test_a_blocked_call_counts_as_a_call_but_has_no_result() -> None:
    """A model that insists is looping; words of a refusal are no results of a tool."""
    detector = LoopDetector(same_error=2, no_progress=2)
    state = State(messages=[])
    said = []
    for number in range(3):
        call = ToolCall(id=str(number), name="a", arguments={})
        said.append(kinds(detector.before_tool(call, state)))
        blocked = ToolResult(tool_call_id=call.id, content="not allowed", is_error=True, blocked=True)
        said.append(kinds(detector.after_tool(call, blocked, state)))
    assert said == [[], [], [], [], ["Block"], []]


def test_a_call_that_was_refused_before_guards_were_asked_counts_too() -> None:
    """Three calls of a tool that is not there are a loop as well: their errors are equal."""
    detector = LoopDetector()
    state = State(messages=[])
    said = []
    for number in range(3):
        call = ToolCall(id=str(number), name="nope", arguments={"n": number})
        said.append(
            kinds(detector.after_tool(call, ToolResult(tool_call_id=call.id, content="no tool nope", is_error=True), state))
        )
    assert said == [[], [], ["Block", "Note"]]
    assert detector.statistics()["calls"] == 3


def test_a_key_of_the_hosts_own_decides_what_is_the_same_call() -> None:
    """`key`: for example without a timestamp."""
    feed = Feed(key=lambda call: {name: value for name, value in call.arguments.items() if name != "now"})
    assert [feed.call("a", {"q": "x", "now": number}) for number in range(3)][-1] == ["Block"]


def test_arguments_that_are_no_json_are_told_apart_by_their_words() -> None:
    """Whatever a key or a model gives has a signature."""
    assert call_signature("a", {"x": {1}}) == call_signature("a", {"x": {1}}) != call_signature("a", {"x": {2}})


def test_a_run_begins_with_nothing_remembered() -> None:
    """R33: state resets in `on_run_start`."""
    feed = Feed()
    feed.call("a")
    feed.call("a")
    again = Feed(feed.detector)
    assert [again.call("a"), again.call("a")] == [[], []]
    assert again.detector.statistics() == {"calls": 2, "remembered": 2, "step": 0, "trips": {}}


@pytest.mark.parametrize(
    "options",
    [
        {"repeat": 1}, {"repeat": True}, {"window": 0}, {"max_period": 0}, {"no_progress": 1}, {"same_error": 1.5},
        {"action": "shout"}, {"ignore": "a"}, {"key": 5}, {"idle_turns": 0},
    ],
)  # fmt: skip
def test_an_option_out_of_its_range_is_refused_by_name(options: dict[str, Any]) -> None:
    """A wrong number is found when the guard is made."""
    with pytest.raises(BadOptionsError, match=next(iter(options))):
        LoopDetector(**options)


# Against a naive model


def naive(signatures: list[str], repeat: int, max_period: int) -> str | None:
    """The rule as it is written, over all calls there ever were."""
    if len(signatures) >= repeat and len(set(signatures[-repeat:])) == 1:
        return "repeat"
    for period in range(2, max_period + 1):
        tail = signatures[-repeat * period :]
        if len(tail) == repeat * period and tail == tail[:period] * repeat:
            return "cycle"
    return None


@given(st.lists(st.sampled_from("abc"), max_size=60), st.integers(2, 4), st.integers(1, 4), st.integers(1, 30))
def test_the_detector_agrees_with_a_naive_model(names: list[str], repeat: int, max_period: int, window: int) -> None:
    """Section 6, over all that was ever called: a bounded window changes no verdict about calls."""
    feed = Feed(LoopDetector(repeat=repeat, max_period=max_period, window=window, action="note"))
    for index, name in enumerate(names):
        found = naive(names[: index + 1], repeat, max_period)
        trips = dict(feed.detector.statistics()["trips"])
        said = feed.call(name)
        assert said == (["Note"] if found else []), (names[: index + 1], found)
        if found:
            assert feed.detector.statistics()["trips"][found] == trips.get(found, 0) + 1


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.booleans()), max_size=40))
def test_equal_results_and_errors_are_counted_like_a_naive_model_does(calls: list[tuple[str, str, bool]]) -> None:
    """`same_error` and `no_progress` over all results there ever were."""
    feed = Feed(LoopDetector(action="note", no_progress=4, same_error=3))
    for index, (name, content, error) in enumerate(calls):
        said = feed.call(name, {"n": index}, content, error=error)
        so_far = calls[: index + 1]
        errors = len(so_far) >= 3 and len({(text, wrong) for _, text, wrong in so_far[-3:]}) == 1 and error
        same = len(so_far) >= 4 and len({(tool, text) for tool, text, _ in so_far[-4:]}) == 1
        assert bool(said) == (errors or same)


# In a run


async def test_a_model_that_repeats_itself_is_stopped_by_its_third_insistence() -> None:
    """R40 and the escalation in a whole run: two handlers, two refusals, then `loop_detected` with its detail."""
    ran: list[str] = []
    tool = ReactTool(name="look", handler=lambda args, context: ran.append("x") or "a page")
    detector = LoopDetector()
    result = await run_react_loop(llm=scripted_llm([{"calls": [("look", {})]}] * 9), tools=[tool], system="s", guards=[detector])
    assert (result.stopped, result.turns, len(ran)) == ("loop_detected", 5, 2)
    assert result.stop_detail is not None
    assert (result.stop_detail["guard"], result.stop_detail["pattern"]) == ("LoopDetector", "repeat")
