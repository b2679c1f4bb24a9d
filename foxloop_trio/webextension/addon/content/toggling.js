// toggling: operations `check`, `uncheck` and `click`.
//
// `check` and `uncheck` press once if the state is not the wanted one yet, then wait for it: many toggles change a moment later.
// `click` takes null, or `{ x, y, count, button }`, all optional: a point in percent of the box, `count` 2 for a double click,
// `button` "right" for the page's own menu.
// Depends on: pause, pointer, tree, values.
"use strict";

foxloop.define("toggling", ({ pause, pointer, tree, values }) => {
  const STATE_WAIT_MS = 500;
  const POLL_MS = 20;

  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function unfit({ el, state }, wanted) {
    if (state === undefined) {
      return refuse("unsupported", "it has no state that could be on or off");
    }
    if (!wanted && state === true && el.localName === "input" && el.type === "radio") {
      return refuse("unsupported", "a radio button goes off only when another one of its group goes on");
    }
    return null;
  }

  async function reached(el, wanted, steps) {
    const end = performance.now() + STATE_WAIT_MS;
    while (values.isOn(el) !== wanted && performance.now() < end && !steps.over()) {
      await pause.pause(POLL_MS);
    }
    const checked = values.isOn(el);
    if (checked === wanted) {
      return { ok: true, checked };
    }
    const stopped = steps.stop({ present: false });
    if (stopped !== null) {
      return { ...stopped, checked };
    }
    return tree.connected(el)
      ? { ...refuse("unsupported", "state unchanged"), checked }
      : { ...refuse("gone", "it was replaced when it was pressed"), checked: null };
  }

  const set = (wanted) => ({
    unfit: (facts) => unfit(facts, wanted),
    done: ({ el }) => (values.isOn(el) === wanted ? { ok: true, checked: wanted } : null),
    after: ({ el }, _value, steps) => reached(el, wanted, steps),
    dispatch({ el }, spot, _value, steps) {
      const taken = pointer.press(el, spot, steps);
      steps.note("press");
      return taken ?? (() => reached(el, wanted, steps));
    },
  });

  function unfitClick(_facts, value) {
    if (value === null) {
      return null;
    }
    const { count = 1, button = "left" } = value;
    return typeof value === "object" && !Array.isArray(value) && [1, 2].includes(count) && ["left", "right"].includes(button)
      ? null
      : refuse("unsupported", "a click takes a point in percent, count 1 or 2, button left or right");
  }

  const click = {
    proves: true,
    pointed: true,
    unfit: unfitClick,
    after: ({ el, state }) => (state === undefined ? { ok: true } : { ok: true, checked: values.isOn(el) }),
    dispatch({ el, state }, spot, value, steps) {
      const { count, button } = value ?? {};
      const taken = pointer.press(el, spot, { count, button, ready: steps.ready, same: steps.same, again: steps.again });
      steps.note("press");
      if (taken !== null) {
        return taken;
      }
      return state === undefined ? { ok: true } : { ok: true, checked: values.isOn(el) };
    },
  };

  return { check: set(true), uncheck: set(false), click };
});
