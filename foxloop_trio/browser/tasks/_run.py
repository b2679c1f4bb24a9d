"""Running a task: look, decide, act, settle, look again, until nothing is left to do or something is in the way.

Everything that is decided is decided by the pure modules; this one owns the order and the waiting. It stops where it is cancelled:
nothing of a task outlives the call, and after a cancel no act begins.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Literal, Protocol

import attrs
import trio

from ...actions import CheckLine, CheckResult
from ...errors import BrowserError, FoxloopError
from .._act import ActResult
from .._quoting import quote
from .._snapshot import Control, Snapshot
from ._choosing import Chooser
from ._controller import Block, Finish
from ._goals import parse_goal
from ._nouns import Goal
from ._numbers import MAX_STEPS
from ._preview import decided, understood
from ._previewed import Preview
from ._progress import Act, Progress, TaskStep, confirm, record, start
from ._reasons import MESSAGES, TaskBlock
from ._rule_chooser import RuleChooser
from ._sensitive import asks_secret, is_secret, shown_goal
from ._sites import is_downgrade, same_site
from ._verify import verify

__all__ = ["Elsewhere", "TaskPage", "TaskResult", "run_task", "secrets_of"]

Status = Literal["done", "blocked", "stopped", "error"]
Passwords = Callable[[str], Any]
"""For the address of a frame, the values that may be typed into its secret fields; may be async."""

MAX_MESSAGE: Final = 1000
"""Characters of an error's text that are kept."""


class TaskPage(Protocol):
    """What a task needs of a page: a `Tab` through `TabPage`, or a stand-in."""

    async def snapshot(self) -> Snapshot:
        """A look, once the page can be read. Raises `Elsewhere` where nothing may be read."""

    async def act(self, page: Snapshot, control: Control, op: str, value: str | None) -> ActResult:
        """One act on a control of that look."""

    async def settle(self, page: Snapshot, control: Control, *, list_for: bool, sent: bool) -> None:
        """Wait until the control's frame is quiet; `list_for`: a list of suggestions is expected; `sent`: a form was sent."""


class Elsewhere(Exception):
    """The tab is where nothing may be read or done any more. `url` is where, when it is known."""

    def __init__(self, url: str | None = None) -> None:
        super().__init__("the tab is on another site")
        self.url = url


@attrs.frozen(kw_only=True)
class TaskResult:
    """How a task ended. All texts but `message` may quote the goal or the page; sensitive values are masks.

    `message` is ours. `detail` is what was said about it by the page or an error: untrusted. `seconds` is the whole time.
    """

    goal: str
    url: str
    status: Status
    verified: bool
    left: bool = False
    """The page was left for another document."""
    blocked_reason: TaskBlock | None = None
    message: str | None = None
    detail: str | None = None
    checks: tuple[CheckLine, ...] = ()
    problem: str | None = None
    steps: tuple[TaskStep, ...] = ()
    unmatched: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    """The evidence for each form that went out: ``submit-event``, ``navigation`` or ``request``."""
    chooser: str
    seconds: float

    @property
    def refusals(self) -> tuple[TaskStep, ...]:
        """The steps that were refused."""
        return tuple(step for step in self.steps if not step.ok)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON, as in ``data`` of the tool's result; the time in whole milliseconds."""
        plain: dict[str, Any] = {"goal": self.goal, "url": self.url, "status": self.status, "verified": self.verified}
        for name in ("message", "blocked_reason", "problem"):
            if (value := getattr(self, name)) is not None:
                plain[name] = value
        refusals = [
            {"step": step.step, "action": step.action, "reason": step.reason, **({"detail": step.detail} if step.detail else {})}
            for step in self.refusals
        ]
        return plain | {
            "checks": [{"part": line.part, "ok": line.ok, "evidence": line.evidence} for line in self.checks],
            "steps": [step.to_json() for step in self.steps],
            "refusals": refusals,
            "unmatched": list(self.unmatched),
            "sent": list(self.sent),
            "chooser": self.chooser,
            "total_ms": round(self.seconds * 1000),
        }


async def run_task(
    page: TaskPage,
    goal: str,
    *,
    chooser: Chooser | None = None,
    max_steps: int = MAX_STEPS,
    today: datetime.date | None = None,
    day_first: bool = False,
    on_step: Callable[[TaskStep], object] | None = None,
    allow_hosts: Collection[str] = (),
    pinned: Preview | None = None,
    passwords: Passwords | None = None,
    stop: Callable[[], bool] | None = None,
) -> TaskResult:
    """Do what `goal` says, on one site, and check it.

    * `today`: what "tomorrow" is told from; the system's date by default. `day_first`: 10/9/2026 is in September.
    * `on_step`: told of each act right after it.
    * `allow_hosts`: further hosts that the run may come to, with their subdomains.
    * `pinned`: a preview; a form is then sent only to its destination and by its button.
    * `passwords(url)`: what may be typed into secret fields of a frame with that address; without it, nothing is.
    * `stop`: asked before each step; True ends the run as ``stopped``. A cancel needs no such thing: it goes through, as in all
      code on Trio, and no act begins after it.

    What goes wrong is a result, ``blocked`` or ``error``; only a cancel leaves as an exception.
    """
    chooser = chooser if chooser is not None else RuleChooser()
    run = _Run(page, chooser, on_step=on_step, allow_hosts=allow_hosts, passwords=passwords, stop=stop)
    today = today if today is not None else datetime.date.today()
    return await run.whole(goal, today, max_steps=max_steps, day_first=day_first, pinned=pinned)


async def secrets_of(page: Snapshot, goal: Goal, passwords: Passwords | None) -> dict[int, frozenset[str]]:
    """What may be typed into secret fields, by frame. The host is asked only when goal and page have need of it."""
    if passwords is None or not any(asks_secret(part) for part in goal.requirements):
        return {}
    frames = {control.frame for control in page.controls if is_secret(control)}
    found: dict[int, frozenset[str]] = {}
    for number in sorted(frames):
        frame = page.frame(number)
        assert frame is not None
        allowed = passwords(frame.url)
        if hasattr(allowed, "__await__"):
            allowed = await allowed
        found[number] = frozenset(_texts(allowed))
    return found


def _texts(allowed: Iterable[object] | None) -> list[str]:
    return [text for text in allowed or () if isinstance(text, str) and text]


@attrs.frozen(kw_only=True)
class _End:
    status: Status
    reason: TaskBlock | None = None
    message: str | None = None
    detail: str | None = None


class _Run:
    def __init__(
        self,
        page: TaskPage,
        chooser: Chooser,
        *,
        on_step: Callable[[TaskStep], object] | None,
        allow_hosts: Collection[str],
        passwords: Passwords | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self._page = page
        self._chooser = chooser
        self._on_step = on_step
        self._allow_hosts = tuple(allow_hosts)
        self._passwords = passwords
        self._stop = stop
        self._look: Snapshot | None = None
        self._first_url = self._first_document = self._shown_goal = ""
        self._progress: Progress | None = None

    async def whole(
        self, goal: str, today: datetime.date, *, max_steps: int, day_first: bool, pinned: Preview | None
    ) -> TaskResult:
        began = trio.current_time()
        self._shown_goal = shown_goal(parse_goal(goal, today, day_first=day_first))
        try:
            self._look = await self._page.snapshot()
            self._first_url, self._first_document = self._look.url, self._look.top.document
            if pinned is not None and pinned.document != self._look.top.document:
                return self._result(_blocked("destination-changed"), trio.current_time() - began)
            understanding = await understood(goal, today, self._chooser, day_first=day_first)
            self._progress = start(understanding, today, max_steps=max_steps, pinned=pinned)
            end = await self._steps(self._progress)
        except Elsewhere as left:
            end = _blocked("downgrade" if left.url is not None and is_downgrade(self._first_url, left.url) else "other-site")
            self._look = None
        except Exception as error:  # whatever a page, a chooser or a host's function does is how the run ended
            end = _failed(error)
        return self._result(end, trio.current_time() - began)

    async def _steps(self, progress: Progress) -> _End:
        assert self._look is not None
        while True:
            page = self._look
            await trio.lowlevel.checkpoint_if_cancelled()
            if self._stop is not None and self._stop():
                return _End(status="stopped", message="the run was stopped")
            if is_downgrade(self._first_url, page.url):
                return _blocked("downgrade")
            if not same_site(self._first_url, page.url, self._allow_hosts):
                return _blocked("other-site")
            progress.secrets = await secrets_of(page, progress.goal, self._passwords)
            decision = await decided(progress, page, self._chooser)
            if isinstance(decision, Finish):
                return _End(status="done")
            if isinstance(decision, Block):
                return _blocked(decision.reason, decision.labels)
            await self._step(progress, page, decision)

    async def _step(self, progress: Progress, page: Snapshot, act: Act) -> None:
        """One act with all that follows from it."""
        stops = self._stops()
        result = await self._page.act(page, act.control, act.op, act.value)
        step = record(progress, page, act, result)
        if self._on_step is not None:
            self._on_step(step)
        went_out = act.send and (result.ok or result.started)
        try:
            if result.ok or result.started:
                # A link may lead away as well, and that takes its time to begin.
                sent = result.submitted or went_out or (act.op == "click" and act.control.role == "link")
                await self._page.settle(page, act.control, list_for=act.awaits == "list", sent=sent)
            self._look = await self._page.snapshot()
        except Elsewhere:
            confirm(progress, act, result, page, None)
            raise
        except BrowserError:
            confirm(progress, act, result, page, page)  # an event that was seen was seen
            raise
        if self._stops() > stops and self._look.top.document == page.top.document:
            result = attrs.evolve(result, submitted=False)  # the event came, and the lease stopped the request
        confirm(progress, act, result, page, self._look)

    def _stops(self) -> int:
        """Of a page that can be held; a stand-in need not be."""
        return getattr(self._page, "stops", 0)

    def _result(self, end: _End, seconds: float) -> TaskResult:
        progress = self._progress
        check = CheckResult(ok=False, checks=[]) if progress is None else verify(progress, self._look)
        return TaskResult(
            goal=self._shown_goal,
            url=self._look.url if self._look is not None else self._first_url,
            left=self._look is None or self._look.top.document != self._first_document,
            status=end.status,
            blocked_reason=end.reason,
            message=end.message,
            detail=end.detail,
            verified=end.status == "done" and check.ok,
            checks=tuple(check.checks),
            problem=check.problem,
            steps=() if progress is None else tuple(progress.history),
            unmatched=() if progress is None else progress.unmatched,
            sent=() if progress is None else tuple(sent.evidence for sent in progress.sent.values()),
            chooser=self._chooser.name,
            seconds=seconds,
        )


def _blocked(reason: TaskBlock, labels: tuple[str, ...] = ()) -> _End:
    detail = ", ".join(quote(label) for label in labels) or None
    return _End(status="blocked", reason=reason, message=MESSAGES[reason], detail=detail)


def _failed(error: Exception) -> _End:
    code = f" ({error.code})" if isinstance(error, FoxloopError) else ""
    what = "the browser could not do it" if isinstance(error, BrowserError) else f"{type(error).__name__} in the middle of the run"
    return _End(status="error", message=f"{what}{code}", detail=str(error)[:MAX_MESSAGE])
