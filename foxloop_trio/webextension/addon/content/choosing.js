// choosing: operation `select` on a native select.
//
// The value is that of an enabled option, or, where none has it, the label of exactly one. Sends input and change; no pointer
// events.
// Depends on: focus, limits, pause, typing, values, words.
"use strict";

foxloop.define("choosing", ({ focus, limits, pause, typing, values, words }) => {
  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function optionFor(el, value) {
    const options = values.optionsOf(el);
    const byValue = options.find((option) => option.value === value);
    if (byValue !== undefined) {
      return byValue;
    }
    const byLabel = options.filter((option) => words.clean(option.label) === words.clean(value));
    return byLabel.length === 1 ? byLabel[0] : null;
  }

  function unfit({ el }, value) {
    if (el.localName !== "select") {
      return refuse("unsupported", `options can be selected in a select only, not in ${el.localName}`);
    }
    return typeof value === "string" && optionFor(el, value) !== null
      ? null
      : refuse("unsupported", "no enabled option has that value");
  }

  function dispatch({ el }, _spot, value) {
    const chosen = optionFor(el, value);
    focus.give(el);
    for (const option of el.options) {
      if (option.selected !== (option === chosen)) {
        option.selected = option === chosen;
      }
    }
    typing.announceInput(el, null);
    typing.announceChange(el);
    return async () => {
      await pause.pause(0);
      const value = words.cut(el.value, limits.value);
      return chosen.selected ? { ok: true, value } : { ...refuse("mismatch", "another option is selected now"), value };
    };
  }

  return { select: { unfit, dispatch } };
});
