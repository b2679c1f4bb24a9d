"""The published test vectors: entries, checkpoints and redaction markers that two other implementations agree on."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.canonical import canonical_json
from foxloop_trio.trail import (
    GENESIS,
    MemoryTrail,
    TrailKey,
    Verified,
    check_redacted,
    open_trail,
    read_trail,
    secret,
    verify_entries,
    verify_trail,
)
from foxloop_trio.trail._records import checkpoint_text

D2: dict[str, Any] = {
    "text": 'caf\u00e9 \u2028 \x7f \x01 "q" \\ /',
    "n": [0.1, 1e21, 1e-7, -0.0, 5.0],
    "\U0001f600": 1,
    "\ufb33": 2,
    "\u00e9": 3,
    "Z": 4,
}
ENTRIES: list[tuple[float, str, Any, str, str]] = [
    (
        1.0,
        "run.start",
        None,
        "0239035cd13bf9c4630bca3d6fdde0a13fb9203ffc747d1b518f3270e77133bc",
        "99cfae8717f58c61b969ec3e830b4e330a2ec937b03c03982415be468aaf2075",
    ),
    (
        1.01,
        "loop.plan",
        {"b": 1, "a": {"y": [1, {"d": 4, "c": 3}], "x": None}},
        "16fd1c1c37dd790a9074575c8d6657be913370e4ca9ef4c66e44e1b5d37ec98a",
        "f4d3894db29e3b93adeb6aa8cd7abf2383a3992946ac22505cb57cc1be77be00",
    ),
    (
        1.02,
        "loop.plan",
        D2,
        "58cb07a233f3a7a05e8e36b9a58e1982d7ad7ec67a57d56c4a7c9b0e5cc1707c",
        "ecae369ac302cce87137cf5386cd95f237e48548c5558e085114afeb9facd2d1",
    ),
]
CHECKPOINTS = [
    {"count": 3, "head": ENTRIES[2][3], "ts": 2000, "mac": "bad1db7f42fdf766104f3c20771c86de893e2a00c8a6eb374a2730e9497b5e69"},
    {"count": 0, "head": GENESIS, "ts": 0, "mac": "f99ebee14a76bf4b72b69658c82a793593b88531d47d78c82876428ae5524f27"},
]


async def test_entries_have_the_published_hashes_and_macs(key: TrailKey, clock: Any, path: Path) -> None:
    """In memory and in a file, and the file is the text of the one in memory."""
    memory = MemoryTrail(key=key, now=clock)
    async with open_trail(path, key=key, now=clock) as file:
        for seq, (seconds, kind, data, digest, mac) in enumerate(ENTRIES):
            clock.seconds = seconds
            for trail in (memory, file):
                entry = await trail.append(actor="agent", kind=kind, data=data)
                assert (entry.seq, entry.ts, entry.hash, entry.mac) == (seq, round(seconds * 1000), digest, mac)
    assert path.read_text(encoding="utf-8") == memory.text()
    assert list(read_trail(path)) == memory.entries()
    assert verify_trail(path, key=key) == Verified(count=3, head=ENTRIES[2][3])


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=["of three", "of none"])
async def test_published_checkpoints_verify(checkpoint: dict[str, Any], key: TrailKey, clock: Any) -> None:
    """Both macs are right, and both fit the three entries: a checkpoint stays valid while the log grows."""
    assert key.mac(checkpoint_text(count=checkpoint["count"], head=checkpoint["head"], ts=checkpoint["ts"])) == checkpoint["mac"]
    trail = MemoryTrail(key=key, now=clock)
    for seconds, kind, data, _, _ in ENTRIES:
        clock.seconds = seconds
        await trail.append(actor="agent", kind=kind, data=data)
    assert verify_entries(trail.entries(), key=key, checkpoint=checkpoint)


@pytest.mark.parametrize(
    ("value", "digest"),
    [
        ("sk-live-123", "747fc9ba4bf5bf56ab4ae82f9ac173dc9ef98703d9c7235d2008e968292bb7d8"),
        ({"token": "x", "a": 1}, "d60f8768a45a1edd41ac1fa8f085837bd36be340c8c19ed577eeb2644cad120e"),
    ],
)
async def test_markers_have_the_published_digests(value: Any, digest: str) -> None:
    """With the published salt as the next random bytes."""
    salt = "00112233445566778899aabbccddeeff"
    trail = MemoryTrail(key="ab" * 32, markers="v1", ids=lambda nbytes, purpose: bytes.fromhex(salt))
    entry = await trail.append(actor="agent", kind="x", data=secret(value))
    assert entry.data == {"$redacted": f"{salt}:{digest}"}
    assert check_redacted(entry.data, value)


def test_keys_and_numbers_of_the_third_entry_are_in_the_published_form() -> None:
    """The order of keys is Z, n, text, U+00E9, U+1F600, U+FB33."""
    text = canonical_json(D2)
    assert [text.index(f'"{name}":') for name in ("Z", "n", "text", "\u00e9", "\U0001f600", "\ufb33")] == sorted(
        text.index(f'"{name}":') for name in D2
    )
    assert '"n":[0.1,1e+21,1e-7,0,5]' in text


def published_lines() -> list[dict[str, Any]]:
    """The published entries as their writer has them, put together here and not by us."""
    lines: list[dict[str, Any]] = []
    for seq, (seconds, kind, data, digest, mac) in enumerate(ENTRIES):
        prev = lines[-1]["hash"] if lines else GENESIS
        lines.append({"seq": seq, "ts": round(seconds * 1000), "actor": "agent", "kind": kind, "data": data})
        lines[-1].update({"prev": prev, "hash": digest, "mac": mac})
    return lines


@pytest.mark.parametrize("ascii_only", [False, True])
async def test_a_file_of_the_other_writer_verifies_and_is_continued_here(ascii_only: bool, path: Path, key: TrailKey) -> None:
    """Section 13 the other way round: their text, in either spelling, is read, verified, imported and appended to."""
    text = "".join(json.dumps(line, ensure_ascii=ascii_only, separators=(",", ":")) + "\n" for line in published_lines())
    path.write_text(text, encoding="utf-8", newline="")
    for checkpoint in (None, *CHECKPOINTS):
        assert verify_trail(path, key=key, checkpoint=checkpoint) == Verified(count=3, head=ENTRIES[2][3])
    assert [entry.to_json() for entry in read_trail(path)] == published_lines()
    imported = MemoryTrail(key=key)
    assert await imported.import_jsonl(text) == 3

    async with open_trail(path, key=key, now=lambda: 2.0) as trail:
        entry = await trail.append(actor="agent", kind="next")
        assert (entry.seq, entry.prev) == (3, ENTRIES[2][3])
    assert verify_trail(path, key=key, checkpoint=CHECKPOINTS[0]).ok


async def test_our_checkpoints_have_the_published_macs(key: TrailKey, clock: Any) -> None:
    """T60: both of them, made by us at their times."""
    trail = MemoryTrail(key=key, now=clock)
    clock.seconds = 0.0
    assert await trail.checkpoint() == CHECKPOINTS[1]
    for seconds, kind, data, _, _ in ENTRIES:
        clock.seconds = seconds
        await trail.append(actor="agent", kind=kind, data=data)
    clock.seconds = 2.0
    assert await trail.checkpoint() == CHECKPOINTS[0]
