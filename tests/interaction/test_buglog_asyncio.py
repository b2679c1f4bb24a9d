"""Buglog B20: no path of ours uses asyncio, and no import makes an event loop."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from trio.testing import MockClock
from trio_websocket import wrap_client_stream

from foxloop_trio import Loop, MemoryGateStore, ask_user_tool, create_gate, function_planner, scripted_planner, tool
from foxloop_trio.actions import CheckResult, ToolOutput
from foxloop_trio.browser import browser_tools
from foxloop_trio.channel import open_listener, open_session
from foxloop_trio.ports import ChatReply
from foxloop_trio.testing import FakeBrowser, PageData, cancel_at_every_checkpoint
from foxloop_trio.trail import MemoryTrail, open_trail, read_trail, verify_trail
from foxloop_trio.wire import addon_proof

FORBIDDEN = (
    "create_task", "ensure_future", "gather", "get_event_loop", "get_running_loop", "new_event_loop", "run", "sleep", "wait_for",
    "Future", "Lock", "Event", "Queue", "Task",
)  # fmt: skip
ORIGIN = "moz-extension://b00e5b1f-6c6e-4000-8000-f0c5100b0001"
PASS = CheckResult(ok=True)


@pytest.fixture
def no_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks asyncio for anything is told off."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("asyncio was used")

    for name in FORBIDDEN:
        monkeypatch.setattr(asyncio, name, refuse)
    monkeypatch.setattr(asyncio.events, "get_running_loop", refuse)
    monkeypatch.setattr(asyncio.events, "get_event_loop", refuse)


@tool(scope="fill", domain="notes.local")
async def save_note(text: str) -> ToolOutput:
    """Saves a note."""
    await trio.lowlevel.checkpoint()
    return ToolOutput(ok=True, summary=f"Saved {len(text)} characters.")


async def test_the_patch_catches_who_uses_asyncio(no_asyncio: None) -> None:
    """The accepted twin: without it a test that patches nothing would pass too."""
    with pytest.raises(AssertionError, match="asyncio was used"):
        asyncio.get_running_loop()


async def test_a_loop_with_gate_trail_approval_settle_and_question_needs_no_asyncio(no_asyncio: None, tmp_path: Path) -> None:
    """Loop, create_gate, open_trail, read_trail, verify_trail, @tool, ask_user_tool, both planners."""

    async def ask(question: str, ctx: Any) -> str:
        await trio.lowlevel.checkpoint()
        return "blue"

    async def settle(given: Any) -> str | None:
        await trio.lowlevel.checkpoint()
        return None

    async def approve(request: Any) -> str:
        token: str = await host.approve(request.request_id)
        return token

    tools = [save_note, ask_user_tool(ask)]
    gate, host = create_gate(tools=tools, store=MemoryGateStore())
    await host.add_grant(scope="read", domains=["user.foxloop"])
    await host.add_grant(scope="fill", domains=["notes.local"], approval="always")
    script = scripted_planner(
        [
            {"calls": [{"name": "ask_user", "args": {"question": "Which?"}}]},
            {"calls": [{"name": "save_note", "args": {"text": "blue"}}]},
            {"text": "saved"},
        ]
    )

    async def plan(messages: Any, tools: Any) -> ChatReply:
        return await script.chat(messages, tools=tools)

    path = tmp_path / "trail.jsonl"
    key = b"k" * 32
    with trio.fail_after(20):
        async with open_trail(path, key=key) as trail:
            loop = Loop(
                planner=function_planner(plan), gate=gate, tools=tools, trail=trail, on_approval=approve, settle=settle,
                check=lambda claim: PASS,
            )  # fmt: skip
            outcome = await loop.complete("Save a note")
    assert outcome.status == "done", outcome
    assert len(list(read_trail(path))) > 5
    assert type(verify_trail(path, key=key)).__name__ == "Verified"


async def test_browser_tools_over_the_channel_and_a_sweep_need_no_asyncio(no_asyncio: None, autojump_clock: MockClock) -> None:
    """FakeBrowser, BrowserSession, Tab, browser_tools, the wire and the sweep of the testing kit."""
    shop = "http://shop.test/"
    browser = FakeBrowser({shop: PageData(title="Shop", text="Welcome")})
    async with browser as session:
        tab = await session.open_tab(shop)
        tools = browser_tools(tab)
        gate, host = create_gate(tools=tools)
        await host.add_grant(scope="read", domains=["shop.test"])
        planner = scripted_planner([{"calls": [{"name": "snapshot", "args": {}}]}, {"text": "seen"}])
        loop = Loop(planner=planner, gate=gate, tools=tools, trail=MemoryTrail(), check=lambda claim: PASS)
        assert (await loop.complete("Look")).status == "done"

    async def nap() -> None:
        await trio.sleep(1)

    assert (await cancel_at_every_checkpoint(nap)).checkpoints >= 1


async def test_a_listener_with_a_real_socket_needs_no_asyncio(no_asyncio: None) -> None:
    """open_listener, the hello and open_session over trio-websocket."""
    token = "a token that both ends know"
    with trio.fail_after(20):
        async with open_listener(token=token, origin=ORIGIN) as listener:
            parts = urlsplit(listener.url)
            stream = await trio.open_tcp_stream(str(parts.hostname), int(parts.port or 0))
            headers = [(b"Origin", ORIGIN.encode())]
            # The stream is closed here, since trio-websocket leaves that out where the other end has closed first.
            async with stream, trio.open_nursery() as nursery:
                socket = await wrap_client_stream(nursery, stream, parts.netloc, parts.path, extra_headers=headers)
                challenge = json.loads(await socket.get_message())
                proof = addon_proof(token, runtime_nonce=challenge["params"]["nonce"], addon_nonce="ad" * 16, incarnation="1c" * 16)
                params = {
                    "protocol": 1, "incarnation": "1c" * 16, "nonce": "ad" * 16, "proof": proof, "addon": {"version": "0"},
                    "browser": {"name": "Test", "version": "0"},
                }  # fmt: skip
                await socket.send_message(json.dumps({"jsonrpc": "2.0", "id": "x1", "method": "hello.open", "params": params}))
                assert "session" in json.loads(await socket.get_message())["result"]
                transport, peer = await listener.accept()
                async with open_session(transport, peer) as session:
                    assert session.statistics() is not None
                nursery.cancel_scope.cancel()


PUBLIC = ["", ".actions", ".browser", ".channel", ".cli", ".events", ".gate", ".loop", ".planners", ".ports", ".prompt", ".testing",
          ".tools", ".trail", ".webextension", ".wire"]  # fmt: skip


def test_importing_any_public_module_makes_no_event_loop() -> None:
    """B20: nothing at import time either, in a process of its own where asyncio gives nothing away."""
    code = f"""
import asyncio, importlib, sys
def refuse(*args, **kwargs):
    raise AssertionError("asyncio was used")
for name in {FORBIDDEN!r}:
    if name not in ("Future", "Task", "Lock", "Event", "Queue"):
        setattr(asyncio, name, refuse)
asyncio.events.get_running_loop = asyncio.events.get_event_loop = asyncio.events.new_event_loop = refuse
for name in {PUBLIC!r}:
    module = importlib.import_module("foxloop_trio" + name)
    for public in getattr(module, "__all__", ()):
        getattr(module, public)
print(len([name for name in sys.modules if name.startswith("foxloop_trio")]))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > len(PUBLIC)
