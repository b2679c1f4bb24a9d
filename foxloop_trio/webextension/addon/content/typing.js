// typing: operations `type` and `date`.
//
// Each operation has `unfit(facts, value)` -> null or a refusal, asked before anything happens; and `dispatch(facts, spot, value,
// steps)`, which does what can be done in one turn and returns the result, or an async function that goes on. Rich editors, sliders
// and colours have ways of their own (editors.js, ranges.js). A field with a calendar is left at the end, as a hand would leave it:
// pickers read what was typed only then. No key is pressed for that. `announceInput`, `announceChange`: for others that write.
// Depends on: editing, editors, focus, keys, limits, pause, pickers, pointer, ranges, roles, sameText, sliders, tree, values,
// words.
"use strict";

foxloop.define("typing", (parts) => {
  const { editing, editors, focus, keys, limits, pause, pickers, pointer, ranges, roles, sameText } = parts;
  const { sliders, tree, values, words } = parts;
  const DATE = /^\d{4,}-\d\d-\d\d$/;
  const MOST_KEYS = 100; // characters that are typed one by one when a field did not take them at once
  const BY_KEYS = new Set(["text", "tel", "search", "url", "email", "password"]);
  const isField = (facts) => ["input", "textarea"].includes(facts.el.localName) && roles.typable(facts.el, facts.role);
  const isDateField = (el) => el.localName === "input" && el.type === "date";

  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function unfit(facts, value) {
    const { el } = facts;
    if (sliders.isSlider(el)) {
      return sliders.unfit(el, value);
    }
    if (!isField(facts) && !ranges.isSet(el) && !editing.isEditor(el)) {
      return refuse("unsupported", `text cannot be typed into ${el.localName} here`);
    }
    return typeof value === "string" ? null : refuse("unsupported", "typing needs a text");
  }

  function unfitDate(facts, value) {
    if (!isField(facts) || !isDateField(facts.el)) {
      return unfit(facts, value);
    }
    const probe = document.createElement("input");
    const { min, max, step } = facts.el;
    Object.assign(probe, { type: "date", min, max, step, value: typeof value === "string" && DATE.test(value) ? value : "" });
    if (probe.value === "") {
      return refuse("unsupported", "not a date of the form YYYY-MM-DD");
    }
    const { rangeUnderflow, rangeOverflow, stepMismatch } = probe.validity;
    const told = words.cut(`the field takes dates from ${min || "ever"} to ${max || "ever"}`, limits.detail);
    return rangeUnderflow || rangeOverflow || stepMismatch ? refuse("unsupported", told) : null;
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

  // The press ran the page's handlers; what it was allowed for must still be there.
  function turned({ el, label, secret }) {
    if (!tree.connected(el)) {
      return refuse("gone", "it left the page when it was pressed");
    }
    if (values.isDisabled(el) || values.isReadOnly(el)) {
      return refuse(values.isDisabled(el) ? "disabled" : "readonly", "it stopped taking text when it was pressed");
    }
    return values.isSecret(el, label) === secret ? null : refuse("stale", "it became another kind of field when it was pressed");
  }

  function dispatch(facts, spot, value, steps) {
    const { el } = facts;
    if (ranges.isSet(el)) {
      focus.give(el);
      const other = steps.same();
      if (other !== null) {
        return other;
      }
      ranges.set(el, value);
      steps.note("set");
      return () => settledOn(facts, value);
    }
    if (sliders.isSlider(el)) {
      return () => sliders.move(el, Number(value), steps);
    }
    const calendars = pickers.shown();
    const taken = pointer.press(el, spot, { same: steps.same, again: steps.again });
    steps.note("press");
    if (taken !== null) {
      return taken;
    }
    focus.give(el);
    const other = turned(facts) ?? steps.same();
    if (other !== null) {
      return other;
    }
    if (!isField(facts)) {
      return () => editors.type(el, value, steps);
    }
    return typeInto(facts, value, calendars, steps);
  }

  function typeInto(facts, value, calendars, steps) {
    const { el } = facts;
    const text = fitted(el, value);
    key(el, "keydown");
    const other = turned(facts) ?? steps.same();
    if (other !== null) {
      return other;
    }
    edit(el, text);
    if (!sameText.sameText(text, el.value)) {
      write(el, text);
    }
    key(el, "keyup");
    announceChange(el);
    steps.note("type");
    return async () => {
      const result = await readBack(facts, value, steps);
      return result.ok && pickers.isFor(el, calendars) ? leave(facts, value, result, steps) : result;
    };
  }

  // Pickers read what was typed when the field is left, and shut their calendar.
  async function leave(facts, value, result, steps) {
    const stopped = steps.stop();
    if (stopped !== null || tree.active() !== facts.el) {
      return stopped ?? result;
    }
    focus.drop();
    steps.note("leave");
    return settledOn(facts, value);
  }

  const told = ({ el, secret, sensitive }) => words.cut(values.valueOf(el, secret || sensitive), limits.value);

  async function readBack(facts, wanted, steps) {
    await pause.pause(0); // a page that takes the text back does it in its handlers or right after them
    const { el } = facts;
    const byKeys = el.localName === "textarea" || BY_KEYS.has(el.type);
    if (
      !sameText.sameText(wanted, el.value) &&
      byKeys &&
      wanted !== "" &&
      wanted.length <= MOST_KEYS &&
      fitted(el, wanted) === wanted
    ) {
      const stopped = steps.stop() ?? steps.same() ?? (await typeKeys(facts, wanted, steps));
      if (stopped !== null) {
        return { ...stopped, value: told(facts) };
      }
    }
    return settledOn(facts, wanted);
  }

  async function settledOn(facts, wanted) {
    await pause.pause(0);
    const value = told(facts);
    return sameText.sameText(wanted, facts.el.value)
      ? { ok: true, value }
      : { ...refuse("mismatch", "the field holds another text now"), value };
  }

  // After keys of a hand. A rich editor shows its text as paragraphs.
  async function typedByHand(facts, wanted) {
    if (isField(facts)) {
      return settledOn(facts, wanted);
    }
    const held = values.plainValueOf(facts.el);
    const value = words.cut(held, limits.value);
    return sameText.sameText(words.clean(wanted), words.clean(held))
      ? { ok: true, value }
      : { ...refuse("mismatch", "the editor holds another text now"), value };
  }

  // The second way, for masks that listen to keys: character after character, each a sub-step.
  async function typeKeys(facts, wanted, steps) {
    const { el } = facts;
    focus.give(el);
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    el.select();
    editing.remove(el, false);
    for (const stroke of keys.strokesOf(wanted)) {
      const heard = keys.send(el, "keydown", stroke) && keys.send(el, "keypress", stroke);
      let stopped = steps.same();
      if (heard && stopped === null) {
        editing.insert(el, stroke.text);
      }
      keys.send(el, "keyup", stroke);
      await pause.pause(0);
      stopped ??= steps.stop() ?? steps.same();
      if (stopped !== null) {
        steps.note("some keys");
        return stopped;
      }
    }
    announceChange(el);
    steps.note("type by keys");
    return null;
  }

  function typeDate(facts, spot, value, steps) {
    const later = dispatch(facts, spot, value, steps);
    if (typeof later !== "function" || !isField(facts)) {
      return later;
    }
    return async () => {
      const result = await later();
      return result.ok ? leave(facts, value, result, steps) : result;
    };
  }

  function dispatchDate(facts, spot, value, steps) {
    if (!isDateField(facts.el)) {
      return typeDate(facts, spot, value, steps);
    }
    focus.give(facts.el);
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    write(facts.el, value);
    announceChange(facts.el);
    steps.note("set");
    return () => settledOn(facts, value);
  }

  const needsFocus = ({ el }) => !ranges.isSet(el) && editing.isEditor(el);
  const type = { unfit, dispatch, after: typedByHand, edits: true, needsFocus };
  return { type, date: { ...type, unfit: unfitDate, dispatch: dispatchDate }, announceChange, announceInput, readBack };
});
