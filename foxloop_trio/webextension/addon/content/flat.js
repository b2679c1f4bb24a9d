// flat: elements of all trees of a document, in the order in which they are drawn.
//
// `survey()` -> `{ hosts, all(selector) }`: `hosts`, a Map of each shadow host to its root, open or closed, at any depth;
// `all(selector)`: an array of matching elements in flat-tree order: slotted elements stand where their slot is, and what has no
// slot is not there. It is the truth of this turn only.
// Depends on: tree.
"use strict";

foxloop.define("flat", ({ tree }) => {
  // All that attachShadow() refuses by its name need not be asked. Whoever is not listed here may have a root: a few common
  // elements, and every custom one.
  const NEVER_HOSTS = [
    "a, abbr, address, area, audio, b, base, bdi, bdo, br, button, canvas, caption, cite, code, col, colgroup, data, datalist, dd",
    "del, details, dfn, dialog, dl, dt, em, embed, fieldset, figcaption, figure, font, form, head, hr, html, i, iframe, img, input",
    "ins, kbd, label, legend, li, link, map, mark, menu, meta, meter, noscript, object, ol, optgroup, option, output, param, picture",
    "pre, progress, q, rp, rt, ruby, s, samp, script, select, slot, small, source, strong, style, sub, summary, sup, table, tbody",
    "td, template, textarea, tfoot, th, thead, time, title, tr, track, u, ul, var, video, wbr, svg, svg *, math, math *",
  ].join(", ");
  const MAY_HOST = `:not(${NEVER_HOSTS})`;
  const FOLLOWS = 4; // Node.DOCUMENT_POSITION_FOLLOWING

  function survey() {
    const hosts = new Map();
    const rootsHosts = new Map(); // the hosts of each scope, in its order

    function collect(scope) {
      const found = [];
      const list = scope.querySelectorAll(MAY_HOST);
      for (let at = 0; at < list.length; at += 1) {
        const el = list[at];
        const root = tree.shadowOf(el);
        if (root !== null) {
          hosts.set(el, root);
          found.push(el);
        }
      }
      rootsHosts.set(scope, found);
      found.forEach((el) => collect(hosts.get(el)));
    }
    collect(document);

    function all(selector) {
      if (hosts.size === 0) {
        return Array.from(document.querySelectorAll(selector));
      }
      const out = [];
      emitScope(document, selector, out);
      return out;
    }

    // What matches in one scope, its hosts and its slots among it, in the order of that scope.
    function entriesOf(scope, selector) {
      const matching = Array.from(scope.querySelectorAll(selector), (el) => ({ el, matches: true }));
      const slots = scope === document ? [] : Array.from(scope.querySelectorAll("slot"));
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
