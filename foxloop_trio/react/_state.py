"""The nouns of a run, under the name by which the facade's users know them. Defined in `foxloop_trio.guarding`."""

from ..guarding import Message, ModelReply, State, ToolCall, ToolResult

__all__ = ["Message", "ModelReply", "State", "ToolCall", "ToolResult"]
