"""Every run that the other tests of this folder make is replayed from its record, and cut after each entry.

The tests are run once more, each `Bench` with a recorder beside its own trail; what they assert is theirs. What is asserted here:
the record of each run replays, to its end and from every cut, and no cut breaks `resume` other than with a UsageError.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.errors import UsageError
from foxloop_trio.loop import Replayed

HERE = Path(__file__).parent
MODULES = [
    "beside", "budgets", "buglog", "claims", "denials", "effects", "ending", "garbage", "guards", "limits", "redaction", "replies",
    "run", "settle", "stopping",
]  # fmt: skip
MOST_CUTS = 60
KNOWN = frozenset({"parts", "autojump_clock"})
"""The fixtures that are given here."""


class Recorder:
    """A trail beside the test's own: keeps what that one took, as the entries of a trail."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.entries: list[dict[str, Any]] = []

    async def append(self, *, actor: str, kind: str, data: Any) -> None:
        if self.inner is not None:
            await self.inner.append(actor=actor, kind=kind, data=data)
        else:
            await trio.lowlevel.checkpoint()
        plain = json.loads(json.dumps(data))
        self.entries.append({"seq": len(self.entries), "kind": kind, "data": plain})


def recording(bench: Any, made: list[tuple[Any, Recorder]]) -> Any:
    """`Bench`, as a class whose loops have a recorder."""

    class Recording(bench):  # type: ignore[misc]
        def __init__(self, *replies: Any, **options: Any) -> None:
            own = options.pop("sink", None)
            recorder = Recorder(own)
            super().__init__(*replies, sink=recorder, **options)
            self.sink = own
            made.append((self.loop, recorder))

    return Recording


def cases() -> Iterator[Any]:
    for name in MODULES:
        spec = importlib.util.spec_from_file_location(f"replayed_{name}", HERE / f"test_{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for title, function in vars(module).items():
            if title.startswith("test_") and inspect.iscoroutinefunction(function):
                yield from _cases_of(f"{name}: {title[5:]}", function)


def _cases_of(title: str, function: Any) -> Iterator[Any]:
    wanted = set(inspect.signature(function).parameters)
    tables: list[list[dict[str, Any]]] = []
    for mark in getattr(function, "pytestmark", []):
        if mark.name != "parametrize":
            continue
        names = mark.args[0] if not isinstance(mark.args[0], str) else [name.strip() for name in mark.args[0].split(",")]
        rows = []
        for row in mark.args[1]:
            values = row.values if isinstance(row, type(pytest.param())) else row if len(names) > 1 else (row,)
            rows.append(dict(zip(names, values, strict=True)))
        tables.append(rows)
    for number, combination in enumerate(itertools.product(*tables)):
        given = {key: value for row in combination for key, value in row.items()}
        if "parts" in wanted and wanted - set(given) <= KNOWN:
            yield pytest.param(function, given, id=f"{title} {number}" if tables else title)


CASES = list(cases())


def test_the_tests_of_this_folder_were_found() -> None:
    """A sweep over nothing would pass."""
    assert len(CASES) > 600


@pytest.mark.parametrize(("function", "given"), CASES)
def test_what_a_test_recorded_replays(parts: Any, function: Any, given: dict[str, Any]) -> None:
    """From its beginning to its end, and to every cut; and resume takes it up from every cut, or says why not."""
    made: list[tuple[Any, Recorder]] = []
    parts.Bench = recording(parts.Bench, made)
    fixtures: dict[str, Any] = {"parts": parts, "autojump_clock": trio.testing.MockClock(autojump_threshold=0)}
    wanted = inspect.signature(function).parameters

    async def again() -> None:
        await function(**given, **{name: value for name, value in fixtures.items() if name in wanted})

    with contextlib.suppress(AssertionError, BaseExceptionGroup):  # a recorder beside it changes what some tests count
        trio.run(again, clock=fixtures["autojump_clock"] if "autojump_clock" in wanted else None)
    for loop, recorder in made:
        for run in dict.fromkeys(entry["data"]["run"] for entry in recorder.entries):
            entries = [entry for entry in recorder.entries if entry["data"]["run"] == run]
            if entries[0]["kind"] != "loop.start":
                assert len(entries) == 1  # it ended before it began
                continue
            trio.run(check_replays, loop, entries)


async def check_replays(loop: Any, entries: list[dict[str, Any]]) -> None:
    found = await loop.replay(entries)
    assert isinstance(found, Replayed), found.message + "\n" + "\n".join(json.dumps(e)[:600] for e in entries)
    for length in range(1, len(entries), 1 + (len(entries) // MOST_CUTS) ** 2):
        part = entries[:length]
        found = await loop.replay(part)
        assert isinstance(found, Replayed), (length, found.message, part)
        assert not found.finished
        masked = part[0]["data"]["goal"].startswith("[withheld")
        try:
            loop.resume(part, goal="Save a note" if masked else None)
        except UsageError as fault:
            if "to the same end" not in str(fault):
                raise
