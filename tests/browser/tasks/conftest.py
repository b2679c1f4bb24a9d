"""Pages as data for the tests of tasks: looks made of short dicts, and a controller that is asked without any event loop."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import pytest

from foxloop_trio.browser import ActResult, Snapshot
from foxloop_trio.browser.tasks import RuleChooser
from foxloop_trio.browser.tasks._choosing import checked_choice
from foxloop_trio.browser.tasks._controller import decide
from foxloop_trio.browser.tasks._goals import parse_goal
from foxloop_trio.browser.tasks._progress import confirm, record, start

TODAY = datetime.date(2026, 9, 1)
FLAGS = ("disabled", "read_only", "required", "offscreen", "submit", "dialog", "autocomplete", "picker", "secret")
TEXTS = ("type", "name", "placeholder", "section", "value")
FIRST = "d0" * 16
THERE = {"url": "http://shop.test/send", "method": "post", "target": ""}


def control(role: str, label: str, **more: Any) -> dict[str, Any]:
    """A control with what plain HTML gives where nothing is said. Options: labels, the chosen one with a star before it."""
    tag = {"button": "button", "link": "a", "option": "li", "gridcell": "td"}.get(role, "input")
    made: dict[str, Any] = dict.fromkeys(FLAGS, False) | dict.fromkeys(TEXTS, "") | {"role": role, "tag": tag, "label": label}
    if role == "textbox":
        made["type"] = "text"
    if role in ("checkbox", "radio", "switch"):
        made |= {"type": role, "checked": False}
    if "options" in more:
        options = [(label.removeprefix("*"), label.startswith("*")) for label in more.pop("options")]
        made |= {"tag": "select", "options": [{"value": text.lower(), "label": text, "selected": on} for text, on in options]}
    if more.get("type") == "date":
        made["date_format"] = "YYYY-MM-DD"
    if more.get("type") == "password":
        made["secret"] = True
    if more.get("submit"):
        made |= {"form": 90, "destination": THERE}
    return made | more


def look(
    *controls: Mapping[str, Any],
    url: str = "http://shop.test/form",
    document: str = FIRST,
    title: str = "Form",
    text: str = "Fill it in.",
    headings: Sequence[str] = (),
    captcha: bool = False,
    generation: int = 1,
) -> Snapshot:
    """One look at a page with one frame. Controls without a node get their place."""
    numbered = [{"node": at, "guard": f"guard-{at}", **given} for at, given in enumerate(controls, start=1)]
    frame = {
        "frame": 0, "document": document, "url": url, "title": title, "text": text, "headings": list(headings),
        "controls": numbered, "captcha": captcha, "more": False, "truncated": 0, "key": "key",
    }  # fmt: skip
    return Snapshot.from_wire({"frames": [frame], "unreadable": []}, generation=generation)


@attrs.define
class Pages:
    """What a test needs to make pages and decisions."""

    control: Callable[..., dict[str, Any]] = control
    look: Callable[..., Snapshot] = look
    today: datetime.date = TODAY
    there: Mapping[str, str] = attrs.field(factory=lambda: dict(THERE))

    def start(self, goal: str, **options: Any) -> Any:
        """A run of this goal, nothing done yet."""
        return start(parse_goal(goal, TODAY), TODAY, **options)

    def decide(self, progress: Any, page: Snapshot) -> Any:
        """The decision on this look, questions answered by the rule chooser."""
        deciding = decide(progress, page)
        try:
            question = next(deciding)
            while True:
                asking = RuleChooser().choose(question.requirement, question.controls)
                with pytest.raises(StopIteration) as answered:
                    asking.send(None)
                question = deciding.send(checked_choice(answered.value.value, question.controls, "rule"))
        except StopIteration as end:
            return end.value

    def did(self, progress: Any, page: Snapshot, act: Any, after: Snapshot | None = None, **result: Any) -> Any:
        """That act was done with this result; `after` is the next look."""
        came = ActResult(**{"ok": True, "started": True, **result})
        step = record(progress, page, act, came)
        confirm(progress, act, came, page, after if after is not None else page)
        return step

    def acts(self, goal: str, page: Snapshot, limit: int = 12) -> list[tuple[Any, ...]]:
        """What a run does on a page that never changes, each act accepted: operation, label, value."""
        progress, done = self.start(goal), []
        for _ in range(limit):
            decision = self.decide(progress, page)
            if not hasattr(decision, "op"):
                done.append((type(decision).__name__.lower(), getattr(decision, "reason", "")))
                return done
            done.append((decision.op, decision.control.label, *([] if decision.value is None else [decision.value])))
            self.did(progress, page, decision, submitted=decision.send)
        return done


@pytest.fixture
def pages() -> Pages:
    return Pages()


@pytest.fixture(scope="session")
def page_maker() -> Pages:
    """For tests that draw many pages: the same, once."""
    return Pages()
