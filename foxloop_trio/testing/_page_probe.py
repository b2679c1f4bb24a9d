"""Eyes and trusted hands on a page, past the product: what the page believes, and what a person would do to it.

Everything goes over WebDriver BiDi: the eyes evaluate in the page's own realm, the hands send trusted input, as a mouse and a
keyboard do. So a test that compares what a tool reports with what `Probe.state` says does not take our add-on's word for it.
The pages keep to ``tests/firefox/pages/shared/page.js``.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import trio

from ..browser import BrowserSession, Tab

__all__ = ["KEYS", "Probe", "open_page"]

WAIT_SECONDS: Final = 10.0
"""For a page to be ready, or to come to believe what was awaited; the slowest page takes about one second."""
LOOK_SECONDS: Final = 0.02
DRAG_STEPS: Final = 10
STEP_MS: Final = 20
"""A drag is made of small steps, as a hand's is: libraries measure the distance, and some sample the pointer in time."""

KEYS: Final = {
    "Backspace": "\ue003",
    "Tab": "\ue004",
    "Enter": "\ue006",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Escape": "\ue00c",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Delete": "\ue017",
}
"""WebDriver's code points for keys that are no characters."""


@attrs.frozen(kw_only=True)
class Probe:
    """One page in one tab. Elements are named by CSS selectors."""

    session: BrowserSession
    tab: Tab
    context: str
    url: str

    # Eyes

    async def js(self, expression: str) -> Any:
        """The value of an expression in the page, which must be JSON."""
        answer = await self.session.bidi(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self.context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"].get("value", "null"))

    async def state(self) -> Any:
        """What the page believes."""
        return await self.js("window.__state")

    async def events(self) -> list[list[Any]]:
        """What reached the page: ``[type, on, trusted]``, and the inputType where there is one; then forget it."""
        found: list[list[Any]] = await self.js("window.__events.splice(0)")
        return found

    async def errors(self) -> list[str]:
        """What went wrong in the page."""
        found: list[str] = await self.js("window.__errors")
        return found

    async def until(self, wanted: Callable[[Any], object]) -> Any:
        """The state, once it is as wanted. Fails with the last one after 10 s."""
        state: Any = None
        with trio.move_on_after(WAIT_SECONDS):
            while True:
                state = await self.state()
                if wanted(state):
                    return state
                await trio.sleep(LOOK_SECONDS)
        raise AssertionError(f"{self.url} still believes {state!r}; its errors: {await self.errors()}")

    async def until_js(self, expression: str) -> None:
        """Wait until an expression is true in the page."""
        with trio.move_on_after(WAIT_SECONDS):
            while not await self.js(f"(async () => Boolean(await ({expression})))()"):  # noqa: ASYNC110 - the page cannot set an event of ours
                await trio.sleep(LOOK_SECONDS)
            return
        raise AssertionError(f"{self.url}: never true: {expression}; its errors: {await self.errors()}")

    # Hands

    async def element(self, css: str) -> dict[str, str]:
        """The first element that `css` finds, in view and at rest, as BiDi refers to it."""
        await self.until_js(f"document.querySelector({json.dumps(css)})")
        await self.js(f"void document.querySelector({json.dumps(css)}).scrollIntoView({{ block: 'center', behavior: 'instant' }})")
        await self.until_js(f"({_AT_REST})({json.dumps(css)})")
        found = await self.session.bidi(
            "browsingContext.locateNodes", context=self.context, locator={"type": "css", "value": css}, maxNodeCount=1
        )
        return {"sharedId": found["nodes"][0]["sharedId"]}

    async def click(self, css: str, *, scroll: bool = True) -> None:
        """Press the mouse at the middle of an element; as it lies, without `scroll`."""
        await self._mouse(await self._to(css) if scroll else _move(*await self._middle(css)), _DOWN, _UP)

    async def hover(self, css: str) -> None:
        """Move the mouse to the middle of an element, and rest there."""
        await self._mouse(await self._to(css))

    async def drag(self, css: str, to: str | tuple[int, int]) -> None:
        """Drag an element's middle to another's, or by so many pixels right and down."""
        start = await self._middle(css)
        end = await self._middle(to) if isinstance(to, str) else (start[0] + to[0], start[1] + to[1])
        moves = [
            _move(*(round(a + (b - a) * step / DRAG_STEPS) for a, b in zip(start, end, strict=True)))
            for step in range(1, DRAG_STEPS + 1)
        ]
        await self._mouse(_move(*start), _DOWN, *moves, _UP)

    async def type(self, text: str, *, into: str | None = None) -> None:
        """Press a key for each character; into what has the focus, or after a press on `into`."""
        if into is not None:
            await self.click(into)
        await self.press(*text)

    async def press(self, *keys: str, held: str | None = None) -> None:
        """Press keys one after another, by their names in `KEYS` or as characters; all while `held` is down."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        if held is not None:
            actions = [{"type": "keyDown", "value": KEYS[held]}, *actions, {"type": "keyUp", "value": KEYS[held]}]
        await self._perform({"type": "key", "id": "keyboard", "actions": actions})

    async def set_files(self, css: str, paths: Sequence[Path]) -> None:
        """Choose files in a file field, which may be hidden."""
        found = await self.session.bidi(
            "browsingContext.locateNodes", context=self.context, locator={"type": "css", "value": css}, maxNodeCount=1
        )
        element = {"sharedId": found["nodes"][0]["sharedId"]}
        await self.session.bidi("input.setFiles", context=self.context, element=element, files=[str(path) for path in paths])

    async def _to(self, css: str) -> dict[str, Any]:
        return _move(0, 0, origin={"type": "element", "element": await self.element(css)})

    async def _middle(self, css: str) -> tuple[int, int]:
        await self.until_js(f"document.querySelector({json.dumps(css)})")
        x, y = await self.js(
            f"(({{ x, y, width, height }}) => [x + width / 2, y + height / 2])(document.querySelector({json.dumps(css)})"
            ".getBoundingClientRect())"
        )
        return round(x), round(y)

    async def _mouse(self, *actions: dict[str, Any]) -> None:
        await self._perform({"type": "pointer", "id": "mouse", "actions": list(actions), "parameters": {"pointerType": "mouse"}})

    async def _perform(self, source: dict[str, Any]) -> None:
        await self.session.bidi("input.performActions", context=self.context, actions=[source])


_AT_REST: Final = """async (css) => {
  const place = () => JSON.stringify(document.querySelector(css)?.getBoundingClientRect());
  const before = place();
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  return place() === before && document.getAnimations().every(({ playState, effect }) =>
    playState !== "running" || effect.getComputedTiming().endTime === Infinity);
}"""
"""Whether nothing moves: libraries let their lists and calendars fade and slide in."""

_DOWN: Final[dict[str, Any]] = {"type": "pointerDown", "button": 0}
_UP: Final[dict[str, Any]] = {"type": "pointerUp", "button": 0}


def _move(x: int, y: int, **more: Any) -> dict[str, Any]:
    return {"type": "pointerMove", "x": x, "y": y, "duration": STEP_MS, **more}


async def open_page(session: BrowserSession, tab: Tab, address: str, name: str) -> Probe:
    """Open the page `name` of the site at `address` afresh in `tab`, and wait until it can be used."""
    url = f"{address}/{name}.html?visit={secrets.token_hex(4)}"  # each visit loads anew
    context = await tab.bidi_context()
    await tab.goto(url)
    probe = Probe(session=session, tab=tab, context=context, url=url)
    await probe.until_js("window.__ready")
    return probe
