"""The page protocol of MiniWoB++: an episode is started, seeded and judged. The real pages run in tests/firefox."""

from typing import Any

import pytest
import trio

from foxloop_trio.corpora import CorpusError, Verdict, start_episode


class FakePage:
    """A tab and the BiDi session beside it: answers what a task page would, and keeps what was asked."""

    def __init__(self, *, reward: str = "{}", answers: dict[str, Any] | None = None) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers = answers
        self.reward = reward

    async def goto(self, url: str) -> None:
        self.url = url

    async def bidi(self, method: str, **params: Any) -> Any:
        self.asked.append((method, params))
        if method == "browsingContext.getTree":
            return {"contexts": [{"context": "other", "url": "about:blank"}, {"context": "mine", "url": self.url}]}
        if self.answers is not None:
            return self.answers
        value = '"Click the button."' if params["arguments"] else self.reward
        return {"type": "success", "result": {"type": "string", "value": value}}


async def test_an_episode_is_a_fresh_page_seeded_in_its_own_realm(autojump_clock: trio.abc.Clock) -> None:
    """corpora.md 3.2: navigate afresh, seed, start, read the utterance, wait 60 ms."""
    page = FakePage()
    started = trio.current_time()
    episode = await start_episode(page, page, "http://127.0.0.1:1", "click-test", "3", ids=lambda nbytes, _: bytes(nbytes))
    assert trio.current_time() - started == pytest.approx(0.06)
    assert episode.utterance == "Click the button."
    assert page.url == "http://127.0.0.1:1/miniwob/click-test.html?episode=0000000000000000"
    (_, (method, params)) = page.asked
    assert (method, params["target"], params["arguments"]) == (
        "script.callFunction",
        {"context": "mine"},
        [{"type": "string", "value": "3"}],
    )


async def test_two_episodes_never_share_an_address() -> None:
    """The address is how the tab's browsing context is found, so it must be the only one."""
    page, addresses = FakePage(), set()
    for _ in range(3):
        await start_episode(page, page, "http://127.0.0.1:1", "flight.AA", "0")
        addresses.add(page.url)
    assert len(addresses) == 3
    assert all(address.startswith("http://127.0.0.1:1/flight/AA/wrapper.html?") for address in addresses)


async def test_a_page_that_does_not_start_is_an_error_in_time(autojump_clock: trio.abc.Clock) -> None:
    """The test side waits 10 s for a page, then says which one."""

    class Stuck(FakePage):
        async def goto(self, url: str) -> None:
            await trio.sleep_forever()

    started = trio.current_time()
    with pytest.raises(CorpusError, match="click-test"):
        await start_episode(Stuck(), Stuck(), "http://127.0.0.1:1", "click-test", "0")
    assert trio.current_time() - started == 10


async def test_a_page_that_throws_is_an_error_with_its_words() -> None:
    """A task whose script fails is not a task that was not solved."""
    page = FakePage(answers={"type": "exception", "exceptionDetails": {"text": "ReferenceError: core is not defined"}})
    with pytest.raises(CorpusError, match="core is not defined"):
        await start_episode(page, page, "http://127.0.0.1:1", "click-test", "0")


async def test_the_judge_reads_the_reward() -> None:
    """`judge` asks the page for upstream's three globals."""
    page = FakePage(reward='{"done": true, "raw_reward": 0.5, "why": null}')
    episode = await start_episode(page, page, "http://127.0.0.1:1", "click-checkboxes", "0")
    assert await episode.judge() == Verdict(task="click-checkboxes", done=True, raw_reward=0.5)


@pytest.mark.parametrize(
    ("task", "done", "raw_reward", "solved"),
    [
        ("click-test", True, 1.0, True),
        ("click-test", True, 0.99, False),
        ("click-test", False, 1.0, False),
        ("circle-center", True, 0.9, True),
        ("circle-center", True, 0.89, False),
        ("use-colorwheel", True, 0.95, True),
    ],
)
def test_solved_means_done_with_the_full_reward(task: str, done: bool, raw_reward: float, solved: bool) -> None:
    """corpora.md 3.3: 1.0, but 0.9 or 0.95 where a task pays by distance."""
    assert Verdict(task=task, done=done, raw_reward=raw_reward).solved is solved
