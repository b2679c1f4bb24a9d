"""Passwords: typed only with the host's leave, exactly, and nowhere to be read (tool reference, section 7)."""

import attrs
import pytest
import trio

from foxloop_trio.actions import Action
from foxloop_trio.browser._seal import seal
from foxloop_trio.errors import Refuse, UsageError
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.trail import MemoryTrail

START = "http://shop.test/login"
SECRET = "hunter2 "
PAGE = {
    START: {
        "title": "Log in",
        "controls": [
            {"role": "textbox", "label": "User", "name": "user", "form": "f"},
            {"role": "textbox", "label": "Password", "name": "pw", "type": "password", "form": "f"},
            {"role": "textbox", "label": "Again", "type": "password", "form": "f"},
            {"role": "textbox", "label": "IBAN", "sensitive": True},
            {"role": "button", "label": "Log in", "submit": True, "form": "f"},
        ],
        "forms": {"f": {"action": "/in", "method": "post"}},
    },
    "http://shop.test/in": {"title": "In"},
}


def allowing(*values, asked=None):
    def passwords(url):
        if asked is not None:
            asked.append(url)
        return list(values)

    return passwords


def login(world, value=SECRET):
    return {"fields": world.fields(User="ada", Password=value), "send_id": world.id_of("Log in")}


async def test_an_allowed_password_is_typed_and_nobody_can_read_it(autojump_clock, world_of):
    """The page gets it; judged arguments, description, result and check have a mask. The address asked for is the frame's."""
    asked = []
    async with world_of(PAGE, start=START, passwords=allowing(SECRET, asked=asked)) as world:
        masked = world.fields(User="ada", Password="•••")
        output = await world.call("fill_and_send", **login(world))
        assert output.ok, output
        assert world.acts[1] == ("type", "Password", SECRET)
        assert world.browser.acts[-1].sent == {"user": "ada", "pw": SECRET, "Again": ""}
        assert world.judged.args["fields"] == masked
        assert 'textbox "Password": "•••"' in world.detail
        assert 'it holds "•••"' in [line.evidence for line in output.check.checks]
        for shown in (world.judged, world.detail, output, world.effect):
            assert "hunter2" not in str(shown)
        assert asked == [START, START]


async def test_without_passwords_every_secret_field_is_refused(autojump_clock, world_of):
    """In prepare, without a word of the value; the rest of the form can be filled."""
    async with world_of(PAGE, start=START) as world:
        for name, more in (("fill", {}), ("fill_and_send", {"send_id": world.id_of("Log in")})):
            with pytest.raises(Refuse, match="secret") as caught:
                await world.prepared(name, fields=world.fields(User="ada", Password=SECRET), **more)
            assert "hunter2" not in str(caught.value)
        assert (await world.call("fill", fields=world.fields(User="ada"))).ok


@pytest.mark.parametrize("value", ["hunter2", "HUNTER2 ", " hunter2 ", "hunter2  ", "hunter", "", "•••"])
async def test_a_value_that_is_not_exactly_an_allowed_one_is_refused(autojump_clock, world_of, value):
    """No trimming, no case folding, no empty one; the refusal never echoes it."""
    async with world_of(PAGE, start=START, passwords=allowing(SECRET, "", None)) as world:
        with pytest.raises(Refuse, match="does not allow this value") as caught:
            await world.prepared("fill", fields=world.fields(Password=value))
        assert not value.strip() or value not in str(caught.value)
        assert (await world.call("fill", fields=world.fields(Password=SECRET))).ok


async def test_an_async_function_may_answer(autojump_clock, world_of):
    """A keyring takes its time; the tab is free meanwhile."""

    async def passwords(url):
        await trio.sleep(5)
        return [SECRET]

    async with world_of(PAGE, start=START, passwords=passwords) as world:
        assert (await world.call("fill", fields=world.fields(Password=SECRET))).ok


async def test_the_field_is_read_again_right_before_its_value_is_typed(autojump_clock, world_of):
    """A field that is a secret one no more, or another one, gets nothing: stale. Also as the first field of the call."""
    for change in ({"secret": False, "type": "text"}, {"label": "Search"}):
        async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
            permit = await world.allowed(await world.prepared("fill", fields=world.fields(Password=SECRET)))
            world.document.change("Password", **change)
            output = await world.run(permit)
            assert "stale" in output.summary
            assert world.acts == []


async def test_the_host_is_asked_again_where_the_frame_is_now(autojump_clock, world_of):
    """Whoever took the leave back in between is heard."""
    answers = [[SECRET], []]
    async with world_of(PAGE, start=START, passwords=lambda url: answers.pop(0)) as world:
        output = await world.call("fill", fields=world.fields(User="ada", Password=SECRET))
        assert (output.ok, world.acts) == (False, [("type", "User", "ada")])
        assert "secret" in output.summary


async def test_a_judged_secret_is_good_for_one_run(autojump_clock, world_of):
    """The value is taken out of memory by the run; another run of the same judged arguments has none."""
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        action = await world.prepared("fill", fields=world.fields(Password=SECRET))
        world.document.change("Password", covered="x")
        first = await world.run(await world.allowed(action))
        assert "covered" in first.summary
        world.tools["fill"].run.__self__._desk.memory.remember(await world.tab.snapshot(), None)
        output = await world.run(await world.allowed(action))
        assert (output.ok, world.acts) == (False, [])


async def test_equal_secrets_have_different_seals_and_equal_calls_are_equal(autojump_clock, world_of):
    """A seal tells nobody that two fields have the same value; and what a human said no to is known again."""
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        first = await world.prepared("fill", fields=world.fields(Password=SECRET, Again=SECRET))
        second = await world.prepared("fill", fields=world.fields(Password=SECRET, Again=SECRET))
        sealed = list(first.args["sealed"].values())
        assert len(set(sealed)) == 2
        assert all(len(digest) == 64 for digest in sealed)
        assert first == second
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        other = await world.prepared("fill", fields=world.fields(Password=SECRET, Again=SECRET))
        assert other.args["fields"] == first.args["fields"]


async def test_the_tab_types_no_other_value_than_the_sealed_one(autojump_clock, world_of):
    """The permit is for exactly this value, though it stands nowhere in it; the mask itself is no value either."""
    salt = b"s" * 32
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        action = await world.prepared("fill", fields=world.fields(Password=SECRET))
        pin = action.args["targets"][0]
        sealed = {pin["control"]: seal(salt, pin, SECRET)}
        permit = await world.allowed(attrs.evolve(action, args={**action.args, "sealed": sealed}))
        for value, opener in (("hunter3", salt), ("•••", salt), (SECRET, b"t" * 32), (SECRET, None), (None, salt)):
            with pytest.raises(UsageError, match="another value"):
                await world.tab.act(pin, "type", value, permit=permit, salt=opener)
        assert world.acts == []
        assert (await world.tab.act(pin, "type", SECRET, permit=permit, salt=salt)).ok


async def test_events_and_trail_have_a_mask(autojump_clock, world_of):
    """From the plan on, before anything is known of the call; for sensitive and unknown fields as well."""
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        trail, events = MemoryTrail(), []
        fields = world.fields(User="ada", Password=SECRET, IBAN="NL91ABNA0417164300")
        replies = [
            {"calls": [{"name": "snapshot", "args": {}}]},
            {"calls": [{"name": "fill", "args": {"fields": {"0:99": "unknown-secret"}}}]},
            {"calls": [{"name": "act", "args": {"control_id": world.id_of("Password"), "op": "type", "value": SECRET}}]},
            {"calls": [{"name": "fill", "args": {"fields": fields}}]},
            {"calls": [{"name": "finish", "args": {"summary": "Done."}}]},
        ]
        loop = Loop(planner=scripted_planner(replies), gate=world.gate, tools=list(world.tools.values()), trail=trail)
        outcome = await loop.complete("log in", on_event=events.append)
        assert outcome.status == "done", outcome
        assert ("type", "Password", SECRET) in world.acts
        for record in (events, [entry.data for entry in trail.entries()]):
            text = str(record)
            assert "ada" in text
            for hidden in ("hunter2", "NL91ABNA0417164300", "unknown-secret"):
                assert hidden not in text
            assert "•••" in text


async def test_odd_arguments_are_masked_whole(autojump_clock, world_of):
    """redact is given what the planner wrote, valid or not."""
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        for name in ("fill", "fill_and_send"):
            redact = world.tools[name].redact
            assert redact({"fields": "hunter2"}) == {"fields": "•••"}
            assert redact({"fields": {"0:2": ["hunter2"], "x": {"y": "hunter2"}}}) == {"fields": {"0:2": "•••", "x": "•••"}}
            assert redact({"fields": world.fields(User="ada")}) == {"fields": world.fields(User="ada")}
            assert redact({}) == {}
        act = world.tools["act"].redact
        assert act({"control_id": "0:99", "op": "type", "value": "x"})["value"] == "•••"
        assert act({"control_id": world.id_of("User"), "op": "type", "value": "x"})["value"] == "x"
        odd = {"control_id": world.id_of("IBAN"), "op": "type", "value": ["hunter2"], "values": {"x": "hunter2"}}
        assert "hunter2" not in str(act(odd))


async def test_no_tool_that_writes_tells_what_it_wrote_into_a_sensitive_field(autojump_clock, world_of):
    """press and clipboard as act and fill: as the planner gave it and as it is judged; what writes nothing is told."""
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        for name, args in (
            ("press", {"keys": "N L 9 1"}),
            ("clipboard", {"op": "paste", "text": "NL91"}),
            ("act", {"op": "type", "value": "NL91"}),
        ):
            redact = world.tools[name].redact
            for label, hidden in (("IBAN", True), ("User", False)):
                given = {"control_id": world.id_of(label), **args}
                judged = (await world.prepared(name, **given)).args
                values = {value for key, value in args.items() if key != "op"}
                for shown in (redact(given), {key: value for key, value in redact(dict(judged)).items() if key != "target"}):
                    assert values.isdisjoint(value for value in shown.values() if isinstance(value, str)) is hidden, (name, shown)
            assert "•••" in str(redact({"control_id": "0:99", **args}))
        enter = {"control_id": world.id_of("IBAN"), "keys": "Tab Enter"}
        assert world.tools["press"].redact(enter) == enter


async def test_a_mismatch_of_a_secret_says_nothing_of_it(autojump_clock, world_of):
    """What the field holds, and the page's own words about it, are left out."""
    pages = {START: {"controls": [{"role": "textbox", "label": "Password", "type": "password"}]}}
    async with world_of(pages, start=START, passwords=allowing(SECRET)) as world:
        world.browser.refuse("mismatch", detail="it holds hunter2", value="hunter2", started=True)
        output = await world.call("fill", fields=world.fields(Password=SECRET))
        assert not output.ok
        assert "mismatch" in output.summary
        assert "hunter2" not in str(output)


async def test_a_forged_seal_runs_nothing(autojump_clock, world_of):
    """Arguments that were never prepared here have no value in memory."""
    async with world_of(PAGE, start=START, passwords=allowing(SECRET)) as world:
        action = await world.prepared("fill", fields=world.fields(Password=SECRET))
        forged = Action(
            tool="fill", args={**action.args, "sealed": {world.id_of("Password"): "0" * 64}}, domain="shop.test", scope="fill"
        )
        output = await world.run(await world.allowed(forged))
        assert (output.ok, world.acts, world.effect.state) == (False, [], "not-started")
        assert "not kept" in output.summary
