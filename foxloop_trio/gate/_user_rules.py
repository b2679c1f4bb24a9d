"""Standing answers of a user: allow, ask or deny on one site. Pure: which rules there may be, which apply, and what they change.

A rule changes only whether a human is asked under a grant that matches already. It never creates a permission and never lifts a
limit of a grant. An ``allow`` works only on grants that the host added with ``rules=True``; ``ask`` and ``deny`` work on all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import attrs

from ..actions import MAX_SAFE_INTEGER, Scope
from ..errors import GateError
from ._patterns import on_site, read_site
from ._registry import Registry
from ._rows import RULE_EFFECTS, Grant, Rule, RuleEffect
from ._shown import shown

MAX_RULES: Final = 500
"""Most live rules: more than a person can have in mind, and few enough to be looked at in each check."""

RULE_SCOPES: Final[tuple[Scope, ...]] = ("read", "submit")
"""What a rule may speak of. Money is asked about each time, and filling in is the host's to allow."""


@attrs.frozen(kw_only=True)
class RuleInput:
    """A rule that lacks only what the gate adds: its id and its time."""

    site: str
    scope: Scope
    tool: str | None
    effect: RuleEffect
    expires_at: float | None

    def rule(self, rule_id: str, at: float) -> Rule:
        return Rule(
            id=rule_id,
            created_at=at,
            site=self.site,
            scope=self.scope,
            tool=self.tool,
            effect=self.effect,
            expires_at=self.expires_at,
        )


@attrs.frozen
class Standing:
    """What the user has said about one action: for each effect the id of the oldest rule that applies, or None."""

    deny: str | None = None
    ask: str | None = None
    allow: str | None = None


SILENT: Final = Standing()
"""No rule applies."""


def read_rule(*, site: Any, scope: Any, effect: Any, tool: Any, expires_at: Any, tools: Registry) -> RuleInput:
    """Raises GateError, code ``bad-rule``, naming field and value.

    How many rules there are and whether `expires_at` is still to come is for the caller to test, who has the books and the clock.
    """
    if type(scope) is not str or scope not in RULE_SCOPES:
        raise _bad("scope", f"must be one of {', '.join(RULE_SCOPES)}: a rule never speaks of fill or pay", scope)
    if type(effect) is not str or effect not in RULE_EFFECTS:
        raise _bad("effect", f"must be one of {', '.join(RULE_EFFECTS)}", effect)
    if tool is not None and not _registered(tool, scope, tools):
        raise _bad("tool", f"must be the name of a registered tool of the scope {scope}, or None for all of them", tool)
    if expires_at is not None and (type(expires_at) not in (int, float) or not abs(expires_at) <= MAX_SAFE_INTEGER):
        raise _bad("expires_at", "must be seconds since 1970", expires_at)
    try:
        domain = read_site(site)
    except GateError as problem:
        raise GateError(f"add_rule: site: {problem}", code="bad-rule") from problem
    return RuleInput(
        site=domain, scope=scope, tool=tool, effect=effect, expires_at=None if expires_at is None else float(expires_at)
    )


def usable(rules: Sequence[Rule], tools: Registry) -> bool:
    """Whether stored rules are such as `read_rule` makes, whatever their time.

    With one that is not, nothing can be decided: it may be a ``deny`` that was damaged, or be for a tool of another scope by now.
    """
    return len(rules) <= MAX_RULES and all(
        rule.scope in RULE_SCOPES
        and (rule.tool is None or _registered(rule.tool, rule.scope, tools))
        and _is_site_in_normal_form(rule.site)
        for rule in rules
    )


def live(rule: Rule, at: float) -> bool:
    """Whether the rule's time is not up."""
    return rule.expires_at is None or at < rule.expires_at


def standing(rules: Iterable[Rule], *, scope: Scope, tool: str, host: str, at: float) -> Standing:
    """What live rules say about an action. One that names the tool does not beat one that is stricter."""
    found: dict[str, str] = {}
    for rule in rules:
        if rule.scope == scope and rule.tool in (None, tool) and live(rule, at) and on_site(host, rule.site):
            found.setdefault(rule.effect, rule.id)
    return Standing(**found) if found else SILENT


def runs_unasked(grant: Grant, said: Standing) -> bool:
    """Whether a grant that can allow the action lets it run without asking a human, as long as no rule says ``ask``."""
    return grant.approval == "never" or (grant.rules and said.allow is not None)


def allowed_by_rule(grant: Grant, said: Standing) -> str | None:
    """The id of the rule without which a human would have been asked under this grant."""
    return said.allow if grant.approval != "never" and grant.rules else None


def _registered(tool: object, scope: str, tools: Registry) -> bool:
    if type(tool) is not str:
        return False
    entry = tools.get(tool)
    return entry is not None and entry.scope == scope


def _is_site_in_normal_form(site: str) -> bool:
    try:
        return _normal_site(site) == site
    except GateError:
        return False


_normal_site = lru_cache(maxsize=2 * MAX_RULES)(read_site)
"""Each stored rule is looked at in each check. A site that is refused is not remembered: the suffix list may be there next time."""


def _bad(field: str, rule: str, value: object) -> GateError:
    return GateError(f"add_rule: {field} {rule}, not {shown(value)}", code="bad-rule")
