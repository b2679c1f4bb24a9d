// neighbours: what a control is called when the standard gives it no name.
//
// Purpose: a person reads the words that stand beside a field, above it or at the head of its column, whether or not the page
// ties them to it. `labelOf(el, role, turn)`: the standard's name, else the nearest of such words, else what its picture, its
// look or its attributes say; "" when there is nothing at all.
// Depends on: dom, looks, names, roles, tree, values, words.
"use strict";

foxloop.define("neighbours", ({ dom, looks, names, roles, tree, values, words }) => {
  const LONGEST = 80; // UTF-16 units; more is a paragraph, not a label
  const CLIMB = 3;
  const SIBLINGS = 4;
  const FIELD_ROLES = new Set(["textbox", "searchbox", "combobox", "spinbutton", "checkbox", "radio", "slider", "switch", "file"]);
  const LOOKED_AT = new Set(["clickable", "draggable", "image", "shape"]);
  const ICON = /(?:^|[\s_-])(?:icon|icons|fa|glyphicon|bi|mdi|ti|ico|ql)[_-]([a-z][a-z-]{1,30})(?![\w-])/i;
  const SILENT = "script, style, noscript, template";
  const HOLDS = `${roles.CANDIDATES}, img`;

  function labelOf(el, role, turn) {
    const memo = turn.memo("labels");
    let label = memo.get(el);
    if (label === undefined) {
      label = names.nameOf(el, turn) || found(el, role, turn);
      memo.set(el, label);
    }
    return label;
  }

  function found(el, role, turn) {
    if (FIELD_ROLES.has(role)) {
      const after = values.isToggle(el) || role === "checkbox" || role === "radio" || role === "switch";
      return besideOf(el, turn, after) || inTable(el, turn) || (role === "combobox" ? shownText(el, turn) : "") || attributes(el);
    }
    if (role === "drawing") {
      return attributes(el); // its shapes are told one by one
    }
    const looksFirst = LOOKED_AT.has(role) ? looks.lookOf(el, turn) : "";
    return shownText(el, turn) || pictureName(el, turn) || looksFirst || iconName(el) || attributes(el);
  }

  const hasControl = (el) => dom.matches(el, HOLDS) || dom.query(el, roles.CANDIDATES) !== null;

  // The text of a node beside it; null when it is no place where a label ends.
  function textOf(node, turn) {
    if (node.nodeType === tree.TEXT) {
      return node.parentElement === null || turn.textSeen(node.parentElement) ? words.clean(node.data) : "";
    }
    if (node.localName === undefined || dom.matches(node, SILENT) || node.localName === "br" || !turn.rendered(node)) {
      return "";
    }
    return hasControl(node) ? null : names.contentOf(node, turn);
  }

  function beside(el, turn, step) {
    let node = el[step];
    for (let count = 0; node !== null && count < SIBLINGS; node = node[step]) {
      const text = textOf(node, turn);
      if (text === null) {
        return "";
      }
      if (words.hasWord(text)) {
        return text.length <= LONGEST ? text : "";
      }
      count += text === "" && node.nodeType === tree.TEXT ? 0 : 1;
    }
    return "";
  }

  function besideOf(el, turn, after) {
    const steps = after ? ["nextSibling", "previousSibling"] : ["previousSibling", "nextSibling"];
    let at = el;
    for (let climbed = 0; climbed <= CLIMB && at !== null && at !== turn.body; climbed += 1) {
      // What follows a text field belongs to the next one, unless nothing else stands near it.
      for (const step of after || climbed === 0 ? steps.slice(0, after ? 2 : 1) : steps.slice(0, 1)) {
        const text = beside(at, turn, step);
        if (text !== "") {
          return text;
        }
      }
      at = turn.parentOf(at);
      if (at === null || /^(?:form|table|tr|td|th|fieldset|ul|ol)$/.test(at.localName) || others(at, el)) {
        break;
      }
    }
    return "";
  }

  // Whether the box holds another field too: then the words around it are not about this one.
  function others(box, el) {
    const fields = dom.queryAll(box, "input:not([type=hidden]), select, textarea");
    return fields.length > 1 || (fields.length === 1 && fields[0] !== el);
  }

  function inTable(el, turn) {
    const cell = tree.closest(el, "td, th");
    const row = cell === null ? null : cell.parentElement;
    if (row === null) {
      return "";
    }
    for (let before = cell.previousElementSibling; before !== null; before = before.previousElementSibling) {
      const text = textOf(before, turn);
      if (text === null) {
        break;
      }
      if (words.hasWord(text)) {
        return text.length <= LONGEST ? text : "";
      }
    }
    const head = tree.closest(cell, "table")?.rows[0]?.cells[cell.cellIndex];
    const text = head === undefined || head === cell || head.parentElement === row ? "" : textOf(head, turn);
    return text !== null && text.length <= LONGEST ? text : "";
  }

  function shownText(el, turn) {
    const hasNone = /^(?:input|textarea|select|canvas|video|audio)$/.test(el.localName) || roles.isEditable(el);
    return hasNone ? "" : names.contentOf(el, turn);
  }

  // "images/star-on.png" is "star on".
  function pictureName(el, turn) {
    const inner = dom.query(el, "img, image, use");
    const file = looks.pictureOf(el, turn) || (inner === null ? "" : looks.pictureOf(inner, turn));
    return spoken(file.replace(/\.\w{2,5}$/, ""));
  }

  function iconName(el) {
    const marked = [el, ...Array.from(el.children).slice(0, 3)].map((one) => ICON.exec(dom.attribute(one, "class") ?? ""));
    return spoken(marked.find((one) => one !== null)?.[1] ?? "");
  }

  // "user_name[first]" is "user name first".
  const spoken = (text) => words.clean(text.replace(/[^\p{L}\p{N}]+/gu, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2"));

  const attributes = (el) => {
    const texts = ["name", "id"].map((name) => spoken(dom.attribute(el, name) ?? ""));
    return texts.find((text) => words.hasWord(text)) ?? "";
  };

  return { labelOf };
});
