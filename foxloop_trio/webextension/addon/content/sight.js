// sight: what a person can see.
//
// Purpose: `createSight()` answers one turn's questions about visibility and remembers the answers; the next turn makes a new one.
// Result: `{ seen(el), rendered(el), textSeen(el) }`. `seen`: a person can see that control. `rendered`: it takes part in the
// page's text at all. `textSeen`: text directly in it can be seen.
// Depends on: limits, tree.
"use strict";

foxloop.define("sight", ({ limits, tree }) => {
  const HIDDEN_BY_MARKUP = '[aria-hidden="true"], [inert]';
  const SEEN = { opacityProperty: true, visibilityProperty: true };
  const RENDERED = { visibilityProperty: true };

  // The old way to hide from eyes but not from screen readers: clip: rect(0, 0, 0, 0) or rect(1px, 1px, 1px, 1px).
  function clippedByRect(style) {
    const sides = /^rect\(([^)]*)\)$/.exec(style.clip)?.[1].split(/[ ,]+/).map(parseFloat);
    return sides !== undefined && /absolute|fixed/.test(style.position) && (sides[2] <= sides[0] || sides[1] <= sides[3]);
  }

  function clippedByPath(style) {
    const inset = /^inset\((\d+(?:\.\d+)?)%/.exec(style.clipPath);
    return (inset !== null && Number(inset[1]) >= 50) || /^circle\(0(?:px|%)/.test(style.clipPath);
  }

  const scrolls = (style) => /auto|scroll/.test(style.overflowX + style.overflowY);
  const hides = (style) => /hidden|clip/.test(style.overflowX + style.overflowY);

  function createSight() {
    const styles = new Map();
    const clipped = new Map();
    const seenBefore = new Map();

    function styleOf(el) {
      let style = styles.get(el);
      if (style === undefined) {
        const live = getComputedStyle(el);
        const { clip, clipPath, position, overflowX, overflowY, filter, display } = live;
        style = { clip, clipPath, position, overflowX, overflowY, filter, display };
        styles.set(el, style);
      }
      return style;
    }

    // Whether the element, or what holds it up to the first scroll container, is clipped to nothing.
    function clippedAway(el) {
      let known = clipped.get(el);
      if (known === undefined) {
        known = clippedHere(el);
        clipped.set(el, known);
      }
      return known;
    }

    function clippedHere(el) {
      const style = styleOf(el);
      if (clippedByRect(style) || clippedByPath(style) || /opacity\(0(?:%|\.0*)?\)/.test(style.filter)) {
        return true;
      }
      const parent = tree.parent(el);
      if (parent === null || el === document.body || scrolls(style)) {
        return false;
      }
      const above = styleOf(parent);
      const escapes = style.position === "fixed" || (style.position === "absolute" && above.position === "static");
      if (hides(above) && !escapes && above.display !== "contents" && above.display !== "inline") {
        const box = parent.getBoundingClientRect();
        if (box.width < 1 || box.height < 1) {
          return true;
        }
      }
      return clippedAway(parent);
    }

    // Nothing can scroll to what lies wholly above or left of the document.
    function beyondScroll(el, box) {
      let right = box.right + scrollX;
      let bottom = box.bottom + scrollY;
      for (
        let at = tree.parent(el);
        (right <= 0 || bottom <= 0) && at !== null && at !== document.documentElement;
        at = tree.parent(at)
      ) {
        if (at !== document.body) {
          right += at.scrollLeft;
          bottom += at.scrollTop;
        }
      }
      return right <= 0 || bottom <= 0;
    }

    function look(el) {
      if (tree.closest(el, HIDDEN_BY_MARKUP) !== null || !el.checkVisibility(SEEN)) {
        return false;
      }
      const box = el.getBoundingClientRect();
      if (box.width <= limits.smallestBox || box.height <= limits.smallestBox) {
        return false;
      }
      return !beyondScroll(el, box) && !clippedAway(el);
    }

    function seen(el) {
      let answer = seenBefore.get(el);
      if (answer === undefined) {
        answer = look(el);
        seenBefore.set(el, answer);
      }
      return answer;
    }

    // An element with display: contents has no box of its own, but its text is shown.
    const boxless = (el) => styleOf(el).display === "contents";

    function rendered(el) {
      return el.checkVisibility(RENDERED) || (boxless(el) && (tree.parent(el) === null || rendered(tree.parent(el))));
    }

    function textSeen(el) {
      return seen(el) || (boxless(el) && tree.parent(el) !== null && textSeen(tree.parent(el)));
    }

    return { seen, rendered, textSeen, styleOf };
  }

  return { createSight, scrolls };
});
