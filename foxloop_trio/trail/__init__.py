"""The trail: an append-only, tamper-evident record of what a run did, in memory or in a file of JSON lines.

Whoever can write the file but does not hold the key cannot change, drop, reorder or repeat an entry unnoticed; with a checkpoint
kept elsewhere, not cut its end either. Whoever holds the key can forge everything.
"""

from ..canonical import canonical_json
from ..errors import TrailError
from ._blobs import read_blob
from ._checkpoint import checkpoint_trail
from ._errors import ConflictError, EntryTooLargeError, InvalidEntryError, StoreError, TrailKeyError
from ._file_trail import FileTrail, open_trail
from ._key import TrailKey
from ._keyfile import default_key_path, load_key, load_or_create_key
from ._memory import MemoryTrail
from ._parts import trail_files
from ._reader import read_trail
from ._records import FAULT_REASONS, GENESIS, Entry, Fault, FaultReason, Verified
from ._redact import Secret, check_redacted, secret
from ._repair import Repaired, repair_trail
from ._replay import Replayable, replay
from ._signing import Signer, SigningKey
from ._signing_keyfile import load_or_create_signing_key, load_public_key, load_signing_key
from ._store import StoreTrail, TrailStore
from ._verify import verify_entries, verify_trail

__all__ = [
    "FAULT_REASONS",
    "GENESIS",
    "ConflictError",
    "Entry",
    "EntryTooLargeError",
    "Fault",
    "FaultReason",
    "FileTrail",
    "InvalidEntryError",
    "MemoryTrail",
    "Repaired",
    "Replayable",
    "Secret",
    "Signer",
    "SigningKey",
    "StoreError",
    "StoreTrail",
    "TrailError",
    "TrailKey",
    "TrailKeyError",
    "TrailStore",
    "Verified",
    "canonical_json",
    "check_redacted",
    "checkpoint_trail",
    "default_key_path",
    "load_key",
    "load_or_create_key",
    "load_or_create_signing_key",
    "load_public_key",
    "load_signing_key",
    "open_trail",
    "read_blob",
    "read_trail",
    "repair_trail",
    "replay",
    "secret",
    "trail_files",
    "verify_entries",
    "verify_trail",
]
