"""Which spellings are one host, and what is no host at all.

The table `hosts.json` is also held against the add-on's side, by `tests/addon/js/hosts.test.mjs`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foxloop_trio.browser.tools._address import parse_address
from foxloop_trio.errors import GateError, Refuse
from foxloop_trio.gate import normalise_host

TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "hosts.json").read_text(encoding="utf-8"))
SPELLINGS = [(spelling, host) for host, spellings in TABLE["same"].items() for spelling in spellings]


@pytest.mark.parametrize(("spelling", "host"), [*SPELLINGS, ("a" * 63 + ".example", "a" * 63 + ".example")], ids=ascii)
def test_spellings_of_one_host_become_what_a_browser_reports(spelling: str, host: str) -> None:
    """DN-04, DN-05, B67, and the rules of thumb of the specification; one trailing dot is no part of it."""
    assert normalise_host(spelling) == host
    assert normalise_host(host) == host


def test_the_table_is_not_empty() -> None:
    """Each of its lists is long enough to be the real one."""
    assert [len(SPELLINGS) >= 40, *(len(TABLE[name]) >= 10 for name in TABLE if name not in ("about", "same"))] == [True] * 5


@pytest.mark.parametrize("text", [*TABLE["no_host"], "a" * 5000, None, 5, True, b"example.com", ["example.com"]], ids=ascii)
def test_what_is_no_bare_host_is_refused(text: object) -> None:
    """DN-07 to DN-09, DN-12, GB-G12, B67: bad-domain, with the value in the message."""
    with pytest.raises(GateError) as caught:
        normalise_host(text)
    assert caught.value.code == "bad-domain"
    assert repr(text)[:30] in str(caught.value)


@pytest.mark.parametrize(("address", "url", "host"), TABLE["opened"])
def test_an_address_is_judged_for_the_host_on_which_it_is_opened(address: str, url: str, host: str) -> None:
    """B67: one parser, and the address is rebuilt with its host in normal form."""
    read = parse_address(address)
    assert (read.url, read.host) == (url, host)


@pytest.mark.parametrize(
    "address", [*TABLE["opened_by_nobody"], *(address for address, _ in TABLE["repaired_by_browsers"])], ids=ascii
)
def test_an_address_with_two_readings_or_none_is_not_opened(address: str) -> None:
    """B67, B68: other schemes, no host, and whatever a browser would repair."""
    with pytest.raises(Refuse):
        parse_address(address)


async def test_an_action_on_what_is_no_host_is_denied(setup: Any) -> None:
    """B67: whatever a hasty reader takes it for."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["example.com", "127.0.0.1"])
    for text in TABLE["no_host"]:
        denied = await s.gate.check(s.save(domain=text))
        assert (denied.decision, denied.reason) == ("deny", "bad-action"), text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("example.com", "badexample.com"),
        ("example.com", "example.com.evil.net"),
        ("example.com", "www.example.com"),
        ("apple.com", "\u0430pple.com"),
        ("paypal.com", "paypa\u04cf.com"),
        ("127.0.0.1", "127.0.0.2"),
        ("stra\u00dfe.de", "strasse.de"),
    ],
)
async def test_a_grant_for_one_host_covers_no_other(setup: Any, one: str, other: str) -> None:
    """DN-01, DN-02, DN-06, DN-12: no match, while the host itself matches."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=[one])
    assert (await s.gate.check(s.save(domain=one))).decision == "allow"
    denied = await s.gate.check(s.save(domain=other))
    assert (denied.decision, denied.reason) == ("deny", "no-grant")


@pytest.mark.parametrize("spelling", ["NOTES.local", "notes.local.", "notes\u3002local"])
async def test_grant_and_action_meet_in_any_spelling_of_the_host(setup: Any, spelling: str) -> None:
    """DN-04, DN-05: both sides are normalised before they are compared."""
    s = setup()
    grant = await s.host.add_grant(scope="fill", domains=[spelling, "notes.local"])
    assert grant.domains == ("notes.local",)
    allowed = await s.gate.check(s.save(domain=spelling))
    assert allowed.action.domain == "notes.local"


# Letters that come close to separators, digits, dots and each other, among those that are just letters.
_NEAR = "aAeEoOxX019-_.*:/@%[]\\#? \t\n\r\x00\u00ad\u00df\u017f\u0130\u0131\u0301\u0307\u0430\u04cf\u05d0\u0660\u200b\u200c\u200d"
_NEAR += "\u202e\u2024\u2044\u2100\u212a\u2460\u3002\ufe0f\uff0e\uff0f\uff10\uff21\uff61\ud800\U0001d41a\U0001f600"
_near = st.text(st.sampled_from(_NEAR), max_size=8)
garbage = st.one_of(
    st.text(st.sampled_from(_NEAR), max_size=24),
    st.text(max_size=12),
    st.builds("{}.{}".format, _near, st.sampled_from(["com", "b\u00fccher.de", "xn--bcher-kva.de", "0.0.1"])),
    st.builds("xn--{}.de".format, st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789-"), max_size=12)),
)


def known(spelling: str) -> str | None:
    """The host, or None for a refusal. Any other exception comes out."""
    try:
        return normalise_host(spelling)
    except GateError:
        return None


@given(garbage)
@example("xn--a-ecp.de")
@example("\u0130.com")
def test_any_text_is_a_host_in_its_one_spelling_or_refused(text: str) -> None:
    """Never another exception, never a host that is not its own normal form, and no separator in it."""
    host = known(text)
    if host is None:
        return
    assert normalise_host(host) == host
    assert host == host.lower()
    assert host.isascii()
    assert not set(host) & set("/\\:@%?#*[]<>^| \t\r\n\x00\x7f")
    assert all(0 < len(label) <= 63 for label in host.split("."))


@given(garbage, st.sampled_from([str.upper, str.lower, str.swapcase]))
def test_case_and_a_trailing_dot_never_make_another_host(text: str, change: Any) -> None:
    """Of ASCII letters, which is what a browser folds without asking Unicode."""
    host = known(text)
    assert known("".join(change(char) if char.isascii() else char for char in text)) == host
    if host is not None and not text.endswith((".", "\u3002", "\uff0e", "\uff61")):
        assert known(text + ".") == host
