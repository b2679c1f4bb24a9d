// editors: text into rich editors, whose content is not ours to rewrite.
//
// `type(el, text, steps)` -> promise of a result. The editor's whole content is selected, given a moment to notice, and replaced by
// editing commands: one for each line, one for each line break. What it did not take that way is offered to it as a paste. What it
// holds in the end decides; elements are never written.
// Depends on: clipboard, editing, limits, pause, words.
//
// Editors keep a model of their own and learn of the selection from an event that comes later (Slate, Draft.js, Lexical), so there
// is a wait after each command.
"use strict";

foxloop.define("editors", ({ clipboard, editing, limits, pause, words }) => {
  const NOTICE_MS = 130;
  const AFTER_MS = 60;
  const FILLERS = /[\u200b\u2060\ufeff]/g; // by which editors hold a line open
  const INVISIBLE = /\p{Cf}/gu; // those that join letters and pictures are text, but not every editor keeps them
  const NOT_TEXT = "[data-slate-placeholder], .cm-placeholder, [data-placeholder-node], .ql-clipboard, .ql-tooltip";

  const refuse = (reason, detail) => ({ ok: false, reason, detail });

  function heldBy(host) {
    let text = host.innerText ?? "";
    for (const hint of host.querySelectorAll(NOT_TEXT)) {
      text = text.replace(hint.innerText, "");
    }
    return text.replace(FILLERS, "");
  }

  const lines = (text) =>
    text
      .replace(INVISIBLE, "")
      .split(/\r\n|[\r\n]/)
      .map(words.clean)
      .filter((line) => line !== "");

  // Line by line too: a lost line break would go unnoticed otherwise.
  const sameLines = (one, other) => lines(one).join("\n") === lines(other).join("\n");
  const sameWords = (one, other) => lines(one).join(" ") === lines(other).join(" ");

  async function wait(ms, steps) {
    await pause.pause(ms);
    return steps.stop() ?? steps.same({ changed: true });
  }

  async function selectWhole(host, steps) {
    editing.selectAll(host);
    steps.note("select all");
    return wait(NOTICE_MS, steps);
  }

  async function byCommands(host, text, steps) {
    const stopped = await selectWhole(host, steps);
    if (stopped !== null) {
      return stopped;
    }
    if (text === "") {
      editing.remove(host, false);
      steps.note("delete");
      return wait(AFTER_MS, steps);
    }
    const list = text.split(/\r\n|[\r\n]/);
    for (const [at, line] of list.entries()) {
      if (at > 0) {
        editing.lineBreak(host);
        const halted = await wait(0, steps);
        if (halted !== null) {
          return halted;
        }
      }
      if (line === "" && at === 0) {
        editing.remove(host, false);
      } else if (line !== "") {
        editing.insert(host, line);
      }
      steps.note(list.length === 1 ? "insert" : `insert line ${at + 1} of ${list.length}`);
      const halted = await wait(0, steps);
      if (halted !== null) {
        return halted;
      }
    }
    return wait(AFTER_MS, steps);
  }

  async function byPaste(host, text, steps) {
    const stopped = await selectWhole(host, steps);
    if (stopped !== null) {
      return stopped;
    }
    clipboard.pasteInto(host, text);
    steps.note("paste");
    return wait(AFTER_MS, steps);
  }

  function result(host, text) {
    const held = heldBy(host);
    const value = words.cut(held.trim(), limits.value);
    return sameWords(held, text) ? { ok: true, value } : { ...refuse("mismatch", "the editor holds another text now"), value };
  }

  async function type(el, text, steps) {
    const host = editing.hostOf(el);
    const early = await wait(AFTER_MS, steps); // an editor that got the focus puts the selection where it was
    if (early !== null) {
      return early;
    }
    const pastes = lines(text).length > 1 && host.matches('[class*="DraftEditor"]');
    for (const way of pastes ? [byPaste] : [byCommands, byPaste]) {
      if (!editing.has(host)) {
        return refuse("needs-focus", "the editor does not take the focus");
      }
      const stopped = await way(host, text, steps);
      if (stopped !== null) {
        return { ...stopped, value: words.cut(heldBy(host).trim(), limits.value) };
      }
      if (sameLines(heldBy(host), text) || text === "") {
        break;
      }
    }
    return result(host, text);
  }

  return { type };
});
