"""Patterns of hosts in grants, and the sites of user rules: whole labels, nobody else's domains."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.errors import GateError
from foxloop_trio.gate import _suffixes
from foxloop_trio.gate._patterns import matches, names_of, on_site, read_pattern, read_site


@pytest.mark.parametrize(
    ("spelling", "pattern"),
    [
        ("example.com", "example.com"),
        ("*.example.com", "*.example.com"),
        ("*.EXAMPLE.com.", "*.example.com"),
        ("*.b\u00fccher.de", "*.xn--bcher-kva.de"),
        ("*.www.example.co.uk", "*.www.example.co.uk"),
        ("*.example.co.uk", "*.example.co.uk"),
        ("*.somebody.github.io", "*.somebody.github.io"),
        ("*.www.ck", "*.www.ck"),
        ("*.city.kobe.jp", "*.city.kobe.jp"),
        ("*.notes.local", "*.notes.local"),
        ("127.0.0.1", "127.0.0.1"),
        ("com", "com"),
        ("localhost", "localhost"),
    ],
)
def test_a_pattern_is_kept_in_normal_form(spelling: str, pattern: str) -> None:
    """Exact hosts of any kind, and `*.` before a domain that somebody owns."""
    assert read_pattern(spelling) == pattern
    assert read_pattern(pattern) == pattern


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "*.",
        "*..",
        "*.*",
        "*.*.example.com",
        "**.example.com",
        "*example.com",
        "a*.example.com",
        "a.*.com",
        "example.*",
        "\uff0a.example.com",
        "*\u3002example.com",
        "*.example.com:443",
        "*.example.com/",
        "*.a..b",
        "*.com",
        "*.COM.",
        "*.co.uk",
        "*.github.io",
        "*.ck",
        "*.foo.ck",
        "*.kobe.jp",
        "*.compute.amazonaws.com",
        "*.xn--p1ai",
        "*.\u0440\u0444",
        "*.local",
        "*.localhost",
        "*.127.0.0.1",
        "*.0.0.1",
        "*.[::1]",
        None,
        5,
        b"*.example.com",
    ],
    ids=ascii,
)
def test_what_is_no_pattern_is_refused(text: object) -> None:
    """DN-08 to DN-10, DN-12: bad-domain, with the value in the message."""
    with pytest.raises(GateError) as caught:
        read_pattern(text)
    assert caught.value.code == "bad-domain"
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("*.example.com", "www.example.com", True),
        ("*.example.com", "a.b.c.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "badexample.com", False),
        ("*.example.com", "example.com.evil.test", False),
        ("*.example.com", "www.example.com.evil.test", False),
        ("*.example.com", "com", False),
        ("example.com", "www.example.com", False),
        ("example.com", "example.com", True),
        ("*.0.1", "127.0.0.1", False),
    ],
)
def test_a_pattern_matches_by_whole_labels(pattern: str, host: str, expected: bool) -> None:
    """DN-01 to DN-03; and the list that stores look up says the same."""
    assert matches(pattern, host) is expected
    assert (pattern in names_of(host)) is expected


_labels = st.lists(st.sampled_from(["a", "b", "ab", "com", "1"]), min_size=1, max_size=5)


@given(_labels, _labels, st.booleans())
def test_looking_up_by_name_is_matching(host_labels: list[str], pattern_labels: list[str], star: bool) -> None:
    """A store that knows equality only finds exactly the grants that match."""
    host, pattern = ".".join(host_labels), ("*." if star else "") + ".".join(pattern_labels)
    assert (pattern in names_of(host)) is matches(pattern, host)


@pytest.fixture(params=["missing", "raises", "nonsense"])
def no_list(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A public suffix list that cannot be used."""
    _suffixes._lookup.cache_clear()
    if request.param == "missing":
        monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    else:

        def lookup(host: str) -> object:
            if request.param == "raises":
                raise RuntimeError("the list is broken")
            return 5

        monkeypatch.setattr(_suffixes, "_lookup", lambda: lookup)
    yield
    monkeypatch.undo()
    _suffixes._lookup.cache_clear()


@pytest.mark.usefixtures("no_list")
async def test_without_a_list_exact_hosts_still_work_and_nothing_else_does(setup: Any) -> None:
    """DN-11, UR-04: bad-domain, and no grant is stored."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["example.com"])
    with pytest.raises(GateError) as caught:
        await s.host.add_grant(scope="fill", domains=["example.org", "*.example.com"])
    assert caught.value.code == "bad-domain"
    with pytest.raises(GateError) as caught:
        read_site("example.com")
    assert caught.value.code == "bad-domain"
    assert len(await s.host.grants()) == 1
    assert (await s.gate.check(s.save(domain="example.com"))).decision == "allow"


async def test_a_grant_for_a_pattern_covers_what_is_below_and_not_the_host_itself(setup: Any) -> None:
    """DN-03, and grants are still tried in the order of adding, whichever way they match."""
    s = setup()
    below = await s.host.add_grant(scope="fill", domains=["*.Example.com"], max_uses=1)
    exact = await s.host.add_grant(scope="fill", domains=["www.example.com", "*.example.com"])
    assert below.domains == ("*.example.com",)
    assert (await s.gate.check(s.save(domain="www.example.com"))).grant_id == below.id
    assert (await s.gate.check(s.save(domain="www.example.com"))).grant_id == exact.id
    assert (await s.gate.check(s.save(domain="a.b.EXAMPLE.com."))).grant_id == exact.id
    for domain in ("example.com", "badexample.com", "www.example.com.evil.test"):
        assert (await s.gate.check(s.save(domain=domain))).reason == "no-grant"


@pytest.mark.parametrize(
    ("spelling", "site"),
    [
        ("Example.COM.", "example.com"),
        ("b\u00fccher.de", "xn--bcher-kva.de"),
        ("example.co.uk", "example.co.uk"),
        ("me.github.io",) * 2,
    ],
)
def test_a_site_is_a_whole_registrable_domain(spelling: str, site: str) -> None:
    """UR-04: in normal form."""
    assert read_site(spelling) == site


@pytest.mark.parametrize(
    "text",
    ["www.example.com", "com", "co.uk", "github.io", "localhost", "127.0.0.1", "*.example.com", "", "http://example.com", None],
)
def test_what_is_no_site_is_refused(text: object) -> None:
    """UR-04: a subdomain is refused and not widened."""
    with pytest.raises(GateError) as caught:
        read_site(text)
    assert caught.value.code == "bad-domain"
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("example.com", True), ("a.b.example.com", True), ("badexample.com", False), ("com", False), ("example.com.evil.test", False)],
)
def test_a_host_is_on_a_site_by_whole_labels(host: str, expected: bool) -> None:
    """UR-01."""
    assert on_site(host, "example.com") is expected
