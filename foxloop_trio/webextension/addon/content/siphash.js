// siphash: SipHash-2-4, a keyed hash that is synchronous.
//
// Purpose: guards and keys are compared in the same turn in which the page is acted on, and SubtleCrypto answers only later.
// `sip24(key, bytes)`: key, a Uint32Array of 4 (128 bits, little-endian words); bytes, a Uint8Array. Result: 16 hex digits, the 64
// bits in the byte order of the reference implementation (J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF").
// `digest(key, text)`: the same over the UTF-16 units of a text.
// Depends on: nothing.
"use strict";

foxloop.define("siphash", () => {
  // A 64-bit word is a pair of 32-bit ones: state[2 * i] is the low half of v_i, state[2 * i + 1] the high half.
  function add(state, a, b) {
    const low = (state[a] >>> 0) + (state[b] >>> 0);
    state[a + 1] += state[b + 1] + (low > 0xffffffff ? 1 : 0);
    state[a] = low;
  }

  function rotateAndXor(state, a, b, bits) {
    let low = state[a];
    let high = state[a + 1];
    if (bits >= 32) {
      [low, high] = [high, low];
      bits -= 32;
    }
    const turnedLow = bits === 0 ? low : (low << bits) | (high >>> (32 - bits));
    const turnedHigh = bits === 0 ? high : (high << bits) | (low >>> (32 - bits));
    state[a] = turnedLow ^ state[b];
    state[a + 1] = turnedHigh ^ state[b + 1];
  }

  function swapHalves(state, a) {
    const low = state[a];
    state[a] = state[a + 1];
    state[a + 1] = low;
  }

  const [V0, V1, V2, V3] = [0, 2, 4, 6];

  function rounds(state, count) {
    for (let round = 0; round < count; round += 1) {
      add(state, V0, V1);
      rotateAndXor(state, V1, V0, 13);
      swapHalves(state, V0);
      add(state, V2, V3);
      rotateAndXor(state, V3, V2, 16);
      add(state, V0, V3);
      rotateAndXor(state, V3, V0, 21);
      add(state, V2, V1);
      rotateAndXor(state, V1, V2, 17);
      swapHalves(state, V2);
    }
  }

  function absorb(state, low, high) {
    state[V3] ^= low;
    state[V3 + 1] ^= high;
    rounds(state, 2);
    state[V0] ^= low;
    state[V0 + 1] ^= high;
  }

  function hexOfWord(word) {
    let text = "";
    for (let shift = 0; shift < 32; shift += 8) {
      text += ((word >>> shift) & 0xff).toString(16).padStart(2, "0");
    }
    return text;
  }

  function sip24(key, bytes) {
    const state = new Int32Array([
      key[0] ^ 0x70736575,
      key[1] ^ 0x736f6d65,
      key[2] ^ 0x6e646f6d,
      key[3] ^ 0x646f7261,
      key[0] ^ 0x6e657261,
      key[1] ^ 0x6c796765,
      key[2] ^ 0x79746573,
      key[3] ^ 0x74656462,
    ]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const whole = bytes.length - (bytes.length % 8);
    for (let at = 0; at < whole; at += 8) {
      absorb(state, view.getInt32(at, true), view.getInt32(at + 4, true));
    }
    const tail = new DataView(new ArrayBuffer(8));
    for (let at = whole; at < bytes.length; at += 1) {
      tail.setUint8(at - whole, bytes[at]);
    }
    tail.setUint8(7, bytes.length & 0xff);
    absorb(state, tail.getInt32(0, true), tail.getInt32(4, true));
    state[V2] ^= 0xff;
    rounds(state, 4);
    const low = state[V0] ^ state[V1] ^ state[V2] ^ state[V3];
    const high = state[V0 + 1] ^ state[V1 + 1] ^ state[V2 + 1] ^ state[V3 + 1];
    return hexOfWord(low) + hexOfWord(high);
  }

  function digest(key, text) {
    const units = new Uint8Array(text.length * 2);
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      units[2 * at] = unit & 0xff;
      units[2 * at + 1] = unit >>> 8;
    }
    return sip24(key, units);
  }

  return { sip24, digest };
});
