"""Keys: what is one, where it comes from, and that it never shows."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import copy
import hmac
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import TrailKey, TrailKeyError, default_key_path, load_key, load_or_create_key, open_trail, verify_trail
from foxloop_trio.trail import _keyfile as keyfile

HEX = "0123456789abcdef" * 4


def test_hex_in_any_case_and_raw_bytes_are_the_same_key() -> None:
    """T10: white space around the text does not count."""
    expected = TrailKey(bytes.fromhex(HEX)).mac("x")
    assert {TrailKey(text).mac("x") for text in (HEX, HEX.upper(), f"  {HEX}\r\n")} == {expected}


@pytest.mark.parametrize(
    "material",
    [None, "", "  ", b"", "ab" * 31, b"x" * 31, "a" * 65, "xy" * 32, "ab" * 16 + " " + "ab" * 16, "\u0661" * 64, 5, ["ab"]],
    ids=[
        "none",
        "empty",
        "blank",
        "no bytes",
        "31 hex",
        "31 bytes",
        "odd",
        "no hex",
        "space inside",
        "other digits",
        "number",
        "list",
    ],
)
def test_what_is_no_key_is_refused(material: Any) -> None:
    """T10: missing, empty, short, or not hex."""
    with pytest.raises(TrailKeyError) as caught:
        TrailKey(material)
    assert caught.value.code == "key"
    assert "xy" * 8 not in str(caught.value)


@pytest.mark.parametrize("length", [32, 33, 63, 64, 65, 100, 1000])
def test_the_mac_is_that_of_the_standard_library(length: int) -> None:
    """HMAC-SHA-256 for keys around the length of a block too, again and again with one key."""
    raw = bytes(range(256)) * 4
    key = TrailKey(raw[:length])
    for message in ("", "x", "foxtrail/entry/v1\n" + "a" * 64, "caf\u00e9" * 100, ""):
        assert key.mac(message) == hmac.digest(raw[:length], message.encode(), "sha256").hex()
        assert key.proves(message, key.mac(message))
        assert not key.proves(message + "y", key.mac(message))


def test_a_key_does_not_show_pickle_or_copy() -> None:
    """T13: neither repr nor str nor a copy machine gives it away."""
    key = TrailKey(HEX)
    assert HEX[:8] not in f"{key!r} {key}"
    for machine in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            machine(key)


def test_a_key_marked_not_exportable_refuses_to_be_exported() -> None:
    """T13: others give their hex, lower-case."""
    assert TrailKey(HEX.upper()).export_hex() == HEX
    with pytest.raises(TrailKeyError):
        TrailKey(HEX, exportable=False).export_hex()


def test_a_key_file_is_made_once_with_mode_0600(tmp_path: Path) -> None:
    """T11: hex and a line feed, nothing else left in the folder; the second call reads the same key."""
    path = tmp_path / "k"
    first = load_or_create_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="ascii") == first.export_hex() + "\n"
    assert len(first.export_hex()) == 64
    assert load_or_create_key(path).export_hex() == first.export_hex()
    assert os.listdir(tmp_path) == ["k"]


def test_a_key_made_by_another_process_meanwhile_is_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T11: the other one finishes between our look and our link."""
    path = tmp_path / "k"
    link = os.link

    def late(source: str, target: str) -> None:
        path.write_text(HEX, encoding="ascii")
        path.chmod(0o600)
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert load_or_create_key(path).export_hex() == HEX
    assert os.listdir(tmp_path) == ["k"]


def test_processes_that_make_the_key_at_once_end_with_the_same(tmp_path: Path, run_child: Any) -> None:
    """H16, T11, for real: six processes, one key, no leftovers."""
    program = "import sys; from foxloop_trio.trail import load_or_create_key; print(load_or_create_key(sys.argv[1]).export_hex())"
    children = [run_child(program, str(tmp_path / "k")) for _ in range(6)]
    answers = [child.communicate(timeout=30) for child in children]
    assert {out for out, _ in answers} == {load_or_create_key(tmp_path / "k").export_hex() + "\n"}
    assert os.listdir(tmp_path) == ["k"]


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """H16: the way out is in the message; `allow_shared` lifts it."""
    path = tmp_path / "k"
    key = load_or_create_key(path)
    path.chmod(0o640)
    with pytest.raises(TrailKeyError, match="chmod 600"):
        load_or_create_key(path)
    with pytest.raises(TrailKeyError, match="chmod 600"):
        load_key(path, {})
    assert load_or_create_key(path, allow_shared=True).export_hex() == key.export_hex()


@pytest.mark.parametrize(
    "content", [b"", b"abcd\n", b"not hex at all, but long enough to be a key if it were so", b"\xff" * 64, b"a" * 9000]
)
def test_a_bad_key_file_is_an_error_and_stays_as_it_is(content: bytes, tmp_path: Path) -> None:
    """T12: never a fallback to the environment, and never overwritten."""
    path = tmp_path / "k"
    path.write_bytes(content)
    path.chmod(0o600)
    for load in (load_or_create_key, lambda name: load_key(name, {"FOXTRAIL_KEY": HEX})):
        with pytest.raises(TrailKeyError, match=str(path)):
            load(path)
    assert path.read_bytes() == content


def test_what_is_no_file_is_an_error_and_does_not_hang(tmp_path: Path) -> None:
    """T12: a missing file, a folder, a pipe."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("missing", ".", "pipe"):
        with pytest.raises(TrailKeyError):
            load_key(tmp_path / name, {"FOXTRAIL_KEY": HEX})
    with pytest.raises(TrailKeyError, match="cannot be made"):
        load_or_create_key(tmp_path / "no" / "such" / "folder" / "k")


def test_without_a_path_the_environment_gives_the_key(tmp_path: Path) -> None:
    """T12: and with one the file does, whatever the environment says."""
    assert load_key(env={"FOXTRAIL_KEY": HEX}).export_hex() == HEX
    key = load_or_create_key(tmp_path / "k")
    assert load_key(tmp_path / "k", {"FOXTRAIL_KEY": HEX}).export_hex() == key.export_hex()
    for env in ({}, {"FOXTRAIL_KEY": ""}, {"FOXTRAIL_KEY": "abcd"}):
        with pytest.raises(TrailKeyError, match="FOXTRAIL_KEY"):
            load_key(env=env)


def test_the_default_key_lies_in_the_state_directory_of_the_user() -> None:
    """A relative XDG_STATE_HOME is ignored, as the XDG specification says."""
    home = os.path.expanduser("~")
    assert default_key_path({"XDG_STATE_HOME": "/some/where"}) == "/some/where/foxloop-trio/trail.key"
    for env in ({}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative"}):
        assert default_key_path(env) == f"{home}/.local/state/foxloop-trio/trail.key"


async def test_a_trail_without_a_key_makes_the_default_one_at_first_use(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch, fill: Any
) -> None:
    """The folder is the user's alone; the second trail uses the same key, and the file verifies with it."""
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    for _ in range(2):
        async with open_trail(path) as trail:
            await fill(trail, 2)
    name = default_key_path()
    assert Path(name).parent.parent == state
    assert stat.S_IMODE(Path(name).parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    assert verify_trail(path, key=load_key(name)).ok
    state.joinpath("foxloop-trio").rename(tmp_path / "away")
    state.rmdir()
    state.write_text("in the way", encoding="ascii")
    with pytest.raises(TrailKeyError, match="XDG_STATE_HOME"):
        async with open_trail(path):
            pass


def test_the_name_of_a_key_file_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare name means the current directory, also when that is synced."""
    monkeypatch.chdir(tmp_path)
    assert keyfile.load_or_create_key("k").export_hex() == load_key("k").export_hex()
