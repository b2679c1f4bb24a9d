"""What `import foxloop_trio` drags in. The time itself is measured by hand: a timed test would fail on a busy machine."""

import json
import subprocess
import sys

HEAVY = {
    "asyncio",
    "click",
    "foxloop_trio.browser",
    "foxloop_trio.channel",
    "foxloop_trio.cli",
    "foxloop_trio.testing",
    "http.client",
    "httpx",
    "mcp",
    "openai",
    "publicsuffixlist",
    "anthropic",
    "rich",
    "trio_websocket",
    "urllib.request",
    "wsproto",
}
"""HTTP clients, MCP, SDKs, the suffix list, the websocket, the terminal: whoever needs one imports the submodule that has it."""


def loaded_by(statement: str) -> set[str]:
    code = f"import json, sys; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True, timeout=60)
    return set(json.loads(done.stdout))


def test_importing_the_package_loads_no_client_no_sdk_and_no_terminal() -> None:
    """`import foxloop_trio` is cheap because it stays away from what most of its users do not need (design page, Libraries)."""
    loaded = loaded_by("import foxloop_trio; from foxloop_trio import Loop, create_gate, tool")
    assert "foxloop_trio.loop" in loaded, "the names were used, so their modules are there"
    assert HEAVY & loaded == set()


def test_help_of_the_command_line_loads_neither_trio_nor_rich() -> None:
    """The root's help comes from a table, so that it is quick."""
    loaded = loaded_by(
        "from foxloop_trio.cli import _app; import contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()): assert _app.run(['--help']) == 0\n"
        "import json, sys"
    )
    assert {"rich", "trio", "foxloop_trio.browser"} & loaded == set()
