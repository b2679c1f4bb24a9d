"""`foxloop-trio demo`: both halves one after the other on one trail, which is verified at the end."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import click

from ._output import own_name

if TYPE_CHECKING:
    from rich.console import Console

    from ..actions import ApprovalRequest
    from ..events import Outcome
    from ..gate import HostSide
    from ..ports import Approver

DEFAULT_TRAIL: Final = Path("foxloop-demo.trail.jsonl")


@click.command()
@click.option("--yes", is_flag=True, help="Answer the approval with yes, instead of asking in the terminal.")
@click.option("--headed", is_flag=True, help="Show Firefox's window.")
@click.option("--no-firefox", is_flag=True, help="Run only the half that needs no browser.")
@click.option(
    "--trail",
    type=click.Path(dir_okay=False, path_type=Path),
    default=DEFAULT_TRAIL,
    show_default=True,
    help="Where the record of the runs goes; added to when it exists.",
)
def demo(yes: bool, headed: bool, no_firefox: bool, trail: Path) -> int:
    """A gated run without a browser, then one on a form in real Firefox.

    The second reads, fills and sends a form of a small local site; before it sends, the gate asks you. Exit 0 when every run
    that was started is done and the trail verifies, else 1.
    """
    import trio
    from rich.console import Console

    from ..browser import find_firefox
    from ..errors import BrowserError

    console = Console(highlight=False)
    firefox, misnamed = None, None
    try:
        firefox = None if no_firefox else find_firefox()
    except BrowserError as fault:  # FOXLOOP_FIREFOX names what is not there; the first half needs none
        misnamed = fault
    sound = False
    try:
        outcomes = trio.run(_runs, console, trail, firefox is not None, yes, headed)
        if misnamed is not None:
            raise misnamed
        if firefox is None:
            _rule(console, "No browser")
            console.print("The second half was left out, as you asked." if no_firefox else NO_FIREFOX, soft_wrap=True)
    except* BrowserError:
        console.print("Firefox could not be used; `foxloop-trio doctor` looks for the reason.", style="bold red", soft_wrap=True)
        raise
    finally:
        # Also after Ctrl-C and after a Firefox that did not start: what was recorded until then can be looked at.
        if trail.is_file():
            sound = _verify(console, trail)
    return 0 if sound and all(outcome.status == "done" for outcome in outcomes) else 1


NO_FIREFOX: Final = (
    "The second half needs Firefox, and none was found. Install it with `foxloop-trio firefox install` and run the demo again, "
    "or name its program in the variable FOXLOOP_FIREFOX."
)


async def _runs(console: Console, path: Path, with_firefox: bool, yes: bool, headed: bool) -> list[Outcome]:
    from ..gate import terminal_approver
    from ..trail import open_trail
    from ._demo_notes import GOAL as NOTES_GOAL
    from ._demo_notes import run_notes
    from ._words import Narrator

    tell = Narrator(console).tell
    async with open_trail(path) as trail:
        _rule(console, f"Without a browser: {NOTES_GOAL}")
        outcomes = [await run_notes(trail=trail, tell=tell)]
        if with_firefox and outcomes[0].status == "done":
            from ._demo_form import run_form
            from ._demo_script import GOAL as FORM_GOAL

            _rule(console, f"In Firefox: {FORM_GOAL}")
            console.print("Firefox is starting with a fresh profile and our add-on …", style="dim")
            make_approver = partial(_yes_approver, console) if yes else terminal_approver
            outcomes.append(await run_form(trail=trail, tell=tell, make_approver=make_approver, headless=not headed))
    return outcomes


def _yes_approver(console: Console, host: HostSide) -> Approver:
    """Approves what it is asked, because the person who typed --yes said so."""

    async def approve(request: ApprovalRequest) -> str | None:
        console.print("          --yes was given, so the answer is yes", style="yellow")
        return await host.approve(request.request_id)

    return approve


def _verify(console: Console, path: Path) -> bool:
    """Say where the trail lies and whether it holds, and how to ask that again."""
    from ..trail import Verified, default_key_path, load_or_create_key, verify_trail

    key_path = default_key_path()
    result = verify_trail(path, key=load_or_create_key(key_path))
    _rule(console, "The trail")
    console.print(f"It lies at {path.absolute()}", soft_wrap=True, markup=False)
    if isinstance(result, Verified):
        console.print(f"and verifies: {result.count} entries, head {result.head}", style="green", soft_wrap=True)
    else:
        console.print(
            f"and does NOT verify: entry {result.index}: {result.reason}: {result.message}", style="bold red", soft_wrap=True
        )
    again = f"{own_name()} trail verify {quote(str(path))} --key {quote(str(key_path))}"
    console.print(f"Ask again: {again}", style="dim", soft_wrap=True, markup=False)
    return bool(result)


def _rule(console: Console, title: str) -> None:
    console.print()
    console.print(title, style="bold", soft_wrap=True, markup=False)
