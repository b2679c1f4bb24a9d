"""The side of the gate that the host program keeps: it grants, revokes, and answers what waits for a human."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar, final

import attrs

from ..actions import Money, Scope
from ._core import Books, Core, Decided, Work, host_error
from ._grant_input import GrantInput, read_grant
from ._hook import DecisionEvent
from ._reasons import MESSAGES, Failure
from ._rows import Approval, ApprovalRow, Grant, Rule, RuleEffect
from ._shown import shown
from ._standing import add_rule, live_rules, remove_rule
from ._tokens import Token, sign_token
from ._user_rules import read_rule
from ._waiting import RequestOutcome, wait_for_answer

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
        spend_cap: Money | None = None,
        cap_per_act: Money | None = None,
        cap_per_run: Money | None = None,
        cap_per_site: Money | None = None,
        cap_per_day: Money | None = None,
        expires_at: float | None = None,
        max_uses: int | None = None,
        approval: Approval | None = None,
        rules: bool = False,
    ) -> Grant:
        """Add a standing permission and return it as stored.

        `domains` are bare hosts, or ``*.`` and a host for all names below it; a host stands for all its ports. `expires_at` is
        wall-clock seconds since 1970. Left out, `approval` is ``always`` for `submit` and `pay`, ``never`` for `read` and `fill`.

        The caps limit money: `spend_cap` all that is ever spent under this grant, `cap_per_act` each act, `cap_per_run` what one
        run of a loop spends, `cap_per_site` what is ever spent at one host, `cap_per_day` what is spent on one UTC day. They are in
        whole minor units and all in one currency; an action without an amount is not limited by them. What is spent outside of any
        run counts together, as if it were one run. For `cap_per_site` each subdomain is a host of its own.

        With `rules`, a user's rule may say yes in place of a human.

        Raises GateError, code ``bad-grant`` or ``bad-domain``, naming field and value.
        """
        caps = {
            "spend_cap": spend_cap,
            "cap_per_act": cap_per_act,
            "cap_per_run": cap_per_run,
            "cap_per_site": cap_per_site,
            "cap_per_day": cap_per_day,
        }
        wanted = read_grant(
            scope=scope,
            domains=domains,
            tools=tools,
            caps=caps,
            expires_at=expires_at,
            max_uses=max_uses,
            approval=approval,
            rules=rules,
        )

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
            await books.tx.spends.forget(grant_id)
            return Decided(True, DecisionEvent(kind="revoke", at=books.at, grant_id=grant_id))

        known = await self._run(revoke, needs_clock=False)
        self._core.tell_requests_changed()
        return known

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

        token = await self._run(approve)
        self._core.tell_requests_changed()
        return token

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
        self._core.tell_requests_changed()

    async def wait_decision(self, request_id: str) -> RequestOutcome:
        """Wait until somebody answers this request: ``approved``, ``rejected``, ``expired``, or ``revoked`` with its grant.

        Bound it with a cancel scope of your own. An answer through this host side wakes it at once; one that comes through another
        gate or another process on the same store is noticed within `RECHECK` seconds (1).

        Raises GateError, code ``not-found``, when there is no such request.
        """
        try:
            return await wait_for_answer(self._core, request_id)
        except Failure as problem:
            raise host_error(problem) from problem.__cause__

    async def add_rule(
        self,
        *,
        site: str,
        scope: Literal["read", "submit"],
        effect: RuleEffect,
        tool: str | None = None,
        expires_at: float | None = None,
    ) -> Rule:
        """Keep a standing answer of the user for one site, and return it as stored.

        `site` is a registrable domain such as ``example.com`` and stands for all names below it too. ``deny`` forbids whatever the
        grants say, ``ask`` sends to a human what would run at once, and ``allow`` lets run at once what a grant with `rules` would
        ask about; the strictest rule wins. A rule never replaces a grant and never lifts a limit of one.

        Raises GateError, code ``bad-rule``, naming field and value.
        """
        wanted = read_rule(site=site, scope=scope, effect=effect, tool=tool, expires_at=expires_at, tools=self._core.tools)

        async def add(books: Books) -> Decided[Rule]:
            return await add_rule(self._core, books, wanted)

        return await self._run(add)

    async def remove_rule(self, rule_id: str) -> bool:
        """Forget a rule; True when it was there and its time was not up."""

        async def remove(books: Books) -> Decided[bool]:
            return await remove_rule(self._core, books, rule_id)

        return await self._run(remove)

    async def rules(self) -> list[Rule]:
        """The rules whose time is not up, oldest first."""

        async def look(books: Books) -> Decided[list[Rule]]:
            return Decided(list(await live_rules(self._core, books)))

        return await self._run(look)

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
            raise Failure("not-found", f"no request {shown(request_id, 80)} waits for an answer; it may have expired")
        return row


def open_host_side(core: Core) -> HostSide:
    side: HostSide = object.__new__(HostSide)
    side._core = core
    return side


def _about(row: ApprovalRow, kind: Any, books: Books, **fields: Any) -> DecisionEvent:
    return DecisionEvent(kind=kind, at=books.at, grant_id=row.grant_id, request_id=row.id, text=row.text, **fields)
