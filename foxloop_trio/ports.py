"""The ports of the loop: what it asks of planner, gate, trail, human and environment, and the nouns that cross them.

The loop knows neither browser nor model nor file. Whatever has these shapes will do; each port has a contract suite.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs

from .actions import Action, Allow, ApprovalRequest, Ask, Deny, Money

WallClock = Callable[[], float]
"""Wall time: seconds since 1970."""

Ids = Callable[[int, str], bytes]
"""`ids(nbytes, purpose)`: random bytes for an id, a nonce or a key; the purpose lets a test give each kind its own sequence."""

Message = dict[str, Any]
"""One message in the OpenAI chat-completions shape: role, content, and for an assistant nested `tool_calls`."""

Approver = Callable[[ApprovalRequest], Awaitable[str | None]]
"""Asks a human; returns the token from `host.approve`, or None for no."""


@attrs.frozen(kw_only=True)
class Usage:
    """Tokens that one planner request used, as the model server reports them, and what it cost."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cost: Money | None = None


@attrs.frozen(kw_only=True)
class ChatReply:
    """A planner's answer. `message` has `content` (text or None) and may have `tool_calls`, in the chat-completions shape:
    each call ``{"id", "type": "function", "function": {"name", "arguments"}}`` with `arguments` as JSON text. `finish_reason`
    is the server's word for why it ended: ``length`` means that it was cut, and nothing of a cut reply is run.
    """

    message: Mapping[str, Any]
    usage: Usage | None = None
    provider: str | None = None
    tier: str | None = None
    finish_reason: str | None = None


@runtime_checkable
class Planner(Protocol):
    """Whoever decides what to do next: a model, or a script.

    `chat` gets the conversation and the tools, both in the chat-completions shape. What it raises ends the run with
    ``model-error``; a reply that cannot be read is corrected three times in a row at most.
    """

    async def chat(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]]) -> ChatReply: ...


@runtime_checkable
class Gate(Protocol):
    """The planner side of the gate. It judges; it cannot grant.

    It may also have a plain `check_now`, with the arguments of `check`: the answer, when there is nothing to wait for, or None,
    with nothing done, when `check` must be awaited. It is only asked where it is not older than the class's `check`.
    """

    async def check(self, action: Action, *, store_request: bool = True) -> Allow | Ask | Deny: ...
    async def redeem(self, token: str, action: Action) -> Allow | Deny: ...


@runtime_checkable
class TrailSink(Protocol):
    """Where the run is recorded. `append` returns once the entry is durable.

    It has its checkpoint before the write: when it raises Cancelled, nothing was written; when the write has begun, it ends.
    It may also have a plain `append_nowait`, with the arguments of `append`, when it never has to wait for anything. It is only
    used where it is not older than the class's `append`.
    """

    async def append(self, *, actor: str, kind: str, data: Any) -> Any: ...


@runtime_checkable
class Environment(Protocol):
    """What tools act on. `ready` raises `BrowserError("browser-lost")` when it is gone for good.

    It may also have an async `wait_lost`, which returns when `ready` would raise: that is what wakes a run that is paused.
    """

    async def ready(self) -> None: ...
