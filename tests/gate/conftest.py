"""What the tests of the gate share: a gate with a settable clock, and short ways to say an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from foxloop_trio.actions import Action, Money
from foxloop_trio.gate import GateSide, HostSide, MemoryGateStore, create_gate


class Wall:
    """Wall time that stands still until it is set. `answer` replaces the time by whatever a broken clock says."""

    def __init__(self) -> None:
        self.at = 1_000_000.0
        self.answer: Any = None

    def __call__(self) -> float:
        return self.at if self.answer is None else self.answer


def price(args: dict[str, Any]) -> Money:
    return Money(value=args["cents"], currency="EUR")


@attrs.define
class Priced:
    scope: str
    amount: Any = None


TOOLS: dict[str, Any] = {"look": "read", "save": "fill", "send": "submit", "buy": Priced("pay", price)}


@attrs.define(slots=False)
class Setup:
    gate: GateSide
    host: HostSide
    wall: Wall
    store: Any

    @staticmethod
    def save(text: str = "Buy milk", domain: str = "notes.local") -> Action:
        return Action(tool="save", args={"text": text}, domain=domain, scope="fill")

    @staticmethod
    def send(text: str = "Hello", domain: str = "notes.local") -> Action:
        return Action(tool="send", args={"text": text}, domain=domain, scope="submit")

    async def approved(self, action: Action) -> str:
        """A live token for `action`, which a submit grant on its host must cover."""
        asked = await self.gate.check(action)
        assert asked.decision == "ask"
        assert asked.request_id is not None
        return await self.host.approve(asked.request_id)


@pytest.fixture
def setup() -> Callable[..., Setup]:
    def make(**options: Any) -> Setup:
        wall = options.pop("now", None) or Wall()
        store = options.pop("store", None) or MemoryGateStore()
        defaults: dict[str, Any] = {"tools": TOOLS, "now": wall, "store": store}
        gate, host = create_gate(**defaults | options)
        return Setup(gate, host, wall, store)

    return make
