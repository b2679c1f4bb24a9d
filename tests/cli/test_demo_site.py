"""The demo's web site, over real sockets: real clock, everything bounded."""

from contextlib import suppress

import trio

from foxloop_trio.cli._demo_site import MAX_REQUEST, Site, open_site

GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
ORDER = b"POST /order HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"


async def exchange(site: Site, request: bytes) -> bytes:
    """Send `request`, and everything that comes back until the site closes."""
    with trio.fail_after(5):
        stream = await trio.open_tcp_stream("127.0.0.1", int(site.url.rstrip("/").rpartition(":")[2]))
        async with stream:
            await stream.send_all(request)
            return b"".join([chunk async for chunk in stream])


async def test_the_form_is_served_on_loopback() -> None:
    """The address has a free port of 127.0.0.1."""
    async with open_site() as site:
        assert site.host == "127.0.0.1"
        answer = await exchange(site, GET % b"/")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b'<form action="/order" method="post">' in answer


async def test_an_order_is_remembered_as_it_was_sent() -> None:
    """The site is what the demo asks at the end."""
    body = b"name=Ada+L%C3%B6velace&tea=green&milk=yes"
    async with open_site() as site:
        answer = await exchange(site, ORDER % (len(body), body))
        assert b"Your order is in" in answer
        assert site.orders == [{"name": "Ada Lövelace", "tea": "green", "milk": "yes"}]


async def test_what_is_not_there_is_not_found_and_nothing_is_ordered() -> None:
    """Also a GET of the order's address."""
    async with open_site() as site:
        assert (await exchange(site, GET % b"/favicon.ico")).startswith(b"HTTP/1.1 404 ")
        assert (await exchange(site, GET % b"/order")).startswith(b"HTTP/1.1 404 ")
        assert site.orders == []


async def test_garbage_ends_its_own_connection_only() -> None:
    """Each bad request gets no answer, and the next good one does."""
    bad = [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /order HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /order HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST /order HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MAX_REQUEST + 1),
        b"x" * (MAX_REQUEST + 1),
        b"\xff\xfe\x00\r\n\r\n",
    ]
    async with open_site() as site:
        for request in bad:
            with suppress(trio.BrokenResourceError):  # closed with our bytes unread: the same "no"
                assert await exchange(site, request) == b""
        assert (await exchange(site, GET % b"/")).startswith(b"HTTP/1.1 200 ")
        assert site.orders == []


async def test_a_silent_connection_does_not_keep_the_site_from_ending() -> None:
    """Leaving the context ends everything that is connected."""
    with trio.fail_after(5):
        async with open_site() as site:
            stream = await trio.open_tcp_stream("127.0.0.1", int(site.url.rstrip("/").rpartition(":")[2]))
        async with stream:
            assert await stream.receive_some() == b""
