"""The side of the gate that the planner's loop holds: it can ask and redeem, and nothing else.

The object has no attributes at all. What it works on is kept beside it, in a table of this module, so neither reading nor setting
an attribute gets anybody to the grants, the store, the key or the host side. Code that runs in the process can of course reach
anything; this is for the rest: a loop that is passed around, logged, copied and wrapped, and never holds more than it should.
"""

from __future__ import annotations

from typing import Any, NoReturn, final
from weakref import WeakKeyDictionary

import attrs

from ..actions import Action, Allow, Ask, Deny
from ..actions._mint import mint_permit
from ..actions._run import current_run
from ._core import Books, Core
from ._judge import Allowed, Judgement, judge_check, judge_redeem
from ._ledger import PermitLedger, open_ledger
from ._reasons import Failure


@attrs.frozen(eq=False)
class _Hidden:
    core: Core
    ledger: PermitLedger
    money_ledger: PermitLedger


_HIDDEN: WeakKeyDictionary[GateSide, _Hidden] = WeakKeyDictionary()


class _Sealed(type):
    """A class whose attributes cannot be set, so that the methods of all gates cannot be replaced through one of them."""

    def __setattr__(cls, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{cls.__name__} cannot be altered")

    def __delattr__(cls, name: str) -> NoReturn:
        raise AttributeError(f"{cls.__name__} cannot be altered")


@final
class GateSide(metaclass=_Sealed):
    """The planner side of the gate. Made by `create_gate` only.

    Its methods answer every bad input with a `Deny`; they raise for none. An answer that was saved is returned even when a
    cancellation arrived meanwhile; it is delivered at the caller's next checkpoint.
    """

    __slots__ = ("__weakref__",)

    def __new__(cls) -> GateSide:
        raise TypeError("a GateSide is made by create_gate only")

    async def check(self, action: Action, *, store_request: bool = True) -> Allow | Ask | Deny:
        """May this action run? `Allow` counts one use of a grant and carries the permit; run its action, not yours.

        With `store_request` False a question for a human is not put, only announced: the `Ask` has no request id.
        """
        hidden = _HIDDEN[self]
        core, run = hidden.core, current_run()

        def judge(books: Books) -> Any:
            return judge_check(core, books, action, store_request, run)

        try:
            return _answer(hidden, await core.run(judge))
        except Failure as problem:
            return Deny(reason=problem.reason, message=problem.message)

    def check_now(self, action: Action, *, store_request: bool = True) -> Allow | Ask | Deny | None:
        """What `check` answers, without being awaited; None, and nothing has happened, when it has to be.

        It has to where something may be waited for: a decision hook, a store that is not in memory, another task that is at work in
        the gate. No checkpoint, so a caller that uses nothing else sees to it that other tasks get their turn.
        """
        hidden = _HIDDEN[self]
        core, run = hidden.core, current_run()

        def judge(books: Books) -> Any:
            return judge_check(core, books, action, store_request, run)

        try:
            judgement = core.run_now(judge)
        except Failure as problem:
            return Deny(reason=problem.reason, message=problem.message)
        return None if judgement is None else _answer(hidden, judgement)

    async def redeem(self, token: str, action: Action) -> Allow | Deny:
        """Spend an approval token on exactly the action that was approved. Any attempt with a live token uses it up."""
        hidden = _HIDDEN[self]
        core, run = hidden.core, current_run()

        def judge(books: Books) -> Any:
            return judge_redeem(core, books, token, action, run)

        try:
            answer = _answer(hidden, await core.run(judge))
        except Failure as problem:
            return Deny(reason=problem.reason, message=problem.message)
        assert not isinstance(answer, Ask)
        return answer

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a GateSide cannot be altered")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a GateSide cannot be altered")

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a GateSide does not pickle or copy")

    def __repr__(self) -> str:
        return "<GateSide>"


def open_gate_side(core: Core) -> GateSide:
    side: GateSide = object.__new__(GateSide)
    _HIDDEN[side] = _Hidden(core, open_ledger(core, money=False), open_ledger(core, money=True))
    return side


def _answer(hidden: _Hidden, judgement: Judgement) -> Allow | Ask | Deny:
    if not isinstance(judgement, Allowed):
        return judgement
    permit = mint_permit(
        permit_id=judgement.permit_id,
        grant_id=judgement.grant_id,
        text=judgement.action.text,
        digest=judgement.action.digest,
        ledger=hidden.money_ledger if judgement.reserved else hidden.ledger,
        reserved=judgement.reserved,
        whole=judgement.action.whole(),
    )
    return Allow(grant_id=judgement.grant_id, permit=permit, rule_id=judgement.rule_id)
