// reach: is there a point where a press really lands on the control, and what is in the way?
//
// `reach(el, via)` -> `{ point: { x, y }, onto }`, onto being the topmost element there; or `{ cover }`, the element in the way, or
// `{ cover: null }` when no point of it is in the viewport. Looks only; changes nothing. `reachAt(el, via, percent)`: the same for
// one point, in percent of its box. `under(el, point)`: the topmost element of that point, null when a press there is not one on
// the control. `emptied(el)`: it is a picture without an area. `bring(el, via, attempt)` scrolls it into reach, differently at each
// attempt from 0; answers false when there is nothing left to try. `lands(el, onto)`: is a press on `onto` one on the control?
// `coverName(cover)`: that element in a few words, some of them the page's.
// Depends on: sight, tree, words.
"use strict";

foxloop.define("reach", ({ sight, tree, words }) => {
  const INTERACTIVE = "a[href], button, input, select, textarea, summary, [role=button], [role=link], [role=checkbox]";
  const LINE_BOXES = 8;
  const NAME_LENGTH = 60;
  const target = (el, via) => via ?? el;

  const inViewport = ({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  const middle = (box) => ({ x: box.left + box.width / 2, y: box.top + box.height / 2 });

  function points(el) {
    const box = el.getBoundingClientRect();
    const inset = [
      [0.25, 0.25],
      [0.75, 0.25],
      [0.25, 0.75],
      [0.75, 0.75],
    ];
    return [
      middle(box),
      ...Array.from(el.getClientRects()).slice(0, LINE_BOXES).map(middle),
      ...inset.map(([right, down]) => ({ x: box.left + box.width * right, y: box.top + box.height * down })),
    ];
  }

  // A press on `onto` is a press on the control: it is the control, or in it, or in a label of it.
  function lands(el, onto) {
    return tree.within(el, onto) || tree.closest(onto, "label")?.control === el;
  }

  function under(el, { x, y }) {
    const onto = tree.at(x, y);
    return onto !== null && lands(el, onto) ? onto : null;
  }

  // An icon whose picture is exchanged under the pointer has no size until the new one has come; nothing covers it, although what
  // stands beside it may have moved up.
  function emptied(el) {
    const box = el.getBoundingClientRect();
    const pictured = el.localName === "img" || getComputedStyle(el).content.includes("url(");
    return pictured && box.width * box.height === 0 && el.getClientRects().length > 0;
  }

  // A link inside a label, a button inside a row: the press would be theirs.
  function takenByInner(el, onto) {
    const inner = tree.closest(onto, INTERACTIVE);
    return inner !== null && inner !== el && !tree.within(inner, el);
  }

  function reach(el, via) {
    let cover = null;
    let second = null;
    for (const point of points(target(el, via)).filter(inViewport)) {
      const onto = tree.at(point.x, point.y);
      if (onto !== null && lands(el, onto)) {
        if (!takenByInner(el, onto)) {
          return { point, onto };
        }
        second ??= tree.within(el, onto) ? { point, onto } : null;
      }
      cover ??= onto;
    }
    return second ?? { cover };
  }

  // That very point and no other: `{ x, y }` in percent of the box.
  function reachAt(el, via, { x, y }) {
    const box = target(el, via).getBoundingClientRect();
    const point = { x: box.left + (box.width * x) / 100, y: box.top + (box.height * y) / 100 };
    const inside = { x: Math.min(point.x, box.right - 0.5), y: Math.min(point.y, box.bottom - 0.5) };
    if (!inViewport(inside)) {
      return { cover: null, point: undefined };
    }
    const onto = tree.at(inside.x, inside.y);
    return onto !== null && lands(el, onto) ? { point: inside, onto } : { cover: onto };
  }

  function outside(box) {
    return box.right <= 0 || box.bottom <= 0 || box.left >= innerWidth || box.top >= innerHeight;
  }

  const isBar = (el) => el !== null && /fixed|sticky/.test(getComputedStyle(el).position);

  function underBar(cover) {
    for (let el = cover; el !== null; el = tree.parent(el)) {
      if (isBar(el)) {
        const box = el.getBoundingClientRect();
        return box.width * box.height < 0.5 * innerWidth * innerHeight; // a larger one is an overlay: scrolling cannot help
      }
    }
    return false;
  }

  function clippedByScroller(el) {
    const box = middle(el.getBoundingClientRect());
    for (let outer = tree.parent(el); outer !== null && outer !== document.body; outer = tree.parent(outer)) {
      const frame = outer.getBoundingClientRect();
      const missed = box.x < frame.left || box.x > frame.right || box.y < frame.top || box.y > frame.bottom;
      if (missed && sight.scrolls(getComputedStyle(outer))) {
        return true;
      }
    }
    return false;
  }

  const centre = (el) => el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });

  function bring(el, via, attempt, cover) {
    const shown = target(el, via);
    const box = shown.getBoundingClientRect();
    if (attempt === 0) {
      if (outside(box) || !inViewport(middle(box)) || clippedByScroller(shown)) {
        centre(shown);
        return true;
      }
      attempt = 1;
    }
    // Step around bars that stay in place: bring the control to a quarter, then to three quarters of the viewport's height.
    if (attempt > 2 || !underBar(cover)) {
      return false;
    }
    const wanted = innerHeight * (attempt === 1 ? 0.25 : 0.75);
    scrollBy({ top: middle(box).y - wanted, behavior: "instant" });
    return true;
  }

  const mustScroll = (el, via) => outside(target(el, via).getBoundingClientRect());

  function coverName(cover) {
    if (cover === null) {
      return "nothing of it can be scrolled into view";
    }
    const name = words.clean(cover.getAttribute("aria-label") || cover.textContent || "");
    return `covered by ${words.cut(cover.localName, NAME_LENGTH)}${name === "" ? "" : ` "${words.cut(name, NAME_LENGTH)}"`}`;
  }

  return { reach, reachAt, under, emptied, lands, bring, mustScroll, coverName };
});
