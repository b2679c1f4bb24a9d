"""Firefox as an environment for tools: launch it, attach to it, read and act in its tabs, and the tool pack for a planner."""

from ._act import ActResult, DialogSeen
from ._changes import ChangeText, change_text, changes
from ._install import InstallPlan, install_firefox, install_plan
from ._launch import launch_firefox
from ._locate import find_firefox
from ._page_text import page_text
from ._picture import Screenshot
from ._session import BrowserSession, BrowserStatistics
from ._snapshot import Box, Changes, Control, Frame, Part, Snapshot, Unreadable
from ._tab import Settled, Tab
from ._table import Table
from .tools._pack import browser_tools

__all__ = [
    "ActResult",
    "Box",
    "BrowserSession",
    "BrowserStatistics",
    "ChangeText",
    "Changes",
    "Control",
    "DialogSeen",
    "Frame",
    "InstallPlan",
    "Part",
    "Screenshot",
    "Settled",
    "Snapshot",
    "Tab",
    "Table",
    "Unreadable",
    "browser_tools",
    "change_text",
    "changes",
    "find_firefox",
    "install_firefox",
    "install_plan",
    "launch_firefox",
    "page_text",
]
