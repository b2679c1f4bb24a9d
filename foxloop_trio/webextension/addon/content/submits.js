// submits: was a form sent while an act ran?
//
// `watch(onSubmit)` -> `{ seen(), stop() }`. A capturing listener on the window sees every submit event of this document, also one
// that the page cancels; a form that is blocked by validation has none. It is there before the first script of the page, which
// could otherwise keep the event from it.
// Depends on: nothing.
"use strict";

foxloop.define("submits", () => {
  const watchers = new Set();
  const listener = () => watchers.forEach((heard) => heard());
  const listen = () => addEventListener("submit", listener, true);
  listen();

  function watch(onSubmit) {
    let seen = false;
    const heard = () => {
      seen = true;
      onSubmit();
    };
    listen(); // anew, since document.open() takes all listeners away; one that is there is not added twice
    watchers.add(heard);
    return { seen: () => seen, stop: () => watchers.delete(heard) };
  }

  return { watch };
});
