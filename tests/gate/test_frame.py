"""The frame of every operation: turns, hook, save, and what a cancellation or a hang at each point leaves behind."""

from __future__ import annotations

import functools
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.errors import GateError
from foxloop_trio.gate import HOOK_TIMEOUT, LOCK_TIMEOUT, STORE_TIMEOUT, DecisionEvent, MemoryGateStore

POINTS = ["open", "time", "rules", "grants", "requests", "save"]


class TroubledStore:
    """A memory store that does `trouble` (raise, hang, pause) at one point of each transaction."""

    def __init__(self) -> None:
        self.inner = MemoryGateStore()
        self.point: str | None = None
        self.trouble: Any = None

    async def at(self, point: str) -> None:
        if self.point == point:
            await self.trouble()

    @asynccontextmanager
    async def transaction(self) -> Any:
        await self.at("open")
        async with self.inner.transaction() as tx:
            yield _TroubledTransaction(self, tx)
            await self.at("save")


class _TroubledTransaction:
    def __init__(self, store: TroubledStore, tx: Any) -> None:
        self._store = store
        self._tx = tx
        self.grants = _TroubledRows(store, tx.grants, "grants")
        self.requests = _TroubledRows(store, tx.requests, "requests")
        self.spends = tx.spends
        self.rules = _TroubledRows(store, tx.rules, "rules")

    async def time(self) -> Any:
        await self._store.at("time")
        return await self._tx.time()

    async def set_time(self, at: float) -> None:
        await self._tx.set_time(at)


class _TroubledRows:
    def __init__(self, store: TroubledStore, rows: Any, point: str) -> None:
        self._parts = (store, rows, point)

    def __getattr__(self, name: str) -> Any:
        store, rows, point = self._parts

        async def call(*args: Any) -> Any:
            await store.at(point)
            return await getattr(rows, name)(*args)

        return call


async def _raise() -> None:
    raise OSError("disk full")


@pytest.fixture
async def troubled(setup: Any) -> Any:
    events: list[DecisionEvent] = []
    s = setup(store=TroubledStore(), on_decision=events.append)
    await s.host.add_grant(scope="submit", domains=["notes.local"], max_uses=5)
    await s.host.add_grant(scope="fill", domains=["notes.local"], max_uses=5)
    s.token = await s.approved(s.send("approved"))
    s.asked = await s.gate.check(s.send("waiting"))
    events.clear()
    s.events = events
    return s


async def _state(s: Any) -> tuple[Any, ...]:
    async with s.store.inner.transaction() as tx:
        return await tx.grants.all(), await tx.requests.all(), await tx.time()


@pytest.mark.parametrize("point", POINTS)
async def test_a_store_that_raises_denies_and_changes_nothing(troubled: Any, point: str) -> None:
    """GR-13, UR-13, GB-G15: storage-error or bad-state at every point; afterwards everything works as if nothing had been tried."""
    s = troubled
    before = await _state(s)
    s.wall.at += 1
    s.store.point, s.store.trouble = point, _raise
    if point != "requests":
        assert (await s.gate.check(s.save())).reason == "storage-error"
    assert (await s.gate.check(s.send("new"))).reason == "storage-error"
    assert (await s.gate.redeem(s.token, s.send("approved"))).reason == "storage-error"
    host_calls = {"grants": lambda: s.host.add_grant(scope="read", domains=["a.b"]), "rules": s.host.rules}
    with pytest.raises(GateError) as caught:
        await host_calls.get(point, lambda: s.host.approve(s.asked.request_id))()
    assert caught.value.code == "bad-state"
    assert isinstance(caught.value.__cause__, OSError)
    s.store.point = None
    assert await _state(s) == before
    assert (await s.gate.redeem(s.token, s.send("approved"))).decision == "allow"
    assert (await s.gate.check(s.save())).decision == "allow"


@pytest.mark.parametrize("point", POINTS)
async def test_a_store_that_hangs_is_given_up_after_its_time(troubled: Any, point: str, autojump_clock: Any) -> None:
    """GB-G1: storage-error after STORE_TIMEOUT, and nothing changed."""
    s = troubled
    before = await _state(s)
    s.store.point, s.store.trouble = point, trio.sleep_forever
    started = trio.current_time()
    assert (await s.gate.check(s.send("new"))).reason == "storage-error"
    assert trio.current_time() - started == STORE_TIMEOUT
    s.store.point = None
    assert await _state(s) == before


async def test_the_hook_hears_nothing_of_a_state_that_could_not_be_loaded(troubled: Any) -> None:
    """Section 10: no call for a storage-error at loading, nor for a clock-error."""
    s = troubled
    s.store.trouble = _raise
    for s.store.point in ("open", "time", "grants"):
        await s.gate.check(s.save())
    s.store.point = None
    s.wall.answer = float("nan")
    await s.gate.check(s.save())
    assert s.events == []


async def test_an_allow_that_could_not_be_saved_is_taken_back_in_the_hook(troubled: Any) -> None:
    """GB-G4, GB-G16: a second event, kind failed, with the deny and the cause; the answer is the deny."""
    s = troubled
    s.store.point, s.store.trouble = "save", _raise
    denied = await s.gate.check(s.save())
    assert denied.reason == "storage-error"
    assert [(event.kind, event.decision, event.reason) for event in s.events] == [
        ("check", "allow", None),
        ("failed", "deny", "storage-error"),
    ]
    assert isinstance(s.events[1].error, OSError)


async def test_a_failing_failed_event_does_not_change_the_answer(setup: Any) -> None:
    """GB-G4: the answer is still the deny, also when the hook then hangs."""
    calls: list[str] = []

    async def hook(event: DecisionEvent) -> None:
        calls.append(event.kind)
        if event.kind == "failed":
            raise OSError("disk full")

    s = setup(store=TroubledStore(), on_decision=hook)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    s.store.point, s.store.trouble = "save", _raise
    assert (await s.gate.check(s.save())).reason == "storage-error"
    assert calls == ["grant", "check", "failed"]


async def test_random_bytes_that_fail_deny(setup: Any) -> None:
    """GB-G16: an unexpected exception inside a decision does not escape; nothing is counted and the hook is told why."""
    events: list[DecisionEvent] = []
    broken = False

    def ids(nbytes: int, purpose: str) -> bytes:
        return b"" if broken else bytes(range(nbytes))

    s = setup(ids=ids, on_decision=events.append)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    broken = True
    assert (await s.gate.check(s.save())).reason == "storage-error"
    broken = False
    assert [grant.uses for grant in await s.host.grants()] == [0]
    assert (events[-1].kind, type(events[-1].error)) == ("failed", ValueError)


async def test_each_decision_is_announced_once_with_what_it_is_about(setup: Any) -> None:
    """GR-14, section 10, GB-G9: kinds, decisions, ids and the action in normal form; no permit and no token."""
    events: list[DecisionEvent] = []
    s = setup(on_decision=events.append)
    grant = await s.host.add_grant(scope="submit", domains=["notes.local"])
    asked = await s.gate.check(s.send(domain="NOTES.local"))
    token = await s.host.approve(asked.request_id)
    await s.gate.redeem(token, s.send())
    await s.gate.redeem(token, s.send())
    other = await s.gate.check(s.send("other"))
    await s.host.reject(other.request_id)
    await s.gate.check({"tool": "send"})
    await s.gate.redeem("x", s.send())
    await s.host.pending()
    await s.host.grants()
    await s.host.revoke_grant(grant.id)
    await s.host.revoke_grant(grant.id)
    assert [(e.kind, e.decision, e.reason, e.request_id, e.action and e.action.args["text"]) for e in events] == [
        ("grant", None, None, None, None),
        ("check", "ask", None, asked.request_id, "Hello"),
        ("approve", "allow", None, asked.request_id, "Hello"),
        ("redeem", "allow", None, asked.request_id, "Hello"),
        ("redeem", "deny", "token-used", asked.request_id, None),
        ("check", "ask", None, other.request_id, "other"),
        ("reject", "deny", "rejected", other.request_id, "other"),
        ("check", "deny", "bad-action", None, None),
        ("redeem", "deny", "bad-token", None, None),
        ("revoke", None, None, None, None),
    ]
    assert {event.at for event in events} == {s.wall.at}
    assert events[1].action is not None
    assert events[1].action.domain == "notes.local"
    copied: Any = events[1].action
    copied.args["text"] = "altered"
    assert events[1].action.args["text"] == "Hello"


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_hook_that_raises_denies_and_counts_nothing(setup: Any, kind: str) -> None:
    """GR-14: no use counted, no request stored, no grant added or removed."""

    def raises(event: DecisionEvent) -> None:
        raise RuntimeError("no")

    async def raises_later(event: DecisionEvent) -> None:
        await trio.lowlevel.checkpoint()
        raise RuntimeError("no")

    store = MemoryGateStore()
    fine = setup(store=store)
    grant = await fine.host.add_grant(scope="fill", domains=["notes.local"])
    asking = await fine.host.add_grant(scope="submit", domains=["notes.local"])
    s = setup(store=store, on_decision=raises if kind == "sync" else raises_later)
    assert (await s.gate.check(s.save())).reason == "hook-failed"
    assert (await s.gate.check(s.send())).reason == "hook-failed"
    for call in (s.host.add_grant(scope="fill", domains=["a.local"]), s.host.revoke_grant(grant.id)):
        with pytest.raises(GateError) as caught:
            await call
        assert caught.value.code == "hook-failed"
    assert await fine.host.grants() == [grant, asking]
    assert await fine.host.pending() == []


@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_hook_that_hangs_is_given_up_after_its_time(setup: Any, stubborn: bool, autojump_clock: Any) -> None:
    """GB-G1: hook-failed after HOOK_TIMEOUT, also for a hook that swallows its cancellation; the next operation goes on."""

    async def hook(event: DecisionEvent) -> None:
        if event.kind == "check":
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                if not stubborn:
                    raise

    s = setup(on_decision=hook)
    grant = await s.host.add_grant(scope="fill", domains=["notes.local"])
    assert (await s.gate.check(s.save())).reason == "hook-failed"
    assert trio.current_time() == HOOK_TIMEOUT
    assert await s.host.grants() == [grant]


async def test_a_hook_that_calls_the_gate_is_told_so(setup: Any, autojump_clock: Any) -> None:
    """GB-G10: reentrant inside the hook, hook-failed outside, at once and not after a time-out."""
    seen: list[str] = []

    async def hook(event: DecisionEvent) -> None:
        if event.kind != "check":
            return
        for call in (s.gate.check(s.save()), s.host.grants()):
            with pytest.raises(GateError) as caught:
                await call
            seen.append(caught.value.code)
        await s.gate.check(s.save())

    s = setup(on_decision=hook)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    assert (await s.gate.check(s.save())).reason == "hook-failed"
    assert seen == ["reentrant", "reentrant"]
    assert trio.current_time() == 0.0


async def test_waiting_too_long_for_its_turn_denies(setup: Any, autojump_clock: Any) -> None:
    """GB-G1: storage-error after LOCK_TIMEOUT; those who waited behind still get their turn."""
    store = TroubledStore()
    s = setup(store=store)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    answers: dict[str, tuple[Any, float]] = {}

    async def hog() -> None:
        # Longer than the gate's own limits allow: a store that shields itself from them.
        with trio.CancelScope(shield=True):
            await trio.sleep(LOCK_TIMEOUT + 5)

    async def check(name: str) -> None:
        answer = await s.gate.check(s.save())
        answers[name] = (answer.reason if answer.decision == "deny" else "allow", trio.current_time())

    store.point, store.trouble = "open", hog
    async with trio.open_nursery() as nursery:
        nursery.start_soon(check, "first")
        await trio.testing.wait_all_tasks_blocked()
        store.point = None
        nursery.start_soon(check, "second")
        await trio.sleep(10)
        nursery.start_soon(check, "third")
    assert answers["second"] == ("storage-error", LOCK_TIMEOUT)
    assert answers["third"] == ("allow", LOCK_TIMEOUT + 5)


async def test_operations_run_one_at_a_time_in_call_order(setup: Any) -> None:
    """Section 12: each ends before the next begins, and a failing one does not block the next."""
    order: list[str] = []

    async def hook(event: DecisionEvent) -> None:
        if event.action is None:
            return
        text = event.action.args["text"]
        order.append(f"+{text}")
        await trio.testing.wait_all_tasks_blocked(0.001)
        order.append(f"-{text}")
        if text == "1":
            raise RuntimeError("no")

    s = setup(on_decision=hook)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    async with trio.open_nursery() as nursery:
        for index in range(5):
            nursery.start_soon(s.gate.check, s.save(str(index)))
            await trio.testing.wait_all_tasks_blocked()
    assert order == [f"{sign}{index}" for index in range(5) for sign in "+-"]


async def test_the_last_use_goes_to_exactly_one_of_many(setup: Any) -> None:
    """SP-03 for uses: of ten checks at once that each fit, but not together, one is allowed."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"], max_uses=1)
    decisions: list[str] = []

    async def check() -> None:
        decisions.append((await s.gate.check(s.save())).decision)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(check)
    assert sorted(decisions) == ["allow"] + ["deny"] * 9


async def test_cancelled_while_waiting_for_its_turn_changes_nothing(setup: Any, autojump_clock: Any) -> None:
    """GB-G2: no hook call, no use, and the queue behind it moves on."""
    calls: list[str] = []

    async def hook(event: DecisionEvent) -> None:
        calls.append(event.kind)
        await trio.sleep(5)

    s = setup(on_decision=hook)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    calls.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(s.gate.check, s.save("first"))
        await trio.testing.wait_all_tasks_blocked()
        with trio.move_on_after(1) as scope:
            await s.gate.check(s.save("second"))
        assert scope.cancelled_caught
        assert (await s.gate.check(s.save("third"))).decision == "allow"
    assert calls == ["check", "check"]
    assert [grant.uses for grant in await s.host.grants()] == [2]


async def test_cancelled_before_it_begins_changes_nothing(setup: Any) -> None:
    """GB-G2: an operation begins with a checkpoint, in every state of the lock."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    with trio.CancelScope() as scope:
        scope.cancel()
        await s.gate.check(s.save())
    assert scope.cancelled_caught
    assert [grant.uses for grant in await s.host.grants()] == [0]


@pytest.mark.parametrize("point", ["open", "time", "grants"])
async def test_cancelled_while_loading_changes_nothing(troubled: Any, point: str, autojump_clock: Any) -> None:
    """GB-G2: up to the hook a cancel gets through at once."""
    s = troubled
    before = await _state(s)
    s.store.point, s.store.trouble = point, trio.sleep_forever
    started = trio.current_time()
    with trio.move_on_after(1) as scope:
        await s.gate.check(s.save())
    assert scope.cancelled_caught
    assert trio.current_time() - started == 1.0
    s.store.point = None
    assert await _state(s) == before
    assert s.events == []


@pytest.mark.parametrize("point", ["hook", "save"])
async def test_cancelled_from_the_hook_to_the_save_it_ends_and_is_answered(setup: Any, point: str, autojump_clock: Any) -> None:
    """GB-G2, ruling 41: what the hook heard is saved and returned; the cancellation comes at the next checkpoint."""
    store = TroubledStore()
    seen: list[str] = []

    async def hook(event: DecisionEvent) -> None:
        if point == "hook" and event.kind == "check":
            await trio.sleep(5)
        seen.append(event.kind)

    s = setup(store=store, on_decision=hook)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    if point == "save":
        store.point, store.trouble = "save", functools.partial(trio.sleep, 5)
    answer: Any = None
    with trio.move_on_after(1) as scope:
        answer = await s.gate.check(s.save())
        assert trio.current_time() == 5.0
        await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert answer.decision == "allow"
    assert seen == ["grant", "check"]
    store.point = None
    assert [grant.uses for grant in await s.host.grants()] == [1]


async def test_both_methods_are_checkpoints(setup: Any) -> None:
    """A coroutine function is a checkpoint, also when it only denies."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    for call in (s.gate.check(s.save()), s.gate.check(None), s.gate.redeem("x", s.save())):
        with trio.testing.assert_checkpoints():
            await call


@pytest.mark.parametrize("hook", [None, lambda event: None])
async def test_a_call_from_inside_a_transaction_of_the_same_task_is_denied_and_not_raised(setup: Any, hook: Any) -> None:
    """GB-G16: it would wait for itself; the host reads why."""
    s = setup(on_decision=hook)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    async with s.store.transaction():
        assert (await s.gate.check(s.save())).reason == "storage-error"
        with pytest.raises(GateError, match="wait for itself") as caught:
            await s.host.grants()
    assert caught.value.code == "bad-state"
    assert (await s.gate.check(s.save())).decision == "allow"
