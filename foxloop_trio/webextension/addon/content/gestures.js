// gestures: does the page insist on a real person's hand?
//
// Some pages look at `isTrusted`, and some things (full screen, the clipboard, sound) Firefox gives to nobody but a person. When
// nothing came of a press, that is why. `watch()` -> `{ refused(el), chooser(), stop() }`: `refused(el)`, whether the page said so
// while the act ran, or its own scripts look at `isTrusted`; `chooser()`, whether a file field was pressed, whose chooser opens for
// a person alone.
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
    let chooser = false;
    const onClick = (event) => {
      const el = event.composedPath()[0];
      chooser ||= el?.localName === "input" && el.type === "file";
    };
    const onRejected = (event) => {
      refused ||= event.reason?.name === "NotAllowedError";
    };
    const onDenied = () => {
      refused = true;
    };
    addEventListener("unhandledrejection", onRejected, true);
    addEventListener("fullscreenerror", onDenied, true);
    addEventListener("click", onClick, true);
    return {
      refused: (el) => refused || looksAtTrust(el),
      chooser: () => chooser,
      stop() {
        removeEventListener("unhandledrejection", onRejected, true);
        removeEventListener("fullscreenerror", onDenied, true);
        removeEventListener("click", onClick, true);
      },
    };
  }

  return { watch };
});
