"""Blobs: bulk beside the file, on disk before the entry that names it, found when it was changed and named when it is missing."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import errno
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.trail import (
    EntryTooLargeError,
    Fault,
    InvalidEntryError,
    MemoryTrail,
    StoreError,
    StoreTrail,
    TrailKey,
    Verified,
    check_redacted,
    open_trail,
    read_blob,
    read_trail,
    secret,
    verify_trail,
)
from foxloop_trio.trail._file import FileSystem

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
LONG = "caf\u00e9 " * 10_000


def folder(path: Path) -> Path:
    return path.with_name(path.name + ".blobs")


def marker_of(raw: bytes, media_type: str = "text/plain; charset=utf-8") -> dict[str, Any]:
    return {"$blob": sha256(raw).hexdigest(), "bytes": len(raw), "type": media_type}


async def test_bytes_lie_beside_the_file_under_their_hash(path: Path, key: TrailKey) -> None:
    """For their owner's eyes only; the entry holds hash, length and type, and what it names can be read back."""
    mask = os.umask(0)
    try:
        async with open_trail(path, key=key) as trail:
            marker = await trail.blob(PNG, "image/png")
            await trail.append(actor="a", kind="shot", data={"shot": marker})
            assert await trail.blob(bytearray(PNG), "image/png") == marker
    finally:
        os.umask(mask)
    assert marker == marker_of(PNG, "image/png")
    assert [(one.name, one.stat().st_mode & 0o777) for one in folder(path).iterdir()] == [(marker["$blob"], 0o600)]
    assert folder(path).stat().st_mode & 0o777 == 0o700
    (entry,) = read_trail(path)
    assert entry.data == {"shot": marker}
    assert read_blob(path, entry.data["shot"]) == PNG
    assert verify_trail(path, key=key) == Verified(count=1, head=entry.hash)


async def test_a_long_text_goes_beside_the_file_and_comes_back(path: Path, key: TrailKey) -> None:
    """At any depth; a text at the limit stays. `read_trail(whole=True)` puts them back, without it the entry hashes."""
    data = {"page": {"text": LONG, "same": [LONG]}, "short": "x" * 100, "edge": "y" * 1000, "over": "y" * 1001}
    async with open_trail(path, key=key, blobs_over=1000) as trail:
        entry = await trail.append(actor="a", kind="page", data=data)
    marker = marker_of(LONG.encode())
    assert entry.data == {**data, "page": {"text": marker, "same": [marker]}, "over": marker_of(b"y" * 1001)}
    assert len(list(folder(path).iterdir())) == 2
    assert next(iter(read_trail(path))) == entry
    assert next(iter(read_trail(path, whole=True))).data == data
    assert verify_trail(path, key=key).ok


async def test_texts_of_more_than_32_kib_are_long_unless_told_otherwise(path: Path, key: TrailKey) -> None:
    """The default of a file; None keeps all texts in their entries, and so does a trail in memory."""
    async with open_trail(path, key=key) as trail:
        assert (await trail.append(actor="a", kind="k", data="x" * 32_768)).data == "x" * 32_768
        assert (await trail.append(actor="a", kind="k", data="x" * 32_769)).data == marker_of(b"x" * 32_769)
    other = path.with_name("other")
    async with open_trail(other, key=key, blobs_over=None) as trail:
        assert (await trail.append(actor="a", kind="k", data=LONG)).data == LONG
    assert not folder(other).exists()
    memory = MemoryTrail(key=key)
    assert (await memory.append(actor="a", kind="k", data=LONG)).data == LONG


async def test_data_over_one_mebibyte_fits_when_its_texts_are_blobs(path: Path, key: TrailKey) -> None:
    """The limit is that of the entry, which holds markers."""
    async with open_trail(path, key=key) as trail:
        await trail.append(actor="a", kind="k", data=["x" * 900_000, "y" * 900_000])
        with pytest.raises(EntryTooLargeError):
            await trail.append(actor="a", kind="k", data=["x" * 30_000] * 50)
    assert next(iter(read_trail(path, whole=True))).data == ["x" * 900_000, "y" * 900_000]


async def test_a_trail_in_memory_keeps_blobs_too(key: TrailKey) -> None:
    """By their hash, in `blobs`."""
    trail = MemoryTrail(key=key, blobs_over=100)
    marker = await trail.blob(PNG, "image/png")
    entry = await trail.append(actor="a", kind="k", data=[marker, "x" * 101])
    assert entry.data == [marker, marker_of(b"x" * 101)]
    assert trail.blobs == {marker["$blob"]: PNG, entry.data[1]["$blob"]: b"x" * 101}
    assert await trail.verify()


async def test_what_is_secret_is_in_no_blob(path: Path, key: TrailKey) -> None:
    """Redaction comes first, so a long secret is a short digest."""
    long = "hunter2 " * 10_000
    async with open_trail(path, key=key, redact=["password"]) as trail:
        entry = await trail.append(actor="a", kind="k", data={"password": long, "x": secret(long), "page": LONG})
    assert check_redacted(entry.data["password"], long, key=key)
    assert check_redacted(entry.data["x"], long, key=key)
    assert [one.read_bytes() for one in folder(path).iterdir()] == [LONG.encode()]
    assert b"hunter2" not in path.read_bytes()


class Recorded(FileSystem):
    """Notes in which order things become durable."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fault: str | None = None

    def _note(self, fd: int, what: str) -> None:
        name = Path(os.readlink(f"/proc/self/fd/{fd}")).name
        self.calls.append(f"{what} {'blob' if name.endswith('.new') else 'trail'}")
        if self.calls[-1] == self.fault:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def write(self, fd: int, data: bytes) -> int:
        self._note(fd, "write")
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        self._note(fd, "sync")
        os.fsync(fd)

    def fsync_directory(self, path: str) -> None:
        self.calls.append(f"sync folder of {'trail' if Path(path).name.endswith(('.trail', '.blobs')) else 'blob'}")
        super().fsync_directory(path)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux's list of open files")
async def test_a_blob_is_on_disk_name_and_all_before_the_entry_that_names_it(path: Path, key: TrailKey, open_over: Any) -> None:
    """Its bytes, the folder's name, its own name, and only then the line. The second time it is there already."""
    files = Recorded()
    async with open_over(path, key, files) as trail:
        marker = await trail.blob(PNG, "image/png")
        assert files.calls == ["sync folder of trail", "sync blob", "sync folder of blob"]
        await trail.append(actor="a", kind="k", data=marker)
        assert files.calls[3:] == ["write trail", "sync trail", "sync folder of trail"]
        del files.calls[:]
        await trail.blob(PNG, "image/png")
        assert files.calls == []


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux's list of open files")
async def test_a_blob_that_cannot_be_written_fails_its_own_entry_only(path: Path, key: TrailKey, open_over: Any) -> None:
    """Nothing of it stays, and the trail goes on."""
    files = Recorded()
    async with open_over(path, key, files) as trail:
        files.fault = "sync blob"
        with pytest.raises(StoreError, match="blob"):
            await trail.blob(PNG, "image/png")
        assert list(folder(path).iterdir()) == []
        files.fault = None
        await trail.append(actor="a", kind="k", data=await trail.blob(PNG, "image/png"))
    assert verify_trail(path, key=key).ok


async def test_a_changed_blob_is_found_at_the_first_entry_that_names_it(path: Path, key: TrailKey) -> None:
    """Another byte, another length, a folder or a link in its place: `bad-blob`, with the entry's index."""
    async with open_trail(path, key=key) as trail:
        await trail.append(actor="a", kind="k", data="before")
        marker = await trail.blob(PNG, "image/png")
        await trail.append(actor="a", kind="k", data=[marker])
    name = folder(path) / marker["$blob"]
    for raw in (PNG[:-1] + b"x", PNG[:-1], PNG + b"x", b""):
        name.write_bytes(raw)
        fault = verify_trail(path, key=key)
        assert isinstance(fault, Fault)
        assert (fault.reason, fault.index) == ("bad-blob", 1)
        with pytest.raises(InvalidEntryError, match="not the one"):
            read_blob(path, marker)
    name.unlink()
    name.mkdir()
    assert not verify_trail(path, key=key).ok


async def test_a_missing_blob_is_named_and_is_no_fault(path: Path, key: TrailKey) -> None:
    """Somebody may have removed old screenshots to save room; the entries still hold, and texts keep their markers."""
    async with open_trail(path, key=key) as trail:
        one = await trail.blob(PNG, "image/png")
        entry = await trail.append(actor="a", kind="k", data={"shot": one, "page": LONG, "again": {"x": [one]}})
    text = marker_of(LONG.encode())
    (folder(path) / one["$blob"]).unlink()
    assert verify_trail(path, key=key) == Verified(count=1, head=entry.hash, missing=(one["$blob"],))
    (folder(path) / text["$blob"]).unlink()
    folder(path).rmdir()
    result = verify_trail(path, key=key)
    assert isinstance(result, Verified)
    assert set(result.missing) == {one["$blob"], text["$blob"]}
    assert next(iter(read_trail(path, whole=True))).data["page"] == text
    with pytest.raises(StoreError, match="missing"):
        read_blob(path, text)


@pytest.mark.parametrize(
    "look_alike",
    [
        marker_of(b"x"),
        {"$redacted": "00" * 16 + ":" + "00" * 32},
        {"$literal": 1},
        {"$literal": {"$literal": marker_of(b"y")}},
        {"a": [{"$redacted": None}]},
    ],
    ids=["blob", "redacted", "literal", "nested", "inside"],
)
async def test_an_object_that_only_looks_like_a_marker_of_ours_is_kept_apart(look_alike: Any, path: Path, key: TrailKey) -> None:
    """H12: a page or a planner may have written it: it is neither a missing blob nor a hidden value, and comes back as it was."""
    async with open_trail(path, key=key) as trail:
        entry = await trail.append(actor="a", kind="k", data={"args": look_alike})
    assert '"$literal"' in path.read_text(encoding="utf-8")
    assert not check_redacted(entry.data["args"], None)
    assert verify_trail(path, key=key) == Verified(count=1, head=entry.hash)
    assert next(iter(read_trail(path, whole=True))).data == {"args": look_alike}


async def test_every_trail_gives_data_back_as_it_was_given(path: Path, key: TrailKey) -> None:
    """H12: look-alikes and long texts, from a file, from memory and over a store; hidden values stay hidden."""
    data = {"a": {"$redacted": "x"}, "b": [{"$literal": {"$blob": 1}}], "text": "long " * 10, "pw": secret("x")}

    async def given_back(trail: Any, entries: Any) -> None:
        await trail.append(actor="a", kind="k", data=data)
        (plain,), (whole,) = await entries(), await entries(whole=True)
        assert plain.data["a"] == {"$literal": {"$redacted": "x"}}
        assert whole.data.pop("pw") == plain.data["pw"]
        assert whole.data == {name: value for name, value in data.items() if name != "pw"}
        assert (whole.seq, whole.hash) == (plain.seq, plain.hash)

    class Kept:
        def __init__(self) -> None:
            self.kept: list[Any] = []

        async def last(self) -> Any:
            return self.kept[-1] if self.kept else None

        async def all(self) -> Any:
            for entry in self.kept:
                yield entry

        async def append(self, entry: Any) -> None:
            self.kept.append(entry)

    memory = MemoryTrail(key=key, blobs_over=20)

    async def of_memory(**options: Any) -> Any:
        return memory.entries(**options)

    await given_back(memory, of_memory)
    async with open_trail(path, key=key, blobs_over=20) as trail:
        await given_back(trail, trail.entries)
    over = StoreTrail(Kept(), key=key)  # type: ignore[arg-type]
    await given_back(over, over.entries)


async def test_objects_that_pass_as_no_marker_stay_as_they_are(path: Path, key: TrailKey) -> None:
    """More keys, or the words in a text."""
    data = [{"$redacted": 1, "x": 2}, {"$blob": "x"}, '"$blob" and "$literal"', {"$blob": "0" * 64, "bytes": -1, "type": "x"}]
    async with open_trail(path, key=key) as trail:
        entry = await trail.append(actor="a", kind="k", data=data)
    assert entry.data == data
    assert verify_trail(path, key=key) == Verified(count=1, head=entry.hash)


@pytest.mark.parametrize(("data", "media_type"), [("text", "text/plain"), (None, "x"), (b"x", ""), (b"x", None), (b"x", "a\nb")])
async def test_what_is_no_blob_is_refused(data: Any, media_type: Any, path: Path, key: TrailKey) -> None:
    """Before anything is made."""
    async with open_trail(path, key=key) as trail:
        with pytest.raises(InvalidEntryError):
            await trail.blob(data, media_type)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("marker", [None, {}, {"$blob": "x", "bytes": 1, "type": "t"}, {**marker_of(b"x"), "more": 1}, "../../etc"])
def test_what_is_no_marker_reads_no_file(marker: Any, path: Path) -> None:
    """A hash is 64 hex digits, so it leads nowhere else."""
    with pytest.raises(InvalidEntryError, match="marker"):
        read_blob(path, marker)


@pytest.mark.parametrize("value", [-1, 1.5, "32 KiB", True])
def test_a_limit_that_is_none_is_refused(value: Any) -> None:
    """When the trail is made."""
    with pytest.raises(BadOptionsError, match="blobs_over"):
        MemoryTrail(blobs_over=value)


async def test_a_lone_surrogate_keeps_a_long_text_in_its_entry(path: Path, key: TrailKey) -> None:
    """It has no UTF-8 of its own; JSON escapes it."""
    async with open_trail(path, key=key) as trail:
        entry = await trail.append(actor="a", kind="k", data="\ud800" + "x" * 40_000)
    assert entry.data == "\ud800" + "x" * 40_000
    assert verify_trail(path, key=key).ok
