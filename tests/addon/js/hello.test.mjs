import assert from "node:assert/strict";
import test from "node:test";
import { background, crypto, protocol } from "./support.mjs";

const { createHello, proof, sameProof } = await background("hello");
const [vector] = protocol.hello.vectors;

const fixed = { subtle: crypto.subtle, getRandomValues: (bytes) => bytes.set(Buffer.from(vector.addon_nonce, "hex")) ?? bytes };
const challenge = (changes = {}) =>
  JSON.stringify({ jsonrpc: "2.0", method: "hello.challenge", params: { protocol: 1, nonce: vector.runtime_nonce, ...changes } });
const welcome = (changes = {}, id = "x1") =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { session: vector.session, proof: vector.runtime_proof, max_message_bytes: 1000, ...changes },
  });
const fresh = () =>
  createHello({
    protocol,
    token: vector.token,
    incarnation: vector.incarnation,
    addon: { version: "1" },
    browser: { name: "Firefox", version: "153" },
    crypto: fixed,
  });

test("both proofs are those of the Python side", async () => {
  const own = await fresh();
  const opened = JSON.parse(await own.answer(challenge()));
  assert.equal(opened.id, "x1");
  assert.equal(opened.method, "hello.open");
  assert.equal(opened.params.proof, vector.addon_proof);
  assert.equal(opened.params.nonce, vector.addon_nonce);
  assert.deepEqual(await own.verify(welcome()), { session: vector.session, maxMessageBytes: 1000 });
});

test("the token is never in what is sent", async () => {
  assert.ok(!(await fresh().answer(challenge())).includes(vector.token.slice(0, 8)));
});

test("a runtime that does not know the token is refused", async () => {
  const own = fresh();
  await own.answer(challenge());
  await assert.rejects(own.verify(welcome({ proof: vector.addon_proof })), /does not know the token/);
});

for (const [why, text] of [
  ["another protocol", challenge({ protocol: 2 })],
  ["a short nonce", challenge({ nonce: "00" })],
  ["an unknown key", challenge({ more: 1 })],
  ["another method", challenge().replace("hello.challenge", "session.ping")],
  ["no JSON", "hello"],
  ["too long", " ".repeat(5000) + challenge()],
]) {
  test(`a challenge is refused: ${why}`, async () => {
    await assert.rejects(fresh().answer(text));
  });
}

test("a result for another request is refused", async () => {
  const own = fresh();
  await own.answer(challenge());
  await assert.rejects(own.verify(welcome({}, "x2")), /another request/);
});

test("proofs are compared whole", () => {
  assert.ok(sameProof("abc", "abc"));
  assert.ok(!sameProof("abc", "abd"));
  assert.ok(!sameProof("abc", "ab"));
  assert.ok(!sameProof("abc", "abcd"));
});

test("the key is the UTF-8 of the token", async () => {
  assert.notEqual(await proof(crypto, "é", "x"), await proof(crypto, "e", "x"));
});
