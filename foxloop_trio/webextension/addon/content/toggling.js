// toggling: operations `check`, `uncheck` and `click`.
//
// `check` and `uncheck` press once if the state is not the wanted one yet, then wait for it: many toggles change a moment later.
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

  async function reached(el, wanted, over) {
    const end = performance.now() + STATE_WAIT_MS;
    while (values.isOn(el) !== wanted && performance.now() < end && !over()) {
      await pause.pause(POLL_MS);
    }
    const checked = values.isOn(el);
    if (checked === wanted) {
      return { ok: true, checked };
    }
    return tree.connected(el)
      ? { ...refuse("unsupported", "state unchanged"), checked }
      : { ...refuse("gone", "it was replaced when it was pressed"), checked: null };
  }

  const set = (wanted) => ({
    unfit: (facts) => unfit(facts, wanted),
    done: ({ el }) => (values.isOn(el) === wanted ? { ok: true, checked: wanted } : null),
    dispatch({ el }, spot) {
      return pointer.press(el, spot) ?? ((over) => reached(el, wanted, over));
    },
  });

  const click = {
    unfit: () => null,
    dispatch({ el, state }, spot) {
      const taken = pointer.press(el, spot);
      if (taken !== null) {
        return taken;
      }
      return state === undefined ? { ok: true } : { ok: true, checked: values.isOn(el) };
    },
  };

  return { check: set(true), uncheck: set(false), click };
});
