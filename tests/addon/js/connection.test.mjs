import assert from "node:assert/strict";
import test from "node:test";
import { background, Clock, rest } from "./support.mjs";

const { createConnection } = await background("connection");

function set({ hello = {} } = {}) {
  const clock = new Clock();
  const log = [];
  const sockets = [];
  const network = { listens: true, probes: 0 };
  class Socket {
    static OPEN = 1;

    constructor(url) {
      Object.assign(this, { url, readyState: 1, sent: [] });
      sockets.push(this);
    }

    send(text) {
      this.sent.push(text);
    }

    close() {
      if (this.readyState !== 3) {
        this.readyState = 3;
        this.onclose();
      }
    }
  }
  const connection = createConnection({
    url: "ws://127.0.0.1:4711/foxloop",
    makeHello: () => ({
      answer: async (text) => `opened ${text}`,
      verify: async (text) => {
        if (text !== "proof") {
          throw new Error("not the runtime");
        }
        return { session: "s", maxMessageBytes: 20 };
      },
      ...hello,
    }),
    onLive: (link) => {
      log.push("live");
      network.link = link;
    },
    onText: (text) => log.push(text),
    onDown: () => log.push("down"),
    platform: {
      ...clock.platform,
      WebSocket: Socket,
      async fetch(url) {
        network.probes += 1;
        assert.equal(url, "http://127.0.0.1:4711/foxloop");
        if (!network.listens) {
          throw new TypeError("NetworkError");
        }
      },
    },
  });
  const say = (text) => sockets.at(-1).onmessage({ data: text });
  return { clock, log, sockets, network, connection, say };
}

test("it asks by fetch, greets, and is live once the runtime has proven itself", async () => {
  const { connection, sockets, say, log, network } = set();
  connection.wake();
  await rest();
  assert.equal(network.probes, 1);
  say("challenge");
  await rest();
  assert.deepEqual(sockets[0].sent, ["opened challenge"]);
  say("proof");
  say("first");
  say("second");
  await rest();
  say("third");
  assert.deepEqual(log, ["live", "first", "second", "third"]);
});

test("no socket is opened while nothing listens; each second it asks again", async () => {
  const { connection, sockets, network, clock } = set();
  network.listens = false;
  connection.wake();
  await clock.pass(3500);
  assert.deepEqual([network.probes, sockets.length], [4, 0]);
  network.listens = true;
  await clock.pass(1000);
  assert.equal(sockets.length, 1);
});

test("a lost link is opened again at once", async () => {
  const { connection, sockets, say, log, clock } = set();
  connection.wake();
  await rest();
  say("challenge");
  await rest();
  say("proof");
  await rest();
  sockets[0].close();
  await clock.pass(0);
  assert.equal(sockets.length, 2);
  assert.deepEqual(log, ["live", "down"]);
});

test("a stranger in the runtime's place gets nothing, and is asked ever less often", async () => {
  const { connection, sockets, say, log, clock, network } = set();
  const times = [];
  connection.wake();
  for (let n = 0; n < 8; n += 1) {
    await rest();
    times.push(clock.time);
    say("challenge");
    await rest();
    say("a lie");
    await rest();
    assert.equal(sockets.at(-1).readyState, 3);
    while (sockets.length === n + 1) {
      await clock.pass(500);
    }
  }
  const gaps = times.slice(1).map((time, at) => time - times[at]);
  assert.deepEqual(gaps, [1000, 2000, 4000, 8000, 16000, 30000, 30000]);
  assert.deepEqual(log, []);
  assert.equal(network.link, undefined);
});

test("a runtime that says nothing is left after five seconds", async () => {
  const { connection, sockets, clock } = set();
  connection.wake();
  await clock.pass(4999);
  assert.equal(sockets[0].readyState, 1);
  await clock.pass(1);
  assert.equal(sockets[0].readyState, 3);
});

test("a peer cannot make us keep many messages before it has proven itself", async () => {
  const { connection, sockets, say } = set({ hello: { answer: () => new Promise(() => {}) } });
  connection.wake();
  await rest();
  for (let n = 0; n < 100 && sockets[0].readyState === 1; n += 1) {
    say("noise");
  }
  assert.equal(sockets[0].readyState, 3);
});

test("a text that is larger than the runtime takes is not sent", async () => {
  const { connection, sockets, say, network } = set();
  connection.wake();
  await rest();
  say("challenge");
  await rest();
  say("proof");
  await rest();
  assert.equal(network.link.send("x".repeat(20)), true);
  assert.equal(network.link.send("x".repeat(21)), false);
  assert.equal(network.link.send("ü".repeat(11)), false);
  assert.equal(sockets[0].sent.length, 2);
});
