// keys: what keys are called, and the events of pressing one.
//
// `parse(text)` -> a list of strokes, or null: "Enter", "ctrl+a", "ArrowDown ArrowDown", "shift+Tab"; strokes are parted by spaces,
// at most 50. A stroke: `{ name, key, code, keyCode, text, ctrl, alt, shift, meta }`; `text` is what it writes, "" when nothing.
// `strokesOf(text)` -> the strokes that write a text. `send(el, type, stroke)` -> false when the page cancelled it.
// `isFirefoxs(stroke)`: a shortcut of Firefox itself, which no add-on can trigger.
// Depends on: nothing.
"use strict";

foxloop.define("keys", () => {
  const MOST = 50;
  const NAMED = {
    Enter: 13,
    Escape: 27,
    Tab: 9,
    ArrowLeft: 37,
    ArrowUp: 38,
    ArrowRight: 39,
    ArrowDown: 40,
    Home: 36,
    End: 35,
    PageUp: 33,
    PageDown: 34,
    Backspace: 8,
    Delete: 46,
    Insert: 45,
    ContextMenu: 93,
  };
  const ALIASES = {
    return: "Enter",
    esc: "Escape",
    left: "ArrowLeft",
    up: "ArrowUp",
    right: "ArrowRight",
    down: "ArrowDown",
    pgup: "PageUp",
    pgdn: "PageDown",
    del: "Delete",
    ins: "Insert",
  };
  const MODIFIERS = {
    ctrl: "ctrl",
    control: "ctrl",
    alt: "alt",
    option: "alt",
    shift: "shift",
    meta: "meta",
    cmd: "meta",
    command: "meta",
  };
  const PUNCTUATION = {
    ";": 59,
    "=": 61,
    ",": 188,
    "-": 173,
    ".": 190,
    "/": 191,
    "`": 192,
    "[": 219,
    "\\": 220,
    "]": 221,
    "'": 222,
  };
  const FIREFOXS = new Set([
    ...[
      "ctrl+t",
      "ctrl+w",
      "ctrl+n",
      "ctrl+l",
      "ctrl+r",
      "ctrl+p",
      "ctrl+f",
      "ctrl+g",
      "ctrl+s",
      "ctrl+d",
      "ctrl+h",
      "ctrl+j",
      "ctrl+o",
    ],
    ...["ctrl+u", "ctrl+k", "ctrl+e", "ctrl+q", "ctrl+Tab", "ctrl+shift+Tab", "ctrl+shift+t", "ctrl+shift+n", "ctrl+shift+p"],
    ...[
      "ctrl+shift+i",
      "ctrl+shift+r",
      "ctrl+PageUp",
      "ctrl+PageDown",
      "ctrl+0",
      "ctrl+=",
      "ctrl+-",
      "alt+ArrowLeft",
      "alt+ArrowRight",
    ],
    ...["alt+Home", "alt+d", "F1", "F3", "F5", "F6", "F7", "F11", "F12", "shift+F5", "ctrl+F5", "ctrl+F4", "alt+F4"],
  ]);

  function named(word) {
    const name = ALIASES[word.toLowerCase()] ?? Object.keys(NAMED).find((each) => each.toLowerCase() === word.toLowerCase());
    if (name !== undefined && Object.hasOwn(NAMED, name)) {
      return { name, key: name, code: name, keyCode: NAMED[name], text: "" };
    }
    const f = /^f([1-9]|1[0-2])$/i.exec(word);
    return f === null ? null : { name: `F${f[1]}`, key: `F${f[1]}`, code: `F${f[1]}`, keyCode: 111 + Number(f[1]), text: "" };
  }

  function character(letter) {
    const upper = letter.toUpperCase();
    let code = "";
    let keyCode = 0;
    if (/^[A-Z]$/.test(upper)) {
      [code, keyCode] = [`Key${upper}`, upper.charCodeAt(0)];
    } else if (/^\d$/.test(letter)) {
      [code, keyCode] = [`Digit${letter}`, letter.charCodeAt(0)];
    } else if (letter === " ") {
      [code, keyCode] = ["Space", 32];
    } else {
      keyCode = PUNCTUATION[letter] ?? 0;
    }
    return { name: letter === " " ? "Space" : letter, key: letter, code, keyCode, text: letter };
  }

  function stroke(word) {
    const modifiers = { ctrl: false, alt: false, shift: false, meta: false };
    let rest = word;
    for (let found = /^([a-z]+)\+(?=.)/i.exec(rest); found !== null; found = /^([a-z]+)\+(?=.)/i.exec(rest)) {
      const modifier = MODIFIERS[found[1].toLowerCase()];
      if (modifier === undefined) {
        return null;
      }
      modifiers[modifier] = true;
      rest = rest.slice(found[0].length);
    }
    const one = Array.from(rest).length === 1;
    const base = one ? character(rest) : /^space$/i.test(rest) ? character(" ") : named(rest);
    if (base === null) {
      return null;
    }
    if (one && modifiers.shift && rest !== rest.toUpperCase()) {
      Object.assign(base, { key: rest.toUpperCase(), text: rest.toUpperCase() });
    }
    const writes = !(modifiers.ctrl || modifiers.alt || modifiers.meta);
    return { ...base, ...modifiers, text: writes ? base.text : "" };
  }

  function parse(text) {
    const list = typeof text === "string" ? text.split(/\s+/).filter((word) => word !== "") : [];
    const strokes = (text === " " ? ["Space"] : list).map(stroke);
    return strokes.length > 0 && strokes.length <= MOST && !strokes.includes(null) ? strokes : null;
  }

  const plain = { ctrl: false, alt: false, shift: false, meta: false };
  const strokesOf = (text) =>
    Array.from(text).map((letter) =>
      letter === "\n" ? { ...named("Enter"), ...plain, text: "\n" } : { ...character(letter), ...plain },
    );

  function send(el, type, { key, code, keyCode, ctrl, alt, shift, meta }) {
    const press = type === "keypress";
    const charCode = press && key !== "Enter" ? (key.codePointAt(0) ?? 0) : 0;
    const number = press ? charCode || keyCode : keyCode;
    const modifiers = { ctrlKey: ctrl, altKey: alt, shiftKey: shift, metaKey: meta };
    const common = { bubbles: true, cancelable: true, composed: true, view: window };
    return el.dispatchEvent(
      new KeyboardEvent(type, { ...common, key, code, keyCode: number, which: number, charCode, ...modifiers }),
    );
  }

  function spelled({ name, ctrl, alt, shift, meta }) {
    const words = [ctrl && "ctrl", alt && "alt", shift && "shift", meta && "meta", name.length === 1 ? name.toLowerCase() : name];
    return words.filter(Boolean).join("+");
  }

  return { parse, strokesOf, send, spelled, isFirefoxs: (one) => FIREFOXS.has(spelled(one)) };
});
