"""The ReAct facade as a contender of the benchmark: the work of the bare loop, without hooks and guards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import attrs
import trio

from ..react import ReactTool, ToolRegistry, run_react_loop
from ..tools import check_args
from ._bench_measure import BARE, MOST_GROWTH, Cell, Figure, Taken, at_most
from ._bench_ours import cpu_clock, runs_of, sample_bare
from ._bench_work import DESCRIPTION, GOAL, PARAMETERS, TOOL_NAME, Notes, arguments

REACT: Final = "run_react_loop"
MOST_TIMES_BARE: Final = 2.5
"""The target that the project set itself for the facade without guards."""


class ReadyLlm:
    """Answers with replies that were made before the clock started, their arguments as JSON text, as a model server sends them."""

    def __init__(self, ready: Sequence[dict[str, Any]]) -> None:
        self._replies = ready
        self._turn = 0

    async def complete(self, *, system: str, messages: Sequence[Any], tools: Sequence[Any]) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        turn = self._turn
        self._turn = turn + 1
        return self._replies[turn]


def ready_replies(steps: int) -> list[dict[str, Any]]:
    """`steps` replies with one call each, and a last one that ends the run."""
    calls = [(TOOL_NAME, arguments(step)) for step in range(steps)]
    return [
        {"text": None, "tool_calls": [{"id": f"call_{index}", "name": name, "arguments": json.dumps(args, separators=(",", ":"))}]}
        for index, (name, args) in enumerate([*calls, ("task_done", {"summary": "Done."})])
    ]


@attrs.frozen(kw_only=True)
class ReactSample:
    """CPU seconds a step of `run_react_loop`."""

    def __call__(self, steps: int) -> float:
        return trio.run(self._main, steps)

    async def _main(self, steps: int) -> float:
        runs = runs_of(steps)
        ready = ready_replies(steps)
        notes = Notes()

        async def save(args: dict[str, Any], context: object) -> str:
            return (await notes.run(args)).summary

        tool = ReactTool(name=TOOL_NAME, description=DESCRIPTION, parameters=PARAMETERS, handler=save)
        check_args(PARAMETERS, arguments(0))  # compiled once in the life of a program, so before the clock starts
        registry = ToolRegistry([tool])
        llms = [ReadyLlm(ready) for _ in range(runs)]
        seed = [{"role": "user", "content": GOAL}]
        with cpu_clock() as spent:
            for llm in llms:
                result = await run_react_loop(llm=llm, tools=registry, system="", initial_messages=seed, max_turns=steps + 1)
                assert result.stopped == "task_done", result.stopped
        assert len(notes.saved) == runs * steps
        return spent[0] / (runs * steps)


def contenders(steps: int, long_steps: int) -> list[Cell]:
    """The cells of one round."""
    return [
        Cell(name=BARE, steps=steps, sample=sample_bare),
        *(Cell(name=REACT, steps=length, sample=ReactSample()) for length in (steps, long_steps)),
    ]


def figures(taken: Sequence[Taken], steps: int, long_steps: int) -> list[Figure]:
    """The two figures that have a target."""
    at = {(one.cell.name, one.cell.steps): one for one in taken}
    ours = at[REACT, steps]
    words = f"{REACT}: a step of {long_steps} / a step of {steps}"
    return [
        at_most(f"{REACT} / {BARE}", ours, at[BARE, steps], MOST_TIMES_BARE, f"at most {MOST_TIMES_BARE:g}"),
        at_most(words, at[REACT, long_steps], ours, MOST_GROWTH, f"at most {MOST_GROWTH:g}"),
    ]
