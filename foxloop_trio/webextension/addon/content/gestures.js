// gestures: does the page insist on a real person's hand?
//
// Some pages look at `isTrusted`, and some things (full screen, the clipboard, sound) Firefox gives to nobody but a person. When
// nothing came of a press, that is why. `watch()` -> `{ refused(el), stop() }`: `refused(el)`, whether the page said so while the
// act ran, or its own scripts look at `isTrusted`.
// Depends on: tree.
"use strict";

foxloop.define("gestures", ({ tree }) => {
  const HANDLERS = ["onclick", "onmousedown", "onmouseup", "onpointerdown", "onpointerup", "onkeydown"];
  const MOST_TEXT = 2_000_000;

  function looksAtTrust(el) {
    for (let at = el; at !== null; at = tree.parent(at)) {
      if (HANDLERS.some((name) => /\bisTrusted\b/.test(at.getAttribute(name) ?? ""))) {
        return true;
      }
    }
    let left = MOST_TEXT;
    for (const script of document.scripts) {
      const text = script.src === "" ? script.textContent : "";
      left -= text.length;
      if (left > 0 && /\bisTrusted\b/.test(text)) {
        return true;
      }
    }
    return false;
  }

  function watch() {
    let refused = false;
    const onRejected = (event) => {
      refused ||= event.reason?.name === "NotAllowedError";
    };
    const onDenied = () => {
      refused = true;
    };
    addEventListener("unhandledrejection", onRejected, true);
    addEventListener("fullscreenerror", onDenied, true);
    return {
      refused: (el) => refused || looksAtTrust(el),
      stop() {
        removeEventListener("unhandledrejection", onRejected, true);
        removeEventListener("fullscreenerror", onDenied, true);
      },
    };
  }

  return { watch };
});
