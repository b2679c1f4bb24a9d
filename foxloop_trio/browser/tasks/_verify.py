"""Did it happen? One check per requirement and one about sending, each on what the page showed (page reference, section 17). Pure.

Words of thanks are no evidence. What a form held is looked up in the look right before it was sent; all else on the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

from ...actions import CheckLine, CheckResult
from .._quoting import quote
from .._snapshot import Control, Snapshot
from ._calendar import calendar_date
from ._formats import read_field_date
from ._matching import nearly_names
from ._numbers import ERROR_TEXT
from ._page import control_at, has_document, selected
from ._progress import Part, Progress
from ._reasons import PageProblem
from ._sensitive import asks_secret, is_secret, shown_text, shown_value
from ._serving import SWITCHES, says_send, yes_or_no
from ._words import words

__all__ = ["page_problem", "verify"]

MAX_EVIDENCE: Final = 200

_ERROR = re.compile(
    r"(?<!\w)(?:40\d|50\d|access denied|error|forbidden|not found|something went wrong|try again later|unavailable)(?!\w)",
    re.IGNORECASE,
)


@attrs.frozen
class _Found:
    ok: bool
    evidence: str


def verify(progress: Progress, page: Snapshot | None) -> CheckResult:
    """The verdict. `page` is the last look; None when the run ended where nothing may be read."""
    lines = [
        CheckLine(part=shown_text(part.requirement), ok=found.ok, evidence=found.evidence)
        for part in progress.parts
        if (found := _check(progress, part, page)) is not None
    ]
    lines += _sending(progress)
    problem = None if page is None else page_problem(page)
    ok = problem is None and bool(lines) and all(line.ok for line in lines)
    return CheckResult(ok=ok, checks=lines, problem=problem)


def page_problem(page: Snapshot) -> PageProblem | None:
    """What is wrong with the page as a whole."""
    if page.captcha:
        return "captcha"
    text = page.text.strip()
    if not text and not page.controls:
        return "empty page"
    first = page.headings[0] if page.headings else ""
    if _ERROR.search(page.title) or _ERROR.search(first):
        return "error page"
    if not page.controls and len(text) < ERROR_TEXT and _ERROR.search(text):
        return "error page"
    return None


def _check(progress: Progress, part: Part, last: Snapshot | None) -> _Found | None:
    """None for what is not checked: a setting that fitted nothing, and one that only says that the form is to be sent."""
    requirement = part.requirement
    if says_send(requirement) or (requirement.kind == "setting" and part.status == "unmatched"):
        return None
    page = _evidence_page(progress, part, last)
    if page is None:
        return _Found(False, "the page is not there to look at")
    match requirement.kind:
        case "setting":
            return _setting(part, page)
        case "date":
            return _date(part, page, progress)
        case "value":
            return _secret(part, page) if asks_secret(requirement) else _value(part, page)


def _evidence_page(progress: Progress, part: Part, last: Snapshot | None) -> Snapshot | None:
    """The look right before its form was sent, or before another form of its document was; else the last look."""
    if part.form is not None and part.form in progress.sent:
        return progress.sent[part.form].page
    looks = [sent.page for sent in progress.sent.values()]
    if part.control is None:
        return looks[-1] if looks else last
    if last is not None and has_document(last, part.control[0]):
        return last
    return next((look for look in reversed(looks) if has_document(look, part.control[0])), last)


# The kinds


def _setting(part: Part, page: Snapshot) -> _Found:
    control = control_at(page, part.control) if part.control is not None else None
    kept_off = part.op == "keep" and part.requirement.wish == "off" and control is not None and not control.checked
    if part.op == "uncheck" or kept_off:
        off = control is not None and control.checked is False
        return _Found(off, f"{_named(control)} is {'off' if off else 'not off'}")
    wanted = frozenset(words(part.requirement.key))
    for one in page.controls:
        if wanted and one.checked is True and wanted <= frozenset(words(one.label)):
            return _Found(True, f"{_named(one)} is on")
        for label in selected(one):
            said = frozenset(words(label))
            if said and said <= wanted and (wanted & frozenset(words(one.label)) or one.id == (part.control or ("", ""))[1]):
                return _Found(True, f"{_named(one)} has {_quoted(label)} selected")
    if part.control is not None and part.op in ("click", "check", "keep"):
        if control is not None and control.checked not in (None, True):
            return _Found(False, f"{_named(control)} is off")
        return _Found(True, f"{_named(control)} was used" if control is not None else "it was used, and is not there any more")
    return _Found(False, "no control shows it")


def _date(part: Part, page: Snapshot, progress: Progress) -> _Found:
    iso = part.requirement.date
    for one in page.controls:
        if one.value and read_field_date(one.value, one.date_format, progress.today) == iso:
            return _Found(True, f"{_named(one)} holds {_shown(one)}")
        if one.checked is True and calendar_date(one.label, progress.today) == iso:
            return _Found(True, f"{_named(one)} is on")
    return _Found(False, "no field holds the date")


def _value(part: Part, page: Snapshot) -> _Found:
    value = part.requirement.value or ""
    if part.status == "unmatched":
        return _Found(False, "no control fits")
    own = control_at(page, part.control) if part.control is not None else None
    wanted = yes_or_no(value)
    if wanted is not None and own is not None and own.role in SWITCHES and own.checked is wanted:
        return _Found(True, f"{_named(own)} is {'on' if wanted else 'off'}")
    for one in _own_first(part, page):
        if not is_secret(one) and nearly_names(value, one.value):
            return _Found(True, f"{_named(one)} holds {_shown(one)}")
        label = next((label for label in selected(one) if nearly_names(value, label)), None)
        if label is not None:
            return _Found(True, f"{_named(one)} has {_quoted(label)} selected")
        if one.checked is True and nearly_names(value, one.label):
            return _Found(True, f"{_named(one)} is on")
    return _Found(False, "no control holds the value")


def _secret(part: Part, page: Snapshot) -> _Found:
    """The page compared the value when it was typed; what is asked now is that the field is still filled."""
    control = control_at(page, part.control) if part.control is not None else None
    if control is None or not part.compared:
        return _Found(False, "no secret field was filled")
    return _Found(bool(control.value), f"{_named(control)} is {'filled, and took the value' if control.value else 'empty'}")


def _own_first(part: Part, page: Snapshot) -> Iterator[Control]:
    own = control_at(page, part.control) if part.control is not None else None
    if own is not None:
        yield own
    yield from (control for control in page.controls if control is not own)


# Sending


def _sending(progress: Progress) -> Iterator[CheckLine]:
    if not (progress.filled or progress.tried or progress.sent):
        return
    if not progress.goal.submit:
        yield CheckLine(part="nothing is sent", ok=not progress.sent, evidence=_sent_evidence(progress) or "no form was sent")
        return
    left = [form for form in progress.filled if form not in progress.sent]
    complaint = next((sent.complaint for sent in progress.sent.values() if sent.complaint is not None), None)
    if left:
        evidence = "the form that was filled was not seen to go out"
    elif complaint is not None:
        evidence = f"{_sent_evidence(progress)}, but then the page said {_quoted(complaint)}"
    else:
        evidence = _sent_evidence(progress) or "no form was sent"
    yield CheckLine(part="the form is sent", ok=not left and complaint is None and bool(progress.sent), evidence=evidence)


def _sent_evidence(progress: Progress) -> str:
    return ", ".join(dict.fromkeys(sent.evidence for sent in progress.sent.values()))


def _named(control: Control | None) -> str:
    return "it" if control is None else f"{control.role} {_quoted(control.label)}"


def _shown(control: Control) -> str:
    return _quoted(shown_value(control, control.value) or "")


def _quoted(text: str) -> str:
    return quote(text if len(text) <= MAX_EVIDENCE else f"{text[:MAX_EVIDENCE]}…")
