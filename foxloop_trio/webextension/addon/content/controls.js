// controls: the facts about one control, as they are in this turn.
//
// Purpose: reading and acting must see the same thing, so both start here.
// `facts(el, sight)` -> null when it is no control or cannot be seen, else `{ el, role, via, label, section, row, form, secret,
// value, state, chosen, disabled }`. `via` is the label through which a control is used that cannot be seen itself (a styled
// checkbox), else null. `usable(el, sight)`: a person can see it or its label.
// Depends on: names, places, roles, sight, tree, values.
"use strict";

foxloop.define("controls", ({ names, places, roles, tree, values }) => {
  // The native checkbox is transparent, clipped or not rendered, and its label is drawn as the box.
  function labelFor(el, sight) {
    if (!values.isToggle(el) || tree.closest(el, '[aria-hidden="true"], [inert]') !== null) {
      return null;
    }
    return Array.from(el.labels ?? []).find((label) => sight.seen(label)) ?? null;
  }

  const usable = (el, sight) => sight.seen(el) || labelFor(el, sight) !== null;

  function facts(el, sight) {
    const role = roles.roleOf(el);
    if (role === null) {
      return null;
    }
    const via = sight.seen(el) ? null : labelFor(el, sight);
    if (via === null && !sight.seen(el)) {
      return null;
    }
    const label = names.nameOf(el, sight);
    const secret = values.isSecret(el, label);
    return {
      el,
      role,
      via,
      label,
      secret,
      section: places.sectionOf(el),
      row: places.rowOf(el),
      form: places.formOf(el),
      value: values.valueOf(el, secret),
      state: values.stateOf(el),
      chosen: values.chosenOf(el),
      disabled: values.isDisabled(el),
    };
  }

  return { facts, usable };
});
