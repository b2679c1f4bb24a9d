"""All numbers of tasks in one place (page reference, section 19)."""

from __future__ import annotations

from typing import Final

MAX_STEPS: Final = 40
"""Acts of one run, refused ones included."""

STALE_IN_A_ROW: Final = 3
"""Refusals for a page that changed, one after the other, after which a run gives up."""

PICKER_TURNS: Final = 24
"""Pages of a date picker that are turned: two years of months."""

SCORE_FLOOR: Final = 0.4
"""What a chooser is less sure of counts as nothing."""

SAME_SCORE: Final = 1e-9
"""Scores that differ by less are equal, so that neither control is chosen."""

MODEL_LABELS: Final = 32
"""Controls that a model is shown at most."""

MODEL_LABEL_LENGTH: Final = 90
"""Characters of a label that a model is shown."""

SKIPPED_WORDS: Final = 8
"""Words of a label that may stand between the first and the last word of a value in it."""

FUZZY_FROM: Final = 4
"""Characters from which a word may be misspelt."""

FEW_EDITS_UP_TO: Final = 6
"""Characters up to which a word may be wrong in one place; longer ones in two."""

ERROR_TEXT: Final = 120
"""Characters under which a page without controls may be a bare error message."""

KEY_LENGTH: Final = 40
"""Characters of what stands before a colon and is still the name of something."""

SHORTEST_PIECE: Final = 2
"""Characters of the shortest piece of a goal that means something."""

SHORTEST_PHONE: Final = 8
"""Characters from which digits, spaces, brackets and hyphens are a telephone number."""

MAX_FIELDS: Final = 40
"""Fields in a preview: a run has no more steps, and a gate judges arguments of 64 KiB at most."""

MAX_GOAL: Final = 1000
"""Characters of a goal that the tool takes (tool reference, section 1)."""
