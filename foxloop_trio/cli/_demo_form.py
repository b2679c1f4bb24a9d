"""The demo's second half: a form in real Firefox, read, filled and sent by a script that sees what a model would see.

The grants let the script read and fill on the demo's host; for sending, the gate asks a human. Whether it worked is asked of the
site, not of the page.
"""

from __future__ import annotations

from collections.abc import Callable

from ..actions import CheckLine, CheckResult
from ..browser import browser_tools, launch_firefox
from ..events import LoopEvent, Outcome
from ..gate import HostSide, create_gate
from ..loop import CheckInput, Loop
from ..planners import scripted_planner
from ..ports import Approver, TrailSink
from ._demo_script import GOAL, SCRIPT, WANTED
from ._demo_site import Site, open_site

MakeApprover = Callable[[HostSide], Approver]
"""Makes the one who is asked from the gate's host side."""


async def run_form(*, trail: TrailSink, tell: Callable[[LoopEvent], None], make_approver: MakeApprover, headless: bool) -> Outcome:
    """Serve the form, start Firefox on it, and run the script. Site and Firefox are gone when this returns, whatever happened."""
    async with open_site() as site, launch_firefox(headless=headless) as session:
        page = await session.open_tab(site.url)
        async with session.lease(page) as tab:
            tools = browser_tools(tab)
            gate, host = create_gate(tools=tools)
            for scope in ("read", "fill"):
                await host.add_grant(scope=scope, domains=[site.host])
            # A grant for `submit` asks a human each time, unless it says otherwise.
            await host.add_grant(scope="submit", domains=[site.host])
            loop = Loop(
                planner=scripted_planner(SCRIPT),
                gate=gate,
                tools=tools,
                trail=trail,
                on_approval=make_approver(host),
                check=_arrived(site),
            )
            return await loop.complete(GOAL, on_event=tell)


def _arrived(site: Site) -> Callable[[CheckInput], CheckResult]:
    """Holds when the site got exactly one order, and it is the wanted one."""

    def check(_: CheckInput) -> CheckResult:
        line = CheckLine(part="order", ok=site.orders == [WANTED], evidence=f"the site received {site.orders}")
        return CheckResult(ok=line.ok, checks=[line])

    return check
