"""What `create_gate` cannot work with is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.errors import BadOptionsError
from foxloop_trio.gate import create_gate


@pytest.mark.parametrize(
    "option",
    [
        {"store": object()},
        {"on_decision": "print"},
        {"now": 5},
        {"ids": b"x"},
        {"request_ttl": 0},
        {"request_ttl": float("nan")},
        {"request_ttl": True},
        {"token_ttl": -1.0},
        {"token_ttl": float("inf")},
        {"token_ttl": "120"},
        {"max_pending": 0},
        {"max_pending": 2.0},
        {"max_pending": True},
    ],
)
def test_a_bad_option_is_named(option: dict[str, Any]) -> None:
    """bad-options, with the option's name."""
    [name] = option
    with pytest.raises(BadOptionsError, match=name):
        create_gate(tools={"save": "fill"}, **option)
