// effects: what came of an act, as far as the page lets it be seen.
//
// Purpose: no act is called a success because its events were sent. `watch(facts)` before the first event -> `{ begin(), list(),
// settled(over), invalid(), leadsTo(), stop() }`. `begin()`: what came before (the pointer's way to the control) does not count.
// `list()`: words for what has changed so far, sorted: page, value, state, focus, selection, scroll, address, navigation, submit,
// invalid, media, picture, request, tab. `stayed()`: it came to no navigation. `tabs()`: the ids of those that were opened.
// `settled(over)` -> promise: until something has changed, for half a second at most, or longer while a request of the page runs.
// `leadsTo()`: the address of the navigation that began, or "". `rest()`: from a look at the page on, notes what changes by itself
// (a clock, a ticker), which later is not taken for the act's.
// Depends on: flat, happenings, pause, ring, roles, tree, values.
//
// What is done in the same turn as the events is always theirs. What changes later counts unless it also changes by itself. Classes
// and styles that come and go with the pointer or the focus do not count.
"use strict";

foxloop.define("effects", ({ flat, happenings, pause, ring, roles, tree, values }) => {
  const WAIT_MS = 500;
  const REQUEST_MS = 1500; // as long as settling waits at most
  const POLL_MS = 20;
  const MOST_FIELDS = 500;
  const MOST_RECORDS = 2000;
  const MOST_CANVASES = 3;
  const THUMB = 48; // px; of a canvas, to compare it by
  const REST_MS = 60_000;
  const POINTED = /hover|focus|press|ripple/i; // in names of classes
  const POINTED_ATTRIBUTE = /^(?:foxloop-hovered|data-.*(?:hover|focus|press|active).*)$/i;
  const MEDIA = ["play", "pause", "ended", "volumechange", "seeking", "ratechange", "fullscreenchange"];
  const TREE = { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true };

  // Changes by itself

  let restless = new WeakSet();
  let resting = null;

  function rest() {
    unrest();
    restless = new WeakSet();
    const observer = new MutationObserver((records) => records.forEach(({ target }) => restless.add(target)));
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    resting = { observer, timer: setTimeout(unrest, REST_MS) };
  }

  function unrest() {
    resting?.observer.takeRecords().forEach(({ target }) => restless.add(target));
    resting?.observer.disconnect();
    clearTimeout(resting?.timer);
    resting = null;
  }

  // What was there before

  function fieldsNow() {
    const fields = Array.from(tree.all("input, textarea, select")).slice(0, MOST_FIELDS);
    return fields.map((el) => ({ el, value: el.value, on: el.checked === true, chosen: values.chosenOf(el) }));
  }

  function thumbnail(el) {
    try {
      const small = new OffscreenCanvas(THUMB, THUMB).getContext("2d", { willReadFrequently: true });
      small.drawImage(el, 0, 0, THUMB, THUMB);
      return String(small.getImageData(0, 0, THUMB, THUMB).data);
    } catch {
      return null; // it holds pictures of other origins
    }
  }

  const canvasesNow = () =>
    Array.from(tree.all("canvas"))
      .slice(0, MOST_CANVASES)
      .map((el) => ({ el, picture: thumbnail(el) }));

  function selectionNow() {
    const { anchorNode, anchorOffset, focusNode, focusOffset } = document.getSelection() ?? {};
    const active = tree.active();
    const caret =
      active !== null && "selectionStart" in active ? [caretOf(active, "selectionStart"), caretOf(active, "selectionEnd")] : [];
    return [anchorNode, anchorOffset, focusNode, focusOffset, ...caret];
  }

  function caretOf(el, end) {
    try {
      return el[end];
    } catch {
      return null;
    }
  }

  function lookNow(facts) {
    return {
      fields: fieldsNow(),
      canvases: canvasesNow(),
      active: tree.active(),
      selection: selectionNow(),
      url: document.URL,
      scroll: [scrollX, scrollY],
      value: values.plainValueOf(facts.el),
      state: values.stateOf(facts.el),
      expanded: values.expandedOf(facts.el),
      animations: document.getAnimations().length,
    };
  }

  // What is different

  const tokens = (text) => new Set((text ?? "").split(/\s+/).filter((token) => token !== "" && !POINTED.test(token)));

  function sameClass(one, other) {
    const [before, now] = [tokens(one), tokens(other)];
    return before.size === now.size && [...before].every((token) => now.has(token));
  }

  // An attribute that is back at what it was is none that changed.
  function isChange(record, first) {
    const { target, type, attributeName: name } = record;
    if (ring.isRing(target)) {
      return false;
    }
    if (type === "attributes") {
      const now = target.getAttribute(name);
      const before = first.get(target)?.get(name) ?? null;
      if (name === "class") {
        return !sameClass(before, now);
      }
      return before !== now && !POINTED_ATTRIBUTE.test(name);
    }
    if (type === "characterData") {
      return true;
    }
    return (
      Array.from(record.addedNodes).some((node) => node.isConnected && !ring.isRing(node)) ||
      Array.from(record.removedNodes).some((node) => !node.isConnected && !ring.isRing(node))
    );
  }

  function firstValues(records) {
    const first = new Map();
    for (const { type, target, attributeName, oldValue } of records) {
      if (type === "attributes") {
        if (!first.has(target)) {
          first.set(target, new Map());
        }
        const names = first.get(target);
        if (!names.has(attributeName)) {
          names.set(attributeName, oldValue);
        }
      }
    }
    return first;
  }

  function watch(facts) {
    unrest();
    let before = lookNow(facts);
    const traffic = happenings.now();
    const heard = new Set();
    let records = [];
    let goes = "";
    let turn = true; // still in the turn of the events
    let invalids = 0;
    let stays = false;

    const observer = new MutationObserver(collect);
    for (const root of [document, ...flat.survey().hosts.values()]) {
      observer.observe(root, TREE);
    }

    function collect(list) {
      const theirs = turn ? list : list.filter(({ target }) => !restless.has(target));
      records.push(...theirs.slice(0, MOST_RECORDS - records.length));
    }

    const listeners = [];
    const on = (target, type, hear) => {
      target.addEventListener(type, hear, true);
      listeners.push(() => target.removeEventListener(type, hear, true));
    };
    MEDIA.forEach((type) => on(window, type, () => heard.add("media")));
    on(window, "submit", () => heard.add("submit"));
    on(window, "toggle", () => heard.add("page"));
    on(window, "scroll", (event) => heard.add(event.target === document ? "page scroll" : "scroll"));
    on(window, "load", (event) => event.target !== document && heard.add("page"));
    on(window, "invalid", () => {
      invalids += 1;
      heard.add("invalid");
    });
    on(window, "beforeunload", (event) => event.isTrusted && heard.add("navigation"));
    if (typeof navigation === "object") {
      on(navigation, "navigate", (event) => {
        goes = event.destination?.url ?? "";
        if (!event.hashChange) {
          heard.add(event.destination?.sameDocument ? "address" : "navigation");
        }
      });
    }

    // What the pointer's way and the focus did is not what the press did.
    function begin() {
      observer.takeRecords();
      records = [];
      before = lookNow(facts);
      heard.clear();
      turn = true;
    }

    function endTurn() {
      collect(observer.takeRecords());
      turn = false;
    }

    function differences() {
      collect(observer.takeRecords());
      const found = new Set([...heard].filter((word) => word !== "page scroll"));
      const first = firstValues(records);
      if (records.some((record) => isChange(record, first))) {
        found.add("page");
      }
      if (stays) {
        found.delete("navigation");
      }
      if (before.fields.some(({ el, value }) => el.value !== value)) {
        found.add("value");
      }
      if (before.fields.some(({ el, on: was, chosen }) => (el.checked === true) !== was || values.chosenOf(el) !== chosen)) {
        found.add("state");
      }
      if (values.plainValueOf(facts.el) !== before.value) {
        found.add("value");
      }
      if (values.stateOf(facts.el) !== before.state || values.expandedOf(facts.el) !== before.expanded) {
        found.add("state");
      }
      if (before.canvases.some(({ el, picture }) => picture !== thumbnail(el))) {
        found.add("picture");
      }
      if (document.URL !== before.url) {
        found.add("address");
      }
      if (scrollX !== before.scroll[0] || scrollY !== before.scroll[1]) {
        found.add("scroll");
      }
      if (focusMoved()) {
        found.add("focus");
      }
      if (selectionNow().some((part, at) => part !== before.selection[at])) {
        found.add("selection");
      }
      if (document.getAnimations().length > before.animations && found.size === 0) {
        found.add("page");
      }
      const now = happenings.now();
      if (now.begun > traffic.begun) {
        found.add("request");
      }
      if (now.tabs.length > traffic.tabs.length) {
        found.add("tab");
      }
      return found;
    }

    // That a button has the focus after it was pressed is no news; that a field has it is why it was pressed.
    function focusMoved() {
      const now = tree.active();
      return now !== before.active && now !== null && now !== document.body && (now !== facts.el || takesText(now));
    }

    const takesText = (el) => roles.typable(el, roles.roleOf(el)) || roles.isEditable(el) || el.localName === "select";

    async function settled(over) {
      const start = performance.now();
      endTurn();
      for (;;) {
        const found = differences();
        found.delete("selection");
        const waited = performance.now() - start;
        const loading = happenings.now().running > traffic.running && waited < REQUEST_MS;
        const enough = found.size > 1 || (found.size === 1 && !found.has("request"));
        if (enough || over() || (waited >= WAIT_MS && !loading)) {
          return;
        }
        await pause.pause(POLL_MS);
      }
    }

    function stop() {
      observer.disconnect();
      listeners.forEach((end) => end());
    }

    return {
      begin,
      settled,
      stop,
      list: () => [...differences()].sort(),
      invalid: () => invalids,
      leadsTo: () => goes,
      stayed: () => {
        stays = true;
      },
      tabs: () => happenings.now().tabs.slice(traffic.tabs.length),
    };
  }

  return { watch, rest };
});
