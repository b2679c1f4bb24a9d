"""Ctrl-C in the middle of an operation of the gate: it comes before or after, and the gate goes on working."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from foxloop_trio.gate._core import LOCK_TIMEOUT


def test_a_decision_is_not_torn_by_control_c(setup: Any, monkeypatch: Any) -> None:
    """It is returned, with its use counted; the Ctrl-C is there at the next checkpoint; the lock is free."""
    s = setup()
    clock = s.wall.__class__.__call__

    def interrupted(wall: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return clock(wall)

    async def main() -> None:
        await s.host.add_grant(scope="fill", domains=["notes.local"])
        with monkeypatch.context() as patch:
            patch.setattr(s.wall.__class__, "__call__", interrupted)
            decision = await s.gate.check(s.save())
        assert decision.decision == "allow"
        with pytest.raises(KeyboardInterrupt):
            await trio.sleep(10)
        assert [grant.uses for grant in await s.host.grants()] == [1]
        assert (await s.gate.check(s.save())).decision == "allow"

    run(main)


def test_control_c_gets_into_the_hosts_hook_and_then_nothing_is_saved(setup: Any) -> None:
    """The hook is the host's own code, which may take its time."""
    heard: list[str] = []

    def hook(event: Any) -> None:
        heard.append(event.kind)
        if event.kind == "check" and heard.count("check") == 1:
            signal.raise_signal(signal.SIGINT)
            raise AssertionError("the Ctrl-C is raised above")

    s = setup(on_decision=hook)

    async def main() -> None:
        await s.host.add_grant(scope="fill", domains=["notes.local"])
        with pytest.raises(KeyboardInterrupt):
            await s.gate.check(s.save())
        assert [grant.uses for grant in await s.host.grants()] == [0]
        assert (await s.gate.check(s.save())).decision == "allow"

    run(main)
    assert heard == ["grant", "check", "check"]


def run(main: Callable[[], Awaitable[None]]) -> None:
    """`main`, in less time than the gate waits for its lock; a Ctrl-C that gets out of it fails the test and not the whole run."""

    async def bounded() -> None:
        with trio.fail_after(LOCK_TIMEOUT / 3):
            await main()

    try:
        trio.run(bounded)
    except KeyboardInterrupt:
        pytest.fail("the Ctrl-C got out of the wrong place")
