// submits: was a form sent while an act ran?
//
// `watch(onSubmit)` -> `{ seen(), stop() }`. A capturing listener on the window sees every submit event of this document, also one
// that the page cancels; a form that is blocked by validation has none.
// Depends on: nothing.
"use strict";

foxloop.define("submits", () => ({
  watch(onSubmit) {
    let seen = false;
    const listener = () => {
      seen = true;
      onSubmit();
    };
    addEventListener("submit", listener, true);
    return { seen: () => seen, stop: () => removeEventListener("submit", listener, true) };
  },
}));
