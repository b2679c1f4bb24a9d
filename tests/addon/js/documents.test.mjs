import assert from "node:assert/strict";
import test from "node:test";
import { background, Clock, DOCUMENT, fakePort, hello, protocol, rest } from "./support.mjs";

const { createDocuments } = await background("documents");
const { createPages } = await background("pages");
const { createRouter } = await background("router");
const { Fault } = await background("faults");

const INCARNATION = "01".repeat(16);
const ACT = {
  incarnation: INCARNATION,
  call: "ca".repeat(16),
  tab: 7,
  frame: 0,
  document: DOCUMENT,
  host: "shop.example",
  node: 3,
  guard: "0123456789abcdef",
  key: "0123456789abcdef",
  op: "click",
  value: null,
  mark: true,
  focus: true,
  deadline_ms: 1000,
};

function set() {
  const clock = new Clock();
  const events = [];
  const documents = createDocuments({
    onHere: (doc) => events.push(["here", doc.document]),
    onGone: (doc) => events.push(["gone", doc.document]),
    onDialog: (doc, dialog) => events.push(["dialog", dialog.kind]),
    setTimeout: clock.platform.setTimeout,
  });
  const tabs = {
    get: async (id) => {
      if (id !== 7) {
        throw new Fault("no-tab", "no");
      }
    },
    unreadable: async () => new Fault("restricted-page", "no"),
  };
  const sent = [];
  let router = null;
  const notify = (method, params) => router.notify(method, params);
  const holds = { delay: () => {}, release: () => {} };
  let requests = 0;
  const happenings = { lately: () => {}, begunIn: () => requests };
  const pages = createPages({ documents, tabs, holds, happenings, incarnation: INCARNATION, notify, platform: clock.platform });
  router = createRouter({ protocol, ...pages, platform: clock.platform });
  router.attach({ maxMessageBytes: 1e6, send: (text) => sent.push(JSON.parse(text)) });
  const ask = (method, params, id = "r1") => router.receive(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  const cancel = (id = "r1") => router.receive(JSON.stringify({ jsonrpc: "2.0", method: "call.cancel", params: { id } }));
  const port = fakePort();
  documents.accept(port);
  hello(port);
  const begin = () => {
    requests += 1;
  };
  return { clock, events, documents, sent, ask, cancel, port, begin };
}

const asked = (port) => port.sent.filter((message) => message.ask !== undefined);
const done = (changes = {}) =>
  JSON.stringify({ ok: true, started: true, submitted: false, navigated: false, dialogs: [], ...changes });

test("a document that said hello is found by its name, in its place only", () => {
  const { documents, events } = set();
  assert.equal(documents.find({ tab: 7, frame: 0, document: DOCUMENT }).tab, 7);
  assert.equal(documents.find({ tab: 8, frame: 0, document: DOCUMENT }), null);
  assert.equal(documents.find({ tab: 7, frame: 1, document: DOCUMENT }), null);
  assert.deepEqual(events, [["here", DOCUMENT]]);
});

test("a port that is no document's is closed", () => {
  const { documents } = set();
  const port = { ...fakePort(), name: "panel" };
  port.disconnect = () => {
    port.closed = true;
  };
  documents.accept(port);
  assert.ok(port.closed);
});

test("the newest document of a tab is read, the old one can go in its own time", async () => {
  const { documents, events, port } = set();
  const next = fakePort();
  documents.accept(next);
  hello(next, "e0".repeat(16));
  assert.equal(documents.top(7).document, "e0".repeat(16));
  port.onDisconnect.fire();
  assert.equal(documents.top(7).document, "e0".repeat(16));
  assert.deepEqual(events.slice(1), [
    ["here", "e0".repeat(16)],
    ["gone", DOCUMENT],
  ]);
});

test("a document that connects again keeps its entry when the old port closes late", () => {
  const { documents, port, events } = set();
  const again = fakePort();
  documents.accept(again);
  hello(again);
  port.onDisconnect.fire();
  assert.equal(documents.top(7).port, again);
  assert.ok(!events.some(([kind]) => kind === "gone"));
});

const state = (changes = {}) => ({ json: '{"controls":[]}', text: "", left: 0, total: 0, frames: [], ...changes });
const place = (id, changes = {}) => ({
  id,
  url: "https://x.example/",
  seen: true,
  left: 5,
  top: 6,
  width: 90,
  height: 80,
  ...changes,
});

test("reading passes the page's own JSON on, and adds what only the background knows", async () => {
  const { ask, port, sent } = set();
  ask("page.read", { tab: 7, deadline_ms: 1000 });
  const [question] = asked(port);
  assert.equal(question.op, "read");
  port.onMessage.fire({ answer: question.ask, json: state({ text: "words", left: 3, total: 8 }) });
  await rest();
  const frame = { frame: 0, parent: null, origin: [0, 0], text: "words", text_truncated: 3, total_text: 8, controls: [] };
  assert.deepEqual(sent[0].result, { frames: [frame], unreadable: [] });
});

function child(documents, id, document) {
  const port = fakePort({ frame: id });
  documents.accept(port);
  hello(port, document);
  return port;
}

test("frames are numbered small, joined by what their parents say, and share the text", async () => {
  const { ask, documents, port, sent } = set();
  const [a, b, hidden] = [11, 12, 13].map((id) => child(documents, id * 1e10, String(id).repeat(16)));
  ask("page.read", { tab: 7, deadline_ms: 1000, max_text: 8 });
  const frames = [place(12e10), place(13e10, { seen: false }), place(99e10)];
  port.onMessage.fire({ answer: asked(port)[0].ask, json: state({ text: "12345", total: 5, frames }) });
  await rest();
  assert.deepEqual(asked(a), []);
  assert.deepEqual(asked(hidden), []);
  b.onMessage.fire({ answer: asked(b)[0].ask, json: state({ text: "abcdef", total: 6, frames: [place(11e10)] }) });
  await rest();
  a.onMessage.fire({ answer: asked(a)[0].ask, json: state({ text: "xyz", total: 3 }) });
  await rest();
  const told = sent[0].result.frames.map(({ frame, parent, origin, text, text_truncated }) => [
    frame,
    parent,
    origin,
    text,
    text_truncated,
  ]);
  assert.deepEqual(told, [
    [0, null, [0, 0], "12345", 0],
    [2, 0, [5, 6], "abc", 3],
    [1, 2, [10, 12], "", 3],
  ]);
  assert.equal(sent[0].result.unreadable.length, 1);
});

test("a frame that does not answer is told as unreadable, in time", async () => {
  const { ask, documents, port, sent, clock } = set();
  const quiet = child(documents, 11e10, "11".repeat(16));
  ask("page.read", { tab: 7, deadline_ms: 1000 });
  port.onMessage.fire({ answer: asked(port)[0].ask, json: state({ frames: [place(11e10)] }) });
  await rest();
  await clock.pass(700);
  assert.equal(sent[0].result.frames.length, 1);
  assert.deepEqual(sent[0].result.unreadable, [{ url: "https://x.example/", reason: "it did not answer in time", frame: 1 }]);
  assert.deepEqual(quiet.sent.at(-1), { cancel: asked(quiet)[0].ask });
});

test("more frames than are read at once are counted", async () => {
  const { ask, documents, port, sent } = set();
  const ports = Array.from({ length: 70 }, (_, at) => child(documents, (at + 1) * 1e10, String(at + 10).repeat(16)));
  ask("page.read", { tab: 7, deadline_ms: 1000 });
  const frames = ports.map((_, at) => place((at + 1) * 1e10));
  port.onMessage.fire({ answer: asked(port)[0].ask, json: state({ frames }) });
  await rest();
  for (const one of ports.filter((each) => asked(each).length > 0)) {
    one.onMessage.fire({ answer: asked(one)[0].ask, json: state() });
  }
  await rest();
  assert.equal(sent[0].result.frames.length, 64);
  assert.deepEqual(
    sent[0].result.unreadable.map(({ count }) => count),
    [7],
  );
});

test("one frame, or a part of it, is read alone; what is gone is gone", async () => {
  const { ask, documents, port, sent } = set();
  const inner = child(documents, 11e10, "11".repeat(16));
  ask("page.read", { tab: 7, deadline_ms: 1000, frame: 1, find: "x", offset: 3 }, "r1");
  const [question] = asked(inner);
  assert.equal(question.options.find, "x");
  assert.equal(question.options.offset, 3);
  inner.onMessage.fire({ answer: question.ask, json: state() });
  ask("page.read", { tab: 7, deadline_ms: 1000, frame: 2 }, "r2");
  ask("page.read", { tab: 7, deadline_ms: 1000, region: { frame: 1, document: "11".repeat(16), node: 4 } }, "r3");
  assert.equal(asked(inner)[1].options.node, 4);
  inner.onMessage.fire({ answer: asked(inner)[1].ask, json: null });
  await rest();
  const results = Object.fromEntries(sent.map((message) => [message.id, message]));
  assert.deepEqual(asked(port), []);
  assert.equal(results.r1.result.frames[0].frame, 1);
  assert.equal(results.r2.error.data.code, "document-gone");
  assert.equal(results.r3.error.data.code, "document-gone");
});

test("a tab has so many documents and no more: others are not told of", () => {
  const { documents, events } = set();
  for (let at = 0; at < 600; at += 1) {
    child(documents, (at + 1) * 1e10, `${at}`.padStart(32, "e"));
  }
  assert.equal(documents.all().length, 500);
  assert.equal(events.length, 500);
});

test("a document without a body is told as unreadable, and a tab without a document by its reason", async () => {
  const { ask, port, sent } = set();
  ask("page.read", { tab: 7, deadline_ms: 1000 }, "r1");
  port.onMessage.fire({ answer: asked(port)[0].ask, json: null });
  ask("page.read", { tab: 8, deadline_ms: 1000 }, "r2");
  await rest();
  const results = Object.fromEntries(sent.map((message) => [message.id, message]));
  assert.equal(results.r1.result.unreadable.length, 1);
  assert.equal(results.r2.error.data.code, "restricted-page");
});

test("an act is passed on whole, its start told before its end", async () => {
  const { ask, port, sent, clock } = set();
  ask("page.act", ACT);
  const [question] = asked(port);
  const { incarnation, tab, deadline_ms, ...order } = ACT;
  assert.deepEqual(question.order, {
    ...order,
    formKey: undefined,
    dialog: undefined,
    stopped: false,
    deadline: clock.time + 1000,
  });
  port.onMessage.fire({ started: question.ask });
  port.onMessage.fire({ answer: question.ask, json: done() });
  await rest();
  assert.deepEqual(
    sent.map((message) => message.method ?? message.id),
    ["page.started", "r1"],
  );
  assert.deepEqual(sent[0].params, { id: "r1" });
});

test("a request that a document was told of too late is among what changed all the same", async () => {
  for (const [changes, begins, changed] of [
    [{ changed: ["value"] }, true, ["request", "value"]],
    [{ changed: ["request"] }, true, ["request"]],
    [{ changed: ["value"] }, false, ["value"]],
    [{ ok: false, reason: "nothing-changed" }, true, undefined],
  ]) {
    const { ask, port, sent, begin } = set();
    ask("page.act", ACT);
    const [question] = asked(port);
    if (begins) {
      begin();
    }
    port.onMessage.fire({ answer: question.ask, json: done(changes) });
    await rest();
    assert.deepEqual(sent.at(-1).result.changed, changed);
  }
});

test("a document that goes before the start has done nothing, and after it what was asked", async () => {
  for (const started of [false, true]) {
    const { ask, documents, port, sent } = set();
    ask("page.act", ACT);
    const [question] = asked(port);
    if (started) {
      port.onMessage.fire({ started: question.ask });
      port.onMessage.fire({ dialog: { kind: "alert", message: "x", answer: null }, during: question.ask });
      port.onMessage.fire({ submitted: question.ask });
      documents.noteOpened(documents.top(7), 8);
    }
    port.onDisconnect.fire();
    await rest();
    const last = sent.at(-1);
    if (started) {
      const dialogs = [{ kind: "alert", message: "x", answer: null }];
      assert.deepEqual(last.result, { ok: true, started: true, submitted: true, navigated: true, dialogs, opened_tabs: [8] });
    } else {
      assert.equal(last.error.data.code, "document-gone");
    }
  }
});

test("another incarnation, an unknown document and an unknown tab are refused without a word to the page", async () => {
  for (const [changes, code] of [
    [{ incarnation: "02".repeat(16) }, "other-incarnation"],
    [{ document: "00".repeat(16) }, "document-gone"],
    [{ tab: 9 }, "no-tab"],
  ]) {
    const { ask, port, sent } = set();
    ask("page.act", { ...ACT, ...changes });
    await rest();
    assert.equal(sent[0].error.data.code, code);
    assert.deepEqual(port.sent, []);
  }
});

test("a cancelled act has the page's word, not ours", async () => {
  const { ask, cancel, port, sent } = set();
  ask("page.act", ACT);
  cancel();
  await rest();
  assert.deepEqual(sent, []);
  assert.deepEqual(port.sent.at(-1), { cancel: asked(port)[0].ask });
  port.onMessage.fire({ answer: asked(port)[0].ask, error: { code: "cancelled", message: "nothing was done" } });
  await rest();
  assert.equal(sent[0].error.data.code, "cancelled");
});

test("a page that hangs past the deadline has done nothing; one that has begun is waited for", async () => {
  const idle = set();
  idle.ask("page.act", ACT);
  await idle.clock.pass(1000);
  assert.deepEqual(idle.sent, []);
  await idle.clock.pass(500);
  assert.equal(idle.sent[0].error.data.code, "timeout");
  const busy = set();
  busy.ask("page.act", ACT);
  const [question] = asked(busy.port);
  busy.port.onMessage.fire({ started: question.ask });
  await busy.clock.pass(60_000);
  assert.deepEqual(
    busy.sent.map((message) => message.method),
    ["page.started"],
  );
  busy.port.onMessage.fire({ answer: question.ask, json: done({ ok: false, reason: "mismatch" }) });
  await rest();
  assert.equal(busy.sent[1].result.reason, "mismatch");
});

test("settling a page that goes away is settled", async () => {
  const { ask, port, sent, clock } = set();
  const settle = { tab: 7, frame: 0, document: DOCUMENT, list_for: null, deadline_ms: 3000 };
  ask("page.settle", settle, "r1");
  await clock.pass(80);
  port.onDisconnect.fire();
  await rest();
  assert.deepEqual(sent[0].result, { waited_ms: 80, gone: true });
  ask("page.settle", settle, "r2");
  await rest();
  assert.deepEqual(sent[1].result, { waited_ms: 0, gone: true });
});

test("a hidden page is woken by the background", async () => {
  const { port, clock } = set();
  port.onMessage.fire({ wake: 5, ms: 30 });
  await clock.pass(29);
  assert.deepEqual(port.sent, []);
  await clock.pass(1);
  assert.deepEqual(port.sent, [{ woke: 5 }]);
});

test("an act that is busy long after its start is asked what it knows, and one that ended is not", async () => {
  const { ask, port, clock } = set();
  ask("page.act", ACT);
  const [question] = asked(port);
  port.onMessage.fire({ started: question.ask });
  await clock.pass(1699);
  assert.ok(!port.sent.some((message) => message.nudge !== undefined));
  await clock.pass(1);
  assert.deepEqual(port.sent.at(-1), { nudge: question.ask });
  const quick = set();
  quick.ask("page.act", ACT);
  quick.port.onMessage.fire({ started: asked(quick.port)[0].ask });
  quick.port.onMessage.fire({ answer: asked(quick.port)[0].ask, json: done() });
  await quick.clock.pass(2000);
  assert.ok(!quick.port.sent.some((message) => message.nudge !== undefined));
});
