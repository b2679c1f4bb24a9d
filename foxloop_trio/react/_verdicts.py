"""The verdicts of guards, under the name by which the facade's users know them.

They are defined in `foxloop_trio.guarding`, below the loop: `Loop(guards=…)` takes the same guards and may not import this package.
"""

from ..guarding import Ask, Block, Guard, GuardBusyError, GuardChain, Note, OnAsk, Rewrite, Said, Stop, Verdict

__all__ = ["Ask", "Block", "Guard", "GuardBusyError", "GuardChain", "Note", "OnAsk", "Rewrite", "Said", "Stop", "Verdict"]
