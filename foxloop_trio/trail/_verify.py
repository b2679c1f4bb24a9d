"""Checking a trail: is every entry as it was written, in its place, and does it reach as far as a checkpoint says?

One pass, in constant memory, and the first fault wins. A checkpoint is an object ``{count, head, ts, mac}`` that was kept
elsewhere; without one a cut tail cannot be seen.

A line that is spelled as we spell it is not parsed: what was hashed is put together from its pieces, and a hash and a MAC that fit
say that this is what the key's holder wrote. Whatever does not fit goes the long way, which finds the words for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from ..actions import MAX_SAFE_INTEGER
from ..canonical import canonical_json
from ..errors import NotJsonError
from ._blobs import folder_of, load_blob, named_blobs
from ._codec import is_hash, parse_line, shape_problem, whole_number
from ._errors import InvalidEntryError
from ._key import TrailKey
from ._reader import read_lines
from ._records import (
    ENTRY_DOMAIN,
    GENESIS,
    MAX_DATA_DEPTH,
    MAX_DEPTH,
    Entry,
    Fault,
    FaultReason,
    Verified,
    body_text,
    checkpoint_text,
)

__all__ = ["verify_entries", "verify_lines", "verify_trail"]


def verify_trail(
    path: str | os.PathLike[str], *, key: TrailKey | bytes | str, checkpoint: Any = None, size: int | None = None
) -> Verified | Fault:
    """Verify the file `path`, or its first `size` bytes. Besides the reasons of `verify_entries` a fault can be ``bad-line`` (no
    strict JSON), ``partial-line`` (the last line has no line feed: its write was cut) or ``bad-blob`` (what lies beside the file
    under the hash that the entry names is something else). Blobs that are not there are no fault; `Verified.missing` has them.

    Raises TrailKeyError without a good key, StoreError when the file cannot be read. Blocks while it reads.
    """
    return verify_lines(read_lines(path, size), key=key, checkpoint=checkpoint, folder=folder_of(os.fsdecode(path)))


def verify_lines(
    lines: Iterable[bytes], *, key: TrailKey | bytes | str, checkpoint: Any = None, folder: str | None = None
) -> Verified | Fault:
    """Verify lines with their line feeds, and the blobs in `folder`, as `verify_trail` does with those of a file."""
    walk = _Walk(TrailKey.of(key), checkpoint, folder)
    fault = walk.checkpoint_fault()
    if fault is not None:
        return fault
    try:
        for line in lines:
            if walk.add_own(line):
                continue
            if not line.endswith(b"\n"):
                return walk.fault("partial-line", "the last line has no line feed: its write was cut")
            fault = walk.add(parse_line(line[:-1], walk.count + 1))
            if fault is not None:
                return fault
    except InvalidEntryError as problem:
        return walk.fault("bad-line", str(problem).removeprefix(f"line {problem.line}: "))
    except _BlobFault as problem:
        return walk.fault("bad-blob", str(problem))
    return walk.end()


def verify_entries(
    entries: Iterable[Entry | Mapping[str, Any] | Any], *, key: TrailKey | bytes | str, checkpoint: Any = None
) -> Verified | Fault:
    """Verify entries, or the JSON values of which they should be made; any JSON value may come in.

    Raises TrailKeyError without a good key; it never reports success without one.
    """
    walk = _Walk(TrailKey.of(key), checkpoint)
    fault = walk.checkpoint_fault()
    if fault is not None:
        return fault
    for entry in entries:
        fault = walk.add(entry.to_json() if isinstance(entry, Entry) else entry)
        if fault is not None:
            return fault
    return walk.end()


class _BlobFault(Exception):
    """Raised inside a walk; never leaves this module."""


_OWN = re.compile(
    rb'\{"seq":(0|[1-9][0-9]{0,15}),"ts":(0|[1-9][0-9]{0,15}),'
    rb'"actor":("(?:[^"\\]|\\.)+"),"kind":("(?:[^"\\]|\\.)+"),"data":(.+),'
    rb'"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})","mac":"([0-9a-f]{64})"\}\n\Z'
)
"""A line as `seal` spells it. Where the data ends is certain: what comes after it has a fixed length."""


class _Walk:
    """One pass over a trail: what has been seen so far, and what the next entry must fit. Blobs are looked for in `folder`."""

    def __init__(self, key: TrailKey, checkpoint: Any, folder: str | None = None) -> None:
        self._key = key
        self._folder = folder
        self._missing: dict[str, None] = {}
        self._checkpoint = checkpoint
        self._mark_count = -1
        self._mark_hash: str | None = None
        self.count = 0
        self._head = GENESIS
        self._ts = 0

    def fault(self, reason: FaultReason, message: str, index: int | None = None) -> Fault:
        return Fault(index=self.count if index is None else index, reason=reason, message=message)

    def checkpoint_fault(self) -> Fault | None:
        """Look at the checkpoint alone. Anything but None is meant as one, also an empty list or false."""
        mark = self._checkpoint
        if mark is None:
            return None
        problem = _checkpoint_problem(mark, self._key)
        if problem is not None:
            return Fault(index=None, reason="bad-checkpoint", message=problem)
        self._mark_count = int(mark["count"])
        self._mark_hash = GENESIS if self._mark_count == 0 else None
        return None

    def add_own(self, line: bytes) -> bool:
        """Take a line that is spelled as we spell it and fits in every way. False says nothing but that `add` must look at it."""
        found = _OWN.match(line)
        if found is None:
            return False
        seq, ts, actor, kind, data, prev, digest, mac = found.groups()
        time_ms = int(ts)
        if int(seq) != self.count or prev != self._head.encode() or not self._ts <= time_ms <= MAX_SAFE_INTEGER:
            return False
        body = b'{"actor":%b,"data":%b,"kind":%b,"prev":"%b","seq":%b,"ts":%b}' % (actor, data, kind, prev, seq, ts)
        head = digest.decode()
        if sha256(body).hexdigest() != head or not self._key.proves(ENTRY_DOMAIN + head, mac.decode()):
            return False
        if b'"$blob"' in data:
            self._look_for_blobs(parse_line(data, self.count + 1))
        self._accept(head, time_ms)
        return True

    def _accept(self, digest: str, ts: int) -> None:
        self.count += 1
        self._head = digest
        self._ts = ts
        if self.count == self._mark_count:
            self._mark_hash = digest

    def _look_for_blobs(self, data: Any) -> None:
        if self._folder is None:
            return
        for digest, length in named_blobs(data):
            try:
                if load_blob(self._folder, digest, length) is None:
                    self._missing[digest] = None
            except InvalidEntryError as fault:
                raise _BlobFault(str(fault)) from None

    def add(self, value: Any) -> Fault | None:
        problem = shape_problem(value)
        if problem is not None:
            return self.fault("malformed", problem)
        seq, ts, digest = int(value["seq"]), int(value["ts"]), value["hash"]
        if seq != self.count:
            return self.fault("bad-sequence", f"seq is {seq} where {self.count} belongs: an entry is missing, repeated or moved")
        if value["prev"] != self._head:
            return self.fault("bad-prev", "prev is not the hash of the entry before")
        try:
            body = body_text(
                seq=seq,
                ts=ts,
                actor_json=canonical_json(value["actor"]),
                kind_json=canonical_json(value["kind"]),
                data_json=canonical_json(value["data"], max_depth=MAX_DATA_DEPTH),
                prev=value["prev"],
            )
        except NotJsonError as fault:
            return self.fault("malformed", f"data: {fault} (an entry nests {MAX_DEPTH} levels at most)")
        if sha256(body.encode()).hexdigest() != digest:
            return self.fault("bad-hash", "the entry was changed after it was written")
        if not self._key.proves(ENTRY_DOMAIN + digest, value["mac"]):
            return self.fault("bad-mac", "the entry was not written with this key")
        if ts < self._ts:
            return self.fault("bad-time", "ts is lower than that of the entry before")
        self._look_for_blobs(value["data"])
        self._accept(digest, ts)
        return None

    def end(self) -> Verified | Fault:
        if self._checkpoint is not None:
            if self.count < self._mark_count:
                return self.fault("truncated", f"the checkpoint counts {self._mark_count} entries, and there are {self.count}")
            if self._mark_hash != self._checkpoint["head"]:
                return self.fault(
                    "checkpoint-mismatch", "the entry is not the one that the checkpoint saw", max(self._mark_count - 1, 0)
                )
        return Verified(count=self.count, head=self._head, missing=tuple(self._missing))


def _checkpoint_problem(mark: Any, key: TrailKey) -> str | None:
    if type(mark) is not dict:
        return "the checkpoint is not an object"
    count, ts = whole_number(mark.get("count")), whole_number(mark.get("ts"))
    if count is None or ts is None:
        return "count and ts of the checkpoint must be whole numbers of 0 to 2**53 - 1"
    if not is_hash(mark.get("head")):
        return "head of the checkpoint must be 64 lower-case hex digits"
    mac = mark.get("mac")
    if not is_hash(mac) or not key.proves(checkpoint_text(count=count, head=mark["head"], ts=ts), mac):
        return "the MAC of the checkpoint is wrong: it was changed, or made with another key"
    return None
