"""The planners that need no model."""

import pytest
import trio
import trio.testing

from foxloop_trio.errors import PlannerError, UsageError
from foxloop_trio.planners import function_planner, scripted_planner
from foxloop_trio.ports import ChatReply, Planner, Usage

HELLO = [{"role": "user", "content": "hello"}]


async def test_a_description_becomes_a_reply_in_the_chat_completions_shape():
    """Content is the text or None; objects are compact JSON, strings go as they are; usage is zero."""
    planner = scripted_planner(
        [
            {"text": "thinking", "calls": [{"name": "a", "args": {"x": [1, "é"]}}, {"name": "b", "args": "{not json"}]},
            {"calls": [{"name": "c"}]},
            {"text": "done"},
            {},
        ]
    )
    first, second, third, fourth = [await planner.chat(HELLO, tools=[]) for _ in range(4)]
    assert first == ChatReply(
        message={
            "role": "assistant",
            "content": "thinking",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "a", "arguments": '{"x":[1,"é"]}'}},
                {"id": "call_2", "type": "function", "function": {"name": "b", "arguments": "{not json"}},
            ],
        },
        usage=Usage(input_tokens=0, output_tokens=0),
        provider="scripted",
    )
    assert second.message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_3", "type": "function", "function": {"name": "c", "arguments": "{}"}}],
    }
    assert third.message == {"role": "assistant", "content": "done"}
    assert fourth.message == {"role": "assistant", "content": None}


async def test_callables_get_the_messages_sync_or_async():
    """A callable's value is the reply of its turn."""

    async def later(messages):
        await trio.lowlevel.checkpoint()
        return {"text": f"{len(messages)} late"}

    planner = scripted_planner([lambda messages: {"text": messages[0]["content"]}, later])
    assert (await planner.chat(HELLO)).message["content"] == "hello"
    assert (await planner.chat([*HELLO, *HELLO])).message["content"] == "2 late"


async def test_more_requests_than_replies_raise():
    """The loop reports it as model-error."""
    planner = scripted_planner([{"text": "once"}])
    await planner.chat(HELLO)
    for _ in range(2):
        with pytest.raises(PlannerError, match="1 reply"):
            await planner.chat(HELLO)
    assert len(planner.seen) == 3


async def test_seen_holds_the_messages_of_each_request_from_before_its_reply():
    """Appended before the reply is made, untouched by what is added to the caller's list later, one reference per message."""
    lengths = []
    planner = scripted_planner([lambda messages: lengths.append(len(planner.seen)) or {"text": "a"}, {"text": "b"}])
    history = list(HELLO)
    await planner.chat(history)
    history.append({"role": "assistant", "content": "a"})
    await planner.chat(history)
    assert lengths == [1]
    assert planner.seen == [HELLO, history]
    assert planner.seen[1][0] is HELLO[0]


async def test_chat_is_a_checkpoint_and_takes_no_reply_when_cancelled():
    """Also when the reply comes from memory; a cancelled request does not use up a reply."""
    planner = scripted_planner([{"text": "a"}])
    with trio.CancelScope() as scope:
        scope.cancel()
        await planner.chat(HELLO)
    assert scope.cancelled_caught
    assert planner.seen == []
    with trio.testing.assert_checkpoints():
        assert (await planner.chat(HELLO)).message["content"] == "a"


@pytest.mark.parametrize(
    "reply",
    [
        "text",
        None,
        {"text": 1},
        {"say": "a"},
        {"calls": {"name": "a"}},
        {"calls": ["a"]},
        {"calls": [{"args": {}}]},
        {"calls": [{"name": "a", "arguments": {}}]},
    ],
)
async def test_a_reply_of_another_shape_is_a_usage_error(reply):
    """A mistake in the script shows at once, or when the callable has returned it."""
    with pytest.raises(UsageError, match=r"replies\[0\]"):
        scripted_planner([reply])
    planner = scripted_planner([lambda messages: reply])
    with pytest.raises(UsageError, match=r"replies\[0\]"):
        await planner.chat(HELLO)


async def test_function_planner_asks_the_function():
    """It gets messages and tools; its value and its errors go to the caller; the call is a checkpoint."""
    asked = []

    async def think(messages, tools):
        asked.append((messages, tools))
        if len(asked) == 2:
            raise ValueError("no idea")
        return ChatReply(message={"role": "assistant", "content": "a"})

    planner = function_planner(think)
    with trio.testing.assert_checkpoints():
        assert (await planner.chat(HELLO, tools=[])).message["content"] == "a"
    assert asked == [(HELLO, [])]
    with pytest.raises(ValueError, match="no idea"):
        await planner.chat(HELLO, tools=[])


def test_function_planner_refuses_what_cannot_be_called():
    """The mistake shows when the planner is made."""
    with pytest.raises(UsageError, match="function_planner"):
        function_planner({"text": "a"})


def test_both_are_planners():
    """They have the shape of the port."""
    assert isinstance(scripted_planner([]), Planner)
    assert isinstance(function_planner(print), Planner)


@pytest.mark.parametrize("args", [{1, 2}, float("nan"), {"a": object()}, b"{}"])
def test_arguments_that_are_no_json_are_refused_when_the_planner_is_made(args):
    """Such a script would end in a model error in the middle of a run. What is no JSON on purpose is given as text."""
    with pytest.raises(UsageError, match=r"replies\[1\]: calls\[0\]: args must be JSON"):
        scripted_planner([{"text": "a"}, {"calls": [{"name": "a", "args": args}]}])
    scripted_planner([{"calls": [{"name": "a", "args": "NaN"}]}])


@pytest.mark.parametrize("replies", [None, 5, "text", {"text": "a"}], ids=str)
def test_a_script_that_is_no_list_is_refused(replies):
    """One reply is not a list of replies."""
    with pytest.raises(UsageError, match="list of replies"):
        scripted_planner(replies)
