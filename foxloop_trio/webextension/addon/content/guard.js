// guard: what must not have changed between looking and acting.
//
// `guardOf(facts, turn)`: a keyed digest over everything about a control that a person would have judged it by. `keyOf(turn)`: one
// over the document, its address and the state of all its visible fields. `formKeyOf(facts, turn)`: one over the document, its
// address and those visible fields that are of the same form as the control; of a control without a form, none of them. All are 16
// hex digits that reveal nothing. A change elsewhere (another button's text, a paragraph, a class, a position) alters neither.
// Where a control leads and what kind of field it is are judged too: an approval to send a form is one for the address it named.
// Depends on: controls, identity, numbers, places, roles, values.
"use strict";

foxloop.define("guard", ({ controls, identity, numbers, places, roles, values }) => {
  // Lists as JSON, so that no two different lists of texts are ever the same text.
  const digest = (list) => identity.digest(JSON.stringify(list));

  function guardOf(facts, turn) {
    const { el, role, label, secret, sensitive, value, state, chosen, disabled, section, row, form } = facts;
    const attribute = (name) => el.getAttribute(name);
    return digest([
      role,
      label,
      value,
      state ?? null,
      chosen,
      disabled,
      attribute("aria-expanded"),
      attribute("href"),
      places.leadsTo(el),
      attribute("type"),
      el.type ?? null,
      secret,
      sensitive,
      form === null ? null : numbers.numberOf(form),
      section,
      places.rowDigest(row, turn),
      role === "canvas" ? [el.width, el.height] : null,
    ]);
  }

  // An empty field is not asked whether it holds a secret: to find out takes its name.
  function heldBy(el, turn) {
    const value = values.plainValueOf(el);
    return value !== "" && controls.isSecretField(el, turn) ? values.MASK : value;
  }

  const stateOf = (el, turn) => [
    numbers.numberOf(el),
    heldBy(el, turn),
    el.checked === true,
    values.chosenOf(el),
    values.isDisabled(el),
  ];

  function keyOf(turn) {
    const held = [];
    for (const el of roles.fields(turn)) {
      if (controls.usable(el, turn)) {
        held.push(stateOf(el, turn));
      }
    }
    return digest([performance.timeOrigin, document.URL, held]);
  }

  // A clock that ticks in another form, a field that saves itself, is no reason to look again.
  function formKeyOf({ form }, turn) {
    const memo = turn.memo("form keys");
    if (!memo.has(form)) {
      const fields =
        form === null ? [] : roles.fields(turn).filter((el) => places.formOf(el) === form && controls.usable(el, turn));
      const held = fields.map((el) => stateOf(el, turn));
      memo.set(form, digest(["form", performance.timeOrigin, document.URL, held]));
    }
    return memo.get(form);
  }

  return { guardOf, keyOf, formKeyOf };
});
