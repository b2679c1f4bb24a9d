"""The tools `fill` and `fill_and_send`: several fields in one call, each pinned and judged, and the one send at the end.

Fields are set in the given order, each compared with what was judged of it in a look right before. The first refusal ends it. What
was done so far is on record at every moment, also when the call is cancelled.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import trio

from ...actions import ToolContext, ToolOutput
from ...canonical import canonical_json
from ...errors import Refuse
from ...tools import Tool
from .._seal import SALT_BYTES, seal
from .._snapshot import MASK, Control, Snapshot
from ..tasks._run import Passwords
from ..tasks._sensitive import is_secret
from ._desk import MAX_VALUE, Args, Desk
from ._fields import is_masked, radio_group, setting_for
from ._fill_job import FillJob, Secrets
from ._filling_words import describe_fill, say_stopped
from ._spending import Prices, refuse_to_spend, spending
from ._view import CONTROL_ID

__all__ = ["filling_tools"]

MAX_FIELDS: Final = 12
"""Tool reference, section 1."""
MAX_JUDGED_BYTES: Final = 60_000
"""The gate judges at most 64 KiB, with host, scope and tool; what is over that would be a denial, which ends a run."""
MAX_KEPT: Final = 64
"""Secret values in memory that wait for their call to run; the oldest go first. Five calls of nothing but passwords."""

FIELDS: Final = {
    "type": "object",
    "additionalProperties": True,
    "description": (
        "1 to 12 fields by their ids, in the order in which they are set: a text, an option's value, a date as YYYY-MM-DD, or true "
        "and false for a box."
    ),
}


def filling_tools(desk: Desk, *, passwords: Passwords | None = None, prices: Prices | None = None) -> list[Tool]:
    """`fill` with scope fill, `fill_and_send` with scope submit."""
    fill, send = _Fill(desk, passwords, prices), _FillAndSend(desk, passwords, prices)
    return [
        Tool(
            name="fill",
            description=(
                "Set up to 12 fields of the newest snapshot in one call: texts, dates, choices and boxes. It sends nothing. Use it "
                "instead of many calls of act."
            ),
            parameters={"type": "object", "properties": {"fields": FIELDS}, "required": ["fields"]},
            scope="fill",
            domain=desk.domain,
            prepare=fill.prepare,
            describe=lambda args, ctx: describe_fill(args),
            run=fill.run,
            redact=None if passwords is None else fill.redact,
            environment=desk.tab.session,
        ),
        Tool(
            name="fill_and_send",
            description=(
                "Set up to 12 fields of the newest snapshot, then click the control that sends their form. Nothing is sent when a "
                "field does not take its value or the form is not as it was."
            ),
            parameters={
                "type": "object",
                "properties": {"fields": FIELDS, "send_id": {**CONTROL_ID, "description": "The id of the button that sends."}},
                "required": ["fields", "send_id"],
            },
            scope="submit",
            domain=desk.domain,
            prepare=send.prepare,
            describe=lambda args, ctx: describe_fill(args),
            run=send.run,
            asks=lambda args: "spends" in args,
            redact=None if passwords is None else send.redact,
            environment=desk.tab.session,
        ),
    ]


class _Fill:
    """What both tools have in common. Secret values never leave this object: what is judged of them is a mask and a seal."""

    def __init__(self, desk: Desk, passwords: Passwords | None, prices: Prices | None) -> None:
        self._desk = desk
        self._passwords = passwords
        self._prices = prices
        self._salt: bytes | None = None
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def prepare(self, args: Args, ctx: ToolContext) -> Args:
        """The pins, the operations, and the values as they will be given; a secret one as a mask, with its seal."""
        fields = _checked(args["fields"])
        snapshot, found = await self._desk.all_pinned(fields)
        settings = {control.id: setting_for(control, value) for (control, _), value in zip(found, fields.values(), strict=True)}
        _one_of_each_group(snapshot, [control for control, _ in found])
        allowed = await self._allowed(snapshot, [control for control, _ in found])
        judged: Args = {"fields": {}, "ops": {}, "targets": [pin for _, pin in found]}
        sealed: dict[str, str] = {}
        for control, pin in found:
            value = settings[control.id].value
            if is_secret(control) and isinstance(value, str):
                if value not in allowed.get(control.frame, ()):
                    raise Refuse(
                        f"Field {control.id} is secret, and the host program does not allow this value there. Leave it to the user."
                    )
                sealed[control.id] = self._keep(pin, value)
                value = MASK
            judged["fields"][control.id] = value
            judged["ops"][control.id] = settings[control.id].op
        if sealed:
            judged["sealed"] = sealed
        return _bounded(judged)

    async def _allowed(self, snapshot: Snapshot, controls: Sequence[Control]) -> dict[int, frozenset[str]]:
        """The passwords of each frame that has a secret field among these. Raises Refuse where the host allows none at all."""
        frames = sorted({control.frame for control in controls if is_secret(control)})
        if frames and self._passwords is None:
            which = next(control.id for control in controls if is_secret(control))
            raise Refuse(f"Field {which} is secret, and nobody has allowed to fill it in. Leave it out, or leave it to the user.")
        return {number: await self._passwords_of(snapshot, number) for number in frames}

    async def _passwords_of(self, snapshot: Snapshot, number: int) -> frozenset[str]:
        frame = snapshot.frame(number)
        assert frame is not None
        assert self._passwords is not None
        allowed = self._passwords(frame.url)
        if hasattr(allowed, "__await__"):
            allowed = await allowed
        return frozenset(text for text in allowed or () if isinstance(text, str) and text)

    def _keep(self, pin: Mapping[str, Any], value: str) -> str:
        if self._salt is None:
            new_id = self._desk.tab.session.new_call_id  # of the session's own ids, so that equal runs are equal
            self._salt = hashlib.sha256(f"{new_id()}{new_id()}".encode()).digest()[:SALT_BYTES]
        digest = seal(self._salt, pin, value)
        self._kept[digest] = value
        self._kept.move_to_end(digest)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return digest

    def redact(self, args: Args) -> Args:
        """The arguments as they may be recorded: what goes into secret, sensitive or unknown fields is a mask."""
        fields = args.get("fields")
        if not isinstance(fields, dict):
            return args if fields is None else {**args, "fields": MASK}
        page = self._desk.memory.snapshot or self._desk.memory.whole
        return {**args, "fields": {name: _recordable(page, name, value) for name, value in fields.items()}}

    async def run(self, args: Args, ctx: ToolContext) -> ToolOutput:
        """Set the fields, wait until the page is quiet, look."""
        ctx.report_effect("not-started")
        async with self._desk.hold():
            job = await self._begun(args, ctx)
            if isinstance(job, ToolOutput):
                return job
            stop = await job.fields()
            if stop is None:
                await job.quiet()
            return await job.output("fill", stop)

    async def _begun(self, args: Args, ctx: ToolContext) -> FillJob | ToolOutput:
        """The job, once tab and pins are as judged; else the failed result. Nothing is awaited from the comparison on."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if (moved := self._desk.moved(ctx)) is not None:
            return moved
        before, targets = self._desk.memory.snapshot, args.get("targets")
        pins = [*targets, *([args["send"]] if "send" in args else [])] if isinstance(targets, list) else []
        pinned = bool(targets) and all(isinstance(pin, Mapping) and self._desk.still_pinned(pin) for pin in pins)
        if before is None or not isinstance(targets, list) or not pinned:
            return ToolOutput(ok=False, summary=say_stopped(0, len(pins), "stale", None))
        sealed = args.get("sealed", {})
        plain = {control: value for control, digest in sealed.items() if (value := self._kept.pop(digest, None)) is not None}
        if len(plain) < len(sealed):
            return ToolOutput(ok=False, summary=say_stopped(0, len(targets), "forgotten", None))
        self._desk.memory.drop()  # whatever comes of it, the look before it is out of date
        secrets = Secrets(values=plain, salt=self._salt, still_allowed=self._may_type)
        return FillJob(self._desk, args, ctx, before, secrets)

    async def _may_type(self, page: Snapshot, frame: int, value: str) -> bool:
        """Whether the host still allows this, where the frame is now."""
        return value in await self._passwords_of(page, frame)


class _FillAndSend(_Fill):
    async def prepare(self, args: Args, ctx: ToolContext) -> Args:
        judged = await super().prepare({"fields": args["fields"]}, ctx)
        snapshot, found = await self._desk.all_pinned([*judged["fields"], args["send_id"]])
        *pins, (send, send_pin) = found
        if [pin for _, pin in pins] != judged["targets"]:
            raise Refuse("The page was read again meanwhile. Call snapshot, then decide again.")
        if not (send.submit or send.role == "button"):
            raise Refuse(f"Control {send.id} is a {send.role}, which does not send. Name the button that sends the form.")
        if send.disabled and not any(_enables(control, send) for control, _ in pins):
            raise Refuse(f"Control {send.id} is disabled, and none of these fields is of its form. Set what enables it first.")
        how = spending(snapshot, send)
        if how is not None:
            if self._prices is not None:
                raise refuse_to_spend(send.id, fields=True)
            judged["spends"] = how
        return _bounded({**judged, "send_id": send.id, "send": send_pin})

    async def run(self, args: Args, ctx: ToolContext) -> ToolOutput:
        """Set the fields, see that the form is what was judged, send it, wait until the page is quiet, look."""
        ctx.report_effect("not-started")
        async with self._desk.hold():
            job = await self._begun(args, ctx)
            if isinstance(job, ToolOutput):
                return job
            stop = await job.fields()
            if stop is None:
                await job.quiet()
                stop = await job.send()
            return await job.output("fill_and_send", stop)


def _checked(fields: Mapping[str, Any]) -> dict[str, str | bool]:
    """Raises Refuse for what the schema cannot tell: how many there are, and what each holds."""
    if not 1 <= len(fields) <= MAX_FIELDS:
        raise Refuse(f"fields needs 1 to {MAX_FIELDS} entries, and there are {len(fields)}. Use several calls for more.")
    for value in fields.values():
        if not isinstance(value, (str, bool)):
            raise Refuse("Each of fields is a text, or true or false.")
        if isinstance(value, str) and len(value) > MAX_VALUE:
            raise Refuse(f"A value may have at most {MAX_VALUE} characters.")
    return dict(fields)


def _one_of_each_group(snapshot: Snapshot, controls: Sequence[Control]) -> None:
    groups = [group for control in controls if (group := radio_group(snapshot, control)) is not None]
    if len(set(groups)) < len(groups):
        raise Refuse("Two of these fields are radio buttons of one group, of which only one can be on. Name the wanted one.")


def _enables(field: Control, send: Control) -> bool:
    """Whether filling in that field may enable the control that sends."""
    return (field.frame, field.form) == (send.frame, send.form)


def _recordable(page: Snapshot | None, control_id: str, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    control = None if page is None else page.control(control_id)
    return MASK if control is None or is_masked(control) else value


def _bounded(judged: Args) -> Args:
    if len(canonical_json(judged).encode()) > MAX_JUDGED_BYTES:
        raise Refuse("These values are too long for one call. Set fewer fields at a time.")
    return judged
