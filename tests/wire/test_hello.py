"""The proofs of the hello, computed here by hand, and the hello itself between two connections."""

from __future__ import annotations

import hashlib
import hmac
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from foxloop_trio import wire
from foxloop_trio.errors import LocalProtocolError, RemoteProtocolError
from foxloop_trio.wire import _hello

TOKEN = "tok\u00e9n-\u2713-with-letters-beyond-ascii"
RUNTIME_NONCE, ADDON_NONCE = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"
INCARNATION, SESSION = "01" * 16, "02" * 16


def rfc_2104(key: bytes, text: bytes) -> str:
    """HMAC from its definition, H(K xor opad, H(K xor ipad, text)), without the library that the package uses."""
    key = key if len(key) <= 64 else hashlib.sha256(key).digest()
    key = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in key) + text).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in key) + inner).hexdigest()


def test_our_hmac_is_the_one_of_the_rfc() -> None:
    """RFC 4231, test case 2: the twin in this file is right."""
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert expected == rfc_2104(b"Jefe", b"what do ya want for nothing?")


@pytest.mark.parametrize("token", ["x", TOKEN, "k" * 64, "k" * 65, "k" * 500])
def test_the_proofs_are_hmacs_of_prefix_nonces_and_id(token: str) -> None:
    """Keyed by the UTF-8 of the token, the other side's nonce first, joined by line ends."""
    text = f"foxloop-trio/hello/addon/v1\n{RUNTIME_NONCE}\n{ADDON_NONCE}\n{INCARNATION}"
    found = wire.addon_proof(token, runtime_nonce=RUNTIME_NONCE, addon_nonce=ADDON_NONCE, incarnation=INCARNATION)
    assert rfc_2104(token.encode(), text.encode()) == found
    text = f"foxloop-trio/hello/runtime/v1\n{ADDON_NONCE}\n{RUNTIME_NONCE}\n{SESSION}"
    found = wire.runtime_proof(token, addon_nonce=ADDON_NONCE, runtime_nonce=RUNTIME_NONCE, session=SESSION)
    assert rfc_2104(token.encode(), text.encode()) == found


def test_the_vectors_of_the_protocol_file_are_right() -> None:
    """The add-on is tested against them."""
    [vector] = wire.protocol_json()["hello"]["vectors"]
    key = vector["token"].encode()
    addon = "\n".join(["foxloop-trio/hello/addon/v1", vector["runtime_nonce"], vector["addon_nonce"], vector["incarnation"]])
    runtime = "\n".join(["foxloop-trio/hello/runtime/v1", vector["addon_nonce"], vector["runtime_nonce"], vector["session"]])
    assert rfc_2104(key, addon.encode()) == vector["addon_proof"]
    assert rfc_2104(key, runtime.encode()) == vector["runtime_proof"]


def test_a_proof_depends_on_each_of_its_parts() -> None:
    """Another token, another or swapped nonce, another incarnation, the other side's purpose: another proof each."""
    parts: dict[str, str] = {"runtime_nonce": RUNTIME_NONCE, "addon_nonce": ADDON_NONCE, "incarnation": INCARNATION}
    proofs = [
        wire.addon_proof(TOKEN, **parts),
        wire.addon_proof(TOKEN + "x", **parts),
        wire.addon_proof(TOKEN, **{**parts, "runtime_nonce": ADDON_NONCE, "addon_nonce": RUNTIME_NONCE}),
        wire.addon_proof(TOKEN, **{**parts, "runtime_nonce": "0" * 32}),
        wire.addon_proof(TOKEN, **{**parts, "addon_nonce": "0" * 32}),
        wire.addon_proof(TOKEN, **{**parts, "incarnation": "0" * 32}),
        wire.runtime_proof(TOKEN, addon_nonce=ADDON_NONCE, runtime_nonce=RUNTIME_NONCE, session=INCARNATION),
        wire.runtime_proof(TOKEN, addon_nonce=RUNTIME_NONCE, runtime_nonce=ADDON_NONCE, session=INCARNATION),
    ]
    assert len(proofs) == len(set(proofs))


def test_only_equal_proofs_are_equal_and_any_text_can_be_compared() -> None:
    """Length, case, other scripts and lone surrogates give False, not an exception."""
    proof = "ab" * 32
    assert wire.proofs_equal(proof, "ab" * 32)
    for other in ("", proof[:-1], proof + "0", proof.upper(), proof[:-1] + "c", "\ud800", "\u0660" * 64):
        assert not wire.proofs_equal(proof, other)


def test_proofs_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the library function that is made for it, on the whole of both; and nowhere by ``==``."""
    compared: list[tuple[Any, Any]] = []
    compare = hmac.compare_digest

    def spy(left: Any, right: Any) -> bool:
        compared.append((left, right))
        return compare(left, right)

    monkeypatch.setattr("foxloop_trio.wire._hello.hmac.compare_digest", spy)
    assert not wire.proofs_equal("ab", "cd")
    assert [(b"ab", b"cd")] == compared
    assert "==" not in inspect.getsource(_hello.proofs_equal)


class Hello:
    """Both sides of a hello, message by message."""

    def __init__(self) -> None:
        self.runtime = wire.Connection(role=wire.RUNTIME, id_prefix="r")
        self.addon = wire.Connection(role=wire.ADDON, id_prefix="a")

    def challenge(self) -> str:
        return self.runtime.send_notification("hello.challenge", {"protocol": 1, "nonce": RUNTIME_NONCE})

    def claim(self, **changes: Any) -> str:
        params = {
            "protocol": 1,
            "incarnation": INCARNATION,
            "nonce": ADDON_NONCE,
            "proof": "ab" * 32,
            "addon": {"version": "1"},
            "browser": {"name": "Firefox", "version": "153"},
            **changes,
        }
        return self.addon.send_request(self.addon.prepare("hello.open", params))

    def welcome(self, request: wire.Event) -> str:
        assert isinstance(request, wire.Request)
        return self.runtime.send_result(request.id, {"session": SESSION, "proof": "cd" * 32, "max_message_bytes": 4096})


def test_the_hello_opens_both_sides_in_step() -> None:
    """After each message both are in the same state."""
    hello = Hello()
    states = [wire.State.CHALLENGED, wire.State.CLAIMED, wire.State.OPEN]
    event = hello.addon.receive_text(hello.challenge())
    assert wire.Notification(method="hello.challenge", params={"protocol": 1, "nonce": RUNTIME_NONCE}) == event
    assert states[0] is hello.runtime.state is hello.addon.state
    request = hello.runtime.receive_text(hello.claim())
    assert states[1] is hello.runtime.state is hello.addon.state
    answer = hello.addon.receive_text(hello.welcome(request))
    assert isinstance(answer, wire.Answer)
    assert states[2] is hello.runtime.state is hello.addon.state


def test_nothing_else_can_be_sent_during_the_hello() -> None:
    """Our own mistakes raise as ours and leave the state; the hello still succeeds afterwards."""
    hello = Hello()
    ping = hello.runtime.prepare("session.ping", {"deadline_ms": 1})
    gone = {"tab": 1}

    def mistakes() -> None:
        before = hello.runtime.state, hello.addon.state
        mistakes: list[Callable[[], str]] = [
            lambda: hello.runtime.send_request(ping),
            lambda: hello.runtime.send_notification("call.cancel", {"id": "r1"}),
            lambda: hello.addon.send_notification("tab.removed", gone),
        ]
        for mistake in mistakes:
            with pytest.raises(LocalProtocolError, match="cannot send"):
                mistake()
        assert before == (hello.runtime.state, hello.addon.state)

    mistakes()
    with pytest.raises(LocalProtocolError):
        hello.claim()
    hello.addon.receive_text(hello.challenge())
    mistakes()
    with pytest.raises(LocalProtocolError):
        hello.challenge()
    request = hello.runtime.receive_text(hello.claim())
    mistakes()
    with pytest.raises(LocalProtocolError):
        hello.claim()
    assert isinstance(request, wire.Request)
    with pytest.raises(LocalProtocolError, match="reply"):
        hello.runtime.send_error(request.id, "internal", "there is no refusal message")
    hello.addon.receive_text(hello.welcome(request))
    assert hello.runtime.send_request(ping)


def text_of(message: Any) -> str:
    return wire.encode(message, max_bytes=wire.MAX_MESSAGE_BYTES)


def sample(method: str, part: str) -> Any:
    return next(one["message"] for one in wire.protocol_json()["samples"] if one["method"] == method and part in one["message"])


def at_stage(stage: str) -> Hello:
    hello = Hello()
    if stage != "new":
        hello.addon.receive_text(hello.challenge())
    if stage in ("claimed", "open"):
        request = hello.runtime.receive_text(hello.claim())
    if stage == "open":
        hello.addon.receive_text(hello.welcome(request))
    return hello


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ("new", sample("hello.open", "params")),
        ("challenged", sample("tab.removed", "params")),
        ("challenged", sample("page.act", "error")),
        ("challenged", {**sample("session.ping", "result"), "id": "x9"}),
        ("challenged", {**sample("hello.open", "params"), "method": "hello.close"}),
        ("challenged", {**sample("hello.open", "params"), "params": {}}),
        ("challenged", {**sample("hello.open", "params"), "id": "r1"}),
        ("challenged", {key: value for key, value in sample("hello.open", "params").items() if key != "id"}),
        ("challenged", {**sample("hello.challenge", "params")}),
        ("claimed", sample("hello.open", "params")),
        ("claimed", sample("tab.removed", "params")),
        ("open", {**sample("hello.open", "params"), "id": "x9"}),
        ("open", sample("hello.challenge", "params")),
    ],
    ids=str,
)
def test_the_runtime_ends_with_whoever_says_something_else_in_the_hello(stage: str, message: Any) -> None:
    """Wrong message, wrong moment, wrong shape, wrong id: an error for good, and nothing is answered."""
    runtime = at_stage(stage).runtime
    with pytest.raises(RemoteProtocolError, match="the addon broke the protocol"):
        runtime.receive_text(text_of(message))
    assert wire.State.ERROR is runtime.state


@pytest.mark.parametrize(
    "change", [{"protocol": 2}, {"protocol": True}, {"proof": "AB" * 32}, {"nonce": "ab"}, {"extra": 1}], ids=str
)
def test_a_claim_that_does_not_fit_is_neither_sent_nor_taken(change: dict[str, Any]) -> None:
    """Another version of the protocol is one of them. The twin without the change is taken."""
    hello = at_stage("challenged")
    with pytest.raises(LocalProtocolError):
        hello.claim(**change)
    message = sample("hello.open", "params")
    twin = at_stage("challenged").runtime
    assert isinstance(twin.receive_text(text_of(message)), wire.Request)
    with pytest.raises(RemoteProtocolError):
        hello.runtime.receive_text(text_of({**message, "params": {**message["params"], **change}}))


def test_the_addon_ends_with_a_runtime_whose_welcome_does_not_fit() -> None:
    """A refused welcome is no answer to go on with; an error is no refusal message, and ends it too."""
    good = {"session": SESSION, "proof": "cd" * 32, "max_message_bytes": 4096}
    for part, body in (("result", {**good, "proof": "cd"}), ("result", {}), ("error", sample("page.act", "error")["error"])):
        hello = at_stage("challenged")
        hello.claim()
        with pytest.raises(RemoteProtocolError, match="the runtime broke the protocol"):
            hello.addon.receive_text(text_of({"jsonrpc": "2.0", "id": "xa-1", part: body}))
        assert wire.State.ERROR is hello.addon.state
