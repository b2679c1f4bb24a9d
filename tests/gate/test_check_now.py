"""`check_now` is `check` where nothing has to be waited for; and the action that is minted with a permit is the one in its text."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio import SqliteGateStore
from foxloop_trio.actions import Action, Allow, Ask, Deny, action_from_text, decision_to_json
from foxloop_trio.gate import MemoryGateStore
from foxloop_trio.gate._parse import Parsed, parse_action
from foxloop_trio.gate._registry import read_registry


async def test_it_answers_what_check_answers(setup: Any) -> None:
    """An allow that counts a use, an ask that stores a request or only announces one, and denials."""
    told = []
    for now in (False, True):
        s = setup()

        async def ask(action: Any, *, s: Any = s, now: bool = now, **how: Any) -> Any:
            return s.gate.check_now(action, **how) if now else await s.gate.check(action, **how)

        said = [await ask(s.save())]
        await s.host.add_grant(scope="fill", domains=["notes.local"], max_uses=2)
        await s.host.add_grant(scope="submit", domains=["notes.local"])
        said += [await ask(s.save()), await ask(s.save("Again")), await ask(s.save("Once more"))]
        said += [await ask(s.send(), store_request=False), await ask(s.send()), await ask({"tool": "save"}), await ask(None)]
        assert len(await s.host.pending()) == 1
        assert [grant.uses for grant in await s.host.grants()] == [2, 0]
        assert all(
            decision.permit.alive and decision.permit.action.tool == "save" for decision in said if isinstance(decision, Allow)
        )
        kinds = [type(decision) for decision in said]
        told.append((kinds, [getattr(decision, "reason", None) for decision in said], said[4].request_id))
    assert told[0] == told[1]
    assert told[0][0] == [Deny, Allow, Allow, Deny, Ask, Ask, Deny, Deny]
    assert told[0][2] is None


async def test_it_has_to_be_awaited_where_something_can_be_waited_for(setup: Any, tmp_path: Any) -> None:
    """A hook, a store that is not in memory, another task in the gate: None, and nothing has happened."""
    heard: list[Any] = []
    async with SqliteGateStore(tmp_path / "gate.db") as store:
        for changes in ({"on_decision": heard.append}, {"store": store}):
            s = setup(**changes)
            await s.host.add_grant(scope="fill", domains=["notes.local"])
            heard.clear()
            assert s.gate.check_now(s.save()) is None
            assert [grant.uses for grant in await s.host.grants()] == [0]
            assert heard == []
            assert (await s.gate.check(s.save())).decision == "allow"


async def test_it_does_not_push_in_before_whoever_is_at_work(setup: Any) -> None:
    """Decisions are made one at a time, in the order of asking."""
    store = MemoryGateStore()
    s = setup(store=store)
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    async with trio.open_nursery() as nursery:
        inside, leave = trio.Event(), trio.Event()

        async def hold() -> None:
            async with store.transaction():
                inside.set()
                await leave.wait()

        nursery.start_soon(hold)
        await inside.wait()
        assert s.gate.check_now(s.save()) is None
        leave.set()
    decision = s.gate.check_now(s.save())
    assert decision is not None
    assert decision.decision == "allow"


async def test_a_broken_clock_or_id_source_denies_at_once_too(setup: Any) -> None:
    """The same reasons; nothing is counted, and the gate goes on working."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    s.wall.answer = "noon"
    at_once, awaited = s.gate.check_now(s.save()), await s.gate.check(s.save())
    assert decision_to_json(at_once) == decision_to_json(awaited)
    s.wall.answer = None
    assert [grant.uses for grant in await s.host.grants()] == [0]
    assert s.gate.check_now(s.save()).decision == "allow"


async def test_a_permit_without_money_closes_at_once_and_one_with_money_does_not(setup: Any) -> None:
    """What was reserved is the books' affair, and has to be awaited."""
    from foxloop_trio.actions import Money

    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    free = (await s.gate.check(s.save())).permit
    assert (free.close_now(), free.alive, free.close_now()) == (True, False, True)
    cap = Money(value=500, currency="EUR")
    await s.host.add_grant(scope="pay", domains=["shop.local"], approval="never", spend_cap=cap)
    action = Action(tool="buy", args={"cents": 200}, domain="shop.local", scope="pay")
    paid = (await s.gate.check(action)).permit
    assert (paid.close_now(), paid.alive) == (False, True)
    await paid.release()
    assert (paid.alive, [grant.spent for grant in await s.host.grants()]) == (False, [0, 0])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FLAT = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9), max_size=6)
SPELT = st.dictionaries(
    st.sampled_from(["a", "B", "é", "\ud800", "\udc00", "\ue000", "\U0001f600", "ab"]),
    st.sampled_from([1, True, 1.0, -0.0, "1", "\ud800", "\ud83d\ude00", "é", None, "</>"]),
)


def as_written(value: Any) -> Any:
    """Told apart by type and order as well."""
    if isinstance(value, dict):
        return [(key, as_written(inner)) for key, inner in value.items()]
    return [as_written(inner) for inner in value] if isinstance(value, list) else (type(value), value)


@settings(max_examples=150)
@given(FLAT | SPELT | st.dictionaries(st.text(max_size=4), JSON, max_size=4))
def test_the_action_that_is_minted_is_the_one_that_its_text_says(args: dict[str, Any]) -> None:
    """To the order of keys and the types of numbers; and it shares nothing with what was judged."""
    parsed = parse_action(Action(tool="save", args=args, domain="Notes.Local", scope="fill"), read_registry({"save": "fill"}))
    if not isinstance(parsed, Parsed):
        return
    whole, read = parsed.whole(), action_from_text(parsed.text)
    if whole is None:
        return
    assert whole == read
    assert as_written(whole.args) == as_written(read.args)
    assert whole.args is not args
    assert parsed.whole().args is not whole.args  # type: ignore[union-attr]


@pytest.mark.parametrize("args", [{}, {"text": "Milk", "page": 3, "done": False, "by": None}])
def test_the_action_of_usual_arguments_is_not_read_back(args: dict[str, Any]) -> None:
    """Or the short way would be none."""
    parsed = parse_action(Action(tool="save", args=args, domain="notes.local", scope="fill"), read_registry({"save": "fill"}))
    assert isinstance(parsed, Parsed)
    assert parsed.whole() is not None
