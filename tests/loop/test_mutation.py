"""Nothing that is handed out leads back into the run."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest

from foxloop_trio import ChatReply, create_gate
from foxloop_trio.actions import Action


async def test_a_consumer_that_edits_the_arguments_of_an_event_changes_nothing(parts: Any) -> None:
    """A display that masks them in place masks its own copy."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=parts.MemorySink())

    def each(run: Any, event: Any) -> None:
        if event.type == "tool-call":
            event.args["text"] = "***"

    await bench.run(each=each)
    assert [action.args for action in bench.gate.checked] == [{"text": "a"}]
    assert bench.notes == ["a"]


@pytest.mark.parametrize("at", ["decision", "approval-needed", "request", "describe"])
async def test_an_action_that_was_shown_cannot_be_changed_under_its_approval(parts: Any, at: str) -> None:
    """The approved action is redeemed as it was judged, whatever is done to the copies that were shown."""
    notes: list[str] = []

    def describe(args: Any, ctx: Any) -> str:
        if at == "describe":
            args["deep"]["x"].append(1)
        return "save"

    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "deep": {"type": "object", "additionalProperties": True}},
        "required": ["text"],
    }
    tools = [parts.save_note(notes, scope="submit", parameters=schema, describe=describe)]
    gate, host = create_gate(tools=tools)
    await host.add_grant(scope="submit", domains=["notes.local"])

    def meddle(action: Action) -> None:
        with contextlib.suppress(TypeError, AttributeError):
            action.args["deep"]["x"].append(1)

    async def approve(request: Any) -> str:
        token = await host.approve(request.request_id)
        if at == "request":
            meddle(request.action)
        return token

    bench = parts.Bench(
        parts.reply(parts.call(text="a", deep={"x": []})),
        parts.FINISH,
        gate=gate,
        tools=tools,
        on_approval=approve,
        sink=parts.MemorySink(),
    )

    def each(run: Any, event: Any) -> None:
        if event.type == at:
            meddle(event.action)

    events = await bench.run(each=each)
    assert notes == ["a"], (parts.told(events), bench.outcome)


async def test_a_planner_that_edits_the_definitions_gets_whole_ones_at_its_next_request(parts: Any) -> None:
    """The list and its dicts are shared between requests and runs: a planner that pops `finish` never sees it again."""
    seen: list[Any] = []

    class Planner:
        async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
            seen.append(copy.deepcopy(list(tools)))
            try:
                tools[0]["function"]["parameters"]["properties"].clear()
                tools.pop()
            except (TypeError, AttributeError):
                pass
            return ChatReply(message={"content": "done"})

    await parts.Bench(planner=Planner()).run()
    assert len(seen) == 2
    assert seen[0] == seen[1]


def test_a_permit_cannot_be_altered(parts: Any) -> None:
    """Its id, grant and digest are what its books are kept under."""
    permit = parts.StubGate().allow(Action(tool="t", args={}, domain="d", scope="fill")).permit
    for name in ("id", "grant_id", "digest"):
        with pytest.raises(AttributeError):
            setattr(permit, name, "other")
