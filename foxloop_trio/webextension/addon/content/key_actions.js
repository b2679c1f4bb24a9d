// key_actions: what Firefox would do by itself when a key is pressed, done for keys that a script sent.
//
// `act(el, stroke, { form, submitted })`: the default action of the key at the element that has the focus; answers a few words for
// what was done, or null when there is none that an add-on can do. `secret(el)` is asked before anything is copied.
// Depends on: clipboard, editing, enter, focus, places, ranges, scrolling, sight, tabbing, tree, values.
"use strict";

foxloop.define("keyActions", (parts) => {
  const { clipboard, editing, enter, focus, places, ranges, scrolling, sight, tabbing, tree, values } = parts;
  const LINE_PX = 45;
  const BUTTONS = new Set(["button", "submit", "reset", "image"]);
  const ARROWS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  const FORMATS = { b: "bold", i: "italic", u: "underline" };

  const isButton = (el) => ["button", "summary"].includes(el.localName) || (el.localName === "input" && BUTTONS.has(el.type));
  const isLink = (el) => (el.localName === "a" || el.localName === "area") && el.hasAttribute("href");
  const isToggle = (el) => el.localName === "input" && (el.type === "checkbox" || el.type === "radio");

  function tab(el, { shift }) {
    const next = tabbing.next(el, shift);
    if (next === null) {
      return null;
    }
    focus.give(next);
    if (editing.isField(next) && next.localName === "input") {
      next.select();
    }
    next.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    return "the focus moved on";
  }

  function enterKey(el, { shift }, { submitted }) {
    if (isLink(el)) {
      return "it was pressed"; // by Firefox itself, at the keypress
    }
    if (isButton(el)) {
      el.click();
      return "it was pressed";
    }
    if (editing.isField(el) || editing.isEditor(el) || (el.localName === "input" && !isToggle(el)) || isToggle(el)) {
      enter.act(el, places.formOf(el, sight.createSight()), submitted, shift);
      return editing.isEditor(el) || el.localName === "textarea" ? "a line break" : "the form's own action";
    }
    return null;
  }

  function space(el, stroke) {
    if (isButton(el) || isToggle(el)) {
      el.click();
      return "it was pressed";
    }
    if (editing.takesText(el)) {
      return editing.insert(el, stroke.text) ? "typed" : null;
    }
    return scrolled(el, { top: innerHeight * 0.9 * (stroke.shift ? -1 : 1) });
  }

  function escape(el) {
    const open = Array.from(tree.all("dialog:modal")).at(-1) ?? tree.closest(el, "dialog[open]");
    const popover = Array.from(tree.all(":popover-open")).at(-1) ?? null;
    if (popover !== null && popover.popover === "auto") {
      popover.hidePopover();
      return "a popover was closed";
    }
    if (open !== null && open.matches(":modal")) {
      if (open.dispatchEvent(new Event("cancel", { cancelable: true }))) {
        open.close();
        return "a dialog was closed";
      }
      return null;
    }
    if (document.fullscreenElement !== null) {
      document.exitFullscreen();
      return "full screen was left";
    }
    return null;
  }

  function radioNext(el, step) {
    const all = Array.from(el.form?.elements ?? tree.all('input[type="radio"]'));
    const group = all.filter(
      (one) => one.type === "radio" && one.name === el.name && one.form === el.form && !values.isDisabled(one),
    );
    const next = group[(group.indexOf(el) + step + group.length) % group.length];
    if (next === undefined || next === el) {
      return null;
    }
    focus.give(next);
    next.click();
    return "the next of the group";
  }

  function selectTo(el, wanted) {
    const options = values.optionsOf(el);
    const option = options[Math.min(options.length - 1, Math.max(0, wanted(options, options.indexOf(el.selectedOptions[0]))))];
    if (option === undefined || option.selected) {
      return null;
    }
    el.value = option.value;
    option.selected = true;
    ["input", "change"].forEach((type) => el.dispatchEvent(new Event(type, { bubbles: true })));
    return "another option";
  }

  function inSelect(el, { key, text }) {
    const moves = {
      ArrowDown: (_, at) => at + 1,
      ArrowRight: (_, at) => at + 1,
      ArrowUp: (_, at) => at - 1,
      ArrowLeft: (_, at) => at - 1,
      Home: () => 0,
      End: (options) => options.length - 1,
      PageDown: (_, at) => at + 10,
      PageUp: (_, at) => at - 10,
    };
    if (Object.hasOwn(moves, key)) {
      return selectTo(el, moves[key]);
    }
    if (text.trim() === "") {
      return null;
    }
    return selectTo(el, (options, at) => {
      const starts = options.map((one, index) => ({ index, fits: one.label.trim().toLowerCase().startsWith(text.toLowerCase()) }));
      const later = starts.filter(({ fits, index }) => fits && index > at);
      return (later[0] ?? starts.find(({ fits }) => fits))?.index ?? at;
    });
  }

  const UNITS = { ArrowLeft: ["backward", "character"], ArrowRight: ["forward", "character"] };
  Object.assign(UNITS, { ArrowUp: ["backward", "line"], ArrowDown: ["forward", "line"] });
  Object.assign(UNITS, { Home: ["backward", "lineboundary"], End: ["forward", "lineboundary"] });

  function caretMoved(el, { key, ctrl, shift }) {
    if (!Object.hasOwn(UNITS, key)) {
      return null;
    }
    let [direction, unit] = UNITS[key];
    if (ctrl) {
      unit = unit === "character" ? "word" : unit === "lineboundary" ? "documentboundary" : "paragraph";
    }
    if (editing.isField(el)) {
      return caretInField(el, direction, unit, shift);
    }
    document.getSelection()?.modify(shift ? "extend" : "move", direction, unit);
    return "the caret moved";
  }

  function caretInField(el, direction, unit, extend) {
    const [start, end] = editing.caret(el);
    if (start === null) {
      return null;
    }
    const back = el.selectionDirection === "backward";
    const at = back ? start : end;
    const anchor = back ? end : start;
    const forward = direction === "forward";
    let to = at;
    if (unit === "character") {
      to = !extend && start !== end ? (forward ? end : start) : at + (forward ? 1 : -1);
    } else if (unit === "word") {
      const rest = forward ? el.value.slice(at) : Array.from(el.value.slice(0, at)).reverse().join("");
      to = at + (/^\s*\S*/.exec(rest)[0].length || 1) * (forward ? 1 : -1);
    } else if (unit === "line" || unit === "paragraph") {
      to = lineAway(el.value, at, forward ? 1 : -1);
    } else if (unit === "lineboundary" && el.localName === "textarea") {
      const after = el.value.indexOf("\n", at);
      to = forward ? (after === -1 ? el.value.length : after) : el.value.lastIndexOf("\n", at - 1) + 1;
    } else {
      to = forward ? el.value.length : 0;
    }
    to = Math.min(el.value.length, Math.max(0, to));
    if (extend) {
      el.setSelectionRange(Math.min(anchor, to), Math.max(anchor, to), to < anchor ? "backward" : "forward");
    } else {
      el.setSelectionRange(to, to);
    }
    return "the caret moved";
  }

  function lineAway(text, at, step) {
    const lines = text.split("\n");
    let row = text.slice(0, at).split("\n").length - 1;
    const column = at - (text.lastIndexOf("\n", at - 1) + 1);
    row += step;
    if (row < 0 || row >= lines.length) {
      return row < 0 ? 0 : text.length;
    }
    return lines.slice(0, row).reduce((sum, line) => sum + line.length + 1, 0) + Math.min(column, lines[row].length);
  }

  function scrolled(el, by) {
    const scroller = scrolling.scrollerOf(el);
    const before = [scroller.scrollTop, scroller.scrollLeft];
    scroller.scrollBy({ ...by, behavior: "instant" });
    return scroller.scrollTop !== before[0] || scroller.scrollLeft !== before[1] ? "scrolled" : null;
  }

  function scrollKey(el, { key }) {
    const far = 1e7;
    const moves = {
      ArrowUp: { top: -LINE_PX },
      ArrowDown: { top: LINE_PX },
      ArrowLeft: { left: -LINE_PX },
      ArrowRight: { left: LINE_PX },
      PageUp: { top: -innerHeight * 0.9 },
      PageDown: { top: innerHeight * 0.9 },
      Home: { top: -far },
      End: { top: far },
    };
    return Object.hasOwn(moves, key) ? scrolled(el, moves[key]) : null;
  }

  function shortcut(el, { key, shift, secret }) {
    const low = key.toLowerCase();
    const text = editing.takesText(el);
    if (low === "a") {
      editing.selectAll(text ? el : document.body);
      return "all was selected";
    }
    if (low === "c" || (low === "x" && text)) {
      return !secret && clipboard.copyFrom(el, low === "c" ? "copy" : "cut") !== null ? "copied" : null;
    }
    if (low === "v" && text && clipboard.stored() !== null) {
      const stored = clipboard.stored();
      return clipboard.pasteInto(el, stored) || editing.insert(el, stored) ? "pasted" : null;
    }
    if (text && (low === "z" || low === "y")) {
      return document.execCommand(low === "y" || shift ? "redo" : "undo") ? "undone or redone" : null;
    }
    if (editing.isEditor(el) && Object.hasOwn(FORMATS, low)) {
      return document.execCommand(FORMATS[low]) ? "formatted" : null;
    }
    return null;
  }

  function act(el, stroke, context) {
    const { key, ctrl, alt, meta, text } = stroke;
    if (alt) {
      return null;
    }
    if (key === "Tab") {
      return ctrl || meta ? null : tab(el, stroke);
    }
    if (key === "Enter") {
      return ctrl || meta ? null : enterKey(el, stroke, context);
    }
    if (key === "Escape") {
      return escape(el);
    }
    if ((ctrl || meta) && key.length === 1) {
      return shortcut(el, { ...stroke, secret: context.secret });
    }
    if (key === " ") {
      return space(el, stroke);
    }
    if (ranges.step(el, stroke)) {
      return "a step";
    }
    if (Object.hasOwn(ARROWS, key) && el.localName === "input" && el.type === "radio") {
      return radioNext(el, ARROWS[key]);
    }
    if (el.localName === "select" && !ctrl) {
      return inSelect(el, stroke);
    }
    if (editing.takesText(el)) {
      if (key === "Backspace" || key === "Delete") {
        return editing.remove(el, key === "Delete") ? "deleted" : null;
      }
      return text !== "" ? (editing.insert(el, text) ? "typed" : null) : caretMoved(el, stroke);
    }
    return scrollKey(el, stroke);
  }

  return { act };
});
