// drag: operation `drag`: take hold of the control, move, let go.
//
// The value: `{ onto: { node, guard, x, y } }`, another control, by its number and guard, at a point in percent of its box (the
// middle); or `{ by: { x, y } }` in CSS px; or `{ path: [[x, y], ...] }` in percent of its own box, for drawing. `from: { x, y }`:
// where to take hold, in percent. `how: "html" | "pointer"`; otherwise by what is draggable. Each step is a sub-step: after a
// cancel nothing more is sent, and the result says how far it went. A native slider is set to the value at the end of the way.
// Depends on: capture, controls, focus, guard, numbers, pause, pointer, ranges, reach, sameness,
// sight, tree.
"use strict";

foxloop.define("drag", (parts) => {
  const { capture, controls, focus, guard, numbers, pause, pointer, ranges, reach, sameness, sight, tree } = parts;
  const STEP_PX = 12;
  const MOST_STEPS = 120;
  const STEP_MS = 8;
  const REST_MS = 60; // before letting go, for pages that look at the pointer now and then
  const FIRST = [1, 3, 6]; // px: libraries wait for a few before they believe in a drag

  const refuse = (reason, detail) => ({ ok: false, reason, detail });
  const isPoint = (one) => one !== undefined && one !== null && Number.isFinite(one.x) && Number.isFinite(one.y);

  function unfit(facts, value) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      return refuse("unsupported", "dragging needs one of onto, by and path");
    }
    const ends = [value.onto, value.by, value.path].filter((one) => one !== undefined);
    if (ends.length !== 1 || (value.by !== undefined && !isPoint(value.by))) {
      return refuse("unsupported", "dragging needs one of onto, by and path");
    }
    if (value.path !== undefined && (value.path.length < 1 || value.path.some((one) => one.length !== 2))) {
      return refuse("unsupported", "a path is a list of [x, y]");
    }
    return value.onto === undefined ? null : unfitTarget(value.onto);
  }

  // The other control was judged too: it must be the same one still.
  function unfitTarget({ node, guard: wanted }) {
    const el = numbers.find(node);
    if (el === null) {
      return refuse("gone", "the control to drag it onto is not there any more");
    }
    const turn = sight.createSight();
    const facts = controls.facts(el, turn);
    if (facts === null) {
      return refuse("hidden", "the control to drag it onto cannot be seen");
    }
    return guard.guardOf(facts, turn) === wanted ? null : refuse("stale", "the control to drag it onto differs");
  }

  const inBox = (box, { x, y }) => ({ x: box.left + (box.width * x) / 100, y: box.top + (box.height * y) / 100 });
  const MIDDLE = { x: 50, y: 50 };

  function ways(el, start, value) {
    if (value.path !== undefined) {
      const box = el.getBoundingClientRect();
      return value.path.map(([x, y]) => inBox(box, { x, y }));
    }
    if (value.by !== undefined) {
      return corner(start, { x: start.x + value.by.x, y: start.y + value.by.y });
    }
    const other = numbers.find(value.onto.node);
    const at = isPoint(value.onto) ? value.onto : MIDDLE;
    return corner(start, inBox(other.getBoundingClientRect(), at));
  }

  // One axis at a time: lists that can be sorted lose track otherwise.
  const corner = (start, end) => (start.x === end.x || start.y === end.y ? [end] : [{ x: start.x, y: end.y }, end]);

  function pointsOf(start, stops) {
    const out = [];
    let at = start;
    const towards = stops[0];
    const first = Math.hypot(towards.x - at.x, towards.y - at.y) || 1;
    for (const px of FIRST.filter((one) => one < first)) {
      out.push({ x: start.x + ((towards.x - start.x) * px) / first, y: start.y + ((towards.y - start.y) * px) / first });
    }
    for (const stop of stops) {
      const length = Math.hypot(stop.x - at.x, stop.y - at.y);
      const count = Math.max(1, Math.min(Math.ceil(length / STEP_PX), Math.ceil(MOST_STEPS / stops.length)));
      for (let step = 1; step <= count; step += 1) {
        out.push({ x: at.x + ((stop.x - at.x) * step) / count, y: at.y + ((stop.y - at.y) * step) / count });
      }
      at = stop;
    }
    return out;
  }

  const clamp = ({ x, y }) => ({ x: Math.min(innerWidth - 1, Math.max(0, x)), y: Math.min(innerHeight - 1, Math.max(0, y)) });
  const underAt = (point) => tree.at(clamp(point).x, clamp(point).y) ?? document.documentElement;

  const draggableOf = (el) => tree.closest(el, '[draggable="true"]');

  function dispatch(facts, spot, value, steps) {
    const { el } = facts;
    const stops = ways(el, spot.point, value);
    const goal = value.onto === undefined ? null : sameness.take(numbers.find(value.onto.node));
    // Before it is let go, both must be what was judged; what stands in them may have changed under the pointer.
    const still = () => steps.same({ changed: true }) ?? (goal === null ? null : sameness.differs(goal, { changed: true }));
    if (ranges.isRange(el)) {
      return setRange(el, stops.at(-1), steps);
    }
    pointer.over(spot.onto, spot.point);
    const onto = tree.connected(el) ? reach.under(el, spot.point) : null;
    if (onto === null) {
      return refuse("covered", "it moved away when the pointer came over it, or something came over it");
    }
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    steps.ready();
    const points = pointsOf(spot.point, stops);
    const held = capture.hold();
    down(el, onto, spot.point);
    // Some make things draggable only when they are pressed.
    const html = value.how === "html" || (value.how !== "pointer" && value.path === undefined && draggableOf(onto) !== null);
    if (html) {
      held.end();
      return byEvents(el, onto, spot.point, points, value, { ...steps, still });
    }
    return byPointer(held, onto, spot.point, points, { ...steps, still });
  }

  function setRange(el, end, steps) {
    const box = el.getBoundingClientRect();
    const upright = box.height > box.width;
    const part = upright ? (box.bottom - end.y) / box.height : (end.x - box.left) / box.width;
    focus.give(el);
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    steps.ready();
    ranges.set(el, ranges.fraction(el, part));
    steps.note("set");
    return { ok: true, value: el.value };
  }

  function down(el, onto, start) {
    const send = pointer.sender(onto, start);
    if (send.pointer("pointerdown", { buttons: 1 }) && send.mouse("mousedown", { buttons: 1, detail: 1 })) {
      pointer.focusLike(el);
    }
  }

  // For widgets that follow the pointer.
  function byPointer(held, onto, start, points, steps) {
    steps.note("down");
    return async () => {
      try {
        let last = start;
        for (const [at, point] of points.entries()) {
          await pause.pause(STEP_MS);
          const stopped = steps.stop({ present: false });
          if (stopped !== null) {
            return { ...stopped, detail: `moved ${at} of ${points.length} steps; the button was not let go` };
          }
          moveTo(held, point, { movementX: point.x - last.x, movementY: point.y - last.y });
          last = point;
        }
        steps.note("moved");
        await pause.pause(REST_MS);
        const stopped = steps.stop({ present: false });
        if (stopped !== null) {
          return { ...stopped, detail: "moved all the way; the button was not let go" };
        }
        const other = steps.still();
        if (other !== null && other.reason !== "gone") {
          return other;
        }
        up(held, onto, last);
        steps.note("up");
        await pause.pause(0);
        return { ok: true };
      } finally {
        held.end();
      }
    };
  }

  function moveTo(held, point, moved) {
    const captured = held.target();
    if (captured === null) {
      const under = underAt(point);
      pointer.over(under, point);
      const send = pointer.sender(under, point);
      send.pointer("pointermove", { button: -1, buttons: 1, ...moved });
      send.mouse("mousemove", { buttons: 1, ...moved });
    } else {
      const send = pointer.sender(captured, point);
      send.pointer("pointermove", { button: -1, buttons: 1, ...moved });
      send.mouse("mousemove", { buttons: 1, ...moved });
    }
  }

  function up(held, onto, point) {
    const target = held.target() ?? underAt(point);
    const send = pointer.sender(target, point);
    send.pointer("pointerup", { buttons: 0 });
    send.mouse("mouseup", { buttons: 0, detail: 1 });
    if (target === onto && tree.connected(onto)) {
      send.pointer("click", { detail: 1 });
    }
  }

  // What Firefox offers the page before it asks: moving first, then copying, then linking, of what the source allows.
  function offered(allowed) {
    const words = allowed.toLowerCase();
    return /move|all|uninitialized/.test(words) ? "move" : (["copy", "link"].find((one) => words.includes(one)) ?? "none");
  }

  // HTML's own drag and drop: its events, all with one DataTransfer.
  function byEvents(el, onto, start, points, value, steps) {
    const data = new DataTransfer();
    data.effectAllowed = "uninitialized"; // that of a new one is none
    const source = draggableOf(onto) ?? el;
    const send = (type, to, { x, y }) =>
      to.dispatchEvent(
        new DragEvent(type, {
          ...pointer.sender(to, { x, y }).common,
          bubbles: true,
          dataTransfer: data,
          buttons: type === "drop" ? 0 : 1,
        }),
      );
    if (!send("dragstart", source, start)) {
      return refuse("unsupported", "the page does not let it be dragged");
    }
    pointer.sender(source, start).pointer("pointercancel", { buttons: 0 });
    steps.note("dragstart");
    return async () => {
      let over = null;
      let taken = false;
      let met = false;
      for (const [at, point] of points.entries()) {
        await pause.pause(STEP_MS);
        const stopped = steps.stop({ present: false });
        if (stopped !== null) {
          return { ...stopped, detail: `dragged ${at} of ${points.length} steps; it was not dropped` };
        }
        const under = underAt(point);
        send("drag", source, point);
        met ||= value.onto !== undefined && isOn(under, numbers.find(value.onto.node));
        data.dropEffect = usualEffect(data.effectAllowed);
        if (under !== over) {
          data.dropEffect = offered(data.effectAllowed);
          send("dragenter", under, point);
          if (over !== null && tree.connected(over)) {
            send("dragleave", over, point);
          }
          over = under;
        }
        data.dropEffect = offered(data.effectAllowed);
        taken = !send("dragover", under, point) && data.dropEffect !== "none";
      }
      steps.note("dragged");
      await pause.pause(REST_MS);
      const stopped = steps.stop({ present: false });
      if (stopped !== null) {
        return { ...stopped, detail: "dragged all the way; it was not dropped" };
      }
      const end = points.at(-1);
      const target = underAt(end);
      const other = steps.still();
      const wrong =
        other !== null && other.reason !== "gone"
          ? other
          : value.onto === undefined
            ? null
            : strayed(target, value.onto, met ? source : null);
      if (taken && wrong === null) {
        data.dropEffect = data.dropEffect === "none" ? "move" : data.dropEffect;
        send("drop", target, end);
        steps.note("drop");
      } else if (over !== null) {
        send("dragleave", over, end);
      }
      send("dragend", tree.connected(source) ? source : document.body, end);
      steps.note("dragend");
      await pause.pause(0);
      return taken ? (wrong ?? { ok: true }) : refuse("unsupported", "the page takes no drop there");
    };
  }

  const isOn = (under, el) => el !== null && (tree.within(el, under) || tree.within(under, el));

  // What Firefox proposes to the page at each dragover, by what the page allows.
  const usualEffect = (allowed) => (["copy", "link"].includes(allowed) ? allowed : allowed === "copyLink" ? "copy" : "move");

  // A list that sorts itself under the pointer has put what is dragged where the other one was.
  function strayed(target, { node }, carried) {
    const there = isOn(target, numbers.find(node)) || (carried !== null && tree.within(carried, target));
    return there ? null : refuse("covered", "something else is where it was to be dropped");
  }

  return { drag: { unfit, dispatch, proves: true, pointed: true } };
});
