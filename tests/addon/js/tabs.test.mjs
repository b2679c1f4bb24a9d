import assert from "node:assert/strict";
import test from "node:test";
import { background, Clock, DOCUMENT, protocol, rest, Signal } from "./support.mjs";

const { createTabs, onlyFragmentDiffers } = await background("tabs");

function set() {
  const clock = new Clock();
  const known = new Map([[7, { id: 7, url: "https://a.example/", title: "A", active: true, status: "complete", windowId: 1 }]]);
  const told = [];
  const docs = new Map();
  const browser = {
    tabs: {
      onCreated: new Signal(),
      onUpdated: new Signal(),
      onActivated: new Signal(),
      onRemoved: new Signal(),
      async get(id) {
        if (!known.has(id)) {
          throw new Error("Invalid tab ID");
        }
        return { ...known.get(id) };
      },
      query: async () => [...known.values()],
      async create({ url, active }) {
        known.set(8, { id: 8, url: "about:blank", title: "", active, status: "loading", windowId: 1 });
        browser.wanted = url;
        return { ...known.get(8) };
      },
      async update(id, { url }) {
        browser.wanted = url;
        Object.assign(known.get(id), { status: "loading" });
      },
      async remove(id) {
        known.delete(id);
        browser.tabs.onRemoved.fire(id);
      },
    },
    windows: { update: async () => {} },
    webRequest: { onBeforeRequest: new Signal(), onErrorOccurred: new Signal() },
  };
  const asked = [];
  asked.answer = () => new Promise(() => {});
  const ask = (doc, message) => {
    asked.push(message.op);
    return { answer: asked.answer(), forget: () => {} };
  };
  const documents = { top: (id) => docs.get(id) ?? null, ask };
  const notify = (method, params) => told.push([method, params]);
  const holds = { letThrough: () => () => {} };
  const tabs = createTabs({ browser, documents, holds, notify, limits: protocol.limits, platform: clock.platform });
  tabs.listen();
  const controller = new AbortController();
  const call = { signal: controller.signal, left: () => 1000 };
  const run = (method, params) => {
    const state = {};
    tabs.handlers[method](params, call).then(
      (result) => {
        state.result = result;
      },
      (fault) => {
        state.fault = fault;
      },
    );
    return state;
  };
  const arrive = (id, url, born = clock.time) => {
    const doc = { tab: id, frame: 0, document: DOCUMENT, url, born };
    docs.set(id, doc);
    tabs.here(doc);
  };
  return { clock, known, told, browser, run, arrive, controller, tabs, asked };
}

test("a tab arrives when a document that is younger than the order says hello", async () => {
  const { run, arrive, known, clock } = set();
  const going = run("tab.goto", { tab: 7, url: "https://b.example" });
  await rest();
  arrive(7, "https://old.example/", clock.time - 500);
  await rest();
  assert.deepEqual(going, {});
  arrive(7, "https://b.example/");
  await clock.pass(50);
  assert.deepEqual(going, {}, "Firefox still tells the old address");
  Object.assign(known.get(7), { url: "https://b.example/" });
  await clock.pass(10);
  assert.deepEqual(going.result.tab, {
    tab: 7,
    url: "https://b.example/",
    title: "A",
    active: true,
    status: "loading",
    window: 1,
    document: DOCUMENT,
  });
});

test("loading that ends without a hello has failed, after a while", async () => {
  const { run, browser, known, clock } = set();
  const going = run("tab.goto", { tab: 7, url: "https://b.example/" });
  await rest();
  Object.assign(known.get(7), { status: "complete" });
  browser.tabs.onUpdated.fire(7, { status: "complete" });
  await clock.pass(499);
  assert.deepEqual(going, {});
  await clock.pass(1);
  assert.equal(going.fault.code, "navigation-failed");
});

test("a page that was fetched is given longer for its hello, a request that failed is not", async () => {
  const { run, browser, known, clock, arrive } = set();
  const complete = () => {
    Object.assign(known.get(7), { status: "complete" });
    browser.tabs.onUpdated.fire(7, { status: "complete" });
  };
  const slow = run("tab.goto", { tab: 7, url: "https://b.example/" });
  await rest();
  browser.webRequest.onBeforeRequest.fire({ tabId: 7, requestId: "1", url: "https://b.example/" });
  browser.webRequest.onBeforeRequest.fire({ tabId: 7, requestId: "2", url: "https://c.example/" }); // the page led on at once
  browser.webRequest.onErrorOccurred.fire({ tabId: 7, requestId: "1" });
  Object.assign(known.get(7), { url: "https://c.example/#part" });
  complete();
  for (let waited = 0; waited < 9000; waited += 100) {
    await clock.pass(100);
  }
  assert.deepEqual(slow, {});
  arrive(7, "https://c.example/#part");
  await clock.pass(10);
  assert.equal(slow.result.tab.url, "https://c.example/#part");
});

test("a page that never says hello has failed in the end; one that failed or brought nothing, at once", async () => {
  const { run, browser, known, clock } = set();
  for (const [what, shown, least, most] of [
    ["failed", "https://b.example/", 400, 600],
    ["brought no page", "https://a.example/", 400, 600],
    ["silent", "https://b.example/", 9500, 10_600],
  ]) {
    const going = run("tab.goto", { tab: 7, url: "https://b.example/" });
    await rest();
    const began = clock.time;
    browser.webRequest.onBeforeRequest.fire({ tabId: 7, requestId: "1", url: "https://b.example/" });
    if (what === "failed") {
      browser.webRequest.onErrorOccurred.fire({ tabId: 7, requestId: "1" });
    }
    Object.assign(known.get(7), { status: "complete", url: shown });
    browser.tabs.onUpdated.fire(7, { status: "complete" });
    while (going.fault === undefined && clock.time - began < 20_000) {
      await clock.pass(100);
    }
    assert.equal(going.fault.code, "navigation-failed");
    assert.ok(clock.time - began >= least && clock.time - began <= most, `${what}: ${clock.time - began} ms`);
  }
});

test("a load that has not even begun is given longer", async () => {
  const { run, browser, known, clock } = set();
  const going = run("tab.goto", { tab: 7, url: "https://b.example/" });
  await rest();
  Object.assign(known.get(7), { status: "complete" });
  browser.tabs.onUpdated.fire(7, { title: "still here" });
  for (let waited = 0; waited < 4900; waited += 100) {
    await clock.pass(100);
  }
  assert.deepEqual(going, {});
  for (let waited = 0; waited < 700; waited += 100) {
    await clock.pass(100);
  }
  assert.equal(going.fault.code, "navigation-failed");
});

test("a page that is too busy to answer has not been left yet", async () => {
  const { run, browser, known, clock, arrive, asked } = set();
  arrive(7, "https://a.example/", clock.time - 500);
  const going = run("tab.goto", { tab: 7, url: "https://b.example/" });
  await rest();
  Object.assign(known.get(7), { status: "complete" }); // of its frames
  browser.tabs.onUpdated.fire(7, { status: "complete" });
  for (let waited = 0; waited < 5000; waited += 100) {
    await clock.pass(100);
  }
  assert.deepEqual(going, {});
  assert.ok(asked.length >= 4);
  asked.answer = async () => ({ json: "{}" });
  for (let waited = 0; waited < 1100; waited += 100) {
    await clock.pass(100);
  }
  assert.equal(going.fault.code, "navigation-failed", "it is idle, and still there");
});

test("a new tab that does not arrive is closed again", async () => {
  const { run, known, controller } = set();
  const opening = run("tab.open", { url: "https://b.example/", active: true });
  await rest();
  assert.ok(known.has(8));
  controller.abort(Object.assign(new Error("late"), { code: "timeout" }));
  await rest();
  assert.equal(opening.fault.code, "timeout");
  assert.ok(!known.has(8));
});

test("a new tab that is there, but whose call was stopped meanwhile, is closed again", async () => {
  const { run, arrive, clock, known, controller } = set();
  const opening = run("tab.open", { url: "https://b.example/", active: true });
  await rest();
  arrive(8, "https://b.example/");
  await rest();
  controller.abort(Object.assign(new Error("stop"), { code: "cancelled" }));
  Object.assign(known.get(8), { url: "https://b.example/" });
  await clock.pass(500);
  assert.equal(opening.fault?.code, "cancelled");
  assert.ok(!known.has(8));
});

test("a tab that is closed on its way is said to be", async () => {
  const { run, browser } = set();
  const going = run("tab.goto", { tab: 7, url: "https://b.example/" });
  await rest();
  await browser.tabs.remove(7);
  await rest();
  assert.equal(going.fault.code, "no-tab");
});

for (const url of [
  "file:///etc/passwd",
  "javascript:alert(1)",
  "about:config",
  "moz-extension://x/",
  "no address",
  "data:text/html,x",
]) {
  test(`an address is refused before Firefox sees it: ${url}`, async () => {
    const { run, browser } = set();
    const going = run("tab.goto", { tab: 7, url });
    const opening = run("tab.open", { url, active: false });
    await rest();
    assert.deepEqual([going.fault.code, opening.fault.code], ["illegal-url", "illegal-url"]);
    assert.equal(browser.wanted, undefined);
  });
}

test("only the part after # differs", () => {
  assert.ok(onlyFragmentDiffers("https://a/x", "https://a/x#y"));
  assert.ok(onlyFragmentDiffers("https://a/x#z", "https://a/x#y"));
  assert.ok(!onlyFragmentDiffers("https://a/x#z", "https://a/x"));
  assert.ok(!onlyFragmentDiffers("https://a/x", "https://a/y#x"));
  assert.ok(!onlyFragmentDiffers(undefined, "https://a/y#x"));
});

test("many changes at once are told once", async () => {
  const { browser, told, clock } = set();
  for (let n = 0; n < 50; n += 1) {
    browser.tabs.onUpdated.fire(7);
  }
  await clock.pass(20);
  assert.deepEqual(
    told.map(([method]) => method),
    ["tab.changed"],
  );
  await browser.tabs.remove(7);
  assert.deepEqual(told.at(-1), ["tab.removed", { tab: 7 }]);
});
