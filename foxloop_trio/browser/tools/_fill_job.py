"""One call of `fill` or `fill_and_send` while it runs: field after field, the send, and what is told of it.

Each act has the pin that was judged, renewed by a look right before it in what earlier fields of the same call change: generation
and digests of the fields. Whatever else is different is stale. It owns no lock; whoever runs it holds the tab's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import attrs
import trio

from ...actions import CheckLine, CheckResult, ToolContext, ToolOutput
from ...errors import BrowserError, UsageError
from .._act import RENEWED, ActResult
from .._snapshot import Snapshot
from ._desk import Args, Desk, is_in_doubt, permit_of
from ._fields import holds, judged_settings, was_taken_back
from ._filling_words import evidence_of, named, say_filled, say_not_sent, say_sent, say_stopped, say_taken_back
from ._pin import make_pin, same_control
from ._sending import SENT_WORDS, SendEvidence, drift, sent_by
from ._steps import Steps, step_of
from ._view import View
from ._words import seen

__all__ = ["FillJob", "Secrets"]

MAX_TRIES: Final = 3
"""For a field that a page which is still changing refused as stale, with nothing begun. It is compared anew each time."""


@attrs.frozen(kw_only=True, repr=False)
class Secrets:
    """The plain values of secret fields, by control; what opens their seals; and the host's word on whether one may still be typed,
    given the look, the frame and the value.
    """

    values: Mapping[str, str]
    salt: bytes | None
    still_allowed: Callable[[Snapshot, int, str], Awaitable[bool]]


@attrs.frozen(kw_only=True)
class Stop:
    """Why nothing more is done: one of our words, the control that it is about, and what the page or the browser says of it."""

    why: str
    control: str | None = None
    result: ActResult | None = None
    error: BrowserError | None = None
    words: str | None = None


class FillJob:
    """One call while it runs: what was judged, the newest look, and what was done so far."""

    def __init__(
        self,
        desk: Desk,
        args: Args,
        ctx: ToolContext,
        before: Snapshot,
        secrets: Secrets,
    ) -> None:
        self._desk = desk
        self._ctx = ctx
        self._before = before
        self._secrets = secrets
        self._targets: list[Mapping[str, Any]] = args["targets"]
        self._send: Mapping[str, Any] | None = args.get("send")
        self._settings = judged_settings(args)
        self._now = before
        self._last: Snapshot | None = None
        self._kept: dict[str, str | None] = {}
        self._steps = Steps(ctx.report_effect, of=len(self._targets) + (self._send is not None))
        self._results: list[ActResult] = []
        self._evidence: SendEvidence | None = None
        self._pressed = False
        self._stops = desk.stops
        self._left = False

    # Fields

    async def fields(self) -> Stop | None:
        """Set them one after the other; why it stopped, or None when all are set."""
        for index, pin in enumerate(self._targets):
            stop = await self._field(pin, fresh=index == 0)
            if stop is not None:
                return stop
        return None

    async def _field(self, pin: Mapping[str, Any], *, fresh: bool) -> Stop | None:
        control_id = pin["control"]
        setting = self._settings[control_id]
        secret = self._secrets.values.get(control_id)
        stop = None
        for attempt in range(MAX_TRIES):
            if attempt:
                await self.quiet(pin)
            if (attempt or not fresh or secret is not None) and (stop := await self._look_again()) is not None:
                return stop
            now = self._pin_now(pin)
            if not same_control(pin, now) or (not self._results and not _same_fields(pin, now)):
                return Stop(why="stale", control=control_id)
            assert now is not None
            if secret is not None and not await self._secrets.still_allowed(self._now, pin["frame"], secret):
                return Stop(why="secret", control=control_id)
            value = setting.act_value if secret is None else secret
            result = await self._act(pin, setting.op, value, {name: now[name] for name in RENEWED})
            if isinstance(result, Stop):
                return result
            if result.ok:
                self._kept[control_id] = result.value
                return None
            stop = Stop(why="refused", control=control_id, result=result)
            if result.reason != "stale" or result.started or len(self._results) == 1:
                break  # before the first act, nothing but somebody else can have changed the form
        return stop

    async def _act(self, pin: Mapping[str, Any], op: str, value: str | None, now: Mapping[str, Any]) -> ActResult | Stop:
        """One act with the judged pin, as the newest look renews it."""
        step = step_of(op, pin["control"])
        try:
            result = await self._desk.tab.act(
                pin,
                op,
                value,
                permit=permit_of(self._ctx),
                report=self._steps.during(step),
                cancel_grace=self._ctx.cancel_grace,
                now=now,
                salt=self._secrets.salt if pin["control"] in self._secrets.values else None,
                note_opened=self._desk.note_opened,
            )
        except BrowserError as error:
            return Stop(why="error", control=pin["control"], error=error)
        except UsageError as error:
            if error.code == "permit-host":  # it moved while the tab's state was asked for
                return Stop(why="moved")
            raise
        self._steps.ended(step, result)
        self._results.append(result)
        self._left = self._left or result.navigated
        return result

    async def _look_again(self) -> Stop | None:
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._desk.moved(self._ctx) is not None:
            return Stop(why="moved")
        try:
            page = await self._desk.look_again(self._ctx)
        except BrowserError as error:
            return Stop(why="error", error=error)
        if page is None:
            return Stop(why="moved")
        self._now = page
        return None

    def _pin_now(self, pin: Mapping[str, Any]) -> dict[str, Any] | None:
        control = self._now.control(pin["control"])
        return None if control is None else make_pin(self._desk.tab.id, self._now, control)

    async def quiet(self, pin: Mapping[str, Any] | None = None, *, sent: bool = False) -> None:
        """Wait until the page is quiet. What is wrong with it, if anything, the look that follows tells."""
        try:
            settled = await self._desk.tab.settle(pin or self._targets[-1], sent=sent)
            self._left = self._left or settled.gone
        except BrowserError:
            pass

    # The send

    async def send(self) -> Stop | None:
        """Send, if the form is what was judged; why it was not sent, or None."""
        assert self._send is not None
        stop = None
        for attempt in range(MAX_TRIES):
            if attempt:
                await self.quiet()
            if (stop := await self._look_again()) is not None:
                return stop
            problem = drift(
                self._before,
                self._now,
                tab=self._desk.tab.id,
                send=self._send,
                targets=self._targets,
                settings=self._settings,
                kept=self._kept,
            )
            if problem is not None:
                return Stop(why="drift", words=problem)
            self._last = self._now
            now = self._pin_now(self._send)
            assert now is not None
            renewed = RENEWED if now["guard"] == self._send["guard"] else RENEWED | {"guard"}
            result = await self._act(self._send, "click", None, {name: now[name] for name in renewed})
            if isinstance(result, Stop):
                return result
            if result.ok or result.started:
                self._pressed = True
                await self.quiet(self._send, sent=True)
            if result.ok:
                return None
            stop = Stop(why="refused", control=self._send["control"], result=result)
            if result.reason != "stale" or result.started:
                break
        return stop

    # The result

    async def output(self, op: str, stop: Stop | None) -> ToolOutput:
        """What was done, what the page looks like now, and a check of each field."""
        done, results = self._steps.done, self._results
        set_ids = list(self._kept)
        if stop is not None and not done and not any(result.started for result in results):
            return self._nothing(stop)
        page, words = await self._desk.page_after(self._ctx)
        left = self._left or (page is not None and page.top.document != self._before.top.document)
        if self._pressed:
            assert self._last is not None
            assert self._send is not None
            self._evidence = sent_by(results[-1], self._last, page, self._send, left=left)
            if self._evidence == "submit-event" and self._desk.stops > self._stops and not left:
                self._evidence = None  # the event came, and the lease stopped the request
        summary = self._summary(op, stop, len(set_ids), left)
        checks = [*self._field_checks(page), *self._send_check()]
        outside = "\n".join(text for text in self._outside(stop) if text) or None
        view = View.of({}, await self._desk.asked_focus())
        shown = None if page is None else view.text(page, since=self._before, after=outside)
        sent = self._send is None or self._evidence is not None
        lost = [] if left or self._send is not None or stop is not None else self._taken_back(page)
        if lost:
            summary = f"{summary} {say_taken_back(lost)}"
        data: dict[str, Any] = {"set": set_ids, "of": len(self._targets), "navigated": left}
        if self._send is not None:
            data["sent"] = self._evidence
        if stop is not None:
            data["stopped"] = {"why": stop.why, **({} if stop.control is None else {"control": stop.control})}
        return ToolOutput(
            ok=stop is None and sent and not lost,
            summary=f"{summary} {words}",
            untrusted="\n".join(text for text in (outside, shown) if text) or None,
            check=CheckResult(ok=stop is None and all(line.ok for line in checks), checks=checks),
            data=data,
            stop_batch=left or page is None or (page.captcha and not self._before.captcha),
        )

    def _nothing(self, stop: Stop) -> ToolOutput:
        """Nothing was dispatched; as with a single act, the page is not read, and the next call has to."""
        if stop.why == "moved":
            return self._desk.failed_moved(self._ctx)
        if stop.error is not None:
            what = f"field {stop.control}" if stop.control else "the look at the page"
            return self._desk.failed(what, stop.error, self._ctx)
        summary = say_stopped(0, len(self._targets), stop.why, stop.control, result=stop.result, words=stop.words)
        outside = "\n".join(text for text in self._outside(stop) if text) or None
        left = stop.result is not None and stop.result.navigated
        return ToolOutput(ok=False, summary=summary, untrusted=outside, stop_batch=left)

    def _summary(self, op: str, stop: Stop | None, count: int, left: bool) -> str:
        many = len(self._targets)
        if stop is not None:
            words = say_stopped(
                count,
                many,
                stop.why,
                stop.control,
                result=stop.result,
                words=stop.words,
                error=stop.error,
                url=self._desk.tab.url,
                in_doubt=is_in_doubt(self._ctx),
            )
            if self._send is None:
                return words
            return f"{words} {say_sent(self._evidence) if self._evidence is not None else say_not_sent(pressed=self._pressed)}"
        words = say_filled(op, count, many, self._results, left=left)
        if self._send is None:
            return words
        return f"{words} {say_sent(self._evidence) if self._evidence is not None else say_not_sent(pressed=True)}"

    def _outside(self, stop: Stop | None) -> list[str | None]:
        """What page and browser said on the way. What a secret field holds is not said."""
        said: list[str | None] = []
        for result in self._results:
            hidden = stop is not None and result is stop.result and stop.control in self._secrets.values
            said.append(seen(attrs.evolve(result, value=None, detail=None) if hidden else result))
        if stop is not None and stop.error is not None:
            said.append(str(stop.error))
        return said

    def _taken_back(self, page: Snapshot | None) -> list[str]:
        """Ids of the fields that were set, and show again what they showed before."""
        lost = []
        for pin in self._targets:
            name, setting = pin["control"], self._settings[pin["control"]]
            now = page.control(name) if page is not None and _in_document(page, pin) else None
            if was_taken_back(self._before.control(name), now, setting.op, setting.value, self._kept.get(name)):
                lost.append(name)
        return lost

    def _field_checks(self, page: Snapshot | None) -> list[CheckLine]:
        """On the look right before the send, where there was one: afterwards the form may be gone."""
        page = self._last or page
        lines = []
        for pin in self._targets:
            control_id = pin["control"]
            setting = self._settings[control_id]
            control = None if page is None else page.control(control_id)
            if control is not None and page is not None and not _in_document(page, pin):
                control = None
            ok = control_id in self._kept and holds(control, setting.op, setting.value, self._kept[control_id])
            lines.append(
                CheckLine(
                    part=f"{named(pin)} holds the wanted value",
                    ok=ok,
                    evidence=evidence_of(control, was_set=control_id in self._kept),
                )
            )
        return lines

    def _send_check(self) -> list[CheckLine]:
        if self._send is None:
            return []
        evidence = "sending was not observed" if self._evidence is None else SENT_WORDS[self._evidence]
        return [CheckLine(part="the form was sent", ok=self._evidence is not None, evidence=evidence)]


def _same_fields(pin: Mapping[str, Any], now: Mapping[str, Any] | None) -> bool:
    """Whether the fields around it are as they were judged: those of its form, or all of its frame."""
    name = "key" if pin.get("form_key") is None else "form_key"
    return now is not None and now.get(name) == pin[name]


def _in_document(page: Snapshot, pin: Mapping[str, Any]) -> bool:
    frame = page.frame(pin["frame"])
    return frame is not None and frame.document == pin["document"]
