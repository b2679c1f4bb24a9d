"""Goals: from free text to requirements, by fixed rules (page reference, section 9). Pure; `today` is given.

What must not be cut is put aside first: quoted texts, addresses, calendar dates. Each stands as one sign of the private use area
until its piece is done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

import attrs

from ._calendar import calendar_dates
from ._folding import composed
from ._nouns import Goal, Requirement, Wish
from ._numbers import KEY_LENGTH, SHORTEST_PHONE, SHORTEST_PIECE
from ._relative import relative_date, whole_date

__all__ = ["SPAN_LABELS", "parse_goal", "with_spans"]

SPAN_LABELS: Final = ("person", "location", "organization", "email", "phone", "number")
"""Kinds of spans that a chooser is asked for."""

_FIRST_HOLE: Final = 0xF0000
_HOLES = re.compile("[\U000f0000-\U000ffffd]")
_QUOTED = re.compile('"([^"\n]+)"|\u201c([^\u201c\u201d\n]+)\u201d|\u201e([^\u201c\u201d\u201e\n]+)[\u201c\u201d]')
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s,;]*[^\s,;.!?:)]", re.IGNORECASE)
_NO_SEND = re.compile(
    r"(?:\s*[,;])?\s*(?:\b(?:but|and)\s+)?\b(?:do\s+not|don['\u2019]?t|never|without)\s+"
    r"(?:press(?:ing)?\s+(?:submit|send)|submit(?:ting)?|send(?:ing)?)\b(?:[^,;.\n]|\.(?=\S))*",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"(?<!\d),|,(?!\d)|[;\n]|\.(?=\s|\Z)|\bthen\b", re.IGNORECASE)
_AND = re.compile(r"\band\b(?=\s+\S+\s+\S)", re.IGNORECASE)
_WHOLE = re.compile(r"(?:set|change|switch|go|type|enter|put|write)\b", re.IGNORECASE)
_BEFORE = re.compile(r"(?<=\s)(?=(?:from|to|on|departing|returning)\b)", re.IGNORECASE)
_HOLDS_TOGETHER = re.compile(
    r"\b(?:agree|consent|subscribe|switch|turn|sign|log|opt|listen|reply|up|according|next|back|forget|sure)\s+\Z",
    re.IGNORECASE,
)
_ON_A_DAY = re.compile("on\\s+(?:the\\s+)?[\U000f0000-\U000ffffd]", re.IGNORECASE)
_ONE_VERB = re.compile(r"(?:\w+|check(?:ing)?[\s-]+(?:in|out))\s+\Z", re.IGNORECASE)

_SET = re.compile(r"(?:set|change|switch)\s+(.+?)\s+to\s+(.+)\Z", re.IGNORECASE)
_TYPE = re.compile(r"(?:type|enter|fill\s+in|put|write)\s+(.+)\s+(?:in|into|as|for)\s+(.+)\Z", re.IGNORECASE)
_NAMED = re.compile(rf"([^:=]{{1,{KEY_LENGTH}}})\s*(?<!\d)[:=]\s*(.+)\Z|([^:=]{{1,{KEY_LENGTH}}})\s*[:=](?!\d)\s*(.+)\Z")
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(rf"(?<![\w.])\+?[\d(][\d\s()-]{{{SHORTEST_PHONE - 2},}}\d(?![\w.]?\w)")
_PLACE = re.compile(r"(from|to|at|near|via)\s+(.+)\Z", re.IGNORECASE)
_QUOTE_TAIL = re.compile(r"\s*\b(?:with|as|is)\s*\Z", re.IGNORECASE)
_ADDRESS_TAIL = re.compile(r"\s*\b(?:with|as|is|using|use)\s*\Z", re.IGNORECASE)
_ADDRESS_HEAD = re.compile(r"\A(?:with|use|using)\b\s*", re.IGNORECASE)
_DATE_JOINTS = re.compile(r"\A(?:on|for)\b\s*|\s*\b(?:on|for)\s*\Z", re.IGNORECASE)
_SPAN_TAIL = re.compile(r"\s*\b(?:as|with|is|to)\s*\Z", re.IGNORECASE)

_OUTER: Final = " \t\n.,;:!?()[]{}<>\"'\u2018\u2019\u201c\u201d-"
_ARTICLE = re.compile(r"\A(?:the|a|an|my|your)\b\s*", re.IGNORECASE)
_FIELD = re.compile(r"\s+(?:field|box)\Z", re.IGNORECASE)
_QUOTES: Final = ('""', "''", "\u201c\u201d", "\u2018\u2019", "\u201e\u201c")

_PLEASE = re.compile(r"\A(?:please|(?:do\s+not|don['\u2019]?t)\s+forget\s+to|(?:make|be)\s+sure\s+to)\b\s*", re.IGNORECASE)
_OFF = re.compile(
    r"\A(?:(?:untick|uncheck|unselect|deselect|disable|opt\s+out\s+of|(?:turn|switch)\s+off|no)\b"
    r"|(?:do\s+not|don['\u2019]?t|never)\s+(?:accept|agree\s+to|check|choose|enable|pick|select|tick|turn\s+on|subscribe\s+to|\w+)\b)\s*",
    re.IGNORECASE,
)
_ON = re.compile(r"\A(?:accept|agree\s+to|check|enable|tick|(?:turn|switch)\s+on)\b\s*", re.IGNORECASE)
_PICK = re.compile(r"\A(?:and|choose|pick|select)\b\s*", re.IGNORECASE)


def parse_goal(goal: str, today: date, *, day_first: bool = False) -> Goal:
    """What the goal asks for, in its order. `day_first`: 10/9/2026 is in September."""
    plain = _lines(_HOLES.sub("", composed(goal)))
    aside = _Aside()
    text = aside.put(plain, _QUOTED, quoted=True)
    text, unsent = _NO_SEND.subn("", text)
    text = aside.put(text, _ADDRESS)
    for found in reversed(list(calendar_dates(text, today, day_first=day_first))):
        text = text[: found.start] + aside.hole(text[found.start : found.end], date=found.iso) + text[found.end :]
    reader = _Reader(aside, today, day_first)
    requirements = tuple(reader.requirement(piece) for clause in _clauses(text) for piece in _pieces(clause))
    return Goal(text=plain, requirements=requirements, submit=not unsent)


def with_spans(goal: Goal, spans: Mapping[str, Sequence[str]]) -> Goal:
    """The goal with each setting that contains one of a chooser's spans as a value."""
    found = sorted({span for group in spans.values() for span in group if len(span) > 1}, key=len, reverse=True)
    return attrs.evolve(goal, requirements=tuple(_valued(part, found) for part in goal.requirements))


def _valued(part: Requirement, spans: Sequence[str]) -> Requirement:
    if part.kind != "setting" or part.wish is not None:
        return part
    for span in spans:
        if span in part.text:
            before, _, after = part.key.partition(span)
            key = _key(f"{_SPAN_TAIL.sub('', before)} {after}")
            return attrs.evolve(part, kind="value", value=span, key=key)
    return part


# Cutting


def _lines(text: str) -> str:
    """White space runs together, but line ends stay: they separate."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def _clauses(text: str) -> Iterator[str]:
    for part in _SEPARATOR.split(text):
        yield from _AND.split(part)


def _pieces(clause: str) -> Iterator[str]:
    clause = clause.strip()
    clause = re.sub(r"\A(?:and\b\s*)+|\s+and\Z", "", clause, flags=re.IGNORECASE).strip()
    whole = _WHOLE.match(clause) or ":" in clause or "=" in clause
    for piece in [clause] if whole else _cut(clause):
        piece = piece.strip().rstrip("!?. ")
        if len(piece) >= SHORTEST_PIECE or _HOLES.search(piece):
            yield piece


def _cut(clause: str) -> list[str]:
    """Cut before from, to, on and the like, unless they belong to the verb before: "agree to", "depart on 9 October"."""
    cut, start = [], 0
    for match in _BEFORE.finditer(clause):
        before = clause[start : match.start()]
        on_a_day = _ON_A_DAY.match(clause, match.start()) and _ONE_VERB.match(before)
        if not on_a_day and not _HOLDS_TOGETHER.search(before):
            cut.append(before)
            start = match.start()
    return [*cut, clause[start:]]


class _Aside:
    """What was put aside, by the sign that stands for it."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self.quotes: dict[str, str] = {}
        self.dates: dict[str, str] = {}

    def put(self, text: str, pattern: re.Pattern[str], *, quoted: bool = False) -> str:
        def aside(match: re.Match[str]) -> str:
            inside = next((group for group in match.groups() if group is not None), None) if quoted else None
            return self.hole(match[0], quote=inside)

        return pattern.sub(aside, text)

    def hole(self, text: str, *, quote: str | None = None, date: str | None = None) -> str:
        sign = chr(_FIRST_HOLE + len(self._texts))
        self._texts[sign] = text
        if quote is not None:
            self.quotes[sign] = quote
        if date is not None:
            self.dates[sign] = date
        return sign

    def back(self, text: str) -> str:
        """With everything put back. What was put aside later may hold what was put aside before."""
        while _HOLES.search(text):
            text = _HOLES.sub(lambda match: self._texts[match[0]], text)
        return text


# Reading a piece


class _Reader:
    def __init__(self, aside: _Aside, today: date, day_first: bool) -> None:
        self._aside = aside
        self._today = today
        self._day_first = day_first

    def requirement(self, piece: str) -> Requirement:
        """By the first rule that fits."""
        rules: tuple[Callable[[str], Requirement | None], ...] = (
            self._set,
            self._typed,
            self._named,
            self._quoted,
            self._dated,
            self._addressed,
            self._placed,
            self._relative,
        )
        return next((found for rule in rules if (found := rule(piece)) is not None), None) or self._setting(piece)

    def _set(self, piece: str) -> Requirement | None:
        match = _SET.match(piece)
        return self._value(piece, match[1], match[2]) if match else None

    def _typed(self, piece: str) -> Requirement | None:
        match = _TYPE.match(piece)
        return self._value(piece, match[2], match[1]) if match else None

    def _named(self, piece: str) -> Requirement | None:
        match = _NAMED.match(piece)
        if match is None:
            return None
        return self._value(piece, match[1] or match[3], match[2] or match[4])

    def _quoted(self, piece: str) -> Requirement | None:
        for sign in _HOLES.findall(piece):
            if sign in self._aside.quotes:
                key = _QUOTE_TAIL.sub("", piece.replace(sign, " ").rstrip())
                return self._made(piece, key, value=self._aside.quotes[sign])
        return None

    def _dated(self, piece: str) -> Requirement | None:
        for sign in _HOLES.findall(piece):
            if sign in self._aside.dates:
                return self._made(piece, _joints_off(piece.replace(sign, " ")), date=self._aside.dates[sign])
        return None

    def _addressed(self, piece: str) -> Requirement | None:
        for pattern, kind in ((_EMAIL, "email"), (_PHONE, "phone")):
            match = pattern.search(piece)
            if match is not None:
                rest = _ADDRESS_HEAD.sub(
                    "", f"{_ADDRESS_TAIL.sub('', piece[: match.start()].rstrip())} {piece[match.end() :]}".strip()
                )
                return self._made(piece, rest, value=match[0].strip(), otherwise=kind)
        return None

    def _placed(self, piece: str) -> Requirement | None:
        match = _PLACE.match(piece)
        return self._value(piece, match[1].lower(), match[2]) if match else None

    def _relative(self, piece: str) -> Requirement | None:
        found = relative_date(piece, self._today)
        if found is None:
            return None
        return self._made(piece, _joints_off(f"{piece[: found.start].rstrip()} {piece[found.end :]}"), date=found.iso)

    def _setting(self, piece: str) -> Requirement:
        text = self._aside.back(piece)
        key, wish = _wish(text)
        return Requirement(text=text, key=_key(_ARTICLE.sub("", key)), kind="setting", wish=wish)

    def _value(self, piece: str, key: str, value: str) -> Requirement:
        """A value of its own, or a date when it is nothing but one."""
        iso = self._aside.dates.get(value.strip()) or whole_date(self._aside.back(value), self._today, day_first=self._day_first)
        if iso is not None:
            return self._made(piece, key, date=iso)
        return self._made(piece, key, value=_unquoted(self._aside.back(value)))

    def _made(self, piece: str, key: str, *, value: str | None = None, date: str | None = None, otherwise: str = "") -> Requirement:
        text, key = self._aside.back(piece), _key(self._aside.back(key))
        if date is not None:
            return Requirement(text=text, key=key or "date", kind="date", date=date)
        return Requirement(text=text, key=key or otherwise, kind="value", value=value)


def _joints_off(key: str) -> str:
    before = None
    while before != key:
        before, key = key, _DATE_JOINTS.sub("", key.strip())
    return key


def _wish(text: str) -> tuple[str, Wish | None]:
    """The text without the verb that it begins with, and what that verb wishes."""
    text = re.sub(r"\Aand\s+", "", _PLEASE.sub("", text), flags=re.IGNORECASE)
    wishes: tuple[tuple[re.Pattern[str], Wish | None], ...] = ((_OFF, "off"), (_ON, "on"), (_PICK, None))
    for pattern, wish in wishes:
        match = pattern.match(text)
        if match is not None and match.end() < len(text):
            return text[match.end() :], wish
    return text, None


def _key(text: str) -> str:
    key = _ARTICLE.sub("", " ".join(text.split()).strip(_OUTER))
    return _FIELD.sub("", key).strip(_OUTER)


def _unquoted(value: str) -> str:
    value = value.strip()
    for quotes in _QUOTES:
        if len(value) > 2 and value[0] == quotes[0] and value[-1] == quotes[1] and quotes[0] not in value[1:-1]:
            return value[1:-1]
    return value
