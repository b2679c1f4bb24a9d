// typing: operations `type` and `date` on native fields.
//
// Each operation has `unfit(facts, value)` -> null or a refusal, asked before anything happens; and `dispatch(facts, spot, value)`,
// which does all it does in one turn and returns the result, or an async function that waits and then returns it. Rich editors are
// refused as unsupported: their content is not ours to rewrite.
// Depends on: focus, limits, pause, pointer, roles, sameText, tree, values, words.
"use strict";

foxloop.define("typing", ({ focus, limits, pause, pointer, roles, sameText, tree, values, words }) => {
  const DATE = /^\d{4,}-\d\d-\d\d$/;
  const isField = (facts) => ["input", "textarea"].includes(facts.el.localName) && roles.typable(facts.el, facts.role);
  const isDateField = (el) => el.localName === "input" && el.type === "date";

  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function unfit(facts, value) {
    if (!isField(facts)) {
      return refuse("unsupported", `text cannot be typed into ${facts.el.localName} here`);
    }
    return typeof value === "string" ? null : refuse("unsupported", "typing needs a text");
  }

  function unfitDate(facts, value) {
    if (!isField(facts) || !isDateField(facts.el)) {
      return unfit(facts, value);
    }
    const probe = document.createElement("input");
    probe.type = "date";
    probe.value = typeof value === "string" && DATE.test(value) ? value : "";
    return probe.value === "" ? refuse("unsupported", "not a date of the form YYYY-MM-DD") : null;
  }

  // One key that is none in particular: enough for pages that wait for keys before they look at the value.
  function key(el, type) {
    el.dispatchEvent(
      new KeyboardEvent(type, { bubbles: true, cancelable: true, composed: true, view: window, key: "Unidentified" }),
    );
  }

  function announceInput(el, text) {
    el.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }));
  }

  function announceChange(el) {
    el.dispatchEvent(new Event("change", { bubbles: true }));
  }

  // From the isolated world this is the native setter, past any `value` property that a framework put on the element.
  function write(el, text) {
    el.value = text;
    announceInput(el, text);
  }

  const fitted = (el, text) => (el.maxLength >= 0 ? text.slice(0, el.maxLength) : text);

  // As an edit of the user's: Firefox then sends trusted beforeinput and input events, and undo works.
  function edit(el, text) {
    if (tree.active() !== el) {
      return; // the edit would go to whatever has the focus
    }
    el.select();
    if (text === "") {
      document.execCommand("delete");
    } else {
      document.execCommand("insertText", false, text);
    }
  }

  function dispatch(facts, spot, value) {
    const { el, secret } = facts;
    const taken = pointer.press(el, spot);
    if (taken !== null) {
      return taken;
    }
    // The press ran the page's handlers; what it was allowed for must still be there.
    if (!tree.connected(el)) {
      return refuse("gone", "it left the page when it was pressed");
    }
    if (values.isDisabled(el) || values.isReadOnly(el)) {
      return refuse(values.isDisabled(el) ? "disabled" : "readonly", "it stopped taking text when it was pressed");
    }
    if (values.isSecret(el, facts.label) !== secret) {
      return refuse("stale", "it became another kind of field when it was pressed");
    }
    focus.give(el);
    const text = fitted(el, value);
    key(el, "keydown");
    edit(el, text);
    if (!sameText.sameText(text, el.value)) {
      write(el, text);
    }
    key(el, "keyup");
    announceChange(el);
    return () => readBack(el, secret, value);
  }

  async function readBack(el, secret, wanted) {
    await pause.pause(0); // a page that takes the text back does it in its handlers or right after them
    const held = el.value;
    const value = words.cut(values.valueOf(el, secret), limits.value);
    return sameText.sameText(wanted, held)
      ? { ok: true, value }
      : { ...refuse("mismatch", "the field holds another text now"), value };
  }

  function dispatchDate(facts, spot, value) {
    if (!isDateField(facts.el)) {
      return dispatch(facts, spot, value);
    }
    const { el } = facts;
    focus.give(el);
    write(el, value);
    announceChange(el);
    return () => readBack(el, false, value);
  }

  return { type: { unfit, dispatch }, date: { unfit: unfitDate, dispatch: dispatchDate }, announceChange, announceInput };
});
