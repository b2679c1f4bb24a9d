"""Random sequences of everything that can happen to a gate, against a model that was written separately.

What the gate answers must be what the model answers, step by step: so no allow that the model denies, no money over a cap, and no
token accepted twice. The caps and the tokens are also counted here, without the model.
"""

from __future__ import annotations

import random
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foxloop_trio.actions import Action, Allow, Ask, Money
from foxloop_trio.actions._run import acting_for_run
from foxloop_trio.errors import GateError
from foxloop_trio.gate import GateKey, MemoryGateStore, SqliteGateStore, create_gate

from .model import DAY, MAX_PENDING, REQUEST_TTL, TOKEN_TTL, Act, Model, Permission, Question, Slip

HOSTS = ["a.local", "b.local"]
RUNS = ["", "one", "two"]
CAPS = ["spend_cap", "cap_per_act", "cap_per_run", "cap_per_site", "cap_per_day"]
CURRENCIES = ["EUR", "JPY"]

STEPS = {
    "check": 12,
    "again": 5,
    "approve": 7,
    "redeem": 8,
    "close": 4,
    "time passes": 3,
    "grant": 2,
    "reject": 2,
    "crash": 2,
    "failing": 2,
    "revoke": 1,
    "redeem other": 2,
    "broken clock": 1,
}
"""The steps, and how often each comes."""


def some_act(rng: random.Random) -> Act:
    return Act(
        tool=rng.choice(["look", "save", "save", "send", "send", "buy", "buy", "buy"]),
        value=rng.choice([0, 1, 30, 40, 60]),
        host=rng.choice([HOSTS[0], HOSTS[0], HOSTS[0], HOSTS[1]]),
        currency=rng.choice(["EUR"] * 8 + ["JPY"]),
    )


def some_grant(rng: random.Random, scope: str) -> dict[str, Any]:
    return {
        "scope": scope,
        "hosts": rng.choice([HOSTS[:1], HOSTS[:1], HOSTS]),
        "tools": rng.choice([None, None, None, ["buy", "save", "send"], []]),
        "asks": rng.choice([True, True, False]),
        "life": rng.choice([None, None, None, 500, DAY]),
        "uses": rng.choice([None, None, None, 1, 3]),
        "caps": {cap: rng.choice([30, 60, 100]) for cap in rng.sample(CAPS, rng.choice([0, 1, 1, 2]))},
        "currency": rng.choice(["EUR"] * 5 + ["JPY"]),
    }


def some_step(seed: int) -> tuple[Any, ...]:
    """One step from one number: so a sequence that fails shrinks to the steps that matter, each still the same."""
    rng = random.Random(seed)
    kind = rng.choices(list(STEPS), list(STEPS.values()))[0]
    number, run = rng.randrange(8), rng.choice(RUNS)
    given: dict[str, tuple[Any, ...]] = {
        "check": (some_act(rng), run, rng.random() < 0.8),
        "again": (number, run),
        "approve": (number,),
        "redeem": (number, run),
        "close": (number, rng.random() < 0.5),
        "time passes": (rng.choice([1, 10, TOKEN_TTL - 1, TOKEN_TTL, REQUEST_TTL, DAY, -5, -DAY]),),
        "grant": (some_grant(rng, rng.choice(["fill", "submit", "pay", "pay", "read"])),),
        "reject": (number,),
        "crash": (rng.random() < 0.2,),
        "failing": (rng.choice(["hook", "save"]), some_act(rng)),
        "revoke": (number,),
        "redeem other": (number, some_act(rng)),
        "broken clock": (some_act(rng),),
    }
    return kind, *given[kind]


def some_sequence(seeds: list[int]) -> list[tuple[Any, ...]]:
    first = random.Random(seeds[0])
    start = [("grant", some_grant(first, scope)) for scope in ("fill", "submit", "pay", "pay")]
    return [*start, *(some_step(seed) for seed in seeds[1:])]


SEQUENCES = st.lists(st.integers(0, 2**64 - 1), min_size=30, max_size=60, unique=True).map(some_sequence)


@attrs.frozen
class Priced:
    scope: str
    amount: Any


TOOLS: dict[str, Any] = {
    "look": "read",
    "save": "fill",
    "send": "submit",
    "buy": Priced("pay", lambda args: Money(value=args["value"], currency=args["currency"])),
}


def action(act: Act) -> Action:
    args: dict[str, Any] = {"value": act.value}
    if act.tool == "buy":
        args["currency"] = act.currency
    return Action(tool=act.tool, args=args, domain=act.host, scope=act.scope)  # type: ignore[arg-type]


class FailingStore:
    """The store, whose next save fails when asked to."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.fail = False

    @asynccontextmanager
    async def transaction(self) -> Any:
        async with self.inner.transaction() as tx:
            yield tx
            if self.fail:
                raise OSError("the disk is gone")


class Drive:
    """The gate and the model, driven through the same steps."""

    def __init__(self, make_store: Any) -> None:
        self.make_store = make_store
        self.clock = 20_000 * DAY + 1000
        self.broken: float | None = None
        self.key = GateKey(bytes(32))
        self.model = Model()
        self.grant_ids: list[str] = []
        self.request_ids: dict[int, str] = {}
        self.asked: list[Question] = []
        self.tokens: list[tuple[str, Slip]] = []
        self.permits: list[tuple[Any, list[Any]]] = []
        self.accepted: list[str] = []
        self.hook_fails = False
        self.start(make_store(None))

    def start(self, store: Any) -> None:
        self.store = FailingStore(store)
        self.gate, self.host = create_gate(
            tools=TOOLS,
            store=self.store,
            now=lambda: float(self.clock) if self.broken is None else self.broken,
            key=self.key,
            request_ttl=REQUEST_TTL,
            token_ttl=TOKEN_TTL,
            max_pending=MAX_PENDING,
            on_decision=self.hook,
        )

    def hook(self, event: Any) -> None:
        if self.hook_fails:
            raise RuntimeError("no")

    async def step(self, step: tuple[Any, ...]) -> None:
        kind, *given = step
        await getattr(self, kind.replace(" ", "_"))(*given)
        await self.compare()

    async def grant(self, wanted: dict[str, Any]) -> None:
        now = self.model.now(self.clock)
        until = None if wanted["life"] is None else now + wanted["life"]
        currency = wanted["currency"]
        added = await self.host.add_grant(
            scope=wanted["scope"],
            domains=wanted["hosts"],
            tools=wanted["tools"],
            approval="always" if wanted["asks"] else "never",
            expires_at=until,
            max_uses=wanted["uses"],
            **{name: Money(value=cap, currency=currency) for name, cap in wanted["caps"].items()},
        )
        self.grant_ids.append(added.id)
        self.model.permissions.append(
            Permission(
                scope=wanted["scope"],
                hosts=wanted["hosts"],
                tools=wanted["tools"],
                asks=wanted["asks"],
                until=until,
                uses=wanted["uses"],
                caps={name: (cap, currency) for name, cap in wanted["caps"].items()},
            )
        )

    async def revoke(self, number: int) -> None:
        number %= len(self.grant_ids)
        expected = self.model.revoke(self.model.permissions[number])
        assert await self.host.revoke_grant(self.grant_ids[number]) == expected

    async def check(self, act: Act, run: str, store: bool) -> None:
        with acting_for_run(run):
            answer = await self.gate.check(action(act), store_request=store)
        self.same(answer, self.model.check(act, self.clock, run, store), act)

    async def again(self, number: int, run: str) -> None:
        if self.asked:
            await self.check(self.asked[number % len(self.asked)].act, run, True)

    async def approve(self, number: int) -> None:
        await self.answer(number, yes=True)

    async def reject(self, number: int) -> None:
        await self.answer(number, yes=False)

    async def answer(self, number: int, *, yes: bool) -> None:
        if not self.asked:
            return
        question = self.asked[-1 - number % len(self.asked)]
        request_id = self.request_ids[id(question)]
        expected = self.model.answer(question, self.clock, yes=yes)
        answered = self.host.approve(request_id) if yes else self.host.reject(request_id)
        if expected == "not-found":
            with pytest.raises(GateError) as caught:
                await answered
            assert caught.value.code == "not-found"
            return
        token = await answered
        if isinstance(expected, Slip):
            assert token is not None
            self.tokens.append((token, expected))

    async def redeem(self, number: int, run: str) -> None:
        if self.tokens:
            token, slip = self.tokens[-1 - number % len(self.tokens)]
            await self.spend(token, slip, slip.question.act, run)

    async def redeem_other(self, number: int, act: Act) -> None:
        if self.tokens:
            token, slip = self.tokens[-1 - number % len(self.tokens)]
            await self.spend(token, slip, act, "")

    async def spend(self, token: str, slip: Slip, act: Act, run: str) -> None:
        with acting_for_run(run):
            answer = await self.gate.redeem(token, action(act))
        if isinstance(answer, Allow):
            assert token not in self.accepted, "a token was accepted twice"
            self.accepted.append(token)
        self.same(answer, self.model.redeem(slip, act, self.clock, run), act)

    async def close(self, number: int, settle: bool) -> None:
        if not self.permits:
            return
        permit, allow = self.permits.pop(-1 - number % len(self.permits))
        await (permit.settle() if settle else permit.release())
        if not settle:
            allow[3] = True

    async def time_passes(self, by: int) -> None:
        self.clock += by

    async def broken_clock(self, act: Act) -> None:
        self.broken = float("nan")
        answer = await self.gate.check(action(act))
        assert getattr(answer, "reason", None) == "clock-error"
        self.broken = None

    async def crash(self, new_key: bool) -> None:
        """The process dies: no permit is ever closed, nothing is closed properly, and another gate is made on what was saved."""
        self.permits.clear()
        if new_key:
            self.key = GateKey(bytes([len(self.tokens) % 256, *bytes(31)]) + bytes([1]))
            self.model.new_key()
        self.start(self.make_store(self.store.inner))

    async def failing(self, what: str, act: Act) -> None:
        """An operation that ends badly after it was decided has not happened."""
        self.hook_fails, self.store.fail = what == "hook", what == "save"
        answer = await self.gate.check(action(act))
        expected = "hook-failed" if what == "hook" else "storage-error"
        assert getattr(answer, "reason", None) == expected
        self.hook_fails = self.store.fail = False

    def same(self, answer: Any, expected: tuple[str, Any], act: Act) -> None:
        kind, detail = expected
        assert answer.decision == kind, (answer, expected)
        if isinstance(answer, Allow):
            number = self.grant_ids.index(answer.grant_id)
            assert self.model.permissions[number] is detail
            assert answer.permit.action == action_with_amount(act)
            self.permits.append((answer.permit, detail.allows[-1]))
        elif isinstance(answer, Ask):
            if detail is None:
                assert answer.request_id is None
            elif id(detail) in self.request_ids:
                assert self.request_ids[id(detail)] == answer.request_id
            else:
                assert answer.request_id is not None
                self.request_ids[id(detail)] = answer.request_id
                self.asked.append(detail)
        else:
            assert answer.reason == detail

    async def compare(self) -> None:
        """What is in the books, and that no cap was passed."""
        stored = {grant.id: grant for grant in await self.host.grants()}
        alive = [
            (grant_id, permission)
            for grant_id, permission in zip(self.grant_ids, self.model.permissions, strict=True)
            if not permission.revoked
        ]
        assert list(stored) == [grant_id for grant_id, _ in alive]
        for grant_id, permission in alive:
            grant = stored[grant_id]
            assert (grant.uses, grant.spent) == (len(permission.allows), permission.spent())
            assert permission.uses is None or grant.uses <= permission.uses
            for name, (cap, _) in permission.caps.items():
                if name == "spend_cap":
                    assert permission.spent() <= cap
                elif name == "cap_per_day":
                    assert all(permission.spent(day=day) <= cap for day, *_ in permission.allows)
                elif name == "cap_per_run":
                    assert all(permission.spent(run=run) <= cap for run in RUNS)
                elif name == "cap_per_site":
                    assert all(permission.spent(host=host) <= cap for host in HOSTS)


def action_with_amount(act: Act) -> Action:
    """What is run: with the price that the gate worked out."""
    plain = action(act)
    return plain if act.price is None else attrs.evolve(plain, amount=Money(value=act.value, currency=act.currency))


async def follow(sequence: list[tuple[Any, ...]], make_store: Any) -> None:
    drive = Drive(make_store)
    for step in sequence:
        await drive.step(step)


def in_memory(sequence: list[tuple[Any, ...]]) -> None:
    """A crash leaves the store as it was: with a store in memory it stands for a new gate in the same process."""
    trio.run(follow, sequence, lambda old: old or MemoryGateStore())


def in_a_file(sequence: list[tuple[Any, ...]]) -> None:
    """A crash drops the connection and opens the file anew."""
    with tempfile.TemporaryDirectory() as folder:

        def make_store(old: Any) -> Any:
            if old is not None:
                old._file.close()
            return SqliteGateStore(Path(folder) / "gate.db")

        trio.run(follow, sequence, make_store)


FEW = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), database=None)
SOME = settings(FEW, max_examples=8)
MANY = settings(FEW, max_examples=2000)
A_FEW_HUNDRED = settings(FEW, max_examples=300)


@FEW
@given(SEQUENCES)
def test_a_hundred_sequences_in_memory(sequence: list[tuple[Any, ...]]) -> None:
    """No answer differs from the model's."""
    in_memory(sequence)


@SOME
@given(SEQUENCES)
def test_some_sequences_in_a_file(sequence: list[tuple[Any, ...]]) -> None:
    """No answer differs from the model's."""
    in_a_file(sequence)


@pytest.mark.long
@MANY
@given(SEQUENCES)
def test_two_thousand_sequences_in_memory(sequence: list[tuple[Any, ...]]) -> None:
    """No answer differs from the model's."""
    in_memory(sequence)


@pytest.mark.long
@A_FEW_HUNDRED
@given(SEQUENCES)
def test_three_hundred_sequences_in_a_file(sequence: list[tuple[Any, ...]]) -> None:
    """No answer differs from the model's."""
    in_a_file(sequence)
