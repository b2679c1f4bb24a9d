// selecting: operation `select_text`: marks text in a field, an editor or anywhere on the page, as a person does with the mouse.
//
// The value: null for all of it; a text, of which the first place is marked; `{ text, nth }` for another place (from 1); or `{
// start, end }`, characters. The button goes down where the text begins and up where it ends; editors look at the selection then,
// and some only a moment later. The result's value is what is marked.
// Depends on: editing, focus, limits, pause, pointer, tree, words.
"use strict";

foxloop.define("selecting", ({ editing, focus, limits, pause, pointer, tree, words }) => {
  const LOOK_MS = 160;
  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  // The text of an element, letter for letter, with the node that each is in.
  function lettersOf(el) {
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    const nodes = [];
    let text = "";
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      nodes.push({ node, from: text.length });
      text += node.data;
    }
    return { nodes, text };
  }

  // White space as it is drawn: a run of it in the page is one space in what a person reads.
  function place(text, wanted, nth) {
    const pattern = words
      .clean(wanted)
      .split(" ")
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("\\s+");
    const found = pattern === "" ? [] : [...text.matchAll(new RegExp(pattern, "gu"))];
    const one = found[nth - 1];
    return one === undefined ? null : { start: one.index, end: one.index + one[0].length };
  }

  function rangeIn(text, value) {
    if (value === null) {
      return { start: 0, end: text.length };
    }
    if (typeof value === "string" || typeof value.text === "string") {
      return place(text, value.text ?? value, value.nth ?? 1);
    }
    const { start, end } = value;
    const fits = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= text.length;
    return fits ? { start, end } : null;
  }

  const textOf = (el) => (editing.isField(el) ? el.value : lettersOf(el).text);

  function unfit({ el, secret, sensitive }, value) {
    if (secret || sensitive) {
      return refuse("secret", "nothing is marked in a field that holds a secret");
    }
    if (Array.isArray(value) || typeof value === "number") {
      return refuse("unsupported", "a text, { text, nth }, { start, end }, or null for all of it");
    }
    const range = rangeIn(textOf(el), value);
    return range === null || range.start === range.end ? refuse("unsupported", "it does not hold that text") : null;
  }

  function domRange({ nodes }, { start, end }) {
    const spot = (at, last) => {
      const entry = nodes.findLast(({ from }) => (last ? from < at : from <= at)) ?? nodes[0];
      return [entry.node, at - entry.from];
    };
    const range = document.createRange();
    range.setStart(...spot(start, false));
    range.setEnd(...spot(end, true));
    return range;
  }

  function ends(range, spot) {
    const boxes = range === null ? [] : Array.from(range.getClientRects()).filter((box) => box.width > 0);
    if (boxes.length === 0) {
      return [spot.point, spot.point];
    }
    const [first, last] = [boxes[0], boxes.at(-1)];
    return [
      { x: first.left + 0.5, y: first.top + first.height / 2 },
      { x: last.right - 0.5, y: last.top + last.height / 2 },
    ];
  }

  function dispatch({ el }, spot, value, steps) {
    const field = editing.isField(el);
    const wanted = rangeIn(textOf(el), value);
    const [from, to] = ends(field ? null : domRange(lettersOf(el), wanted), spot);
    const at = (point) => {
      const under = tree.at(point.x, point.y);
      return under !== null && tree.within(el, under) ? under : el;
    };
    pointer.over(at(from), from);
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    steps.ready();
    const send = pointer.sender(at(from), from);
    const down = send.pointer("pointerdown", { buttons: 1 });
    if (down && send.mouse("mousedown", { buttons: 1, detail: 1 })) {
      pointer.focusLike(el);
    }
    steps.note("down");
    if (!tree.connected(el)) {
      return refuse("gone", "it left the page when it was pressed");
    }
    if (field) {
      focus.give(el);
      el.setSelectionRange(wanted.start, wanted.end);
    } else {
      const range = domRange(lettersOf(el), wanted);
      document.getSelection().setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    }
    steps.note("marked");
    const after = pointer.sender(at(to), to);
    after.pointer("pointermove", { button: -1, buttons: 1 });
    after.mouse("mousemove", { buttons: 1 });
    after.pointer("pointerup", { buttons: 0 });
    if (down) {
      after.mouse("mouseup", { buttons: 0, detail: 1 });
    }
    steps.note("up");
    return async () => {
      await pause.pause(LOOK_MS);
      const [start, end] = field ? editing.caret(el) : [0, 0];
      const held = field ? el.value.slice(start ?? 0, end ?? 0) : String(document.getSelection());
      const text = words.cut(held, limits.value);
      return words.clean(held) === words.clean(textOf(el).slice(wanted.start, wanted.end))
        ? { ok: true, value: text }
        : { ...refuse("mismatch", "the page marked something else"), value: text };
    };
  }

  return { select_text: { unfit, dispatch } };
});
