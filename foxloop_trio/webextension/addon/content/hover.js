// hover: controls that appear only while the mouse is over something else.
//
// Purpose: the menus of many pages are there for a mouse alone: a rule with :hover shows what another one hides. `reveal(turn)`
// looks through such rules and remembers, for this turn, which hidden controls they would show, and over what the mouse would
// have to be. `places(turn)`: those elements. `over(el, turn)`: that element, or null when the control does not depend on the
// mouse, or nobody called `reveal` in this turn.
// Depends on: dom, roles, sheets, tree.
"use strict";

foxloop.define("hover", ({ dom, roles, sheets, tree }) => {
  const MOST_RULES = 300;
  const MOST_ELEMENTS = 500;

  function reveal(turn) {
    const found = turn.memo("hover");
    let left = MOST_ELEMENTS;
    for (const { under, shown } of sheets.study(turn).reveals.slice(0, MOST_RULES)) {
      for (const el of matching(turn, shown).slice(0, left)) {
        left -= 1;
        const place = turn.likely(el) ? null : placeOf(el, under, turn);
        if (place !== null) {
          note(el, place, found);
        }
      }
    }
  }

  function matching(turn, selector) {
    return turn.all(sheets.within([selector]));
  }

  // What the mouse must be over, when it can be seen and nothing but the rule hides the rest.
  function placeOf(el, under, turn) {
    const parent = turn.parentOf(el);
    const place = parent === null ? null : tree.closest(parent, sheets.within([under]));
    return place !== null && turn.seen(place) && turn.likely(parent) ? place : null;
  }

  function note(el, place, found) {
    const inner = dom.queryAll(el, roles.CANDIDATES);
    for (const control of dom.matches(el, roles.CANDIDATES) ? [el, ...inner] : inner) {
      if (!found.has(control)) {
        found.set(control, place);
      }
    }
  }

  const over = (el, turn) => turn.memo("hover").get(el) ?? null;

  const places = (turn) => new Set(turn.memo("hover").values());

  return { reveal, over, places };
});
