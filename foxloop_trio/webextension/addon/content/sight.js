// sight: what a person can see.
//
// Purpose: `createSight()` answers one turn's questions about the page and remembers the answers; the next turn makes a new one. It
// is handed around as "the turn".
// Result: `{ all(selector), hosts, seen(el), rendered(el), textSeen(el), styleOf(el), boxOf(el), view, memo(name) }`. `seen`: a
// person can see that control. `rendered`: it takes part in the page's text at all. `textSeen`: text directly in it can be seen.
// `boxOf`: its rectangle in the viewport. `view`: size and place of the viewport. `memo(name)`: a Map for whoever else remembers
// things for this turn.
// Depends on: flat, limits, tree.
"use strict";

foxloop.define("sight", ({ flat, limits, tree }) => {
  const HIDDEN_BY_MARKUP = '[aria-hidden="true"], [inert]';
  const SEEN = { opacityProperty: true, visibilityProperty: true };
  const RENDERED = { visibilityProperty: true };
  const SAME_COLOUR = 1.05; // contrast ratio, as in WCAG 2; equal colours have 1

  // The old way to hide from eyes but not from screen readers: clip: rect(0, 0, 0, 0) or rect(1px, 1px, 1px, 1px).
  function clippedByRect(clip) {
    const sides = /^rect\(([^)]*)\)$/.exec(clip)?.[1].split(/[ ,]+/).map(parseFloat);
    return sides !== undefined && (sides[2] <= sides[0] || sides[1] <= sides[3]);
  }

  function clippedByPath(clipPath) {
    const inset = /^inset\((\d+(?:\.\d+)?)%/.exec(clipPath);
    return (inset !== null && Number(inset[1]) >= 50) || /^circle\(0(?:px|%)/.test(clipPath);
  }

  const scrolls = (style) => /auto|scroll/.test(style.overflowX + style.overflowY);
  const outOfFlow = (position) => position === "absolute" || position === "fixed";

  // "rgb(1, 2, 3)" or "rgba(1, 2, 3, 0.5)" as numbers; null for what is written otherwise.
  function channels(colour) {
    const found = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(colour);
    return found === null ? null : [Number(found[1]), Number(found[2]), Number(found[3]), Number(found[4] ?? 1)];
  }

  function luminance([red, green, blue]) {
    const [r, g, b] = [red, green, blue].map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(a, b) {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  }

  function createSight() {
    const styles = new Map();
    const boxes = new Map();
    const clipped = new Map();
    const seenBefore = new Map();
    const renderedBefore = new Map();
    const textSeenBefore = new Map();
    const backgrounds = new Map();
    const memos = new Map();
    const view = { width: innerWidth, height: innerHeight, x: scrollX, y: scrollY };
    let surveyed = null;
    let hiding = null;

    const survey = () => (surveyed ??= flat.survey());

    function memo(name) {
      if (!memos.has(name)) {
        memos.set(name, new Map());
      }
      return memos.get(name);
    }

    function remembered(map, el, find) {
      let answer = map.get(el);
      if (answer === undefined) {
        answer = find(el);
        map.set(el, answer);
      }
      return answer;
    }

    // Each property costs; the rarer ones are asked for only where they can matter.
    function readStyle(el) {
      const live = getComputedStyle(el);
      const { position, overflow, clipPath, filter, display } = live;
      const clip = outOfFlow(position) ? live.clip : "auto";
      return { position, overflow, clipPath, filter, display, clip, live };
    }

    const styleOf = (el) => remembered(styles, el, readStyle);

    function readBox(el) {
      const { left, top, width, height } = el.getBoundingClientRect();
      return { left, top, width, height, right: left + width, bottom: top + height };
    }

    const boxOf = (el) => remembered(boxes, el, readBox);

    // Most pages hide nothing by markup; then nobody has to look up the tree for it.
    function hiddenByMarkup(el) {
      hiding ??= survey().hosts.size > 0 || document.querySelector(HIDDEN_BY_MARKUP) !== null;
      return hiding && tree.closest(el, HIDDEN_BY_MARKUP) !== null;
    }

    // Whether the element, or what holds it up to the first scroll container, is clipped to nothing.
    const clippedAway = (el) => remembered(clipped, el, clippedHere);

    function clippedHere(el) {
      const style = styleOf(el);
      if (clippedByRect(style.clip) || clippedByPath(style.clipPath) || /opacity\(0(?:%|\.0*)?\)/.test(style.filter)) {
        return true;
      }
      const parent = tree.parent(el);
      if (parent === null || el === document.body || /auto|scroll/.test(style.overflow)) {
        return false;
      }
      const above = styleOf(parent);
      if (above.overflow !== "visible" && above.display !== "contents" && above.display !== "inline") {
        const escapes = style.position === "fixed" || (style.position === "absolute" && above.position === "static");
        if (!escapes && /hidden|clip/.test(above.overflow)) {
          const box = boxOf(parent);
          if (box.width < 1 || box.height < 1) {
            return true;
          }
        }
      }
      return clippedAway(parent);
    }

    // Nothing can scroll to what lies wholly above or left of the document.
    function beyondScroll(el, box) {
      let right = box.right + view.x;
      let bottom = box.bottom + view.y;
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
      if (!el.checkVisibility(SEEN)) {
        return false;
      }
      const box = boxOf(el);
      if (box.width <= limits.smallestBox || box.height <= limits.smallestBox) {
        return false;
      }
      return !hiddenByMarkup(el) && !beyondScroll(el, box) && !clippedAway(el);
    }

    const seen = (el) => remembered(seenBefore, el, look);

    // An element with display: contents has no box of its own, but its text is shown.
    const boxless = (el) => styleOf(el).display === "contents";

    const rendered = (el) =>
      remembered(
        renderedBefore,
        el,
        () => el.checkVisibility(RENDERED) || (boxless(el) && (tree.parent(el) === null || rendered(tree.parent(el)))),
      );

    const textSeen = (el) =>
      remembered(textSeenBefore, el, () =>
        boxless(el) ? tree.parent(el) !== null && textSeen(tree.parent(el)) : seen(el) && !inkless(el),
      );

    // The colour behind it; null where a picture, a gradient or a transparency makes it unknown.
    function backgroundOf(el) {
      return remembered(backgrounds, el, () => {
        const { live } = styleOf(el);
        const colour = channels(live.backgroundColor);
        if (live.backgroundImage !== "none" || colour === null || (colour[3] !== 0 && colour[3] !== 1)) {
          return "unknown";
        }
        if (colour[3] === 1) {
          return colour;
        }
        const parent = outOfFlow(styleOf(el).position) ? null : tree.parent(el);
        return parent === null ? (outOfFlow(styleOf(el).position) ? "unknown" : [255, 255, 255, 1]) : backgroundOf(parent);
      });
    }

    // Text that has been given no ink: transparent, of the colour of its ground, or moved out of its box.
    function inkless(el) {
      const { live } = styleOf(el);
      const ink = channels(live.webkitTextFillColor ?? live.color) ?? channels(live.color);
      if (ink === null) {
        return false;
      }
      const painted = /text/.test(live.backgroundClip);
      if (ink[3] === 0 && !painted && live.textShadow === "none") {
        return true;
      }
      if (live.textIndent.startsWith("-") && -parseFloat(live.textIndent) >= boxOf(el).width && !/^-?\d+%$/.test(live.textIndent)) {
        return true;
      }
      const ground = backgroundOf(el);
      const same = ground !== "unknown" && !painted && live.textShadow === "none" && contrast(ink, ground) < SAME_COLOUR;
      return same && !paintedBehind(el);
    }

    // White words over a picture that is not one of their ancestors are common. Where nobody can be asked, they count as seen.
    function paintedBehind(el) {
      const box = boxOf(el);
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      if (x < 0 || y < 0 || x >= view.width || y >= view.height) {
        for (let at = el; at !== null; at = tree.parent(at)) {
          if (styleOf(at).position !== "static") {
            return true;
          }
        }
        return false;
      }
      return document.elementsFromPoint(x, y).some((other) => !tree.within(other, el) && !tree.within(el, other) && paints(other));
    }

    function paints(el) {
      const { live } = styleOf(el);
      const colour = channels(live.backgroundColor);
      return /^(?:img|video|canvas|svg|image|picture)$/.test(el.localName) || live.backgroundImage !== "none" || colour?.[3] !== 0;
    }

    return {
      all: (selector) => survey().all(selector),
      get hosts() {
        return survey().hosts;
      },
      seen,
      rendered,
      textSeen,
      hiddenByMarkup,
      styleOf,
      boxOf,
      backgroundOf,
      view,
      memo,
    };
  }

  return { createSight, scrolls, channels };
});
