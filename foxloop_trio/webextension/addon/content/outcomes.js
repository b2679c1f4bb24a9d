// outcomes: how acts ended in this document, kept until the runtime has heard of it.
//
// Purpose: a lost socket or a restarted background page must not leave anybody guessing, and nothing may run twice.
// `once(name, run)`: runs an act of that name, or answers what the first one answers. `about(name)` -> `{ known, result }`, result
// being JSON text, or null while it runs. `acknowledge(names)`: forget them. The oldest are dropped beyond 32.
// Depends on: limits.
"use strict";

foxloop.define("outcomes", ({ limits }) => {
  const kept = new Map();

  function once(name, run) {
    const before = kept.get(name);
    if (before !== undefined) {
      return before.ending;
    }
    const entry = { ending: null, json: null };
    kept.set(name, entry);
    if (kept.size > limits.calls) {
      kept.delete(kept.keys().next().value);
    }
    entry.ending = run((json) => {
      entry.json = json;
    });
    return entry.ending;
  }

  function about(name) {
    return { known: kept.has(name), json: kept.get(name)?.json ?? null };
  }

  return { once, about, acknowledge: (names) => names.forEach((name) => kept.delete(name)) };
});
