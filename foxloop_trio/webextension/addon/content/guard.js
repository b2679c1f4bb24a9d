// guard: what must not have changed between looking and acting.
//
// `guardOf(facts, turn)`: a keyed digest over everything about a control that a person would have judged it by. `keyOf(turn)`: one
// over the document, its address and the state of all its visible fields. `formKeyOf(facts, turn)`: one over the document, its
// address and those visible fields that are of the same form as the control; of a control without a form, none of them. All are 16
// hex digits that reveal nothing. A change elsewhere (another button's text, a paragraph, a class, a position) alters neither.
// Where a control leads and what kind of field it is are judged too: an approval to send a form is one for the address it named.
// Depends on: dom, identity, numbers, places, roles, values.
"use strict";

foxloop.define("guard", ({ dom, identity, numbers, places, roles, values }) => {
  // Lists as JSON, so that no two different lists of texts are ever the same text.
  const digest = (list) => identity.digest(JSON.stringify(list));

  function guardOf(facts, turn) {
    const { el, role, label, secret, sensitive, value, state, chosen, disabled, section, row, form } = facts;
    const attribute = (name) => dom.attribute(el, name);
    return digest([
      role,
      label,
      value,
      state ?? null,
      chosen,
      disabled,
      attribute("aria-expanded"),
      attribute("href"),
      places.leadsTo(el, turn),
      attribute("type"),
      dom.type(el) ?? null,
      secret,
      sensitive,
      form === null ? null : numbers.numberOf(form),
      section,
      places.rowDigest(row, turn),
      role === "canvas" ? [el.width, el.height] : null,
    ]);
  }

  const MOST_FIELDS = 20_000;

  // Of a password it counts whether there is one. A field that only its label makes a secret is digested as it is.
  function heldBy(el, turn) {
    const value = dom.value(el);
    return value !== "" && values.isSecret(el, "", null, turn) ? values.MASK : value;
  }

  // There can be thousands of fields, so each is asked for no more than its kind can tell.
  function statesOf(turn) {
    const memo = turn.memo("field states");
    if (!memo.has("all")) {
      const states = [];
      for (const el of roles.fields(turn).slice(0, MOST_FIELDS)) {
        const toggle = values.isToggle(el);
        if (toggle || turn.likely(el)) {
          const state = toggle ? el.checked : heldBy(el, turn);
          states.push({ el, state: [numbers.numberOf(el), state, values.chosenOf(el), dom.matches(el, ":disabled")] });
        }
      }
      memo.set("all", states);
    }
    return memo.get("all");
  }

  function keyOf(turn) {
    return digest([performance.timeOrigin, document.URL, statesOf(turn).map(({ state }) => state)]);
  }

  // A clock that ticks in another form, a field that saves itself, is no reason to look again.
  function formKeyOf({ form }, turn) {
    const keys = turn.memo("form keys");
    if (!keys.has(form)) {
      const held = form === null ? [] : (statesByForm(turn).get(form) ?? []);
      keys.set(form, digest(["form", performance.timeOrigin, document.URL, held]));
    }
    return keys.get(form);
  }

  function statesByForm(turn) {
    const byForm = turn.memo("field states by form");
    if (byForm.size === 0) {
      for (const { el, state } of statesOf(turn)) {
        const form = places.formOf(el, turn);
        byForm.set(form, byForm.get(form) ?? []);
        byForm.get(form).push(state);
      }
    }
    return byForm;
  }

  return { guardOf, keyOf, formKeyOf };
});
