"""The store in a file: durable, private, shared, and closed to everything that is not right with the file."""

# ruff: noqa: ASYNC240  # the files are small and local, and what is tested is what stands in them

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Action, Allow, Money
from foxloop_trio.errors import BadOptionsError, GateError
from foxloop_trio.gate import STORE_TIMEOUT, GateKey, SqliteGateStore
from foxloop_trio.gate._sqlite_file import SqliteFile, _make_private
from foxloop_trio.gate._sqlite_schema import SCHEMA_VERSION


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gate.db"


def buy(cents: int) -> Action:
    return Action(tool="buy", args={"cents": cents}, domain="shop.local", scope="pay")


async def filled(setup: Any, path: Path) -> None:
    """A file with a row of each kind, closed."""
    async with SqliteGateStore(path) as store:
        s = setup(store=store)
        await s.host.add_grant(scope="fill", domains=["notes.local"])
        await s.host.add_grant(scope="submit", domains=["notes.local"])
        cap = Money(value=1000, currency="EUR")
        await s.host.add_grant(scope="pay", domains=["shop.local"], approval="never", spend_cap=cap)
        assert isinstance(await s.gate.check(buy(400)), Allow)
        await s.approved(s.send())


def sql(path: Path, *statements: str) -> list[Any]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        rows = [connection.execute(statement).fetchall() for statement in statements]
    finally:
        connection.close()
    return rows[-1]


async def refused(setup: Any, path: Path, *words: str) -> None:
    """Every operation denies or raises, with the file and what is wrong with it in the host's error."""
    store = SqliteGateStore(path)
    s = setup(store=store)
    assert (await s.gate.check(s.save())).reason == "storage-error"
    assert (await s.gate.redeem("fgt1.a.b", s.save())).reason in ("storage-error", "bad-token")
    with pytest.raises(GateError) as caught:
        await s.host.grants()
    assert caught.value.code == "bad-state"
    for word in (*words, str(path)):
        assert word in str(caught.value)
    with pytest.raises(GateError) as caught:
        async with store:
            pytest.fail("opened")
    assert caught.value.code == "bad-state"
    await store.aclose()


async def test_everything_survives_a_restart(setup: Any, path: Path) -> None:
    """Grants, uses, money, waiting and answered requests, time, and with the same key the tokens."""
    key = os.urandom(32)
    async with SqliteGateStore(path) as store:
        one = setup(store=store, key=GateKey(key))
        await one.host.add_grant(scope="submit", domains=["notes.local"], max_uses=2)
        token = await one.approved(one.send("a"))
        waiting = await one.gate.check(one.send("b"))
        refusing = await one.gate.check(one.send("c"))
        await one.host.reject(refusing.request_id)
        one.wall.at += 5
        before = await one.host.pending()
    async with SqliteGateStore(path) as store:
        two = setup(store=store, key=GateKey(key))
        assert await two.host.pending() == before
        assert [row.id for row in before] == [waiting.request_id]
        assert (await two.gate.check(two.send("c"))).reason == "rejected"
        assert isinstance(await two.gate.redeem(token, two.send("a")), Allow)
        assert (await two.gate.redeem(token, two.send("a"))).reason == "token-used"
        second = await two.host.approve(waiting.request_id)
        async with store.transaction() as tx:
            assert await tx.time() == one.wall.at  # the clock of the second gate is 5 s behind, and time never goes back
    async with SqliteGateStore(path) as store:
        three = setup(store=store, key=GateKey(key))
        assert isinstance(await three.gate.redeem(second, three.send("b")), Allow)
        assert [row.uses for row in await three.host.grants()] == [2]


async def test_a_token_of_another_key_dies_with_its_process(setup: Any, path: Path) -> None:
    """AP-05, AP-11: fails closed; the request is asked anew."""
    async with SqliteGateStore(path) as store:
        one = setup(store=store)
        await one.host.add_grant(scope="submit", domains=["notes.local"])
        token = await one.approved(one.send())
    async with SqliteGateStore(path) as store:
        two = setup(store=store)
        assert (await two.gate.redeem(token, two.send())).reason == "bad-token"
        assert (await two.gate.check(two.send())).decision == "ask"


async def test_no_key_and_no_token_is_in_the_file(setup: Any, path: Path) -> None:
    """AS-05."""
    key = b"K" * 40 + bytes(range(24))
    async with SqliteGateStore(path) as store:
        s = setup(store=store, key=GateKey(key))
        await s.host.add_grant(scope="submit", domains=["notes.local"])
        token = await s.approved(s.send())
        raw = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"Hello" in raw
    payload, mac = token.split(".")[1:]
    for secret in (key, key[:16], key.hex().encode(), payload.encode(), mac.encode()):
        assert secret not in raw


@pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")
async def test_the_files_are_for_their_owner_alone(setup: Any, path: Path) -> None:
    """Mode 0600, whatever the umask; also the log beside it."""
    before = os.umask(0)
    try:
        async with SqliteGateStore(path) as store:
            await setup(store=store).host.add_grant(scope="fill", domains=["a.local"])
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("gate.db", "gate.db-wal", "gate.db-shm"), 0o600)


@pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o602, 0o666])
async def test_a_file_that_others_can_reach_is_refused(setup: Any, path: Path, mode: int) -> None:
    """The error says what to type."""
    await filled(setup, path)
    path.chmod(mode)
    await refused(setup, path, "chmod 600")
    path.chmod(0o600)
    async with SqliteGateStore(path) as store:
        assert len(await setup(store=store).host.grants()) == 3


async def test_a_newer_file_says_so_and_is_left_alone(setup: Any, path: Path) -> None:
    """Whoever wrote it knew things that we would lose."""
    await filled(setup, path)
    sql(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    await refused(setup, path, "newer", f"schema {SCHEMA_VERSION + 1}", "update")
    assert path.read_bytes() == before


async def test_a_file_that_becomes_newer_while_it_is_open_is_noticed(setup: Any, path: Path) -> None:
    """Another process was updated first."""
    async with SqliteGateStore(path) as store:
        s = setup(store=store)
        await s.host.add_grant(scope="fill", domains=["notes.local"])
        sql(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        assert (await s.gate.check(s.save())).reason == "storage-error"
        sql(path, f"PRAGMA user_version = {SCHEMA_VERSION}")
        assert isinstance(await s.gate.check(s.save()), Allow)


async def test_the_file_of_another_program_is_refused(setup: Any, path: Path) -> None:
    """By its tables, or by its application id."""
    sql(path, "CREATE TABLE moz_bookmarks (id)")
    path.chmod(0o600)
    await refused(setup, path, "another program")
    other = path.with_name("other.db")
    sql(other, "PRAGMA application_id = 7")
    other.chmod(0o600)
    await refused(setup, other, "another program")
    assert sql(path, "SELECT name FROM sqlite_schema") == [("moz_bookmarks",)]


async def test_garbage_is_refused(setup: Any, path: Path) -> None:
    """Not a database at all, a directory, a pipe, no such folder."""
    path.write_bytes(os.urandom(5000))
    path.chmod(0o600)
    await refused(setup, path, "not a database")
    folder = path.with_name("folder")
    folder.mkdir(mode=0o700)
    await refused(setup, folder, "not a regular file")
    pipe = path.with_name("pipe")
    os.mkfifo(pipe, 0o600)
    await refused(setup, pipe, "not a regular file")
    await refused(setup, path.parent / "none" / "gate.db", "No such file")


async def test_an_empty_file_is_a_new_store(setup: Any, path: Path) -> None:
    """What a crash right after the file was made leaves behind."""
    path.touch(0o600)
    async with SqliteGateStore(path) as store:
        assert await setup(store=store).host.grants() == []


async def test_garbage_inside_the_file_never_allows_more(setup: Any, path: Path) -> None:
    """Seeded: bytes changed, cut and zeroed. The answer is what the whole file says, or storage-error; no money comes back."""
    await filled(setup, path)
    sql(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    rng = random.Random(4)
    seen: dict[str, int] = {}
    for number in range(120):
        raw = bytearray(whole)
        kind = ("bytes", "cut", "zero")[number % 3]
        at = rng.randrange(len(raw))
        if kind == "bytes":
            for _ in range(rng.randrange(1, 20)):
                raw[rng.randrange(len(raw))] = rng.randrange(256)
        elif kind == "cut":
            del raw[at:]
        else:
            raw[at : at + 512] = bytes(len(raw[at : at + 512]))
        for file in path.parent.glob("gate.db*"):
            file.unlink()
        path.write_bytes(raw)
        path.chmod(0o600)
        store = SqliteGateStore(path)
        s = setup(store=store)
        answers = [await s.gate.check(buy(601)), await s.gate.check(s.send())]
        await store.aclose()
        for answer in answers:
            word = answer.decision if answer.decision != "deny" else answer.reason
            seen[word] = seen.get(word, 0) + 1
            assert answer.decision != "allow", (number, kind)
        assert getattr(answers[0], "reason", "") in ("spend-cap", "storage-error", "no-grant"), (number, kind)
    assert seen["storage-error"] > 60
    assert seen["spend-cap"] > 5


async def test_a_locked_file_denies_after_the_limit(setup: Any, path: Path, monkeypatch: Any) -> None:
    """Another process that never lets go: storage-error, not a hang; afterwards all is well."""
    await filled(setup, path)
    monkeypatch.setattr("foxloop_trio.gate._core.STORE_TIMEOUT", 0.3)
    async with SqliteGateStore(path) as store:
        s = setup(store=store)
        other = sqlite3.connect(path, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            started = trio.current_time()
            assert (await s.gate.check(s.save())).reason == "storage-error"
            assert 0.2 < trio.current_time() - started < STORE_TIMEOUT / 2
            other.execute("ROLLBACK")
        finally:
            other.close()
        assert isinstance(await s.gate.check(s.save()), Allow)


async def test_a_cancel_gets_through_while_the_file_is_locked(setup: Any, path: Path) -> None:
    """No thread waits for long, so a cancel does not either; nothing is counted."""
    await filled(setup, path)
    async with SqliteGateStore(path) as store:
        s = setup(store=store)
        other = sqlite3.connect(path, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            started = trio.current_time()
            with trio.move_on_after(0.2) as scope:
                await s.gate.check(s.save())
            assert scope.cancelled_caught
            assert trio.current_time() - started < 2
        finally:
            other.close()
        assert next(row.uses for row in await s.host.grants()) == 0


async def test_a_short_lock_is_waited_for(setup: Any, path: Path) -> None:
    """Another process that is done soon."""
    await filled(setup, path)
    async with SqliteGateStore(path) as store:
        s = setup(store=store)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answers: list[Any] = []

        async def check() -> None:
            answers.append(await s.gate.check(s.save()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(check)
            await trio.sleep(0.2)
            assert answers == []
            other.execute("ROLLBACK")
            other.close()
        assert isinstance(answers[0], Allow)


async def test_a_full_disk_denies_and_counts_nothing(setup: Any, path: Path) -> None:
    """SQLITE_FULL, at whichever statement; once there is room again, all goes on."""
    async with SqliteGateStore(path) as store:
        events: list[Any] = []
        s = setup(store=store, on_decision=events.append)
        await s.host.add_grant(scope="submit", domains=["notes.local"])
        connection = store._file._connection
        assert connection is not None
        ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        answers = []
        while not answers or answers[-1].decision == "ask":
            answers.append(await s.gate.check(s.send("x" * 20_000 + str(len(answers)))))
            assert len(answers) < 20
        assert answers[-1].reason == "storage-error"
        assert [event.kind for event in events[-2:]] == ["check", "failed"]
        assert "full" in str(events[-1].error)
        assert len(await s.host.pending()) == len(answers) - 1
        assert (await s.gate.check(s.send("x" * 30_000))).decision == "ask"


async def test_a_file_that_was_replaced_is_opened_anew(setup: Any, path: Path) -> None:
    """A backup put back under the name is what counts from then on, and a file that is gone denies."""
    await filled(setup, path)
    backup = path.with_name("backup")
    shutil.copy(path, backup)
    async with SqliteGateStore(path) as store:
        s = setup(store=store)
        assert isinstance(await s.gate.check(buy(600)), Allow)
        for file in path.parent.glob("gate.db*"):
            file.unlink()
        assert (await s.gate.check(buy(1))).reason == "no-grant"
        for file in path.parent.glob("gate.db*"):
            file.unlink()
        backup.chmod(0o600)
        backup.rename(path)
        assert (await s.gate.check(buy(601))).reason == "spend-cap"
        assert isinstance(await s.gate.check(buy(600)), Allow)


async def test_a_closed_store_says_so(setup: Any, path: Path) -> None:
    """And is closed as often as one likes."""
    store = SqliteGateStore(path)
    s = setup(store=store)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    await store.aclose()
    await store.aclose()
    assert (await s.gate.check(s.save())).reason == "storage-error"
    with pytest.raises(GateError, match="closed"):
        await s.host.grants()
    assert "closed" in repr(store)


@pytest.mark.parametrize("path", ["", None, 5, b"", object()])
def test_a_path_that_is_none_is_a_bad_option(path: Any) -> None:
    """At once, not at the first use."""
    with pytest.raises(BadOptionsError, match="SqliteGateStore"):
        SqliteGateStore(path)


async def test_no_name_of_sqlite_is_taken_for_anything_but_a_file(setup: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """``:memory:`` would lose everything, and a relative path must not move with the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:x?mode=memory"):
        async with SqliteGateStore(name):
            assert (tmp_path / name).is_file()
    store = SqliteGateStore("gate.db")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    async with store:
        assert (tmp_path / "gate.db").is_file()


def test_a_store_outlives_one_trio_run(setup: Any, path: Path) -> None:
    """A host may run Trio several times over one store."""
    s = setup(store=SqliteGateStore(path))

    async def main() -> int:
        await s.host.add_grant(scope="fill", domains=["notes.local"])
        return len(await s.host.grants())

    assert [trio.run(main) for _ in range(2)] == [1, 2]
    trio.run(s.store.aclose)


async def test_a_child_process_leaves_the_connection_to_its_parent(path: Path) -> None:
    """SQLite: a connection must not be carried across a fork."""
    async with SqliteGateStore(path) as store:
        assert store._file._connection is not None
        store._file._process += 1  # as it looks after a fork
        async with store.transaction() as tx:
            assert await tx.time() is None
        before = SqliteFile._inherited.pop()
        assert store._file._connection is not before
        assert before.execute("SELECT 1").fetchall() == [(1,)]  # not closed, not even as garbage
        before.close()


@pytest.mark.parametrize("foreign", [False, True])
async def test_a_file_that_was_locked_while_it_was_opened_gets_every_check_and_setting(
    setup: Any, path: Path, foreign: bool
) -> None:
    """Tables, write-ahead log and full synchronisation; and a file of another program is still refused."""
    _make_private(str(path))
    other = sqlite3.connect(path, isolation_level=None)
    if foreign:
        other.execute("CREATE TABLE theirs (x)")
        other.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    other.execute("BEGIN EXCLUSIVE")
    store = SqliteGateStore(path)
    s = setup(store=store)
    added: list[Any] = []

    async def add() -> None:
        try:
            added.append(await s.host.add_grant(scope="fill", domains=["notes.local"]))
        except GateError as error:
            added.append(str(error))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(add)
        await trio.sleep(0.2)
        assert added == []
        other.execute("ROLLBACK")
        other.close()
    if foreign:
        assert "belongs to another program" in added[0]
    else:
        assert await s.host.grants() == added
        connection = store._file._connection
        assert connection is not None
        settings = [connection.execute(f"PRAGMA {name}").fetchall() for name in ("journal_mode", "synchronous", "trusted_schema")]
        assert settings == [[("wal",)], [(2,)], [(0,)]]
    await store.aclose()


async def test_a_crash_between_any_two_writes_leaves_a_whole_decision(setup: Any, path: Path, tmp_path: Path) -> None:
    """The log cut at any byte: what was answered is there, what was not yet answered is there as a whole or not at all."""
    store = SqliteGateStore(path)
    s = setup(store=store)
    log = path.with_name("gate.db-wal")
    states: list[tuple[int, Any]] = []

    async def state(of: Any) -> Any:
        async with of.transaction() as tx:
            tables = (await tx.grants.all(), await tx.requests.all(), await tx.spends.all())
            return [list(rows) for rows in tables], await tx.time()

    async def note() -> None:
        states.append((log.stat().st_size, await state(store)))

    await s.host.add_grant(scope="pay", domains=["shop.local"], approval="never", spend_cap=Money(value=1000, currency="EUR"))
    await note()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    await note()
    permits = []
    for cents in (100, 200, 300):
        s.wall.at += 1
        permits.append((await s.gate.check(buy(cents))).permit)
        await note()
    await permits[0].release()
    await note()
    await permits[1].settle()
    await note()
    token = await s.approved(s.send())
    await note()
    s.wall.at += 1
    assert isinstance(await s.gate.redeem(token, s.send()), Allow)
    await note()

    raw, base = log.read_bytes(), path.read_bytes()
    assert len(raw) == states[-1][0]  # nothing was moved from the log to the file yet, so each prefix of the log is a moment
    rng = random.Random(5)
    cuts = sorted(
        {size + step for size, _ in states for step in (-1, 0, 1)} | {rng.randrange(states[0][0], len(raw)) for _ in range(60)}
    )
    between = 0
    for cut in cuts:
        if not states[0][0] <= cut <= len(raw):
            continue
        copy = tmp_path / f"cut{cut}.db"
        copy.write_bytes(base)
        copy.with_name(copy.name + "-wal").write_bytes(raw[:cut])
        copy.chmod(0o600)
        async with SqliteGateStore(copy) as again:
            found = await state(again)
        answered = [number for number, (size, _) in enumerate(states) if size <= cut][-1]
        # `approved` and the steps around it are several operations; their states lie between two notes.
        if found != states[answered][1]:
            between += 1
            assert cut not in {size for size, _ in states}, cut
            assert answered + 1 < len(states)
            assert found[0][2] in (states[answered][1][0][2], states[answered + 1][1][0][2])
    assert between < len(cuts) / 2
    await store.aclose()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE grants SET scope = 'anything'",
        "UPDATE grants SET domains = 'nonsense'",
        """UPDATE grants SET domains = '"notes.local"'""",
        """UPDATE grants SET domains = '["other.local"]'""",
        "UPDATE grants SET tools = '{}'",
        "UPDATE grants SET expires_at = 'soon'",
        "UPDATE grants SET expires_at = 9e999",
        "UPDATE grants SET max_uses = 'many'",
        "UPDATE grants SET max_uses = 1.5",
        "UPDATE grants SET approval = 'perhaps'",
        "UPDATE grants SET spend_cap = 5, currency = NULL",
        "UPDATE grants SET spend_cap = -5, currency = 'EUR'",
        "UPDATE grants SET spend_cap = 5, currency = 'euro'",
        "UPDATE grants SET created_at = 'once'",
        "PRAGMA ignore_check_constraints = ON; UPDATE grants SET uses = -1",
        "PRAGMA ignore_check_constraints = ON; UPDATE grants SET spent = 'all'",
        "UPDATE clock SET at = 'noon'",
        "UPDATE clock SET at = 9e999",
        "DROP TABLE covered",
        "DROP TABLE spends; DROP TABLE clock",
    ],
)
async def test_a_row_that_cannot_be_right_denies(setup: Any, path: Path, change: str) -> None:
    """GR-13, CK-02: whatever a hand or a fault put there. The unchanged twin is allowed."""
    async with SqliteGateStore(path) as store:
        s = setup(store=store)
        await s.host.add_grant(scope="fill", domains=["notes.local"], max_uses=100)
        assert isinstance(await s.gate.check(s.save()), Allow)
        sql(path, *change.split("; "))
        assert (await s.gate.check(s.save())).reason == "storage-error"
    async with SqliteGateStore(path.with_name("again.db")) as store:
        s = setup(store=store)
        await s.host.add_grant(scope="fill", domains=["notes.local"], max_uses=100)
        assert isinstance(await s.gate.check(s.save()), Allow)


async def test_two_stores_of_one_process_make_the_same_new_file(path: Path) -> None:
    """Many at once, on a file that is not there yet: one file, and nothing else is left beside it."""
    stores = [SqliteGateStore(path) for _ in range(8)]

    async def use(store: SqliteGateStore) -> None:
        async with store, store.transaction() as tx:
            await tx.set_time((await tx.time() or 0.0) + 1.0)

    async with trio.open_nursery() as nursery:
        for store in stores:
            nursery.start_soon(use, store)
    async with SqliteGateStore(path) as store, store.transaction() as tx:
        assert await tx.time() == 8.0
    assert [file.name for file in path.parent.iterdir()] == ["gate.db"]
