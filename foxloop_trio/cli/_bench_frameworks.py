"""Other frameworks as contenders of the benchmark, each with a scripted model and the same tool. Used when they are installed.

They run on asyncio, which is theirs to choose: each sample is one `asyncio.run`, and the clock runs inside it. Each gets what its
own documentation shows for a test without a model server, with tracing off. Versions change names now and then: a framework that
does not take this code is left out with its words, and stops nothing.
"""

from __future__ import annotations

import json
import types
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from ._bench_ours import cpu_clock
from ._bench_work import DESCRIPTION, GOAL, TOOL_NAME, arguments, summary

Sample = Callable[[int], float]


def installed(package: str) -> str | None:
    """The version of an installed distribution, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def sample_pydantic_ai(steps: int) -> float:
    """CPU seconds a step of a pydantic-ai agent with a `FunctionModel`."""
    ai, messages = import_module("pydantic_ai"), import_module("pydantic_ai.messages")
    models = import_module("pydantic_ai.models.function")
    limits = import_module("pydantic_ai.usage").UsageLimits(request_limit=steps + 1)
    turn = 0

    def answer(_: object, __: object) -> Any:
        nonlocal turn
        turn += 1
        if turn > steps:
            return messages.ModelResponse(parts=[messages.TextPart("Done.")])
        call = messages.ToolCallPart(TOOL_NAME, json.dumps(arguments(turn - 1)), tool_call_id=f"call_{turn}")
        return messages.ModelResponse(parts=[call])

    agent = ai.Agent(models.FunctionModel(answer))
    saved, save_note = _tool()
    agent.tool_plain(save_note)
    return _seconds(lambda: agent.run(GOAL, usage_limits=limits), steps, saved)


def sample_langgraph(steps: int) -> float:
    """CPU seconds a step of a LangGraph graph: a planner node and its own `ToolNode`."""
    graphs, prebuilt = import_module("langgraph.graph"), import_module("langgraph.prebuilt")
    core = import_module("langchain_core.messages")
    turn = 0

    async def planner(_: dict[str, Any]) -> dict[str, Any]:
        nonlocal turn
        turn += 1
        if turn > steps:
            return {"messages": [core.AIMessage("Done.")]}
        call = {"name": TOOL_NAME, "args": arguments(turn - 1), "id": f"call_{turn}", "type": "tool_call"}
        return {"messages": [core.AIMessage("", tool_calls=[call])]}

    saved, save_note = _tool()
    graph = graphs.StateGraph(graphs.MessagesState)
    graph.add_node("planner", planner)
    graph.add_node("tools", prebuilt.ToolNode([import_module("langchain_core.tools").tool(save_note)]))
    graph.add_edge(graphs.START, "planner")
    graph.add_conditional_edges("planner", prebuilt.tools_condition)
    graph.add_edge("tools", "planner")
    compiled = graph.compile()
    start = {"messages": [core.HumanMessage(GOAL)]}
    return _seconds(lambda: compiled.ainvoke(start, {"recursion_limit": 2 * steps + 5}), steps, saved)


def sample_openai_agents(steps: int) -> float:
    """CPU seconds a step of an openai-agents run with a model of our own."""
    agents, responses = import_module("agents"), import_module("openai.types.responses")
    turn = 0

    async def get_response(_: object, *__: object, **___: object) -> Any:
        nonlocal turn
        turn += 1
        if turn > steps:
            text = responses.ResponseOutputText(text="Done.", type="output_text", annotations=[])
            item: Any = responses.ResponseOutputMessage(
                id="end", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            item = responses.ResponseFunctionToolCall(
                call_id=f"call_{turn}", name=TOOL_NAME, arguments=json.dumps(arguments(turn - 1)), type="function_call"
            )
        return agents.ModelResponse(output=[item], usage=agents.Usage(), response_id=None)

    def stream_response(*_: object, **__: object) -> Any:
        raise NotImplementedError("nothing streams in this benchmark")

    members = {"get_response": get_response, "stream_response": stream_response}
    model = types.new_class("Scripted", (agents.Model,), exec_body=lambda namespace: namespace.update(members))
    saved, save_note = _tool()
    agent = agents.Agent(name="bench", model=model(), tools=[agents.function_tool(save_note)])
    config = agents.RunConfig(tracing_disabled=True)
    return _seconds(lambda: agents.Runner.run(agent, GOAL, max_turns=steps + 1, run_config=config), steps, saved)


FRAMEWORKS: Final[dict[str, tuple[str, Sample]]] = {
    "pydantic-ai": ("pydantic-ai-slim", sample_pydantic_ai),
    "LangGraph": ("langgraph", sample_langgraph),
    "openai-agents": ("openai-agents", sample_openai_agents),
}
"""Name, distribution, sample."""


def _tool() -> tuple[list[str], Callable[..., Awaitable[str]]]:
    """The tool as a plain async function with annotations, which all three turn into a schema; and the list it fills."""
    import asyncio

    saved: list[str] = []

    async def save_note(text: str, page: int, colour: str = "red") -> str:
        await asyncio.sleep(0)
        saved.append(text)
        return summary(text)

    save_note.__doc__ = DESCRIPTION
    # Real classes, since the frameworks resolve annotations and this module has them as text.
    save_note.__annotations__ = {"text": str, "page": int, "colour": str, "return": str}
    return saved, save_note


def _seconds(run: Callable[[], Awaitable[object]], steps: int, saved: list[str]) -> float:
    import asyncio

    async def main() -> float:
        with cpu_clock() as spent:
            await run()
        return spent[0] / steps

    seconds = asyncio.run(main())
    if len(saved) != steps:
        raise RuntimeError(f"only {len(saved)} of {steps} calls were made")
    return seconds
