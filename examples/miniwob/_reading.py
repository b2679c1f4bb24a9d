"""What the planners of this folder read: the newest page, as a tool showed it in its control lines and lines of text."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_STRING = r'"(?:[^"\\]|\\.)*"'
_OPTION = re.compile(rf"({_STRING})(?:=({_STRING}))?")
_HEAD = re.compile(rf"\[(?P<id>\S+)\] (?P<role>[a-z-]+) (?P<label>{_STRING})")
_DETAIL = re.compile(
    rf" (?P<name>[a-z_]+)=(?P<value>{_STRING}|\[(?:{_STRING}|[^\]\"])*\]|th(?:at|ose) of \S+|[^\s\"\[]+)"
    r"(?: \(\+[0-9]+ characters\))?"
)
_FLAGS = re.compile(r" \((?P<flags>[a-z, ]+)\)")
_LINKS = re.compile(r"\([0-9]+ links: (?P<links>.*)\)")
_LINK = re.compile(rf"(?P<label>{_STRING})=(?P<id>\S+?)(?:, |$)")


class Box(NamedTuple):
    """Where a shape is, in pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.left + self.width / 2, self.top + self.height / 2


class Control(NamedTuple):
    """One line of a page: `[id] role "label" value="…" options=["v1","v2=its label"] (flags)`."""

    id: str
    role: str
    label: str
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    """Value and label of each."""
    flags: tuple[str, ...] = ()
    details: Mapping[str, str] = {}
    """What else the line says, by its name."""

    @property
    def row(self) -> str:
        """The words of the row that it stands in."""
        return self.details.get("row", "")

    @property
    def look(self) -> str:
        """What it looks like, in the page layer's words."""
        return self.details.get("look", self.label)

    @property
    def box(self) -> Box:
        return Box(*json.loads(self.details["box"]))


class Page(NamedTuple):
    """The controls and the lines of text that a tool showed."""

    controls: list[Control]
    text: list[str]

    def all(self, *roles: str, label: str | None = None, row: str = "") -> list[Control]:
        """The controls of these roles (of any, when none is given) with this label, in a row with these words; in page order."""
        return [
            one
            for one in self.controls
            if (not roles or one.role in roles) and label in (None, one.label) and (not row or row in one.row)
        ]

    def the(self, *roles: str, label: str | None = None, row: str = "") -> Control:
        """The only such control."""
        found = self.all(*roles, label=label, row=row)
        if len(found) != 1:
            raise LookupError(f"{len(found)} controls are a {' or '.join(roles)} {label or ''} {row}; the page has {self.controls}")
        return found[0]

    def first(self, *roles: str, label: str | None = None, row: str = "") -> Control:
        """The first of several that do the same."""
        found = self.all(*roles, label=label, row=row)
        if not found:
            raise LookupError(f"no control is a {' or '.join(roles)} {label or ''} {row}; the page has {self.controls}")
        return found[0]

    def find(self, pattern: str) -> re.Match[str]:
        """The first match in the lines of text."""
        for line in self.text:
            if match := re.search(pattern, line):
                return match
        raise LookupError(f"no line of the page is like {pattern!r}: {self.text}")


def read(content: str) -> Page:
    """The page in the content of a tool's message."""
    return Page(list(_controls(content)), [_bare(line[2:]) for line in content.splitlines() if line.startswith("| ")])


def pages(messages: Sequence[Any]) -> Iterator[Page]:
    """The pages that tools have shown as a whole, newest first; after an act they mostly show only what changed."""
    for message in reversed(messages):
        content = message["content"]
        if message["role"] == "tool" and (content.startswith("snapshot: ok") or "\nControls:\n" in content):
            yield read(content)


def controls(messages: Sequence[Any]) -> list[Control]:
    """The controls of the newest page, in page order."""
    for page in pages(messages):
        return page.controls
    raise LookupError("no page has been read yet; call snapshot first")


def the(messages: Sequence[Any], role: str, label: str | None = None) -> Control:
    """The one control of the newest page with this role and, when given, this label."""
    return Page(controls(messages), []).the(role, label=label)


def minutes(page: Page) -> list[float]:
    """The durations on the page, such as ``11h 21m``, in their order."""
    found = [re.fullmatch(r"(\d+)h (\d+)m", line) for line in page.text]
    return [int(match[1]) * 60 + int(match[2]) for match in found if match]


def _controls(content: str) -> Iterator[Control]:
    known: dict[str, Control] = {}
    for line in content.splitlines():
        if links := _LINKS.fullmatch(line):
            yield from (Control(link["id"], "link", _text(link["label"])) for link in _LINK.finditer(links["links"]))
        elif head := _HEAD.match(line):
            known[head["id"]] = _control(head, line[head.end() :], known)
            yield known[head["id"]]


def _control(head: re.Match[str], rest: str, known: Mapping[str, Control]) -> Control:
    details: dict[str, str] = {}
    options: tuple[tuple[str, str], ...] = ()
    rest = re.sub(r"\A \(\+[0-9]+ characters\)", "", rest)
    while match := _DETAIL.match(rest):
        name, value = match["name"], match["value"]
        rest = rest[match.end() :]
        same = known.get(value.removeprefix("those of ").removeprefix("that of ")) if " of " in value[:9] else None
        if name == "options":
            options = same.options if same else tuple(_option(one, other) for one, other in _OPTION.findall(value))
        else:
            details[name] = same.details.get(name, "") if same else _text(value) if value.startswith('"') else value
    flags = _FLAGS.match(rest)
    return Control(
        id=head["id"],
        role=head["role"],
        label=_text(head["label"]),
        value=details.pop("value", ""),
        options=options,
        flags=tuple(flags["flags"].split(", ")) if flags else (),
        details=details,
    )


def _option(quoted: str, label: str) -> tuple[str, str]:
    """Value and label; the label has quotes of its own when the value holds an equals sign."""
    if label:
        return _text(quoted), _text(label)
    value, parted, label = _text(quoted).partition("=")
    return value, label if parted else value


def _text(quoted: str) -> str:
    text: str = json.loads(_bare(quoted))
    return text


def _bare(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">")  # a result never shows them bare
