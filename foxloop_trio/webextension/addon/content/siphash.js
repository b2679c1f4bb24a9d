// siphash: SipHash-2-4, a keyed hash that is synchronous.
//
// Purpose: guards and keys are compared in the same turn in which the page is acted on, and SubtleCrypto answers only later.
// `sip24(key, bytes)`: key, a Uint32Array of 4 (128 bits, little-endian words); bytes, a Uint8Array. Result: 16 hex digits, the 64
// bits in the byte order of the reference implementation (J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF").
// `digest(key, text)`: the same over the UTF-16 units of a text.
// Depends on: nothing.
"use strict";

foxloop.define("siphash", () => {
  const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

  function hexOfWord(word) {
    return HEX[word & 0xff] + HEX[(word >>> 8) & 0xff] + HEX[(word >>> 16) & 0xff] + HEX[word >>> 24];
  }

  // Each 64-bit word is a pair of 32-bit ones, here `a` (low) and `A` (high) for v0, and so on. They are local, since a read hashes
  // hundreds of texts. `blocks` holds the message in such pairs, its length byte included.
  function run(key, blocks) {
    let a = key[0] ^ 0x70736575;
    let A = key[1] ^ 0x736f6d65;
    let b = key[2] ^ 0x6e646f6d;
    let B = key[3] ^ 0x646f7261;
    let c = key[0] ^ 0x6e657261;
    let C = key[1] ^ 0x6c796765;
    let d = key[2] ^ 0x79746573;
    let D = key[3] ^ 0x74656462;
    const length = blocks.length;
    for (let at = 0; at <= length; at += 2) {
      const last = at === length;
      const low = last ? 0 : blocks[at];
      const high = last ? 0 : blocks[at + 1];
      if (last) {
        c ^= 0xff;
      } else {
        d ^= low;
        D ^= high;
      }
      for (let round = last ? 4 : 2; round > 0; round -= 1) {
        let sum = (a >>> 0) + (b >>> 0);
        A = (A + B + (sum > 0xffffffff ? 1 : 0)) | 0;
        a = sum | 0;
        let t = (b << 13) | (B >>> 19);
        B = ((B << 13) | (b >>> 19)) ^ A;
        b = t ^ a;
        t = a;
        a = A;
        A = t;
        sum = (c >>> 0) + (d >>> 0);
        C = (C + D + (sum > 0xffffffff ? 1 : 0)) | 0;
        c = sum | 0;
        t = (d << 16) | (D >>> 16);
        D = ((D << 16) | (d >>> 16)) ^ C;
        d = t ^ c;
        sum = (a >>> 0) + (d >>> 0);
        A = (A + D + (sum > 0xffffffff ? 1 : 0)) | 0;
        a = sum | 0;
        t = (d << 21) | (D >>> 11);
        D = ((D << 21) | (d >>> 11)) ^ A;
        d = t ^ a;
        sum = (c >>> 0) + (b >>> 0);
        C = (C + B + (sum > 0xffffffff ? 1 : 0)) | 0;
        c = sum | 0;
        t = (b << 17) | (B >>> 15);
        B = ((B << 17) | (b >>> 15)) ^ C;
        b = t ^ c;
        t = c;
        c = C;
        C = t;
      }
      if (!last) {
        a ^= low;
        A ^= high;
      }
    }
    return hexOfWord(a ^ b ^ c ^ d) + hexOfWord(A ^ B ^ C ^ D);
  }

  function sip24(key, bytes) {
    const blocks = new Int32Array((Math.floor(bytes.length / 8) + 1) * 2);
    for (let at = 0; at < bytes.length; at += 1) {
      blocks[at >> 2] |= bytes[at] << ((at & 3) * 8);
    }
    blocks[blocks.length - 1] |= (bytes.length & 0xff) << 24;
    return run(key, blocks);
  }

  function digest(key, text) {
    const { length } = text;
    const blocks = new Int32Array((Math.floor(length / 4) + 1) * 2);
    for (let at = 0; at < length; at += 1) {
      blocks[at >> 1] |= text.charCodeAt(at) << ((at & 1) * 16);
    }
    blocks[blocks.length - 1] |= ((length * 2) & 0xff) << 24;
    return run(key, blocks);
  }

  return { sip24, digest };
});
