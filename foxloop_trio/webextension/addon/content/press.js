// press: operation `press`: keys and shortcuts, "Enter", "ctrl+a", "ArrowDown ArrowDown".
//
// Each stroke is a sub-step: keydown, keypress where the key has one, the default action that Firefox would do for a real key
// (key_actions.js), keyup. The keys go to what has the focus in the control; a control without it gets it first. Firefox's own
// shortcuts cannot be triggered, and the result says so.
//
// After Tab, or when the page moves the focus, keys come to another control than the judged one. They may move on, and write into
// a plain field; but no key presses a button, follows a link, sends another form, changes a choice or writes a secret there: that
// control was never judged. A list that the judged control names as its own (aria-controls, aria-owns) is a part of it.
// Depends on: controls, editing, focus, keyActions, keys, limits, pause, places, sight, tree, values, words.
"use strict";

foxloop.define("press", (parts) => {
  const { controls, editing, focus, keyActions, keys, limits, pause, places, sight, tree, values, words } = parts;
  const refuse = (reason, detail) => ({ ok: false, reason, detail });
  const EDITING = new Set(["Backspace", "Delete"]);

  const writes = (stroke) => stroke.text !== "" || EDITING.has(stroke.key);

  function unfit({ el }, value) {
    const strokes = keys.parse(value);
    if (strokes === null) {
      return refuse("unsupported", "not a list of keys such as Enter, ctrl+a, or ArrowDown ArrowDown (at most 50)");
    }
    return values.isReadOnly(el) && editing.isField(el) && strokes.some(writes) ? refuse("readonly", "it takes no text") : null;
  }

  const holdsFocus = (el) => tree.active() !== null && tree.within(el, tree.active());
  const targetIn = (el) => (holdsFocus(el) ? tree.active() : el);

  const MOVES = new Set(["Tab", "Escape"]);
  const SCROLLS = new Set(["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);
  const NOT_JUDGED = refuse("stale", "the focus went to another control, which was not judged: press this key on that one");

  function isPartOf(el, at) {
    const names = ["aria-controls", "aria-owns"].flatMap((name) => (el.getAttribute(name) ?? "").split(/\s+/));
    return [el, ...names.map((id) => tree.byId(el, id))].some((part) => part !== null && tree.within(part, at));
  }

  // Why a key is not for `at`, which has the focus in place of the judged control; null when it may come.
  function notFor(at, one, { el, form }) {
    if (isPartOf(el, at) || MOVES.has(one.key)) {
      return null;
    }
    if (!editing.takesText(at)) {
      return SCROLLS.has(one.key) && !["input", "select"].includes(at.localName) ? null : NOT_JUDGED;
    }
    if (one.key === "Enter" && at.localName === "input") {
      return (form ?? null) === places.formOf(at, sight.createSight()) ? null : NOT_JUDGED;
    }
    const harmless = SCROLLS.has(one.key) || one.key === "Enter";
    return !harmless && controls.isMasked(at, sight.createSight()) ? refuse("secret", "the focus went to a secret field") : null;
  }

  function stroke(el, one, facts, steps) {
    const strange = tree.within(facts.el, el) ? null : notFor(el, one, facts);
    if (strange !== null) {
      return { other: strange };
    }
    const at = targetIn(el);
    let wanted = keys.send(at, "keydown", one);
    // What the key would press must be what was judged; and Firefox itself follows a link at a script's keypress.
    const presses = (one.key === "Enter" || one.key === " ") && el === facts.el;
    const how = { enters: one.key === "Enter" };
    let other = wanted && presses ? steps.same(how) : null;
    if (wanted && other === null && (one.text !== "" || one.key === "Enter")) {
      wanted = keys.send(targetIn(el), "keypress", one);
      other = wanted && presses ? steps.same(how) : null;
    }
    if (other !== null && other.reason !== "gone") {
      steps.note(`key ${keys.spelled(one)} down`);
      return { other };
    }
    const done = wanted && other === null
      ? keyActions.act(targetIn(el), one, { submitted: steps.submitted, secret: facts.secret || facts.sensitive })
      : null;
    const after = tree.active();
    keys.send(after !== null && after !== document.body ? after : tree.connected(at) ? at : document.body, "keyup", one);
    steps.note(`key ${keys.spelled(one)}`);
    return { cancelled: !wanted, done, other: null };
  }

  function dispatch(facts, _spot, value, steps) {
    const { el, secret } = facts;
    const strokes = keys.parse(value);
    if (!holdsFocus(el)) {
      focus.give(el);
      editing.caretToEnd(el);
    }
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    const held = holdsFocus(el);
    steps.ready();
    steps.more(strokes.length > 1);
    const ends = [stroke(el, strokes[0], facts, steps)];
    return async () => {
      for (const one of strokes.slice(1)) {
        if (ends.at(-1).other !== null) {
          break;
        }
        await pause.pause(0);
        const stopped = steps.stop({ present: false });
        if (stopped !== null) {
          return stopped;
        }
        steps.more(one !== strokes.at(-1));
        ends.push(stroke(held ? movedTo(el) : el, one, facts, steps));
      }
      steps.more(false);
      if (ends.at(-1).other !== null) {
        return ends.at(-1).other;
      }
      await pause.pause(0);
      const lost = strokes.some((one, at) => keys.isFirefoxs(one) && !ends[at].cancelled && ends[at].done === null);
      const masked = secret || facts.sensitive;
      const told =
        editing.isField(el) || el.localName === "select" ? { value: words.cut(values.valueOf(el, masked), limits.value) } : {};
      const detail = lost ? { detail: "the page heard the key; Firefox's own shortcuts cannot be triggered by an add-on" } : {};
      return { ok: true, ...told, ...detail };
    };
  }

  // After Tab the keys go to where it led; but a control that cannot have the focus has no say in where it is.
  function movedTo(el) {
    const active = tree.active();
    return active !== null && active !== document.body ? active : el;
  }

  return { press: { unfit, dispatch, proves: true, selection: true, anywhere: ({ el }) => holdsFocus(el) } };
});
