// tree: every question about where an element stands.
//
// Purpose: the one place that knows that a document is a tree. Shadow roots and frames are added here, and nowhere else.
// `all(selector)`: elements in document order. `parent(el)`, `closest(el, selector)`, `within(outer, el)`, `byId(el, id)`: the
// element that an id means, seen from `el`. `at(x, y)`: the topmost element there. `active()`: the element that has the focus, or
// null.
// Depends on: nothing.
"use strict";

foxloop.define("tree", () => ({
  all: (selector) => document.querySelectorAll(selector),
  parent: (el) => el.parentElement,
  closest: (el, selector) => el.closest(selector),
  within: (outer, el) => outer.contains(el),
  byId: (el, id) => (id === "" ? null : (el.getRootNode().getElementById?.(id) ?? null)),
  at: (x, y) => document.elementFromPoint(x, y),
  active: () => document.activeElement,
  connected: (el) => el.isConnected,
}));
