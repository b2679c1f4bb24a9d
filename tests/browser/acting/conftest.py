"""What the tests of filling, sending and paying share: a pack of tools over `FakeBrowser`, behind the real gate."""

import inspect
from contextlib import asynccontextmanager

import attrs
import pytest

from foxloop_trio.actions import Action, Allow, Ask, ToolContext
from foxloop_trio.browser import browser_tools
from foxloop_trio.gate import create_gate
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.tools import define_tools

START = "http://shop.test/"


@attrs.define
class World:
    """`detail` is the newest description for a human, `judged` the newest action that was judged."""

    browser: FakeBrowser
    tab: object
    tools: dict
    gate: object
    host: object
    ctx: ToolContext | None = None
    judged: Action | None = None
    detail: str = ""
    asked: int = 0

    @property
    def acts(self):
        return [(act.op, act.label, act.value) for act in self.browser.acts]

    @property
    def document(self):
        return self.browser.document(self.tab)

    @property
    def effect(self):
        return self.ctx._cell.effect

    def id_of(self, label):
        """As in a snapshot."""
        return f"0:{self.document.number_of(self.document.find(label))}"

    def fields(self, **by_label):
        """Fields by id. A blank of a label is written as an underscore."""
        return {self.id_of(label.replace("_", " ")): value for label, value in by_label.items()}

    async def prepared(self, name, **args):
        """The action as it would be judged."""
        tool = self.tools[name]
        assert tool.args_problem(args) is None, tool.args_problem(args)
        ctx = ToolContext(run_id="r", step=1, goal="g")
        args = await settled(tool.prepare(args, ctx))
        amount = None if tool.amount is None else tool.amount(args)
        return Action(tool=name, args=args, domain=await settled(tool.domain(args, ctx)), scope=tool.scope, amount=amount)

    async def allowed(self, action, meanwhile=None):
        """The gate's leave, a human's included; `meanwhile` happens while the human thinks."""
        self.judged = action
        ctx = ToolContext(run_id="r", step=1, goal="g", domain=action.domain)
        self.detail = await settled(self.tools[action.tool].describe(action.args, ctx))
        decision = await self.gate.check(action)
        if isinstance(decision, Ask):
            self.asked += 1
            if meanwhile is not None:
                await settled(meanwhile())
            decision = await self.gate.redeem(await self.host.approve(decision.request_id), action)
        assert isinstance(decision, Allow), decision
        return decision.permit

    async def allowed_plainly(self, action):
        """The leave of a grant that asks nobody, without a description."""
        decision = await self.gate.check(action)
        assert isinstance(decision, Allow), decision
        return decision.permit

    async def run(self, permit):
        action = permit.action
        self.ctx = ToolContext(run_id="r", step=1, goal="g", domain=action.domain, permit=permit)
        output = await self.tools[action.tool].run(action.args, self.ctx)
        await permit.settle()
        return output

    async def call(self, name, meanwhile=None, **args):
        return await self.run(await self.allowed(await self.prepared(name, **args), meanwhile))

    async def look(self):
        return await self.run(await self.allowed(Action(tool="snapshot", args={}, domain=self.tab.host, scope="read")))


@pytest.fixture
def world_of():
    """`async with world_of(pages, **options) as world`."""
    return _world_of


async def settled(value):
    return await value if inspect.isawaitable(value) else value


@asynccontextmanager
async def _world_of(pages, *, start=START, approval="never", **options):
    """A tab on the first page, which was looked at once; grants for everything on shop.test."""
    browser = FakeBrowser(pages)
    async with browser as session:
        tab = await session.open_tab(start)
        tools = browser_tools(tab, **options)
        gate, host = create_gate(tools=tools)
        for scope in ("read", "fill", "submit"):
            await host.add_grant(scope=scope, domains=["shop.test"], approval=approval)
        if "prices" in options:
            await host.add_grant(scope="pay", domains=["shop.test"])
        world = World(browser, tab, define_tools(tools), gate, host)
        await world.look()
        yield world
