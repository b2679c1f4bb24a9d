"""The accessibility tree of a page as the YAML that Playwright shows models: what a look at a form is compared with.

It is written down from the page itself, in a realm of its own over WebDriver BiDi: roles, names, states and texts as a nested list.
Names and roles follow the common rules, not every corner of the standard: it serves to count what such a dump costs.
"""

from __future__ import annotations

from importlib import resources
from typing import Any, Final, Protocol

from ..corpora import CorpusError

__all__ = ["aria_yaml"]


class HasBidi(Protocol):
    async def bidi(self, method: str, **params: Any) -> Any: ...


async def aria_yaml(session: HasBidi, context: str, *, refs: bool = False) -> str:
    """The dump of the page in a BiDi context, after the two lines on the page that Playwright's tools for models put before it.

    `refs`: with the reference that they add to each line, by which a model names what it wants to use.
    """
    answer = await session.bidi(
        "script.callFunction",
        functionDeclaration=_DUMP,
        arguments=[{"type": "boolean", "value": refs}],
        target={"context": context, "sandbox": "bench"},
        awaitPromise=False,
    )
    if answer["type"] != "success":
        raise CorpusError(f"the page cannot be dumped: {answer['exceptionDetails']['text'][:300]}")
    return str(answer["result"]["value"])


_DUMP: Final = resources.files(__package__ or "").joinpath("_bench_aria.js").read_text(encoding="utf-8")
