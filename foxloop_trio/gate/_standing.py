"""User rules in the books of one operation: load them, drop those whose time is up, add and remove.

Rules that are expired are deleted for good as soon as anybody notices, so that a clock that goes back cannot revive one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._core import Books, Core, Decided
from ._hook import DecisionEvent
from ._reasons import Failure, failure
from ._rows import Rule
from ._user_rules import MAX_RULES, RuleInput, live, usable


async def live_rules(core: Core, books: Books) -> Sequence[Rule]:
    """The rules whose time is not up, oldest first; the others are deleted. Raises `Failure` when a stored rule is not usable."""
    rules = await books.tx.rules.all()
    if not rules:
        return ()
    if not usable(rules, core.tools):
        raise failure("storage-error")
    still = [rule for rule in rules if live(rule, books.at)]
    if len(still) < len(rules):
        for rule in rules:
            if not live(rule, books.at):
                await books.tx.rules.delete(rule.id)
    return still


async def add_rule(core: Core, books: Books, wanted: RuleInput) -> Decided[Rule]:
    rules = await live_rules(core, books)
    books.stage = "decide"
    if len(rules) >= MAX_RULES:
        raise Failure("bad-rule", f"add_rule: there are {MAX_RULES} rules already; remove some")
    if wanted.expires_at is not None and wanted.expires_at <= books.at:
        raise Failure("bad-rule", f"add_rule: expires_at must lie in the future, after {books.at}, not {wanted.expires_at}")
    rule = wanted.rule(core.new_id("rule-id"), books.at)
    await books.tx.rules.put(rule)
    return Decided(rule, DecisionEvent(kind="rule-added", at=books.at, rule_id=rule.id))


async def remove_rule(core: Core, books: Books, rule_id: object) -> Decided[bool]:
    rules = await live_rules(core, books)
    books.stage = "decide"
    if not isinstance(rule_id, str) or rule_id not in {rule.id for rule in rules}:
        return Decided(False)
    await books.tx.rules.delete(rule_id)
    return Decided(True, DecisionEvent(kind="rule-removed", at=books.at, rule_id=rule_id))
