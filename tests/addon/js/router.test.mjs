import assert from "node:assert/strict";
import test from "node:test";
import { background, Clock, protocol, rest } from "./support.mjs";

const { createRouter, verbatim } = await background("router");
const { Fault } = await background("faults");

function set({ handlers = {}, listeners = {}, maxMessageBytes = 1e6 } = {}) {
  const clock = new Clock();
  const sent = [];
  const link = {
    maxMessageBytes,
    send(text) {
      const fits = Buffer.byteLength(text) <= maxMessageBytes;
      if (fits) {
        sent.push(JSON.parse(text));
      }
      return fits;
    },
  };
  const router = createRouter({ protocol, handlers, listeners, platform: clock.platform });
  router.attach(link);
  const ask = (method, params, id = "r1") => router.receive(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  const tell = (method, params) => router.receive(JSON.stringify({ jsonrpc: "2.0", method, params }));
  return { clock, sent, router, ask, tell };
}

const codeOf = (message) => message.error.data.code;

test("an answer goes out with the id of its request", async () => {
  const { ask, sent } = set({ handlers: { "session.ping": async () => ({}) } });
  ask("session.ping", { deadline_ms: 100 }, "r7");
  await rest();
  assert.deepEqual(sent, [{ jsonrpc: "2.0", id: "r7", result: {} }]);
});

test("a text that is JSON already is passed on unread", async () => {
  const { ask, sent } = set({ handlers: { "tab.list": async () => verbatim('{"tabs":[]}') } });
  ask("tab.list", { deadline_ms: 100 });
  await rest();
  assert.deepEqual(sent[0].result, { tabs: [] });
});

test("a fault has its code and number, and anything else is internal", async () => {
  const handlers = {
    "tab.get": async () => {
      throw new Fault("no-tab", "there is no tab 7");
    },
    "tab.list": async () => {
      throw new TypeError("x is undefined");
    },
  };
  const { ask, sent } = set({ handlers });
  ask("tab.get", { tab: 7, deadline_ms: 100 }, "r1");
  ask("tab.list", { deadline_ms: 100 }, "r2");
  await rest();
  assert.deepEqual(sent[0].error, { code: -32000, message: "there is no tab 7", data: { code: "no-tab" } });
  assert.deepEqual(sent[1].error, { code: -32000, message: "x is undefined", data: { code: "internal" } });
});

for (const [why, text, code, id] of [
  ["no JSON", "{", "parse", null],
  ["a batch", "[]", "invalid-request", null],
  ["a foreign key", '{"jsonrpc":"2.0","id":"r1","method":"session.ping","params":{},"x":1}', "invalid-request", "r1"],
  ["a numeric id", '{"jsonrpc":"2.0","id":1,"method":"session.ping","params":{}}', "invalid-request", null],
  ["an unknown method", '{"jsonrpc":"2.0","id":"r1","method":"tab.fly","params":{}}', "unknown-method", "r1"],
  ["a name of every object", '{"jsonrpc":"2.0","id":"r1","method":"constructor","params":{}}', "unknown-method", "r1"],
  ["a method of ours", '{"jsonrpc":"2.0","id":"r1","method":"tab.changed","params":{}}', "unknown-method", "r1"],
  ["a method without a handler", '{"jsonrpc":"2.0","id":"r1","method":"tab.capture","params":{}}', "unknown-method", "r1"],
  ["no deadline", '{"jsonrpc":"2.0","id":"r1","method":"session.ping","params":{}}', "invalid-params", "r1"],
]) {
  test(`a bad message is answered with an error: ${why}`, async () => {
    const { router, sent } = set({ handlers: { "session.ping": async () => ({}) } });
    router.receive(text);
    await rest();
    assert.equal(sent.length, 1);
    assert.equal(sent[0].id, id);
    assert.equal(codeOf(sent[0]), code);
    assert.equal(sent[0].error.code, protocol.errors.numbers[code]);
  });
}

test("a bad notification has no answer", async () => {
  const { tell, sent } = set();
  tell("call.cancel", { id: "" });
  tell("nobody.knows", {});
  await rest();
  assert.deepEqual(sent, []);
});

test("what comes with no time left is not begun", async () => {
  let begun = false;
  const { ask, sent } = set({
    handlers: {
      "session.ping": async () => {
        begun = true;
      },
    },
  });
  ask("session.ping", { deadline_ms: 0 });
  await rest();
  assert.equal(codeOf(sent[0]), "timeout");
  assert.ok(!begun);
});

const patient = (params, call) =>
  new Promise((_, reject) => call.signal.addEventListener("abort", () => reject(call.signal.reason)));

test("the deadline, a cancel and a lost link each abort the call", async () => {
  const { ask, tell, sent, clock, router } = set({ handlers: { "session.ping": patient } });
  ask("session.ping", { deadline_ms: 100 }, "r1");
  await clock.pass(99);
  assert.deepEqual(sent, []);
  await clock.pass(1);
  assert.equal(codeOf(sent[0]), "timeout");
  ask("session.ping", { deadline_ms: 100 }, "r2");
  tell("call.cancel", { id: "r2" });
  tell("call.cancel", { id: "r99" });
  await rest();
  assert.equal(codeOf(sent[1]), "cancelled");
  let reason = null;
  const own = set({
    handlers: {
      "session.ping": (params, call) =>
        patient(params, call).catch((fault) => {
          reason = fault;
          throw fault;
        }),
    },
  });
  own.ask("session.ping", { deadline_ms: 100 }, "r3");
  own.router.detach();
  await rest();
  assert.equal(reason.code, "cancelled");
  assert.deepEqual(own.sent, []);
  assert.ok(router);
});

test("an id in use is refused, and its first call goes on", async () => {
  const { ask, sent, clock } = set({ handlers: { "session.ping": patient } });
  ask("session.ping", { deadline_ms: 100 }, "r1");
  ask("session.ping", { deadline_ms: 100 }, "r1");
  await rest();
  assert.equal(codeOf(sent[0]), "invalid-request");
  await clock.pass(200);
  assert.deepEqual(sent.slice(1).map(codeOf), ["timeout"]);
});

test("an answer that is too large is refused by its size", async () => {
  const { ask, sent } = set({ handlers: { "tab.list": async () => ({ tabs: ["ü".repeat(400)] }) }, maxMessageBytes: 600 });
  ask("tab.list", { deadline_ms: 100 });
  await rest();
  assert.equal(codeOf(sent[0]), "too-large");
  assert.match(sent[0].error.message, /^the answer has 8\d\d bytes, the runtime takes 600$/);
});

test("a notification reaches its listener", async () => {
  const heard = [];
  const { tell } = set({ listeners: { "page.acknowledge": (params) => heard.push(params) } });
  const params = { tab: 7, frame: 0, document: "d0".repeat(16), calls: ["ca".repeat(16)] };
  tell("page.acknowledge", params);
  assert.deepEqual(heard, [params]);
});
