"""Looks at pages of growing size, at forms and at the pages of MiniWoB++, measured in real Firefox. No terminal here.

A look has a part in the page (which the add-on measures) and all the rest: the way there and back, checking and parsing the answer.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import attrs
import trio

from ..browser import BrowserSession, Snapshot, Tab, launch_firefox, page_text
from ..corpora import miniwob_pages, page_of_task, serve_pages, start_episode, task_names
from ..errors import BrowserError
from ._bench_aria import aria_yaml
from ._bench_made_pages import FORMS, page_of
from ._bench_measure import Figure
from ._bench_tokens import tokens

__all__ = ["Looked", "figures", "looks"]

SIZES: Final = (100, 1_000, 10_000, 50_000)
SMALL: Final = 10_000
LARGE: Final = 50_000
MOST_GROWTH: Final = 6.0
MOST_IN_PAGE_MS: Final = 60.0
MOST_TOKENS: Final = 0.6
"""The targets for a look: from 10,000 to 50,000 elements at most so many times the time, 10,000 elements in so many ms in the page,
and the text of a form in so much of the tokens of a dump of its accessibility tree."""

SEED: Final = "0"
FIELDS: Final = frozenset({"textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "spinbutton"})


@attrs.frozen(kw_only=True)
class Looked:
    """The looks at one page: medians and least times in ms, and the size of what they brought.

    * `kind`: ``made``, ``form`` or ``miniwob``. `error`: why the page could not be read; there are no figures then.
    * `tree_tokens`: those of a dump of the accessibility tree; `ref_tokens`: with the references that models act by. None when it
      was not dumped.
    """

    name: str
    kind: str
    elements: int = 0
    controls: int = 0
    fields: int = 0
    in_page_ms: float = 0.0
    least_in_page_ms: float = 0.0
    wire_ms: float = 0.0
    answer_bytes: int = 0
    text_tokens: int = 0
    tree_tokens: int | None = None
    ref_tokens: int | None = None
    error: str | None = None

    @property
    def ratio(self) -> float | None:
        """Tokens of our text for each of the dump's."""
        return self.text_tokens / self.tree_tokens if self.tree_tokens else None

    def to_json(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "ratio": self.ratio}


async def looks(repeat: int, *, miniwob: bool, advance: Callable[[str], None]) -> list[Looked]:
    """Look at every page `repeat` times, in a Firefox of our own; `advance` is told each page's name before.

    Raises CorpusError when the pages of MiniWoB++ cannot be had. A page that cannot be read is one with an `error`.
    """
    found = []
    sizes = SIZES
    async with _firefox_on_made_pages(sizes) as (session, tab, address):
        for name, kind, path in _made(sizes):
            advance(name)
            await tab.goto(f"{address}/{path}")
            found.append(await _try(session, tab, name, kind, repeat))
        if miniwob:
            pages = await trio.to_thread.run_sync(miniwob_pages)
            with serve_pages(pages) as site:
                for task in task_names(pages):
                    advance(task)
                    if page_of_task(task).startswith("miniwob/"):
                        await start_episode(session, tab, site.address, task, SEED)
                        found.append(await _try(session, tab, task, "miniwob", repeat))
    return found


async def _try(session: BrowserSession, tab: Tab, name: str, kind: str, repeat: int) -> Looked:
    try:
        return await look_at(session, tab, name, kind, repeat)
    except BrowserError as fault:
        return Looked(name=name, kind=kind, error=f"{fault.code}: {fault}")


async def look_at(session: BrowserSession, tab: Tab, name: str, kind: str, repeat: int) -> Looked:
    """Look at the page that the tab shows, `repeat` times after once that does not count."""
    context = await tab.bidi_context()
    in_page, wire = [], []
    page = await tab.snapshot()
    answer: dict[str, Any] = {}
    for _ in range(repeat):
        began = trio.current_time()
        answer = await session.call("page.read", {"tab": tab.id}, timeout=30)
        page = Snapshot.from_wire(answer)
        passed = trio.current_time() - began
        took = sum(frame.took for frame in page.frames)
        in_page.append(took * 1000)
        wire.append((passed - took) * 1000)
    dumped = kind != "made"
    return Looked(
        name=name,
        kind=kind,
        elements=await _elements(session, context),
        controls=sum(frame.total_controls or 0 for frame in page.frames) or len(page.controls),
        fields=sum(control.role in FIELDS for control in page.controls),
        in_page_ms=median(in_page),
        least_in_page_ms=min(in_page),
        wire_ms=median(wire),
        answer_bytes=len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()),
        text_tokens=tokens(page_text(page)),
        tree_tokens=tokens(await aria_yaml(session, context)) if dumped else None,
        ref_tokens=tokens(await aria_yaml(session, context, refs=True)) if dumped else None,
    )


def figures(found: Sequence[Looked]) -> list[Figure]:
    """The figures that have a target, from whatever pages there are."""
    return list(_figures(found))


def _figures(found: Sequence[Looked]) -> Iterator[Figure]:
    found = [one for one in found if one.error is None]
    made = {one.elements: one for one in found if one.kind == "made"}
    sizes = {size: next((one for one in made.values() if abs(one.elements - size) <= size // 20), None) for size in (SMALL, LARGE)}
    small, large = sizes[SMALL], sizes[LARGE]
    if small is not None and large is not None:
        yield _at_most(
            f"{LARGE:,} elements / {SMALL:,}, ms in the page",
            large.in_page_ms / small.in_page_ms,
            large.least_in_page_ms / small.least_in_page_ms,
            "x",
            MOST_GROWTH,
        )
    if small is not None:
        yield _at_most(f"{SMALL:,} elements, in the page", small.in_page_ms, small.least_in_page_ms, "ms", MOST_IN_PAGE_MS)
    forms = [one for one in found if one.kind == "form"]
    if forms:
        ours = sum(one.text_tokens for one in forms)
        yield _tokens("the dump that models get, with references", ours, [(one.text_tokens, one.ref_tokens) for one in forms])
        yield _tokens("the bare dump", ours, [(one.text_tokens, one.tree_tokens) for one in forms])


def _tokens(name: str, ours: int, pages: Sequence[tuple[int, int | None]]) -> Figure:
    """All tokens together; beside it the worst page."""
    value = ours / sum(theirs or 0 for _, theirs in pages)
    worst = max(own / theirs for own, theirs in pages if theirs)
    return Figure(
        name=f"forms: tokens / those of {name} (beside it: the worst form)",
        value=value,
        by_least=worst,
        unit="x",
        target=f"at most {MOST_TOKENS:g}",
        met=value <= MOST_TOKENS,
    )


def _at_most(name: str, value: float, by_least: float, unit: str, limit: float) -> Figure:
    return Figure(name=name, value=value, by_least=by_least, unit=unit, target=f"at most {limit:g}", met=value <= limit)


def _made(sizes: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    for size in sizes:
        yield f"{size:,} elements", "made", f"{size}.html"
    for number, name in enumerate(FORMS):
        yield f"form: {name}", "form", f"form{number}.html"


@asynccontextmanager
async def _firefox_on_made_pages(sizes: Sequence[int]) -> AsyncIterator[tuple[BrowserSession, Tab, str]]:
    with tempfile.TemporaryDirectory(prefix="foxloop-bench-") as name:
        folder = Path(name)
        for size in sizes:
            (folder / f"{size}.html").write_text(page_of(size), encoding="utf-8")
        for number, html in enumerate(FORMS.values()):
            (folder / f"form{number}.html").write_text(html, encoding="utf-8")
        (folder / "start.html").write_text("<!doctype html><title>Start</title><p>Start", encoding="utf-8")
        with serve_pages(folder) as site:
            async with launch_firefox() as session:
                tab = await session.open_tab(f"{site.address}/start.html?{Path(name).name}")
                await tab.bidi_context()  # found while its address is its own; it is remembered
                yield session, tab, site.address


async def _elements(session: BrowserSession, context: str) -> int:
    answer = await session.bidi(
        "script.evaluate",
        expression="document.body.getElementsByTagName('*').length",
        target={"context": context, "sandbox": "bench"},
        awaitPromise=False,
    )
    return int(answer["result"]["value"])
