"""Which addresses may be opened, and for which host each is judged."""

import pytest

from foxloop_trio.browser.tools._address import host_of, parse_address, plain_host
from foxloop_trio.errors import Refuse


@pytest.mark.parametrize(
    ("text", "url", "host"),
    [
        ("http://shop.test", "http://shop.test", "shop.test"),
        ("https://shop.test/a?b=c#d", "https://shop.test/a?b=c#d", "shop.test"),
        ("HTTPS://Shop.TEST/A", "https://shop.test/A", "shop.test"),
        ("http://shop.test:8080/", "http://shop.test:8080/", "shop.test"),
        ("http://shop.test./", "http://shop.test/", "shop.test"),
        ("http://bücher.de/", "http://xn--bcher-kva.de/", "xn--bcher-kva.de"),
        ("http://xn--bcher-kva.de/", "http://xn--bcher-kva.de/", "xn--bcher-kva.de"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/", "127.0.0.1"),
        ("http://localhost/", "http://localhost/", "localhost"),
        ("http://example.com.evil.test/", "http://example.com.evil.test/", "example.com.evil.test"),
        ("http://shop.test?x@evil.test", "http://shop.test?x@evil.test", "shop.test"),
        ("http://shop.test#@evil.test/", "http://shop.test#@evil.test/", "shop.test"),
        ("http://shop.test/:80@evil.test//x", "http://shop.test/:80@evil.test//x", "shop.test"),
        ("http://shop.test/é?ü", "http://shop.test/é?ü", "shop.test"),
    ],
)
def test_a_plain_address_is_rebuilt_with_the_host_that_is_judged(text, url, host):
    """Scheme and host in their one spelling, the rest as it was."""
    address = parse_address(text)
    assert (address.url, address.host) == (url, host)
    assert parse_address(address.url) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "shop.test",
        "//shop.test/",
        "/page",
        "not an address",
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)//http://shop.test",
        "data:text/html,x",
        "blob:http://shop.test/1",
        "about:blank",
        "about:config",
        "file:///etc/passwd",
        "view-source:http://shop.test/",
        "moz-extension://abc/page.html",
        "resource://gre/",
        "chrome://browser/content/",
        "mailto:a@shop.test",
        "ftp://shop.test/",
        "ws://shop.test/",
        " http://shop.test/",
        "http://shop.test/ ",
        "http://shop.test/a b",
        "\x01http://shop.test/",
        "ht\ttp://shop.test/",
        "http://shop.\ntest/",
        "http://shop.test/\u2028",
        "http:shop.test",
        "http:/shop.test/",
        "http:///shop.test/",
        "http:\\\\shop.test\\",
        "http://shop.test\\@evil.test/",
        "http://",
        "http:///",
        "http://:80/",
        "http://.",
        "http://a..b/",
        "http://user@shop.test/",
        "http://user:pass@shop.test/",
        "http://shop.test@evil.test/",
        "http://shop.test%40evil.test/",
        "http://shop.test:80:90/",
        "http://shop.test:/",
        "http://shop.test:x/",
        "http://shop.test:-1/",
        "http://shop.test:65536/",
        "http://shop.test:\u0663/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://2130706433/",
        "http://127.1/",
        "http://256.1.1.1/",
        "http://*.shop.test/",
        "http://shop.test\uff0fevil.test/",
        "http://shop.test\uff03@evil.test/",
        "http://\ud800.test/",
        "http://" + "a" * 64 + ".test/",
    ],
)
def test_anything_else_is_refused_in_our_own_words(text):
    """Other schemes, what a browser would repair, and hosts with two readings; the refusal does not repeat the text."""
    with pytest.raises(Refuse) as caught:
        parse_address(text)
    assert len(text) < 8 or text not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://shop.test/a b\\c", "shop.test"),
        ("https://user:pw@shop.test:444/?@x", "shop.test"),
        ("http://shop.test./", "shop.test"),
        ("about:blank", None),
        ("moz-extension://abc/", None),
        ("file:///x", None),
        ("http://[::1]/", None),
        ("", None),
    ],
)
def test_the_host_of_a_reported_address_is_the_gates_or_none(url, host):
    """Firefox has parsed it; what the gate would not take has no host."""
    assert host_of(url) == host


def test_a_plain_host_is_the_gates_or_none():
    """One spelling for comparing."""
    assert [plain_host(host) for host in ("Shop.TEST.", None, "", "a b")] == ["shop.test", None, None, None]
