// page_world: puts functions of ours where the page has its own, for a while.
//
// `windows()`: the page's own view of this window and of every window of the same origin that an act here can reach: the frames in
// it, the frames around it. `replace(holder, name, stand, page)` -> a function that puts back what was there, unless the page has
// put something else there meanwhile; null where the page does not let it be replaced.
// Depends on: nothing.
//
// The page's window is reached through `wrappedJSObject` and `exportFunction`, which Firefox gives to content scripts for this:
// they work in the same turn and under every Content-Security-Policy, and need no script in the page's world.
// https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/Sharing_objects_with_page_scripts
"use strict";

foxloop.define("pageWorld", () => {
  const MOST_WINDOWS = 30;

  function reachable(win) {
    try {
      return win.document !== null && win.wrappedJSObject !== undefined;
    } catch {
      return false; // of another origin
    }
  }

  function windows() {
    const found = [window];
    for (let at = 0; at < found.length && found.length < MOST_WINDOWS; at += 1) {
      const win = found[at];
      const near = Array.from({ length: Math.min(win.length, MOST_WINDOWS) }, (_, index) => win[index]);
      for (const other of [...near, win.parent]) {
        if (reachable(other) && !found.includes(other)) {
          found.push(other);
        }
      }
    }
    return found.map((win) => win.wrappedJSObject);
  }

  function replace(holder, name, stand, page) {
    try {
      const before = Object.getOwnPropertyDescriptor(holder, name);
      const value = exportFunction(stand, page);
      Object.defineProperty(holder, name, { value, configurable: true, enumerable: true, writable: true });
      const standIn = holder[name]; // not `value`: through the page's window the same function has another wrapper
      return () => restore(holder, name, before, standIn);
    } catch {
      return null; // the page made the property one that cannot be replaced; then its own function stays
    }
  }

  function restore(holder, name, before, standIn) {
    try {
      if (Object.getOwnPropertyDescriptor(holder, name)?.value !== standIn) {
        return;
      }
      if (before === undefined) {
        delete holder[name];
      } else {
        Object.defineProperty(holder, name, before);
      }
    } catch {
      // The page froze it meanwhile, or its window is gone.
    }
  }

  return { windows, replace };
});
