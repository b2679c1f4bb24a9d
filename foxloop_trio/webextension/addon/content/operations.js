// operations: what can be done to a control, by name.
//
// Each has `unfit(facts, value)` -> null or a refusal; `dispatch(facts, spot, value, steps)`, one turn, whose result may be an
// async function that goes on; sometimes `done(facts)`, the result when nothing is left to do; `anywhere`, or `anywhere(facts)`,
// when no point of the control has to be reached; `evenDisabled`; `edits`, it changes text; `pointed`, its value may hold a point
// of the control's box; `proves`, it is not ok when nothing came of it (`selection`: that the selection changed is enough);
// `needsFocus(facts)`, it works only in a document that has the focus; `after(facts, value, steps)`, the result when it was a hand
// that did it (trusted.js).
// Depends on: choosing, clipboard, downloads, drag, enter, hoverOver, press, scrolling, selecting, toggling, typing, uploads.
"use strict";

foxloop.define("operations", (parts) => {
  const { choosing, clipboard, downloads, drag, enter, hoverOver, press, scrolling, selecting, toggling, typing, uploads } = parts;
  const known = new Map(
    Object.entries({
      check: toggling.check,
      click: toggling.click,
      copy: clipboard.copy,
      cut: clipboard.cut,
      date: typing.date,
      download: downloads.download,
      drag: drag.drag,
      enter: enter.enter,
      files: uploads.files,
      hover: hoverOver.hover,
      paste: clipboard.paste,
      press: press.press,
      scroll: scrolling.scroll,
      select: choosing.select,
      select_text: selecting.select_text,
      type: typing.type,
      uncheck: toggling.uncheck,
    }),
  );
  const unknown = { unfit: () => ({ ok: false, reason: "unsupported", detail: "this add-on cannot do that yet" }), anywhere: true };

  return { operation: (name) => known.get(name) ?? unknown };
});
