"""Guards: what they see, what they may say, and how several of them are asked in turn.

It stands below the loop and the ReAct facade, so that one guard serves both. The guards are in `foxloop_trio/react/guards`.
"""

from ._chain import GuardChain, Said
from ._nouns import Message, ModelReply, State, ToolCall, ToolResult
from ._verdicts import Ask, Block, Guard, GuardBusyError, Note, OnAsk, Rewrite, Stop, Verdict

__all__ = [
    "Ask",
    "Block",
    "Guard",
    "GuardBusyError",
    "GuardChain",
    "Message",
    "ModelReply",
    "Note",
    "OnAsk",
    "Rewrite",
    "Said",
    "State",
    "Stop",
    "ToolCall",
    "ToolResult",
    "Verdict",
]
