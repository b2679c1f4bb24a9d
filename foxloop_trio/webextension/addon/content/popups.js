// popups: which field a suggestion belongs to.
//
// `ownersOf(turn)` -> Map of each option of a visible suggestion list to the field that opened it. A field names its list with
// aria-controls or aria-owns, or the combobox around it does. The first owner wins.
// Depends on: dom, tree.
"use strict";

foxloop.define("popups", ({ dom, tree }) => {
  const OPTIONS = "[role=option], [role=gridcell], [role=menuitem], [role=treeitem]";
  const NAMES = ["aria-controls", "aria-owns"];

  function fieldOf(el) {
    if (el.localName === "input" || el.localName === "textarea") {
      return el;
    }
    return dom.attribute(el, "role") === "combobox" ? (dom.query(el, "input, textarea") ?? el) : null;
  }

  function ownersOf(turn) {
    const owners = turn.memo("popups");
    const done = turn.memo("popups asked");
    if (done.size > 0) {
      return owners;
    }
    done.set("all", true);
    for (const el of turn.all(NAMES.map((name) => `[${name}]`).join(", "))) {
      const field = fieldOf(el);
      if (field === null || !turn.seen(field)) {
        continue;
      }
      const ids = NAMES.flatMap((name) => (dom.attribute(el, name) ?? "").split(/\s+/));
      for (const list of ids.map((id) => tree.byId(el, id))) {
        if (list === null || !turn.seen(list)) {
          continue;
        }
        for (const option of dom.queryAll(list, OPTIONS)) {
          if (!owners.has(option)) {
            owners.set(option, field);
          }
        }
      }
    }
    return owners;
  }

  return { ownersOf };
});
