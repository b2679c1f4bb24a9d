"""Which run is acting, for whoever counts per run: set by the loop around what it asks the gate, and read there.

It travels in a context variable because the gate's methods take an action and nothing else: a planner, or a gate wrapped around the
gate, must not be able to say which run it is.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Final

_RUN: Final[ContextVar[str]] = ContextVar("foxloop_trio_run", default="")


def current_run() -> str:
    """The id of the run that acts in this task now; empty outside of any."""
    return _RUN.get()


def act_for_run(run_id: str) -> Token[str]:
    """From here on this task, and those that it starts, act for `run_id`: until `act_for_run_no_more` gets what this returns."""
    return _RUN.set(run_id)


def act_for_run_no_more(acting: Token[str]) -> None:
    _RUN.reset(acting)
