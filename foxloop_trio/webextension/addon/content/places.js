// places: what surrounds a control: its section, its form, its row.
//
// `sectionOf(el, turn)`: the name of the enclosing region, whole; of a day in a calendar, its month. `formOf(el, turn)`: its
// form, or null. `rowOf(el, turn)`: its row, or null. `rowDigest(row, turn)`: 32-bit digest of a row's text, in base 36; the
// digest of the empty text when there is no row. `cardOf(el, turn)`: the row, or where there is none the nearest of several
// blocks that are made alike. `destinationOf(el, form, turn)`: where that submit control would send the form. `hrefOf(el,
// turn)`: the address of a link as a reader can resolve it. `leadsTo(el, turn)`: where a link or a submit control leads, in one
// text; "" for everything else. `isBehindModal(el, turn)`: an open modal dialog keeps people from it.
// Depends on: calendar, dom, limits, names, tree, values, words.
"use strict";

foxloop.define("places", ({ calendar, dom, limits, names, tree, values, words }) => {
  const REGIONS = new Set(["form", "fieldset", "section", "dialog", "nav", "aside", "main"]);
  const HEADINGS = new Set(["h1", "h2", "h3", "legend"]);
  const ROW = "li, tr, dd, article, [role=row], [role=listitem], [role=option], [role=article]";
  const CARD_CLIMB = 5;

  function headingOf(region, turn) {
    const label = words.clean(dom.attribute(region, "aria-label") ?? "");
    if (label !== "") {
      return label;
    }
    const children = region.children;
    for (let at = 0; at < children.length; at += 1) {
      if (HEADINGS.has(children[at].localName)) {
        return turn.rendered(children[at]) ? names.contentOf(children[at], turn) : "";
      }
    }
    return "";
  }

  // What all children of one element have in common is found once.
  function sectionOf(el, turn) {
    const month = calendar.monthOf(el, turn);
    if (month !== "") {
      return month;
    }
    const memo = turn.memo("sections");
    const passed = [];
    let found = "";
    for (let region = turn.parentOf(el); region !== null && region !== turn.body; region = turn.parentOf(region)) {
      const known = memo.get(region);
      if (known !== undefined) {
        found = known;
        break;
      }
      passed.push(region);
      if (REGIONS.has(region.localName) || dom.attribute(region, "role") === "dialog") {
        found = headingOf(region, turn);
        if (found !== "") {
          break;
        }
      }
    }
    passed.forEach((region) => memo.set(region, found));
    return found;
  }

  const formOf = (el, turn) => dom.form(el) ?? turn.closest(el, "form");
  const rowOf = (el, turn) => turn.closest(el, ROW);

  function rowDigest(row, turn) {
    const memo = turn.memo("rows");
    let digest = memo.get(row);
    if (digest === undefined) {
      digest = words.fnv(row === null ? "" : words.clean(row.textContent).slice(0, limits.rowText));
      memo.set(row, digest);
    }
    return digest;
  }

  const classOf = (el) => dom.attribute(el, "class") ?? "";
  const alike = (a, b) => b !== null && dom.tag(a) === dom.tag(b) && classOf(a) === classOf(b);

  function isCard(el, turn) {
    const memo = turn.memo("cards");
    let answer = memo.get(el);
    if (answer === undefined) {
      const inside = classOf(el) !== "" && dom.parent(el) !== null && el !== turn.body && el.firstElementChild !== null;
      answer = inside && (alike(el, el.nextElementSibling) || alike(el, el.previousElementSibling));
      memo.set(el, answer);
    }
    return answer;
  }

  function cardOf(el, turn) {
    const row = rowOf(el, turn);
    if (row !== null) {
      return row;
    }
    let at = turn.parentOf(el);
    for (let climbed = 0; at !== null && at !== turn.body && climbed < CARD_CLIMB; climbed += 1) {
      if (isCard(at, turn)) {
        return at;
      }
      at = turn.parentOf(at);
    }
    return null;
  }

  // Attributes are read as attributes: a form with a field named "action" has another idea of `form.action`.
  const { attribute } = dom;

  function baseTarget(turn) {
    const memo = turn.memo("base");
    if (!memo.has("target")) {
      memo.set("target", document.querySelector("base[target]")?.target ?? "");
    }
    return memo.get("target");
  }

  function destinationOf(el, form, turn) {
    const action = attribute(el, "formaction") || attribute(form, "action") || document.URL;
    const method = (attribute(el, "formmethod") ?? attribute(form, "method") ?? "get").toLowerCase();
    const target = attribute(el, "formtarget") ?? attribute(form, "target") ?? baseTarget(turn);
    return {
      url: URL.parse(action, document.baseURI)?.href ?? action,
      method: ["post", "dialog"].includes(method) ? method : "get",
      target,
    };
  }

  // As it is written; whole where a <base> of another site turns all relative addresses, or the document has no address of its own.
  function hrefOf(el, turn) {
    const written = attribute(el, "href") ?? "";
    const memo = turn.memo("base");
    if (!memo.has("turned")) {
      memo.set("turned", URL.parse(document.baseURI)?.host !== URL.parse(document.URL)?.host);
    }
    return written !== "" && memo.get("turned") && typeof el.href === "string" ? el.href : written;
  }

  // The attribute alone does not say it: a <base> put into the page turns every relative address.
  function leadsTo(el, turn) {
    if (values.isSubmit(el)) {
      return JSON.stringify(destinationOf(el, dom.form(el), turn));
    }
    const isLink = (el.localName === "a" || el.localName === "area") && dom.hasAttribute(el, "href");
    return isLink ? JSON.stringify([el.href, attribute(el, "target") ?? baseTarget(turn)]) : "";
  }

  function isBehindModal(el, turn) {
    const memo = turn.memo("modals");
    if (!memo.has("open")) {
      memo.set(
        "open",
        turn.all('dialog:modal, [aria-modal="true"]').filter((modal) => turn.seen(modal)),
      );
    }
    const open = memo.get("open");
    return open.length > 0 && !open.some((modal) => tree.within(modal, el));
  }

  return { sectionOf, formOf, rowOf, rowDigest, cardOf, destinationOf, hrefOf, leadsTo, isBehindModal };
});
