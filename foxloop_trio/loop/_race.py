"""The planner beside the host's `settle`, in the one nursery of the loop: whoever is first ends the other.

A reply wins a tie: between settle's pass and cancelling the planner there is one checkpoint, and then another look. No more is
promised. A planner that raised counts as a reply.
"""

from __future__ import annotations

import inspect
from typing import Any

import trio

from ..actions import CheckResult
from ._effects import Answer, AskPlanner, Ok, RunCheck, RunSettle, Settled
from ._outside import Ports
from ._settling import settling
from ._waits import Waits


class Race:
    """One race; `run` gives the reply or `Settled`, or raises what the planner raised."""

    def __init__(self, ports: Ports, waits: Waits, effect: AskPlanner) -> None:
        self._ports = ports
        self._waits = waits
        self._effect = effect
        self._settled: Settled | None = None
        self._replied = False
        self.settle_fault: Exception | None = None

    async def run(self) -> Any:
        reply: Any = None
        fault: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._settle, nursery.cancel_scope)
            try:
                reply = await self._ports.planner.chat(self._effect.messages, tools=self._ports.definitions)
            except Exception as error:
                fault = error
            except BaseExceptionGroup as group:
                # Cancelled, because settle was first or from outside, and its clean-up failed: kept for the record.
                cancelled, rest = group.split(trio.Cancelled)
                if cancelled is None or not isinstance(rest, Exception):
                    raise
                self._waits.hidden = rest
                raise cancelled from None
            self._replied = True
            nursery.cancel_scope.cancel()
        if self._settled is not None:
            return self._settled
        if fault is not None:
            raise fault
        return reply

    async def _settle(self, scope: trio.CancelScope) -> None:
        self._waits.helper = trio.lowlevel.current_task()
        try:
            found = await self._drive()
        except Exception as error:
            self.settle_fault = error
            return
        except BaseExceptionGroup as group:
            # Cancelled, because the planner was first, and its clean-up failed: that is settle's fault and not the planner's.
            cancelled, rest = group.split(trio.Cancelled)
            if cancelled is None or not isinstance(rest, Exception):
                raise
            self.settle_fault = rest
            raise cancelled from None
        finally:
            self._waits.helper = None
        if found is None:
            return
        await trio.lowlevel.checkpoint()
        if not self._replied:
            self._settled = found
            scope.cancel()

    async def _drive(self) -> Settled | None:
        """Drive the small generator. An exception of the host's stops it here, so only `Ok` is ever sent."""
        given = self._effect.settle
        assert given is not None
        steps = settling(given, has_check=self._ports.check is not None, last_check=self._effect.last_check)
        try:
            asked = next(steps)
            while True:
                asked = steps.send(await self._answer(asked))
        except StopIteration as end:
            result: Settled | None = end.value
            return result

    async def _answer(self, asked: Any) -> Answer:
        match asked:
            case RunSettle(input=given):
                assert self._ports.settle is not None
                summary = await self._ports.settle(given)
                if summary is not None and not isinstance(summary, str):
                    raise TypeError(f"settle answered {type(summary).__name__}, not a summary or None")
                return Ok(summary)
            case RunCheck(input=claim):
                assert self._ports.check is not None
                verdict = self._ports.check(claim)
                if inspect.isawaitable(verdict):
                    verdict = await verdict
                if not isinstance(verdict, CheckResult):
                    raise TypeError(f"check answered {type(verdict).__name__}, not a CheckResult")
                return Ok(verdict)
            case _:
                raise AssertionError(f"settling asked for {asked!r}")
