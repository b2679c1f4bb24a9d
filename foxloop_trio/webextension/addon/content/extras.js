// extras: what people use although its markup does not say that it is a control.
//
// Purpose: find by look and habit what has no role: canvases, players, shapes of a drawing, small boxes with a colour or a picture,
// and whatever shows a hand under the mouse, has a click handler in its markup or can be reached with Tab.
// `gather(turn, texts, most)` -> `{ items, rest }`: `items`, about `most` possible controls in the order of the page, as
// `{ el, role }`; `rest`, how many more elements may be some. `texts`, a predicate over texts or null: with it, plain texts for
// which it is true are listed too. `roleOf(el)`: the role of any control that was ever listed.
// Depends on: dom, roles, sheets, tree, words.
"use strict";

foxloop.define("extras", ({ dom, roles, sheets, tree, words }) => {
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = ":is(circle, ellipse, rect, polygon, polyline, path, line, text, image):is(svg *)";
  const LEAVES = ":empty:is(div, span, i, b, em, strong, p, td, li, a)";
  const PLAYERS = "video[controls], audio[controls]";
  // An anchor without an address that has a tip or names its handler is a button of a script, as those of date pickers are.
  const BUTTON_LIKE = "a:not([href]):is([title], [data-handler])";
  const HANDLED = `[onclick], [onmousedown], [onpointerdown], [tabindex]:not([tabindex^='-']), ${BUTTON_LIKE}`;
  // What says that it can be dragged, or is the handle of something that can.
  const HELD = "[draggable='true'], .ui-draggable, .ui-sortable-handle, .ui-resizable-handle";
  const INLINE = "[style*='cursor']";
  const CELLS = "[role]:is([role=columnheader], [role=rowheader])";
  const BLIND = "div, span, li, td, i, img, svg, p, h1, h2, h3, h4"; // looked at where a sheet cannot be read
  const INNER = `${roles.CANDIDATES}, label`;

  const MOST_SHAPES = 100;
  const MOST_LEAVES = 100;
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

  function note(el, role, { out, noted }) {
    if (!noted.has(el)) {
      noted.add(el);
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
    const selectors = [roles.CANDIDATES, "canvas", PLAYERS, LEAVES, HANDLED, HELD, INLINE, CELLS, ...(drawings ? [SHAPES] : [])];
    const hands = pointer.length === 0 ? null : sheets.within(pointer);
    const fixed = plain.length === 0 ? null : sheets.within(plain);
    const all = turn.all([...selectors, hands, fixed, blind ? BLIND : null].filter((one) => one !== null).join(", "));
    const whole = document.designMode === "on" ? [{ el: document.body, role: "textbox" }] : [];
    const state = { turn, hands, fixed, blind, shapes: 0, leaves: 0, looked: 0, out: whole, noted: new Set(), outer: new Set() };
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

  function consider(el, state) {
    const { turn } = state;
    const tag = el.localName;
    if (tag === "input" || tag === "label" || tag === "option") {
      return; // a hidden field; a label stands for its field
    }
    if (tag === "canvas") {
      const box = turn.boxOf(el);
      if (box.width > SMALLEST_CANVAS && box.height > SMALLEST_CANVAS) {
        note(el, "canvas", state);
      }
    } else if (tag === "video" || tag === "audio") {
      note(el, "button", state);
    } else if (el.namespaceURI === SVG && tag !== "svg") {
      considerShape(el, state);
    } else if (dom.matches(el, HELD)) {
      if (!inControl(el) && !holdsControl(el, turn)) {
        note(el, "draggable", state);
      }
    } else if (isHandled(el, state)) {
      considerClickable(el, state);
    } else if (state.leaves < MOST_LEAVES && state.looked < MOST_LOOKED_AT && el.firstChild === null && dom.matches(el, LEAVES)) {
      state.looked += 1;
      if (turn.seen(el) && isLeafBox(el, turn) && !inControl(el) && tree.closest(el, HELD) === null) {
        state.leaves += 1;
        note(el, "image", state);
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
      note(drawing, "drawing", state); // whose points can be clicked and drawn along
      note(el, "shape", state);
    }
  }

  function isHandled(el, { hands, blind, turn }) {
    if (hands !== null && dom.matches(el, hands)) {
      return true;
    }
    if (dom.matches(el, HANDLED) || (dom.matches(el, INLINE) && el.style.cursor === "pointer")) {
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
    const { turn, outer } = state;
    if (inControl(el) || el === turn.body || el === document.documentElement) {
      return;
    }
    const role = dom.attribute(el, "role");
    if (role === "columnheader" || role === "rowheader") {
      note(el, role, state);
      return;
    }
    const items = dom.matches(el, "ul, ol, menu") ? Array.from(el.children).filter((child) => child.localName === "li") : [];
    if (items.length > 0) {
      items
        .filter((item) => dom.query(item, INNER) === null)
        .forEach((item) => note(item, "clickable", state));
      return;
    }
    const box = turn.boxOf(el);
    if (box.width * box.height >= (turn.view.width * turn.view.height) / 2 || holdsControl(el, turn)) {
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
    note(el, "clickable", state);
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
        note(el, "text", state);
      }
    }
  }

  // On request each text that is no control's is one, so that it can be pressed.
  function withTexts(listed, turn, wanted) {
    const state = { out: [...listed], noted: new Set(listed.map(({ el }) => el)) };
    const texts = turn.all("body *:not(script, style, noscript, template, option, textarea)");
    for (const el of texts) {
      if (state.noted.has(el) || state.out.length - listed.length >= MOST_LOOKED_AT) {
        continue;
      }
      let own = "";
      for (let child = el.firstChild; child !== null; child = child.nextSibling) {
        own += child.nodeType === tree.TEXT ? child.data : "";
      }
      own = words.clean(own);
      if (own !== "" && own.length <= LONGEST_TEXT && wanted(own) && tree.closest(el, INNER) === null && turn.textSeen(el)) {
        note(el, "text", state);
      }
    }
    return state.out;
  }

  return { gather, roleOf };
});
