// outer: whether the pages around this frame let a press through to it.
//
// `blocked(point)` -> null when it is at hand in every page around this one that may be asked, else `{ cover, frame }`: what lies
// over the frame there, `cover` null when that place is out of view, `frame` the frame's element. `bring(frame)`: scrolls it
// into view.
// Depends on: nothing.
//
// A page of another origin may not be asked, nor those around it: a press in there passes as far as can be seen.
"use strict";

foxloop.define("outer", () => {
  const DEEPEST = 20;

  function frameOf(view) {
    try {
      return view.frameElement;
    } catch {
      return null; // of another origin
    }
  }

  // From the frame's own coordinates to those of the page that it stands in.
  function placeIn(frame, { x, y }) {
    const box = frame.getBoundingClientRect();
    const style = getComputedStyle(frame);
    const scale = { x: box.width / (frame.offsetWidth || 1), y: box.height / (frame.offsetHeight || 1) };
    return {
      x: box.left + (frame.clientLeft + parseFloat(style.paddingLeft) + x) * scale.x,
      y: box.top + (frame.clientTop + parseFloat(style.paddingTop) + y) * scale.y,
    };
  }

  // In a shadow tree it is its host that the document finds.
  function shows(frame, top) {
    for (let el = frame; el !== null && el !== undefined; el = el.getRootNode().host) {
      if (el === top) {
        return true;
      }
    }
    return false;
  }

  function blocked(point) {
    let at = point;
    let view = window;
    for (let depth = 0; depth < DEEPEST; depth += 1) {
      const frame = frameOf(view);
      if (frame === null) {
        return null;
      }
      at = placeIn(frame, at);
      view = frame.ownerDocument.defaultView;
      if (at.x < 0 || at.y < 0 || at.x >= view.innerWidth || at.y >= view.innerHeight) {
        return { cover: null, frame };
      }
      const top = frame.ownerDocument.elementFromPoint(at.x, at.y);
      if (!shows(frame, top)) {
        return { cover: top, frame };
      }
    }
    return null;
  }

  const bring = (frame) => frame.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });

  return { blocked, bring };
});
