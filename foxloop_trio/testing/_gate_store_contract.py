"""`check_gate_store`: everything that the gate relies on in a store, tried on yours.

Synopsis::

    async def test_my_store_keeps_the_contract(tmp_path):
        names = (tmp_path / f"{number}.db" for number in itertools.count())
        await check_gate_store(lambda: MyStore(next(names)), reopen=lambda closed: MyStore(closed.path))

Each part starts with a store from `factory` that must be new and empty, so give each call of it a file, a table or a name of its
own where that matters. The first thing that is not as it must be raises AssertionError, which names the part, what it claims, and
what was seen instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import attrs
import trio

from ..actions import Action, Money
from ..gate import ApprovalRow, GateStore, GateTransaction, Grant, Rule, SpendRow, create_gate

__all__ = ["GateStoreReport", "check_gate_store"]

TURN_SECONDS: Final = 20.0
"""Seconds in which a part of the suite must end; twice what a gate waits for its store. One that waits for ever has not let go of a
lock."""

_EUR: Final = "EUR"


@attrs.frozen(kw_only=True)
class GateStoreReport:
    """The parts of the contract that a store passed."""

    passed: tuple[str, ...]


async def check_gate_store(
    factory: Callable[[], Any],
    *,
    reopen: Callable[[Any], Any] | None = None,
) -> GateStoreReport:
    """Try the whole contract of `GateStore` on stores of `factory`; real time, about a second for a store on a disk.

    * `factory`: makes a new, empty store at each call; sync or async. A store with an `aclose` method is closed by it.
    * `reopen`: for a store that outlives the process: given a store that was closed, makes another on the same data. Without it
      nothing is said about durability.

    Raises AssertionError naming the part of the contract that does not hold.
    """
    parts = [*_PARTS]
    if reopen is not None:
        parts.append(_saved_rows_are_there_after_reopening)
    for part in parts:
        store = await _made(factory())
        if not callable(getattr(store, "transaction", None)):
            raise AssertionError(f"check_gate_store: factory made {store!r}, which has no transaction() method")
        bench = _Bench(store, reopen)
        try:
            with trio.fail_after(TURN_SECONDS):
                await part(bench)
        except AssertionError as fault:
            raise AssertionError(f"{_name(part)}\n  it must hold that: {_claim(part)}\n  but: {fault}") from fault
        except trio.TooSlowError as fault:
            raise AssertionError(
                f"{_name(part)}\n  it must hold that: {_claim(part)}\n  but: not done after {TURN_SECONDS:g} s"
            ) from fault
        except Exception as fault:
            raise AssertionError(f"{_name(part)}\n  it must hold that: {_claim(part)}\n  but: it raised {fault!r}") from fault
        finally:
            await _closed(bench.store)
    return GateStoreReport(passed=tuple(_name(part) for part in parts))


@attrs.define
class _Bench:
    store: Any
    reopen: Callable[[Any], Any] | None

    def tx(self) -> AbstractAsyncContextManager[GateTransaction]:
        store: GateStore = self.store
        return store.transaction()


Part = Callable[[_Bench], Awaitable[None]]


async def _made(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _closed(store: Any) -> None:
    close = getattr(store, "aclose", None)
    if callable(close):
        with trio.CancelScope(shield=True):
            await _made(close())


def _name(part: Part) -> str:
    return part.__name__.strip("_").replace("_", " ")


def _claim(part: Part) -> str:
    return " ".join((part.__doc__ or "").split()).rstrip(".")


def _same(seen: object, expected: object, what: str) -> None:
    assert seen == expected, f"{what}: {seen!r} instead of {expected!r}"


def _ids(rows: Sequence[Any]) -> list[str]:
    return [row.id for row in rows]


# Rows to try it with


def _grant(name: str, **changes: Any) -> Grant:
    fields: dict[str, Any] = {"id": name, "scope": "fill", "domains": ("a.test",), "approval": "never", "created_at": 1.0}
    return Grant(**fields | changes)


def _request(name: str, **changes: Any) -> ApprovalRow:
    fields: dict[str, Any] = {
        "id": name,
        "grant_id": "g",
        "text": "{}",
        "digest": "d",
        "created_at": 1.0,
        "expires_at": 10.0,
    }
    return ApprovalRow(**fields | changes)


def _spend(name: str, value: int, **changes: Any) -> SpendRow:
    fields: dict[str, Any] = {
        "id": name,
        "grant_id": "g",
        "amount": Money(value=value, currency=_EUR),
        "host": "a.test",
        "at": 1.0,
        "day": 0,
        "run": "",
    }
    return SpendRow(**fields | changes)


def _rule(name: str, **changes: Any) -> Rule:
    fields: dict[str, Any] = {"id": name, "created_at": 1.0, "site": "a.test", "scope": "read", "effect": "deny"}
    return Rule(**fields | changes)


def _odd_rows() -> dict[str, list[Any]]:
    """Each field at a value that a careless store changes: long integers, floats without a short form, None, odd text."""
    money = Money(value=2**53 - 1, currency="JPY")
    text = 'quote " backslash \\ \u00e9 e\u0301 \U0001f98a \\ud800 %_ \n'
    return {
        "grants": [
            _grant("plain"),
            _grant(
                "full",
                scope="pay",
                domains=("b.test", "*.b.test", "xn--bcher-kva.test"),
                tools=("buy", text),
                spend_cap=money,
                cap_per_act=Money(value=0, currency="JPY"),
                cap_per_run=Money(value=7, currency="JPY"),
                cap_per_site=Money(value=8, currency="JPY"),
                cap_per_day=money,
                expires_at=0.1 + 0.2,
                max_uses=2**53 - 1,
                approval="always",
                rules=True,
                created_at=1_700_000_000.123456,
                uses=2**53 - 2,
                spent=2**53 - 1,
            ),
            _grant("no tools", tools=()),
            _grant("one cap", cap_per_act=Money(value=3, currency=_EUR), expires_at=5),
        ],
        "requests": [
            _request("plain"),
            _request("full", text=text * 100, digest="e" * 64, status="approved", nonce="0" * 32, expires_at=1e12 / 3),
            _request("used", status="used", nonce="n"),
            _request("rejected", status="rejected"),
        ],
        "spends": [
            _spend("plain", 1),
            _spend("full", 2**53 - 1, day=20_000, run="r" * 32, status="settled", at=1 / 3, host="xn--bcher-kva.test"),
            _spend("early", 0, day=-1),
        ],
        "rules": [
            _rule("plain"),
            _rule("full", scope="submit", tool=text, effect="allow", expires_at=1 / 3),
            _rule("ask", effect="ask"),
        ],
    }


async def _everything(tx: GateTransaction) -> dict[str, list[Any]]:
    tables: dict[str, Any] = {"grants": tx.grants, "requests": tx.requests, "spends": tx.spends, "rules": tx.rules}
    return {name: list(await table.all()) for name, table in tables.items()} | {"time": [await tx.time()]}


async def _put_all(tx: GateTransaction, rows: dict[str, list[Any]]) -> None:
    for name, table in rows.items():
        for row in table:
            await getattr(tx, name).put(row)


# The parts


async def _a_new_store_is_empty(bench: _Bench) -> None:
    """a new store has no rows and no time."""
    async with bench.tx() as tx:
        _same(await _everything(tx), {"grants": [], "requests": [], "spends": [], "rules": [], "time": [None]}, "a new store holds")
        for name in ("grants", "requests", "spends", "rules"):
            _same(await getattr(tx, name).get("x"), None, f"{name}.get of an unknown id")
            _same(await getattr(tx, name).delete("x"), False, f"{name}.delete of an unknown id")
        _same(list(await tx.grants.covering("fill", ["a.test"])), [], "covering")
        _same(list(await tx.requests.about("d")), [], "about")
        _same(await tx.requests.counts(), (0, 0), "counts")
        _same(await tx.spends.total("g"), 0, "total")


async def _rows_come_back_exactly_as_they_were_put(bench: _Bench) -> None:
    """every field of every row, and the time, come back equal, in the transaction that put them and in later ones."""
    rows = _odd_rows()
    expected = rows | {"time": [1_700_000_000.000001]}
    async with bench.tx() as tx:
        await _put_all(tx, rows)
        await tx.set_time(1_700_000_000.000001)
        _same(await _everything(tx), expected, "the transaction that put them sees")
    async with bench.tx() as tx:
        _same(await _everything(tx), expected, "a later transaction sees")
        for name, table in rows.items():
            for row in table:
                _same(await getattr(tx, name).get(row.id), row, f"{name}.get({row.id!r})")
                for field in attrs.fields(type(row)):
                    seen = getattr(await getattr(tx, name).get(row.id), field.name)
                    _same(type(seen) in (type(getattr(row, field.name)), float), True, f"type of {name}.{field.name}")


async def _leaving_by_an_exception_saves_nothing(bench: _Bench) -> None:
    """a transaction that is left by an error or by a cancellation saves nothing, and the next one is not held up."""
    async with bench.tx() as tx:
        await _put_all(tx, _odd_rows())
        await tx.set_time(5.0)
        before = await _everything(tx)

    async def change(tx: GateTransaction) -> None:
        for name in ("grants", "requests", "spends", "rules"):
            await getattr(tx, name).delete("plain")
        await _put_all(tx, {"grants": [_grant("new"), _grant("full")], "requests": [_request("new")], "spends": [_spend("new", 5)]})
        await tx.requests.forget(1e300)
        await tx.spends.forget("g")
        await tx.set_time(9.0)

    class OurError(Exception):
        pass

    try:
        async with bench.tx() as tx:
            await change(tx)
            raise OurError
    except OurError:
        pass
    else:
        raise AssertionError("the exception did not come out of the transaction")
    async with bench.tx() as tx:
        _same(await _everything(tx), before, "after an error the store holds")
    with trio.CancelScope() as scope:
        async with bench.tx() as tx:
            await change(tx)
            scope.cancel()
            await trio.lowlevel.checkpoint()
    _same(scope.cancelled_caught, True, "the cancellation came out of the transaction")
    async with bench.tx() as tx:
        _same(await _everything(tx), before, "after a cancellation the store holds")
        _same(await tx.spends.total("g"), 1 + 2**53 - 1, "and the money adds up to")
        _same(_ids(await tx.grants.covering("pay", ["b.test"])), ["full"], "and grants are found by domain:")


async def _rows_stay_in_the_order_of_adding(bench: _Bench) -> None:
    """`all` is in the order of adding; a replaced row keeps its place, one that was deleted and added again comes last."""
    async with bench.tx() as tx:
        for name in "cab":
            await tx.grants.put(_grant(name))
            await tx.requests.put(_request(name))
            await tx.rules.put(_rule(name))
    async with bench.tx() as tx:
        await tx.grants.put(_grant("c", uses=1))
        await tx.requests.put(_request("c", status="used"))
        _same(_ids(await tx.grants.all()), ["c", "a", "b"], "grants after a replacement")
        _same(await tx.grants.delete("a"), True, "delete of a row that is there")
        _same(await tx.grants.delete("a"), False, "delete of a row that is gone")
        await tx.grants.put(_grant("a"))
        _same(_ids(await tx.grants.all()), ["c", "b", "a"], "grants in the transaction that changed them")
    async with bench.tx() as tx:
        _same(_ids(await tx.grants.all()), ["c", "b", "a"], "grants later")
        _same(_ids(await tx.grants.covering("fill", ["a.test"])), ["c", "b", "a"], "grants found by domain")
        _same(_ids(await tx.requests.all()), ["c", "a", "b"], "requests")
        _same(_ids(await tx.rules.all()), ["c", "a", "b"], "rules")


async def _grants_are_found_by_scope_and_domain(bench: _Bench) -> None:
    """`covering` finds grants by scope and by one or more names, each once, in the order of adding, also after domains changed."""
    rows = [
        _grant("1", domains=("a.test", "b.test", "*.test")),
        _grant("2", scope="read"),
        _grant("3", domains=("b.test",)),
        _grant("4", domains=("*.test",)),
    ]
    for fresh in (True, False):
        async with bench.tx() as tx:
            if fresh:
                for row in rows:
                    await tx.grants.put(row)
            for names, expected in (
                (["a.test"], ["1"]),
                (["b.test"], ["1", "3"]),
                (["b.test", "*.test"], ["1", "3", "4"]),
                (["*.test", "b.test", "*.b.test"], ["1", "3", "4"]),
                (["test"], []),
                (["%"], []),
                (["A.test"], []),
                ([], []),
            ):
                _same(_ids(await tx.grants.covering("fill", names)), expected, f"covering('fill', {names})")
            _same(_ids(await tx.grants.covering("read", ["a.test", "b.test"])), ["2"], "covering('read', …)")
            _same(_ids(await tx.grants.covering("pay", ["a.test"])), [], "covering('pay', …)")
    async with bench.tx() as tx:
        await tx.grants.put(attrs.evolve(rows[3], domains=("c.test", "b.test")))
        await tx.grants.put(attrs.evolve(rows[0], domains=("c.test",)))
        await tx.grants.delete("2")
        _same(
            _ids(await tx.grants.covering("fill", ["c.test"])), ["1", "4"], "covering in the transaction that changed the domains"
        )
    async with bench.tx() as tx:
        _same(_ids(await tx.grants.covering("fill", ["c.test"])), ["1", "4"], "covering after the domains changed")
        _same(_ids(await tx.grants.covering("fill", ["b.test"])), ["3", "4"], "covering after the domains changed")
        _same(_ids(await tx.grants.covering("fill", ["a.test", "*.test"])), [], "covering of the domains that are gone")
        _same(_ids(await tx.grants.covering("read", ["a.test"])), [], "covering of a deleted grant")


async def _requests_are_found_counted_and_forgotten(bench: _Bench) -> None:
    """`about`, `counts` and `forget` see what is saved and what this transaction changed."""
    async with bench.tx() as tx:
        for index, status in enumerate(("pending", "rejected", "pending", "used", "approved")):
            await tx.requests.put(_request(str(index), digest="d" if index % 2 else "e", status=status, expires_at=10.0 + index))
        _same(await tx.requests.counts(), (2, 5), "counts in the transaction that put them")
    async with bench.tx() as tx:
        _same(await tx.requests.counts(), (2, 5), "counts")
        _same(_ids(await tx.requests.about("e")), ["0", "2", "4"], "about")
        await tx.requests.put(_request("5", digest="e", expires_at=12.0))
        await tx.requests.put(_request("0", digest="e", status="used", expires_at=10.0))
        _same(_ids(await tx.requests.about("e")), ["0", "2", "4", "5"], "about with a row of this transaction")
        await tx.requests.forget(12.0)
        _same(_ids(await tx.requests.all()), ["3", "4"], "what is left after forget(12.0), whose own instant counts as over")
        _same(await tx.requests.counts(), (0, 2), "counts after it")
    async with bench.tx() as tx:
        _same(_ids(await tx.requests.all()), ["3", "4"], "what is left later")
        _same(_ids(await tx.requests.about("e")), ["4"], "about later")


async def _money_adds_up(bench: _Bench) -> None:
    """`total` adds up what is reserved and settled by grant, by day, by run and by host, with the changes of this transaction."""

    async def totals(tx: GateTransaction) -> list[int]:
        spends = tx.spends
        return [
            await spends.total("g"),
            await spends.total("g", day=1),
            await spends.total("g", run=""),
            await spends.total("g", run="r"),
            await spends.total("g", host="b.test"),
            await spends.total("g", host="test"),
            await spends.total("h"),
            await spends.total("h", day=1),
            await spends.total("none"),
        ]

    async with bench.tx() as tx:
        await tx.spends.put(_spend("1", 1, day=0, run="r"))
        await tx.spends.put(_spend("2", 20, day=1, run="r", host="b.test"))
        await tx.spends.put(_spend("3", 300, day=1, status="settled"))
        await tx.spends.put(_spend("4", 4000, grant_id="h", day=1, run="r", host="b.test"))
        _same(await totals(tx), [321, 320, 300, 21, 20, 0, 4000, 4000, 0], "totals in the transaction that put them")
    async with bench.tx() as tx:
        _same(await totals(tx), [321, 320, 300, 21, 20, 0, 4000, 4000, 0], "totals later")
        await tx.spends.put(_spend("2", 20, day=1, run="r", host="b.test", status="settled"))
        _same(await totals(tx), [321, 320, 300, 21, 20, 0, 4000, 4000, 0], "totals after one was settled")
        await tx.spends.delete("3")
        await tx.spends.put(_spend("5", 50_000, day=2, run="q"))
        _same(await totals(tx), [50_021, 20, 0, 21, 20, 0, 4000, 4000, 0], "totals after one was deleted and one added")
    async with bench.tx() as tx:
        _same(await totals(tx), [50_021, 20, 0, 21, 20, 0, 4000, 4000, 0], "totals later")
        await tx.spends.forget("g")
        _same(await totals(tx), [0, 0, 0, 0, 0, 0, 4000, 4000, 0], "totals after forget")
    async with bench.tx() as tx:
        _same(await totals(tx), [0, 0, 0, 0, 0, 0, 4000, 4000, 0], "totals later")
        _same(_ids(await tx.spends.all()), ["4"], "spends that are left")


async def _what_a_store_hands_out_is_not_its_inside(bench: _Bench) -> None:
    """changing a list that the store handed out changes nothing in it."""
    async with bench.tx() as tx:
        await tx.grants.put(_grant("1"))
    async with bench.tx() as tx:
        for rows in (await tx.grants.all(), await tx.grants.covering("fill", ["a.test"])):
            if isinstance(rows, list):
                rows.clear()
    async with bench.tx() as tx:
        _same(_ids(await tx.grants.all()), ["1"], "grants")
        _same(_ids(await tx.grants.covering("fill", ["a.test"])), ["1"], "grants found by domain")


async def _transactions_wait_for_each_other_in_order(bench: _Bench) -> None:
    """one transaction at a time, in the order of asking, and nothing of an open one is seen by another."""
    order: list[str] = []

    async def another(name: str, asked: trio.Event) -> None:
        transaction = bench.tx()
        asked.set()
        async with transaction as tx:
            order.append(f"{name} sees {_ids(await tx.grants.all())}")
            await tx.grants.put(_grant(name))

    async with trio.open_nursery() as nursery, bench.tx() as tx:
        await tx.grants.put(_grant("0"))
        for name in "123":
            asked = trio.Event()
            nursery.start_soon(another, name, asked)
            await asked.wait()
            await trio.sleep(0.01)
        order.append("first ends")
    expected = ["first ends", "1 sees ['0']", "2 sees ['0', '1']", "3 sees ['0', '1', '2']"]
    _same(order, expected, "the order of four transactions")


async def _a_cancel_reaches_whoever_waits_for_its_turn(bench: _Bench) -> None:
    """a transaction that waits for another is cancelled at once, and those behind it get their turn."""
    seen: list[str] = []

    async def behind() -> None:
        async with bench.tx() as tx:
            seen.append(f"behind sees {_ids(await tx.grants.all())}")

    async def impatient(gone: trio.Event) -> None:
        with trio.move_on_after(0.05):
            async with bench.tx():
                seen.append("two at once")
        gone.set()

    async with trio.open_nursery() as nursery, bench.tx() as tx:
        await tx.grants.put(_grant("1"))
        gone = trio.Event()
        nursery.start_soon(impatient, gone)
        await trio.sleep(0.01)
        nursery.start_soon(behind)
        await gone.wait()
        seen.append("the one that waited is gone")
    _same(seen, ["the one that waited is gone", "behind sees ['1']"], "what happened")


async def _a_cancel_at_the_end_never_leaves_doubt(bench: _Bench) -> None:
    """a transaction left normally in a cancelled scope is saved when nothing was raised, and not saved when something was."""
    for name in ("1", "2", "3"):
        with trio.CancelScope() as scope:
            async with bench.tx() as tx:
                await tx.grants.put(_grant(name))
                scope.cancel()
        async with bench.tx() as tx:
            saved = await tx.grants.get(name) is not None
        _same(saved, not scope.cancelled_caught, "saved, where leaving it raised nothing" if saved else "saved")


async def _two_gates_on_one_store_never_spend_the_same_twice(bench: _Bench) -> None:
    """of many checks and redeems at once, by two gates on one store, no use, no money and no token is spent twice."""
    tools = {"save": "fill", "buy": _Priced("pay", lambda args: Money(value=args["cents"], currency=_EUR)), "send": "submit"}
    sides = [create_gate(tools=tools, store=bench.store, now=lambda: 1000.0) for _ in range(2)]
    host = sides[0][1]
    await host.add_grant(scope="fill", domains=["a.test"], max_uses=3)
    cap = Money(value=100, currency=_EUR)
    await host.add_grant(
        scope="pay", domains=["a.test"], approval="never", spend_cap=cap, cap_per_day=cap, cap_per_run=cap, cap_per_site=cap
    )
    await host.add_grant(scope="submit", domains=["a.test"])
    sending = Action(tool="send", args={}, domain="a.test", scope="submit")
    asked = await sides[0][0].check(sending)
    assert asked.decision == "ask", f"a submit grant asks, but the answer was {asked!r}"
    assert asked.request_id is not None
    token = await host.approve(asked.request_id)
    counted: dict[str, int] = {"save": 0, "buy": 0, "send": 0}

    async def check(gate: Any, tool: str) -> None:
        if tool == "send":
            decision = await gate.redeem(token, sending)
        elif tool == "buy":
            decision = await gate.check(Action(tool="buy", args={"cents": 30}, domain="a.test", scope="pay"))
        else:
            decision = await gate.check(Action(tool="save", args={}, domain="a.test", scope="fill"))
        counted[tool] += decision.decision == "allow"

    async with trio.open_nursery() as nursery:
        for tool in counted:
            for _ in range(4):
                for gate, _ in sides:
                    nursery.start_soon(check, gate, tool)
    _same(counted["save"], 3, "allowed with max_uses=3")
    _same(counted["buy"], 3, "allowed payments of 30 under a cap of 100")
    _same(counted["send"], 0 if counted["send"] == 0 else 1, "redeems of one token by the gate that signed it and by another")
    grants = await host.grants()
    _same([grant.uses for grant in grants][:2], [3, 3], "uses counted")
    _same([grant.spent for grant in grants][:2], [0, 90], "money counted")


async def _saved_rows_are_there_after_reopening(bench: _Bench) -> None:
    """what was saved is there, exactly and in order, when the store was closed and opened anew; what was not saved is not."""
    assert bench.reopen is not None
    rows = _odd_rows()
    async with bench.tx() as tx:
        await _put_all(tx, rows)
        await tx.set_time(1_700_000_000.000001)
    with trio.CancelScope() as scope:
        async with bench.tx() as tx:
            await tx.grants.put(_grant("lost"))
            scope.cancel()
            await trio.lowlevel.checkpoint()
    await _closed(bench.store)
    bench.store = await _made(bench.reopen(bench.store))
    async with bench.tx() as tx:
        _same(await _everything(tx), rows | {"time": [1_700_000_000.000001]}, "after reopening the store holds")
        _same(_ids(await tx.grants.covering("pay", ["*.b.test"])), ["full"], "grants found by domain")
        _same(await tx.spends.total("g", day=20_000), 2**53 - 1, "money of one day")


@attrs.frozen
class _Priced:
    scope: str
    amount: Callable[[dict[str, Any]], Money]


_PARTS: Final[tuple[Part, ...]] = (
    _a_new_store_is_empty,
    _rows_come_back_exactly_as_they_were_put,
    _leaving_by_an_exception_saves_nothing,
    _rows_stay_in_the_order_of_adding,
    _grants_are_found_by_scope_and_domain,
    _requests_are_found_counted_and_forgotten,
    _money_adds_up,
    _what_a_store_hands_out_is_not_its_inside,
    _transactions_wait_for_each_other_in_order,
    _a_cancel_reaches_whoever_waits_for_its_turn,
    _a_cancel_at_the_end_never_leaves_doubt,
    _two_gates_on_one_store_never_spend_the_same_twice,
)
