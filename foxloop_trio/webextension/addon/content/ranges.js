// ranges: sets sliders and colours, and whatever else has a value but takes no text.
//
// `isRange(el)`: a native slider. `isSet(el)`: a native slider or colour. `set(el, value)`: through the native setter, with input
// and change. `step(el, stroke)`: what a key does to a slider or a number, true when it did something. `fraction(el, x, y)`: the
// value of a native slider at that part (0 to 1) of its box.
// Depends on: nothing.
"use strict";

foxloop.define("ranges", () => {
  const isRange = (el) => el.localName === "input" && el.type === "range";
  const isSet = (el) => isRange(el) || (el.localName === "input" && el.type === "color");
  const isNumber = (el) => el.localName === "input" && el.type === "number";

  function announce(el, value) {
    el.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertReplacementText", data: value }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function set(el, value) {
    if (el.value === value) {
      return;
    }
    el.value = value;
    announce(el, value);
  }

  const bound = (el, name, otherwise) => (el[name] === "" ? otherwise : Number(el[name]));

  function fraction(el, part) {
    const [least, most] = [bound(el, "min", 0), bound(el, "max", 100)];
    const turned = getComputedStyle(el).direction === "rtl" ? 1 - part : part;
    return String(least + (most - least) * Math.min(1, Math.max(0, turned)));
  }

  function step(el, { key, ctrl, alt, meta }) {
    if (!(isRange(el) || isNumber(el)) || ctrl || alt || meta) {
      return false;
    }
    const before = el.value;
    const many = isRange(el) ? 10 : 0;
    const moves = {
      ArrowUp: () => el.stepUp(),
      ArrowDown: () => el.stepDown(),
      ...(isRange(el)
        ? {
            ArrowRight: () => el.stepUp(),
            ArrowLeft: () => el.stepDown(),
            PageUp: () => el.stepUp(many),
            PageDown: () => el.stepDown(many),
            Home: () => (el.value = String(bound(el, "min", 0))),
            End: () => (el.value = String(bound(el, "max", 100))),
          }
        : {}),
    };
    if (!Object.hasOwn(moves, key) || el.readOnly) {
      return false;
    }
    moves[key]();
    if (el.value !== before) {
      announce(el, el.value);
    }
    return true;
  }

  return { isRange, isSet, set, step, fraction };
});
