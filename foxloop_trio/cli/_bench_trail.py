"""`foxloop-trio bench trail`: what recording costs here, each part beside something plain that does the same work.

Appends are held against a raw loop of write and fdatasync of lines of the same size, canonical JSON against the package `rfc8785`
when it is installed. Contenders take turns, so that whatever else the disk does hits all of them alike; what counts is the median.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

from ._output import json_option, print_json

if TYPE_CHECKING:
    from ..trail import FileTrail

LEAST_ONE: Final = 0.35
LEAST_TEN: Final = 2.5
LEAST_CANONICAL: Final = 2.0
MOST_VERIFY_SECONDS: Final = 10.0
VERIFIED: Final = 100_000
"""The targets that the project set itself for version 1, and the entries of the last one; aims and not promises."""

WRITERS: Final = 10
TAKES: Final = 500
"""Calls of one sample of canonical JSON: some milliseconds, far above the clock's grain."""

CANONICAL: Final = "canonical JSON, rfc8785 / ours"

KEY: Final = "ab" * 32

ENTRY: Final[Mapping[str, Any]] = {
    "step": 3,
    "id": "call_8f2c",
    "name": "save_note",
    "args": {"text": "Buy milk, bread and a new lamp for the desk.", "folder": "home"},
    "run": "3f9a" * 8,
    "record": {"digest": "9c1b" * 16, "work_ms": 1240, "human_ms": 0, "checks": [True, None, "note saved"]},
}
"""Data as a run's entries have it; the line comes to some 650 bytes."""

CORPUS: Final[Mapping[str, Any]] = {
    "entry": ENTRY,
    "page text": {
        "url": "https://shop.example/",
        "text": "Caf\u00e9 \u201eam Markt\u201c, 12 Tische frei. " * 40,
        "title": "Caf\u00e9",
    },
    "rows of numbers": {"rows": [{"id": n, "price": n * 0.25 + 0.05, "name": f"item {n}"} for n in range(20)]},
}
"""What canonical JSON is measured on, by name."""


@attrs.frozen(kw_only=True)
class Measured:
    """One figure beside its target; `met` is None when it could not be measured."""

    name: str
    value: float | None
    unit: str
    target: str
    met: bool | None
    detail: str

    def to_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@click.command(name="trail")
@click.option("--rounds", type=click.IntRange(min=1), default=15, show_default=True, help="Samples of each contender.")
@click.option("--appends", type=click.IntRange(min=WRITERS), default=200, show_default=True, help="Entries of one sample.")
@click.option(
    "--verify", "entries", type=click.IntRange(min=1), default=VERIFIED, show_default=True, help="Entries that are verified."
)
@click.option(
    "--folder", type=click.Path(exists=True, file_okay=False), help="Where the files are written; the system's folder by default."
)
@json_option
def bench_trail(rounds: int, appends: int, entries: int, folder: str | None, as_json: bool) -> int:
    """Appends a second with fsync, canonical JSON and verifying, beside plain twins.

    The contenders take turns. Exit 0 whether the targets are met or not: the table says.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix="foxloop-bench-") as place:
        found = [*appending(place, rounds, appends), canonical(rounds), verifying(place, entries)]
    if as_json:
        print_json({"rounds": rounds, "appends": appends, "figures": [figure.to_json() for figure in found]})
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table(title="The trail against its targets, by medians", title_justify="left")
    table.add_column("figure", overflow="fold")
    for column in ("measured", "target", "met"):
        table.add_column(column, justify="right")
    table.add_column("from", overflow="fold")
    for figure in found:
        value = "-" if figure.value is None else f"{figure.value:.2f} {figure.unit}"
        met = {True: "[green]yes[/]", False: "[red]NO[/]", None: "-"}[figure.met]
        table.add_row(figure.name, value, figure.target, met, figure.detail)
    Console(highlight=False).print(table)
    return 0


def appending(place: str, rounds: int, appends: int) -> list[Measured]:
    """One writer, and ten at once, against the raw loop. The first round of each is not counted."""
    import trio

    rates: dict[str, list[float]] = {"raw": [], "one": [], "ten": []}
    ratios: dict[str, list[float]] = {"one": [], "ten": []}

    async def main() -> int:
        from ..trail import open_trail

        async with open_trail(os.path.join(place, "trail"), key=KEY) as trail:
            await trail.append(actor="foxloop", kind="loop.tool-call", data=ENTRY)
            line = (await trail.export_jsonl()).encode()
            fd = os.open(os.path.join(place, "raw"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                for turn in range(rounds + 1):
                    raw = _raw(fd, line, appends)
                    one = await _appends(trail, 1, appends)
                    ten = await _appends(trail, WRITERS, appends // WRITERS)
                    if turn:
                        for name, rate in (("raw", raw), ("one", one), ("ten", ten)):
                            rates[name].append(rate)
                        ratios["one"].append(one / raw)
                        ratios["ten"].append(ten / raw)
            finally:
                os.close(fd)
        return len(line)

    size = trio.run(main)
    raw = f"of {median(rates['raw']):,.0f} raw writes a second, lines of {size} bytes"
    return [
        _at_least("one writer / raw loop", median(ratios["one"]), LEAST_ONE, f"{median(rates['one']):,.0f} {raw}"),
        _at_least("ten runs at once / raw loop", median(ratios["ten"]), LEAST_TEN, f"{median(rates['ten']):,.0f} {raw}"),
    ]


def _raw(fd: int, line: bytes, appends: int) -> float:
    sync = getattr(os, "fdatasync", os.fsync)
    begun = time.perf_counter()
    for _ in range(appends):
        os.write(fd, line)
        sync(fd)
    return appends / (time.perf_counter() - begun)


async def _appends(trail: FileTrail, writers: int, each: int) -> float:
    import trio

    async def some() -> None:
        for _ in range(each):
            await trail.append(actor="foxloop", kind="loop.tool-call", data=ENTRY)

    begun = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(writers):
            nursery.start_soon(some)
    return writers * each / (time.perf_counter() - begun)


def canonical(rounds: int) -> Measured:
    """Canonical JSON of the corpus, as many bytes of each text, against the package `rfc8785`, which is no dependency of ours."""
    from ..canonical import canonical_json

    try:
        from rfc8785 import dumps
    except ImportError:
        target = f"at least {LEAST_CANONICAL:g}"
        return Measured(name=CANONICAL, value=None, unit="x", target=target, met=None, detail="rfc8785 is not installed")
    theirs, ours, size = 0.0, 0.0, 0
    parts = []
    for name, value in CORPUS.items():
        if canonical_json(value).encode() != dumps(value):
            raise AssertionError(f"the two do not agree on {name}")
        samples = [(_seconds(dumps, value), _seconds(canonical_json, value)) for _ in range(rounds)]
        their, our = (median(one) for one in zip(*samples, strict=True))
        parts.append(f"{name} {their / our:.2f} x")
        # As many bytes of each: else the longest text would be the whole figure.
        length = len(dumps(value))
        theirs, ours, size = theirs + their / length, ours + our / length, size + 1
    return _at_least(CANONICAL, theirs / ours, LEAST_CANONICAL, f"{size / ours / 1e6:.0f} MB/s; {', '.join(parts)}")


def _seconds(function: Callable[[Any], Any], value: Any) -> float:
    begun = time.process_time()
    for _ in range(TAKES):
        function(value)
    return (time.process_time() - begun) / TAKES


def verifying(place: str, entries: int) -> Measured:
    """CPU seconds for verifying so many entries of a file, which is one core at most."""
    import trio

    from ..trail import MemoryTrail, Verified, verify_trail

    path = os.path.join(place, "long")

    async def write() -> None:
        trail = MemoryTrail(key=KEY)
        for _ in range(entries):
            await trail.append(actor="foxloop", kind="loop.tool-call", data=ENTRY)
        with open(path, "w", encoding="utf-8", newline="") as file:  # noqa: ASYNC230 - nothing else runs
            file.write(trail.text())

    trio.run(write)
    begun = time.process_time()
    result = verify_trail(path, key=KEY)
    seconds = time.process_time() - begun
    if not isinstance(result, Verified) or result.count != entries:
        raise AssertionError(f"the trail of the benchmark does not verify: {result}")
    return Measured(
        name=f"verifying {entries:,} entries",
        value=seconds,
        unit="s",
        target=f"under {MOST_VERIFY_SECONDS:g}",
        met=seconds < MOST_VERIFY_SECONDS,
        detail=f"{entries / seconds:,.0f} entries a second of CPU",
    )


def _at_least(name: str, value: float, least: float, detail: str) -> Measured:
    return Measured(name=name, value=value, unit="x", target=f"at least {least:g}", met=value >= least, detail=detail)
