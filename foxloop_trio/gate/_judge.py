"""The two decisions of the gate, in the order of the specification: may this action run, and may this token be spent on it.

Both only read and write the books of one operation; the frame around them calls the hook and saves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ..actions import Action, Ask, Deny
from ._core import Books, Core, Decided
from ._hook import DecisionEvent, HookKind
from ._money import reserve, spent_so_far
from ._parse import Parsed, Unfit, parse_action
from ._patterns import names_of
from ._reasons import MESSAGES, DenyReason
from ._requests import ask_human, was_rejected
from ._rows import Grant, Rule
from ._rules import NOTHING_SPENT, blocked_by, choose, covers
from ._standing import live_rules
from ._tokens import Token, read_token
from ._user_rules import allowed_by_rule, standing


@attrs.define(slots=True, eq=False)
class Allowed:
    """An allow that is not saved yet, so there is no permit yet."""

    permit_id: str
    grant_id: str
    action: Parsed
    reserved: bool
    rule_id: str | None


Judgement = Allowed | Ask | Deny


async def judge_check(core: Core, books: Books, action: Action, store_request: bool, run: str) -> Decided[Judgement]:
    rules = await live_rules(core, books)
    parsed = parse_action(action, core.tools)
    if isinstance(parsed, Unfit):
        return _deny(core, books, "check", parsed.reason, parsed.message)
    grants = await books.tx.grants.covering(parsed.scope, names_of(parsed.host))
    spent = await spent_so_far(books, grants, parsed, run)
    books.stage = "decide"

    said = standing(rules, scope=parsed.scope, tool=parsed.tool, host=parsed.host, at=books.at)
    if said.deny is not None:
        return _deny(core, books, "check", "rule", action=parsed, rule_id=said.deny)
    choice = choose(grants, parsed.tool, books.at, parsed.amount, spent, said)
    if choice.first is None:
        if choice.blocked is None:
            return _deny(core, books, "check", "no-grant", action=parsed)
        return _deny(core, books, "check", choice.blocked.reason, choice.blocked.message, action=parsed)
    by_rule: str | None = None
    if choice.unasked is not None and (
        choice.unasked is choice.first
        or not await was_rejected(books, [grant for grant in grants if covers(grant, parsed.tool)], parsed.digest)
    ):
        if said.ask is None and not parsed.always_ask:
            return await _allow(core, books, "check", choice.unasked, parsed, run, rule_id=allowed_by_rule(choice.unasked, said))
        by_rule = None if parsed.always_ask else said.ask  # without which nobody would be asked
    asked = await ask_human(core, books, choice.first, parsed, store=store_request)
    if not isinstance(asked, Ask):
        return _deny(core, books, "check", asked, action=parsed, grant_id=choice.first.id, rule_id=by_rule)
    if by_rule is not None:
        asked = attrs.evolve(asked, rule_id=by_rule)
    return Decided(
        asked,
        _event(
            core,
            books,
            "check",
            decision="ask",
            grant_id=asked.grant_id,
            request_id=asked.request_id,
            expires_at=asked.expires_at,
            rule_id=by_rule,
            text=parsed.text,
        ),
    )


async def judge_redeem(core: Core, books: Books, token: str, action: Action, run: str) -> Decided[Judgement]:
    rules = await live_rules(core, books)
    known = read_token(core.key, token)
    if known is None:
        return _deny(core, books, "redeem", "bad-token")
    if books.at * 1000 >= known.expires_at_ms:
        return _deny(core, books, "redeem", "token-expired", request_id=known.request_id)
    request = await books.tx.requests.get(known.request_id)
    grant = None if request is None else await books.tx.grants.get(request.grant_id)
    books.stage = "decide"

    if request is None or request.nonce != known.nonce or request.digest != known.digest:
        return _deny(core, books, "redeem", "bad-token", request_id=known.request_id)
    if request.status != "approved":
        reason: DenyReason = "token-used" if request.status == "used" else "bad-token"
        return _deny(core, books, "redeem", reason, request_id=known.request_id)
    # Whatever comes next, the token is spent: a planner that changes an approved action is not trusted twice.
    await books.tx.requests.put(attrs.evolve(request, status="used"))
    return await _judge_approved(core, books, known, grant, parse_action(action, core.tools), run, rules)


async def _judge_approved(
    core: Core, books: Books, token: Token, grant: Grant | None, parsed: Parsed | Unfit, run: str, rules: Sequence[Rule]
) -> Decided[Judgement]:
    if isinstance(parsed, Unfit):
        return _deny(core, books, "redeem", parsed.reason, parsed.message, request_id=token.request_id)
    said = standing(rules, scope=parsed.scope, tool=parsed.tool, host=parsed.host, at=books.at)
    if parsed.digest != token.digest:
        return _deny(core, books, "redeem", "action-changed", action=parsed, request_id=token.request_id)
    if said.deny is not None:
        return _deny(core, books, "redeem", "rule", action=parsed, request_id=token.request_id, rule_id=said.deny)
    if grant is None:
        return _deny(core, books, "redeem", "no-grant", action=parsed, request_id=token.request_id)
    spent = await spent_so_far(books, [grant], parsed, run)
    blocked = blocked_by(grant, books.at, parsed.amount, spent.get(grant.id, NOTHING_SPENT))
    if blocked is not None:
        return _deny(core, books, "redeem", blocked.reason, blocked.message, action=parsed, request_id=token.request_id)
    return await _allow(core, books, "redeem", grant, parsed, run, request_id=token.request_id)


async def _allow(
    core: Core,
    books: Books,
    kind: HookKind,
    grant: Grant,
    action: Parsed,
    run: str,
    *,
    request_id: str | None = None,
    rule_id: str | None = None,
) -> Decided[Judgement]:
    # A permit's id begins with its grant's, so the ledger needs no table of permits that are out.
    permit_id = grant.id + core.new_id("permit-id")
    spending = await reserve(books, grant, action, permit_id, run)
    await books.tx.grants.put(grant.used_once_more(spending))
    event = _event(core, books, kind, decision="allow", grant_id=grant.id, request_id=request_id, rule_id=rule_id, text=action.text)
    return Decided(Allowed(permit_id, grant.id, action, spending > 0, rule_id), event)


def _deny(
    core: Core,
    books: Books,
    kind: HookKind,
    reason: DenyReason,
    message: str | None = None,
    *,
    action: Parsed | None = None,
    grant_id: str | None = None,
    request_id: str | None = None,
    rule_id: str | None = None,
) -> Decided[Judgement]:
    deny = Deny(reason=reason, message=message or MESSAGES[reason], rule_id=rule_id)
    event = _event(
        core,
        books,
        kind,
        decision="deny",
        reason=deny.reason,
        message=deny.message,
        grant_id=grant_id,
        request_id=request_id,
        rule_id=rule_id,
        text=None if action is None else action.text,
    )
    return Decided(deny, event)


def _event(core: Core, books: Books, kind: HookKind, **fields: Any) -> DecisionEvent | None:
    """The hook's event; none is made when nobody listens."""
    return None if core.hook is None else DecisionEvent(kind=kind, at=books.at, **fields)
