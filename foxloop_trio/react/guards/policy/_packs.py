"""Ready-made rules for `PolicyEngine`: each pack is a list of rules, to be joined with others. None of them allows anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .._loop_detector import is_read_only
from ._rules import Rule, RuleLimit

SHELL: Final = r"(?s).*[;&|<>$`\\\n\r\0(){}\[\]*?!#~'\"].*"


def no_shell_metacharacters(fields: Iterable[str]) -> list[Rule]:
    """No argument at one of these paths, or in a list or object there, holds a character that means something to a shell."""
    return [
        Rule(
            id=f"no-shell-metacharacters:{path}",
            effect="deny",
            priority=0,
            match={"args": {path: {"matches": SHELL}}},
            reason=f"{field} may not hold characters that mean something to a shell",
        )
        for field in fields
        for path in (field, f"{field}.*")
    ]


def host_allow_list(tool: str, hosts: Iterable[str], *, path: str = "url") -> list[Rule]:
    """The tool may only go to these hosts and those below them. An address that is missing or cannot be read is refused; with no
    hosts, all are."""
    listed = list(hosts)
    return [
        Rule(
            id=f"host-allow-list:{tool}",
            effect="deny",
            priority=0,
            match={"tool": tool, "args": {path: {"not": {"host_in": listed}}}},
            reason=f"{tool} may only go to {', '.join(listed) or 'no host at all'}",
        )
    ]


def read_only() -> list[Rule]:
    """Only tools that say they change nothing (`read_only`, or the scope ``read``), and the stop tool."""
    return [
        Rule(
            id="read-only",
            effect="deny",
            priority=0,
            when=lambda call, state: call.name != state.stop_tool_name and not is_read_only(state, call.name),
            reason="only tools that read may be used",
        )
    ]


def spend_cap(path: str, cents: int, per: str | float) -> list[Rule]:
    """The amounts at this path add up to so many cents at most per ``turn``, ``run``, or number of seconds.

    An amount that is no whole number of 0 or more is refused; calls without one are not concerned.
    """
    return [
        Rule(
            id=f"spend-cap:{path}",
            effect="deny",
            priority=0,
            match={"args": {path: {"present": True}}},
            limit=RuleLimit(per=per, max=cents, of=path),
            reason=f"{path} would pass {cents} cents per {per}",
        )
    ]
