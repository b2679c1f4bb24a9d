// sight: what a person can see.
//
// Purpose: `createSight()` answers one turn's questions about the page and remembers the answers; the next turn makes a new one.
// It is handed around as "the turn".
// Result: `{ all(selector), hosts, seen(el), rendered(el), boxSeen(el), textSeen(el), styleOf(el), boxOf(el), view, memo(name)
// }`. `seen`: a person can see that control; `likely`, a cheap upper bound of it. `rendered`: it takes part in the page's text
// at all. `boxSeen`: as `seen`, of what it stands in where it has no box. `textSeen`: text directly in it can be seen. `boxOf`:
// its rectangle in the viewport. `parentOf`: as tree.parent. `body`: that of the document. `view`: size and place of the
// viewport. `uses(means)`: one of the rarer ways to hide occurs in its sheets. `memo(name)`: a Map for whoever else
// remembers things for this turn.
// Depends on: dom, flat, limits, sheets, tree.
"use strict";

foxloop.define("sight", ({ dom, flat, limits, sheets, tree }) => {
  const HIDDEN_BY_MARKUP = '[aria-hidden="true"], [inert]';
  const SEEN = { opacityProperty: true, visibilityProperty: true };
  const RENDERED = { visibilityProperty: true };
  const FAR = 48; // sum of differences of channels beyond which two colours are not taken for one
  const MOST_COLOURS = 2000;
  const WHITE = [255, 255, 255, 1]; // what Firefox paints where no page has a colour
  const SVG = "http://www.w3.org/2000/svg";
  const SMALLEST_PX = 2; // letters that are smaller are no letters
  const SAME_COLOUR = 1.05; // contrast ratio, as in WCAG 2; equal colours have 1

  // The old way to hide from eyes but not from screen readers: clip: rect(0, 0, 0, 0) or rect(1px, 1px, 1px, 1px).
  function clippedByRect(clip) {
    const sides = /^rect\(([^)]*)\)$/.exec(clip)?.[1].split(/[ ,]+/).map(parseFloat);
    return sides !== undefined && (sides[2] <= sides[0] || sides[1] <= sides[3]);
  }

  // Shapes without any area: nothing shows through them.
  function clippedByPath(clipPath) {
    const [, kind, inside] = /^(\w+)\((.*)\)/.exec(clipPath) ?? [];
    if (kind === "circle" || kind === "ellipse") {
      return /^(?:\S+ )?0(?:px|%)/.test(inside);
    }
    if (kind === "inset") {
      const sides = inside.split(" round ")[0].replace(/calc\(100% - 0px\)/g, "100%").split(" ");
      const [top, right = top, bottom = top, left = right] = sides.map((side) => (side.endsWith("%") ? parseFloat(side) : 0));
      return top + bottom >= 100 || left + right >= 100;
    }
    if (kind === "polygon") {
      const points = inside.replace(/^(?:nonzero|evenodd), /, "").split(", ");
      const [xs, ys] = [0, 1].map((at) => new Set(points.map((point) => point.split(" ")[at])));
      return xs.size === 1 || ys.size === 1;
    }
    return false;
  }

  // A gradient of nothing but transparent colours; the engine tells all colours as numbers.
  const CLEAR = /rgba\([^()]*, 0\)/g;
  const GRADIENT = /^(?:repeating-)?(?:linear|radial|conic)-gradient\(/;
  const isClear = (image) => GRADIENT.test(image) && !/rgb|color|lab|lch|hsl|hwb|url/.test(image.replace(CLEAR, ""));

  // Every layer of its mask lets nothing through.
  function maskedAway({ maskImage, maskSize }) {
    const sizes = maskSize.split(", ");
    return sheets.split(maskImage).every(
      (image, at) => isClear(image) || (image !== "none" && /(?:^| )0(?:px|%)/.test(sizes[at % sizes.length])),
    );
  }

  const scrolls = (style) => /auto|scroll/.test(style.overflowX + style.overflowY);
  const outOfFlow = (position) => position === "absolute" || position === "fixed";

  // "rgb(1, 2, 3)" or "rgba(1, 2, 3, 0.5)" as numbers; null for what is written otherwise. A page has few colours.
  const parsed = new Map();
  let brush = null;

  function channels(colour) {
    let known = parsed.get(colour);
    if (known === undefined) {
      known = parse(colour);
      parsed.set(colour, known);
      if (parsed.size > MOST_COLOURS) {
        parsed.clear();
      }
    }
    return known;
  }

  function parse(colour) {
    const found = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(colour);
    if (found !== null) {
      return [Number(found[1]), Number(found[2]), Number(found[3]), Number(found[4] ?? 1)];
    }
    return /^(?:color|lab|lch|oklab|oklch)\(/.test(colour) ? painted(colour) : null;
  }

  // Colours of other spaces are painted, since nobody but the engine can convert them all.
  function painted(colour) {
    brush ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  }

  function luminance([red, green, blue]) {
    const [r, g, b] = [red, green, blue].map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(a, b) {
    // Far apart in any channel is far apart in all.
    if (Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) > FAR) {
      return Infinity;
    }
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  }

  // What is seen of an ink that lets some of its ground through.
  function over(ink, ground) {
    return ink[3] === 1 ? ink : [0, 1, 2].map((at) => ink[at] * ink[3] + ground[at] * (1 - ink[3]));
  }

  // Bound once: to look a global of the page up costs as much as the call.
  const computedStyle = window.getComputedStyle.bind(window);

  // Each property costs. What is asked for seldom is read when it is, the rarer ones only where the page uses them at all.
  class Style {
    constructor(live, uses) {
      this.live = live;
      this.overflow = live.overflow;
      this.clipPath = uses.has("clip") ? live.clipPath : "none";
      this.clip = uses.has("clip") && outOfFlow(live.position) ? live.clip : "auto";
      this.filter = uses.has("filter") ? live.filter : "none";
      this.mask = uses.has("mask") ? live.maskImage : "none";
    }

    get position() {
      return (this.standing ??= this.live.position);
    }

    get display() {
      return (this.drawn ??= this.live.display);
    }
  }

  function createSight() {
    const styles = new Map();
    const boxes = new Map();
    const clipped = new Map();
    const erasedBefore = new Map();
    const windows = new Map();
    const seenBefore = new Map();
    const renderedBefore = new Map();
    const textSeenBefore = new Map();
    const grounds = new Map();
    const memos = new Map();
    const view = { width: innerWidth, height: innerHeight, x: scrollX, y: scrollY };
    let surveyed = null;
    let hiding = null;

    const survey = () => (surveyed ??= flat.survey());
    const { body, documentElement } = document;
    // Where there are no trees in trees, the parent needs one question instead of four.
    let nested = null;
    const isNested = () => (nested ??= survey().hosts.size > 0);
    const closest = (el, selector) => (isNested() ? tree.closest(el, selector) : dom.closest(el, selector));
    const parentOf = (el) => (isNested() ? tree.parent(el) : dom.parent(el));
    let rare = null;
    const rarities = () => (rare ??= sheets.study(turn).uses);

    function memo(name) {
      let found = memos.get(name);
      if (found === undefined) {
        found = new Map();
        memos.set(name, found);
      }
      return found;
    }

    function remembered(map, el, find) {
      let answer = map.get(el);
      if (answer === undefined) {
        answer = find(el);
        map.set(el, answer);
      }
      return answer;
    }

    const readStyle = (el) => new Style(computedStyle(el), rarities());
    const styleOf = (el) => remembered(styles, el, readStyle);

    function readBox(el) {
      const { left, top, width, height } = dom.rect(el);
      return { left, top, width, height, right: left + width, bottom: top + height };
    }

    const boxOf = (el) => remembered(boxes, el, readBox);

    // Most pages hide nothing by markup; then nobody has to look up the tree for it.
    const hidesByMarkup = () => (hiding ??= isNested() || document.querySelector(HIDDEN_BY_MARKUP) !== null);
    const hiddenByMarkup = (el) => hidesByMarkup() && closest(el, HIDDEN_BY_MARKUP) !== null;
    const marksHidden = (el) => hidesByMarkup() && dom.matches(el, HIDDEN_BY_MARKUP);

    // Nothing of such an element, or of what is in it, is painted, wherever it is scrolled to.
    const erases = (style) =>
      (style.clip !== "auto" && clippedByRect(style.clip)) ||
      (style.clipPath !== "none" && clippedByPath(style.clipPath)) ||
      (style.filter !== "none" && /opacity\(0(?:%|\.0*)?\)/.test(style.filter)) ||
      (style.mask !== "none" && maskedAway(style.live));

    // Whether anything around and including the element does that. Few pages have the means at all.
    const canErase = () => ["clip", "filter", "mask"].some((means) => rarities().has(means));
    const erasedHere = (el) => erases(styleOf(el)) || (parentOf(el) !== null && erased(parentOf(el)));
    const erased = (el) => canErase() && remembered(erasedBefore, el, erasedHere);

    // Whether the element, or what holds it up to the first scroll container, is clipped to nothing.
    const clippedAway = (el) => remembered(clipped, el, clippedHere);

    function clippedHere(el) {
      const style = styleOf(el);
      if (erases(style) || (style.position === "fixed" && outOfView(boxOf(el)))) {
        return true;
      }
      const parent = parentOf(el);
      if (parent === null) {
        return false;
      }
      if (el === body || (style.overflow !== "visible" && /auto|scroll/.test(style.overflow))) {
        return erased(parent);
      }
      const above = styleOf(parent);
      if (above.overflow !== "visible" && above.display !== "contents" && above.display !== "inline") {
        const escapes = style.position === "fixed" || (style.position === "absolute" && above.position === "static");
        if (!escapes && /hidden|clip/.test(above.overflow)) {
          const box = boxOf(parent);
          if (box.width <= limits.smallestBox || box.height <= limits.smallestBox) {
            return true;
          }
        }
      }
      return clippedAway(parent);
    }

    // To what stands still outside of the view nothing can scroll. An empty box may hold what lies in view.
    function outOfView({ left, top, right, bottom, width, height }) {
      const empty = width === 0 || height === 0;
      return empty
        ? right < 0 || bottom < 0 || left > view.width || top > view.height
        : right <= 0 || bottom <= 0 || left >= view.width || top >= view.height;
    }

    // What an ancestor with hidden overflow leaves of what stands in `el`: a rectangle, or null for all of it. Whatever scrolls
    // ends it, as does the document. Controls there can be brought in view by acting; words are not seen until that is done.
    const windowIn = (el) =>
      remembered(windows, el, () => {
        if (el === body || el === documentElement || styleOf(el).overflow === "visible") {
          return windowOn(el);
        }
        const { overflow, display } = styleOf(el);
        if (/auto|scroll/.test(overflow)) {
          return null;
        }
        const outer = windowOn(el);
        if (display === "inline" || display === "contents") {
          return outer;
        }
        const { left, top, right, bottom } = boxOf(el);
        return outer === null
          ? { left, top, right, bottom }
          : {
              left: Math.max(left, outer.left),
              top: Math.max(top, outer.top),
              right: Math.min(right, outer.right),
              bottom: Math.min(bottom, outer.bottom),
            };
      });

    function windowOn(el) {
      if (el === body || el === documentElement) {
        return null;
      }
      const { position } = styleOf(el);
      let up = position === "fixed" ? null : parentOf(el);
      while (position === "absolute" && up !== null && styleOf(up).position === "static" && styleOf(up).live.transform === "none") {
        up = parentOf(up);
      }
      return up === null ? null : windowIn(up);
    }

    function cutOff(el) {
      const window = windowOn(el);
      if (window === null) {
        return false;
      }
      const box = boxOf(el);
      return box.right <= window.left || box.left >= window.right || box.bottom <= window.top || box.top >= window.bottom;
    }

    // Nothing can scroll to what lies wholly above or left of the document.
    function beyondScroll(el, box) {
      let right = box.right + view.x;
      let bottom = box.bottom + view.y;
      if (right > 0 && bottom > 0) {
        return false;
      }
      for (let at = parentOf(el); (right <= 0 || bottom <= 0) && at !== null && at !== documentElement; at = parentOf(at)) {
        if (at !== body) {
          right += at.scrollLeft;
          bottom += at.scrollTop;
        }
      }
      return right <= 0 || bottom <= 0;
    }

    function look(el) {
      if (!dom.visible(el, SEEN)) {
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

    const isRendered = (el) => dom.visible(el, RENDERED) || (boxless(el) && (parentOf(el) === null || rendered(parentOf(el))));
    const rendered = (el) => remembered(renderedBefore, el, isRendered);

    function holderOf(el) {
      let at = el;
      while (at !== null && boxless(at)) {
        at = parentOf(at);
      }
      return at;
    }

    function boxSeen(el) {
      const holder = holderOf(el);
      return holder !== null && seen(holder);
    }

    function isTextSeen(el) {
      const holder = holderOf(el);
      const shown = holder !== null && seen(holder) && !cutOff(holder) && !inkless(el, holder);
      return shown && (holder === el || styleOf(el).live.visibility === "visible");
    }
    const textSeen = (el) => remembered(textSeenBefore, el, isTextSeen);

    // The nearest ground that is painted in one colour; "unknown" where a transparency makes that no colour.
    const groundOf = (el) => remembered(grounds, el, groundHere);

    function groundHere(el) {
      const style = styleOf(el);
      const colour = channels(style.live.backgroundColor);
      if (colour === null || (colour[3] !== 0 && colour[3] !== 1)) {
        return "unknown";
      }
      if (colour[3] === 1) {
        return colour;
      }
      if (outOfFlow(style.position)) {
        return "unknown"; // it lies over whatever is there
      }
      const parent = parentOf(el);
      return parent === null ? WHITE : groundOf(parent);
    }

    // A picture or a gradient between the element and the end of the document.
    function onPicture(el) {
      for (let at = el; at !== null; at = parentOf(at)) {
        const { live } = styleOf(at);
        if (live.backgroundImage !== "none") {
          return true;
        }
        if (channels(live.backgroundColor)?.[3] === 1) {
          return false;
        }
      }
      return false;
    }

    let drawings = null;
    const draws = () => (drawings ??= isNested() || document.querySelector("svg") !== null || documentElement.localName !== "html");

    // Text that has been given no ink: skipped, transparent, of the colour of its ground, or moved out of its box.
    function inkless(el, holder) {
      const { live } = styleOf(el);
      const drawn = draws() && el.namespaceURI === SVG && dom.tag(el) !== "svg";
      const uses = rarities();
      if (uses.has("skip") && live.contentVisibility === "hidden") {
        return true;
      }
      if (uses.has("indent")) {
        const { width } = boxOf(holder);
        const indent = parseFloat(live.textIndent) * (live.textIndent.endsWith("%") ? width / 100 : 1);
        if (indent <= -width || (indent >= width && /hidden|clip/.test(styleOf(holder).overflow))) {
          return indent !== 0;
        }
      }
      if ((uses.has("tiny") || drawn) && parseFloat(live.fontSize) < SMALLEST_PX) {
        return true;
      }
      if (uses.has("dots") && live.webkitTextSecurity !== "none") {
        return true;
      }
      if (drawn && (live.stroke !== "none" || live.fill.startsWith("url("))) {
        return false;
      }
      let ink = channels(drawn ? live.fill : uses.has("fill") ? live.webkitTextFillColor : live.color);
      if (drawn && ink !== null) {
        ink = [...ink.slice(0, 3), ink[3] * Number(live.fillOpacity)];
      }
      if (ink === null || (uses.has("shadow") && live.textShadow !== "none")) {
        return false;
      }
      if (uses.has("fill") && /text/.test(live.backgroundClip)) {
        return ink[3] === 0 && paintsNothing(live); // the letters are filled with the ground
      }
      if (ink[3] === 0) {
        return true;
      }
      const ground = groundOf(holder);
      return (
        ground !== "unknown" &&
        contrast(over(ink, ground), ground) < SAME_COLOUR &&
        !onPicture(holder) &&
        !paintedBehind(holder, ink)
      );
    }

    const paintsNothing = ({ backgroundColor, backgroundImage }) =>
      channels(backgroundColor)?.[3] === 0 && sheets.split(backgroundImage).every((image) => image === "none" || isClear(image));

    // White words over a picture that is not one of their ancestors are common. Where nobody can be asked, they count as seen.
    function paintedBehind(el, ink) {
      const box = boxOf(el);
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      if (x < 0 || y < 0 || x >= view.width || y >= view.height) {
        for (let at = el; at !== null; at = parentOf(at)) {
          if (styleOf(at).position !== "static") {
            return true;
          }
        }
        return false;
      }
      return document
        .elementsFromPoint(x, y)
        .some((other) => !tree.within(other, el) && !tree.within(el, other) && paints(other, ink));
    }

    function paints(el, ink) {
      const { live } = styleOf(el);
      if (el.namespaceURI === SVG && el.localName !== "svg" && el.localName !== "image") {
        const fill = channels(live.fill);
        return live.fill !== "none" && (fill === null || (fill[3] !== 0 && contrast(over(ink, fill), fill) >= SAME_COLOUR));
      }
      const colour = channels(live.backgroundColor);
      return /^(?:img|video|canvas|svg|image|picture)$/.test(el.localName) || live.backgroundImage !== "none" || colour?.[3] !== 0;
    }

    // Cheap, and true of a little more than `seen`.
    const likely = (el) => dom.visible(el, SEEN);

    const turn = {
      likely,
      all: (selector) => survey().all(selector),
      get hosts() {
        return survey().hosts;
      },
      seen,
      rendered,
      boxSeen,
      textSeen,
      hiddenByMarkup,
      marksHidden,
      body,
      parentOf,
      closest,
      uses: (means) => rarities().has(means),
      styleOf,
      boxOf,
      groundOf,
      view,
      memo,
    };
    return turn;
  }

  return { createSight, scrolls, channels };
});
