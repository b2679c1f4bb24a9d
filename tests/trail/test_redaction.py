"""Redaction: what is secret is nowhere in the trail, can be tested by who knows it, and does not weaken the chain."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import (
    EntryTooLargeError,
    InvalidEntryError,
    MemoryTrail,
    check_redacted,
    open_trail,
    secret,
    verify_entries,
)

MARKERS = {"v1": re.compile(r"[0-9a-f]{32}:[0-9a-f]{64}"), "v2": re.compile(r"v2:[0-9a-f]{32}:[0-9a-f]{64}")}
KEY = "ab" * 32


def checks(marker: object, candidate: object) -> bool:
    return check_redacted(marker, candidate, key=KEY)


async def written(data: Any, **options: Any) -> tuple[Any, str]:
    """The data of an entry as the trail holds it, and the whole text of the trail, which verifies."""
    trail = MemoryTrail(key=KEY, **options)
    entry = await trail.append(actor="a", kind="k", data=data)
    assert verify_entries(trail.entries(), key=trail.key).ok  # T54
    return entry.data, trail.text()


@pytest.mark.parametrize(
    "value", ["hunter2", 4711, None, True, 1.5, ["hunter2", {"a": None}], {"user": "me", "pass": "hunter2"}, ""]
)
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_a_secret_value_is_written_as_a_salted_digest(value: Any, version: str) -> None:
    """T50, T54, H10: at any depth; who knows the value can check it, of version 2 with the key only."""
    data, text = await written({"a": [{"b": secret(value)}], "n": 1}, markers=version)
    marker = data["a"][0]["b"]
    assert list(marker) == ["$redacted"]
    assert MARKERS[version].fullmatch(marker["$redacted"])
    assert "hunter2" not in text
    assert data["n"] == 1
    assert checks(marker, value)
    assert checks(marker, secret(value))
    assert check_redacted(marker, value) is (version == "v1")


async def test_a_secret_at_the_top_is_hidden() -> None:
    """The data itself may be one."""
    data, text = await written(secret({"pin": 1234}))
    assert checks(data, {"pin": 1234})
    assert "1234" not in text.replace(data["$redacted"], "")


async def test_values_under_listed_names_are_hidden_at_any_depth() -> None:
    """H11, T50: without case, `-` and `_`; whatever the value is, and with no copy of it elsewhere."""
    plain = {
        "password": "hunter2",
        "Pass-Word": ["hunter2"],
        "args": [{"PASS_WORD": {"deep": "hunter2"}, "passwords": "stays"}],
        "x": {"password": None},
    }
    data, text = await written(plain, redact=["password"])
    assert "hunter2" not in text
    assert checks(data["password"], "hunter2")
    assert checks(data["Pass-Word"], ["hunter2"])
    assert checks(data["args"][0]["PASS_WORD"], {"deep": "hunter2"})
    assert checks(data["x"]["password"], None)
    assert data["args"][0]["passwords"] == "stays"


async def test_secrets_inside_hidden_values_do_not_matter_for_the_digest() -> None:
    """A secret in a secret is the value it hides."""
    data, _ = await written({"token": {"a": secret("x")}, "s": secret([secret(secret(1))])}, redact=["token"])
    assert checks(data["token"], {"a": "x"})
    assert checks(data["s"], [1])


async def test_equal_secrets_get_different_markers() -> None:
    """T51: also the very same object twice, and the same one in a part that stands in two places."""
    one = secret("x")
    part = {"s": one}
    data, _ = await written({"a": one, "b": one, "c": secret("x"), "d": part, "e": part})
    markers = [data["a"], data["b"], data["c"], data["d"]["s"], data["e"]["s"]]
    assert len({marker["$redacted"] for marker in markers}) == 5
    assert all(checks(marker, "x") for marker in markers)


async def test_only_the_right_value_checks() -> None:
    """T51: near misses and other types do not."""
    data, _ = await written(secret("1"))
    for candidate in ("2", 1, "1 ", ["1"], None, True, {"$redacted": data["$redacted"]}):
        assert checks(data, candidate) is False


@pytest.mark.parametrize(
    "marker",
    [
        None,
        "",
        [],
        {},
        {"$redacted": None},
        {"$redacted": "x"},
        {"$redacted": "00" * 16 + ":" + "00" * 31},
        {"$redacted": "0A" * 16 + ":" + "00" * 32},
        {"$redacted": "00" * 16 + ":" + "00" * 32 + "\n"},
        {"$redacted": "00" * 16 + ":" + "00" * 32, "more": 1},
        {"$redacted": "\u0661" * 32 + ":" + "00" * 32},
        {1: 2},
        object(),
    ],
)
def test_what_is_no_marker_checks_false_and_never_raises(marker: Any) -> None:
    """T51."""
    assert check_redacted(marker, "x") is False
    assert checks(marker, "x") is False


async def test_a_candidate_without_json_checks_false_and_never_raises() -> None:
    """T51: no type, no cycle, no bomb makes it raise."""
    data, _ = await written(secret("x"))
    cycle: list[Any] = []
    cycle.append(cycle)
    bomb: Any = "x"
    for _ in range(60):
        bomb = [bomb, bomb]
    for candidate in (b"x", {1}, float("nan"), cycle, bomb, secret(b"x"), {1: 2}, "x" * 2_000_000):
        assert checks(data, candidate) is False


async def test_a_secret_that_is_no_json_is_refused_and_nothing_is_written() -> None:
    """T52: marked or under a listed name; the message says nothing of the value."""
    trail = MemoryTrail(redact=["token"])
    cycle: list[Any] = []
    cycle.append(secret(cycle))
    for data in ({"a": secret(b"hunter2")}, {"token": {"x": (1, "hunter2")}}, secret(cycle), {"token": cycle}, {"a": cycle}):
        with pytest.raises(InvalidEntryError) as caught:
            await trail.append(actor="a", kind="k", data=data)
        assert "hunter2" not in str(caught.value)
    with pytest.raises(EntryTooLargeError):
        await trail.append(actor="a", kind="k", data=secret("x" * 2_000_000))
    assert trail.entries() == []


async def test_an_endless_value_with_shared_parts_is_refused_in_bounded_time() -> None:
    """Copying for redaction counts what it copies."""
    bomb: Any = secret("x")
    for _ in range(60):
        bomb = [bomb, bomb]
    trail = MemoryTrail()
    with pytest.raises(EntryTooLargeError):
        await trail.append(actor="a", kind="k", data={"s": secret(bomb)})


def test_a_secret_cannot_be_shown_formatted_copied_or_compared() -> None:
    """T53: fixed repr and str; equality is that of the object, not of the value."""
    one = secret("hunter2")
    assert repr(one) == str(one) == "<secret>"
    assert one != secret("hunter2")
    assert one != "hunter2"
    assert "hunter2" not in repr({"a": [one]})
    with pytest.raises(TypeError):
        f"{one}"
    with pytest.raises(TypeError):
        "{:>10}".format(one)  # noqa: UP032 - the other spelling of the same
    for machine in (pickle.dumps, copy.copy, copy.deepcopy, json.dumps):
        with pytest.raises(TypeError):
            machine(one)


async def test_a_secret_as_actor_kind_or_key_is_refused() -> None:
    """None of the three can be hidden, so none may be secret."""
    trail = MemoryTrail()
    for entry in (
        {"actor": secret("a"), "kind": "k"},
        {"actor": "a", "kind": secret("k")},
        {"actor": "a", "kind": "k", "data": {secret("k"): 1}},
    ):
        with pytest.raises(InvalidEntryError):
            await trail.append(**entry)
    assert trail.entries() == []


async def test_salts_come_from_the_given_ids(ids: Any) -> None:
    """16 bytes each, asked for by purpose."""
    data, _ = await written({"a": secret(1), "b": secret(2)}, ids=ids)
    assert ids.purposes == ["trail-salt", "trail-salt"]
    assert data["a"]["$redacted"].split(":")[1] != data["b"]["$redacted"].split(":")[1]


async def test_the_callers_data_keeps_its_secrets(path: Path, key: Any) -> None:
    """Redaction works on a copy; the plain value is nowhere in the file."""
    data = {"password": "hunter2", "list": [secret("hunter2")]}
    async with open_trail(path, key=key, redact=["password"]) as trail:
        await trail.append(actor="a", kind="k", data=data)
    assert data["password"] == "hunter2"
    assert repr(data["list"]) == "[<secret>]"
    assert b"hunter2" not in path.read_bytes()
