// numbers: how an element is called between reading it and acting on it.
//
// Purpose: each document counts from 1; the same element object keeps its number as long as it and the document live, and a number
// is never given twice. No element is kept alive by its number.
// `numberOf(el)`: its number, a new one if it has none. `find(number)`: the element, or null when it is not in the document.
// `prune()`, at each read: elements that left the document can no longer be looked up, even if they come back, until they are read
// again.
// Depends on: tree.
"use strict";

foxloop.define("numbers", ({ tree }) => {
  const numbers = new WeakMap();
  const found = new Map();
  let last = 0;

  function numberOf(el) {
    let number = numbers.get(el);
    if (number === undefined) {
      last += 1;
      number = last;
      numbers.set(el, number);
    }
    if (found.get(number)?.deref() !== el) {
      found.set(number, new WeakRef(el));
    }
    return number;
  }

  function find(number) {
    const el = found.get(number)?.deref() ?? null;
    return el !== null && tree.connected(el) ? el : null;
  }

  function prune() {
    for (const number of [...found.keys()]) {
      if (find(number) === null) {
        found.delete(number);
      }
    }
  }

  return { numberOf, find, prune };
});
