// scrolling: operation `scroll`: moves what the control stands in, or the window, down by so many CSS px (up when negative).
//
// The result's detail says how far it moved, or that it is at its end.
// Depends on: pause, sight, tree.
"use strict";

foxloop.define("scrolling", ({ pause, sight, tree }) => {
  const DEFAULT_PX = 560;
  const EVENT_WAIT_MS = 50;

  function scrollerOf(el) {
    for (let at = el; at !== null && at !== document.body && at !== document.documentElement; at = tree.parent(at)) {
      if (at.scrollHeight > at.clientHeight + 1 && at.clientHeight > 0 && sight.scrolls(getComputedStyle(at))) {
        return at;
      }
    }
    return document.scrollingElement ?? document.documentElement;
  }

  function distance(value) {
    const px = Number(value ?? 0);
    return Number.isFinite(px) && px !== 0 ? px : DEFAULT_PX;
  }

  function dispatch({ el }, _spot, value) {
    const scroller = scrollerOf(el);
    const page = scroller === document.scrollingElement;
    const before = scroller.scrollTop;
    let came = false;
    const listener = () => {
      came = true;
    };
    scroller.scrollBy({ top: distance(value), behavior: "instant" });
    const moved = Math.round(scroller.scrollTop - before);
    addEventListener("scroll", listener, { capture: true });
    return async (over) => {
      await pause.pause(EVENT_WAIT_MS);
      removeEventListener("scroll", listener, { capture: true });
      // Firefox sends no scroll event to a disabled textarea, nor to a page that is not drawn. Pages wait for it.
      if (!came && moved !== 0 && !over()) {
        (page ? document : scroller).dispatchEvent(new Event("scroll", { bubbles: page }));
      }
      return { ok: true, detail: moved === 0 ? "it did not move: it is at its end" : `moved by ${moved} px` };
    };
  }

  return { scroll: { unfit: () => null, dispatch, anywhere: true } };
});
