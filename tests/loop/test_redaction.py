"""A secret that a tool's `redact` hides is in no event and on no record, whoever repeats it (ruling 13, GB-L14, buglog B70).

The canary holds a quote, a backslash and letters that JSON may escape, around a core of plain ASCII that no spelling of it changes:
what is searched for is the core, so every escaped form is found too.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckLine, CheckResult, Deny, ToolOutput
from foxloop_trio.errors import Refuse
from foxloop_trio.events import event_to_json
from foxloop_trio.loop import Budget, Denials
from foxloop_trio.planners import function_planner
from foxloop_trio.ports import ChatReply
from foxloop_trio.tools import Tool

CORE = "zebra9417"
CANARY = f'é"{CORE}\\🦊'
PASSING = CheckResult(ok=True)
TWO = {"user": {"type": "string"}, "password": {}}


def mask(args: dict[str, Any]) -> dict[str, Any]:
    return {**args, "password": "•••"}


class Login:
    """The tool that hides its password; `seen` are the arguments that it ran with."""

    def __init__(self, **changes: Any) -> None:
        self.seen: list[Any] = []
        fields: dict[str, Any] = {
            "name": "login",
            "description": "Logs in.",
            "parameters": {
                "type": "object",
                "properties": {"user": {"type": "string"}, "password": {"type": "string"}},
                "required": ["user", "password"],
            },
            "scope": "fill",
            "domain": "shop.test",
            "redact": mask,
            "run": self.run,
        }
        self.tool = Tool(**{**fields, **changes})

    async def run(self, args: Any, ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        self.seen.append(args)
        return ToolOutput(ok=True, summary="Logged in.", check=PASSING)


def login(parts: Any, password: Any = CANARY, **more: Any) -> dict[str, Any]:
    return {**parts.reply(parts.call("login", user="ada", password=password)), **more}


def leaks(bench: Any, events: list[Any], core: str = CORE) -> list[str]:
    """Every event and record that shows the secret, in any of its spellings."""
    found = [f"repr of {event.type}" for event in events if core in repr(event)]
    found += [f"json of {event.type}" for event in events if core in json.dumps(event_to_json(event), default=repr)]
    found += [kind for kind, data in bench.sink.entries if core in json.dumps(data)]
    found += ["outcome"] if core in repr(bench.last.outcome) else []
    return found


def secret_run(parts: Any, *replies: Any, tools: Any = (), login_tool: Any = None, **options: Any) -> Any:
    """A bench whose first reply logs in with the secret."""
    mine = login_tool or Login()
    options.setdefault("sink", parts.MemorySink())
    bench = parts.Bench(login(parts), *replies, tools=[mine.tool, *tools], **options)
    bench.login = mine
    return bench


# The arguments themselves


async def test_the_tool_runs_with_the_true_arguments_and_events_and_trail_have_the_redacted_ones(parts: Any) -> None:
    """Ruling 13: from the plan event on, what is shown is what `redact` made of it."""
    bench = secret_run(parts, parts.FINISH)
    events = await bench.run()
    assert bench.login.seen == [{"user": "ada", "password": CANARY}]
    assert bench.gate.checked[0].args == {"user": "ada", "password": CANARY}
    shown = {"user": "ada", "password": "•••"}
    assert json.loads(events[0].calls[0].args) == shown
    assert events[1].args == shown
    assert events[2].action.args == shown
    assert bench.sink.data("loop.decision")[0]["record"]["allowed"]["args"] == shown
    assert leaks(bench, events) == []
    assert events[-1].type == "done"


async def test_the_approver_sees_the_true_action_and_the_events_the_redacted_one(parts: Any) -> None:
    """A human cannot judge what is masked; what is on record is."""
    asked: list[Any] = []

    async def approve(request: Any) -> str:
        asked.append(request)
        return "t"

    mine = Login(describe=lambda args, ctx: f"Log in with {args['password']}")
    bench = secret_run(parts, parts.FINISH, gate=parts.StubGate("ask"), on_approval=approve, login_tool=mine)
    events = await bench.run()
    assert asked[0].action.args["password"] == CANARY
    assert asked[0].detail == f"Log in with {CANARY}"
    needed = next(event for event in events if event.type == "approval-needed")
    assert (needed.action.args["password"], needed.detail) == ("•••", "Log in with •••")
    assert bench.gate.redeemed[0][1].args["password"] == CANARY
    assert leaks(bench, events) == []


async def test_what_prepare_adds_is_redacted_too_before_it_is_judged_in_public(parts: Any) -> None:
    """engine.md: `Redact` before the plan, and again on the prepared arguments."""
    mine = Login(prepare=lambda args, ctx: {**args, "password": args["password"] + CORE, "pin": {"node": 1}})
    bench = secret_run(parts, parts.FINISH, login_tool=mine)
    events = await bench.run()
    assert mine.seen == [{"user": "ada", "password": CANARY + CORE, "pin": {"node": 1}}]
    assert events[2].action.args == {"user": "ada", "password": "•••", "pin": {"node": 1}}
    assert leaks(bench, events) == []


@pytest.mark.parametrize("raw", [f'{{"password": "{CORE}"', f"{CORE} {CORE}", f'["{CORE}"]', f'"{CORE}"'])
async def test_arguments_that_do_not_parse_are_withheld_with_their_length(parts: Any, raw: str) -> None:
    """Ruling 13: nothing of a text that cannot be read is shown, as nobody knows what of it is the secret."""
    bench = parts.Bench(parts.reply({"name": "login", "args": raw}), tools=[Login().tool], max_steps=1, sink=parts.MemorySink())
    events = await bench.run()
    words = f"[withheld: {len(raw)} characters]"
    assert (events[0].calls[0].args, events[1].args) == (words, words)
    assert next(event for event in events if event.type == "tool-result").reason == "invalid-args"
    assert leaks(bench, events) == []


@pytest.mark.parametrize("answer", ["raise", None, "text", [1], "async"])
async def test_a_redact_that_cannot_say_what_to_hide_hides_all_of_it_and_fails_the_call(parts: Any, answer: Any) -> None:
    """A fault of `redact` never shows a secret; what cannot be put on record is not judged and not run."""

    def redact(args: Any) -> Any:
        if answer == "raise":
            raise ValueError(args["password"])
        if answer == "async":
            return Waiting()
        return answer

    class Waiting:
        def __await__(self) -> Any:
            raise AssertionError("awaited")

    bench = secret_run(parts, parts.FINISH, login_tool=Login(redact=redact))
    events = await bench.run()
    assert events[1].args.startswith("[withheld: ")
    assert leaks(bench, events) == []
    assert next(event for event in events if event.type == "tool-result").reason == "invalid-args"
    assert (bench.login.seen, bench.gate.checked) == ([], [])


async def test_a_redact_that_fails_on_the_prepared_arguments_fails_the_call_before_the_gate(parts: Any) -> None:
    """What cannot be shown redacted cannot be put on record, so it is not judged."""

    def redact(args: Any) -> Any:
        if "pin" in args:
            raise ValueError(f"cannot say {CANARY}")
        return mask(args)

    bench = secret_run(parts, login_tool=Login(redact=redact, prepare=lambda args, ctx: {**args, "pin": 1}), max_steps=1)
    events = await bench.run()
    assert next(event for event in events if event.type == "tool-result").reason == "invalid-args"
    assert bench.gate.checked == []
    assert leaks(bench, events) == []


async def test_a_redact_that_changes_its_argument_changes_nothing_but_its_own_copy(parts: Any) -> None:
    """The tool still gets what was planned, and what was taken out is still known."""

    def redact(args: Any) -> Any:
        args["password"] = "•••"
        return args

    bench = secret_run(parts, parts.FINISH, login_tool=Login(redact=redact))
    events = await bench.run()
    assert bench.login.seen == [{"user": "ada", "password": CANARY}]
    assert leaks(bench, events) == []


async def test_a_redact_that_keeps_what_it_returned_cannot_change_the_events_by_it(parts: Any) -> None:
    """Shown arguments are copies."""
    kept: list[Any] = []

    def redact(args: Any) -> Any:
        kept.append({**args, "password": ["•••"]})
        return kept[0]

    bench = secret_run(parts, parts.FINISH, login_tool=Login(redact=redact))

    def each(run: Any, event: Any) -> None:
        kept[0]["password"].append(CANARY)

    events = await bench.run(each=each)
    assert events[2].action.args["password"] == ["•••"]
    assert leaks(bench, events) == []


async def test_redaction_has_its_word_before_a_call_is_refused_skipped_or_run_over_budget(parts: Any) -> None:
    """Every call of a reply is shown redacted in the plan, whatever becomes of it."""
    calls = [parts.call("login", user="ada", password=CANARY) for _ in range(2)]
    bad = {"name": "login", "args": {"user": "ada", "password": CANARY, "scope": "pay"}}
    bench = parts.Bench(
        parts.reply(*calls, parts.call("login", user="b", password=CANARY), bad), tools=[Login().tool],
        budget=Budget(tool_calls=1), sink=parts.MemorySink(),
    )  # fmt: skip
    events = await bench.run()
    assert [event.reason for event in events if event.type == "tool-result"] == [None, "skipped", "skipped", "skipped"]
    assert leaks(bench, events) == []


# Whoever repeats it


def repeating_tool(parts: Any, how: str) -> Any:
    """A note tool without a `redact` of its own that says the secret in one of its ways."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        if how == "raises":
            raise ValueError(f"no such user: {CANARY}")
        if how == "refuses":
            raise Refuse(f"not {CANARY}")
        if how == "group":
            raise ExceptionGroup("g", [ValueError(CANARY), OSError("x")])
        words = {"summary": f"Saw {CANARY}"} if how == "summary" else {"summary": "Saw it."}
        if how == "untrusted":
            words["untrusted"] = f"page: {CANARY}"
        data = {"deep": [{CANARY: CANARY}, (CANARY,)]} if how == "data" else None
        line = CheckLine(part=CANARY, ok=False, evidence=CANARY)
        check = CheckResult(ok=False, checks=(line,), problem=CANARY) if how == "check" else PASSING
        return ToolOutput(ok=how != "failed", data=data, check=check, **words)

    def fault(*_: Any) -> Any:
        raise ValueError(f"cannot {CANARY}")

    changes = {how: fault} if how in ("prepare", "domain", "describe") else {}
    if how == "described":
        changes = {"describe": lambda args, ctx: f"Say {CANARY}"}
    return parts.save_note([], run=run, **changes)


@pytest.mark.parametrize(
    "how",
    [
        "summary", "untrusted", "data", "check", "raises", "refuses", "group", "prepare", "domain", "describe", "described",
    ],
)  # fmt: skip
async def test_what_another_tool_says_of_the_secret_is_masked(parts: Any, how: str) -> None:
    """Results, details, checks, hooks and descriptions of a tool that knows nothing of it."""

    async def approve(request: Any) -> str:
        return "t"

    gate = parts.StubGate("allow", "ask")
    bench = secret_run(
        parts, parts.reply(parts.call(text="x")), parts.FINISH, parts.FINISH, tools=[repeating_tool(parts, how)], gate=gate,
        on_approval=approve, max_steps=4,
    )  # fmt: skip
    events = await bench.run()
    assert leaks(bench, events) == []
    assert events[-1].type in ("done", "blocked")
    if how == "data":
        assert next(event.data for event in events if getattr(event, "data", None)) == {"deep": [{"•••": "•••"}, ("•••",)]}
    if how in ("summary", "untrusted", "raises"):  # the planner is not kept from what the tool told it
        texts = [message["content"] or "" for message in bench.planner.seen[-1]]
        assert any(CORE in text for text in texts)


@pytest.mark.parametrize("where", ["beside", "later", "argument", "number", "escaped"])
async def test_what_the_planner_says_of_the_secret_is_masked(parts: Any, where: str) -> None:
    """In the text of the same reply and of a later one, and in the arguments of another tool."""
    notes: list[str] = []
    note = parts.reply(parts.call(text=f"my password is {CANARY}"))
    replies = {
        "beside": [login(parts, text=f"I use {CANARY}"), parts.FINISH],
        "later": [login(parts), {**parts.reply(parts.call(text="x")), "text": f"I used {CANARY}"}],
        "argument": [login(parts), note],
        "number": [login(parts, "94175123"), parts.reply({"name": "count", "args": {"n": 94175123}})],
        "escaped": [login(parts), parts.reply({"name": "save_note", "args": json.dumps({"text": CANARY}, ensure_ascii=True)})],
    }[where]
    number = Tool(
        name="count", description="Counts.", scope="fill", domain="shop.test", run=Login().run,
        parameters={"type": "object", "properties": {"n": {"type": "integer"}}},
    )  # fmt: skip
    tools = [Login().tool, parts.save_note(notes), number]
    bench = parts.Bench(*replies, tools=tools, max_steps=2, sink=parts.MemorySink())
    events = await bench.run()
    assert leaks(bench, events, "94175123" if where == "number" else CORE) == []
    if where in ("argument", "escaped"):
        assert CORE in notes[0]
        assert CORE in bench.gate.checked[1].args["text"]


@pytest.mark.parametrize("how", ["deny", "learn", "raises", "redeem deny", "redeem raises", "approver"])
async def test_what_the_gate_or_the_approver_says_of_the_secret_is_masked(parts: Any, how: str) -> None:
    """Deny messages that quote an argument, and errors that do."""
    no = Deny(reason="no-grant", message=f"{CANARY} is not granted")

    async def approve(request: Any) -> str:
        if how == "approver":
            raise RuntimeError(f"dialog broke over {CANARY}")
        return "t"

    answers: list[Any] = {"deny": [no], "learn": [no], "raises": [RuntimeError(CANARY)]}.get(how, ["ask"])
    gate = parts.StubGate(*answers)
    gate.redeem_answers = {"redeem deny": [no], "redeem raises": [RuntimeError(CANARY)]}.get(how, [])
    denials = Denials(retry=lambda reason: True) if how == "learn" else None
    bench = secret_run(parts, parts.FINISH, gate=gate, on_approval=approve, denials=denials, max_steps=1)
    events = await bench.run()
    assert events[-1].type == "blocked"
    assert "•••" in (events[-1].message if how != "learn" else events[-2].summary)
    assert leaks(bench, events) == []


@pytest.mark.parametrize("how", ["summary", "text", "evidence", "raises", "done"])
async def test_what_a_claim_or_its_check_says_of_the_secret_is_masked(parts: Any, how: str) -> None:
    """Claims, verdicts and their failed lines, which the block message repeats."""
    claim = {
        "summary": parts.reply({"name": "finish", "args": {"summary": f"Used {CANARY}"}}),
        "text": {"text": f"Used {CANARY}", "calls": []},
    }.get(how, parts.FINISH)

    def check(given: Any) -> CheckResult:
        if how == "raises":
            raise OSError(CANARY)
        line = CheckLine(part=CANARY, ok=how == "done", evidence=CANARY)
        return CheckResult(ok=how == "done", checks=(line,), problem=CANARY)

    bench = secret_run(parts, claim, claim, check=check)
    events = await bench.run()
    assert parts.told(events)[-1] == ("done" if how == "done" else "blocked check-failed")
    assert leaks(bench, events) == []


async def test_what_a_planners_error_says_of_the_secret_is_masked(parts: Any) -> None:
    """A server's error often quotes the request."""

    async def plan(messages: Any, tools: Any) -> Any:
        if len(messages) > 2:
            raise RuntimeError(f"cannot send {CANARY}")
        function = {"name": "login", "arguments": json.dumps({"user": "ada", "password": CANARY})}
        return ChatReply(message={"content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]})

    bench = secret_run(parts, planner=function_planner(plan))
    events = await bench.run()
    assert (events[-1].reason, events[-1].message) == ("model-error", "cannot send •••")
    assert leaks(bench, events) == []


@pytest.mark.parametrize("how", ["late", "effect", "clean-up", "timeout"])
@pytest.mark.parametrize("stop", ["abort", "cancel"])
async def test_what_a_stopped_tool_says_of_the_secret_is_masked(parts: Any, how: str, stop: str, autojump_clock: Any) -> None:
    """Late results, reported effects and errors of clean-up, in the event and in the effect's note."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        if how in ("effect", "timeout"):
            ctx.report_effect("partial", {"typed": [CANARY]})
        if how == "late":
            with trio.CancelScope(shield=True):
                await trio.sleep(10)
            return ToolOutput(ok=True, summary=f"Typed {CANARY}")
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            if how == "clean-up":
                raise ValueError(CANARY) from None
            raise
        raise AssertionError

    budget = Budget(tool_seconds=2) if how == "timeout" else Budget()
    bench = secret_run(parts, login_tool=Login(run=run), budget=budget, max_steps=1)
    events: list[Any] = []
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery, bench.loop.run("g") as bench.last:

            async def later() -> None:
                await trio.sleep(3)
                bench.last.abort() if stop == "abort" else scope.cancel()

            nursery.start_soon(later)
            async for event in bench.last:
                events.append(event)
    assert leaks(bench, events) == []
    said = bench.sink.data("loop.effect") + bench.sink.data("loop.tool-result")  # a result, when the stop came too late for a note
    assert "•••" in json.dumps(said, ensure_ascii=False)
    assert bench.login.seen == []


async def test_what_settle_raises_of_the_secret_is_masked_in_its_note(parts: Any, autojump_clock: Any) -> None:
    """`loop.settle-error` quotes the host's own code."""

    async def settle(given: Any) -> str:
        assert given.results[0].args["password"] == CANARY  # the host's own hook sees what was asked for
        raise OSError(f"cannot read {CANARY}")

    bench = secret_run(parts, parts.FINISH, settle=settle)
    events = await bench.run()
    assert bench.sink.data("loop.settle-error")[0]["error"] == "cannot read •••"
    assert leaks(bench, events) == []


async def test_what_the_books_or_the_trail_say_of_the_secret_is_masked(parts: Any) -> None:
    """`loop.permit-error`, and the message of trail-failed."""

    class Ledger(parts.StubLedger):  # type: ignore[misc,name-defined]
        async def settle(self, permit_id: str) -> None:
            raise RuntimeError(f"cannot book {CANARY}")

    class Sink(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, *, actor: str, kind: str, data: Any) -> None:
            if kind == "loop.tool-result":
                raise OSError(f"cannot write {CANARY}")
            await super().append(actor=actor, kind=kind, data=data)

    gate = parts.StubGate()
    gate.ledger = Ledger()
    bench = secret_run(parts, gate=gate, sink=Sink())
    events = await bench.run()
    assert (events[-1].reason, events[-1].message) == ("trail-failed", "cannot write •••")
    assert bench.sink.data("loop.permit-error")[0]["error"] == "cannot book •••"
    assert leaks(bench, events) == []


# In odd forms and places


@pytest.mark.parametrize("secret", [f'"{CORE}\\', f"'\"{CORE}", f"{CORE}\x01", f'"{CORE}\\x'])
async def test_the_repr_of_a_secret_in_an_exception_is_masked(parts: Any, secret: str) -> None:
    """`KeyError(secret)` says `repr(secret)`, which is neither the plain nor the JSON form."""

    async def run(args: Any, ctx: Any) -> Any:
        raise KeyError(secret)

    bench = parts.Bench(login(parts, secret), tools=[Login(run=run).tool], max_steps=1, sink=parts.MemorySink())
    assert leaks(bench, await bench.run()) == []


@pytest.mark.parametrize("secret", [f"<{CORE}", f"a>{CORE}"])
async def test_a_secret_with_angle_brackets_is_masked_in_what_the_planner_reads_too(parts: Any, secret: str) -> None:
    """13.4: the planner's text is on record with its brackets escaped, so that form is hidden too."""

    async def run(args: Any, ctx: Any) -> Any:
        return ToolOutput(ok=True, summary=f"Typed {secret}", untrusted=secret)

    bench = parts.Bench(login(parts, secret), tools=[Login(run=run).tool], max_steps=1, sink=parts.MemorySink())
    assert leaks(bench, await bench.run()) == []


@pytest.mark.parametrize("where", ["summary", "detail", "claim", "untrusted", "describe"])
async def test_a_text_that_is_cut_in_the_middle_of_a_secret_does_not_show_its_first_half(parts: Any, where: str) -> None:
    """Masked first, cut second: half a secret is no longer the secret, and would stay."""
    secret = CORE * 3
    words = "x" * {"summary": 1985, "claim": 1985, "describe": 1985, "detail": 485, "untrusted": 3985}[where] + secret

    async def run(args: Any, ctx: Any) -> Any:
        if where == "detail":
            raise ValueError(words)
        return ToolOutput(ok=True, summary=words if where == "summary" else "s", untrusted=words if where == "untrusted" else None)

    async def approve(request: Any) -> str:
        return "t"

    mine = Login(run=run, describe=(lambda args, ctx: words) if where == "describe" else None)
    claim = parts.reply({"name": "finish", "args": {"summary": words}})
    gate = parts.StubGate("ask" if where == "describe" else "allow")
    bench = parts.Bench(
        login(parts, secret),
        claim if where == "claim" else parts.FINISH,
        tools=[mine.tool],
        max_steps=2,
        sink=parts.MemorySink(),
        gate=gate,
        on_approval=approve,
    )
    assert leaks(bench, await bench.run()) == []


@pytest.mark.parametrize("where", ["name", "id", "u-escape", "key"])
async def test_what_the_planner_repeats_in_odd_places_is_masked(parts: Any, where: str) -> None:
    """A secret as the name of a tool, as a call's id, with needless escapes in raw arguments, or as a key that redact takes out."""
    secret = CORE
    calls: list[Any] = {
        "name": [("c2", secret, "{}")],
        "id": [(secret, "save_note", '{"text": "a"}')],
        "u-escape": [("c2", "save_note", '{"text": "\\u007aebra9417"}')],
        "key": [("c2", "save_note", json.dumps({"text": "a", secret: 1}))],
    }[where]
    password: Any = {secret: 1} if where == "key" else secret

    def call(call_id: str, name: str, args: str) -> Any:
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": args}}

    async def plan(messages: Any, tools: Any) -> Any:
        first = call("c1", "login", json.dumps({"user": "ada", "password": password}))
        return ChatReply(message={"content": None, "tool_calls": [first, *(call(*one) for one in calls)]})

    mine = Login(
        parameters={
            "type": "object",
            "properties": {
                "user": {"type": "string"},
                "password": {"type": "object", "additionalProperties": True} if where == "key" else {"type": "string"},
            },
        }
    )
    bench = parts.Bench(
        planner=function_planner(plan), tools=[mine.tool, parts.save_note([])], max_steps=1, sink=parts.MemorySink()
    )
    events = await bench.run()
    core = secret if where != "u-escape" else "ebra9417"
    assert leaks(bench, events, core) == []


class Pair(tuple[Any, ...]):  # as a namedtuple is built: of its parts, not of a sequence
    def __new__(cls, a: Any, b: Any) -> Any:
        return super().__new__(cls, (a, b))


def deep() -> Any:
    value: Any = []
    for _ in range(3000):
        value = [value]
    return value


def circle() -> Any:
    value: Any = []
    value.append(value)
    return value


@pytest.mark.parametrize("data", [Pair(1, 2), deep(), circle(), 10**5000], ids=["namedtuple", "deep", "circle", "huge"])
@pytest.mark.parametrize("recorded", [False, True])
async def test_odd_data_of_a_tool_ends_in_a_proper_stop_when_something_is_hidden(parts: Any, data: Any, recorded: bool) -> None:
    """INV-1: the masks walk `data`, whatever it is."""

    async def run(args: Any, ctx: Any) -> Any:
        return ToolOutput(ok=True, summary="ok", data=data, check=PASSING)

    bench = parts.Bench(login(parts), parts.FINISH, tools=[Login(run=run).tool], sink=parts.MemorySink() if recorded else None)
    events = await bench.run()
    assert events[-1].type in ("done", "blocked")


@pytest.mark.parametrize(
    "extra",
    [10**5000, object(), {1: 2}, deep(), circle(), {"k": {1, 2}}, threading.Lock()],
    ids=["huge", "object", "int key", "deep", "circle", "set", "lock"],
)
@pytest.mark.parametrize("hides", [False, True])
async def test_odd_prepared_arguments_end_in_a_proper_stop(parts: Any, extra: Any, hides: bool) -> None:
    """INV-1: what `prepare` returns is copied, shown and judged, whatever it is."""
    mine = Login(prepare=lambda args, ctx: {**args, "extra": extra}, **({} if hides else {"redact": None}))
    bench = parts.Bench(login(parts), parts.FINISH, tools=[mine.tool], sink=parts.MemorySink())
    events = await bench.run()
    assert events[-1].type in ("done", "blocked")


async def test_bytes_and_sets_in_data_do_not_show_the_secret(parts: Any) -> None:
    """Without a trail such data is harmless, but the event would show it."""

    async def run(args: Any, ctx: Any) -> Any:
        return ToolOutput(ok=True, summary="ok", data={"set": {CORE}, "bytes": CORE.encode()}, check=PASSING)

    bench = parts.Bench(login(parts, CORE), parts.FINISH, tools=[Login(run=run).tool])
    bench.sink = parts.MemorySink()
    events = await bench.run()
    assert [event.type for event in events if CORE in repr(event)] == []


# The goal


@pytest.mark.parametrize("hides", [True, False])
async def test_the_goal_is_on_record_by_its_length_only_when_a_tool_hides_something(parts: Any, hides: bool) -> None:
    """The goal may hold the secret, and is written down before anybody can know which part of it that is."""
    goal = f"Log in as ada with {CANARY}"
    bench = parts.Bench(
        login(parts), parts.FINISH, tools=[Login(**({} if hides else {"redact": None})).tool], sink=parts.MemorySink()
    )
    async with bench.loop.run(goal) as bench.last:
        events = [event async for event in bench.last]
    start = bench.sink.data("loop.start")[0]
    assert start["goal"] == (f"[withheld: {len(goal)} characters]" if hides else goal)
    assert "goal_digest" not in start  # a short secret in a known sentence could be guessed from it
    assert all(("sha256" in note) is not hides for note in bench.sink.data("loop.observation"))  # and from this one
    assert (leaks(bench, events) == []) is hides
    assert CANARY in bench.planner.seen[0][1]["content"]


async def test_a_run_whose_tools_hide_nothing_shows_everything(parts: Any) -> None:
    """The accepted twin of all of the above."""
    bench = parts.Bench(login(parts), parts.FINISH, tools=[Login(redact=None).tool], sink=parts.MemorySink())
    events = await bench.run()
    assert json.loads(events[0].calls[0].args)["password"] == CANARY
    assert leaks(bench, events) != []


@pytest.mark.parametrize("short", ["7", "42"])
async def test_a_value_too_short_to_be_masked_everywhere_is_masked_in_its_place(parts: Any, short: str) -> None:
    """Shorter than three characters it would black out every other word."""
    bench = parts.Bench(login(parts, short, text=f"step {short}"), parts.FINISH, tools=[Login().tool], sink=parts.MemorySink())
    events = await bench.run()
    assert events[0].text == f"step {short}"
    assert json.loads(events[0].calls[0].args)["password"] == "•••"
