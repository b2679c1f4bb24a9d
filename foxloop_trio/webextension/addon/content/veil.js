// veil: secrets are not in pictures of the page.
//
// `veil(on)`: hides every field that holds a secret, until `veil(false)` puts each back as it was, or a second has passed. Called
// right before and right after a picture is taken. Result: JSON text of how many there are.
// Depends on: names, roles, sight, values.
"use strict";

foxloop.define("veil", ({ names, roles, sight, values }) => {
  const MOST_MS = 1000;
  const HIDING = { visibility: "hidden", transition: "none" };
  let lifts = [];
  let timer = null;

  function hide(el) {
    const before = el.getAttribute("style");
    for (const name of Object.keys(HIDING)) {
      el.style.setProperty(name, HIDING[name], "important");
    }
    const during = el.getAttribute("style");
    return () => {
      if (el.getAttribute("style") !== during) {
        Object.keys(HIDING).forEach((name) => el.style.removeProperty(name)); // the page changed it meanwhile
      } else if (before === null) {
        el.removeAttribute("style");
      } else {
        el.setAttribute("style", before);
      }
    };
  }

  function lift() {
    clearTimeout(timer);
    lifts.forEach((undo) => undo());
    lifts = [];
  }

  function veil(on) {
    lift();
    if (on) {
      const turn = sight.createSight();
      lifts = roles
        .fields()
        .filter((el) => values.isSecret(el, names.nameOf(el, turn)) && values.plainValueOf(el) !== "")
        .map(hide);
      timer = setTimeout(lift, MOST_MS);
    }
    return String(lifts.length);
  }

  return { veil };
});
