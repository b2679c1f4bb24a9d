"""What the host injects, clock, ids, key names and paths, can be wrong: the error says so, and nothing is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.trail import (
    MemoryTrail,
    StoreError,
    TrailKey,
    TrailKeyError,
    load_key,
    load_or_create_key,
    load_or_create_signing_key,
    open_trail,
    read_trail,
    secret,
    verify_trail,
)


def raising(*args: Any) -> Any:
    raise OSError("no such device")


@pytest.mark.parametrize("answer", [None, "1000", True, b"1", float("nan"), float("inf"), 1e14, -1e14, 10**400, 10**5000], ids=type)
async def test_a_clock_that_gives_no_time_is_a_store_error_and_adds_nothing(key: TrailKey, answer: Any) -> None:
    """Whatever it gives. Once it works again, so does the trail."""
    answers = [answer, 2.0]
    trail = MemoryTrail(key=key, now=lambda: answers.pop(0))
    with pytest.raises(StoreError, match="wall clock"):
        await trail.append(actor="a", kind="k")
    assert len(trail) == 0
    assert (await trail.append(actor="a", kind="k")).ts == 2000


async def test_a_clock_that_raises_is_a_store_error_with_its_cause(key: TrailKey) -> None:
    """The host's own error is attached."""
    trail = MemoryTrail(key=key, now=raising)
    with pytest.raises(StoreError, match="wall clock raised OSError") as caught:
        await trail.append(actor="a", kind="k")
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("ids", [lambda n, p: "x" * n, lambda n, p: b"", lambda n, p: b"x" * (n + 1), lambda n, p: None, raising])
async def test_a_source_of_salts_that_gives_no_salt_is_a_store_error(key: TrailKey, ids: Any) -> None:
    """T50: without a whole salt, equal secrets would look equal and could be looked up."""
    trail = MemoryTrail(key=key, ids=ids)
    with pytest.raises(StoreError, match="16"):
        await trail.append(actor="a", kind="k", data=secret("pw"))
    assert len(trail) == 0
    await trail.append(actor="a", kind="k", data="no salt is needed")


@pytest.mark.parametrize("load", [load_or_create_key, load_or_create_signing_key])
@pytest.mark.parametrize(
    "ids",
    [lambda n, p: "x" * n, lambda n, p: b"", lambda n, p: b"x" * (n + 1), lambda n, p: bytearray(n), lambda n, p: None, raising],
)
def test_a_source_of_keys_that_gives_no_key_leaves_no_key_file(load: Any, ids: Any, tmp_path: Path) -> None:
    """T11: one that is there is never made anew, so a bad one would be the key from then on."""
    with pytest.raises(TrailKeyError, match=r"ids\(32, "):
        load(tmp_path / "key", ids=ids)
    assert list(tmp_path.iterdir()) == []
    assert load(tmp_path / "key")


@pytest.mark.parametrize("option", ["now", "ids"])
@pytest.mark.parametrize("value", [5, "clock"])
async def test_a_clock_or_source_of_ids_that_cannot_be_called_is_refused_at_once(
    path: Path, key: TrailKey, option: str, value: Any
) -> None:
    """When the trail is made, not when the first entry comes."""
    with pytest.raises(BadOptionsError, match=option):
        MemoryTrail(key=key, **{option: value})
    with pytest.raises(BadOptionsError, match=option):
        async with open_trail(path, key=key, **{option: value}):
            raise AssertionError


@pytest.mark.parametrize("option", ["now", "ids"])
def test_an_async_clock_or_source_of_ids_is_refused_at_once(key: TrailKey, option: str) -> None:
    """Its coroutine would never be awaited."""

    async def later(*args: Any) -> Any:
        raise AssertionError

    with pytest.raises(BadOptionsError, match=f"{option} must be a plain function"):
        MemoryTrail(key=key, **{option: later})


@pytest.mark.parametrize("redact", [None, 5])
def test_key_names_that_are_no_collection_are_refused(key: TrailKey, redact: Any) -> None:
    """Like a single text, which is refused too."""
    with pytest.raises(BadOptionsError, match="redact"):
        MemoryTrail(key=key, redact=redact)


@pytest.mark.parametrize("name", ["with\0nul", "lone\ud800surrogate"])
async def test_a_path_that_no_file_can_have_is_an_error_of_ours(tmp_path: Path, key: TrailKey, name: str) -> None:
    """T41: StoreError at the first append and when reading, TrailKeyError for keys."""
    path = f"{tmp_path}/{name}"
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="cannot be opened"):
            await trail.append(actor="a", kind="k")
    with pytest.raises(StoreError, match="cannot be read"):
        list(read_trail(path))
    with pytest.raises(StoreError, match="cannot be read"):
        verify_trail(path, key=key)
    with pytest.raises(TrailKeyError, match="cannot be made"):
        load_or_create_key(path)
    with pytest.raises(TrailKeyError, match="cannot be read"):
        load_key(path)
    assert os.listdir(tmp_path) == []


async def test_a_path_in_bytes_is_the_same_path(path: Path, key: TrailKey) -> None:
    """As everywhere in Python where paths are taken."""
    for spelling in (os.fsencode(path), path, os.fspath(path)):
        async with open_trail(spelling, key=key) as trail:  # type: ignore[arg-type]
            await trail.append(actor="a", kind="k")
    assert [entry.seq for entry in read_trail(os.fsencode(path))] == [0, 1, 2]  # type: ignore[arg-type]
    assert verify_trail(path, key=key).ok


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are a thing of POSIX")
async def test_a_pipe_or_device_is_never_read_as_an_empty_trail(tmp_path: Path, key: TrailKey) -> None:
    """It has no size to read up to: "verified, 0 entries" would be a lie. Nor does anybody wait for a writer."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with trio.fail_after(5):
        for name in (pipe, os.devnull):
            with pytest.raises(StoreError, match="not a regular file"):
                await trio.to_thread.run_sync(lambda name=name: verify_trail(name, key=key), abandon_on_cancel=True)
            with pytest.raises(StoreError, match="not a regular file"):
                await trio.to_thread.run_sync(lambda name=name: list(read_trail(name)), abandon_on_cancel=True)
