// pickers: fields that a calendar belongs to.
//
// `isMarked(el)`: its markup or its class says so, as those of the usual libraries do. `shown()` -> the calendars that can be seen
// now. `isFor(el, before)`: it is marked, or a calendar that was not there before is shown now.
// Depends on: dom, tree.
"use strict";

foxloop.define("pickers", ({ dom, tree }) => {
  const MARKED = /(?:^|[\s_-])(?:has)?-?(?:date(?:time|range)?-?picker|flatpickr|pickadate|daterange|air-datepicker)/i;
  const CALENDARS = '[class*="calendar" i], [class*="datepicker" i], [class*="date-picker" i], [role="grid"]';
  const MOST = 200;
  const SMALLEST = 40; // px; a calendar is no icon
  const SEEN = { opacityProperty: true, visibilityProperty: true };

  function isMarked(el) {
    return (
      ["dialog", "grid"].includes(dom.attribute(el, "aria-haspopup")) ||
      dom.hasAttribute(el, "data-datepicker") ||
      MARKED.test(dom.attribute(el, "class") ?? "") ||
      /date/i.test(dom.attribute(el, "data-provide") ?? "")
    );
  }

  function shown() {
    const all = Array.from(tree.all(CALENDARS)).slice(0, MOST);
    return new Set(
      all.filter((el) => el.localName !== "input" && el.checkVisibility(SEEN) && el.getBoundingClientRect().height > SMALLEST),
    );
  }

  const isFor = (el, before) => isMarked(el) || [...shown()].some((one) => !before.has(one));

  return { isMarked, shown, isFor };
});
