"""The rest of what a hand can do to a control of a `FakeDocument`: keys, hovering, dragging, marking, the clipboard, files.

`unfit` answers why it cannot be done, with the add-on's words; `HANDS` does it, as `perform` of the other operations. What a page
does in answer stands in its data: `on_hover`, `on_press` (by key), `on_drop`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ._document import FakeControl, FakeDocument, run_effects

if TYPE_CHECKING:
    from ._acting import Performed

__all__ = ["HANDS", "PROVES", "chosen_options", "scroll_unfit", "unfit"]

PROVES: Final = frozenset({"click", "drag", "enter", "hover", "press"})
"""Operations of which something must come: without it they are not done."""

MAX_FILES: Final = 10
MAX_KEYS: Final = 50
KEY = re.compile(
    r"(?:(?:ctrl|alt|shift|meta)\+)*(?:.|Space|Enter|Escape|Tab|Arrow(?:Left|Right|Up|Down)|Home|End|Page(?:Up|Down)|Backspace|Delete"
    r"|Insert|F(?:[1-9]|1[0-2]))\Z",
    re.IGNORECASE,
)
EDITS: Final = frozenset({"Backspace", "Delete"})

Refusal = dict[str, Any]


def _refuse(reason: str, detail: str | None = None) -> Refusal:
    return {"ok": False, "reason": reason, **({} if detail is None else {"detail": detail})}


def unfit(document: FakeDocument, control: FakeControl, op: str, value: Any) -> Refusal | None:
    """Why this operation is not begun; None when it may be."""
    match op:
        case "hover":
            return None
        case "press" if not _are_keys(value):
            return _refuse("unsupported", "not a list of keys such as Enter, ctrl+a, or ArrowDown ArrowDown (at most 50)")
        case "press":
            return None
        case "drag":
            return _unfit_drag(document, value)
        case "copy" | "cut" | "select_text" if control.secret:
            return _refuse("secret", "nothing is copied out of a field that holds a secret")
        case "cut" | "paste" if not control.typable:
            words = "nothing can be pasted into it" if op == "paste" else "nothing can be cut out of it"
            return _refuse("unsupported", words)
        case "paste" if value is None and document.clipboard is None:
            return _refuse("unsupported", "nothing was copied on this page yet")
        case "select_text" if not _marked(control, value):
            return _refuse("unsupported", "it does not hold that text")
        case "download":
            return None
        case "files":
            return _unfit_files(control, value)
    return None


def _are_keys(value: Any) -> bool:
    keys = value.split() if isinstance(value, str) else []
    return 1 <= len(keys) <= MAX_KEYS and all(KEY.match(key) for key in keys)


def _unfit_drag(document: FakeDocument, value: Any) -> Refusal | None:
    if not isinstance(value, Mapping) or len(value.keys() & {"onto", "by", "path"}) != 1:
        return _refuse("unsupported", "dragging needs one of onto, by and path")
    if "onto" not in value:
        return None
    other = document.at(value["onto"]["node"])
    if other is None:
        return _refuse("gone", "the control to drag it onto is not there any more")
    if other.hidden:
        return _refuse("hidden", "the control to drag it onto cannot be seen")
    same = document.guard_of(other) == value["onto"]["guard"]
    return None if same else _refuse("stale", "the control to drag it onto differs")


def _unfit_files(control: FakeControl, value: Any) -> Refusal | None:
    files = value.get("files") if isinstance(value, Mapping) else None
    if not isinstance(files, list) or len(files) > MAX_FILES:
        return _refuse("unsupported", f"files are {{ files: [{{ name, type, size }}] }}, at most {MAX_FILES}")
    if control.type != "file":
        return _refuse("unsupported", "the page takes no files there")
    return None if len(files) <= 1 or control.multiple else _refuse("unsupported", "it takes one file only")


def chosen_options(control: FakeControl, value: Any) -> Refusal | None:
    """Why a list of options cannot be chosen."""
    if isinstance(value, list) and not control.multiple:
        return _refuse("unsupported", "it takes one option only")
    return None


def scroll_unfit(value: Any) -> Refusal | None:
    if not isinstance(value, Mapping | list):
        return None
    kinds = 0 if isinstance(value, list) else len({"down" if key == "right" else key for key in value})
    return None if kinds == 1 else _refuse("unsupported", "scrolling takes one of down and right, edge, or until")


def _marked(control: FakeControl, value: Any) -> str:
    text = control.value if control.typable else control.label
    if value is None:
        return text
    if isinstance(value, Mapping) and "start" in value:
        return text[value["start"] : value.get("end", 0)]
    wanted = value.get("text", "") if isinstance(value, Mapping) else str(value)
    nth = value.get("nth", 1) if isinstance(value, Mapping) else 1
    return wanted if text.count(wanted) >= nth else ""


# What is done


def _press(document: FakeDocument, control: FakeControl, value: str, done: Performed) -> None:
    for key in value.split():
        if control.typable and not control.read_only:
            if key == "ctrl+a":
                continue
            if key in EDITS:
                control.value = control.value[:-1]
            elif len(key) == 1 or key == "Space":
                control.value += " " if key == "Space" else key
        run_effects(document, (control.on_press or {}).get(key))
    if control.typable:
        done.answer = {"ok": True, "value": control.shown_value}


def _hover(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    run_effects(document, control.on_hover)


def _drag(document: FakeDocument, control: FakeControl, value: Mapping[str, Any], done: Performed) -> None:
    other = document.at(value["onto"]["node"]) if "onto" in value else None
    if other is None or other.on_drop is None:
        done.answer = _refuse("unsupported", "the page takes no drop there")
        return
    run_effects(document, other.on_drop)


def _copy(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    text = _marked(control, None)
    if not text:
        done.answer = _refuse("nothing-changed", "there was nothing to copy")
        return
    document.clipboard = text
    done.answer = {"ok": True, "value": text}


def _cut(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    _copy(document, control, value, done)
    if done.answer["ok"]:
        control.value = ""
        run_effects(document, control.on_change)


def _paste(document: FakeDocument, control: FakeControl, value: str | None, done: Performed) -> None:
    control.value += value if value is not None else document.clipboard or ""
    run_effects(document, control.on_change)
    done.answer = {"ok": True, "value": control.shown_value}


def _select_text(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    done.answer = {"ok": True, "value": _marked(control, value)}


def _files(document: FakeDocument, control: FakeControl, value: Mapping[str, Any], done: Performed) -> None:
    control.value = ", ".join(file["name"] for file in value["files"])
    run_effects(document, control.on_change)
    done.answer = {"ok": True, "value": control.value}


def _download(document: FakeDocument, control: FakeControl, value: Any, done: Performed) -> None:
    run_effects(document, control.on_click)
    if control.file is None:
        done.answer = _refuse("nothing-changed", "it was clicked, and no file came of it")
        return
    size = {"size": control.file["size"]} if "size" in control.file else {}
    kind = control.file.get("type", "application/octet-stream")
    done.answer = {"ok": True, "download": {"ticket": "", "name": control.file["name"], "type": kind, "url": document.url, **size}}


HANDS: Final[Mapping[str, Callable[[FakeDocument, FakeControl, Any, Performed], None]]] = {
    "copy": _copy,
    "cut": _cut,
    "download": _download,
    "drag": _drag,
    "files": _files,
    "hover": _hover,
    "paste": _paste,
    "press": _press,
    "select_text": _select_text,
}
