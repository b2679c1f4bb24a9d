"""The one way in which text from outside gets into a page: bounded, escaped, hidden characters written out, direction kept in.

Our own words go into the page as they are; everything that a trail holds goes through `Outside`.
"""

from __future__ import annotations

import html
from typing import Any, Final

from ._values import compact, spread
from ._visible import clipped, one_line, pieces

LINE: Final = 400
"""Characters of a text that stands in a line with others. What is longer is folded away beside it, as a whole."""
WORDS: Final = 4_000
"""Characters of a paragraph: the longest summary and detail that the loop records have 2,000."""
BLOCK: Final = 20_000
"""Characters of a folded text: what a planner reads of a page is at most 16,000."""
PAGE: Final = 8_000_000
"""Characters of outside text, with its markup, in one page. A run of 1,000 steps has about two million; browsers take far more."""
SCARCE: Final = 200
"""Characters of each text once the page is full."""


class Outside:
    """Makes markup of outside text, and keeps count of it for one page."""

    def __init__(self) -> None:
        self._left = PAGE

    def line(self, text: str, limit: int = LINE) -> str:
        """In a line with our words, kept apart from them in direction."""
        beginning = text[: 4 * limit]
        return f"<bdi>{self._marked(one_line(beginning), limit, len(text) - len(beginning))}</bdi>"

    def words(self, text: str, limit: int = WORDS) -> str:
        """A text of its own in a paragraph; its line feeds stay."""
        return f'<span class="out" dir="auto">{self._marked(text, limit)}</span>'

    def block(self, text: str, limit: int = BLOCK) -> str:
        """A text in a box of its own."""
        return f'<pre dir="auto" tabindex="0">{self._marked(text, limit)}</pre>'

    def json(self, value: Any, limit: int = BLOCK) -> str:
        """A value as indented JSON, in a box of its own."""
        return f'<pre tabindex="0">{self._marked(spread(value), limit)}</pre>'

    def args(self, args: Any, limit: int = LINE) -> str:
        """Arguments in a line: ``name=value`` for each, or whatever stands in their place."""
        if not isinstance(args, dict):
            return self.line(args if isinstance(args, str) else compact(args), limit)
        return self.line(", ".join(f"{name}={compact(value)}" for name, value in list(args.items())[:50]), limit)

    def attribute(self, text: str, limit: int = LINE) -> str:
        """Inside the quotes of an attribute, without markup."""
        shown = "".join(f"[{piece}]" if code else piece for piece, code in pieces(one_line(text[:limit])))
        return html.escape(shown, quote=True)

    def _marked(self, text: str, limit: int, left_out_before: int = 0) -> str:
        if self._left <= 0:
            limit = min(limit, SCARCE)
        shown, left_out = clipped(text, limit)
        left_out += left_out_before
        marked = "".join(
            f'<span class="code">[{piece}]</span>' if code else html.escape(piece, quote=True) for piece, code in pieces(shown)
        )
        self._left -= len(marked)
        if left_out:
            marked += f'<span class="cut"> … {left_out:,} more characters are in the trail</span>'
        return marked


def fold(title: str, body: str, *, kind: str = "fold", opened: bool = False) -> str:
    """Something folded away under our own words; needs no script."""
    return f'<details class="{kind}"{" open" if opened else ""}><summary>{title}</summary>{body}</details>'


def fact(name: str, body: str) -> str:
    """A row of a list of facts."""
    return f"<div><dt>{name}</dt><dd>{body}</dd></div>"


def sign(mark: str) -> str:
    """A sign that only repeats the word beside it."""
    return f'<span class="sign" aria-hidden="true">{mark}</span>'
