"""The words of a report, the same for page and terminal: what became of a run, a call, a question; durations, amounts, instants.

Everything here is ours. Texts from outside are passed through untouched and made safe by whoever shows them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from ..trail import Fault
from ._nouns import Answer, Approval, Call, CallState, Decision, Money, Outcome, Proof, SpanKind, Status, Story, Totals, Use

STATUS: Final[Mapping[Status, tuple[str, str]]] = {
    "done": ("✓", "Done"),
    "blocked": ("✕", "Blocked"),
    "aborted": ("■", "Aborted"),
    "unfinished": ("…", "Unfinished"),
}
"""A sign and a word for how a run ended."""

CALL: Final[Mapping[CallState, tuple[str, str]]] = {
    "done": ("✓", "done"),
    "failed": ("✕", "failed"),
    "refused": ("⊘", "refused"),
    "not-approved": ("⊘", "not approved"),
    "skipped": ("↷", "skipped"),
    "held-back": ("?", "held back, in doubt"),
    "stopped": ("■", "stopped"),
    "not-started": ("○", "not started"),
    "in-doubt": ("?", "in doubt"),
    "waiting": ("…", "no decision on record"),
    "not-reached": ("○", "not reached"),
}
"""A sign and a word for what became of a call."""

CALL_WORDS: Final[Mapping[CallState, str]] = {
    "in-doubt": "The gate allowed it, and nothing more is on record: it may have been done, in whole or in part, or not at all.",
    "waiting": "The record ends here, before this call was decided.",
    "not-reached": "The record of the run ends before this call.",
    "not-started": "The run ended before it began; nothing was done.",
    "stopped": "It was cut while it ran.",
}
"""What is said of a call that has no result."""

ANSWER: Final[Mapping[Answer, str]] = {
    "approved": "approved",
    "not-approved": "not approved",
    "refused": "answered, but the gate did not take the answer",
    "expired": "nobody answered in time",
    "failed": "asking failed",
    "stopped": "the run was stopped before an answer",
    "open": "no answer on record",
}

CAUSE: Final[Mapping[str, str]] = {
    "abort": "The host program stopped it.",
    "cancelled": "It was cancelled from outside.",
    "left": "The host program left it before its end.",
    "error": "The host program raised an error.",
}

REASON: Final[Mapping[str, str]] = {
    "max-steps": "the most planner requests were made",
    "repeated-call": "the planner made the same call again and again",
    "repeated-failure": "too many failed results in a row",
    "check-failed": "the completion claim did not hold",
    "model-error": "the planner could not be used",
    "gate-deny": "the gate refused",
    "gate-mismatch": "the gate allowed something else than it was asked about",
    "gate-error": "the gate failed",
    "approval-unavailable": "nobody could be asked",
    "approval-denied": "a human did not approve",
    "approval-error": "asking a human failed",
    "approval-expired": "nobody answered in time",
    "trail-failed": "the record could not be written",
    "budget": "a limit was reached",
    "browser-lost": "the browser was lost",
}

USE: Final[Mapping[str, str]] = {
    "max_steps": "Planner requests",
    "tokens": "Tokens",
    "tool_calls": "Tool calls",
    "seconds": "Work time",
    "cost": "Cost",
    "planner_seconds": "Longest planner request",
    "tool_seconds": "Longest tool call",
    "approval_seconds": "Longest wait for a human",
}

SPAN: Final[Mapping[SpanKind, str]] = {"planner": "Planner", "tool": "Tools", "human": "Human"}

# ISO 4217, the minor units that are not two digits.
_NO_DIGITS: Final = re.compile("BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|UYI|VND|VUV|XAF|XOF|XPF")
_THREE_DIGITS: Final = re.compile("BHD|IQD|JOD|KWD|LYD|OMR|TND")
_FOUR_DIGITS: Final = re.compile("CLF|UYW")


def duration(ms: float) -> str:
    """A duration as people say it: ``480 ms``, ``7.4 s``, ``2 min 05 s``, ``3 h 20 min``."""
    if 0 < ms < 1000:
        return f"{max(1, round(ms))} ms"
    tenths = round(ms / 100)
    if tenths < 600:
        return f"{tenths / 10:.1f} s" if tenths else "0 s"
    seconds = round(ms / 1000)
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s" if seconds % 60 else f"{seconds // 60} min"
    minutes = seconds // 60
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02d} min" if minutes % 60 else f"{minutes // 60} h"
    return f"{count(minutes // (24 * 60))} days"


def instant(ts: int | None) -> str | None:
    """An instant in UTC, to the second; None for what no calendar has."""
    if ts is None:
        return None
    try:
        return datetime.fromtimestamp(ts / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return None


def count(number: float) -> str:
    """A number with its thousands apart."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.2f}"


def money(value: float, currency: str) -> str:
    """An amount as people write it."""
    known = ((_NO_DIGITS, 0), (_THREE_DIGITS, 3), (_FOUR_DIGITS, 4))
    digits = next((digits for codes, digits in known if codes.fullmatch(currency)), 2)
    return f"{value / 10**digits:,.{digits}f} {currency}"


def amount(of: Money) -> str:
    return money(of.value, of.currency)


def quantity(use: Use, number: float) -> str:
    """A number in the unit of `use`."""
    if use.unit == "ms":
        return duration(number)
    return money(number, use.currency or "") if use.unit == "money" else count(number)


def short(id_: str) -> str:
    """The beginning of a long id of ours; anything else as it is."""
    return f"{id_[:8]}…" if len(id_) >= 16 and all(char in "0123456789abcdef" for char in id_) else id_


def times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{count(number)} times")


def asked(of: Totals) -> str:
    """How often a human was asked, and said yes."""
    if not of.asked:
        return "never asked"
    return f"asked {times(of.asked)}, approved {times(of.approved)}"


def entries(number: int) -> str:
    return plural(number, "entry", "entries")


def plural(number: int, one: str, many: str | None = None) -> str:
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def outcome(of: Outcome) -> list[str]:
    """What is said of the end besides its word: why, and what was in flight. Our words, and those of the trail's reasons."""
    said: list[str] = []
    if of.status == "unfinished":
        said.append("The trail has no end of this run: it goes on, was killed, or the end of its record was cut off.")
    if of.reason is not None:
        said.append(f"Reason: {of.reason}" + (f" ({REASON[of.reason]})" if of.reason in REASON else ""))
    if of.limit is not None:
        said.append(f"Limit: {of.limit}")
    if of.cause is not None:
        said.append(CAUSE.get(of.cause, f"Cause: {of.cause}"))
    if of.settled:
        said.append("The host's own look at the result settled it, before the planner answered.")
    if of.in_flight is not None:
        state = of.effect.state if of.effect is not None else "unknown"
        said.append(f"In flight was {of.in_flight}; its effect: {state}.")
    return said


def proof(of: Proof) -> tuple[str, str, str]:
    """A sign, a short word and a sentence on whether the record is as it was written."""
    match of.state:
        case "verified":
            said = f"The trail is as it was written, all {entries(of.count or 0)} of it."
            if of.missing:
                said += f" {plural(of.missing, 'part')} beside it, such as a long text or a picture, cannot be found."
            said = f"The trail is as it was written, all {entries(of.count or 0)} of it."
            if of.missing:
                said += f" {plural(of.missing, 'part')} beside it, such as a long text or a picture, cannot be found."
            return "✓", "Verified", said
        case "faulty":
            assert of.fault is not None
            where = _place(of.fault)
            return "✕", "Verification failed", f"{where}: {of.fault.reason}: {of.fault.message.rstrip('.')}."
        case "unchecked":
            return "?", "Not verified", "Nobody checked whether the trail is as it was written; that takes its key."


def _place(fault: Fault) -> str:
    if fault.index is None:
        return "The checkpoint"
    file = fault.place.partition(": ")[0] if fault.file is not None else ""
    if fault.line is None:
        return f"The file {file}"
    return f"Line {count(fault.line)}" + (f" of {file}" if file else "")


def decision(of: Decision) -> str:
    """One answer of the gate, with what it rests on."""
    if of.decision == "ask":
        words = "asks a human"
    elif of.decision == "allow":
        words = "allowed"
    elif of.decision == "deny":
        words = "denied"
    else:
        words = of.decision or "no decision"
    if of.via == "redeem":
        words += " with the human's approval"
    if of.reason is not None:
        words += f": {of.reason}"
    if of.message is not None:
        words += f" ({of.message})"
    rests = [f"{what} {short(which)}" for what, which in (("grant", of.grant), ("rule", of.rule)) if which is not None]
    if rests:
        words += f", by {' and '.join(rests)}"
    return words + ("; it allowed another action than it was asked about" if of.changed else "")


def approval(of: Approval) -> str:
    words = ANSWER[of.answer]
    return words if of.waited_ms is None else f"{words} after {duration(of.waited_ms)}"


def call(of: Call) -> str | None:
    """What is said of a call besides its parts; None when its result says it."""
    return None if of.result is not None else CALL_WORDS.get(of.state)


def shares(of: Story) -> list[tuple[SpanKind | None, str, int]]:
    """Whose time it was: kind, word, milliseconds. None is everybody else's."""
    totals = of.totals
    return [
        ("planner", SPAN["planner"], totals.planner_ms),
        ("tool", SPAN["tool"], totals.tool_ms),
        ("human", SPAN["human"], totals.human_ms),
        (None, "Everything else", totals.other_ms),
    ]
