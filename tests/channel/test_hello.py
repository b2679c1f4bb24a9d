"""The hello over memory: true peers get in, all others end alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import trio

from foxloop_trio import wire
from foxloop_trio.channel import Peer, accept_hello
from foxloop_trio.errors import ChannelBroken, LocalProtocolError, RemoteProtocolError
from foxloop_trio.testing import memory_channel_pair
from foxloop_trio.testing._memory_channel import MemoryTransport, say_hello

TOKEN = "correct horse battery staple"
INCARNATION = "0123456789abcdef" * 2


def counting_ids(nbytes: int, purpose: str) -> bytes:
    return {"hello-nonce": b"\x11", "session": b"\x22"}[purpose] * nbytes


async def exchange(claim: Callable[[dict[str, Any]], Any], *, token: str = TOKEN) -> tuple[MemoryTransport, Any]:
    """Accept a hello whose open message `claim` makes from the challenge; the add-on's end, and a Peer or the error."""
    ours, theirs = memory_channel_pair()
    found: list[Any] = []

    async def accept() -> None:
        try:
            found.append(await accept_hello(ours, token=token, ids=counting_ids))
        except Exception as error:
            found.append(error)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(accept)
        challenge = json.loads(await theirs.receive_text())
        message = claim(challenge["params"])
        if message is not None:
            await theirs.send_text(message if isinstance(message, str) else json.dumps(message))
    return theirs, found[0]


def honest(challenge: dict[str, Any], *, token: str = TOKEN, **changes: Any) -> dict[str, Any]:
    nonce = "ff" * 16
    params = {
        "protocol": 1,
        "incarnation": INCARNATION,
        "nonce": nonce,
        "proof": wire.addon_proof(token, runtime_nonce=challenge["nonce"], addon_nonce=nonce, incarnation=INCARNATION),
        "addon": {"version": "0.1.0"},
        "browser": {"name": "Firefox", "version": "153.0"},
        **changes,
    }
    return {"jsonrpc": "2.0", "id": "x1", "method": "hello.open", "params": params}


async def test_an_honest_addon_gets_in_and_can_check_us(autojump_clock: Any) -> None:
    """The proof in our answer is the one that only a holder of the token can make, over both nonces and the session."""
    theirs, peer = await exchange(honest)
    assert peer == Peer(
        session="22" * 16, incarnation=INCARNATION, addon_version="0.1.0", browser_name="Firefox", browser_version="153.0"
    )
    answer = json.loads(await theirs.receive_text())["result"]
    proof = wire.runtime_proof(TOKEN, addon_nonce="ff" * 16, runtime_nonce="11" * 16, session="22" * 16)
    assert {"session": "22" * 16, "proof": proof, "max_message_bytes": wire.MAX_MESSAGE_BYTES} == answer
    assert not theirs.statistics().closed


async def test_the_token_never_crosses_the_wire(autojump_clock: Any) -> None:
    """Neither side says it, in any direction."""
    ours, theirs = memory_channel_pair()
    said: list[str] = []
    for transport in (ours, theirs):
        send = transport.send_text

        async def record(text: str, send: Any = send) -> None:
            said.append(text)
            await send(text)

        transport.send_text = record  # type: ignore[method-assign]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: accept_hello(ours, token=TOKEN))
        await say_hello(theirs, token=TOKEN)
    assert 3 == len(said)
    assert not any(TOKEN in text for text in said)


async def test_an_addon_refuses_a_runtime_that_does_not_know_the_token(autojump_clock: Any) -> None:
    """Whoever took the port answers with some proof; the add-on's side sees that it is wrong."""
    ours, theirs = memory_channel_pair()

    async def squat() -> None:
        squatter = wire.Connection(role=wire.RUNTIME, id_prefix="q")
        await ours.send_text(squatter.send_notification("hello.challenge", {"protocol": 1, "nonce": "00" * 16}))
        claim = squatter.receive_text(await ours.receive_text())
        assert isinstance(claim, wire.Request)
        await ours.send_text(
            squatter.send_result(claim.id, {"session": "22" * 16, "proof": claim.params["proof"], "max_message_bytes": 5000})
        )

    async with trio.open_nursery() as nursery:
        nursery.start_soon(squat)
        with pytest.raises(RemoteProtocolError) as caught:
            await say_hello(theirs, token=TOKEN)
    assert "wrong-token" == caught.value.code


async def test_a_proof_of_another_hello_is_refused(autojump_clock: Any) -> None:
    """What was overheard once is bound to that challenge's nonce."""
    overheard = honest({"nonce": "00" * 16})
    _theirs, error = await exchange(lambda challenge: overheard)
    assert "wrong-token" == error.code


async def test_our_own_proof_sent_back_is_refused(autojump_clock: Any) -> None:
    """A reflected runtime proof is no add-on proof: the prefixes differ."""
    proof = wire.runtime_proof(TOKEN, addon_nonce="ff" * 16, runtime_nonce="11" * 16, session=INCARNATION)
    _theirs, error = await exchange(lambda challenge: honest(challenge, proof=proof))
    assert "wrong-token" == error.code


REFUSED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "wrong token": lambda challenge: honest(challenge, token="wrong"),
    "proof for another incarnation": lambda challenge: honest(challenge, incarnation="ab" * 16),
    "proof for another nonce": lambda challenge: honest(challenge, nonce="ee" * 16),
    "wrong version": lambda challenge: honest(challenge, protocol=2),
    "version true": lambda challenge: honest(challenge, protocol=True),
    "proof in capitals": lambda challenge: honest(challenge, proof=honest(challenge)["params"]["proof"].upper()),
    "proof too short": lambda challenge: honest(challenge, proof=""),
    "unknown key": lambda challenge: honest(challenge, more=1),
    "no browser": lambda challenge: {
        **honest(challenge),
        "params": {key: value for key, value in honest(challenge)["params"].items() if key != "browser"},
    },
    "not a request": lambda challenge: {key: value for key, value in honest(challenge).items() if key != "id"},
    "id of the runtime": lambda challenge: {**honest(challenge), "id": "r1"},
    "another method": lambda challenge: {**honest(challenge), "method": "tab.list"},
    "a notification first": lambda challenge: {"jsonrpc": "2.0", "method": "tab.removed", "params": {"tab": 1}},
    "a reply first": lambda challenge: {"jsonrpc": "2.0", "id": "r1", "result": {}},
    "a batch": lambda challenge: [honest(challenge)],
    "no JSON": lambda challenge: "{",
    "nothing": lambda challenge: "",
    "a nesting bomb": lambda challenge: "[" * 4000,
    "too large": lambda challenge: honest(challenge, addon={"version": "x" * 5000}),
    "silence": lambda challenge: None,
}


@pytest.mark.parametrize("why", REFUSED)
async def test_every_refusal_looks_the_same(autojump_clock: Any, why: str) -> None:
    """Close code 4403, not a word more after the challenge, whatever was wrong (ruling 25). All but silence take 0.05 s."""
    theirs, error = await exchange(REFUSED[why])
    assert isinstance(error, RemoteProtocolError)
    assert (5.0 if why == "silence" else 0.05) == trio.current_time()
    with pytest.raises(ChannelBroken, match=f"code {wire.REFUSED_CODE}"):
        await theirs.receive_text()
    assert TOKEN not in str(error)


async def test_each_refused_hello_has_an_accepted_twin(autojump_clock: Any) -> None:
    """The message that the refused ones are made from is accepted (ruling 35)."""
    _theirs, peer = await exchange(honest)
    assert isinstance(peer, Peer)


async def test_a_peer_that_leaves_during_the_hello_is_told_apart(autojump_clock: Any) -> None:
    """It is no protocol error to go away."""
    ours, theirs = memory_channel_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(theirs.aclose)
        with pytest.raises(ChannelBroken, match="before it said hello"):
            await accept_hello(ours, token=TOKEN)
    assert ours.statistics().closed


async def test_our_own_fault_in_the_hello_is_not_blamed_on_the_peer(autojump_clock: Any) -> None:
    """Ids of a wrong length make no challenge: that is told as ours, and the connection is closed all the same."""
    ours, theirs = memory_channel_pair()
    with pytest.raises(LocalProtocolError, match=r"hello\.challenge"):
        await accept_hello(ours, token=TOKEN, ids=lambda nbytes, purpose: b"short")
    with pytest.raises(ChannelBroken, match="code 4403"):
        await theirs.receive_text()


async def test_a_cancelled_hello_closes_the_connection(autojump_clock: Any) -> None:
    """At whatever point: nobody could use it any more."""
    for turns in range(20):
        ours, theirs = memory_channel_pair()
        async with trio.open_nursery() as nursery:

            async def peer(theirs: MemoryTransport = theirs) -> None:
                with suppress(ChannelBroken):
                    await say_hello(theirs, token="wrong token")

            nursery.start_soon(peer)
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as inner:
                    inner.start_soon(lambda ours=ours: accept_hello(ours, token=TOKEN))
                    for _ in range(turns):
                        await trio.lowlevel.checkpoint()
                    scope.cancel()
            assert ours.statistics().closed or turns == 0
            nursery.cancel_scope.cancel()


async def test_the_time_limit_covers_the_whole_hello(autojump_clock: Any) -> None:
    """A peer that does not even take the challenge is gone after the limit it was given."""
    ours, _theirs = memory_channel_pair(buffer=0)
    with pytest.raises(RemoteProtocolError) as caught:
        await accept_hello(ours, token=TOKEN, timeout=2)
    assert ("no-hello", 2) == (caught.value.code, trio.current_time())
