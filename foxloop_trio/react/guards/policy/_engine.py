"""A guard that judges each call by rules: `PolicyEngine` asks them in their order and says one verdict, `Decision` is its record.

Deny overrides.
"""

from __future__ import annotations

import hashlib
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import attrs
import trio

from ....actions import copied
from ....canonical import canonical_json
from ....errors import BadOptionsError, NotJsonError
from ....guarding import Ask, Block, OnAsk, Rewrite, State, Stop, ToolCall, ToolResult
from ._rules import EFFECTS, MOST_COUNTED, CompiledRule, Effect, Rule, RuleLimit, amount_of, as_rule


@attrs.frozen(kw_only=True)
class Decision:
    """What was decided of one call, for the host's log.

    `evaluated`: how many rules were looked at; `triggered`: the ids of those that matched, in order. `rule` is None when it was
    the default.
    """

    effect: Effect
    rule: str | None
    reason: str
    evaluated: int
    triggered: tuple[str, ...]
    arguments_hash: str

    def to_json(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "triggered": list(self.triggered)}


@attrs.define(eq=False)
class _Counted:
    """What one limit has admitted: the instants and amounts, no more of them than it needs."""

    limit: RuleLimit
    turn: int = 0
    total: int = 0
    entries: deque[tuple[float, int]] = attrs.Factory(deque)

    def slide(self, turn: int, now: float) -> None:
        per = self.limit.per
        if per == "turn" and turn != self.turn:
            self.turn, self.total = turn, 0
            self.entries.clear()
        elif not isinstance(per, str):
            while self.entries and self.entries[0][0] <= now - per:
                self.total -= self.entries.popleft()[1]

    def add(self, now: float, amount: int) -> None:
        self.total += amount
        if not isinstance(self.limit.per, str):
            if len(self.entries) >= MOST_COUNTED:  # sums only: two oldest become one, counted for longer than it must be
                (_, first), (later, second) = self.entries.popleft(), self.entries.popleft()
                self.entries.appendleft((later, first + second))
            self.entries.append((now, amount))

    def take_back(self, now: float, amount: int) -> None:
        self.total = max(0, self.total - amount)
        if (now, amount) in self.entries:
            self.entries.remove((now, amount))


class PolicyEngine:
    """Allows, refuses, asks about or rewrites each call by `rules`.

    Of the rules that match, in order of priority: a ``deny`` anywhere wins, unless an ``allow`` with `final` stands before it.
    Else the ``rewrite`` rules are applied, and what they made is judged by the denials again; with an ``ask`` among the rules a
    person is asked about that. With none of these an ``allow`` lets the call pass, or else the `default`, ``allow`` or ``deny``.
    The stop tool is exempt from a default of ``deny`` unless a rule names it.

    * `on_ask`: ``(call, reason, state) -> bool``, sync or async; only True is a yes. Without it the loop's own is asked, and where
      there is none, the call is blocked.
    * `log`: called with each `Decision`, sync or async.

    Raises ValueError, as BadOptionsError, naming the rule, for anything unknown.
    """

    def __init__(
        self,
        rules: Iterable[Rule | Mapping[str, Any]],
        *,
        default: Literal["allow", "deny"] = "allow",
        on_ask: OnAsk | None = None,
        log: Callable[[Decision], Any] | None = None,
    ) -> None:
        listed = [as_rule(rule) for rule in rules]
        ids = [rule.id for rule in listed]
        if len(set(ids)) != len(ids):
            raise BadOptionsError(f"two rules have the id {next(name for name in ids if ids.count(name) > 1)!r}")
        if default not in ("allow", "deny"):
            raise BadOptionsError(f"default must be allow or deny, not {default!r}")
        for name, hook in (("on_ask", on_ask), ("log", log)):
            if hook is not None and not callable(hook):
                raise BadOptionsError(f"{name} must be callable, not {hook!r}")
        self._rules = [CompiledRule(rule) for rule in sorted(listed, key=lambda rule: rule.priority)]
        self._default: Effect = default
        self._on_ask = on_ask
        self._log = log
        self._begin()

    def _begin(self) -> None:
        self._counts = {one.rule.id: _Counted(one.rule.limit) for one in self._rules if one.rule.limit is not None}
        self._timed = any(not isinstance(one.limit.per, str) for one in self._counts.values())
        self._admitted: dict[str, list[tuple[str, float, int]]] = {}
        self._effects: dict[str, int] = dict.fromkeys(EFFECTS, 0)
        self._fired: dict[str, int] = {}

    # The guard

    def on_run_start(self, state: State) -> None:
        self._begin()

    async def before_tool(self, call: ToolCall, state: State) -> Any:
        """One verdict, on record before it is said."""
        decision, arguments, rule = self.decide(call, state)
        if self._log is not None:
            logged = self._log(decision)
            if inspect.isawaitable(logged):
                await logged
        self._effects[decision.effect] += 1
        for name in decision.triggered:
            self._fired[name] = self._fired.get(name, 0) + 1
        if decision.effect == "deny":
            words = decision.reason
            return Stop("policy", decision.to_json()) if rule is not None and rule.stop else Block(words)
        rewritten = arguments is not call.arguments
        if rewritten:
            call = attrs.evolve(call, arguments=arguments)
        verdicts: list[Any] = [Rewrite(arguments, self._rewrite_words(decision))] if rewritten else []
        if decision.effect == "ask":
            if self._on_ask is None:
                verdicts.append(Ask(decision.reason))
            else:
                answer = self._on_ask(call, decision.reason, state)
                if (await answer if inspect.isawaitable(answer) else answer) is not True:
                    return Block(decision.reason)
                # While the person thought, other calls may have used up what this one was allowed.
                again, _, _ = self.decide(call, state)
                if again.effect == "deny":
                    return Block(again.reason)
        self._admit(call, state)
        return verdicts or None

    def after_tool(self, call: ToolCall, result: ToolResult, state: State) -> None:
        """A call that was blocked after all is not counted."""
        for name, at, amount in self._admitted.pop(call.id, ()):
            if result.blocked:
                self._counts[name].take_back(at, amount)

    def statistics(self) -> dict[str, Any]:
        """How often each effect was decided, and how often each rule matched."""
        return {"decisions": dict(self._effects), "triggered": dict(self._fired)}

    # The decision

    def decide(self, call: ToolCall, state: State) -> tuple[Decision, Any, Rule | None]:
        """What the rules say of a call, as a record, with the arguments to use and the rule that decided. Counts nothing."""
        now = trio.current_time() if self._timed else 0.0
        triggered, evaluated = self._matching(call, state, now)
        arguments = call.arguments
        denied = _first(triggered, "deny")
        if denied is None:
            rewrites = [one.rule for one, effect in triggered if effect == "rewrite"]
            if rewrites:
                arguments = _rewritten(arguments, rewrites)
                again, _ = self._matching(attrs.evolve(call, arguments=arguments), state, now)
                denied = _first(again, "deny")
        asked, rewrote, allowed = (_first(triggered, effect) for effect in ("ask", "rewrite", "allow"))
        decided = denied or asked or rewrote or allowed
        effect: Effect
        if decided is not None:
            rule: Rule | None = decided.rule
            assert rule is not None
            effect = "deny" if decided is denied else rule.effect
            reason = rule.reason or f"rule {rule.id}"
            if effect == "deny" and rule.effect == "allow":
                assert rule.limit is not None
                reason = f"{reason}: the limit of {rule.limit.max} per {rule.limit.per} is used up"
        else:
            rule, effect, reason = (
                None,
                self._default,
                "no rule allows this call" if self._default == "deny" else "no rule is against it",
            )
            if effect == "deny" and call.name == state.stop_tool_name and not any(call.name in one.names for one in self._rules):
                effect, reason = "allow", "the stop tool"
        ids = tuple(one.rule.id for one, _ in triggered)
        record = Decision(
            effect=effect,
            rule=rule.id if rule is not None else None,
            reason=reason,
            evaluated=evaluated,
            triggered=ids,
            arguments_hash=_hash(call, state),
        )
        return record, arguments, rule

    def _matching(self, call: ToolCall, state: State, now: float) -> tuple[list[tuple[CompiledRule, Effect]], int]:
        """The rules that match, in order, with the effect of each, up to a final `allow`; and how many were looked at."""
        found: list[tuple[CompiledRule, Effect]] = []
        for index, one in enumerate(self._rules, 1):
            if not one.matches(call, state):
                continue
            effect = one.rule.effect
            if one.rule.limit is not None:
                reached = self._reached(one.rule, call, state, now)
                if effect == "deny" and not reached:
                    continue
                effect = "deny" if reached else effect
            found.append((one, effect))
            if one.rule.final and effect == "allow":
                return found, index
        return found, len(self._rules)

    def _reached(self, rule: Rule, call: ToolCall, state: State, now: float) -> bool:
        """Whether this call would pass the rule's limit. An amount that is none cannot be added up, so it does."""
        counted, limit = self._counts[rule.id], rule.limit
        assert limit is not None
        counted.slide(state.turn, now)
        amount = amount_of(limit, call.arguments)
        return amount is None or counted.total + amount > limit.max

    def _admit(self, call: ToolCall, state: State) -> None:
        """Count the call for each limit whose rule matches it."""
        now = trio.current_time() if self._timed else 0.0
        admitted = []
        for one in self._rules:
            rule = one.rule
            if rule.limit is None or not one.matches(call, state):
                continue
            amount = amount_of(rule.limit, call.arguments) or 0
            self._counts[rule.id].slide(state.turn, now)
            self._counts[rule.id].add(now, amount)
            admitted.append((rule.id, now, amount))
        if admitted:
            self._admitted[call.id] = admitted

    def _rewrite_words(self, decision: Decision) -> str | None:
        words = [one.rule.reason for one in self._rules if one.rule.id in decision.triggered and one.rule.effect == "rewrite"]
        return "; ".join(word for word in words if word) or None


# Parts


def _first(triggered: list[tuple[CompiledRule, Effect]], effect: Effect) -> CompiledRule | None:
    return next((one for one, found in triggered if found == effect), None)


def _rewritten(arguments: Any, rules: list[Rule]) -> dict[str, Any]:
    changed: dict[str, Any] = dict(arguments)
    for rule in rules:
        changed.update({name: copied(value) for name, value in rule.set.items()})
        for name in rule.remove:
            changed.pop(name, None)
    return changed


def _hash(call: ToolCall, state: State) -> str:
    """A digest of the arguments; empty for a tool that hides some, since short secrets could be tried against it."""
    tool = state.registry.get(call.name) if state.registry is not None else None
    if getattr(tool, "redact", None) is not None:
        return ""
    try:
        text = canonical_json(call.arguments)
    except NotJsonError:
        text = repr(call.arguments)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
