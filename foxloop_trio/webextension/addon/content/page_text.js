// page_text: what a person could read on the page, beside its controls.
//
// `text(sight)`: the visible texts in document order, one line per text node, cut. `headings(sight)`: visible h1 and h2.
// `hasMore()`: there is more below the viewport.
// Depends on: limits, sight, tree, words.
"use strict";

foxloop.define("pageText", ({ limits, tree, words }) => {
  const SILENT = "script, style, noscript, template";

  function text(sight) {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const lines = [];
    let length = 0;
    while (length < limits.text && walker.nextNode()) {
      const line = walker.currentNode.data.trim();
      const holder = walker.currentNode.parentElement;
      if (line !== "" && holder !== null && !holder.matches(SILENT) && sight.textSeen(holder)) {
        lines.push(line);
        length += line.length;
      }
    }
    return words.cut(lines.join("\n"), limits.text);
  }

  function headings(sight) {
    return Array.from(tree.all("h1, h2"))
      .filter((el) => sight.seen(el))
      .map((el) => words.cut(words.clean(el.textContent), limits.heading))
      .filter((heading) => heading !== "")
      .slice(0, limits.headings);
  }

  const hasMore = () => scrollY + innerHeight < document.documentElement.scrollHeight - 2;

  return { text, headings, hasMore };
});
