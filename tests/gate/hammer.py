"""One of the processes that hammer a store: it checks, redeems, settles and releases as fast as it can, and writes down what it was
allowed. Started by test_hammer.py, which kills it at any moment.

A line is written after each allow (``allow <grant> <cents> <permit>``, ``token <number>``) and before each release
(``release <grant> <cents>``). A kill can lose the line of an allow and the effect of a release, so what the lines add up to is
never more than what the gate has in its books.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import attrs
import trio

from foxloop_trio.actions import Action, Allow, Money
from foxloop_trio.gate import GateKey, SqliteGateStore, create_gate

KEY = bytes(range(32))


@attrs.frozen
class Priced:
    scope: str
    amount: Any


def price(args: dict[str, Any]) -> Money:
    return Money(value=args["cents"], currency="EUR")


TOOLS: dict[str, Any] = {"save": "fill", "send": "submit", "buy": Priced("pay", price)}


def sending(number: int) -> Action:
    return Action(tool="send", args={"number": number}, domain="a.local", scope="submit")


SHOPS = ["a.local", "b.local"]


def buying(cents: int, shop: str = SHOPS[0]) -> Action:
    return Action(tool="buy", args={"cents": cents}, domain=shop, scope="pay")


SAVING = Action(tool="save", args={}, domain="a.local", scope="fill")


async def main(path: str, record: str, tokens: list[str], seed: int) -> None:
    rng = random.Random(seed)
    fd = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(*words: object) -> None:
        os.write(fd, (" ".join(map(str, words)) + "\n").encode("ascii"))

    gate, _ = create_gate(tools=TOOLS, store=SqliteGateStore(path), key=GateKey(KEY))

    async def worker() -> None:
        while True:
            what = rng.random()
            if what < 0.2:
                answer = await gate.check(SAVING)
                if isinstance(answer, Allow):
                    note("allow", answer.grant_id, 0, answer.permit.id)
            elif what < 0.4:
                number = rng.randrange(len(tokens))
                if isinstance(await gate.redeem(tokens[number], sending(number)), Allow):
                    note("token", number)
            else:
                cents = rng.choice([1, 7, 40, 99])
                answer = await gate.check(buying(cents, rng.choice(SHOPS)))
                if isinstance(answer, Allow):
                    note("allow", answer.grant_id, cents, answer.permit.id)
                    if rng.random() < 0.95:
                        note("release", answer.grant_id, cents)
                        await answer.permit.release()
                    elif rng.random() < 0.5:
                        await answer.permit.settle()
                elif getattr(answer, "reason", None) == "storage-error":
                    note("storage-error")

    await gate.check(buying(10**9))
    note("began")
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


if __name__ == "__main__":
    trio.run(main, sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_text("ascii").split(), int(sys.argv[4]))
