"""What is wrong with how the facade was called. Both are ValueErrors too, as its rules promise (R3)."""

from __future__ import annotations

from ..errors import BadOptionsError, BadToolError


class ReactOptionError(BadOptionsError, ValueError):
    """An option of `run_react_loop` has a value it cannot have; the message names both."""


class ReactToolError(BadToolError, ValueError):
    """A tool of a ReAct run is not acceptable; the message names the tool."""
