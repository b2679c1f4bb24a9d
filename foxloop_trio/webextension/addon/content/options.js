// options: the list that a custom select or a field with suggestions shows.
//
// `listOf(el, before)` -> the options that can be seen now, as elements; `before`, a Set of those that were there before it was
// opened: what appeared since is its list, when it does not name one. `visible()`: that Set. `find(list, wanted)` -> `{ el }`, or
// `{ many }` or `{ none }` with the labels: by value, by label, by label whatever its case. `labelOf(el)`. `isChosen(el)`.
// `isDisabled(el)`. `scrollerOf(list)`.
// Depends on: roles, scrolling, sight, tree, words.
"use strict";

foxloop.define("options", ({ roles, scrolling, sight, tree, words }) => {
  const OPTIONS = "[role=option], [role=menuitem], [role=menuitemradio], [role=menuitemcheckbox], [role=treeitem], [role=gridcell]";
  const LIKE_OPTIONS = `${OPTIONS}, li, [class*="option" i], [class*="item" i]`; // lists that do not say what they are
  const MOST = 2000;
  const NAMES = ["aria-controls", "aria-owns"];

  const labelOf = (el) => words.clean(el.getAttribute("aria-label") ?? el.innerText ?? el.textContent);
  const isDisabled = (el) => el.matches('[aria-disabled="true"], :disabled') || tree.closest(el, '[aria-disabled="true"]') !== null;

  const seenIn = (turn, selector) =>
    turn
      .all(selector)
      .slice(0, MOST)
      .filter((el) => turn.seen(el));

  function visible() {
    return new Set(seenIn(sight.createSight(), LIKE_OPTIONS));
  }

  function namedLists(el) {
    const around = tree.closest(el, "[role=combobox]");
    const ids = [el, around].flatMap((one) => NAMES.flatMap((name) => (one?.getAttribute(name) ?? "").split(/\s+/)));
    return ids.map((id) => tree.byId(el, id)).filter((list) => list !== null);
  }

  // Of boxes in boxes the innermost are the options; those with a role come before those that only look like it.
  function innermost(list) {
    return list.filter((el) => !list.some((other) => other !== el && tree.within(el, other)));
  }

  function listOf(el, before) {
    const turn = sight.createSight();
    const lists = namedLists(el);
    const named = seenIn(turn, OPTIONS).filter((one) => lists.some((list) => tree.within(list, one)));
    if (named.length > 0) {
      return named;
    }
    const fresh = seenIn(turn, OPTIONS).filter((one) => !before.has(one) && !tree.within(one, el));
    if (fresh.length > 0) {
      return fresh;
    }
    const alike = seenIn(turn, LIKE_OPTIONS).filter((one) => !before.has(one) && !tree.within(one, el) && labelOf(one) !== "");
    return innermost(alike);
  }

  const valuesOf = (el) =>
    ["data-value", "value", "data-id", "id"].map((name) => el.getAttribute(name)).filter((one) => one !== null);

  function find(list, wanted) {
    const usable = list.filter((el) => !isDisabled(el));
    const byValue = usable.filter((el) => valuesOf(el).includes(wanted));
    const exact = usable.filter((el) => labelOf(el) === words.clean(wanted));
    const folded = usable.filter((el) => labelOf(el).toLowerCase() === words.clean(wanted).toLowerCase());
    const found = [exact, byValue, folded].find((some) => some.length > 0) ?? [];
    if (found.length === 1) {
      return { el: found[0] };
    }
    return found.length > 1 ? { many: found.length } : { none: usable.map(labelOf) };
  }

  function isChosen(el) {
    return ["aria-selected", "aria-checked"].some((name) => el.getAttribute(name) === "true");
  }

  function scrollerOf(list) {
    const scroller = list.length === 0 ? null : scrolling.scrollerOf(list[0]);
    return scroller === null || scroller === document.scrollingElement ? null : scroller;
  }

  function opensList(el) {
    const role = roles.roleOf(el);
    return (
      role === "combobox" ||
      ["listbox", "menu", "tree", "grid", "true"].includes(el.getAttribute("aria-haspopup")) ||
      namedLists(el).length > 0 ||
      el.hasAttribute("aria-expanded") ||
      /autocomplete|typeahead|combobox/i.test(el.className)
    );
  }

  return { visible, listOf, find, labelOf, isChosen, isDisabled, scrollerOf, opensList };
});
