// names: what a control is called, computed as a person (or a screen reader) would find it.
//
// `nameOf(el, sight)` -> the whole name, white space collapsed; callers cut it. First that is not empty: aria-labelledby,
// aria-label, associated labels, the value of a button-like input, alt, own content, title, placeholder. Own content, title and
// placeholder without any letter or digit wait until nothing better is found.
// Depends on: tree, words.
"use strict";

foxloop.define("names", ({ tree, words }) => {
  const CAPTIONS = { submit: "Submit Query", reset: "Reset" }; // what Firefox writes on a button without a value
  const FIELDS = new Set(["input", "select", "textarea"]);
  const NEVER = new Set(["script", "style", "noscript", "template"]);
  const WITH_ALT = new Set(["img", "area", "input"]);

  const attribute = (el, name) => words.clean(el.getAttribute(name) ?? "");

  function nameOf(el, sight) {
    return compute(el, { sight, visited: new Set(), hiddenToo: false });
  }

  function compute(el, walk) {
    if (walk.visited.has(el)) {
      return "";
    }
    walk.visited.add(el);
    return (
      named(
        attribute(el, "aria-labelledby")
          .split(" ")
          .map((id) => tree.byId(el, id)),
        walk,
      ) ||
      attribute(el, "aria-label") ||
      named(el.labels ?? [], walk) ||
      caption(el) ||
      (WITH_ALT.has(el.localName) ? attribute(el, "alt") : "") ||
      described(el, walk)
    );
  }

  // The names of other elements. What is referred to by name may be hidden: that is a common way to write a label.
  function named(elements, walk) {
    return Array.from(elements)
      .filter((el) => el !== null)
      .map((el) => compute(el, { ...walk, hiddenToo: walk.hiddenToo || !walk.sight.rendered(el) }))
      .filter((name) => name !== "")
      .join(" ");
  }

  function caption(el) {
    if (el.localName !== "input" || !["button", "submit", "reset"].includes(el.type)) {
      return "";
    }
    return words.clean(el.hasAttribute("value") ? el.value : (CAPTIONS[el.type] ?? ""));
  }

  function described(el, walk) {
    let symbols = "";
    for (const source of [() => content(el, walk), () => attribute(el, "title"), () => attribute(el, "placeholder")]) {
      const text = source();
      if (words.hasWord(text)) {
        return text;
      }
      symbols ||= text;
    }
    return symbols;
  }

  function content(el, walk) {
    if (FIELDS.has(el.localName)) {
      return "";
    }
    const parts = [];
    for (const child of el.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) {
        parts.push(child.data);
      } else if (child.nodeType === Node.ELEMENT_NODE && told(child, walk)) {
        parts.push(compute(child, walk));
      }
    }
    return words.clean(parts.join(" "));
  }

  function told(child, walk) {
    if (NEVER.has(child.localName) || child.getAttribute("aria-hidden") === "true") {
      return false;
    }
    // The title of an SVG picture is never rendered, and names it all the same.
    const title = child.localName === "title" && child.namespaceURI === "http://www.w3.org/2000/svg";
    return title || walk.hiddenToo || walk.sight.rendered(child);
  }

  return { nameOf };
});
