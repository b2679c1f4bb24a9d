"""The loop: options in, events out. The engine is pure, the runner is its driver on Trio."""

from ._budget import Budget
from ._effects import CheckInput
from ._loop import Loop
from ._runner import LoopRun, Statistics

__all__ = ["Budget", "CheckInput", "Loop", "LoopRun", "Statistics"]
