"""A rule of the policy engine: what the host writes (`Rule`), and the same rule ready to be asked about a call (`CompiledRule`).

Whatever cannot be told of a call is read against it: an ``allow`` then does not match, and every other rule does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

import attrs

from ....errors import BadOptionsError
from ....guarding import State, ToolCall
from ._conditions import Condition, Truth, values_at

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
            raise BadOptionsError(f"limit: per must be turn, run or a number of seconds, not {per!r}")
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise BadOptionsError(f"limit: max must be a whole number of 0 or more, not {most!r}")
        if path is None and most > MOST_COUNTED:
            raise BadOptionsError(f"limit: max may be {MOST_COUNTED} at most, not {most!r}")
        if path is not None and (not isinstance(path, str) or "" in path.split(".")):
            raise BadOptionsError(f"limit: of is a path into the arguments, not {path!r}")


def _effect(_: object, __: object, value: object) -> None:
    if value not in EFFECTS:
        raise BadOptionsError(f"effect must be one of {', '.join(EFFECTS)}, not {value!r}")


def _as_limit(value: Any) -> Any:
    if isinstance(value, Mapping):
        unknown = set(value) - {"per", "max", "of"}
        if unknown or not {"per", "max"} <= set(value):
            raise BadOptionsError(f"limit takes per, max and of, not {dict(value)!r}")
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
            raise BadOptionsError(f"rule {self.id!r}: {words}")

        if not isinstance(self.id, str) or not self.id:
            refuse("a rule needs an id, as text")
        if isinstance(self.priority, bool) or not isinstance(self.priority, int):
            refuse(f"priority must be a whole number, not {self.priority!r}")
        if not isinstance(self.match, Mapping) or not set(self.match) <= set(MATCH_KEYS):
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


class CompiledRule:
    """A rule, ready to be asked."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        match = rule.match
        self._tools = [_tool_pattern(name) for name in _texts(rule, "tool", match.get("tool"))] if "tool" in match else None
        args = match.get("args", {})
        if not isinstance(args, Mapping):
            raise BadOptionsError(f"rule {rule.id!r}: args must be an object of path → conditions, not {args!r}")
        try:
            self._conditions = [Condition(path, wanted) for path, wanted in args.items()]
        except BadOptionsError as fault:
            raise BadOptionsError(f"rule {rule.id!r}: {fault}") from fault
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


def as_rule(rule: object) -> Rule:
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, Mapping):
        raise BadOptionsError(f"a rule is a Rule or an object with its fields, not {rule!r}")
    known = {field.name for field in attrs.fields(Rule)}
    unknown = set(rule) - known
    if unknown or not {"id", "effect"} <= set(rule):
        others = ", ".join(sorted(known - {"id", "effect"}))
        raise BadOptionsError(f"rule {rule.get('id')!r}: a rule has id and effect, and may have {others}; this is {dict(rule)!r}")
    return Rule(**rule)


def _texts(rule: Rule, key: str, value: object) -> list[str]:
    listed = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else []
    if not listed or not all(isinstance(text, str) and text for text in listed):
        raise BadOptionsError(f"rule {rule.id!r}: {key} must be text, or several texts, not {value!r}")
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
    raise BadOptionsError(f"rule {rule.id!r}: turn must be a number, a range, or (first, last), not {value!r}")


def _tags(tool: object, tag: str) -> frozenset[str]:
    value = getattr(tool, tag, None)
    if isinstance(value, str):
        return frozenset({value})
    return frozenset(value) if isinstance(value, list | tuple | set | frozenset) else frozenset()


def amount_of(limit: RuleLimit, arguments: Any) -> int | None:
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
