"""The preferences of a launch: what is ours, what is the caller's, and the UUIDs that a profile has already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foxloop_trio.browser._prefs import UUIDS_PREF, check_prefs, known_uuids, launch_prefs
from foxloop_trio.errors import BadOptionsError

UUID = "5b1f6c6e-0000-4000-8000-f0c5100b0001"


def test_the_callers_preferences_win_and_the_uuids_are_ours() -> None:
    """Our choice: all can be changed but the one that the add-on's origin comes from."""
    prefs = launch_prefs({"addon@test": UUID}, {"media.autoplay.default": 5, "a.b": "c"})
    assert (prefs["media.autoplay.default"], prefs["a.b"]) == (5, "c")
    assert json.loads(str(prefs[UUIDS_PREF])) == {"addon@test": UUID}


def test_downloads_never_go_to_the_users_folder() -> None:
    """Firefox facts 1: without it, they went to ~/Downloads."""
    prefs = launch_prefs({}, {})
    assert prefs["browser.download.dir"] == "@PROFILE@/downloads"
    assert prefs["browser.download.folderList"] == 2


def test_the_uuids_of_a_profile_are_kept(tmp_path: Path) -> None:
    """Our choice: an add-on's storage hangs on its UUID, so those of other add-ons in a given profile stay."""
    value = json.dumps(json.dumps({"other@test": UUID}))
    (tmp_path / "prefs.js").write_text(f'// Mozilla User Preferences\nuser_pref("a", 1);\nuser_pref("{UUIDS_PREF}", {value});\n')
    assert known_uuids(tmp_path) == {"other@test": UUID}


@pytest.mark.parametrize("line", ["", "5", "[]", '"x"', json.dumps('{"a": "no uuid"}'), json.dumps("[1]")])
def test_a_profile_without_readable_uuids_has_none(tmp_path: Path, line: str) -> None:
    """Our choice: a broken file is Firefox's to complain about."""
    assert known_uuids(tmp_path) == {}
    (tmp_path / "prefs.js").write_text(f'user_pref("{UUIDS_PREF}", {line});\n')
    assert known_uuids(tmp_path) == {}


@pytest.mark.parametrize("value", [1.5, None, [], {}, -(2**31) - 1, 2**31])
def test_a_value_that_firefox_has_no_type_for_is_refused(value: object) -> None:
    """Our choice: the error names the preference."""
    with pytest.raises(BadOptionsError, match=r"'a\.b'"):
        check_prefs({"a.b": value})  # type: ignore[arg-type]


def test_values_at_the_limits_pass() -> None:
    """The accepted twins of what is refused."""
    prefs = {"a": True, "b": 2**31 - 1, "c": -(2**31), "d": "text"}
    assert check_prefs(prefs) == prefs
    assert check_prefs(None) == {}
