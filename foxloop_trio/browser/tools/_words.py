"""What the browser tools say: summaries for the planner, descriptions for the human who is asked, and what is quoted from outside.

A summary holds only our words, numbers, ids, hosts and reason codes. Everything that a page, or an error that may quote one, has
said goes into `untrusted`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...errors import BrowserError
from .._act import ActResult, DialogSeen
from .._picture import Screenshot
from .._quoting import quote, quote_strictly
from .._restricted import restriction_words
from .._snapshot import Snapshot

__all__ = [
    "NOT_READ",
    "TAKEN_BACK",
    "describe_act",
    "describe_click",
    "describe_control",
    "describe_open",
    "describe_screenshot",
    "describe_snapshot",
    "say_dialogs",
    "say_done",
    "say_elsewhere",
    "say_error",
    "say_moved",
    "say_page",
    "say_picture",
    "say_refused",
    "say_spending",
    "say_stale",
    "say_stopped",
    "seen",
    "shown",
]

MAX_SHOWN: Final = 900
"""Characters of a quoted value or address in a description, which is cut at 2000: none may push the others out of sight."""

MAX_HOSTS: Final = 5
"""That one summary names."""

REFUSALS: Final[Mapping[str, str]] = {
    "cancelled": "it was stopped before it began",
    "covered": "something lies over the control; it may have to be closed, or the page scrolled",
    "dialog": "the page has not come back: it is busy, or a dialog of its own is open",
    "disabled": "the control is disabled; another field may have to be filled first",
    "gone": "the control is no longer on the page",
    "hidden": "the control can no longer be seen",
    "mismatch": "the field did not take the value",
    "navigated": "the page was left before the act began",
    "needs-focus": "the control can only be used in a window that has the focus, which is not allowed here",
    "not-found": "what was looked for did not come up",
    "nothing-changed": (
        "it was done, and nothing on the page changed; do not repeat it, but see whether another control or an open dialog is meant"
    ),
    "other-site": "the page is on another site now",
    "popup-blocked": "the browser blocked a new window",
    "readonly": "the field is read-only",
    "secret": "the field is secret",
    "stale": "the control or its page changed since the snapshot",
    "timeout": "the page did not answer in time",
    "unsupported": "the control does not support this operation or value",
}

ERRORS: Final[Mapping[str, str]] = {
    "browser-lost": "the connection to Firefox is lost",
    "document-gone": "the page was left meanwhile; call snapshot again",
    "illegal-url": "only http and https addresses can be opened",
    "navigation-failed": "the address could not be loaded; check it, or try another one",
    "no-document": "the page cannot be read yet; call snapshot again",
    "no-tab": "the tab was closed; nothing more can be done in it",
    "restricted-page": "Firefox lets no extension work on this page; trying again does not help",
    "timeout": "the page did not answer in time; call snapshot again, once",
}

TAKEN_BACK: Final = (
    "failed (mismatch: it was done, and then the page put back what was there before). See whether a message says why, and whether "
    "it wants another form of the value."
)
NOT_SENT: Final = "The page began to send a form, and where it leads was stopped: it was not sent."
NOT_READ: Final = "The page could not be read afterwards: call snapshot."

IN_DOUBT: Final = "It may have been done all the same: see before you do it again."
KNOWN_FAILURES: Final = frozenset({"illegal-url", "navigation-failed", "no-tab"})
"""After which nothing is in doubt but what a server thinks of it."""

_CODE = re.compile(r"[a-z][a-z-]{0,39}\Z")


# Summaries


def say_page(snapshot: Snapshot) -> str:
    """What a look found, in numbers, and how to see what was cut."""
    count = len(snapshot.controls)
    of = "What was looked at" if snapshot.part else "The page"
    parts = [f"{of} has {count} control{'' if count == 1 else 's'}."]
    if snapshot.truncated:
        parts.append(f"{snapshot.truncated} more were not read: page through them with offset, or use find or region.")
    if snapshot.text_more:
        parts.append(f"{snapshot.text_more} characters of its text were not read: go on with text_offset.")
    if snapshot.more:
        parts.append("It can be scrolled further down.")
    if snapshot.unreadable:
        frames = sum(entry.count for entry in snapshot.unreadable)
        parts.append(f"{frames} frame{'' if frames == 1 else 's'} could not be read.")
    if snapshot.captcha:
        parts.append("It shows a captcha, which only a person may solve.")
    elif snapshot.captcha_passive:
        parts.append("It has a captcha that asks for nothing now.")
    return " ".join(parts)


def say_picture(picture: Screenshot) -> str:
    """A picture that was taken, in numbers."""
    parts = [f"A picture was taken: {picture.width} x {picture.height} pixels, {len(picture)} bytes, kept with this result."]
    if picture.marked:
        parts.append(f"The ids of {len(picture.marked)} controls are drawn on it.")
    if picture.painted_over:
        parts.append(f"{picture.painted_over} secret field{'' if picture.painted_over == 1 else 's'} painted over.")
    if picture.cut:
        parts.append("The page goes on beyond it.")
    return " ".join(parts)


def say_moved(judged: str | None, now: str | None) -> str:
    """The tab is not where it was judged to be."""
    return (
        f"Nothing was done: the tab is now on {now or 'a page that is no web page'}, and this call was judged for {judged}. "
        "Call snapshot, then decide again."
    )


def say_elsewhere(host: str | None) -> str:
    """What was done led to a page that this call was not judged for."""
    return f"The tab is on {host or 'a page that is no web page'} now, which was not read: call snapshot to see it."


def say_stopped(hosts: Sequence[str]) -> str:
    """Where the page wanted to lead, by host alone: the rest of an address is the page's own."""
    more = f" and {len(hosts) - MAX_HOSTS} more hosts" if len(hosts) > MAX_HOSTS else ""
    return f"The page wanted to lead to {', '.join(hosts[:MAX_HOSTS])}{more}, which was stopped: this tab stays on its own host."


def say_stale(op: str) -> str:
    """The pinned control is not the one of the newest look."""
    return (
        f"stale: {op} was not done, because the page was read again or the control changed since. Call snapshot, then decide again."
    )


CHANGES: Final[Mapping[str, str]] = {
    "address": "the address",
    "focus": "the focus",
    "invalid": "fields that lack something were marked",
    "media": "a sound or film",
    "page": "the page",
    "picture": "a picture",
    "request": "the page sent a request",
    "scroll": "what is in view",
    "selection": "the selection",
    "state": "the state",
    "value": "the value",
}
"""What an act's result says came of it, in our words. Submits, navigations, tabs and dialogs have sentences of their own."""


def say_done(op: str, control_id: str, result: ActResult, *, navigated: bool, stopped: bool = False) -> str:
    """An accepted act and what came of it, before what the page looks like now."""
    parts = [f"{op} on {control_id}: done."]
    if result.submitted:
        # The event comes before the request, and the lease may have stopped that.
        parts.append(NOT_SENT if stopped and not navigated else "A form was sent.")
    if "invalid" in result.changed:
        parts.append("No form was sent, since a field lacks something: the page marks it.")
    if navigated:
        parts.append("The page was left for a new one.")
    if result.opened_tabs:
        ids = ", ".join(str(tab) for tab in result.opened_tabs)
        parts.append(f"It opened {'tab' if len(result.opened_tabs) == 1 else 'tabs'} {ids}.")
    elif result.popups:
        parts.append("It asked for a window of its own, which was not opened.")
    parts += say_dialogs(result.dialogs)
    if not navigated and (changed := [CHANGES[word] for word in result.changed if word in CHANGES and word != "invalid"]):
        parts.append(f"What changed: {', '.join(changed)}.")
    if result.changed_elsewhere:
        parts.append("Fields elsewhere on the page had changed since the snapshot.")
    return " ".join(parts)


def say_dialogs(dialogs: Sequence[DialogSeen]) -> list[str]:
    """How many script dialogs there were; nothing when there was none."""
    count = len(dialogs)
    if not count:
        return []
    yes = sum(dialog.answer not in (None, False) for dialog in dialogs)
    answered = f"{'was' if count == 1 else 'were'} answered with no" if not yes else f"{yes} of them got the approved answer"
    return [f"{count} script dialog{'' if count == 1 else 's'} opened and {answered}."]


def say_refused(op: str, control_id: str, result: ActResult) -> str:
    """An act that the page layer did not do, or did not do to the end."""
    reason = result.reason if result.reason in REFUSALS else None
    why = f"{reason}: {REFUSALS[reason]}" if reason is not None else "refused"
    effect = "Part of it may have been done." if result.started else "Nothing was done."
    return f"{op} on {control_id} failed ({why}). {effect} Call snapshot, then decide again."


def say_error(what: str, error: BrowserError, *, url: str = "", in_doubt: bool = False) -> str:
    """The browser could not do it. `url` is the tab's address, by which a closed page's kind is known; it is not quoted.

    `in_doubt`: it was sent, and may have been done all the same.
    """
    code = error.code if _CODE.match(error.code) else "browser"
    if code == "restricted-page":
        return f"{what} failed ({code}: {restriction_words(url)}; trying again does not help)."
    why = f"{code}: {ERRORS[code]}" if code in ERRORS else code
    doubt = f" {IN_DOUBT}" if in_doubt and code not in KNOWN_FAILURES else ""
    return f"{what} failed ({why}).{doubt}"


# Outside text


def seen(result: ActResult, page: str | None = None) -> str | None:
    """What an act's result quotes from the page, then the page as text."""
    lines = [_dialog(dialog) for dialog in result.dialogs]
    if not result.ok:
        if result.detail:
            lines.append(f"Detail: {quote(result.detail)}")
        if result.value is not None:
            lines.append(f"The field holds: {quote(result.value)}")
    if page is not None:
        lines.append(page)
    return "\n".join(lines) or None


def _dialog(dialog: DialogSeen) -> str:
    return f"Dialog ({quote(dialog.kind)}): {quote(dialog.message)}"


# Descriptions


def describe_control(op: str, value: str | float | Sequence[str] | None, pin: Mapping[str, Any]) -> str:
    """The act in words, from what was judged alone: operation, value, control, where it sends, page."""
    words: Sequence[str] = [
        op,
        *([] if value is None else [_several(value), "into" if op == "type" else "on"]),
        f"{pin['role']} {quote_strictly(pin['label'])}",
    ]
    text = " ".join(words)
    if pin.get("risk") is not None:
        text += f" (takes a risk: {pin['risk']})"
    if pin["section"]:
        text += f" in {quote_strictly(pin['section'])}"
    if op == "click" and pin["submit"]:
        there = pin["destination"]
        text += " (sends its form" + (f" by {quote_strictly(there['method'])} to {shown(there['url'], 300)})" if there else ")")
    return f"{text}, on the page {shown(pin['url'], 300)}"


def describe_click(args: Mapping[str, Any]) -> str:
    """A click in words, and whether money may be spent by it."""
    return describe_act({**args, "op": "click"})


def describe_act(args: Mapping[str, Any]) -> str:
    """One operation on one control in words, and whether money may be spent by it."""
    text = describe_control(args["op"], args.get("value"), args["target"])
    return f"{text}. {say_spending(args['spends'])}" if "spends" in args else text


def say_spending(spends: str) -> str:
    """For the human: why this may cost something."""
    return f"This may SPEND MONEY: {SPENDS.get(spends, SPENDS['card'])}"


SPENDS: Final[Mapping[str, str]] = {
    "label": "its label says so",
    "form": "what sends its form is labelled so",
    "card": "the form asks for a payment card",
}


def _several(value: str | float | Sequence[str]) -> str:
    return ", ".join(shown(one, 100) for one in value) if isinstance(value, (list, tuple)) else shown(str(value))


def describe_snapshot(args: Mapping[str, Any], host: str | None) -> str:
    narrowed = ", ".join(f"{name} {shown(str(value), 100)}" for name, value in sorted(args.items()))
    return f"read the page in the tab, on {host}" + (f" ({narrowed})" if narrowed else "")


def describe_screenshot(args: Mapping[str, Any], host: str | None) -> str:
    what = (
        f"control {quote(args['control_id'])}"
        if "control_id" in args
        else "the whole page"
        if args.get("area") == "page"
        else "the page"
    )
    return f"take a picture of {what} in the tab, on {host}; secret fields are painted over"


def describe_open(url: str) -> str:
    return f"open the page {shown(url)}"


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """A text quoted; what is longer is cut, and how much there is stands behind it."""
    quoted = quote_strictly(text)
    return quoted if len(quoted) <= limit else f'{quoted[:limit]}…" ({len(text)} characters in all)'
