"""A guard that keeps a run within what it may use: turns, calls, tokens, time and money, reserved before and settled after."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs
import trio

from ...errors import BadOptionsError
from ...guarding import Block, ModelReply, Note, State, Stop, ToolCall, ToolResult
from ...ports import Usage
from ._ledger import KINDS, Hit, Kind, Ledger, whole_limit

CHARACTERS_PER_TOKEN: Final = 4
"""For estimates, where nothing was reported (section 8)."""
RESERVE_TOKENS: Final = 1024
"""Output tokens that are reserved for a reply (R61)."""
PER_REQUEST: Final[tuple[Kind, ...]] = ("turns", "tokens", "cost")
PER: Final = 1_000_000
"""Prices are for so many tokens."""

Price = tuple[int, int, int]
WORDS: Final[Mapping[str, str]] = {
    "turns": "model calls",
    "tool_calls": "tool calls",
    "tokens": "tokens",
    "cost": "money (micro-units)",
    "seconds": "seconds",
}


@attrs.define
class Promise:
    """What is reserved for one model call."""

    tokens: int
    cost: int
    characters: int


class BudgetGuard:
    """Stops a run at its limits. None is no limit; a limit of exactly what is used is fine, and the next step does not begin.

    * `turns`: model calls begun. `tool_calls`: calls admitted (blocked ones are free, and so is the stop tool).
    * `tokens`: input and output of each reply; where a reply reports none, its characters and those that were sent over four.
    * `seconds`: on Trio's clock since the run began, a hard limit that also cuts a model call or handler in flight.
    * `cost`: whole micro-units of one currency, from `prices`, ``{model: (input, output, cached input)}`` for a million tokens
      each, and what tools declare with ``cost(args)``. A model without a price is charged at the dearest.
    * `warn_at`: at this share of a limit one note tells the model what is left, once a limit; None is never.
    * `reserve`: output tokens set aside for each reply. A request that could pass the limit is not made, unless it is the first.
    * `on_exhausted`: ``stop``, or ``finish``: one more request with the stop tool alone, beyond the limit by what it reads and at
      most `reserve` tokens. Time that is up is up either way.
    * `ledger`: books that other runs share, see `Ledger`; its limits hold for all of them together, the first request included.

    Raises ValueError, as BadOptionsError, for anything negative, NaN, or a float where money or a count is meant.
    """

    def __init__(
        self,
        *,
        turns: int | None = None,
        tool_calls: int | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        cost: int | None = None,
        prices: Mapping[str, Price] | None = None,
        warn_at: float | None = 0.8,
        reserve: int = RESERVE_TOKENS,
        on_exhausted: Literal["stop", "finish"] = "stop",
        ledger: Ledger | None = None,
    ) -> None:
        for name, value in (("turns", turns), ("tool_calls", tool_calls), ("tokens", tokens), ("cost", cost), ("reserve", reserve)):
            whole_limit("BudgetGuard", name, value)
        self._limits: dict[str, int | None] = {"turns": turns, "tool_calls": tool_calls, "tokens": tokens, "cost": cost}
        self._seconds = _seconds(seconds)
        self._prices = _prices(prices)
        if cost is not None and prices is None:
            raise BadOptionsError("BudgetGuard: cost needs prices, {model: (input, output, cached)}; {} counts tools only")
        if warn_at is not None and (isinstance(warn_at, bool) or not isinstance(warn_at, int | float) or not 0 < warn_at <= 1):
            raise BadOptionsError(f"BudgetGuard: warn_at must be a share above 0 and up to 1, or None, not {warn_at!r}")
        self._warn_at = warn_at
        if reserve is None:
            raise BadOptionsError("BudgetGuard: reserve must be a whole number of 0 or more, not None")
        self._reserve = reserve
        if on_exhausted not in ("stop", "finish"):
            raise BadOptionsError(f"BudgetGuard: on_exhausted must be stop or finish, not {on_exhausted!r}")
        self._finish = on_exhausted == "finish"
        if ledger is not None and not isinstance(ledger, Ledger):
            raise BadOptionsError(f"BudgetGuard: ledger must be a Ledger, not {type(ledger).__name__}")
        self._shared = ledger
        self._begin(0.0, None)

    def _begin(self, now: float, usage: Usage | None) -> None:
        self._own = Ledger(**self._limits)  # type: ignore[arg-type]
        self._started = now
        self._promise: Promise | None = None
        self._calls: dict[str, int] = {}
        self._warned: set[str] = set()
        self._last_call = False
        self._estimated = False
        self._model: str | None = None
        self._reported = _total(usage)
        self._measured: tuple[int, int, Any] = (0, 0, None)
        self._specs: tuple[tuple[str, ...], int] = ((), 0)

    # The guard

    def on_run_start(self, state: State) -> None:
        self._begin(trio.current_time(), state.usage)

    def before_model(self, state: State) -> Any:
        """Is there enough for one more request? Then it is reserved."""
        self._give_up(state)
        out_of_time = self._out_of_time()
        if out_of_time is not None:
            return _stop(out_of_time)
        characters = self._characters(state)
        tokens = math.ceil(characters / CHARACTERS_PER_TOKEN) + self._reserve
        cost = self._price(tokens - self._reserve, self._reserve, 0, self._model)
        hit = self._refused(tokens, cost)
        if hit is not None:
            if not self._finish or self._last_call:
                return _stop(hit)
            self._last_call = True
        for ledger in self._ledgers:
            ledger.settle("turns", 0, 1)
            ledger.reserve("tokens", tokens)
            ledger.reserve("cost", cost)
        self._promise = Promise(tokens, cost, characters)
        if hit is not None:
            return _stop(hit, last_call=True)
        return self._warnings()

    def after_model(self, state: State, reply: ModelReply) -> Any:
        """What was reserved is replaced by what was used."""
        usage = reply.usage
        self._model = reply.model if reply.model in self._prices else self._model
        if usage is not None and _reports(usage):
            fresh, output, cached = usage.input_tokens, usage.output_tokens, usage.cached_tokens
        else:
            sent = self._promise.characters if self._promise is not None else 0
            fresh = sent // CHARACTERS_PER_TOKEN
            output = math.ceil((sent + _reply_characters(reply)) / CHARACTERS_PER_TOKEN) - fresh
            cached, self._estimated = 0, True
        self._settle(fresh + output, self._price(fresh - cached, output, cached, reply.model))
        self._reported = _total(state.usage)
        if self._last_call:
            return None
        hit = self._spent("tokens", beyond=True) or self._spent("cost", beyond=True)
        if hit is None or self._finish:
            return None  # to finish, `before_tool` refuses what is left, and lets the stop tool pass
        return _stop(hit)

    def before_tool(self, call: ToolCall, state: State) -> Any:
        """May one more handler begin? The stop tool costs nothing and is never in the way."""
        if call.name == state.stop_tool_name:
            return None
        hit = self._out_of_time()
        if hit is not None:
            return _stop(hit)
        hit = self._spent("tool_calls") or self._spent("tokens", beyond=True) or self._spent("cost", beyond=True)
        if hit is not None:
            return Block(_exhausted(hit)) if self._finish else _stop(hit)
        cost = _tool_cost(call, state)
        if cost:
            hit = self._first("short", "cost", cost)
            if hit is not None:
                return Block(f"this call costs {cost} micro-units, and {max(0, hit.allowed - hit.used)} of {hit.allowed} are left")
        for ledger in self._ledgers:
            ledger.reserve("tool_calls", 1)
            ledger.reserve("cost", cost)
        self._calls[call.id] = cost
        return None

    def after_tool(self, call: ToolCall, result: ToolResult, state: State) -> None:
        cost = self._calls.pop(call.id, None)
        if cost is not None:
            self._close_call(cost, ran=not result.blocked)

    def deadline(self, state: State) -> float:
        """The Trio time at which what is in flight is cut."""
        return self._started + self._seconds

    def on_run_end(self, state: State) -> None:
        """What was promised for a reply that never came is free again; a handler that was cut may have acted, and counts."""
        self._give_up(state)
        for cost in self._calls.values():
            self._close_call(cost, ran=True)
        self._calls.clear()

    def statistics(self) -> dict[str, Any]:
        """What this run has used so far; `estimated`: some tokens were not reported but estimated."""
        used: dict[str, Any] = {kind: self._own.used(kind) for kind in KINDS}
        return {**used, "estimated": self._estimated, "limits": self._own.statistics(), "warned": sorted(self._warned)}

    # The books

    @property
    def _ledgers(self) -> tuple[Ledger, ...]:
        return (self._own,) if self._shared is None else (self._own, self._shared)

    def _first(self, question: Literal["spent", "short"], *args: Any, **options: Any) -> Hit | None:
        for ledger in self._ledgers:
            hit: Hit | None = getattr(ledger, question)(*args, **options)
            if hit is not None:
                return hit
        return None

    def _spent(self, kind: Kind, *, beyond: bool = False) -> Hit | None:
        return self._first("spent", kind, beyond=beyond)

    def _refused(self, tokens: int, cost: int) -> Hit | None:
        """Why one more request may not be made: something is used up, or it could pass a limit (R60, R61)."""
        for kind in PER_REQUEST:
            hit = self._spent(kind)
            if hit is not None:
                return hit
        if self._finish and not self._last_call:
            hit = self._spent("tool_calls")
            if hit is not None:
                return hit
        for ledger in self._ledgers:
            if ledger is self._own and not self._own.used("turns"):
                continue  # a run that could not even begin would be no use
            hit = ledger.short("tokens", tokens) or ledger.short("cost", cost)
            if hit is not None:
                return hit
        return None

    def _settle(self, tokens: int, cost: int) -> None:
        promise, self._promise = self._promise or Promise(0, 0, 0), None
        for ledger in self._ledgers:
            ledger.settle("tokens", promise.tokens, tokens)
            ledger.settle("cost", promise.cost, cost)

    def _give_up(self, state: State) -> None:
        """A request that was reserved and never answered: it raised, or was cancelled. What was reported as used still counts."""
        if self._promise is None:
            return
        now = _total(state.usage)
        fresh, output, cached = (max(0, new - old) for new, old in zip(now, self._reported, strict=True))
        self._reported = now
        self._settle(fresh + output, self._price(max(0, fresh - cached), output, cached, self._model) if fresh or output else 0)

    def _close_call(self, cost: int, *, ran: bool) -> None:
        for ledger in self._ledgers:
            ledger.settle("tool_calls", 1, int(ran))
            ledger.settle("cost", cost, cost if ran else 0)

    # Measures

    def _price(self, fresh: int, output: int, cached: int, model: str | None) -> int:
        """Micro-units, rounded up."""
        if not self._prices:
            return 0
        known = self._prices.get(model) if model is not None else None
        prices = [known] if known is not None else list(self._prices.values())
        return max(math.ceil((max(0, fresh) * one[0] + output * one[1] + cached * one[2]) / PER) for one in prices)

    def _characters(self, state: State) -> int:
        """What is sent, measured from where the last measure ended; all of it when the conversation was edited."""
        messages = state.messages
        length, total, last = self._measured
        if not 0 < length <= len(messages) or messages[length - 1] is not last:
            length, total = 0, 0
        total += sum(_message_characters(message) for message in messages[length:])
        self._measured = (len(messages), total, messages[-1] if messages else None)
        return total + len(state.system) + self._specs_characters(state)

    def _specs_characters(self, state: State) -> int:
        """What the model is told of the tools, which seldom changes."""
        specs = state.registry.to_specs() if hasattr(state.registry, "to_specs") else ()
        names = tuple(spec.name for spec in specs)
        if self._specs[0] != names:
            size = sum(len(spec.name) + len(spec.description) + len(_text(dict(spec.parameters))) for spec in specs)
            self._specs = (names, size)
        return self._specs[1]

    def _out_of_time(self) -> Hit | None:
        used = trio.current_time() - self._started
        return Hit("seconds", round(used, 3), self._seconds) if used >= self._seconds else None

    def _warnings(self) -> list[Note] | None:
        """One note a limit, when much of it is used."""
        if self._warn_at is None:
            return None
        near = [hit for ledger in self._ledgers for kind in KINDS for hit in ledger.near(kind, self._warn_at)]
        if self._seconds != math.inf:
            used = trio.current_time() - self._started
            if used >= self._seconds * self._warn_at:
                near.append(Hit("seconds", round(used, 3), self._seconds))
        notes = []
        for hit in near:
            if hit.limit not in self._warned:
                self._warned.add(hit.limit)
                kind, _, window = hit.limit.partition(" ")
                left = max(0, hit.allowed - hit.used)
                span = f" {window.replace('_', ' ')}" if window else ""
                notes.append(Note(f"{left} of {hit.allowed} {WORDS[kind]} are left{span}; come to an end in time"))
        return notes or None


def _stop(hit: Hit, *, last_call: bool = False) -> Stop:
    return Stop("budget", hit.to_json(), last_call=last_call)


def _exhausted(hit: Hit) -> str:
    return f"the budget is used up ({hit.limit}: {hit.used} of {hit.allowed}); finish now"


def _seconds(value: object) -> float:
    if value is None:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise BadOptionsError(f"BudgetGuard: seconds must be a number of 0 or more, or None, not {value!r}")
    return float(value)


def _prices(given: Mapping[str, Price] | None) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for model, price in (given or {}).items():
        if not isinstance(price, tuple | list) or len(price) != 3:
            raise BadOptionsError(f"BudgetGuard: the price of {model!r} must be (input, output, cached input), not {price!r}")
        for part in price:
            if part is None or whole_limit("BudgetGuard", f"the price of {model!r}", part) is None:
                raise BadOptionsError(f"BudgetGuard: the price of {model!r} must be three whole numbers, not {price!r}")
        prices[model] = (price[0], price[1], price[2])
    return prices


def _reports(usage: Usage) -> bool:
    """Whether a usage can be counted with; nonsense is estimated instead."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    return all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts)


def _total(usage: Usage | None) -> tuple[int, int, int]:
    if usage is None or not _reports(usage):
        return (0, 0, 0)
    return (usage.input_tokens, usage.output_tokens, usage.cached_tokens)


def _tool_cost(call: ToolCall, state: State) -> int:
    tool = state.registry.get(call.name) if state.registry is not None else None
    declared = getattr(tool, "cost", None)
    if declared is None:
        return 0
    cost = declared(call.arguments)
    if isinstance(cost, bool) or not isinstance(cost, int) or cost < 0:
        raise ValueError(f"the cost of {call.name} must be whole micro-units of 0 or more, not {cost!r}")
    return cost


def _message_characters(message: Any) -> int:
    size = len(message.get("content") or "")
    calls = message.get("tool_calls")
    return size + (len(_text(calls)) if calls else 0)


def _reply_characters(reply: ModelReply) -> int:
    return len(reply.text or "") + sum(len(call.name) + len(_text(call.arguments)) for call in reply.tool_calls)


def _text(value: Any) -> str:
    if isinstance(value, tuple | list) and value and hasattr(value[0], "to_json"):
        value = [item.to_json() for item in value]
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
    except RecursionError:  # a seed of the host's, deeper than any model may write
        return ""
