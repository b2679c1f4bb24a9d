// controls: the facts about one control, as they are in this turn.
//
// Purpose: reading and acting must see the same thing, so both start here.
// `facts(el, turn)` -> null when it is no control or cannot be seen, else `{ el, role, via, label, section, row, form, secret,
// sensitive, value, state, chosen, disabled }`. `via` is the label through which a control is used that cannot be seen itself (a
// styled checkbox), else null. `usable(el, turn)`: a person can see it or its label. `isMasked(el, turn)`: its
// value must not be seen.
// Depends on: dom, extras, hover, labels, limits, neighbours, pageText, places, roles, values.
"use strict";

foxloop.define("controls", ({ dom, extras, hover, labels, limits, neighbours, pageText, places, roles, values }) => {
  const MOST_LOOKED_INTO = 1000; // elements of one editor
  // The native checkbox is transparent, clipped or not rendered, and its label is drawn as the box. A file field's label is its
  // button.
  function labelFor(el, turn) {
    if (!(values.isToggle(el) || (dom.tag(el) === "input" && dom.type(el) === "file")) || turn.hiddenByMarkup(el)) {
      return null;
    }
    return labels.labelsOf(el, turn).find((label) => turn.seen(label)) ?? null;
  }

  // Under the mouse only: told, and not to be used until the mouse is there. Acting never asks for these, so they are hidden to it.
  const isHovered = (el, turn) => hover.over(el, turn) !== null;
  const usable = (el, turn) => turn.seen(el) || labelFor(el, turn) !== null || isHovered(el, turn);

  // The engine's own text of an editor, unless there is some in it that nobody can see.
  function editorText(el, turn) {
    const whole = values.valueOf(el, false);
    if (whole === "" || /^(?:input|textarea|select)$/.test(el.localName)) {
      return whole;
    }
    const inner = el.querySelectorAll("*");
    for (let at = 0; at < inner.length; at += 1) {
      if (at >= MOST_LOOKED_INTO || (inner[at].textContent.trim() !== "" && !turn.textSeen(inner[at]))) {
        return pageText.textOf(el, turn, { offset: 0, most: limits.text, find: null, wants: null }).text;
      }
    }
    return whole;
  }

  function facts(el, turn) {
    const role = extras.roleOf(el);
    if (role === null) {
      return null;
    }
    const via = turn.seen(el) ? null : labelFor(el, turn);
    if (via === null && !turn.seen(el) && !isHovered(el, turn)) {
      return null;
    }
    const label = neighbours.labelOf(el, role, turn);
    const secret = values.isSecret(el, label, role, turn);
    const sensitive = !secret && values.isSensitive(el, label, role);
    return {
      el,
      role,
      via,
      label,
      secret,
      sensitive,
      section: places.sectionOf(el, turn),
      row: places.rowOf(el, turn),
      form: places.formOf(el, turn),
      value: secret || sensitive || !roles.isEditable(el) ? values.valueOf(el, secret || sensitive) : editorText(el, turn),
      state: values.stateOf(el),
      chosen: values.chosenOf(el),
      disabled: values.isDisabled(el, turn),
    };
  }

  // Neither to be shown nor to be photographed.
  function isMasked(el, turn) {
    const label = neighbours.labelOf(el, extras.roleOf(el), turn);
    return values.isSecret(el, label) || values.isSensitive(el, label);
  }

  return { facts, usable, isMasked };
});
