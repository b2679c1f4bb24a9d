import assert from "node:assert/strict";
import test from "node:test";
import { background, protocol } from "./support.mjs";

const { problem } = await background("schema");

function judged({ method, message }) {
  const form = "result" in message ? "result" : "error" in message ? "error" : "id" in message ? "request" : "notification";
  const envelope = problem(protocol.envelopes[form], message, "message");
  if (envelope !== null) {
    return envelope;
  }
  if (form === "error") {
    return problem(protocol.envelopes.error_object, message.error, "error");
  }
  const entry = protocol.methods[method];
  if (entry === undefined) {
    return "no such method";
  }
  return form === "result" ? problem(entry.result, message.result, "result") : problem(entry.params, message.params);
}

test("every sample of the protocol is accepted", () => {
  assert.ok(protocol.samples.length > 30);
  protocol.samples.forEach((sample) => assert.equal(judged(sample), null, JSON.stringify(sample)));
});

test("every bad sample is refused", () => {
  assert.ok(protocol.refused_samples.length > 8);
  protocol.refused_samples.forEach((sample) => assert.notEqual(judged(sample), null, sample.why));
});

test("the answer names the place and never the value", () => {
  const schema = { type: "object", properties: { a: { type: "array", items: { type: "string", maxLength: 2 } } } };
  const found = problem(schema, { a: ["ok", "secret"] });
  assert.match(found, /^params\.a\[1\]: 6 characters/);
  assert.doesNotMatch(found, /secret/);
});

test("a schema with an unknown keyword is not judged by", () => {
  assert.throws(() => problem({ type: "string", format: "uri" }, "x"), /format/);
});
