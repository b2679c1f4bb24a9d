// guard: what must not have changed between looking and acting.
//
// `guardOf(facts)`: a keyed digest over everything about a control that a person would have judged it by. `keyOf(sight)`: one over
// the document, its address and the state of all its visible fields. Both are 16 hex digits that reveal nothing. A change elsewhere
// (another button's text, a paragraph, a class, a position) alters neither. Where a control leads and what kind of field it is are
// judged too: an approval to send a form is one for the address it named.
// Depends on: controls, identity, names, numbers, places, roles, values.
"use strict";

foxloop.define("guard", ({ controls, identity, names, numbers, places, roles, values }) => {
  // Lists as JSON, so that no two different lists of texts are ever the same text.
  const digest = (list) => identity.digest(JSON.stringify(list));

  function guardOf(facts) {
    const { el, role, label, secret, value, state, chosen, disabled, section, row, form } = facts;
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
      form === null ? null : numbers.numberOf(form),
      section,
      places.rowDigest(row),
    ]);
  }

  function keyOf(sight) {
    const held = roles
      .fields()
      .filter((el) => controls.usable(el, sight))
      .map((el) => {
        const secret = values.isSecret(el, names.nameOf(el, sight));
        return [numbers.numberOf(el), values.valueOf(el, secret), el.checked === true, values.chosenOf(el), values.isDisabled(el)];
      });
    return digest([performance.timeOrigin, document.URL, held]);
  }

  return { guardOf, keyOf };
});
