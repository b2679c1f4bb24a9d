// labels: the label elements of a field.
//
// `labelsOf(el, turn)`: an array of its labels in the order of the page. The engine finds the labels of one field by a walk through
// the whole document, so for all fields together it is asked the other way round, once in a turn: which field does a label have?
// Depends on: dom.
"use strict";

foxloop.define("labels", ({ dom }) => {
  function labelsOf(el, turn) {
    if (turn.hosts.size > 0) {
      return dom.elements(el.labels ?? []); // each tree has its own labels
    }
    const memo = turn.memo("labels of fields");
    if (!memo.has(null)) {
      memo.set(null, []); // labels of nothing
      for (const label of turn.all("label")) {
        const field = dom.fieldOf(label) ?? null;
        const known = memo.get(field);
        if (known === undefined) {
          memo.set(field, [label]);
        } else {
          known.push(label);
        }
      }
    }
    return memo.get(el) ?? [];
  }

  return { labelsOf };
});
