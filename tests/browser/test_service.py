"""Things that go on around a body: an error of the body comes out as if nothing had been around it."""

import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from foxloop_trio.browser._service import open_service
from foxloop_trio.testing import FakeBrowser


@asynccontextmanager
async def nothing() -> AsyncIterator[None]:
    yield


async def test_an_error_in_the_body_shows_no_group_in_its_traceback() -> None:
    """A person who reads it finds their own line, and finds it once."""
    with pytest.raises(ZeroDivisionError) as caught:
        async with open_service(nothing()):
            await trio.lowlevel.checkpoint()
            raise ZeroDivisionError
    assert "Group" not in "".join(traceback.format_exception(caught.value))


async def test_an_error_keeps_the_one_that_it_was_raised_for() -> None:
    """Only the group is left out of its story."""
    with pytest.raises(KeyError) as caught:
        async with open_service(nothing()):
            try:
                raise ZeroDivisionError
            except ZeroDivisionError:
                raise KeyError("later")  # noqa: B904  # the context is what is tested
    assert isinstance(caught.value.__context__, ZeroDivisionError)


async def test_an_error_under_a_browser_shows_no_group_in_its_traceback() -> None:
    """`launch_firefox` is built the same way."""
    with pytest.raises(ZeroDivisionError) as caught:
        async with FakeBrowser({}):
            raise ZeroDivisionError
    assert "Group" not in "".join(traceback.format_exception(caught.value))
