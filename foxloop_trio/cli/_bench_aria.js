// The accessibility tree of the page as a nested list in YAML; see _bench_aria.py. Called with `refs`: number the lines.
(refs) => {
  const TAGS = { a: "link", article: "article", aside: "complementary", button: "button", dd: "definition", details: "group",
    dialog: "dialog", dt: "term", fieldset: "group", figure: "figure", footer: "contentinfo", form: "form", h1: "heading",
    h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", header: "banner", hr: "separator", iframe: "iframe",
    img: "img", li: "listitem", main: "main", menu: "list", meter: "meter", nav: "navigation", ol: "list", optgroup: "group",
    option: "option", p: "paragraph", progress: "progressbar", section: "region", select: "combobox", summary: "button", svg: "img",
    table: "table", tbody: "rowgroup", td: "cell", textarea: "textbox", tfoot: "rowgroup", th: "columnheader", thead: "rowgroup",
    tr: "row", ul: "list", canvas: "img" };
  const INPUTS = { button: "button", checkbox: "checkbox", hidden: null, image: "button", number: "spinbutton", radio: "radio",
    range: "slider", reset: "button", search: "searchbox", submit: "button", file: "button" };
  const FROM_CONTENT = new Set(["button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "option",
    "radio", "row", "rowheader", "switch", "tab", "treeitem", "tooltip"]);
  const squeeze = (text) => text.replace(/\s+/g, " ").trim();
  const seen = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getAttribute("aria-hidden") !== "true";
  const role = (element) => {
    const given = (element.getAttribute("role") || "").trim().split(/\s+/)[0];
    if (given) return given === "none" || given === "presentation" ? "" : given;
    const tag = element.localName;
    if (tag === "input") return element.type in INPUTS ? INPUTS[element.type] : "textbox";
    if (tag === "a" && !element.hasAttribute("href")) return "";
    if (tag === "select" && (element.multiple || element.size > 1)) return "listbox";
    if ((tag === "section" || tag === "form") && !element.getAttribute("aria-label") && !element.getAttribute("aria-labelledby")) return "";
    return TAGS[tag] || "";
  };
  const content = (element, deep) => {
    let text = "";
    for (const node of element.childNodes) {
      if (node.nodeType === 3) text += node.data;
      else if (node.nodeType === 1 && seen(node)) text += " " + (name(node, deep + 1) || content(node, deep + 1)) + " ";
    }
    return squeeze(text);
  };
  const name = (element, deep = 0) => {
    if (deep > 20) return "";
    const by = deep ? null : element.getAttribute("aria-labelledby");
    if (by) {
      const text = squeeze(by.split(/\s+/).map((id) => document.getElementById(id)).filter(Boolean).map((one) => content(one, 1)).join(" "));
      if (text) return text;
    }
    const label = squeeze(element.getAttribute("aria-label") || "");
    if (label) return label;
    if (element.labels && element.labels.length && !deep) return squeeze([...element.labels].map((one) => content(one, 1)).join(" "));
    if (element.localName === "input" && ["button", "submit", "reset"].includes(element.type)) return element.value || element.type;
    if (element.alt) return squeeze(element.alt);
    if (element.localName === "fieldset") {
      const legend = element.querySelector(":scope > legend");
      if (legend) return content(legend, deep + 1);
    }
    if (FROM_CONTENT.has(role(element))) {
      const text = content(element, deep + 1);
      if (text) return text;
    }
    return squeeze(element.title || element.placeholder || "");
  };
  const quoted = (text) => JSON.stringify(text);
  let number = 0;
  const lines = [`- Page URL: ${location.href}`, `- Page Title: ${document.title}`];
  // Texts that follow each other are one.
  let open = -1;
  const addText = (text, depth) => {
    if (!text) return;
    if (open === lines.length - 1) lines[open] += " " + text;
    else open = lines.push("  ".repeat(depth) + "- text: " + text) - 1;
  };
  const walk = (parent, depth) => {
    for (const node of (parent.shadowRoot || parent).childNodes) {
      if (node.nodeType === 3) {
        addText(squeeze(node.data), depth);
        continue;
      }
      if (node.nodeType !== 1 || ["script", "style", "noscript", "template", "head"].includes(node.localName)) continue;
      if (node.localName !== "option" && !seen(node)) continue;
      const kind = role(node);
      if (kind === null) continue;
      if (!kind) { walk(node, depth); continue; }
      const called = name(node).slice(0, 900);
      const states = [];
      if (node.checked || node.getAttribute("aria-checked") === "true") states.push("[checked]");
      if (node.disabled || node.getAttribute("aria-disabled") === "true") states.push("[disabled]");
      if (node.getAttribute("aria-expanded") === "true") states.push("[expanded]");
      if (kind === "heading") states.push(`[level=${node.getAttribute("aria-level") || node.localName[1]}]`);
      if (node.getAttribute("aria-pressed") === "true") states.push("[pressed]");
      if (node.selected || node.getAttribute("aria-selected") === "true") states.push("[selected]");
      number += 1;
      if (refs) states.push(`[ref=e${number}]`);
      const line = "  ".repeat(depth) + ["- " + kind, called ? quoted(called) : "", ...states].filter(Boolean).join(" ");
      const at = lines.push(line) - 1;
      if (node.localName === "textarea" || (node.localName === "input" && (kind === "textbox" || kind === "searchbox" || kind === "spinbutton"))) {
        const value = node.type === "password" ? "•".repeat(node.value.length) : squeeze(node.value);
        const hint = squeeze(node.placeholder || "");
        if (hint && hint !== called) {
          lines[at] += ":";
          lines.push("  ".repeat(depth + 1) + "- /placeholder: " + hint);
          if (value) lines.push("  ".repeat(depth + 1) + "- text: " + value);
        } else if (value) lines[at] += ": " + value;
        open = -1;
        continue;
      }
      if (kind === "link") lines.push("  ".repeat(depth + 1) + "- /url: " + node.getAttribute("href"));
      const own = lines.length;
      open = -1;
      walk(node, depth + 1);
      open = -1;
      // A text that is all there is stands behind the role, unless the name says it already.
      const only = lines.length === own + 1 ? lines[own].trim() : "";
      if (only === "- text: " + called) lines.length = own;
      else if (own === at + 1 && only.startsWith("- text: ")) { lines.length = own; lines[at] += only.slice("- text".length); }
      if (lines.length > at + 1) lines[at] += ":";
    }
  };
  walk(document.body || document.documentElement, 0);
  return lines.join("\n");
}
