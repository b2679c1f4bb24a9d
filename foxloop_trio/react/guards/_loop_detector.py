"""A guard that notices that a model goes round in circles, before the repeating call runs.

Calls are compared by a digest of name and canonical arguments, results by a digest of their text in which times and long numbers
count as equal. Only digests are kept, of the last calls only. Pure: no clock, no I/O.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, get_args

import attrs

from ...actions._valid import whole_from
from ...canonical import canonical_json
from ...errors import BadOptionsError, NotJsonError
from ...guarding import Block, ModelReply, Note, State, Stop, ToolCall, ToolResult, Verdict

Pattern = Literal["repeat", "cycle", "no_progress", "same_error", "idle"]
Action = Literal["escalate", "note", "block", "stop"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)

_TIME: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", re.ASCII
)
_LONG_NUMBER: Final = re.compile(r"\d{6,}", re.ASCII)
"""What differs between two results that say the same: instants, and ids or counters of six digits or more (section 6)."""
MARK: Final = "#"

IDLE_TURNS: Final = 3
"""`idle_turns=True` (section 6)."""


@attrs.define(eq=False)
class Seen:
    """One call as it is remembered. `result` is None until it has one, and for good when it was blocked."""

    call_id: str
    name: str
    signature: str
    result: str | None = None
    error: bool = False
    new: bool = False
    """Whether no remembered call had this signature when it was made."""


_whole = functools.partial(whole_from, owner="LoopDetector: ")


class LoopDetector:
    """Catches calls that repeat and results that do not change.

    * `repeat`: so many equal calls in a row; the last of them does not run. For a period of 2 to `max_period` calls, so many
      rounds of it.
    * `no_progress`: so many results in a row of one tool that say the same, whatever the arguments.
    * `same_error`: so many error results in a row that say the same.
    * `idle_turns`: so many turns in a row whose calls were of read-only tools only. Off (None); True is 3.
    * `window`: how many calls are remembered (never fewer than the limits above need).
    * `ignore`: tools that neither count nor break a row. `key`: ``(call) -> JSON value``, a call's own signature in place of its
      arguments, such as one without a timestamp.
    * `action`: ``note``, ``block`` or ``stop`` do just that; ``escalate`` blocks, then blocks and notes, then stops. A call of a
      new signature with a new result begins anew.

    What is seen in a result or between turns has no call to block: there the calls left in the turn are refused, and a note tells
    the model why. Raises ValueError, as BadOptionsError, for an option out of its range.
    """

    def __init__(
        self,
        *,
        repeat: int = 3,
        window: int = 12,
        max_period: int = 4,
        no_progress: int = 5,
        same_error: int = 3,
        action: Action = "escalate",
        ignore: Iterable[str] = (),
        key: Callable[[ToolCall], Any] | None = None,
        idle_turns: int | bool | None = None,
    ) -> None:
        self._repeat = _whole(2).of("repeat", repeat)
        self._max_period = _whole(1).of("max_period", max_period)
        self._no_progress = _whole(2).of("no_progress", no_progress)
        self._same_error = _whole(2).of("same_error", same_error)
        if idle_turns is True:
            idle_turns = IDLE_TURNS
        self._idle_turns = None if idle_turns is None or idle_turns is False else _whole(1).of("idle_turns", idle_turns)
        if action not in ACTIONS:
            raise BadOptionsError(f"LoopDetector: action must be one of {', '.join(ACTIONS)}, not {action!r}")
        self._action = action
        if isinstance(ignore, str):
            raise BadOptionsError(f"LoopDetector: ignore must be names of tools, not the text {ignore!r}")
        self._ignore = frozenset(ignore)
        if key is not None and not callable(key):
            raise BadOptionsError(f"LoopDetector: key must be callable with a ToolCall, not {key!r}")
        self._key = key
        self._window = max(_whole(1).of("window", window), self._repeat * self._max_period)
        self._begin()

    def _begin(self) -> None:
        self._calls: deque[Seen] = deque(maxlen=self._window)
        self._trips: Counter[str] = Counter()
        self._seen = 0
        self._step = 0
        self._same_results = (0, "", "")
        self._same_errors = (0, "")
        self._idle = 0
        self._turn_calls = self._turn_reads = 0

    # The guard

    def on_run_start(self, state: State) -> None:
        self._begin()

    def before_model(self, state: State) -> Any:
        """Between two turns: was the last one idle?"""
        if self._turn_calls:
            self._idle = self._idle + 1 if self._turn_reads == self._turn_calls else 0
            self._turn_calls = self._turn_reads = 0
            if self._idle_turns is not None and self._idle >= self._idle_turns:
                words = f"the last {self._idle} turns only read; do something with what was found, or say what is missing"
                return self._trip("idle", words, None, call=False, between=True)
        return None

    def after_model(self, state: State, reply: ModelReply) -> None:
        for call in reply.tool_calls:
            if call.name not in self._ignore:
                self._turn_calls += 1
                self._turn_reads += is_read_only(state, call.name)

    def before_tool(self, call: ToolCall, state: State) -> Any:
        """Remember the call, and say no when it closes a circle."""
        if call.name in self._ignore:
            return None
        self._remember(call)
        signatures = [seen.signature for seen in self._calls]
        if _rounds(signatures, 1, self._repeat):
            words = f"{call.name} was called {self._repeat} times in a row with the same arguments, and would be again"
            return self._trip("repeat", f"{words}; change the arguments, use another tool, or finish", call.name)
        for period in range(2, self._max_period + 1):
            if _rounds(signatures, period, self._repeat):
                names = ", ".join(seen.name for seen in list(self._calls)[-period:])
                words = f"the same {period} calls ({names}) come {self._repeat} times in turn; break the circle, or finish"
                return self._trip("cycle", words, call.name)
        return None

    def after_tool(self, call: ToolCall, result: ToolResult, state: State) -> Any:
        """Compare what came back. A blocked call has no result."""
        if call.name in self._ignore:
            return None
        seen = next((seen for seen in reversed(self._calls) if seen.call_id == call.id), None)
        if seen is None:  # refused before a guard was asked: it counts as a call all the same
            seen = self._remember(call)
        if result.blocked:
            return None
        signature = result_signature(result.content)
        new = seen.new and all(other.result != signature for other in self._calls)
        seen.result, seen.error = signature, result.is_error
        if new:
            self._step = 0
        return self._compare(call.name, signature, result.is_error)

    def _compare(self, name: str, signature: str, error: bool) -> Any:
        count, last, last_name = self._same_results
        count = count + 1 if (last, last_name) == (signature, name) else 1
        self._same_results = (count, signature, name)
        errors, last = self._same_errors
        errors = 0 if not error else errors + 1 if last == signature else 1
        self._same_errors = (errors, signature if error else "")
        if errors >= self._same_error:
            words = f"the same error came {errors} times in a row, last from {name}; this does not work, so try another way"
            return self._trip("same_error", words, name, call=False)
        if count >= self._no_progress:
            words = f"{name} gave the same result {count} times in a row, whatever the arguments; it tells nothing new"
            return self._trip("no_progress", words, name, call=False)
        return None

    def statistics(self) -> dict[str, Any]:
        """What was seen so far: calls that counted, and how often each pattern was caught."""
        return {"calls": self._seen, "remembered": len(self._calls), "step": self._step, "trips": dict(self._trips)}

    # How it is told

    def _remember(self, call: ToolCall) -> Seen:
        signature = self._signature(call)
        new = all(seen.signature != signature for seen in self._calls)
        seen = Seen(call.id, call.name, signature, new=new)
        self._calls.append(seen)
        self._seen += 1
        return seen

    def _signature(self, call: ToolCall) -> str:
        return call_signature(call.name, call.arguments if self._key is None else self._key(call))

    def _trip(
        self, pattern: Pattern, words: str, name: str | None, *, call: bool = True, between: bool = False
    ) -> tuple[Verdict, ...]:
        self._trips[pattern] += 1
        self._step += 1
        action: str = self._action
        if action == "escalate":
            action = {1: "block", 2: "both"}.get(self._step, "stop")
        if action == "stop":
            return (Stop("loop_detected", {"pattern": pattern, "tool": name, "why": words}),)
        if action == "note" or between:
            return (Note(words),)
        if action == "block" and call:
            return (Block(words),)
        return (Block(words), Note(words))


def _rounds(signatures: list[str], period: int, rounds: int) -> bool:
    """Whether the last ``period * rounds`` signatures are the last `period` of them again and again."""
    length = period * rounds
    if len(signatures) < length:
        return False
    tail = signatures[-length:]
    return all(signature == tail[index % period] for index, signature in enumerate(tail))


def call_signature(name: str, arguments: Any) -> str:
    """SHA-256 of a call: equal for equal arguments, however keys are ordered and numbers are spelled."""
    try:
        text = canonical_json(arguments)
    except NotJsonError:
        text = f"\0{arguments!r}"  # no JSON value has this text
    return hashlib.sha256(f"{name}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def result_signature(content: object) -> str:
    """SHA-256 of a result's text, with instants and numbers of six digits or more as one mark."""
    text = content if isinstance(content, str) else repr(content)
    text = _LONG_NUMBER.sub(MARK, _TIME.sub(MARK, text))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_read_only(state: State, name: str) -> bool:
    """Whether the tool says that it changes nothing: `read_only`, or the scope ``read``."""
    tool = state.registry.get(name) if state.registry is not None else None
    return tool is not None and (getattr(tool, "read_only", False) is True or getattr(tool, "scope", None) == "read")
