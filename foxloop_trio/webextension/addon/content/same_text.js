// same_text: did a field take what was typed into it?
//
// Purpose: fields reformat: a phone field adds brackets, a code field makes capitals, an amount field adds separators. That is no
// mismatch; a lost digit, a moved decimal point or another word is.
// `sameText(wanted, held)` -> boolean. Equal but for case, white space and punctuation; plain numbers must be equal as numbers.
// Depends on: nothing.
"use strict";

foxloop.define("sameText", () => {
  const PLAIN_NUMBER = /^[-+]?\d+(?:[.,]\d+)?$/;
  // A number as a field may show it: sign, currency or unit around it, groups of three, a decimal part.
  const SHOWN_NUMBER = /^[^\d+-]*([-+]?\d{1,3}(?:[ .,'\u00a0\u202f]\d{3})+|[-+]?\d+)(?:([.,])(\d+))?[^\d]*$/u;

  const essence = (text) =>
    text
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{S}\p{M}]/gu, "");

  function shownNumber(text) {
    const found = SHOWN_NUMBER.exec(text.trim());
    return found === null ? null : Number(`${found[1].replace(/[ .,'\u00a0\u202f]/gu, "")}.${found[3] ?? "0"}`);
  }

  function sameText(wanted, held) {
    if (wanted === held) {
      return true;
    }
    const number = PLAIN_NUMBER.test(wanted.trim()) ? Number(wanted.trim().replace(",", ".")) : null;
    const shown = number === null ? null : shownNumber(held);
    if (shown !== null) {
      // "5551234567" shown as "555 123 4567" is read as one number; a code such as "007" must keep its zeros.
      return number === shown && (!/^0\d/.test(wanted.trim()) || essence(wanted) === essence(held));
    }
    const [left, right] = [essence(wanted), essence(held)];
    return left === right && (left !== "" || wanted.trim() === held.trim());
  }

  return { sameText };
});
