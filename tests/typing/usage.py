"""foxloop_trio as a user writes it. Type checkers read this file; nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

from foxloop_trio import (
    Aborted,
    Action,
    Allow,
    ApprovalNeeded,
    ApprovalRequest,
    Ask,
    Blocked,
    Budget,
    ChatReply,
    Check,
    CheckInput,
    CheckLine,
    CheckResult,
    Deny,
    Done,
    GateDecision,
    Loop,
    LoopEvent,
    Money,
    Outcome,
    Permit,
    Plan,
    Refuse,
    Tool,
    ToolCall,
    ToolContext,
    ToolOutput,
    ToolResult,
    create_gate,
    event_from_json,
    event_to_json,
    function_planner,
    scripted_planner,
    tool,
)
from foxloop_trio.browser import browser_tools, launch_firefox
from foxloop_trio.gate import Rule, callback_approver, terminal_approver
from foxloop_trio.trail import Fault, MemoryTrail, Verified, open_trail, verify_trail


@tool(scope="fill", domain="notes.local")
async def save_note(text: str, ctx: ToolContext) -> ToolOutput:
    """Save a note."""
    ctx.report_effect("done")
    return ToolOutput(ok=True, summary="Saved.", check=CheckResult(ok=True, checks=[CheckLine(part="note", ok=True)]))


async def run_by_hand(args: dict[str, Any], ctx: ToolContext) -> ToolOutput:
    if "price" not in args:
        raise Refuse("say the price")
    assert_type(ctx.permit, Permit | None)
    return ToolOutput(ok=True, summary="Bought.")


buy = Tool(
    name="buy",
    description="Buy it.",
    parameters={"type": "object", "properties": {"price": {"type": "integer"}}, "required": ["price"]},
    scope="pay",
    domain=lambda args, ctx: "shop.example",
    run=run_by_hand,
    amount=lambda args: Money(value=args["price"], currency="EUR"),
)
assert_type(save_note, Tool)


def told(event: LoopEvent) -> str:
    """Every event is matched; a tenth kind would be an error here."""
    match event:
        case Plan():
            return event.text or ""
        case ToolCall():
            return event.name
        case GateDecision(decision=decision, action=action):
            assert_type(action, Action)
            return decision
        case ApprovalNeeded():
            return event.request_id
        case ToolResult():
            return event.summary
        case Check():
            return str(event.ok)
        case Done():
            return event.summary
        case Blocked():
            return event.reason
        case Aborted():
            return "aborted"


def checked(given: CheckInput) -> CheckResult:
    return CheckResult(ok=given.summary != "", problem=None)


async def answer(messages: Any, tools: Any) -> ChatReply:
    return ChatReply(message={"role": "assistant", "content": "done"})


async def main() -> None:
    gate, host = create_gate(tools=[save_note, buy])
    grant = await host.add_grant(scope="fill", domains=["notes.local"], max_uses=3)
    euros = Money(value=10_00, currency="EUR")
    paying = await host.add_grant(scope="pay", domains=["*.shop.example"], cap_per_act=euros, cap_per_site=euros, cap_per_day=euros)
    assert_type(paying.cap_per_site, Money | None)
    assert_type(await host.revoke_grant(grant.id), bool)

    decision = await gate.check(Action(tool="save_note", args={"text": "x"}, domain="notes.local", scope="fill"))
    assert_type(decision, Allow | Ask | Deny)

    rule = await host.add_rule(site="example.com", scope="submit", effect="deny")
    assert_type(await host.remove_rule(rule.id), bool)
    assert_type(await host.rules(), list[Rule])

    async def approve(request: ApprovalRequest) -> str | None:
        return await host.approve(request.request_id)

    async with open_trail("run.trail.jsonl", key="ab" * 32) as trail:
        loop = Loop(
            planner=scripted_planner([{"text": "done"}]),
            gate=gate,
            tools=[save_note, buy],
            on_approval=approve,
            trail=trail,
            budget=Budget(tokens=10_000, seconds=60.0),
            check=checked,
        )
        async with loop.run("a goal") as run:
            async for event in run:
                assert_type(event_from_json(event_to_json(event)), LoopEvent)
                told(event)
            assert_type(run.outcome, Outcome | None)
    assert_type(verify_trail("run.trail.jsonl", key="ab" * 32), Verified | Fault)

    async with launch_firefox(headless=True) as session:
        page = await session.open_tab("http://localhost:8000/")
        async with session.lease(page) as tab:
            tools = browser_tools(tab)
            assert_type(tools, list[Tool])
            tab_gate, tab_host = create_gate(tools=tools)
            tab_loop = Loop(
                planner=function_planner(answer),
                gate=tab_gate,
                tools=tools,
                on_approval=terminal_approver(tab_host) if tab.active else callback_approver(tab_host, lambda request: False),
                trail=MemoryTrail(),
            )
            assert_type(await tab_loop.complete("a goal", on_event=told), Outcome)
