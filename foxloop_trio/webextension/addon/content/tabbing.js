// tabbing: where the Tab key leads.
//
// `next(from, backwards)` -> the element that gets the focus next, by tabindex and then by the order of the page; null when there
// is none. While a modal dialog is open, only what is in it.
// Depends on: sight, tree, values.
"use strict";

foxloop.define("tabbing", ({ sight, tree, values }) => {
  const STOPS =
    'a[href], area[href], button, input:not([type="hidden"]), select, textarea, summary, iframe, audio[controls], ' +
    'video[controls], [contenteditable]:not([contenteditable="false"]), [tabindex]';

  function isStop(el, turn) {
    if (el.tabIndex < 0 || values.isDisabled(el) || !turn.seen(el)) {
      return false;
    }
    if (el.localName !== "input" || el.type !== "radio" || el.checked || el.name === "") {
      return true;
    }
    const group = Array.from(el.form?.elements ?? tree.all('input[type="radio"]')).filter(
      (other) => other.type === "radio" && other.name === el.name && other.form === el.form,
    );
    return group.every((other) => !other.checked) && group[0] === el;
  }

  function next(from, backwards) {
    const turn = sight.createSight();
    const modal = Array.from(tree.all("dialog:modal")).at(-1) ?? null;
    const stops = turn.all(STOPS).filter((el) => isStop(el, turn) && (modal === null || tree.within(modal, el)));
    const order = stops.map((el, at) => ({ el, at, index: el.tabIndex > 0 ? el.tabIndex : Infinity }));
    order.sort((a, b) => (a.index === b.index ? a.at - b.at : a.index - b.index));
    const list = order.map(({ el }) => el);
    if (list.length === 0) {
      return null;
    }
    let at = list.indexOf(from);
    if (at === -1 && from !== null && from !== document.body) {
      // Focused, but no stop of the Tab key: go on from its place in the page.
      const after = list.findIndex((el) => Boolean(from.compareDocumentPosition(el) & 4));
      at = after === -1 ? list.length - 1 : after - 0.5;
    } else if (at === -1) {
      at = backwards ? list.length : -1;
    }
    const wanted = backwards ? Math.ceil(at) - 1 : Math.floor(at) + 1;
    return list[(wanted + list.length) % list.length];
  }

  return { next };
});
