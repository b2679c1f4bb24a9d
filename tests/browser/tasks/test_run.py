"""Running a task over a stand-in for a page: order, ends, and what is waited for (page reference, section 16)."""

import attrs
import pytest
import trio

from foxloop_trio.browser import ActResult
from foxloop_trio.browser.tasks import Elsewhere, Preview, run_task
from foxloop_trio.errors import BrowserError

SECOND = "d1" * 16


@attrs.define
class StandIn:
    """Shows `looks` one after the other, the last one for ever, and answers acts with `results`, then with ok."""

    looks: list
    results: list = attrs.field(factory=list)
    log: list = attrs.field(factory=list)
    read: int = 0

    async def snapshot(self):
        await trio.lowlevel.checkpoint()
        self.log.append("look")
        look = self.looks[min(self.read, len(self.looks) - 1)]
        self.read += 1
        if isinstance(look, Exception):
            raise look
        return look

    async def act(self, page, control, op, value):
        await trio.sleep(1)
        self.log.append((op, control.label, value))
        result = self.results.pop(0) if self.results else {}
        if isinstance(result, Exception):
            raise result
        return ActResult(**{"ok": True, "started": True, "submitted": op == "click" and control.submit, **result})

    async def settle(self, page, control, *, list_for, sent):
        await trio.lowlevel.checkpoint()
        self.log.append(f"settle{' list' if list_for else ''}{' sent' if sent else ''}")

    @property
    def acts(self):
        return [entry for entry in self.log if isinstance(entry, tuple)]


def form(pages, name="", **options):
    return pages.look(
        pages.control("textbox", "Name", form=90, value=name), pages.control("button", "Send", submit=True), **options
    )


async def run(pages, page, goal, **options):
    return await run_task(page, goal, today=pages.today, **options)


async def test_a_step_is_look_act_settle_look_and_a_send_gets_its_pause(pages, autojump_clock):
    """Page reference 16; the result has it all."""
    page = StandIn([form(pages), form(pages, "Ada"), pages.look(document=SECOND, url="http://shop.test/thanks")])
    steps = []
    result = await run(pages, page, "name: Ada", on_step=steps.append)
    assert page.log == [
        "look", ("type", "Name", "Ada"), "settle", "look", ("click", "Send", None), "settle sent", "look",
    ]  # fmt: skip
    assert (result.status, result.verified, result.sent, result.seconds) == ("done", True, ("submit-event",), 2.0)
    assert tuple(steps) == result.steps
    assert result.to_json() == {
        "goal": "name: Ada", "url": "http://shop.test/thanks", "status": "done", "verified": True, "unmatched": [],
        "chooser": "rule", "total_ms": 2000, "refusals": [], "sent": ["submit-event"],
        "checks": [
            {"part": "name: Ada", "ok": True, "evidence": 'textbox "Name" holds "Ada"'},
            {"part": "the form is sent", "ok": True, "evidence": "submit-event"},
        ],
        "steps": [
            {"step": 1, "action": "TYPE_TEXT", "control": "0:1", "label": "Name", "text": "name: Ada", "typed": "Ada", "ok": True,
             "submitted": False, "navigated": False},
            {"step": 2, "action": "CLICK", "control": "0:2", "label": "Send", "ok": True, "submitted": True, "navigated": False},
        ],
    }  # fmt: skip


async def test_a_list_of_suggestions_is_waited_for(pages, autojump_clock):
    """After typing into a field that offers one."""
    field = pages.control("textbox", "City", autocomplete=True, form=90)
    page = StandIn([pages.look(field), pages.look(field | {"value": "London"}, pages.control("option", "London", dialog=True))])
    result = await run(pages, page, "city: London, do not submit")
    assert page.log[1:4] == [("type", "City", "London"), "settle list", "look"]
    assert page.acts[1:] == [("click", "London", None)]
    assert (result.status, result.verified) == ("done", True)


async def test_a_goal_goes_over_several_pages(pages, autojump_clock):
    """What fits nothing on the first page is served on the next; each form is sent, and each part checked where it was."""
    city = pages.control("textbox", "City", form=90)
    button = pages.control("button", "Finish", submit=True)
    page = StandIn([
        form(pages), form(pages, "Ada"), pages.look(city, button, document=SECOND, url="http://shop.test/2"),
        pages.look(city | {"value": "London"}, button, document=SECOND, url="http://shop.test/2"),
        pages.look(document="d2" * 16, url="http://shop.test/3"),
    ])  # fmt: skip
    result = await run(pages, page, "name: Ada, city: London")
    assert page.acts == [("type", "Name", "Ada"), ("click", "Send", None), ("type", "City", "London"), ("click", "Finish", None)]
    assert (result.status, result.verified, len(result.sent), result.unmatched) == ("done", True, 2, ())


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("https://shop.test/a", "https://evil.test/a", "other-site"),
        ("https://shop.test/a", "http://shop.test/a", "downgrade"),
        ("https://shop.test/a", "https://www.shop.test/a", None),
        ("https://shop.test/a", "https://pay.other.test/a", None),
        ("http://shop.test/a", "https://shop.test/a", None),
    ],
)
async def test_a_run_does_nothing_on_another_site(pages, autojump_clock, first, second, reason):
    """Page reference 14: blocked before it acts there; hosts that the caller named are fine."""
    page = StandIn([form(pages, url=first), form(pages, "Ada", url=second, document=SECOND)])
    result = await run(pages, page, "name: Ada, city: x", allow_hosts=["*.other.test"])
    assert result.blocked_reason == reason
    assert (result.status == "blocked") is (reason is not None)
    if reason is not None:
        assert page.acts == [("type", "Name", "Ada")]
        assert not result.verified


async def test_a_page_that_leaves_for_where_nothing_may_be_read_ends_the_run(pages, autojump_clock):
    """The send before it is a send; the page after it is no evidence."""
    page = StandIn([form(pages), form(pages, "Ada"), Elsewhere("https://evil.test/")])
    result = await run(pages, page, "name: Ada")
    assert (result.status, result.blocked_reason, result.sent) == ("blocked", "other-site", ("submit-event",))
    assert [line.ok for line in result.checks] == [True, True]
    assert not result.verified


async def test_three_stale_answers_end_the_run(pages, autojump_clock):
    """`page-keeps-changing`; the page is read again each time, and nothing is waited for."""
    stale = {"ok": False, "started": False, "reason": "stale"}
    page = StandIn([form(pages)], results=[stale] * 3)
    result = await run(pages, page, "name: Ada")
    assert result.blocked_reason == "page-keeps-changing"
    assert page.log == ["look", *[("type", "Name", "Ada"), "look"] * 3]
    assert [step.reason for step in result.refusals] == ["stale"] * 3


@pytest.mark.parametrize(
    ("looks", "results", "status", "acts"),
    [
        ([BrowserError("THEIR WORDS", code="no-tab")], [], "error", 0),
        (["form", BrowserError("THEIR WORDS", code="browser-lost")], [], "error", 1),
        (["form"], [BrowserError("THEIR WORDS", code="browser-lost")], "error", 0),
        (["form"], [RuntimeError("THEIR WORDS")], "error", 0),
    ],
)
async def test_whatever_goes_wrong_is_how_the_run_ended(pages, autojump_clock, looks, results, status, acts):
    """Its words are outside text; ours name the code."""
    page = StandIn([form(pages) if look == "form" else look for look in looks], results=results)
    result = await run(pages, page, "name: Ada")
    assert (result.status, result.verified, len(result.steps)) == (status, False, acts)
    assert result.detail == "THEIR WORDS"
    assert "THEIR" not in result.message


async def test_a_chooser_that_fails_ends_the_run(pages, autojump_clock):
    """So does one that names what it was not shown."""

    class Bad:
        name = "bad"

        async def choose(self, requirement, controls):
            return "0:99", 1.0

        async def extract(self, goal, labels):
            return {}

    result = await run(pages, StandIn([form(pages)]), "name: Ada", chooser=Bad())
    assert (result.status, result.chooser, result.steps) == ("error", "bad", ())
    assert "bad-choice" in result.message


async def test_a_host_can_stop_a_run_between_its_steps(pages, autojump_clock):
    """`stopped`: nothing is done after that, and what was done is in the result."""
    page = StandIn([form(pages), form(pages, "Ada")])
    result = await run(pages, page, "name: Ada", stop=lambda: len(page.acts) == 1)
    assert (result.status, result.verified, page.acts) == ("stopped", False, [("type", "Name", "Ada")])


async def test_a_cancel_goes_through_and_nothing_is_done_after_it(pages, autojump_clock):
    """A scope around the run is all it takes."""
    page = StandIn([form(pages), form(pages, "Ada")])
    with trio.move_on_after(1.5) as scope:
        await run(pages, page, "name: Ada")
    assert scope.cancelled_caught
    assert page.acts == [("type", "Name", "Ada")]


async def test_passwords_are_asked_for_by_the_address_of_the_frame_and_only_when_needed(pages, autojump_clock):
    """Page reference 13.3: without the host's leave nothing is typed; no text of the result holds the value."""
    asked = []

    async def passwords(url):
        asked.append(url)
        return ["hunter2"]

    empty = pages.look(pages.control("textbox", "Password", type="password", form=90), pages.control("textbox", "Name", form=90))
    filled = pages.look(
        pages.control("textbox", "Password", type="password", form=90, value="•••"), pages.control("textbox", "Name", form=90)
    )
    goal = "password: hunter2, do not submit"
    page = StandIn([empty, filled])
    result = await run(pages, page, goal, passwords=passwords)
    assert page.acts == [("type", "Password", "hunter2")]
    assert (result.verified, set(asked)) == (True, {"http://shop.test/form"})
    assert "hunter2" not in repr(result)
    for leave in (None, lambda url: ["other"], lambda url: None):
        page = StandIn([empty])
        result = await run(pages, page, goal, passwords=leave)
        assert (page.acts, result.unmatched) == ([], ("password: •••",))
    asked.clear()
    await run(pages, StandIn([empty]), "name: Ada, do not submit", passwords=passwords)
    assert asked == []


async def test_a_run_that_ends_before_it_began_hides_secrets_too(pages, autojump_clock):
    """The goal is masked from the first moment."""
    for page, options in (
        (StandIn([BrowserError("x", code="no-tab")]), {}),
        (StandIn([form(pages)]), {"pinned": Preview(document=SECOND, url="x", today="2026-09-01")}),
    ):
        result = await run(pages, page, "password: hunter2", **options)
        assert result.status in ("error", "blocked")
        assert (result.goal, "hunter2" in repr(result)) == ("password: •••", False)


async def test_the_blocked_buttons_are_named_apart_from_our_words(pages, autojump_clock):
    """Labels are the page's."""
    page = StandIn([pages.look(pages.control("textbox", "Name", form=90), pages.control("button", "Pay now", submit=True))])
    result = await run(pages, page, "name: Ada")
    assert (result.blocked_reason, result.detail) == ("risky-send", '"Pay now"')
    assert "Pay" not in result.message
