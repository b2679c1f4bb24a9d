"""The questions that `bench gate` asks: each sample is a gate with so many grants, and the median time of its answers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from ..actions import Action, Allow, Ask, Money
from ..gate import GateSide, GateStore, HostSide, MemoryGateStore, create_gate
from ._bench_measure import Cell, Figure, Taken

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST: Final = "notes.example"
FEW: Final = 10
SOME: Final = 100
MANY: Final = 1000

CHECK: Final = "check, memory store"
SAME_HOST: Final = "check, memory store, every grant on this host"
CAPS: Final = "check, memory store, money under five caps"
REDEEM: Final = "redeem, memory store"
SQLITE_CHECK: Final = "check, SQLite store"
SQLITE_REDEEM: Final = "redeem, SQLite store"

MOST_CHECK_US: Final = 60.0
MOST_GROWTH: Final = 3.0
"""The targets of the gate's own issue: an allow within 60 us, and 1,000 grants at most 3 times the cost of 10."""

OpenStore = Callable[[], AbstractContextManager[GateStore]]


@attrs.frozen
class _Priced:
    scope: str = "pay"

    @staticmethod
    def amount(args: dict[str, Any]) -> Money:
        return Money(value=1, currency="EUR")


_TOOLS: Final[dict[str, Any]] = {"save": "fill", "send": "submit", "buy": _Priced()} | {f"other{n}": "fill" for n in range(MANY)}


def in_memory() -> AbstractContextManager[GateStore]:
    return nullcontext(MemoryGateStore())


def sqlite_store() -> OpenStore | None:
    """How to open an SQLite store in a folder of its own; None when there is no such store."""
    try:
        from ..gate import SqliteGateStore
    except ImportError:
        return None

    @contextmanager
    def opened() -> Iterator[GateStore]:
        with tempfile.TemporaryDirectory(prefix="foxloop-bench-") as folder:
            store = SqliteGateStore(Path(folder) / "gate.db")
            try:
                yield store
            finally:
                trio.run(store.aclose)

    return opened


@attrs.frozen(kw_only=True)
class Sample:
    """Seconds of one answer of the gate, the median of `calls`, with as many grants as the cell says."""

    question: Callable[[GateSide, HostSide, int], Any]
    calls: int
    open_store: OpenStore = in_memory
    same_host: bool = False

    def __call__(self, grants: int) -> float:
        with self.open_store() as store:
            return trio.run(self._main, store, grants)

    async def _main(self, store: GateStore, grants: int) -> float:
        gate, host = create_gate(tools=_TOOLS, store=store)
        for number in range(grants - 1):
            # What cannot decide stands before what can: the gate has to find its way past it.
            if self.same_host:
                await host.add_grant(scope="fill", domains=[HOST], tools=[f"other{number}"])
            else:
                await host.add_grant(scope="fill", domains=[f"host{number}.example", f"*.host{number}.example"])
        times: list[float] = await self.question(gate, host, self.calls)
        return median(times)


async def checks(gate: GateSide, host: HostSide, calls: int) -> list[float]:
    await host.add_grant(scope="fill", domains=[HOST])
    times = []
    for number in range(calls):
        action = Action(tool="save", args={"text": "Buy milk", "number": number}, domain=HOST, scope="fill")
        begun = time.perf_counter()
        answer = await gate.check(action)
        times.append(time.perf_counter() - begun)
        assert type(answer) is Allow, answer
    return times


async def checks_of_money(gate: GateSide, host: HostSide, calls: int) -> list[float]:
    cap = Money(value=10**9, currency="EUR")
    await host.add_grant(
        scope="pay",
        domains=[HOST],
        approval="never",
        spend_cap=cap,
        cap_per_act=cap,
        cap_per_run=cap,
        cap_per_site=cap,
        cap_per_day=cap,
    )
    times = []
    for number in range(calls):
        action = Action(tool="buy", args={"number": number}, domain=HOST, scope="pay")
        begun = time.perf_counter()
        answer = await gate.check(action)
        times.append(time.perf_counter() - begun)
        assert type(answer) is Allow, answer
        await answer.permit.settle()
    return times


async def redeems(gate: GateSide, host: HostSide, calls: int) -> list[float]:
    await host.add_grant(scope="submit", domains=[HOST])
    times = []
    for number in range(calls):
        action = Action(tool="send", args={"text": "Buy milk", "number": number}, domain=HOST, scope="submit")
        asked = await gate.check(action)
        assert type(asked) is Ask, asked
        assert asked.request_id is not None
        token = await host.approve(asked.request_id)
        begun = time.perf_counter()
        answer = await gate.redeem(token, action)
        times.append(time.perf_counter() - begun)
        assert type(answer) is Allow, answer
    return times


def cells(calls: int) -> tuple[list[Cell], list[str]]:
    """The questions of one round, and what is not there to be asked. `steps` of a cell is its number of grants."""
    found = [Cell(name=CHECK, steps=grants, sample=Sample(question=checks, calls=calls)) for grants in (1, FEW, SOME, MANY)]
    found += [
        Cell(name=SAME_HOST, steps=grants, sample=Sample(question=checks, calls=calls, same_host=True)) for grants in (FEW, MANY)
    ]
    found.append(Cell(name=CAPS, steps=1, sample=Sample(question=checks_of_money, calls=calls)))
    found.append(Cell(name=REDEEM, steps=1, sample=Sample(question=redeems, calls=calls)))
    opened = sqlite_store()
    if opened is None:
        return found, ["the SQLite store"]
    for name, question in ((SQLITE_CHECK, checks), (SQLITE_REDEEM, redeems)):
        found.append(Cell(name=name, steps=1, sample=Sample(question=question, calls=calls, open_store=opened)))
    return found, []


def figures(taken: Sequence[Taken]) -> list[Figure]:
    """The figures that have a target."""
    at = {(one.cell.name, one.cell.steps): one for one in taken}
    check = at[CHECK, 1]
    found = [
        Figure(
            name=CHECK,
            value=check.median * 1e6,
            by_least=check.least * 1e6,
            unit="us",
            target=f"at most {MOST_CHECK_US:g}",
            met=check.median * 1e6 <= MOST_CHECK_US,
        )
    ]
    for name in (CHECK, SAME_HOST):
        many, few = at[name, MANY], at[name, FEW]
        growth = many.median / few.median
        found.append(
            Figure(
                name=f"{name}: {MANY} grants / {FEW} grants",
                value=growth,
                by_least=many.least / few.least,
                unit="x",
                target=f"at most {MOST_GROWTH:g}",
                met=growth <= MOST_GROWTH,
            )
        )
    return found
