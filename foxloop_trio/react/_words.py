"""What the model reads from the facade instead of a handler's own words. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from ..loop._repair import mended

ERROR_LIMIT: Final = 2000
"""Characters of an exception's words (R13)."""

NAMES_SHOWN: Final = 100
TEXT_SHOWN: Final = 200

ENDED: Final = "Not run: the run had already ended with the stop tool."
STOPPING: Final = "Not run: the run is being stopped."
FAILED_BESIDE: Final = "Not run: the run ended before this call began."
IN_FLIGHT: Final = "The run ended while this call was running. It may have had an effect."
OUT_OF_TIME: Final = "Out of time: this call was cut. It may have had an effect."
ONLY_STOP: Final = "Not run: only {stop} can be called now."
TOO_LATE: Final = "Not run: the time was up before this call began."
NO_RESULT: Final = "No result of this call is known. It may have had an effect."
TOO_MANY: Final = "Not run: at most {most} calls of one turn are run."
TIMED_OUT: Final = "Timed out after {seconds:g} s and was cut. It may have had an effect."
MODEL_FAILED: Final = "The last request to the model failed ({why}). Go on from here."


def unknown_tool(name: object, known: Iterable[str]) -> str:
    names = list(known)
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"There is no tool {str(name)[:80]!r}. The tools are: {', '.join(names[:NAMES_SHOWN])}{more}."


def bad_arguments(name: str, problem: str, arguments: object = None) -> str:
    """`arguments`: as the model wrote them; text is what could not be read as an object."""
    came = f"; what came is {arguments[:TEXT_SHOWN]!r}" if isinstance(arguments, str) else ""
    return mended(f"The arguments do not fit {name}, so it was not run. {problem}{came}"[:ERROR_LIMIT])


def raised(fault: BaseException) -> str:
    """Class and message; a group's first leaf stands for it."""
    count = 0
    while isinstance(fault, BaseExceptionGroup):
        count += len(fault.exceptions) - 1
        fault = fault.exceptions[0]
    try:
        words = str(fault)
    except Exception:
        words = ""
    more = f" (and {count} more)" if count else ""
    return mended(f"{type(fault).__name__}: {words}"[: ERROR_LIMIT - len(more)] + more)


def content_of(value: Any, most: int) -> str:
    """What a handler handed back, as text (R19). Raises TypeError or ValueError for what is neither text nor JSON."""
    text = value if type(value) is str else str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not text.isascii():
        text = mended(text)
    if len(text) > most:
        return f"{text[:most]}\n[cut here: {len(text) - most} of {len(text)} characters are left out]"
    return text
