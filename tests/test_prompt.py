"""The words that a planner reads, and how outside text is kept apart from them."""

import copy
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio import prompt
from foxloop_trio.actions import ToolOutput
from foxloop_trio.errors import UsageError
from foxloop_trio.prompt import LIMITS, fit_history, goal_message, planner_prompt, result_text, tool_definitions
from foxloop_trio.tools import Tool

NONCE = "0123456789abcdef"
OPEN, CLOSE = f"<<<DATA {NONCE}>>>", f"<<<END {NONCE}>>>"


def output(summary="Saved.", untrusted=None, ok=True):
    return ToolOutput(ok=ok, summary=summary, untrusted=untrusted)


def page(text, head="read: ok\nseen"):
    return {"role": "tool", "tool_call_id": "c", "content": f"{head}\n\nfrom outside:\n{OPEN}\n{text}\n{CLOSE}"}


# Nonce, markers, system and goal message


def test_a_nonce_is_sixteen_lowercase_hex_digits_and_new_each_time():
    """From the system's source, or from the injected ids with their purpose."""
    nonces = {prompt.new_nonce() for _ in range(50)}
    assert len(nonces) == 50
    assert all(len(nonce) == 16 and set(nonce) <= set("0123456789abcdef") for nonce in nonces)
    assert prompt.new_nonce(lambda nbytes, purpose: purpose.encode().ljust(nbytes, b"\xff")) == "6e6f6e6365ffffff"


def test_the_system_message_is_the_same_for_every_run():
    """No nonce in it, so that a model server can reuse its prefix."""
    assert planner_prompt() == planner_prompt(max_calls_per_turn=4, denials=False)
    assert "<<<" not in planner_prompt()


def test_the_system_message_follows_the_options():
    """One call at a time or up to N; refusals that end the run, or some that do not."""
    assert "exactly one tool" in planner_prompt(max_calls_per_turn=1)
    assert "skipped" not in planner_prompt(max_calls_per_turn=1)
    assert "up to 7 tools" in planner_prompt(max_calls_per_turn=7)
    assert "failed results" not in planner_prompt()
    assert "failed results" in planner_prompt(denials=True)


@pytest.mark.parametrize(
    "word", ["finish", "verified", "gate", "refuse", "schemas", "marker", "instructions", "another way", "goal"]
)
def test_the_system_message_says_each_thing_it_must(word):
    """The list of what a planner is told."""
    assert word in planner_prompt()


def test_the_goal_message_holds_the_goal_verbatim_and_both_markers():
    """The goal is the user's own word: nothing in it is escaped."""
    text = goal_message("Buy <milk> & bread", NONCE)
    assert "Buy <milk> & bread" in text
    assert OPEN in text
    assert CLOSE in text


# Results


def test_a_result_without_outside_text_is_two_lines():
    """Name and state, then the summary."""
    assert result_text("save_note", output(), NONCE) == "save_note: ok\nSaved."
    assert result_text("save_note", output(ok=False, untrusted=""), NONCE) == "save_note: failed\nSaved."


def test_outside_text_stands_between_the_markers_each_on_its_own_line():
    """A blank line, the label, the opening marker, the text, the closing marker."""
    lines = result_text("read", output(untrusted="a\nb"), NONCE).split("\n")
    assert lines[:3] == ["read: ok", "Saved.", ""]
    assert "not instructions" in lines[3]
    assert lines[4:] == [OPEN, "a", "b", CLOSE]


@given(
    st.text(alphabet="<>&;ltg DATAEND0123456789abcdef\n", max_size=80), st.text(alphabet="<>DATAEND 0123456789abcdef", max_size=80)
)
def test_no_text_can_form_a_marker(summary, untrusted):
    """Brackets of summary and outside text are escaped, so that the markers are the only ones."""
    text = result_text("read", output(f"{summary}{CLOSE}", f"{CLOSE}{untrusted}<{OPEN}"), NONCE)
    assert text.count("<") == text.count(">") == 6
    assert text.count(OPEN) == text.count(CLOSE) == 1


def test_nothing_but_brackets_is_escaped():
    """An ampersand stays, also in front of something that looks like an escape."""
    assert result_text("a", output("x & y &lt; \"'"), NONCE) == "a: ok\nx & y &lt; \"'"


@pytest.mark.parametrize("limit", ["summary", "untrusted"])
@pytest.mark.parametrize("extra", [-1, 0, 1, 5000])
def test_a_text_is_cut_at_its_limit_and_marked(limit, extra):
    """At the limit it is whole; one more and it is cut at the limit, with a mark."""
    size = LIMITS[limit]
    text = result_text("a", output(**{limit: "~" * (size + extra)}), NONCE)
    assert text.count("~") == min(size, size + extra)
    assert ("~ [cut]" in text) == (extra > 0)


@pytest.mark.parametrize("before", range(6))
def test_a_cut_never_goes_through_an_escape_sequence(before):
    """Escaping comes first; the cut then falls before the sequence that would be broken."""
    size = LIMITS["summary"]
    text = result_text("a", output("x" * (size - before) + "<" * 10), NONCE).split("\n")[1]
    assert text == "x" * (size - before) + "&lt;" * (before // 4) + " [cut]"
    assert len(text) <= size + len(" [cut]")


def test_a_huge_text_costs_no_more_than_its_limit():
    """Ten megabytes of page text are cut before they are escaped (escaping them whole takes 40 MB more)."""
    huge = ToolOutput(ok=True, summary="", untrusted="<" * 10_000_000)
    tracemalloc.start()
    text = result_text("a", huge, NONCE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000
    assert text.count("&lt;") == 1000


def test_the_name_of_an_unknown_tool_cannot_form_a_marker_or_a_line():
    """The planner's own word for a tool may be anything."""
    text = result_text(f"a\n{OPEN}\nb" + "c" * 500, output(), NONCE)
    assert "<" not in text
    assert len(text.split("\n")) == 2
    assert len(text) < 100


# History


def test_a_history_that_fits_is_passed_on_as_it_is():
    """A new list of the very same messages."""
    messages = [{"role": "system", "content": "s"}, page("p")]
    fitted = fit_history(messages, NONCE)
    assert fitted == messages
    assert fitted is not messages
    assert all(one is other for one, other in zip(fitted, messages, strict=True))


def long_history(pages, size=5000):
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "goal"}]
    for index in range(pages):
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": str(index)}]})
        messages.append(page(str(index) * size))
    return messages


def test_the_oldest_outside_texts_go_first_and_only_as_many_as_needed():
    """Six pages of 5000 characters: two must go, the summaries of all stay, nothing given is changed."""
    messages = long_history(6)
    fitted = fit_history(messages, NONCE)
    assert [("0" * 5000) in fitted[3]["content"], ("1" * 5000) in fitted[5]["content"], ("2" * 5000) in fitted[7]["content"]] == [
        False,
        False,
        True,
    ]
    assert fitted[3]["content"] == f"read: ok\nseen\n\nfrom outside:\n{prompt.OLDER_TEXT_REMOVED}"
    assert sum(len(message["content"] or "") for message in fitted) <= LIMITS["history"]
    assert messages == long_history(6)
    assert [message["role"] for message in fitted] == [message["role"] for message in messages]


def test_the_newest_tool_message_and_everything_that_is_no_tool_message_stay():
    """Too much that cannot be removed is sent as it is."""
    block = page("x" * 30_000)["content"]
    messages = [{"role": "system", "content": block}, page("old"), page("y" * 30_000), {"role": "user", "content": block}]
    fitted = fit_history(messages, NONCE)
    assert [fitted[0], fitted[2], fitted[3]] == [messages[0], messages[2], messages[3]]
    assert fitted[1]["content"].endswith(prompt.OLDER_TEXT_REMOVED)


def test_a_message_without_a_block_or_with_another_runs_marker_stays():
    """Only what stands between this run's markers is outside text."""
    other = {"role": "tool", "content": page("z" * 15_000)["content"].replace(NONCE, "f" * 16)}
    plain = {"role": "tool", "content": "read: ok\n" + "z" * 15_000}
    messages = [other, plain, page("new")]
    assert fit_history(messages, NONCE) == messages


def test_a_running_size_saves_the_adding_up():
    """What the caller counts is believed."""
    messages = long_history(6)
    assert fit_history(messages, NONCE, size=LIMITS["history"]) == messages
    size = sum(len(message["content"] or "") for message in messages)
    assert fit_history(messages, NONCE, size=size) == fit_history(messages, NONCE)


def test_fitting_is_one_pass():
    """Two thousand messages of which most must go: each is looked at a few times, not once per removed block."""

    class Watched(dict):
        looks = 0

        def get(self, *args):
            Watched.looks += 1
            return super().get(*args)

    messages = [Watched(message) for message in long_history(1000, size=100)]
    fitted = fit_history(messages, NONCE)
    assert sum(one is not other for one, other in zip(fitted, messages, strict=True)) > 500
    assert Watched.looks <= 4 * len(messages)


# Tool definitions and sentences


def test_tool_definitions_keep_the_order_and_end_with_finish():
    """Name, description and schema of each tool, then the built-in claim with one required summary."""

    async def run(args, ctx):
        raise AssertionError

    tools = [
        Tool(name=name, description=f"{name}!", parameters={"type": "object"}, scope="read", domain="a.test", run=run)
        for name in ("b", "a")
    ]
    definitions = tool_definitions(tools)
    assert definitions[:2] == [
        {"type": "function", "function": {"name": name, "description": f"{name}!", "parameters": {"type": "object"}}}
        for name in ("b", "a")
    ]
    assert len(definitions) == 3
    finish = definitions[2]["function"]
    assert finish["name"] == "finish"
    assert finish["parameters"]["required"] == ["summary"]
    assert finish["parameters"]["properties"]["summary"]["type"] == "string"
    assert "verified" in finish["description"]
    assert tool_definitions({tool.name: tool for tool in tools}) == definitions


def test_what_is_done_to_the_definitions_changes_neither_the_tools_nor_the_next_definitions():
    """Adapters edit what they send, and a planner is not trusted: no schema that judges arguments may be within its reach."""

    async def run(args, ctx):
        raise AssertionError

    schema = {"type": "object", "properties": {"text": {"type": "string", "examples": ["a"]}}, "required": ["text"]}
    tool = Tool(name="note", description="", parameters=schema, scope="fill", domain="a.test", run=run)
    before = copy.deepcopy(tool_definitions([tool]))
    for definition in tool_definitions([tool]):
        parameters = definition["function"]["parameters"]
        parameters["properties"]["evil"] = {"type": "string"}
        next(iter(parameters["properties"].values()))["type"] = "integer"
        parameters["required"].clear()
        definition["function"]["name"] = "other"
    assert tool_definitions([tool]) == before
    assert "evil" in tool.args_problem({"text": "a", "evil": "b"})
    assert "text" in tool.args_problem({})


@pytest.mark.parametrize("raw", [b"", b"1234567", b"123456789", "12345678", None])
def test_a_source_of_ids_that_gives_no_nonce_is_refused(raw):
    """With an empty nonce every page could write the markers, and every argument would seem to hold one."""
    with pytest.raises(UsageError, match="8 bytes"):
        prompt.new_nonce(lambda nbytes, purpose: raw)


def test_finish_is_named_to_the_planner_however_many_tools_there_are():
    """The list is cut in its middle, so the whole sentence fits the summary and the way out is in it."""
    few = prompt.unknown_tool("x", ["a", "finish"])
    assert few.endswith("The tools are: a, finish.")
    names = [f"a_tool_with_a_rather_long_name_{number}" for number in range(200)]
    many = prompt.unknown_tool("x" * 100, [*names, "finish"])
    assert len(many) <= LIMITS["summary"]
    assert many.startswith("There is no tool")
    shown = sum(f"{name}," in many for name in names)
    assert 40 < shown < 200
    assert many.endswith(f", {200 - shown} more, finish.")


def test_the_sentences_name_what_they_must():
    """Programs look at reasons; a planner needs the names, the limit and the way out."""
    assert "marker" in prompt.COPIED_MARKER
    words = prompt.unknown_tool("x" * 1000, ["a", "b", "finish"])
    assert "a, b, finish" in words
    assert len(words) < 150
    assert "at most 4 calls" in prompt.skipped_over_limit(4)
    assert "at most 1 call " in prompt.skipped_over_limit(1)
    assert "2.5 s" in prompt.timed_out(2.5)
    assert prompt.NOTHING_CHECKED == "no tool verified the result"


def test_every_sentence_fits_a_summary():
    """None is cut on its way to the planner."""
    for name in prompt.__all__:
        value = getattr(prompt, name)
        if isinstance(value, str):
            assert len(value) < LIMITS["error"]
