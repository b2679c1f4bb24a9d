// pause: waiting, also in a page that nobody looks at.
//
// `pause(ms)` -> promise. Firefox slows the timers of hidden pages down to one a second, so there the background page is asked to
// wake us too (background/documents.js). `connectWaker(ask)`: how to ask it; null when there is no Port. `woke(number)`: it did.
// `drawn(ms)` -> promise: at least so long, and until the page was drawn anew, which is when it hears of a scroll.
// Depends on: nothing.
"use strict";

foxloop.define("pause", () => {
  const DRAWN_MOST_MS = 300;
  const sleepers = new Map();
  let ask = null;
  let slept = 0;

  function pause(ms) {
    return new Promise((resolve) => {
      setTimeout(resolve, ms);
      if (document.hidden && ask !== null) {
        slept += 1;
        const number = slept;
        sleepers.set(number, resolve);
        setTimeout(() => sleepers.delete(number), ms);
        ask(number, ms);
      }
    });
  }

  // A hidden page is not drawn, and a busy one late.
  function drawn(ms) {
    const frame = document.hidden ? null : new Promise((resolve) => requestAnimationFrame(resolve));
    return Promise.all([pause(ms), Promise.race([frame, pause(DRAWN_MOST_MS)])]);
  }

  function woke(number) {
    sleepers.get(number)?.();
    sleepers.delete(number);
  }

  return {
    pause,
    drawn,
    woke,
    connectWaker: (asker) => {
      ask = asker;
    },
  };
});
