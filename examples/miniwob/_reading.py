"""What the planners of this folder read: the control lines of the newest page that `snapshot` showed."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_STRING = r'"(?:[^"\\]|\\.)*"'
_OPTION = re.compile(rf"({_STRING})(?:=({_STRING}))?")
_CUT = r"(?: \(\+\d+ characters\))?"
_LINE = re.compile(
    rf"\[(?P<id>\S+)\] (?P<role>[a-z-]+) (?P<label>{_STRING}){_CUT}(?: value=(?P<value>{_STRING}){_CUT})?"
    rf"(?: options=\[(?P<options>(?:{_STRING}|[^\]\"])*)\])?"
    rf"(?: [a-z_]+=(?:{_STRING}{_CUT}|\[[^\]]*\]|th(?:at|ose) of \S+|\S+))*(?: \((?P<flags>[a-z, ]+)\))?"
)


class Control(NamedTuple):
    """One line of a page: `[id] role "label" value="…" options=["v1","v2"="its label"] (flags)`."""

    id: str
    role: str
    label: str
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    """Value and label of each."""
    flags: tuple[str, ...] = ()


def controls(messages: Sequence[Any]) -> list[Control]:
    """The controls of the newest page, in page order."""
    for message in reversed(messages):
        if message["role"] == "tool" and message["content"].startswith("snapshot: ok"):
            return list(_parsed(message["content"]))
    raise LookupError("no page has been read yet; call snapshot first")


def the(messages: Sequence[Any], role: str, label: str | None = None) -> Control:
    """The one control of the newest page with this role and, when given, this label."""
    page = controls(messages)
    found = [control for control in page if control.role == role and label in (None, control.label)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} controls are a {role} {label or ''}; the page has {page}")
    return found[0]


def _parsed(content: str) -> Iterator[Control]:
    for line in content.splitlines():
        if match := _LINE.fullmatch(line):
            options = _OPTION.findall(match["options"] or "")
            yield Control(
                id=match["id"],
                role=match["role"],
                label=_text(match["label"]),
                value=_text(match["value"] or '""'),
                options=tuple((_text(value), _text(label or value)) for value, label in options),
                flags=tuple(match["flags"].split(", ")) if match["flags"] else (),
            )


def _text(quoted: str) -> str:
    text: str = json.loads(quoted)
    return text.replace("&lt;", "<").replace("&gt;", ">")  # a result never shows them bare
