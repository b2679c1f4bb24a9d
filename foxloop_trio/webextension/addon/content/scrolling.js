// scrolling: operation `scroll`: moves what the control stands in, or the window.
//
// The value: so many CSS px down (up when negative; 560 when there is none), or `{ down, right }`, `{ edge: "top" | "bottom" |
// "here" }`, `{ until: text }`. `here` brings the control itself into view. `until` goes on, at most 20 times, until a text in
// there holds the words, and brings that into view: lists that draw only what is in view have no other end to be found by. The
// result's detail says how far it moved, or that it is at its end. `scrollerOf(el)`: what moves. Without a control the page moves,
// or, where that cannot, what fills its middle.
// Depends on: limits, pause, sight, tree, words.
"use strict";

foxloop.define("scrolling", ({ limits, pause, sight, tree, words }) => {
  const DEFAULT_PX = 560;
  const EVENT_WAIT_MS = 50;
  const LOAD_WAIT_MS = 150; // for what a list draws, or fetches, when it is at its end
  const MOST_TIMES = 20;
  const FAR_PX = 1e7;

  const refuse = (reason, detail) => ({ ok: false, reason, detail });
  const folded = (text) => words.clean(text).toLowerCase();

  function scrollerOf(el) {
    for (let at = el; at !== null && at !== document.body && at !== document.documentElement; at = tree.parent(at)) {
      const taller = at.scrollHeight > at.clientHeight + 1 || at.scrollWidth > at.clientWidth + 1;
      if (taller && at.clientHeight > 0 && (at.localName === "textarea" || sight.scrolls(getComputedStyle(at)))) {
        return at;
      }
    }
    return document.scrollingElement ?? document.documentElement;
  }

  function number(value) {
    const px = Number(value ?? 0);
    return Number.isFinite(px) ? px : 0;
  }

  function wish(value) {
    if (value === null || typeof value !== "object") {
      return { top: number(value) || DEFAULT_PX, left: 0 };
    }
    const edge = { top: -FAR_PX, bottom: FAR_PX }[value.edge];
    return { top: edge ?? number(value.down), left: number(value.right) };
  }

  function unfit(_facts, value) {
    if (value === null || typeof value !== "object") {
      return null;
    }
    const kinds = [value.down ?? value.right, value.edge, value.until].filter((one) => one !== undefined);
    return Array.isArray(value) || kinds.length !== 1 || (value.until !== undefined && folded(value.until) === "")
      ? refuse("unsupported", "scrolling takes one of down and right, edge, or until")
      : null;
  }

  const place = (scroller) => [scroller.scrollTop, scroller.scrollLeft];

  // Moves it, and sees to it that the page hears: Firefox sends no scroll event to a disabled textarea, nor to a page that is not
  // drawn, and pages wait for one. Answers, later, how far it went; null when stopped.
  function move(scroller, how, steps) {
    const page = scroller === document.scrollingElement;
    const before = place(scroller);
    let came = false;
    const listener = (event) => {
      came ||= event.target === (page ? document : scroller);
    };
    how();
    const moved = place(scroller).map((now, at) => Math.round(now - before[at]));
    addEventListener("scroll", listener, { capture: true });
    return async () => {
      await pause.pause(EVENT_WAIT_MS);
      removeEventListener("scroll", listener, { capture: true });
      if (!came && moved.some((px) => px !== 0) && !steps.over()) {
        (page ? document : scroller).dispatchEvent(new Event("scroll", { bubbles: page }));
      }
      return moved;
    };
  }

  function said([down, right]) {
    if (down === 0 && right === 0) {
      return "it did not move: it is at its end";
    }
    return right === 0 ? `moved by ${down} px` : `moved by ${down} px down and ${right} px to the right`;
  }

  // The innermost visible element in there whose text holds the words.
  function holder(scroller, needle) {
    const root = scroller === document.scrollingElement ? document.body : scroller;
    const turn = sight.createSight();
    if (!folded(root.textContent).includes(needle) && turn.hosts.size === 0) {
      return null;
    }
    let found = null;
    for (const el of turn.all("*")) {
      const inside = el !== root && tree.within(root, el) && (found === null || tree.within(found, el));
      if (inside && folded(el.textContent).includes(needle) && turn.rendered(el) && turn.boxOf(el).height > 0) {
        found = el;
      }
    }
    return found;
  }

  async function search(el, scroller, until, steps) {
    const needle = folded(until);
    for (let times = 0; ; times += 1) {
      const found = holder(scroller, needle);
      if (found !== null) {
        found.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
        steps.note("brought into view");
        await pause.pause(EVENT_WAIT_MS);
        return { ok: true, detail: `found after ${times} steps`, value: words.cut(words.clean(found.textContent), limits.value) };
      }
      if (times >= MOST_TIMES) {
        return refuse("not-found", `${MOST_TIMES} steps, and the text did not come`);
      }
      const page = scroller === document.scrollingElement ? innerHeight : scroller.clientHeight;
      const moved = await move(scroller, () => scroller.scrollBy({ top: page * 0.9, behavior: "instant" }), steps)();
      steps.note(`scrolled ${moved[0]} px`);
      if (moved[0] === 0) {
        await pause.pause(LOAD_WAIT_MS);
        if (holder(scroller, needle) === null && scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1) {
          return refuse("not-found", "it is at its end, and the text did not come");
        }
      }
      const stopped = steps.stop({ present: false });
      if (stopped !== null) {
        return stopped;
      }
    }
  }

  function dispatch({ el }, _spot, value, steps) {
    const scroller = scrollerOf(el);
    if (typeof value?.until === "string") {
      return () => search(el, scroller, value.until, steps);
    }
    const how =
      value?.edge === "here"
        ? () => el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" })
        : () => scroller.scrollBy({ ...wish(value), behavior: "instant" });
    const moved = move(scroller, how, steps);
    steps.note("scrolled");
    return async () => ({ ok: true, detail: said(await moved()) });
  }

  // What a person would move with the wheel, who does not point at anything.
  function page() {
    const root = document.scrollingElement ?? document.documentElement;
    const moves = root.scrollHeight > innerHeight + 1 || root.scrollWidth > innerWidth + 1;
    return moves ? root : (tree.at(innerWidth / 2, innerHeight / 2) ?? root);
  }

  return { scroll: { unfit, dispatch, anywhere: true, evenDisabled: true, page }, scrollerOf };
});
