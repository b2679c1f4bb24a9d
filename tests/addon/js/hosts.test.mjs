// The table of hosts and addresses that tests/gate/test_hosts.py holds the gate to: the add-on's side of it gives the same answers.
// Node's URL is a WHATWG parser, as Firefox's is.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
import { ADDON, background, Clock, protocol, Signal } from "./support.mjs";

const table = JSON.parse(fs.readFileSync(new URL("../../gate/hosts.json", import.meta.url), "utf8"));
const { createTabs } = await background("tabs");

// What the add-on would open for this address, or null when it refuses.
async function opened(url) {
  const asked = [];
  const browser = {
    tabs: {
      onCreated: new Signal(),
      onUpdated: new Signal(),
      onActivated: new Signal(),
      onRemoved: new Signal(),
      async create(options) {
        asked.push(options.url);
        throw new Error("enough");
      },
    },
  };
  const tabs = createTabs({
    browser,
    documents: { top: () => null },
    holds: { letThrough: () => () => {}, isHeld: () => false },
    notify: () => {},
    limits: protocol.limits,
    platform: new Clock().platform,
  });
  const call = { signal: new AbortController().signal, left: () => 1000 };
  const fault = await tabs.handlers["tab.open"]({ url, active: true }, call).catch((caught) => caught);
  if (asked.length === 0) {
    assert.equal(fault.code, "illegal-url", url);
    return null;
  }
  return asked[0];
}

// The add-on's answer to an act that was judged for `host`, in a page whose location has the host name `hostname`.
async function answer(hostname, host) {
  const world = vm.createContext({ location: { hostname } });
  vm.runInContext(fs.readFileSync(path.join(ADDON, "content", "parts.js"), "utf8"), world);
  vm.runInContext(
    `foxloop.define("identity", () => ({ document: "d" }));
     foxloop.define("numbers", () => ({ find: () => null }));
     foxloop.define("operations", () => ({ operation: () => ({}) }));`,
    world,
  );
  vm.runInContext(fs.readFileSync(path.join(ADDON, "content", "act.js"), "utf8"), world);
  const { act } = vm.runInContext("foxloop.parts", world).act;
  return JSON.parse(await act({ document: "d", host, node: 1, op: "click" }, { over: () => null })).reason;
}

test("an act is taken on exactly the host that it was judged for", async () => {
  const hosts = Object.keys(table.same);
  for (const here of hosts) {
    for (const judged of hosts) {
      assert.equal(await answer(here, judged), here === judged ? "gone" : "other-site", `${here} and ${judged}`);
    }
  }
});

test("a spelling that is no host for the gate is taken on no host by the page", async () => {
  for (const here of Object.keys(table.same)) {
    for (const spelling of table.no_host) {
      // Brackets are removed on both sides, for IPv6. No address has them around anything else, so no tab has this for its host.
      const taken = spelling === `[${here}]`;
      assert.equal(await answer(here, spelling), taken ? "gone" : "other-site", JSON.stringify(spelling));
    }
  }
});

test("the browser's parser makes the gate's host of each of its spellings", () => {
  for (const [host, spellings] of Object.entries(table.same)) {
    for (const spelling of spellings) {
      // One dot at the end is the gate's to remove; a page that has it in its address is on another host for the add-on.
      assert.equal(new URL(`http://${spelling}/`).hostname.replace(/\.$/, ""), host, JSON.stringify(spelling));
    }
  }
});

test("what the gate's side opens, the add-on opens on the same host", async () => {
  for (const [address, url, host] of table.opened) {
    assert.equal(new URL(await opened(url)).hostname, host, address);
  }
});

test("what nobody opens, the add-on refuses by itself", async () => {
  for (const address of table.opened_by_nobody) {
    assert.equal(await opened(address), null, JSON.stringify(address));
  }
});

test("what a browser repairs would open on the host that the table says, so the gate's side refuses it first", async () => {
  for (const [address, host] of table.repaired_by_browsers) {
    assert.equal(new URL(await opened(address)).hostname, host, JSON.stringify(address));
  }
});
