"""Money: reserved when it is allowed, spent or released when the permit closes, and never over a cap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.actions import Action, Allow, Money
from foxloop_trio.actions._run import acting_for_run
from foxloop_trio.errors import GateError
from foxloop_trio.gate import MemoryGateStore, SqliteGateStore
from foxloop_trio.gate._ledger import CLOSE_TIMEOUT

DAY = 86_400.0


def eur(cents: int) -> Money:
    return Money(value=cents, currency="EUR")


def buy(cents: int, domain: str = "shop.local") -> Action:
    return Action(tool="buy", args={"cents": cents}, domain=domain, scope="pay")


@pytest.fixture(params=["memory", "sqlite"])
async def s(setup: Any, request: Any, tmp_path: Path) -> Any:
    """A gate on each kind of store."""
    if request.param == "memory":
        yield setup(store=MemoryGateStore())
    else:
        async with SqliteGateStore(tmp_path / "gate.db") as store:
            yield setup(store=store)


async def grant(s: Any, **caps: Any) -> Any:
    return await s.host.add_grant(scope="pay", domains=["shop.local"], approval="never", **caps)


async def outcome(s: Any, action: Action) -> str:
    answer = await s.gate.check(action)
    return "allow" if answer.decision == "allow" else str(answer.reason)


async def spent(s: Any) -> list[int]:
    return [row.spent for row in await s.host.grants()]


@pytest.mark.parametrize("cap", ["spend_cap", "cap_per_run", "cap_per_site", "cap_per_day"])
async def test_what_is_allowed_adds_up_to_the_cap_and_no_further(s: Any, cap: str) -> None:
    """SP-01: equal is fine, one more is not, and what still fits is allowed."""
    await grant(s, **{cap: eur(100)})
    assert [await outcome(s, buy(cents)) for cents in (60, 41, 40, 1, 0)] == ["allow", "spend-cap", "allow", "spend-cap", "allow"]
    assert await spent(s) == [100]


async def test_a_cap_per_act_looks_at_each_act_alone(s: Any) -> None:
    """And does not run out."""
    await grant(s, cap_per_act=eur(50))
    assert [await outcome(s, buy(cents)) for cents in (50, 51, 50, 50)] == ["allow", "spend-cap", "allow", "allow"]


async def test_a_cap_per_site_counts_each_host_by_itself(s: Any) -> None:
    """Each subdomain is a host of its own; another spelling of one is not."""
    await s.host.add_grant(scope="pay", domains=["*.shop.example", "shop.example"], approval="never", cap_per_site=eur(100))
    for host in ("shop.example", "www.shop.example", "a.www.shop.example"):
        assert await outcome(s, buy(60, host)) == "allow"
        assert await outcome(s, buy(41, host.upper() + ".")) == "spend-cap"
        assert await outcome(s, buy(40, host)) == "allow"


async def test_a_cap_per_site_counts_over_days_and_runs(s: Any) -> None:
    """For the whole life of the grant."""
    await grant(s, cap_per_site=eur(100))
    with acting_for_run("one"):
        assert await outcome(s, buy(60)) == "allow"
    s.wall.at += 3 * DAY
    with acting_for_run("two"):
        assert await outcome(s, buy(41)) == "spend-cap"


async def test_two_grants_for_one_host_have_a_cap_per_site_each(s: Any) -> None:
    """A cap is one grant's."""
    for _ in range(2):
        await grant(s, cap_per_site=eur(100))
    assert [await outcome(s, buy(100)) for _ in range(3)] == ["allow", "allow", "spend-cap"]


async def test_a_denial_names_the_caps_that_the_amount_would_go_over(s: Any) -> None:
    """At check and at redeem; the reason is spend-cap with any of them."""
    caps = {"cap_per_act": 100, "cap_per_run": 90, "cap_per_site": 80, "cap_per_day": 70, "spend_cap": 60}
    await grant(s, **{name: eur(cents) for name, cents in caps.items()})
    for number, cents in enumerate((61, 71, 81, 91, 101)):
        answer = await s.gate.check(buy(cents))
        names = ", ".join(list(caps)[4 - number :])
        assert (answer.reason, answer.message) == ("spend-cap", f"the amount would go over a cap of the grant: {names}")
    await s.host.add_grant(scope="pay", domains=["b.local"], cap_per_site=eur(100))
    tokens = [await s.approved(buy(cents, "b.local")) for cents in (60, 50)]
    assert isinstance(await s.gate.redeem(tokens[0], buy(60, "b.local")), Allow)
    answer = await s.gate.redeem(tokens[1], buy(50, "b.local"))
    assert (answer.reason, answer.message) == ("spend-cap", "the amount would go over a cap of the grant: cap_per_site")


async def test_another_currency_is_refused_and_not_converted(s: Any) -> None:
    """SP-02; with any of the caps."""
    for cap in ("spend_cap", "cap_per_act", "cap_per_run", "cap_per_site", "cap_per_day"):
        added = await grant(s, **{cap: Money(value=10**6, currency="JPY")})
        assert await outcome(s, buy(1)) == "currency"
        await s.host.revoke_grant(added.id)


async def test_an_action_without_an_amount_is_not_limited_by_caps(s: Any) -> None:
    """Section 6.3."""
    await s.host.add_grant(scope="fill", domains=["notes.local"], spend_cap=eur(0), cap_per_day=eur(0))
    assert await outcome(s, s.save()) == "allow"


async def test_a_pay_grant_without_a_cap_has_no_limit_and_keeps_no_money(s: Any) -> None:
    """Section 6.3."""
    await grant(s)
    assert await outcome(s, buy(2**53 - 1)) == "allow"
    assert await outcome(s, buy(2**53 - 1)) == "allow"
    async with s.store.transaction() as tx:
        assert list(await tx.spends.all()) == []
    assert await spent(s) == [0]


async def test_nobody_is_asked_about_what_cannot_be_allowed(s: Any) -> None:
    """SP-01: the cap is tested on grants that ask too."""
    await s.host.add_grant(scope="pay", domains=["shop.local"], spend_cap=eur(100))
    assert await outcome(s, buy(101)) == "spend-cap"
    assert await s.host.pending() == []


async def test_a_cap_used_up_after_the_approval_stops_the_redeem(s: Any) -> None:
    """AP-09: the token is spent, the money is not."""
    await s.host.add_grant(scope="pay", domains=["shop.local"], spend_cap=eur(100))
    tokens = [await s.approved(buy(cents)) for cents in (60, 50)]
    assert isinstance(await s.gate.redeem(tokens[0], buy(60)), Allow)
    assert (await s.gate.redeem(tokens[1], buy(50))).reason == "spend-cap"
    assert (await s.gate.redeem(tokens[1], buy(50))).reason == "token-used"
    assert await spent(s) == [60]


async def test_the_first_reason_is_the_one_of_the_first_grant(s: Any) -> None:
    """6.2 step 9, and GR-16: a later grant with money left decides."""
    await grant(s, spend_cap=eur(10))
    await grant(s, spend_cap=Money(value=10, currency="JPY"))
    assert await outcome(s, buy(11)) == "spend-cap"
    await grant(s, spend_cap=eur(20))
    assert await outcome(s, buy(11)) == "allow"
    assert await spent(s) == [0, 0, 11]


async def test_the_order_of_reasons_is_expired_used_up_currency_cap(s: Any) -> None:
    """Section 6.3."""
    limits: dict[str, Any] = {"spend_cap": Money(value=5, currency="EUR"), "max_uses": 1, "expires_at": s.wall.at + 10}
    await grant(s, **limits)
    assert await outcome(s, buy(6)) == "spend-cap"
    assert await outcome(s, buy(5)) == "allow"
    assert await outcome(s, buy(6)) == "used-up"
    s.wall.at += 10
    assert await outcome(s, buy(6)) == "expired"


async def test_a_released_permit_gives_its_money_back_and_keeps_its_use(s: Any) -> None:
    """Ruling 17: release on failure. In every sum."""
    await grant(s, spend_cap=eur(100), cap_per_day=eur(100), cap_per_run=eur(100), cap_per_site=eur(100), max_uses=3)
    permit = (await s.gate.check(buy(100))).permit
    assert await outcome(s, buy(1)) == "spend-cap"
    await permit.release()
    await permit.release()
    assert await spent(s) == [0]
    assert await outcome(s, buy(100)) == "allow"
    assert [row.uses for row in await s.host.grants()] == [2]


async def test_a_settled_permit_keeps_its_money_spent(s: Any) -> None:
    """Ruling 17: and a release that comes after it frees nothing."""
    await grant(s, spend_cap=eur(100))
    permit = (await s.gate.check(buy(100))).permit
    await permit.settle()
    await permit.release()
    await permit._ledger.release(permit.id)  # also past the permit's own memory
    assert await outcome(s, buy(1)) == "spend-cap"
    async with s.store.transaction() as tx:
        (row,) = await tx.spends.all()
    assert (row.status, row.amount, row.id) == ("settled", eur(100), permit.id)


async def test_what_is_never_closed_stays_spent(s: Any) -> None:
    """Ruling 17: an effect that nobody knows, or a process that died."""
    await grant(s, spend_cap=eur(100))
    await s.gate.check(buy(100))
    async with s.store.transaction() as tx:
        assert [row.status for row in await tx.spends.all()] == ["reserved"]
    assert await outcome(s, buy(1)) == "spend-cap"


async def test_a_day_is_utc_and_starts_anew(s: Any) -> None:
    """Ruling 17; a clock that goes back does not bring the old day back, and a release of yesterday frees nothing of today."""
    s.wall.at = 20_000 * DAY + DAY - 1
    await grant(s, cap_per_day=eur(100))
    yesterday = (await s.gate.check(buy(100))).permit
    assert await outcome(s, buy(1)) == "spend-cap"
    s.wall.at += 1
    assert await outcome(s, buy(100)) == "allow"
    s.wall.at -= 1
    assert await outcome(s, buy(1)) == "spend-cap"
    await yesterday.release()
    assert await outcome(s, buy(1)) == "spend-cap"
    s.wall.at += 1 + DAY
    assert await outcome(s, buy(100)) == "allow"


async def test_each_run_has_its_own_money(s: Any) -> None:
    """Ruling 17; outside of any run all counts together."""
    await grant(s, cap_per_run=eur(100), spend_cap=eur(250))
    for run, cents, expected in (
        ("one", 100, "allow"),
        ("one", 1, "spend-cap"),
        ("two", 100, "allow"),
        ("", 40, "allow"),
        ("", 61, "spend-cap"),
        ("three", 11, "spend-cap"),
        ("three", 10, "allow"),
    ):
        with acting_for_run(run):
            assert await outcome(s, buy(cents)) == expected


async def test_a_revoked_grant_takes_its_money_rows_along(s: Any) -> None:
    """Closing a permit of it does nothing and raises nothing."""
    added = await grant(s, spend_cap=eur(100))
    permits = [(await s.gate.check(buy(50))).permit for _ in range(2)]
    await s.host.revoke_grant(added.id)
    await permits[0].settle()
    await permits[1].release()
    async with s.store.transaction() as tx:
        assert list(await tx.spends.all()) == []


async def test_concurrent_payments_that_exceed_the_cap_together_are_not_all_allowed(s: Any) -> None:
    """SP-03."""
    await grant(s, spend_cap=eur(100))
    found: list[str] = []

    async def pay() -> None:
        found.append(await outcome(s, buy(60)))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(pay)
    assert sorted(found) == ["allow", *["spend-cap"] * 4]


async def test_spending_is_remembered_by_another_gate_on_the_store(s: Any, setup: Any) -> None:
    """SP-05: a restart is a new gate on the same store."""
    await grant(s, spend_cap=eur(100), cap_per_day=eur(100), cap_per_run=eur(100), cap_per_site=eur(100))
    await s.gate.check(buy(60))
    again = setup(store=s.store, now=s.wall)
    assert await outcome(again, buy(41)) == "spend-cap"
    assert await outcome(again, buy(40)) == "allow"


@pytest.mark.parametrize(
    "caps",
    [
        {"spend_cap": 100},
        {"cap_per_act": "1 EUR"},
        {"cap_per_run": {"value": 1, "currency": "EUR"}},
        {"cap_per_day": True},
        {"cap_per_site": eur},
        {"spend_cap": eur(1), "cap_per_act": Money(value=1, currency="USD")},
    ],
)
async def test_a_bad_cap_is_refused_and_nothing_is_stored(s: Any, caps: dict[str, Any]) -> None:
    """SP-06, GR-12."""
    with pytest.raises(GateError) as caught:
        await grant(s, **caps)
    assert caught.value.code == "bad-grant"
    assert await s.host.grants() == []


@pytest.mark.parametrize("how", ["settle", "release"])
async def test_closing_a_permit_with_money_ends_although_the_caller_was_cancelled(s: Any, how: str) -> None:
    """Ruling 41."""
    await grant(s, spend_cap=eur(100))
    permit = (await s.gate.check(buy(100))).permit
    with trio.CancelScope() as scope:
        scope.cancel()
        await getattr(permit, how)()
    assert not scope.cancelled_caught
    assert await spent(s) == [100 if how == "settle" else 0]


@pytest.mark.parametrize("how", ["settle", "release"])
async def test_closing_a_permit_is_bounded(setup: Any, how: str, autojump_clock: Any) -> None:
    """Ruling 41: after CLOSE_TIMEOUT it gives up, and the money stays reserved."""
    s = setup()
    await grant(s, spend_cap=eur(100))
    permit = (await s.gate.check(buy(100))).permit
    async with s.store.transaction():
        started = trio.current_time()
        with pytest.raises(GateError) as caught:
            await in_another_task(getattr(permit, how))
    assert caught.value.code == "bad-state"
    assert trio.current_time() - started == CLOSE_TIMEOUT
    assert not permit.alive
    assert await spent(s) == [100]


async def in_another_task(fn: Any) -> None:
    """A store's lock is held by a task, which must not ask for it twice."""
    faults: list[Exception] = []

    async def call() -> None:
        try:
            await fn()
        except GateError as fault:
            faults.append(fault)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
    if faults:
        raise faults[0]


async def test_a_store_that_fails_while_a_permit_closes_says_so(setup: Any) -> None:
    """The money stays reserved, so nothing can be spent twice."""
    s = setup()
    await grant(s, spend_cap=eur(100))
    permit = (await s.gate.check(buy(100))).permit
    async with s.store.transaction() as tx:
        await tx.set_time(float("nan"))
    with pytest.raises(GateError) as caught:
        await permit.release()
    assert caught.value.code == "bad-state"
    async with s.store.transaction() as tx:
        await tx.set_time(s.wall.at)
    assert await spent(s) == [100]


async def test_a_failing_hook_reserves_nothing(setup: Any) -> None:
    """GR-14."""

    def hook(event: Any) -> None:
        if event.kind == "check":
            raise RuntimeError("no")

    s = setup(on_decision=hook)
    await grant(s, spend_cap=eur(100))
    assert await outcome(s, buy(10)) == "hook-failed"
    assert await spent(s) == [0]
    async with s.store.transaction() as tx:
        assert list(await tx.spends.all()) == []
