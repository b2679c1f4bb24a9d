// pointer: one press, as the events that a mouse would send.
//
// `press(el, { point, onto })`: over, move, down, focus, up, click, in this order, at the topmost element of that point. What a
// page cancels has the usual consequences. The default action of the click is Firefox's own: it follows links, sends forms, sets
// checkboxes. Answers null, or a refusal when the page took the control away from under the pointer before the button went down:
// the press would then be that of another one. A control that goes when it is pressed (lists of suggestions do that) was pressed.
// Depends on: focus, reach, tree.
"use strict";

foxloop.define("pointer", ({ focus, reach, tree }) => {
  const MOUSE = { pointerId: 1, pointerType: "mouse", isPrimary: true };
  let hovered = null; // a WeakRef

  function lineage(el) {
    const line = [];
    for (let at = el; at !== null; at = tree.parent(at)) {
      line.push(at);
    }
    return line;
  }

  function sender(onto, { x, y }) {
    const common = {
      cancelable: true,
      composed: true,
      view: window,
      button: 0,
      clientX: x,
      clientY: y,
      screenX: x + mozInnerScreenX,
      screenY: y + mozInnerScreenY,
    };
    return {
      pointer: (type, more, to = onto) => to.dispatchEvent(new PointerEvent(type, { bubbles: true, ...common, ...MOUSE, ...more })),
      mouse: (type, more, to = onto) => to.dispatchEvent(new MouseEvent(type, { bubbles: true, ...common, ...more })),
    };
  }

  function enter(onto, send) {
    const before = hovered?.deref() ?? null;
    const old = before !== null && tree.connected(before) && before !== onto ? before : null;
    if (old !== null) {
      const left = lineage(old).filter((el) => !tree.within(el, onto));
      send.pointer("pointerout", { relatedTarget: onto, button: -1 }, old);
      left.forEach((el) => send.pointer("pointerleave", { relatedTarget: onto, button: -1, bubbles: false }, el));
      send.mouse("mouseout", { relatedTarget: onto }, old);
      left.forEach((el) => send.mouse("mouseleave", { relatedTarget: onto, bubbles: false }, el));
    }
    if (before !== onto) {
      const entered = lineage(onto)
        .filter((el) => old === null || !tree.within(el, old))
        .reverse();
      send.pointer("pointerover", { relatedTarget: old, button: -1 });
      entered.forEach((el) => send.pointer("pointerenter", { relatedTarget: old, button: -1, bubbles: false }, el));
      send.mouse("mouseover", { relatedTarget: old });
      entered.forEach((el) => send.mouse("mouseenter", { relatedTarget: old, bubbles: false }, el));
    }
    hovered = new WeakRef(onto);
    send.pointer("pointermove", { button: -1 });
    send.mouse("mousemove");
  }

  // A press moves the focus to the control, or to what holds it, or away from where it was.
  function focusLike(el) {
    for (let at = el; at !== null && at !== document.body; at = tree.parent(at)) {
      focus.give(at);
      if (tree.active() === at) {
        return;
      }
    }
    focus.drop();
  }

  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function press(el, { point, onto: first }) {
    enter(first, sender(first, point));
    if (!tree.connected(el)) {
      return refuse("gone", "it left the page when the pointer came over it");
    }
    const onto = reach.under(el, point); // the page may have drawn what is in it anew
    if (onto === null) {
      return refuse("covered", "it moved away when the pointer came over it, or something came over it");
    }
    const send = sender(onto, point);
    const down = send.pointer("pointerdown", { buttons: 1 });
    if (down && send.mouse("mousedown", { buttons: 1, detail: 1 })) {
      focusLike(el);
    }
    send.pointer("pointerup", { buttons: 0 });
    if (down) {
      send.mouse("mouseup", { buttons: 0, detail: 1 });
    }
    // As Firefox does it: no click when what was pressed is gone, and one on what it was in if that is still there.
    if (tree.connected(el)) {
      send.pointer("click", { detail: 1 }, tree.connected(onto) ? onto : el);
    }
    return null;
  }

  return { press };
});
