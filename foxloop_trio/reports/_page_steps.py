"""The steps of a run as markup: what the planner said, each call from its arguments to its result, claims, notes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

from . import _words as words
from ._markup import Outside, fact, fold, sign
from ._nouns import Call, CallState, Claim, Evidence, Picture, Remark, Result, Step, Story

MANY_STEPS: Final = 40
"""Of more steps than this only those where something went wrong, or somebody was asked, are unfolded at first."""
PICTURE_BYTES: Final = 24 * 1024 * 1024
"""Bytes of pictures in one page: with a third more for base64 it is what mail servers still take."""

TONE: Final[Mapping[CallState, str]] = {
    "done": "good", "failed": "bad", "refused": "bad", "not-approved": "bad",
    "in-doubt": "warn", "held-back": "warn", "stopped": "warn",
}  # fmt: skip


class StepsMarkup:
    """Writes the steps of one page."""

    def __init__(self, outside: Outside) -> None:
        self._out = outside
        self._picture_bytes = PICTURE_BYTES
        self._planner: tuple[str, ...] = ()

    def steps(self, story: Story) -> str:
        if not story.steps:
            return '<p class="none">The record has no step of this run.</p>'
        many = len(story.steps) > MANY_STEPS
        last = story.steps[-1].number
        return "".join(self._step(step, opened=not many or step.number == last or _remarkable(step)) for step in story.steps)

    def _step(self, step: Step, *, opened: bool) -> str:
        title = f"Step {words.count(step.number)}" if step.number else "Before the first request"
        heading = [f"<h3>{title}</h3>", f'<span class="when">at {words.duration(step.at_ms)}</span>']
        told = []
        if step.planner_ms is not None:
            told.append(f"planner {words.duration(step.planner_ms)}")
        if step.input_tokens is not None or step.output_tokens is not None:
            tokens = (step.input_tokens or 0) + (step.output_tokens or 0)
            told.append(f"{'about ' if step.estimated else ''}{words.plural(tokens, 'token')}")
        if told:
            heading.append(f'<span class="when">{" · ".join(told)}</span>')
        heading += self._badges(step)
        body = [self._says(step), *[self._item(item) for item in step.items]]
        proven = "" if step.proven else " unproven"
        return fold("".join(heading), f'<div class="body">{"".join(body)}</div>', kind=f"card step{proven}", opened=opened).replace(
            "<details ", f'<details id="step-{step.number}" ', 1
        )

    def _badges(self, step: Step) -> list[str]:
        """What is worth seeing of a step that is folded."""
        said: dict[str, str] = {}
        if step.problem is not None:
            said["correction"] = "warn"
        for item in step.items:
            if isinstance(item, Call):
                if item.approval is not None:
                    said["human asked"] = ""
                if item.state != "done":
                    said[words.CALL[item.state][1]] = TONE.get(item.state, "")
            elif isinstance(item, Claim):
                said["claim holds" if item.ok else "claim does not hold"] = "good" if item.ok else "bad"
            elif not item.known:
                said["other entry"] = ""
        if not step.proven:
            said["not proven"] = "bad"
        return [f'<span class="badge {tone}">{word}</span>' for word, tone in said.items()]

    def _says(self, step: Step) -> str:
        names = tuple(name for name in (step.provider, step.tier) if name is not None)
        told = ": " + " · ".join(self._out.line(name, 80) for name in names) if names and names != self._planner else ""
        self._planner = names or self._planner
        who = f'<span class="who">The planner{told}</span>'
        parts = []
        if step.problem is not None:
            parts.append(f"<p>Its reply could not be used, and it was told so: {self._out.words(step.problem)}</p>")
        if step.text:
            parts.append(f"<p>{self._out.words(step.text)}</p>")
        if step.repairs:
            parts.append(f'<p class="soft">Repaired in the reply: {self._out.line(", ".join(step.repairs))}</p>')
        if step.asked and not step.answered and not any(isinstance(item, Claim) for item in step.items):
            parts.append('<p class="soft">It was asked; no reply is on record.</p>')
        return f'<div class="says">{who}{"".join(parts)}</div>' if parts else ""

    def _item(self, item: Call | Claim | Remark) -> str:
        match item:
            case Call():
                return self._call(item)
            case Claim():
                return self._claim(item)
            case Remark():
                return self._remark(item)

    # A call

    def _call(self, call: Call) -> str:
        mark, word = words.CALL[call.state]
        tone = TONE.get(call.state, "")
        took = [f"tool {words.duration(call.tool_ms)}"] if call.tool_ms is not None else []
        waited = call.human_ms + (call.approval.waited_ms or 0 if call.approval is not None else 0)
        if waited:
            took.append(f"human {words.duration(waited)}")
        head = (
            f'<div class="head"><span class="badge {tone}">{sign(mark)}{word}</span>'
            f'<span class="name">{self._out.line(call.name or "(no name)", 100)}</span>'
            + (f'<span class="args">{self._out.args(call.args)}</span>' if call.args not in ({}, None) else "")
            + (f'<span class="time">{", ".join(took)}</span>' if took else "")
            + "</div>"
        )
        folds = self._call_folds(call)
        said = words.call(call)
        note = f"<p>{said}</p>" if said is not None else ""
        pictures = "".join(self._picture(picture) for picture in call.pictures)
        kind = f"item{' i-' + tone if tone else ''}{'' if call.proven else ' unproven'}"
        return f'<article class="{kind}">{head}{note}{self._call_facts(call)}{pictures}{folds}</article>'

    def _call_facts(self, call: Call) -> str:
        out = self._out
        facts = []
        where = [out.line(part) for part in (call.target, call.domain) if part is not None]
        if call.scope is not None:
            where.append(f"scope {out.line(call.scope, 100)}")
        if call.amount is not None:
            where.append(out.line(words.amount(call.amount), 60))
        if where:
            facts.append(fact("On", ", ".join(where)))
        if call.decisions:
            facts.append(fact("Gate", "<br>".join(out.line(words.decision(decision), 600) for decision in call.decisions)))
        if call.approval is not None:
            asked = words.instant(call.approval.asked_ts)
            when = f', asked at <span class="mono">{asked}</span>' if asked else ""
            when = f', asked at <span class="mono">{asked}</span>' if asked else ""
            lines = [words.approval(call.approval) + when]
            if call.approval.detail:
                lines.append(f"Asked for: {out.words(call.approval.detail)}")
            facts.append(fact("Human", "<br>".join(lines)))
        result = call.result
        if result is not None:
            reason = f"{out.line(result.reason, 60)}: " if result.reason is not None else ""
            facts.append(fact("Result", reason + out.words(result.summary)))
            if result.detail:
                facts.append(fact("Detail", out.words(result.detail)))
            if result.checks:
                facts.append(fact("Checks", self.evidence(result.checks)))
        if call.effect is not None and (result is None or not result.ok or call.effect.state != "done"):
            done = f", namely {out.args(call.effect.done)}" if call.effect.done is not None else ""
            facts.append(fact("Effect", out.line(call.effect.state, 60) + done))
        if call.late is not None:
            facts.append(fact("Late", out.words(call.late)))
        if call.repairs:
            facts.append(fact("Repaired", out.line(", ".join(call.repairs))))
        if not call.proven:
            facts.append(fact("Proof", "none: it comes after the first fault of the trail"))
        return f'<dl class="facts">{"".join(facts)}</dl>' if facts else ""

    def _call_folds(self, call: Call) -> str:
        folds = []
        args = call.args
        if isinstance(args, dict | list) and any(isinstance(value, dict | list) for value in _values(args)):
            folds.append(fold("Arguments", self._out.json(args)))
        elif isinstance(args, str) and len(args) > 200:
            folds.append(fold("Arguments as they were written", self._out.block(args)))
        elif isinstance(args, dict) and any(isinstance(value, str) and len(value) > 200 for value in args.values()):
            folds.append(fold("Arguments", self._out.json(args)))
        if call.prepared is not None:
            folds.append(fold("Judged arguments", self._out.json(call.prepared)))
        if call.result is not None:
            folds += self._result_folds(call.result)
        return f'<div class="folds">{"".join(folds)}</div>' if folds else ""

    def _result_folds(self, result: Result) -> list[str]:
        folds = []
        if result.page is not None:
            size = words.plural(len(result.page), "character")
            folds.append(fold(f"Outside text that the planner read ({size})", self._out.block(result.page)))
        if result.page_problem is not None:
            folds.append(f'<p class="soft">{self._out.line(result.page_problem)}</p>')
        if result.data is not None:
            folds.append(fold("Data for the host program", self._out.json(result.data)))
        return folds

    def _picture(self, picture: Picture) -> str:
        short = picture.sha256[:12]
        if picture.content is None or len(picture.content) > self._picture_bytes:
            why = picture.problem or "the page has as many pictures as it can hold"
            return f'<p class="soft">A picture with the hash <code>{short}…</code> is not shown: {self._out.line(why)}.</p>'
        self._picture_bytes -= len(picture.content)
        source = f"data:{picture.media};base64,{base64.b64encode(picture.content).decode()}"
        return (
            f'<figure><img src="{source}" alt="Picture that the tool took" loading="lazy">'
            f"<figcaption>SHA-256 {picture.sha256}</figcaption></figure>"
        )

    # Claims and notes

    def _claim(self, claim: Claim) -> str:
        tone, mark, word = ("good", "✓", "claim holds") if claim.ok else ("bad", "✕", "claim does not hold")
        who = f"{'The planner' if claim.by == 'planner' else 'The host program'} says that the goal is reached"
        said = f": {self._out.words(claim.summary)}" if claim.summary else "."
        problem = f"<p>{self._out.words(claim.problem)}</p>" if claim.problem else ""
        kind = f"item i-{tone}{'' if claim.proven else ' unproven'}"
        return (
            f'<article class="{kind}"><div class="head"><span class="badge {tone}">{sign(mark)}{word}</span></div>'
            f"<p>{who}{said}</p>{self.evidence(claim.checks)}{problem}</article>"
        )

    def evidence(self, checks: tuple[Evidence, ...]) -> str:
        """The lines of a verdict."""
        if not checks:
            return ""
        lines = "".join(
            f'<li><span class="sign {"ok" if line.ok else "no"}" aria-hidden="true">{"✓" if line.ok else "✕"}</span>'
            f"<span><strong>{self._out.line(line.part)}</strong> {'holds' if line.ok else 'does not hold'}"
            + (f": {self._out.words(line.evidence)}" if line.evidence else "")
            + "</span></li>"
            for line in checks
        )
        return f'<ul class="checks">{lines}</ul>'

    def _remark(self, remark: Remark) -> str:
        proven = "" if remark.proven else " unproven"
        if not remark.kind:
            return f'<p class="soft">{remark.words}</p>'
        word = "note" if remark.known else "other entry"
        when = words.instant(remark.ts)
        said = remark.words or "This version does not know what it means; it is shown as it is."
        number = f", entry {words.count(remark.seq)}" if remark.seq is not None else ""
        return (
            f'<article class="item{proven}"><div class="head"><span class="badge">{word}</span>'
            f'<span class="name">{self._out.line(remark.kind, 100)}</span>'
            f'<span class="args">by {self._out.line(remark.actor or "nobody", 100)}{number}</span>'
            + (f'<span class="time">{when}</span>' if when else "")
            + f"</div><p>{said}</p>{fold('Its data', self._out.json(remark.data))}</article>"
        )


def _values(args: object) -> list[object]:
    return list(args.values()) if isinstance(args, dict) else list(args) if isinstance(args, list) else []


def _remarkable(step: Step) -> bool:
    return step.problem is not None or any(
        not isinstance(item, Call) or item.state != "done" or item.approval is not None for item in step.items
    )
