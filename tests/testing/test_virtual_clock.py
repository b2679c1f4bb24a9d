"""Wall time that follows Trio's clock."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.testing import virtual_wall_clock


async def test_an_hours_sleep_moves_it_by_exactly_an_hour(autojump_clock: Any) -> None:
    """Both clocks move together, wherever Trio's stood when it was made."""
    await trio.sleep(7)
    clock = virtual_wall_clock(1_000_000.0)
    assert clock() == 1_000_000.0
    await trio.sleep(3600)
    assert clock() == 1_003_600.0
    assert clock() == 1_003_600.0


async def test_without_a_start_it_begins_at_the_same_instant_each_time(autojump_clock: Any) -> None:
    """Two runs read the same wall time."""
    assert virtual_wall_clock()() == virtual_wall_clock()() == 1_700_000_000.0


def test_made_outside_a_trio_run_it_starts_when_it_is_first_read() -> None:
    """A plain fixture may make it."""
    clock = virtual_wall_clock(50)
    with pytest.raises(RuntimeError):
        clock()

    async def main() -> tuple[float, float]:
        await trio.sleep(5)
        first = clock()
        await trio.sleep(2)
        return first, clock()

    assert trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0)) == (50.0, 52.0)


@pytest.mark.parametrize("start", ["now", None, True, float("nan"), float("inf")])
def test_a_start_that_is_no_instant_is_refused_by_name(start: Any) -> None:
    """The error shows the value."""
    with pytest.raises(BadOptionsError, match="start must be a number of seconds"):
        virtual_wall_clock(start)
