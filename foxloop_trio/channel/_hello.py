"""`accept_hello`: the runtime's side of the hello, over any transport.

One message of the peer is read before it is known, and it must be the right one. Whatever else happens (wrong token, wrong version,
no JSON, too long, a binary message, silence) ends in the same way: after the same short pause, close code 4403 without a reason.
"""

from __future__ import annotations

import secrets
from typing import Final

import attrs
import trio

from .. import wire
from ..errors import ChannelBroken, ChannelClosed, RemoteProtocolError
from ..ports import Ids
from ._transport import Transport

__all__ = ["HELLO_SECONDS", "REFUSAL_SECONDS", "Peer", "accept_hello", "system_ids"]

HELLO_SECONDS: Final = 5.0
"""How long a peer may take to say hello. An add-on on this machine needs some milliseconds, a Firefox that is just starting less
than a second; without a limit a silent stranger would hold a slot for ever."""

REFUSAL_SECONDS: Final = 0.05
"""Pause before a refusal. It slows guessing (a token has 128 bits or more: this is belt and braces) and hides which check
failed."""


@attrs.frozen(kw_only=True)
class Peer:
    """The add-on at the other end, as it presented itself in a hello that was proved.

    `incarnation` is new whenever the add-on's background page starts: acts carry it, so that none meant for an earlier one runs
    twice. `session` is the id we gave to this connection. Versions are the add-on's own words.
    """

    session: str
    incarnation: str
    addon_version: str
    browser_name: str
    browser_version: str
    max_message_bytes: int = wire.MAX_MESSAGE_BYTES


async def accept_hello(
    transport: Transport,
    *,
    token: str,
    ids: Ids | None = None,
    timeout: float = HELLO_SECONDS,
    max_message_bytes: int = wire.MAX_MESSAGE_BYTES,
) -> Peer:
    """Challenge the peer, check its proof, and prove ourselves.

    `timeout` is in seconds, for all of it. Raises RemoteProtocolError when the peer is refused, ChannelBroken when it went away;
    the transport is closed then.
    """
    peer = None
    try:
        with trio.fail_after(timeout):
            peer = await _hello(transport, token, ids if ids is not None else system_ids, max_message_bytes)
    except trio.TooSlowError:
        raise RemoteProtocolError(f"no hello within {timeout:g} s", code="no-hello") from None
    except RemoteProtocolError:
        await trio.sleep(REFUSAL_SECONDS)
        raise
    except (ChannelBroken, ChannelClosed) as error:
        raise ChannelBroken("the peer went away before it said hello") from error
    finally:
        if peer is None:
            await transport.aclose(wire.REFUSED_CODE)
    return peer


async def _hello(transport: Transport, token: str, ids: Ids, max_message_bytes: int) -> Peer:
    connection = wire.Connection(role=wire.RUNTIME, id_prefix="hello", max_message_bytes=wire.MAX_HELLO_BYTES)
    nonce = ids(16, "hello-nonce").hex()
    challenge = connection.send_notification("hello.challenge", {"protocol": wire.PROTOCOL, "nonce": nonce})
    await transport.send_text(challenge)
    claim = connection.receive_text(await transport.receive_text())
    if not isinstance(claim, wire.Request):
        raise RemoteProtocolError("the first message was no hello.open", code="no-hello")
    told = claim.params
    expected = wire.addon_proof(token, runtime_nonce=nonce, addon_nonce=told["nonce"], incarnation=told["incarnation"])
    if not wire.proofs_equal(expected, told["proof"]):
        raise RemoteProtocolError("the peer does not know the token", code="wrong-token")
    session = ids(16, "session").hex()
    proof = wire.runtime_proof(token, addon_nonce=told["nonce"], runtime_nonce=nonce, session=session)
    welcome = {"session": session, "proof": proof, "max_message_bytes": max_message_bytes}
    await transport.send_text(connection.send_result(claim.id, welcome))
    return Peer(
        session=session,
        incarnation=told["incarnation"],
        addon_version=told["addon"]["version"],
        browser_name=told["browser"]["name"],
        browser_version=told["browser"]["version"],
        max_message_bytes=max_message_bytes,
    )


def system_ids(nbytes: int, purpose: str) -> bytes:
    """The default for `ids`: the system's random bytes."""
    return secrets.token_bytes(nbytes)
