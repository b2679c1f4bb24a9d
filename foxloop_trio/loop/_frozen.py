"""JSON that can be shared, because nobody can change it: dicts and lists whose every change raises TypeError. Pure.

The same message objects go to the planner at each request, so nothing is copied or walked again as a run grows. `copy.copy`,
`copy.deepcopy` and pickling give ordinary dicts and lists back, for those who want to edit their own; `thaw` is a faster
`copy.deepcopy`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NoReturn, final


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("messages of a run are shared and cannot be changed; edit a copy.deepcopy of them")


@final
class FrozenDict(dict[str, Any]):
    """A dict that is finished. It reads, compares and is written as JSON like the dict it was made of."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]:
        return dict, (list(self.items()),)


@final
class FrozenList(list[Any]):
    """A list that is finished. It reads, compares and is written as JSON like the list it was made of."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[Callable[..., list[Any]], tuple[Any, ...]]:
        return list, (tuple(self),)


_WHOLE = frozenset({str, int, float, bool, type(None), FrozenDict, FrozenList})
"""What needs no freezing. A FrozenDict counts as frozen all the way down, since only we make them."""


def freeze(value: Any) -> Any:
    """A frozen copy of plain JSON, all the way down. What is frozen already is shared, not copied.

    Recurses: the caller bounds the depth.
    """
    kind = type(value)
    if kind in _WHOLE:
        return value
    if isinstance(value, dict):
        return FrozenDict({key: inner if type(inner) in _WHOLE else freeze(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return FrozenList([inner if type(inner) in _WHOLE else freeze(inner) for inner in value])
    return value


_SCALAR = frozenset({str, int, float, bool, type(None)})


def thaw(value: Any) -> Any:
    """An ordinary, deep copy of JSON that its owner may change: plain dicts and lists, whatever of it was frozen.

    Scalars, and anything that is no dict or list, are shared. Recurses: the caller bounds the depth.
    """
    if isinstance(value, dict):
        return {key: inner if type(inner) in _SCALAR else thaw(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [inner if type(inner) in _SCALAR else thaw(inner) for inner in value]
    return value
