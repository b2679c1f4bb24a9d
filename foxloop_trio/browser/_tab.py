"""One tab: read it, act in it, wait for it, move it. Owns what is known of the tab, its lock, and the true end of each act.

Every act goes through `Tab.act` and needs the gate's permit. Whatever stops it (an answer, a limit, a cancel, a lost browser), what
is known of its effect is reported before it leaves.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

import attrs
import trio

from ..actions import EffectState, Permit
from ..channel import Call, CallTimeout, RemoteCallError
from ..errors import BadOptionsError, BrowserError, ChannelError
from ._act import ActResult, Value, check_permit, check_pin
from ._changes import changes
from ._faults import browser_error, lost_error, of_address
from ._navigation import MAX_STOPPED
from ._picture import Screenshot, check_picture
from ._reading import TOP_ONLY, Question, documents_of, element_of, with_top
from ._restricted import restriction_words
from ._snapshot import Control, Snapshot
from ._table import Table
from ._trusted import TRUSTED_OPS, act_by_hand
from ._uploads import check_files, pieces

if TYPE_CHECKING:
    from ._session import BrowserSession

__all__ = ["Settled", "Tab", "check_address"]

READ_SECONDS: Final = 5.0
ACT_SECONDS: Final = 5.0
SETTLE_SECONDS: Final = 3.0
"""The page reference's deadlines (section 6); they exist because a document that is unloading may never answer."""
KEY_SECONDS: Final = 0.01
"""More for each letter that is typed by hand; 2 ms were measured."""
GOTO_SECONDS: Final = 15.0
TAB_SECONDS: Final = 10.0
FETCH_SECONDS: Final = 30.0
"""For one piece of a file: three megabytes at 100 kB a second."""
FETCH_BYTES: Final = 3 * 2**20
CAPTURE_SECONDS: Final = 10.0
RETRY_SECONDS: Final = 0.2
RETRIES: Final = 50
"""Reading when ready: every 200 ms or when the add-on has news, at most 50 times (10 s), then one last read whose error counts
(page reference, section 6)."""
SEND_PAUSE_SECONDS: Final = 0.25
"""After a send that was accepted, so that a navigation can begin before the page counts as settled."""
CANCEL_GRACE_SECONDS: Final = 5.0

NOT_YET: Final = frozenset({"document-gone", "no-document", "timeout", "internal", "other-incarnation"})
"""Codes of a read that may work in a moment. All others will not change by waiting."""

LATE_SECONDS: Final = 1.0
"""For an act's true end after its limit: the background answers a cancel at once, whatever the page does."""

REFUSED_UNSTARTED: Final[Mapping[str, str]] = {
    "cancelled": "cancelled",
    "document-gone": "navigated",
    "no-document": "navigated",
    "timeout": "timeout",
}
"""Codes with which the add-on says that an act was not begun, and the refusal that this is for who acts."""

NEVER_STARTED: Final = frozenset({"no-tab", "other-incarnation"})
"""Codes of faults with which the add-on turns an act away before it looks for the document."""

UNBEGUN: Final = {"ok": False, "started": False, "submitted": False, "navigated": False, "dialogs": []}
"""What every refusal before the first event has, as the wire has it."""

UNANSWERED: Final = ActResult(ok=False, started=True, reason="timeout")
"""Sent, and no answer: it may have been done or not."""

Report = Callable[[EffectState, Any], None]
"""`ctx.report_effect`."""


@attrs.frozen(kw_only=True)
class Settled:
    """How long settling took, in seconds, and whether the document went away meanwhile (which counts as settled)."""

    waited: float
    gone: bool


def check_address(url: str, *, blank: bool = False) -> None:
    """Raises BrowserError, code ``illegal-url``, for anything but an http or https address (or about:blank, with `blank`)."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fine = False
    if not (fine or (blank and url == "about:blank")):
        way_out = "" if ":" in url else f"; write a whole address, such as {'https://' + url[:200]!r}"
        raise BrowserError(f"only http and https addresses are opened, not {url[:200]!r}{way_out}", code="illegal-url")


class Tab:
    """A tab of an attached Firefox. Made by `BrowserSession`; the same object for the same tab as long as the tab lives.

    `url`, `title` and `active` are what the add-on told last. `lock` is for tools: first come, first served, to hold the
    look before an act, the act and the look after it together.
    """

    def __init__(self, session: BrowserSession, tab_id: int) -> None:
        self.id = tab_id
        self.session = session
        self.lock = trio.Lock()
        self.closed = False
        self._state: Mapping[str, Any] = {"url": "about:blank", "title": "", "active": False, "status": "loading", "document": None}
        self._reads = 0
        self._documents: dict[int, str] = {}
        self._context: str | None = None
        self._stopped: deque[str] = deque(maxlen=MAX_STOPPED)
        self._stops = 0

    def __repr__(self) -> str:
        return f"<Tab {self.id}{' closed' if self.closed else ''} {self._state['url'][:80]!r}>"

    @property
    def url(self) -> str:
        self.session.catch_up()
        return str(self._state["url"])

    @property
    def title(self) -> str:
        """The page's title: untrusted."""
        self.session.catch_up()
        return str(self._state["title"])

    @property
    def active(self) -> bool:
        """In front in its window."""
        self.session.catch_up()
        return bool(self._state["active"])

    @property
    def host(self) -> str | None:
        """Host name of the address, lower case, no port; None when the tab shows no http or https page."""
        return _host(self.url)

    @property
    def stopped(self) -> tuple[str, ...]:
        """Addresses that the page wanted to lead to and that a lease with ``navigation="block"`` stopped; the newest 50, oldest
        first. Untrusted.
        """
        self.session.catch_up()
        return tuple(self._stopped)

    @property
    def stops(self) -> int:
        """How many were stopped in all."""
        self.session.catch_up()
        return self._stops

    def stopped_since(self, stops: int) -> tuple[str, ...]:
        """Those that came after `stops` had this value, as far as they are remembered."""
        new = self.stops - stops
        return self.stopped[-new:] if new > 0 else ()

    def note_stopped(self, url: str) -> None:
        """The add-on stopped this one."""
        self._stopped.append(url)
        self._stops += 1

    def update(self, state: Mapping[str, Any]) -> None:
        """Take a newer state of this tab, as the wire has it."""
        self._state = state

    async def refresh(self) -> None:
        """Ask the add-on for the tab's state. Raises BrowserError, code ``no-tab``, when the tab is gone."""
        answer = await self._call("tab.get", {}, TAB_SECONDS)
        self.update(answer["tab"])

    # Reading

    async def snapshot(
        self,
        *,
        focus: str | None = None,
        since: Snapshot | None = None,
        region: str | Control | None = None,
        find: str | None = None,
        frame: int | None = None,
        offset: int = 0,
        text_offset: int = 0,
        max_controls: int | None = None,
        max_text: int | None = None,
    ) -> Snapshot:
        """Read the page: its controls and its text. Waits while the tab loads, and tries again when a read fails, for 10 s in all.

        What does not fit is counted in the snapshot. These narrow the look down, or page through what did not fit:

        * `region`: only what lies inside this element: the id of a control (or of its form, ``<frame>:<form>``) of the newest
          look. `frame`: only this frame.
        * `find`: only controls and lines of text that hold these words, whatever their case.
        * `offset`, `text_offset`: pass over so many controls, and characters, of each frame.
        * `max_controls` (300) of a frame, at most 1000; `max_text` (6000) characters in all, at most 60000.
        * `focus`: when there are too many controls, those that share words with this text come first.
        * `since`: an earlier look at this tab; `changes` of the new one says what is different.

        Raises BadOptionsError for an option out of its bounds, and BrowserError: ``restricted-page`` (its text says why, and what
        to do), ``no-tab``, ``browser-lost``, ``document-gone`` for a region or frame that is not there any more, all of them at
        once; and the last read's error otherwise.
        """
        if since is not None and not isinstance(since, Snapshot):
            raise BadOptionsError(f"snapshot: since is an earlier Snapshot of this tab, not {str(since)[:100]!r}")
        asked = {"focus": focus, "region": region, "find": find, "frame": frame, "offset": offset, "text_offset": text_offset}
        question = Question.of(self._documents, **asked, max_controls=max_controls, max_text=max_text)  # type: ignore[arg-type]
        answer = await self._read_when_ready(question)
        if all(state["frame"] != 0 for state in answer["frames"]):
            top = await self._read(TOP_ONLY)
            answer = with_top(answer, top["frames"])
        self._reads += 1
        page = Snapshot.from_wire(answer, generation=self._reads, part=question.part)
        self._documents = {**(self._documents if question.part else {}), **documents_of(page)}
        return page if since is None else attrs.evolve(page, changes=changes(since, page))

    async def _read_when_ready(self, question: Question) -> dict[str, Any]:
        last = trio.current_time() + RETRIES * RETRY_SECONDS
        waits = 0
        while waits < RETRIES and trio.current_time() < last:
            try:
                await self.refresh()
                if self._state["status"] == "complete":
                    return await self._read(question.params)
            except BrowserError as error:
                if error.code not in NOT_YET or (error.code == "document-gone" and question.of_one_document):
                    raise
            # News of the tab end the wait early: most pages are there long before 200 ms have passed.
            waits += not await self.session.wait_news(RETRY_SECONDS)
        return await self._read(question.params)

    async def _read(self, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await self._call("page.read", params, READ_SECONDS)
        except BrowserError as error:
            raise self._explained(error, "read") from error

    def _explained(self, error: BrowserError, verb: str) -> BrowserError:
        """The same error; of a page that is closed to extensions, with the reason and the way out."""
        if error.code != "restricted-page":
            return error
        words = restriction_words(self.url)
        return BrowserError(f"the page cannot be {verb}: {words} (Firefox: {error})", code=error.code)

    async def table(self, nth: int = 1, *, find: str | None = None, offset: int = 0, rows: int = 50, frame: int = 0) -> Table:
        """Read the `nth` table or grid of a document, from 1: so many `rows` (at most 200) behind the first `offset`.

        `find`: only rows that hold these words, whatever their case. `frame`: of the newest look; 0 is the top one. What nobody can
        see is left out. Raises BrowserError as `snapshot` does, but does not wait for a page that loads.
        """
        question = {"nth": nth, "offset": offset, "rows": rows, "frame": frame, **({} if find is None else {"find": find})}
        try:
            answer = await self._call("page.table", question, READ_SECONDS)
        except BrowserError as error:
            raise self._explained(error, "read") from error
        return Table.from_wire(answer, offset=offset)

    async def screenshot(
        self,
        *,
        format: Literal["png", "jpeg"] = "png",  # noqa: A002 - the word of the wire and of BiDi
        full_page: bool = False,
        element: str | Control | None = None,
        marks: bool | Iterable[str | Control] = False,
        quality: int | None = None,
        scale: float | None = None,
    ) -> Screenshot:
        """A picture of the part of the page that is in view; works on tabs in the background too. At most 2 MiB.

        * `full_page`: all of the page, as far as one picture goes. `element`: the box of one control, by its id in the newest
          look.
        * `marks`: draw the ids of the controls on it, of all (True) or of these; the same ids as in the snapshot.
        * `quality`: of a JPEG, 1 to 100. `scale`: pixels of the picture to one CSS pixel; smaller when it would not fit.

        Secret and sensitive fields are painted over in the picture; the page itself is not touched. Raises BadOptionsError, and
        BrowserError as `snapshot` does.
        """
        check_picture(format, quality, scale, element=element is not None, full_page=full_page)
        params: dict[str, Any] = {"format": format}
        if quality is not None:
            params["quality"] = quality
        if scale is not None:
            params["scale"] = scale
        if full_page:
            params["area"] = "page"
        elif element is not None:
            params["area"] = element_of(element, self._documents, "screenshot: element")
        if marks is True:
            params["marks"] = "controls"
        elif marks is not False:
            found = [element_of(mark, self._documents, "screenshot: marks") for mark in marks]
            params["marks"] = [{"frame": one["frame"], "node": one["node"]} for one in found]
        try:
            answer = await self._call("tab.capture", params, CAPTURE_SECONDS)
        except BrowserError as error:
            if error.code in ("unknown-method", "invalid-params"):
                raise NotImplementedError("Tab.screenshot needs an add-on that can take such pictures; this one cannot") from error
            raise self._explained(error, "shown") from error
        return Screenshot.from_wire(answer, f"image/{format}")

    # Acting

    async def act(
        self,
        target: Mapping[str, Any],
        op: str,
        value: Value = None,
        *,
        permit: Permit,
        report: Report | None = None,
        cancel_grace: float = CANCEL_GRACE_SECONDS,
        mark: bool = True,
        dialog: Mapping[str, Any] | None = None,
        files: Sequence[bytes] = (),
        now: Mapping[str, Any] | None = None,
        salt: bytes | None = None,
        note_opened: Callable[[Iterable[int]], None] | None = None,
    ) -> ActResult:
        """Do one thing to one pinned control, once.

        `target` is the pin that was judged, and `permit` the gate's leave for it (`ctx.permit`). Give `report=ctx.report_effect`
        and `cancel_grace=ctx.cancel_grace`: when the act is cancelled, it waits that many seconds at most for its true end and
        reports it.
        `mark` draws a ring around the control for 0.6 s.

        `dialog`, ``{"accept": True, "reply": ...}``, is the answer that the first question of the page (confirm, prompt, leaving
        it) gets, once; without it, and for all later ones, the answer is no. It must be among the judged arguments, as `dialog`.
        `files` are the bytes of the files that `value` names, for the operation ``files``.

        `now` is for a call that sets several fields: the generation, `key` and `form_key` of the pin as a look after the last field
        has them, with the judged pin as `target`. For the control that sends, its guard too. `salt` opens the seal of a secret
        value. `note_opened` is told the ids of the tabs that the act opened; a cancelled act has no result to read them from.

        When the pin has a `form_key`, fields of other forms may have changed since the look; without one, none may have.

        A refusal of the page and a missing answer are results (`ok` False). Raises UsageError, with nothing sent, when pin, permit,
        host, operation and value do not agree; BrowserError when the tab or the browser is gone.
        """
        check_pin(target, self.id)
        tell: Report = report if report is not None else (lambda state, done: None)
        tell("not-started", None)
        # A cancel that was there before is seen here; later, the writer could be faster than it. Does not yield otherwise.
        await trio.lowlevel.checkpoint_if_cancelled()
        if self.session.behind:
            await self.refresh()
        host = self.host
        check_permit(permit, target, op, value, host, dialog, now=now, salt=salt)
        if op == "files" or files:
            check_files(value, files)
        place = {"tab": self.id, "frame": target["frame"], "document": target["document"]}
        fresh = {**target, **(now or {})}
        judged = {"host": host, "node": target["node"], "guard": fresh["guard"], "key": fresh["key"], "op": op, "value": value}
        incarnation = self.session.channel.peer.incarnation
        call_id = self.session.new_call_id()
        how: dict[str, Any] = {"incarnation": incarnation, "call": call_id, "mark": mark, "focus": self.session.allow_focus}
        if fresh.get("form_key") is not None:
            how["form_key"] = fresh["form_key"]
        if dialog is not None:
            how["dialog"] = dict(dialog)
        try:
            for index, data in pieces(files):
                await self._call("page.stage", {**place, "call": call_id, "index": index, "data": data}, TAB_SECONDS)
            await trio.lowlevel.checkpoint_if_cancelled()  # it came with the last answer: from here on nothing is awaited
        except BaseException as error:
            if files:
                self.session.acknowledge(place, call_id)  # what has come of them is not kept for an act that never comes
            if isinstance(error, BrowserError) and error.code in REFUSED_UNSTARTED:
                return ActResult(ok=False, started=False, reason=REFUSED_UNSTARTED[error.code])
            raise
        if files:
            check_permit(permit, target, op, value, self.host, dialog, now=now, salt=salt)  # it took a while
        order = {**place, **judged, **how}
        done = {"op": op, "control": target["control"]}
        ended: list[ActResult] = []

        def told(end: EffectState | ActResult) -> None:
            state = end.effect if isinstance(end, ActResult) else end
            tell(state, done if state in ("done", "partial") else None)
            if isinstance(end, ActResult):
                ended.append(end)
                if note_opened is not None:
                    note_opened(end.opened_tabs)

        result = None
        try:
            if not (self.session.trusted_input and op in TRUSTED_OPS and target["frame"] == 0):
                result = await _follow(self._send_act(order), told, cancel_grace)
            else:
                judge = partial(check_permit, permit, target, op, value, dialog=dialog, now=now, salt=salt)
                result = await self._by_hand(order, judge, told, cancel_grace)
            return result
        finally:
            # A file that somebody is to fetch is kept until `let_go`.
            if ended and (result is None or result.download is None):
                self.session.acknowledge(place, call_id)

    def _send_act(self, order: Mapping[str, Any]) -> Call:
        """The one place from which an act goes out, or the second half of one that came by Firefox's own input."""
        try:
            return self.session.channel.start("page.act", order, timeout=ACT_SECONDS)
        except ChannelError as error:
            raise browser_error(error) from error

    async def _by_hand(
        self, order: Mapping[str, Any], judge: Callable[..., None], told: Callable[[EffectState | ActResult], None], grace: float
    ) -> ActResult:
        """The route of `_trusted`: the tab comes to the front, and the input is Firefox's own."""
        context = await self.bidi_context()
        if not self.active:
            await self.activate()

        seconds = ACT_SECONDS + KEY_SECONDS * (len(order["value"]) if order["op"] == "type" else 0)

        async def aim() -> Mapping[str, Any]:
            try:
                return await self.session.channel.call("page.aim", order, timeout=seconds)
            except RemoteCallError as error:
                if error.code in REFUSED_UNSTARTED:
                    return {"outcome": {**UNBEGUN, "reason": REFUSED_UNSTARTED[error.code]}}
                raise browser_error(error) from error
            except ChannelError as error:
                raise browser_error(error) from error

        async def finish(how: str) -> ActResult:
            try:
                return ActResult.from_wire(await self._send_act({**order, "input": how}).result())
            except ChannelError as error:
                raise browser_error(error) from error

        def allowed() -> bool:
            self.session.catch_up()
            if self.session.lost:
                raise lost_error()  # BiDi may be there still, but nobody would judge what it sends
            judge(host=self.host)
            return self._state["document"] in (None, order["document"])

        async def send(actions: list[dict[str, Any]]) -> None:
            await self.session.bidi("input.performActions", context=context, actions=actions)

        return await act_by_hand(aim=aim, allowed=allowed, send=send, finish=finish, tell=told, grace=grace, seconds=seconds)

    async def fetch(self, target: Mapping[str, Any], ticket: str, offset: int) -> tuple[bytes, bool]:
        """The next piece of a file that the operation ``download`` took in the document of `target`, and whether it is the last.

        `offset` counts the bytes that came before: pieces are fetched in their order. Raises BrowserError, code ``document-gone``
        when the document went away, and the file with it; ``timeout`` when the server is too slow.
        """
        place = {"frame": target["frame"], "document": target["document"]}
        answer = await self._call("page.fetch", {**place, "call": ticket, "offset": offset, "most": FETCH_BYTES}, FETCH_SECONDS)
        return base64.b64decode(answer["data"]), answer["end"]

    def let_go(self, target: Mapping[str, Any], ticket: str) -> None:
        """The file of that ticket is here, or nobody wants it any more: the page gives up what is left of it."""
        self.session.acknowledge({"tab": self.id, "frame": target["frame"], "document": target["document"]}, ticket)

    async def settle(self, target: Mapping[str, Any], *, list_for: int | None = None, sent: bool = False) -> Settled:
        """Wait until the document of `target` has been quiet for 0.12 s, at most 1.5 s.

        `list_for` is the node of a field whose list of suggestions is waited for; `sent` says that a form was sent, so that a
        navigation gets 0.25 s to begin. A document that goes away, or does not answer in 3 s, counts as settled. Raises
        BrowserError when tab or browser is gone.
        """
        began = trio.current_time()
        if sent:
            await trio.sleep(SEND_PAUSE_SECONDS)
        params = {"frame": target["frame"], "document": target["document"], "list_for": list_for}
        try:
            answer = await self._call("page.settle", params, SETTLE_SECONDS)
        except BrowserError as error:
            if error.code in ("no-tab", "browser-lost"):
                raise
            return Settled(waited=trio.current_time() - began, gone=error.code in ("document-gone", "no-document"))
        return Settled(waited=trio.current_time() - began, gone=answer["gone"])

    # Moving

    async def goto(self, url: str) -> None:
        """Load `url` in this tab; returns once the new document can be worked on.

        Raises BrowserError: ``illegal-url`` for anything but http and https, ``navigation-failed`` when no new document came,
        ``timeout`` when it did not come within 15 s.
        """
        check_address(url)
        try:
            answer = await self._call("tab.goto", {"url": url}, GOTO_SECONDS)
        except BrowserError as error:
            raise of_address(error, url) from error.__cause__
        self.update(answer["tab"])

    async def history(self, go: Literal["back", "forward", "reload"]) -> None:
        """One step back or forward in what this tab has shown, or the same page again; returns once it can be worked on.

        Raises BrowserError: ``navigation-failed`` when there is nothing to go to, ``timeout`` when it did not come within 15 s.
        """
        answer = await self._call("tab.history", {"go": go}, GOTO_SECONDS)
        self.update(answer["tab"])

    async def activate(self) -> None:
        """Bring it to the front of its window."""
        await self._call("tab.activate", {}, TAB_SECONDS)

    async def close(self) -> None:
        """Close it. A tab that is gone already is fine."""
        try:
            await self._call("tab.close", {}, TAB_SECONDS)
        except BrowserError as error:
            if error.code != "no-tab":
                raise
        self.closed = True

    async def bidi_context(self) -> str:
        """The id of this tab's BiDi browsing context, for `session.bidi`; found once, then remembered (it survives navigation).

        Firefox does not tell which context belongs to which tab, so it is found by the address: raises BrowserError, code
        ``ambiguous-tab``, when no context or more than one has it. Open the tab at an address of its own then.
        """
        if self._context is None:
            url = self.url
            tree = await self.session.bidi("browsingContext.getTree", maxDepth=0)
            found = [context["context"] for context in tree["contexts"] if context["url"] == url]
            if len(found) != 1:
                raise BrowserError(
                    f"{len(found)} BiDi contexts show the address of tab {self.id}, {url[:200]!r}", code="ambiguous-tab"
                )
            self._context = str(found[0])
        return self._context

    async def _call(self, method: str, params: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        return await self.session.call(method, {"tab": self.id, **params}, timeout=timeout)


async def _follow(call: Call, tell: Callable[[EffectState | ActResult], None], cancel_grace: float) -> ActResult:
    """See an act through to its end, and tell what is known of its effect, or its result, before leaving, however that is."""
    try:
        result = await _true_end(call, call.result)
    except trio.Cancelled:
        tell("unknown" if call.sent else "not-started")
        with suppress(BrowserError):
            # Not to be left before it is known what was done; `cancel` is shielded, and takes so many seconds at most.
            tell(await _true_end(call, partial(call.cancel, min(ACT_SECONDS, cancel_grace))))
        raise
    except BrowserError as error:
        tell("unknown" if call.sent and error.code not in NEVER_STARTED else "not-started")
        raise
    tell(result)
    return result


async def _true_end(call: Call, wait: Callable[[], Awaitable[dict[str, Any] | None]]) -> ActResult:
    """What came of an act: the add-on's answer, or its refusal to begin, as a result. Raises BrowserError for everything else."""
    try:
        answer = await wait()
        if answer is None and call.sent:
            return UNANSWERED
    except CallTimeout as late:
        # The limit is over on both sides, so the add-on begins nothing any more; what it began, it can still tell.
        if not late.sent:
            return ActResult(ok=False, started=False, reason="timeout")
        return await _true_end(call, partial(call.cancel, LATE_SECONDS))
    except RemoteCallError as error:
        if error.code in REFUSED_UNSTARTED:
            return ActResult(ok=False, started=False, reason=REFUSED_UNSTARTED[error.code])
        raise browser_error(error) from error
    except ChannelError as error:
        raise browser_error(error) from error
    if answer is None:
        return ActResult(ok=False, started=False, reason="cancelled")
    return ActResult.from_wire(answer)


def _host(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
    except ValueError:
        return None
    # As the page's own location.hostname has it: with the brackets of an IPv6 address.
    return f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
