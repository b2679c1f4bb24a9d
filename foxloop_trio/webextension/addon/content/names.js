// names: what a control is called, by "Accessible Name and Description Computation 1.2" of the W3C and its HTML mapping.
//
// `nameOf(el, turn)`, `descriptionOf(el, turn)`: whole texts, white space collapsed; callers cut them. `contentOf(el, turn)`:
// the name that an element has by what stands in it and can be seen: for words that the standard does not ask for. The steps
// have the letters of the standard. Where we differ on purpose (symbols, secrets, line breaks, private characters)
// docs/reference/names-of-controls.md says why.
// Depends on: dom, hover, labels, limits, roles, sheets, tree, values, words.
"use strict";

foxloop.define("names", ({ dom, hover, labels, limits, roles, sheets, tree, values, words }) => {
  const CAPTIONS = { submit: "Submit Query", reset: "Reset" }; // what Firefox writes on a button without a value
  const SILENT = new Set(["script", "style", "noscript", "template", "datalist"]);
  const LABELLED = new Set(["button", "input", "meter", "output", "progress", "select", "textarea"]);
  const FIELDS = new Set(["input", "select", "textarea"]);
  const WITH_ALT = new Set(["img", "area"]);
  const SVG = "http://www.w3.org/2000/svg";
  const FROM_CONTENT = new Set([
    ...["button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "menuitemcheckbox"],
    ...["menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem"],
  ]);
  const CONTENT_TAGS = new Set([
    ...["a", "button", "summary", "option", "th", "td", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "label", "legend", "caption"],
    ...["figcaption", "output"],
  ]);
  const NAMING_CHILD = { fieldset: "legend", table: "caption", figure: "figcaption" };
  const RANGES = new Set(["slider", "spinbutton", "scrollbar", "progressbar", "meter"]);
  const PRIVATE = /[\ue000-\uf8ff\u{f0000}-\u{10fffd}]/gu; // letters of icon fonts

  const short = (text) => (text.length > limits.name ? words.cut(text, limits.name) : text);
  const attribute = (el, name) => words.clean(short(dom.attribute(el, name) ?? ""));
  const roleToken = (el) => dom.attribute(el, "role")?.trim().split(/\s+/, 1)[0] ?? "";
  const isPresentational = (el) => /^(?:none|presentation)$/.test(roleToken(el));

  function nameOf(el, turn) {
    const memo = turn.memo("names");
    let name = memo.get(el);
    if (name === undefined) {
      turn.memo("naming").set(el, true);
      const hiddenToo = hover.over(el, turn) !== null; // it will be shown as it is
      const walk = { turn, root: el, visited: new Set(), inner: false, hiddenToo, referenced: false };
      name = short(words.clean(compute(el, walk)));
      memo.set(el, name);
    }
    return name;
  }

  // Whether its value must not become part of another one's name. In a ring of labels nobody knows, so it must not.
  function isHushed(el, turn) {
    if (turn.memo("naming").has(el) && !turn.memo("names").has(el)) {
      return true;
    }
    const name = nameOf(el, turn);
    return values.isSecret(el, name) || values.isSensitive(el, name);
  }

  function compute(el, walk) {
    // 2A: hidden, and not what a reference points at.
    if (walk.inner && !walk.hiddenToo && isHidden(el, walk)) {
      return "";
    }
    if (walk.sighted && !walk.turn.boxSeen(el)) {
      return el.firstElementChild === null ? "" : fromContent(el, walk);
    }
    // 2B: aria-labelledby, not followed a second time.
    const referred = walk.referenced ? "" : fromReferences(el, "aria-labelledby", walk);
    if (referred !== "") {
      return referred;
    }
    if (walk.visited.has(el)) {
      return "";
    }
    walk.visited.add(el);
    // 2C: a control in another one's name stands for its value.
    const { direct } = walk;
    const embedded = () => (walk.inner && el !== walk.root ? valueInName(el, walk) : null);
    const value = direct ? null : embedded();
    if (value !== null) {
      return value;
    }
    // An empty alternative text says that a picture has nothing to tell, whatever its tooltip says.
    if (WITH_ALT.has(el.localName) && dom.attribute(el, "alt") === "" && attribute(el, "aria-label") === "") {
      return "";
    }
    // 2D: aria-label. 2E: what HTML and SVG have for it. What a reference points at is asked for its value last.
    const below = direct ? { ...walk, direct: false } : walk;
    return attribute(el, "aria-label") || fromLanguage(el, below) || (direct && embedded()) || fromContentOrTooltip(el, below);
  }

  function isHidden(el, { turn }) {
    // A picture's title is never drawn, and names it all the same.
    return (
      dom.attribute(el, "aria-hidden") === "true" || (!turn.rendered(el) && !(el.localName === "title" && el.namespaceURI === SVG))
    );
  }

  const isHiddenWhole = (el, walk) => isHidden(el, walk) || walk.turn.hiddenByMarkup(el);

  // What is referred to may be hidden: a common way to write a label. Then all that is in it counts.
  function fromReferences(el, name, walk) {
    const list = dom.attribute(el, name);
    if (list === null) {
      return "";
    }
    const parts = list
      .split(/\s+/)
      .map((id) => tree.byId(el, id))
      .filter((other) => other !== null)
      .map((other) =>
        compute(other, {
          ...walk,
          visited: new Set(),
          inner: true,
          root: null,
          direct: true,
          referenced: true,
          hiddenToo: isHiddenWhole(other, walk),
        }),
      );
    return words.clean(parts.join(" "));
  }

  function valueInName(el, walk) {
    const { turn } = walk;
    const role = roleToken(el) || roles.roleOf(el);
    if (FIELDS.has(el.localName) && !values.isToggle(el) && Boolean(dom.value(el)) && isHushed(el, turn)) {
      return "";
    }
    if (RANGES.has(role)) {
      return attribute(el, "aria-valuetext") || attribute(el, "aria-valuenow") || (FIELDS.has(el.localName) ? el.value : "");
    }
    if (el.localName === "select") {
      return Array.from(el.selectedOptions, (option) => words.clean(option.label)).join(" ");
    }
    if (role === "listbox" || (role === "combobox" && !FIELDS.has(el.localName) && !roles.isEditable(el))) {
      const chosen = dom.queryAll(el, '[role=option][aria-selected="true"]');
      return chosen.length === 0 && role === "combobox"
        ? words.clean(fromContent(el, walk))
        : chosen.map((option) => words.clean(fromContent(option, walk))).join(" ");
    }
    if (role === "textbox" || role === "searchbox" || role === "combobox") {
      const value = words.clean(short(values.plainValueOf(el)));
      return value === "" || isHushed(el, turn) ? "" : value;
    }
    return null;
  }

  function fromLanguage(el, walk) {
    const tag = el.localName;
    const labelled = LABELLED.has(tag) ? fromLabels(el, walk) : "";
    if (labelled !== "") {
      return labelled;
    }
    if (tag === "input") {
      return caption(el);
    }
    if (WITH_ALT.has(tag)) {
      return attribute(el, "alt");
    }
    if (tag === "option" || tag === "optgroup") {
      return attribute(el, "label");
    }
    if (tag in NAMING_CHILD && !isPresentational(el)) {
      const child = Array.from(el.children).find((one) => one.localName === NAMING_CHILD[tag]);
      return child === undefined ? "" : compute(child, { ...walk, inner: true });
    }
    if (tag === "svg" || (el.namespaceURI === SVG && tag !== "title" && tag !== "text")) {
      const title = Array.from(el.children).find((one) => one.localName === "title");
      return title === undefined ? attribute(el, "xlink:title") : words.clean(title.textContent);
    }
    return "";
  }

  function fromLabels(el, walk) {
    const parts = labels.labelsOf(el, walk.turn).map((label) =>
      compute(label, { ...walk, inner: true, root: el, referenced: true, hiddenToo: walk.hiddenToo || isHiddenWhole(label, walk) }),
    );
    return words.clean(parts.join(" "));
  }

  function caption(el) {
    const type = dom.type(el);
    if (type === "image") {
      return attribute(el, "alt") || attribute(el, "value") || attribute(el, "title") || CAPTIONS.submit;
    }
    if (type !== "button" && type !== "submit" && type !== "reset") {
      return "";
    }
    return words.clean(dom.hasAttribute(el, "value") ? el.value : (CAPTIONS[type] ?? ""));
  }

  // 2F to 2I. What has neither letter nor digit ("x" as a sign) waits until nothing better is found.
  function fromContentOrTooltip(el, walk) {
    const enough = (text) => (walk.inner ? text !== "" : words.hasWord(text));
    const content = walk.inner || namedByContent(el) ? fromContent(el, walk) : "";
    if (enough(content)) {
      return content;
    }
    const title = attribute(el, "title");
    if (enough(title)) {
      return title;
    }
    const hint = attribute(el, "placeholder") || attribute(el, "aria-placeholder");
    return enough(hint) ? hint : words.clean(content) || title || hint;
  }

  function namedByContent(el) {
    if (FIELDS.has(el.localName)) {
      return false;
    }
    const role = roleToken(el);
    return role !== "" && !/^(?:none|presentation)$/.test(role)
      ? FROM_CONTENT.has(role) || (CONTENT_TAGS.has(el.localName) && !roles.isKnown(role))
      : CONTENT_TAGS.has(el.localName) || (el.namespaceURI === SVG && el.localName === "text");
  }

  function contentOf(el, turn) {
    const memo = turn.memo("contents");
    let text = memo.get(el);
    if (text === undefined) {
      text = words.clean(
        fromContent(el, {
          ...{ turn, root: el, visited: new Set([el]), inner: true, hiddenToo: false, referenced: true },
          sighted: !turn.hiddenByMarkup(el),
        }),
      );
      memo.set(el, text);
    }
    return text;
  }

  function fromContent(el, walk) {
    const inner = { ...walk, inner: true };
    const silent = walk.sighted && !walk.turn.textSeen(el);
    const parts = [silent ? "" : generated(el, "::before", walk)];
    const children = tree.children(el);
    for (let at = 0; at < children.length; at += 1) {
      const child = children[at];
      const kind = dom.kind(child);
      if (kind === tree.TEXT) {
        parts.push(silent ? "" : short(dom.data(child)));
      } else if (kind === tree.ELEMENT && dom.tag(child) === "br") {
        parts.push(" ");
      } else if (kind === tree.ELEMENT && !SILENT.has(dom.tag(child))) {
        parts.push(spaced(child, compute(child, inner), walk));
      }
    }
    for (const id of dom.attribute(el, "aria-owns")?.split(/\s+/) ?? []) {
      const owned = tree.byId(el, id);
      if (owned !== null) {
        parts.push(spaced(owned, compute(owned, inner), walk));
      }
    }
    parts.push(silent ? "" : generated(el, "::after", walk));
    return short(parts.join("")).replace(PRIVATE, "");
  }

  // Blocks and boxes stand apart; pieces of one line do not.
  function spaced(child, text, { turn }) {
    return text === "" || turn.styleOf(child).display === "inline" ? text : ` ${text} `;
  }

  // Text of the style sheet counts as content. The sheets tell which elements have some, so that not all have to be asked.
  function generated(el, where, { turn }) {
    const memo = turn.memo("generated");
    let all = memo.get("all");
    if (all === undefined) {
      const { generated: selectors, blind } = sheets.study(turn);
      all = blind ? null : new Set(selectors.length === 0 ? [] : turn.all(sheets.within(selectors)));
      memo.set("all", all);
    }
    if (all !== null && !all.has(el)) {
      return "";
    }
    const live = getComputedStyle(el, where);
    const texts = Array.from(live.content.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(([-\w]+)\)|(\/)/g));
    if (texts.length === 0 || live.display === "none" || live.visibility !== "visible" || Number(live.opacity) === 0) {
      return "";
    }
    const slash = texts.findIndex((found) => found[3] !== undefined); // what follows it is the alternative for reading
    const text = texts
      .slice(slash + 1)
      .map((found) => (found[2] === undefined ? (found[1] ?? "").replace(/\\(.)/g, "$1") : (dom.attribute(el, found[2]) ?? "")))
      .join("");
    return live.display === "inline" ? text : ` ${text} `;
  }

  function descriptionOf(el, turn) {
    const walk = { turn, root: el, visited: new Set(), inner: true, hiddenToo: false, referenced: false };
    const name = nameOf(el, turn);
    const found =
      fromReferences(el, "aria-describedby", walk) ||
      attribute(el, "aria-description") ||
      attribute(el, "title") ||
      (attribute(el, "placeholder") === name ? "" : attribute(el, "placeholder"));
    return found === name || found === attribute(el, "placeholder") ? "" : found;
  }

  return { nameOf, descriptionOf, contentOf };
});
