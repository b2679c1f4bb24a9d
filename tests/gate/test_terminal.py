"""The approver at the terminal, on a real pseudo-terminal: y is yes, everything else is no, and nothing blocks.

Rules of this module: real clock, every wait bounded by `fail_after`, and the answer is typed only after the question was read.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from foxloop_trio.actions import Action, ApprovalRequest, Money
from foxloop_trio.canonical import canonical_json
from foxloop_trio.gate import ApprovalRow, terminal_approver
from foxloop_trio.gate._console import MAX_ANSWER, note
from foxloop_trio.gate._display import MAX_SHOWN, money_words, question, visible

PROMPT = b"Allow this? [y/N] "


@attrs.define
class Terminal:
    """A pseudo-terminal: the program's end as streams, the human's end as a descriptor."""

    human: int
    stdin: Any
    stdout: Any
    seen: bytes = b""

    async def read_until(self, text: bytes) -> None:
        while text not in self.seen:
            await trio.lowlevel.wait_readable(self.human)
            self.seen += os.read(self.human, 65536)

    def type(self, text: bytes) -> None:
        os.write(self.human, text)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    human, program = pty.openpty()
    with open(program, "rb", buffering=0) as stdin, open(os.dup(program), "w", encoding="utf-8") as stdout:
        yield Terminal(human, stdin, stdout)
    os.close(human)


@pytest.fixture
async def s(setup: Any) -> Any:
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    return s


async def _request(s: Any, action: Action | None = None, *, lives: float = 100.0, detail: str | None = None) -> ApprovalRequest:
    action = action or s.send()
    asked = await s.gate.check(action)
    return ApprovalRequest(
        step=1, call_id="c1", request_id=asked.request_id, action=action, expires_at=s.wall.at + lives, detail=detail
    )


async def _answer(s: Any, terminal: Terminal, typed: bytes, request: ApprovalRequest | None = None) -> str | None:
    """What the approver returns when `typed` is the answer to its question."""
    request = request or await _request(s)
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    answers: list[str | None] = []

    async def ask() -> None:
        answers.append(await approve(request))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await terminal.read_until(PROMPT)
            terminal.type(typed)
    return answers[0]


@pytest.mark.parametrize("typed", [b"y\n", b"Y\n", b"yes\n", b"YES\n", b"  y \n"])
async def test_yes_gives_the_token(s: Any, terminal: Terminal, typed: bytes) -> None:
    """And the token is good for the action that was shown."""
    token = await _answer(s, terminal, typed)
    assert token is not None
    assert (await s.gate.redeem(token, s.send())).decision == "allow"


@pytest.mark.parametrize("typed", [b"n\n", b"\n", b"no\n", b"yeah\n", b"y y\n", b"ja\n", b"1\n", b"\xd1\x83\n", b"\x04", b"yn\n"])
async def test_anything_else_is_a_no_on_record(s: Any, terminal: Terminal, typed: bytes) -> None:
    """End of file too; the request is rejected."""
    assert await _answer(s, terminal, typed) is None
    assert (await s.gate.check(s.send())).reason == "rejected"


async def test_too_long_a_line_is_a_no(s: Any, terminal: Terminal) -> None:
    """Bounded, also on a terminal that was left in raw mode."""
    tty.setraw(terminal.stdin.fileno())
    assert await _answer(s, terminal, b"y" * (MAX_ANSWER + 1)) is None
    assert (await s.gate.check(s.send())).reason == "rejected"


async def test_a_raw_terminal_can_answer_too(s: Any, terminal: Terminal) -> None:
    """There, the return key sends a carriage return."""
    tty.setraw(terminal.stdin.fileno(), termios.TCSANOW)
    assert await _answer(s, terminal, b"y\r") is not None


async def test_the_question_shows_the_exact_action_and_the_plain_words(s: Any, terminal: Terminal) -> None:
    """AS-01: canonical JSON byte for byte, and tool, host, scope, detail, expiry in words."""
    action = s.send("Gr\u00fc\u00dfe", domain="NOTES.local")
    await _answer(s, terminal, b"n\n", await _request(s, action, detail="Sends the note.\nTo everybody."))
    with trio.fail_after(5):
        await terminal.read_until(b"Not approved.")
    shown = terminal.seen.decode().replace("\r\n", "\n")
    assert '{"args":{"text":"Gr\u00fc\u00dfe"},"domain":"notes.local","scope":"submit","tool":"send"}\n' in shown
    for words in (
        "  tool    send\n",
        "  host    notes.local\n",
        "  scope   submit: sends something to the site\n",
        "  detail  Sends the note.\n        | To everybody.\n",
        "  expires in 100 s\n",
        "Not approved.",
    ):
        assert words in shown


async def test_what_is_shown_is_what_the_gate_has_stored(s: Any, terminal: Terminal) -> None:
    """Not what the request object says; the token is bound to the former."""
    request = await _request(s)
    lying = attrs.evolve(request, action=s.send("harmless"))
    token = await _answer(s, terminal, b"y\n", lying)
    assert b'"Hello"' in terminal.seen
    assert b"harmless" not in terminal.seen
    assert (await s.gate.redeem(token, s.send())).decision == "allow"


async def test_what_was_typed_before_the_question_does_not_count(s: Any, terminal: Terminal) -> None:
    """Nobody can have read it by then."""
    terminal.type(b"y\n")
    assert await _answer(s, terminal, b"n\n") is None


@pytest.mark.parametrize("kind", ["pipe", "closed", "no file", "none"])
async def test_without_a_terminal_the_answer_is_no(s: Any, monkeypatch: Any, kind: str) -> None:
    """Also when the pipe says y."""
    reader, writer = os.pipe()
    os.write(writer, b"y\n")
    pipe, closed = os.fdopen(reader, "rb", buffering=0), os.fdopen(writer, "wb", buffering=0)
    closed.close()
    stdin: Any = {"pipe": pipe, "closed": closed, "no file": io.StringIO("y\n"), "none": None}[kind]
    monkeypatch.setattr(sys, "stdin", None)
    out = io.StringIO()
    approve = terminal_approver(s.host, stdin=stdin, stdout=out, wall_clock=s.wall)
    with pipe, trio.fail_after(5):
        assert await approve(await _request(s)) is None
    assert "no terminal" in out.getvalue()
    assert (await s.gate.check(s.send())).reason == "rejected"


async def test_a_terminal_that_goes_away_is_a_no(s: Any) -> None:
    """Hang-up while the question stands."""
    human, program = pty.openpty()
    terminal = Terminal(human, os.fdopen(program, "rb", buffering=0), io.StringIO())
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    answers: list[str | None] = []
    request = await _request(s)

    async def ask() -> None:
        answers.append(await approve(request))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            os.close(human)
    terminal.stdin.close()
    assert answers == [None]


async def test_no_answer_in_time_is_a_no(s: Any, terminal: Terminal) -> None:
    """At `expires_at`, by the clock that it is on."""
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    started = trio.current_time()
    with trio.fail_after(5):
        assert await approve(await _request(s, lives=0.1)) is None
    assert 0.1 <= trio.current_time() - started < 2.0
    assert (await s.gate.check(s.send())).reason == "rejected"


async def test_a_yes_that_comes_too_late_for_the_gate_gives_no_token(s: Any, terminal: Terminal) -> None:
    """The gate has the last word on expiry."""
    request = await _request(s)
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=lambda: request.expires_at - 100)
    answers: list[str | None] = []

    async def ask() -> None:
        answers.append(await approve(request))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await terminal.read_until(PROMPT)
            s.wall.at += 600
            terminal.type(b"y\n")
        await terminal.read_until(b"Too late")
    assert answers == [None]


async def test_a_request_that_waits_no_more_is_not_asked(s: Any, terminal: Terminal) -> None:
    """Somebody else answered it, or it is not this gate's."""
    request = await _request(s)
    await s.host.reject(request.request_id)
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    with trio.fail_after(5):
        assert await approve(request) is None
        await terminal.read_until(b"no longer waiting")
    assert PROMPT not in terminal.seen


async def test_a_cancel_gets_through_at_once_and_the_request_waits_on(s: Any, terminal: Terminal) -> None:
    """No thread is left reading: the next question gets the whole answer."""
    request = await _request(s)
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(approve, request)
            await terminal.read_until(PROMPT)
            nursery.cancel_scope.cancel()
    assert [row.id for row in await s.host.pending()] == [request.request_id]
    terminal.seen = b""
    assert await _answer(s, terminal, b"y\n", request) is not None


def _modes(terminal: Terminal) -> Any:
    """The modes of the terminal and the flags of the descriptors, all of which others share."""
    fds = terminal.stdin.fileno(), terminal.stdout.fileno()
    return [termios.tcgetattr(fd) for fd in fds], [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in fds]


@pytest.mark.parametrize("end", ["yes", "no", "cancel", "expiry"])
async def test_the_terminal_is_left_as_it_was(s: Any, terminal: Terminal, end: str) -> None:
    """Its modes, the flags of the descriptors, how many of them are open, and no half answer for whoever reads next."""
    before, opened = _modes(terminal), set(os.listdir("/proc/self/fd"))
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(approve, await _request(s, lives=0.2 if end == "expiry" else 100.0))
            await terminal.read_until(PROMPT)
            during = _modes(terminal)
            terminal.type({"yes": b"y\n", "no": b"n\n"}.get(end, b"y"))
            if end == "cancel":
                nursery.cancel_scope.cancel()
    assert during == before
    assert _modes(terminal) == before
    assert len(set(os.listdir("/proc/self/fd")) - opened) <= 1, "but for the folder that is being listed"
    tty.setraw(terminal.stdin.fileno(), termios.TCSANOW)  # in which half a line can be read
    os.set_blocking(terminal.stdin.fileno(), False)
    assert terminal.stdin.read(10) is None


async def test_an_unanswered_prompt_gets_its_line_end(s: Any, terminal: Terminal) -> None:
    """What is printed next does not stand behind the question."""
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    with trio.fail_after(5):
        assert await approve(await _request(s, lives=0.1)) is None
        await terminal.read_until(PROMPT + b"\r\nNot approved.\r\n")


@pytest.mark.parametrize("end", ["cancel", "expiry"])
async def test_a_terminal_that_was_stopped_by_control_s_holds_nothing_up(s: Any, terminal: Terminal, end: str) -> None:
    """The question cannot be written, so nobody can have read it."""
    termios.tcflow(terminal.stdout.fileno(), termios.TCOOFF)
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(approve, await _request(s, lives=0.2 if end == "expiry" else 100.0))
            await trio.testing.wait_all_tasks_blocked()
            if end == "cancel":
                nursery.cancel_scope.cancel()
    termios.tcflow(terminal.stdout.fileno(), termios.TCOON)
    assert len(await s.host.pending()) == (1 if end == "cancel" else 0)


@pytest.mark.parametrize("seen_on", ["stdout", "stderr", "nowhere"])
async def test_the_question_goes_where_it_can_be_seen(s: Any, terminal: Terminal, monkeypatch: Any, seen_on: str) -> None:
    """Not into a file that standard output was sent to; with no screen at all the answer is no, though the keyboard is there."""
    files = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    monkeypatch.setattr(sys, "stdout", files["stdout"])
    monkeypatch.setattr(sys, "stderr", files["stderr"])
    if seen_on != "nowhere":
        monkeypatch.setattr(sys, seen_on, terminal.stdout)
    approve = terminal_approver(s.host, stdin=terminal.stdin, wall_clock=s.wall)
    answers: list[str | None] = []
    request = await _request(s)

    async def ask() -> None:
        answers.append(await approve(request))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            if seen_on != "nowhere":
                await terminal.read_until(PROMPT)
                terminal.type(b"y\n")
    assert (answers[0] is not None) is (seen_on != "nowhere")
    assert ("no terminal" in files["stderr"].getvalue()) is (seen_on == "nowhere")


async def test_a_long_action_is_shown_in_part_and_all_of_it_on_request(s: Any, terminal: Terminal) -> None:
    """The part says how much is missing; `a` shows every character, and then the answer counts."""
    words = [f"word{number}" for number in range(2000)]
    request = await _request(s, s.send(" ".join(words)))
    prompt = b"Allow this? [y/N, a to see all of it] "
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    answers: list[str | None] = []

    async def ask() -> None:
        answers.append(await approve(request))

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await terminal.read_until(prompt)
            length = len(" ".join(words))
            assert f"of {length:,} characters are not shown here".encode() in terminal.seen
            assert b"word1000" not in terminal.seen
            assert len(terminal.seen) < 2 * MAX_SHOWN
            terminal.seen = b""
            terminal.type(b"a\n")
            await terminal.read_until(prompt)
            [row] = await s.host.pending()
            assert row.text.encode() in terminal.seen
            terminal.type(b"y\n")
    assert answers[0] is not None


async def test_there_is_nothing_more_to_see_of_a_short_action(s: Any, terminal: Terminal) -> None:
    """`a` is a no like any other word, since it was not offered."""
    assert await _answer(s, terminal, b"a\n") is None


async def test_questions_are_put_one_at_a_time(s: Any, terminal: Terminal) -> None:
    """Two runs on one terminal: each answer goes to the question that it follows."""
    approve = terminal_approver(s.host, stdin=terminal.stdin, stdout=terminal.stdout, wall_clock=s.wall)
    requests = [await _request(s, s.send(name)) for name in ("one", "two")]
    answers: dict[str, str | None] = {}

    async def ask(request: ApprovalRequest) -> None:
        answers[request.action.args["text"]] = await approve(request)

    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, requests[0])
            await terminal.read_until(PROMPT)
            assert b'"one"' in terminal.seen
            nursery.start_soon(ask, requests[1])
            await trio.testing.wait_all_tasks_blocked()
            assert terminal.seen.count(PROMPT) == 1
            terminal.seen = b""
            terminal.type(b"n\n")
            await terminal.read_until(PROMPT)
            assert b'"two"' in terminal.seen
            terminal.type(b"y\n")
    assert answers["one"] is None
    assert answers["two"] is not None


_ASKING = """
import os
os.close(os.open(os.ttyname(0), os.O_RDWR))  # a session without a terminal gets this one, as a login does
import trio
from foxloop_trio.actions import Action, ApprovalRequest
from foxloop_trio.gate import create_gate, terminal_approver

async def main():
    gate, host = create_gate(tools={"send": "submit"})
    await host.add_grant(scope="submit", domains=["notes.local"])
    action = Action(tool="send", args={}, domain="notes.local", scope="submit")
    asked = await gate.check(action)
    approve = terminal_approver(host)
    await approve(ApprovalRequest(step=1, call_id="c", request_id=asked.request_id, action=action, expires_at=asked.expires_at))

try:
    trio.run(main)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("how", ["signal", "key"])
async def test_control_c_ends_a_waiting_question_at_once(how: str) -> None:
    """A whole program on a pseudo-terminal, interrupted while it asks, by a signal or by the key."""
    human, program = pty.openpty()
    terminal = Terminal(human, None, None)
    before = termios.tcgetattr(human)
    with trio.fail_after(20):
        process = await trio.lowlevel.open_process(
            [sys.executable, "-c", _ASKING], stdin=program, stdout=program, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            await terminal.read_until(PROMPT)
            interrupted = trio.current_time()
            if how == "signal":
                process.send_signal(signal.SIGINT)
            else:
                terminal.type(b"y\x03")
            await terminal.read_until(b"interrupted")
            assert await process.wait() == 0
            assert trio.current_time() - interrupted < 5.0
        finally:
            with trio.CancelScope(shield=True):
                process.kill()
                await process.wait()
    assert termios.tcgetattr(human) == before
    os.close(program)
    os.close(human)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ASCII ~", "plain ASCII ~"),
        ("Gr\u00fc\u00dfe \u4f60\u597d \U0001f600", "Gr\u00fc\u00dfe \u4f60\u597d \U0001f600"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\x9b31m", "\\u009b31m"),
        ("a\r\n\tb\x7f", "a\\u000d\\u000a\\u0009b\\u007f"),
        ("\u202eabc\u2066\u200f", "\\u202eabc\\u2066\\u200f"),
        ("zero\u200bwidth\ufeff\u00ad", "zero\\u200bwidth\\ufeff\\u00ad"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\ue000\ud800", "\\ue000\\ud800"),
        ("a\u00a0b\u3000\u2003c d", "a\\u00a0b\\u3000\\u2003c d"),
        ("\u3164\u115f\u1160\uffa0\u2800", "\\u3164\\u115f\\u1160\\uffa0\\u2800"),
        ("a\u034fb\ufe0f\u180c\u17b5", "a\\u034fb\\ufe0f\\u180c\\u17b5"),
        ("\U000e0100\U0001d159", "\\udb40\\udd00\\ud834\\udd59"),
        ("e\u0301 \u05d0 \u0e33 \uac00", "e\u0301 \u05d0 \u0e33 \uac00"),
    ],
)
def test_what_does_not_show_as_itself_is_escaped(text: str, shown: str) -> None:
    """Control, direction, zero-width, separator, tag and private characters, odd spaces, fillers and variation selectors."""
    assert visible(text) == shown


def _shown(text: str, detail: str | None = None) -> str:
    row = ApprovalRow(id="r", grant_id="g", text=text, digest="d", created_at=0.0, expires_at=9.0)
    return question(row, seconds_left=8.9, detail=detail)


def test_what_stands_for_a_missing_part_cannot_be_written_by_a_value() -> None:
    """It stands outside of the quotes, and a quote inside a value is escaped."""
    faked = "x" * 100 + '"<5 of 9 characters are not shown here>"' + "\u202e" * 3000 + "the end"
    text = canonical_json({"args": {"a": faked, "b": "short"}, "domain": "a.local", "scope": "read", "tool": "look"})
    shown = _shown(text)
    assert '"<5 of' not in shown.replace('\\"<5 of', "")
    assert f'"<{len(faked) - 160:,} of {len(faked):,} characters are not shown here>"' in shown
    assert 'the end"' in shown
    assert '"b":"short"' in shown
    assert "shortened" in shown


@pytest.mark.parametrize("kind", ["keys", "items", "depth", "long keys", "escapes", "surrogates"])
def test_no_action_fills_more_than_a_screen_or_two(kind: str) -> None:
    """Many small values are cut in the middle; host and prompt stand last whatever there is."""
    args: Any = {
        "keys": {f"key{number}": number for number in range(4000)},
        "items": {"list": list(range(9000))},
        "depth": {"list": [[[[["x" * 150] * 9] * 9] * 3]]},
        "long keys": {"k" * 9000: 1, "l" * 9000: 2},
        "escapes": {"a": "\u202e\x00" * 5000},
        "surrogates": {"a": "\ud83d\U0001f600" * 3000},
    }[kind]
    shown = _shown(canonical_json({"args": args, "domain": "a.local", "scope": "read", "tool": "look"}), detail="words\n" * 5000)
    assert len(shown) < MAX_SHOWN + 2500
    assert "characters are not shown here" in shown
    assert "detail is shortened here: it has 30,000 characters" in shown
    lines = shown.splitlines()
    assert lines[-5:-1] == ["  tool    look", "  host    a.local", "  scope   read: looks, and changes nothing", "  expires in 8 s"]


def test_a_page_cannot_write_lines_of_the_question() -> None:
    """A line break in the tool's detail is indented and marked; one in the JSON is escaped by JSON itself."""
    text = '{"args":{},"domain":"a.local","scope":"read","tool":"look"}'
    shown = _shown(text, detail="fine\n  host    good.local\u2028x\x1b[1A")
    assert "\n  host    good.local" not in shown
    assert "        |   host    good.local\n        | x\\u001b[1A" in shown
    assert "expires in 8 s" in shown


def test_a_terminal_that_cannot_show_a_letter_gets_an_escape() -> None:
    """No encoding error in the middle of a question."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    note(out, "Gr\u00fc\u00dfe")
    assert raw.getvalue() == b"Gr\\xfc\\xdfe"


@pytest.mark.parametrize(
    ("value", "currency", "words"),
    [
        (1250, "EUR", "12.50 EUR (1250 minor units)"),
        (5, "EUR", "0.05 EUR (5 minor units)"),
        (1250, "JPY", "1250 JPY (1250 minor units)"),
        (1250, "KWD", "1.250 KWD (1250 minor units)"),
        (1250, "UYW", "0.1250 UYW (1250 minor units)"),
    ],
)
def test_money_is_written_as_people_write_it(value: int, currency: str, words: str) -> None:
    """With the minor units of ISO 4217, and the counted number beside it."""
    assert money_words(Money(value=value, currency=currency)) == words
