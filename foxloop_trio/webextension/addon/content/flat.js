// flat: elements of all trees of a document, in the order in which they are drawn.
//
// `survey()` -> `{ hosts, all(selector) }`: `hosts`, a Map of each shadow host to its root, open or closed, at any depth;
// `all(selector)`: an array of matching elements in flat-tree order: slotted elements stand where their slot is, and what has no
// slot is not there. It is the truth of this turn only.
// Depends on: dom, tree.
"use strict";

foxloop.define("flat", ({ dom, tree }) => {
  // attachShadow() takes these by name, and every custom element. The second selector finds the latter: what has no name that we
  // know. It begins with the most common names, since the engine compares one after the other.
  const PLAIN_HOSTS = "div, span, p, section, article, aside, blockquote, body, footer, h1, h2, h3, h4, h5, h6, header, main, nav";
  const KNOWN = [
    "div, span, a, li, p, td, tr, ul, img, svg, path, b, i, button, input, br, option, strong, em, label, h1, h2, h3, h4",
    "h5, h6, section, article, header, footer, nav, main, aside, body, table, tbody, th, thead, tfoot, form, select",
    "textarea, script, style, link, meta, html, head, title, ol, dl, dt, dd, small, time, figure, figcaption, picture",
    "source, iframe, video, audio, canvas, hr, pre, code, blockquote, abbr, address, area, base, bdi, bdo, caption, cite",
    "col, colgroup, data, datalist, del, details, dfn, dialog, embed, fieldset, font, hgroup, ins, kbd, legend, map, mark",
    "menu, meter, noscript, object, optgroup, output, param, progress, q, rp, rt, ruby, s, samp, search, slot, sub",
    "summary, sup, template, track, u, var, wbr, math, math *, svg *",
  ].join(", ");
  const CUSTOM_HOSTS = `:not(${KNOWN})`;
  const MOST_ASKED = 100_000; // elements of each kind; the hosts of larger pages are found among the first of them
  const DEEPEST = 64; // roots in each other; what lies deeper is not entered, since looking through it takes longer and longer
  const FOLLOWS = 4; // Node.DOCUMENT_POSITION_FOLLOWING

  function survey() {
    const hosts = new Map();
    const rootsHosts = new Map(); // the hosts of each scope, in its order

    function collect(scope, depth) {
      const found = [];
      for (const selector of [PLAIN_HOSTS, CUSTOM_HOSTS]) {
        for (const el of dom.hosts(scope.querySelectorAll(selector), depth < DEEPEST ? MOST_ASKED : 0)) {
          hosts.set(el, dom.shadow(el));
          found.push(el);
        }
      }
      rootsHosts.set(scope, found);
      found.forEach((el) => collect(hosts.get(el), depth + 1));
    }
    collect(document, 0);

    function all(selector) {
      if (hosts.size === 0) {
        return dom.elements(document.querySelectorAll(selector));
      }
      const out = [];
      emitScope(document, selector, out);
      return out;
    }

    // What matches in one scope, its hosts and its slots among it, in the order of that scope.
    function entriesOf(scope, selector) {
      const matching = dom.elements(scope.querySelectorAll(selector)).map((el) => ({ el, matches: true }));
      const slots = scope === document ? [] : dom.elements(scope.querySelectorAll("slot"));
      const others = [...rootsHosts.get(scope), ...slots].map((el) => ({ el, matches: false }));
      others.sort((a, b) => (a.el.compareDocumentPosition(b.el) & FOLLOWS ? -1 : 1));
      const entries = [];
      let next = 0;
      for (const other of others) {
        while (next < matching.length && before(matching[next].el, other.el)) {
          entries.push(matching[next]);
          next += 1;
        }
        if (next < matching.length && matching[next].el === other.el) {
          entries.push(matching[next]);
          next += 1;
        } else {
          entries.push(other);
        }
      }
      for (; next < matching.length; next += 1) {
        entries.push(matching[next]);
      }
      return entries;
    }

    const before = (a, b) => a !== b && Boolean(a.compareDocumentPosition(b) & FOLLOWS);

    function emitScope(scope, selector, out) {
      emit(entriesOf(scope, selector), selector, out, new Map());
    }

    // `lightOf`: of each host around us, the entries of its light tree by the child of the host that they are in.
    function emit(entries, selector, out, lightOf) {
      for (let at = 0; at < entries.length; at += 1) {
        const { el, matches } = entries[at];
        if (matches) {
          out.push(el);
        }
        const root = hosts.get(el);
        if (root !== undefined) {
          const light = new Map();
          while (at + 1 < entries.length && el.contains(entries[at + 1].el)) {
            at += 1;
            const child = childOf(el, entries[at].el);
            if (!light.has(child)) {
              light.set(child, []);
            }
            light.get(child).push(entries[at]);
          }
          emit(entriesOf(root, selector), selector, out, new Map([...lightOf, [root, light]]));
        } else if (el.localName === "slot") {
          const light = lightOf.get(el.getRootNode());
          const assigned = light === undefined ? [] : el.assignedElements();
          for (const each of assigned) {
            emit(light.get(each) ?? [], selector, out, lightOf);
          }
          // What stands in a slot is drawn only while nothing is assigned to it.
          while (assigned.length > 0 && at + 1 < entries.length && el.contains(entries[at + 1].el)) {
            at += 1;
          }
        }
      }
    }

    function childOf(host, el) {
      let at = el;
      while (at.parentNode !== host) {
        at = at.parentNode;
      }
      return at;
    }

    return { hosts, all };
  }

  return { survey };
});
