"""Every rule of what goes beyond the format has a test that names it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

CHECKS = {
    "H1": "test_the_lock_of_a_writer_that_was_killed_in_mid_append_is_free_at_once",
    "H2": "test_the_name_of_a_file_that_somebody_else_made_is_synced_too",
    "H3": "test_a_cut_last_line_is_moved_aside_wherever_it_was_cut",
    "H4": "test_a_full_disk_leaves_no_torn_line",
    "H5": "test_a_failed_fsync_breaks_the_store_and_is_not_retried",
    "H6": "test_an_append_opens_closes_and_reads_nothing",
    "H7": "test_two_hundred_megabytes_are_verified_within_64_of_memory",
    "H8": "test_any_byte_before_the_signed_head_that_is_changed_is_found",
    "H9": "test_checkpoints_go_to_the_sink_and_find_a_cut_end",
    "H10": "test_a_keyed_marker_cannot_be_guessed_without_the_key",
    "H11": "test_what_looks_like_a_secret_is_masked_wherever_it_stands",
    "H12": "test_an_object_that_only_looks_like_a_marker_of_ours_is_kept_apart",
    "H13": "test_what_is_done_to_files_of_a_trail_is_found",
    "H14": "test_an_append_cancelled_at_any_step_is_there_or_raised",
    "H15": "test_an_import_that_is_killed_leaves_all_or_nothing",
    "H16": "test_processes_that_make_the_key_at_once_end_with_the_same",
    "H17": "test_a_bad_checkpoint_is_bad_not_absent",
    "H18": "test_a_jump_of_the_wall_clock_can_be_told_from_the_records_of_a_run",
    "H19": "test_entries_can_be_followed_as_they_land",
}
"""The rules by their numbers, each with the test that makes the check which the rule asks for."""


def named() -> dict[str, set[str]]:
    """The rules that each test names in its docstring."""
    found: dict[str, set[str]] = {}
    for path in [*TESTS.glob("trail/test_*.py"), *TESTS.glob("cli/test_trail_*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found[node.name] = set(re.findall(r"\bH\d+\b", ast.get_docstring(node) or ""))
    return found


@pytest.mark.parametrize("rule", CHECKS)
def test_every_rule_beyond_the_format_has_its_check(rule: str) -> None:
    """The test is there, and names the rule."""
    tests = named()
    assert CHECKS[rule] in tests
    assert rule in tests[CHECKS[rule]]


def test_no_test_names_a_rule_that_there_is_not() -> None:
    """H1 to H19, without a gap."""
    assert set().union(*named().values()) == set(CHECKS)
