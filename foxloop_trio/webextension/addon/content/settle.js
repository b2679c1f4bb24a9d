// settle: waits until the page has come to rest.
//
// `settle(listFor, over)` -> JSON text `{ waited_ms, gone: false }`: nothing in the document, in its shadow trees or in its frames
// of the same origin changed for 120 ms, no young request of the page's own runs and no transition does, or 1500 ms passed. With
// `listFor`, the number of a field with suggestions, also until one of its suggestions can be seen, for up to 600 ms.
// Depends on: dialogs, flat, happenings, numbers, options, pause, ring, sight, tree.
"use strict";

foxloop.define("settle", ({ dialogs, flat, happenings, numbers, options, pause, ring, sight, tree }) => {
  const QUIET_MS = 120;
  const MOST_MS = 1500;
  const LIST_MS = 600;
  const POLL_MS = 30;

  const isOurs = (record) =>
    ring.isRing(record.target) ||
    (record.type === "childList" && [...record.addedNodes, ...record.removedNodes].every((node) => ring.isRing(node)));

  // Where the field names no list, options that came since are taken for it. What cannot be chosen is no suggestion yet: while a
  // server is asked, lists say so in an option that is disabled.
  function listOpen(number, before) {
    const field = numbers.find(number);
    if (field === null) {
      return true; // nothing to wait for
    }
    const turn = sight.createSight();
    const ids = ["aria-controls", "aria-owns"].flatMap((name) => (field.getAttribute(name) ?? "").split(/\s+/));
    if (ids.every((id) => id === "")) {
      return [...options.visible()].some((el) => !before.has(el) && !options.isDisabled(el));
    }
    return ids
      .flatMap((id) => Array.from(tree.byId(field, id)?.querySelectorAll("[role=option], [role=gridcell]") ?? []))
      .some((el) => turn.seen(el) && !options.isDisabled(el));
  }

  function frameDocuments() {
    return Array.from(tree.all("iframe, frame"), (el) => el.contentDocument).filter((inner) => inner?.documentElement);
  }

  // Animations that never end say nothing about whether the page is done.
  function moves() {
    return document.getAnimations().some((one) => one instanceof CSSTransition && one.playState === "running");
  }

  async function settle(listFor, over) {
    const begun = performance.now();
    const before = listFor === null ? null : options.visible();
    let changed = begun;
    const observer = new MutationObserver((records) => {
      if (!records.every(isOurs)) {
        changed = performance.now();
      }
    });
    for (const root of [document, ...flat.survey().hosts.values(), ...frameDocuments()]) {
      observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    }
    if (dialogs.armed()) {
      dialogs.linger(2 * MOST_MS);
    }
    try {
      while (!over()) {
        const now = performance.now();
        const quiet = now - changed;
        const waited = now - begun;
        const listed = listFor === null || waited >= LIST_MS || listOpen(listFor, before);
        const busy = happenings.now().running > 0 || moves();
        if ((quiet >= QUIET_MS && listed && !busy) || waited >= MOST_MS) {
          break;
        }
        const rest = quiet < QUIET_MS ? QUIET_MS - quiet : POLL_MS;
        await pause.pause(Math.max(1, Math.min(rest, MOST_MS - waited)));
      }
    } finally {
      observer.disconnect();
      dialogs.disarm();
    }
    return JSON.stringify({ waited_ms: Math.round(performance.now() - begun), gone: false });
  }

  return { settle };
});
