"""What the host's decision hook hears: one frozen event per decision, before that decision is saved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

import attrs

from ..actions import Action, action_from_text

HookKind = Literal["check", "redeem", "approve", "reject", "grant", "revoke", "rule-added", "rule-removed", "failed"]


@attrs.frozen(kw_only=True)
class DecisionEvent:
    """One thing the gate is about to say or do.

    * `kind`: the operation; ``failed`` follows one that was announced, or was being decided, and then could not be saved. It holds
      the decision that was given after all and the `error` behind it.
    * `at`: the gate's time in wall-clock seconds since 1970.
    * `decision`: ``allow``, ``ask`` or ``deny``; None for ``grant``, ``revoke``, ``rule-added`` and ``rule-removed``. An approval
      is an ``allow``, a rejection a ``deny``.
    * `rule_id`: the user's rule that was added or removed, or that changed the decision.
    * `action`: a copy of the action in normal form, when there is one. There is no permit and no token in an event.
    """

    kind: HookKind
    at: float
    decision: Literal["allow", "ask", "deny"] | None = None
    reason: str | None = None
    message: str | None = None
    grant_id: str | None = None
    request_id: str | None = None
    rule_id: str | None = None
    expires_at: float | None = None
    text: str | None = attrs.field(default=None, repr=False)
    error: BaseException | None = attrs.field(default=None, eq=False)

    @property
    def action(self) -> Action | None:
        """The action in normal form, as a fresh copy; `text` is its canonical JSON."""
        return None if self.text is None else action_from_text(self.text)


DecisionHook = Callable[[DecisionEvent], Awaitable[object] | object]
"""Sync or async. When it raises, or takes longer than `HOOK_TIMEOUT`, nothing happens and nothing is saved."""
