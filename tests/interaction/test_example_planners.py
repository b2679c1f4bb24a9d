"""The example planners of examples/miniwob without a browser: on pages like the tasks' own, and how they read a page."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from foxloop_trio.actions import ToolOutput
from foxloop_trio.browser import Snapshot, page_text
from foxloop_trio.prompt import result_text

ROOT = Path(__file__).parents[2]


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import examples/miniwob, or one file of it."""
    monkeypatch.syspath_prepend(ROOT)

    def load(name: str = "") -> ModuleType:
        return importlib.import_module(f"examples.miniwob{name and '.'}{name}")

    return load


def options(*labels: str) -> list[dict[str, Any]]:
    return [{"value": f"v-{label}", "label": label, "selected": label == labels[0]} for label in labels]


@pytest.mark.parametrize(
    ("name", "utterance", "page", "expected"),
    [
        ("click-test", "Click the button.", [("button", "Click Me!")], [("click", "Click Me!", None)]),
        (
            "enter-text",
            'Enter "Tora" into the text field and press Submit.',
            [("textbox", ""), ("button", "Submit")],
            [("type", "", "Tora"), ("click", "Submit", None)],
        ),
        (
            "click-checkboxes",
            "Select a1, b2, c3, d4, e5 and click Submit.",
            [*(("checkbox", label) for label in ("e5", "no", "a1", "b2", "d4", "c3")), ("button", "Submit")],
            [*(("check", label, None) for label in ("a1", "b2", "c3", "d4", "e5")), ("click", "Submit", None)],
        ),
        (
            "click-checkboxes",
            "Select nothing and click Submit.",
            [("checkbox", "no"), ("button", "Submit")],
            [("click", "Submit", None)],
        ),
        (
            "choose-list",
            "Select Somalia from the list and click Submit.",
            [("combobox", ""), ("button", "Submit")],
            [("select", "", "v-Somalia"), ("click", "Submit", None)],
        ),
    ],
)
async def test_a_planner_does_what_the_sentence_asks(
    autojump_clock: Any, world: Any, example: Any, name: str, utterance: str, page: Any, expected: Any
) -> None:
    """From the utterance and the tools' answers alone, and in replies of at most four calls."""
    world.show([(role, label, {"options": options("Chad", "Somalia")} if role == "combobox" else {}) for role, label in page])
    loop = await world.loop([], planner=example().TASKS[name](utterance))
    outcome = await loop.complete(utterance)
    assert outcome.status == "done", outcome
    assert world.addon.done == expected


@pytest.mark.parametrize("name", ["enter-text", "click-checkboxes", "choose-list"])
def test_a_sentence_of_another_task_is_refused(example: Any, name: str) -> None:
    """A planner that does not understand the task says so before it does anything."""
    with pytest.raises(ValueError, match=r"not a sentence of this task: 'Click the button\."):
        example().TASKS[name]("Click the button.")


@pytest.mark.parametrize(
    "label", ["plain", 'with "quotes"', "a ] b [0:9] button", '" options=["x"] (checked)', "<b>&lt;", "back\\slash", "Grüße 🦊"]
)
async def test_a_label_is_read_back_as_it_is(autojump_clock: Any, world: Any, example: Any, label: str) -> None:
    """What `page_text` and `result_text` wrote, the examples read: no label can pass for something else."""
    world.show(
        [("checkbox", label, {"checked": True}), ("combobox", label, {"options": options(label, "other"), "value": f"v-{label}"})]
    )
    snapshot = Snapshot.from_wire({"frames": [world.addon.page.state()], "unreadable": []}, generation=1)
    content = result_text("snapshot", ToolOutput(ok=True, summary="2 controls", untrusted=page_text(snapshot)), "ab" * 8)
    found = example("_reading").controls([{"role": "tool", "content": content}])
    shown = label.replace("&lt;", "<")
    assert [(control.role, control.label) for control in found] == [("checkbox", shown), ("combobox", shown)]
    assert found[0].flags == ("checked",)
    assert found[1].options == ((f"v-{shown}", shown), ("v-other", "other"))


def test_lines_with_everything_in_them_are_read(example: Any) -> None:
    """Whatever stands between the options and the flags, and counts of what was cut."""
    lines = [
        '[0:1] combobox "Work" value="a" options=those of 0:7 section="At work" (required)',
        '[0:2] button "Remove" row=that of 0:1 (submits)',
        '[0:3] textbox "Text" (+7 characters) value="x" (+9 characters) description="a ] b" box=[1,2,3,4] (required, expanded)',
        '[0:4] link "Next" row="A row" (+20 characters) opens=menu',
    ]
    found = example("_reading").controls([{"role": "tool", "content": "\n".join(["snapshot: ok", *lines])}])
    assert [(one.id, one.label, one.value, one.flags) for one in found] == [
        ("0:1", "Work", "a", ("required",)),
        ("0:2", "Remove", "", ("submits",)),
        ("0:3", "Text", "x", ("required", "expanded")),
        ("0:4", "Next", "", ()),
    ]
