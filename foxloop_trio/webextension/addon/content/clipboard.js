// clipboard: operations `copy`, `cut` and `paste`, with a clipboard that belongs to this document alone.
//
// The person's own clipboard is neither read nor written. `copy` and `cut` take what is selected in the control, or all of it; the
// page may put something else there, as with a real key. `paste` offers the value, or what was copied here last, as a paste event;
// where the page does not take it, it is written as an edit. Nothing is copied out of a secret field.
// `copyFrom(el)`, `pasteInto(el, text)`, `stored()`: for the keys (press.js).
// Depends on: editing, focus, limits, pause, sameText, tree, values, words.
"use strict";

foxloop.define("clipboard", ({ editing, focus, limits, pause, sameText, tree, values, words }) => {
  const MOST = 200_000;
  const refuse = (reason, detail) => ({ ok: false, reason, detail });
  let kept = null;

  // Written in the page's name: what an add-on writes there no page may read.
  function event(type, text) {
    const made = new ClipboardEvent(type, { bubbles: true, cancelable: true, composed: true });
    if (text !== undefined) {
      made.wrappedJSObject.clipboardData.setData("text/plain", text);
    }
    return made;
  }

  function selectedIn(el) {
    if (editing.isField(el)) {
      const [start, end] = editing.caret(el);
      return start === null ? "" : el.value.slice(start, end);
    }
    const selection = document.getSelection();
    return selection !== null && selection.rangeCount > 0 && tree.within(el, elementOf(selection.anchorNode))
      ? String(selection)
      : "";
  }

  const elementOf = (node) => (node?.nodeType === 1 ? node : (node?.parentElement ?? document.documentElement));

  // Answers what was copied, or null when there was nothing.
  function copyFrom(el, type) {
    if (selectedIn(el) === "") {
      editing.selectAll(el);
    }
    const text = selectedIn(el);
    const target = tree.active() !== null && tree.within(el, tree.active()) ? tree.active() : el;
    const sent = event(type);
    const taken = !target.dispatchEvent(sent);
    const given = taken ? sent.clipboardData.getData("text/plain") : text;
    if (given === "") {
      return null;
    }
    kept = given.slice(0, MOST);
    if (type === "cut" && !taken) {
      document.execCommand("delete");
    }
    return kept;
  }

  // Answers whether the page took it by itself.
  function pasteInto(el, text) {
    const target = tree.active() !== null && tree.within(el, tree.active()) ? tree.active() : el;
    return !target.dispatchEvent(event("paste", text));
  }

  const copying = (type) => ({
    unfit({ el, secret, sensitive }) {
      if (secret || sensitive) {
        return refuse("secret", "nothing is copied out of a field that holds a secret");
      }
      return type === "cut" && !editing.takesText(el) ? refuse("unsupported", "nothing can be cut out of it") : null;
    },
    dispatch({ el }, _spot, _value, steps) {
      focus.give(el);
      const other = steps.same();
      if (other !== null) {
        return other;
      }
      const text = copyFrom(el, type);
      steps.note(type);
      return async () => {
        await pause.pause(0);
        if (text === null) {
          return refuse("nothing-changed", "there was nothing to copy");
        }
        return { ok: true, value: words.cut(text, limits.value) };
      };
    },
  });

  const paste = {
    edits: true,
    unfit({ el }, value) {
      if (!editing.takesText(el)) {
        return refuse("unsupported", "nothing can be pasted into it");
      }
      if (value !== null && typeof value !== "string") {
        return refuse("unsupported", "a text can be pasted, or null for what was copied on this page");
      }
      return value === null && kept === null ? refuse("unsupported", "nothing was copied on this page yet") : null;
    },
    dispatch({ el, secret }, _spot, value, steps) {
      const text = value ?? kept;
      focus.give(el);
      const early = steps.same();
      if (early !== null) {
        return early;
      }
      const taken = pasteInto(el, text);
      steps.note("paste");
      const late = taken ? null : steps.same();
      if (late !== null) {
        return late;
      }
      if (!taken) {
        editing.insert(el, text);
        steps.note("insert");
      }
      return async () => {
        await pause.pause(0);
        const held = values.plainValueOf(el);
        const told = words.cut(values.valueOf(el, secret), limits.value);
        const there = sameText.sameText(text, held) || words.clean(held).includes(words.clean(text));
        return there ? { ok: true, value: told } : { ...refuse("mismatch", "the field holds another text now"), value: told };
      };
    },
  };

  return { copy: copying("copy"), cut: copying("cut"), paste, copyFrom, pasteInto, stored: () => kept };
});
