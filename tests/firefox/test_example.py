"""The example with Firefox, run as a reader would, with a yes in place of the person at the terminal."""

import importlib
from pathlib import Path

import pytest
import trio

from foxloop_trio import ApprovalRequest, callback_approver
from foxloop_trio.gate import HostSide
from foxloop_trio.ports import Approver

pytestmark = pytest.mark.firefox


async def test_the_example_orders_its_tea_after_one_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One question, which names both fields and where the form goes; the site has the order."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    example = importlib.import_module("examples.firefox_form")
    asked: list[str | None] = []

    def yes(host: HostSide) -> Approver:
        def ask(request: ApprovalRequest) -> bool:
            asked.append(request.detail)
            return True

        return callback_approver(host, ask)

    with trio.fail_after(60):
        outcome = await example.main(yes)
    assert outcome.status == "done"
    assert example.ORDERS == [{"name": ["Ada"], "tea": ["green"]}]
    (words,) = asked
    assert words is not None
    assert 'textbox "Your name": "Ada"' in words
    assert 'button "Send the order"' in words
