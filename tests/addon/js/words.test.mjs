import assert from "node:assert/strict";
import test from "node:test";
import { content } from "./support.mjs";

const { words, sameText } = content(["words", "same_text"]);

test("white space is collapsed, non-breaking too", () => {
  assert.equal(words.clean("  a\n\t b\u00a0 c "), "a b c");
});

test("a cut never leaves half a character", () => {
  assert.equal(words.cut("ab🦊", 3), "ab");
  assert.equal(words.cut("ab🦊", 4), "ab🦊");
  assert.equal(words.cut("a\ud83db", 9), "a\ufffdb");
});

test("the row digest of nothing is the one of the reference", () => {
  assert.equal(words.fnv(""), "ztntfp");
});

const TAKEN = [
  ["x", "x"],
  ["Ada", "ADA"],
  [" a b ", "a b"],
  ["5551234567", "(555) 123-4567"],
  ["1000", "1,000"],
  ["1000", "1.000"],
  ["1000.5", "1,000.50"],
  ["12.50", "$12.50"],
  ["12,5", "12.5"],
  ["-5", "-5.0"],
  ["007", "007"],
  ["two\nlines", "two lines"],
  ["+49 30 1", "+49301"],
  ["--", "--"],
  ["4111111111111111", "4111 1111 1111 1111"],
  ["12/31/2026", "12.31.2026"],
];
const LOST = [
  ["x", ""],
  ["letters", ""],
  ["12.50", "1250"],
  ["1250", "12.50"],
  ["5", "-5"],
  ["007", "7"],
  ["too long", "too "],
  ["a+b", "ab"],
  ["!", "?"],
  ["1e5", "15"],
];

test("what a field reformats is the same text", () => {
  TAKEN.forEach(([wanted, held]) => assert.ok(sameText.sameText(wanted, held), `${wanted} | ${held}`));
});

test("what a field changes is not", () => {
  LOST.forEach(([wanted, held]) => assert.ok(!sameText.sameText(wanted, held), `${wanted} | ${held}`));
});
