"""How an approval looks on a terminal: the exact JSON, and the same in plain words. Text in, text out.

Arguments can hold whatever a page or a model wrote. So everything that is not plainly visible is written as a JSON escape: control
characters (a terminal would obey them), direction marks (they reorder what is read), zero-width, blank, private and unassigned
characters. The JSON stays JSON and still reads back to the same value.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ..actions import Money, Scope
from ._rows import ApprovalRow

SCOPE_WORDS: Final[dict[Scope, str]] = {
    "read": "looks, and changes nothing",
    "fill": "changes what is on the page, and sends nothing",
    "submit": "sends something to the site",
    "pay": "spends money",
}

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
    """What a human is shown before the yes-or-no: every line of it is ours, or visibly a value."""
    action = row.action
    lines = [
        "",
        "Approval needed",
        f"  tool    {visible(action.tool)}",
        f"  host    {visible(action.domain)}",
        f"  scope   {action.scope}: {SCOPE_WORDS[action.scope]}",
    ]
    if action.amount is not None:
        lines.append(f"  money   {money_words(action.amount)}")
    if detail:
        first, *rest = detail.splitlines() or [""]
        lines.append(f"  detail  {visible(first)}")
        lines += [f"        | {visible(line)}" for line in rest]
    lines += [
        f"  expires in {max(0, int(seconds_left))} s",
        "  exactly this action, as JSON:",
        visible(row.text),
        "Allow this? [y/N] ",
    ]
    return "\n".join(lines)


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
