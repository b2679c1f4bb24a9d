// capture: pointer capture for a pointer that Firefox does not know.
//
// Purpose: sliders and drag libraries call setPointerCapture in their pointerdown, and Firefox throws for the pointer of events
// that a script sent. `hold()` -> `{ target(), end() }`: until `end()`, the page's capture functions answer for our pointer;
// `target()`: the element that has captured it, or null.
// Depends on: pageWorld, tree.
"use strict";

foxloop.define("capture", ({ pageWorld, tree }) => {
  const OURS = 1;
  const page = window.wrappedJSObject;

  function hold() {
    let holder = null;
    const holders = page.Element.prototype;
    const native = { set: holders.setPointerCapture, release: holders.releasePointerCapture, has: holders.hasPointerCapture };
    const restores = [
      pageWorld.replace(
        holders,
        "setPointerCapture",
        stand((el) => (holder = el), native.set),
        page,
      ),
      pageWorld.replace(
        holders,
        "releasePointerCapture",
        stand(() => (holder = null), native.release),
        page,
      ),
      pageWorld.replace(
        holders,
        "hasPointerCapture",
        stand((el) => holder === el, native.has),
        page,
      ),
    ];

    function stand(ours, theirs) {
      return function captureFunction(id) {
        if (id !== OURS) {
          return Reflect.apply(theirs, this, [id]);
        }
        const answer = ours(XPCNativeWrapper(this));
        return typeof answer === "boolean" ? answer : undefined;
      };
    }

    return {
      target: () => (holder !== null && tree.connected(holder) ? holder : null),
      end: () => restores.forEach((restore) => restore?.()),
    };
  }

  return { hold };
});
