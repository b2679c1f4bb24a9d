"""Verification: each kind of tampering is found, first fault first, by its own name and place."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import json
import random
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.canonical import canonical_json
from foxloop_trio.trail import (
    FAULT_REASONS,
    GENESIS,
    Fault,
    MemoryTrail,
    StoreError,
    TrailKey,
    TrailKeyError,
    Verified,
    read_trail,
    verify_entries,
    verify_trail,
)
from foxloop_trio.trail._records import ENTRY_DOMAIN, checkpoint_text

OTHER = TrailKey("cd" * 32)


@pytest.fixture
async def entries(key: TrailKey) -> list[dict[str, Any]]:
    """Five good entries as plain JSON, 10 ms apart."""
    times = iter(range(100, 200))
    trail = MemoryTrail(key=key, now=lambda: next(times) / 100)
    for n in range(5):
        await trail.append(actor="agent", kind="test.step", data={"n": n, "text": "caf\u00e9", "list": [1, None, {"x": 0.5}]})
    return [entry.to_json() for entry in trail.entries()]


def rehash(entry: dict[str, Any], key: TrailKey | None = None) -> dict[str, Any]:
    """What somebody who changed the entry would do next; without the key the old MAC stays."""
    body = {name: entry[name] for name in ("seq", "ts", "actor", "kind", "data", "prev")}
    digest = sha256(canonical_json(body).encode()).hexdigest()
    return {**entry, "hash": digest, "mac": key.mac(ENTRY_DOMAIN + digest) if key is not None else entry["mac"]}


def mark(entries: list[dict[str, Any]], count: int, key: TrailKey) -> dict[str, Any]:
    head = entries[count - 1]["hash"] if count else GENESIS
    return {"count": count, "head": head, "ts": 5, "mac": key.mac(checkpoint_text(count=count, head=head, ts=5))}


def found(result: Verified | Fault) -> tuple[str, int | None]:
    assert isinstance(result, Fault), result
    assert not result.ok
    assert not result
    assert result.reason in FAULT_REASONS
    assert result.line == (None if result.index is None else result.index + 1)
    return result.reason, result.index


async def test_a_good_trail_verifies_and_is_true(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Also an empty one, whose head is genesis."""
    result = verify_entries(entries, key=key)
    assert result
    assert result == Verified(count=5, head=entries[-1]["hash"])
    assert verify_entries([], key=key) == Verified(count=0, head=GENESIS)


async def test_field_order_and_number_spelling_do_not_matter(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Section 8: `1.0` and `1` are the same number, for seq and ts too."""
    shuffled = [dict(sorted(entry.items(), reverse=True)) for entry in entries]
    shuffled[1] = {**shuffled[1], "seq": 1.0, "ts": float(shuffled[1]["ts"])}
    shuffled[2]["data"] = {"list": [1.0, None, {"x": 0.5}], "text": "caf\u00e9", "n": 2.0}
    assert verify_entries(shuffled, key=key)


async def test_no_key_never_reports_success(entries: list[dict[str, Any]], path: Path) -> None:
    """Section 8: it raises, also for an empty log."""
    for some in (entries, []):
        with pytest.raises(TrailKeyError):
            verify_entries(some, key=None)  # type: ignore[arg-type]
    path.write_bytes(b"")
    with pytest.raises(TrailKeyError):
        verify_trail(path, key="")


async def test_an_edit_is_a_bad_hash_there(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Any of the six hashed fields; also one accent written in two characters."""
    for change in (
        {"actor": "other"},
        {"kind": "test.stop"},
        {"data": None},
        {"data": {**entries[2]["data"], "text": "cafe\u0301"}},
        {"ts": 99_999},
    ):
        entries_now = [*entries[:2], {**entries[2], **change}, *entries[3:]]
        assert found(verify_entries(entries_now, key=key)) == ("bad-hash", 2)


async def test_an_edit_that_was_rehashed_without_the_key_is_a_bad_mac(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Also when the forger used a key of his own, or the MAC of another entry."""
    edited = rehash({**entries[2], "data": "forged"})
    for forged in (edited, rehash(edited, OTHER), {**edited, "mac": entries[1]["mac"]}):
        assert found(verify_entries([*entries[:2], forged, *entries[3:]], key=key)) == ("bad-mac", 2)


async def test_a_wrong_key_is_a_bad_mac_at_the_first_entry(entries: list[dict[str, Any]]) -> None:
    """Section 14, 11."""
    assert found(verify_entries(entries, key=OTHER)) == ("bad-mac", 0)


async def test_missing_repeated_and_swapped_entries_are_found_at_the_first_moved_one(
    entries: list[dict[str, Any]], key: TrailKey
) -> None:
    """Section 14, 9: also at the very beginning."""
    a, b, c, d, e = entries
    for some, index in (([b, c, d, e], 0), ([a, c, d, e], 1), ([a, b, b, c, d], 2), ([a, c, b, d, e], 1), ([a, b, c, e], 3)):
        assert found(verify_entries(some, key=key)) == ("bad-sequence", index)


async def test_an_entry_of_another_trail_in_the_right_place_is_a_bad_prev(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Same key, same number, other history."""
    other = MemoryTrail(key=key)
    for n in range(5):
        await other.append(actor="agent", kind="other", data=n)
    strange = other.entries()[2].to_json()
    assert found(verify_entries([*entries[:2], strange, *entries[3:]], key=key)) == ("bad-prev", 2)


async def test_a_forged_lower_time_is_found(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Section 14, 12: only the key's holder could write it, and even then."""
    assert found(verify_entries([*entries[:2], rehash({**entries[2], "ts": 1}, key)], key=key)) == ("bad-time", 2)


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda entry: {field: value for field, value in entry.items() if field != name}


def with_(name: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda entry: {**entry, name: value}


def too_deep(entry: dict[str, Any]) -> Any:
    value: Any = 1
    for _ in range(64):
        value = [value]
    return {**entry, "data": value}


@pytest.mark.parametrize(
    "damage",
    [
        *map(without, ("seq", "ts", "actor", "kind", "data", "prev", "hash", "mac")),
        with_("extra", 1),
        *(with_("seq", bad) for bad in (-1, "2", 2.5, None, True, 2**53, 1e300)),
        *(with_("ts", bad) for bad in (-1, "2", 2.5, None, False, 2**53)),
        *(with_("actor", bad) for bad in ("", None, 1, ["x"])),
        *(with_("kind", bad) for bad in ("", None, 1)),
        *(
            with_(name, bad)
            for name in ("prev", "hash", "mac")
            for bad in (None, "", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 64 + "\n")
        ),
        with_("data", float("nan")),
        with_("data", {"x": float("inf")}),
        too_deep,
        lambda entry: None,
        lambda entry: [],
        lambda entry: "entry",
        lambda entry: 7,
        lambda entry: {},
        lambda entry: {1: 2},
    ],
)
async def test_what_is_no_entry_is_malformed(damage: Callable[[Any], Any], entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Section 14, 16: extra, missing or mistyped fields, and values without canonical text."""
    assert found(verify_entries([*entries[:2], damage(entries[2]), *entries[3:]], key=key)) == ("malformed", 2)


async def test_a_cut_tail_is_found_by_a_checkpoint_and_by_nothing_else(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """T60, T61: it stays valid while the trail grows."""
    assert verify_entries(entries[:3], key=key)
    checkpoint = mark(entries, 4, key)
    assert found(verify_entries(entries[:3], key=key, checkpoint=checkpoint)) == ("truncated", 3)
    assert found(verify_entries([], key=key, checkpoint=checkpoint)) == ("truncated", 0)
    for some in (entries[:4], entries):
        assert verify_entries(some, key=key, checkpoint=checkpoint)


async def test_a_checkpoint_of_another_history_does_not_match(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """Right key, other history; and one of no entries whose head is not genesis."""
    strange = [{**entry, "hash": sha256(entry["hash"].encode()).hexdigest()} for entry in entries]
    assert found(verify_entries(entries, key=key, checkpoint=mark(strange, 3, key))) == ("checkpoint-mismatch", 2)
    head = entries[0]["hash"]
    empty = {"count": 0, "head": head, "ts": 5, "mac": key.mac(checkpoint_text(count=0, head=head, ts=5))}
    assert found(verify_entries(entries, key=key, checkpoint=empty)) == ("checkpoint-mismatch", 0)


async def test_a_bad_checkpoint_is_bad_not_absent(entries: list[dict[str, Any]], key: TrailKey) -> None:
    """H17: section 14, 20 and 21: falsy, foreign or edited ones, an entry's MAC, upper-case hex; and it comes before all else."""
    good = mark(entries, 3, key)
    assert verify_entries(entries, key=key, checkpoint={**good, "count": 3.0, "note": "more fields are fine"})
    bad: list[Any] = [[], 0, "", False, {}, "x", [good], {**good, "count": 2}, {**good, "ts": 6}, {**good, "count": -3}]
    bad += [
        {**good, "count": True},
        {**good, "mac": good["mac"].upper()},
        {**good, "mac": entries[2]["mac"]},
        {**good, "mac": None},
    ]
    bad += [{**good, "head": good["head"].upper()}, {**good, "head": GENESIS}, mark(entries, 3, OTHER)]
    bad += [{name: value for name, value in good.items() if name != gone} for gone in good]
    for checkpoint in bad:
        assert found(verify_entries([None], key=key, checkpoint=checkpoint)) == ("bad-checkpoint", None)


@pytest.fixture
async def file(path: Path, entries: list[dict[str, Any]]) -> Path:
    """The five entries as a file."""
    path.write_text(
        "".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n" for entry in entries), encoding="utf-8"
    )
    return path


async def test_a_file_verifies_with_other_whitespace_crlf_and_byte_order_mark(
    file: Path, entries: list[dict[str, Any]], key: TrailKey
) -> None:
    """T70: what parsers agree on is fine."""
    assert verify_trail(file, key=key) == Verified(count=5, head=entries[-1]["hash"])
    file.write_bytes(b"\xef\xbb\xbf" + b"".join(json.dumps(entry).encode() + b" \r\n" for entry in entries))
    assert verify_trail(file, key=key) == Verified(count=5, head=entries[-1]["hash"])
    assert [entry.to_json() for entry in read_trail(file)] == entries
    for empty in (b"", b"\xef\xbb\xbf"):
        file.write_bytes(empty)
        assert verify_trail(file, key=key) == Verified(count=0, head=GENESIS)
        assert list(read_trail(file)) == []


async def test_a_missing_line_feed_is_a_partial_line(file: Path, key: TrailKey) -> None:
    """T83: also when what is there would parse; a cut anywhere in the last line is the same fault."""
    whole = file.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for cut in (len(whole) - 1, len(whole) - 2, start + 1):
        file.write_bytes(whole[:cut])
        assert found(verify_trail(file, key=key)) == ("partial-line", 4)


async def test_a_line_that_is_no_strict_json_is_a_bad_line(file: Path, key: TrailKey) -> None:
    """T71: the message names the place; lines before it were good."""
    lines = file.read_bytes().splitlines(keepends=True)
    for bad in (
        b"\n",
        b"  \r\n",
        b"{\n",
        b"NaN\n",
        b"[Infinity]\n",
        b"\xff\n",
        b"[" * 100_000 + b"]" * 100_000 + b"\n",
        b"{} {}\n",
        b"'x'\n",
        b'"\x01"\n',
    ):
        file.write_bytes(b"".join([*lines[:2], bad, *lines[2:]]))
        assert found(verify_trail(file, key=key)) == ("bad-line", 2)


async def test_json_that_is_no_entry_is_malformed(file: Path, key: TrailKey) -> None:
    """T73: it parses; that it is no entry is verify's to say."""
    lines = file.read_bytes().splitlines(keepends=True)
    for bad in (b"null\n", b"[]\n", b"{}\n", b"1e999\n", b'"entry"\n'):
        file.write_bytes(b"".join([*lines[:2], bad, *lines[2:]]))
        assert found(verify_trail(file, key=key)) == ("malformed", 2)


async def test_a_checkpoint_counts_for_files_too(file: Path, entries: list[dict[str, Any]], key: TrailKey) -> None:
    """T60: whole lines cut off the end."""
    checkpoint = mark(entries, 5, key)
    assert verify_trail(file, key=key, checkpoint=checkpoint)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:4]))
    assert verify_trail(file, key=key)
    assert found(verify_trail(file, key=key, checkpoint=checkpoint)) == ("truncated", 4)
    assert found(verify_trail(file, key=key, checkpoint=0)) == ("bad-checkpoint", None)


def test_a_file_that_cannot_be_read_is_an_error_not_a_fault(tmp_path: Path, key: TrailKey) -> None:
    """T82: missing, or a folder."""
    for name in ("missing", "."):
        with pytest.raises(StoreError, match="cannot be read"):
            verify_trail(tmp_path / name, key=key)


def flips(size: int, count: int, seed: int) -> list[tuple[int, int]]:
    draw = random.Random(seed)
    return [(draw.randrange(size), draw.randrange(1, 256)) for _ in range(count)]


def flip_all(file: Path, key: TrailKey, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those changes of one byte that verify does not find."""
    whole = file.read_bytes()
    unseen = []
    for place, bits in places:
        changed = bytearray(whole)
        changed[place] ^= bits
        file.write_bytes(changed)
        if verify_trail(file, key=key).ok:
            unseen.append((place, bits))
    file.write_bytes(whole)
    return unseen


async def test_any_changed_byte_is_found(file: Path, key: TrailKey) -> None:
    """A seeded sample of places and changes; the unchanged twin verifies."""
    assert flip_all(file, key, flips(file.stat().st_size, 1500, seed=20)) == []
    assert verify_trail(file, key=key).ok


@pytest.mark.long
async def test_any_changed_bit_of_every_byte_is_found(file: Path, key: TrailKey) -> None:
    """All of them."""
    assert flip_all(file, key, [(place, 1 << bit) for place in range(file.stat().st_size) for bit in range(8)]) == []
