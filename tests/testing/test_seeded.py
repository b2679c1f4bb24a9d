"""Ids from a seed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from foxloop_trio.errors import BadOptionsError, UsageError
from foxloop_trio.testing import seeded_ids

KNOWN = [
    (0, "run", "3ab2c7c728d1abc3cb223aaed2dc6d90"),
    ("a seed", "nonce", "a98a732b366d263272365f669df9b6b0"),
    (b"\x00\xff", "Schlüssel", "4d97b0049c6852c7503b780a161ae1e6"),
]


@pytest.mark.parametrize(("seed", "purpose", "first"), KNOWN)
def test_the_bytes_are_those_written_here(seed: Any, purpose: str, first: str) -> None:
    """The same on every platform and in every version of Python: nobody's recorded trail may change under them."""
    assert seeded_ids(seed)(16, purpose).hex() == first


def test_another_process_with_another_hash_seed_makes_the_same_bytes() -> None:
    """Nothing depends on the process."""
    code = "from foxloop_trio.testing import seeded_ids as s; i = s(5); print(i(8, 'a').hex(), i(40, 'a').hex(), i(8, 'b').hex())"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": path},
        ).stdout
        for path in [":".join(sys.path)]
        for seed in ("1", "2")
    }
    ids = seeded_ids(5)
    assert told == {f"{ids(8, 'a').hex()} {ids(40, 'a').hex()} {ids(8, 'b').hex()}\n"}


def test_each_purpose_has_a_sequence_that_the_others_do_not_disturb() -> None:
    """A part that draws more ids changes nobody else's."""
    alone, mixed = seeded_ids(1), seeded_ids(1)
    wanted = [alone(16, "run") for _ in range(3)]
    got = []
    for count in range(3):
        for _ in range(count):
            mixed(32, "trail-key")
        got.append(mixed(16, "run"))
    assert got == wanted
    assert len(set(wanted)) == 3


def test_no_bytes_come_twice() -> None:
    """Calls, purposes, seeds and kinds of seed all differ, also where their texts run together."""
    makers = [seeded_ids(1), seeded_ids("1"), seeded_ids(b"1"), seeded_ids(12), seeded_ids("i1")]
    made = [ids(16, purpose) for ids in makers for purpose in ("", "a", "ab", "b", "2") for _ in range(20)]
    assert len(set(made)) == len(made) == 500


@pytest.mark.parametrize("nbytes", [0, 1, 31, 32, 33, 100])
def test_as_many_bytes_come_as_were_asked_for(nbytes: int) -> None:
    """Around the size of a block too; the start does not depend on the size."""
    made = seeded_ids()(nbytes, "x")
    assert len(made) == nbytes
    assert seeded_ids()(200, "x").startswith(made)


@pytest.mark.parametrize(("nbytes", "purpose"), [(-1, "x"), (True, "x"), (1.5, "x"), (1 << 21, "x"), (8, None), (8, b"x")])
def test_a_size_or_purpose_that_cannot_be_is_refused(nbytes: Any, purpose: Any) -> None:
    """A clear error, and the sequence has not moved."""
    ids = seeded_ids()
    with pytest.raises(UsageError, match=r"nbytes|purpose"):
        ids(nbytes, purpose)
    assert ids(8, "x") == seeded_ids()(8, "x")


@pytest.mark.parametrize("seed", [None, 1.5, True, ["x"]])
def test_a_seed_of_another_kind_is_refused(seed: Any) -> None:
    """Nothing is guessed from it."""
    with pytest.raises(BadOptionsError, match="seed must be"):
        seeded_ids(seed)
