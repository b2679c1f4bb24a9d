"""Pages as data: what a test writes down, and its check. Owns the keys, their defaults and the words for a wrong one.

Everything here is a plain mapping, so that a page can stand in a test, a file or a fixture. `ControlData` has the wire's keys;
what a test leaves out gets the value that plain HTML would give it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Required, TypedDict

import attrs

from ...errors import UsageError

if TYPE_CHECKING:
    from ._document import FakeDocument

__all__ = [
    "ControlData",
    "DialogData",
    "EffectData",
    "Effects",
    "FormData",
    "PageData",
    "PageSource",
    "TableData",
    "Visit",
    "check_page",
    "keys_of",
]


class DialogData(TypedDict, total=False):
    """A script dialog. It is answered as the add-on does: an alert is closed, a confirm is declined, a prompt is cancelled."""

    kind: Required[Literal["alert", "confirm", "prompt"]]
    message: str


class EffectData(TypedDict, total=False):
    """What a page does when something happens to it, in this order. `after` is in seconds: all of it happens that much later."""

    after: float
    dialog: DialogData
    title: str
    text: str
    change: Mapping[str, Mapping[str, Any]]
    """Fields of controls, by label: ``{"Send": {"disabled": True}}``."""
    remove: Sequence[str]
    """Labels."""
    add: Sequence[ControlData]
    navigate: str
    """An address, absolute or not."""
    open: str
    """An address, absolute or not, that is opened in a new tab in front."""


Effects = EffectData | Sequence[EffectData] | Callable[["FakeDocument"], object]
"""One effect, several, or a function that does to the document whatever it likes."""


class FileData(TypedDict, total=False):
    """A file behind a control. `size`: what the server says of it; left out, it says nothing."""

    name: Required[str]
    data: Required[bytes]
    type: str
    size: int


class ControlData(TypedDict, total=False):
    """One control. The wire's fields, and below them what only a fake needs."""

    role: Required[str]
    label: Required[str]
    tag: str
    type: str
    name: str
    placeholder: str
    section: str
    value: str
    options: Sequence[str] | Mapping[str, str]
    """Values of a select, or value and label of each. The first is selected unless `value` says otherwise."""
    multiple: bool
    checked: bool | Literal["mixed"]
    expanded: bool
    disabled: bool
    read_only: bool
    required: bool
    offscreen: bool
    submit: bool
    dialog: bool
    autocomplete: bool
    picker: bool
    date_format: str
    secret: bool
    href: str
    row: str
    via: Literal["label"]
    description: str
    row_text: str
    look: str
    current: str
    level: int
    opens: str
    sensitive: bool
    behind_modal: bool
    form: str
    """Name of its form."""
    hidden: bool
    """Not to be seen: it is not read, and an act on it is refused as ``hidden``."""
    covered: str
    """Something lies over it: acts are refused as ``covered``, with this detail."""
    max_length: int
    on_click: Effects
    on_change: Effects
    """After its value or state was changed by an act."""
    on_hover: Effects
    on_press: Mapping[str, Effects]
    """By the name of the key: ``{"Escape": {...}}``."""
    file: FileData
    """The file that it leads to, for the operation ``download``."""
    on_drop: Effects
    """When another control is dragged onto it."""


class TableData(TypedDict, total=False):
    """A table of a page. `rows` have a text for each column."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


class FormData(TypedDict, total=False):
    """A form. Without an action it is sent to its own page; with None the page keeps it and nothing is loaded."""

    action: str | None
    method: Literal["get", "post"]
    target: str
    on_submit: Effects


class PageData(TypedDict, total=False):
    """One page. `forms` are by the name that controls use; one that is not listed has an empty `FormData`."""

    title: str
    text: str
    headings: Sequence[str]
    controls: Sequence[ControlData]
    forms: Mapping[str, FormData]
    tables: Sequence[TableData]
    captcha: bool
    more: bool
    load_seconds: float
    """How long it takes to come; the page before stays meanwhile."""
    redirect: str
    """Another address comes instead."""


@attrs.frozen(kw_only=True)
class Visit:
    """Why a page is loaded: its whole address, and what a form sent (None when it was no form)."""

    url: str
    sent: Mapping[str, str] | None = None


PageSource = PageData | Callable[[Visit], PageData]
"""A page, or a function that makes it at each visit, as a server does."""


def keys_of(kind: type) -> frozenset[str]:
    """The keys that data of this kind may have."""
    return frozenset(kind.__annotations__)


_KINDS: Final[Mapping[str, type]] = {
    "page": PageData,
    "form": FormData,
    "table": TableData,
    "effect": EffectData,
    "dialog": DialogData,
}


def check_page(url: str, page: Mapping[str, Any]) -> None:
    """Raises UsageError that names the address and what is wrong with this page."""
    _check("page", page, f"page {url!r}")
    for index, control in enumerate(page.get("controls", ())):
        check_control(control, f"page {url!r}, control {index + 1}")
    for index, table in enumerate(page.get("tables", ())):
        _check("table", table, f"page {url!r}, table {index + 1}")
    for name, form in page.get("forms", {}).items():
        where = f"page {url!r}, form {name!r}"
        _check("form", form, where)
        _check_effects(form.get("on_submit"), where)


def check_control(control: Mapping[str, Any], where: str) -> None:
    """Raises UsageError that names the place and the key."""
    if not isinstance(control, Mapping):
        raise UsageError(f"{where} must be a mapping, not {type(control).__name__}")
    for key in ("role", "label"):
        if not isinstance(control.get(key), str):
            raise UsageError(f"{where} needs a {key}, as text")
    _known(control, keys_of(ControlData), f"{where} ({control['label']!r})")
    for key in ("on_click", "on_change", "on_hover", "on_drop"):
        _check_effects(control.get(key), f"{where} ({control['label']!r}), {key}")
    for key, effects in control.get("on_press", {}).items():
        _check_effects(effects, f"{where} ({control['label']!r}), on_press {key}")


def _check_effects(effects: Any, where: str) -> None:
    if effects is None or callable(effects):
        return
    for effect in [effects] if isinstance(effects, Mapping) else effects:
        _check("effect", effect, where)
        if "dialog" in effect:
            _check("dialog", effect["dialog"], where)
        for control in effect.get("add", ()):
            check_control(control, f"{where}, add")


def _check(kind: str, data: Any, where: str) -> None:
    if not isinstance(data, Mapping):
        raise UsageError(f"{where}: a {kind} must be a mapping, not {type(data).__name__}")
    _known(data, keys_of(_KINDS[kind]), where)


def _known(data: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = sorted(str(key) for key in data if key not in known)
    if unknown:
        raise UsageError(f"{where} has the unknown key {unknown[0]!r}; it may have {', '.join(sorted(known))}")
