"""Whatever a trail may hold is told: any list of entries gives a story, a page, a text and JSON, or the one error for no run."""

from __future__ import annotations

import io
import json
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from foxloop_trio.errors import UsageError
from foxloop_trio.reports import list_runs, render_page, render_story, story_to_json, tell_story
from foxloop_trio.trail import Fault, Verified

KEYS = re.findall(
    r"\S+",
    """
    run step id name args calls text problem repairs provider tier record usage input_tokens output_tokens tokens cost
    value currency work_ms human_ms shown check checks ok part evidence effect state done data detail reason summary
    message limit cause in_flight action tool domain scope amount via decision grant_id rule_id allowed request_id
    expires_at_ms goal options budget max_steps seconds tools versions resumes late late_ms error target role label
    $blob $literal $redacted bytes type settled
    """,
)
KINDS = re.findall(
    r"\S+",
    """
    start observation plan tool-call decision approval-needed tool-result effect late-tool check done blocked aborted permit-error x
    """,
)
KNOWN = ["c1", "c2", "allow", "deny", "ask", "check", "redeem", "not-started", "gate-deny", "act", "a" * 64, ""]
TEXTS = st.sampled_from(KNOWN) | st.text(max_size=12)
SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.integers(0, 5) | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6), max_leaves=12
)
DATA = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=10)


@st.composite
def entries_of_a_run(draw: st.DrawFn) -> dict[str, Any]:
    data = draw(DATA)
    data["run"] = draw(st.sampled_from(["r1", "r2"]))
    data["step"] = draw(st.integers(0, 3) | SCALARS)
    data["id"] = draw(st.sampled_from(["c1", "c2"]) | VALUES)
    record = draw(DATA)
    record |= {"work_ms": draw(st.integers(0, 10_000) | VALUES), "human_ms": draw(st.integers(0, 10_000) | VALUES)}
    data["record"] = draw(st.just(record) | VALUES)
    kind = draw(st.sampled_from(KINDS))
    return {
        "seq": draw(VALUES),
        "ts": draw(st.integers(0, 10**13) | VALUES),
        "actor": "foxloop",
        "kind": f"loop.{kind}",
        "data": data,
    }


STRANGE = st.dictionaries(st.sampled_from(["seq", "ts", "actor", "kind", "data", "prev"]), VALUES, max_size=6)
VERDICTS = st.sampled_from(
    [
        None,
        Verified(count=3, head="0" * 64),
        Fault(index=2, reason="bad-mac", message="m"),
        Fault(index=None, reason="bad-checkpoint", message="m"),
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example])
@given(entries=st.lists(entries_of_a_run() | STRANGE, max_size=14), verification=VERDICTS)
def test_any_entries_are_told(entries: list[dict[str, Any]], verification: Verified | Fault | None) -> None:
    """Known kinds with wrong fields, unknown kinds, and what is no entry at all."""
    try:
        story = tell_story(entries, verification=verification, blobs={})
    except UsageError:
        assert list_runs(entries) == ()
        return
    assert story.run in {run.id for run in list_runs(entries)}
    page = render_page(story)
    assert page.endswith("</html>\n")
    page.encode()
    for width in (20, 100):
        render_story(story, Console(file=io.StringIO(), width=width))
    json.dumps(story_to_json(story))
    assert story.totals.planner_ms + story.totals.tool_ms + story.totals.human_ms <= story.totals.wall_ms


@settings(max_examples=60, deadline=None)
@given(data=VALUES)
def test_deep_and_odd_values_are_shown(data: Any) -> None:
    """Far deeper than any trail holds."""
    for _ in range(3000):
        data = {"data": data}
    entry = {
        "seq": 0,
        "ts": 1,
        "actor": "foxloop",
        "kind": "loop.tool-result",
        "data": {"run": "r", "id": "c", "data": data, "ok": True},
    }
    assert "c" in render_page(tell_story([entry], blobs={}))
