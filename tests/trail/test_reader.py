"""Reading: strict lines with their numbers, in bounded memory."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import Entry, InvalidEntryError, MemoryTrail, StoreError, TrailKey, read_trail, verify_trail
from foxloop_trio.trail import _reader as reader


async def lines_of(count: int, key: TrailKey, data: Any = None) -> list[bytes]:
    trail = MemoryTrail(key=key)
    for _ in range(count):
        await trail.append(actor="a", kind="k", data=data)
    return trail.text().encode().splitlines(keepends=True)


async def test_the_last_line_may_lack_its_line_feed(path: Path, key: TrailKey) -> None:
    """T70: the parser accepts it, though verify does not."""
    path.write_bytes(b"".join(await lines_of(3, key))[:-1])
    assert [entry.seq for entry in read_trail(path)] == [0, 1, 2]


@pytest.mark.parametrize(
    "bad",
    [
        b"\n",
        b"\r\n",
        b"{\n",
        b"[NaN]\n",
        b"-Infinity\n",
        b"\xc3\n",
        b"\xed\xa0\x80\n",
        b"[" * 50_000 + b"\n",
        b"null\n",
        b"{}\n",
        b'{"seq": 1}\n',
        b"\xef\xbb\xbf1\n",
    ],
)
async def test_a_bad_line_is_named_by_its_number(bad: bytes, path: Path, key: TrailKey) -> None:
    """T71: counted from 1, after the good ones were given out; JSON that is no entry too."""
    good = await lines_of(3, key)
    path.write_bytes(b"".join([*good[:2], bad, good[2]]))
    entries = read_trail(path)
    assert [next(entries).seq, next(entries).seq] == [0, 1]
    with pytest.raises(InvalidEntryError, match="line 3: ") as caught:
        next(entries)
    assert caught.value.line == 3


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 1, "a": 1}',
        b'{"a": 1, "\\u0061": 2}',
        b'{"x": [{"y": {"k": 1, "k": 2}}]}',
        b'{"\\ud83d\\ude00": 1, "\xf0\x9f\x98\x80": 2}',
        b'{"": 1, "": 2}',
    ],
)
def test_a_repeated_key_is_a_parse_fault(line: bytes, path: Path) -> None:
    """T72: at any depth, also when one spelling uses escapes."""
    path.write_bytes(line + b"\n")
    with pytest.raises(InvalidEntryError, match="repeated"):
        list(read_trail(path))


async def test_keys_in_text_and_equal_keys_in_different_objects_are_no_repetition(path: Path, key: TrailKey) -> None:
    """T72: text inside values is not a key."""
    data = {"a": '{"a": 1, "a": 2}', "b": [{"a": 1}, {"a": 2}], "A": 3}
    path.write_bytes(b"".join(await lines_of(2, key, data)))
    assert [entry.data for entry in read_trail(path)] == [data, data]
    assert verify_trail(path, key=key).ok


async def test_integers_beyond_2_to_the_53_are_read_as_doubles(path: Path, key: TrailKey) -> None:
    """As a browser reads them; the digits are what the writer's double printed."""
    path.write_bytes(b"".join(await lines_of(1, key, [1.2345678901234567e19, 2.0**53, 2**53 - 1, 1e20, -0.0])))
    (entry,) = read_trail(path)
    assert entry.data == [1.2345678901234567e19, 2.0**53, 2**53 - 1, 1e20, 0]
    assert list(map(type, entry.data)) == [float, float, int, float, int]
    assert verify_trail(path, key=key).ok


def test_digits_without_end_are_no_trap(path: Path, key: TrailKey) -> None:
    """Python refuses to read more than 4300 digits as an int; a double is infinite then, and infinite is no JSON value."""
    entry = {"seq": 0, "ts": 0, "actor": "a", "kind": "k", "data": 0, "prev": "0" * 64, "hash": "0" * 64, "mac": "0" * 64}
    path.write_text(json.dumps(entry).replace('"data": 0', '"data": ' + "9" * 100_000) + "\n", encoding="ascii")
    result = verify_trail(path, key=key)
    assert not result.ok
    assert result.reason == "malformed"


def test_a_line_without_end_is_refused_in_bounded_memory(path: Path, key: TrailKey, monkeypatch: pytest.MonkeyPatch) -> None:
    """No entry is that long, so it is not read whole."""
    monkeypatch.setattr(reader, "MAX_LINE_BYTES", 100_000)
    path.write_bytes(b"x" * 5_000_000)
    tracemalloc.start()
    with pytest.raises(InvalidEntryError, match="line 1: more than"):
        list(read_trail(path))
    result = verify_trail(path, key=key)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not result.ok
    assert result.reason == "bad-line"
    assert peak < 1_000_000


async def test_memory_does_not_grow_with_the_file(path: Path, key: TrailKey) -> None:
    """Reading and verifying 3 MB takes far less than the file."""
    path.write_bytes(b"".join(await lines_of(300, key, "x" * 10_000)))
    tracemalloc.start()
    assert sum(1 for _ in read_trail(path)) == 300
    assert verify_trail(path, key=key).ok
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 4


async def test_what_is_appended_while_reading_is_not_read(path: Path, key: TrailKey) -> None:
    """A writer beside the reader, seen in mid-write, does not look like a cut line."""
    good = await lines_of(4, key)
    path.write_bytes(b"".join(good[:2]))
    entries = read_trail(path)
    first = next(entries)
    with path.open("ab") as file:
        file.write(good[2] + good[3][:20])
    assert [first.seq, *(entry.seq for entry in entries)] == [0, 1]


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    """Missing, or a folder."""
    for name in ("missing", "."):
        with pytest.raises(StoreError, match="cannot be read") as caught:
            list(read_trail(tmp_path / name))
        assert caught.value.code == "store"


async def test_reading_gives_entries(path: Path, key: TrailKey) -> None:
    """Typed ones, with integers where the file says 1.0."""
    (line,) = await lines_of(1, key)
    path.write_bytes(line.replace(b'"seq":0', b'"seq":0.0'))
    (entry,) = read_trail(str(path))
    assert isinstance(entry, Entry)
    assert type(entry.seq) is int
