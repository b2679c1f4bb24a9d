"""Which run is acting, for whoever counts per run: set by the loop around what it asks the gate, and read there.

It travels in a context variable because the gate's methods take an action and nothing else: a planner, or a gate wrapped around the
gate, must not be able to say which run it is.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

_RUN: Final[ContextVar[str]] = ContextVar("foxloop_trio_run", default="")


def current_run() -> str:
    """The id of the run that acts in this task now; empty outside of any."""
    return _RUN.get()


class acting_for_run:  # noqa: N801  # used like the context managers of contextlib
    """Within, this task and those that it starts act for `run_id`. May be entered again and again, but not while it is.

    (Every step does, hence no generator.)
    """

    __slots__ = ("_run_id", "_token")

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __enter__(self) -> None:
        self._token = _RUN.set(self._run_id)

    def __exit__(self, *_: object) -> None:
        _RUN.reset(self._token)
