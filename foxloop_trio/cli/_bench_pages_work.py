"""Reading saved real pages in a Firefox that reaches nothing but this machine, and comparing with what people have labelled.

No terminal here. A page that leaves for another address by its own script is served once more with its scripts switched off.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import attrs
import trio

from ..browser import BrowserSession, Control, Snapshot, Tab, launch_firefox, page_text
from ..corpora import SavedPage, serve_pages
from ..errors import FoxloopError
from ._bench_aria import aria_yaml
from ._bench_measure import Figure
from ._bench_pages_eye import SeenField, fields_on
from ._bench_tokens import tokens

__all__ = ["Miss", "Read", "compare", "figures", "kinds_of", "read_pages"]

LEAST_LISTED: Final = 0.98
"""Share of the visible typed fields that must be listed with the right kind and a label."""
MOST_TOKENS: Final = 0.6
"""Tokens of our text for each of a dump of the accessibility tree without references."""
PAGE_SECONDS: Final = 20.0
"""For one page in all; a look has its own limits."""
START: Final = "start.html"
MOST_CONTROLS: Final = 1000

BLOCKED: Final[Mapping[str, bool | int | str]] = {
    # A proxy that is not there, for everything but this machine.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1",
    "network.dns.disabled": True,
    # A saved page that would load itself again, or something else, after a while.
    "accessibility.blockautorefresh": True,
    "media.peerconnection.enabled": False,
}

ROLES: Final[Mapping[str, frozenset[str]]] = {
    "button": frozenset({"button"}),
    "checkbox": frozenset({"checkbox", "switch"}),
    "color": frozenset({"color", "textbox", "button"}),
    "file": frozenset({"file", "button"}),
    "list": frozenset({"combobox", "listbox"}),
    "number": frozenset({"spinbutton"}),
    "password": frozenset({"textbox"}),
    "radio": frozenset({"radio"}),
    "range": frozenset({"slider"}),
    "search": frozenset({"searchbox", "combobox"}),
    "select": frozenset({"combobox", "listbox"}),
    "text": frozenset({"textbox", "combobox", "searchbox", "spinbutton"}),
}
"""Which roles are right for what a field is by its HTML. ARIA may make a text field a combobox or a search box."""


@attrs.frozen(kw_only=True)
class Miss:
    """One visible typed field that is not listed as it should be."""

    name: str
    kind: str
    typed: str
    why: str


@attrs.frozen(kw_only=True)
class Read:
    """What one page gave. `good` counts by kind the fields that are listed well, `there` all that are visible.

    `text_tokens`: those of our text; `tree_tokens`: those of the bare dump of its accessibility tree, 0 when it has none.
    """

    position: int
    url: str
    error: str | None = None
    elements: int = 0
    controls: int = 0
    in_page_ms: float = 0.0
    text_tokens: int = 0
    tree_tokens: int = 0
    there: Mapping[str, int] = attrs.field(factory=dict)
    good: Mapping[str, int] = attrs.field(factory=dict)
    unseen: int = 0
    without_scripts: bool = False
    misses: Sequence[Miss] = ()

    def to_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


async def read_pages(folder: Path, pages: Sequence[SavedPage], *, advance: Callable[[str], None]) -> list[Read]:
    """Read each page once, in one tab of a Firefox of our own. A page that cannot be read is one with an `error`."""
    found = []
    with (
        tempfile.TemporaryDirectory(prefix="foxloop-bench-") as name,
        serve_pages(folder) as site,
        serve_pages(Path(name)) as still,
    ):
        (Path(name) / START).write_text("<!doctype html><title>Start</title>", encoding="utf-8")
        async with launch_firefox(prefs=dict(BLOCKED)) as session:
            tab = await session.open_tab(f"{still.address}/{START}?{Path(name).name}")
            context = await tab.bidi_context()  # found while its address is its own; the tab keeps it
            for page in pages:
                advance(f"{page.position} {page.url[:60]}")
                read = await _read(session, tab, context, f"{site.address}/{page.file}", page)
                if read is None:
                    html = (folder / page.file).read_bytes()
                    (Path(name) / page.file).write_bytes(without_scripts(html))
                    read = await _read(session, tab, context, f"{still.address}/{page.file}", page)
                    read = attrs.evolve(read or _left(page), without_scripts=True)
                found.append(read)
    return found


async def _read(session: BrowserSession, tab: Tab, context: str, url: str, page: SavedPage) -> Read | None:
    """What the page gave; None when its own script left it for another address."""
    try:
        with trio.fail_after(PAGE_SECONDS):
            await tab.goto(url)
            snapshot = await tab.snapshot(max_controls=MOST_CONTROLS)
            controls = await _all_controls(tab, snapshot)
            if not tab.url.startswith(url):
                return None
            seen, elements = await fields_on(session, context, page)
            tree = await _tree(session, context)
    except (FoxloopError, trio.TooSlowError) as error:
        if not tab.url.startswith(url):
            return None
        code = error.code if isinstance(error, FoxloopError) else "too-slow"
        return Read(position=page.position, url=page.url, error=f"{code}: {str(error)[:300]}")
    visible = [field for field in seen if field.visible]
    missed = list(compare(visible, controls))
    bad = Counter(miss.kind for miss in missed)
    there = Counter(field.kind for field in visible)
    return Read(
        position=page.position,
        url=page.url,
        elements=elements,
        controls=len(controls),
        in_page_ms=sum(frame.took for frame in snapshot.frames) * 1000,
        text_tokens=tokens(page_text(snapshot)),
        tree_tokens=tokens(tree),
        there=there,
        good={kind: count - bad[kind] for kind, count in there.items()},
        unseen=len(seen) - len(visible),
        misses=missed,
    )


async def _tree(session: BrowserSession, context: str) -> str:
    """The bare dump of the page; nothing where the page's own scripts make that impossible."""
    try:
        return await aria_yaml(session, context)
    except FoxloopError:
        return ""


async def _all_controls(tab: Tab, first: Snapshot) -> list[Control]:
    """The controls of the top frame: those of the first look, and of those that go on where it was cut."""
    controls = [control for control in first.controls if control.frame == 0]
    left = first.top.truncated
    while left:
        more = await tab.snapshot(frame=0, offset=len(controls), max_controls=MOST_CONTROLS, max_text=0)
        if not more.controls:
            break
        controls += more.controls
        left = more.top.truncated
    return controls


def _left(page: SavedPage) -> Read:
    return Read(
        position=page.position, url=page.url, error="left: the page goes to another address by itself, even without scripts"
    )


def without_scripts(html: bytes) -> bytes:
    """The page with a policy that runs no script, put where it does not change how the rest is parsed."""
    policy = b"<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">"
    head = re.search(rb"<head(?:\s[^>]*)?>", html, re.IGNORECASE)
    return html[: head.end()] + policy + html[head.end() :] if head is not None else policy + html


def compare(visible: Iterable[SeenField], controls: Iterable[Control]) -> Iterator[Miss]:
    """The visible fields that are not listed, or not with the right kind, or without a label.

    A field is found by its name and tag; those of one name are taken in the order of the page.
    """
    listed: dict[tuple[str, str], list[Control]] = {}
    for control in controls:
        listed.setdefault((control.name, control.tag), []).append(control)
    found: Control | None
    for field in visible:
        same = listed.get((field.name, field.tag), [])
        # Of the controls of this name the next one of the right kind, else the next one at all.
        found = next((one for one in same if is_kind(one, field.kind)), same[0] if same else None)
        if found is None:
            yield _miss(field, "not listed")
            continue
        same.remove(found)
        if not is_kind(found, field.kind):
            yield _miss(field, f"listed as {found.role} of type {found.type!r}, not as {field.kind}")
        elif not found.label.strip():
            yield _miss(field, "without a label")


def is_kind(control: Control, kind: str) -> bool:
    """Whether the control is listed as what it is by its HTML."""
    if kind == "password":
        return control.type == "password" and control.secret and control.role == "textbox"
    return control.role in ROLES[kind]


def _miss(field: SeenField, why: str) -> Miss:
    place = ",".join(map(str, field.box))
    return Miss(
        name=field.name, kind=field.kind, typed=field.typed, why=f"{why} (at {place}{', by its label' if field.by_label else ''})"
    )


def kinds_of(found: Iterable[Read]) -> dict[str, tuple[int, int]]:
    """Visible fields and those that are listed well, by kind, the most frequent first."""
    there: Counter[str] = Counter()
    good: Counter[str] = Counter()
    for one in found:
        there.update(one.there)
        good.update(one.good)
    return {kind: (count, good[kind]) for kind, count in there.most_common()}


def figures(found: Sequence[Read]) -> list[Figure]:
    """The figures that have a target."""
    there = sum(sum(one.there.values()) for one in found)
    good = sum(sum(one.good.values()) for one in found)
    failed = sum(one.error is not None for one in found)
    shares = [sum(one.good.values()) / sum(one.there.values()) for one in found if one.there]
    share = good / there if there else 1.0
    dumped = [one for one in found if one.tree_tokens]
    ratios = [one.text_tokens / one.tree_tokens for one in dumped]
    ratio = sum(one.text_tokens for one in dumped) / sum(one.tree_tokens for one in dumped) if dumped else 0.0
    return [
        Figure(
            name=f"visible typed fields listed with the right kind and a label (of {there}; beside it: the median page)",
            value=share * 100,
            by_least=median(shares) * 100 if shares else 100.0,
            unit="%",
            target=f"at least {LEAST_LISTED * 100:g}",
            met=share >= LEAST_LISTED,
        ),
        Figure(
            name=f"pages that could not be read (of {len(found)})",
            value=float(failed),
            by_least=float(failed),
            unit="",
            target="none",
            met=failed == 0,
        ),
        Figure(
            name=f"tokens / those of the bare dump of the tree (of {len(dumped)} pages; beside it: the median page)",
            value=ratio,
            by_least=median(ratios) if ratios else 0.0,
            unit="x",
            target=f"at most {MOST_TOKENS:g}",
            met=ratio <= MOST_TOKENS,
        ),
    ]
