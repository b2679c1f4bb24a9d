"""What an entry is, and how entries hang together: hash, chain and MAC. No I/O and no clock here.

The format is v1 of the TypeScript log "foxtrail", bit for bit. The hash is SHA-256 over the canonical JSON of the entry without
`hash` and `mac`; `prev` is the hash of the entry before; the MAC is HMAC-SHA-256 over a domain line and the hash. The domain line
keeps the MAC of an entry from passing as that of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, ClassVar, Final, Literal, get_args

import attrs

from ..canonical import canonical_json, read_canonical
from ._errors import EntryTooLargeError
from ._key import TrailKey

GENESIS: Final = "0" * 64
"""The `prev` of the first entry."""

MAX_ENTRY_BYTES: Final = 1_048_576
"""Most UTF-8 bytes in the canonical text of an entry: small enough to hold any entry in memory, many times over."""

MAX_DEPTH: Final = 64
"""Deepest nesting in an entry, which is itself at depth 0; its `data` is at depth 1."""

MAX_DATA_DEPTH: Final = MAX_DEPTH - 1

ENTRY_DOMAIN: Final = "foxtrail/entry/v1\n"
CHECKPOINT_DOMAIN: Final = "foxtrail/checkpoint/v1\n"

FIELDS: Final = ("seq", "ts", "actor", "kind", "data", "prev", "hash", "mac")
"""The eight fields, in the order in which they are written."""

_FIELD_NAMES: Final = frozenset(FIELDS)

FaultReason = Literal[
    "bad-checkpoint",
    "malformed",
    "bad-sequence",
    "bad-prev",
    "bad-hash",
    "bad-mac",
    "bad-time",
    "truncated",
    "checkpoint-mismatch",
    "bad-line",
    "partial-line",
    "bad-blob",
    "missing-file",
]
FAULT_REASONS: Final[tuple[FaultReason, ...]] = get_args(FaultReason)


_set: Final = object.__setattr__
"""How a frozen object gets its fields; only while it is being made, and once for data that is read late."""


@attrs.frozen(kw_only=True)
class Entry:
    """One record of the trail. `ts` is whole milliseconds since 1970; `data` is plain JSON and a copy of its own.

    Also reads like the JSON object it is: ``entry["kind"]``, ``dict(entry)``.
    """

    seq: int
    ts: int
    actor: str
    kind: str
    data: Any
    prev: str
    hash: str
    mac: str
    _sealed: Sealed | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @classmethod
    def of(cls, sealed: Sealed) -> Entry:
        """The entry that `sealed` stands for. Its fields are filled in when somebody looks at one: most callers never do."""
        entry = cls.__new__(cls)
        _set(entry, "_sealed", sealed)
        return entry

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there, which is a field until one is looked at, and `data` until it is."""
        sealed = self._sealed if name in _FIELD_NAMES else None
        if sealed is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        draft, head = sealed.draft, sealed.head
        if name == "data":
            _set(self, "data", read_canonical(draft.data_json))
        else:
            for field, value in (
                ("seq", head.seq),
                ("ts", head.ts),
                ("actor", draft.actor),
                ("kind", draft.kind),
                ("prev", sealed.prev),
                ("hash", head.hash),
                ("mac", sealed.mac),
            ):
                _set(self, field, value)
        return object.__getattribute__(self, name)

    def to_json(self) -> dict[str, Any]:
        """The entry as plain JSON, fields in the order of the file."""
        return {name: getattr(self, name) for name in FIELDS}

    def keys(self) -> Iterator[str]:
        return iter(FIELDS)

    def __getitem__(self, name: str) -> Any:
        if name not in FIELDS:
            raise KeyError(name)
        return getattr(self, name)


@attrs.frozen(kw_only=True)
class Verified:
    """Every entry is as it was written, in its place. `head` is the hash of the last one (64 zeros for an empty trail).

    `missing` are the hashes of blobs that entries name and that are not beside the file, in the order in which they are named.
    `unsigned` is how many of the entries lie after the signed head, when a public key was given: of these it is known that they
    form a chain, and nothing more. Else None.
    """

    ok: ClassVar[Literal[True]] = True
    count: int
    head: str
    missing: tuple[str, ...] = ()
    unsigned: int | None = None

    def __bool__(self) -> Literal[True]:
        return True


@attrs.frozen(kw_only=True)
class Fault:
    """The first thing found wrong. `index` counts entries from 0 and is None when the checkpoint itself is bad. Falsy.

    `file` is the later file of the trail that it is in, None for the first; `before` is how many entries the files before it have.
    """

    ok: ClassVar[Literal[False]] = False
    index: int | None
    reason: FaultReason
    message: str
    file: str | None = None
    before: int = 0

    @property
    def line(self) -> int | None:
        """The 1-based line number in the file; None for what is in no line."""
        return None if self.index is None or self.reason == "missing-file" else self.index + 1 - self.before

    @property
    def place(self) -> str:
        """Where it is, in words: ``line 7``, ``run.trail.2: line 7``, ``run.trail.1`` or ``checkpoint``."""
        if self.index is None:
            return "checkpoint"
        line = "" if self.line is None else f"line {self.line}"
        if self.file is None:
            return line
        # The last part of the path, by hand: this module knows no file system.
        name = self.file.replace("\\", "/").rpartition("/")[2]
        return f"{name}: {line}" if line else name

    def __bool__(self) -> Literal[False]:
        return False


@attrs.define(eq=False)
class Draft:
    """What the caller gave, checked, redacted and frozen into canonical texts; its place in the chain is still open.

    `blobs` are the parts that go beside the file, by their hash.
    """

    actor: str
    kind: str
    actor_json: str
    kind_json: str
    data_json: str
    blobs: Mapping[str, bytes]


@attrs.define
class Head:
    """The last entry, as far as the next one needs it."""

    seq: int
    ts: int
    hash: str


@attrs.define(eq=False)
class Sealed:
    """A draft in its place in the chain: `line` is what goes into the file, line feed included."""

    draft: Draft
    head: Head
    prev: str
    mac: str
    line: str


def body_text(*, seq: int, ts: int, actor_json: str, kind_json: str, data_json: str, prev: str) -> str:
    """The canonical JSON of the six hashed fields, put together from canonical parts (the keys are in canonical order)."""
    return f'{{"actor":{actor_json},"data":{data_json},"kind":{kind_json},"prev":"{prev}","seq":{seq},"ts":{ts}}}'


def seal(draft: Draft, before: Head | None, now_ms: int, key: TrailKey) -> Sealed:
    """Give `draft` the place after `before`. Its time is `now_ms`, or that of the entry before when the clock went back.

    Raises EntryTooLargeError.
    """
    if before is None:
        seq, ts, prev = 0, max(now_ms, 0), GENESIS
    else:
        seq, ts, prev = before.seq + 1, max(now_ms, before.ts), before.hash
    actor, kind, data = draft.actor_json, draft.kind_json, draft.data_json
    body = f'{{"actor":{actor},"data":{data},"kind":{kind},"prev":"{prev}","seq":{seq},"ts":{ts}}}'.encode()
    if len(body) > MAX_ENTRY_BYTES:
        raise too_large(len(body))
    digest = sha256(body).hexdigest()
    mac = key.mac(ENTRY_DOMAIN + digest)
    line = (
        f'{{"seq":{seq},"ts":{ts},"actor":{actor},"kind":{kind},"data":{data},"prev":"{prev}","hash":"{digest}","mac":"{mac}"}}\n'
    )
    return Sealed(draft, Head(seq, ts, digest), prev, mac, line)


def line_of(entry: Entry) -> str:
    """The line of a file that holds `entry`. Raises NotJsonError when its data is no JSON."""
    data = canonical_json(entry.data, max_depth=MAX_DATA_DEPTH)
    return (
        f'{{"seq":{entry.seq},"ts":{entry.ts},"actor":{canonical_json(entry.actor)},"kind":{canonical_json(entry.kind)},'
        f'"data":{data},"prev":"{entry.prev}","hash":"{entry.hash}","mac":"{entry.mac}"}}\n'
    )


def too_large(size: int | None = None) -> EntryTooLargeError:
    """The error for an entry over the limit."""
    what = "the entry" if size is None else f"the entry has {size} bytes and"
    return EntryTooLargeError(
        f"{what} is over the {MAX_ENTRY_BYTES} bytes of canonical JSON; keep bulk elsewhere and record its hash"
    )


def checkpoint_body(*, count: int, head: str, ts: int) -> str:
    """The canonical JSON of the three fields of a checkpoint."""
    return f'{{"count":{count},"head":"{head}","ts":{ts}}}'


def checkpoint_text(*, count: int, head: str, ts: int) -> str:
    """What the MAC of a checkpoint covers: its domain line and its three fields."""
    return CHECKPOINT_DOMAIN + checkpoint_body(count=count, head=head, ts=ts)
