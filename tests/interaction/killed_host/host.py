"""A host process: ``host.py PORT TOKEN ORIGIN TRAIL``. It runs on the browser that connects, or resumes the trail's last run.

Prints ``ready`` when the run begins, and at its end how it ended, or how it had ended already. The planner looks after
whatever is in doubt.
"""

import json
import re
import sys
from pathlib import Path

import trio

from foxloop_trio import CheckInput, CheckResult, Loop, create_gate, function_planner
from foxloop_trio.browser import BrowserSession, browser_tools
from foxloop_trio.channel import open_listener, open_session
from foxloop_trio.ports import ChatReply, Message
from foxloop_trio.trail import Entry, open_trail, read_trail

WANTED = {"Name": "Ada", "Street": "Main Street 1", "City": "London"}
CONTROL = re.compile(r'^\[(?P<id>[\d:]+)\] \w+ "(?P<label>\w+)"(?: value="(?P<value>[^"]*)")?', re.MULTILINE)


async def plan(messages: list[Message], tools: object) -> ChatReply:
    """What to do next, from what the newest result shows: look when it failed, else fill what is not filled yet, then send."""
    last = messages[-1]["content"]
    number = len(messages)
    if messages[-1]["role"] != "tool" or ": ok" not in last.splitlines()[0] or "Title:" not in last:
        return call(number, "snapshot")
    if "Thank you" in last:
        return call(number, "finish", summary="The order is sent.")
    seen = {found["label"]: (found["id"], found["value"]) for found in CONTROL.finditer(last)}
    for label, value in WANTED.items():
        if seen[label][1] != value:
            return call(number, "act", control_id=seen[label][0], op="type", value=value)
    return call(number, "click", control_id=seen["Send"][0])


def call(number: int, name: str, **args: str) -> ChatReply:
    function = {"name": name, "arguments": json.dumps(args)}
    return ChatReply(
        message={
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
        }
    )


def read_before(path: Path) -> list[Entry]:
    return list(read_trail(path, whole=True)) if path.exists() else []


async def main(port: int, token: str, origin: str, path: Path) -> None:
    async with open_listener(token=token, origin=origin, port=port) as listener:
        transport, peer = await listener.accept()
        async with open_session(transport, peer) as channel:
            session = BrowserSession(channel)
            (tab,) = [found for found in await session.tabs() if found.host == "shop.test"]
            tools = browser_tools(tab)
            gate, host = create_gate(tools=tools)
            for scope in ("read", "fill", "submit"):
                await host.add_grant(
                    scope=scope, domains=["shop.test"], tools=[tool.name for tool in tools if tool.scope == scope], approval="never"
                )

            async def check(claim: CheckInput) -> CheckResult:
                return CheckResult(ok=(await tab.snapshot()).title == "Thank you")

            before = read_before(path)
            if before and before[-1].kind == "loop.done":  # it was killed between its last entry and its last word
                print("ready", flush=True)
                print(json.dumps({"status": "done", "message": before[-1].data["summary"]}), flush=True)
                return
            async with open_trail(path, key="ab" * 32) as trail:
                loop = Loop(planner=function_planner(plan), gate=gate, tools=tools, trail=trail, check=check)
                print("ready", flush=True)
                async with loop.resume(before) if before else loop.run("Order one thing") as run:
                    async for _ in run:
                        pass
            print(json.dumps({"status": run.outcome.status, "message": run.outcome.message}), flush=True)


trio.run(main, int(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]))
