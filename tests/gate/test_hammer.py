"""Two processes that hammer one SQLite store, either of them killed with SIGKILL again and again."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Money
from foxloop_trio.gate import GateKey, SqliteGateStore, create_gate

from .hammer import KEY, SHOPS, TOOLS, sending

CAP = 2000
SITE_CAP = 1200
USES = 300
TOKENS = 60


def hammered(folder: Path, seconds: float, between_kills: tuple[float, float]) -> tuple[Path, list[str], int]:
    """The store, all lines of the processes, and how many were killed."""
    path, tokens = folder / "gate.db", folder / "tokens"
    tokens.write_text("\n".join(trio.run(_prepare, path)), "ascii")
    rng = random.Random(20)
    started = 0
    running: list[tuple[subprocess.Popen[bytes], Path]] = []

    def start() -> None:
        nonlocal started
        started += 1
        script = str(Path(__file__).with_name("hammer.py"))
        record = folder / f"record{started}"
        arguments = [str(path), str(record), str(tokens), str(started)]
        running.append((subprocess.Popen([sys.executable, script, *arguments]), record))

    try:
        start()
        start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            victim, record = running.pop(rng.randrange(2))
            while victim.poll() is None and not (record.exists() and record.stat().st_size) and time.monotonic() < end:
                time.sleep(0.01)  # one that has not begun would be killed for nothing
            time.sleep(rng.uniform(*between_kills))
            assert victim.poll() is None, "a process ended by itself"
            victim.kill()
            victim.wait()
            start()
    finally:
        for process, _ in running:
            process.kill()
            process.wait()
    lines = [line for record in folder.glob("record*") for line in record.read_text("ascii").splitlines()]
    return path, lines, started - 2


async def _prepare(path: Path) -> list[str]:
    """A store with grants, and tokens for all processes to fight over."""
    async with SqliteGateStore(path) as store:
        gate, host = create_gate(tools=TOOLS, store=store, key=GateKey(KEY), max_pending=TOKENS, token_ttl=3600.0)
        cap, site_cap = (Money(value=cents, currency="EUR") for cents in (CAP, SITE_CAP))
        await host.add_grant(
            scope="pay", domains=SHOPS, approval="never", spend_cap=cap, cap_per_day=cap, cap_per_run=cap, cap_per_site=site_cap
        )
        await host.add_grant(scope="fill", domains=["a.local"], max_uses=USES)
        await host.add_grant(scope="submit", domains=["a.local"], max_uses=TOKENS)
        found = []
        for number in range(TOKENS):
            asked: Any = await gate.check(sending(number))
            found.append(await host.approve(asked.request_id))
    return found


async def _books(path: Path) -> Any:
    async with SqliteGateStore(path) as store, store.transaction() as tx:
        return await tx.grants.all(), await tx.spends.all(), await tx.requests.all()


def judge(path: Path, lines: list[str]) -> Counter[str]:
    """What must hold of the books, and of what the processes were told."""
    counted = Counter(line.split()[0] for line in lines)
    grants, spends, requests = trio.run(_books, path)
    pay, fill, submit = grants
    told = {grant.id: 0 for grant in grants}
    for line in lines:
        match line.split():
            case ["allow", grant, cents, _]:
                told[grant] += int(cents)
            case ["release", grant, cents]:
                told[grant] -= int(cents)
    assert told[pay.id] <= pay.spent <= CAP
    assert sum(row.amount.value for row in spends) == pay.spent
    for shop in SHOPS:
        assert sum(row.amount.value for row in spends if row.host == shop) <= SITE_CAP
    permits = [line.split()[3] for line in lines if line.startswith("allow")]
    assert len(permits) == len(set(permits))
    saved = sum(line.startswith(f"allow {fill.id} ") for line in lines)
    assert saved <= fill.uses <= USES
    numbers = Counter(line for line in lines if line.startswith("token"))
    assert set(numbers.values()) <= {1}, "a token was accepted twice"
    assert len(numbers) <= submit.uses == sum(row.status == "used" for row in requests) <= TOKENS
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()
    return counted


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_two_processes_on_one_store_for_two_seconds(tmp_path: Path) -> None:
    """The caps, the uses and the tokens hold, and the processes did real work."""
    path, lines, kills = hammered(tmp_path, 2.0, (0.1, 0.4))
    counted = judge(path, lines)
    assert kills >= 1
    assert counted["allow"] > 5
    assert counted["token"] > 0


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_two_processes_on_one_store_for_twenty_seconds(tmp_path: Path) -> None:
    """With a kill every second or so."""
    path, lines, kills = hammered(tmp_path, 20.0, (0.1, 1.0))
    counted = judge(path, lines)
    assert kills >= 10
    assert counted["allow"] > 200
    assert counted["token"] > 20
    assert counted["storage-error"] == 0
