// sameness: is a control still called what it was judged by, while the page's own code runs between our events?
//
// Purpose: the checks of an act are of the turn before its first event. Each event runs handlers of the page, and those may give
// the control another name, another row, another form to send: a press would then be that of another thing. `take(el, turn)` -> a
// token, as it is now. `differs(token, { changed, enters })` -> null, or a refusal `gone` or `stale`. `changed`: we have written
// into it already, so words that are only near it do not count any more. `enters`: Enter is pressed in it, so it counts where the
// form around it goes.
// Depends on: dom, extras, names, neighbours, places, roles, sight, tree, values, words.
//
// A name that goes away (a title that becomes a tooltip, a placeholder that makes room) says nothing; another name does. Words that
// come into a row (buttons that show up under the pointer) say nothing, nor do elements that come into the control with words of
// their own (a list that opens in it), nor words that its style shows under the pointer; words that leave do. Of a row, alerts and
// hints do not count. What a link leads to is not looked at: many pages count presses by a detour, and where the press really leads
// is seen and told later.
"use strict";

foxloop.define("sameness", (parts) => {
  const { dom, extras, names, neighbours, places, roles, sight, tree, values, words } = parts;
  const refuse = (reason, detail) => ({ ok: false, reason, detail });
  const HINTS = '[role="alert"], [role="status"], [aria-live], [class*="error" i], [class*="hint" i], [class*="help" i]';
  const NAMING = ["aria-label", "aria-labelledby", "alt"];
  const HINTING = ["title", "placeholder"];
  const MOST_HINTS = 10;
  const MOST_ROW = 2000; // UTF-16 units of a row's text, as in its digest

  function nearby(el, turn) {
    const role = extras.roleOf(el);
    return roles.typable(el, role) || el.localName === "select" || values.isToggle(el)
      ? neighbours.labelOf(el, role, turn)
      : names.contentOf(el, turn);
  }

  const split = (text) => words.clean(text).split(" ");

  // All that the page itself says of it, shown or not.
  const textOf = (el) =>
    JSON.stringify([...NAMING.map((each) => el.getAttribute(each)), el.textContent.slice(0, MOST_ROW), el.value ?? ""]);

  // Words of different elements never run together.
  function wordsOf(el) {
    const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    let text = "";
    for (let node = walker.nextNode(); node !== null && text.length < MOST_ROW; node = walker.nextNode()) {
      text += ` ${node.data}`;
    }
    return split(text.slice(0, MOST_ROW));
  }

  // Hints at a field go when it gets the focus.
  function rowWords(el, turn) {
    const row = places.rowOf(el, turn);
    if (row === null || row === el) {
      return [];
    }
    const all = wordsOf(row);
    const hints = Array.from(row.querySelectorAll(HINTS)).slice(0, MOST_HINTS);
    for (const word of hints.flatMap(wordsOf)) {
      const at = all.indexOf(word);
      if (at !== -1) {
        all.splice(at, 1);
      }
    }
    return all;
  }

  // Where Enter in a field would send its form.
  function entersInto(el, turn) {
    const form = dom.form(el) ?? null;
    if (form === null || el.localName === "textarea") {
      return "";
    }
    const button = Array.from(form.elements).find((each) => values.isSubmit(each)) ?? null;
    return JSON.stringify(places.destinationOf(button ?? form, form, turn));
  }

  function take(el, turn = sight.createSight()) {
    const name = names.nameOf(el, turn);
    return {
      el,
      name,
      near: name === "" ? nearby(el, turn) : "",
      row: rowWords(el, turn),
      section: places.sectionOf(el, turn),
      size: el.getElementsByTagName("*").length,
      text: textOf(el),
      hints: HINTING.map((each) => words.clean(el.getAttribute(each) ?? "")),
      sends: values.isSubmit(el) ? places.leadsTo(el, turn) : "",
      enters: entersInto(el, turn),
    };
  }

  // Whether all words of the one are in the other, each as often.
  function holds(now, before) {
    const left = new Map();
    now.forEach((word) => left.set(word, (left.get(word) ?? 0) + 1));
    return before.every((word) => {
      const count = left.get(word) ?? 0;
      left.set(word, count - 1);
      return count > 0;
    });
  }

  const other = (now, before) => now !== "" && before !== "" && now !== before;

  function differs(token, { changed = false, enters = false } = {}) {
    const { el, name, near, row, section, size, text, hints, sends } = token;
    if (!tree.connected(el)) {
      return refuse("gone", "it left the page meanwhile");
    }
    const now = take(el);
    const called = now.name === "" ? now.near : now.name;
    const renamed = other(now.name, name) || (!changed && name === "" && other(called, near));
    const opened = (now.size > size || now.text === text) && holds(split(called), split(name === "" ? near : name));
    const hintGone = hints.some((hint, at) => hint === name && hint !== "" && now.hints[at] === "") && now.text === text;
    if ((renamed && !opened && !hintGone) || (!changed && !holds(now.row, row)) || other(now.section, section)) {
      return refuse("stale", "the page made another one of it meanwhile");
    }
    const elsewhere = now.sends !== sends || (enters && now.enters !== token.enters);
    return elsewhere ? refuse("stale", "the page made it send elsewhere meanwhile") : null;
  }

  return { take, differs };
});
