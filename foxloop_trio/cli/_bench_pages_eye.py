"""The eye that `bench pages` has of its own: which typed fields of a saved page a person can see, and what kind each is.

It looks in a realm of its own over WebDriver BiDi and shares no code with the add-on, so that the two can disagree.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any, Final, Protocol

import attrs

from ..corpora import CorpusError, SavedPage

__all__ = ["SeenField", "fields_on"]


class HasBidi(Protocol):
    async def bidi(self, method: str, **params: Any) -> Any: ...


@attrs.frozen(kw_only=True)
class SeenField:
    """One typed field as it stands in the page now. `mark` is unique among them; `kind` is what it is to whoever fills it in.

    `visible`: a person sees the element itself, or a label through which it is used (then `by_label`).
    """

    mark: int
    name: str
    typed: str
    kind: str
    tag: str
    visible: bool
    by_label: bool = False
    why_not: str = ""
    box: Sequence[int] = (0, 0, 0, 0)


async def fields_on(session: HasBidi, context: str, page: SavedPage) -> tuple[list[SeenField], int]:
    """The typed fields that are still there, and the number of the page's elements.

    Each is found by its name, in the form that stands at the labelled place if there is one. Raises CorpusError when the page's
    realm cannot be looked into.
    """
    typed = [{name: kind for name, kind in form.items() if kind != UNTYPED} for form in page.forms]
    answer = await session.bidi(
        "script.callFunction",
        functionDeclaration=_LOOK,
        arguments=[{"type": "string", "value": json.dumps(typed)}],
        target={"context": context, "sandbox": "bench"},
        awaitPromise=False,
    )
    if answer["type"] != "success":
        raise CorpusError(f"page {page.position} cannot be looked into: {answer['exceptionDetails']['text'][:300]}")
    told = json.loads(answer["result"]["value"])
    return [SeenField(**field) for field in told["fields"]], told["elements"]


UNTYPED: Final = "XX"
"""Formasaurus writes this for a field that nobody labelled."""

_LOOK: Final = resources.files(__package__ or "").joinpath("_bench_pages_eye.js").read_text(encoding="utf-8")
