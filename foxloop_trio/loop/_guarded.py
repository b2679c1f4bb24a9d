"""What the guards of a run have said, and how the engine asks them. Pure.

The guards themselves are the driver's to call; what they said comes back as one answer and is put on record before anything is
done about it, so that a replay can give the same answer without them. A moment at which nothing was said leaves no record.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final

from .. import prompt
from ..actions import copied
from ..canonical import canonical_json
from ..errors import NotJsonError
from ..events import BlockReason
from ..guarding import ModelReply, Said, State, Stop, ToolCall, ToolResult
from ..guarding._nouns import added
from ..ports import Message
from ..tools import Tool
from ._effects import OK, Answer, AskGuards, EngineEffect, GuardMoment, Note, Ok, Raised, StepRaised, Steps, perform
from ._reply import ARGUMENT_DEPTH

WORDS_LIMIT: Final = prompt.LIMITS["summary"]
NOTES_LIMIT: Final = 8
"""Notes of one moment that the planner gets; what is said beyond that is dropped. Ours: it only has to be finite."""
DETAIL_DEPTH: Final = 8
DETAIL_BYTES: Final = 4000

REASONS: Final[Mapping[str, BlockReason]] = {"budget": "budget", "loop_detected": "repeated-call"}
"""Stop reasons that the loop has a word of its own for; every other one is `guard`."""


class Guards:
    """The guards of one run, as the engine sees them.

    `stop`: a guard ended the run; what is left of the reply is skipped. `refusal`: a guard refused what is left of the reply.
    """

    def __init__(
        self, *, goal: str, tools: Mapping[str, Tool], system: str, record: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> None:
        self.state = State(messages=[], context=goal, registry=tools, system=system, stop_tool_name=prompt.FINISH)
        self.stop: Stop | None = None
        self.stopped_by = ""
        self.refusal: str | None = None
        self.notes: list[str] = []
        self._record = record

    # The moments

    def start(self) -> Steps[None]:
        yield from self._note(0, "on_run_start", (yield from _ask("on_run_start", self.state)))

    def begin_anew(self) -> Generator[EngineEffect[Any], Answer, Answer]:
        """They are told that a recorded run goes on, since what they had counted is gone; the answer is `Ok`, or what stops it.

        What they say holds from here on, as it would have at the beginning.
        """
        asked = AskGuards("on_run_start", (self.state,))
        answer = yield asked
        if isinstance(answer, Raised):
            answer = Ok(_failed("on_run_start", answer.error))
        if not isinstance(answer, Ok):
            return answer
        said = _bounded(answer.value)
        note = self._noted(0, "on_run_start", said)
        answer = OK if note is None else (yield note)
        self.take_up(said)
        return answer

    def take_up(self, said: Said) -> None:
        """What is on record holds."""
        self.notes += said.notes
        if said.stop is not None and self.stop is None:
            self.stop, self.stopped_by = said.stop, said.guard or "a guard"

    def before_model(self, step: int, messages: list[Message]) -> Steps[None]:
        """`messages` is the guards' own list; the messages in it are frozen."""
        self.state.messages, self.state.turn = messages, step  # type: ignore[assignment]  # read alike: m["role"], m["content"]
        self.refusal = None
        yield from self._note(step, "before_model", (yield from _ask("before_model", self.state)))

    def after_model(self, reply: ModelReply) -> Steps[None]:
        if reply.usage is not None:
            self.state.usage = added(self.state.usage, reply.usage)
        said = yield from _ask("after_model", self.state, reply)
        yield from self._note(self.state.turn, "after_model", said)
        self.refusal = said.block

    def before_tool(self, call: ToolCall) -> Steps[Said]:
        """What they say of this call, not on record yet: the arguments of a rewrite are for `note_call`, once it is known what
        may be shown of them."""
        said = yield from _ask("before_tool", call, self.state)
        if said.call is not None and said.call.arguments is not call.arguments:
            try:
                canonical_json(said.call.arguments, max_depth=ARGUMENT_DEPTH)
                said.call = ToolCall(id=call.id, name=call.name, arguments=copied(said.call.arguments))
            except (NotJsonError, TypeError) as fault:
                said.call, said.block = None, f"a guard rewrote the arguments to something that is no JSON ({fault})"
        else:
            said.call = None
        return said

    def note_call(self, step: int, said: Said, call_id: str, shown: Any) -> Steps[None]:
        yield from self._note(step, "before_tool", said, call_id, shown)

    def after_tool(self, step: int, call: ToolCall, result: ToolResult) -> Steps[None]:
        said = yield from _ask("after_tool", call, result, self.state)
        yield from self._note(step, "after_tool", said, call.id)
        if said.block is not None:
            self.refusal = said.block

    def _note(self, step: int, moment: GuardMoment, said: Said, call_id: str | None = None, shown: Any = None) -> Steps[None]:
        """Put on record what was said, if anything was; then it holds."""
        note = self._noted(step, moment, said, call_id, shown)
        if note is not None:
            yield from perform(note)
        self.take_up(said)

    def _noted(self, step: int, moment: GuardMoment, said: Said, call_id: str | None = None, shown: Any = None) -> Note | None:
        data = _to_json(said, shown)
        if not data:
            return None
        head: dict[str, Any] = {"step": step, "moment": moment}
        if call_id is not None:
            head["id"] = call_id
        if said.guard is not None:
            head["guard"] = said.guard
        return Note("loop.guard", self._record({**head, "said": data}))

    # The end

    def ending(self) -> tuple[BlockReason, str]:
        """Why the run ends, for the `blocked` event."""
        stop = self.stop
        assert stop is not None
        detail = stop.detail
        words = detail if isinstance(detail, str) else "" if detail is None else canonical_json(detail)
        return REASONS.get(stop.reason, "guard"), f"{self.stopped_by}: {stop.reason}{': ' if words else ''}{words}"


def _ask(moment: GuardMoment, *args: Any) -> Steps[Said]:
    try:
        said = yield from perform(AskGuards(moment, args))
    except StepRaised as fault:
        said = _failed(moment, fault.answer.error)
    return _bounded(said)


def _failed(moment: GuardMoment, error: str) -> Said:
    """No answer at all, such as one that took longer than a step may: closed, like a guard that raised."""
    words = f"the guards failed ({error}), so this is refused"
    if moment in ("on_run_start", "before_model"):
        return Said(stop=Stop("guard", words), guard="the guards")
    return Said(block=words, guard="the guards")


def _bounded(said: Said) -> Said:
    """Every text cut to what a record and a planner take."""
    said.notes = [note[:WORDS_LIMIT] for note in said.notes[:NOTES_LIMIT]]
    said.remarks = [remark[:WORDS_LIMIT] for remark in said.remarks[:NOTES_LIMIT]]
    if said.block is not None:
        said.block = said.block[:WORDS_LIMIT]
    if said.stop is not None:
        detail = said.stop.detail
        try:
            canonical_json(detail, max_depth=DETAIL_DEPTH, max_bytes=DETAIL_BYTES)
        except NotJsonError:
            detail = str(detail)[:WORDS_LIMIT]
        said.stop = Stop(said.stop.reason[:64], detail, last_call=said.stop.last_call)
    return said


def _to_json(said: Said, shown: Any) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if said.call is not None:
        data["arguments"] = shown
    if said.block is not None:
        data["block"] = said.block
    if said.stop is not None:
        data["stop"] = {"reason": said.stop.reason, "detail": said.stop.detail}
    if said.notes:
        data["notes"] = said.notes
    if said.remarks:
        data["remarks"] = said.remarks
    return data


def said_from_json(data: Mapping[str, Any], call: ToolCall | None = None) -> Said:
    """What a ``loop.guard`` note says was said: the `Ok` answer to the `AskGuards` that it stands for; `call` is that effect's.

    Where the trail has no such note, the answer is an empty `Said`.
    """
    said = data["said"]
    stop = said.get("stop")
    if call is not None and "arguments" in said:
        call = ToolCall(id=call.id, name=call.name, arguments=said["arguments"])
    return Said(
        call=call,
        block=said.get("block"),
        stop=Stop(stop["reason"], stop["detail"]) if stop is not None else None,
        guard=data.get("guard"),
        notes=list(said.get("notes", ())),
        remarks=list(said.get("remarks", ())),
    )
