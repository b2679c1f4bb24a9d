// places: what surrounds a control: its section, its form, its row.
//
// `sectionOf(el)`: the name of the enclosing region, whole. `formOf(el)`: its form, or null. `rowOf(el)`: its row, or null.
// `rowDigest(row)`: 32-bit digest of a row's text, in base 36; the digest of the empty text when there is no row.
// `destinationOf(el, form)`: where that submit control would send the form. `leadsTo(el)`: where a link or a submit control leads,
// in one text; "" for everything else.
// Depends on: limits, tree, values, words.
"use strict";

foxloop.define("places", ({ limits, tree, values, words }) => {
  const REGIONS = new Set(["form", "fieldset", "section", "dialog", "nav", "aside", "main"]);
  const HEADINGS = new Set(["h1", "h2", "h3", "legend"]);
  const ROW = "li, tr, dd, article, [role=row], [role=listitem], [role=option], [role=article]";

  function headingOf(region) {
    const label = words.clean(region.getAttribute("aria-label") ?? "");
    if (label !== "") {
      return label;
    }
    const heading = Array.from(region.children).find((child) => HEADINGS.has(child.localName));
    return heading === undefined ? "" : words.clean(heading.textContent);
  }

  function sectionOf(el) {
    for (let region = tree.parent(el); region !== null && region !== document.body; region = tree.parent(region)) {
      if (REGIONS.has(region.localName) || region.getAttribute("role") === "dialog") {
        const name = headingOf(region);
        if (name !== "") {
          return name;
        }
      }
    }
    return "";
  }

  const formOf = (el) => el.form ?? tree.closest(el, "form");
  const rowOf = (el) => tree.closest(el, ROW);
  const rowDigest = (row) => words.fnv(row === null ? "" : words.clean(row.textContent).slice(0, limits.rowText));

  // Attributes are read as attributes: a form with a field named "action" has another idea of `form.action`.
  const attribute = (el, name) => Element.prototype.getAttribute.call(el, name);

  const baseTarget = () => document.querySelector("base[target]")?.target ?? "";

  function destinationOf(el, form) {
    const action = attribute(el, "formaction") || attribute(form, "action") || document.URL;
    const method = (attribute(el, "formmethod") ?? attribute(form, "method") ?? "get").toLowerCase();
    const target = attribute(el, "formtarget") ?? attribute(form, "target") ?? baseTarget();
    return {
      url: URL.parse(action, document.baseURI)?.href ?? action,
      method: ["post", "dialog"].includes(method) ? method : "get",
      target,
    };
  }

  // The attribute alone does not say it: a <base> put into the page turns every relative address.
  function leadsTo(el) {
    if (values.isSubmit(el)) {
      return JSON.stringify(destinationOf(el, el.form));
    }
    const isLink = el.localName === "a" && el.hasAttribute("href");
    return isLink ? JSON.stringify([el.href, attribute(el, "target") ?? baseTarget()]) : "";
  }

  return { sectionOf, formOf, rowOf, rowDigest, destinationOf, leadsTo };
});
