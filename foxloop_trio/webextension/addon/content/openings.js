// openings: what an act would open in a window of its own.
//
// Purpose: the popup blocker swallows windows that no person's hand opened, and says nothing. `watch()` -> `{ list(), blocked(),
// stop() }`. `list()`: `[{ url }]` of each window that the page asked for by window.open, or by a link or form that leads to
// another window. `blocked()`: those that Firefox refused for certain.
// Depends on: limits, pageWorld, places, sight, tree, words.
"use strict";

foxloop.define("openings", ({ limits, pageWorld, places, sight, tree, words }) => {
  const MOST = 10;
  const OWN = /^(?:_self|_parent|_top|)$/i;
  const DETACHED = /no(?:opener|referrer)/i; // then even a window that was opened is answered with null

  const resolve = (url) => (URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : "");

  function isElsewhere(target) {
    return !OWN.test(target) && (/^_blank$/i.test(target) || !hasFrame(target));
  }

  function hasFrame(name) {
    return Array.from(document.querySelectorAll("iframe[name], frame[name]")).some((el) => el.getAttribute("name") === name);
  }

  function watch() {
    const found = [];
    const note = (url, refused) => {
      if (found.length < MOST) {
        found.push({ url: words.cut(resolve(url), limits.addresses), refused });
      }
    };

    const restores = pageWorld.windows().map((page) => {
      const native = page.open;
      const stand = (...args) => {
        const opened = Reflect.apply(native, page, args); // `native.apply` would hand the page an array of ours
        if (args.length < 2 || isElsewhere(String(args[1]))) {
          note(String(args[0] ?? ""), opened === null && !DETACHED.test(String(args[2] ?? "")));
        }
        return opened;
      };
      return pageWorld.replace(page, "open", stand, page);
    });

    function onClick(event) {
      const link = event.target?.nodeType === 1 ? tree.closest(event.target, "a[href], area[href]") : null;
      if (link !== null && !event.defaultPrevented && isElsewhere(link.target || baseTarget()) && !link.hasAttribute("download")) {
        note(link.href, false);
      }
    }

    function onSubmit(event) {
      const { url, target } = places.destinationOf(event.submitter ?? event.target, event.target, sight.createSight());
      if (!event.defaultPrevented && isElsewhere(target)) {
        note(url, false);
      }
    }

    // Bubbling, on the window: after the page's own handlers, as far as they let it come so far.
    addEventListener("click", onClick);
    addEventListener("submit", onSubmit);
    return {
      list: () => found.map(({ url }) => ({ url })),
      blocked: () => found.filter(({ refused }) => refused),
      stop() {
        removeEventListener("click", onClick);
        removeEventListener("submit", onSubmit);
        restores.forEach((restore) => restore?.());
      },
    };
  }

  const baseTarget = () => document.querySelector("base[target]")?.target ?? "";

  return { watch };
});
