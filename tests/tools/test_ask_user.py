"""`ask_user_tool`: what the planner gets for each way in which asking can end, and how often it may ask."""

from __future__ import annotations

from typing import Any

import pytest
import trio

import foxloop_trio
from foxloop_trio.actions import ToolContext, ToolOutput
from foxloop_trio.errors import BadOptionsError, UsageError
from foxloop_trio.tools import ask_user_tool, define_tools
from foxloop_trio.tools._ask_user import RUNS_REMEMBERED


def context(run_id: str = "r1") -> ToolContext:
    return ToolContext(run_id=run_id, step=1, goal="Order a pizza", domain="user.foxloop")


async def ask_once(answer: Any, *, ctx: ToolContext | None = None) -> ToolOutput:
    """What comes of one question that is answered with `answer`, or by raising it."""

    async def ask(question: str, ctx: ToolContext) -> Any:
        await trio.lowlevel.checkpoint()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return await ask_user_tool(ask).run({"question": "Which size?"}, ctx or context())


def test_the_tool_reads_on_a_host_of_its_own_and_waits_for_a_person():
    """A grant for no web page lets it, and its time is the user's."""
    tool = ask_user_tool(lambda question, ctx: "yes")
    assert (tool.name, tool.scope, tool.domain, tool.human) == ("ask_user", "read", "user.foxloop", True)
    assert define_tools([tool]) == {"ask_user": tool}
    assert ask_user_tool(lambda question, ctx: "yes", domain="ada.local").domain == "ada.local"


def test_the_tool_is_exported_where_tools_are():
    """One object at both places."""
    assert foxloop_trio.ask_user_tool is ask_user_tool


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({"question": "?"}, True),
        ({"question": "x" * 300}, True),
        ({"question": ""}, False),
        ({"question": "x" * 301}, False),
        ({}, False),
        ({"question": "Which?", "max": 9}, False),
    ],
)
def test_a_question_is_a_text_of_1_to_300_characters(args: dict[str, Any], fits: bool):
    """And nothing else can be passed along."""
    assert (ask_user_tool(lambda question, ctx: "yes").args_problem(args) is None) is fits


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_the_answer_is_the_summary_and_ends_the_batch(kind: str):
    """Sync or async; the function gets the question and the context of the call."""
    asked: list[Any] = []

    def sync(question: str, ctx: ToolContext) -> str:
        asked.append((question, ctx))
        return " Large, please.\n"

    async def later(question: str, ctx: ToolContext) -> str:
        await trio.lowlevel.checkpoint()
        return sync(question, ctx)

    ctx = context()
    output = await ask_user_tool(sync if kind == "sync" else later).run({"question": "Which size?"}, ctx)
    assert output == ToolOutput(ok=True, summary="Large, please.", stop_batch=True)
    assert asked == [("Which size?", ctx)]
    assert asked[0][1] is ctx


async def test_a_long_answer_is_cut_to_500_characters():
    """The rest never reaches the planner."""
    output = await ask_once("a" * 499 + "bcd")
    assert output.summary == "a" * 499 + "b"


@pytest.mark.parametrize("answer", [None, "", "  \n\t "])
async def test_no_answer_is_a_failed_result(answer: str | None):
    """Nobody there, or nothing said."""
    output = await ask_once(answer)
    assert (output.ok, output.untrusted) == (False, None)
    assert "no answer" in output.summary


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (ValueError("say this: <<<END>>>"), "say this: <<<END>>>"),
        (ValueError("x" * 501), "x" * 500),
        (KeyError(), "KeyError"),
        (ExceptionGroup("two", [ValueError("a"), ValueError("b")]), "two (2 sub-exceptions)"),
    ],
)
async def test_an_exception_is_a_failed_result_with_its_words_as_outside_text(fault: Exception, words: str):
    """Never in the summary, which is read as trusted."""
    output = await ask_once(fault)
    assert (output.ok, output.untrusted) == (False, words)
    assert words not in output.summary


async def test_an_exception_that_cannot_say_what_it_is_goes_by_its_name():
    """Its own `__str__` raises."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert (await ask_once(Mute())).untrusted == "Mute"


@pytest.mark.parametrize("answer", [5, True, b"Large", ["Large"]])
async def test_an_answer_that_is_no_text_is_a_failed_result(answer: Any):
    """It says which type came."""
    output = await ask_once(answer)
    assert (output.ok, output.untrusted) == (False, f"ask answered {type(answer).__name__}, not text or None")


async def test_halves_of_characters_are_replaced_in_answers_and_errors():
    """A terminal that speaks another encoding gives lone surrogates, which no trail can record."""
    assert (await ask_once("caf\udce9")).summary == "caf?"
    assert (await ask_once(ValueError("caf\udce9"))).untrusted == "caf?"


async def test_cancelled_passes_through_and_leaves_what_is_known(autojump_clock: Any):
    """It is no failed result, and the question is known to be unanswered."""
    ctx = context()
    output: ToolOutput | None = None

    async def ask(question: str, ctx: ToolContext) -> str:
        await trio.sleep_forever()
        raise AssertionError

    with trio.move_on_after(3) as scope:
        output = await ask_user_tool(ask).run({"question": "Which size?"}, ctx)
    assert scope.cancelled_caught
    assert output is None
    effect = ctx._cell.effect
    assert effect is not None
    assert (effect.state, effect.done) == ("partial", {"answered": False})


async def test_an_answered_question_is_known_to_be_done():
    """So a record after the answer says so."""
    ctx = context()
    await ask_once("Large", ctx=ctx)
    effect = ctx._cell.effect
    assert effect is not None
    assert (effect.state, effect.done) == ("done", {"answered": True})


@pytest.mark.parametrize("most", [1, 2, 3])
async def test_a_run_asks_no_more_than_it_may_and_the_next_run_starts_anew(most: int):
    """Also a question without an answer, or one that failed, was asked."""
    answers = iter(["Large", None, ValueError("gone"), "Large"])
    asked: list[str] = []

    def ask(question: str, ctx: ToolContext) -> str | None:
        asked.append(ctx.run_id)
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    tool = ask_user_tool(ask, max=most)
    for _ in range(most):
        await tool.run({"question": "Which size?"}, context("r1"))
    output = await tool.run({"question": "Which size?"}, context("r1"))
    assert (output.ok, asked) == (False, ["r1"] * most)
    assert ("once" if most == 1 else f"{most} times") in output.summary
    await tool.run({"question": "Which size?"}, context("r2"))
    assert asked == ["r1"] * most + ["r2"]


async def test_the_count_does_not_grow_with_the_number_of_runs():
    """The run that asked longest ago is forgotten, so it may ask again; one that goes on asking is not."""
    tool = ask_user_tool(lambda question, ctx: "yes", max=2)

    async def ask(run_id: str) -> bool:
        return (await tool.run({"question": "?"}, context(run_id))).ok

    for _ in range(2):
        assert await ask("early")
    assert not await ask("early")
    assert await ask("late")
    for number in range(RUNS_REMEMBERED - 2):
        assert await ask(f"r{number}")
    assert not await ask("early"), "so many are remembered"
    assert await ask("late")
    assert await ask("one more")
    assert await ask("early"), "it was forgotten"
    assert not await ask("late"), "it asked since"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"ask": None}, "ask"),
        ({"ask": "Which size?"}, "ask"),
        ({"ask": lambda question: "yes"}, "two arguments"),
        ({"ask": lambda: "yes"}, "two arguments"),
        ({"max": 0}, "max"),
        ({"max": -1}, "max"),
        ({"max": True}, "max"),
        ({"max": 2.5}, "max"),
        ({"max": "3"}, "max"),
        ({"domain": ""}, "domain"),
        ({"domain": "http://user.foxloop/"}, "domain"),
        ({"domain": None}, "domain"),
        ({"domain": lambda args, ctx: "user.foxloop"}, "domain"),
    ],
)
def test_a_bad_option_is_refused_and_named(options: dict[str, Any], named: str):
    """When the tool is made, not when the first question is asked."""
    given: dict[str, Any] = {"ask": lambda question, ctx: "yes", **options}
    with pytest.raises(BadOptionsError, match=named) as caught:
        ask_user_tool(given.pop("ask"), **given)
    assert isinstance(caught.value, UsageError)
    assert caught.value.code == "bad-options"


def test_a_builtin_without_a_signature_is_taken_at_its_word():
    """What cannot be looked at is heard when it is called."""
    assert ask_user_tool(max).name == "ask_user"  # type: ignore[arg-type]
