// frame_list: which frames stand in this document, for whoever joins them.
//
// `list(turn)` -> an array of `{ id, url, seen, left, top, width, height }` in the order of the page: Firefox's id of each
// frame, its address as far as this document may know it, whether a person can see it, and where its content lies in this
// document's viewport.
// Depends on: dom, limits, words.
"use strict";

foxloop.define("frameList", ({ dom, limits, words }) => {
  const HOLDERS = "iframe, frame, object, embed";

  function addressOf(el) {
    if (dom.hasAttribute(el, "srcdoc")) {
      return "about:srcdoc";
    }
    return el.src || el.data || "about:blank";
  }

  function list(turn) {
    const found = [];
    for (const el of turn.all(HOLDERS)) {
      let id;
      try {
        id = browser.runtime.getFrameId(el);
      } catch {
        id = -1;
      }
      if (id > 0) {
        const { left, top } = turn.boxOf(el);
        const { live } = turn.styleOf(el);
        const edge = (side) => el[`client${side}`] + parseFloat(live[`padding${side}`] || 0);
        found.push({
          id,
          url: words.cut(addressOf(el), limits.addresses),
          seen: turn.seen(el),
          left: Math.round(left + edge("Left")),
          top: Math.round(top + edge("Top")),
          width: el.clientWidth,
          height: el.clientHeight,
        });
      }
    }
    return found;
  }

  return { list };
});
