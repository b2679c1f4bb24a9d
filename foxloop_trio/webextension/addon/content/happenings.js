// happenings: what the background page hears of while an act runs here: requests of this frame, tabs that this page opened.
//
// `heard(message)`: `{ began }`, `{ ended }`, the id of one of the page's own requests (fetch, XMLHttpRequest); `{ tab }`, the id
// of a tab that was opened from here. `now()` -> `{ begun, running, tabs }`: how many requests began since the document did, how
// many of them run and are young (a request that waits for news of the server is no sign of work), the tabs. `listen(hear)` -> a
// function that ends it.
// Depends on: nothing.
"use strict";

foxloop.define("happenings", () => {
  const MOST_TABS = 20;
  const YOUNG_MS = 2000;
  const MOST_REQUESTS = 1000;
  const listeners = new Set();
  const tabs = [];
  const requests = new Map(); // id -> when it began
  let begun = 0;

  function heard({ began, ended, tab }) {
    if (began !== undefined && requests.size < MOST_REQUESTS) {
      begun += 1;
      requests.set(began, performance.now());
    } else if (ended !== undefined) {
      requests.delete(ended);
    } else if (tab !== undefined && tabs.length < MOST_TABS) {
      tabs.push(tab);
    }
    listeners.forEach((hear) => hear());
  }

  function running() {
    const since = performance.now() - YOUNG_MS;
    return [...requests.values()].filter((began) => began > since).length;
  }

  function listen(hear) {
    listeners.add(hear);
    return () => listeners.delete(hear);
  }

  return { heard, listen, now: () => ({ begun, running: running(), tabs: [...tabs] }) };
});
