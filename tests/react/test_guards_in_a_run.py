"""Guards in a ReAct run (R30 to R33): who is asked in which order, what each verdict does, and that a broken guard refuses."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
import trio

from foxloop_trio.react import Ask, Block, BudgetGuard, LoopDetector, Note, PolicyEngine, ReactTool, Rewrite, Stop, run_react_loop
from foxloop_trio.testing import scripted_llm

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DONE = {"calls": [("task_done", {"summary": "s"})]}
MOMENTS = ("on_run_start", "before_model", "after_model", "before_tool", "after_tool")


def call(*cities: str) -> dict[str, Any]:
    return {"calls": [("weather", {"city": city}) for city in cities]}


class Guard:
    """Says what it is told to, and writes what it is asked into a log."""

    def __init__(self, name: str = "guard", log: list[str] | None = None, **answers: Any) -> None:
        self.name = name
        self.log = log if log is not None else []
        self.answers = answers
        self.results: list[Any] = []

    def _say(self, moment: str, *args: Any) -> Any:
        self.log.append(f"{self.name} {moment}")
        answer = self.answers.get(moment)
        if isinstance(answer, Exception):
            raise answer
        return answer(*args) if callable(answer) and not isinstance(answer, type) else answer

    def on_run_start(self, state: Any) -> Any:
        return self._say("on_run_start", state)

    def before_model(self, state: Any) -> Any:
        return self._say("before_model", state)

    async def after_model(self, state: Any, reply: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return self._say("after_model", state, reply)

    async def before_tool(self, call: Any, state: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return self._say("before_tool", call, state)

    def after_tool(self, call: Any, result: Any, state: Any) -> Any:
        self.results.append(result)
        return self._say("after_tool", call, result, state)


def on_weather(verdict: Any) -> Any:
    return lambda call, state: verdict if call.name == "weather" else None


class Scene:
    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.log: list[str] = []
        self.llm: Any = None

    async def run(self, *steps: Any, **options: Any) -> Any:
        def handler(args: dict[str, Any], context: Any) -> str:
            self.log.append("handler")
            self.ran.append(args["city"])
            return f"sunny in {args['city']}"

        self.llm = scripted_llm(steps)
        tool = ReactTool(name="weather", parameters=CITY, handler=handler)
        return await run_react_loop(llm=self.llm, tools=[tool], system="", **options)


def observations(result: Any) -> list[str]:
    return [message.content for message in result.messages if message.role == "tool"]


async def test_guards_are_asked_in_their_order_and_before_the_hook() -> None:
    """R30: at each moment; the handler comes after all of them."""
    scene = Scene()
    guards = [Guard("a", scene.log), Guard("b", scene.log)]
    hooks = {
        "before_tool_call": lambda call, state: scene.log.append("hook"),
        "on_tool_result": lambda *_: scene.log.append("heard"),
    }
    await scene.run(call("x"), guards=guards, hooks=hooks, max_turns=1)
    both = [[f"{name} {moment}" for name in "ab"] for moment in MOMENTS]
    assert scene.log == [*both[0], *both[1], *both[2], *both[3], "hook", "handler", *both[4], "heard"]


@pytest.mark.parametrize("verdict", [Block("no"), Stop("policy")], ids=["block", "stop"])
async def test_the_first_refusal_ends_the_chain(verdict: Any) -> None:
    """R30: neither the next guard nor the hook is asked."""
    scene = Scene()
    hooks = {"before_tool_call": lambda call, state: scene.log.append("hook")}
    guards = [Guard("a", scene.log, before_tool=verdict), Guard("b", scene.log)]
    await scene.run(call("x"), guards=guards, hooks=hooks, max_turns=1)
    assert scene.ran == []
    assert "hook" not in scene.log
    assert "b before_tool" not in scene.log


async def test_a_blocked_call_is_answered_with_the_reason_and_shown_as_blocked() -> None:
    """R32: guards see the call before it runs, and the result after, also of one that never ran."""
    guard = Guard(before_tool=on_weather(Block("not today")))
    scene = Scene()
    result = await scene.run(call("x"), DONE, guards=[guard])
    assert observations(result)[0] == "not today"
    assert [(found.blocked, found.is_error) for found in guard.results] == [(True, True), (False, False)]
    assert result.stopped == "task_done"


async def test_a_rewrite_feeds_the_next_guard_and_the_model_knows() -> None:
    """R30: the notes stand in front of the observation; the last arguments are what runs."""
    seen: list[Any] = []

    def second(call: Any, state: Any) -> Any:
        seen.append(call.arguments)
        return Rewrite({"city": call.arguments["city"] + "!"}, "louder") if call.name == "weather" else None

    guards = [Guard(before_tool=on_weather(Rewrite({"city": "Porto"}, "nearer"))), Guard(before_tool=second)]
    scene = Scene()
    result = await scene.run(call("Lisbon"), DONE, guards=guards)
    assert seen[0] == {"city": "Porto"}
    assert scene.ran == ["Porto!"]
    assert observations(result)[0] == "nearer\nlouder\nsunny in Porto!"


async def test_a_rewrite_to_arguments_that_do_not_fit_is_refused() -> None:
    """R30, section 11, 14: they are checked again after the last rewrite."""
    scene = Scene()
    result = await scene.run(call("x"), DONE, guards=[Guard(before_tool=on_weather(Rewrite({"town": "y"})))])
    assert scene.ran == []
    assert "do not fit weather" in observations(result)[0]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_note_reaches_the_model_before_its_next_request(moment: str) -> None:
    """Section 5: as a system message, never between a call and its results."""
    scene = Scene()
    guard = Guard(**{moment: Note(f"from {moment}")})
    result = await scene.run(call("x", "y"), DONE, guards=[guard])
    notes = [message.content for message in scene.llm.seen[1].messages if message.role == "system"]
    assert set(notes) == {f"from {moment}"}
    roles = [message.role for message in result.messages]
    start = roles.index("assistant")
    assert roles[start : start + 3] == ["assistant", "tool", "tool"]


async def test_several_verdicts_can_be_given_at_once() -> None:
    """A block and a note, as the loop detector's second step wants it."""
    scene = Scene()
    result = await scene.run(call("x"), DONE, guards=[Guard(before_tool=on_weather([Note("think"), Block("again")]))])
    assert observations(result)[0] == "again"
    assert [message.content for message in scene.llm.seen[1].messages if message.role == "system"] == ["think"]


async def test_a_stop_ends_the_run_after_the_turn_is_completed_and_persisted() -> None:
    """Section 5: calls left in the turn are not run; `stop_detail` says which guard and why."""
    turns: list[Any] = []
    stop = Stop("policy", {"rule": "r1"})
    guard = Guard(before_tool=lambda call, state: stop if call.arguments == {"city": "b"} else None)
    scene = Scene()
    result = await scene.run(call("a", "b", "c"), guards=[guard], hooks={"persist_turn": turns.append})
    assert scene.ran == ["a"]
    assert (result.stopped, result.turns, result.stop_detail) == ("policy", 1, {"guard": "Guard", "rule": "r1"})
    assert len(turns[0].results) == 3
    assert observations(result)[1:] == ["Not run: the run is being stopped."] * 2
    assert [found.blocked for found in guard.results] == [False, True]


@pytest.mark.parametrize(
    ("moment", "turns", "ran"),
    [("on_run_start", 0, []), ("before_model", 0, []), ("after_model", 1, []), ("after_tool", 1, ["a"])],
)
async def test_a_stop_may_come_at_every_moment(moment: str, turns: int, ran: list[str]) -> None:
    """Section 5: a turn whose model call was refused has not begun, so it does not count."""
    scene = Scene()
    persisted: list[Any] = []
    options: dict[str, Any] = {"guards": [Guard(**{moment: Stop("mine", "words")})], "hooks": {"persist_turn": persisted.append}}
    result = await scene.run(call("a", "b"), **options)
    assert (result.stopped, result.turns, scene.ran) == ("mine", turns, ran)
    assert result.stop_detail == {"guard": "Guard", "detail": "words"}
    assert len(persisted) == turns


async def test_a_done_task_is_done_whatever_a_guard_says_afterwards() -> None:
    """Section 3, 6: the stop tool comes first in the stop checks."""
    result = await Scene().run(DONE, guards=[Guard(after_tool=Stop("budget"))])
    assert (result.stopped, result.stop_detail) == ("task_done", None)


async def test_a_stop_with_a_last_call_offers_nothing_but_the_stop_tool() -> None:
    """R63: the model may sum up; other calls are refused, and the run ends after that turn with the guard's reason."""

    def from_second(state: Any) -> Any:
        return Stop("budget", {"limit": "turns"}, last_call=True) if state.turn >= 2 else None

    for last, summary in (({"calls": [("weather", {"city": "b"}), ("task_done", {"summary": "s"})]}, "s"), ("words", None)):
        scene = Scene()
        result = await scene.run(call("a"), last, guards=[Guard(before_model=from_second)])
        assert [spec.name for spec in scene.llm.seen[1].tools] == ["task_done"]
        assert (result.stopped, result.turns, result.final_summary) == ("budget", 2, summary)
        assert scene.ran == ["a"]
        assert result.stop_detail == {"guard": "Guard", "limit": "turns"}


@pytest.mark.parametrize("answer", [True, False, None, "yes"], ids=str)
async def test_a_person_decides_and_only_true_is_a_yes(answer: Any) -> None:
    """Section 5, Ask: the host's `on_ask` gets call, reason and state; otherwise the call is blocked with the reason."""
    asked: list[Any] = []

    async def on_ask(call: Any, reason: str, state: Any) -> Any:
        await trio.lowlevel.checkpoint()
        asked.append((call.name, reason, state.turn))
        return answer

    scene = Scene()
    result = await scene.run(call("x"), DONE, guards=[Guard(before_tool=on_weather(Ask("far away")))], on_ask=on_ask)
    assert asked == [("weather", "far away", 1)]
    assert scene.ran == (["x"] if answer is True else [])
    assert observations(result)[0] == ("sunny in x" if answer is True else "far away")


async def test_without_a_host_an_ask_is_a_block() -> None:
    """Section 5: nobody's silence is a yes. After a yes the next guards are still asked."""
    scene = Scene()
    result = await scene.run(call("x"), DONE, guards=[Guard(before_tool=on_weather(Ask("far away")))])
    assert (scene.ran, observations(result)[0]) == ([], "far away")
    guards = [Guard(before_tool=on_weather(Ask("far away"))), Guard(before_tool=on_weather(Block("no")))]
    result = await scene.run(call("x"), DONE, guards=guards, on_ask=lambda *_: True)
    assert observations(result)[0] == "no"


async def test_what_on_ask_raises_ends_the_run() -> None:
    """R16: it is the host's code, like a hook."""
    scene = Scene()

    def broken(*_: Any) -> bool:
        raise LookupError("no terminal")

    with pytest.raises(LookupError, match="no terminal"):
        await scene.run(call("x"), guards=[Guard(before_tool=Ask("?"))], on_ask=broken)
    assert scene.ran == []


@pytest.mark.parametrize("answer", [ValueError("bug"), "yes", Rewrite], ids=["raises", "no verdict", "a class"])
async def test_a_guard_that_fails_blocks_the_call(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    """R31: with its class name, and the exception goes to the log; something that is no verdict is a failure too."""
    scene = Scene()
    with caplog.at_level(logging.ERROR, "foxloop_trio.guards"):
        result = await scene.run(call("x"), max_turns=1, guards=[Guard(before_tool=answer)])
    assert scene.ran == []
    name = "ValueError" if isinstance(answer, ValueError) else "TypeError"
    assert observations(result) == [f"the guard Guard failed ({name}), so this is refused"]
    assert caplog.records[0].exc_info is not None


@pytest.mark.parametrize("moment", ["after_model", "after_tool"])
async def test_a_guard_that_fails_elsewhere_refuses_the_rest_of_the_turn(moment: str) -> None:
    """R31: fail closed."""
    scene = Scene()
    result = await scene.run(call("a", "b"), max_turns=1, guards=[Guard(**{moment: ValueError("bug")})])
    assert scene.ran == (["a"] if moment == "after_tool" else [])
    assert observations(result)[1] == "the guard Guard failed (ValueError), so this is refused"


async def test_a_guard_that_fails_before_the_model_ends_the_run() -> None:
    """R31: the model is not asked."""
    scene = Scene()
    result = await scene.run(call("a"), guards=[Guard(before_model=ValueError("bug"))])
    assert (result.stopped, scene.llm.seen) == ("policy", [])
    assert result.stop_detail["guard"] == "Guard"


async def test_a_guard_serves_one_run_at_a_time() -> None:
    """R33, section 11, 15: a RuntimeError for the second run, and for a guard that stands twice in one; free again afterwards."""
    guard = Guard()
    scene = Scene()

    async def second(request: Any) -> Any:
        with pytest.raises(RuntimeError, match="serves another run"):
            await Scene().run(DONE, guards=[guard])
        return DONE

    await scene.run(second, guards=[guard])
    assert (await scene.run(DONE, guards=[guard])).stopped == "task_done"
    with pytest.raises(RuntimeError):
        await scene.run(DONE, guards=[guard, guard])
    with trio.move_on_after(0):
        await scene.run(DONE, guards=[guard])
    assert (await scene.run(DONE, guards=[guard])).stopped == "task_done"


async def test_a_guard_is_told_of_the_end_of_every_run() -> None:
    """`on_run_end`, also after an exception and a cancel, so that what it reserved can be released."""
    ends: list[int] = []

    class Ends:
        def on_run_start(self, state: Any) -> None: ...

        def on_run_end(self, state: Any) -> None:
            ends.append(state.turn)

    await Scene().run(DONE, guards=[Ends()])
    with pytest.raises(LookupError):
        await Scene().run(LookupError(), guards=[Ends()])
    with trio.move_on_after(0):
        await Scene().run(DONE, guards=[Ends()])
    assert ends == [1, 1, 1]


async def test_a_deadline_of_a_guard_cuts_the_model_and_the_handlers(autojump_clock: trio.testing.MockClock) -> None:
    """R64: a cut handler is told so; the guard says what the end means, and else the run ends as out of budget."""

    class Deadline:
        def deadline(self, state: Any) -> float:
            return 5.0

        def before_model(self, state: Any) -> Any:
            return Stop("budget", {"limit": "seconds"}) if trio.current_time() >= 5 and state.turn > 1 else None

    async def slow(args: dict[str, Any], context: Any) -> str:
        await trio.sleep(100)
        return "never"

    tool = ReactTool(name="weather", parameters=CITY, handler=slow)
    result = await run_react_loop(llm=scripted_llm([call("x")]), tools=[tool], system="", guards=[Deadline()])
    assert trio.current_time() == 5
    assert (result.stopped, result.stop_detail) == ("budget", {"guard": "Deadline", "limit": "seconds"})
    assert observations(result) == ["Out of time: this call was cut. It may have had an effect."]


async def test_a_model_that_is_cut_at_a_deadline_ends_the_run(autojump_clock: trio.testing.MockClock) -> None:
    """R64: its turn began; nothing of a late reply is used."""

    class Deadline:
        def deadline(self, state: Any) -> float:
            return 5.0

        def before_model(self, state: Any) -> Any:
            return None

    async def slow(request: Any) -> Any:
        await trio.sleep(100)
        return DONE

    turns: list[Any] = []
    result = await Scene().run(slow, guards=[Deadline()], hooks={"persist_turn": turns.append})
    assert trio.current_time() == 5
    assert (result.stopped, result.turns, len(turns)) == ("budget", 1, 1)
    assert result.stop_detail == {"guard": "deadline", "detail": "the deadline passed before the model had answered"}


async def test_every_guard_of_ours_has_statistics_that_are_plain_json() -> None:
    """J4: of a run that used all of them; and what each of them decides is the same the second time."""
    told: list[str] = []
    for _ in range(2):
        rules = [{"id": "no-porto", "effect": "deny", "match": {"args": {"city": {"equals": "Porto"}}}}]
        guards = [LoopDetector(), PolicyEngine(rules), BudgetGuard(turns=9, tool_calls=9, tokens=10**6, cost=9, prices={})]
        tool = ReactTool(name="weather", parameters=CITY, handler=lambda args, context: "sunny")
        llm = scripted_llm([call("Lisbon", "Porto"), call("Lisbon"), call("Lisbon"), DONE])
        await run_react_loop(llm=llm, tools=[tool], system="", guards=guards)
        told.append(json.dumps([guard.statistics() for guard in guards], allow_nan=False))
    assert told[0] == told[1]
    detector, policy, budget = json.loads(told[0])
    assert (detector["calls"], policy["triggered"], budget["tool_calls"], budget["turns"]) == (5, {"no-porto": 1}, 3, 4)
