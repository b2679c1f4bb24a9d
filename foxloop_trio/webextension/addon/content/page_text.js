// page_text: what a person could read on the page, beside its controls.
//
// `textOf(root, turn, options)` -> `{ text, total, left }`: the visible text inside an element in reading order, one line per
// block; cells of a table row joined by " | ", list items begin with "- ". `options`: `{ offset, most, find, wants }`: UTF-16
// units to skip and to tell; `find`, a predicate over lines; `wants`, a score of lines, by which the lines are chosen that are
// told when there are too many. `left` units are not told after these; `total` is exact when `left` is 0, else the rest of it is
// an estimate. `brief(el, turn, most)`: the text of a small part in one line. `headings(turn)`: visible h1 and h2. `hasMore()`:
// there is more below the viewport.
// Depends on: dom, limits, neighbours, roles, tree, values, words.
"use strict";

foxloop.define("pageText", ({ dom, limits, neighbours, roles, tree, values, words }) => {
  const EDITORS = "textarea, [contenteditable], [role=textbox], [role=searchbox], [role=spinbutton]";
  const SILENT = new Set([
    ...["audio", "canvas", "datalist", "desc", "head", "iframe", "metadata", "noscript", "object", "script", "select", "style"],
    ...["template", "title", "video"],
  ]);
  const BOXES = new Set(["audio", "canvas", "iframe", "object", "select", "video"]); // silent, and words beside them stand apart
  const CELLS = new Set(["cell", "gridcell", "columnheader", "rowheader"]);
  const DEEPEST = 1500; // levels of nesting; Firefox draws far fewer
  const MOST_LAID_OUT = 500_000; // units
  const MOST_RANKED = 200_000; // units among which lines are chosen by their score

  // Collects pieces of one line, and lines. `take(line)` answers false when it wants no more.
  function createWriter(take) {
    let line = "";
    let item = false;
    let cells = null;
    const rows = [];
    let going = true;

    function emit(text) {
      if (text !== "" && going) {
        going = take(item ? `- ${text}` : text);
        item = false;
      }
    }

    function breakLine() {
      if (cells !== null) {
        line += " ";
      } else {
        const text = words.clean(line);
        line = "";
        emit(text);
      }
    }

    return {
      add(text) {
        line += text;
      },
      breakLine,
      beginItem() {
        breakLine();
        item = cells === null;
      },
      endItem() {
        breakLine();
        item = false;
      },
      beginRow() {
        breakLine();
        rows.push({ cells, line });
        cells = [];
        line = "";
      },
      endCell() {
        if (cells !== null) {
          cells.push(words.clean(line));
          line = "";
        }
      },
      endRow() {
        const text = [...cells, words.clean(line)].filter((cell) => cell !== "").join(" | ");
        const before = rows.pop();
        cells = before.cells;
        line = before.line;
        if (cells !== null) {
          line += ` ${text} `;
        } else {
          emit(text);
        }
      },
      goes: () => going,
      isSpaced: () => line === "" || line.endsWith(" "),
    };
  }

  function walk(el, turn, writer, depth) {
    const shown = { by: el, known: null }; // nobody asks where there is no text
    // Trees in trees are rare; where there are none, the first child is the first child.
    let from = el;
    if (turn.hosts.size > 0) {
      const assigned = el.localName === "slot" ? el.assignedNodes() : [];
      assigned.forEach((child) => visit(child, shown, turn, writer, depth));
      if (assigned.length > 0) {
        return;
      }
      from = turn.hosts.get(el) ?? el;
    }
    for (let child = dom.first(from); child !== null && writer.goes(); child = dom.next(child)) {
      visit(child, shown, turn, writer, depth);
    }
  }

  function visit(node, shown, turn, writer, depth) {
    const kind = dom.kind(node);
    if (kind !== tree.ELEMENT) {
      if (kind === tree.TEXT) {
        addText(node, shown, turn, writer);
      }
      return;
    }
    const tag = dom.tag(node);
    if (tag === "br") {
      writer.breakLine();
    } else if (BOXES.has(tag)) {
      writer.add(" ");
    } else if (!SILENT.has(tag) && depth < DEEPEST) {
      enter(node, tag, turn, writer, depth + 1);
    }
  }

  function addText(node, shown, turn, writer) {
    const data = dom.data(node);
    if (writer.isSpaced() && data.trim() === "") {
      return; // the space between blocks
    }
    shown.known ??= turn.textSeen(shown.by);
    if (!shown.known) {
      return;
    }
    if (!/[\n\r]/.test(data) || !/[\n\r]/.test(data.trim())) {
      writer.add(data);
      return;
    }
    const holder = node.parentElement;
    const lines =
      holder !== null && /^(?:pre|break-spaces)/.test(turn.styleOf(holder).live.whiteSpace) ? data.split(/\r\n?|\n/) : [data];
    lines.forEach((line, at) => {
      if (at > 0) {
        writer.breakLine();
      }
      writer.add(line);
    });
  }

  // Whether the page has rows and cells that are none by their display; most have not.
  function hasGrid(turn) {
    const memo = turn.memo("grid");
    let any = memo.get("any");
    if (any === undefined) {
      any = turn.hosts.size > 0 || document.querySelector("[role=row]") !== null;
      memo.set("any", any);
    }
    return any;
  }

  // What is written into an editor or a large field is its value, and told as such, or masked as such.
  function isHushed(el, turn) {
    const memo = turn.memo("editors");
    if (!memo.has("all")) {
      memo.set("all", new Set(turn.all(EDITORS)));
    }
    if (!memo.get("all").has(el)) {
      return false;
    }
    const role = roles.roleOf(el);
    const label = neighbours.labelOf(el, role, turn);
    return values.isSecret(el, label, role) || values.isSensitive(el, label, role);
  }

  function enter(el, tag, turn, writer, depth) {
    const { display } = turn.styleOf(el);
    if (display === "none" || turn.marksHidden(el)) {
      return;
    }
    if (isHushed(el, turn)) {
      return;
    }
    if (tag === "details" && !el.open) {
      const summary = dom.query(el, ":scope > summary");
      writer.breakLine();
      if (summary !== null) {
        enter(summary, "summary", turn, writer, depth);
      }
      return;
    }
    const role = hasGrid(turn) ? dom.attribute(el, "role") : null;
    if ((display === "inline" || display === "contents") && !CELLS.has(role)) {
      walk(el, turn, writer, depth);
    } else if (display === "table-row" || role === "row") {
      writer.beginRow();
      walk(el, turn, writer, depth);
      writer.endRow();
    } else if (display === "table-cell" || CELLS.has(role)) {
      walk(el, turn, writer, depth);
      writer.endCell();
    } else if (display === "list-item" && tag !== "summary") {
      writer.beginItem();
      walk(el, turn, writer, depth);
      writer.endItem();
    } else if (display.startsWith("inline") || display === "ruby" || display === "ruby-text") {
      writer.add(" ");
      walk(el, turn, writer, depth);
      writer.add(" ");
    } else {
      writer.breakLine();
      walk(el, turn, writer, depth);
      writer.breakLine();
    }
  }

  function collect(root, turn, take) {
    const writer = createWriter(take);
    enter(root, root.localName, turn, writer, 0);
    writer.breakLine();
  }

  function textOf(root, turn, { offset, most, find, wants }) {
    const needed = wants === null ? offset + most : MOST_RANKED;
    const lines = [];
    let length = -1; // a line break before each line but the first
    let whole = true;
    collect(root, turn, (line) => {
      if (find === null || find(line)) {
        lines.push(line);
        length += line.length + 1;
      }
      whole = length <= needed;
      return whole;
    });
    length = Math.max(0, length);
    if (wants !== null && length > offset + most) {
      return chosen(lines, { offset, most, wants, whole, length });
    }
    const text = lines.join("\n");
    const told = words.cut(text.slice(offset), most);
    const rest = Math.max(0, text.length - offset - told.length);
    // Where the walk ended early, the engine's own count of what is rendered says about how much there is.
    const left = whole ? rest : Math.max(rest, 1, estimate(root) - offset - told.length);
    return { text: told, total: Math.min(offset, text.length) + told.length + left, left };
  }

  const estimates = new WeakMap(); // element -> what was found of it last, and of what size it was then

  // The engine lays out what it counts as rendered; of a huge page the mere length must do. It is not asked again about a text that
  // is as long, and a page that is as high, as before.
  function estimate(root) {
    const { length } = root.textContent;
    if (length > MOST_LAID_OUT) {
      return length;
    }
    const height = document.documentElement.scrollHeight;
    let known = estimates.get(root);
    if (known?.length !== length || known.height !== height) {
      known = { length, height, shown: (root.innerText ?? "").length };
      estimates.set(root, known);
    }
    return known.shown;
  }

  // The lines with the best scores, from the top; told in their order.
  function chosen(lines, { offset, most, wants, whole, length }) {
    const ranked = lines.map((line, at) => ({ at, line, score: wants(line) }));
    ranked.sort((a, b) => b.score - a.score || a.at - b.at);
    const kept = [];
    let taken = 0;
    let skipped = 0;
    for (const each of ranked) {
      const cost = each.line.length + 1;
      if (skipped + cost <= offset) {
        skipped += cost;
      } else if (taken + cost <= most + 1) {
        taken += cost;
        kept.push(each);
      } else {
        break;
      }
    }
    kept.sort((a, b) => a.at - b.at);
    const text = kept.map(({ line }) => line).join("\n");
    const left = Math.max(whole ? 0 : 1, length - skipped - text.length);
    return { text: words.cut(text, most), total: skipped + text.length + left, left };
  }

  function brief(el, turn, most) {
    const parts = [];
    let length = 0;
    collect(el, turn, (line) => {
      parts.push(line);
      length += line.length + 1;
      return length <= most;
    });
    return words.cut(parts.join(" ").replace(/^- /, ""), most);
  }

  function headings(turn) {
    const found = [];
    for (const el of turn.all("h1, h2, [role=heading]:is([aria-level='1'], [aria-level='2'])")) {
      if (found.length < limits.headings && turn.seen(el)) {
        const heading = words.cut(brief(el, turn, limits.heading), limits.heading);
        if (heading !== "") {
          found.push(heading);
        }
      }
    }
    return found;
  }

  const hasMore = () => scrollY + innerHeight < document.documentElement.scrollHeight - 2;

  return { textOf, brief, headings, hasMore };
});
