// sliders: sets a slider that is none of HTML's, by its keys.
//
// `isSlider(el)`: it has that role and says its value. `unfit(el, value)`. `move(el, wanted, steps)` -> promise of a result: the
// arrow keys, each a sub-step, until `aria-valuenow` is the wanted number or comes no nearer.
// Depends on: focus, keys, limits, pause, words.
"use strict";

foxloop.define("sliders", ({ focus, keys, limits, pause, words }) => {
  const MOST = 400;
  const [UP, DOWN] = ["ArrowRight", "ArrowLeft"].map((name) => keys.parse(name)[0]);
  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  const isSlider = (el) => el.localName !== "input" && el.getAttribute("role") === "slider" && el.hasAttribute("aria-valuenow");
  const now = (el) => Number(el.getAttribute("aria-valuenow"));

  function unfit(el, value) {
    const wanted = typeof value === "string" && value.trim() !== "" ? Number(value) : NaN;
    const [least, most] = ["aria-valuemin", "aria-valuemax"].map((name) => el.getAttribute(name));
    if (!Number.isFinite(wanted)) {
      return refuse("unsupported", "a slider takes a number");
    }
    return (least !== null && wanted < Number(least)) || (most !== null && wanted > Number(most))
      ? refuse("unsupported", words.cut(`it goes from ${least} to ${most}`, limits.detail))
      : null;
  }

  function send(el, stroke) {
    keys.send(el, "keydown", stroke);
    keys.send(el, "keyup", stroke);
  }

  async function move(el, wanted, steps) {
    focus.give(el);
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    for (let count = 0; now(el) !== wanted && count < MOST; count += 1) {
      const before = now(el);
      send(el, before < wanted ? UP : DOWN);
      if (now(el) === before) {
        await pause.drawn(0); // frameworks draw the new value a moment later
      } else if (count % 10 === 9) {
        await pause.pause(0);
      }
      const stopped = steps.stop() ?? steps.same({ changed: true });
      if (stopped !== null) {
        steps.note(`${count + 1} keys`);
        return { ...stopped, value: String(now(el)) };
      }
      if (now(el) === before || Math.abs(now(el) - wanted) > Math.abs(before - wanted)) {
        break;
      }
      if (before < wanted !== now(el) < wanted && now(el) !== wanted) {
        break; // its steps do not meet that number
      }
    }
    steps.note("keys");
    const value = String(now(el));
    return now(el) === wanted ? { ok: true, value } : { ...refuse("mismatch", "the slider does not stop there"), value };
  }

  return { isSlider, unfit, move };
});
