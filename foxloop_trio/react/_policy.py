"""A guard that judges each call by rules: deny overrides, and whatever cannot be told is read against the call.

`Rule` is what the host writes, `PolicyEngine` asks the rules in their order and says one verdict, `Decision` is its record.
"""

from __future__ import annotations

import hashlib
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

import attrs
import trio

from ..actions import copied
from ..canonical import canonical_json
from ..errors import NotJsonError
from ._errors import ReactOptionError
from ._policy_conditions import Condition, Truth, values_at
from ._state import State, ToolCall, ToolResult
from ._verdicts import Ask, Block, OnAsk, Rewrite, Stop

Effect = Literal["allow", "deny", "ask", "rewrite"]
EFFECTS: Final[tuple[Effect, ...]] = get_args(Effect)
MATCH_KEYS: Final = ("tool", "args", "turn", "scope", "risk")
MOST_COUNTED: Final = 100_000
"""Largest `max` of a limit by number: so many instants are kept."""


@attrs.frozen(kw_only=True)
class RuleLimit:
    """How often: `max` calls per ``turn``, ``run`` or number of seconds (sliding, on Trio's clock).

    With `of`, a path into the arguments, it is the sum of the amounts there that is limited.
    """

    per: str | float
    max: int
    of: str | None = None

    def __attrs_post_init__(self) -> None:
        per, most, path = self.per, self.max, self.of
        if per not in ("turn", "run") and (isinstance(per, bool) or not isinstance(per, int | float) or not 0 < per < float("inf")):
            raise ReactOptionError(f"limit: per must be turn, run or a number of seconds, not {per!r}")
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ReactOptionError(f"limit: max must be a whole number of 0 or more, not {most!r}")
        if path is None and most > MOST_COUNTED:
            raise ReactOptionError(f"limit: max may be {MOST_COUNTED} at most, not {most!r}")
        if path is not None and (not isinstance(path, str) or "" in path.split(".")):
            raise ReactOptionError(f"limit: of is a path into the arguments, not {path!r}")


def _effect(_: object, __: object, value: object) -> None:
    if value not in EFFECTS:
        raise ReactOptionError(f"effect must be one of {', '.join(EFFECTS)}, not {value!r}")


def _as_limit(value: Any) -> Any:
    if isinstance(value, Mapping):
        unknown = set(value) - {"per", "max", "of"}
        if unknown or not {"per", "max"} <= set(value):
            raise ReactOptionError(f"limit takes per, max and of, not {dict(value)!r}")
        return RuleLimit(**value)
    return value


@attrs.frozen(kw_only=True)
class Rule:
    """One rule. Every part of `match` that is given must hold, and `when`, if there is one.

    * `priority`: lower ones come first; then the order in which they were given.
    * `match`: ``tool`` (a name, or a pattern with ``*``, or several), ``args`` (path → conditions), ``turn`` (first and last,
      either may be None), ``scope`` and ``risk`` (one of the tool's tags).
    * `limit`: an ``allow`` becomes a ``deny`` when it is used up; a ``deny`` holds only from then on.
    * `final` (``allow`` only): no rule behind this one counts.
    * `set` and `remove` (``rewrite`` only): arguments to replace, and to take out, by name.
    * `stop` (``deny`` only): the run ends, instead of this call alone.
    """

    id: str
    effect: Effect = attrs.field(validator=_effect)
    match: Mapping[str, Any] = attrs.Factory(dict)
    priority: int = 100
    reason: str = ""
    when: Callable[[ToolCall, State], object] | None = None
    limit: RuleLimit | None = attrs.field(default=None, converter=_as_limit)
    final: bool = False
    set: Mapping[str, Any] = attrs.Factory(dict)
    remove: Sequence[str] = ()
    stop: bool = False

    def __attrs_post_init__(self) -> None:
        def refuse(words: str) -> None:
            raise ReactOptionError(f"rule {self.id!r}: {words}")

        if not isinstance(self.id, str) or not self.id:
            refuse("a rule needs an id, as text")
        if isinstance(self.priority, bool) or not isinstance(self.priority, int):
            refuse(f"priority must be a whole number, not {self.priority!r}")
        if not isinstance(self.match, Mapping) or not set_of(self.match) <= set_of(MATCH_KEYS):
            refuse(f"match takes {', '.join(MATCH_KEYS)}, not {self.match!r}")
        if self.when is not None and not callable(self.when):
            refuse(f"when must be callable with (call, state), not {self.when!r}")
        if self.limit is not None and (not isinstance(self.limit, RuleLimit) or self.effect not in ("allow", "deny")):
            refuse("limit is for allow and deny, as {per, max}")
        if self.final and self.effect != "allow":
            refuse("final is for allow")
        if self.stop and self.effect != "deny":
            refuse("stop is for deny")
        if (self.effect == "rewrite") != bool(self.set or self.remove):
            refuse("a rewrite sets or removes arguments, and no other rule does")
        if not isinstance(self.set, Mapping) or isinstance(self.remove, str):
            refuse("set is an object of arguments, remove a list of their names")


def set_of(values: Iterable[object]) -> frozenset[object]:
    return frozenset(values)


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


class _Compiled:
    """A rule, ready to be asked."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        match = rule.match
        self._tools = [_tool_pattern(name) for name in _texts(rule, "tool", match.get("tool"))] if "tool" in match else None
        args = match.get("args", {})
        if not isinstance(args, Mapping):
            raise ReactOptionError(f"rule {rule.id!r}: args must be an object of path → conditions, not {args!r}")
        try:
            self._conditions = [Condition(path, wanted) for path, wanted in args.items()]
        except ReactOptionError as fault:
            raise ReactOptionError(f"rule {rule.id!r}: {fault}") from fault
        self._turns = _turns(rule, match["turn"]) if "turn" in match else None
        self._tags = {tag: frozenset(_texts(rule, tag, match[tag])) for tag in ("scope", "risk") if tag in match}
        self.names = frozenset(_texts(rule, "tool", match["tool"])) if "tool" in match else frozenset()

    def matches(self, call: ToolCall, state: State) -> bool:
        """Whether the rule holds for this call; what cannot be told counts against the call."""
        truth = self._truth(call, state)
        return self.rule.effect != "allow" if truth is None else truth

    def _truth(self, call: ToolCall, state: State) -> Truth:
        if self._tools is not None and not any(pattern(call.name) for pattern in self._tools):
            return False
        if self._turns is not None and not self._turns[0] <= state.turn <= self._turns[1]:
            return False
        if self._tags:
            tool = state.registry.get(call.name) if state.registry is not None else None
            if not all(wanted & _tags(tool, tag) for tag, wanted in self._tags.items()):
                return False
        told: Truth = True
        for condition in self._conditions:
            truth = condition.holds(call.arguments, every=self.rule.effect == "allow")
            if truth is False:
                return False
            told = None if truth is None else told
        if self.rule.when is not None:
            try:
                answer = self.rule.when(call, state)
                if inspect.isawaitable(answer):
                    if inspect.iscoroutine(answer):
                        answer.close()
                    raise TypeError("when is a plain function, not an async one")
                if not answer:
                    return False
            except Exception:
                return None  # R53
        return told


class PolicyEngine:
    """Allows, refuses, asks about or rewrites each call by `rules`.

    Of the rules that match, in order of priority: a ``deny`` anywhere wins, unless an ``allow`` with `final` stands before it.
    Else the ``rewrite`` rules are applied, and what they made is judged by the denials again; with an ``ask`` among the rules a
    person is asked about that. With none of these an ``allow`` lets the call pass, or else the `default`, ``allow`` or ``deny``.
    The stop tool is exempt from a default of ``deny`` unless a rule names it.

    * `on_ask`: ``(call, reason, state) -> bool``, sync or async; only True is a yes. Without it the loop's own is asked, and where
      there is none, the call is blocked.
    * `log`: called with each `Decision`, sync or async.

    Raises ValueError, as ReactOptionError, naming the rule, for anything unknown.
    """

    def __init__(
        self,
        rules: Iterable[Rule | Mapping[str, Any]],
        *,
        default: Literal["allow", "deny"] = "allow",
        on_ask: OnAsk | None = None,
        log: Callable[[Decision], Any] | None = None,
    ) -> None:
        listed = [_as_rule(rule) for rule in rules]
        ids = [rule.id for rule in listed]
        if len(set(ids)) != len(ids):
            raise ReactOptionError(f"two rules have the id {next(name for name in ids if ids.count(name) > 1)!r}")
        if default not in ("allow", "deny"):
            raise ReactOptionError(f"default must be allow or deny, not {default!r}")
        for name, hook in (("on_ask", on_ask), ("log", log)):
            if hook is not None and not callable(hook):
                raise ReactOptionError(f"{name} must be callable, not {hook!r}")
        self._rules = [_Compiled(rule) for rule in sorted(listed, key=lambda rule: rule.priority)]
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

    def _matching(self, call: ToolCall, state: State, now: float) -> tuple[list[tuple[_Compiled, Effect]], int]:
        """The rules that match, in order, with the effect of each, up to a final `allow`; and how many were looked at."""
        found: list[tuple[_Compiled, Effect]] = []
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
        amount = _amount(limit, call.arguments)
        return amount is None or counted.total + amount > limit.max

    def _admit(self, call: ToolCall, state: State) -> None:
        """Count the call for each limit whose rule matches it."""
        now = trio.current_time() if self._timed else 0.0
        admitted = []
        for one in self._rules:
            rule = one.rule
            if rule.limit is None or not one.matches(call, state):
                continue
            amount = _amount(rule.limit, call.arguments) or 0
            self._counts[rule.id].slide(state.turn, now)
            self._counts[rule.id].add(now, amount)
            admitted.append((rule.id, now, amount))
        if admitted:
            self._admitted[call.id] = admitted

    def _rewrite_words(self, decision: Decision) -> str | None:
        words = [one.rule.reason for one in self._rules if one.rule.id in decision.triggered and one.rule.effect == "rewrite"]
        return "; ".join(word for word in words if word) or None


# Parts


def _as_rule(rule: object) -> Rule:
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, Mapping):
        raise ReactOptionError(f"a rule is a Rule or an object with its fields, not {rule!r}")
    known = {field.name for field in attrs.fields(Rule)}
    unknown = set(rule) - known
    if unknown or not {"id", "effect"} <= set(rule):
        others = ", ".join(sorted(known - {"id", "effect"}))
        raise ReactOptionError(f"rule {rule.get('id')!r}: a rule has id and effect, and may have {others}; this is {dict(rule)!r}")
    return Rule(**rule)


def _texts(rule: Rule, key: str, value: object) -> list[str]:
    listed = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else []
    if not listed or not all(isinstance(text, str) and text for text in listed):
        raise ReactOptionError(f"rule {rule.id!r}: {key} must be text, or several texts, not {value!r}")
    return listed


def _tool_pattern(name: str) -> Callable[[str], bool]:
    """A name with stars: each part between two of them is looked for from left to right, so no name can be slow."""
    if "*" not in name:
        return lambda called: called == name
    first, *middle, last = name.split("*")

    def fits(called: str) -> bool:
        if len(called) < len(first) + len(last) or not (called.startswith(first) and called.endswith(last)):
            return False
        at, end = len(first), len(called) - len(last)
        for part in middle:
            found = called.find(part, at, end)
            if found < 0:
                return False
            at = found + len(part)
        return True

    return fits


def _turns(rule: Rule, value: Any) -> tuple[float, float]:
    if isinstance(value, int) and not isinstance(value, bool):
        return value, value
    if isinstance(value, range) and value.step == 1:
        return value.start, value.stop - 1
    if isinstance(value, tuple | list) and len(value) == 2:
        first, last = value
        if all(bound is None or (isinstance(bound, int) and not isinstance(bound, bool)) for bound in value):
            return (float("-inf") if first is None else first), (float("inf") if last is None else last)
    raise ReactOptionError(f"rule {rule.id!r}: turn must be a number, a range, or (first, last), not {value!r}")


def _tags(tool: object, tag: str) -> frozenset[str]:
    value = getattr(tool, tag, None)
    if isinstance(value, str):
        return frozenset({value})
    return frozenset(value) if isinstance(value, list | tuple | set | frozenset) else frozenset()


def _first(triggered: list[tuple[_Compiled, Effect]], effect: Effect) -> _Compiled | None:
    return next((one for one, found in triggered if found == effect), None)


def _rewritten(arguments: Any, rules: list[Rule]) -> dict[str, Any]:
    changed: dict[str, Any] = dict(arguments)
    for rule in rules:
        changed.update({name: copied(value) for name, value in rule.set.items()})
        for name in rule.remove:
            changed.pop(name, None)
    return changed


def _amount(limit: RuleLimit, arguments: Any) -> int | None:
    """What a call counts for: 1, or the sum of what stands at the path; None when that is no whole amount of 0 or more."""
    if limit.of is None:
        return 1
    found = values_at(arguments, limit.of.split("."))
    if found is None or not all(_whole(value) for value in found):
        return None
    return sum(int(value) for value in found)


def _whole(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 0 and value == value and value != float("inf") and value == int(value)


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
