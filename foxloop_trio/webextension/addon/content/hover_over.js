// hover_over: operation `hover`: the pointer comes over the control and rests there.
//
// The value: null, or `{ x, y }`, a point in percent of its box. Menus that open by script hear the whole series of events; those
// that only a style sheet opens are shown by hovering.js until the pointer goes elsewhere. Some wait for a moment of rest before
// they open.
// Depends on: pause, pointer, reach, tree.
"use strict";

foxloop.define("hoverOver", ({ pause, pointer, reach, tree }) => {
  const SHOWN = "a, button, li, [role], input, div, span, p, ul";
  const MOST = 3000;
  const REST_MS = 450; // menus wait for a moment of rest, so that none opens under a pointer that only passes: 150 to 300 ms
  const POLL_MS = 30;

  // What a style sheet shows or hides changes no element, so it is counted.
  const shown = () =>
    Array.from(tree.all(SHOWN))
      .slice(0, MOST)
      .map((el) => el.checkVisibility({ opacityProperty: true, visibilityProperty: true }));

  function dispatch({ el }, spot, _value, steps) {
    const before = shown();
    steps.ready();
    pointer.over(spot.onto, spot.point);
    steps.note("over");
    return async () => {
      await pause.pause(0);
      const stopped = steps.stop({ present: false });
      if (stopped !== null) {
        return stopped;
      }
      // A second small move: some only listen to moves.
      const onto = tree.connected(el) ? reach.under(el, spot.point) : null;
      if (onto !== null) {
        pointer.over(onto, spot.point);
        steps.note("move");
      }
      const end = performance.now() + REST_MS;
      let appeared = isOther(before);
      while (!appeared && performance.now() < end && !steps.over()) {
        await pause.pause(POLL_MS);
        appeared = isOther(before);
      }
      if (appeared) {
        steps.saw("page");
      }
      return { ok: true };
    };
  }

  function isOther(before) {
    const now = shown();
    return now.length !== before.length || now.some((one, at) => one !== before[at]);
  }

  return { hover: { unfit: () => null, dispatch, proves: true, pointed: true } };
});
