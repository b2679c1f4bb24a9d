// parts: the shelf on which the content scripts put their parts.
//
// Purpose: let small files use each other without a build step and without names that meet.
// `foxloop.define(name, make)` calls `make(parts)` once and keeps its result as `parts[name]`. The manifest lists the files in the
// order of their dependencies, and each names its own in its first line of code. A file that is injected twice changes nothing.
// Depends on: nothing. Runs in the isolated world: pages see neither `foxloop` nor anything else here.
"use strict";

// `hasOwn`, because a page can put a name of its choice on the window that stands behind this global: <iframe name="foxloop">.
if (!Object.hasOwn(globalThis, "foxloop")) {
  const parts = Object.create(null);
  const define = (name, make) => {
    if (!(name in parts)) {
      parts[name] = Object.freeze(make(parts));
    }
  };
  Object.defineProperty(globalThis, "foxloop", { value: Object.freeze({ define, parts }) });
}
