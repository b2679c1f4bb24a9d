"""What `foxloop_trio.trail` offers, and that its errors carry the codes of the reference."""

from __future__ import annotations

import pytest

import foxloop_trio.trail as trail
from foxloop_trio.errors import FoxloopError, TrailError


def test_all_is_sorted_complete_and_public() -> None:
    """Sorted as ruff sorts it: constants, classes, functions; every name is there."""
    names = trail.__all__
    order = {True: 0, False: 1}
    assert names == sorted(names, key=lambda name: (order[name.isupper()], order[name[0].isupper()], name))
    assert all(hasattr(trail, name) and not name.startswith("_") for name in names)
    assert len(set(names)) == len(names)
    for name in (
        "MemoryTrail",
        "canonical_json",
        "check_redacted",
        "load_or_create_key",
        "open_trail",
        "read_trail",
        "secret",
        "verify_trail",
    ):
        assert name in names


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("InvalidEntryError", "invalid-entry"),
        ("TrailKeyError", "key"),
        ("EntryTooLargeError", "entry-too-large"),
        ("ConflictError", "conflict"),
        ("StoreError", "store"),
    ],
)
def test_each_error_has_its_code(name: str, code: str) -> None:
    """Section 12: all are TrailErrors."""
    error = getattr(trail, name)("words")
    assert isinstance(error, TrailError)
    assert isinstance(error, FoxloopError)
    assert error.code == code
    assert str(error) == "words"
