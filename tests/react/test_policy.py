"""The policy engine: deny overrides, limits, questions and rewrites, and closed wherever something cannot be told."""

from __future__ import annotations

import hashlib
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.guarding import Ask, Block, Rewrite, State, Stop, ToolCall, ToolResult
from foxloop_trio.react import Decision, PolicyEngine, Rule, RuleLimit
from foxloop_trio.react._loop import run_react_loop
from foxloop_trio.react._tools import ReactTool, ToolRegistry
from foxloop_trio.testing import cancel_at_every_checkpoint, scripted_llm

TOOLS = ToolRegistry(
    [
        ReactTool(name="read_page", handler=print, read_only=True),
        ReactTool(name="send_mail", handler=print, scope="submit", risk="high"),
        ReactTool(name="shell", handler=print),
    ]
)


def state_at(turn: int = 1) -> State:
    return State(messages=[], turn=turn, registry=TOOLS)


def call(name: str = "shell", number: int = 1, **args: Any) -> ToolCall:
    return ToolCall(id=f"c{number}", name=name, arguments=args)


def decide(rules: list[Any], made: ToolCall | None = None, *, turn: int = 1, **options: Any) -> Decision:
    engine = PolicyEngine(rules, **options)
    return engine.decide(made or call(), state_at(turn))[0]


def rule(effect: str, name: str = "", **more: Any) -> dict[str, Any]:
    more = {"set": {"x": 1}, **more} if effect == "rewrite" and "remove" not in more else more
    return {"id": name or effect, "effect": effect, **more}


# Which rule wins


def test_without_rules_a_call_passes_by_default() -> None:
    """R50: no rule, default allow; with the default deny it does not."""
    assert decide([]).effect == "allow"
    assert (decide([], default="deny").effect, decide([], default="deny").rule) == ("deny", None)


@pytest.mark.parametrize("priorities", [(1, 100), (100, 1), (5, 5)])
def test_deny_beats_allow_of_any_priority(priorities: tuple[int, int]) -> None:
    """R52: deny overrides, also behind an allow."""
    rules = [rule("allow", priority=priorities[0]), rule("deny", priority=priorities[1])]
    assert (decide(rules).effect, decide(rules).rule) == ("deny", "deny")


def test_a_final_allow_before_a_deny_wins_and_behind_it_does_not() -> None:
    """Section 7, 2: the one way for an allow to stand above a deny."""
    assert decide([rule("allow", final=True, priority=1), rule("deny", priority=2)]).effect == "allow"
    assert decide([rule("allow", final=True, priority=2), rule("deny", priority=1)]).effect == "deny"


def test_a_question_comes_before_a_rewrite_and_a_rewrite_before_an_allow() -> None:
    """Section 7, 3: ask, rewrite, allow, default."""
    everything = [rule("allow"), rule("rewrite"), rule("ask")]
    assert [decide(everything[:count], default="deny").effect for count in (3, 2, 1, 0)] == ["ask", "rewrite", "allow", "deny"]


def test_of_two_denials_the_one_of_lower_priority_number_is_named() -> None:
    """Sorted by priority, then by order."""
    rules = [rule("deny", "late", priority=9), rule("deny", "first", priority=1), rule("deny", "second", priority=1)]
    assert (decide(rules).rule, decide(rules).triggered) == ("first", ("first", "second", "late"))


@given(
    st.lists(st.tuples(st.sampled_from(["allow", "deny", "ask", "rewrite", "final"]), st.integers(1, 5), st.booleans()), max_size=8)
)
def test_deny_overrides_whatever_else_is_there(shapes: list[tuple[str, int, bool]]) -> None:
    """R52 against a model that reads as section 7 does."""
    rules = []
    for number, (effect, priority, matches) in enumerate(shapes):
        match = {"tool": "shell" if matches else "other"}
        more: dict[str, Any] = {"final": True} if effect == "final" else {}
        rules.append(rule("allow" if effect == "final" else effect, f"r{number}", match=match, priority=priority, **more))
    listed = sorted(((priority, number) for number, (_, priority, matches) in enumerate(shapes) if matches))
    effects = [shapes[number][0] for _, number in listed]
    if "final" in effects:
        effects = effects[: effects.index("final") + 1]
    expected = next((effect for effect in ("deny", "ask", "rewrite") if effect in effects), "allow")
    assert decide(rules).effect == expected
    assert decide(rules).triggered == tuple(f"r{number}" for _, number in listed[: len(effects)])


# What a rule matches


@pytest.mark.parametrize(
    ("match", "matches"),
    [
        ({}, True),
        ({"tool": "shell"}, True),
        ({"tool": "Shell"}, False),
        ({"tool": "sh*"}, True),
        ({"tool": "*e*l"}, True),
        ({"tool": "shell*shell"}, False),
        ({"tool": ["read_*", "shell"]}, True),
        ({"turn": (2, 4)}, True),
        ({"turn": (None, 2)}, False),
        ({"turn": (4, None)}, False),
        ({"turn": range(1, 4)}, True),
        ({"turn": 3}, True),
        ({"scope": "submit"}, False),
        ({"args": {"q": {"equals": 1}}}, True),
        ({"args": {"q": {"equals": 1}, "other": {"present": True}}}, False),
    ],
)
def test_a_rule_matches_when_all_its_parts_do(match: dict[str, Any], matches: bool) -> None:
    """`match`: tool, args, turn, scope, risk."""
    assert (decide([rule("deny", match=match)], call(q=1), turn=3).effect == "deny") is matches


def test_tags_of_the_tool_can_be_matched() -> None:
    """`scope` and `risk`."""
    rules = [rule("deny", match={"risk": ["high", "extreme"], "scope": "submit"})]
    assert [decide(rules, call(name)).effect for name in ("send_mail", "shell", "unknown")] == ["deny", "allow", "allow"]


@pytest.mark.parametrize(("effect", "outcome"), [("deny", "deny"), ("ask", "ask"), ("allow", "deny")])
def test_a_when_that_raises_is_read_against_the_call(effect: str, outcome: str) -> None:
    """R53: a match for deny and ask, none for allow."""

    def when(call: ToolCall, state: State) -> bool:
        raise ZeroDivisionError

    assert decide([rule(effect, when=when)], default="deny" if effect == "allow" else "allow").effect == outcome


def test_an_async_when_cannot_be_told_in_time_and_is_read_against_the_call() -> None:
    """`when` is a plain function; a coroutine is always true, and must not allow."""

    async def when(call: ToolCall, state: State) -> bool:
        return False

    assert decide([rule("allow", when=when)], default="deny").effect == "deny"
    assert decide([rule("deny", when=when)]).effect == "deny"


def test_when_is_asked_last_and_its_answer_counts() -> None:
    """`when(call, state)`."""
    rules = [rule("deny", when=lambda call, state: call.arguments.get("n", 0) > 1)]
    assert [decide(rules, call(n=number)).effect for number in (1, 2)] == ["allow", "deny"]


def test_the_stop_tool_is_exempt_from_the_default_unless_a_rule_names_it() -> None:
    """R56."""
    assert decide([], call("task_done"), default="deny").effect == "allow"
    named = [rule("allow", match={"tool": "task_done", "args": {"summary": {"present": True}}})]
    assert decide(named, call("task_done"), default="deny").effect == "deny"
    assert decide(named, call("task_done", summary="x"), default="deny").effect == "allow"
    assert decide([rule("deny", match={"tool": "*"})], call("task_done"), default="deny").effect == "deny"


# What is said


async def test_a_denial_is_a_block_with_the_rules_reason_and_may_be_a_stop() -> None:
    """`deny` → `Block`; with `stop`, `Stop("policy")` with the record as its detail."""
    said = await PolicyEngine([rule("deny", reason="no shells here")]).before_tool(call(), state_at())
    assert said == Block("no shells here")
    stop = await PolicyEngine([rule("deny", reason="enough", stop=True)]).before_tool(call(), state_at())
    assert isinstance(stop, Stop)
    assert (stop.reason, stop.detail["rule"], stop.detail["triggered"]) == ("policy", "deny", ["deny"])


async def test_a_rewrite_replaces_or_removes_arguments_and_never_the_tool() -> None:
    """R54; all rewrites in order, on a copy."""
    rules = [rule("rewrite", "a", set={"to": "me", "n": 1}, reason="only to me"), rule("rewrite", "b", set={"n": 2}, remove=["cc"])]
    made = call("send_mail", to="all", cc="everyone", text="hi")
    (verdict,) = await PolicyEngine(rules).before_tool(made, state_at())
    assert verdict == Rewrite({"to": "me", "n": 2, "text": "hi"}, "only to me")
    assert made.arguments == {"to": "all", "cc": "everyone", "text": "hi"}
    with pytest.raises(ValueError, match="tool"):
        PolicyEngine([{**rule("rewrite"), "tool": "other"}])


async def test_what_a_rewrite_made_is_judged_by_the_denials_again() -> None:
    """A rewrite is no way around a denial."""
    rules = [
        rule("deny", match={"args": {"path": {"path_under": "/etc"}}}, reason="not there"),
        rule("rewrite", set={"path": "/etc/passwd"}),
    ]
    assert await PolicyEngine(rules).before_tool(call(path="/tmp/x"), state_at()) == Block("not there")


@pytest.mark.parametrize(("answer", "passes"), [(True, True), (False, False), (None, False), ("yes", False), (1, False)])
async def test_only_true_is_a_yes(answer: Any, passes: bool) -> None:
    """`on_ask`, sync and async."""

    async def later(*args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return answer

    for on_ask in (lambda *args: answer, later):
        said = await PolicyEngine([rule("ask", reason="sure?")], on_ask=on_ask).before_tool(call(), state_at())
        assert said == (None if passes else Block("sure?"))


async def test_without_an_on_ask_of_its_own_the_loops_is_asked() -> None:
    """`Ask` goes to the loop: its `on_ask`, or a block."""
    said = await PolicyEngine([rule("ask", reason="sure?"), rule("rewrite")]).before_tool(call(), state_at())
    assert said == [Rewrite({"x": 1}), Ask("sure?")]


async def test_the_person_is_asked_about_the_rewritten_call() -> None:
    """What is agreed to is what runs."""
    seen: list[Any] = []
    engine = PolicyEngine([rule("ask"), rule("rewrite")], on_ask=lambda call, reason, state: seen.append(call.arguments) or True)
    assert await engine.before_tool(call(y=2), state_at()) == [Rewrite({"y": 2, "x": 1})]
    assert seen == [{"y": 2, "x": 1}]


async def test_each_decision_is_logged_before_it_is_said() -> None:
    """The record: effect, rule, reason, evaluated, triggered, arguments_hash."""
    log: list[Decision] = []
    rules = [rule("allow", "a"), rule("deny", "b", reason="no"), rule("allow", "c", match={"tool": "other"})]
    await PolicyEngine(rules, log=log.append).before_tool(call(b=2.0, a=1), state_at())
    digest = hashlib.sha256(b'{"a":1,"b":2}').hexdigest()
    assert log[0].to_json() == {
        "effect": "deny", "rule": "b", "reason": "no", "evaluated": 3, "triggered": ["a", "b"], "arguments_hash": digest,
    }  # fmt: skip


async def test_a_log_that_raises_refuses_the_call() -> None:
    """R31: what cannot be recorded does not run."""

    def log(decision: Decision) -> None:
        raise OSError("disk full")

    ran: list[str] = []
    tool = ReactTool(name="look", handler=lambda args, context: ran.append("x") or "a page")
    llm = scripted_llm([{"calls": [("look", {})]}, {"calls": [("task_done", {"summary": "x"})]}])
    result = await run_react_loop(llm=llm, tools=[tool], system="s", guards=[PolicyEngine([], log=log)], max_turns=2)
    assert (ran, result.stopped) == ([], "max_turns")


# Limits


async def spend(engine: PolicyEngine, made: ToolCall, turn: int = 1) -> bool:
    """One call to its end; whether it passed."""
    said = await engine.before_tool(made, state_at(turn))
    blocked = isinstance(said, Block)
    engine.after_tool(made, ToolResult(tool_call_id=made.id, content="x", blocked=blocked), state_at(turn))
    return not blocked


async def test_an_allow_is_a_deny_once_its_limit_is_used_up() -> None:
    """Section 7, 4: counted when admitted; per turn it begins anew with each, per run it does not."""
    per_turn = PolicyEngine([rule("allow", limit={"per": "turn", "max": 2})])
    assert [await spend(per_turn, call(number=number), turn) for number, turn in enumerate((1, 1, 1, 2, 2, 2))] == [
        True, True, False, True, True, False,
    ]  # fmt: skip
    per_run = PolicyEngine([rule("allow", limit={"per": "run", "max": 2})])
    assert [await spend(per_run, call(number=number), number) for number in range(4)] == [True, True, False, False]
    per_run.on_run_start(state_at())
    assert await spend(per_run, call())


async def test_a_limit_by_seconds_slides(autojump_clock: Any) -> None:
    """Section 7, 4: on Trio's clock."""
    engine = PolicyEngine([rule("allow", limit={"per": 10, "max": 2})])
    passed = []
    for wait in (0, 4, 4, 2, 0, 4):
        await trio.sleep(wait)
        passed.append(await spend(engine, call(number=int(trio.current_time() * 10))))
    assert passed == [True, True, False, True, False, True]


async def test_a_call_that_was_blocked_after_all_does_not_count() -> None:
    """ "Calls already ran": a later guard's refusal gives it back."""
    engine = PolicyEngine([rule("allow", limit={"per": "run", "max": 1})])
    assert await engine.before_tool(call(), state_at()) is None
    engine.after_tool(call(), ToolResult(tool_call_id="c1", content="no", blocked=True), state_at())
    assert await spend(engine, call(number=2))
    assert not await spend(engine, call(number=3))


async def test_calls_of_one_row_are_counted_as_they_are_admitted() -> None:
    """Three calls judged before any of them ran: the limit holds all the same."""
    engine = PolicyEngine([rule("allow", limit={"per": "turn", "max": 2})])
    said = [await engine.before_tool(call(number=number), state_at()) for number in range(3)]
    assert [type(one) for one in said] == [type(None), type(None), Block]


async def test_a_limit_used_up_while_a_person_thinks_still_holds() -> None:
    """Two questions at once, one call left: the second yes comes too late."""
    engine = PolicyEngine([rule("allow", limit={"per": "run", "max": 1}), rule("ask")])
    answers: list[Any] = []

    async def on_ask(made: ToolCall, reason: str, state: State) -> bool:
        await trio.lowlevel.checkpoint()
        return True

    engine._on_ask = on_ask

    async def one(number: int) -> None:
        answers.append(await engine.before_tool(call(number=number), state_at()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(one, 1)
        nursery.start_soon(one, 2)
    assert sorted(type(answer).__name__ for answer in answers) == ["Block", "NoneType"]


# What is refused when it is made


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "r", "effect": "maybe"},
        {"id": "r", "effect": "deny", "match": {"args": {"q": {"resembles": 1}}}},
        {"id": "r", "effect": "deny", "match": {"args": {"q": {}}}},
        {"id": "r", "effect": "deny", "match": {"args": {"q": "x"}}},
        {"id": "r", "effect": "deny", "match": {"args": {"": {"equals": 1}}}},
        {"id": "r", "effect": "deny", "match": {"args": {"q..x": {"equals": 1}}}},
        {"id": "r", "effect": "deny", "match": {"args": ["q"]}},
        {"id": "r", "effect": "deny", "match": {"moon": "full"}},
        {"id": "r", "effect": "deny", "match": {"tool": ""}},
        {"id": "r", "effect": "deny", "match": {"turn": "first"}},
        {"id": "r", "effect": "deny", "match": []},
        {"id": "r", "effect": "deny", "colour": "red"},
        {"id": "r", "effect": "deny", "final": True},
        {"id": "r", "effect": "allow", "stop": True},
        {"id": "r", "effect": "deny", "set": {"x": 1}},
        {"id": "r", "effect": "rewrite"},
        {"id": "r", "effect": "rewrite", "remove": "x"},
        {"id": "r", "effect": "rewrite", "set": {"x": 1}, "limit": {"per": "run", "max": 1}},
        {"id": "r", "effect": "allow", "limit": {"per": "week", "max": 1}},
        {"id": "r", "effect": "allow", "limit": {"per": 0, "max": 1}},
        {"id": "r", "effect": "allow", "limit": {"per": "run", "max": -1}},
        {"id": "r", "effect": "allow", "limit": {"per": "run", "max": 10**6}},
        {"id": "r", "effect": "allow", "limit": {"per": "run"}},
        {"id": "r", "effect": "allow", "limit": 3},
        {"id": "r", "effect": "deny", "when": "always"},
        {"id": "r", "effect": "deny", "priority": 1.5},
        {"id": "", "effect": "deny"},
        {"effect": "deny"},
        "deny everything",
    ],
)
def test_what_is_unknown_is_refused_when_the_engine_is_made(wrong: Any) -> None:
    """R51: a rule that would silently never match protects nobody."""
    with pytest.raises(ValueError):
        PolicyEngine([wrong])


def test_two_rules_with_one_id_and_an_unknown_default_are_refused() -> None:
    """R51: a record that names a rule names one."""
    with pytest.raises(ValueError, match="two rules"):
        PolicyEngine([rule("deny"), rule("deny")])
    with pytest.raises(ValueError, match="default"):
        PolicyEngine([], default="ask")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="log"):
        PolicyEngine([], log="file")  # type: ignore[arg-type]


def test_rules_are_frozen() -> None:
    """A policy does not change while it holds."""
    made = Rule(id="r", effect="allow", limit=RuleLimit(per="run", max=1))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        made.effect = "deny"  # type: ignore[misc]


# In a run


async def test_statistics_count_decisions_and_rules() -> None:
    """J4: each guard has a `statistics()`."""
    engine = PolicyEngine([rule("allow", "a"), rule("deny", "d", match={"tool": "shell"})])
    await spend(engine, call())
    await spend(engine, call("read_page", 2))
    assert engine.statistics() == {"decisions": {"allow": 1, "deny": 1, "ask": 0, "rewrite": 0}, "triggered": {"a": 2, "d": 1}}


async def test_a_cancel_while_a_person_is_asked_runs_nothing() -> None:
    """The sweep over a run with a policy that asks and rewrites: after the cancel no handler starts."""
    ran: list[Any] = []
    asked: list[Any] = []

    async def on_ask(made: ToolCall, reason: str, state: State) -> bool:
        await trio.lowlevel.checkpoint()
        asked.append(made)
        await trio.lowlevel.checkpoint()
        return True

    async def handler(args: Any, context: Any) -> str:
        ran.append(args)
        await trio.lowlevel.checkpoint()
        return "sent"

    async def whole_run() -> None:
        ran.clear(), asked.clear()
        engine = PolicyEngine([rule("ask"), rule("rewrite", set={"to": "me"}, match={"tool": "send"})], on_ask=on_ask)
        llm = scripted_llm([{"calls": [("send", {})] * 2}, {"calls": [("task_done", {"summary": "x"})]}])
        await run_react_loop(llm=llm, tools=[ReactTool(name="send", handler=handler)], system="s", guards=[engine])

    async def check(visit: Any) -> None:
        assert len(ran) <= len(asked)
        assert all(args == {"to": "me"} for args in ran)

    report = await cancel_at_every_checkpoint(whole_run, check=check)
    assert report.checkpoints >= 10
