"""Files for a page: what was judged is what is sent, or nothing is."""

import base64

import pytest

from foxloop_trio.browser._uploads import MAX_UPLOAD_BYTES, PIECE_BYTES, check_files, describe_file, pieces
from foxloop_trio.errors import UsageError
from foxloop_trio.wire import LIMITS, MAX_MESSAGE_BYTES


def test_a_file_is_judged_by_name_type_size_and_digest() -> None:
    """Page reference 21.7; the digest is SHA-256 of b"abc"."""
    assert describe_file("a.txt", b"abc", type="text/plain") == {
        "name": "a.txt",
        "type": "text/plain",
        "size": 3,
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }


def test_the_bytes_must_be_the_judged_ones() -> None:
    """One accepted twin, and everything that differs from it in one thing."""
    one, other = describe_file("a", b"abc"), describe_file("b", b"abd")
    check_files({"files": [one, other]}, [b"abc", b"abd"])
    check_files({"files": []}, [])
    for value, files in [
        ({"files": [one, other]}, [b"abd", b"abc"]),
        ({"files": [one]}, [b"abx"]),
        ({"files": [one]}, [b"abc", b"abd"]),
        ({"files": [one]}, []),
        ({"files": [one] * 11}, [b"abc"] * 11),
        ({"files": [describe_file("c", bytes(MAX_UPLOAD_BYTES + 1))]}, [bytes(MAX_UPLOAD_BYTES + 1)]),
        ({"files": [{"name": "a", "size": 3}]}, [b"abc"]),
        (None, [b"abc"]),
        ("a", [b"abc"]),
    ]:
        with pytest.raises(UsageError) as caught:
            check_files(value, files)
        assert caught.value.code == "permit-files"


def test_pieces_fit_into_messages_and_are_the_whole() -> None:
    """In order, by the number of the file; a file without a byte has none."""
    files = [b"abc", b"", bytes(range(256)) * (2 * PIECE_BYTES // 256) + b"x"]
    found = list(pieces(files))
    assert [index for index, _ in found] == [0, 2, 2, 2]
    assert all(len(data) <= LIMITS["piece"] < MAX_MESSAGE_BYTES // 2 for _, data in found)
    assert b"".join(base64.b64decode(data) for index, data in found if index == 2) == files[2]
