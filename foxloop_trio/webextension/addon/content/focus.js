// focus: gives a control the focus so that the page hears of it.
//
// `give(el)`: focus it without scrolling. `drop()`: take the focus from whatever has it. A document without the system's focus (a
// background tab; the first tab after a start, whose focus is in the address bar) moves its active element and sends no event.
// Pages wait for these events, so they are sent here when none came.
// Depends on: tree.
"use strict";

foxloop.define("focus", ({ tree }) => {
  const isPlain = (el) => el === null || el === document.body || el === document.documentElement;

  function heard(el, type, act) {
    let came = false;
    const listener = () => {
      came = true;
    };
    el.addEventListener(type, listener, true);
    act();
    el.removeEventListener(type, listener, true);
    return came;
  }

  function send(el, types, relatedTarget) {
    for (const [type, bubbles] of types) {
      el.dispatchEvent(new FocusEvent(type, { bubbles, composed: true, relatedTarget, view: window }));
    }
  }

  const LOST = [
    ["blur", false],
    ["focusout", true],
  ];
  const GAINED = [
    ["focus", false],
    ["focusin", true],
  ];

  function move(to, act) {
    const before = tree.active();
    if (before === to) {
      return;
    }
    let gained = false;
    const lost = heard(isPlain(before) ? window : before, "blur", () => {
      gained = heard(to ?? window, "focus", act);
    });
    const now = tree.active();
    if (now === before) {
      return; // it does not take the focus
    }
    if (!lost && !isPlain(before)) {
      send(before, LOST, isPlain(now) ? null : now);
    }
    if (!gained && !isPlain(now)) {
      send(now, GAINED, isPlain(before) ? null : before);
    }
  }

  const give = (el) => move(el, () => el.focus({ preventScroll: true }));
  const drop = () => {
    const active = tree.active();
    if (!isPlain(active)) {
      move(null, () => active.blur());
    }
  };

  return { give, drop };
});
