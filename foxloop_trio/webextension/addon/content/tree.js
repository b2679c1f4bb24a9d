// tree: every question about where an element stands.
//
// Purpose: the one place that knows that a document is a tree of trees. Parents, `closest` and `within` are those of the flat
// tree: what a person sees has no shadow boundaries. Closed shadow roots are entered too, with the accessor that only extensions
// have. `shadowOf(el)`: its shadow root, or null. `parent(el)`, `closest(el, selector)`, `within(outer, el)`, `byId(el, id)`:
// the element that an id means, seen from `el`, in its own root first. `children(el)`: the nodes that stand in it when it is
// drawn. `all(selector)`: elements of the document's own tree; those of all trees in the order of the flat tree are the business
// of flat.js. `at(x, y)`: the topmost element there. `active()`: the element that has the focus, or null.
// Depends on: dom.
"use strict";

foxloop.define("tree", ({ dom }) => {
  const ELEMENT = 1;
  const TEXT = 3;
  const FRAGMENT = 11;

  const shadowOf = (el) => dom.shadow(el);

  // The host of the tree that a node stands in; null in the document's own and in what is in no document.
  function hostOf(node) {
    const root = dom.root(node);
    return dom.kind(root) === FRAGMENT ? (root.host ?? null) : null;
  }

  // A closed root does not tell to which slot a child of its host goes; then the host itself is the next that can be known.
  function parent(el) {
    const up = el.parentNode;
    if (up === null) {
      return null;
    }
    if (up.nodeType === FRAGMENT) {
      return up.host ?? null;
    }
    return el.assignedSlot ?? el.parentElement;
  }

  function closest(el, selector) {
    for (let at = el; at !== null;) {
      const found = dom.closest(at, selector);
      if (found !== null) {
        return found;
      }
      at = hostOf(at);
    }
    return null;
  }

  function within(outer, el) {
    for (let at = el; at !== null; at = hostOf(at)) {
      if (outer.contains(at)) {
        return true;
      }
    }
    return false;
  }

  function byId(el, id) {
    if (id === "") {
      return null;
    }
    for (let root = el.getRootNode(); root.getElementById !== undefined; root = root.host.getRootNode()) {
      const found = root.getElementById(id);
      if (found !== null || root.host === undefined) {
        return found;
      }
    }
    return null;
  }

  function children(el) {
    const root = shadowOf(el);
    if (root !== null) {
      return dom.children(root);
    }
    const assigned = dom.tag(el) === "slot" ? el.assignedNodes() : [];
    return assigned.length > 0 ? assigned : dom.children(el);
  }

  function at(x, y) {
    let found = document.elementFromPoint(x, y);
    for (let root = found === null ? null : shadowOf(found); root !== null;) {
      const inner = root.elementFromPoint(x, y);
      if (inner === null || inner === found) {
        break;
      }
      found = inner;
      root = shadowOf(found);
    }
    return found;
  }

  function active() {
    let found = document.activeElement;
    for (let root = found === null ? null : shadowOf(found); root !== null && root.activeElement !== null; root = shadowOf(found)) {
      found = root.activeElement;
    }
    return found;
  }

  return {
    ELEMENT,
    TEXT,
    shadowOf,
    parent,
    closest,
    within,
    byId,
    children,
    at,
    active,
    all: (selector) => document.querySelectorAll(selector),
    connected: (el) => el.isConnected,
  };
});
