"""What the tool `browser_task` says: a summary for the planner, a description for the human, and what is quoted from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .._quoting import quote, quote_strictly
from ..tools._words import say_spending
from ._reasons import MESSAGES
from ._run import TaskResult
from ._sites import host_in

__all__ = ["describe_task", "outside_words", "say_task"]

MAX_DESCRIPTION: Final = 2000
"""Characters of a description that are shown; what matters most comes first."""
MAX_GOAL_SHOWN: Final = 400
MAX_ADDRESS_SHOWN: Final = 200
MAX_SHOWN: Final = 60

_STATUS: Final = {
    "done": "The task is done",
    "blocked": "The task was blocked",
    "stopped": "The task was stopped",
    "error": "The task failed",
}


def say_task(result: TaskResult) -> str:
    """In our words and numbers: how it ended, and what to do next."""
    parts = [_STATUS[result.status]]
    if result.blocked_reason is not None:
        parts.append(f" ({result.blocked_reason}: {MESSAGES[result.blocked_reason]})")
    elif result.status == "done":
        parts.append(" and verified" if result.verified else ", but not verified")
    count = len(result.steps)
    parts.append(f", after {count} step{'' if count == 1 else 's'}.")
    if result.sent:
        parts.append(f" {len(result.sent)} form{' was' if len(result.sent) == 1 else 's were'} sent.")
    else:
        parts.append(" No form was sent.")
    if result.unmatched:
        many = len(result.unmatched)
        parts.append(f" {many} part{' of the goal fits' if many == 1 else 's of the goal fit'} no control.")
    parts.append(" Call snapshot to see the page.")
    return "".join(parts)


def outside_words(result: TaskResult) -> str | None:
    """What page and goal say: why it was blocked, each check, each part that fitted nothing."""
    lines: list[str] = []
    if result.blocked_reason is not None:
        lines.append(f"Blocked: {result.blocked_reason}: {result.message}{f': {result.detail}' if result.detail else ''}")
    elif result.detail:
        lines.append(f"{result.message or 'Detail'}: {quote(result.detail)}")
    if result.problem is not None:
        lines.append(f"Problem of the page: {result.problem}")
    lines += [f"{'ok' if line.ok else 'not ok'}: {quote(line.part)}: {line.evidence}" for line in result.checks]
    lines += [f"no control fits: {quote(part)}" for part in result.unmatched]
    return "\n".join(lines) or None


def describe_task(args: Mapping[str, Any]) -> str:
    """The task in words, from what was judged alone. One line for each thing; no label can make a line of its own."""
    form = args["form"]
    lines = [
        f"do a task on the page {_shown(form['url'], MAX_ADDRESS_SHOWN)}",
        f"goal: {_shown(args['goal'], MAX_GOAL_SHOWN)}",
        "one yes covers every field and click that it chooses, the send included",
        *_sending(form),
        *([say_spending(args["spends"])] if "spends" in args else []),
    ]
    lines += [f"takes a risk ({risk['risk']}): {_shown(risk['label'])}" for risk in form["risks"]]
    fields = [_field(field) for field in form["fields"]] or ["nothing to fill in is found on this page"]
    lines += fields
    if form["unmatched"]:
        lines.append(f"fits no control: {', '.join(_shown(part) for part in form['unmatched'])}")
    return _bounded(lines)


def _sending(form: Mapping[str, Any]) -> Iterator[str]:
    send, there = form["send"], form["destination"]
    if send is None:
        yield "no form would be sent"
    else:
        how = "by Enter in" if send["how"] == "enter" else "with"
        where = "to an address that the page does not tell"
        if there is not None:
            where = f"by {quote_strictly(there['method'])} to {_shown(there['url'], MAX_ADDRESS_SHOWN)}"
            if there["host"] != host_in(form["url"]):
                where += f", which is on ANOTHER HOST than the page: {_shown(there['host'] or 'none', MAX_ADDRESS_SHOWN)}"
        yield f"sends its form {how} {send['role']} {_shown(send['label'])}, {where}"
    if form["blocked"] is not None:
        yield f"it would stop before that: {form['blocked']}"


def _field(field: Mapping[str, Any]) -> str:
    name = f"{field['role']} {_shown(field['label'])}"
    match field["op"]:
        case "keep":
            return f"{name} is as wanted already"
        case "click" | "check" | "uncheck" as op:
            return f"{op} {name}"
        case op:
            return f"{op} {_shown(field['value'] or '')} into {name}"


def _shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Quoted; what is longer is cut, and how much there is stands behind it."""
    quoted = quote_strictly(text)
    return quoted if len(quoted) <= limit else f'{quoted[:limit]}…" ({len(text)} characters in all)'


def _bounded(lines: list[str]) -> str:
    """As many whole lines as fit, and how many there are more."""
    kept: list[str] = []
    left = MAX_DESCRIPTION - len("\n(and 999 more)")
    for line in lines:
        if len(line) + 1 > left:
            kept.append(f"(and {len(lines) - len(kept)} more)")
            break
        kept.append(line)
        left -= len(line) + 1
    return "\n".join(kept)
