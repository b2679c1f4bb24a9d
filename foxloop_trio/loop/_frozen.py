"""Messages and arguments that can be shared, under the names the loop uses. Pure.

The classes stand below `canonical`, which writes frozen values as it does plain ones.
"""

from __future__ import annotations

from .._frozen import FrozenDict, FrozenList, freeze, thaw

__all__ = ["FrozenDict", "FrozenList", "freeze", "thaw"]
