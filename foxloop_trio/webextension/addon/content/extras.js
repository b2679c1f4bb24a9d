// extras: what people use although its markup does not say that it is a control.
//
// Purpose: find by look and habit what has no role: canvases, players, shapes of a drawing, small boxes with a colour or a picture,
// whatever shows a hand under the mouse, has a click handler in its markup or can be reached with Tab, what can be dragged, and
// what a menu drops from under the mouse.
// `gather(turn, texts, most)` -> `{ items, rest }`: `items`, about `most` possible controls in the order of the page, as
// `{ el, role }`; `rest`, how many more elements may be some. `texts`, a predicate over texts or null: with it, plain texts for
// which it is true are listed too. `roleOf(el)`: the role of any control that was ever listed.
// Depends on: dom, hover, roles, sheets, tree, words.
"use strict";

foxloop.define("extras", ({ dom, hover, roles, sheets, tree, words }) => {
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = ":is(circle, ellipse, rect, polygon, polyline, path, line, text, image):is(svg *)";
  const LEAVES = ":empty:is(div, span, i, b, em, strong, p, td, li, a)";
  const PLAYERS = "video[controls], audio[controls]";
  const HANDLED = "[onclick], [onmousedown], [onpointerdown], [tabindex]:not([tabindex^='-'])";
  const INLINE = "[style*='cursor']";
  const BARE_LINKS = "a:not([href]):not(:empty):is([class], [id], [title])"; // scripts find them by that, and make buttons of them
  // By markup, or as the usual libraries mark what they let people drag.
  const DRAGGABLE = [
    "[draggable='true' i]:not(img)",
    ".ui-sortable-handle, .ui-draggable-handle, .ui-resizable-handle, .cdk-drag:not(:has(.cdk-drag-handle)), .cdk-drag-handle",
    "[data-rbd-drag-handle-draggable-id], [data-rfd-drag-handle-draggable-id], [data-drag-handle]",
    "[aria-roledescription*='sortable' i], [aria-roledescription*='draggable' i]",
  ].join(", ");
  const SORTED = "ul, ol, tbody, div, section";
  const CELLS = "[role]:is([role=columnheader], [role=rowheader])";
  const BLIND = "div, span, li, td, i, img, svg, p, h1, h2, h3, h4"; // looked at where a sheet cannot be read
  const INNER = `${roles.CANDIDATES}, label`;

  const MOST_SHAPES = 100;
  const MOST_LEAVES = 100;
  const MOST_DRAGGABLE = 100;
  const MOST_SORTED = 500; // lists that are asked
  const MOST_LOOKED_AT = 1500; // elements that have to be asked for their own style, of each kind
  const SMALLEST_CANVAS = 30; // px; page reference 21.4
  const SMALLEST_DRAWING = 40; // px; what is smaller is an icon
  const SMALLEST_SHAPE = 3;
  const LEAF_PX = [5, 300];
  const LONGEST_TEXT = 200;
  const MOST_HELD = 10; // controls inside of a clickable box; what has more of them is a part of the page

  const found = new WeakMap(); // element -> role, as it was listed

  function roleOf(el) {
    return roles.roleOf(el) ?? found.get(el) ?? null;
  }

  const noted = new WeakMap(); // list of a look -> what is in it; a thing can be found in two ways

  function note(el, role, out) {
    const known = noted.get(out) ?? new Set();
    noted.set(out, known);
    if (!known.has(el)) {
      known.add(el);
      found.set(el, role);
      out.push({ el, role });
    }
  }

  const inControl = (el) => {
    const up = tree.parent(el);
    return up !== null && tree.closest(up, INNER) !== null;
  };

  function gather(turn, texts, most) {
    const { pointer, plain, blind } = sheets.study(turn);
    const drawings = turn.hosts.size > 0 || document.querySelector("svg") !== null;
    const selectors = [roles.CANDIDATES, "canvas", PLAYERS, LEAVES, HANDLED, INLINE, CELLS, BARE_LINKS, DRAGGABLE];
    selectors.push(...(drawings ? [SHAPES] : []));
    const hands = pointer.length === 0 ? null : sheets.within(pointer);
    const fixed = plain.length === 0 ? null : sheets.within(plain);
    const matched = turn.all([...selectors, hands, fixed, blind ? BLIND : null].filter((one) => one !== null).join(", "));
    const sorted = new Set(sortables(turn));
    const places = new Set(hover.places(turn));
    const all = inOrder(matched, [...sorted, ...places]);
    const whole = document.designMode === "on" ? [{ el: document.body, role: "textbox" }] : [];
    const counts = { shapes: 0, leaves: 0, looked: 0, dragged: 0 };
    const state = { turn, hands, fixed, blind, sorted, places, out: whole, outer: new Set(), ...counts };
    let at = 0;
    for (; at < all.length && state.out.length < most; at += 1) {
      const el = all[at];
      const role = roles.roleOf(el);
      if (role !== null) {
        state.out.push({ el, role });
      } else {
        consider(el, state);
      }
    }
    return { items: texts === null ? state.out : withTexts(state.out, turn, texts), rest: all.length - at };
  }

  // SortableJS marks nothing, and keeps its list on the element under a name of its own. Names only are read.
  function sortables(turn) {
    const lists = turn.all(SORTED).slice(0, MOST_SORTED);
    const isSorted = (el) => Object.getOwnPropertyNames(el.wrappedJSObject).some((name) => /^Sortable\d+$/.test(name));
    return lists
      .filter((el) => el.childElementCount > 1 && isSorted(el))
      .flatMap((el) => Array.from(el.children))
      .slice(0, MOST_DRAGGABLE);
  }

  function inOrder(matched, more) {
    const known = new Set(matched);
    const missing = more.filter((el) => !known.has(el));
    if (missing.length === 0) {
      return matched;
    }
    const before = (a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
    const out = [];
    missing.sort(before);
    for (const el of matched) {
      while (missing.length > 0 && before(missing[0], el) === -1) {
        out.push(missing.shift());
      }
      out.push(el);
    }
    return [...out, ...missing];
  }

  const halfThePage = (box, { view }) => box.width * box.height >= (view.width * view.height) / 2;

  function considerDraggable(el, state) {
    const { turn } = state;
    if (state.dragged < MOST_DRAGGABLE && !inControl(el) && el !== turn.body && !halfThePage(turn.boxOf(el), turn)) {
      state.dragged += 1;
      note(el, "draggable", state.out);
    }
  }

  // Unless something in it is there to be pointed at already.
  function considerPlace(el, { turn, out }) {
    if (!inControl(el) && !dom.queryAll(el, roles.CANDIDATES).some((inner) => turn.seen(inner))) {
      note(el, "clickable", out);
    }
  }

  function consider(el, state) {
    const { turn, out } = state;
    const tag = el.localName;
    if (tag === "input" || tag === "label" || tag === "option") {
      return; // a hidden field; a label stands for its field
    }
    if (tag === "canvas") {
      const box = turn.boxOf(el);
      if (box.width > SMALLEST_CANVAS && box.height > SMALLEST_CANVAS) {
        note(el, "canvas", out);
      }
    } else if (tag === "video" || tag === "audio") {
      note(el, "button", out);
    } else if (el.namespaceURI === SVG && tag !== "svg") {
      considerShape(el, state);
    } else if (state.sorted.has(el) || dom.matches(el, DRAGGABLE)) {
      considerDraggable(el, state);
    } else if (state.places.has(el)) {
      considerPlace(el, state);
    } else if (isHandled(el, state)) {
      considerClickable(el, state);
    } else if (state.leaves < MOST_LEAVES && state.looked < MOST_LOOKED_AT && el.firstChild === null && dom.matches(el, LEAVES)) {
      state.looked += 1;
      if (turn.seen(el) && isLeafBox(el, turn) && !inControl(el) && tree.closest(el, DRAGGABLE) === null) {
        state.leaves += 1;
        note(el, "image", out);
      }
    } else if (state.fixed !== null && dom.matches(el, state.fixed)) {
      considerPlain(el, state);
    }
  }

  function considerShape(el, state) {
    const { turn } = state;
    if (state.shapes >= MOST_SHAPES || state.looked >= MOST_LOOKED_AT) {
      return;
    }
    state.looked += 1;
    const drawing = el.ownerSVGElement;
    const whole = drawing === null ? null : turn.boxOf(drawing);
    if (whole === null || whole.width < SMALLEST_DRAWING || whole.height < SMALLEST_DRAWING || inControl(drawing)) {
      return;
    }
    const box = turn.boxOf(el);
    const { fill, stroke } = turn.styleOf(el).live;
    const isText = el.localName === "text";
    const painted = fill !== "none" || stroke !== "none" || el.localName === "image";
    const sized = box.width >= SMALLEST_SHAPE || box.height >= SMALLEST_SHAPE;
    const ground = box.width >= whole.width && box.height >= whole.height;
    if (painted && sized && !ground && (!isText || (el.textContent.trim() !== "" && turn.textSeen(el)))) {
      state.shapes += 1;
      note(drawing, "drawing", state.out); // whose points can be clicked and drawn along
      note(el, "shape", state.out);
    }
  }

  function isHandled(el, { hands, blind, turn }) {
    if (hands !== null && dom.matches(el, hands)) {
      return true;
    }
    if (dom.matches(el, HANDLED) || (dom.matches(el, INLINE) && el.style.cursor === "pointer")) {
      return true;
    }
    if (dom.matches(el, BARE_LINKS) && !dom.hasAttribute(el, "name")) {
      return true;
    }
    if (!blind) {
      return false;
    }
    // Each element inherits the hand; the first that has it is the one.
    const memo = turn.memo("cursors");
    const hand = (one) => {
      if (one === null || (memo.size >= MOST_LOOKED_AT && !memo.has(one))) {
        return false;
      }
      if (!memo.has(one)) {
        memo.set(one, turn.styleOf(one).live.cursor === "pointer");
      }
      return memo.get(one);
    };
    return hand(el) && !hand(tree.parent(el));
  }

  function considerClickable(el, state) {
    const { turn, out, outer } = state;
    if (inControl(el) || el === turn.body || el === document.documentElement) {
      return;
    }
    const role = dom.attribute(el, "role");
    if (role === "columnheader" || role === "rowheader") {
      note(el, role, out);
      return;
    }
    const items = dom.matches(el, "ul, ol, menu") ? Array.from(el.children).filter((child) => child.localName === "li") : [];
    if (items.length > 0) {
      items
        .filter((item) => dom.query(item, INNER) === null)
        .forEach((item) => note(item, "clickable", out));
      return;
    }
    const box = turn.boxOf(el);
    if (halfThePage(box, turn) || holdsControl(el, turn)) {
      return;
    }
    // A box in a box, both with the hand and the same text, is one thing.
    const up = tree.parent(el);
    if (
      up !== null &&
      outer.has(up) &&
      words.clean(up.textContent) === words.clean(el.textContent) &&
      el.textContent.trim() !== ""
    ) {
      return;
    }
    outer.add(el);
    note(el, "clickable", out);
  }

  // One that can be seen: a made-up list keeps the select that it stands for, out of sight.
  function holdsControl(el, turn) {
    const inner = dom.queryAll(el, roles.CANDIDATES);
    return inner.length > MOST_HELD || inner.some((one) => turn.seen(one));
  }

  function isLeafBox(el, turn) {
    const box = turn.boxOf(el);
    const [least, most] = LEAF_PX;
    if (box.width < least || box.height < least || box.width > most || box.height > most) {
      return false;
    }
    const { live } = turn.styleOf(el);
    if (live.content.includes("url(") || live.backgroundImage.includes("url(")) {
      return true;
    }
    const edges = [live.borderTopWidth, live.borderRightWidth, live.borderBottomWidth, live.borderLeftWidth];
    if (edges.every((width) => parseFloat(width) > 0)) {
      return true;
    }
    const up = tree.parent(el);
    const mine = turn.groundOf(el);
    return Array.isArray(mine) && up !== null && String(mine) !== String(turn.groundOf(up));
  }

  // Texts that cannot be selected are often buttons. Only short ones with nothing in them.
  function considerPlain(el, state) {
    const text = el.textContent;
    if (state.looked < MOST_LOOKED_AT && text.length <= LONGEST_TEXT && text.trim() !== "" && el.firstElementChild === null) {
      state.looked += 1;
      if (!inControl(el) && state.turn.textSeen(el)) {
        note(el, "text", state.out);
      }
    }
  }

  // On request each text that is no control's is one, so that it can be pressed.
  function withTexts(listed, turn, wanted) {
    const known = new Set(listed.map(({ el }) => el));
    const out = [...listed];
    const texts = turn.all("body *:not(script, style, noscript, template, option, textarea)");
    for (const el of texts) {
      if (known.has(el) || out.length - listed.length >= MOST_LOOKED_AT) {
        continue;
      }
      let own = "";
      for (let child = el.firstChild; child !== null; child = child.nextSibling) {
        own += child.nodeType === tree.TEXT ? child.data : "";
      }
      own = words.clean(own);
      if (own !== "" && own.length <= LONGEST_TEXT && wanted(own) && tree.closest(el, INNER) === null && turn.textSeen(el)) {
        note(el, "text", out);
      }
    }
    return out;
  }

  return { gather, roleOf };
});
