"""Every rule of the tool reference, sections 1 to 9, has a test that holds it, and each test that is named here is there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]

TOOLS, FILL, SEND, SECRET, ACTS, CANCEL, VIEW = (
    "browser/test_tools.py",
    "browser/acting/test_fill.py",
    "browser/acting/test_fill_and_send.py",
    "browser/acting/test_passwords.py",
    "browser/acting/test_acts.py",
    "browser/acting/test_fill_cancel.py",
    "browser/test_tools_view.py",
)
PAY, ADDRESS, TASK, LAUNCHED = (
    "browser/acting/test_pay.py",
    "browser/test_tools_address.py",
    "browser/tasks/test_tool.py",
    "firefox/test_fill_form.py",
)

RULES: dict[str, tuple[tuple[str, str], ...]] = {
    # 1. The seven tools
    "1 scopes, closed arguments; forged keys never reach the gate": (
        (TOOLS, "test_the_tools_have_their_scopes_and_closed_arguments"),
    ),
    "1 one to twelve fields, checked in prepare": ((FILL, "test_there_are_one_to_twelve_fields"),),
    # 2. Constructing the pack
    "2 chooser, passwords and focus are the pack's options": (
        (TOOLS, "test_the_chooser_and_the_passwords_are_those_of_browser_task"),
        (SECRET, "test_an_allowed_password_is_typed_and_nobody_can_read_it"),
    ),
    # 3. What happens to one call
    "3 a refusal in prepare is judged by nobody and runs nothing": (
        (FILL, "test_a_value_that_does_not_fit_is_refused_before_the_gate"),
    ),
    "3 the domain is the host of the tab at the time of the check": (
        (TOOLS, "test_the_domain_is_the_host_of_the_tab_and_nothing_else_will_do"),
    ),
    "3 open_url takes http and https alone": ((TOOLS, "test_open_url_opens_and_reads"),),
    "3 a moved tab: both hosts named, nothing ran, no read": (
        (TOOLS, "test_a_tab_that_moved_after_the_judgement_is_left_alone"),
        (FILL, "test_a_tab_that_moved_after_the_judgement_is_left_alone"),
        (FILL, "test_a_page_that_goes_to_another_host_in_the_middle_is_neither_read_nor_acted_on"),
    ),
    "3 cancelled: nothing more is sent": (
        (TOOLS, "test_a_cancel_before_the_act_sends_nothing"),
        (CANCEL, "test_wherever_a_form_of_twelve_fields_is_cancelled_what_is_told_is_what_the_page_received"),
        (CANCEL, "test_a_cancel_before_the_first_field_touches_nothing"),
        (LAUNCHED, "test_stopped_after_the_kth_event_what_is_told_is_what_the_page_received"),
    ),
    "3 one at a time per tab, first come first served": (
        (TOOLS, "test_runs_of_one_tab_are_done_one_after_the_other"),
    ),
    "3 prepare takes the same lock": ((TOOLS, "test_a_pin_waits_until_a_running_call_has_looked_again"),),
    "3 the lock is not held while an approval waits": ((TOOLS, "test_the_lock_is_free_while_a_human_decides"),),
    # 4. Snapshot memory and pinning
    "4 a control needs a remembered snapshot with that id": (
        (TOOLS, "test_without_a_snapshot_nothing_can_be_named"),
        (TOOLS, "test_an_unknown_control_is_refused_with_the_way_out"),
        (FILL, "test_without_a_snapshot_or_with_an_unknown_id_nothing_can_be_named"),
    ),
    "4 the pin, with document, section, destination and risk": (
        (TOOLS, "test_the_pin_says_where_the_control_is_what_it_looks_like_and_where_it_sends"),
        (ACTS, "test_what_sends_or_has_a_risk_keeps_the_strict_comparison"),
    ),
    "4 targets, one per field in the given order, plus send": (
        (FILL, "test_pins_are_judged_one_per_field_in_the_given_order"),
        (SEND, "test_pins_of_the_fields_and_of_the_send_are_judged"),
    ),
    "4 a newer read or any difference is stale": (
        (TOOLS, "test_a_look_while_the_human_decides_makes_the_approval_worthless"),
        (TOOLS, "test_a_pin_that_differs_from_the_newest_look_is_stale"),
        (FILL, "test_a_read_while_the_human_decides_makes_it_stale"),
        (FILL, "test_a_pin_that_is_not_the_newest_look_s_runs_nothing"),
    ),
    "4 a missing pin runs nothing": ((TOOLS, "test_without_a_pin_nothing_runs"),),
    "4 what runs is what was judged": (
        (TOOLS, "test_what_runs_is_what_was_judged"),
        (ACTS, "test_of_a_pin_only_what_fields_change_may_be_newer_than_what_was_judged"),
        (ACTS, "test_a_call_whose_operations_and_values_do_not_fit_is_nothing_that_was_judged"),
    ),
    "4 changes elsewhere pass, changes of the own form do not": (
        (ACTS, "test_changes_elsewhere_pass_and_changes_in_the_own_form_do_not"),
    ),
    "4 a refusal by the page drops the snapshot": (
        (TOOLS, "test_a_refusal_by_the_page_is_a_failed_result_and_drops_the_snapshot"),
        (FILL, "test_a_first_field_that_is_refused_is_a_refusal_like_any_other"),
    ),
    "4 an accepted act is settled and read again": ((TOOLS, "test_an_accepted_act_is_settled_and_read_again"),),
    "4 an act counts as done when the look after it fails": (
        (TOOLS, "test_an_act_counts_as_done_when_the_look_after_it_fails"),
    ),
    # 5. Results
    "5 the summary is ours, page words are outside": (
        (TOOLS, "test_snapshot_reads_the_page_and_keeps_its_words_apart"),
        (FILL, "test_the_tool_s_own_words_hold_none_of_the_page_s"),
    ),
    "5 fill and fill_and_send return a check per field, and of the send": (
        (FILL, "test_each_kind_of_field_is_set_by_its_own_operation"),
        (SEND, "test_the_form_arrives_with_what_was_judged"),
        (SEND, "test_what_counts_as_sent"),
        (LAUNCHED, "test_twelve_fields_arrive_as_they_were_judged"),
    ),
    "5 stop_batch when the page was left or a captcha came up": (
        (TOOLS, "test_a_click_that_sends_says_so_and_ends_the_batch_when_the_page_is_left"),
        (FILL, "test_a_captcha_or_a_new_page_ends_the_batch"),
    ),
    "5 after act, fill and click only what changed is shown": (
        (ACTS, "test_only_what_changed_is_shown_after_an_act"),
        (FILL, "test_the_page_is_shown_once_at_the_end"),
    ),
    # 6. Each tool
    "6 snapshot: counts, captcha, what was cut": (
        (TOOLS, "test_snapshot_reads_the_page_and_keeps_its_words_apart"),
        (VIEW, "test_every_control_is_reached_by_following_the_ways_that_are_told"),
    ),
    "6 act: a secret field is refused": ((TOOLS, "test_a_secret_field_is_never_written"),),
    "6 act: a value is required for type, select and date": ((TOOLS, "test_an_operation_that_sets_something_needs_a_value"),),
    "6 act: a value is ignored for check and uncheck": ((TOOLS, "test_a_value_that_an_operation_ignores_is_not_judged"),),
    "6 act: several options": ((ACTS, "test_several_options_are_chosen_with_values"),),
    "6 act and click: nothing changed is not ok": (
        (ACTS, "test_a_click_that_changes_nothing_is_a_failed_result_with_a_next_step"),
    ),
    "6 fill: the table of controls, values and operations": (
        (FILL, "test_each_kind_of_field_is_set_by_its_own_operation"),
        (FILL, "test_a_value_that_does_not_fit_is_refused_before_the_gate"),
    ),
    "6 fill: the given order": ((FILL, "test_the_order_is_the_planner_s"),),
    "6 fill: stops at the first refusal, and says how many were set": (
        (FILL, "test_it_stops_at_the_first_refusal_and_says_how_far_it_came"),
    ),
    "6 fill: the page is read once, also after a partial fill": (
        (FILL, "test_the_page_is_shown_once_at_the_end"),
        (FILL, "test_it_stops_at_the_first_refusal_and_says_how_far_it_came"),
    ),
    "6 fill: own changes between fields are expected, others are stale": (
        (FILL, "test_changes_that_are_no_pinned_control_s_do_not_matter_between_fields"),
        (FILL, "test_a_pinned_field_that_an_earlier_one_changed_is_stale"),
        (FILL, "test_a_page_that_is_left_in_the_middle_is_stale_and_ends_the_batch"),
        (LAUNCHED, "test_a_field_that_an_earlier_one_replaced_is_not_touched"),
    ),
    "6 fill_and_send: a submit control or a button, enabled or enabled by the form": (
        (SEND, "test_only_a_submit_control_or_a_button_sends"),
        (SEND, "test_a_send_control_that_the_form_enables_after_filling_may_be_disabled"),
        (LAUNCHED, "test_a_button_that_the_form_enables_is_pressed"),
    ),
    "6 fill_and_send: any drift is stale and not sent": (
        (SEND, "test_a_form_that_is_not_what_was_judged_is_not_sent"),
        (SEND, "test_what_is_not_of_the_judged_form_is_no_drift"),
        (SEND, "test_enabled_and_otherwise_changed_is_not_the_judged_control"),
        (LAUNCHED, "test_a_form_that_changes_while_it_is_filled_is_not_sent"),
    ),
    "6 fill_and_send: without a submit event or navigation the result says so": (
        (SEND, "test_without_a_submit_event_or_navigation_sending_was_not_observed"),
        (LAUNCHED, "test_a_form_that_the_browser_does_not_send_is_told_as_such"),
    ),
    "6 click: opened tabs and dialogs are told": (
        (ACTS, "test_the_summary_says_what_came_of_an_act"),
        (ACTS, "test_a_click_tells_of_tabs_and_dialogs_as_data"),
    ),
    "6 open_url: forgets, opens, waits, reads where it was judged": (
        (TOOLS, "test_open_url_opens_and_reads"),
        (TOOLS, "test_open_url_that_is_led_to_another_host_reads_nothing"),
        (TOOLS, "test_open_url_forgets_the_snapshot_also_when_it_fails"),
    ),
    "6 browser_task: preview, one approval, check": ((TASK, "test_a_goal_is_previewed_approved_once_done_and_checked"),),
    "6 describe: act and click": (
        (TOOLS, "test_the_human_reads_the_operation_and_the_value"),
        (TOOLS, "test_the_human_reads_what_control_is_pressed_where_and_where_it_sends"),
    ),
    "6 describe: fill": (
        (FILL, "test_the_human_reads_the_page_and_one_line_for_each_field"),
        (FILL, "test_no_value_can_push_another_field_out_of_the_human_s_sight"),
    ),
    "6 describe: fill_and_send": ((SEND, "test_the_human_reads_what_sends_where_first_and_then_the_fields"),),
    "6 describe: browser_task": ((TASK, "test_the_human_is_shown_page_goal_form_and_what_one_yes_covers"),),
    # 7. Passwords
    "7 without the opt-in every secret field is refused": ((SECRET, "test_without_passwords_every_secret_field_is_refused"),),
    "7 exact equality, and no echo": ((SECRET, "test_a_value_that_is_not_exactly_an_allowed_one_is_refused"),),
    "7 the address is the frame's, and is asked again": (
        (SECRET, "test_an_allowed_password_is_typed_and_nobody_can_read_it"),
        (SECRET, "test_the_host_is_asked_again_where_the_frame_is_now"),
    ),
    "7 the field is read again right before": (
        (SECRET, "test_the_field_is_read_again_right_before_its_value_is_typed"),
        (LAUNCHED, "test_a_password_is_typed_where_it_is_allowed_and_read_nowhere"),
    ),
    "7 a mask in describe, results, data and trail": (
        (SECRET, "test_an_allowed_password_is_typed_and_nobody_can_read_it"),
        (SECRET, "test_events_and_trail_have_a_mask"),
        (SECRET, "test_a_mismatch_of_a_secret_says_nothing_of_it"),
    ),
    "7 the gate judges a salted digest": (
        (SECRET, "test_equal_secrets_have_different_seals_and_equal_calls_are_equal"),
        (SECRET, "test_the_tab_types_no_other_value_than_the_sealed_one"),
        (SECRET, "test_a_forged_seal_runs_nothing"),
    ),
    # 8. Focus
    "8 focus is asked at each look, and changes only what is shown": (
        (VIEW, "test_the_hosts_focus_and_the_planners_choose_what_is_shown"),
    ),
    # 9. Failures the planner can see
    "9 each failure is a result that says what to do next": (
        (TOOLS, "test_a_page_that_cannot_be_read_is_a_failed_result_with_the_way_out"),
        (TOOLS, "test_a_browser_that_fails_in_an_act_is_a_failed_result"),
        (FILL, "test_a_lost_browser_in_the_middle_is_a_failed_result_with_what_was_done"),
        (ADDRESS, "test_anything_else_is_refused_in_our_own_words"),
    ),
    # 12.2 Money
    "12 pay reads the amount again right before the act": (
        (PAY, "test_an_amount_that_changed_while_the_human_decided_is_not_paid"),
        (LAUNCHED, "test_only_the_judged_amount_is_paid"),
    ),
    "12 what spends is never silently a submit": (
        (PAY, "test_with_prices_what_spends_is_left_to_pay"),
        (PAY, "test_without_prices_what_spends_is_asked_about_each_time"),
        (PAY, "test_a_task_that_spends_money_is_no_way_around"),
    ),
}  # fmt: skip


@cache
def asserting_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(
        node.name for node in functions if any(isinstance(inner, ast.Assert | ast.With | ast.AsyncWith) for inner in ast.walk(node))
    )


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_its_tests(rule: str) -> None:
    """They are there, and assert something."""
    assert RULES[rule]
    for file, name in RULES[rule]:
        assert name in asserting_in(file), f"{file} has no test {name} for: {rule}"


def test_every_section_of_the_reference_has_rules() -> None:
    """Sections 1 to 9; and money."""
    assert {rule.split(" ")[0] for rule in RULES} == {*"123456789", "12"}
