// sheets: what the page's style sheets say that no selector can ask for.
//
// Purpose: a rule is read once and its selectors are matched by the engine, instead of asking every element for its computed
// style. `study(turn)` -> `{ pointer, plain, generated, reveals, uses, blind }`, remembered for the turn: `pointer`, selectors
// of what has a hand as its cursor, or a cross of arrows, also only under the mouse; `plain`, of texts that cannot be selected, as
// buttons' cannot; `generated`, of what has text that stands in the sheet; `reveals`, pairs `{ under, shown }` of selectors:
// `shown` appears while the mouse is over `under`; `uses`, a Set of the rarer ways to hide (clip, filter, indent, ...) that
// occur at all; `blind`: there are sheets of another origin that nobody may read. `within(selectors)`: one selector for all of
// them.
// `split(list)`: its parts, cut at the commas that are not in brackets.
// Depends on: dom.
"use strict";

foxloop.define("sheets", ({ dom }) => {
  const MOST_RULES = 20_000; // of one read; what a page has beyond them is not looked at
  const MOST_SELECTORS = 2000; // of each kind; the engine tries them all on each element
  const MOST_COSTLY = 20; // of each kind; those with :has() look through whole trees
  const DEEPEST = 8;
  const DYNAMIC = /:(?:hover|active|focus(?:-visible|-within)?)(?![\w-])/g;
  const PSEUDO = /::?(?:before|after)(?![\w-])/g;
  const RARE = {
    clip: /clip/,
    filter: /filter/,
    mask: /mask/,
    indent: /text-indent/,
    shadow: /text-shadow/,
    fill: /text-fill|background-clip/,
    skip: /content-visibility/,
    tiny: /font(?:-size)?: ?[^;]*?(?<![\w.#-])(?:[01](?:\.\d+)?(?:px|pt|%)|0?\.\d+r?em|0(?![\w.%])|calc|var)/,
    dots: /text-security/,
  };
  const LISTS = ["pointer", "plain", "generated", "reveals"];
  const known = new WeakMap(); // sheet -> { length, found }

  const nothing = () => ({ pointer: [], plain: [], generated: [], reveals: [], uses: new Set(), blind: false });

  // A list of selectors, cut at the commas that are not in brackets.
  function split(list) {
    const parts = [];
    let depth = 0;
    let from = 0;
    for (let at = 0; at < list.length; at += 1) {
      const letter = list[at];
      if (letter === "(" || letter === "[") {
        depth += 1;
      } else if (letter === ")" || letter === "]") {
        depth -= 1;
      } else if (letter === "," && depth === 0) {
        parts.push(list.slice(from, at));
        from = at + 1;
      }
    }
    parts.push(list.slice(from));
    return parts.map((part) => part.trim()).filter((part) => part !== "");
  }

  // Without the pseudo-classes and pseudo-elements of a pattern; where nothing else stood, any element does.
  function without(selector, pattern) {
    const alone = new RegExp(`(^|[\\s>+~(,])(?:${pattern.source})+(?=$|[\\s>+~),])`, "g");
    return selector.replace(alone, "$1*").replace(pattern, "");
  }

  const still = (selector) => without(selector, DYNAMIC);

  // "li:hover > ul" shows `li > ul` while the mouse is over `li`.
  function revealed(selector) {
    const end = selector.lastIndexOf(":hover");
    const rest = selector.slice(end + ":hover".length);
    if (end === -1 || !/^[^\s>+~]*[\s>+~]/.test(rest)) {
      return null;
    }
    const compound = /^[^\s>+~]*/.exec(rest)[0];
    return { under: still(selector.slice(0, end) + compound), shown: still(selector) };
  }

  // Rules as text: one question to the engine instead of ten.
  function learn(text, found) {
    const open = text.indexOf("{");
    const body = text.slice(open);
    for (const name in RARE) {
      if (RARE[name].test(body)) {
        found.uses.add(name);
      }
    }
    const selectors = () => split(text.slice(0, open));
    if (/[{;\s]cursor: ?(?:pointer|grab|move)(?![\w-])/.test(body)) {
      found.pointer.push(...selectors().map(still));
    }
    if (/user-select: ?none/.test(body)) {
      found.plain.push(...selectors());
    }
    if (/[{;\s]content: ?[^;]*(?:"[^"]|attr\()/.test(body)) {
      found.generated.push(
        ...selectors()
          .filter((part) => part.search(PSEUDO) !== -1)
          .map((part) => still(without(part, PSEUDO))),
      );
    }
    if (
      text.lastIndexOf(":hover", open) !== -1 &&
      /[{;\s](?:display: ?(?!none)|visibility: ?visible|opacity: ?(?!0;|0 ))/.test(body)
    ) {
      found.reveals.push(
        ...selectors()
          .map(revealed)
          .filter((pair) => pair !== null),
      );
    }
  }

  function rulesOf(sheet) {
    try {
      return sheet.cssRules;
    } catch {
      return null; // of another origin
    }
  }

  function visit(rules, found, count, depth) {
    const length = rules === null ? 0 : rules.length;
    found.blind ||= rules === null;
    for (let at = 0; at < length && count.left > 0; at += 1) {
      const rule = rules[at];
      const text = rule.cssText;
      count.left -= 1;
      if (!text.startsWith("@")) {
        learn(text, found);
      }
      if (depth < DEEPEST && text.startsWith("@import")) {
        visit(rule.styleSheet === null ? [] : rulesOf(rule.styleSheet), found, count, depth + 1);
      } else if (depth < DEEPEST && text.indexOf("{", text.indexOf("{") + 1) !== -1) {
        visit(rule.cssRules ?? [], found, count, depth + 1);
      }
    }
  }

  function ofSheet(sheet, count) {
    const rules = rulesOf(sheet);
    const before = known.get(sheet);
    if (before !== undefined && before.length === rules?.length) {
      return before.found;
    }
    const found = nothing();
    visit(rules, found, count, 0);
    if (rules !== null) {
      known.set(sheet, { length: rules.length, found });
    }
    return found;
  }

  function study(turn) {
    const memo = turn.memo("sheets");
    if (!memo.has("all")) {
      memo.set("all", studyAll(turn));
    }
    return memo.get("all");
  }

  function add(all, more) {
    let costly = 0;
    for (let at = 0; at < more.length && all.length < MOST_SELECTORS; at += 1) {
      const text = more[at].shown ?? more[at];
      costly += text.includes(":has(") ? 1 : 0;
      if (costly <= MOST_COSTLY || !text.includes(":has(")) {
        all.push(more[at]);
      }
    }
  }

  function studyAll(turn) {
    const all = nothing();
    const count = { left: MOST_RULES };
    for (const scope of [document, ...turn.hosts.values()]) {
      for (const sheets of [scope.styleSheets, scope.adoptedStyleSheets]) {
        for (let at = 0; at < sheets.length; at += 1) {
          const found = ofSheet(sheets[at], count);
          LISTS.forEach((name) => add(all[name], found[name]));
          found.uses.forEach((name) => all.uses.add(name));
          all.blind ||= found.blind;
        }
      }
    }
    const inline = turn.all("[style]").slice(0, MOST_RULES);
    for (const name in RARE) {
      if (all.blind || (!all.uses.has(name) && inline.some((el) => RARE[name].test(dom.attribute(el, "style"))))) {
        all.uses.add(name);
      }
    }
    return all;
  }

  // :is() forgives what it does not know; an empty one matches nothing.
  const within = (selectors) => `:is(${[...new Set(selectors)].join(", ")})`;

  return { study, within, split };
});
