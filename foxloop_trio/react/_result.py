"""How a run ended, as a value that can be stored, and gone on from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from ..actions import Money, stored
from ..actions._valid import text, whole
from ..errors import BadOptionsError
from ..guarding import Message, State
from ..guarding._nouns import NO_USAGE
from ..loop._conversation import read_message, readable
from ..loop._model_reply import read_usage
from ..ports import Usage

VERSION: Final = 1


@attrs.frozen(kw_only=True)
class AgentRunResult:
    """How a run ended.

    * `stopped`: ``task_done``, ``text``, ``should_stop``, ``max_turns``, or a guard's reason (``loop_detected``, ``policy``,
      ``budget``); ``unfinished`` in a `partial_result`.
    * `turns`: turns that began, those of the run it went on from included. `messages`: the whole conversation, initial ones first.
    * `final_summary`: what the stop tool, or the text that ended the run, said; else None.
    * `usage`: the sum of what the model reported. `stop_detail`: which guard stopped the run, and why; else None.
    """

    stopped: str = attrs.field(validator=text)
    turns: int = attrs.field(validator=whole)
    messages: list[Message]
    final_summary: str | None = None
    usage: Usage = NO_USAGE
    stop_detail: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, for `resume_from=`. Of what is no JSON in arguments or details its `repr` stands there."""
        messages = [message.to_json() for message in self.messages]
        for call in [call for message in messages for call in message.get("tool_calls", ())]:
            call["arguments"] = stored(call["arguments"])
        detail: Any = self.stop_detail
        return {
            "version": VERSION,
            **attrs.asdict(self, recurse=False),
            "messages": messages,
            "usage": attrs.asdict(self.usage, filter=lambda _, value: value is not None),
            "stop_detail": {str(key): stored(detail[key]) for key in detail} if isinstance(detail, Mapping) else stored(detail),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> AgentRunResult:
        """The inverse of `to_json`. Raises BadOptionsError, naming what is wrong."""
        try:
            if plain["version"] != VERSION:
                raise ValueError(f"version is {plain['version']!r}; this release reads version {VERSION}")
            usage, cost = read_usage(plain["usage"]), plain["usage"].get("cost")
            if usage is None:
                raise ValueError(f"usage is {plain['usage']!r}")
            return cls(
                stopped=plain["stopped"],
                turns=plain["turns"],
                messages=[read_message(message) for message in plain["messages"]],
                final_summary=plain.get("final_summary"),
                usage=attrs.evolve(usage, cost=None if cost is None else Money(**cost)),
                stop_detail=plain.get("stop_detail"),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as fault:
            raise BadOptionsError(f"resume_from is not what AgentRunResult.to_json() gives: {fault!r}"[:500]) from fault


def partial_result(state: State) -> AgentRunResult:
    """What was done so far, whatever hooks have left in the state."""
    messages = list(readable(state.messages))
    return AgentRunResult(stopped="unfinished", turns=max(0, state.turn), messages=messages, usage=state.usage)


class StateHolder:
    """Given as ``state_out=``, it has the run's state from its start on, also after a cancel (R18).

    ``await run_react_loop(…, state_out=holder)`` cut from outside returns nothing; `holder.partial_result()` has what was done.
    """

    def __init__(self) -> None:
        self.state: State | None = None

    @property
    def messages(self) -> list[Message]:
        return list(self.state.messages) if self.state is not None else []

    def partial_result(self) -> AgentRunResult | None:
        """What was done so far, for `resume_from=`; None before the run began."""
        return partial_result(self.state) if self.state is not None else None
