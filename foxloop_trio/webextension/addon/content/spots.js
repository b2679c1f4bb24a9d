// spots: where on a picture of the page its secrets and its controls are.
//
// `spots({ nodes, controls, node })` -> `{ secrets, marks, frames, element, scroll, page, view }`, all in CSS px of this
// document's viewport: boxes `[left, top, width, height]` of filled fields whose value must not be seen; `marks`, `{ node, box
// }` of the controls with the numbers `nodes`, or of all that are in view when `controls` is true; the frames as frame_list.js
// tells them; `element`, the box of the control `node`, or null; and how large and how far scrolled the page is. The page is not
// touched: whoever has the picture paints over it.
// Depends on: controls, extras, frameList, limits, numbers, sight, values.
"use strict";

foxloop.define("spots", ({ controls, extras, frameList, limits, numbers, sight, values }) => {
  const FIELDS = 'input:not([type="hidden" i]), textarea, select';

  const plainBox = ({ left, top, width, height }) => [left, top, width, height];

  function secretsOf(turn) {
    const found = [];
    for (const el of turn.all(FIELDS)) {
      if (turn.rendered(el) && !values.isToggle(el) && values.plainValueOf(el) !== "" && controls.isMasked(el, turn)) {
        found.push(plainBox(turn.boxOf(el)));
      }
    }
    return found;
  }

  const inView = ([left, top, width, height], { width: most, height: high }) =>
    left + width > 0 && top + height > 0 && left < most && top < high;

  function marksOf(turn, wanted, everything) {
    const marks = [];
    const numbered = everything
      ? extras.gather(turn, null, limits.controls).items.map(({ el }) => el)
      : wanted.map((node) => numbers.find(node));
    for (const el of numbered) {
      const facts = el === null || marks.length >= limits.controls ? null : controls.facts(el, turn);
      if (facts !== null) {
        const box = plainBox(turn.boxOf(facts.via ?? el));
        if (!everything || inView(box, turn.view)) {
          marks.push({ node: numbers.numberOf(el), box });
        }
      }
    }
    return marks;
  }

  function spots({ nodes, controls: everything, node }) {
    const turn = sight.createSight();
    const el = node === undefined ? null : numbers.find(node);
    const facts = el === null ? null : controls.facts(el, turn);
    const root = document.scrollingElement ?? document.documentElement;
    return {
      secrets: secretsOf(turn),
      marks: marksOf(turn, nodes, everything),
      frames: frameList.list(turn),
      element: el === null ? null : plainBox(turn.boxOf(facts?.via ?? el)),
      scroll: { x: turn.view.x, y: turn.view.y },
      page: { width: root.scrollWidth, height: root.scrollHeight },
      view: { width: turn.view.width, height: turn.view.height },
    };
  }

  return { spots };
});
