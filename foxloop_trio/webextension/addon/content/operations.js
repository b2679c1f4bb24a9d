// operations: what can be done to a control, by name.
//
// Each has `unfit(facts, value)` -> null or a refusal; `dispatch(facts, spot, value, submitted)`, one turn; sometimes
// `done(facts)`, the result when nothing is left to do; and `anywhere` when no point of the control has to be reached.
// Depends on: choosing, enter, scrolling, toggling, typing.
"use strict";

foxloop.define("operations", ({ choosing, enter, scrolling, toggling, typing }) => {
  const known = new Map(
    Object.entries({
      check: toggling.check,
      click: toggling.click,
      date: typing.date,
      enter: enter.enter,
      scroll: scrolling.scroll,
      select: choosing.select,
      type: typing.type,
      uncheck: toggling.uncheck,
    }),
  );
  const unknown = { unfit: () => ({ ok: false, reason: "unsupported", detail: "this add-on cannot do that yet" }), anywhere: true };

  return { operation: (name) => known.get(name) ?? unknown, edits: (name) => name === "type" || name === "date" };
});
