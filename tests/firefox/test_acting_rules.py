"""Every rule of acting, settling, deadlines, dialogs, tasks and of what goes beyond has a test that fails when it goes.

The numbers are those of the page reference; a rule is in a few words of ours. Tests are named as ``file::test``, the file without
``test_`` and ``.py``, in tests/firefox unless there is a folder. What cannot be acted on, and why, is in docs/reference/acting.md.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

RULES: dict[str, list[str]] = {
    # 4.1 Checks
    "4 the call targets that exact document": ["page_acting::the_wrong_incarnation_and_a_strange_document_are_refused"],
    "4 a document that left is navigated": ["session::a_pin_of_a_document_that_left_is_refused"],
    "4.1 gone, hidden, disabled, readonly touch nothing": ["page_acting::a_refusal_touches_nothing"],
    "4.1 control differs, page differs": ["page_acting::a_change_after_the_look_makes_the_act_stale"],
    "4.1 another kind of thing is stale": ["page_acting::a_control_that_became_another_kind_of_thing_is_stale"],
    "4.1 what does not matter lets it through": ["page_acting::a_change_that_does_not_matter_lets_the_act_through"],
    "4.1 between our own events too": [
        "act_sameness::a_control_that_the_page_renames_meanwhile_is_not_acted_on",
        "act_sameness::a_row_that_becomes_another_one_is_not_acted_on",
        "act_sameness::text_is_not_typed_into_a_field_that_became_another",
        "act_sameness::a_form_that_is_made_to_go_elsewhere_is_not_sent",
        "act_sameness::the_second_way_to_type_asks_again",
        "act_sameness::what_is_dragged_is_not_let_go_over_another_thing",
        "act_sameness::enter_sends_no_other_form_than_the_judged_one",
        "act_sameness::a_link_that_a_key_renames_is_not_followed",
        "act_sameness::what_a_hand_would_not_mind_stops_no_act",
        "wrong_element::no_act_lands_on_another_element",
    ],
    "4.1 a refusal after events says that it acted": ["browser/tab::a_refusal_in_the_middle_is_partial"],
    # 4.2 Reaching
    "4.2 scrolled into view, around bars, in its own container": ["page_acting::a_control_is_scrolled_into_reach"],
    "4.2 everything is checked again after a scroll": ["page_acting::what_changes_while_it_is_scrolled_into_view_is_stale"],
    "4.2 covered, by what": ["page_acting::a_covered_control_is_refused_by_the_name_of_its_cover"],
    "4.2 other points of it, and the very point asked for": [
        "page_acting::a_covered_control_is_refused_by_the_name_of_its_cover",
        "act_pointer::a_point_that_something_covers_is_refused",
    ],
    "4.2 the ring": ["page_acting::a_ring_is_shown_and_gone_again"],
    "4.2 one that moves under the pointer": [
        "act_sameness::a_control_that_moves_once_under_the_pointer_is_followed",
        "page_acting::a_control_that_dodges_the_pointer_is_not_pressed",
        "act_made_up::an_icon_whose_picture_goes_under_the_pointer_is_pressed",
        "act_made_up::a_button_that_shrinks_under_the_pointer_is_not_pressed",
    ],
    # 4.3 The pointer sequence
    "4.3 the sequence, with enter and leave": ["page_acting::a_click_is_the_whole_sequence_of_a_mouse"],
    "4.3 a cancelled pointerdown": ["page_acting::a_cancelled_pointerdown_leaves_out_the_mouse_events"],
    "4.3 default actions run": ["page_acting::a_click_on_a_link_goes_there_and_the_old_document_is_gone"],
    # 4.4 The operations
    "4.4 type replaces the whole content": ["page_acting::a_field_holds_what_was_typed"],
    "4.4 type: keys, trusted input, change": ["page_acting::typing_sends_what_pages_wait_for"],
    "4.4 type: past a framework's own property": ["page_acting::controlled_fields_of_a_framework_take_every_kind_of_act"],
    "4.4 type: mismatch, maxlength": ["page_acting::a_field_that_did_not_take_the_text_is_a_mismatch"],
    "4.1 disabled by ARIA": ["act_habits::what_aria_calls_disabled_is_not_pressed"],
    "4.4 type: as it is": ["act_habits::text_arrives_as_it_is"],
    "7 one that is open already": ["act_habits::a_dialog_that_is_open_when_the_page_is_read_hangs_nothing"],
    "4.4 type: masks": ["act_text::a_mask_holds_the_text_or_it_is_a_mismatch_with_what_it_holds"],
    "4.4 type: a field is left by the next act": ["act_habits::a_plain_field_keeps_the_focus_and_is_left_by_the_next_act"],
    "4.4 type: a field with a calendar is left at once": ["act_habits::a_field_with_a_calendar_is_left_when_it_was_typed_into"],
    "4.4 type: only ever into that field": ["page_acting::text_never_lands_in_another_field_that_grabs_the_focus"],
    "4.4 select by value or only label": ["page_acting::an_option_is_selected_by_value_or_by_its_only_label"],
    "4.4 select several": ["act_choosing::a_select_of_several_takes_a_list"],
    "4.4 check and uncheck": ["page_acting::check_and_uncheck_press_only_when_the_state_differs"],
    "4.4 check waits for the state": ["page_acting::a_toggle_that_changes_later_is_waited_for"],
    "4.4 check: what has no state": ["page_acting::what_has_no_state_is_not_pressed_to_find_out"],
    "4.4 date": ["page_acting::a_date_is_set_in_a_date_field_and_typed_in_another"],
    "4.4 enter": ["page_acting::enter_sends_the_form_by_its_button"],
    "4.4 scroll": [
        "page_acting::scrolling_moves_the_window_or_the_container_of_the_control",
        "act_scroll::what_the_control_stands_in_moves_and_the_result_says_how_far",
    ],
    "4.5 submits are seen, cancelled ones too": ["page_acting::a_submit_is_noticed"],
    "4.5 no page keeps them from us": ["page_acting::no_page_can_keep_submits_and_its_coming_and_going_from_us"],
    "4.5 a form that lacks something": ["act_effects::a_form_that_lacks_something_says_so"],
    # 5 Settling
    "5 quiet for 120 ms, never longer than 1500 ms": ["page_acting::settling_waits_for_quiet_and_not_for_ever"],
    "5 a list of suggestions": [
        "page_acting::settling_waits_for_a_list_of_suggestions",
        "act_habits::suggestions_without_a_named_list_are_waited_for",
        "act_habits::a_word_that_the_server_is_asked_is_no_suggestion",
    ],
    "5 shadow trees, frames, transitions": ["act_habits::settling_watches"],
    "5 requests of the page": ["act_habits::settling_waits_for_a_request_of_the_page"],
    # 6 Deadlines and navigation
    "6 reading: 50 times 200 ms, then one last": ["browser/tab::a_tab_that_loads_for_ever_is_read_after_ten_seconds"],
    "6 act: no answer is unknown": ["browser/tab::an_act_without_an_answer_is_unknown"],
    "6 nothing runs after its deadline": ["page_acting::a_call_after_its_deadline_never_runs"],
    "6 settle gives up after 3 s": ["browser/tab::settling_gives_up_after_three_seconds"],
    "6 250 ms after a send": ["browser/tab::settling_waits_for_a_navigation_only_after_a_send"],
    "6 a page that leaves has settled": ["browser/tab::a_page_that_cannot_be_watched_counts_as_settled"],
    # 7 and 21.15 Dialogs
    "7 never yes by themselves, told": ["page_acting::dialogs_during_an_act_are_answered_by_no_and_reported"],
    "7 while settling": ["page_acting::a_dialog_that_comes_while_the_page_settles_is_answered_too"],
    "7 bounded": ["page_acting::a_page_that_asks_for_ever_is_stopped"],
    "7 one armed answer": ["act_dialogs::the_armed_answer_is_given_once_and_no_to_all_else"],
    "7 leaving a page": [
        "act_dialogs::a_page_that_asks_not_to_be_left_is_not_left",
        "act_dialogs::a_page_is_left_when_that_was_armed",
    ],
    "7 in frames": ["act_dialogs::a_dialog_of_a_frame_is_answered_too"],
    "7 a real one holds nothing back": ["page_acting::a_real_dialog_does_not_hold_the_answer_back"],
    # 14 One site per run
    "14 the site of an address": ["browser/tasks/risk::a_site_is_what_somebody_registered"],
    "14 the same site, and named hosts": ["browser/tasks/risk::a_run_stays_on_its_site_and_on_the_hosts_it_was_given"],
    "14 downgrade": ["browser/tasks/risk::only_from_https_to_http_is_a_downgrade"],
    # 15 The controller
    "15.1 step-limit": ["browser/tasks/controller::the_number_of_steps_is_bounded_refusals_included"],
    "15.2 page-keeps-changing": ["browser/tasks/controller::three_changes_in_a_row_block_and_a_success_in_between_forgives"],
    "15.3 captcha": ["browser/tasks/controller::a_captcha_blocks_before_anything_is_done"],
    "15.4 suggestions": [
        "browser/tasks/controller::the_entry_that_names_what_was_typed_is_clicked",
        "browser/tasks/controller::without_a_fitting_entry_the_text_stays_as_typed",
    ],
    "15.5 pickers": [
        "browser/tasks/picker::the_day_that_is_labelled_with_the_date_is_clicked",
        "browser/tasks/picker::pages_are_turned_towards_the_date",
        "browser/tasks/picker::after_24_pages_the_run_gives_up",
        "browser/tasks/picker::a_picker_without_the_day_and_without_a_way_on_blocks",
    ],
    "15.6 requirements in their order": [
        "browser/tasks/controller::requirements_are_served_in_their_order_and_then_the_form_is_sent"
    ],
    "15.7 not to be sent": [
        "browser/tasks/controller::nothing_is_sent_when_the_goal_says_so",
        "browser_task::nothing_arrives_when_the_goal_says_so",
    ],
    "15.8 sending": [
        "browser/tasks/controller::several_forms_are_sent_in_the_order_in_which_they_were_filled",
        "browser/tasks/controller::a_disabled_button_blocks",
        "browser/tasks/controller::a_risky_button_blocks_unless_the_goal_asks_for_it",
        "browser/tasks/controller::without_a_button_enter_is_pressed_in_the_field_filled_last",
    ],
    "15 refusals bar a control": ["browser/tasks/controller::any_other_refusal_bars_the_control_and_another_one_is_looked_for"],
    "15 what confirms a send": ["browser/tasks/controller::a_send_counts_with_a_submit_event_or_a_new_page_only"],
    "15 consent goes to a box first": ["browser/tasks/controller::consent_goes_to_a_box_before_a_link"],
    "15 off": ["browser/tasks/controller::off_only_ever_switches_off"],
    # 16 Running a task
    "16 look, decide, act, settle, look": ["browser/tasks/run::a_step_is_look_act_settle_look_and_a_send_gets_its_pause"],
    "16 other-site before acting there": ["browser/tasks/run::a_run_does_nothing_on_another_site"],
    "16 any exception is how it ended": ["browser/tasks/run::whatever_goes_wrong_is_how_the_run_ended"],
    "16 cancel": [
        "browser/tasks/run::a_cancel_goes_through_and_nothing_is_done_after_it",
        "browser/tasks/tool::wherever_a_task_is_cancelled_nothing_is_sent_after_it_and_the_effect_is_true",
    ],
    "16 a whole task in Firefox": ["browser_task::a_whole_form_arrives_as_the_goal_says_with_one_approval"],
    # 20 Reasons of acts
    "20 gone hidden disabled readonly": ["page_acting::a_refusal_touches_nothing"],
    "20 stale": ["page_acting::a_change_after_the_look_makes_the_act_stale"],
    "20 covered": ["page_acting::a_covered_control_is_refused_by_the_name_of_its_cover"],
    "20 unsupported": ["page_acting::what_has_no_state_is_not_pressed_to_find_out"],
    "20 navigated": ["session::a_pin_of_a_document_that_left_is_refused"],
    "20 mismatch": ["page_acting::a_field_that_did_not_take_the_text_is_a_mismatch"],
    "20 dialog": ["page_acting::a_real_dialog_does_not_hold_the_answer_back"],
    "20 popup-blocked": ["act_effects::a_window_that_firefox_refuses_is_told"],
    "20 timeout": ["browser/tab::an_act_without_an_answer_is_unknown"],
    "20 nothing-changed (ours)": ["act_effects::a_press_of_which_nothing_came_is_not_ok"],
    "20 needs-focus (ours)": ["act_text::an_editor_in_the_background_needs_the_focus"],
    "20 other-site (ours)": ["page_acting::a_refusal_touches_nothing"],
    "20 not-found (ours)": ["act_scroll::a_list_is_scrolled_until_the_text_is_there"],
    # 21 What goes beyond, as far as it acts
    "21.1 closed shadow trees": ["act_habits::a_control_in_a_closed_shadow_root_is_acted_on"],
    "21.2 styled boxes": ["page_acting::a_styled_checkbox_is_pressed_at_its_label"],
    "21.2 a hidden file field behind a label": ["act_files::files_arrive_with_name_type_and_bytes"],
    "21.3 editors: letters that join": ["act_hostile::letters_that_join_are_text_in_a_rich_editor_too"],
    "7 one that hangs the page": ["act_hostile::the_windows_of_a_page_that_does_not_come_back_are_known"],
    "21.3 editors": ["act_text::an_editor_holds_what_was_typed", "act_text::an_editor_that_takes_nothing_is_a_mismatch"],
    "21.4 a point of a canvas": ["act_pointer::a_click_lands_at_the_point_that_was_asked_for"],
    "21.5 hover by script": [
        "act_pointer::a_menu_that_opens_by_script_is_opened",
        "act_habits::a_menu_that_waits_for_a_moment_of_rest_is_open_when_hover_ends",
    ],
    "21.5 hover by style sheet": ["act_pointer::a_menu_that_only_a_style_sheet_opens_is_opened_and_can_be_used"],
    "21.5 hover_only, acted on at once": ["act_habits::what_only_a_style_sheet_drops_is_acted_on_at_once"],
    "21.6 keys and their default actions": ["act_keys::keys_do_what_they_do_by_themselves"],
    "21.6 keys come to what was judged": [
        "act_keys::keys_that_come_to_another_control_do_nothing_there",
        "act_keys::keys_go_on_in_what_the_control_opens",
        "act_keys::keys_that_a_page_which_is_left_did_not_get_are_not_told_as_done",
    ],
    "21.6 the events of a key": ["act_keys::a_stroke_is_down_press_and_up_with_what_pages_look_at"],
    "21.6 Firefox's own shortcuts": ["act_keys::shortcuts_of_the_page_work_and_firefox_s_own_do_not"],
    "21.7 files": [
        "act_files::files_arrive_with_name_type_and_bytes",
        "act_files::what_a_field_does_not_take_is_refused_untouched",
    ],
    "21.7 ten files, 25 MiB": ["act_files::bytes_that_did_not_come_or_are_too_many_are_refused"],
    "21.8 HTML drag": [
        "act_pointer::html_drag_and_drop_hands_the_data_over",
        "act_pointer::a_drop_that_the_page_does_not_take_is_told",
    ],
    "21.8 what becomes draggable when pressed": ["act_habits::a_list_that_makes_things_draggable_when_they_are_pressed"],
    "21.8 pointer drag": [
        "act_pointer::a_list_is_sorted_by_small_steps",
        "act_pointer::a_slider_with_pointer_capture_follows_the_pointer",
    ],
    "21.8 sliders": ["act_pointer::a_native_slider_is_set_to_where_it_was_dragged"],
    "21.8 what can be dragged is listed": ["act_habits::what_can_be_dragged_is_listed"],
    "21.9 covered in a page around the frame": ["act_habits::a_frame_that_the_page_covers_is_not_pressed_through"],
    "21.11 custom selects": [
        "act_choosing::a_button_with_a_list_is_opened_and_an_option_pressed",
        "act_choosing::suggestions_that_come_from_a_server_are_waited_for",
        "act_choosing::several_values_are_chosen_one_after_the_other",
    ],
    "21.12 which button sends": [
        "browser/tasks/risk::the_button_that_sends_is_told_from_those_beside_it",
        "browser/tasks/controller::two_equal_buttons_block_and_both_are_named",
    ],
    "21.13 nothing to change": ["browser/tasks/controller::a_form_that_holds_all_already_is_sent_as_it_is"],
    "21.14 sends without navigation": [
        "browser/tasks/controller::an_answered_request_counts_when_the_fields_were_cleared_or_went_away"
    ],
    "21.17 opened tabs": ["act_effects::a_tab_that_an_act_opens_is_told"],
    "21.17 refused popups": ["act_effects::a_window_that_firefox_refuses_is_told"],
    "21.18 links without an address": ["act_habits::a_link_without_an_address_is_listed"],
    "21.19 scroll until": [
        "act_scroll::a_list_is_scrolled_until_the_text_is_there",
        "act_scroll::a_list_that_loads_more_at_its_end_is_waited_for",
    ],
    "21.20 changes elsewhere": ["act_effects::changes_in_another_form_are_told_and_do_not_refuse"],
    "21.23 behind a modal": ["reading_sight::what_lies_behind_a_modal_dialog_says_so"],
    "21.24 days with bare numbers": ["browser/tasks/picker::days_with_bare_numbers_are_told_by_the_month_that_is_shown"],
    "21.25 a real gesture": ["act_effects::a_page_that_wants_a_real_hand_is_told_so"],
    # Issue: proof of effect, and the libraries
    "every act tells what came of it": ["act_effects::an_act_tells_what_came_of_it"],
    "what was put in and did not stay is no success": [
        "act_hostile::what_the_page_puts_back_a_moment_later_is_no_success",
        "act_hostile::a_form_whose_fields_the_page_puts_back_is_not_filled",
        "act_hostile::what_the_page_writes_in_its_own_way_is_kept",
    ],
    "what changes by itself is not the act's": ["act_effects::what_changes_by_itself_is_not_taken_for_the_act_s"],
    "more hands: text is marked": [
        "act_text::text_is_marked_as_by_a_mouse",
        "act_text::what_is_not_there_cannot_be_marked",
        "act_sameness::what_fields_do_when_they_are_entered_stops_no_typing",
    ],
    "more hands: copy, cut, paste": [
        "act_text::text_is_copied_cut_and_pasted_inside_the_page",
        "act_text::the_page_may_put_something_else_on_the_clipboard",
        "act_text::nothing_is_copied_out_of_a_secret_field",
    ],
    "more hands: double and right click": ["act_pointer::a_double_click_and_a_right_click_send_their_events"],
    "more hands: a press that wants a file chooser": ["act_habits::a_press_that_opens_a_file_chooser_says_so"],
    "more hands: menus' heads": ["act_habits::the_head_of_a_menu_is_listed_when_nothing_else_can_be_pointed_at"],
    "more hands: drag along a path, onto what was judged": [
        "act_pointer::drawing_follows_the_path",
        "act_pointer::the_other_control_must_still_be_the_judged_one",
    ],
    "more hands: hovering proves itself": ["act_pointer::hovering_over_what_does_nothing_says_so"],
    "where an act leads is told": ["act_effects::where_an_act_leads_is_told"],
    "a cancel stops between sub-steps, and what was done is told": [
        "act_cancel::keys_stop_where_they_are_stopped",
        "act_cancel::a_drag_stops_on_its_way_and_drops_nothing",
        "act_cancel::an_editor_stops_between_its_lines",
        "act_cancel::a_list_that_was_opened_is_not_chosen_from",
        "act_cancel::scrolling_for_a_text_stops",
        "act_cancel::a_press_that_was_made_is_told_and_its_effect_is_not_waited_for",
        "act_cancel::files_that_are_staged_and_never_used_reach_no_page",
    ],
    "21 frames": [
        "act_frames::a_frame_without_an_address_is_of_the_page_that_made_it",
        "act_frames::a_dialog_of_a_page_of_another_origin_does_not_stay_open",
        "act_frames::what_shows_only_under_the_pointer_is_brought_out_first",
        "act_frames::what_the_page_around_lays_over_a_frame_covers_what_is_in_it",
    ],
    "21 trusted": [
        "act_trusted::a_line_break_would_send_so_it_is_refused",
        "act_trusted::a_link_that_is_pressed_by_hand_is_followed",
        "act_trusted::a_menu_under_the_mouse_opens",
        "act_trusted::a_page_that_takes_only_a_real_hand_is_used",
        "act_trusted::a_permit_that_is_over_lets_nothing_through",
        "act_trusted::a_stop_in_the_middle_of_a_piece_lets_go_of_what_is_held_and_leaves_the_hand_free",
        "act_trusted::a_stop_on_the_way_sends_nothing_more_and_says_what_arrived",
        "act_trusted::an_act_by_hand_whose_line_is_cut_sends_no_further_piece",
        "act_trusted::only_a_launched_firefox_has_such_input",
        "act_trusted::what_comes_behind_a_key_that_leads_away_reaches_no_other_page",
        "act_trusted::what_changes_between_aim_and_press_is_not_pressed",
        "act_trusted::what_only_a_script_can_do_goes_the_first_way",
        "act_trusted::what_lies_in_a_frame_is_pressed_by_script_or_refused_with_that_reason",
    ],
    "21 trusted, on pages that work against it": [
        "act_trusted_hostile::a_page_that_writes_itself_anew_under_the_pointer_is_not_pressed",
        "act_trusted_hostile::an_act_that_takes_too_long_says_what_arrived_and_sends_no_more",
        "act_trusted_hostile::enter_does_not_send_a_form_that_a_key_has_led_elsewhere",
        "act_trusted_hostile::keys_behind_one_that_leads_away_without_a_request_reach_nobody_and_are_not_told_as_done",
        "act_trusted_hostile::no_key_comes_to_a_frame_that_the_page_gives_the_focus",
        "act_trusted_hostile::no_key_comes_to_what_has_the_focus_when_the_control_is_gone",
        "act_trusted_hostile::no_press_comes_to_a_frame_that_the_page_makes_under_the_pointer",
        "act_trusted_hostile::no_press_comes_to_a_frame_that_the_page_puts_under_the_pointer",
        "act_trusted_hostile::the_persons_clipboard_is_neither_read_nor_written_by_keys",
        "act_trusted_hostile::what_a_hand_would_not_mind_stops_no_press_of_it",
        "act_trusted_hostile::what_becomes_another_thing_while_the_button_is_down_is_not_clicked",
        "act_trusted_hostile::what_is_on_its_way_when_an_act_is_stopped_reaches_no_other_page",
        "act_trusted_hostile::what_is_on_its_way_when_the_line_is_cut_reaches_no_other_page",
    ],
    "pages with real libraries": ["acting_aims::every_aim_comes_to_what_it_must"],
}


@cache
def names_in(file: str) -> frozenset[str]:
    folder, _, name = file.rpartition("/")
    path = TESTS / (folder or "firefox") / f"test_{name}.py"
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path.is_file() else []
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_of_acting_has_its_test(rule: str) -> None:
    """Each one named is there. That it fails when the rule goes is what the rules were written beside."""
    assert RULES[rule] != []
    assert [named for named in RULES[rule] if f"test_{named.partition('::')[2]}" not in names_in(named.partition("::")[0])] == []


def test_every_test_of_acting_is_named_by_a_rule_or_says_why() -> None:
    """A new test of acting belongs to a rule, so that the table stays whole; those that keep a choice of ours are told apart."""
    named = {test for tests in RULES.values() for test in tests}
    files = [path.stem.removeprefix("test_") for path in (TESTS / "firefox").glob("test_act_*.py")] + ["page_acting"]
    ours = {f"{file}::{name.removeprefix('test_')}" for file in files for name in names_in(file) if name.startswith("test_")}
    assert sorted(ours - named - BESIDE) == []
    assert sorted(BESIDE - ours) == []


BESIDE = {
    "act_crash::an_act_whose_page_crashes_is_in_doubt_and_the_tab_is_of_use_again",
    "act_choosing::a_control_that_does_not_show_the_option_is_a_mismatch",
    "act_choosing::an_option_that_is_not_there_or_not_the_only_one_is_told",
    "act_choosing::lists_in_a_portal_and_lists_that_draw_what_is_in_view_work",
    "act_dialogs::an_answer_that_was_not_used_dies_with_the_act",
    "act_files::a_large_file_goes_in_pieces",
    "act_files::a_page_may_take_the_files_and_empty_the_field",
    "act_made_up::the_list_of_a_field_that_does_not_name_it_is_waited_for",
    "act_keys::keys_for_what_cannot_have_the_focus_never_reach_a_field_that_has_it",
    "act_keys::keys_in_a_secret_field_are_not_told_nor_copied",
    "act_keys::what_is_no_list_of_keys_is_refused_untouched",
    "act_scroll::a_disabled_field_that_scrolls_sends_the_event_that_pages_wait_for",
    "act_scroll::what_is_no_way_to_scroll_is_refused_untouched",
    "act_text::a_colour_is_set",
    "page_acting::a_call_that_is_cancelled_after_it_began_tells_what_it_did",
    "page_acting::a_call_that_is_cancelled_before_it_begins_does_nothing",
    "page_acting::a_document_that_came_back_is_acted_on_with_the_old_pin",
    "page_acting::a_document_that_goes_away_after_the_start_has_done_it",
    "page_acting::a_page_may_put_its_own_function_there_during_the_act",
    "page_acting::a_page_that_may_not_be_left_is_left_all_the_same",
    "page_acting::a_page_that_reloads_itself_meanwhile_is_not_taken_for_the_one_asked_for",
    "page_acting::a_press_that_removes_the_field_ends_the_typing",
    "page_acting::a_suggestion_that_goes_when_it_is_pressed_was_pressed",
    "page_acting::a_tab_goes_to_an_address_or_says_why_not",
    "page_acting::a_tab_in_the_background_hears_of_the_focus",
    "page_acting::a_tab_that_could_not_be_opened_is_not_left_behind",
    "page_acting::a_typed_password_is_masked_in_the_result",
    "page_acting::an_outcome_is_kept_until_it_is_acknowledged_and_nothing_runs_twice",
    "page_acting::the_outcome_of_an_act_that_still_runs_is_not_known_yet",
}
"""Tests of acting that keep a choice of ours, which is no rule of the page reference."""
