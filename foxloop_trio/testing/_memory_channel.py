"""`memory_channel_pair`: two transports that are joined in memory, and a fake add-on's side of the hello.

Synopsis::

    ours, theirs = memory_channel_pair()
    async with open_session(ours, peer) as session: ...      # and a fake add-on on `theirs`

They keep the contract of `foxloop_trio.channel.Transport`, the unpleasant parts included: a send that is cancelled half-way drops
the connection, as a half-written websocket frame would. No sockets and no threads: made for the autojump clock.
"""

from __future__ import annotations

from typing import final

import trio

from .. import wire
from ..channel import Transport, TransportStatistics
from ..errors import BusyError, ChannelBroken, ChannelClosed, RemoteProtocolError

__all__ = ["MemoryTransport", "memory_channel_pair", "say_hello"]


class _Link:
    """What the two ends share: who ended it, and how."""

    def __init__(self, *ways: trio.MemorySendChannel[str]) -> None:
        self.close_code: int | None = None
        self.ended = False
        self._ways = ways

    def drop(self) -> None:
        """Nothing goes in either direction any more; what is on its way still arrives."""
        self.ended = True
        for way in self._ways:
            way.close()


@final
class MemoryTransport:
    """One end, made by `memory_channel_pair`."""

    def __init__(self, link: _Link, outgoing: trio.MemorySendChannel[str], incoming: trio.MemoryReceiveChannel[str]) -> None:
        self._link = link
        self._outgoing = outgoing
        self._incoming = incoming
        self._ours = False
        self._broken = False
        self._sending = False
        self._receiving = False
        self._sent = 0
        self._received = 0

    def __repr__(self) -> str:
        return f"<MemoryTransport {'closed' if self._ours else 'ended' if self._link.ended else 'open'}>"

    async def send_text(self, text: str) -> None:
        """See `Transport`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._ours:
            raise ChannelClosed("this connection was closed on our side")
        if self._broken:
            raise self._why_broken()
        if self._sending:
            raise BusyError("two tasks send on one transport: use one writer")
        self._sending = True
        whole = False
        try:
            await self._outgoing.send(text)
            whole = True
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            if self._ours:
                raise ChannelClosed("this connection was closed on our side") from None
            raise self._why_broken() from None
        finally:
            self._sending = False
            if not whole:
                self._broken = True
                self._link.drop()
        self._sent += 1

    async def receive_text(self) -> str:
        """See `Transport`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._ours:
            raise ChannelClosed("this connection was closed on our side")
        if self._receiving:
            raise BusyError("two tasks receive on one transport: use one reader")
        self._receiving = True
        try:
            text = await self._incoming.receive()
        except trio.ClosedResourceError:
            raise ChannelClosed("this connection was closed on our side") from None
        except trio.EndOfChannel:
            self._broken = True
            raise self._why_broken() from None
        finally:
            self._receiving = False
        self._received += 1
        return text

    async def aclose(self, code: int = 1000) -> None:
        """See `Transport`."""
        if not self._ours:
            self._ours = True
            if not self._link.ended:
                self._link.close_code = code
            self._end()
            self._incoming.close()
        with trio.CancelScope(shield=True):
            await trio.lowlevel.checkpoint()

    async def abort(self) -> None:
        """See `Transport`."""
        self._ours = True
        self._end()
        self._incoming.close()
        with trio.CancelScope(shield=True):
            await trio.lowlevel.checkpoint()

    def statistics(self) -> TransportStatistics:
        """See `Transport`."""
        return TransportStatistics(
            sent=self._sent,
            received=self._received,
            closed=self._ours or self._broken or self._link.ended,
            close_code=self._link.close_code,
        )

    def _end(self) -> None:
        self._link.ended = True
        self._outgoing.close()

    def _why_broken(self) -> ChannelBroken:
        code = self._link.close_code
        return ChannelBroken("the connection was lost" if code is None else f"the peer closed the connection (code {code})")


def memory_channel_pair(*, buffer: int = 1) -> tuple[MemoryTransport, MemoryTransport]:
    """Two transports; what one sends the other receives. `buffer` messages may be on their way in each direction."""
    to_second, at_second = trio.open_memory_channel[str](buffer)
    to_first, at_first = trio.open_memory_channel[str](buffer)
    link = _Link(to_second, to_first)
    return MemoryTransport(link, to_second, at_first), MemoryTransport(link, to_first, at_second)


async def say_hello(
    transport: Transport,
    *,
    token: str,
    incarnation: str = "0123456789abcdef0123456789abcdef",
    nonce: str = "ffeeddccbbaa99887766554433221100",
) -> str:
    """The add-on's side of the hello, as an honest add-on does it; the id of the session.

    Raises RemoteProtocolError when the runtime's proof is wrong (then an add-on drops the socket), ChannelBroken when it refused
    us.
    """
    connection = wire.Connection(role=wire.ADDON, id_prefix="hello")
    challenge = connection.receive_text(await transport.receive_text())
    if not isinstance(challenge, wire.Notification):
        raise RemoteProtocolError("the first message was no challenge")
    runtime_nonce = challenge.params["nonce"]
    claim = connection.prepare(
        "hello.open",
        {
            "protocol": wire.PROTOCOL,
            "incarnation": incarnation,
            "nonce": nonce,
            "proof": wire.addon_proof(token, runtime_nonce=runtime_nonce, addon_nonce=nonce, incarnation=incarnation),
            "addon": {"version": "0.1.0"},
            "browser": {"name": "Firefox", "version": "153.0"},
        },
    )
    await transport.send_text(connection.send_request(claim))
    welcome = connection.receive_text(await transport.receive_text())
    if not isinstance(welcome, wire.Answer):
        raise RemoteProtocolError("the hello was not answered with a result")
    session: str = welcome.result["session"]
    expected = wire.runtime_proof(token, addon_nonce=nonce, runtime_nonce=runtime_nonce, session=session)
    if not wire.proofs_equal(expected, welcome.result["proof"]):
        raise RemoteProtocolError("the runtime does not know the token", code="wrong-token")
    return session
