// holds: what a held tab may load, with more tabs than can be held, and while a load is delayed.
import assert from "node:assert/strict";
import test from "node:test";
import { background, Clock, protocol, rest, Signal } from "./support.mjs";

const { createHolds } = await background("holds");
const HOME = "https://shop.example/";
const AWAY = "https://elsewhere.example/?secret";

// A browser whose tabs are known by `tabs`: id to `{ id, url, openerTabId }`.
function made() {
  const clock = new Clock();
  const tabs = new Map([[1, { id: 1, url: HOME }]]);
  const told = [];
  const removed = [];
  const browser = {
    webRequest: { onBeforeRequest: new Signal() },
    webNavigation: { onCreatedNavigationTarget: new Signal() },
    tabs: {
      onCreated: new Signal(),
      onUpdated: new Signal(),
      onRemoved: new Signal(),
      get: async (id) => tabs.get(id) ?? Promise.reject(new Error("no tab")),
      remove: async (id) => removed.push(id),
      update: async () => {},
    },
  };
  const holds = createHolds({
    browser,
    shownBy: (tab) => tabs.get(tab)?.url ?? null,
    notify: (method, params) => told.push([method, params]),
    limits: protocol.limits,
    platform: clock.platform,
  });
  holds.listen();
  const [judge] = browser.webRequest.onBeforeRequest.listeners;
  const open = (id, openerTabId = 1) => {
    tabs.set(id, { id, openerTabId, url: "about:blank" });
    browser.tabs.onCreated.fire(tabs.get(id));
  };
  return { browser, clock, holds, told, removed, tabs, open, asks: (tabId, url) => judge({ tabId, url }) };
}

const stopped = async (answer) => (await answer)?.cancel === true;

test("a tab that is one too many to be held loads nothing while it is closed", async () => {
  const { holds, removed, tabs, open, asks } = made();
  await holds.handlers["tab.hold"]({ tab: 1, hosts: [] });
  for (let id = 2; id < 250; id += 1) {
    open(id);
  }
  for (let id = 2; id < 250; id += 1) {
    assert.equal(await stopped(asks(id, AWAY)), true, String(id));
  }
  assert.ok(removed.includes(249));
  tabs.set(300, { id: 300, openerTabId: 1, url: "about:blank" }); // its request is heard before the tab itself
  assert.equal(await stopped(asks(300, AWAY)), true);
  assert.ok(removed.includes(300));
});

test("a tab that nobody holds loads what it likes, and a strange one too", async () => {
  const { holds, open, asks } = made();
  assert.equal(await stopped(asks(1, AWAY)), false);
  await holds.handlers["tab.hold"]({ tab: 1, hosts: [] });
  open(5, 4);
  assert.equal(await stopped(asks(5, AWAY)), false);
  assert.equal(await stopped(asks(1, AWAY)), true);
});

test("a load that began in a held tab is judged as held, though the hold ends while it is delayed", async () => {
  for (const end of ["lease", "link"]) {
    const { holds, told, asks } = made();
    await holds.handlers["tab.hold"]({ tab: 1, hosts: [] });
    holds.delay(1, 5000);
    const answer = asks(1, AWAY);
    if (end === "lease") {
      await holds.handlers["tab.hold"]({ tab: 1, hosts: null });
    } else {
      holds.release();
    }
    holds.release(1);
    assert.equal(await stopped(answer), true, end);
    assert.equal(told.length, 1);
  }
});

test("a delayed load waits for its time although the link is lost, and no longer", async () => {
  const { clock, holds, asks } = made();
  holds.delay(1, 5000);
  let answer = null;
  asks(1, HOME).then((given) => {
    answer = given;
  });
  holds.release();
  await clock.pass(4999);
  assert.equal(answer, null);
  await clock.pass(1);
  await rest();
  assert.deepEqual(answer, {});
});
