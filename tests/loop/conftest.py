"""Small parts for the tests of the loop: a gate that answers as told, tools that remember, a trail that remembers or fails.

The real gate is used in `tests/interaction`; here the point is what the loop makes of each answer.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Action, Allow, Ask, CheckLine, CheckResult, Deny, ToolOutput
from foxloop_trio.actions._mint import mint_permit
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.tools import Tool


class StubLedger:
    """Remembers how permits were closed; `lapsed` makes them invalid."""

    def __init__(self) -> None:
        self.closed: list[tuple[str, str]] = []
        self.lapsed: set[str] = set()

    async def still_allows(self, permit_id: str) -> bool:
        await trio.lowlevel.checkpoint()
        return permit_id not in self.lapsed

    async def settle(self, permit_id: str) -> None:
        self.closed.append((permit_id, "settle"))

    async def release(self, permit_id: str) -> None:
        self.closed.append((permit_id, "release"))


class StubGate:
    """Answers each check with the next of `answers` ("allow", "ask", a Deny, a callable, an exception), then with "allow"."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.checked: list[Action] = []
        self.redeemed: list[tuple[str, Action]] = []
        self.redeem_answers: list[Any] = []
        self.ledger = StubLedger()
        self.expires_at = 10_000.0
        self._numbers = itertools.count(1)

    def allow(self, action: Action) -> Allow:
        text = json.dumps(action.to_json(), sort_keys=True)
        permit = mint_permit(permit_id=f"p{next(self._numbers)}", grant_id="g1", text=text, digest="0" * 64, ledger=self.ledger)
        return Allow(grant_id="g1", permit=permit)

    async def check(self, action: Action, *, store_request: bool = True) -> Any:
        await trio.lowlevel.checkpoint()
        self.checked.append(action)
        return await self._answer(self.answers.pop(0) if self.answers else "allow", action)

    async def redeem(self, token: str, action: Action) -> Any:
        await trio.lowlevel.checkpoint()
        self.redeemed.append((token, action))
        return await self._answer(self.redeem_answers.pop(0) if self.redeem_answers else "allow", action)

    async def _answer(self, answer: Any, action: Action) -> Any:
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            made = answer(action)
            return await made if hasattr(made, "__await__") else made
        if answer == "allow":
            return self.allow(action)
        if answer == "ask":
            return Ask(grant_id="g1", request_id=f"r{next(self._numbers)}", expires_at=self.expires_at)
        return answer


class MemorySink:
    """A trail that keeps (kind, data); `fail_at` makes the nth append (from 0) raise, `hang_at` makes it hang."""

    def __init__(self, *, fail_at: set[int] | None = None, hang_at: set[int] | None = None) -> None:
        self.entries: list[tuple[str, Any]] = []
        self.fail_at = fail_at or set()
        self.hang_at = hang_at or set()
        self.attempts = 0

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.entries]

    def data(self, kind: str) -> list[Any]:
        return [data for found, data in self.entries if found == kind]

    async def append(self, *, actor: str, kind: str, data: Any) -> None:
        await trio.lowlevel.checkpoint()
        assert actor == "foxloop"
        number, self.attempts = self.attempts, self.attempts + 1
        if number in self.fail_at:
            raise OSError("no space left")
        if number in self.hang_at:
            await trio.sleep_forever()
        self.entries.append((kind, json.loads(json.dumps(data, allow_nan=False))))


GOOD = CheckResult(ok=True, checks=(CheckLine(part="note", ok=True, evidence="saved"),))


def save_note(notes: list[str], *, check: CheckResult | None = GOOD, **changes: Any) -> Tool:
    """The tool of most tests: saves a note and says so."""

    async def run(args: dict[str, Any], ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        notes.append(args["text"])
        return ToolOutput(ok=True, summary="Saved.", check=check)

    fields: dict[str, Any] = {
        "name": "save_note",
        "description": "Saves a note.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "scope": "fill",
        "domain": "notes.local",
        "run": run,
    }
    return Tool(**{**fields, **changes})


def call(name: str = "save_note", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def reply(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return {"text": text, "calls": list(calls)}


FINISH = {"calls": [{"name": "finish", "args": {"summary": "Saved the note."}}]}


class Bench:
    """One loop with remembered parts. `await bench.run()` gives the events."""

    def __init__(self, *replies: Any, gate: StubGate | None = None, tools: list[Tool] | None = None, **options: Any) -> None:
        self.notes: list[str] = []
        self.gate = gate or StubGate()
        self.planner = scripted_planner(list(replies))
        self.sink = options.pop("sink", None)
        self.tools = [save_note(self.notes)] if tools is None else tools
        options.setdefault("wall_clock", lambda: 0.0)
        self.loop = Loop(planner=options.pop("planner", self.planner), gate=self.gate, tools=self.tools, trail=self.sink, **options)

    async def run(self, goal: str = "Save a note", *, each: Callable[[Any, Any], Any] | None = None) -> list[Any]:
        events: list[Any] = []
        async with self.loop.run(goal) as run:
            self.last = run
            async for event in run:
                events.append(event)
                if each is not None:
                    done = each(run, event)
                    if hasattr(done, "__await__"):
                        await done
        self.outcome = run.outcome
        return events


def told(events: list[Any]) -> list[str]:
    """The event types, with the word that matters beside some of them."""
    words = {"decision": "decision", "tool-result": "reason", "blocked": "reason"}
    return [event.type + (f" {extra}" if (extra := getattr(event, words.get(event.type, ""), None)) else "") for event in events]


@pytest.fixture
def parts() -> Any:
    """The helpers of this folder, as attributes."""
    import types

    return types.SimpleNamespace(
        StubGate=StubGate,
        StubLedger=StubLedger,
        MemorySink=MemorySink,
        Bench=Bench,
        save_note=save_note,
        call=call,
        reply=reply,
        told=told,
        FINISH=FINISH,
        GOOD=GOOD,
        Deny=Deny,
    )
