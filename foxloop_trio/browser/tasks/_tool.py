"""The tool `browser_task`: a whole form from one goal, approved once, for one destination.

prepare reads the page and adds the preview as `form`, which is what the gate judges and the human sees; run does the task pinned to
it, under the tab's lock. A yes covers every field and click on the judged host, and one send: to the judged destination.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from typing import Any, Final

import trio

from ...actions import CheckResult, Permit, ToolContext, ToolOutput
from ...errors import BrowserError, Refuse, UsageError
from ...tools import Tool
from .._snapshot import Snapshot
from .._tab import Tab
from ..tools._address import host_of, plain_host
from ..tools._pin import Memory
from ..tools._spending import Spending, spending
from ..tools._words import say_error, say_moved
from ._choosing import Chooser
from ._goals import parse_goal
from ._numbers import MAX_GOAL
from ._preview import planned, understood
from ._previewed import Preview
from ._rule_chooser import RuleChooser
from ._run import Passwords, TaskResult, run_task, secrets_of
from ._sensitive import shown_goal
from ._tab_page import TabPage
from ._tool_words import describe_task, outside_words, say_task

__all__ = ["browser_task_tool"]

DESCRIPTION: Final = (
    "Fill in the form on the page, and send it, from a goal in plain words: 'name: Ada Lovelace, plan: Pro, accept the terms'. "
    "Say 'do not send' to only fill it in. It checks what it did. Use it instead of single acts where it fits."
)
MOVED: Final = "The tab shows another site than a moment ago. Call snapshot, then decide again."
NO_PLAN: Final = "The task could not be planned, because the chooser failed. Use single acts instead."

Args = dict[str, Any]


def browser_task_tool(
    tab: Tab | Callable[[], Tab],
    *,
    memory: Memory | None = None,
    chooser: Chooser | None = None,
    passwords: Passwords | None = None,
    today: Callable[[], datetime.date] = datetime.date.today,
    day_first: bool = False,
    pays: bool = False,
    note_opened: Callable[[Iterable[int]], None] | None = None,
) -> Tool:
    """The tool `browser_task` for one tab, or for the one that is worked on when it is called; with scope ``submit``.

    * `memory`: of the pack that it is part of; a task leaves it empty, so that the next call looks first.
    * `chooser`: who finds the control for each part of a goal; the rule chooser by default.
    * `passwords(url)`: what may be typed into secret fields of a frame with that address; without it, nothing is. With it, the
      values of secret parts of a goal are kept out of events and trail.
    * `pays`: there is a tool `pay`, to which a form that may spend money is left; without it a human is asked about each such form.
    * `note_opened`: is told the ids of tabs that acts of a task opened.
    * `today`: what "tomorrow" is told from. `day_first`: 10/9/2026 is in September.
    """
    memory = memory if memory is not None else Memory()
    chooser = chooser if chooser is not None else RuleChooser()
    which = tab if callable(tab) else lambda: tab
    task = _Task(which, memory, chooser, passwords, today, day_first, pays, note_opened)
    return Tool(
        name="browser_task",
        description=DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {"goal": {"type": "string", "minLength": 1, "maxLength": MAX_GOAL}},
            "required": ["goal"],
        },
        scope="submit",
        domain=task.domain,
        prepare=task.prepare,
        describe=lambda args, ctx: describe_task(args),
        run=task.run,
        asks=lambda args: "spends" in args,
        redact=None if passwords is None else _without_secrets,
        environment=which().session,
    )


class _Task:
    def __init__(
        self,
        which: Callable[[], Tab],
        memory: Memory,
        chooser: Chooser,
        passwords: Passwords | None,
        today: Callable[[], datetime.date],
        day_first: bool,
        pays: bool,
        note_opened: Callable[[Iterable[int]], None] | None,
    ) -> None:
        self._which = which
        self._note_opened = note_opened
        self._memory = memory
        self._chooser = chooser
        self._passwords = passwords
        self._today = today
        self._day_first = day_first
        self._pays = pays

    def domain(self, args: Args, ctx: ToolContext) -> str:
        """The host of the page in the tab, now."""
        host = self._which().host
        if host is None:
            raise Refuse("The tab shows no web page. Open one with open_url first.")
        return host

    async def prepare(self, args: Args, ctx: ToolContext) -> Args:
        """Look, and plan. The lock is held for the look only."""
        self.domain(args, ctx)
        tab = self._which()
        async with tab.lock:
            self._memory.drop()
            try:
                page = await tab.snapshot()
            except BrowserError as error:
                raise Refuse(say_error("browser_task", error)) from error
            if host_of(page.url) != plain_host(tab.host):
                raise Refuse(MOVED)
            self._memory.snapshot = page
        today = self._today()
        try:
            goal = await understood(args["goal"], today, self._chooser, day_first=self._day_first)
            secrets = await secrets_of(page, goal, self._passwords)
            form = await planned(page, goal, today=today, chooser=self._chooser, secrets=secrets)
        except Exception as error:
            raise Refuse(NO_PLAN) from error
        judged = {"goal": args["goal"], "form": form.to_json()}
        how = _spending(page, form)
        if how is not None and self._pays:
            raise Refuse("This form may spend money. Say 'do not send' in the goal, then use pay on the form's button.")
        return judged if how is None else {**judged, "spends": how}

    async def run(self, args: Args, ctx: ToolContext) -> ToolOutput:
        """Do it, pinned to the preview."""
        ctx.report_effect("not-started")
        tab = self._which()
        async with tab.lock:
            await trio.lowlevel.checkpoint_if_cancelled()
            if plain_host(tab.host) != ctx.domain:
                return ToolOutput(ok=False, summary=say_moved(ctx.domain, plain_host(tab.host)))
            pinned = _pinned(args)
            self._memory.drop()  # whatever comes of it, the look before it is out of date
            page = TabPage(
                tab,
                permit=_permit(ctx),
                report=ctx.report_effect,
                cancel_grace=ctx.cancel_grace,
                note_opened=self._note_opened,
            )
            result = await run_task(
                page,
                args["goal"],
                chooser=self._chooser,
                today=datetime.date.fromisoformat(pinned.today),  # the day that was approved, if midnight has passed since
                day_first=self._day_first,
                pinned=pinned,
                passwords=self._passwords,
            )
            if result.status == "done":
                ctx.report_effect("done", page.done or None)
            return _output(result)


def _spending(page: Snapshot, form: Preview) -> Spending | None:
    """Why the send of this task may spend money."""
    send = None if form.send is None else page.control(form.send.id)
    if form.send is None or send is None:
        return None
    return spending(page, send, enter=form.send.how == "enter")


def _output(result: TaskResult) -> ToolOutput:
    return ToolOutput(
        ok=result.status == "done",
        summary=say_task(result),
        untrusted=outside_words(result),
        check=CheckResult(ok=result.verified, checks=result.checks, problem=result.problem),
        data=result.to_json(),
        stop_batch=result.left or bool(result.sent) or result.problem == "captcha",
    )


def _pinned(args: Args) -> Preview:
    try:
        pinned = Preview.from_json(args["form"])
        datetime.date.fromisoformat(pinned.today)
        return pinned
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError("browser_task runs with the form that its prepare made, and this is none", code="bad-target") from error


def _permit(ctx: ToolContext) -> Permit:
    if ctx.permit is None:
        raise UsageError("a browser tool acts only with the gate's permit; run it through the loop, or give ctx.permit")
    return ctx.permit


def _without_secrets(args: Args) -> Args:
    """The arguments as they may be recorded: values of secret parts are masks. The form has masks already."""
    goal = args.get("goal")
    if not isinstance(goal, str):
        return args
    return {**args, "goal": shown_goal(parse_goal(goal[: MAX_GOAL * 4], datetime.date(2000, 1, 1)))}
