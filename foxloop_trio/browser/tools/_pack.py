"""The browser tools: what a planner may do in one tab, each pinned to what was judged and done one at a time."""

from __future__ import annotations

import os

from ...tools import Tool
from .._tab import Tab
from ..tasks import Chooser, browser_task_tool
from ..tasks._run import Passwords
from ._acting import acting_tools
from ._desk import Desk, Focus
from ._dialogs import dialog_tools
from ._downloading import download_tools
from ._dragging import dragging_tools
from ._filling import filling_tools
from ._history import history_tools
from ._keys import key_tools
from ._looking import looking_tools
from ._opening import opening_tools
from ._paying import paying_tools
from ._pointing import pointing_tools
from ._save_folder import SaveFolder
from ._scrolling import scrolling_tools
from ._spending import Prices
from ._tables import table_tools
from ._tabs import tab_tools
from ._texting import texting_tools
from ._upload_folder import UploadFolder
from ._uploading import upload_tools
from ._waiting import waiting_tools

__all__ = ["browser_tools"]


def browser_tools(
    tab: Tab,
    *,
    passwords: Passwords | None = None,
    focus: Focus | None = None,
    chooser: Chooser | None = None,
    prices: Prices | None = None,
    upload_from: str | os.PathLike[str] | None = None,
    download_to: str | os.PathLike[str] | None = None,
) -> list[Tool]:
    """The tools for one tab: snapshot, screenshot, act, click, fill, fill_and_send, press, hover, click_at, drag, select_text,
    clipboard, scroll, answer_dialog, wait_for, history, list_tabs, open_tab, use_tab, close_tab, read_table, open_url,
    browser_task; with `prices` also pay, with `upload_from` upload, with `download_to` download.

    None of them takes a host: it is that of the tab's address, or of the address to open. Their results keep the page's words
    apart as untrusted text. `focus` is asked at each look, sync or async, for a text such as the goal: the page is then shown with
    its fields and with what shares words with that text, instead of its first controls.

    `passwords(url)`, sync or async, gives the passwords that may be typed into secret fields of a frame with that address; none
    when left out. With it, what is typed into secret and sensitive fields stays out of events and trail.

    `prices(snapshot, control)`, sync or async, reads off the page what clicking that control costs, as `Money`; None when it cannot
    tell. With it, only `pay` clicks what spends money. Without it such a click is a submit about which a human is asked each time.

    `browser_task` fills a form from a goal in words: `chooser` finds the control for each part of it, by rules when it is left out.

    `upload_from`: a folder; with it there is the tool `upload`, for files that lie in it. `download_to`: a folder; with it there
    is the tool `download`, which saves files there and nowhere else. Raises BadOptionsError when one of them is no folder.
    """
    desk = Desk(tab, focus)
    return [
        *looking_tools(desk),
        *acting_tools(desk, prices=prices, masks=passwords is not None),
        *filling_tools(desk, passwords=passwords, prices=prices),
        *paying_tools(desk, prices),
        *key_tools(desk, prices, masks=passwords is not None),
        *pointing_tools(desk, prices),
        *dragging_tools(desk, prices),
        *texting_tools(desk, masks=passwords is not None),
        *scrolling_tools(desk),
        *dialog_tools(desk, prices),
        *waiting_tools(desk),
        *history_tools(desk),
        *tab_tools(desk),
        *table_tools(desk),
        *([] if upload_from is None else upload_tools(desk, UploadFolder(upload_from), prices)),
        *([] if download_to is None else download_tools(desk, SaveFolder(download_to), prices)),
        *opening_tools(desk),
        browser_task_tool(
            lambda: desk.tab,
            memory=desk.memory,
            chooser=chooser,
            passwords=passwords,
            pays=prices is not None,
            note_opened=desk.note_opened,
        ),
    ]
