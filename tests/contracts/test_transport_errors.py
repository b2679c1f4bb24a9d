"""The one place where errors of the libraries below become ours knows all of them."""

from __future__ import annotations

import trio
import trio_websocket
import wsproto.utilities

from foxloop_trio.channel._transport import _FOREIGN


def test_every_error_of_the_websocket_libraries_is_mapped() -> None:
    """Fails when a new version brings an error that `WebsocketTransport` would let through."""
    found = {
        value
        for module in (trio_websocket, wsproto.utilities)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert {"ConnectionClosed", "HandshakeError", "LocalProtocolError", "RemoteProtocolError"} <= {
        error.__name__ for error in found
    }
    base = wsproto.utilities.ProtocolError  # never raised itself
    unmapped = {error for error in found if not issubclass(error, (*_FOREIGN, trio_websocket.ConnectionClosed))}
    assert {base} >= unmapped


def test_the_stream_errors_of_trio_are_mapped() -> None:
    """What `send_all` and `receive_some` raise, but BusyResourceError: that is a bug, and must be seen."""
    assert {trio.BrokenResourceError, trio.ClosedResourceError} <= set(_FOREIGN)
    assert trio.BusyResourceError not in _FOREIGN
