"""From what a planner submits to the one text that is judged: an action in normal form, or the reason why there is none.

The result owes nothing to the objects that came in. Its text is the canonical JSON of the whole action; it is what a human reads,
what a token is bound to and what the permit holds. The amount in it is always the host's own computation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, Final

import attrs

from ..actions import SCOPES, Action, Money, Scope, unchecked
from ..canonical import canonical_json, canonical_sha256, read_canonical
from ..errors import GateError, NotJsonError
from ._hosts import normalise_host
from ._reasons import DenyReason
from ._registry import MAX_TOOL_NAME, Registry, ToolEntry

MAX_DEPTH: Final = 32
"""Deepest nesting of an action's JSON, the action itself being at depth 0; what a human is to read is never that deep."""

MAX_BYTES: Final = 65_536
"""Largest canonical text of an action in UTF-8 bytes: it must be shown to a human in full."""

_FIELDS: Final = frozenset({"tool", "args", "domain", "scope", "amount"})


@attrs.define(slots=True, kw_only=True, eq=False)
class Parsed:
    """An action in normal form. `text` is its canonical JSON, `digest` the SHA-256 of that."""

    tool: str
    scope: Scope
    host: str
    amount: Money | None
    text: str
    digest: str
    args: dict[str, Any] | None
    """The arguments as reading them from `text` would give them, where that is plain to see."""
    always_ask: bool = False
    """The tool says that no grant and no rule covers this without a human."""

    def whole(self) -> Action | None:
        """The action as reading it from `text` would give it, for one owner; None when it has to be read."""
        if self.args is None:
            return None
        return _action(tool=self.tool, args=self.args.copy(), domain=self.host, scope=self.scope, amount=self.amount)


_action = unchecked(Action)


@attrs.define(slots=True, eq=False)
class Unfit:
    """There is no such action, and why."""

    reason: DenyReason
    message: str


class _Unfit(Exception):
    def __init__(self, reason: DenyReason, message: str) -> None:
        super().__init__(message)
        self.unfit = Unfit(reason, message)


def parse_action(action: object, tools: Registry) -> Parsed | Unfit:
    """`action` in normal form. Takes an `Action` or a plain dict of its fields; never raises for what is in it."""
    try:
        return _parse(action, tools)
    except _Unfit as problem:
        return problem.unfit


def _parse(action: object, tools: Registry) -> Parsed:
    if type(action) is Action:
        tool, args, domain, scope, amount = action.tool, action.args, action.domain, action.scope, action.amount
        carries_amount = amount is not None
    else:
        fields = _plain_fields(action)
        tool, args, domain, scope = fields["tool"], fields["args"], fields["domain"], fields["scope"]
        amount, carries_amount = fields.get("amount"), "amount" in fields

    entry = _registered(tool, tools)
    if type(args) is not dict:
        raise _Unfit("bad-action", "args must be a plain JSON object")
    if type(scope) is not str or scope not in SCOPES:
        raise _Unfit("bad-action", f"scope must be one of {', '.join(SCOPES)}")
    if scope != entry.scope:
        raise _Unfit("wrong-scope", f"tool {entry.name!r} has the scope {entry.scope}, not {scope}")
    args_text = _canonical(args, "args")
    computed = None if entry.amount is None else _computed_amount(entry, args_text)
    if carries_amount:
        _check_claim(amount, computed, entry)
    try:
        host = normalise_host(domain)
    except GateError:
        # Its message shows the value, which a page may have written.
        raise _Unfit("bad-action", "domain must be a bare host name") from None

    # Everything inside args lies one level deeper in the action. Only a text with that many brackets can be too deep.
    if args_text.count("{") + args_text.count("[") >= MAX_DEPTH:
        _canonical(args, "args", max_depth=MAX_DEPTH - 1)
    text = _action_text(args_text, entry, host, computed)
    return Parsed(
        tool=entry.name,
        scope=entry.scope,
        host=host,
        amount=computed,
        text=text,
        digest=canonical_sha256(text),
        args=_as_read(args, args_text),
        always_ask=entry.asks is not None and _must_ask(entry.asks, args_text),
    )


_READ_AS_WRITTEN: Final = frozenset({str, int, bool, type(None)})


def _as_read(args: dict[str, Any], text: str) -> dict[str, Any] | None:
    """What reading `text`, the canonical JSON of `args`, gives: found without reading it where no value can come back as another
    one (a float can, as an int) and the order of keys is that of their characters; else None."""
    if text.isascii() and _READ_AS_WRITTEN.issuperset(map(type, args.values())):
        return {name: args[name] for name in sorted(args)}
    return None


def _plain_fields(action: object) -> dict[str, Any]:
    if type(action) is not dict:
        raise _Unfit("bad-action", "an action must be an Action or a plain object")
    unknown = action.keys() - _FIELDS
    if unknown:
        raise _Unfit("bad-action", "an action has the fields tool, args, domain, scope and amount, and no others")
    # A missing field gets a value that its own test refuses, in the order of the tests.
    return {"tool": None, "args": None, "domain": None, "scope": None} | action


def _registered(tool: object, tools: Registry) -> ToolEntry:
    if type(tool) is not str or not 1 <= len(tool) <= MAX_TOOL_NAME:
        raise _Unfit("bad-action", f"tool must be a string of 1 to {MAX_TOOL_NAME} characters")
    entry = tools.get(tool)
    if entry is None:
        raise _Unfit("unknown-tool", "no tool of this name is registered with the gate")
    return entry


def _computed_amount(entry: ToolEntry, args_text: str) -> Money:
    assert entry.amount is not None
    try:
        amount = entry.amount(read_canonical(args_text))
    except Exception as error:
        raise _Unfit("bad-action", f"the amount function of tool {entry.name!r} raised {type(error).__name__}") from error
    money = _money(amount)
    if money is None:
        if inspect.iscoroutine(amount):
            amount.close()
        raise _Unfit("bad-action", f"the amount function of tool {entry.name!r} did not return valid money")
    return money


def _must_ask(asks: Callable[[dict[str, Any]], object], args_text: str) -> bool:
    """What is not plainly a no is a yes: to ask once too often harms nobody."""
    try:
        answer = asks(read_canonical(args_text))
    except Exception:
        return True
    if inspect.iscoroutine(answer):
        answer.close()
    return answer is not False


def _check_claim(claimed: object, computed: Money | None, entry: ToolEntry) -> None:
    money = _money(claimed)
    if money is None:
        raise _Unfit("bad-action", "amount must be whole minor units and a currency of three uppercase letters")
    if computed is None:
        raise _Unfit("wrong-amount", f"tool {entry.name!r} has no amount")
    if money != computed:
        raise _Unfit("wrong-amount", f"the amount is not what tool {entry.name!r} costs with these arguments")


def _money(value: object) -> Money | None:
    """`value` as money, or None when it is none. Its parts must be plain: a subclass could write itself as another amount."""
    if type(value) is Money:
        return value if type(value.value) is int and type(value.currency) is str else None
    if type(value) is dict and value.keys() == {"value", "currency"}:
        minor_units, currency = value["value"], value["currency"]
        if type(minor_units) is int and type(currency) is str:
            try:
                return Money(value=minor_units, currency=currency)
            except ValueError:
                return None
    return None


def _canonical(value: object, what: str, *, max_depth: int = MAX_DEPTH) -> str:
    try:
        return canonical_json(value, max_depth=max_depth, max_bytes=MAX_BYTES)
    except NotJsonError as error:
        fault = (
            f"is larger than {MAX_BYTES} bytes" if error.code == "too-large" else f"is not plain JSON of at most {max_depth} levels"
        )
        raise _Unfit("bad-action", f"{what} {fault}") from None


def _action_text(args_text: str, entry: ToolEntry, host: str, amount: Money | None) -> str:
    """The canonical JSON of the whole action, put together from canonical parts in canonical key order: amount, args, domain, …"""
    money = "" if amount is None else f'"amount":{{"currency":"{amount.currency}","value":{amount.value}}},'
    text = f'{{{money}"args":{args_text},"domain":{encode_basestring(host)},"scope":"{entry.scope}","tool":{entry.quoted}}}'
    if len(text) * 3 > MAX_BYTES and len(text.encode()) > MAX_BYTES:
        raise _Unfit("bad-action", f"the action is larger than {MAX_BYTES} bytes")
    return text
