"""The loop: options in, events out. The engine is pure, the runner is its driver on Trio."""

from ._budget import Budget
from ._denials import Denials
from ._effects import CheckInput, SettleCall, SettleInput
from ._loop import Loop
from ._runner import LoopRun, Statistics

__all__ = ["Budget", "CheckInput", "Denials", "Loop", "LoopRun", "SettleCall", "SettleInput", "Statistics"]
