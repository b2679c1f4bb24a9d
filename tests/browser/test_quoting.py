"""Text of a page, quoted: nothing in it ends a line, opens a marker or reorders what stands beside it, and tricks are named."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.browser._quoting import hidden_in, host_of_link, quote, quote_address, remarks, visible

BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

tricky = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(list('"\\<>[]|=(),\r\n\x0b\x0c\x85\u2028\u2029\ud800' + BIDIRECTIONAL + "\u200b\u2060\ufeff\U000e0041")),
    ),
    max_size=80,
)


@given(tricky)
def test_a_quoted_text_is_one_json_string_on_one_line_whatever_it_holds(text: str) -> None:
    """It can neither end its quotes nor begin a line."""
    quoted = quote(text)
    assert len(quoted.splitlines()) == 1
    assert isinstance(json.loads(quoted), str)
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', quoted)


@given(tricky)
def test_a_quoted_text_holds_nothing_that_cannot_be_seen_or_reorders(text: str) -> None:
    """No control character, no directional one, no half of a character."""
    quoted = quote(text)
    assert not set(quoted) & set(BIDIRECTIONAL)
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in quoted)


@given(st.lists(st.sampled_from(["<", " ", "/", "untrusted", "-", "data", ">", "\u200b", "\n", "UNTRUSTED-DATA"]), max_size=12))
def test_no_pieces_assemble_to_a_marker(pieces: list[str]) -> None:
    """Also when invisible characters held them apart."""
    assert not re.search(r"<\s*/?\s*untrusted-data", quote("".join(pieces)), re.IGNORECASE)


@given(tricky)
def test_what_is_removed_is_counted_or_ordinary(text: str) -> None:
    """As many as are taken out, but for soft hyphens, variants of signs, and joiners where they belong."""
    removed = len(text) - len(visible(text))
    assert 0 <= hidden_in(text) <= removed
    assert hidden_in(text) == removed or set(text) & set("\u00ad\ufe0e\ufe0f\u200c\u200d")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Pay", []),
        ("Größe, naïve, Ελλάδα, Москва, 東京", []),
        ("Pa\u200by", ["1 invisible character removed"]),
        ("\u202egnp.exe\u202c", ["2 invisible characters removed"]),
        ("P\u0430y", ["letters of several scripts in one word: P\\u0430y"]),
        ("\uff30ay now", ["letters of several scripts in one word: \\uff30ay"]),
        ("Donau\u00addampf \u2764\ufe0f \U0001f468\u200d\U0001f469", []),
        ("\u0645\u06cc\u200c\u062e", []),
        ("pass\u200dword", ["1 invisible character removed"]),
    ],
)
def test_tricks_in_a_label_are_named_and_honest_text_is_left_alone(text: str, said: list[str]) -> None:
    """Shown as what they are; other alphabets, soft hyphens and composed pictures are no tricks."""
    assert list(remarks(text)) == said


@given(tricky)
def test_remarks_are_in_our_words_alone(text: str) -> None:
    """What is spelled out of the page is letters and escapes."""
    for remark in remarks(text):
        assert re.fullmatch(r"\d+ invisible characters? removed|letters of several scripts in one word: [A-Za-z0-9\\, +]+", remark)


MIXED = 'may be displayed as "\u0430p.{}", with Cyrillic and Latin letters)'


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://shop.test/a?b=c", '"https://shop.test/a?b=c"'),
        ("https://xn--p-7sb.com/", f'"https://xn--p-7sb.com/" ("xn--p-7sb.com" {MIXED.format("com")}'),
        ("http://\u0430p.test/", f'"http://xn--p-7sb.test/" ("xn--p-7sb.test" {MIXED.format("test")}'),
        (
            "http://shop.test:80@evil.test/",
            '"http://shop.test:80@evil.test/" (the host is "evil.test"; what stands before the @ is a user name)',
        ),
        ("http://xn--a/", '"http://xn--a/" ("xn--a" is no valid international name)'),
        ("https://shop.test/\u202etxt.exe", '"https://shop.test/txt.exe" (1 invisible character removed)'),
        ("http://[::1", '"http://[::1"'),
        ("https://shop.test/" + "x" * 400, '"https://shop.test/' + "x" * 282 + '" (+118 characters)'),
    ],
)
def test_an_address_shows_its_true_host(url: str, shown: str) -> None:
    """8.1: the name as the network knows it, and what is odd about it."""
    assert quote_address(url) == shown


@pytest.mark.parametrize(
    ("href", "host"),
    [
        ("/a", "shop.test"),
        ("//Evil.test/", "evil.test"),
        ("https://\u0430.test/", "xn--80a.test"),
        ("javascript:go()", None),
        ("mailto:a@b.test", None),
        ("http://[", None),
    ],
)
def test_where_a_link_leads(href: str, host: str | None) -> None:
    """Resolved against the page, in ASCII; nothing for what opens no page."""
    assert host_of_link(href, "http://shop.test/here/") == host


ODD_ADDRESSES = [
    ("https:\\\\evil.test", "evil.test"),
    ("/\\evil.test/x", "evil.test"),
    ("//evil.test\\@shop.test/", "evil.test"),
    ("https://evil.test\\@shop.test/", "evil.test"),
    ("ht\ntps://evil.test", "evil.test"),
    ("\x01 https://evil.test", "evil.test"),
    ("///evil.test", "evil.test"),
    ("https:///evil.test", "evil.test"),
    ("http:evil.test", "evil.test"),
    ("https:evil.test", "shop.test"),
    ("https:/evil.test", "shop.test"),
    ("evil.test", "shop.test"),
    ("?next=\\\\evil.test", "shop.test"),
    ("https://shop.test@evil.test", "evil.test"),
    ("javascript:void 0", None),
    ("https://[::1", None),
]


@pytest.mark.parametrize(("href", "host"), ODD_ADDRESSES)
def test_a_link_leads_to_the_host_that_a_browser_goes_to(href: str, host: str | None) -> None:
    """Backslashes, control characters and too many slashes are read as the URL standard has it, and not as Python does."""
    assert host_of_link(href, "https://shop.test/cart") == host
