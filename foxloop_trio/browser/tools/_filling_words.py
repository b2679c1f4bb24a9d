"""What `fill` and `fill_and_send` say: summaries for the planner, the description for the human, evidence for the check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...errors import BrowserError
from .._act import ActResult
from .._quoting import quote, quote_strictly
from .._snapshot import Control
from ..tasks._sites import host_in
from ._sending import SENT_WORDS, SendEvidence
from ._words import REFUSALS, say_dialogs, say_error, say_spending, shown

__all__ = ["describe_fill", "evidence_of", "named", "say_filled", "say_not_sent", "say_sent", "say_stopped", "say_taken_back"]

MAX_DESCRIPTION: Final = 1_950
"""A description is cut at 2,000 characters; what is cut is said here, where it can be counted."""
MAX_ADDRESS_SHOWN: Final = 250
LEAST_SHOWN: Final = 24
MAX_EVIDENCE: Final = 200

LOOK: Final = "Call snapshot, then decide again."

STOPS: Final[Mapping[str, str]] = {
    "stale": "stale: the page was read again, or it is not what was judged any more",
    "forgotten": "the secret value is not kept any more; say it again in a new call",
    "secret": "secret: the host program does not allow this value there any more",
    "moved": "the tab is on another site now",
}


def say_stopped(
    count: int,
    many: int,
    why: str,
    control: str | None,
    *,
    result: ActResult | None = None,
    words: str | None = None,
    error: BrowserError | None = None,
    url: str = "",
    in_doubt: bool = False,
) -> str:
    """It ended before all was done: how many fields are set, which one was not and why, and what to do next."""
    head = f"{count} of {many} fields set." if count else "Nothing was set."
    about = f"Control {control}" if control is not None else "It"
    if result is not None:
        known = result.reason in REFUSALS
        reason = f"{result.reason}: {REFUSALS[result.reason]}" if known and result.reason is not None else "refused"
        part = " Part of it may have been done." if result.started else ""
        return f"{head} {about} failed ({reason}).{part} {LOOK}"
    if error is not None:
        return f"{head} {say_error(about, error, url=url, in_doubt=in_doubt)} {LOOK}"
    if why == "drift":
        return f"{head} stale: {words}. {LOOK}"
    return f"{head} {about} was not done ({STOPS[why]}). {LOOK}"


def say_filled(op: str, count: int, many: int, results: Sequence[ActResult], *, left: bool) -> str:
    """All fields are set."""
    parts = [f"{op}: {count} of {many} fields set."]
    if left:
        parts.append("The page was left for a new one.")
    if op == "fill" and any(result.submitted for result in results):
        parts.append("A form was sent.")
    parts += say_dialogs([dialog for result in results for dialog in result.dialogs])
    if any(result.changed_elsewhere for result in results):
        parts.append("Fields elsewhere on the page had changed meanwhile.")
    return " ".join(parts)


def say_taken_back(fields: Sequence[str]) -> str:
    return (
        f"But the page put back what was there before in {', '.join(fields)} (mismatch). See whether a message says why, and "
        "whether it wants another form of the value."
    )


def say_sent(evidence: SendEvidence) -> str:
    return f"The form was sent ({evidence}: {SENT_WORDS[evidence]})."


def say_not_sent(*, pressed: bool) -> str:
    if pressed:
        return (
            "Sending was not observed: the control was clicked, and no form was seen to go out. See whether a field is marked as "
            "wrong, or whether it was sent all the same, before you send again."
        )
    return "The form was not sent."


def named(pin: Mapping[str, Any]) -> str:
    """A control by role and label: outside words, for checks."""
    return f"{pin['role']} {quote(pin['label'])}"


def evidence_of(control: Control | None, *, was_set: bool) -> str:
    """What a look shows of a field; never what a secret or sensitive one holds."""
    if not was_set:
        return "it was not set"
    if control is None:
        return "it is not there any more"
    if control.checked is not None:
        return "it is on" if control.checked is True else "it is off"
    chosen = [option.label for option in control.options or () if option.selected]
    held = ", ".join(chosen) if chosen else control.shown_value
    return f"it holds {quote(held if len(held) <= MAX_EVIDENCE else held[:MAX_EVIDENCE] + '…')}"


# For the human


def describe_fill(args: Mapping[str, Any]) -> str:
    """From what was judged alone: the page, where it is sent and by what, then one line for each field."""
    targets, send = args["targets"], args.get("send")
    head = list(_head(targets, send, args.get("spends")))
    room = (MAX_DESCRIPTION - sum(len(line) + 1 for line in head)) // len(targets)
    lines = [_field(pin, args["fields"][pin["control"]], args["ops"][pin["control"]], room) for pin in targets]
    return "\n".join([*head, *lines])


def _head(targets: Sequence[Mapping[str, Any]], send: Mapping[str, Any] | None, spends: str | None) -> Iterator[str]:
    many = f"{len(targets)} field{'' if len(targets) == 1 else 's'}"
    yield f"fill {many}{'' if send is None else ' and send them'}, on the page {shown(targets[0]['url'], MAX_ADDRESS_SHOWN)}"
    if send is None:
        return
    text = f"sends by {send['role']} {shown(send['label'], 80)}"
    there = send["destination"]
    if there is not None:
        text += f", its form by {quote_strictly(there['method'])} to {shown(there['url'], MAX_ADDRESS_SHOWN)}"
        if host_in(there["url"]) != host_in(send["url"]):
            text += f", which is on ANOTHER HOST than the page: {shown(host_in(there['url']) or 'none', 100)}"
    yield text
    if spends is not None:
        yield say_spending(spends)
    elif send["risk"] is not None:
        yield f"takes a risk: {send['risk']}"


def _field(pin: Mapping[str, Any], value: str | bool, op: str, room: int) -> str:
    """One line; label and value share what room there is. No label can make a line of its own."""
    held = ("on" if value else "off") if isinstance(value, bool) else None
    # Quotes, role, marks and the count of what was cut take about 70 characters.
    limit = max(LEAST_SHOWN, (room - 70) // (1 if held is not None else 2))
    label = f"{pin['role']} {shown(pin['label'], limit)}"
    if held is not None:
        return f"{label}: {held}"
    return f"{label}: {'choose ' if op == 'select' else ''}{shown(str(value), limit)}"
