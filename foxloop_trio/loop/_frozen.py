"""Messages that can be shared, because nobody can change them: dicts and lists whose every change raises TypeError.

The same message objects go to the planner at each request, so nothing is copied or walked again as a run grows. `copy.copy`,
`copy.deepcopy` and pickling give ordinary dicts and lists back, for those who want to edit their own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NoReturn


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("messages of a run are shared and cannot be changed; edit a copy.deepcopy of them")


class FrozenDict(dict[str, Any]):
    """A dict that is finished."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]:
        return dict, (list(self.items()),)


class FrozenList(list[Any]):
    """A list that is finished."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[Callable[..., list[Any]], tuple[Any, ...]]:
        return list, (tuple(self),)


def freeze(value: Any) -> Any:
    """A frozen copy of plain JSON, all the way down."""
    if isinstance(value, dict):
        return FrozenDict({key: freeze(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return FrozenList(freeze(inner) for inner in value)
    return value
