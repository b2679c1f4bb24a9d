"""Money: the host's own computation is the amount, whatever the planner says."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from foxloop_trio.actions import Action, Money


@attrs.frozen
class Spec:
    scope: str
    amount: Any = None


class Sly(int):
    """Equal to everything, and written as another number."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __format__(self, spec: str) -> str:
        return "0"


class Loud(str):
    """A text that cannot even be shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError


def _buy(amount: Any = None, cents: Any = 1250) -> Action:
    return Action(tool="buy", args={"cents": cents}, domain="shop.local", scope="pay", amount=amount)


def _eur(value: int) -> Money:
    return Money(value=value, currency="EUR")


@pytest.mark.parametrize("claimed", [None, _eur(1250), {"value": 1250, "currency": "EUR"}])
async def test_the_amount_is_computed_by_the_host_and_shown(setup: Any, claimed: Any) -> None:
    """TR-04: left out or right, the amount is filled in and stands in what the human reads."""
    s = setup()
    await s.host.add_grant(scope="pay", domains=["shop.local"])
    assert (await s.gate.check(_buy(claimed))).decision == "ask"
    [row] = await s.host.pending()
    assert row.action.amount == _eur(1250)
    assert row.text.startswith('{"amount":{"currency":"EUR","value":1250},"args":')


@pytest.mark.parametrize("claimed", [_eur(1), _eur(1251), _eur(0), Money(value=1250, currency="USD")])
async def test_another_amount_than_the_computed_one_is_wrong(setup: Any, claimed: Money) -> None:
    """TR-03: wrong-amount, and nothing is asked."""
    s = setup()
    await s.host.add_grant(scope="pay", domains=["shop.local"])
    assert (await s.gate.check(_buy(claimed))).reason == "wrong-amount"
    assert await s.host.pending() == []


async def test_an_amount_for_a_tool_without_one_is_wrong(setup: Any) -> None:
    """TR-05."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    denied = await s.gate.check(attrs.evolve(s.save(), amount=_eur(5)))
    assert denied.reason == "wrong-amount"


@pytest.mark.parametrize(
    "claimed",
    [
        1250,
        "12.50 EUR",
        {"value": 12.5, "currency": "EUR"},
        {"value": 1250.0, "currency": "EUR"},
        {"value": -1, "currency": "EUR"},
        {"value": True, "currency": "EUR"},
        {"value": 2**53, "currency": "EUR"},
        {"value": 1250, "currency": "eur"},
        {"value": 1250, "currency": "EURO"},
        {"value": 1250},
        {"value": 1250, "currency": "EUR", "note": ""},
        [1250, "EUR"],
        {"value": Sly(1), "currency": "EUR"},
        Money(value=Sly(1), currency="EUR"),
        {"value": 1250, "currency": Loud("EURO")},
    ],
    ids=type,
)
async def test_an_amount_that_is_not_money_is_bad(setup: Any, claimed: Any) -> None:
    """SP-04: whole minor units and three letters, exactly these two fields."""
    s = setup()
    await s.host.add_grant(scope="pay", domains=["shop.local"])
    assert (await s.gate.check(_buy(claimed))).reason == "bad-action"


async def _async_money(args: dict[str, Any]) -> Money:
    return _eur(1)


def _raises(args: dict[str, Any]) -> Money:
    raise RuntimeError("page text that must not be quoted")


@pytest.mark.parametrize(
    "amount",
    [
        _raises,
        lambda args: None,
        lambda args: 1250,
        lambda args: {"value": "1250", "currency": "EUR"},
        lambda args: _async_money(args),
        lambda args: args["missing"],
        lambda args: Money(value=Sly(1250), currency="EUR"),
    ],
)
async def test_an_amount_function_that_fails_denies(setup: Any, amount: Any) -> None:
    """TR-07: raising or returning nonsense is bad-action, and the exception's text is not passed on."""
    s = setup(tools={"buy": Spec("pay", amount)})
    await s.host.add_grant(scope="pay", domains=["shop.local"], approval="never")
    denied = await s.gate.check(_buy())
    assert denied.reason == "bad-action"
    assert "page text" not in denied.message


async def test_the_amount_function_gets_a_copy_of_the_arguments(setup: Any) -> None:
    """What it does to them changes neither the caller's nor the judged ones."""

    def greedy(args: dict[str, Any]) -> Money:
        args["cents"] = 0
        return _eur(1250)

    s = setup(tools={"buy": Spec("pay", greedy)})
    await s.host.add_grant(scope="pay", domains=["shop.local"], approval="never")
    action = _buy()
    allowed = await s.gate.check(action)
    assert action.args == {"cents": 1250}
    assert allowed.action.args == {"cents": 1250}
