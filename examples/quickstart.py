"""Buy milk: a whole gated run without a browser and without a model.

The planner is a script, the tool keeps notes in a list, and the gate lets it, because the host granted exactly that:
scope `fill` on the host `notes.local`. Run it with ``python examples/quickstart.py``.
"""

import trio

from foxloop_trio import CheckResult, Done, GateDecision, Loop, ToolOutput, ToolResult, create_gate, scripted_planner, tool

notes: list[str] = []


@tool(scope="fill", domain="notes.local")
async def save_note(text: str) -> ToolOutput:
    """Save a note."""
    notes.append(text)
    return ToolOutput(ok=True, summary="Saved.", check=CheckResult(ok=text in notes))


async def main() -> None:
    gate, host = create_gate(tools=[save_note])
    await host.add_grant(scope="fill", domains=["notes.local"])

    planner = scripted_planner(
        [
            {"calls": [{"name": "save_note", "args": {"text": "Buy milk"}}]},
            {"calls": [{"name": "finish", "args": {"summary": "Saved the note."}}]},
        ]
    )
    loop = Loop(planner=planner, gate=gate, tools=[save_note])

    async with loop.run("Make a note that I must buy milk.") as run:
        async for event in run:
            match event:
                case GateDecision():
                    print(event.type, event.decision)
                case ToolResult() | Done():
                    print(event.type, event.summary)
                case _:
                    print(event.type)
    print(notes)


if __name__ == "__main__":
    trio.run(main)
