"""How an approval looks on a terminal: the exact JSON, and the same in plain words. Text in, text out.

Arguments can hold whatever a page or a model wrote. So everything that is not plainly visible is written as a JSON escape: control
characters (a terminal would obey them), direction marks (they reorder what is read), zero-width, blank, private and unassigned
characters. The JSON stays JSON and still reads back to the same value.
"""

from __future__ import annotations

import json
import re
import unicodedata
from json.encoder import encode_basestring
from typing import Final

from ..actions import Money, Scope
from ._rows import ApprovalRow

SCOPE_WORDS: Final[dict[Scope, str]] = {
    "read": "looks, and changes nothing",
    "fill": "changes what is on the page, and sends nothing",
    "submit": "sends something to the site",
    "pay": "spends money",
}

PROMPT: Final = "Allow this? [y/N] "
PROMPT_SHORTENED: Final = "Allow this? [y/N, a to see all of it] "

MAX_SHOWN: Final = 2400
"""Characters of JSON that are shown at once: 30 lines of 80 characters. An action may have 64 KiB, which nobody scrolls through."""

SHOWN_START: Final = 1600
SHOWN_END: Final = 600
VALUE_START: Final = 120
VALUE_END: Final = 40
"""Characters that are left of something longer. An end is shown too, since that is where what should not be seen would be put."""

MAX_DETAIL: Final = 800
MAX_DETAIL_LINES: Final = 10
"""What is shown of the tool's own words: ten lines of 80 characters."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

# ISO 4217, the minor units that are not two digits.
_NO_DIGITS = re.compile("BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|UYI|VND|VUV|XAF|XOF|XPF")
_THREE_DIGITS = re.compile("BHD|IQD|JOD|KWD|LYD|OMR|TND")
_FOUR_DIGITS = re.compile("CLF|UYW")

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Zs: every space but the plain one, which is ASCII."""

# Letters, marks and symbols that show nothing: what Unicode's DerivedCoreProperties.txt lists as Default_Ignorable_Code_Point
# beyond the categories above (joiners, fillers, variation selectors), the Braille pattern without dots and the null notehead.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]")
_NOT_PRINTABLE_ASCII = re.compile(r"[^\x20-\x7e]")


def visible(text: str) -> str:
    """`text` with every character that does not show as itself written as a JSON escape such as ``\\u202e``."""
    return _NOT_PRINTABLE_ASCII.sub(_escaped, text)


def question(row: ApprovalRow, *, seconds_left: float, detail: str | None) -> str:
    """What a human is shown before the yes-or-no: every line of it is ours, or visibly a value.

    The plain words come last, next to the answer, so that no long value can move them out of sight.
    """
    action = row.action
    short = brief(row.text)
    lines = [
        "",
        "Approval needed for exactly this action:" if short is None else "Approval needed for this action, shortened here:",
        visible(row.text) if short is None else short,
    ]
    if detail:
        lines += _detail_lines(detail)
    lines += [
        f"  tool    {visible(action.tool)}",
        f"  host    {visible(action.domain)}",
        f"  scope   {action.scope}: {SCOPE_WORDS[action.scope]}",
    ]
    if action.amount is not None:
        lines.append(f"  money   {money_words(action.amount)}")
    lines.append(f"  expires in {max(0, int(seconds_left))} s")
    lines.append(PROMPT if short is None else PROMPT_SHORTENED)
    return "\n".join(lines)


def whole(row: ApprovalRow) -> str:
    """The whole action, however long, and the prompt again."""
    return f"\nExactly this action:\n{visible(row.text)}\n{PROMPT_SHORTENED}"


def brief(text: str) -> str | None:
    """Canonical JSON for a screen: long strings and a long middle are left out, and how much of them. None when it fits as it is.

    What stands in the place of what was left out is between two strings, where no value can write.
    """
    if len(visible(text)) <= MAX_SHOWN:
        return None
    short = visible(_STRING.sub(_shortened, text))
    if len(short) <= MAX_SHOWN:
        return short
    cut = len(short) - SHOWN_START - SHOWN_END
    return f"{short[:SHOWN_START]}\n  <{cut:,} characters are not shown here>\n{short[-SHOWN_END:]}"


def _shortened(found: re.Match[str]) -> str:
    value = json.loads(found[0])
    cut = len(value) - VALUE_START - VALUE_END
    if cut <= 0:
        return found[0]
    start, end = encode_basestring(value[:VALUE_START]), encode_basestring(value[-VALUE_END:])
    return f"{start}<{cut:,} of {len(value):,} characters are not shown here>{end}"


def _detail_lines(detail: str) -> list[str]:
    first, *rest = detail[:MAX_DETAIL].splitlines()[:MAX_DETAIL_LINES] or [""]
    lines = [f"  detail  {visible(first)}", *(f"        | {visible(line)}" for line in rest)]
    if len(detail) > MAX_DETAIL or len(detail.splitlines()) > MAX_DETAIL_LINES:
        lines.append(f"  detail is shortened here: it has {len(detail):,} characters")
    return lines


def money_words(amount: Money) -> str:
    """The amount as people write it and as it is counted, such as ``12.50 EUR (1250 minor units)``."""
    digits = _minor_digits(amount.currency)
    whole, minor = divmod(amount.value, 10**digits)
    written = f"{whole}.{minor:0{digits}d}" if digits else str(whole)
    return f"{written} {amount.currency} ({amount.value} minor units)"


def _minor_digits(currency: str) -> int:
    if _NO_DIGITS.fullmatch(currency):
        return 0
    if _THREE_DIGITS.fullmatch(currency):
        return 3
    return 4 if _FOUR_DIGITS.fullmatch(currency) else 2


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    if unicodedata.category(char) not in _HIDDEN_CATEGORIES and not _BLANK.match(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
