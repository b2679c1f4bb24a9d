"""Finding a run among the entries of a trail: its own, and those of the runs that it goes on from. Pure.

Entries may come from anywhere, so whatever is not as a run writes it raises UsageError, naming the entry. What the trail's own
redaction hid becomes a text that says so; then the run counts as masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from ..actions import MAX_SAFE_INTEGER, Effect
from ..errors import UsageError
from ._effects import Interrupted
from ._engine import FIRST_READ_ID
from ._redaction import WITHHELD

STOPS: Final = frozenset({"loop.done", "loop.blocked", "loop.aborted"})
ASIDE: Final = frozenset({"loop.late-tool", "loop.settle-error", "loop.permit-error", "loop.guard-error"})
"""Notes of the driver; the engine knows nothing of them."""
REDACTED: Final = f"{WITHHELD}redacted in the trail]"


@attrs.frozen(kw_only=True)
class Recorded:
    """One entry of a run, as far as a recall needs it. `seq` is its place in the trail."""

    seq: int
    kind: str
    data: Mapping[str, Any]

    def __str__(self) -> str:
        return f"entry {self.seq} ({self.kind})"


@attrs.frozen(kw_only=True)
class RecordedRun:
    """The entries of one run and of those that it goes on from, without what a resumed run had left behind.

    `masked`: something is hidden in them; `redacted`: by the trail itself, so that not even our own words are whole.
    `earlier` of the entries are of other runs, which may have had other options. `left` are the entries of the call that the run
    before had left open, after its `tool-call`: what is known of it as long as nothing was made of it.
    """

    run: str
    start: Recorded
    entries: tuple[Recorded, ...]
    masked: bool
    redacted: bool
    earlier: int = 0
    left: tuple[Recorded, ...] = ()

    @property
    def stop(self) -> Recorded | None:
        return self.entries[-1] if self.entries[-1].kind in STOPS else None

    @property
    def goal(self) -> str:
        return text_of(self.start, "goal")

    @property
    def nonce(self) -> str:
        """What marks text from outside in the run's history."""
        return text_of(self.start, "nonce", "it was recorded by a version that could not replay")

    def seconds(self) -> tuple[float, float]:
        """Seconds of work and of people, as the last event's record has them."""
        for entry in reversed((*self.entries, *self.left)):
            record = record_of(entry)
            if "work_ms" in record:
                return _milliseconds(entry, record["work_ms"]), _milliseconds(entry, record.get("human_ms"))
        return 0.0, 0.0

    @property
    def has_open_call(self) -> bool:
        """Whether a call got no result."""
        return _open_call(self.entries) is not None

    def open_end(self) -> RecordedRun:
        """Without the stop, and without what is left of a call that got no result, so that the engine can go on from there.

        A first read that got none is taken out whole: nobody asked for it, and it is only a look.
        """
        entries = self.entries[:-1] if self.stop is not None else self.entries
        at = _open_call(entries)
        if at is None:
            return self._before_open_request(entries)
        left = (*entries[at + 1 :], *self.entries[len(entries) :])
        if at < self.earlier:
            left = (*self.left, *left)  # nothing was made of it in this run either
        keep = at if entries[at].data.get("id") == FIRST_READ_ID else at + 1
        return attrs.evolve(self, entries=entries[:keep], earlier=min(self.earlier, keep), left=left)

    def _before_open_request(self, entries: tuple[Recorded, ...]) -> RecordedRun:
        """Without a request that got no reply, when the run had guards: they are asked again before it is made again."""
        if record_or_empty(self.start.data.get("options")).get("guards"):
            keep = len(entries) - (entries[-1].kind == "loop.observation")
            while is_guard_note(entries[keep - 1], "before_model"):
                keep -= 1
            entries = entries[:keep]
        return attrs.evolve(self, entries=entries, earlier=min(self.earlier, len(entries)), left=())

    def in_doubt(self) -> Interrupted:
        """What is known of the call that got no result (of an open end)."""
        effect, domain = Effect(state="not-started"), ""
        for entry in self.left:
            if entry.kind == "loop.decision" and entry.data.get("decision") == "allow":
                effect = Effect(state="unknown")
                domain = str(mapping_of(entry, entry.data.get("action"), "action").get("domain", ""))
            elif entry.kind == "loop.effect":
                effect = effect_of(entry, entry.data)
            elif entry.data.get("in_flight") is not None:
                flight = mapping_of(entry, entry.data["in_flight"], "in_flight")
                effect = effect_of(entry, mapping_of(entry, flight.get("effect"), "in_flight.effect"))
        return Interrupted(effect, domain)


def _open_call(entries: Sequence[Recorded]) -> int | None:
    """The place of the last `tool-call` when it got no result, and no planner was asked after it."""
    for at in range(len(entries) - 1, -1, -1):
        if entries[at].kind in ("loop.tool-result", "loop.observation"):
            return None
        if entries[at].kind == "loop.tool-call":
            return at
    return None


# Reading what may be anything


def record_of(entry: Recorded) -> Mapping[str, Any]:
    return record_or_empty(entry.data.get("record"))


def record_or_empty(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def is_guard_note(entry: Recorded, moment: str, call: str | None = None) -> bool:
    """Whether this is what the guards said at that moment, of that call."""
    return entry.kind == "loop.guard" and entry.data.get("moment") == moment and entry.data.get("id") == call


def mapping_of(entry: Recorded, value: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise unfit(entry, f"{field} is {_kind_of(value)}, not an object")
    return value


def text_of(entry: Recorded, field: str, why: str = "") -> str:
    value = entry.data.get(field)
    if not isinstance(value, str):
        raise unfit(entry, f"{field} is {_kind_of(value)}, not a text" + (f"; {why}" if why and value is None else ""))
    return value


def effect_of(entry: Recorded, plain: Mapping[str, Any]) -> Effect:
    try:
        return Effect(state=plain["state"], done=plain.get("done"))
    except Exception as fault:
        raise unfit(entry, f"it says no effect ({type(fault).__name__}: {fault})") from fault


def unfit(entry: Recorded, words: str) -> UsageError:
    """The error for an entry that no run writes, or that one of another version wrote."""
    return UsageError(f"{entry} cannot be read: {words}")


def _milliseconds(entry: Recorded, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_SAFE_INTEGER:
        raise unfit(entry, f"{value!r:.80} is no time in milliseconds")
    return value / 1000


def _kind_of(value: Any) -> str:
    return "missing" if value is None else type(value).__name__


# Finding


def find_run(entries: Iterable[Any], run: str | None) -> RecordedRun:
    """The entries of one run: of `run`, or of the last one. Takes `Entry` objects or mappings like them.

    Raises UsageError when there is no such run, its beginning is missing, or an entry is none.
    """
    if run is not None and not isinstance(run, str):
        raise UsageError(f"run must be the id of a run, or None, not {run!r:.80}")
    by_run: dict[str, list[Recorded]] = {}
    redacted: set[str] = set()
    for place, entry in enumerate(entries):
        seq, kind, data = _fields(entry, place)
        if kind.startswith("loop.") and isinstance(data, Mapping) and isinstance(data.get("run"), str):
            recorded = Recorded(seq=seq, kind=kind, data=data)
            try:
                shown = _without_redaction(data)
            except RecursionError as fault:
                raise unfit(recorded, "it is nested too deeply") from fault
            if shown is not data:
                redacted.add(data["run"])
                recorded = attrs.evolve(recorded, data=shown)
            by_run.setdefault(data["run"], []).append(recorded)
    if not by_run:
        raise UsageError("there is no run in these entries; give those of a trail that a Loop wrote")
    wanted = run if run is not None else list(by_run)[-1]
    if wanted not in by_run:
        raise UsageError(f"there is no run {wanted!r:.80} in these entries; there are: {', '.join(by_run)}")
    return _whole_run(by_run, wanted, redacted)


def _fields(entry: Any, place: int) -> tuple[int, str, Any]:
    try:
        seq, kind, data = entry["seq"], entry["kind"], entry["data"]
    except Exception as fault:
        lack = f" without {fault}" if isinstance(fault, KeyError) else "; give the entries of read_trail(path, whole=True)"
        raise UsageError(f"entry {place} is no entry of a trail: {type(entry).__name__}{lack}") from fault
    if isinstance(seq, bool) or not isinstance(seq, int) or not isinstance(kind, str):
        raise UsageError(f"entry {place} is no entry of a trail: its seq or kind is none")
    return seq, kind, data


def _without_redaction(value: Any) -> Any:
    """A copy in which a text says where the trail hid something; the very same object when nothing is hidden."""
    if isinstance(value, Mapping):
        if value.keys() == {"$redacted"}:
            return REDACTED
        shown = {key: _without_redaction(inner) for key, inner in value.items()}
        return value if all(shown[key] is inner for key, inner in value.items()) else shown
    if isinstance(value, list):
        listed = [_without_redaction(inner) for inner in value]
        return value if all(one is other for one, other in zip(listed, value, strict=True)) else listed
    return value


def _whole_run(by_run: Mapping[str, Sequence[Recorded]], run: str, redacted: set[str]) -> RecordedRun:
    """The run with those that it goes on from; put together from the oldest on."""
    chain = [run]
    while True:
        own = by_run.get(chain[-1], ())
        if not own or own[0].kind != "loop.start":
            raise UsageError(f"the beginning of run {chain[-1]!r:.80} is not in these entries; give the whole trail")
        before = own[0].data.get("resumes")
        if before is None:
            break
        if not isinstance(before, str) or before in chain:
            raise unfit(own[0], "the run that it goes on from is none, or goes on from it")
        chain.append(before)
    found: RecordedRun | None = None
    for name in reversed(chain):
        own = [entry for entry in by_run[name] if entry.kind not in ASIDE]
        start = own[0]
        for entry in own[1:]:
            if entry.kind == "loop.start":
                raise unfit(entry, f"run {name} begins twice")
        hidden = name in redacted
        masked = hidden or str(start.data.get("goal", "")).startswith(WITHHELD)
        if found is None:
            found = RecordedRun(run=name, start=start, entries=tuple(own), masked=masked, redacted=hidden)
        else:
            before_it = found.open_end()
            # The newest options count; what they were before is only the reason why some things went as they did.
            found = RecordedRun(
                run=name,
                start=start,
                entries=(start, *before_it.entries[1:], *own[1:]),
                masked=masked or found.masked,
                redacted=hidden or found.redacted,
                earlier=len(before_it.entries),
                left=before_it.left,
            )
    assert found is not None
    return found
