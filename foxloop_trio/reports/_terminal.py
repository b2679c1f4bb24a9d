"""The story of a run in a terminal: the same words as on the page, in the width there is.

Texts from outside are bounded, their hidden characters are written out, and none is read as markup, so nothing in a trail can move
the cursor or colour what is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from . import _words as words
from ._nouns import Call, CallState, Claim, Evidence, Remark, SpanKind, Status, Step, Story, Use
from ._values import compact
from ._visible import clipped, one_line, pieces

__all__ = ["render_story"]

TEXT: Final = 600
"""Characters of one text: about what a person reads in a terminal. The page and the JSON have more."""
ARGS: Final = 240
BAR: Final = 40
"""Cells of the longest bar."""
MOST_RUNS: Final = 12
"""Runs that are listed: the last ones."""
NARROW: Final = 60
"""Columns below which things that stand beside each other are put below each other."""

STATUS: Final[dict[Status, str]] = {"done": "green", "blocked": "red", "aborted": "yellow", "unfinished": "yellow"}
CALL: Final[dict[CallState, str]] = {
    "done": "green", "failed": "red", "refused": "red", "not-approved": "red",
    "held-back": "yellow", "stopped": "yellow", "in-doubt": "yellow",
}  # fmt: skip
SPAN: Final[dict[SpanKind | None, tuple[str, str]]] = {
    "planner": ("█", "blue"), "tool": ("▓", "cyan"), "human": ("▒", "yellow"), None: ("░", "dim"),
}  # fmt: skip


def render_story(story: Story, console: Console) -> None:
    """Print a story that `tell_story` told, with the colours and in the width of `console`."""
    for line in _Writer(console.width).story(story):
        console.print(line)


class _Writer:
    def __init__(self, width: int) -> None:
        self._narrow = width < NARROW

    def story(self, story: Story) -> Iterator[Any]:
        if len(story.runs) > 1:
            yield from self._runs(story)
        yield outside(story.goal or "The goal is not on record", style="bold")
        yield from self._end(story)
        yield Text()
        yield from self._time(story)
        yield Text()
        yield from self._uses(story.uses)
        for step in story.steps:
            yield Text()
            yield from self._step(step)
        if not story.steps:
            yield Text("\nThe record has no step of this run.", style="dim")

    def _runs(self, story: Story) -> Iterator[Any]:
        """The runs of the trail, with the one that is told."""
        yield Text(f"{words.count(len(story.runs))} runs in this trail; choose one by its id.", style="dim")
        for run in story.runs[-MOST_RUNS:]:
            mark, word = words.STATUS[run.status]
            line = Text.assemble("▸ " if run.id == story.run else "  ")
            line.append_text(outside(words.short(run.id), 40, style="bold" if run.id == story.run else "dim"))
            line.append(f"  {mark} {word}", STATUS[run.status]).append("  ").append_text(
                outside(run.goal or "no goal on record", 80)
            )
            yield line
        yield Text()

    def _end(self, story: Story) -> Iterator[Any]:
        outcome, totals = story.outcome, story.totals
        mark, word = words.STATUS[outcome.status]
        cost = f" · {words.amount(totals.cost)}" if totals.cost is not None else ""
        end = Text.assemble((f"{mark} {word}", f"bold {STATUS[outcome.status]}"))
        if not outcome.proven:
            end.append("  ✕ not proven", "bold red")
        end.append("  ")
        end.append_text(
            outside(
                f"{words.duration(totals.wall_ms)} · {words.plural(totals.steps, 'planner request')} · "
                f"{words.plural(totals.tool_runs, 'tool run')} · {'about ' if totals.estimated else ''}"
                f"{words.plural(totals.input_tokens + totals.output_tokens, 'token')}{cost}",
                style="dim",
            )
        )
        yield end
        for text in (outcome.summary, outcome.message, outcome.problem):
            if text:
                yield outside(text)
        yield from self._evidence(outcome.checks, 0)
        for line in words.outcome(outcome):
            yield outside(line, style="dim")
        if story.in_doubt:
            names = ", ".join(story.in_doubt)
            said = "It was allowed, and no result is on record. Look before anybody does it again."
            said = "It was allowed, and no result is on record. Look before anybody does it again."
            yield outside(f"? In doubt: {names}. {said}", style="yellow")
        mark, word, said = words.proof(story.proof)
        tone = {"verified": "green", "faulty": "bold red", "unchecked": "dim"}[story.proof.state]
        yield outside(f"{mark} {word}. {said}", style=tone)
        began = words.instant(story.started_ts)
        yield outside(
            f"Run {story.run}"
            + (f", begun {began}" if began is not None else "")
            + (f", goes on from {story.resumes}" if story.resumes is not None else ""),
            style="dim",
        )

    # Time and budgets

    def _time(self, story: Story) -> Iterator[Any]:
        shares = words.shares(story)
        whole = sum(ms for _, _, ms in shares)
        if not whole:
            yield Text("No durations are on record.", style="dim")
            return
        bar = Text()
        for kind, _, ms in shares:
            cell, style = SPAN[kind]
            bar.append(cell * (max(1, round(BAR * ms / whole)) if ms else 0), style)
        yield bar
        legend = Text()
        for kind, name, ms in shares:
            cell, style = SPAN[kind]
            if legend:
                legend.append("\n" if self._narrow else "   ")
            legend.append(f"{cell} ", style).append(f"{name} {words.duration(ms)}")
        yield legend

    def _uses(self, uses: tuple[Use, ...]) -> Iterator[Any]:
        table = Table.grid(padding=(0, 2))
        for use in uses:
            used = ("about " if use.estimated else "") + words.quantity(use, use.used)
            if use.limit is None:
                bar, said = Text("no limit", style="dim"), used
            else:
                share = 1.0 if use.limit <= 0 else min(1.0, use.used / use.limit)
                full = round(share * BAR / 4)
                tone = "red" if use.hit else "yellow" if share >= 0.8 else "blue"
                bar = Text.assemble(("━" * full, tone), ("─" * (BAR // 4 - full), "dim"))
                said = f"{used} of {words.quantity(use, use.limit)}" + ("  ✕ ended the run" if use.hit else "")
            cells = [Text(words.USE[use.name]), outside(said, style="red" if use.hit else "")]
            table.add_row(*(cells if self._narrow else [cells[0], bar, cells[1]]))
        yield table

    # Steps

    def _step(self, step: Step) -> Iterator[Any]:
        title = f"Step {words.count(step.number)}" if step.number else "Before the first request"
        told = [f"at {words.duration(step.at_ms)}"]
        if step.planner_ms is not None:
            told.append(f"planner {words.duration(step.planner_ms)}")
        if step.input_tokens is not None or step.output_tokens is not None:
            tokens = (step.input_tokens or 0) + (step.output_tokens or 0)
            told.append(f"{'about ' if step.estimated else ''}{words.plural(tokens, 'token')}")
        heading = Text.assemble((title, "bold"), (f"  {' · '.join(told)}", "dim"))
        if not step.proven:
            heading.append("  ✕ not proven", "red")
        yield heading
        if step.problem is not None:
            yield _in(outside(f"! The reply could not be used, and the planner was told so: {step.problem}", style="yellow"), 2)
        if step.text:
            yield _in(outside(step.text, style="italic"), 2)
        if step.repairs:
            yield _in(outside(f"Repaired in the reply: {', '.join(step.repairs)}", style="dim"), 2)
        if step.asked and not step.answered and not any(isinstance(item, Claim) for item in step.items):
            yield _in(Text("The planner was asked; no reply is on record.", style="dim"), 2)
        for item in step.items:
            match item:
                case Call():
                    yield from self._call(item)
                case Claim():
                    yield from self._claim(item)
                case Remark():
                    yield from self._remark(item)

    def _call(self, call: Call) -> Iterator[Any]:
        mark, word = words.CALL[call.state]
        tone = CALL.get(call.state, "dim")
        head = Text.assemble((f"{mark} ", f"bold {tone}"))
        head.append_text(outside(call.name or "(no name)", 100, style="bold"))
        if call.state != "done":
            head.append(f"  {word}", tone)
        if call.args not in ({}, None):
            head.append("  ").append_text(outside(_args(call.args), ARGS, style="dim"))
        if call.tool_ms:
            head.append(f"  {words.duration(call.tool_ms)}", "cyan")
        yield _in(head, 2)
        said = words.call(call)
        if said is not None:
            yield _in(Text(said), 4)
        where = [part for part in (call.target, call.domain) if part is not None]
        where += [f"scope {call.scope}"] if call.scope is not None else []
        where += [words.amount(call.amount)] if call.amount is not None else []
        if where:
            yield _fact("on", ", ".join(where))
        for decision in call.decisions:
            yield _fact("gate", words.decision(decision), "red" if decision.decision == "deny" else "")
        if call.approval is not None:
            yield _fact("human", words.approval(call.approval), "yellow")
            if call.approval.detail:
                yield _fact("", call.approval.detail)
        result = call.result
        if result is not None:
            reason = f"{result.reason}: " if result.reason is not None else ""
            outside_text = f" (and {words.plural(len(result.page), 'character')} from outside)" if result.page is not None else ""
            yield _fact("result", reason + result.summary, "" if result.ok else "red", then=outside_text)
            if result.detail:
                yield _fact("detail", result.detail)
            yield from self._evidence(result.checks, 12)
            if result.page_problem is not None:
                yield _fact("page", result.page_problem, "yellow")
        if call.effect is not None and (result is None or not result.ok or call.effect.state != "done"):
            done = f", namely {_args(call.effect.done)}" if call.effect.done is not None else ""
            yield _fact("effect", call.effect.state + done)
        if call.late is not None:
            yield _fact("late", call.late)
        if call.repairs:
            yield _fact("repair", ", ".join(call.repairs))

    def _claim(self, claim: Claim) -> Iterator[Any]:
        mark, word, tone = ("✓", "claim holds", "green") if claim.ok else ("✕", "claim does not hold", "red")
        who = "the planner" if claim.by == "planner" else "the host's own look"
        head = Text.assemble((f"{mark} {word}", f"bold {tone}"), f"  {who} says that the goal is reached")
        if claim.summary:
            head.append(": ").append_text(outside(claim.summary))
        yield _in(head, 2)
        yield from self._evidence(claim.checks, 4)
        if claim.problem:
            yield _in(outside(claim.problem), 4)

    def _evidence(self, checks: tuple[Evidence, ...], indent: int) -> Iterator[Any]:
        for line in checks:
            mark, tone = ("✓", "green") if line.ok else ("✕", "red")
            text = Text.assemble((f"{mark} ", tone))
            text.append_text(outside(f"{line.part} {'holds' if line.ok else 'does not hold'}"))
            if line.evidence:
                text.append(": ").append_text(outside(line.evidence))
            yield _in(text, indent)

    def _remark(self, remark: Remark) -> Iterator[Any]:
        if not remark.kind:
            yield _in(Text(remark.words or "", style="dim"), 2)
            return
        head = Text("· " if remark.known else "* ", "dim")
        head.append_text(outside(remark.kind, 100, style="bold" if not remark.known else ""))
        head.append("  ").append_text(outside(f"by {remark.actor or 'nobody'}", 100, style="dim"))
        yield _in(head, 2)
        if remark.words is not None:
            yield _in(Text(remark.words), 4)
        yield _in(outside(compact(remark.data), ARGS, style="dim"), 4)


def outside(text: str, limit: int = TEXT, *, style: str = "") -> Text:
    """Outside text as one paragraph: bounded, with its hidden characters as their numbers, and never as markup."""
    shown, left_out = clipped(text[: 4 * limit], limit)
    made = Text(style=style, overflow="fold")
    for piece, code in pieces(one_line(shown)):
        made.append(f"[{piece}]", "red") if code else made.append(piece)
    if left_out or len(text) > 4 * limit:
        made.append(f" … {len(text) - limit:,} more characters", "dim")
    return made


def _args(args: Any) -> str:
    if not isinstance(args, dict):
        return args if isinstance(args, str) else compact(args)
    return ", ".join(f"{name}={compact(value)}" for name, value in list(args.items())[:50])


def _fact(name: str, text: str, style: str = "", *, then: str = "") -> Padding:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=6)
    table.add_column(overflow="fold")
    table.add_row(Text(name, "dim"), outside(text, style=style).append(then, "dim"))
    return _in(table, 4)


def _in(what: Any, columns: int) -> Padding:
    return Padding(what, (0, 0, 0, columns), expand=False)
