"""The lock beside the file: it puts the writers in order, bounds the wait, and is no obstacle after its holder has died."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.trail import StoreError, TrailKey, open_trail, read_trail, repair_trail, verify_trail
from foxloop_trio.trail._lock import STALE_AFTER, KernelLock, TokenLock


def beside(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another writer's lock."""
    fd = os.open(beside(path), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


async def test_a_lock_that_does_not_come_free_is_an_error_that_names_it(path: Path, key: TrailKey, fill: Any) -> None:
    """T33: after `lock_timeout`, with what to do; nothing was written, and the next append works when it is free again."""
    async with open_trail(path, key=key, lock_timeout=0.1) as trail:
        await fill(trail, 1)
        before = path.read_bytes()
        with held(path), trio.fail_after(5):
            begun = time.monotonic()
            with pytest.raises(StoreError, match="lock_timeout") as caught:
                await fill(trail, 1)
            assert 0.1 <= time.monotonic() - begun < 2
            assert str(beside(path)) in str(caught.value)
            assert path.read_bytes() == before
        await fill(trail, 1)
    assert verify_trail(path, key=key).ok


async def test_everybody_who_waits_for_the_lock_waits_at_most_so_long(path: Path, key: TrailKey, fill: Any) -> None:
    """T33: each by its own time, not one after the other."""
    async with open_trail(path, key=key, lock_timeout=0.15) as trail:
        await fill(trail, 1)
        errors: list[StoreError] = []

        async def one() -> None:
            with pytest.raises(StoreError) as caught:
                await fill(trail, 1)
            errors.append(caught.value)

        with held(path), trio.fail_after(1):
            async with trio.open_nursery() as nursery:
                for _ in range(20):
                    nursery.start_soon(one)
    assert len({id(error) for error in errors}) == 20


async def test_who_has_given_up_is_not_given_way_to(path: Path, key: TrailKey, fill: Any) -> None:
    """T33: that somebody waits is shown by a lock on the trail's own file, and is taken back with the wait."""
    async with open_trail(path, key=key, lock_timeout=0.05) as trail:
        await fill(trail, 1)
        fd = os.open(path, os.O_RDONLY)
        try:
            with held(path):
                with pytest.raises(StoreError):
                    await fill(trail, 1)
                with trio.move_on_after(0.02):
                    await fill(trail, 1)
                with trio.fail_after(5):
                    while not free(fd):  # noqa: ASYNC110 - the thread of the trail sets no Trio event
                        await trio.sleep(0.01)
        finally:
            os.close(fd)


def free(fd: int) -> bool:
    """Whether nobody says that he waits."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(fd, fcntl.LOCK_UN)
    return True


async def test_the_wait_for_the_lock_can_be_cancelled(path: Path, key: TrailKey, fill: Any) -> None:
    """T33, T22: at once, with nothing written; what waits behind it lands when the lock comes free."""
    async with open_trail(path, key=key) as trail, trio.open_nursery() as nursery:
        await fill(trail, 1)
        with held(path):
            begun = time.monotonic()
            with trio.move_on_after(0.05) as limit:
                await trail.append(actor="a", kind="cancelled")
            assert limit.cancelled_caught
            assert time.monotonic() - begun < 1
            nursery.start_soon(fill, trail, 1)
            await trio.sleep(0.03)
            assert len(list(read_trail(path))) == 1
    assert [entry.kind for entry in read_trail(path)] == ["test.step"] * 2


async def test_two_that_never_pause_share_the_lock(path: Path, key: TrailKey) -> None:
    """T32, T33: whoever gives it back looks whether somebody waits, and gives way."""
    counts = {"one": 0, "two": 0}
    async with open_trail(path, key=key, lock_timeout=1) as one, open_trail(path, key=key, lock_timeout=1) as two:

        async def endless(trail: Any, name: str) -> None:
            while True:
                await trail.append(actor=name, kind="k")
                counts[name] += 1

        with trio.move_on_after(1.0):
            async with trio.open_nursery() as nursery:
                for _ in range(5):
                    nursery.start_soon(endless, one, "one")
                    nursery.start_soon(endless, two, "two")
    assert min(counts.values()) >= 5, counts
    assert verify_trail(path, key=key).ok


async def test_the_lock_file_stays_and_is_its_owners(path: Path, key: TrailKey, fill: Any) -> None:
    """T34: it is never removed; mode 0600, whatever the umask."""
    mask = os.umask(0)
    try:
        async with open_trail(path, key=key) as trail:
            await fill(trail, 1)
    finally:
        os.umask(mask)
    assert beside(path).stat().st_mode & 0o777 == 0o600


async def test_a_lock_file_that_was_removed_meanwhile_locks_nobody_out(path: Path, key: TrailKey, fill: Any) -> None:
    """Those who come later lock a new file; so must those who were there before."""
    async with open_trail(path, key=key, lock_timeout=0.1) as trail:
        await fill(trail, 1)
        beside(path).unlink()
        with held(path), pytest.raises(StoreError):
            await fill(trail, 1)
        await fill(trail, 1)


async def test_a_lock_file_that_cannot_be_one_is_named(path: Path, key: TrailKey, fill: Any) -> None:
    """A folder or a link in its place."""
    beside(path).mkdir()
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="lock file cannot be used"):
            await fill(trail, 1)
        beside(path).rmdir()
        beside(path).symlink_to("elsewhere")
        with pytest.raises(StoreError, match="lock file cannot be used"):
            await fill(trail, 1)
    assert not path.with_name("elsewhere").exists()


def test_a_repair_waits_for_the_lock_too(path: Path, key: TrailKey) -> None:
    """T33: it changes nothing while a writer is at work."""
    path.write_bytes(b"torn")
    with held(path), pytest.raises(StoreError, match="lock"):
        repair_trail(path, key=key, lock_timeout=0.05)
    assert path.read_bytes() == b"torn"


HOLDER = """
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


async def test_a_dead_holder_is_no_obstacle(path: Path, key: TrailKey, fill: Any, run_child: Any) -> None:
    """T34: the kernel frees the lock of a process that was killed; an append that waited goes on."""
    child = run_child(HOLDER, str(beside(path)))
    try:
        assert child.stdout.readline() == "held\n"
        async with open_trail(path, key=key, lock_timeout=10) as trail, trio.open_nursery() as nursery:
            nursery.start_soon(fill, trail, 1)
            await trio.sleep(0.05)
            assert path.read_bytes() == b""
            child.kill()
            begun = time.monotonic()
            await fill(trail, 1)
            assert time.monotonic() - begun < 1
    finally:
        child.kill()
        child.communicate(timeout=30)
    assert len(list(read_trail(path))) == 2


@pytest.mark.parametrize("lock", ["", "fcntl", 1, True])
async def test_a_kind_of_lock_that_there_is_not_is_refused(lock: Any, path: Path, key: TrailKey) -> None:
    """When the trail is opened."""
    with pytest.raises(BadOptionsError, match="lock"):
        async with open_trail(path, key=key, lock=lock):
            raise AssertionError


@pytest.mark.parametrize("option", ["lock_timeout", "stuck_after"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), None, "5", True])
async def test_a_time_that_is_none_is_refused(option: str, value: Any, path: Path, key: TrailKey) -> None:
    """When the trail is opened."""
    with pytest.raises(BadOptionsError, match=option):
        async with open_trail(path, key=key, **{option: value}):
            raise AssertionError


def token_file(path: Path) -> Path:
    return path.with_name(path.name + ".lock-token")


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_lock_file_is_made_by_one_and_removed_by_it(path: Path) -> None:
    """T34, `lock="file"`: exclusive creation; a second writer does not get it, and cannot give it back."""
    one, two = TokenLock(str(path)), TokenLock(str(path))
    assert one.try_acquire()
    assert not two.try_acquire()
    two.release()
    assert not two.try_acquire()
    one.release()
    assert not token_file(path).exists()
    assert two.try_acquire()
    one.release()
    assert token_file(path).exists()


def test_a_lock_file_is_stale_after_ten_seconds_and_not_before(path: Path) -> None:
    """T34: then it is taken over, and the one who had it does not remove the new one."""
    one, two = TokenLock(str(path)), TokenLock(str(path))
    assert one.try_acquire()
    age(token_file(path), STALE_AFTER - 1)
    assert not two.try_acquire()
    age(token_file(path), STALE_AFTER + 1)
    assert two.try_acquire()
    one.release()
    assert token_file(path).exists()
    two.release()
    assert os.listdir(path.parent) == []


def test_a_fresh_lock_that_came_in_between_is_put_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T34: what was moved away is read again; a token that is another one was not stale."""
    one, two, three = (TokenLock(str(path)) for _ in range(3))
    assert one.try_acquire()
    age(token_file(path), STALE_AFTER + 1)
    rename = os.rename

    def late(source: str, target: str) -> None:
        one.release()
        assert two.try_acquire()
        rename(source, target)

    monkeypatch.setattr(os, "rename", late)
    assert not three.try_acquire()
    assert token_file(path).read_bytes() == two._token
    assert os.listdir(path.parent) == [token_file(path).name]


async def test_writers_with_lock_files_give_one_chain(path: Path, key: TrailKey, run_child: Any) -> None:
    """T34, T21: two processes and this one, without flock."""
    program = (
        "import sys, trio\n"
        "from foxloop_trio.trail import open_trail\n"
        "async def main(path):\n"
        "    async with open_trail(path, key='ab' * 32, lock='file') as trail:\n"
        "        for n in range(15):\n"
        "            await trail.append(actor=sys.argv[2], kind='k', data=n)\n"
        "trio.run(main, sys.argv[1])\n"
    )
    children = [run_child(program, str(path), name) for name in ("a", "b")]
    async with open_trail(path, key=key, lock="file") as trail:
        for n in range(15):
            await trail.append(actor="c", kind="k", data=n)
    for child in children:
        _, err = await trio.to_thread.run_sync(lambda child=child: child.communicate(timeout=60))
        assert child.returncode == 0, err
    assert verify_trail(path, key=key).ok
    for name in "abc":
        assert [entry.data for entry in read_trail(path) if entry.actor == name] == list(range(15))
    assert not token_file(path).exists()


def test_the_kernels_lock_is_not_had_twice(path: Path) -> None:
    """T32: also within one process."""
    one, two = KernelLock(str(path)), KernelLock(str(path))
    assert one.try_acquire()
    assert not two.try_acquire()
    one.release()
    assert two.try_acquire()
    two.close()
    one.close()
