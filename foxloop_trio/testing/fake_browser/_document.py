"""`FakeDocument`: one loaded page, as the add-on's content script sees it. Owns controls, their numbers, guards and the page's key.

Guards and keys are keyed digests over what the page reference lists (2.9), so a control or page that changed is stale here as it is
in Firefox. Numbers are given as there (2.1): at a read, each control followed by its form. Nothing here waits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, cast
from urllib.parse import urljoin, urlsplit

import attrs
import trio

from ...browser._snapshot import MASK
from ...canonical import canonical_json
from ...errors import UsageError
from ._data import ControlData, EffectData, Effects, FormData, PageData, TableData, check_control

__all__ = ["MOST_VALUE", "DocumentHost", "FakeControl", "FakeDocument", "KeptOutcome", "run_effects"]

TAGS: Final = {"button": "button", "link": "a", "checkbox": "input", "radio": "input", "searchbox": "input", "spinbutton": "input"}
TYPES: Final = {
    "textbox": "text",
    "combobox": "text",
    "checkbox": "checkbox",
    "radio": "radio",
    "searchbox": "search",
    "spinbutton": "number",
}
TYPABLE: Final = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
FIELDS: Final = frozenset({"input", "textarea", "select"})
FLAGS: Final = ("disabled", "read_only", "required", "offscreen", "submit", "dialog", "autocomplete", "picker", "secret")
TEXTS: Final = ("role", "tag", "type", "label", "name", "placeholder", "section")
OPTIONAL: Final = (
    *("multiple", "checked", "expanded", "date_format", "href", "row", "via"),
    *("description", "row_text", "look", "current", "level", "opens"),
)
ONLY_TRUE: Final = ("sensitive", "behind_modal")
PAGE: Final = 0
MOST_CONTROLS: Final = 300
MOST_TEXT: Final = 6_000
MOST_VALUE: Final = 500
"""As in the add-on (page reference, section 19); what is longer is cut, and counted."""
EFFECT_SECONDS: Final = 0.5
"""What comes so soon is taken for an act's, as in the add-on."""
MAX_OUTCOMES: Final = 32
"""Outcomes that a document keeps, as in the add-on."""


class DocumentHost(Protocol):
    """What a document needs of the tab it stands in."""

    def navigate(self, document: FakeDocument, url: str, sent: Mapping[str, str] | None) -> None: ...
    def later(self, document: FakeDocument, seconds: float, effect: Effects) -> None: ...
    def show_dialog(self, document: FakeDocument, kind: str, message: str) -> bool | str | None: ...
    def open(self, document: FakeDocument, url: str) -> None: ...
    def changed(self, document: FakeDocument) -> None: ...


def _options(given: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(given) if isinstance(given, Mapping) else {option: option for option in given}


@attrs.define(kw_only=True, eq=False)
class FakeControl:
    """One control of a loaded page. Change it through `FakeDocument.change`, so that the page notices."""

    role: str = attrs.field(validator=attrs.validators.instance_of(str))
    label: str = attrs.field(validator=attrs.validators.instance_of(str))
    tag: str
    type: str
    name: str = ""
    placeholder: str = ""
    section: str = ""
    value: str = attrs.field(default="", validator=attrs.validators.instance_of(str))
    options: dict[str, str] | None = attrs.field(default=None, converter=attrs.converters.optional(_options))
    multiple: bool | None = None
    checked: bool | Literal["mixed"] | None = None
    expanded: bool | None = None
    disabled: bool = False
    read_only: bool = False
    required: bool = False
    offscreen: bool = False
    submit: bool = False
    dialog: bool = False
    autocomplete: bool = False
    picker: bool = False
    date_format: str | None = None
    secret: bool = False
    href: str | None = None
    row: str | None = None
    via: Literal["label"] | None = None
    description: str | None = None
    row_text: str | None = None
    look: str | None = None
    current: str | None = None
    level: int | None = None
    opens: str | None = None
    sensitive: bool = False
    behind_modal: bool = False
    form: str | None = None
    hidden: bool = False
    covered: str | None = None
    max_length: int | None = None
    on_click: Effects | None = None
    on_change: Effects | None = None
    on_hover: Effects | None = None
    on_press: Mapping[str, Effects] | None = None
    on_drop: Effects | None = None
    file: Mapping[str, Any] | None = None

    @property
    def typable(self) -> bool:
        return self.role in TYPABLE and self.tag in ("input", "textarea")

    @property
    def shown_value(self) -> str:
        return (MASK if self.value else "") if self.secret else self.value

    @property
    def chosen(self) -> int | None:
        """Which option is selected, by position."""
        return list(self.options).index(self.value) if self.options and self.value in self.options else None


def make_control(data: Mapping[str, Any]) -> FakeControl:
    """A control with what plain HTML would give it where the data are silent."""
    fields = dict(data)
    role = fields["role"]
    if "options" in fields:
        first = next(iter(fields["options"]), "")
        fields = {"tag": "select", "type": "", "multiple": False, "value": first, **fields}
    tag = fields.setdefault("tag", "input" if role in ("textbox", "combobox") else TAGS.get(role, "div"))
    fields.setdefault("type", TYPES.get(role, "text") if tag == "input" else "")
    if tag == "input" and fields["type"] in ("checkbox", "radio"):
        fields.setdefault("value", "on")
        fields.setdefault("checked", False)
    fields.setdefault("secret", fields["type"] == "password")
    if fields["type"] == "date":
        fields.setdefault("date_format", "YYYY-MM-DD")
    return FakeControl(**fields)


@attrs.define
class KeptOutcome:
    """The outcome of an act, kept until the runtime has heard of it; None while the act runs."""

    result: dict[str, Any] | None = None
    done: trio.Event = attrs.field(factory=trio.Event)


class FakeDocument:
    """One loaded page. A test may change it at any time, as a page's own scripts do.

    `change`, `add`, `remove`, `update`, `navigate`, `show_dialog` and `later` are what effects in a page's data do too.
    """

    def __init__(self, host: DocumentHost, *, url: str, page: PageData, document: str, secret: bytes) -> None:
        self.url = url
        self.document = document
        self.title = page.get("title", "")
        self.text = page.get("text", "")
        self.headings = tuple(page.get("headings", ()))
        self.tables = tuple(page.get("tables", ()))
        self.captcha = page.get("captcha", False)
        self.more = page.get("more", False)
        self.controls = [make_control(control) for control in page.get("controls", ())]
        self.page = make_control({"role": "page", "label": ""})
        self.forms: dict[str, FormData] = dict(page.get("forms", {}))
        self.gone = trio.Event()
        self.changed_at = trio.current_time()
        self.clipboard: str | None = None
        self.taken: dict[str, bytes] = {}
        """Files that acts took, by the call that did."""
        self.planned = 0
        """Effects that are to come, or that are functions: nobody can tell what they do."""
        self.outcomes: dict[str, KeptOutcome] = {}
        self._host = host
        self._secret = secret
        self._numbers: dict[FakeControl | str, int] = {}

    def __repr__(self) -> str:
        return f"<FakeDocument {self.url[:80]!r}, {len(self.controls)} controls{', gone' if self.gone.is_set() else ''}>"

    @property
    def hostname(self) -> str:
        return urlsplit(self.url).hostname or ""

    # For tests and effects

    def find(self, label: str) -> FakeControl:
        """The one control with this label. Raises UsageError, naming those that there are."""
        found = [control for control in self.controls if control.label == label]
        if len(found) != 1:
            labels = ", ".join(repr(control.label) for control in self.controls) or "none"
            raise UsageError(f"{self.url}: {len(found)} controls have the label {label!r}; there are: {labels}")
        return found[0]

    def change(self, label: str, /, **fields: Any) -> None:
        """Set fields of the control with this label. Raises UsageError for a field that controls do not have."""
        control = self.find(label)
        for name, value in fields.items():
            if name not in attrs.fields_dict(FakeControl):
                raise UsageError(f"{self.url}: a control has no field {name!r}")
            setattr(control, name, value)
        self.touch()

    def add(self, *controls: ControlData) -> None:
        """Add controls at the end."""
        for control in controls:
            check_control(control, f"{self.url}: the new control")
            self.controls.append(make_control(control))
        self.touch()

    def remove(self, label: str) -> None:
        """Remove the control with this label. One that is added later is another one, with a number of its own."""
        self.controls.remove(self.find(label))
        self.touch()

    def update(self, *, title: str | None = None, text: str | None = None, captcha: bool | None = None) -> None:
        """Set what the page says."""
        self.title = self.title if title is None else title
        self.text = self.text if text is None else text
        self.captcha = self.captcha if captcha is None else captcha
        self.touch()
        self._host.changed(self)

    def navigate(self, url: str, sent: Mapping[str, str] | None = None) -> None:
        """Leave for another address, absolute or not."""
        self._host.navigate(self, urljoin(self.url, url), sent)

    def open(self, url: str) -> None:
        """Open an address, absolute or not, in a new tab in front."""
        self._host.open(self, urljoin(self.url, url))

    def show_dialog(self, kind: Literal["alert", "confirm", "prompt"], message: str = "") -> bool | str | None:
        """Open a script dialog; its answer, which is yes only when that was armed for the act."""
        return self._host.show_dialog(self, kind, message)

    def later(self, seconds: float, effect: Effects) -> None:
        """Let that happen so many seconds from now, if the document is still there."""
        self.planned += seconds <= EFFECT_SECONDS
        self._host.later(self, seconds, effect)

    def touch(self) -> None:
        """The page has changed: settling starts to count anew."""
        self.changed_at = trio.current_time()

    # For the add-on's side

    def at(self, node: int) -> FakeControl | None:
        """The control with this number, if it is still in the page; 0 is the page itself."""
        if node == PAGE:
            return self.page
        return next((control for control in self.controls if self._numbers.get(control) == node), None)

    def number_of(self, item: FakeControl | str) -> int:
        """The number of a control, or of a form by its name; a new one if it has none."""
        return self._numbers.setdefault(item, len(self._numbers) + 1)

    def form_of(self, control: FakeControl) -> FormData | None:
        return None if control.form is None else self.forms.get(control.form, FormData())

    def guard_of(self, control: FakeControl) -> str:
        """Over all that a person would have judged the control by."""
        return self._digest(
            control.role, control.label, control.shown_value, control.checked, control.chosen, control.disabled,
            control.expanded, control.href, control.section, control.row,
        )  # fmt: skip

    def looks(self) -> str:
        """Over all of the page that an act could have changed."""
        seen = [[self.guard_of(one), one.hidden, one.read_only, one.value, one.look, one.covered] for one in self.controls]
        return self._digest(self.url, self.title, self.text, self.captcha, seen)

    def form_key_of(self, control: FakeControl) -> str:
        """Like `key`, but over the fields of the control's own form; of none when it has no form."""
        held = [
            [field.label, field.shown_value, field.checked is True, field.chosen, field.disabled]
            for field in self.controls
            if control.form is not None and field.form == control.form and field.tag in FIELDS and not field.hidden
        ]
        return self._digest("form", self.document, self.url, held)

    @property
    def key(self) -> str:
        """Over the document, its address and the state of all visible fields."""
        held = [
            [self.number_of(field), field.shown_value, field.checked is True, field.chosen, field.disabled]
            for field in self.controls
            if field.tag in FIELDS and not field.hidden
        ]
        return self._digest(self.document, self.url, held)

    def state(self, params: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """The document as the wire's FrameState, narrowed down by the params of a ``page.read``.

        Everything is equally near to any focus here, so `focus` changes nothing.
        """
        described = [self._describe(control) for control in self.controls if not control.hidden]
        text = self.text
        if (region := params.get("region")) is not None:
            described = [control for control in described if region["node"] in (control["node"], control.get("form"))]
            text = ""
        if (sought := params.get("find")) is not None:
            described = [control for control in described if _holds(sought, control["label"], control["value"])]
            text = "\n".join(line for line in text.splitlines() if _holds(sought, line))
        offset, text_offset = params.get("offset", 0), params.get("text_offset", 0)
        controls = described[offset : offset + params.get("max_controls", MOST_CONTROLS)]
        rest = text[text_offset:]
        shown = rest[: params.get("max_text", MOST_TEXT)]
        return {
            "frame": 0, "document": self.document, "url": self.url, "title": self.title, "text": shown,
            "headings": list(self.headings), "controls": controls, "captcha": self.captcha, "more": self.more,
            "truncated": max(0, len(described) - offset - len(controls)), "key": self.key, "parent": None, "origin": [0, 0],
            "captcha_passive": False, "total_controls": len(described), "total_text": len(text),
            "text_truncated": len(rest) - len(shown), "took_ms": 0,
        }  # fmt: skip

    def table(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a ``page.table``."""
        nth, offset, most = params["nth"], params["offset"], params["rows"]
        table = self.tables[nth - 1] if nth <= len(self.tables) else TableData()
        rows = [list(row) for row in table.get("rows", ())]
        if (sought := params.get("find")) is not None:
            rows = [row for row in rows if _holds(sought, *row)]
        shown = rows[offset : offset + most]
        return {
            "url": self.url, "tables": len(self.tables), "nth": nth, "caption": table.get("caption", ""),
            "header": list(table.get("header", ())), "rows": shown, "total": len(rows),
            "left": max(0, len(rows) - offset - len(shown)), "declared": None,
        }  # fmt: skip

    def keep(self, call: str) -> KeptOutcome:
        """A place for the outcome of that act; the oldest goes when there are too many."""
        kept = self.outcomes[call] = KeptOutcome()
        if len(self.outcomes) > MAX_OUTCOMES:
            del self.outcomes[next(iter(self.outcomes))]
        return kept

    def destination_of(self, control: FakeControl) -> dict[str, str] | None:
        """Where a submit control would send its form."""
        form = self.form_of(control)
        if form is None or not control.submit:
            return None
        url = urljoin(self.url, form.get("action") or self.url)
        return {"url": url, "method": form.get("method", "get"), "target": form.get("target", "")}

    def _describe(self, control: FakeControl) -> dict[str, Any]:
        node = self.number_of(control)
        held = control.shown_value
        described: dict[str, Any] = {"node": node, "value": held[:MOST_VALUE], "guard": self.guard_of(control)}
        if len(held) > MOST_VALUE:
            described["value_more"] = len(held) - MOST_VALUE
        described["form_key"] = self.form_key_of(control)
        described |= {name: getattr(control, name) for name in (*TEXTS, *FLAGS)}
        described |= {name: value for name in OPTIONAL if (value := getattr(control, name)) is not None}
        described |= {name: True for name in ONLY_TRUE if getattr(control, name)}
        if control.options is not None:
            described["options"] = [
                {"value": value, "label": label, "selected": value == control.value} for value, label in control.options.items()
            ]
        if control.form is not None:
            described["form"] = self.number_of(control.form)
        if (destination := self.destination_of(control)) is not None:
            described["destination"] = destination
        return described

    def _digest(self, *values: Any) -> str:
        return hashlib.blake2b(canonical_json(list(values)).encode(), key=self._secret, digest_size=8).hexdigest()


def _holds(sought: str, *texts: str) -> bool:
    """Whether one of them holds the text, whatever its case and its white space."""
    needle = " ".join(sought.split()).casefold()
    return any(needle in " ".join(text.split()).casefold() for text in texts)


def run_effects(document: FakeDocument, effects: Effects | None) -> None:
    """Do to the document what its data say. An effect that comes later is only planned."""
    if effects is None:
        return
    if callable(effects):
        document.planned += 1
        effects(document)
        return
    for effect in [effects] if isinstance(effects, Mapping) else effects:
        if effect.get("after", 0) > 0:
            document.later(effect["after"], cast("EffectData", {key: value for key, value in effect.items() if key != "after"}))
        else:
            _run_one(document, effect)


def _run_one(document: FakeDocument, effect: EffectData) -> None:
    if "dialog" in effect:
        document.show_dialog(effect["dialog"]["kind"], effect["dialog"].get("message", ""))
    if "title" in effect or "text" in effect:
        document.update(title=effect.get("title"), text=effect.get("text"))
    for label, fields in effect.get("change", {}).items():
        document.change(label, **fields)
    for label in effect.get("remove", ()):
        document.remove(label)
    document.add(*effect.get("add", ()))
    if "open" in effect:
        document.open(effect["open"])
    if "navigate" in effect:
        document.navigate(effect["navigate"])
