"""The conditions of policy rules: paths, comparisons, hosts, folders, and patterns whose time is bounded."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.react.guards.policy._conditions import Condition, host_of
from foxloop_trio.react.guards.policy._patterns import BoundedPattern


def holds(args: Any, path: str, *, every: bool = False, **wanted: Any) -> Any:
    return Condition(path, {name.rstrip("_"): value for name, value in wanted.items()}).holds(args, every=every)


ARGS: dict[str, Any] = {
    "form": {"fields": [{"name": "a", "n": 1}, {"name": "b", "n": 2}]},
    "url": "https://a.example/x",
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "wanted", "expected"),
    [
        ("form.fields.0.name", {"equals": "a"}, True),
        ("form.fields.2.name", {"equals": "a"}, False),
        ("form.fields.*.name", {"equals": "b"}, True),
        ("form.*.*.n", {"ge": 2}, True),
        ("form.fields.0.n", {"equals": True}, False),
        ("form.fields.0.n", {"equals": 1.0}, True),
        ("form.fields.0.n", {"in": [3, 1]}, True),
        ("form.fields.0.n", {"in": []}, False),
        ("form.fields.0.n", {"lt": 1}, False),
        ("form.fields.0.n", {"le": 1}, True),
        ("form.fields.0.n", {"gt": 0, "lt": 2}, True),
        ("form.fields.0.n", {"gt": 1}, False),
        ("form.fields.0.name", {"gt": 1}, None),
        ("none", {"present": True}, True),
        ("none.x", {"present": True}, False),
        ("gone", {"absent": True}, True),
        ("gone", {"equals": None}, False),
        ("none", {"equals": None}, True),
        ("url", {"not": {"host_in": ["b.example"]}}, True),
        ("gone", {"not": {"host_in": ["b.example"]}}, True),
    ],
)
def test_a_condition_holds_of_what_its_path_finds(path: str, wanted: dict[str, Any], expected: bool | None) -> None:
    """Section 7: paths are dotted, `*` is any one step; a path that leads nowhere holds for `absent` and `not` only."""
    assert Condition(path, wanted).holds(ARGS, every=False) is expected


def test_of_several_values_one_is_enough_to_deny_and_all_are_needed_to_allow() -> None:
    """A star finds many: a rule that allows must hold of each of them, and of at least one."""
    both = {"to": ["ok@a.example", "bad@b.example"]}
    assert holds(both, "to.*", matches=r".*@b\.example") is True
    assert holds(both, "to.*", matches=r".*@a\.example", every=True) is False
    assert holds({"to": []}, "to.*", matches=r".*@a\.example", every=True) is False
    assert holds(both, "to.*", not_={"matches": r".*@a\.example"}) is True


def test_more_values_than_can_be_looked_at_cannot_be_told() -> None:
    """A path with stars is bounded."""
    assert holds({"a": [[0] * 200] * 200}, "a.*.*", equals=1) is None


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("https://good.example/x", True),
        ("https://sub.good.example:8080/", True),
        ("HTTPS://GOOD.EXAMPLE.", True),
        ("good.example", True),
        ("//good.example/x", None),
        ("https://evilgood.example/", False),
        ("https://good.example.evil.example/", False),
        ("https://good.example@evil.example/", None),
        ("https://evil.example\\@good.example/", None),
        ("https://good.exa\tmple/", None),
        ("javascript:alert(1)//good.example", None),
        ("https:///good.example", None),
        ("https://good.example:port/", None),
        ("", None),
        (7, False),
    ],
)
def test_host_in_reads_an_address_as_a_browser_does_or_not_at_all(address: Any, inside: bool | None) -> None:
    """An entry, or a subdomain of one; an address that can be read in two ways cannot be told."""
    assert holds({"url": address}, "url", host_in=["good.example"]) is inside


def test_an_empty_host_list_holds_nothing() -> None:
    """R55."""
    assert holds({"url": "https://good.example"}, "url", host_in=[]) is False
    assert holds({"url": "https://a b/"}, "url", host_in=[]) is False


def test_hosts_beyond_ascii_are_compared_as_they_are_resolved() -> None:
    """One spelling for one host."""
    assert host_of("https://BÜCHER.example/") == host_of("https://xn--bcher-kva.example") == "xn--bcher-kva.example"


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("/srv/data", True),
        ("/srv/data/x/y", True),
        ("/srv/data/../data/x", True),
        ("/srv/data/../../etc/passwd", False),
        ("/srv/database", False),
        ("//srv/data/x", True),
        ("/srv//data/./x/", True),
        ("/", False),
        ("data/x", None),
        ("../x", None),
        ("~/x", None),
        ("/srv/data\\..\\x", None),
        ("/srv/data/%2e%2e/x", None),
        ("/srv/data/\0", None),
        (None, False),
    ],
)
def test_path_under_resolves_what_leads_upwards(path: Any, below: bool | None) -> None:
    """After `..`; what somebody else may read another way cannot be told."""
    assert holds({"path": path}, "path", path_under="/srv/data") is below


@pytest.mark.parametrize(
    ("name", "operand"),
    [
        ("host_in", "good.example"), ("host_in", ["https://x"]), ("host_in", [""]), ("path_under", "data"), ("path_under", []),
        ("path_under", 5), ("in", "abc"), ("in", 5), ("in", [{1}]), ("equals", {1}), ("lt", "5"), ("ge", True),
        ("gt", float("nan")), ("matches", 5), ("matches", "("), ("present", False), ("absent", 1), ("not", {}), ("not", {"x": 1}),
    ],
)  # fmt: skip
def test_an_operand_that_makes_no_sense_is_refused_when_it_is_made(name: str, operand: Any) -> None:
    """R51."""
    with pytest.raises(ValueError):
        Condition("q", {name: operand})


# Patterns


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+b", r"(a|a)*b", r"(a|ab)*", r"(a*)*", r"(x+x+)+y", r"(?=a)b", r"(a)\1", r"(a?){30}a{30}", r"(?>a)b", r"(?:[a-z]+\.)*x"],
)
def test_a_pattern_whose_time_cannot_be_bounded_is_refused(pattern: str) -> None:
    """Section 7: at most a millisecond; a pattern that may take for ever is no rule."""
    with pytest.raises(ValueError, match=r"bounded|regular expression"):
        BoundedPattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("abc", "abc", True),
        ("abc", "abcd", False),
        (".*rm -rf.*", "sudo rm -rf /", True),
        (".*rm -rf.*", "x\nrm -rf", False),
        ("(?s).*rm -rf.*", "x\nrm -rf", True),
        (r"(?i)DROP TABLE .*", "drop table x", True),
        (r"\d{1,3}(\.\d{1,3}){3}", "10.0.0.1", True),
        (r"[a-z]+@[a-z]+\.example", "me@there.example", True),
        (r"https?://.*", "http://x", True),
        (r".*\bsecret\b.*", "a secret word", True),
        (r".*\bsecret\b.*", "a secretword", False),
        (r".*^x.*", "yx", False),
        (r"(cat|dog)s?", "dogs", True),
    ],
)
def test_a_pattern_matches_the_whole_text_as_python_does(pattern: str, text: str, expected: bool) -> None:
    """Full match."""
    assert BoundedPattern(pattern).full_match(text) is expected
    assert (re.fullmatch(pattern, text) is not None) is expected


def test_a_text_that_would_take_too_long_cannot_be_told() -> None:
    """Section 7: 64 KiB, and so many steps as a millisecond has; "cannot be told" is a match for deny and none for allow."""
    assert BoundedPattern(".*x.*").full_match("a" * 65_536) is False
    assert BoundedPattern(".*x.*").full_match("a" * 65_537) is None
    assert BoundedPattern(".*x.*").full_match("é" * 40_000) is None
    assert BoundedPattern("a*b*c*").full_match("a" * 1000) is None
    assert BoundedPattern("a*b*c*").full_match("aabbcc") is True


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"a*a*b", "a" * 316),
        (r".*x.*", ("a" * 60 + "x\n") * 5),
        (r"(?s).*[;&|].*", "a" * 65_536),
        (r"a*", "a" * 65_535 + "b"),
        (r"a*a*a*b", "a" * 46),
    ],
)
def test_the_slowest_match_that_is_tried_takes_milliseconds(pattern: str, text: str) -> None:
    """The count of steps keeps its promise, with room for a slow machine: what is tried ends within 50 ms."""
    bounded = BoundedPattern(pattern)
    begun = time.perf_counter()
    answer = bounded.full_match(text)
    took = time.perf_counter() - begun
    assert answer is not None
    assert answer is (re.fullmatch(pattern, text) is not None)
    assert took < 0.05


PIECES = st.sampled_from(["a", "b", ".", "[ab]", "a?", "b*", ".*", "(a|b)", "a{1,2}", "x", "^", "$", r"\b"])


@given(st.lists(PIECES, min_size=1, max_size=6), st.text("abx\n", max_size=12))
@settings(deadline=None)
def test_a_bounded_pattern_answers_what_python_answers(pieces: list[str], text: str) -> None:
    """Where it can be told, it is the same; the short cut for "anything" on both sides changes no answer."""
    pattern = "".join(pieces)
    try:
        expected = re.fullmatch(pattern, text) is not None
    except re.error:
        return
    for flags in ("", "(?s)"):
        expected = re.fullmatch(flags + pattern, text) is not None
        answer = BoundedPattern(flags + pattern).full_match(text)
        assert answer is None or answer is expected, (flags + pattern, text)
