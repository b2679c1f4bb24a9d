"""A page whose process dies in the middle of an act: what it had done by then, nobody knows, and that is what is told."""

import os
import signal
from pathlib import Path

import pytest
import trio

from foxloop_trio.browser import launch_firefox
from foxloop_trio.testing._act_probe import serve_probes
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = [pytest.mark.firefox, pytest.mark.long]

PAGE = (
    "<label>Name <input></label><script>addEventListener('input', () => { navigator.sendBeacon('/busy');"
    "for (const end = performance.now() + 2000; performance.now() < end;); navigator.sendBeacon('/done') }, true)</script>"
)


def pages_of(parent: int) -> list[int]:
    """Processes below that one in which Firefox shows sites."""
    below = {parent}
    found = []
    for _ in range(6):
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            except OSError:  # it ended meanwhile
                continue
            if int(rest.split()[1]) in below and int(folder.name) not in below:
                below.add(int(folder.name))
                if name.startswith("Isolated W"):
                    found.append(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found by Linux's /proc")
async def test_an_act_whose_page_crashes_is_in_doubt_and_the_tab_is_of_use_again() -> None:
    """Not told as done; nothing is sent after it; another page opens in the same tab."""
    with serve_probes() as site:
        async with launch_firefox() as session:
            tab = await session.open_tab(site.put(PAGE))
            bench = await ToolBench.over(session, tab, domains=("127.0.0.1",))
            permit = await bench.allowed(await bench.prepared("act", on="Name", op="type", value="Ada"))
            outputs = []

            async def run() -> None:
                outputs.append(await bench.run(permit))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(run)
                while "/busy" not in site.asked:  # noqa: ASYNC110  # another thread writes it
                    await trio.sleep(0.01)
                for process in pages_of(os.getpid()):
                    os.kill(process, signal.SIGKILL)
            assert (outputs[0].ok, bench.effect) == (False, "unknown"), outputs
            assert "may have been done" in outputs[0].summary
            assert "/done" not in site.asked
            assert not tab.lock.locked()
            assert (await bench.call("open_url", url=site.put("<p>Again</p>"))).ok
