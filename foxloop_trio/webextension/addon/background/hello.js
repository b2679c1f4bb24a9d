// hello: the add-on's half of the mutual hello, as values in and values out.
//
// Purpose: each side shows that it knows the token, and neither says it (order of messages and reasons:
// foxloop_trio/wire/_hello.py).
// `createHello` takes the protocol, the token, our incarnation, who we are, and the platform's crypto; its methods are called in
// order: `answer(challenge text)` gives the text of hello.open, `verify(result text)` gives what the runtime promised. Both throw
// on anything that is not exactly what must come next: the caller drops the socket and says nothing.

import { problem } from "./schema.js";

const OPEN_ID = "x1";

export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function randomHex(crypto, bytes = 16) {
  return hex(crypto.getRandomValues(new Uint8Array(bytes)));
}

export async function proof(crypto, token, text) {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(token), algorithm, false, ["sign"]);
  return hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))));
}

// Compares every character whatever comes, so that the time taken says nothing about where two proofs differ.
export function sameProof(ours, theirs) {
  let difference = ours.length ^ theirs.length;
  for (let at = 0; at < ours.length; at += 1) {
    difference |= ours.charCodeAt(at) ^ (theirs.charCodeAt(at) || 0);
  }
  return difference === 0;
}

function expect(schema, value, path) {
  const found = problem(schema, value, path);
  if (found !== null) {
    throw new Error(`hello: ${found}`);
  }
  return value;
}

export function createHello({ protocol, token, incarnation, addon, browser, crypto }) {
  const { hello, methods, envelopes, limits } = protocol;
  const nonce = randomHex(crypto);
  let challenge = null;

  function parse(text, envelope) {
    if (typeof text !== "string" || text.length > limits.hello_bytes) {
      throw new Error("hello: not a short text");
    }
    return expect(envelopes[envelope], JSON.parse(text), "message");
  }

  return {
    async answer(text) {
      const message = parse(text, "notification");
      if (message.method !== "hello.challenge") {
        throw new Error("hello: another method than hello.challenge");
      }
      challenge = expect(methods["hello.challenge"].params, message.params);
      if (challenge.protocol !== protocol.protocol) {
        throw new Error(`hello: the runtime speaks protocol ${challenge.protocol}, this add-on ${protocol.protocol}`);
      }
      const shown = await proof(crypto, token, hello.addon_prefix + [challenge.nonce, nonce, incarnation].join(hello.separator));
      const params = { protocol: protocol.protocol, incarnation, nonce, proof: shown, addon, browser };
      return JSON.stringify({ jsonrpc: "2.0", id: OPEN_ID, method: "hello.open", params });
    },

    async verify(text) {
      const message = parse(text, "result");
      if (message.id !== OPEN_ID) {
        throw new Error("hello: a result for another request");
      }
      const welcome = expect(methods["hello.open"].result, message.result, "result");
      const wanted = await proof(
        crypto,
        token,
        hello.runtime_prefix + [nonce, challenge.nonce, welcome.session].join(hello.separator),
      );
      if (!sameProof(wanted, welcome.proof)) {
        throw new Error("hello: the runtime does not know the token");
      }
      return { session: welcome.session, maxMessageBytes: welcome.max_message_bytes };
    },
  };
}
