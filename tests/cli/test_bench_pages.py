"""`bench pages`: how fields that are seen and controls that are listed are compared, counted and told."""

import json
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from foxloop_trio.browser import Control
from foxloop_trio.cli._bench_pages import pages
from foxloop_trio.cli._bench_pages_eye import SeenField
from foxloop_trio.cli._bench_pages_work import Read, compare, figures, is_kind, kinds_of, without_scripts
from foxloop_trio.corpora import formasaurus_pages, saved_pages


def control(name: str, role: str = "textbox", *, node: int = 1, **more: object) -> Control:
    parts = {
        "tag": "input", "type": "text", "label": "A label", "disabled": False, "read_only": False, "required": False,
        "offscreen": False, "submit": False, "dialog": False, "autocomplete": False, "picker": False, "secret": False,
        "placeholder": "", "section": "", "value": "", "guard": "g" * 16, **more,
    }  # fmt: skip
    return Control(frame=0, node=node, name=name, role=role, **parts)  # type: ignore[arg-type]


def field(name: str, kind: str = "text", tag: str = "input", **more: object) -> SeenField:
    parts = {"mark": 0, "typed": "us", "visible": True, **more}
    return SeenField(name=name, kind=kind, tag=tag, **parts)  # type: ignore[arg-type]


def why(visible: list[SeenField], controls: list[Control]) -> list[str]:
    return [miss.why.split(" (")[0] for miss in compare(visible, controls)]


def test_a_field_that_is_listed_well_is_no_miss() -> None:
    """By name and tag, with the right kind and a label."""
    assert why([field("user")], [control("user")]) == []
    assert why([field("", "button", "button")], [control("", "button", tag="button")]) == []


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ([], "not listed"),
        ([control("other")], "not listed"),
        ([control("user", tag="select")], "not listed"),
        ([control("user", "checkbox", type="checkbox")], "listed as checkbox of type 'checkbox', not as text"),
        ([control("user", label=" ")], "without a label"),
    ],
)
def test_a_field_that_is_missed_says_why(listed: list[Control], said: str) -> None:
    """Not there, of another kind, or without a name."""
    assert why([field("user")], listed) == [said]


def test_fields_of_one_name_need_a_control_each() -> None:
    """As radio buttons have: three fields and two controls are one miss."""
    radios = [field("how", "radio") for _ in range(3)]
    assert why(radios, [control("how", "radio", node=n) for n in (1, 2)]) == ["not listed"]


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("password", control("p", type="password", secret=True), control("p", type="password", secret=False)),
        ("password", control("p", type="password", secret=True), control("p", type="text", secret=True)),
        ("search", control("q", "searchbox"), control("q", "textbox")),
        ("select", control("s", "combobox"), control("s", "textbox")),
        ("checkbox", control("c", "switch"), control("c", "button")),
        ("number", control("n", "spinbutton"), control("n", "textbox")),
    ],
)
def test_the_right_kind_is_what_the_html_says(kind: str, good: Control, bad: Control) -> None:
    """Each with its twin that is not."""
    assert is_kind(good, kind)
    assert not is_kind(bad, kind)


def test_the_figures_are_shares_of_all_fields_and_pages_that_failed() -> None:
    """98 of 100 meet the target, 97 do not; nor does a page that cannot be read."""
    good = Read(position=1, url="", there={"text": 50, "radio": 50}, good={"text": 50, "radio": 48})
    share, failed, _ = figures([good])
    assert (share.value, share.met, failed.met) == (98.0, True, True)
    share, *_ = figures([attrs.evolve(good, good={"text": 49, "radio": 48})])
    assert not share.met
    _, failed, _ = figures([good, Read(position=3, url="", error="timeout: late")])
    assert (failed.value, failed.met) == (1.0, False)
    assert kinds_of([good]) == {"text": (50, 50), "radio": (50, 48)}


def test_tokens_are_compared_where_there_is_a_dump() -> None:
    """All pages together, and the median page; at most 0.6 of the bare dump."""
    pages = [
        Read(position=at, url="", text_tokens=ours, tree_tokens=tree)
        for at, ours, tree in ((1, 60, 100), (3, 90, 100), (5, 30, 100), (7, 9, 0))
    ]
    *_, ratio = figures(pages)
    assert (ratio.value, ratio.by_least, ratio.met) == (0.6, 0.6, True)
    *_, ratio = figures([attrs.evolve(pages[0], text_tokens=61)])
    assert not ratio.met


def test_scripts_are_switched_off_without_changing_how_a_page_is_parsed() -> None:
    """The policy goes into the head, so that the document type stays first."""
    policy = b"<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">"
    assert without_scripts(b"<!doctype html><HEAD lang=en><title>x") == b"<!doctype html><HEAD lang=en>" + policy + b"<title>x"
    assert without_scripts(b"<p>x") == policy + b"<p>x"


@pytest.mark.firefox
@pytest.mark.long
def test_saved_real_pages_are_read_with_nearly_all_their_fields(tmp_path: Path) -> None:
    """A sample of the pages; `foxloop-trio bench pages` reads all of them."""
    chosen = [page.position for page in saved_pages(formasaurus_pages())][7::60]
    done = CliRunner().invoke(pages, ["--json", *(f"--page={position}" for position in chosen)], standalone_mode=False)
    assert done.exception is None, done.output
    told = json.loads(done.stdout)
    assert [page["position"] for page in told["pages"]] == chosen
    assert [page["error"] for page in told["pages"] if page["error"]] == []
    assert sum(sum(page["there"].values()) for page in told["pages"]) > 15
    assert all(figure["met"] for figure in told["figures"]), [page["misses"] for page in told["pages"] if page["misses"]]


@pytest.mark.firefox
@pytest.mark.long
def test_all_saved_pages_are_read_with_nearly_all_their_fields() -> None:
    """On pages that we did not write: every page without an error, 98 of 100 visible typed fields."""
    done = CliRunner().invoke(pages, ["--json"], standalone_mode=False)
    assert done.exception is None, done.output
    told = json.loads(done.stdout)
    assert len(told["pages"]) == 477
    assert all(page["position"] % 2 for page in told["pages"])
    assert all(figure["met"] for figure in told["figures"]), [page["misses"] for page in told["pages"] if page["misses"]]
