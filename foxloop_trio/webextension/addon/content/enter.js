// enter: operation `enter`, the Enter key in a field.
//
// In a single-line field it sends the form as Firefox would: by its first submit button, or by itself when it has none. In a
// textarea it is a line break.
// Depends on: focus, limits, sight, typing, values, words.
"use strict";

foxloop.define("enter", ({ focus, limits, sight, typing, values, words }) => {
  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  const sendButton = (form) => Array.from(form?.elements ?? []).find((el) => values.isSubmit(el)) ?? null;

  function unfit({ el, form }) {
    if (el.localName === "textarea") {
      return null;
    }
    const button = sendButton(form);
    if (button !== null && !sight.createSight().seen(button)) {
      return refuse("hidden", "the button that sends the form cannot be seen");
    }
    return button !== null && values.isDisabled(button) ? refuse("disabled", "the button that sends the form is disabled") : null;
  }

  function key(el, type) {
    const code = { key: "Enter", code: "Enter", keyCode: 13, which: 13, charCode: type === "keypress" ? 13 : 0 };
    return el.dispatchEvent(new KeyboardEvent(type, { bubbles: true, cancelable: true, composed: true, view: window, ...code }));
  }

  function breakLine(el) {
    el.setRangeText("\n", el.selectionStart, el.selectionEnd, "end");
    typing.announceInput(el, "\n");
  }

  function send(form, submitted) {
    const button = sendButton(form);
    if (submitted()) {
      return;
    }
    if (button !== null) {
      button.click();
    } else {
      form?.requestSubmit();
    }
  }

  function dispatch({ el, form, secret }, _spot, _value, submitted) {
    focus.give(el);
    const wanted = key(el, "keydown") && key(el, "keypress");
    if (wanted && el.localName === "textarea") {
      breakLine(el);
    } else if (wanted) {
      send(form, submitted);
    }
    key(el, "keyup");
    return { ok: true, value: words.cut(values.valueOf(el, secret), limits.value) };
  }

  return { enter: { unfit, dispatch } };
});
