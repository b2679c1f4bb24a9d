"""Which spellings are one host, and what is no host at all."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.errors import GateError
from foxloop_trio.gate import normalise_host


@pytest.mark.parametrize(
    ("spelling", "host"),
    [
        ("EXAMPLE.com.", "example.com"),
        ("b\u00fccher.de", "xn--bcher-kva.de"),
        ("B\u00dcCHER.de", "xn--bcher-kva.de"),
        ("bu\u0308cher.de", "xn--bcher-kva.de"),
        ("XN--BCHER-KVA.de", "xn--bcher-kva.de"),
        ("fa\u00df.de", "xn--fa-hia.de"),
        ("example\u3002com", "example.com"),
        ("example.com\u3002", "example.com"),
        ("exa\u00admple.com", "example.com"),
        ("\uff45xample.com", "example.com"),
        ("a_b.example", "a_b.example"),
        ("a_b.b\u00fccher.de", "a_b.xn--bcher-kva.de"),
        ("-lead.example", "-lead.example"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("\uff11\uff12\uff17.0.0.1", "127.0.0.1"),
        ("\u2615.example", "xn--53h.example"),
        ("xn--53h.example", "xn--53h.example"),
        ("a" * 63 + ".example", "a" * 63 + ".example"),
    ],
)
def test_spellings_of_one_host_become_what_a_browser_reports(spelling: str, host: str) -> None:
    """DN-04, DN-05, and the rules of thumb of the specification; the pairs were checked against a WHATWG URL parser."""
    assert normalise_host(spelling) == host
    assert normalise_host(host) == host


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "a..b",
        ".example.com",
        "example.com..",
        "https://example.com",
        "example.com:443",
        "example.com/",
        "user@example.com",
        "exam ple.com",
        "example.com\n",
        "\u3000example.com",
        "back\\slash",
        "a%2eb",
        "a?b",
        "a#b",
        "[::1]",
        "::1",
        "*",
        "*.",
        "*.example.com",
        "a.*.b",
        "a*.b",
        "a<b",
        "a|b",
        "a^b",
        "a\x00b",
        "a\x7fb",
        "\uff0fa.com",
        "a\uff05b.com",
        "\u2100.com",
        "256.1.1.1",
        "1.2.3.4.5",
        "1",
        "0x7f.1",
        "0x",
        "127.1",
        "127.0.0.01",
        "a.09",
        "xn--",
        "xn--a",
        "xn--abc-",
        "xn--\u00fc",
        "xn--Bcher-kva8.de",
        "\u0301a.com",
        "a\u200db.com",
        "\u05d01a.com",
        "\ud800.com",
        "\ufdd0.com",
        "a" * 64 + ".com",
        ".".join(["abcdefghi"] * 26),
        "a" * 5000,
        None,
        5,
        True,
        b"example.com",
        ["example.com"],
    ],
)
def test_what_is_no_bare_host_is_refused(text: object) -> None:
    """DN-07 to DN-09, DN-12, GB-G12: bad-domain, with the value in the message."""
    with pytest.raises(GateError) as caught:
        normalise_host(text)
    assert caught.value.code == "bad-domain"
    assert repr(text)[:30] in str(caught.value)


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
