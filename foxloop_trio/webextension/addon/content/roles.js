// roles: which elements a person can use, and as what.
//
// `candidates()`: every element that may be a control, in document order. `roleOf(el)`: its role, or null when it is none.
// `typable(el, role)`: text can be typed into it. `fields()`: every input, textarea and select that counts for the key of the
// frame.
// Depends on: tree.
"use strict";

foxloop.define("roles", ({ tree }) => {
  const ROLES = new Set([
    "button",
    "checkbox",
    "combobox",
    "gridcell",
    "link",
    "menuitem",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
  ]);
  const CANDIDATES = [
    "a[href]",
    "button",
    "input",
    "textarea",
    "select",
    "summary",
    '[contenteditable="true"]',
    ...Array.from(ROLES, (role) => `[role="${role}"]`),
  ].join(", ");

  const BY_TAG = { button: "button", summary: "button", a: "link", select: "combobox", textarea: "textbox" };
  const BY_TYPE = {
    checkbox: "checkbox",
    radio: "radio",
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    search: "searchbox",
    number: "spinbutton",
    hidden: null,
    file: null,
    range: null,
    color: null,
  };
  const TYPABLE = new Set(["textbox", "searchbox", "spinbutton"]);

  const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);
  const isEditable = (el) => el.getAttribute("contenteditable") === "true";

  function roleOf(el) {
    const tag = el.localName;
    const named = el.getAttribute("role");
    let role = ROLES.has(named) ? named : own(BY_TAG, tag);
    if (role === undefined && isEditable(el)) {
      role = "textbox";
    }
    if (role === undefined && tag === "input") {
      role = own(BY_TYPE, el.type);
      role = role === undefined ? "textbox" : role;
    }
    if (role === "combobox" && tag !== "select" && tag !== "input" && el.querySelector("input, textarea") !== null) {
      return null; // the inner field stands for it
    }
    return role ?? null;
  }

  const typable = (el, role) => TYPABLE.has(role) || (role === "combobox" && el.localName === "input");

  function fields() {
    return Array.from(tree.all("input, textarea, select")).filter((el) => el.type !== "hidden" && el.type !== "file");
  }

  return { candidates: () => tree.all(CANDIDATES), roleOf, typable, isEditable, fields };
});
