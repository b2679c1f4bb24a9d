// sheets: what the page's style sheets say that no selector can ask for.
//
// Purpose: a rule is read once and its selectors are matched by the engine, instead of asking every element for its computed style.
// `study(turn)` -> `{ pointer, plain, generated, blind }`, remembered for the turn: `pointer`, selectors of what has a hand as its
// cursor, also only under the mouse; `plain`, of texts that cannot be selected, as buttons' cannot; `generated`, of what has text
// that stands in the sheet; `reveals`, pairs `{ under, shown }` of selectors: `shown` appears while the mouse is over `under`;
// `blind`: there are sheets of another origin that nobody may read. `within(selectors)`: one selector for all of them.
// Depends on: nothing.
"use strict";

foxloop.define("sheets", () => {
  const MOST_RULES = 20_000; // of one read; what a page has beyond them is not looked at
  const DEEPEST = 8;
  const WORTH = /cursor|content|user-select|:hover/;
  const DYNAMIC = /:(?:hover|active|focus(?:-visible|-within)?)(?![\w-])/g;
  const PSEUDO = /::?(?:before|after)(?![\w-])/g;
  const known = new WeakMap(); // sheet -> { length, found }

  const nothing = () => ({ pointer: [], plain: [], generated: [], reveals: [], blind: false });

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

  // "li:hover > ul" shows `li > ul` while the mouse is over `li`.
  function revealed(selector) {
    const end = selector.lastIndexOf(":hover");
    const rest = selector.slice(end + ":hover".length);
    if (end === -1 || !/^[^\s>+~]*[\s>+~]/.test(rest)) {
      return null;
    }
    const compound = /^[^\s>+~]*/.exec(rest)[0];
    return {
      under: (selector.slice(0, end) + compound).replace(DYNAMIC, "") || "*",
      shown: selector.replace(DYNAMIC, ""),
    };
  }

  function learn(rule, found) {
    const style = rule.style;
    const pointer = style.cursor === "pointer";
    const plain = style.userSelect === "none";
    const content = style.content;
    const selector = pointer || plain || content !== "" ? rule.selectorText : "";
    if (pointer) {
      found.pointer.push(...split(selector).map((part) => part.replace(DYNAMIC, "")));
    }
    if (plain) {
      found.plain.push(...split(selector));
    }
    if (/["']|attr\(/.test(content)) {
      found.generated.push(
        ...split(selector)
          .filter((part) => part.search(PSEUDO) !== -1)
          .map((part) => part.replace(PSEUDO, "").replace(/(^|[\s>+~])$/, "$1*")),
      );
    }
    const { display, visibility, opacity } = style;
    if ((display !== "" && display !== "none") || visibility === "visible" || (opacity !== "" && opacity !== "0")) {
      const whole = rule.selectorText;
      if (whole.includes(":hover")) {
        found.reveals.push(
          ...split(whole)
            .map(revealed)
            .filter((pair) => pair !== null),
        );
      }
    }
  }

  function visit(rules, found, count, depth) {
    for (let at = 0; at < rules.length && count.left > 0; at += 1) {
      const rule = rules[at];
      count.left -= 1;
      if (rule.selectorText !== undefined && rule.style) {
        learn(rule, found);
      }
      const inner = rule.styleSheet ?? rule;
      const more = inner === rule ? rule.cssRules : rulesOf(inner);
      if (more && more.length > 0 && depth < DEEPEST) {
        visit(more, found, count, depth + 1);
      }
    }
  }

  function rulesOf(sheet) {
    try {
      return sheet.cssRules;
    } catch {
      return null; // of another origin
    }
  }

  function ofSheet(sheet, count) {
    const owner = sheet.ownerNode;
    const rules = rulesOf(sheet);
    if (rules === null) {
      return { ...nothing(), blind: true };
    }
    const before = known.get(sheet);
    if (before?.length === rules.length) {
      return before.found;
    }
    const found = nothing();
    // The text of a <style> is what it was made of: quick to look through. Rules that a script put in later do not stand in it.
    const text = owner?.localName === "style" ? owner.textContent : null;
    if (text === null || text.trim() === "" || text.includes("@import") || WORTH.test(text)) {
      visit(rules, found, count, 0);
    }
    known.set(sheet, { length: rules.length, found });
    return found;
  }

  function study(turn) {
    const memo = turn.memo("sheets");
    if (!memo.has("all")) {
      const all = nothing();
      const count = { left: MOST_RULES };
      for (const scope of [document, ...turn.hosts.values()]) {
        for (const sheets of [scope.styleSheets, scope.adoptedStyleSheets]) {
          for (let at = 0; at < sheets.length; at += 1) {
            const found = ofSheet(sheets[at], count);
            for (const name of ["pointer", "plain", "generated", "reveals"]) {
              all[name].push(...found[name]);
            }
            all.blind ||= found.blind;
          }
        }
      }
      memo.set("all", all);
    }
    return memo.get("all");
  }

  // :is() forgives what it does not know; an empty one matches nothing.
  const within = (selectors) => `:is(${[...new Set(selectors)].join(", ")})`;

  return { study, within };
});
