"""What a value means for a field: which operation sets it, what is then judged, and whether the field holds it afterwards. Pure.

A value that does not fit its control is refused here, before anything is judged; the words never repeat the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

import attrs

from ...errors import Refuse
from .._snapshot import Control, Snapshot
from ..tasks._formats import write_field_date
from ..tasks._page import is_date_field
from ..tasks._sensitive import is_secret, is_sensitive, is_typable

__all__ = ["Setting", "holds", "is_masked", "radio_group", "setting_for", "state_of", "was_taken_back"]

SWITCHES: Final = frozenset({"checkbox", "menuitemcheckbox", "switch"})
CLOCKS: Final = frozenset({"color", "datetime-local", "month", "time", "week"})
"""Native types with a picker whose text is no calendar date: typed as they are."""

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", re.ASCII)


@attrs.frozen
class Setting:
    """One field to be set: the operation, and the value that is judged (a text; for ``check`` and ``uncheck`` a bool)."""

    op: str
    value: str | bool

    @property
    def act_value(self) -> str | None:
        """What the act is given."""
        return None if isinstance(self.value, bool) else self.value


def setting_for(control: Control, value: str | bool) -> Setting:
    """Raises Refuse, naming the field by its id and saying what to do, when the value is not one for this control."""
    where = f"Field {control.id}"
    if control.disabled:
        raise Refuse(f"{where} is disabled. Set what enables it first, then call snapshot.")
    if control.type == "file":
        raise Refuse(f"{where} takes files, which fill cannot give. Use the tool for uploads, if there is one.")
    if control.role == "radio":
        if value is not True:
            raise Refuse(f"{where} is a radio button and can only be switched on: give true, for the one that is wanted.")
        return Setting("check", True)
    if control.role in SWITCHES:
        if not isinstance(value, bool):
            raise Refuse(f"{where} is a {control.role}: give true or false.")
        return Setting("check" if value else "uncheck", value)
    if control.options is not None or (control.role == "combobox" and not is_typable(control)):
        return _choice(control, value)
    if not (is_typable(control) or control.role == "slider"):
        raise Refuse(f"{where} is a {control.role}, which only a click sets. Leave it out, and use click.")
    if not isinstance(value, str):
        raise Refuse(f"{where} is a {control.role}: give a text.")
    if control.read_only:
        raise Refuse(f"{where} is read-only. Click it and choose from what opens, if anything does.")
    if is_date_field(control) and control.type not in CLOCKS:
        return _date(control, value)
    return Setting("type", value)


def _choice(control: Control, value: str | bool) -> Setting:
    if not isinstance(value, str):
        raise Refuse(f"Field {control.id} is a {control.role}: give an option's value, or its label.")
    if control.options is None or any(option.value == value for option in control.options):
        return Setting("select", value)
    labelled = [option.value for option in control.options if option.label == value]
    if len(labelled) == 1:
        return Setting("select", labelled[0])
    if control.options_more and not labelled:
        return Setting("select", value)  # it may be among those that were not read; the page decides
    what = "several options have this label" if labelled else "it has no such option"
    raise Refuse(f"Field {control.id}: {what}. Give the value of one that the snapshot shows.")


def _date(control: Control, value: str) -> Setting:
    if not _is_date(value):
        raise Refuse(f"Field {control.id} holds a date: give it as YYYY-MM-DD.")
    if control.type == "date":
        return Setting("date", value)
    return Setting("type", write_field_date(value, control.date_format))


def _is_date(text: str) -> bool:
    try:
        return bool(_ISO.match(text)) and date.fromisoformat(text) is not None
    except ValueError:
        return False


def is_masked(control: Control) -> bool:
    """Whether what goes into it may not stand in events and trail."""
    return is_secret(control) or is_sensitive(control)


def radio_group(snapshot: Snapshot, control: Control) -> tuple[Any, ...] | None:
    """What the radios of one group have in common: only one of them can be on. None for anything else."""
    if control.role != "radio":
        return None
    return control.frame, control.form, ("name", control.name) if control.name else ("section", control.section)


def state_of(control: Control) -> tuple[Any, ...]:
    """What a field holds, as far as a look tells."""
    chosen = tuple(option.value for option in control.options or () if option.selected)
    return control.value, control.value_more, control.checked, chosen


def holds(control: Control | None, op: str, value: str | bool, kept: str | None) -> bool:
    """Whether a field shows what it was set to. `kept` is what the page said it held right after that, in its own format.

    A secret field shows only that it is filled; the page compared its value when it was typed.
    """
    if control is None:
        return False
    if isinstance(value, bool):
        return (control.checked is True) is value
    if is_secret(control):
        return bool(control.value) is bool(value)
    if op == "select" and control.options is not None:
        chosen = [option for option in control.options if option.selected]
        return control.value == value or any(value in (option.value, option.label) for option in chosen)
    shown = _plain(control.value)
    wanted = [_plain(text) for text in (value, kept) if text is not None]
    if control.value_more:
        return any(text.startswith(shown) for text in wanted)
    return shown in wanted


def was_taken_back(was: Control | None, now: Control | None, op: str, value: str | bool | Sequence[str], kept: str | None) -> bool:
    """Whether a field shows again what it showed before it was set, and not what it was set to: the page did not keep it."""
    if was is None or now is None or state_of(was) != state_of(now):
        return False
    if op == "select" and now.options is None:
        return False  # such a control need not show its value in one
    if not isinstance(value, (str, bool)):
        chosen = {text for option in now.options or () if option.selected for text in (option.value, option.label)}
        return not chosen.issuperset(value)
    return not holds(now, op, value, kept)


def _plain(text: str) -> str:
    """As texts are compared: case and white space are for the field to decide."""
    return " ".join(text.split()).casefold()


def judged_settings(args: Mapping[str, Any]) -> dict[str, Setting]:
    """What the gate judged, by control."""
    return {control: Setting(args["ops"][control], value) for control, value in args["fields"].items()}
