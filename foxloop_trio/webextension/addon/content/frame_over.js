// frame_over: does something of this page lie over a point of a frame in it?
//
// `over({ id, x, y })` -> JSON text: `{ x, y }`, the point in this document's viewport, when a press there goes into the frame;
// `{ cover }`, what is in the way, in a few words; null when the frame is not in this document. `id` is Firefox's id of the frame,
// `x` and `y` a point in its viewport. A point out of sight is scrolled into it first.
// Depends on: pause, reach, tree.
"use strict";

foxloop.define("frameOver", ({ pause, reach, tree }) => {
  const HOLDERS = "iframe, frame, object, embed";
  const SCROLL_PAUSE_MS = 50;

  function holderOf(id) {
    for (const el of tree.all(HOLDERS)) {
      try {
        if (browser.runtime.getFrameId(el) === id) {
          return el;
        }
      } catch {
        // It has no frame.
      }
    }
    return null;
  }

  function pointOf(el, { x, y }) {
    const box = el.getBoundingClientRect();
    const style = getComputedStyle(el);
    const edge = (side) => el[`client${side}`] + (parseFloat(style[`padding${side}`]) || 0);
    return { x: box.left + edge("Left") + x, y: box.top + edge("Top") + y };
  }

  const inside = ({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;

  async function over({ id, x, y }) {
    const el = holderOf(id);
    if (el === null) {
      return "null";
    }
    let point = pointOf(el, { x, y });
    if (!inside(point)) {
      el.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
      point = pointOf(el, { x, y });
    }
    if (!inside(point)) {
      scrollBy({ left: point.x - innerWidth / 2, top: point.y - innerHeight / 2, behavior: "instant" });
      point = pointOf(el, { x, y });
    }
    await pause.drawn(SCROLL_PAUSE_MS);
    const top = inside(point) ? tree.at(point.x, point.y) : null;
    return JSON.stringify(top === el ? point : { cover: reach.coverName(top) });
  }

  return { over };
});
