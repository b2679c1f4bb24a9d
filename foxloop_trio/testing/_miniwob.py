"""MiniWoB++ for tests: the pages, the server and the episodes of `foxloop_trio.corpora`, under the name that tests know."""

from ..corpora._miniwob import MINIWOB, Episode, Verdict, miniwob_pages, start_episode, task_names
from ..corpora._pinned import CorpusError
from ..corpora._serving import Site, serve_pages

__all__ = [
    "MINIWOB",
    "CorpusError",
    "Episode",
    "Site",
    "Verdict",
    "miniwob_pages",
    "serve_pages",
    "start_episode",
    "task_names",
]
