"""What one act is judged by before it is sent, and what came of it. Values only: nothing here talks to a page.

The judgement is the last one on our side: a permit that is alive, for this host, this pinned control, this operation and this
value. The page script judges once more, in the turn in which it acts.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from ..actions import Action, EffectState, Permit
from ..canonical import canonical_json
from ..errors import NotJsonError, UsageError
from ._seal import seal

__all__ = ["RENEWED", "ActResult", "DialogSeen", "Value", "check_permit", "check_pin"]

Value = str | float | Sequence[str] | Mapping[str, Any] | None
"""What an operation takes; `foxloop_trio.wire` says what each one understands."""

TASK_TOOL: Final = "browser_task"
TASK_OPS: Final = frozenset({"check", "click", "date", "enter", "select", "type", "uncheck"})

RENEWED: Final = frozenset({"form_key", "generation", "key"})
"""Parts of a pin that change when fields are set, and that a call which sets several fields takes anew from the look after each.

Of the control that sends, also its guard: it may be enabled by what was filled in. Who it is and where it sends stays as judged."""

PIN_KEYS: Final = ("tab", "control", "document", "frame", "node", "guard", "key")
"""What a pin must hold for an act; it may hold more, all of which is compared with what was judged."""


@attrs.frozen(kw_only=True)
class DialogSeen:
    """A script dialog that the act opened, and the answer it got by policy. `message` is the page's: untrusted."""

    kind: str
    message: str
    answer: bool | str | None


@attrs.frozen(kw_only=True)
class ActResult:
    """What came of one act.

    * `ok`: the control is now as asked. Otherwise `reason` is a refusal code of the page reference, or ``timeout`` when no answer
      came.
    * `started`: events were dispatched. A result that is not `ok` but started may have changed the page.
    * `value`, `detail`, addresses and the dialogs' messages quote the page: untrusted.
    * `submitted`: a submit event fired. `navigated`: the document went away after the act began.
    * `did`: what was sent, step by step, in words of ours; for an act that was stopped half way, exactly what the page received.
    * `changed`: what came of it, as words: ``page value state focus selection scroll address navigation submit invalid media
      picture request tab dialog``. An act that has to prove itself (click, press, hover, drag, enter) and of which nothing came is
      not `ok`, with reason ``nothing-changed``.
    * `download`: of the operation ``download``: `ticket`, `name`, `type` and `url` of the file, all but the first the page's words,
      and perhaps its `size`; `Tab.fetch` gets its bytes.
    * `leads_to`: the address of a navigation that began. `opened_tabs`: ids of tabs that the act opened; `popups`: addresses of
      windows that the page asked for, opened or not.
    * `changed_elsewhere`: fields outside of the control's own form had changed since the look; that alone did not stop the act.
    """

    ok: bool
    started: bool
    reason: str | None = None
    detail: str | None = None
    value: str | None = None
    submitted: bool = False
    navigated: bool = False
    checked: bool | None = None
    dialogs: tuple[DialogSeen, ...] = attrs.field(default=(), converter=tuple)
    did: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    changed: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    changed_elsewhere: bool = False
    leads_to: str | None = None
    download: Mapping[str, Any] | None = None
    opened_tabs: tuple[int, ...] = attrs.field(default=(), converter=tuple)
    popups: tuple[str, ...] = attrs.field(default=(), converter=tuple)

    @classmethod
    def from_wire(cls, obj: Mapping[str, Any]) -> ActResult:
        """From the wire's result of ``page.act``, whose schema was checked on arrival."""
        dialogs = tuple(DialogSeen(**dialog) for dialog in obj["dialogs"])
        return cls(**{**obj, "dialogs": dialogs, "popups": tuple(popup["url"] for popup in obj.get("popups", ()))})

    @property
    def acted(self) -> bool:
        """Not done as asked, and yet events were sent: the page may have changed."""
        return self.started and not self.ok

    @property
    def opened_tab(self) -> int | None:
        """The first tab that it opened."""
        return self.opened_tabs[0] if self.opened_tabs else None

    @property
    def effect(self) -> EffectState:
        """``not-started``, ``done``, ``partial`` for an act that began and was refused on the way, ``unknown`` without an
        answer.
        """
        if self.started and self.reason == "timeout":
            return "unknown"
        if not self.started:
            # An act that finds things as they should be (check on a checked box) is done without an event.
            return "done" if self.ok else "not-started"
        return "done" if self.ok else "partial"


def check_pin(pin: Mapping[str, Any], tab: int) -> None:
    """Raises UsageError, code ``bad-target``, for a pin that lacks something or is of another tab."""
    if not isinstance(pin, Mapping):
        raise UsageError(
            f"tab.act: the target must be a pin, not {type(pin).__name__}; use the pin that prepare made", code="bad-target"
        )
    missing = [key for key in PIN_KEYS if key not in pin]
    if missing:
        raise UsageError(f"tab.act: the target lacks {', '.join(missing)}; use the pin that prepare made", code="bad-target")
    if pin["tab"] != tab:
        raise UsageError(f"tab.act: the target is of tab {pin['tab']!r}, and this is tab {tab}", code="bad-target")


def check_permit(
    permit: object,
    pin: Mapping[str, Any],
    op: str,
    value: Value,
    host: str | None,
    dialog: Mapping[str, Any] | None = None,
    *,
    now: Mapping[str, Any] | None = None,
    salt: bytes | None = None,
) -> None:
    """Raises UsageError when `permit` does not allow exactly this act on `host`; its code says which comparison failed:

    ``permit-missing``, ``permit-closed``, ``permit-host``, ``permit-target``, ``permit-value``, ``permit-dialog``.
    """
    if type(permit) is not Permit:  # isinstance would believe what an object says of its class
        raise UsageError(
            f"tab.act: permit must be the gate's Permit (ctx.permit), not {type(permit).__name__}", code="permit-missing"
        )
    if not permit.alive:
        raise UsageError("tab.act: this permit's call has ended; each act needs the permit of its own call", code="permit-closed")
    action = permit.action
    if host is None or host.removesuffix(".") != action.domain:
        raise UsageError(f"tab.act: the permit is for {action.domain!r}, and the tab shows {host!r}", code="permit-host")
    if action.tool == TASK_TOOL:
        _check_task(action, pin, op)
        return
    judged = _judged(action, pin)
    if judged is None:
        raise UsageError(f"tab.act: control {pin['control']!r} as pinned is not among what the gate judged", code="permit-target")
    if now is not None and not now.keys() <= judged.renewable:
        raise UsageError(
            f"tab.act: of this pin only {', '.join(sorted(judged.renewable)) or 'nothing'} may be newer than what the gate judged",
            code="permit-target",
        )
    if op not in judged.ops or not judged.is_value(pin, value, salt):
        raise UsageError(
            f"tab.act: the gate judged {' or '.join(judged.ops)} with another value than this {op!r}", code="permit-value"
        )
    if dialog is not None and not _same(dialog, action.args.get("dialog")):
        raise UsageError("tab.act: the gate did not judge this answer to a dialog", code="permit-dialog")


def _check_task(action: Action, pin: Mapping[str, Any], op: str) -> None:
    """A task is judged by where it sends, not by each field: what sends must go to the judged destination, in the judged way.

    Raises UsageError, code ``permit-target``.
    """
    if op not in TASK_OPS:
        raise UsageError(f"tab.act: a task was judged, and {op!r} is nothing that tasks do", code="permit-target")
    enter = op == "enter"
    if not (enter or (op == "click" and pin.get("submit"))):
        return
    form = action.args.get("form") or {}
    send, there = form.get("send"), form.get("destination")
    judged = None if there is None else {name: there.get(name) for name in ("url", "method", "target")}
    if send is None or (send.get("how") == "enter") is not enter or not _same(pin.get("destination"), judged):
        raise UsageError(
            f"tab.act: control {pin['control']!r} would not send what the gate judged where it judged", code="permit-target"
        )


@attrs.frozen(kw_only=True)
class _Judged:
    """What was judged for one pinned control: the operations, the value, and which parts of the pin the call itself may renew."""

    ops: tuple[str, ...]
    value: Any = None
    sealed: str | None = None
    renewable: frozenset[str] = frozenset()

    def is_value(self, pin: Mapping[str, Any], value: Value, salt: bytes | None) -> bool:
        """Whether this is the judged value; a sealed one is known by its digest."""
        if self.sealed is None:
            return _same(value, self.value)
        return salt is not None and isinstance(value, str) and hmac.compare_digest(seal(salt, pin, value), self.sealed)


def _judged(action: Action, pin: Mapping[str, Any]) -> _Judged | None:
    """What was judged for this pinned control; None when the control was not judged."""
    args = action.args
    if _same(args.get("target"), pin):
        return _Judged(ops=(args["op"],) if "op" in args else ("click",), value=args.get("value"))
    if _same(args.get("send"), pin):
        return _Judged(ops=("click",), renewable=RENEWED | {"guard"})
    if any(_same(target, pin) for target in args.get("targets", ())):
        return _judged_field(args, pin["control"])
    return None


def _judged_field(args: Mapping[str, Any], control: str) -> _Judged | None:
    """One of several fields that a call sets, one after the other."""
    op, value, sealed = (args.get(name, {}).get(control) for name in ("ops", "fields", "sealed"))
    match op, value:
        case ("check", True) | ("uncheck", False):
            return _Judged(ops=(op,), renewable=RENEWED)
        case (("type" | "select" | "date"), str(text)):
            return _Judged(ops=(op,), value=text, sealed=sealed, renewable=RENEWED)
    return None


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, so that True is not 1; key order and the spelling of numbers do not count."""
    try:
        return canonical_json(one) == canonical_json(other)
    except NotJsonError:
        return False
