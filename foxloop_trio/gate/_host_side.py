"""The side of the gate that the host program keeps: it grants, revokes, and answers what waits for a human."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar, final

import attrs

from ..actions import Scope
from ._core import Books, Core, Decided, Work, host_error
from ._grant_input import GrantInput, read_grant
from ._hook import DecisionEvent
from ._reasons import MESSAGES, Failure
from ._rows import Approval, ApprovalRow, Grant
from ._tokens import Token, sign_token

T = TypeVar("T")


@final
class HostSide:
    """The host side of the gate. Made by `create_gate` only; never hand it to a loop, a tool or a planner.

    Every method raises GateError: ``bad-state`` when the store cannot be read or written or the clock is unusable, ``hook-failed``
    when the decision hook raised; then nothing has changed.
    """

    __slots__ = ("_core",)
    _core: Core

    def __new__(cls) -> HostSide:
        raise TypeError("a HostSide is made by create_gate only")

    async def add_grant(
        self,
        *,
        scope: Scope,
        domains: Sequence[str],
        tools: Sequence[str] | None = None,
        spend_cap: Any = None,
        cap_per_act: Any = None,
        cap_per_run: Any = None,
        cap_per_day: Any = None,
        expires_at: float | None = None,
        max_uses: int | None = None,
        approval: Approval | None = None,
    ) -> Grant:
        """Add a standing permission and return it as stored.

        `domains` are bare hosts; a host stands for all its ports. `expires_at` is wall-clock seconds since 1970. Left out,
        `approval` is ``always`` for `submit` and `pay` and ``never`` for `read` and `fill`.

        Raises GateError, code ``bad-grant`` or ``bad-domain``, naming field and value; NotImplementedError for the caps.
        """
        caps = {"spend_cap": spend_cap, "cap_per_act": cap_per_act, "cap_per_run": cap_per_run, "cap_per_day": cap_per_day}
        for name, cap in caps.items():
            if cap is not None:
                raise NotImplementedError(f"add_grant({name}=...) is not supported yet; leave it out")
        wanted = read_grant(scope=scope, domains=domains, tools=tools, expires_at=expires_at, max_uses=max_uses, approval=approval)

        async def add(books: Books) -> Decided[Grant]:
            return await self._add(books, wanted)

        return await self._run(add)

    async def revoke_grant(self, grant_id: str) -> bool:
        """Remove a grant and its waiting requests; True when it was there. Works with an unusable clock too.

        Approved requests stay, and fail when they are redeemed.
        """

        async def revoke(books: Books) -> Decided[bool]:
            if not isinstance(grant_id, str) or not await books.tx.grants.delete(grant_id):
                return Decided(False)
            for request in await books.tx.requests.all():
                if request.grant_id == grant_id and request.status == "pending":
                    await books.tx.requests.delete(request.id)
            return Decided(True, DecisionEvent(kind="revoke", at=books.at, grant_id=grant_id))

        return await self._run(revoke, needs_clock=False)

    async def grants(self) -> list[Grant]:
        """All grants in the order in which they are tried, also those that are expired or used up."""

        async def look(books: Books) -> Decided[list[Grant]]:
            return Decided(list(await books.tx.grants.all()))

        return await self._run(look, needs_clock=False)

    async def pending(self) -> list[ApprovalRow]:
        """The requests that wait for a human, oldest first. Show `text` byte for byte: it is what the token will be bound to."""

        async def look(books: Books) -> Decided[list[ApprovalRow]]:
            rows = await books.tx.requests.all()
            return Decided([row for row in rows if row.status == "pending" and row.expires_at > books.at])

        return await self._run(look)

    async def approve(self, request_id: str) -> str:
        """A human said yes: the one-time token for exactly that action. It is a secret of the host and its loop.

        Raises GateError, code ``not-found``, unless the request waits and is not expired; ``hook-failed``: it waits on.
        """

        async def approve(books: Books) -> Decided[str]:
            return await self._approve(books, request_id)

        return await self._run(approve)

    async def reject(self, request_id: str) -> None:
        """A human said no: until the request expires the same action is denied at once.

        Raises GateError, code ``not-found``, unless the request waits and is not expired.
        """

        async def reject(books: Books) -> Decided[None]:
            row = await self._waiting(books, request_id)
            await books.tx.requests.put(attrs.evolve(row, status="rejected"))
            message = MESSAGES["rejected"]
            return Decided(None, _about(row, "reject", books, decision="deny", reason="rejected", message=message))

        await self._run(reject)

    async def wait_decision(self, request_id: str) -> NoReturn:
        """Not there yet."""
        raise NotImplementedError("host.wait_decision(request_id) is not supported yet; use on_approval or terminal_approver")

    async def add_rule(self, **fields: object) -> NoReturn:
        """Not there yet."""
        raise NotImplementedError("user rules (host.add_rule) are not supported yet; use grants")

    def __repr__(self) -> str:
        return "<HostSide>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a HostSide does not pickle or copy")

    async def _run(self, work: Work[T], *, needs_clock: bool = True) -> T:
        try:
            return await self._core.run(work, needs_clock=needs_clock)
        except Failure as problem:
            raise host_error(problem) from problem.__cause__

    async def _add(self, books: Books, wanted: GrantInput) -> Decided[Grant]:
        books.stage = "decide"
        if wanted.expires_at is not None and wanted.expires_at <= books.at:
            raise Failure("bad-grant", f"add_grant: expires_at must lie in the future, after {books.at}, not {wanted.expires_at}")
        grant = wanted.grant(self._core.new_id("grant-id"), books.at)
        await books.tx.grants.put(grant)
        return Decided(grant, DecisionEvent(kind="grant", at=books.at, grant_id=grant.id))

    async def _approve(self, books: Books, request_id: str) -> Decided[str]:
        row = await self._waiting(books, request_id)
        nonce = self._core.new_id("approval-nonce")
        expires_at_ms = round((books.at + self._core.token_ttl) * 1000)
        await books.tx.requests.put(attrs.evolve(row, status="approved", nonce=nonce, expires_at=expires_at_ms / 1000))
        token = Token(request_id=row.id, nonce=nonce, expires_at_ms=expires_at_ms, digest=row.digest)
        return Decided(sign_token(self._core.key, token), _about(row, "approve", books, decision="allow"))

    async def _waiting(self, books: Books, request_id: object) -> ApprovalRow:
        row = await books.tx.requests.get(request_id) if isinstance(request_id, str) else None
        books.stage = "decide"
        if row is None or row.status != "pending" or row.expires_at <= books.at:
            raise Failure("not-found", f"no request {repr(request_id)[:80]} waits for an answer; it may have expired")
        return row


def open_host_side(core: Core) -> HostSide:
    side: HostSide = object.__new__(HostSide)
    side._core = core
    return side


def _about(row: ApprovalRow, kind: Any, books: Books, **fields: Any) -> DecisionEvent:
    return DecisionEvent(kind=kind, at=books.at, grant_id=row.grant_id, request_id=row.id, text=row.text, **fields)
