"""Our loop and the bare one as contenders of the benchmark: each sample is a few whole runs inside one `trio.run`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import attrs
import trio

from ..actions import Action, Allow, Ask, Deny
from ..events import Aborted
from ..gate import GateSide, create_gate
from ..loop import Loop
from ..ports import ChatReply
from ..tools import Tool
from ..trail import MemoryTrail
from ._bench_work import (
    DESCRIPTION,
    GOAL,
    PAGE_TEXT,
    PARAMETERS,
    TOOL_NAME,
    Notes,
    ReadyPlanner,
    arguments,
    bare_loop,
    compile_check,
    replies,
)

HOST: Final = "notes.example"

STEPS_A_SAMPLE: Final = 200
"""A sample is as many runs as come nearest to this many steps: some milliseconds of CPU, far above the clock's grain."""


@contextmanager
def cpu_clock() -> Iterator[list[float]]:
    """CPU seconds of this process spent inside, put into the list when the block ends."""
    spent: list[float] = []
    begun = time.process_time()
    yield spent
    spent.append(time.process_time() - begun)


class AllowedBefore:
    """A gate that answers at once, with what the real gate had answered to the same questions before the clock started.

    A stub must hand out real permits, and only the gate can make one.
    """

    def __init__(self, answers: list[Allow]) -> None:
        self._answers = iter(answers)

    async def check(self, action: Action, *, store_request: bool = True) -> Allow | Ask | Deny:
        return next(self._answers)

    def check_now(self, action: Action, *, store_request: bool = True) -> Allow | Ask | Deny | None:
        return next(self._answers)

    async def redeem(self, token: str, action: Action) -> Allow | Deny:
        raise NotImplementedError("nothing asks in this benchmark")


def runs_of(steps: int) -> int:
    """How many runs of so many steps make one sample."""
    return max(1, STEPS_A_SAMPLE // steps)


def sample_bare(steps: int) -> float:
    """CPU seconds a step of the loop written by hand."""
    runs = runs_of(steps)
    check = compile_check()
    ready = replies(steps)

    async def main() -> float:
        planners = [ReadyPlanner(ready) for _ in range(runs)]
        with cpu_clock() as spent:
            for planner in planners:
                await bare_loop(planner, Notes(), check)
        return spent[0] / (runs * steps)

    return trio.run(main)


@attrs.frozen(kw_only=True)
class OurSample:
    """CPU seconds a step of our loop; the gate and the loop are made once and used for all runs of the sample."""

    real_gate: bool = False
    trail: bool = False
    page_text: bool = False

    def __call__(self, steps: int) -> float:
        return trio.run(self._main, steps)

    async def _main(self, steps: int) -> float:
        runs = runs_of(steps)
        ready = replies(steps)
        notes = Notes(untrusted=PAGE_TEXT if self.page_text else None)
        tool = save_note(notes)
        gate = await granted(tool)
        loops = [
            Loop(
                planner=ReadyPlanner(ready),
                gate=gate if self.real_gate else await allowed_before(gate, steps),
                tools=[tool],
                trail=MemoryTrail() if self.trail else None,
                max_steps=steps + 1,
            )
            for _ in range(runs)
        ]
        tool.args_problem(arguments(0))  # compiled once in the life of a program, so before the clock starts
        with cpu_clock() as spent:
            for loop in loops:
                async with loop.run(GOAL) as run:
                    async for _ in run:
                        pass
                assert run.outcome is not None
                assert run.outcome.status == "done", run.outcome
        assert len(notes.saved) == runs * steps
        return spent[0] / (runs * steps)


def save_note(notes: Notes) -> Tool:
    """The tool of the benchmark, as our loop takes it."""
    return Tool(name=TOOL_NAME, description=DESCRIPTION, parameters=PARAMETERS, scope="fill", domain=HOST, run=notes.run)


async def granted(tool: Tool) -> GateSide:
    """A real gate with one grant, which covers the tool."""
    gate, host = create_gate(tools=[tool])
    await host.add_grant(scope="fill", domains=[HOST])
    return gate


async def allowed_before(gate: GateSide, steps: int) -> AllowedBefore:
    answers: list[Allow] = []
    for step in range(steps):
        decision = await gate.check(Action(tool=TOOL_NAME, args=arguments(step), domain=HOST, scope="fill"))
        assert isinstance(decision, Allow)
        answers.append(decision)
    return AllowedBefore(answers)


def sample_abort(_: int) -> float:
    """Seconds on the wall from `abort()` to the `aborted` event, with a planner in flight that can be cancelled."""

    async def main() -> float:
        asked = trio.Event()
        loop = Loop(planner=_Silent(asked.set), gate=await granted(save_note(Notes())), tools=[save_note(Notes())])
        begun = 0.0

        async def stop(abort: Callable[[], None]) -> None:
            nonlocal begun
            await asked.wait()
            begun = time.perf_counter()
            abort()

        async with loop.run(GOAL) as run, trio.open_nursery() as nursery:
            nursery.start_soon(stop, run.abort)
            async for event in run:
                seconds = time.perf_counter() - begun
                assert isinstance(event, Aborted), event
        return seconds

    return trio.run(main)


class _Silent:
    """A planner that never answers."""

    def __init__(self, asked: Callable[[], None]) -> None:
        self._asked = asked

    async def chat(self, messages: object, *, tools: object) -> ChatReply:
        self._asked()
        await trio.sleep_forever()
