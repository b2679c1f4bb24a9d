"""What goes beyond the format: keyed markers, checkpoints that are handed over, entries that are followed as they land."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import itertools
import logging
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.trail import (
    InvalidEntryError,
    MemoryTrail,
    Repaired,
    StoreError,
    TrailKey,
    check_redacted,
    open_trail,
    repair_trail,
    secret,
    verify_trail,
)


async def test_a_keyed_marker_cannot_be_guessed_without_the_key(path: Path, key: TrailKey) -> None:
    """H10: all pins are tried; with the key the right one is found, without it none is. Old markers still check."""
    async with open_trail(path, key=key, redact=["pin"]) as trail:
        data = (await trail.append(actor="a", kind="k", data={"pin": "4711", "x": secret(["s"])})).data
    old = (await MemoryTrail(redact=["pin"], markers="v1").append(actor="a", kind="k", data={"pin": "4711"})).data
    pins = ["".join(digits) for digits in itertools.product("0123456789", repeat=4)]
    assert [pin for pin in pins if check_redacted(data["pin"], pin, key=key)] == ["4711"]
    assert not any(check_redacted(data["pin"], pin) for pin in pins)
    assert not any(check_redacted(data["pin"], pin, key="cd" * 32) for pin in pins)
    salt, digest = data["pin"]["$redacted"].removeprefix("v2:").split(":")
    assert not any(sha256(f'{salt}:"{pin}"'.encode()).hexdigest() == digest for pin in pins)
    assert check_redacted(data["x"], ["s"], key=key)
    assert check_redacted(old["pin"], "4711")
    assert check_redacted(old["pin"], "4711", key=key)
    assert not check_redacted(data["pin"], "4711", key="no key")
    assert verify_trail(path, key=key).ok


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"markers": "v3"}, "markers"),
        ({"markers": None}, "markers"),
        ({"patterns": "all"}, "patterns"),
        ({"checkpoint_every": 5}, "needs a sink"),
        ({"checkpoint_every": 0, "sink": print}, "checkpoint_every"),
        ({"checkpoint_every": True, "sink": print}, "checkpoint_every"),
        ({"sink": "elsewhere"}, "sink"),
    ],
)
async def test_options_that_mean_nothing_are_refused(options: dict[str, Any], words: str, path: Path, key: TrailKey) -> None:
    """When the trail is opened."""
    with pytest.raises(BadOptionsError, match=words):
        async with open_trail(path, key=key, **options):
            raise AssertionError


async def test_checkpoints_go_to_the_sink_and_find_a_cut_end(path: Path, key: TrailKey, fill: Any) -> None:
    """H9: after each two entries, and at the end; the last one finds whatever is cut."""
    kept: list[dict[str, Any]] = []

    async def sink(checkpoint: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()
        kept.append(checkpoint)

    async with open_trail(path, key=key, checkpoint_every=2, sink=sink) as trail:
        await fill(trail, 5)
    assert [checkpoint["count"] for checkpoint in kept] == [2, 4, 5]
    assert all(verify_trail(path, key=key, checkpoint=checkpoint) for checkpoint in kept)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:4]))
    assert verify_trail(path, key=key).ok
    assert not verify_trail(path, key=key, checkpoint=kept[-1]).ok
    async with open_trail(path, key=key, sink=sink):
        pass
    assert len(kept) == 3  # nothing was written, so there is nothing new to keep


async def test_a_sink_that_fails_or_hangs_changes_nothing_for_the_entry(
    path: Path, key: TrailKey, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H9: the entry is on disk already, so `append` returns it, also when the caller is cancelled meanwhile; the log says why."""
    monkeypatch.setattr("foxloop_trio.trail._keeper.PATIENCE", 0.05)
    calls = 0

    async def sink(checkpoint: dict[str, Any]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError("no route to host")
        await trio.sleep_forever()

    with caplog.at_level(logging.ERROR, logger="foxloop_trio.trail"):
        async with open_trail(path, key=key, checkpoint_every=1, sink=sink) as trail:
            assert (await trail.append(actor="a", kind="k")).seq == 0
            with trio.move_on_after(0.01) as limit:
                assert (await trail.append(actor="a", kind="k")).seq == 1
                await trio.lowlevel.checkpoint()
            assert limit.cancelled_caught
    assert [record.getMessage()[:45] for record in caplog.records] == ["the sink did not take the checkpoint of 1 ent"] + [
        "the sink did not take the checkpoint of 2 ent"
    ] * 2
    assert verify_trail(path, key=key).count == 2  # type: ignore[union-attr]


async def test_entries_can_be_followed_as_they_land(path: Path, key: TrailKey, fill: Any) -> None:
    """H19: those that are there, then those that come, also from another writer; from a number on."""
    seen: dict[int, list[int]] = {0: [], 2: []}

    async def watch(trail: Any, first: int) -> None:
        async with trail.follow(first) as entries:
            async for entry in entries:
                seen[first].append(entry.seq)
                if entry.seq == 5:
                    return

    with trio.fail_after(10):
        async with open_trail(path, key=key) as one, open_trail(path, key=key) as two, trio.open_nursery() as nursery:
            nursery.start_soon(watch, one, 0)
            await trio.testing.wait_all_tasks_blocked()
            await fill(one, 3)
            nursery.start_soon(watch, two, 2)
            await fill(two, 3)
    assert seen == {0: [0, 1, 2, 3, 4, 5], 2: [2, 3, 4, 5]}


async def test_following_waits_for_the_end_of_a_line_and_ends_when_the_file_is_cut(path: Path, key: TrailKey, fill: Any) -> None:
    """H19: half a line is no entry yet; a file that became shorter, or a line that is no entry, is an error."""
    async with open_trail(path, key=key) as trail, trail.follow() as entries:
        await fill(trail, 2)
        assert [(await anext(entries)).seq for _ in range(2)] == [0, 1]
        whole = path.read_bytes()
        path.write_bytes(whole + b'{"half":')
        with trio.move_on_after(0.2) as limit:
            await anext(entries)
        assert limit.cancelled_caught
        path.write_bytes(whole + b'{"half":1}\n')
        with pytest.raises(InvalidEntryError, match="line 3"):
            await anext(entries)
        path.write_bytes(whole[:50])
        with pytest.raises(StoreError, match="shorter"):
            await anext(entries)


@pytest.mark.parametrize("half", [1, 60, 200])
async def test_half_a_write_that_is_undone_is_not_joined_to_the_next(half: int, path: Path, key: TrailKey, fill: Any) -> None:
    """H19, T39, H3: a full disk or a cut line that is mended; who follows sees the entries and nothing else."""
    async with open_trail(path, key=key) as trail, trail.follow() as entries:
        await fill(trail, 2)
        assert [(await anext(entries)).seq for _ in range(2)] == [0, 1]
        whole = path.read_bytes()
        for mended in (False, True):
            with path.open("ab") as file:
                file.write(whole[:half])
            with trio.move_on_after(0.1) as limit:
                await anext(entries)
            assert limit.cancelled_caught
            if mended:
                assert isinstance(repair_trail(path, key=key), Repaired)
                entry = await anext(entries)
                assert (entry.seq, entry.kind) == (3, "trail.repaired")
            else:
                os.truncate(path, len(whole))
                with trio.move_on_after(0.1) as limit:
                    await anext(entries)
                assert limit.cancelled_caught
                async with open_trail(path, key=key) as other:
                    (written,) = await fill(other, 1)
                assert await anext(entries) == written


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_entries_that_are_undone_after_they_were_seen_are_an_error(count: int, path: Path, key: TrailKey) -> None:
    """H19, T39: others that have come in their place, each as long as it was, are not taken for what follows."""

    async def write(values: list[str]) -> None:
        async with open_trail(path, key=key, now=lambda: 1.0) as trail:
            for value in values:
                await trail.append(actor="a", kind="k", data=value)

    await write(["seen"] * count)
    async with open_trail(path, key=key) as trail, trail.follow() as entries:
        assert [(await anext(entries)).data for _ in range(count)] == ["seen"] * count
        os.truncate(path, 0)
        await write(["new!"] * (count + 1))
        with pytest.raises(StoreError, match=f"line {count + 1} does not go on"):
            await anext(entries)


async def test_entries_longer_than_what_is_read_at_a_time_are_followed(path: Path, key: TrailKey) -> None:
    """H19: whatever is before and after them."""
    async with open_trail(path, key=key, blobs_over=None) as trail, trail.follow() as entries:
        sizes = [1, 1_000_000, 1, 300_000, 255_600, 255_700, 1]
        for size in sizes:
            await trail.append(actor="a", kind="k", data="x" * size)
        with trio.fail_after(10):
            assert [len((await anext(entries)).data) for _ in sizes] == sizes


SECRETS = {
    "openai": "sk-proj-" + "aB3" * 12,
    "anthropic": "sk-ant-api03-" + "xY_9" * 10,
    "github": "ghp_" + "a1B2" * 9,
    "github, fine": "github_pat_" + "a1B2_" * 9,
    "gitlab": "glpat-" + "a1-B2" * 5,
    "aws": "AKIA" + "ABCD1234" * 2,
    "google": "AIza" + "Sy0-_" * 7,
    "slack": "xoxb-" + "123456-" * 3,
    "hugging face": "hf_" + "aB" * 17,
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w",
}


@pytest.mark.parametrize("name", SECRETS)
async def test_what_looks_like_a_secret_is_masked_wherever_it_stands(name: str, path: Path, key: TrailKey) -> None:
    """H11: in texts, keys, actor and kind, also in a blob; the words around it stay."""
    value = SECRETS[name]
    async with open_trail(path, key=key, patterns=True, blobs_over=200) as trail:
        entry = await trail.append(
            actor=f"agent {value}",
            kind=f"k.{value}",
            data={f"before {value} after": [value], "text": f"key={value}, thanks", "long": f"{value} " * 50},
        )
    assert entry.data["text"].startswith("key=[hidden]")
    assert (entry.actor, entry.kind) == ("agent [hidden]", "k.[hidden]")
    assert entry.data["before [hidden] after"] == ["[hidden]"]
    files = [path, *path.with_name(path.name + ".blobs").iterdir()]
    assert not any(value.encode() in file.read_bytes() for file in files)
    assert verify_trail(path, key=key).ok


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abcdef.123456", "Authorization: Bearer [hidden]"),
        ("basic dXNlcjpwYXNzd29yZA==", "basic [hidden]"),
        (
            "see https://me:hunter2@shop.example/a?q=shoes&sid=42#t=1 now",
            "see https://me:[hidden]@shop.example/a?q=[hidden]&sid=[hidden]#t=[hidden] now",
        ),
        ("https://shop.example/a/b", "https://shop.example/a/b"),
        ("the bearer of the letter", "the bearer of the letter"),
        ("a task-list, 3 = 3 & 4; skirts", "a task-list, 3 = 3 & 4; skirts"),
    ],
)
async def test_headers_and_urls_are_masked_in_part(text: str, masked: str) -> None:
    """H11: what they are about stays readable, and plain words stay as they are."""
    trail = MemoryTrail(patterns=True)
    assert (await trail.append(actor="a", kind="k", data=text)).data == masked
    assert (await MemoryTrail().append(actor="a", kind="k", data=text)).data == text


async def test_keys_that_are_masked_alike_stay_apart() -> None:
    """H11: no value is lost."""
    one, two = "ghp_" + "a" * 36, "ghp_" + "b" * 36
    data = (await MemoryTrail(patterns=True).append(actor="a", kind="k", data={one: 1, two: 2})).data
    assert data == {"[hidden]": 1, "[hidden] (2)": 2}
