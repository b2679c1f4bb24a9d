// choosing: operation `select`.
//
// In a native select the value is that of an enabled option, or, where none has it, the label of exactly one; a list of them where
// it takes several. Sends input and change; no pointer events. Everything else that opens a list is the business of listboxes.js.
// Depends on: focus, limits, listboxes, pause, typing, values, words.
"use strict";

foxloop.define("choosing", ({ focus, limits, listboxes, pause, typing, values, words }) => {
  const refuse = (reason, detail) => ({ ok: false, reason, detail });
  const isSelect = (el) => el.localName === "select";
  const listed = (value) => (Array.isArray(value) ? value : [value]);

  function optionFor(el, value) {
    const options = values.optionsOf(el);
    const byValue = options.find((option) => option.value === value);
    if (byValue !== undefined) {
      return byValue;
    }
    const byLabel = options.filter((option) => words.clean(option.label) === words.clean(value));
    return byLabel.length === 1 ? byLabel[0] : null;
  }

  function unfit(facts, value) {
    const { el } = facts;
    if (!isSelect(el)) {
      return listboxes.unfit(facts, value);
    }
    if (Array.isArray(value) && !el.multiple) {
      return refuse("unsupported", "it takes one option only");
    }
    return listed(value).every((one) => typeof one === "string" && optionFor(el, one) !== null)
      ? null
      : refuse("unsupported", "no enabled option has that value");
  }

  function dispatch(facts, spot, value, steps) {
    const { el } = facts;
    if (!isSelect(el)) {
      return listboxes.dispatch(facts, spot, value, steps);
    }
    const chosen = new Set(listed(value).map((one) => optionFor(el, one)));
    focus.give(el);
    for (const option of el.options) {
      if (option.selected !== chosen.has(option)) {
        option.selected = chosen.has(option);
      }
    }
    typing.announceInput(el, null);
    typing.announceChange(el);
    steps.note("select");
    return async () => {
      await pause.pause(0);
      const held = Array.from(el.selectedOptions, (option) => option.value);
      const told = { value: words.cut(el.multiple ? held.join(", ") : el.value, limits.value) };
      const kept = held.length === chosen.size && Array.from(chosen).every((option) => option.selected);
      return kept ? { ok: true, ...told } : { ...refuse("mismatch", "another option is selected now"), ...told };
    };
  }

  return { select: { unfit, dispatch } };
});
