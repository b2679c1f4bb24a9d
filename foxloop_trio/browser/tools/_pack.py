"""The browser tools: what a planner may do in one tab, each pinned to what was judged and done one at a time."""

from __future__ import annotations

from ...tools import Tool
from .._tab import Tab
from ..tasks import Chooser, browser_task_tool
from ..tasks._run import Passwords
from ._acting import acting_tools
from ._desk import Desk, Focus
from ._filling import filling_tools
from ._looking import looking_tools
from ._opening import opening_tools
from ._paying import paying_tools
from ._spending import Prices

__all__ = ["browser_tools"]


def browser_tools(
    tab: Tab,
    *,
    passwords: Passwords | None = None,
    focus: Focus | None = None,
    chooser: Chooser | None = None,
    prices: Prices | None = None,
) -> list[Tool]:
    """The tools for one tab: snapshot, screenshot, act, click, fill, fill_and_send, open_url, browser_task; with `prices` also pay.

    None of them takes a host: it is that of the tab's address, or of the address to open. Their results keep the page's words
    apart as untrusted text. `focus` is asked at each look, sync or async, for a text such as the goal: the page is then shown with
    its fields and with what shares words with that text, instead of its first controls.

    `passwords(url)`, sync or async, gives the passwords that may be typed into secret fields of a frame with that address; none
    when left out. With it, what is typed into secret and sensitive fields stays out of events and trail.

    `prices(snapshot, control)`, sync or async, reads off the page what clicking that control costs, as `Money`; None when it cannot
    tell. With it, only `pay` clicks what spends money. Without it such a click is a submit about which a human is asked each time.

    `browser_task` fills a form from a goal in words: `chooser` finds the control for each part of it, by rules when it is left out.
    """
    desk = Desk(tab, focus)
    return [
        *looking_tools(desk),
        *acting_tools(desk, prices=prices, masks=passwords is not None),
        *filling_tools(desk, passwords=passwords, prices=prices),
        *paying_tools(desk, prices),
        *opening_tools(desk),
        browser_task_tool(tab, memory=desk.memory, chooser=chooser, passwords=passwords, pays=prices is not None),
    ]
