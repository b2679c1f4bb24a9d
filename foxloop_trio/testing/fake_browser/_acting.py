"""One act on one control of a `FakeDocument`: the checks, and what is done. Pure of time: both are one turn, as in the add-on.

`refusal_of` answers why an act is not begun (page reference 4.1), `perform` does it (4.4) and says how it ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode, urljoin, urlsplit

import attrs

from ._document import MOST_VALUE, FakeControl, FakeDocument, run_effects
from ._hands import HANDS, chosen_options, scroll_unfit, unfit

__all__ = ["FakeAct", "Performed", "is_on", "no_more_to_do", "perform", "refusal_of", "toggled"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)

Refusal = dict[str, Any]


@attrs.frozen(kw_only=True)
class FakeAct:
    """An act that the browser performed: its first event was dispatched.

    * `at`: when, on Trio's clock. `control`: its id, as in a snapshot. `url`: of the page that it was done in.
    * `ok`: how it ended; False for one that began and was refused on the way.
    * `sent`: what a form sent because of it, by the fields' names (by label where a field has none); None when none was sent.
    """

    at: float
    op: str
    label: str
    value: Any
    role: str
    tab: int
    url: str
    control: str
    call: str
    ok: bool = True
    sent: Mapping[str, str] | None = None


@attrs.define
class Performed:
    """How an act went on in the page. `wanted`: a state that the page has not set yet and may still set. `lacking`: a
    form was not sent, and the browser shows why."""

    wanted: bool | None = None
    submitted: bool = False
    lacking: bool = False
    sent: dict[str, str] | None = None
    answer: dict[str, Any] = attrs.field(factory=lambda: {"ok": True})


def refuse(reason: str, detail: str | None = None) -> Refusal:
    return {"ok": False, "reason": reason, **({} if detail is None else {"detail": detail})}


def refusal_of(document: FakeDocument, order: Mapping[str, Any]) -> Refusal | None:
    """Why the act is not begun, by the checks of the add-on in their order; None when it may be."""
    control = document.at(order["node"])
    if order["host"].lower() != document.hostname:
        return refuse("other-site", "host differs")
    if control is document.page:
        if order["op"] != "scroll":
            return refuse("unsupported", "the page itself can only be scrolled")
        return scroll_unfit(order["value"])
    if control is None:
        return refuse("gone")
    if control.hidden:
        return refuse("hidden")
    if order["guard"] != document.guard_of(control):
        return refuse("stale", "control differs")
    if order["key"] != document.key and order.get("form_key") != document.form_key_of(control):
        return refuse("stale", "page differs")
    if control.disabled and order["op"] != "scroll":
        return refuse("disabled")
    if order["op"] in ("type", "date", "paste") and control.read_only:
        return refuse("readonly")
    unfit = _unfit(document, control, order["op"], order["value"])
    if unfit is None and control.covered is not None and order["op"] != "scroll":
        return refuse("covered", control.covered)
    return unfit


def no_more_to_do(control: FakeControl, op: str) -> dict[str, Any] | None:
    """The answer when the control is as asked already: nothing is dispatched then."""
    if op in ("check", "uncheck") and is_on(control, op == "check"):
        return {"ok": True, "checked": op == "check"}
    return None


def is_on(control: FakeControl, wanted: bool) -> bool:
    """Whether it is in the wanted state. A mixed one counts as off."""
    return (control.checked is True) == wanted


def toggled(control: FakeControl, wanted: bool) -> dict[str, Any]:
    """The answer of ``check`` and ``uncheck``, by the state as it is now."""
    checked = control.checked is True
    return {**({"ok": True} if checked is wanted else refuse("unsupported", "state unchanged")), "checked": checked}


def perform(document: FakeDocument, control: FakeControl, op: str, value: Any) -> Performed:
    """Do it, with all that the page does in answer. `refusal_of` was None in this same turn."""
    done = Performed()
    _OPERATIONS[op](document, control, value, done)
    document.touch()
    return done


# What fits


def _unfit(document: FakeDocument, control: FakeControl, op: str, value: Any) -> Refusal | None:
    match op:
        case "click":
            return None
        case "scroll":
            return scroll_unfit(value)
        case "type" | "date" if not control.typable:
            return refuse("unsupported", f"text cannot be typed into {control.tag} here")
        case "type" | "date" if not isinstance(value, str):
            return refuse("unsupported", "typing needs a text")
        case "date" if control.type == "date" and not _is_date(value):
            return refuse("unsupported", "not a date of the form YYYY-MM-DD")
        case "type" | "date":
            return None
        case "select" if control.options is None:
            return refuse("unsupported", f"options can be selected in a select only, not in {control.tag}")
        case "select" if (several := chosen_options(control, value)) is not None:
            return several
        case "select":
            known = all(_option(control, one) is not None for one in _listed(value))
            return None if known else refuse("unsupported", "no enabled option has that value")
        case "check" | "uncheck" if control.checked is None:
            return refuse("unsupported", "it has no state that could be on or off")
        case "uncheck" if control.checked is True and control.type == "radio":
            return refuse("unsupported", "a radio button goes off only when another one of its group goes on")
        case "check" | "uncheck":
            return None
        case "enter":
            return _unfit_enter(document, control)
    return unfit(document, control, op, value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _unfit_enter(document: FakeDocument, control: FakeControl) -> Refusal | None:
    button = _send_button(document, control)
    if control.tag == "textarea" or button is None:
        return None
    if button.hidden:
        return refuse("hidden", "the button that sends the form cannot be seen")
    return refuse("disabled", "the button that sends the form is disabled") if button.disabled else None


def _is_date(value: str) -> bool:
    try:
        return bool(_DATE.match(value)) and date.fromisoformat(value) is not None
    except ValueError:
        return False


def _option(control: FakeControl, value: Any) -> str | None:
    """The option's value: the one that is meant, or that whose label alone is."""
    assert control.options is not None
    if value in control.options:
        return str(value)
    by_label = [option for option, label in control.options.items() if label == value]
    return by_label[0] if len(by_label) == 1 else None


def _send_button(document: FakeDocument, control: FakeControl) -> FakeControl | None:
    if control.form is None:
        return None
    return next((one for one in document.controls if one.submit and one.form == control.form), None)


# What is done


def _press(document: FakeDocument, control: FakeControl, done: Performed) -> None:
    """A click with all its consequences: the state, the page's own code, then what the browser does by itself.

    The state of what is no native box is set by the page's own code, where it has some.
    """
    if control.type == "radio":
        for one in document.controls:
            if one.type == "radio" and (one.name, one.form) == (control.name, control.form):
                one.checked = one is control
    elif control.checked is not None and (control.tag == "input" or control.on_click is None):
        control.checked = control.checked is not True
    run_effects(document, control.on_click)
    if control.checked is not None:
        run_effects(document, control.on_change)
    if control.href is not None and not control.href.startswith("javascript:"):
        document.navigate(control.href)
    if control.submit:
        _submit(document, control, done)


def _submit(document: FakeDocument, control: FakeControl, done: Performed) -> None:
    form = document.form_of(control)
    if form is None:
        return
    fields = [one for one in document.controls if one.form == control.form and not one.disabled]
    if any(one.required and (one.checked is False or not one.value) for one in fields):
        done.lacking = True
        return  # the browser shows what is missing, and no submit event fires
    done.submitted = True
    sent = [one for one in fields if one.tag in ("input", "textarea", "select") and one.checked in (None, True) and not one.submit]
    done.sent = {one.name or one.label: one.value for one in sent}
    run_effects(document, form.get("on_submit"))
    action = form.get("action", "")
    if action is None:
        return
    url = urljoin(document.url, action or document.url)
    if form.get("method", "get") == "get":
        url = urlsplit(url)._replace(query=urlencode({one.name: one.value for one in sent if one.name}), fragment="").geturl()
    document.navigate(url, done.sent)


def _click(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    _press(document, control, done)
    if control.checked is not None:
        done.answer = {"ok": True, "checked": control.checked is True}


def _toggle(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    wanted = control.checked is not True
    _press(document, control, done)
    done.answer = toggled(control, wanted)
    if not done.answer["ok"]:
        done.wanted = wanted


def _type(document: FakeDocument, control: FakeControl, value: str, done: Performed) -> None:
    if control.type != "date":
        _press(document, control, done)
    text = value if control.tag == "textarea" else value.replace("\n", "")
    control.value = text if control.max_length is None else text[: control.max_length]
    _changed(document, control, value, done)


def _select(document: FakeDocument, control: FakeControl, value: str | list[str], done: Performed) -> None:
    control.value = chosen = ", ".join(_option(control, one) or "" for one in _listed(value))
    _changed(document, control, chosen, done)


def _changed(document: FakeDocument, control: FakeControl, wanted: str, done: Performed) -> None:
    run_effects(document, control.on_change)
    done.answer = {"ok": True, "value": control.shown_value[:MOST_VALUE]}
    if control.value.strip().casefold() != wanted.strip().casefold():
        done.answer = {**refuse("mismatch", "the field holds another text now"), "value": control.shown_value[:MOST_VALUE]}


def _enter(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    button = _send_button(document, control)
    if control.tag == "textarea":
        control.value += "\n"
    elif button is not None:
        _press(document, button, done)
    else:
        _submit(document, control, done)
    done.answer = {"ok": True, "value": control.shown_value[:MOST_VALUE]}


def _scroll(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    if isinstance(value, Mapping) and "until" in value:
        there = value["until"].casefold() in f"{document.text} {' '.join(one.label for one in document.controls)}".casefold()
        done.answer = {"ok": True} if there else refuse("not-found", "it is at its end, and the text did not come")
        return
    done.answer = {"ok": True, "detail": "it did not move: it is at its end"}


_OPERATIONS: Final[Mapping[str, Callable[[FakeDocument, FakeControl, Any, Performed], None]]] = {
    "check": _toggle,
    "click": _click,
    "date": _type,
    "enter": _enter,
    "scroll": _scroll,
    "select": _select,
    "type": _type,
    "uncheck": _toggle,
    **HANDS,
}
