// The first script of every page that tests act on. What a test may read, as JSON:
//   window.__state   what the page itself believes: its model, never a copy of what the DOM says
//   window.__events  what reached the page, oldest first: [type, on, trusted] (and the inputType, where there is one)
//   window.__errors  uncaught errors, console errors and files that did not load
//   window.__ready   true once the page can be used
"use strict";
{
  const KEPT = 400;
  const TYPES = [
    "pointerdown", "pointerup", "mousedown", "mouseup", "click", "dblclick", "contextmenu", "mouseenter", "mouseover",
    "keydown", "keypress", "keyup", "beforeinput", "input", "change", "compositionstart", "compositionend", "paste",
    "focusin", "focusout", "submit", "reset", "dragstart", "dragover", "drop", "dragend", "scroll", "wheel",
  ];
  window.__state = {};
  window.__events = [];
  window.__errors = [];
  window.__ready = false;

  const nameOf = (target) => {
    if (target === document || target === window) return "document";
    const label = target.labels?.[0]?.textContent.trim();
    return target.id || target.getAttribute("aria-label") || label || target.localName;
  };
  for (const type of TYPES) {
    addEventListener(type, (event) => {
      const entry = [type, nameOf(event.composedPath()[0]), event.isTrusted];
      if (event.inputType !== undefined) entry.push(event.inputType);
      const last = window.__events.at(-1);
      if (type === "scroll" && last?.[0] === "scroll" && last[1] === entry[1]) return;  // a scroll is many of them
      window.__events.push(entry);
      if (window.__events.length > KEPT) window.__events.shift();
    }, { capture: true, passive: true });
  }

  addEventListener("error", (event) => {
    const { target } = event;
    window.__errors.push(target instanceof Element ? `not loaded: ${target.src ?? target.href}` : event.message);
  }, true);
  addEventListener("unhandledrejection", (event) => window.__errors.push(String(event.reason)));
  const { error } = console;
  console.error = (...words) => {
    window.__errors.push(words.map(String).join(" "));
    error.apply(console, words);
  };

  // page.state(() => …) makes __state a live view of a model; page.ready() says that the page can be used.
  window.page = {
    state: (read) => Object.defineProperty(window, "__state", { get: read, configurable: true }),
    ready: () => { window.__ready = true; },
    // Answers as a server would, later. `ber` finds Berlin, Bern and Bergen.
    places: (text, ms = 150) => new Promise((done) => setTimeout(() => {
      const all = ["Amsterdam", "Athens", "Berlin", "Bern", "Bergen", "Lisbon", "London", "Madrid", "Oslo", "Paris", "Prague", "Rome"];
      done(all.filter((place) => place.toLowerCase().includes(text.toLowerCase())));
    }, ms)),
  };
}
