"""What a person sees of a run afterwards: its story from the trail, as a page, in the terminal, and as JSON.

Everything is redacted by construction: a story holds what the trail holds, so what was masked there stays masked. No key, no
browser and no planner is needed to tell it.
"""

from ._blobs import Blobs
from ._json import story_to_json
from ._nouns import RunInfo, Story
from ._page import render_page, render_report
from ._story import list_runs, tell_story
from ._terminal import render_story

__all__ = [
    "Blobs",
    "RunInfo",
    "Story",
    "list_runs",
    "render_page",
    "render_report",
    "render_story",
    "story_to_json",
    "tell_story",
]
