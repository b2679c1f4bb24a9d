"""For tests of browser tools: each call goes the loop's way (schema, prepare, domain, gate, approval, run with what was judged)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from ..actions import Action, Allow, Ask, Permit, ToolContext, ToolOutput
from ..browser import BrowserSession, Tab, browser_tools
from ..gate import HostSide, create_gate
from ..tools import Tool, define_tools
from .fake_browser import FakeBrowser

__all__ = ["ToolBench"]

Meanwhile = Callable[[], Awaitable[object]]


@attrs.define
class ToolBench:
    """The tools of one tab. `asked`: what approvers read; `judged`: the last action; `effect`: what the last run reported."""

    session: BrowserSession
    tab: Tab
    tools: dict[str, Tool]
    gate: Any
    host: HostSide
    fake: FakeBrowser | None = None
    asked: list[str] = attrs.field(factory=list)
    actions: list[Action] = attrs.field(factory=list)
    contexts: list[ToolContext] = attrs.field(factory=list)

    @classmethod
    async def open(cls, fake: FakeBrowser, session: BrowserSession, url: str, **options: Any) -> ToolBench:
        """On a fake browser, with this page open."""
        bench = await cls.over(session, await session.open_tab(url), **options)
        bench.fake = fake
        return bench

    @classmethod
    async def over(
        cls, session: BrowserSession, tab: Tab, *, domains: tuple[str, ...] = ("shop.test", "other.test"), **options: Any
    ) -> ToolBench:
        """On any browser; read and fill never ask, submit always does."""
        tools = browser_tools(tab, **options)
        gate, host = create_gate(tools=tools)
        for domain in domains:
            await host.add_grant(scope="read", domains=[domain])
            await host.add_grant(scope="fill", domains=[domain], approval="never")
            await host.add_grant(scope="submit", domains=[domain])
        return cls(session, tab, define_tools(tools), gate, host)

    @property
    def browser(self) -> FakeBrowser:
        assert self.fake is not None
        return self.fake

    @property
    def judged(self) -> Action:
        return self.actions[-1]

    @property
    def effect(self) -> str:
        effect = self.contexts[-1]._cell.effect
        assert effect is not None
        return effect.state

    @property
    def acted(self) -> list[tuple[str, str, Any]]:
        """What the fake browser performed."""
        return [(act.op, act.label, act.value) for act in self.browser.acts]

    async def look(self) -> ToolOutput:
        output = await self.call("snapshot")
        assert output.ok, output.summary
        return output

    def id_of(self, label: str, *, tab: Tab | None = None) -> str:
        """Of the one control with this label that the fake page has."""
        document = self.browser.document(tab or self.tab)
        return f"0:{document.number_of(document.find(label))}"

    async def found(self, label: str) -> str:
        """Id of the one control with this label, by a look that the tools know nothing of."""
        page = await self.tab.snapshot()
        (found,) = [control for control in page.controls if control.label == label]
        return found.id

    async def prepared(self, name: str, *, on: str | None = None, **args: Any) -> Action:
        """The action as it would be judged. With `on`, a label, the page is looked at first."""
        if on is not None:
            await self.look()
            args["control_id"] = self.id_of(on) if self.fake is not None else await self.found(on)
        tool = self.tools[name]
        problem = tool.args_problem(args)
        assert problem is None, problem
        ctx = ToolContext(run_id="r", step=1, goal="g")
        judged = await _value(tool.prepare(args, ctx)) if tool.prepare is not None else args
        domain = tool.domain if isinstance(tool.domain, str) else await _value(tool.domain(judged, ctx))
        return Action(tool=name, args=judged, domain=domain, scope=tool.scope)

    async def prepared_id(self, name: str, label: str, **args: Any) -> Action:
        """As `prepared`, with the control as the newest look of the tools has it."""
        return await self.prepared(name, control_id=self.id_of(label), **args)

    async def allowed(self, action: Action, meanwhile: Meanwhile | None = None) -> Permit:
        """The gate's leave, a human's included; `meanwhile` happens while the human thinks."""
        self.actions.append(action)
        decision = await self.gate.check(action)
        describe = self.tools[action.tool].describe
        if isinstance(decision, Ask):
            ctx = ToolContext(run_id="r", step=1, goal="g", domain=action.domain)
            assert describe is not None
            assert decision.request_id is not None
            self.asked.append(await _value(describe(dict(action.args), ctx)))
            token = await self.host.approve(decision.request_id)
            if meanwhile is not None:
                await meanwhile()
            decision = await self.gate.redeem(token, action)
        elif meanwhile is not None:
            await meanwhile()
        assert isinstance(decision, Allow), decision
        return decision.permit

    async def run(self, permit: Permit) -> ToolOutput:
        allowed = permit.action
        ctx = ToolContext(run_id="r", step=1, goal="g", domain=allowed.domain, permit=permit)
        self.contexts.append(ctx)
        try:
            return await self.tools[allowed.tool].run(dict(allowed.args), ctx)
        finally:
            await permit.settle()

    async def call(self, name: str, *, on: str | None = None, **args: Any) -> ToolOutput:
        return await self.run(await self.allowed(await self.prepared(name, on=on, **args)))


async def _value(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given
