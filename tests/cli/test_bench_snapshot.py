"""`bench snapshot`: the pages it makes, how tokens are estimated, and the figures."""

import json
import re

import attrs
import pytest
from click.testing import CliRunner

from foxloop_trio.cli import _bench_snapshot_work
from foxloop_trio.cli._bench_made_pages import FORMS, page_of
from foxloop_trio.cli._bench_snapshot import snapshot
from foxloop_trio.cli._bench_snapshot_work import Looked, figures
from foxloop_trio.cli._bench_tokens import tokens


@pytest.mark.parametrize("size", [100, 1000, 10_000])
def test_a_made_page_has_so_many_elements_and_a_tenth_of_them_are_controls(size: int) -> None:
    """Counted in its body; the same page each time."""
    page = page_of(size)
    body = page.partition("<body>")[2]
    assert len(re.findall(r"<[a-z]", body)) == size
    assert len(re.findall(r"<(?:a|button|input|textarea)\b", body)) == size // 10
    assert page_of(size) == page


def test_the_forms_are_ordinary_ones() -> None:
    """Each with a form of its own that sends, a menu and a foot."""
    for html in FORMS.values():
        assert html.count("<form") == 2
        assert 'method="post"' in html
        assert "<nav" in html
        assert "<footer>" in html


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("word", 1),
        ("two words", 2),
        ("internationalisation", 3),
        ("12345", 2),
        ('"', 1),
        ('[0:11] textbox "Name"\n', 9),
        ("- listitem:\n        - link", 6),
    ],
)
def test_tokens_are_estimated_by_pieces(text: str, count: int) -> None:
    """Words with the sign before them in eights, digits in threes, signs in twos, and what stands between lines."""
    assert tokens(text) == count


PAGE = Looked(name="x", kind="made", elements=10_000, in_page_ms=50, least_in_page_ms=40)
FORM = Looked(name="f", kind="form", text_tokens=60, tree_tokens=120, ref_tokens=150)


def test_the_figures_are_growth_time_and_tokens() -> None:
    """With the targets of the issue: at most 6 x, 60 ms, 0.6 x."""
    large = attrs.evolve(PAGE, elements=50_000, in_page_ms=200, least_in_page_ms=160)
    growth, time, with_references, bare = figures([PAGE, large, FORM])
    assert (growth.value, growth.by_least, growth.met) == (4.0, 4.0, True)
    assert (time.value, time.met) == (50, True)
    assert (with_references.value, with_references.met) == (0.4, True)
    assert (bare.value, bare.met) == (0.5, True)
    worse = figures([attrs.evolve(PAGE, in_page_ms=61), attrs.evolve(large, in_page_ms=400), attrs.evolve(FORM, text_tokens=91)])
    assert [figure.met for figure in worse] == [False, False, False, False]


def test_a_page_that_could_not_be_read_has_no_figure() -> None:
    """It is told in the table instead."""
    assert figures([Looked(name="x", kind="made", error="timeout: late")]) == []


@pytest.mark.firefox
@pytest.mark.long
def test_looks_are_measured_in_firefox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two small sizes and the forms: times, bytes and tokens are there, and a form's text costs less than a dump of its tree."""
    monkeypatch.setattr(_bench_snapshot_work, "SIZES", (100, 1000))
    done = CliRunner().invoke(snapshot, ["--json", "--no-miniwob", "--repeat", "2"], standalone_mode=False)
    assert done.exception is None, done.output
    told = json.loads(done.stdout)
    small, large, *forms = told["pages"]
    assert [page["error"] for page in told["pages"] if page["error"]] == []
    assert (small["elements"], large["elements"], large["controls"]) == (100, 1000, 100)
    assert small["answer_bytes"] < large["answer_bytes"]
    assert [page["name"] for page in forms] == [f"form: {name}" for name in FORMS]
    assert all(page["text_tokens"] < page["tree_tokens"] < page["ref_tokens"] for page in forms)
    with_references = next(figure for figure in told["figures"] if "references" in figure["name"])
    assert with_references["met"], with_references
