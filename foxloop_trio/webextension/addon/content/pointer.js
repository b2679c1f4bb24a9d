// pointer: moving and pressing, as the events that a mouse would send.
//
// `press(el, { point, onto }, how)`: over, move, down, focus, up, click, in this order, at the topmost element of that point;
// `how`: `{ button: "left" | "right", count: 1 | 2, ready, same, again }`, all optional; `ready()` is called when the pointer is
// there, before the button goes down; `same()` is asked before each event that counts, and answers null or why the control is
// another one by now; `again()` answers where it can be reached now, for one that moved when the pointer came. What a page cancels
// has the usual consequences. The default action of the click is Firefox's own: it follows links, sends forms, sets checkboxes.
// Answers null, or a refusal when the page took the control away from under the pointer before the button went down, or made
// another one of it: the press would then be that of another one. A control that goes when it is pressed (lists
// of suggestions do that) was pressed. `over(onto, point)`: the pointer comes to that place. `sender(onto, point)`,
// `focusLike(el)`: for other sequences (drag.js).
// Depends on: focus, hovering, reach, sameness, tree.
"use strict";

foxloop.define("pointer", ({ focus, hovering, reach, sameness, tree }) => {
  const MOUSE = { pointerId: 1, pointerType: "mouse", isPrimary: true };
  const BUTTONS = { left: { button: 0, buttons: 1 }, right: { button: 2, buttons: 2 } };
  const MOST_FOLLOWED = 3; // times that the pointer comes to it; what still moves away then does not want to be pressed
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
      common,
      pointer: (type, more, to = onto) => to.dispatchEvent(new PointerEvent(type, { bubbles: true, ...common, ...MOUSE, ...more })),
      mouse: (type, more, to = onto) => to.dispatchEvent(new MouseEvent(type, { bubbles: true, ...common, ...more })),
    };
  }

  function over(onto, point) {
    const send = sender(onto, point);
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
    hovering.follow(lineage(onto));
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

  // One down and up and what follows. As Firefox does it: no click when what was pressed is gone, and one on what it was in if that
  // is still there. The button goes up wherever it is by then, but what became another control while it was down is not clicked.
  function pressOnce(el, onto, point, { button, buttons }, detail, same) {
    const send = sender(onto, point);
    let other = same();
    if (other !== null) {
      return other;
    }
    const stays = () => {
      other ??= tree.connected(el) ? same() : null;
      return other === null;
    };
    const down = send.pointer("pointerdown", { button, buttons });
    if (down && stays() && send.mouse("mousedown", { button, buttons, detail }) && stays()) {
      focusLike(el);
    }
    send.pointer("pointerup", { button, buttons: 0 });
    if (down) {
      send.mouse("mouseup", { button, buttons: 0, detail });
    }
    if (!tree.connected(el)) {
      return null;
    }
    if (!stays()) {
      return other;
    }
    const to = tree.connected(onto) ? onto : el;
    if (button === 0) {
      send.pointer("click", { detail }, to);
    } else {
      send.pointer("contextmenu", { button, detail: 0 }, to);
      if (tree.connected(to)) {
        send.pointer("auxclick", { button, detail }, to);
      }
    }
    return null;
  }

  function press(el, { point: where, onto: first }, { button = "left", count = 1, ready, same, again } = {}) {
    const token = same === undefined ? sameness.take(el) : null;
    const still = same ?? (() => sameness.differs(token));
    let point = where;
    let onto = null;
    for (let times = 0; onto === null && times < MOST_FOLLOWED; times += 1) {
      const spot = times === 0 ? { point, onto: first } : again?.();
      if (spot?.point === undefined) {
        break;
      }
      ({ point } = spot);
      over(spot.onto, point);
      if (!tree.connected(el)) {
        return refuse("gone", "it left the page when the pointer came over it");
      }
      // The page may have drawn what is in it anew.
      onto = reach.under(el, point) ?? (reach.emptied(el) ? el : null);
    }
    if (onto === null) {
      return refuse("covered", "it moved away when the pointer came over it, or something came over it");
    }
    ready?.();
    const other = pressOnce(el, onto, point, BUTTONS[button], 1, still);
    if (other !== null) {
      return other;
    }
    if (count === 2) {
      onto = tree.connected(el) ? reach.under(el, point) : null;
      if (onto === null) {
        return refuse("gone", "it was not there any more for the second press");
      }
      const changed = pressOnce(el, onto, point, BUTTONS[button], 2, still);
      if (changed !== null) {
        return changed;
      }
      if (tree.connected(onto)) {
        sender(onto, point).mouse("dblclick", { detail: 2 });
      }
    }
    return null;
  }

  return { press, over, sender, focusLike };
});
