"""`ask_user_tool`: the planner's way to ask the person it works for.

A question is a call like any other: it needs a grant, it is judged, and it is on record. The host program brings the function that
asks; this module owns what may be asked how often, and what the planner is told. However asking goes wrong, the planner gets a
failed result and the run goes on.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final

from ..actions import ToolContext, ToolOutput
from ..errors import BadOptionsError, BadToolError
from ..prompt import LIMITS
from ._tool import Args, Tool, define_tools

AskFunction = Callable[[str, ToolContext], str | Awaitable[str | None] | None]

QUESTION_LIMIT: Final = 300
ANSWER_LIMIT: Final = 500
"""Characters of a question, and of the part of an answer that the planner gets: a person's line, not a document."""
RUNS_REMEMBERED: Final = 1024
"""Runs whose questions are counted at the same time. The one that asked longest ago is forgotten first, so a run could only ask
more than it may while more than a thousand others are asking too."""

NO_ANSWER: Final = "The user gave no answer. Go on without it, or finish."
ASKING_FAILED: Final = "The user could not be asked; the error is quoted below. Go on without an answer, or finish."


def ask_user_tool(ask: AskFunction, *, domain: str = "user.foxloop", max: int = 3) -> Tool:  # noqa: A002 - the word of the contract
    """A tool `ask_user` with which the planner asks the person it works for.

    * `ask`: ``(question, ctx) -> answer or None``, sync or async; a sync one must not wait, since nothing else runs meanwhile.
    * `domain`: what the gate judges questions for. The scope is ``read``, so the host grants ``read`` on exactly this name.
    * `max`: questions in one run; the next one is a failed result, and `ask` is not called.

    The answer, without white space around it and cut to 500 characters, is the summary of an ok result, which the planner reads as
    trusted: it is the user's own word. The calls after it in the same reply are skipped. None, an empty answer and an exception are
    failed results; the words of an exception reach the planner as outside text only. The time is the user's, not work time:
    `Budget.approval_seconds` bounds it, and an abort ends the wait.

    Raises BadOptionsError, naming the option, for an `ask` that does not take two arguments, a `domain` that is no host name, or a
    `max` that is no whole number of 1 or more.
    """
    _require_two_arguments(ask)
    if isinstance(max, bool) or not isinstance(max, int) or max < 1:
        raise BadOptionsError(f"ask_user_tool: max must be a whole number of 1 or more, not {repr(max)[:80]}")
    asked: OrderedDict[str, int] = OrderedDict()

    def may_ask(run_id: str) -> bool:
        count = asked.get(run_id, 0)
        if count >= max:
            return False
        asked[run_id] = count + 1
        asked.move_to_end(run_id)
        if len(asked) > RUNS_REMEMBERED:
            asked.popitem(last=False)
        return True

    async def run(args: Args, ctx: ToolContext) -> ToolOutput:
        if not may_ask(ctx.run_id):
            return _failed(f"The user was asked {_times(max)} in this run, which is the limit. Go on without asking, or finish.")
        ctx.report_effect("partial", {"answered": False})  # what is true if the wait is cut
        try:
            answer: Any = ask(args["question"], ctx)
            if inspect.isawaitable(answer):
                answer = await answer
            text = _text_of(answer)
        except Exception as fault:
            return _failed(ASKING_FAILED, untrusted=_words_of(fault))
        if not text:
            return _failed(NO_ANSWER)
        ctx.report_effect("done", {"answered": True})
        return ToolOutput(ok=True, summary=text, stop_batch=True)

    made = Tool(
        name="ask_user",
        description=(
            f"Ask the user one short question, for what only they can know or decide. At most {_times(max)} in a run. "
            "The result is the user's own answer."
        ),
        parameters={
            "type": "object",
            "properties": {
                "question": {
                    "type": "string",
                    "description": "The question, in the user's language.",
                    "minLength": 1,
                    "maxLength": QUESTION_LIMIT,
                },
            },
            "required": ["question"],
        },
        scope="read",
        domain=_host(domain),
        run=run,
        human=True,
    )
    try:
        define_tools([made])  # a mistake shows here, not when a registry is built
    except BadToolError as fault:
        raise BadOptionsError(f"ask_user_tool: {fault}") from fault
    return made


def _require_two_arguments(ask: object) -> None:
    if not callable(ask):
        raise BadOptionsError(f"ask_user_tool: ask must be a function of question and context, not {type(ask).__name__}")
    try:
        inspect.signature(ask).bind(None, None)
    except TypeError:
        raise BadOptionsError(f"ask_user_tool: ask must take two arguments, question and context; {ask!r} does not") from None
    except ValueError:
        return  # a builtin without a signature: it will be heard when it is called


def _host(domain: object) -> str:
    if not isinstance(domain, str):
        raise BadOptionsError(f"ask_user_tool: domain must be a host name such as user.foxloop, not {type(domain).__name__}")
    return domain


def _text_of(answer: object) -> str:
    """The answer as the planner may have it; empty when there is none."""
    if answer is None:
        return ""
    if not isinstance(answer, str):
        raise TypeError(f"ask answered {type(answer).__name__}, not text or None")
    return _whole(answer.strip()[:ANSWER_LIMIT])


def _words_of(fault: Exception) -> str:
    try:
        return _whole(str(fault)[: LIMITS["error"]]) or type(fault).__name__
    except Exception:
        return type(fault).__name__


def _whole(text: str) -> str:
    """Without lone surrogates, which a terminal can give and no record can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _failed(summary: str, *, untrusted: str | None = None) -> ToolOutput:
    return ToolOutput(ok=False, summary=summary, untrusted=untrusted)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
