// listboxes: `select` on what is no native select: a button or field that opens a list.
//
// `unfit(facts, value)`, `dispatch(facts, spot, value, steps)`: open it (a field by typing, anything else by a press), wait for the
// options, press the one that has the value or the label, and look whether the control shows it. A list of values chooses several.
// Each press is a sub-step. A list that draws only what is in view is scrolled on, at most 20 times.
// Depends on: editing, focus, keys, limits, options, pause, pointer, reach, sameness, tree, values, words.
"use strict";

foxloop.define("listboxes", (parts) => {
  const { editing, focus, keys, limits, options, pause, pointer, reach, sameness, tree, values, words } = parts;
  const OPEN_MS = 1000;
  const SUGGEST_MS = 2000; // suggestions come from a server
  const BEGINNING = 3; // letters that are tried when the whole text brings nothing
  const SHOWN_MS = 500;
  const POLL_MS = 30;
  const MOST_SCROLLS = 20;
  const TOLD = 12; // labels that a refusal names

  const refuse = (reason, detail) => ({ ok: false, reason, detail });
  const listed = (value) => (Array.isArray(value) ? value : [value]);

  function unfit({ el }, value) {
    if (!options.opensList(el)) {
      return refuse("unsupported", `options can be selected in a select only, not in ${el.localName}`);
    }
    const wanted = listed(value);
    return wanted.length > 0 && wanted.every((one) => typeof one === "string" && words.clean(one) !== "")
      ? null
      : refuse("unsupported", "selecting needs the value or label of an option, or a list of them");
  }

  const shownBy = (el) => words.clean(editing.isField(el) ? el.value : (el.innerText ?? el.textContent ?? ""));
  const told = (el) => ({ value: words.cut(shownBy(el), limits.value) });

  function open(el, spot, text, steps) {
    if (!editing.isField(el)) {
      if (el.getAttribute("aria-expanded") === "true") {
        return null;
      }
      const taken = pointer.press(el, spot, { same: steps.same, again: steps.again });
      steps.note("open");
      return taken;
    }
    const taken = pointer.press(el, spot, { same: steps.same, again: steps.again });
    if (taken !== null || !tree.connected(el) || !editing.takesText(el)) {
      steps.note("open");
      return taken;
    }
    focus.give(el);
    const other = steps.same();
    if (other !== null) {
      return other;
    }
    el.select();
    write(el, text);
    steps.note("type");
    return null;
  }

  // Until the option is there, or options are there and no more come.
  async function waitFor(el, before, wanted, most, steps) {
    const end = performance.now() + most;
    let found = { none: [] };
    for (;;) {
      const list = options.listOf(el, before);
      found = { list, ...options.find(list, wanted) };
      if (found.el !== undefined || found.many !== undefined || performance.now() >= end) {
        return found;
      }
      await pause.pause(POLL_MS);
      const stopped = steps.stop();
      if (stopped !== null) {
        return { stopped };
      }
    }
  }

  // Lists that draw only what is in view: further down, until it comes or the end does.
  async function scrollFor(el, before, wanted, list, steps) {
    const scroller = options.scrollerOf(list);
    let found = options.find(list, wanted);
    for (let times = 0; scroller !== null && times < MOST_SCROLLS; times += 1) {
      const at = scroller.scrollTop;
      scroller.scrollBy({ top: scroller.clientHeight * 0.8, behavior: "instant" });
      await pause.drawn(POLL_MS);
      const stopped = steps.stop();
      if (stopped !== null) {
        return { stopped };
      }
      found = options.find(options.listOf(el, before), wanted);
      if (found.none === undefined || scroller.scrollTop === at) {
        break;
      }
    }
    return found;
  }

  function missing(found, el) {
    if (found.many !== undefined) {
      return { ...refuse("unsupported", `${found.many} options have that label; use the id of one of them`), ...told(el) };
    }
    const names = found.none.slice(0, TOLD).map((label) => JSON.stringify(words.cut(label, 60)));
    const more = found.none.length > TOLD ? ` and ${found.none.length - TOLD} more` : "";
    const detail =
      names.length === 0 ? "no list of options came" : `no option has that value or label; there are ${names.join(", ")}${more}`;
    return { ...refuse("unsupported", words.cut(detail, limits.detail)), ...told(el) };
  }

  async function pressOption(option, steps) {
    const token = sameness.take(option); // in the turn in which it was found
    option.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    let spot = reach.reach(option, null);
    if (spot.point === undefined) {
      reach.bring(option, null, 0, spot.cover);
      await pause.drawn(50);
      const stopped = steps.stop();
      if (stopped !== null) {
        return stopped;
      }
      spot = reach.reach(option, null);
    }
    if (spot.point === undefined) {
      return refuse("covered", words.cut(reach.coverName(spot.cover), limits.detail));
    }
    const taken = pointer.press(option, spot, { same: () => sameness.differs(token), again: () => reach.reach(option, null) });
    steps.note("choose");
    return taken;
  }

  async function shows(el, option, label, before, over) {
    const end = performance.now() + SHOWN_MS;
    const folded = label.toLowerCase();
    const holds = () =>
      shownBy(el).toLowerCase().includes(folded) ||
      (tree.connected(option) && options.isChosen(option)) ||
      chipFor(el, folded, before);
    while (!holds() && performance.now() < end && !over()) {
      await pause.pause(POLL_MS);
    }
    return holds();
  }

  const AROUND = "[role=combobox], [class*=control i], [class*=select i], label, fieldset";

  function textAround(el) {
    const up = tree.parent(el);
    const around = up === null ? null : (tree.closest(up, AROUND) ?? up);
    return words.clean(around?.innerText ?? "").toLowerCase();
  }

  // A field of several values shows each in a box beside it.
  function chipFor(el, folded, before) {
    return !before.text.includes(folded) && textAround(el).includes(folded);
  }

  // Some lists open with a field to search them by, which has the focus then.
  function searchField(el) {
    const active = tree.active();
    return active !== null && active !== el && editing.isField(active) && editing.takesText(active) ? active : null;
  }

  function search(field, text, steps) {
    field.select();
    write(field, text);
    steps.note("search");
  }

  function write(field, text) {
    const last = keys.strokesOf(text).at(-1);
    keys.send(field, "keydown", last);
    editing.insert(field, text);
    keys.send(field, "keyup", last);
  }

  async function choose(facts, wanted, before, spot, steps) {
    const { el } = facts;
    const most = editing.isField(el) ? SUGGEST_MS : OPEN_MS;
    let found = await waitFor(el, before.options, wanted, most, steps);
    if (found.stopped !== undefined) {
      return found.stopped;
    }
    if (found.none !== undefined && searchField(el) !== null) {
      search(searchField(el), wanted, steps);
      found = await waitFor(el, before.options, wanted, SUGGEST_MS, steps);
      if (found.stopped !== undefined) {
        return found.stopped;
      }
    }
    if (found.none?.length === 0 && editing.isField(el) && tree.active() === el && wanted.length > BEGINNING) {
      search(el, wanted.slice(0, BEGINNING), steps);
      found = await waitFor(el, before.options, wanted, SUGGEST_MS, steps);
      if (found.stopped !== undefined) {
        return found.stopped;
      }
    }
    if (found.none !== undefined) {
      found = await scrollFor(el, before.options, wanted, found.list, steps);
      if (found.stopped !== undefined) {
        return found.stopped;
      }
    }
    if (found.el === undefined) {
      return missing(found, el);
    }
    const label = options.labelOf(found.el);
    if (options.isChosen(found.el) && before.several) {
      return null; // it is chosen already; a press would take it back
    }
    const taken = await pressOption(found.el, steps);
    if (taken !== null) {
      return taken;
    }
    const shown = await shows(el, found.el, label, before, steps.over);
    if (shown || !tree.connected(el)) {
      return null;
    }
    return steps.stop() ?? refuse("mismatch", "the option was pressed, and the control does not show it");
  }

  function dispatch(facts, spot, value, steps) {
    const { el } = facts;
    const wanted = listed(value);
    const isOpen = el.getAttribute("aria-expanded") === "true";
    const before = { options: isOpen ? new Set() : options.visible(), text: textAround(el), several: wanted.length > 1 };
    const taken = open(el, spot, wanted[0], steps);
    if (taken !== null) {
      return taken;
    }
    return async () => {
      for (const [at, one] of wanted.entries()) {
        if (at > 0 && options.listOf(el, before.options).length === 0) {
          const again = reach.reach(el, facts.via);
          const refused = again.point === undefined ? refuse("covered", "it cannot be opened again") : open(el, again, one, steps);
          if (refused !== null) {
            return { ...refused, ...told(el) };
          }
        }
        const stopped = await choose(facts, one, before, spot, steps);
        if (stopped !== null) {
          return { ...stopped, ...told(el) };
        }
      }
      return { ok: true, ...told(el), checked: values.isToggle(el) ? values.isOn(el) : undefined };
    };
  }

  return { unfit, dispatch };
});
