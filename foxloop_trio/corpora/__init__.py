"""Public pages to measure ourselves by: pinned archives from PyPI, and a server for them on loopback."""

from ._formasaurus import FORMASAURUS, SavedPage, formasaurus_pages, saved_pages
from ._miniwob import MINIWOB, Episode, Verdict, miniwob_pages, page_of_task, registered_tasks, start_episode, task_names
from ._pinned import CorpusError, Pinned
from ._serving import Site, serve_pages

__all__ = [
    "FORMASAURUS",
    "MINIWOB",
    "CorpusError",
    "Episode",
    "Pinned",
    "SavedPage",
    "Site",
    "Verdict",
    "formasaurus_pages",
    "miniwob_pages",
    "page_of_task",
    "registered_tasks",
    "saved_pages",
    "serve_pages",
    "start_episode",
    "task_names",
]
