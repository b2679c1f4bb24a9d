"""A table of a page, as rows of texts. A frozen noun made from the wire's ``page.table``; pure. Every text in it is the page's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ._snapshot import whole_text

__all__ = ["Table"]


def _texts(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(whole_text, given))


def _rows(given: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(_texts, given))


@attrs.frozen(kw_only=True)
class Table:
    """Some rows of one table or grid.

    * `tables`: how many there are in the document. `nth`: which one this is, from 1; with `nth` above `tables` it is empty.
    * `header`: a name for each column, each of them once; empty when the table has none.
    * `rows`: a text for each column. `offset` rows were passed over before these, `left` come after them, and `total` are there
      in all (of those that hold what was looked for).
    * `declared`: how many rows the page says that there are, where it draws only some of them; None when it says nothing.
    """

    url: str = attrs.field(converter=whole_text)
    tables: int
    nth: int
    caption: str = attrs.field(converter=whole_text)
    header: tuple[str, ...] = attrs.field(converter=_texts)
    rows: tuple[tuple[str, ...], ...] = attrs.field(converter=_rows)
    offset: int
    total: int
    left: int
    declared: int | None

    @classmethod
    def from_wire(cls, obj: Mapping[str, Any], *, offset: int) -> Table:
        """From the result of ``page.table``, whose schema was checked on arrival."""
        return cls(**obj, offset=offset)

    @property
    def records(self) -> list[dict[str, str]]:
        """Each row as a mapping from the names of its columns; columns without a name are called by their number."""
        most = max(map(len, self.rows), default=0)
        names = [*self.header, *(f"column {at + 1}" for at in range(len(self.header), most))]
        return [dict(zip(names, row, strict=False)) for row in self.rows]
