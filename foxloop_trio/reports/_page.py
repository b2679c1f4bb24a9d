"""The report: one page that needs no network and no script, from the story of a run.

Its Content-Security-Policy lets nothing in but its own style and pictures inside it, so that even a text that got past the escaping
could load, send and run nothing.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .._version import __version__
from ..trail import Entry, Fault, Verified
from . import _words as words
from ._blobs import Blobs
from ._markup import Outside, fact, fold, sign
from ._nouns import Span, Status, Story, Use
from ._page_steps import StepsMarkup
from ._story import tell_story
from ._style import STYLE
from ._values import compact

__all__ = ["POLICY", "render_page", "render_report"]

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
TITLE: Final = 300
"""Characters of the goal that stand in the heading."""
MOST_BARS: Final = 3_000
"""Bars of the timeline: more could not be told apart on any screen."""
MOST_MARKS: Final = 40
"""Steps that are numbered on the timeline."""
MOST_RUNS: Final = 50

TONE: Final[Mapping[Status, str]] = {"done": "good", "blocked": "bad", "aborted": "warn", "unfinished": "warn"}


def render_report(
    entries: Iterable[Entry | Mapping[str, Any]],
    *,
    run: str | None = None,
    verification: Verified | Fault | None = None,
    blobs: Blobs | None = None,
) -> str:
    """One run of a trail as an HTML page: self-contained, readable without scripts, safe whatever the trail holds.

    `entries` are those of the whole trail (`read_trail`, or `MemoryTrail.entries()`); `run` is a run's id, by default the last one
    that began. `verification` is what `verify_trail` said, and stands in the page's head; without it the page says that nobody
    checked. `blobs` gives the texts and pictures that lie beside the trail: ``partial(read_blob, path)``, or a mapping from their
    SHA-256 as hex.

    Write it as UTF-8. Raises UsageError when the trail has no run, or not this one.
    """
    return render_page(tell_story(entries, run=run, verification=verification, blobs=blobs))


def render_page(story: Story) -> str:
    """The page of a story that was told already; see `render_report`."""
    out = Outside()
    steps = StepsMarkup(out)
    sections = [
        _section("result", "Result", _result(story, steps, out)),
        _section("time", "Where the time went", _time(story, out)),
        _section("budgets", "Budgets", f'<div class="uses">{"".join(_use(use, out) for use in story.uses)}</div>'),
        f'<section aria-labelledby="steps"><h2 id="steps">Steps</h2>{steps.steps(story)}</section>',
        _section("about", "About this run", _about(story, out)),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{_title(story, out)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#steps">To the steps</a>\n{_header(story, out)}\n'
        f"<main>\n{chr(10).join(sections)}\n</main>\n"
        f"<footer><p>Made by foxloop_trio {html.escape(__version__)} from {words.entries(story.entries)} of a trail. "
        "What was masked there is masked here.</p></footer>\n</body>\n</html>\n"
    )


def _title(story: Story, out: Outside) -> str:
    failed = "Verification failed: " if story.proof.state == "faulty" else ""
    return f"{failed}{words.STATUS[story.outcome.status][1]}: {out.attribute(story.goal or 'a run without a goal on record', 80)}"


def _header(story: Story, out: Outside) -> str:
    goal = story.goal or "The goal is not on record"
    started = words.instant(story.started_ts)
    began = f", begun {started}" if started is not None else ""
    whole = fold("The whole goal", out.block(goal)) if len(goal) > TITLE else ""
    return (
        f'<header><p class="eyebrow">Report of a gated run{began}</p><h1>{out.line(goal, TITLE)}</h1>{whole}'
        f"{_proof(story, out)}</header>"
    )


def _proof(story: Story, out: Outside) -> str:
    mark, word, said = words.proof(story.proof)
    tone = {"verified": "good", "faulty": "bad", "unchecked": "plain"}[story.proof.state]
    more = ""
    if story.proof.head is not None:
        more = f' <span class="mono">head {out.line(story.proof.head[:12])}…</span>'
    if story.proof.state == "faulty":
        more = " What comes from there on is not proven, and marked."
    return f'<p class="banner {tone}" id="proof">{sign(mark)}<span><strong>{word}.</strong> {out.line(said, 1000)}{more}</span></p>'


def _section(name: str, title: str, body: str) -> str:
    return f'<section class="card" aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{body}</section>'


def _result(story: Story, steps: StepsMarkup, out: Outside) -> str:
    outcome, totals = story.outcome, story.totals
    mark, word = words.STATUS[outcome.status]
    end = f'<span class="badge big {TONE[outcome.status]}">{sign(mark)}{word}</span>'
    if not outcome.proven:
        end += f' <span class="badge big bad">{sign("✕")}not proven</span>'
    parts = [f"<p>{end}</p>"]
    for text in (outcome.summary, outcome.message, outcome.problem):
        if text:
            parts.append(f"<p>{out.words(text)}</p>")
    parts.append(steps.evidence(outcome.checks))
    said = words.outcome(outcome)
    if said:
        parts.append(f'<ul class="soft">{"".join(f"<li>{out.line(line, 1000)}</li>" for line in said)}</ul>')
    if story.in_doubt:
        names = out.line(", ".join(story.in_doubt))
        parts.append(
            f'<p class="banner warn">{sign("?")}<span><strong>In doubt:</strong> {names}. '
            "It was allowed, and no result is on record. Look at the page before anybody does it again.</span></p>"
        )
    tokens = words.count(totals.input_tokens + totals.output_tokens)
    facts = [
        fact("Took", words.duration(totals.wall_ms)),
        fact("Planner requests", words.count(totals.steps)),
        fact("Tool runs", f"{words.count(totals.tool_runs)} of {words.plural(totals.calls, 'call')}"),
        fact("Human", words.asked(totals)),
        fact("Tokens", f"{'about ' if totals.estimated else ''}{tokens}"),
    ]
    if totals.cost is not None:
        facts.append(fact("Cost", out.line(words.amount(totals.cost), 60)))
    if totals.failed:
        facts.append(fact("Failed calls", words.count(totals.failed)))
    if totals.corrections or totals.repairs:
        facts.append(fact("Corrections", f"{words.plural(totals.corrections, 'round')}, {words.plural(totals.repairs, 'repair')}"))
    if story.resumes is not None:
        facts.append(fact("Goes on from run", f'<span class="mono">{out.line(story.resumes, 100)}</span>'))
    return f'<div class="verdict">{"".join(parts)}<dl class="meta">{"".join(facts)}</dl></div>'


# Time


def _time(story: Story, out: Outside) -> str:
    whole = story.totals.wall_ms
    shares = words.shares(story)
    bar = "".join(f'<i class="k-{kind or "other"}" style="flex:{ms} 1 0"></i>' for kind, _, ms in shares if ms > 0)
    legend = "".join(
        f'<li><i class="k-{kind or "other"}" aria-hidden="true"></i>{name}<b>{words.duration(ms)}</b></li>'
        for kind, name, ms in shares
    )
    return f'<div class="share" aria-hidden="true">{bar}</div><ul class="legend">{legend}</ul>' + (
        _lanes(story, whole, out) if whole and story.spans else '<p class="none">No durations are on record.</p>'
    )


def _lanes(story: Story, whole: int, out: Outside) -> str:
    said = ", ".join(f"{name} {words.duration(ms)}" for _, name, ms in words.shares(story))
    rows = []
    for kind, name in words.SPAN.items():
        spans = [span for span in story.spans if span.kind == kind]
        rows.append(f'<span>{name}</span><div class="track">{"".join(_bar(span, whole, out) for span in spans[:MOST_BARS])}</div>')
    steps = [step for step in story.steps if step.number]
    every = max(1, -(-len(steps) // MOST_MARKS))
    marks, free_from = [], 0.0
    for step in steps[::every]:
        left = _percent(step.at_ms, whole)
        if left >= free_from:
            marks.append(
                f'<a href="#step-{step.number}" style="left:{left:.2f}%" aria-label="Step {step.number}">{step.number}</a>'
            )
            free_from = left + 3
    axis = "".join(f"<span>{words.duration(whole * part / 4)}</span>" for part in range(5))
    return (
        f'<div class="lanes" role="group" aria-label="Timeline of {words.duration(whole)}: {said}">{"".join(rows)}'
        f'<span>Step</span><div class="marks">{"".join(marks)}</div>'
        f'<span></span><div class="axis" aria-hidden="true">{axis}</div></div>'
    )


def _bar(span: Span, whole: int, out: Outside) -> str:
    left = _percent(span.at_ms, whole)
    width = min(_percent(span.ms, whole), 100 - left)
    title = out.attribute(f"{words.duration(span.ms)} from {words.duration(span.at_ms)}: {span.words}", 200)
    return f'<i class="k-{span.kind}" style="left:{left:.2f}%;width:{width:.2f}%" title="{title}"></i>'


def _percent(part: float, whole: int) -> float:
    return max(0.0, min(100.0, 100 * part / whole))


# Budgets


def _use(use: Use, out: Outside) -> str:
    name = words.USE[use.name]
    used = ("about " if use.estimated else "") + words.quantity(use, use.used)
    if use.limit is None:
        said, meter = used, '<p class="none">no limit was set</p>'
    else:
        said = f"{used} of {words.quantity(use, use.limit)}"
        share = 100.0 if use.limit <= 0 else 100 * use.used / use.limit
        level = " full" if use.hit else " high" if share >= 80 else ""
        bar = f'<i style="width:{min(share, 100):.1f}%"></i>'
        meter = f'<div class="meter{level}" role="img" aria-label="{share:.0f} % used">{bar}</div>'
    hit = ' <strong class="badge bad">ended the run</strong>' if use.hit else ""
    return f'<div class="use"><p><span>{name}{hit}</span><span>{out.line(said, 120)}</span></p>{meter}</div>'


# About


def _about(story: Story, out: Outside) -> str:
    folds = []
    if story.options:
        folds.append(_table("Options", [(name, compact(value)) for name, value in story.options], out))
    if story.tools:
        folds.append(_table("Tools", [(name, scope or "") for name, scope in story.tools], out))
    if story.versions:
        folds.append(_table("Versions", list(story.versions), out))
    if len(story.runs) > 1:
        rows = [
            (run.id, f"{words.STATUS[run.status][1]}{f' ({run.reason})' if run.reason else ''}: {run.goal or 'no goal on record'}")
            for run in story.runs[-MOST_RUNS:]
        ]
        folds.append(_table(f"All {words.count(len(story.runs))} runs of this trail", rows, out))
    ended = words.instant(story.ended_ts)
    facts = [fact("Run", f'<span class="mono">{out.line(story.run, 100)}</span>'), fact("Entries", words.count(story.entries))]
    if ended is not None:
        facts.append(fact("Last entry", ended))
    return f'<div class="about"><dl class="meta">{"".join(facts)}</dl>{"".join(folds)}</div>'


def _table(title: str, rows: list[tuple[str, str]], out: Outside) -> str:
    body = "".join(f'<tr><th scope="row">{out.line(name, 100)}</th><td>{out.line(value)}</td></tr>' for name, value in rows[:500])
    return fold(title, f"<table>{body}</table>")
