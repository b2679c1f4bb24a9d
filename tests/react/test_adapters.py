"""Adapters: any planner as an llm, tools of the loop as tools of a ReAct run, and the full gate behind `before_tool_call`."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
import trio

from foxloop_trio import Allow, Ask, MemoryGateStore, Money, Refuse, Tool, ToolOutput, create_gate
from foxloop_trio.actions._mint import mint_permit
from foxloop_trio.errors import PlannerError
from foxloop_trio.planners import function_planner, scripted_planner
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.react import (
    gate_hook,
    llm_from_planner,
    planner_as_llm,
    react_hooks_from_gate,
    react_tool,
    run_react_loop,
)
from foxloop_trio.testing import cancel_at_every_checkpoint, scripted_llm

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
DONE = {"calls": [("task_done", {"summary": "s"})]}


class Notes:
    """A tool of the loop, and what it was run with."""

    def __init__(self, **changes: Any) -> None:
        self.ran: list[tuple[Any, Any]] = []
        fields: dict[str, Any] = {
            "name": "save_note",
            "description": "Saves a note.",
            "parameters": TEXT,
            "scope": "fill",
            "domain": "notes.local",
            "run": self.run,
        }
        self.tool = Tool(**{**fields, **changes})

    async def run(self, args: dict[str, Any], ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        self.ran.append((args, ctx))
        return ToolOutput(ok=True, summary="Saved.", untrusted="page text" if args["text"] == "page" else None)


def save(text: str = "a") -> dict[str, Any]:
    return {"calls": [("save_note", {"text": text})]}


def observations(result: Any) -> list[str]:
    return [message.content for message in result.messages if message.role == "tool"]


async def run(*steps: Any, **options: Any) -> Any:
    return await run_react_loop(llm=scripted_llm(steps), system="", **options)


# A planner as an llm


async def test_a_planner_is_an_llm() -> None:
    """Section 9: it gets chat-completions dicts with the system prompt first, and definitions; arguments come back parsed."""
    notes = Notes()
    planner = scripted_planner(
        [{"calls": [{"name": "save_note", "args": {"text": "a"}}]}, {"calls": [{"name": "task_done", "args": '{"summary": "s",}'}]}]
    )
    result = await run_react_loop(
        llm=planner_as_llm(planner), tools=[notes.tool], system="S", initial_messages=[{"role": "user", "content": "Hi"}]
    )
    assert (result.stopped, result.final_summary) == ("task_done", "s")
    assert planner.seen[1] == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "save_note", "arguments": '{"text":"a"}'}}],
        },
        {"role": "tool", "content": "save_note: ok\nSaved.", "tool_call_id": "call_1"},
    ]
    assert llm_from_planner is planner_as_llm


async def test_the_usage_of_a_planner_and_its_definitions_are_passed_on() -> None:
    """Section 9: in the shape of chat completions, the stop tool last."""
    seen: list[Any] = []

    async def chat(messages: Any, tools: Any) -> ChatReply:
        seen.append(tools)
        call = {"id": "x", "type": "function", "function": {"name": "task_done", "arguments": '{"summary": "s"}'}}
        return ChatReply(
            message={"content": "Done.", "tool_calls": [call]}, usage=Usage(input_tokens=5, output_tokens=6), provider="p"
        )

    result = await run_react_loop(llm=planner_as_llm(function_planner(chat)), tools=[Notes().tool], system="")
    assert result.usage == Usage(input_tokens=5, output_tokens=6)
    assert [one["function"]["name"] for one in seen[0]] == ["save_note", "task_done"]
    assert json.loads(json.dumps(seen[0]))[0]["function"]["parameters"] == TEXT


async def test_a_planner_reply_that_cannot_be_read_is_an_error_of_the_model() -> None:
    """R17: one that was cut at its length above all; with `llm_errors` the run goes on."""
    replies = iter([ChatReply(message={"content": "half"}, finish_reason="length"), ChatReply(message={"content": "whole"})])

    async def chat(messages: Any, tools: Any) -> ChatReply:
        return next(replies)

    llm = planner_as_llm(function_planner(chat))
    result = await run_react_loop(llm=llm, tools=[], system="", llm_errors=1, stop_on_text=True)
    assert result.final_summary == "whole"

    async def again(messages: Any, tools: Any) -> Any:
        return "no reply"

    with pytest.raises(PlannerError):
        await run_react_loop(llm=planner_as_llm(function_planner(again)), tools=[], system="")


async def test_what_a_hook_edits_reaches_the_planner_too() -> None:
    """The adapter keeps what it has translated only as long as the conversation has grown at its end."""
    planner = scripted_planner([{"text": "a"}, {"text": "b"}, {"text": "c"}])

    def shorten(state: Any) -> None:
        if state.turn == 3:
            del state.messages[0]

    await run_react_loop(llm=planner_as_llm(planner), tools=[], system="", hooks={"build_context": shorten}, max_turns=3)
    assert [[message["content"] for message in seen[1:]] for seen in planner.seen] == [[], ["a"], ["b"]]


async def test_arguments_that_are_no_json_stand_as_an_empty_object_in_a_planners_history() -> None:
    """Servers refuse a history with anything else; the observation says what was wrong."""
    planner = scripted_planner([{"calls": [{"name": "save_note", "args": "{broken"}]}, {"text": "x"}])
    await run_react_loop(llm=planner_as_llm(planner), tools=[Notes().tool], system="", max_turns=2)
    assert planner.seen[1][1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert "must be an object" in planner.seen[1][2]["content"]


def test_what_is_no_planner_is_refused() -> None:
    """A ValueError."""
    with pytest.raises(ValueError, match="chat"):
        planner_as_llm(object())  # type: ignore[arg-type]


# Tools of the loop


async def test_a_tool_of_the_loop_is_a_tool() -> None:
    """Prepared and run with a context without permit; its words as in the loop, outside text between data markers."""

    async def prepare(args: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"text": args["text"] + "!"}

    notes = Notes(prepare=prepare, domain=lambda args, ctx: "other.local")
    result = await run(save(), save("page"), DONE, tools=[notes.tool])
    args, ctx = notes.ran[0]
    assert (args, ctx.domain, ctx.permit) == ({"text": "a!"}, "other.local", None)
    assert observations(result)[0] == "save_note: ok\nSaved."
    plain = react_tool(notes.tool)
    assert (plain.name, plain.scope, plain.read_only) == ("save_note", "fill", False)
    page = await run(save("page"), DONE, tools=[react_tool(Notes().tool)])
    assert "page text" in observations(page)[0]
    assert observations(page)[0].count("\n") > 3


async def test_a_tool_of_the_loop_may_refuse_in_its_own_words() -> None:
    """`Refuse`: an error observation; and one that fails is marked as failed."""

    def prepare(args: dict[str, Any], ctx: Any) -> dict[str, Any]:
        raise Refuse("Look at the page first.")

    notes = Notes(prepare=prepare)
    assert observations(await run(save(), DONE, tools=[notes.tool]))[0] == "Look at the page first."

    async def fail(args: dict[str, Any], ctx: Any) -> Any:
        return ToolOutput(ok=False, summary="No.") if args["text"] == "a" else "text"

    told = observations(await run(save(), save("b"), DONE, tools=[Notes(run=fail).tool]))
    assert told[:2] == ["save_note: failed\nNo.", "TypeError: save_note returned str, not a ToolOutput"]


# The gate


class Gated:
    """A run whose `save_note` stands behind the real gate."""

    def __init__(self, notes: Notes, **options: Any) -> None:
        self.notes = notes
        self.gate, self.host = create_gate(tools=[notes.tool], store=MemoryGateStore(), now=lambda: 1000.0)
        self.asked: list[Any] = []
        self.options = options

    async def approve(self, request: Any) -> str:
        self.asked.append(request)
        return await self.host.approve(request.request_id)

    async def run(self, *steps: Any, on_approval: Any = None, tools: Any = (), **options: Any) -> Any:
        hooks = react_hooks_from_gate(self.gate, [self.notes.tool], on_approval, wall_clock=lambda: 1000.0)
        return await run(*steps, tools=[self.notes.tool, *tools], hooks=hooks, **options)


async def test_what_the_gate_allows_is_run_with_the_permit_and_its_arguments() -> None:
    """Section 9: prepared arguments, host and permit are those that were judged; the permit dies with the call."""

    async def prepare(args: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"text": args["text"], "target": "pinned"}  # not in the schema: for the gate and the tool, not for the model

    gated = Gated(Notes(prepare=prepare))
    await gated.host.add_grant(scope="fill", domains=["notes.local"])
    result = await gated.run(save(), DONE)
    args, ctx = gated.notes.ran[0]
    assert args == {"text": "a", "target": "pinned"}
    assert ctx.permit.action.args == args
    assert (ctx.domain, ctx.permit.alive) == ("notes.local", False)
    assert observations(result) == ["save_note: ok\nSaved.", "The run ends here."]


async def test_what_a_grant_allows_per_run_is_counted_for_each_run_that_a_hook_serves() -> None:
    """`cap_per_run`: one hook serves two runs after each other and two beside each other, and each may spend as much."""
    paid: list[str] = []
    price = Money(value=100, currency="EUR")

    async def run_pay(args: dict[str, Any], ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        paid.append(ctx.run_id)
        return ToolOutput(ok=True, summary="Paid.")

    tool = attrs.evolve(Notes().tool, scope="pay", domain="shop.local", run=run_pay, amount=lambda args: price)
    gate, host = create_gate(tools=[tool], now=lambda: 1000.0)
    await host.add_grant(scope="pay", domains=["shop.local"], approval="never", cap_per_run=price)
    hooks = react_hooks_from_gate(gate, [tool])

    async def go(results: list[Any]) -> None:
        results.append(await run(save("a"), save("b"), DONE, tools=[tool], hooks=hooks))

    results: list[Any] = []
    await go(results)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(go, results)
        nursery.start_soon(go, results)
    assert len(paid) == len(set(paid)) == 3
    for result in results:
        assert [note.split("\n")[0] for note in observations(result)][:1] == ["save_note: ok"]
        assert "cap_per_run" in observations(result)[1]


async def test_what_the_gate_denies_is_not_run_and_the_model_is_told() -> None:
    """Section 9: an observation, and the run goes on."""
    gated = Gated(Notes())
    result = await gated.run(save(), DONE)
    assert gated.notes.ran == []
    assert observations(result)[0].startswith("The permission gate refused this call (no-grant")
    assert result.stopped == "task_done"


async def test_a_person_is_asked_for_what_needs_one() -> None:
    """Section 9: with the exact action and the tool's own description; the token is redeemed by the gate."""
    gated = Gated(Notes(describe=lambda args, ctx: f"Save {args['text']!r}"))
    await gated.host.add_grant(scope="fill", domains=["notes.local"], approval="always")
    result = await gated.run(save(), DONE, on_approval=gated.approve)
    (request,) = gated.asked
    assert (request.detail, request.action.args, request.step) == ("Save 'a'", {"text": "a"}, 1)
    assert request.call_id == result.messages[0].tool_calls[0].id
    assert len(gated.notes.ran) == 1


@pytest.mark.parametrize("answer", [None, "", 3, "wrong token", OSError("no terminal"), "nobody"], ids=str)
async def test_without_a_yes_nothing_is_run(answer: Any) -> None:
    """A no, silence, a token of somebody else, an approver that breaks, none at all: each is a refusal in words."""

    async def approve(request: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    gated = Gated(Notes())
    await gated.host.add_grant(scope="fill", domains=["notes.local"], approval="always")
    result = await gated.run(save(), DONE, on_approval=None if answer == "nobody" else approve)
    assert gated.notes.ran == []
    assert result.messages[1].role == "tool"
    assert "not" in observations(result)[0]
    assert result.stopped == "task_done"


async def test_a_person_who_does_not_answer_is_waited_for_until_the_request_expires(autojump_clock: trio.testing.MockClock) -> None:
    """As by the loop: 600 seconds by default."""
    gated = Gated(Notes())
    await gated.host.add_grant(scope="fill", domains=["notes.local"], approval="always")

    async def silent(request: Any) -> None:
        await trio.sleep_forever()

    result = await gated.run(save(), DONE, on_approval=silent)
    assert trio.current_time() == 600
    assert observations(result)[0] == "The person who was asked did not approve this call. It was not run."


async def test_a_tool_that_the_gate_does_not_know_is_refused() -> None:
    """Fail closed; only the stop tool needs no leave."""
    other = Notes(name="other")
    gated = Gated(Notes())
    result = await gated.run({"calls": [("other", {"text": "x"})]}, DONE, tools=[other.tool])
    assert other.ran == []
    assert "The gate does not know 'other'" in observations(result)[0]
    assert result.stopped == "task_done"


class Books:
    """A gate that allows everything, and remembers how each permit was closed."""

    def __init__(self, *, broken: bool = False) -> None:
        self.closed: list[str] = []
        self.broken = broken

    async def check(self, action: Any, *, store_request: bool = True) -> Allow:
        await trio.lowlevel.checkpoint()
        text = json.dumps(action.to_json(), sort_keys=True)
        permit = mint_permit(permit_id="p1", grant_id="g1", text=text, digest="0" * 64, ledger=self)
        return Allow(grant_id="g1", permit=permit)

    async def redeem(self, token: str, action: Any) -> Any:
        raise NotImplementedError

    async def still_allows(self, permit_id: str) -> bool:
        return True

    async def settle(self, permit_id: str) -> None:
        await trio.lowlevel.checkpoint()
        self.closed.append("settle")
        if self.broken:
            raise OSError("no space left")

    async def release(self, permit_id: str) -> None:
        await trio.lowlevel.checkpoint()
        self.closed.append("release")


@pytest.mark.parametrize(
    ("how", "closed"), [("works", "settle"), ("raises", "settle"), ("not-started", "release"), ("partial", "settle")]
)
async def test_what_a_tool_spent_stays_spent_unless_it_did_nothing(how: str, closed: str) -> None:
    """Ruling 17: only an effect that is reported as not started is given back."""

    async def act(args: dict[str, Any], ctx: Any) -> ToolOutput:
        if how == "raises":
            raise OSError("lost")
        if how != "works":
            ctx.report_effect(how)
        return ToolOutput(ok=True, summary="ok")

    books, notes = Books(), Notes(run=act)
    await run(save(), DONE, tools=[notes.tool], hooks=react_hooks_from_gate(books, [notes.tool]))
    assert books.closed == [closed]


async def test_books_that_break_change_nothing_about_what_was_done(caplog: pytest.LogCaptureFixture) -> None:
    """The observation is the tool's; the fault is in the log."""
    notes = Notes()
    result = await run(save(), DONE, tools=[notes.tool], hooks=react_hooks_from_gate(Books(broken=True), [notes.tool]))
    assert observations(result)[0] == "save_note: ok\nSaved."
    assert "could not be closed" in caplog.text


async def test_leave_that_is_not_used_is_given_back() -> None:
    """A cancel between the gate's yes and the tool: the tool never began. A cancel in the tool: it stays spent."""
    books, notes = Books(), Notes()
    hook = gate_hook(books, [notes.tool])
    with trio.CancelScope() as scope:

        async def late(call: Any, state: Any) -> Any:
            answer = await hook(call, state)
            scope.cancel()
            return answer

        await run(save(), tools=[notes.tool], hooks={"before_tool_call": late})
    assert (notes.ran, books.closed) == ([], ["release"])

    async def hang(args: dict[str, Any], ctx: Any) -> ToolOutput:
        scope.cancel()
        await trio.sleep_forever()
        raise AssertionError

    books, notes = Books(), Notes(run=hang)
    with trio.CancelScope() as scope:
        await run(save(), tools=[notes.tool], hooks=react_hooks_from_gate(books, [notes.tool]))
    assert books.closed == ["settle"]


async def test_a_gate_that_allows_another_call_is_not_believed() -> None:
    """As in the loop: nothing runs, and the permit is closed."""
    notes, books = Notes(), Books()

    async def other(action: Any, **_: Any) -> Allow:
        return await Books.check(books, attrs.evolve(action, tool="other"))

    books.check = other  # type: ignore[method-assign]
    result = await run(save(), DONE, tools=[notes.tool], hooks=react_hooks_from_gate(books, [notes.tool]))
    assert (notes.ran, books.closed) == ([], ["release"])
    assert observations(result)[0] == "The gate allowed another call than this one, so it was not run."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prepare": lambda args, ctx: 3}, "It could not be prepared"),
        ({"prepare": lambda args, ctx: {"x": float("nan")}}, "It could not be prepared"),
        ({"domain": lambda args, ctx: 3}, "It could not be prepared"),
        ({"domain": lambda args, ctx: 1 / 0}, "ZeroDivisionError"),
    ],
    ids=["prepare", "no json", "domain", "raises"],
)
async def test_a_call_that_cannot_be_prepared_is_not_judged(change: dict[str, Any], words: str) -> None:
    """The reason is in the observation."""
    gated = Gated(Notes(**change))
    assert words in observations(await gated.run(save(), DONE))[0]
    assert gated.notes.ran == []


async def test_a_gate_that_breaks_refuses() -> None:
    """Fail closed: an exception, an answer that is none, an allowance for another call."""

    @attrs.define
    class Broken:
        answer: Any

        async def check(self, action: Any, **_: Any) -> Any:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        async def redeem(self, token: str, action: Any) -> Any:
            raise NotImplementedError

    for answer in (OSError("disk"), "allow"):
        notes = Notes()
        result = await run(save(), DONE, tools=[notes.tool], hooks=react_hooks_from_gate(Broken(answer), [notes.tool]))
        assert observations(result)[0].startswith("The gate could not judge this call")
        assert notes.ran == []


def test_what_is_no_gate_is_refused() -> None:
    """A ValueError, which names what is missing."""
    with pytest.raises(ValueError, match="check"):
        gate_hook(object(), [])  # type: ignore[arg-type]
    gate, _ = create_gate(tools=[Notes().tool])
    with pytest.raises(ValueError, match="on_approval"):
        gate_hook(gate, [Notes().tool], 3)  # type: ignore[arg-type]


class Purse(Books):
    """Books that say of each permit by itself how it was closed, and ask a person about some calls. As the real gate's, a decision
    that was saved is returned also when a cancel arrived meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.permits: dict[str, str] = {}

    async def _allow(self, action: Any) -> Allow:
        await trio.lowlevel.checkpoint()
        permit_id = f"p{len(self.permits)}"
        self.permits[permit_id] = "open"
        await trio.lowlevel.cancel_shielded_checkpoint()
        text = json.dumps(action.to_json(), sort_keys=True)
        return Allow(grant_id="g1", permit=mint_permit(permit_id=permit_id, grant_id="g1", text=text, digest="0" * 64, ledger=self))

    async def check(self, action: Any, *, store_request: bool = True) -> Any:
        if action.args["text"] == "ask":
            return Ask(grant_id="g1", request_id="r1", expires_at=2000.0)
        return await self._allow(action)

    async def redeem(self, token: str, action: Any) -> Allow:
        return await self._allow(action)

    async def settle(self, permit_id: str) -> None:
        await trio.lowlevel.checkpoint()
        self.permits[permit_id] = "settle"

    async def release(self, permit_id: str) -> None:
        await trio.lowlevel.checkpoint()
        self.permits[permit_id] = "release"


class GatedSweep:
    """Three calls, for one of which a person is asked; `closed` has how permits were closed in all the runs."""

    def __init__(self, *, parallel: bool) -> None:
        self.parallel = parallel
        self.purse, self.began = Purse(), set[str]()
        self.closed: set[str] = set()

    async def act(self, args: dict[str, Any], ctx: Any) -> ToolOutput:
        self.began.add(ctx.permit.id)
        await trio.lowlevel.checkpoint()
        return ToolOutput(ok=True, summary="ok")

    async def approve(self, request: Any) -> str:
        await trio.lowlevel.checkpoint()
        return "token"

    async def run(self) -> None:
        self.purse, self.began = Purse(), set()
        notes = Notes(run=self.act)
        hooks = react_hooks_from_gate(self.purse, [notes.tool], self.approve, wall_clock=lambda: 1000.0)
        tool = attrs.evolve(react_tool(notes.tool), parallel_safe=True)
        row = {"calls": [("save_note", {"text": text}) for text in ("a", "ask", "b")]}
        result = await run(row, DONE, tools=[tool], hooks=hooks, parallel=self.parallel)
        assert observations(result)[:3] == ["save_note: ok\nok"] * 3

    def check(self, visit: Any) -> None:
        assert self.purse.permits == {permit: "settle" if permit in self.began else "release" for permit in self.purse.permits}
        self.closed |= set(self.purse.permits.values())

    async def sweep(self, **options: Any) -> Any:
        return await cancel_at_every_checkpoint(self.run, check=self.check, **options)


@pytest.mark.parametrize("again_after", [None, 1])
@pytest.mark.parametrize(("parallel", "least"), [(True, 20), (False, 15)], ids=["row", "one by one"])
async def test_wherever_a_gated_run_is_cancelled_every_permit_is_closed(
    parallel: bool, least: int, again_after: int | None
) -> None:
    """R18 and section 9, over gate, person and tools: what ran is settled, what did not is given back, and none is left open."""
    scene = GatedSweep(parallel=parallel)
    report = await scene.sweep(again_after=again_after)
    assert report.checkpoints >= least, report
    assert scene.closed == {"settle", "release"}


async def test_a_permit_that_is_left_open_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: what was admitted and is not run is never given back."""
    from foxloop_trio.react import _acting

    async def nothing(instead: Any, call_id: str) -> None:
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(_acting, "give_back", nothing)
    report = await GatedSweep(parallel=True).sweep(strict=False)
    assert {violation.kind for violation in report.violations} == {"check"}
