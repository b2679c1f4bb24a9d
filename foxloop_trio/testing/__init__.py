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
    from ._memory_channel import memory_channel_pair as memory_channel_pair

__all__ = ["FirefoxHost", "Leftovers", "memory_channel_pair"]

_WHERE = {"FirefoxHost": "_firefox_host", "Leftovers": "_firefox_leftovers", "memory_channel_pair": "_memory_channel"}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)
