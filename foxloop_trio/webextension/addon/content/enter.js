// enter: operation `enter`, the Enter key in a field.
//
// In a single-line field it sends the form as Firefox would: by its first submit button, or by itself when it has none. In a
// textarea and in a rich editor it is a line break.
// `unfit(facts)`, `act(el, form, steps)`: for the key of that name (key_actions.js).
// Depends on: editing, focus, keys, limits, sameness, sight, tree, values, words.
"use strict";

foxloop.define("enter", ({ editing, focus, keys, limits, sameness, sight, tree, values, words }) => {
  const [ENTER] = keys.parse("Enter");
  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  const sendButton = (form) => Array.from(form?.elements ?? []).find((el) => values.isSubmit(el)) ?? imageButton(form);

  // Image buttons are left out of `form.elements`, by the standard.
  function imageButton(form) {
    return form === null || form === undefined
      ? null
      : (Array.from(tree.all('input[type="image" i]')).find((el) => el.form === form) ?? null);
  }

  const breaksLines = (el) => el.localName === "textarea" || editing.isEditor(el);

  function unfit({ el, form }) {
    if (breaksLines(el)) {
      return null;
    }
    const button = sendButton(form);
    if (button !== null && !sight.createSight().seen(button)) {
      return refuse("hidden", "the button that sends the form cannot be seen");
    }
    return button !== null && values.isDisabled(button) ? refuse("disabled", "the button that sends the form is disabled") : null;
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

  // The default action of the key.
  function act(el, form, submitted) {
    if (breaksLines(el)) {
      editing.lineBreak(el);
    } else {
      send(form, submitted);
    }
  }

  function dispatch({ el, form, secret }, _spot, _value, steps) {
    focus.give(el);
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    steps.ready();
    const button = sendButton(form) ?? null;
    const token = button === null ? null : sameness.take(button);
    const wanted = keys.send(el, "keydown", ENTER) && keys.send(el, "keypress", ENTER);
    const late = wanted ? (steps.same() ?? (token === null ? null : sameness.differs(token))) : null;
    if (late !== null) {
      return late;
    }
    if (wanted) {
      act(el, form, steps.submitted);
    }
    keys.send(el, "keyup", ENTER);
    return { ok: true, value: words.cut(values.valueOf(el, secret), limits.value) };
  }

  return { enter: { unfit, dispatch, proves: true }, act, unfit };
});
