// proof: what an act's result says beyond "its events were sent".
//
// `begin(facts, operation)` before the first event -> `{ ready(), saw(word), stayed(), judge(result, over), told(), stop() }`.
// `judge` -> promise of the result after the page had its time: `ok` becomes `nothing-changed` when the operation has to prove
// itself and nothing came of it; `popup-blocked` when all that came of it was a window that Firefox refused; `unsupported` when the
// page wants a real hand. `told()`: `{ changed, leads_to, opened_tabs, popups, detail }`, as far as they apply.
// Depends on: effects, gestures, limits, openings, pause, words.
"use strict";

foxloop.define("proof", ({ effects, gestures, limits, openings, pause, words }) => {
  const OPENING_MS = 400; // for Firefox to open a tab
  const LEAVING_MS = 50; // for a link's navigation to begin
  const POLL_MS = 10;
  const MOST_TABS = 10;

  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function begin(facts, { proves = false, selection = false }) {
    const seen = new Set();
    const watch = effects.watch(facts);
    const windows = openings.watch();
    const hands = gestures.watch();

    const changed = () => [...new Set([...watch.list(), ...seen])].filter((word) => selection || word !== "selection").sort();

    // Also when the act is stopped: a tab that is on its way comes all the same, and somebody has to know of it.
    async function untilTabs() {
      const end = performance.now() + OPENING_MS;
      const wanted = windows.list().length - windows.blocked().length;
      while (watch.tabs().length < wanted && performance.now() < end) {
        await pause.pause(POLL_MS);
      }
    }

    async function judge(result, over) {
      if (proves && result.ok) {
        await (seen.size > 0 ? pause.pause(0) : watch.settled(over));
      }
      const leaves = facts.el.closest("a[href], area[href]") !== null || watch.list().includes("submit");
      if (leaves && !over()) {
        await pause.pause(watch.leadsTo() === "" ? LEAVING_MS : 0);
      }
      if (windows.list().length > 0) {
        await untilTabs();
      }
      return proves && result.ok ? verdict(result, over) : result;
    }

    function verdict(result, over) {
      const refused = windows.list().length > watch.tabs().length;
      const effective = changed().filter((word) => word !== "tab" && word !== "focus");
      if (refused && effective.length === 0 && watch.tabs().length === 0) {
        return refuse("popup-blocked", "it opens a window of its own, which Firefox lets only a person's hand do");
      }
      if (hands.chooser() && effective.length === 0) {
        return refuse("unsupported", "it opens a file chooser, which only a person's hand can use: give it files instead");
      }
      if (changed().length > 0) {
        return invalid(result);
      }
      if (over()) {
        return refuse("cancelled", "stopped before anything was seen to come of it");
      }
      return hands.refused(facts.el)
        ? refuse("unsupported", "nothing changed: the page needs a real gesture")
        : { ...refuse("nothing-changed", result.detail ?? "the events were sent, and nothing on the page changed") };
    }

    function invalid(result) {
      const count = watch.invalid();
      return count === 0 ? result : { ...result, detail: `the form was not sent: ${count} of its fields lack something` };
    }

    function told() {
      const list = changed();
      const to = watch.leadsTo();
      const tabs = watch.tabs().slice(0, MOST_TABS);
      const popups = windows.list();
      return {
        changed: list.length === 0 ? undefined : list,
        leads_to: to === "" ? undefined : words.cut(to, limits.addresses),
        opened_tabs: tabs.length === 0 ? undefined : tabs,
        popups: popups.length === 0 ? undefined : popups,
      };
    }

    return {
      ready: () => {
        seen.clear();
        watch.begin();
      },
      saw: (word) => seen.add(word),
      stayed: watch.stayed,
      judge,
      told,
      stop() {
        watch.stop();
        windows.stop();
        hands.stop();
      },
    };
  }

  return { begin };
});
