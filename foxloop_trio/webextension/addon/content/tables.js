// tables: a table or grid of the page as rows of texts.
//
// `table(options)` -> JSON text `{ url, tables, nth, caption, header, rows, total, declared, left }`; `options`: `{ nth, find,
// offset, most }`. Tables are counted from 1 in the order of the page: `table` elements that are no mere layout, and what has a
// table's role. `header`: the names of the columns, [] when there are none; `rows`: those behind `offset`, `most` at most, each a
// list of as many texts; `find`: only rows that hold these words. `total`: rows in all, of those that hold them; `left`: after
// these. `declared`: how many rows the page says that there are, where it draws only some; null when it says nothing. Text that
// nobody can see is left out, as everywhere. A cell over several columns or rows stands in each of them.
// Depends on: dom, limits, pageText, sight, tree, words.
"use strict";

foxloop.define("tables", ({ dom, limits, pageText, sight, tree, words }) => {
  const TABLES = "table, [role=table], [role=grid], [role=treegrid]";
  const LAYOUT = new Set(["presentation", "none"]);
  const ROWS = "tr, [role=row]";
  const CELLS = "td, th, [role=cell], [role=gridcell], [role=columnheader], [role=rowheader]";
  const MOST_ROWS = 20_000; // that are looked at
  const MOST_SPAN = 1000;

  const isTable = (el) => !LAYOUT.has(dom.attribute(el, "role"));

  // What stands in a table within a table is that one's.
  function partsOf(turn, selector, outer) {
    const parts = new Map();
    for (const el of turn.all(selector)) {
      const of = tree.closest(tree.parent(el) ?? el, outer);
      if (of !== null && turn.rendered(el)) {
        if (!parts.has(of)) {
          parts.set(of, []);
        }
        parts.get(of).push(el);
      }
    }
    return parts;
  }

  const isHead = (cell) => cell.localName === "th" || dom.attribute(cell, "role") === "columnheader";

  // The last of the rows at the top that hold nothing but names of columns.
  function headOf(rows, cells) {
    let head = -1;
    for (const [at, row] of rows.entries()) {
      const own = cells.get(row) ?? [];
      const inHead = row.localName === "tr" && row.parentElement?.localName === "thead";
      if (own.length === 0 || !(inHead || own.every(isHead)) || own.some((cell) => dom.attribute(cell, "scope") === "row")) {
        break;
      }
      head = at;
    }
    return head;
  }

  function spanOf(cell, name) {
    const span = cell[name] || Number(dom.attribute(cell, `aria-${name.toLowerCase()}`));
    return Number.isInteger(span) ? Math.min(Math.max(1, span), MOST_SPAN) : 1;
  }

  // Fills a grid row by row, as cells that reach over several columns and rows stand in it.
  function createGrid(textOf) {
    let below = []; // column -> { text, rows } of a cell from above
    return (cells) => {
      const line = [];
      const next = [];
      let at = 0;
      const reach = () => {
        while (below[at] !== undefined && line.length < limits.cells) {
          line.push(below[at].text);
          if (below[at].rows > 1) {
            next[at] = { text: below[at].text, rows: below[at].rows - 1 };
          }
          at += 1;
        }
      };
      for (const cell of cells) {
        reach();
        const text = textOf(cell);
        const rows = spanOf(cell, "rowSpan");
        for (let span = spanOf(cell, "colSpan"); span > 0 && line.length < limits.cells; span -= 1) {
          line.push(text);
          if (rows > 1) {
            next[at] = { text, rows: rows - 1 };
          }
          at += 1;
        }
      }
      reach();
      below = next;
      return line;
    };
  }

  // Each column has a name of its own.
  function named(header) {
    const seen = new Map();
    return header.map((text, at) => {
      const name = text === "" ? `column ${at + 1}` : text;
      const times = (seen.get(name) ?? 0) + 1;
      seen.set(name, times);
      return times === 1 ? name : `${name} (${times})`;
    });
  }

  function captionOf(table, turn) {
    const caption = table.localName === "table" ? table.caption : null;
    const label = tree.byId(table, dom.attribute(table, "aria-labelledby") ?? "");
    const shown = [caption, label].find((el) => el !== null && turn.rendered(el)) ?? null;
    const text = shown === null ? (dom.attribute(table, "aria-label") ?? "") : pageText.brief(shown, turn, limits.cell);
    return words.cut(words.clean(text), limits.cell);
  }

  function declaredOf(table) {
    const count = Number(dom.attribute(table, "aria-rowcount") ?? Number.NaN);
    return Number.isSafeInteger(count) && count >= 0 ? count : null;
  }

  function table({ nth, find, offset, most }) {
    const turn = sight.createSight();
    const rowsOf = partsOf(turn, ROWS, TABLES);
    const found = Array.from(turn.all(TABLES)).filter((el) => isTable(el) && turn.rendered(el) && rowsOf.has(el));
    const one = found[nth - 1];
    const answer = { url: words.cut(document.URL, limits.addresses), tables: found.length, nth };
    if (one === undefined) {
      return JSON.stringify({ ...answer, caption: "", header: [], rows: [], total: 0, left: 0, declared: null });
    }
    const rows = rowsOf.get(one).slice(0, MOST_ROWS);
    const cells = partsOf(turn, CELLS, ROWS);
    const texts = (cell) => words.cut(words.clean(pageText.brief(cell, turn, limits.cell)), limits.cell);
    const head = headOf(rows, cells);
    const grid = createGrid(texts);
    let header = [];
    for (const row of rows.slice(0, head + 1)) {
      header = grid(cells.get(row) ?? []);
    }
    const needle = find === undefined ? null : words.clean(find).toLowerCase();
    const told = [];
    let total = 0;
    for (const row of rows.slice(head + 1)) {
      const line = grid(cells.get(row) ?? []);
      if (line.every((text) => text === "") || (needle !== null && !line.some((text) => text.toLowerCase().includes(needle)))) {
        continue;
      }
      total += 1;
      if (total > offset && told.length < most) {
        told.push(line);
      }
    }
    return JSON.stringify({
      ...answer,
      caption: captionOf(one, turn),
      header: named(header).map((name) => words.cut(name, limits.cell)),
      rows: told,
      total,
      left: Math.max(0, total - offset - told.length),
      declared: declaredOf(one),
    });
  }

  return { table };
});
