"""Every rule of the facade has a test that is named after its outcome: the table, and that it holds.

Rules are R1 to R66 with gaps, J1 to J9 (where this loop goes beyond the one that it follows) and F1 to F20 (what can go wrong).
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent

RULES: dict[str, tuple[str, ...]] = {
    # The stop tool and the tools
    "R1": ("the_stop_tool_is_there_by_itself_and_last_in_the_specs", "another_name_can_be_given_to_the_stop_tool"),
    "R2": ("a_stop_tool_of_the_hosts_is_run_and_then_the_run_ends", "a_stop_tool_of_the_hosts_that_fails_does_not_end_the_run"),
    "R3": (
        "tools_that_cannot_be_told_apart_or_run_are_refused_before_the_model_is_asked",
        "what_cannot_work_is_a_value_error_before_the_model_is_asked",
    ),
    # Turns and calls
    "R10": ("a_turn_without_calls_goes_on", "a_turn_with_text_and_without_calls_can_end_the_run"),
    "R11": ("calls_after_the_stop_tool_are_answered_and_not_run",),
    "R12": ("a_blocked_stop_tool_does_not_stop_the_run", "a_stop_tool_with_wrong_arguments_does_not_stop_the_run"),
    "R13": (
        "a_handler_that_raises_is_an_observation_and_the_run_goes_on",
        "an_interrupt_in_a_handler_is_not_swallowed",
        "what_is_no_exception_comes_out_of_every_part_as_it_is",
    ),
    "R14": ("a_call_of_an_unknown_tool_is_told_the_known_names",),
    "R15": (
        "arguments_that_do_not_fit_never_reach_the_handler",
        "arguments_that_are_no_object_of_plain_json_reach_nobody",
        "a_check_that_does_not_say_none_refuses",
    ),
    "R16": (
        "a_hook_that_raises_ends_the_run_and_nothing_is_lost",
        "a_spoiled_conversation_never_hides_what_ended_the_run",
        "a_refusal_that_is_misspelt_does_not_pass",
    ),
    "R17": (
        "what_the_model_raises_comes_out_with_what_was_done",
        "some_errors_of_the_model_in_a_row_become_notes",
        "a_reply_beyond_its_limit_is_an_error_of_the_model",
    ),
    "R18": (
        "a_cancel_ends_a_run_at_once_and_the_state_is_kept",
        "wherever_a_run_is_cancelled_nothing_begins_afterwards",
        "wherever_a_gated_run_is_cancelled_every_permit_is_closed",
    ),
    "R19": ("what_a_handler_hands_back_becomes_text",),
    "R20": (
        "each_call_has_one_observation_under_an_id_of_its_own",
        "ids_of_the_seed_are_not_used_again",
        "whatever_a_hook_does_to_the_conversation_no_request_is_invalid",
        "whatever_a_model_answers_the_conversation_stays_whole",
    ),
    "R21": ("every_turn_is_a_checkpoint_also_with_a_model_that_never_waits",),
    "R22": (
        "calls_in_a_row_run_beside_each_other_and_are_observed_in_order",
        "without_parallel_calls_run_one_after_another",
        "a_row_is_judged_before_any_of_it_runs",
    ),
    # Guards
    "R30": (
        "guards_are_asked_in_their_order_and_before_the_hook",
        "the_first_refusal_ends_the_chain",
        "a_rewrite_feeds_the_next_guard_and_the_model_knows",
        "a_rewrite_to_arguments_that_do_not_fit_is_refused",
        "only_a_verdict_changes_a_call",
    ),
    "R31": (
        "a_guard_that_fails_blocks_the_call",
        "a_guard_that_fails_elsewhere_refuses_the_rest_of_the_turn",
        "a_guard_that_fails_before_the_model_ends_the_run",
        "a_guard_whose_deadline_breaks_lets_nothing_begin",
    ),
    "R32": (
        "a_blocked_call_is_answered_with_the_reason_and_shown_as_blocked",
        "a_rewrite_that_does_not_fit_is_free_for_the_guards_that_let_it_pass",
    ),
    "R33": (
        "a_guard_serves_one_run_at_a_time",
        "one_guard_serves_one_run_at_a_time_across_both_loops",
        "a_run_begins_with_nothing_remembered",
    ),
    # Loop detector
    "R40": ("of_three_equal_calls_two_run", "a_model_that_repeats_itself_is_stopped_by_its_third_insistence"),
    "R41": ("a_circle_that_is_left_in_time_is_none",),
    "R42": ("equal_calls_with_others_between_are_no_repetition",),
    "R43": ("keys_in_another_order_and_numbers_spelled_otherwise_are_the_same_call",),
    "R44": ("memory_is_bounded_by_the_window",),
    # Policy engine
    "R50": ("without_rules_a_call_passes_by_default",),
    "R51": ("what_is_unknown_is_refused_when_the_engine_is_made", "an_operand_that_makes_no_sense_is_refused_when_it_is_made"),
    "R52": ("deny_beats_allow_of_any_priority", "deny_overrides_whatever_else_is_there"),
    "R53": ("a_when_that_raises_is_read_against_the_call",),
    "R54": ("a_rewrite_replaces_or_removes_arguments_and_never_the_tool",),
    "R55": ("an_empty_host_list_holds_nothing",),
    "R56": ("the_stop_tool_is_exempt_from_the_default_unless_a_rule_names_it",),
    # Budget guard
    "R60": (
        "with_turns_of_two_two_model_calls_begin",
        "with_tool_calls_of_two_the_third_handler_does_not_begin",
        "tokens_are_used_up_at_their_limit_and_not_before",
        "a_handler_whose_time_was_up_before_it_began_does_not_begin",
        "a_model_whose_time_was_up_before_it_was_asked_is_not_asked",
    ),
    "R61": (
        "a_request_that_could_pass_the_limit_is_not_paid_for",
        "reservations_are_replaced_by_what_was_used_and_given_back_on_failure",
        "what_a_cancelled_request_was_reported_to_use_still_counts",
        "a_cancel_anywhere_leaves_no_reservation_behind",
    ),
    "R62": ("one_note_a_limit_tells_the_model_what_is_left", "the_warning_comes_at_its_share_and_not_before"),
    "R63": (
        "to_finish_one_last_request_offers_the_stop_tool_alone",
        "a_last_request_is_the_last_also_when_it_calls_something_else",
    ),
    "R64": ("a_handler_cut_by_time_gets_its_observation_before_the_run_ends",),
    "R65": ("runs_that_share_a_ledger_never_reserve_more_than_it_has", "windows_slide_on_the_injected_clock"),
    "R66": ("nothing_negative_no_nan_and_no_floats_for_money", "a_ledger_takes_whole_amounts_of_known_kinds_only"),
    # Beyond
    "J1": ("a_handler_that_takes_too_long_is_cut", "wherever_a_run_is_cancelled_nothing_begins_afterwards"),
    "J2": ("a_thousand_calls_are_capped_and_all_answered", "whatever_a_model_answers_the_conversation_stays_whole"),
    "J3": ("each_call_has_one_observation_under_an_id_of_its_own",),
    "J4": ("statistics_count_decisions_and_rules", "every_guard_of_ours_has_statistics_that_are_plain_json"),
    "J5": ("of_three_equal_calls_two_run", "a_circle_of_two_is_caught_at_its_sixth_call"),
    "J6": ("seconds_cut_a_model_call_in_flight", "a_request_that_could_pass_the_limit_is_not_paid_for"),
    "J7": ("what_a_handler_hands_back_becomes_text",),
    "J8": (
        "a_run_that_stopped_on_a_limit_can_go_on",
        "a_run_that_was_cancelled_can_go_on",
        "a_stored_run_that_was_changed_goes_on_or_is_refused",
        "a_result_with_anything_in_it_can_be_stored",
    ),
    "J9": ("what_the_model_raises_comes_out_with_what_was_done", "a_spoiled_conversation_never_hides_what_ended_the_run"),
    # What can go wrong
    "F1": ("a_turn_without_calls_goes_on",),
    "F2": ("a_turn_without_calls_goes_on", "a_turn_with_text_and_without_calls_can_end_the_run"),
    "F3": ("a_call_of_an_unknown_tool_is_told_the_known_names",),
    "F4": ("a_handler_that_raises_is_an_observation_and_the_run_goes_on",),
    "F5": ("a_hook_that_raises_ends_the_run_and_nothing_is_lost",),
    "F6": ("a_refused_call_leaves_its_handler_untouched",),
    "F7": ("a_blocked_stop_tool_does_not_stop_the_run",),
    "F8": ("calls_after_the_stop_tool_are_answered_and_not_run",),
    "F9": ("wherever_a_run_is_cancelled_nothing_begins_afterwards", "a_handler_that_swallows_a_cancel_has_nothing_after_it"),
    "F10": ("of_three_equal_calls_two_run",),
    "F11": ("a_circle_of_two_is_caught_at_its_sixth_call",),
    "F12": (
        "with_tool_calls_of_two_the_third_handler_does_not_begin",
        "a_budget_reached_in_mid_turn_refuses_the_rest_and_the_turn_is_persisted",
    ),
    "F13": ("a_guard_that_fails_blocks_the_call",),
    "F14": ("rewritten_arguments_that_do_not_fit_are_refused", "a_rewrite_to_arguments_that_do_not_fit_is_refused"),
    "F15": ("a_guard_serves_one_run_at_a_time",),
    "F16": ("a_tool_that_is_registered_during_a_run_is_in_the_next_turns_specs",),
    "F17": ("whatever_a_hook_does_to_the_conversation_no_request_is_invalid",),
    "F18": ("a_thousand_calls_are_capped_and_all_answered",),
    "F19": ("what_a_handler_hands_back_becomes_text",),
    "F20": ("what_a_handler_hands_back_becomes_text",),
}

NUMBERS = {
    *(f"R{n}" for first, last in ((1, 3), (10, 22), (30, 33), (40, 44), (50, 56), (60, 66)) for n in range(first, last + 1)),
    *(f"J{n}" for n in range(1, 10)),
    *(f"F{n}" for n in range(1, 21)),
}


def claims() -> dict[str, str]:
    """Each test beside this one, and its docstring."""
    found: dict[str, str] = {}
    for path in HERE.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found[node.name.removeprefix("test_")] = ast.get_docstring(node) or ""
    return found


def test_the_table_has_every_rule_and_none_besides() -> None:
    """A rule without a test is in the table as a hole, and that fails here."""
    assert set(RULES) == NUMBERS
    assert [rule for rule, names in RULES.items() if not names] == []


def test_every_test_that_the_table_names_is_there() -> None:
    """A test that was renamed or taken out leaves its rule without one."""
    known = claims()
    assert {rule: missing for rule, names in RULES.items() if (missing := [name for name in names if name not in known])} == {}


def test_every_rule_that_a_test_claims_is_one() -> None:
    """In its docstring; so a wrong number is found."""
    named = {rule for words in claims().values() for rule in re.findall(r"\b[RJ]\d+\b", words)}
    assert sorted(named - NUMBERS) == []
    assert sorted({rule for rule in NUMBERS if rule.startswith("R")} - named) == []
