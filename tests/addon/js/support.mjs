// support: loads parts of the add-on into Node, and fakes what they talk to.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";

export const ADDON = process.env.ADDON;
export const protocol = JSON.parse(fs.readFileSync(path.join(ADDON, "shared/protocol.json"), "utf8"));
export const crypto = webcrypto;

export const background = (name) => import(pathToFileURL(path.join(ADDON, "background", `${name}.js`)));

// The parts of the content scripts named by their files, in a world of their own with these globals.
export function content(files, globals = {}) {
  const world = vm.createContext({ console, crypto, setTimeout, clearTimeout, performance, ...globals });
  for (const file of ["parts", ...files]) {
    vm.runInContext(fs.readFileSync(path.join(ADDON, "content", `${file}.js`), "utf8"), world, { filename: `${file}.js` });
  }
  return vm.runInContext("foxloop.parts", world);
}

// Time that moves only when told.
export class Clock {
  constructor() {
    this.time = 1000;
    this.timers = new Map();
    this.next = 1;
    this.platform = {
      setTimeout: (run, ms = 0) => {
        this.timers.set(this.next, { at: this.time + ms, run });
        this.next += 1;
        return this.next - 1;
      },
      clearTimeout: (id) => this.timers.delete(id),
      now: () => this.time,
      wallNow: () => this.time,
    };
  }

  async pass(ms) {
    const end = this.time + ms;
    for (;;) {
      await rest();
      const due = [...this.timers].filter(([, timer]) => timer.at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) {
        break;
      }
      const [id, timer] = due;
      this.timers.delete(id);
      this.time = Math.max(this.time, timer.at);
      timer.run();
    }
    this.time = end;
    await rest();
  }
}

// All that can happen without time passing.
export const rest = async () => {
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
};

export class Signal {
  constructor() {
    this.listeners = new Set();
    this.addListener = (listener) => this.listeners.add(listener);
  }

  fire(...args) {
    [...this.listeners].forEach((listener) => listener(...args));
  }
}

export function fakePort({ tab = 7, frame = 0, url = "https://shop.example/" } = {}) {
  const port = {
    name: "document",
    sender: { tab: { id: tab }, frameId: frame, url },
    onMessage: new Signal(),
    onDisconnect: new Signal(),
    sent: [],
    postMessage: (message) => port.sent.push(message),
    disconnect: () => {
      port.closed = true;
    },
  };
  return port;
}

export const DOCUMENT = "d0".repeat(16);
export const hello = (port, document = DOCUMENT, born = 5000) =>
  port.onMessage.fire({ hello: { document, url: port.sender.url, born } });
