"""Starting a Firefox with our add-on in it, and ending it so that nothing is left. Owns the order of the steps and their limits.

The sequence, each step with its own limit and its own words when it fails::

    listen      a loopback socket that takes our add-on only: exact Origin, mutual proof by a token of this launch
    start       supervisor, fresh profile, Firefox, and the address of its BiDi server from its standard error
    connect     WebSocket to that address
    session     session.new; dialogs are left to the add-on
    install     the add-on as a zip in memory, with config.json {url, token} in it
    hello       the add-on connects back and proves that it has the token

No geckodriver and no file copy is needed. Measured with Firefox 153 on two cores: 1.9 to 2.5 s to the hello, most of it `session`.
"""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs
import trio

from ..channel import Peer, Transport, open_listener, open_session
from ..errors import BadOptionsError, BrowserError
from ..ports import Ids
from ..webextension import ADDON_ID, pack_addon
from ._bidi import BiDi, open_bidi
from ._locate import FoundFirefox, locate_firefox
from ._prefs import Pref, check_prefs, known_uuids, launch_prefs
from ._process import PLACEHOLDER, FirefoxProcess, ProcessOrder, open_firefox_process
from ._service import open_service
from ._session import BrowserSession

__all__ = ["POINTS", "LaunchOptions", "Launched", "launch_firefox", "open_firefox"]

START_SECONDS: Final = 30.0  # measured 0.3 s; 1.3 s when the machine is busy
SESSION_SECONDS: Final = 45.0  # measured 1.4 to 2.1 s: it waits for the first window; 7 s when two start at once
INSTALL_SECONDS: Final = 30.0  # measured 0.3 to 0.5 s
HELLO_SECONDS: Final = 20.0  # measured 0.1 s
CLOSE_SECONDS: Final = 5.0  # measured 0.6 to 1.1 s from browser.close to the exit
GIVEN_PROFILE_GRACE: Final = 2.0  # a profile that stays gets SIGTERM and some time first

HOW_TO_INSTALL: Final = (
    "Firefox was not found. Install it with `foxloop-trio firefox install`, "
    "or name its program in the environment variable FOXLOOP_FIREFOX."
)

POINTS: Final = ("listening", "supervised", "started", "addressed", "connected", "session", "installed", "attached")
"""The fixed points of a start, in order. A test's `at` is awaited at each of them."""

At = Callable[[str], Awaitable[None]]


@attrs.frozen(kw_only=True)
class LaunchOptions:
    """What `launch_firefox` was asked for, checked. `env` is added to Firefox's environment."""

    headless: bool = True
    binary: str | os.PathLike[str] | None = None
    profile: Path | None = None
    prefs: Mapping[str, Pref] = attrs.field(factory=dict)
    env: Mapping[str, str] = attrs.field(factory=dict)
    ids: Ids = attrs.field(default=lambda nbytes, purpose: secrets.token_bytes(nbytes))


@attrs.frozen(kw_only=True)
class Launched:
    """A running Firefox with our add-on attached: the raw connection to the add-on, BiDi, and the process."""

    transport: Transport
    peer: Peer
    bidi: BiDi
    process: FirefoxProcess


@asynccontextmanager
async def launch_firefox(
    *,
    headless: bool = True,
    binary: str | os.PathLike[str] | None = None,
    profile: str | os.PathLike[str] | None = None,
    prefs: Mapping[str, Pref] | None = None,
    trusted_input: bool = False,
) -> AsyncIterator[BrowserSession]:
    """Start Firefox with our add-on and attach to it; leaving ends it, whatever the reason for leaving.

    * `binary`: the program, a path or a command (default: `find_firefox`).
    * `profile`: an existing profile folder, used and kept; its ``user.js`` is put back. Default: a fresh one, removed afterwards.
    * `prefs`: more preferences for ``user.js``.
    * `trusted_input`: acts are input of Firefox's own where a hand would do them; see `BrowserSession`.

    Raises BadOptionsError for options that cannot work and BrowserError when Firefox is missing (code ``firefox-not-found``), ends
    during the start (``firefox-exited``), or is late in one step (``launch-timeout``; the text names the step). When Firefox is
    killed from outside, pending and later calls raise BrowserError, code ``browser-lost``.

    No process, profile or port of it outlives this process, however it ends: see `_supervisor.py`.
    """
    options = LaunchOptions(headless=headless, binary=binary, profile=_checked_profile(profile), prefs=check_prefs(prefs))
    async with open_firefox(options) as firefox, open_session(firefox.transport, firefox.peer, ids=options.ids) as channel:
        yield BrowserSession(channel, bidi=firefox.bidi, allow_focus=True, trusted_input=trusted_input, ids=options.ids)


@asynccontextmanager
async def open_firefox(options: LaunchOptions, *, at: At | None = None) -> AsyncIterator[Launched]:
    """`launch_firefox` without the session on top: for who relays the raw connection. `at` is awaited at each of `POINTS`."""
    found = locate_firefox(options.binary)
    if found is None:
        raise BrowserError(HOW_TO_INSTALL, code="firefox-not-found")
    reach = at or _go_on
    uuids = {} if options.profile is None else known_uuids(options.profile)
    uuids.setdefault(ADDON_ID, str(UUID(bytes=options.ids(16, "addon-uuid"), version=4)))
    token = options.ids(32, "token").hex()
    origin = f"moz-extension://{uuids[ADDON_ID]}"
    order = _order(options, found, uuids)
    async with open_listener(token=token, origin=origin, ids=options.ids) as listener:
        await reach("listening")
        async with open_service(open_firefox_process(order)) as process:
            await reach("supervised")
            with _step(process, "start", START_SECONDS, "say where its BiDi server listens"):
                await process.wait_started()
                await reach("started")
                address = await process.wait_bidi_url()
            await reach("addressed")
            async with open_service(open_bidi(f"{address}/session")) as bidi:
                await reach("connected")
                with _step(process, "session", SESSION_SECONDS, "open a BiDi session"):
                    await _new_session(bidi)
                await reach("session")
                with _step(process, "install", INSTALL_SECONDS, "install the add-on"):
                    await _install_addon(bidi, {"url": listener.url, "token": token})
                await reach("installed")
                with _step(process, "hello", HELLO_SECONDS, "connect back with its add-on"):
                    transport, peer = await listener.accept()
                await reach("attached")
                try:
                    yield Launched(transport=transport, peer=peer, bidi=bidi, process=process)
                except BaseException:
                    if options.profile is not None:  # it stays, so it has to be written out; a fresh one goes with its Firefox
                        with trio.CancelScope(shield=True):
                            await _close(bidi, process)
                    raise
                await _close(bidi, process)


async def _go_on(point: str) -> None:
    """What a start does at its fixed points when nobody watches: nothing."""


def _order(options: LaunchOptions, found: FoundFirefox, uuids: Mapping[str, str]) -> ProcessOrder:
    argv = [os.path.abspath(found.path), "--remote-debugging-port=0", "--profile", PLACEHOLDER, "--no-remote"]
    if options.headless:
        argv.insert(1, "--headless")
    home = _home()
    # No crash reporter. Its helper process comes up all the same, in a session of its own; the supervisor ends that too.
    env = {"MOZ_CRASHREPORTER_DISABLE": "1"}
    if home is None or not os.access(home, os.W_OK):
        env["HOME"] = PLACEHOLDER  # without a home to write to, as service accounts have, Firefox waits for ever and says nothing
    return ProcessOrder(
        argv=tuple(argv),
        env={**env, **options.env},
        prefs=launch_prefs(uuids, options.prefs),
        profile=options.profile,
        profile_parent=found.profile_parent(home or Path("/")),
        grace=0.0 if options.profile is None else GIVEN_PROFILE_GRACE,
    )


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and an account without a name
        return None


def _checked_profile(profile: str | os.PathLike[str] | None) -> Path | None:
    if profile is None:
        return None
    path = Path(profile).absolute()
    if not path.is_dir():
        raise BadOptionsError(f"profile: {str(path)!r} is no folder; make it first, or leave it out to get a fresh one")
    return path


@contextmanager
def _step(process: FirefoxProcess, name: str, seconds: float, what: str) -> Iterator[None]:
    """Bound one step of the start, end it when Firefox ends, and say in the error which step it was."""
    with trio.move_on_after(seconds) as scope:
        process.cancel_on_exit(scope)
        try:
            yield
        except BrowserError as error:
            raise BrowserError(f"launch step {name!r}: {error}", code=error.code) from error
        finally:
            process.keep(scope)
    if not scope.cancelled_caught:
        return
    if process.exited:
        raise BrowserError(f"launch step {name!r}: {process.exit_error()}", code="firefox-exited")
    raise BrowserError(
        f"launch step {name!r}: Firefox did not {what} within {seconds:g} s. {process.last_words()} "
        "Try it again on a quieter machine, or start the same Firefox by hand to see what it waits for.",
        code="launch-timeout",
    )


async def _new_session(bidi: BiDi) -> None:
    # The default dismisses dialogs by itself, which loses answers without a word.
    capabilities = {"alwaysMatch": {"unhandledPromptBehavior": {"default": "ignore"}}}
    await bidi.call("session.new", {"capabilities": capabilities}, timeout=SESSION_SECONDS)


async def _install_addon(bidi: BiDi, config: Mapping[str, Any]) -> None:
    packed = base64.b64encode(pack_addon(config)).decode()
    await bidi.call("webExtension.install", {"extensionData": {"type": "base64", "value": packed}}, timeout=INSTALL_SECONDS)


async def _close(bidi: BiDi, process: FirefoxProcess) -> None:
    """Ask Firefox to close and wait for it; what is left after that is ended by the supervisor."""
    with trio.move_on_after(CLOSE_SECONDS):
        with suppress(BrowserError):  # a Firefox that is gone already is what we want
            await bidi.call("browser.close", {}, timeout=CLOSE_SECONDS)
        await process.wait_exited()
