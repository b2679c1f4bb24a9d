"""Every rule of the page reference on reading has a test here that is named after its outcome: the table, and that it holds.

Numbers are those of the reference: sections 1 to 3, 7 (what reading has to do with dialogs), 8, 13, 17 to 19, and the reading items
of 21. Where a section is a list of steps or points, `2.4/3` is its third.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import foxloop_trio

HERE = Path(__file__).parent

RULES: dict[str, tuple[str, ...]] = {
    # 1. Data
    "1.1": (
        "form_and_row_say_where_a_control_stands",
        "a_send_button_says_where_its_form_goes",
        "a_styled_toggle_is_listed_through_its_label",
        "suggestions_know_their_field",
        "flags_are_told",
    ),
    "1.2": ("title_headings_and_more_are_told", "frames_of_every_kind_are_joined", "frames_that_cannot_be_read_are_named"),
    "1.3": ("the_key_changes_with_any_field_and_with_the_address",),
    # 2. Reading one frame
    "2": ("reading_changes_nothing", "drawings_and_xml_have_no_body_and_are_read"),
    "2.1": ("numbers_name_elements_for_as_long_as_the_document_lives", "numbers_of_controls_in_roots_last"),
    "2.1/2": (
        "numbers_name_elements_for_as_long_as_the_document_lives",
        "fields_that_own_a_visible_list_have_the_first_numbers",
    ),
    "2.2": (
        "each_kind_of_control_has_its_role",
        "controls_and_text_of_a_root_stand_where_they_are_drawn",
        "slotted_controls_stand_where_their_slot_is",
    ),
    "2.3/1": ("each_kind_of_control_has_its_role",),
    "2.3/2": ("each_kind_of_control_has_its_role",),
    "2.3/3": ("each_input_type_has_its_role",),
    "2.3/4": ("each_kind_of_control_has_its_role",),
    "2.4/1": ("what_is_around_a_control_hides_it_or_does_not", "text_that_nobody_can_see_is_nowhere_in_the_answer"),
    "2.4/2": ("what_is_around_a_control_hides_it_or_does_not", "what_hides_a_host_hides_what_is_in_it"),
    "2.4/3": ("what_nobody_can_see_is_left_out", "what_can_barely_be_seen_is_listed"),
    "2.4/4": ("what_stands_still_outside_of_the_view_does_not_come_in_by_scrolling", "what_can_barely_be_seen_is_listed"),
    "2.4/5": ("no_field_of_the_answer_tells_what_nobody_can_see", "what_is_seen_is_not_lost_for_it"),
    "2.5": (
        "a_control_is_called_what_the_standard_says",
        "every_step_has_cases",
        "every_difference_to_another_implementation_is_explained",
        "names_on_the_pages_of_miniwob_are_those_of_the_other_implementation",
        "a_control_without_a_name_is_called_by_what_stands_beside_it",
        "ids_are_looked_up_in_the_control_s_own_tree_first",
    ),
    "2.6/1": ("the_section_is_the_nearest_named_region",),
    "2.6/2": ("form_and_row_say_where_a_control_stands",),
    "2.6/3": ("form_and_row_say_where_a_control_stands", "the_digest_of_a_row_ends_after_two_thousand_units"),
    "2.7": ("values_and_states_are_told",),
    "2.8": ("flags_are_told", "suggestions_know_their_field"),
    "2.9": (
        "guards_differ_when_a_judged_fact_does_and_only_then",
        "the_key_changes_with_any_field_and_with_the_address",
        "guards_and_keys_of_equal_pages_differ",
    ),
    "2.10/1": (
        "text_comes_in_reading_order_and_keeps_its_form",
        "long_pages_are_cut_and_say_so",
        "controls_and_text_of_a_root_stand_where_they_are_drawn",
    ),
    "2.10/2": ("title_headings_and_more_are_told",),
    "2.10/3": ("a_challenge_that_can_be_seen_is_a_captcha",),
    "2.10/4": ("title_headings_and_more_are_told",),
    "2.11": ("long_pages_are_cut_and_say_so", "every_control_is_reached_by_paging"),
    # 3. Joining the frames
    "3": (
        "frames_of_every_kind_are_joined",
        "frames_that_cannot_be_read_are_named",
        "a_captcha_in_a_frame_is_one_of_the_page",
        "a_frame_that_hangs_does_not_keep_the_page_from_being_read",
        "pages_that_firefox_keeps_for_itself_cannot_be_read",
    ),
    # 7. Dialogs, as far as reading goes
    "7": ("a_page_that_shows_a_dialog_is_read_all_the_same", "reading_changes_nothing"),
    # 8. The page as text
    "8.1/line": ("each_control_is_one_line",),
    "8.1/whole": ("a_page_is_title_address_controls_and_text",),
    "8.1/folding": ("runs_of_links_fold", "a_repeated_link_is_told_once"),
    "8.1/choosing": ("what_sends_and_fields_come_before_the_rest_where_there_is_no_room",),
    "8.1/text": ("lines_of_text_are_kept_when_they_say_something",),
    "8.2": ("a_change_is_told_as_a_difference", "another_document_is_shown_whole"),
    "8.3": ("a_focus_keeps_fields_what_shares_its_words_and_alerts", "the_focus_chooses_what_is_told"),
    # 13. Risky labels, sensitive fields, send buttons
    "13.1": ("labels_that_do_harm_are_known_as_the_page_writes_them",),
    "13.2": ("a_goal_allows_what_it_names_and_does_not_forbid", "a_button_that_spends_money_is_not_pressed"),
    "13.3": (
        "secrets_never_leave_the_page",
        "a_secret_leaves_by_no_other_way",
        "secrets_in_editors_and_numbers_are_masked_too",
        "each_control_is_one_line",
    ),
    "13.4": ("the_button_that_sends_is_the_one_a_person_would_press",),
    # 17. Verification
    "17/setting": ("what_the_page_holds_is_the_evidence",),
    "17/date": ("what_the_page_holds_is_the_evidence",),
    "17/value": ("what_the_page_holds_is_the_evidence",),
    "17/sending": ("a_whole_form_arrives_as_the_goal_says_with_one_approval", "nothing_arrives_when_the_goal_says_so"),
    "17/problem": ("a_page_as_a_whole_may_be_the_problem",),
    # 18. Preview
    "18": (
        "a_preview_says_what_would_be_filled_sent_and_risked",
        "a_preview_sends_nothing_where_the_goal_forbids_it",
        "a_pinned_send_holds_until_destination_or_button_are_others",
    ),
    # 19. Numbers
    "19": ("the_numbers_of_the_reference_are_those_of_a_read", "the_numbers_of_the_reference_are_those_of_the_text"),
    # 21. Where reading goes beyond
    "21.1": ("controls_and_text_of_a_root_stand_where_they_are_drawn", "slotted_controls_stand_where_their_slot_is"),
    "21.2": ("a_styled_toggle_is_listed_through_its_label",),
    "21.3": ("each_kind_of_control_has_its_role", "an_editor_that_is_a_frame_is_a_text_box"),
    "21.4": ("each_kind_of_control_has_its_role",),
    "21.5": ("controls_that_appear_under_the_mouse_are_told_with_where_it_must_be",),
    "21.7": ("files_are_told_by_name",),
    "21.9": ("the_text_of_all_frames_together_is_bounded_the_top_one_first", "frames_that_cannot_be_read_are_named"),
    "21.10": ("a_challenge_that_can_be_seen_is_a_captcha",),
    "21.12": ("two_buttons_that_send_alike_are_not_chosen_between", "the_button_that_sends_is_the_one_a_person_would_press"),
    "21.16": (
        "a_picture_shows_what_is_in_view",
        "a_picture_of_the_full_page_goes_to_its_end",
        "a_picture_of_one_control_is_its_box",
        "secret_and_sensitive_fields_are_painted_over",
        "a_picture_never_has_more_than_two_mebibytes",
    ),
    "21.18": ("each_kind_of_control_has_its_role", "small_boxes_and_shapes_are_told_by_their_look"),
    "21.22": ("what_is_cut_says_how_much", "every_control_is_reached_by_paging", "every_word_is_reached_by_paging"),
    "21.23": ("what_lies_behind_a_modal_dialog_says_so",),
    "21.24": ("the_bare_number_of_a_day_comes_with_its_month",),
}

STEPS = {"2.3": 4, "2.4": 5, "2.6": 3, "2.10": 4}
"""Sections whose numbered steps, or points, have cases of their own."""
NUMBERS = {
    *("1.1", "1.2", "1.3", "2", "2.1", "2.1/2", "2.2", "2.5", "2.7", "2.8", "2.9", "2.11", "3", "7", "8.2", "8.3"),
    *(f"{section}/{step}" for section, steps in STEPS.items() for step in range(1, steps + 1)),
    *(f"8.1/{part}" for part in ("line", "whole", "folding", "choosing", "text")),
    *(f"13.{n}" for n in range(1, 5)),
    *(f"17/{part}" for part in ("setting", "date", "value", "sending", "problem")),
    *("18", "19"),
    *(f"21.{n}" for n in (1, 2, 3, 4, 5, 7, 9, 10, 12, 16, 18, 22, 23, 24)),
}


OF_A_READ = {
    "controlsAtFirst": 300,
    "label": 200,
    "value": 500,
    "section": 70,
    "textAtFirst": 6000,
    "rowText": 2000,
    "smallestBox": 2,
    "dialogMessage": 500,
}
OF_THE_TEXT = {
    "_page_text": {"MAX_CONTROLS": 40, "FOCUS_CONTROLS": 20},
    "_page_words": {"FOCUS_LINES": 10},
    "_control_lines": {"FOLD_FROM": 5, "SHORT": 40, "LINKS_PER_COST": 4, "MAX_OPTIONS": 30},
    "_changes": {"MAX_NEW_TEXT": 1200},
    "tasks._numbers": {"ERROR_TEXT": 120},
}
"""The numbers of section 19 that belong to reading; those that a test here shows at work are the more so."""


def names() -> set[str]:
    """Each test beside this one."""
    return {
        node.name.removeprefix("test_")
        for path in HERE.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def test_the_table_has_every_rule_and_none_besides() -> None:
    """A rule without a test is in the table as a hole, and that fails here."""
    assert set(RULES) == NUMBERS
    assert [rule for rule, tests in RULES.items() if not tests] == []


def test_every_test_that_the_table_names_is_there() -> None:
    """A test that was renamed or taken out leaves its rule without one."""
    known = names()
    assert {rule: missing for rule, tests in RULES.items() if (missing := [name for name in tests if name not in known])} == {}


def test_the_numbers_of_the_reference_are_those_of_a_read() -> None:
    """Section 19: as the add-on has them in one place."""
    limits = (Path(foxloop_trio.__file__).parent / "webextension/addon/content/limits.js").read_text(encoding="utf-8")
    found = {name: int(value.replace("_", "")) for name, value in re.findall(r"^  (\w+): ([\d_]+),", limits, re.MULTILINE)}
    assert {name: found[name] for name in OF_A_READ} == OF_A_READ


def test_the_numbers_of_the_reference_are_those_of_the_text() -> None:
    """Section 19: of what a planner is shown, and of what is checked."""
    for module, numbers in OF_THE_TEXT.items():
        made = importlib.import_module(f"foxloop_trio.browser.{module}")
        assert {name: getattr(made, name) for name in numbers} == numbers
