import assert from "node:assert/strict";
import test from "node:test";
import { content } from "./support.mjs";

const { siphash } = content(["siphash"]);
const key = new Uint32Array(new Uint8Array(16).map((_, at) => at).buffer);

// vectors_sip64 of the reference implementation: key 00..0f, message 00..(n-1).
const VECTORS = [
  "310e0edd47db6f72",
  "fd67dc93c539f874",
  "5a4fa9d909806c0d",
  "2d7efbd796666785",
  "b7877127e09427cf",
  "8da699cd64557618",
  "cee3fe586e46c9cb",
  "37d1018bf50002ab",
  "6224939a79f5f593",
  "b0e4a90bdf82009e",
  "f3b9dd94c5bb5d7a",
  "a7ad6b22462fb3f4",
  "fbe50e86bc8f1e75",
  "903d84c02756ea14",
  "eef27a8e90ca23f7",
  "e545be4961ca29a1",
];

test("the reference vectors come out", () => {
  VECTORS.forEach((expected, length) => {
    assert.equal(
      siphash.sip24(
        key,
        new Uint8Array(length).map((_, at) => at),
      ),
      expected,
    );
  });
});

// The same function over 64-bit numbers, straight from the paper.
function plain(words, bytes) {
  const mask = (1n << 64n) - 1n;
  const rotate = (x, n) => ((x << n) | (x >> (64n - n))) & mask;
  const k0 = BigInt(words[0]) | (BigInt(words[1]) << 32n);
  const k1 = BigInt(words[2]) | (BigInt(words[3]) << 32n);
  let [a, b, c, d] = [0x736f6d6570736575n ^ k0, 0x646f72616e646f6dn ^ k1, 0x6c7967656e657261n ^ k0, 0x7465646279746573n ^ k1];
  const round = () => {
    a = (a + b) & mask;
    b = rotate(b, 13n) ^ a;
    a = rotate(a, 32n);
    c = (c + d) & mask;
    d = rotate(d, 16n) ^ c;
    a = (a + d) & mask;
    d = rotate(d, 21n) ^ a;
    c = (c + b) & mask;
    b = rotate(b, 17n) ^ c;
    c = rotate(c, 32n);
  };
  const padded = [...bytes, ...Array(7 - (bytes.length % 8)).fill(0), bytes.length & 0xff];
  for (let at = 0; at < padded.length; at += 8) {
    const word = padded.slice(at, at + 8).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    d ^= word;
    round();
    round();
    a ^= word;
  }
  c ^= 0xffn;
  round();
  round();
  round();
  round();
  const hex = (a ^ b ^ c ^ d).toString(16).padStart(16, "0");
  return hex.match(/../g).reverse().join("");
}

test("random keys and messages come out as by the paper", () => {
  let seed = 12345;
  const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0);
  for (let run = 0; run < 300; run += 1) {
    const words = Uint32Array.from([random(), random(), random(), random()]);
    const bytes = Uint8Array.from({ length: random() % 300 }, () => random() >>> 24);
    assert.equal(siphash.sip24(words, bytes), plain(words, bytes));
  }
});

test("a text is hashed by its UTF-16 units, and every part of it counts", () => {
  const text = "Grüße 🦊 \ud800";
  const units = Uint8Array.from(
    [...Array(text.length).keys()].flatMap((at) => [text.charCodeAt(at) & 255, text.charCodeAt(at) >> 8]),
  );
  assert.equal(siphash.digest(key, text), siphash.sip24(key, units));
  assert.notEqual(siphash.digest(key, "a"), siphash.digest(key, "\u0161"));
  assert.notEqual(siphash.digest(key, "ab"), siphash.digest(key, "ba"));
});
