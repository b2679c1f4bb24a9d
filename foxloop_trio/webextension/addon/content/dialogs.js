// dialogs: alert, confirm and prompt never stop an act.
//
// Purpose: while an act of ours runs and its page settles, the page's own three functions are replaced by ones that answer at once,
// as a careful person in a hurry would: alert is closed, confirm is declined, prompt is cancelled. Never yes. Before and after, the
// page has its own functions, untouched. Each dialog is reported with its text.
// `arm(hear)`: replace, until `disarm()`; `hear({ kind, message, answer })` is told of each. `linger(ms)`: disarm then, unless
// armed anew.
// Depends on: limits, words.
//
// The page's window is reached through `wrappedJSObject` and `exportFunction`, which Firefox gives to content scripts for this:
// they work in the same turn and under every Content-Security-Policy, and need no script in the page's world.
// https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/Sharing_objects_with_page_scripts
// A page that kept the native functions under another name before the act still opens real dialogs. The act is then answered while
// the dialog is open (content/port.js).
"use strict";

foxloop.define("dialogs", ({ limits, words }) => {
  const ANSWERS = { alert: undefined, confirm: false, prompt: null };
  const MOST = 20; // in one act; then the page gets an exception, as from Firefox when a person forbids further dialogs

  const page = window.wrappedJSObject;
  let restores = [];
  let hear = null;
  let count = 0;
  let timer = null;

  function textOf(message) {
    try {
      return message === undefined ? "" : String(message);
    } catch {
      return ""; // an object that cannot be made a text
    }
  }

  function answer(kind, message) {
    count += 1;
    if (count > MOST) {
      throw new page.Error("too many dialogs");
    }
    hear?.({ kind, message: words.cut(textOf(message), limits.dialogMessage), answer: ANSWERS[kind] ?? null });
    return ANSWERS[kind];
  }

  // Answers a function that puts back what was there, unless the page has put something else there meanwhile.
  function replace(name, stand) {
    const before = Object.getOwnPropertyDescriptor(page, name);
    const value = exportFunction(stand, page);
    Object.defineProperty(page, name, { value, configurable: true, enumerable: true, writable: true });
    const standIn = page[name]; // not `value`: through the page's window the same function has another wrapper
    return () => {
      if (Object.getOwnPropertyDescriptor(page, name)?.value !== standIn) {
        return;
      }
      if (before === undefined) {
        delete page[name];
      } else {
        Object.defineProperty(page, name, before);
      }
    };
  }

  function arm(listener) {
    clearTimeout(timer);
    hear = listener;
    count = 0;
    if (restores.length > 0) {
      return;
    }
    const stands = Object.keys(ANSWERS).map((kind) => [kind, (message) => answer(kind, message)]);
    for (const [name, stand] of [...stands, ["print", () => undefined]]) {
      try {
        restores.push(replace(name, stand));
      } catch {
        // The page made the property one that cannot be replaced; then its own function stays.
      }
    }
  }

  function disarm() {
    clearTimeout(timer);
    for (const restore of restores) {
      try {
        restore();
      } catch {
        // The page froze it meanwhile.
      }
    }
    restores = [];
    hear = null;
  }

  function linger(ms) {
    clearTimeout(timer);
    timer = setTimeout(disarm, ms);
  }

  return { arm, disarm, linger, armed: () => restores.length > 0 };
});
