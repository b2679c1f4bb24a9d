// hovering: what style sheets show only under the mouse, shown under ours.
//
// Purpose: events that a script sends never make Firefox match `:hover`, so menus that only a style sheet opens would stay closed.
// `follow(line)`: the pointer is now over these elements (innermost first): each rule of the page with `:hover` gets a twin that
// matches them instead, and what was under the pointer before is let go. `letGo()`: nothing is under the pointer.
// Depends on: nothing.
//
// The twins stand in a sheet of their own, after the page's, as long as the pointer is there. Elements are marked by an attribute,
// since nothing else can be matched; it is taken away when the pointer goes. Rules of sheets of another origin cannot be read.
"use strict";

foxloop.define("hovering", () => {
  const MARK = "foxloop-hovered";
  const HOVER = /:hover(?![\w-])/g;
  const MOST_RULES = 20_000;
  const page = window.wrappedJSObject;
  let marked = [];
  let sheet = null;
  let lastCount = -1;

  function rulesOf(holder) {
    try {
      return holder.cssRules;
    } catch {
      return []; // of another origin
    }
  }

  const head = (rule) => rule.cssText.slice(0, rule.cssText.indexOf("{"));

  function twins(rules, count) {
    const out = [];
    for (let at = 0; at < rules.length && count.left > 0; at += 1) {
      const rule = rules[at];
      count.left -= 1;
      if (rule.styleSheet) {
        out.push(...twins(rulesOf(rule.styleSheet), count));
      } else if (rule.selectorText !== undefined) {
        if (rule.cssText.includes(":hover")) {
          out.push(rule.cssText.replace(HOVER, `[${MARK}]`));
        }
      } else if (rule.cssRules?.length > 0 && !/^@(?:-moz-)?keyframes|^@font/.test(rule.cssText)) {
        const inner = twins(rule.cssRules, count);
        if (inner.length > 0) {
          out.push(`${head(rule)}{${inner.join("\n")}}`);
        }
      }
    }
    return out;
  }

  function allTwins() {
    const count = { left: MOST_RULES };
    const sheets = Array.from(document.styleSheets).filter((one) => one.disabled === false);
    return sheets.flatMap((one) => {
      const inner = twins(rulesOf(one), count);
      const media = one.media.mediaText;
      return media === "" || inner.length === 0 ? inner : [`@media ${media}{${inner.join("\n")}}`];
    });
  }

  const countRules = () => Array.from(document.styleSheets).reduce((sum, one) => sum + rulesOf(one).length + 1, 0);

  function install() {
    const count = countRules();
    if (sheet !== null && count === lastCount) {
      return true;
    }
    uninstall();
    lastCount = count;
    const text = allTwins().join("\n");
    if (text === "") {
      return false;
    }
    try {
      const made = new page.CSSStyleSheet();
      made.replaceSync(text);
      page.document.adoptedStyleSheets.push(made);
      sheet = made;
    } catch {
      return false; // the page replaced the constructor
    }
    return true;
  }

  function uninstall() {
    if (sheet !== null) {
      const list = page.document.adoptedStyleSheets;
      const at = list.indexOf(sheet);
      if (at !== -1) {
        list.splice(at, 1);
      }
    }
    sheet = null;
  }

  function letGo() {
    marked.forEach((ref) => ref.deref()?.removeAttribute(MARK));
    marked = [];
    uninstall();
    lastCount = -1;
  }

  function follow(line) {
    if (!install()) {
      letGo();
      return;
    }
    const now = new Set(line);
    marked = marked.filter((ref) => {
      const el = ref.deref();
      if (el === undefined || now.delete(el)) {
        return el !== undefined;
      }
      el.removeAttribute(MARK);
      return false;
    });
    for (const el of now) {
      el.setAttribute(MARK, "");
      marked.push(new WeakRef(el));
    }
  }

  return { follow, letGo };
});
