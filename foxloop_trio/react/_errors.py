"""What is wrong with how the facade was called. All are ValueErrors too, as its rules promise (R3)."""

from __future__ import annotations

from ..errors import BadOptionsError, BadSchemaError, BadToolError


class ReactOptionError(BadOptionsError, ValueError):
    """An option of `run_react_loop` has a value it cannot have; the message names both."""


class ReactToolError(BadToolError, ValueError):
    """A tool of a ReAct run is not acceptable; the message names the tool."""


class ReactSchemaError(BadSchemaError, ValueError):
    """The parameters of a tool of a ReAct run are outside the subset; the message names the place."""
