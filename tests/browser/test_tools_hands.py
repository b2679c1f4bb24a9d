"""The tools of a hand (keys, pointer, drag, marking, the page's clipboard) against the real gate and a browser in memory."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.errors import Refuse
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.testing._tool_bench import ToolBench

PAGE = {
    "title": "Board",
    "text": "Nothing done yet.",
    "controls": [
        {"role": "textbox", "label": "Name", "value": "Ada Lovelace", "on_press": {"Enter": {"text": "Entered."}}},
        {"role": "textbox", "label": "Password", "type": "password", "value": "hush"},
        {"role": "textbox", "label": "IBAN", "value": "DE02", "sensitive": True},
        {"role": "button", "label": "Menu", "on_hover": {"text": "Open."}},
        {"role": "img", "label": "Map", "on_click": {"text": "Hit."}},
        {"role": "listitem", "label": "Card"},
        {"role": "list", "label": "Done", "on_drop": {"text": "Dropped."}},
    ],
}


@pytest.fixture
async def bench(virtual_time: Any) -> AsyncIterator[ToolBench]:
    browser = FakeBrowser({"http://shop.test/": PAGE, "http://other.test/": {"title": "Other"}})
    async with browser as session:
        yield await ToolBench.open(browser, session, "http://shop.test/")


async def test_keys_are_pressed_in_the_judged_control(virtual_time: Any, bench: ToolBench) -> None:
    """What the approver reads is what is pressed; the scope is submit, since Enter may send."""
    output = await bench.call("press", on="Name", keys="  Enter ")
    assert (output.ok, bench.effect, bench.acted) == (True, "done", [("press", "Name", "Enter")])
    assert bench.asked == ['press "Enter" on textbox "Name", on the page "http://shop.test/"']
    assert "Entered." in (output.untrusted or "")
    assert "Entered" not in output.summary


async def test_too_many_strokes_and_keys_that_write_a_secret_are_refused_before_the_gate(
    virtual_time: Any, bench: ToolBench
) -> None:
    """Navigating keys are pressed in a secret field all the same."""
    for label, keys, word in (
        ("Name", "a " * 51, "51 strokes"),
        ("Password", "Tab x", "secret"),
        ("Password", "Control+A", "secret"),
    ):
        with pytest.raises(Refuse, match=word):
            await bench.call("press", on=label, keys=keys)
    assert (bench.asked, bench.acted) == ([], [])
    await bench.call("press", on="Password", keys="Tab ArrowDown")
    assert bench.acted == [("press", "Password", "Tab ArrowDown")]


@pytest.mark.parametrize(("args", "value"), [({}, None), ({"x": 10}, {"x": 10, "y": 50}), ({"x": 1, "y": 2.5}, {"x": 1, "y": 2.5})])
async def test_the_pointer_comes_over_the_control(virtual_time: Any, bench: ToolBench, args: dict[str, Any], value: Any) -> None:
    """The middle of an axis that is not named."""
    output = await bench.call("hover", on="Menu", **args)
    assert (output.ok, bench.acted) == (True, [("hover", "Menu", value)])


async def test_a_click_at_a_point_says_the_point_to_the_approver(virtual_time: Any, bench: ToolBench) -> None:
    """Percent of the box, how often, which button."""
    output = await bench.call("click_at", on="Map", x=25, y=80, count=2, button="right")
    assert (output.ok, bench.acted) == (True, [("click", "Map", {"x": 25, "y": 80, "count": 2, "button": "right"})])
    where = "25 % from the left and 80 % from the top of its box, twice, with the right button"
    assert bench.asked == [f'click img "Map", on the page "http://shop.test/", {where}']


async def test_both_ends_of_a_drag_are_pinned_and_judged(virtual_time: Any, bench: ToolBench) -> None:
    """The wire gets the other control as it was judged; the judged arguments hold both pins."""
    await bench.look()
    output = await bench.call("drag", on="Card", onto=bench.id_of("Done"), x=10)
    assert output.ok
    judged = bench.judged.args
    assert (judged["target"]["label"], judged["onto"]["label"]) == ("Card", "Done")
    ((_, _, value),) = bench.acted
    assert value == {"onto": {**{name: judged["onto"][name] for name in ("node", "guard", "control")}, "x": 10, "y": 50}}


async def test_a_drag_onto_a_control_that_changed_since_is_stale(virtual_time: Any, bench: ToolBench) -> None:
    """Whichever end it is: a look in between shows another control there, and nothing is sent."""
    await bench.look()
    prepared = await bench.prepared("drag", on="Card", onto=bench.id_of("Done"))

    async def relabel() -> None:
        bench.browser.document().change("Done", label="Delete all")
        await bench.look()

    output = await bench.run(await bench.allowed(prepared, relabel))
    assert (output.ok, bench.effect, bench.acted) == (False, "not-started", [])
    assert output.summary.startswith("stale")


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ({"by_x": 40}, {"by": {"x": 40, "y": 0}}),
        ({"by_x": 1, "by_y": -2, "from_x": 0}, {"by": {"x": 1, "y": -2}, "from": {"x": 0, "y": 50}}),
        ({"path": [[0, 0], [100, 100]]}, {"path": [[0, 0], [100, 100]]}),
    ],
)
async def test_a_drag_may_go_by_pixels_or_along_a_path(
    virtual_time: Any, bench: ToolBench, args: dict[str, Any], value: Any
) -> None:
    """The value of the wire is what was judged."""
    prepared = await bench.prepared("drag", on="Card", **args)
    assert prepared.args["value"] == value
    assert prepared.args["op"] == "drag"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ({}, "needs one of"),
        ({"by_x": 1, "path": [[1, 1]]}, "needs one of"),
        ({"by_y": 1, "x": 5}, "Give onto"),
        ({"onto": "itself"}, "itself"),
    ],
)
async def test_a_drag_that_says_no_way_or_two_is_refused(
    virtual_time: Any, bench: ToolBench, args: dict[str, Any], word: str
) -> None:
    """With the way out, before the gate."""
    await bench.look()
    if args.get("onto") == "itself":
        args = {"onto": bench.id_of("Card")}
    with pytest.raises(Refuse, match=word):
        await bench.call("drag", on="Card", **args)


async def test_marked_text_is_quoted_outside_of_our_words(virtual_time: Any, bench: ToolBench) -> None:
    """The nth place of a text, or all of it."""
    output = await bench.call("select_text", on="Name", text="a", nth=2)
    assert (output.ok, bench.acted) == (True, [("select_text", "Name", {"text": "a", "nth": 2})])
    assert (output.untrusted or "").startswith('Marked: "a"')
    output = await bench.call("select_text", on="Name")
    assert (output.untrusted or "").startswith('Marked: "Ada Lovelace"')
    assert "Ada" not in output.summary
    with pytest.raises(Refuse, match="nth"):
        await bench.call("select_text", on="Name", nth=2)


async def test_the_clipboard_is_the_pages_own(virtual_time: Any, bench: ToolBench) -> None:
    """Copied from one field, pasted into another."""
    output = await bench.call("clipboard", on="Name", op="copy")
    assert (output.untrusted or "").startswith('The text: "Ada Lovelace"')
    output = await bench.call("clipboard", on="IBAN", op="paste", text="!")
    assert output.ok
    assert [(op, value) for op, _, value in bench.acted] == [("copy", None), ("paste", "!")]


@pytest.mark.parametrize(
    ("tool", "label", "args"),
    [
        ("select_text", "Password", {}),
        ("select_text", "IBAN", {}),
        ("clipboard", "Password", {"op": "copy"}),
        ("clipboard", "Password", {"op": "paste", "text": "x"}),
        ("clipboard", "IBAN", {"op": "cut"}),
    ],
)
async def test_nothing_is_taken_out_of_a_secret(
    virtual_time: Any, bench: ToolBench, tool: str, label: str, args: dict[str, Any]
) -> None:
    """Nor put into one; refused before the gate, and the page is not asked."""
    with pytest.raises(Refuse, match="user"):
        await bench.call(tool, on=label, **args)
    assert (bench.asked, bench.acted) == ([], [])


@pytest.mark.parametrize(
    ("tool", "label", "args"),
    [
        ("press", "Name", {"keys": "Enter"}),
        ("hover", "Menu", {}),
        ("click_at", "Map", {"x": 1, "y": 1}),
        ("drag", "Card", {"by_x": 9}),
        ("select_text", "Name", {}),
        ("clipboard", "Name", {"op": "copy"}),
    ],
)
async def test_no_hand_acts_on_another_host_than_was_judged(
    virtual_time: Any, bench: ToolBench, tool: str, label: str, args: dict[str, Any]
) -> None:
    """The tab moved while somebody decided: nothing is sent, and the result names both hosts."""
    prepared = await bench.prepared(tool, on=label, **args)

    async def leave() -> None:
        await bench.tab.goto("http://other.test/")

    output = await bench.run(await bench.allowed(prepared, leave))
    assert (output.ok, bench.effect, bench.acted) == (False, "not-started", [])
    assert "other.test" in output.summary
    assert "shop.test" in output.summary


async def test_forged_arguments_never_reach_the_gate(virtual_time: Any, bench: ToolBench) -> None:
    """Nobody but prepare says target, operation or value."""
    for name in ("press", "hover", "click_at", "drag", "select_text"):
        good: dict[str, Any] = {"press": {"keys": "a"}, "click_at": {"x": 1, "y": 1}}.get(name, {})
        for forged in ("target", "op", "value", "domain", "scope", "dialog"):
            assert bench.tools[name].args_problem({"control_id": "0:1", **good, forged: "x"}) is not None


SPENDING: dict[str, Any] = {
    "title": "Basket",
    "controls": [
        {"role": "button", "label": "Buy now", "file": {"name": "receipt.txt", "data": b"7"}, "on_click": {"text": "Bought."}},
        {"role": "button", "label": "Help", "on_click": {"text": "Helped."}, "file": {"name": "help.txt", "data": b"?"}},
    ],
}
PRESSES: list[tuple[str, dict[str, Any]]] = [
    ("click_at", {"x": 50, "y": 50}),
    ("press", {"keys": "Tab Enter"}),
    ("answer_dialog", {"accept": True}),
    ("download", {}),
]


@pytest.mark.parametrize(("tool", "args"), PRESSES)
async def test_what_may_spend_money_is_asked_about_whichever_hand_does_it(
    virtual_time: Any, tmp_path: Path, tool: str, args: dict[str, Any]
) -> None:
    """No standing grant covers it; the approver is told why. With a price reader it is left to pay."""
    browser = FakeBrowser({"http://shop.test/": SPENDING})
    async with browser as session:
        bench = await ToolBench.open(browser, session, "http://shop.test/", download_to=tmp_path)
        await bench.host.add_grant(scope="submit", domains=["shop.test"], approval="never")
        await bench.call(tool, on="Help", **args)
        assert bench.asked == []
        await bench.call(tool, on="Buy now", **args)
        assert len(bench.asked) == 1
        assert "This may SPEND MONEY" in bench.asked[0]
        priced = await ToolBench.over(session, bench.tab, prices=lambda page, control: None, download_to=tmp_path)
        priced.fake = browser
        with pytest.raises(Refuse, match="pay"):
            await priced.call(tool, on="Buy now", **args)
