"""Signed checkpoints: who has the public key checks a trail without its key, and nobody without the private one can make them."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from foxloop_trio.trail import (
    Fault,
    MemoryTrail,
    SigningKey,
    StoreTrail,
    TrailKey,
    TrailKeyError,
    Verified,
    checkpoint_trail,
    load_or_create_signing_key,
    load_public_key,
    load_signing_key,
    open_trail,
    read_trail,
    verify_entries,
    verify_trail,
)
from foxloop_trio.trail._checkpoint import make_checkpoint

SIGNER = SigningKey(bytes(range(32)))
PUBLIC = SIGNER.public_key


async def signed_trail(path: Path, key: TrailKey, fill: Any, before: int = 5, after: int = 2) -> dict[str, Any]:
    """A trail with a signed checkpoint in it; returns that."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, before)
        checkpoint = await trail.checkpoint(signer=SIGNER)
        await fill(trail, after)
    return checkpoint


async def test_a_signed_trail_is_verified_without_its_key(path: Path, key: TrailKey, fill: Any) -> None:
    """H8: by files and by entries, with the public key as bytes or hex; it says how many entries lie after the signed head."""
    checkpoint = await signed_trail(path, key, fill)
    assert list(checkpoint) == ["count", "head", "ts", "mac", "pub", "sig"]
    for public in (PUBLIC, PUBLIC.hex(), bytearray(PUBLIC), f" {PUBLIC.hex().upper()}\n"):
        found = verify_trail(path, public_key=public, checkpoint=checkpoint)  # type: ignore[arg-type]
        assert isinstance(found, Verified)
        assert (found.count, found.unsigned) == (7, 2)
        assert verify_entries(read_trail(path), public_key=public, checkpoint=checkpoint) == found  # type: ignore[arg-type]
    both = verify_trail(path, key=key, public_key=PUBLIC, checkpoint=checkpoint)
    assert isinstance(both, Verified)
    assert both.unsigned == 2
    with_key = verify_trail(path, key=key, checkpoint=checkpoint)  # a signature takes nothing from a checkpoint
    assert isinstance(with_key, Verified)
    assert with_key.unsigned is None


def test_the_signature_is_that_of_the_published_message() -> None:
    """H8: Ed25519 over a domain line and the canonical JSON of count, head and ts."""
    trail = MemoryTrail(key="ab" * 32, now=lambda: 2.0)
    trail.append_nowait(actor="agent", kind="k")
    from foxloop_trio.trail._checkpoint import make_checkpoint

    mark = make_checkpoint(trail.key, trail._head, 2000, SIGNER)
    message = f'foxloop-trio/checkpoint-sig/v1\n{{"count":1,"head":"{mark["head"]}","ts":2000}}'.encode()
    ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(mark["pub"])).verify(bytes.fromhex(mark["sig"]), message)


async def test_any_byte_before_the_signed_head_that_is_changed_is_found(path: Path, key: TrailKey, fill: Any) -> None:
    """H8: but those of the field `mac`, of which nothing can be said without the key; with it they are found too."""
    checkpoint = await signed_trail(path, key, fill, before=3, after=1)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    macs: set[int] = set()
    for n in range(3):
        end = sum(map(len, lines[: n + 1]))
        macs |= set(range(end - 3 - 64, end - 3))
    changed = 0
    for at in range(sum(map(len, lines[:3]))):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        found = verify_trail(path, public_key=PUBLIC, checkpoint=checkpoint)
        assert bool(found) is False or at in macs, (at, whole[at - 20 : at + 20])
        if at in macs:
            assert not verify_trail(path, key=key, public_key=PUBLIC, checkpoint=checkpoint)
        changed += not found
    assert changed > 700


async def test_what_the_key_holder_rewrites_before_the_signed_head_is_found(path: Path, key: TrailKey, fill: Any) -> None:
    """H8: who has the trail's key can forge a chain and a checkpoint, but not the signature."""
    checkpoint = await signed_trail(path, key, fill)
    forged = MemoryTrail(key=key, now=lambda: 0.0)
    for n in range(7):
        forged.append_nowait(actor="agent", kind="test.step", data={"n": n + 1})
    assert verify_entries(forged.entries(), key=key)
    fault = verify_entries(forged.entries(), public_key=PUBLIC, checkpoint=checkpoint)
    assert isinstance(fault, Fault)
    assert (fault.reason, fault.index) == ("checkpoint-mismatch", 4)
    fault = verify_entries(forged.entries()[:4], public_key=PUBLIC, checkpoint=checkpoint)
    assert isinstance(fault, Fault)
    assert fault.reason == "truncated"
    thief = {**(await forged.checkpoint(SigningKey(b"\1" * 32)))}
    for mark in (
        thief,
        {**thief, "pub": PUBLIC.hex()},
        {**thief, "pub": PUBLIC.hex(), "sig": checkpoint["sig"]},
        await forged.checkpoint(),
    ):
        fault = verify_entries(forged.entries(), public_key=PUBLIC, checkpoint=mark)
        assert isinstance(fault, Fault)
        assert (fault.reason, fault.index) == ("bad-checkpoint", None)


async def test_entries_after_the_signed_head_are_a_chain_and_no_more(path: Path, key: TrailKey, fill: Any) -> None:
    """H8: somebody without the key can put some there; they are counted as not signed. A broken chain is a fault anywhere."""
    checkpoint = await signed_trail(path, key, fill, before=3, after=0)
    other = MemoryTrail(key="cd" * 32, now=lambda: 9e9)
    entries = list(read_trail(path))
    await other.import_jsonl(await rewritten(entries, other))
    other.append_nowait(actor="thief", kind="k")
    told = [*entries, other.entries()[-1]]
    found = verify_entries(told, public_key=PUBLIC, checkpoint=checkpoint)
    # The thief's entry goes on from its own chain, which has the same hashes.
    assert isinstance(found, Verified)
    assert found.unsigned == 1
    assert not verify_entries(told, key=key)
    assert not verify_entries([*entries, entries[-1]], public_key=PUBLIC, checkpoint=checkpoint)


async def rewritten(entries: Any, other: MemoryTrail) -> str:
    """The same entries with the MACs of another key: hashes do not depend on it."""
    from foxloop_trio.trail._records import ENTRY_DOMAIN, Entry, line_of

    return "".join(
        line_of(Entry(**{**entry.to_json(), "mac": other.key.mac(ENTRY_DOMAIN + entry.hash)}))  # type: ignore[arg-type]
        for entry in entries
    )


@pytest.mark.parametrize(
    "change",
    [
        {"sig": None},
        {"sig": 5},
        {"sig": ""},
        {"sig": "00" * 64},
        {"sig": "00" * 63},
        {"sig": "AB" * 64},
        {"sig": "ff" * 64},
        {"pub": None},
        {"pub": "00" * 32},
        {"pub": 7},
        {"pub": [PUBLIC.hex()]},
        {"pub": PUBLIC.hex().upper()},
        {"count": 4},
        {"count": 6},
        {"ts": 1},
        {"head": "0" * 64},
    ],
)
async def test_a_signed_checkpoint_that_was_changed_is_bad(change: dict[str, Any], path: Path, key: TrailKey, fill: Any) -> None:
    """H8: garbage of any type is a bad checkpoint, never an exception."""
    checkpoint = {**await signed_trail(path, key, fill), **change}
    fault = verify_trail(path, public_key=PUBLIC, checkpoint=checkpoint)
    assert isinstance(fault, Fault)
    assert fault.reason == "bad-checkpoint"
    assert fault.place == "checkpoint"


@pytest.mark.parametrize("mark", [[], 0, "", False, {}, [{}], "x", {"pub": PUBLIC.hex(), "sig": "00" * 64}])
def test_what_is_no_checkpoint_is_a_bad_one(mark: Any) -> None:
    """H8: also when it is falsy."""
    fault = verify_entries([], public_key=PUBLIC, checkpoint=mark)
    assert isinstance(fault, Fault)
    assert fault.reason == "bad-checkpoint"


def test_nothing_is_judged_without_a_key_and_a_signed_checkpoint(path: Path) -> None:
    """H8: a missing checkpoint is an error and no success; so is no key at all."""
    with pytest.raises(TrailKeyError, match="signed checkpoint"):
        verify_entries([], public_key=PUBLIC)
    with pytest.raises(TrailKeyError, match="no key"):
        verify_entries([])
    with pytest.raises(TrailKeyError, match="no key"):
        verify_trail(path)


@pytest.mark.parametrize("public", [b"", b"short", PUBLIC + b"x", "ab" * 31, "xy" * 32, "", 5, SIGNER, None])
def test_what_is_no_public_key_is_refused(public: Any) -> None:
    """H8: when it is given, whatever the checkpoint; None is not given."""
    with pytest.raises(TrailKeyError):
        verify_entries([], public_key=public, checkpoint={} if public is not None else None)


@pytest.mark.parametrize("private", [b"", b"x" * 31, b"x" * 64, "00" * 32, None, 5])
def test_what_is_no_private_key_is_refused(private: Any) -> None:
    """H8."""
    with pytest.raises(TrailKeyError, match="32 bytes"):
        SigningKey(private)


def test_a_signing_key_cannot_be_shown_or_pickled() -> None:
    """H8: its repr has the public half."""
    assert repr(SIGNER) == f"<SigningKey, hidden, public {PUBLIC.hex()}>"
    with pytest.raises(TypeError):
        pickle.dumps(SIGNER)


class Own:
    """A signer of somebody's, such as one that asks a token."""

    public_key: Any = PUBLIC

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def sign(self, message: bytes) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return SIGNER.sign(message) if self.answer is None else self.answer


async def test_a_signer_of_ones_own_signs_for_every_trail(path: Path, key: TrailKey, fill: Any) -> None:
    """H8: in a file, in memory, over a store, and for a file that nobody has open."""

    class Empty:
        async def last(self) -> None:
            return None

    async with open_trail(path, key=key) as trail:
        await fill(trail, 1)
        marks = [await trail.checkpoint(signer=Own()), await trail.checkpoint(Own())]
    marks.append(checkpoint_trail(path, key=key, signer=Own()))  # type: ignore[arg-type]
    for mark in marks:
        assert verify_trail(path, public_key=PUBLIC, checkpoint=mark)
    for empty in (MemoryTrail(key=key), StoreTrail(Empty(), key=key)):  # type: ignore[arg-type]
        mark = await empty.checkpoint(signer=Own())
        assert verify_entries([], public_key=PUBLIC, checkpoint=mark) == Verified(count=0, head="0" * 64, unsigned=0)


@pytest.mark.parametrize("answer", [b"", b"x" * 63, "x" * 64, bytearray(64), 5])
async def test_a_signer_that_gives_no_signature_is_refused(answer: Any, key: TrailKey) -> None:
    """H8: a checkpoint that nobody could check is not handed out."""
    with pytest.raises(TrailKeyError, match="must return the 64 bytes"):
        await MemoryTrail(key=key).checkpoint(Own(answer))


OTHER = SigningKey(b"another signing key, of 32 bytes")


@pytest.mark.parametrize("public", [PUBLIC, OTHER.public_key, b"x" * 32, bytes(32)])
async def test_a_signer_whose_signature_does_not_fit_its_public_key_is_refused(public: bytes, key: TrailKey) -> None:
    """H8: what it signs could never be checked, and that would be noticed when it is needed."""
    signer = Own(bytes(64) if public is PUBLIC else None)
    signer.public_key = public
    with pytest.raises(TrailKeyError, match="no signature with its public_key"):
        await MemoryTrail(key=key).checkpoint(signer)


@pytest.mark.parametrize("signer", [object(), "key", b"x" * 32, PUBLIC])
async def test_what_is_no_signer_is_refused(signer: Any, key: TrailKey) -> None:
    """H8."""
    with pytest.raises(TrailKeyError, match="a signer has"):
        await MemoryTrail(key=key).checkpoint(signer)


async def test_checkpoints_that_go_to_the_sink_are_signed(
    path: Path, key: TrailKey, fill: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """H8, H9: each of them; a signer that fails goes to the log, since the entry is written."""
    kept: list[dict[str, Any]] = []

    async def sink(mark: dict[str, Any]) -> None:
        kept.append(mark)

    async with open_trail(path, key=key, checkpoint_every=2, sink=sink, signer=SIGNER) as trail:
        await fill(trail, 3)
        assert "sig" in await trail.checkpoint()
    assert [mark["count"] for mark in kept] == [2, 3]
    assert all(verify_trail(path, public_key=PUBLIC, checkpoint=mark) for mark in kept)
    assert caplog.records == []
    async with open_trail(path, key=key, checkpoint_every=1, sink=sink, signer=Own(OSError("no token"))) as trail:
        assert len(await fill(trail, 1)) == 1
    assert len(kept) == 2
    assert ["no checkpoint could be made"] * 2 == [record.getMessage() for record in caplog.records]


async def test_a_signed_trail_of_several_files_is_verified_without_its_key(path: Path, key: TrailKey, fill: Any) -> None:
    """H8, H13."""
    async with open_trail(path, key=key, rotate_bytes=1000, signer=SIGNER) as trail:
        await fill(trail, 5)
        mark = await trail.checkpoint()
        await fill(trail, 5)
    found = verify_trail(path, public_key=PUBLIC, checkpoint=mark)
    assert isinstance(found, Verified)
    assert (found.count, found.unsigned) == (10, 5)


# Files


def test_a_signing_key_is_made_once_and_is_its_owners_alone(tmp_path: Path, ids: Any) -> None:
    """H8, H16: PEM with mode 0600, the same key again afterwards; one that others can read is refused."""
    path = tmp_path / "sign.key"
    with pytest.raises(TrailKeyError, match="cannot be read"):
        load_signing_key(path)
    made = load_or_create_signing_key(path, ids=ids)
    assert ids.purposes == ["signing-key"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="ascii").startswith("-----BEGIN PRIVATE KEY-----\n")
    assert load_or_create_signing_key(path).public_key == load_signing_key(path).public_key == made.public_key
    assert load_or_create_signing_key(tmp_path / "other").public_key != made.public_key
    path.chmod(0o640)
    with pytest.raises(TrailKeyError, match="chmod 600"):
        load_signing_key(path)
    assert load_signing_key(path, allow_shared=True).public_key == made.public_key
    with pytest.raises(TrailKeyError, match="cannot be made"):
        load_or_create_signing_key(tmp_path / "no" / "folder")


def pem(key: Any, encryption: Any = None) -> bytes:
    whole: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())
    return whole


def public_pem(key: Any) -> bytes:
    whole: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return whole


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a private key as PEM"),
        (b"ab" * 32 + b"\n", "not a private key as PEM"),
        (b"\xff\x00" * 100, "not a private key as PEM"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "not a private key as PEM"),
        (b"x" * 10_000, "no key file"),
        (pem(ec.generate_private_key(ec.SECP256R1())), "another kind"),
        (pem(rsa.generate_private_key(65537, 2048)), "another kind"),
        (pem(ed25519.Ed25519PrivateKey.generate(), BestAvailableEncryption(b"pass")), "passphrase"),
        (public_pem(ed25519.Ed25519PrivateKey.generate()), "not a private key as PEM"),
    ],
)
def test_a_file_with_another_key_or_none_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    """H8: the key of a trail, keys of other kinds, with a passphrase, the public half, garbage; none is written over."""
    path = tmp_path / "sign.key"
    path.write_bytes(content)
    path.chmod(0o600)
    for load in (load_signing_key, load_or_create_signing_key):
        with pytest.raises(TrailKeyError, match=words) as caught:
            load(path)
        assert "ab" * 32 not in str(caught.value)
    assert path.read_bytes() == content


def test_a_public_key_is_read_as_hex_or_pem(tmp_path: Path) -> None:
    """H8: others may read it; anything else is refused, a private key among it."""
    path = tmp_path / "sign.pub"
    key = ed25519.Ed25519PrivateKey.generate()
    raw = key.public_key().public_bytes_raw()
    for content in (raw.hex().encode(), raw.hex().upper().encode() + b"\n", public_pem(key)):
        path.write_bytes(content)
        path.chmod(0o644)
        assert load_public_key(path) == raw
    for content in (b"", b"zz" * 32, raw, pem(key), public_pem(ec.generate_private_key(ec.SECP256R1())), b"-----BEGIN x"):
        path.write_bytes(content)
        with pytest.raises(TrailKeyError):
            load_public_key(path)
    path.write_bytes(pem(key))
    with pytest.raises(TrailKeyError, match="a private key; give its public half"):
        load_public_key(path)
    with pytest.raises(TrailKeyError, match="cannot be read"):
        load_public_key(tmp_path / "none")
    with pytest.raises(TrailKeyError, match="cannot be read"):
        load_public_key(tmp_path)


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """H8: nothing else of the trail needs it."""
    for name in [name for name in sys.modules if name == "cryptography" or name.startswith("cryptography.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for call in (
        lambda: SigningKey(b"x" * 32),
        lambda: verify_entries([], public_key=PUBLIC, checkpoint={}),
        lambda: load_or_create_signing_key(tmp_path / "sign.key"),
        lambda: load_signing_key(tmp_path / "sign.key"),
        lambda: load_public_key(tmp_path / "sign.pub"),
    ):
        with pytest.raises(TrailKeyError, match=r"pip install 'foxloop-trio\[sign\]'"):
            call()
    assert list(tmp_path.iterdir()) == []
    signer = Own(b"x" * 64)  # it may have its arithmetic from elsewhere
    mark = make_checkpoint(TrailKey(b"k" * 32), None, 0, signer)
    assert mark["sig"] == "78" * 64


def test_the_package_is_not_imported_before_it_is_needed() -> None:
    """H8: it is an extra, and takes its time."""
    program = "import sys, foxloop_trio.trail; sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], env={**os.environ}, check=False).returncode == 0
