"""What tests use in place of the real thing, and the real Firefox for tests.

It is imported by tests and the pytest plugin, never by the library.

Names are imported when they are first used, so that the plugin stays cheap to load.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._firefox_host import FirefoxHost as FirefoxHost
    from ._firefox_leftovers import Leftovers as Leftovers
    from ._gate_store_contract import GateStoreReport as GateStoreReport
    from ._gate_store_contract import check_gate_store as check_gate_store
    from ._memory_channel import memory_channel_pair as memory_channel_pair
    from ._scripted_llm import LlmRequest as LlmRequest
    from ._scripted_llm import ScriptedLlm as ScriptedLlm
    from ._scripted_llm import scripted_llm as scripted_llm
    from ._seeded import seeded_ids as seeded_ids
    from ._sweep import SweepError as SweepError
    from ._sweep import SweepReport as SweepReport
    from ._sweep import SweepViolation as SweepViolation
    from ._sweep import SweepVisit as SweepVisit
    from ._sweep import cancel_at_every_checkpoint as cancel_at_every_checkpoint
    from ._trail_store import check_trail_store as check_trail_store
    from ._virtual_clock import virtual_wall_clock as virtual_wall_clock
    from .fake_browser import FakeAct as FakeAct
    from .fake_browser import FakeBrowser as FakeBrowser
    from .fake_browser import PageData as PageData

__all__ = [
    "FakeAct",
    "FakeBrowser",
    "FirefoxHost",
    "GateStoreReport",
    "Leftovers",
    "LlmRequest",
    "PageData",
    "ScriptedLlm",
    "SweepError",
    "SweepReport",
    "SweepViolation",
    "SweepVisit",
    "cancel_at_every_checkpoint",
    "check_gate_store",
    "check_trail_store",
    "memory_channel_pair",
    "scripted_llm",
    "seeded_ids",
    "virtual_wall_clock",
]

_WHERE = {
    "FakeAct": "fake_browser",
    "FakeBrowser": "fake_browser",
    "FirefoxHost": "_firefox_host",
    "GateStoreReport": "_gate_store_contract",
    "Leftovers": "_firefox_leftovers",
    "LlmRequest": "_scripted_llm",
    "PageData": "fake_browser",
    "ScriptedLlm": "_scripted_llm",
    "SweepError": "_sweep",
    "SweepReport": "_sweep",
    "SweepViolation": "_sweep",
    "SweepVisit": "_sweep",
    "cancel_at_every_checkpoint": "_sweep",
    "check_gate_store": "_gate_store_contract",
    "check_trail_store": "_trail_store",
    "memory_channel_pair": "_memory_channel",
    "scripted_llm": "_scripted_llm",
    "seeded_ids": "_seeded",
    "virtual_wall_clock": "_virtual_clock",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)
