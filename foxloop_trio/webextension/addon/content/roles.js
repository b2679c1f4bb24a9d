// roles: which elements a person can use, and as what.
//
// `CANDIDATES`: the selector of every element that may be a control by its markup. `roleOf(el)`: its role, or null when it is none.
// What looks like a control without saying so is found by extras.js. `typable(el, role)`: text can be typed into it.
// `fields(turn)`: every input, textarea and select that counts for the key of the frame. `isEditable(el)`: it is an editing host.
// Depends on: dom.
"use strict";

foxloop.define("roles", ({ dom }) => {
  const ROLES = new Set([
    ...["button", "checkbox", "combobox", "gridcell", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio"],
    ...["searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"],
  ]);
  // Other roles of ARIA: an element that has one is no control by its tag alone, but keeps its tag's name.
  const OTHERS = new Set([
    ...["alert", "alertdialog", "application", "article", "banner", "cell", "columnheader", "dialog", "document", "feed", "figure"],
    ...["form", "grid", "group", "heading", "img", "list", "listbox", "listitem", "log", "main", "menu", "menubar", "meter"],
    ...["navigation", "note", "progressbar", "radiogroup", "region", "row", "rowgroup", "rowheader", "scrollbar", "search"],
    ...["separator", "status", "tablist", "table", "tabpanel", "term", "timer", "toolbar", "tooltip", "tree", "treegrid"],
  ]);
  const EDITABLE = ["true", "", "plaintext-only"];
  // The engine tries one after the other on each element; most elements have no attribute, and are done with at its name.
  const CANDIDATES = [
    "a[href]",
    "area[href]",
    "button",
    "input",
    "textarea",
    "select",
    "summary",
    `[contenteditable]:is(${EDITABLE.map((value) => `[contenteditable="${value}" i]`).join(", ")})`,
    `[role]:is(${Array.from(ROLES, (role) => `[role="${role}"]`).join(", ")})`,
  ].join(", ");

  const BY_TAG = { button: "button", summary: "button", a: "link", area: "link", select: "combobox", textarea: "textbox" };
  const BY_TYPE = {
    checkbox: "checkbox",
    radio: "radio",
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    search: "searchbox",
    number: "spinbutton",
    range: "slider",
    file: "file",
    color: "color",
    hidden: null,
  };
  const TYPABLE = new Set(["textbox", "searchbox", "spinbutton"]);

  const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);

  function isEditable(el) {
    const value = dom.attribute(el, "contenteditable");
    if (value !== null && EDITABLE.includes(value.toLowerCase())) {
      return true;
    }
    return el.localName === "body" && el === document.body && document.designMode === "on";
  }

  function roleOf(el) {
    const tag = el.localName;
    const named = dom.attribute(el, "role");
    let role = named !== null && ROLES.has(named) ? named : own(BY_TAG, tag);
    if (role === undefined && tag === "input") {
      role = own(BY_TYPE, dom.type(el));
      role = role === undefined ? "textbox" : role;
    } else if (role === undefined && isEditable(el)) {
      role = "textbox";
    } else if ((tag === "a" || tag === "area") && role === "link" && named !== "link" && !dom.hasAttribute(el, "href")) {
      return null;
    }
    if (role === "combobox" && tag !== "select" && tag !== "input" && dom.query(el, "input, textarea") !== null) {
      return null; // the inner field stands for it
    }
    return role ?? null;
  }

  const typable = (el, role) => TYPABLE.has(role) || (role === "combobox" && el.localName === "input");

  const fields = (turn) => turn.all('input:not([type="hidden" i], [type="file" i]), textarea, select');

  return { CANDIDATES, roleOf, typable, isEditable, fields, isKnown: (role) => ROLES.has(role) || OTHERS.has(role) };
});
