"""The story in a terminal: readable at any width, and nothing in a trail reaches the terminal as anything but text."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from foxloop_trio.reports import list_runs, render_story, tell_story
from foxloop_trio.trail import Entry, Fault


def printed(entries: list[Any], index: int = 0, *, width: int = 100, colour: bool = False, **options: Any) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, highlight=False, color_system="truecolor" if colour else None)
    render_story(tell_story(entries, run=list_runs(entries)[index].id, **options), console)
    return out.getvalue()


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_it_tells_the_same_story(entries: list[Entry]) -> None:
    """Goal, end, time, budgets, and each call with its gate, human and result."""
    told = lines(printed(entries))
    assert "Order a green tea with milk for Ada, send the order, and tell me its number." in told
    assert "✓ Done  27.1 s · 9 planner requests · 9 tool runs · 31,885 tokens · 0.27 EUR" in told
    assert "█ Planner 17.1 s   ▓ Tools 2.6 s   ▒ Human 7.4 s   ░ Everything else 0 s" in told
    assert "Cost                      ━━━━━─────  0.27 EUR of 0.50 EUR" in told
    at = told.index("Step 6  at 12.4 s · planner 2.0 s · 4,175 tokens")
    assert told[at + 1] == "  Everything is filled; I send it."
    assert told[at + 2].startswith('  ✓ click  control_id="0:5"  700 ms')
    assert "    human   approved after 7.4 s" in told[at:]
    assert "  ✕ claim does not hold  the planner says that the goal is reached: Sent the order." in told
    assert "    ✕ number does not hold: the summary names no order number" in told


def test_the_runs_of_the_trail_are_listed_with_the_one_that_is_told(entries: list[Entry]) -> None:
    """So that one can be chosen."""
    told = lines(printed(entries, 1))
    assert told[0] == "3 runs in this trail; choose one by its id."
    assert [line[0] for line in told[1:4]] == [" ", "▸", " "]
    assert "✓ Done" in told[1]
    assert "… Unfinished" in told[3]


def test_what_does_not_hold_and_what_is_in_doubt_is_said(entries: list[Entry]) -> None:
    """In words, beside the colour."""
    told = printed(entries, 2, verification=Fault(index=70, reason="bad-hash", message="changed"), width=200)
    assert "✕ Verification failed. Line 71: bad-hash: changed." in told
    assert "? In doubt: act. It was allowed, and no result is on record." in told
    assert "✕ not proven" in told


@pytest.mark.parametrize("width", [30, 46, 80, 200])
def test_no_line_is_wider_than_the_terminal(entries: list[Entry], width: int) -> None:
    """Narrow ones get what stands beside each other below each other."""
    for index in range(3):
        assert max(len(line) for line in printed(entries, index, width=width).splitlines()) <= width


def test_colours_come_only_where_they_are_wanted(entries: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe gets plain text, and so does whoever set NO_COLOR."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" not in printed(entries)
    assert "\x1b[1;32m✓ Done" in printed(entries, colour=True)


def test_outside_text_can_neither_move_the_cursor_nor_mark_up_ours() -> None:
    """Controls are written out; square brackets are no markup; line feeds do not begin a line that looks like ours."""
    text = "\x1b[2J\x1b]0;owned\x07[bold red]x[/]\r\n✓ Verified\u202eevil\x9b31m"
    data = {"run": "r", "goal": text, "step": 1, "text": text, "calls": [{"id": "c", "name": text, "args": text}]}
    entries = [
        {"seq": 0, "ts": 1, "actor": "foxloop", "kind": kind, "data": data} for kind in ("loop.start", "loop.plan", "loop.x")
    ]
    told = printed(entries, width=500)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", told)
    assert "[U+001B][2J" in told
    assert "[bold red]x[/]" in told
    assert not any(line.startswith("✓ Verified") for line in lines(told))


def test_long_texts_are_bounded() -> None:
    """A megabyte is not poured into a terminal."""
    entry = {"seq": 0, "ts": 1, "actor": "foxloop", "kind": "loop.start", "data": {"run": "r", "goal": "x" * 1_000_000}}
    told = printed([entry], width=500)
    assert len(told) < 5_000
    assert "999,400 more characters" in told
