// ring: shows a person who watches which control is about to be used.
//
// `draw(box)`: a ring around it for 600 ms. `isRing(node)`: settling and reading leave it out.
// Depends on: nothing.
"use strict";

foxloop.define("ring", () => {
  const SHOWN_MS = 600;
  const WIDTH_PX = 3;
  const rings = new WeakSet();

  function draw(box) {
    const ring = document.createElement("div");
    rings.add(ring);
    ring.setAttribute("aria-hidden", "true");
    const style = {
      all: "initial",
      position: "fixed",
      "pointer-events": "none",
      "z-index": "2147483647",
      outline: `${WIDTH_PX}px solid #e66000`,
      left: `${box.left - WIDTH_PX}px`,
      top: `${box.top - WIDTH_PX}px`,
      width: `${box.width + 2 * WIDTH_PX}px`,
      height: `${box.height + 2 * WIDTH_PX}px`,
    };
    for (const name of Object.keys(style)) {
      ring.style.setProperty(name, style[name], "important");
    }
    document.documentElement.append(ring);
    setTimeout(() => ring.remove(), SHOWN_MS);
  }

  return { draw, isRing: (node) => rings.has(node) };
});
