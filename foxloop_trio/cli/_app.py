"""The root of the command line: the table of commands, and the one place where errors become words and an exit status."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click

from ..errors import FoxloopError, UsageError
from ._lazy import LazyGroup

GOOD: Final = 0
BAD: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report a program that Ctrl-C ended."""


@click.group(
    cls=LazyGroup,
    name="foxloop-trio",
    commands_at={
        "demo": ("._demo", "demo", "A gated run without a browser, then one on a form in real Firefox."),
        "doctor": ("._doctor", "doctor", "What is there, what is missing, and what to do about it."),
        "firefox": ("._firefox", "firefox", "Find Firefox, or install it."),
        "extension": ("._extension", "extension", "Our add-on: where it lies, as a package, and what web-ext says."),
        "trail": ("._trail_group", "trail", "Look at the record of a run, check it, mend it."),
        "bench": ("._bench", "bench", "What our parts cost on this machine."),
    },
)
@click.version_option(package_name="foxloop-trio", prog_name="foxloop-trio")
def app() -> None:
    """Gated agent loops for your own Firefox, on Trio.

    To see what it does, begin with: foxloop-trio demo

    Exit status: 0 good, 1 what was checked is bad or could not be done, 2 usage, 130 stopped with Ctrl-C.
    """


def run(args: Sequence[str] | None = None) -> int:
    """Run one command and answer its exit status.

    An expected error (`FoxloopError`) is one line on stderr, also when it comes out of an exception group. Anything else is a bug
    and keeps its traceback.
    """
    _print_what_can_be_printed()
    try:
        code = app.main(args=None if args is None else list(args), prog_name="foxloop-trio", standalone_mode=False)
    except click.ClickException as fault:
        fault.show()
        return fault.exit_code
    except click.Abort:
        click.echo("Stopped.", err=True)
        return INTERRUPTED
    except (FoxloopError, KeyboardInterrupt, BaseExceptionGroup) as fault:
        return _report(fault)
    return code if isinstance(code, int) else GOOD


def _print_what_can_be_printed() -> None:
    """A terminal of another encoding gets a page's odd characters as escapes; a run must not end in the middle for one of them."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _report(fault: BaseException) -> int:
    leaves = list(_leaves(fault))
    if any(isinstance(leaf, KeyboardInterrupt) for leaf in leaves):
        click.echo("Stopped.", err=True)
        return INTERRUPTED
    if not all(isinstance(leaf, FoxloopError) for leaf in leaves):
        raise fault
    for leaf in leaves:
        click.echo(f"foxloop-trio: {leaf}", err=True)
    return USAGE if any(isinstance(leaf, UsageError) for leaf in leaves) else BAD


def _leaves(fault: BaseException) -> Iterator[BaseException]:
    if isinstance(fault, BaseExceptionGroup):
        for inner in fault.exceptions:
            yield from _leaves(inner)
    else:
        yield fault


if __name__ == "__main__":
    sys.exit(run())
