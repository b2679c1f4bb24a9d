"""The sweep on functions as users write them: which points it finds, what it calls wrong, and what it lets pass."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.testing import SweepError, SweepReport, SweepVisit, cancel_at_every_checkpoint
from foxloop_trio.testing._sweep import fixed_task_order

Fn = Callable[[], Awaitable[Any]]


async def sweep(fn: Fn, **options: Any) -> tuple[SweepReport, list[SweepVisit]]:
    """The report and all visits, without raising."""
    visits: list[SweepVisit] = []
    report = await cancel_at_every_checkpoint(fn, check=visits.append, strict=False, **options)
    return report, visits


def kinds(report: SweepReport) -> set[str]:
    return {violation.kind for violation in report.violations}


# Which points


async def test_a_checkpoint_is_one_point_and_a_wait_is_two(autojump_clock: Any) -> None:
    """Before the beginning, at the checkpoint, in the wait, and after the wait when what was waited for has come."""
    reached: list[str] = []

    async def fn() -> str:
        reached.clear()
        await trio.lowlevel.checkpoint()
        reached.append("a")
        await trio.sleep(1)
        reached.append("b")
        return "end"

    seen: list[tuple[int, bool, str]] = []

    def check(visit: SweepVisit) -> None:
        seen.append((visit.number, visit.cancelled, "".join(reached)))

    report = await cancel_at_every_checkpoint(fn, check=check)
    # At 4 the second is over, but Trio's sleep ends by a deadline of its own, and a cancel that comes in that moment beats it.
    assert seen == [(1, True, ""), (2, True, ""), (3, True, "a"), (4, True, "a"), (5, False, "ab")]
    assert (report.checkpoints, report.cancelled, report.ok) == (4, 4, True)
    assert repr(report) == "<SweepReport 4 checkpoints, Cancelled came out at 4, 0 violations>"


async def test_a_wait_that_just_ended_and_a_wait_that_lasts_are_told_apart(autojump_clock: Any) -> None:
    """What a queue gave is lost in no case: the point between the wake-up and the next step is visited too."""
    took: list[list[str]] = []

    async def fn() -> None:
        send, receive = trio.open_memory_channel[str](0)
        mine: list[str] = []
        took.append(mine)
        async with trio.open_nursery() as nursery, send:
            nursery.start_soon(send.send, "x")
            mine.append(await receive.receive())
            await trio.lowlevel.checkpoint()
            mine.append("went on")

    report, visits = await sweep(fn)
    assert report.ok
    assert report.checkpoints >= 6
    assert ["x"] in took  # cancelled with the message in hand
    assert [] in took
    assert took[-1] == ["x", "went on"]
    assert [visit.stopped for visit in visits] == [True] * report.checkpoints + [False]


async def test_each_visit_says_where_the_task_was(autojump_clock: Any) -> None:
    """The innermost line that is the user's own."""

    async def inner() -> None:
        await trio.sleep(1)

    async def fn() -> None:
        await inner()

    _, visits = await sweep(fn)
    assert visits[0].where == "before it began"
    assert visits[1].where.startswith("fn waiting in ")
    assert visits[2].where.startswith("fn about to go on in ")
    assert all("inner (test_sweep.py:" in visit.where for visit in visits[1:3])
    assert visits[3].where == "not reached"


async def test_points_of_tasks_in_the_functions_nurseries_count(autojump_clock: Any) -> None:
    """Each of three tasks is found waiting and about to go on."""

    async def child(name: str) -> None:
        await trio.sleep(1)

    async def fn() -> None:
        async with trio.open_nursery() as nursery:
            for name in "abc":
                nursery.start_soon(child, name, name=f"child {name}")

    report, visits = await sweep(fn)
    assert report.ok
    for name in "abc":
        for state in ("waiting", "about to go on"):
            assert any(visit.where.startswith(f"child {name} {state}") for visit in visits)


async def test_tasks_of_the_surroundings_do_not_count(autojump_clock: Any) -> None:
    """A busy server beside the function adds no points."""

    async def busy() -> None:
        for _ in range(1000):
            await trio.sleep(0.1)

    async def fn() -> None:
        await trio.sleep(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(busy)
        report, _ = await sweep(fn)
        nursery.cancel_scope.cancel()
    assert report.checkpoints == 3


async def test_every_sweep_of_tasks_that_race_visits_the_same_points() -> None:
    """The order of tasks is fixed while the sweep runs, so no point is skipped by chance; and Trio's own dice are put back."""

    async def fn() -> None:
        async with trio.open_nursery() as nursery:
            for count in range(4):
                nursery.start_soon(steps, count)

    async def steps(count: int) -> None:
        for _ in range(count):
            await trio.lowlevel.checkpoint()

    told = []
    for _ in range(5):
        _, visits = await sweep(fn)
        told.append([visit.where for visit in visits])
    assert told == [told[0]] * 5
    switch = trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING
    dice = trio._core._run._r.getstate()
    with fixed_task_order(3):
        assert trio._core._run._r.getstate() != dice
    assert trio._core._run._r.getstate() == dice
    assert trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING is switch


async def steps_twice() -> None:
    await trio.lowlevel.checkpoint()
    await trio.lowlevel.checkpoint()


async def test_the_real_clock_and_a_thread_work_too() -> None:
    """A thread cannot be cut; it is waited for, and the cancel is heard afterwards."""
    done: list[int] = []

    async def fn() -> None:
        await trio.to_thread.run_sync(lambda: done.append(1))
        await trio.sleep(0.001)

    report, _ = await sweep(fn)
    assert report.ok
    assert report.checkpoints >= 4
    assert len(done) >= report.checkpoints - 1


async def test_a_function_without_a_checkpoint_is_visited_once() -> None:
    """Cancelled before it began it returns all the same, and that is right: nothing was raised in it."""

    async def fn() -> int:
        return 5

    report, visits = await sweep(fn)
    assert (report.checkpoints, report.cancelled, report.ok) == (1, 0, True)
    assert [(visit.result, visit.raised) for visit in visits] == [(5, False), (5, False)]


# Swallowed


async def test_a_swallowed_cancelled_is_found_at_the_wait_that_swallows(autojump_clock: Any) -> None:
    """The wait is at fault at both its points; the clean wait before it is not."""

    async def fn() -> str:
        await trio.sleep(1)
        with contextlib.suppress(trio.Cancelled):
            await trio.sleep(1)
        return "went on"

    report, _ = await sweep(fn)
    assert [(violation.number, violation.kind) for violation in report.violations] == [(4, "swallowed"), (5, "swallowed")]
    assert "'went on'" in report.violations[0].message


async def test_a_cancelled_swallowed_in_a_child_task_is_found(autojump_clock: Any) -> None:
    """The nursery has nothing to raise, and the function returns as if nothing had been."""

    async def child() -> None:
        with contextlib.suppress(trio.Cancelled):
            await trio.sleep(1)

    async def fn() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(child)

    report, _ = await sweep(fn)
    assert kinds(report) == {"swallowed"}


@pytest.mark.parametrize("shape", ["cleanup", "shielded end", "own deadline", "own cancel", "bounded shield"])
async def test_what_is_right_is_not_called_swallowed(shape: str, autojump_clock: Any) -> None:
    """Shielded clean-up, a shielded end, own scopes that caught their own Cancelled: none of them swallows ours."""

    async def fn() -> None:
        match shape:
            case "cleanup":
                try:
                    await trio.sleep(1)
                finally:
                    with trio.CancelScope(shield=True):
                        await trio.sleep(1)
            case "shielded end":
                with trio.CancelScope(shield=True):
                    await trio.sleep(1)
            case "own deadline":
                with trio.move_on_after(1):
                    await trio.sleep_forever()
            case "own cancel":
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(trio.sleep_forever)
                    await trio.lowlevel.checkpoint()
                    nursery.cancel_scope.cancel()
            case "bounded shield":
                try:
                    await trio.sleep(1)
                finally:
                    with trio.move_on_after(2, shield=True):
                        await trio.sleep_forever()

    report, visits = await sweep(fn)
    assert report.ok
    assert report.checkpoints >= 3
    assert any(visit.cancelled for visit in visits) is (shape != "shielded end")


# Other faults


async def test_a_task_left_in_a_foreign_nursery_is_found_and_named(autojump_clock: Any) -> None:
    """Whatever nursery it lives in: the function started it."""
    async with trio.open_nursery() as elsewhere:

        async def fn() -> None:
            await trio.lowlevel.checkpoint()
            elsewhere.start_soon(trio.sleep, 1000, name="the leak")
            await trio.lowlevel.checkpoint()

        report, _ = await sweep(fn)
        elsewhere.cancel_scope.cancel()
    assert kinds(report) == {"leaked-task"}
    assert all("the leak" in violation.message for violation in report.violations)
    assert [violation.number for violation in report.violations] == [3, 4, 5, 6]  # once it was started; the leak's own points too


async def test_a_system_task_left_alive_is_found(autojump_clock: Any) -> None:
    """No nursery of anybody's at all."""

    async def fn() -> None:
        trio.lowlevel.spawn_system_task(trio.sleep, 1)
        await trio.lowlevel.checkpoint()

    report, _ = await sweep(fn)
    assert kinds(report) == {"leaked-task"}


async def test_a_task_elsewhere_that_has_ended_is_no_leak(autojump_clock: Any) -> None:
    """Its twin: started outside, but done by then."""

    async def fn() -> None:
        done = trio.Event()

        async def work() -> None:
            await trio.sleep(1)
            done.set()

        elsewhere.start_soon(work)
        with trio.CancelScope(shield=True):
            await done.wait()
            await trio.testing.wait_all_tasks_blocked()

    async with trio.open_nursery() as elsewhere:
        report, _ = await sweep(fn)
    assert report.ok


async def test_an_error_in_the_clean_up_is_found_in_whichever_way_it_comes(autojump_clock: Any) -> None:
    """In place of Cancelled, beside it in a group, and in the undisturbed run."""

    async def fails() -> None:
        try:
            await trio.sleep(1)
        finally:
            raise ValueError("in the clean-up")

    async def beside() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fails)
            await trio.sleep(2)

    report, visits = await sweep(fails)
    assert kinds(report) == {"error"}
    assert "in place of Cancelled: in the clean-up" in report.violations[0].message
    assert len(report.violations) == len(visits)
    report, visits = await sweep(beside)
    assert kinds(report) == {"error"}
    assert any(visit.cancelled and visit.error is not None for visit in visits)
    assert (await cancel_at_every_checkpoint(beside, expected=ValueError)).ok


async def test_a_loop_that_eats_each_cancelled_is_ended_and_named(autojump_clock: Any) -> None:
    """It would run for ever: each wait raises at once and is tried again."""

    async def fn() -> None:
        while True:
            try:
                await trio.sleep(1)
                return
            except trio.Cancelled:
                pass

    report, _ = await sweep(fn)
    assert kinds(report) == {"hang"}
    assert "eaten in a loop" in report.violations[0].message


async def test_a_shield_that_never_ends_is_cut_at_the_grace_and_named(autojump_clock: Any) -> None:
    """The report says where it hangs; the test does not hang with it."""

    async def fn() -> None:
        try:
            await trio.sleep(1)
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                await trio.sleep_forever()

    report, _ = await sweep(fn, grace=5)
    assert kinds(report) == {"hang"}
    assert "not ended 5 s after the stop" in report.violations[0].message
    assert "test_sweep.py" in report.violations[0].message
    assert trio.current_time() <= 20


async def test_a_function_that_never_ends_by_itself_is_named(autojump_clock: Any) -> None:
    """Its two points are visited, then the sweep says what is missing."""
    report, visits = await sweep(trio.sleep_forever, longest=100)
    assert kinds(report) == {"endless"}
    assert len(visits) == 3
    assert trio.current_time() < 300


async def test_more_checkpoints_than_allowed_end_the_sweep(autojump_clock: Any) -> None:
    """A sweep costs the square of its points, so there is a bound that says its name."""

    async def fn() -> None:
        for _ in range(100):
            await trio.lowlevel.checkpoint()

    report, _ = await sweep(fn, most=10)
    assert kinds(report) == {"endless"}
    assert "more than 10 checkpoints" in report.violations[0].message


# Check and report


async def test_what_check_raises_is_collected_with_its_checkpoint_and_raised_at_the_end(autojump_clock: Any) -> None:
    """A forgotten look at the report cannot make a test green."""

    async def fn() -> None:
        await trio.sleep(1)

    async def check(visit: SweepVisit) -> None:
        await trio.lowlevel.checkpoint()
        assert visit.number != 2, "never at two"

    with pytest.raises(SweepError, match="never at two") as caught:
        await cancel_at_every_checkpoint(fn, check=check)
    report = caught.value.report
    assert [(violation.number, violation.kind) for violation in report.violations] == [(2, "check")]
    assert report.checkpoints == 3
    assert "1 violation\n  checkpoint 2, " in repr(report)


async def test_the_report_names_a_dozen_and_counts_the_rest(autojump_clock: Any) -> None:
    """Its text stays readable."""

    async def fn() -> None:
        for _ in range(20):
            await trio.lowlevel.checkpoint()
        raise KeyError("x")

    def check(visit: SweepVisit) -> None:
        raise RuntimeError

    report = await cancel_at_every_checkpoint(fn, check=check, strict=False)
    lines = repr(report).splitlines()
    assert len(lines) == 14
    assert lines[-1] == f"  and {len(report.violations) - 12} more>"


async def test_a_cancel_of_the_surroundings_passes_through_the_sweep(autojump_clock: Any) -> None:
    """The sweep takes only its own Cancelled."""

    async def fn() -> None:
        await trio.sleep(10)

    with trio.move_on_after(3) as scope:
        await cancel_at_every_checkpoint(fn)
    assert scope.cancelled_caught


async def test_what_is_no_exception_comes_out_at_once() -> None:
    """pytest.fail and Ctrl-C end the test, not the run."""

    async def fn() -> None:
        await trio.lowlevel.checkpoint()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await cancel_at_every_checkpoint(fn)


# Variants


async def test_another_stop_is_called_at_the_same_points_and_needs_no_cancelled(autojump_clock: Any) -> None:
    """`stop` in place of the cancel: here an event that the function heeds."""
    stops: list[trio.Event] = []
    log: list[str] = []

    async def fn() -> str:
        log.append("began")
        event = trio.Event()
        stops.append(event)
        for _ in range(3):
            with trio.move_on_after(1):
                await event.wait()
                return "stopped"
        return "ran"

    def stop() -> None:
        log.append("stop")
        if stops:
            stops[-1].set()

    plain, _ = await sweep(fn)
    stops.clear()
    log.clear()
    report, visits = await sweep(fn, stop=stop)
    assert report.ok
    assert report.checkpoints == plain.checkpoints
    assert log[0] == "stop"
    assert log.count("stop") == report.checkpoints
    assert {visit.cancelled for visit in visits} == {False}
    assert {visit.result for visit in visits} == {"stopped", "ran"}


async def test_a_stop_that_is_not_heeded_is_a_hang(autojump_clock: Any) -> None:
    """After the grace the run is cancelled in the common way."""

    async def fn() -> None:
        await trio.sleep(1000)

    report, visits = await sweep(fn, stop=lambda: None, grace=5)
    assert kinds(report) == {"hang"}
    assert visits[0].cancelled


async def test_a_stop_that_raises_is_named_and_the_run_is_cancelled_instead(autojump_clock: Any) -> None:
    """Trio would have dropped the sweep's watch without a word."""

    async def fn() -> None:
        await trio.sleep(1)

    report, visits = await sweep(fn, stop=lambda: {}["absent"])
    assert kinds(report) == {"stop-failed"}
    assert [visit.cancelled for visit in visits] == [True, True, True, False]


@pytest.mark.parametrize("after", [1, 2, 3])
async def test_a_second_cancel_comes_so_many_points_later(after: int, autojump_clock: Any) -> None:
    """Stopped while it waits, the function tidies up, a point each; the second cancel comes in exactly there."""
    tidied: list[int] = []
    events: list[trio.Event] = []

    async def fn() -> None:
        tidied.clear()
        events.append(trio.Event())
        with trio.move_on_after(1):
            await events[-1].wait()
        for number in range(5):
            await trio.lowlevel.checkpoint()
            tidied.append(number)

    seen: dict[int, tuple[bool, int]] = {}

    def check(visit: SweepVisit) -> None:
        seen[visit.number] = (visit.cancelled, len(tidied))

    def stop() -> None:
        if events:
            events[-1].set()

    await cancel_at_every_checkpoint(fn, check=check, stop=stop, again_after=after)
    assert seen[2] == (True, max(0, after - 2))  # the next point is still the wait's own end


async def test_a_second_cancel_after_a_first_changes_nothing_for_what_is_right(autojump_clock: Any) -> None:
    """In Trio a cancel lasts; the second one, of the surroundings, finds a clean-up that is shielded and whole."""
    cleaned: list[int] = []

    async def fn() -> None:
        try:
            await trio.sleep(1)
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(1)
                cleaned.append(1)

    for after in (1, 2, 3):
        cleaned.clear()
        report, visits = await sweep(fn, again_after=after)
        assert report.ok
        assert [visit.cancelled for visit in visits[:3]] == [True] * 3
        assert len(cleaned) == len(visits)


async def test_the_cancel_after_a_stop_comes_from_outside(autojump_clock: Any) -> None:
    """First told to stop in its own way, and one point later cancelled: Cancelled comes out."""
    told: list[bool] = []

    async def fn() -> None:
        for _ in range(5):
            await trio.sleep(1)

    report, visits = await sweep(fn, stop=lambda: told.append(True), again_after=1)
    assert report.ok
    assert [visit.cancelled for visit in visits[:-3]] == [True] * (len(visits) - 3)


async def test_on_stop_marks_the_place_right_before_the_cancel(autojump_clock: Any) -> None:
    """What the function does afterwards stands behind the mark."""
    log: list[str] = []

    async def fn() -> None:
        log.clear()
        log.append("begin")
        try:
            await trio.sleep(1)
        finally:
            log.append("clean")

    def check(visit: SweepVisit) -> None:
        if visit.number == 2:
            assert log == ["begin", "STOP", "clean"]

    assert (await cancel_at_every_checkpoint(fn, check=check, on_stop=lambda: log.append("STOP"))).checkpoints == 3


@pytest.mark.parametrize(
    "options",
    [{"again_after": 0}, {"again_after": True}, {"most": 0}, {"grace": 0}, {"grace": float("nan")}, {"longest": "1"}],
)
async def test_options_that_make_no_sense_are_refused_by_name(options: dict[str, Any]) -> None:
    """Before anything runs."""
    with pytest.raises(BadOptionsError, match=next(iter(options))):
        await cancel_at_every_checkpoint(trio.sleep_forever, **options)


async def test_a_coroutine_in_place_of_a_function_is_refused() -> None:
    """It could run only once."""
    made = steps_twice()
    with pytest.raises(BadOptionsError, match="do not call it"):
        await cancel_at_every_checkpoint(made)  # type: ignore[arg-type]
    made.close()


async def test_other_seeds_give_other_interleavings() -> None:
    """A race that one order hides shows in another."""
    orders: set[tuple[str, ...]] = set()

    async def fn() -> None:
        order: list[str] = []

        async def note(name: str) -> None:
            order.append(name)

        async with trio.open_nursery() as nursery:
            for name in "abc":
                nursery.start_soon(note, name)
        orders.add(tuple(order))

    for seed in range(12):
        await cancel_at_every_checkpoint(fn, seed=seed)
    assert len(orders & set(itertools.permutations("abc"))) >= 4
