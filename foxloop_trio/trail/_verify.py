"""Checking a trail: is every entry as it was written, in its place, and does it reach as far as a checkpoint says?

One pass, in constant memory, and the first fault wins. A checkpoint is an object ``{count, head, ts, mac}`` that was kept
elsewhere; without one a cut tail cannot be seen. One that is signed lets whoever has the public key check the entries before its
head without the trail's key.

A line that is spelled as we spell it is not parsed: what was hashed is put together from its pieces, and a hash and a MAC that fit
say that this is what the key's holder wrote. Whatever does not fit goes the long way, which finds the words for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import attrs

from ..actions import MAX_SAFE_INTEGER
from ..canonical import canonical_json
from ..errors import NotJsonError
from ._blobs import load_blob_from, named_blobs
from ._codec import is_hash, parse_line, shape_problem, whole_number
from ._errors import InvalidEntryError, TrailKeyError
from ._key import TrailKey
from ._parts import TrailPath, blob_folders, first_of
from ._reader import MissingFile, read_parts
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
    checkpoint_body,
    checkpoint_text,
)
from ._signing import PublicKey, public_key_of, signature_problem

__all__ = ["verify_entries", "verify_parts", "verify_trail"]

Key = TrailKey | bytes | str


def verify_trail(
    path: TrailPath, *, key: Key | None = None, public_key: PublicKey | None = None, checkpoint: Any = None, size: int | None = None
) -> Verified | Fault:
    """Verify the trail that begins with the file `path` and goes on in ``<path>.1``, ``<path>.2``, …, or the files of a list in
    their order; of all of them together the first `size` bytes, if given.

    Besides the reasons of `verify_entries` a fault can be ``bad-line`` (no strict JSON), ``partial-line`` (the last line of a file
    has no line feed: its write was cut), ``missing-file`` (a file is not there, and later ones are) or ``bad-blob`` (what lies
    beside the file under the hash that the entry names is something else). Blobs that are not there are no fault;
    `Verified.missing` has them.

    Keys and errors are as with `verify_entries`; StoreError when a file cannot be read. Blocks while it reads.
    """
    walk = _Walk(key, public_key, checkpoint, folders=blob_folders(path))
    found = walk.over(read_parts(path, size))
    return _with_hint(found, path) if isinstance(found, Fault) else found


def verify_parts(parts: Iterable[tuple[str, Iterable[bytes]]], *, key: Key) -> Verified | Fault:
    """Verify named files as lines with their line feeds, as `verify_trail` does, without the blobs beside them."""
    return _Walk(key, None, None).over(parts)


def verify_entries(
    entries: Iterable[Entry | Mapping[str, Any] | Any],
    *,
    key: Key | None = None,
    public_key: PublicKey | None = None,
    checkpoint: Any = None,
) -> Verified | Fault:
    """Verify entries, or the JSON values of which they should be made; any JSON value may come in.

    With the `key`, each entry and the checkpoint were written by its holder. With a `public_key`, 32 bytes or 64 hex digits, the
    checkpoint must be signed with its other half, and the entries before its head are those that were there then; of those after it
    (`Verified.unsigned`) only their chain is checked. Nothing is said then of the field `mac` of an entry, which takes the key.

    Raises TrailKeyError without a good key, with a public key and no checkpoint, and where signatures cannot be checked; it never
    reports success without a key.
    """
    walk = _Walk(key, public_key, checkpoint)
    fault = walk.checkpoint_fault()
    if fault is not None:
        return fault
    for entry in entries:
        fault = walk.add(entry.to_json() if isinstance(entry, Entry) else entry)
        if fault is not None:
            return fault
    return walk.end()


def _with_hint(found: Fault, path: TrailPath) -> Fault:
    """Whoever names a later file of a trail as if it were the first is told so."""
    if found.index != 0 or found.reason != "bad-sequence" or not isinstance(path, str | bytes | os.PathLike):
        return found
    first = first_of(os.fsdecode(path))
    if first is None or not os.path.lexists(first):
        return found
    return attrs.evolve(found, message=f"{found.message}. By its name this is a later file of {first}: name that one")


class _BlobFault(Exception):
    """Raised inside a walk; never leaves this module."""


_OWN = re.compile(
    rb'\{"seq":(0|[1-9][0-9]{0,15}),"ts":(0|[1-9][0-9]{0,15}),'
    rb'"actor":("(?:[^"\\]|\\.)+"),"kind":("(?:[^"\\]|\\.)+"),"data":(.+),'
    rb'"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})","mac":"([0-9a-f]{64})"\}\n\Z'
)
"""A line as `seal` spells it. Where the data ends is certain: what comes after it has a fixed length."""


class _Walk:
    """One pass over a trail: what has been seen so far, and what the next entry must fit."""

    def __init__(self, key: Key | None, public_key: PublicKey | None, checkpoint: Any, *, folders: Sequence[str] = ()) -> None:
        if public_key is None or key is not None:
            self._key: TrailKey | None = TrailKey.of(key)
        else:
            self._key = None
        self._public_key = None if public_key is None else public_key_of(public_key)
        if self._public_key is not None and checkpoint is None:
            raise TrailKeyError("a public key judges a signed checkpoint, and there is none; give the checkpoint")
        self._folders = folders
        self._missing: dict[str, None] = {}
        self._checkpoint = checkpoint
        self._mark_count = -1
        self._mark_hash: str | None = None
        # How many entries lie before each file, and its name; None for the first.
        self._files: list[tuple[int, str | None]] = [(0, None)]
        self.count = 0
        self._head = GENESIS
        self._ts = 0

    def fault(self, reason: FaultReason, message: str, index: int | None = None) -> Fault:
        at = self.count if index is None else index
        before, file = [one for one in self._files if one[0] <= at][-1]
        return Fault(index=at, reason=reason, message=message, file=file, before=before)

    def checkpoint_fault(self) -> Fault | None:
        """Look at the checkpoint alone. Anything but None is meant as one, also an empty list or false."""
        mark = self._checkpoint
        if mark is None:
            return None
        problem = _checkpoint_problem(mark, self._key, self._public_key)
        if problem is not None:
            return Fault(index=None, reason="bad-checkpoint", message=problem)
        self._mark_count = int(mark["count"])
        self._mark_hash = GENESIS if self._mark_count == 0 else None
        return None

    def over(self, parts: Iterable[tuple[str, Iterable[bytes]]]) -> Verified | Fault:
        """Take the checkpoint and the lines of all files, one file after the other."""
        fault = self.checkpoint_fault()
        if fault is not None:
            return fault
        try:
            for place, (name, lines) in enumerate(parts):
                if place:
                    self._files.append((self.count, name))
                for line in lines:
                    if self._add_own(line):
                        continue
                    if not line.endswith(b"\n"):
                        return self.fault("partial-line", "the last line has no line feed: its write was cut")
                    fault = self.add(parse_line(line[:-1], self.count - self._files[-1][0] + 1))
                    if fault is not None:
                        return fault
        except MissingFile as problem:
            self._files.append((self.count, problem.file))
            return self.fault("missing-file", problem.problem)
        except InvalidEntryError as problem:
            return self.fault("bad-line", problem.problem)
        except _BlobFault as problem:
            return self.fault("bad-blob", str(problem))
        return self.end()

    def _add_own(self, line: bytes) -> bool:
        """Take a line that is spelled as we spell it and fits in every way. False says nothing but that `add` must look at it."""
        # Without the MAC nothing says that it is one of ours and not made to look like one: then its JSON must be looked at.
        found = None if self._key is None else _OWN.match(line)
        if found is None or self._key is None:
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
        if not self._folders:
            return
        for digest, length in named_blobs(data):
            try:
                if load_blob_from(self._folders, digest, length) is None:
                    self._missing[digest] = None
            except InvalidEntryError as fault:
                raise _BlobFault(fault.problem) from None

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
        if self._key is not None and not self._key.proves(ENTRY_DOMAIN + digest, value["mac"]):
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
        unsigned = None if self._public_key is None else self.count - self._mark_count
        return Verified(count=self.count, head=self._head, missing=tuple(self._missing), unsigned=unsigned)


def _checkpoint_problem(mark: Any, key: TrailKey | None, public_key: bytes | None) -> str | None:
    if type(mark) is not dict:
        return "the checkpoint is not an object"
    count, ts = whole_number(mark.get("count")), whole_number(mark.get("ts"))
    if count is None or ts is None:
        return "count and ts of the checkpoint must be whole numbers of 0 to 2**53 - 1"
    if not is_hash(mark.get("head")):
        return "head of the checkpoint must be 64 lower-case hex digits"
    if key is not None:
        mac = mark.get("mac")
        if not is_hash(mac) or not key.proves(checkpoint_text(count=count, head=mark["head"], ts=ts), mac):
            return "the MAC of the checkpoint is wrong: it was changed, or made with another key"
    if public_key is None:
        return None
    return signature_problem(mark, public_key, checkpoint_body(count=count, head=mark["head"], ts=ts))
