// words: text as the page has it, made fit to be told.
//
// `clean(text)`: whitespace runs become one space, the ends are trimmed. `cut(text, most)`: at most so many UTF-16 units, never
// half a character, no lone surrogates (they have no UTF-8). `fnv(text)`: 32-bit FNV-1a over the UTF-16 units, in base 36.
// Depends on: nothing.
"use strict";

foxloop.define("words", () => {
  // Most texts need nothing, and to look is cheaper than to replace each space by itself.
  const UNCLEAN = /\s\s|[^\S ]/u;

  const clean = (text) => (UNCLEAN.test(text) ? text.replace(/\s+/gu, " ") : text).trim();

  function cut(text, most) {
    if (text.length > most) {
      const last = text.charCodeAt(most - 1);
      text = text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
    }
    return text.toWellFormed();
  }

  function fnv(text) {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    return (hash >>> 0).toString(36);
  }

  const hasWord = (text) => /[\p{L}\p{N}]/u.test(text);

  return { clean, cut, fnv, hasWord };
});
