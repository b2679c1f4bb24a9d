// read: the whole document, or a part of it, as a FrameState (foxloop_trio/wire/_shapes.py has its schema).
//
// `read(options)` -> `{ json, text, left, total, frames }`, or null while the document has no body. `json` is the object without
// its end and without what only the background page knows: frame, parent, origin, and how much of the text goes on. `options`:
// `{ focus, node, find, offset, textOffset, maxControls, maxText }`, the params of `page.read`; `node` is that of its region.
// Reading changes nothing: no focus, no scroll, no attribute, no event.
// Depends on: calendar, captcha, controls, describe, dom, extras, frameList, guard, hover, identity, limits, neighbours, numbers,
// pageText, places, popups, sight, tree, words.
"use strict";

foxloop.define("read", (parts) => {
  const { calendar, captcha, controls, describe, dom, extras, frameList, guard, hover, identity, limits } = parts;
  const { neighbours, numbers } = parts;
  const { pageText, places, popups, sight, tree, words } = parts;
  const HTML = "http://www.w3.org/1999/xhtml";
  const SHORTEST_WORD = 3;
  const LOOKED_AT_BEYOND = 5000; // possible controls after the last that is told; what comes then is counted as it is
  const MOST_SEARCHED = 50_000; // possible controls among which is searched
  const CLOCK_EVERY = 32; // controls; the clock costs more than the look
  const HURRY_MS = 2500; // after this the rest of a huge page is counted without being looked at

  const folded = (text) => words.clean(text).toLowerCase();

  // A predicate over texts for `find`, or null.
  function matcher(find) {
    if (find === undefined) {
      return null;
    }
    const needle = folded(find);
    return (text) => folded(text).includes(needle);
  }

  // How many words of the focus a text holds, or null when there is no focus.
  function scorer(focus) {
    const wanted = new Set(
      folded(focus ?? "")
        .match(/[\p{L}\p{N}]+/gu)
        ?.filter((word) => word.length >= SHORTEST_WORD) ?? [],
    );
    if (wanted.size === 0) {
      return null;
    }
    return (text) => {
      const low = folded(text);
      let score = 0;
      for (const word of wanted) {
        score += low.includes(word) ? 1 : 0;
      }
      return score;
    };
  }

  const wordsOf = ({ el, role }, turn) =>
    [
      neighbours.labelOf(el, role, turn),
      places.sectionOf(el, turn),
      dom.attribute(el, "name") ?? "",
      dom.attribute(el, "placeholder") ?? "",
    ].join(" ");

  function holds(item, find, turn) {
    const { el, role } = item;
    const month = calendar.monthOf(el, turn);
    if (
      (month !== "" && find(`${neighbours.labelOf(el, role, turn)} ${month}`)) ||
      find(neighbours.labelOf(el, role, turn)) ||
      find(dom.attribute(el, "placeholder") ?? "") ||
      find(dom.attribute(el, "name") ?? "") ||
      find(describe.rowOf(el, turn))
    ) {
      return true;
    }
    const facts = controls.facts(el, turn);
    return (
      facts !== null && (find(facts.value) || (el.localName === "select" && Array.from(el.options).some((one) => find(one.label))))
    );
  }

  // Which of them are told: `{ shown, total, left }`. Exact up to the end of what is told, and an upper bound beyond it.
  function select(items, turn, { offset, most, find, score, begun }) {
    if (score !== null) {
      const usable = items.filter(({ el }) => controls.usable(el, turn));
      const ranked = usable.map((item, at) => ({ item, at, score: score(wordsOf(item, turn)) }));
      ranked.sort((a, b) => b.score - a.score || a.at - b.at);
      const shown = ranked.slice(offset, offset + most).sort((a, b) => a.at - b.at);
      return { shown: shown.map(({ item }) => item), total: usable.length, left: Math.max(0, usable.length - offset - most) };
    }
    const usable = (el) => controls.usable(el, turn);
    const shown = [];
    let total = 0;
    let hurry = false;
    for (const item of items) {
      const late = total >= offset + most;
      hurry ||= late && total % CLOCK_EVERY === 0 && performance.now() - begun > HURRY_MS;
      if (hurry || ((find === null || holds(item, find, turn)) && (late ? turn.likely : usable)(item.el))) {
        total += 1;
        if (total > offset && !late) {
          shown.push(item);
        }
      }
    }
    return { shown, total, left: Math.max(0, total - offset - most) };
  }

  // A drawing and plain XML have no body, and never will.
  function rootOf() {
    const root = document.documentElement;
    return document.body ?? (root !== null && root.namespaceURI !== HTML ? root : null);
  }

  function read(options) {
    const begun = performance.now();
    const region = options.node === undefined ? rootOf() : numbers.find(options.node);
    if (region === null) {
      return null;
    }
    const turn = sight.createSight();
    numbers.prune();
    const find = matcher(options.find);
    const score = scorer(options.focus);
    hover.reveal(turn);
    // Fields that own a visible list have the first numbers of a document.
    for (const field of new Set(popups.ownersOf(turn).values())) {
      numbers.numberOf(field);
    }
    const whole = options.node === undefined;
    const window = (options.offset ?? 0) + (options.maxControls ?? limits.controlsAtFirst);
    const plain = whole && find === null && score === null;
    const gathered = extras.gather(turn, find ?? (whole ? null : () => true), plain ? window + LOOKED_AT_BEYOND : MOST_SEARCHED);
    let { items } = gathered;
    if (!whole) {
      items = items.filter(({ el }) => tree.within(region, el));
    }
    const { shown, total, left } = select(items, turn, {
      offset: options.offset ?? 0,
      most: options.maxControls ?? limits.controlsAtFirst,
      find,
      score,
      begun,
    });
    const facts = shown.map((item) => controls.facts(item.el, turn)).filter((one) => one !== null);
    const listed = describe.describe(facts, turn, score);
    const key = guard.keyOf(turn);
    listed.forEach((one, at) => {
      one.form_key = guard.formKeyOf(facts[at], turn);
    });
    const title = words.cut(words.clean(document.title), limits.title);
    const told = pageText.textOf(region, turn, {
      offset: options.textOffset ?? 0,
      most: options.maxText ?? limits.textAtFirst,
      find,
      wants: score,
    });
    const json = JSON.stringify({
      document: identity.document,
      url: words.cut(document.URL, limits.addresses),
      title,
      headings: pageText.headings(turn),
      controls: listed,
      ...captcha.look(turn, { title, text: told.text, controls: total }),
      more: pageText.hasMore(),
      truncated: left + (plain ? gathered.rest : 0),
      total_controls: total + (plain ? gathered.rest : 0),
      key,
      took_ms: 0,
    });
    const frames = frameList.list(turn);
    const took = Math.round((performance.now() - begun) * 10) / 10;
    return {
      json: json.replace(/"took_ms":0\}$/, `"took_ms":${took}}`),
      text: told.text,
      left: told.left,
      total: told.total,
      frames,
    };
  }

  return { read };
});
