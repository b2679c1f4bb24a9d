// main: the background page. It joins the parts and holds no logic of its own.
//
// Firefox stops this page after 30 s in which no extension API was used, and counts neither the socket nor Ports as use. A cheap
// call every 15 s keeps it; should it be stopped all the same, the alarm starts it again. A new start is a new incarnation, which
// the runtime is told in the hello, so that nothing meant for the old one runs twice.

import { createConnection } from "./connection.js";
import { createDocuments } from "./documents.js";
import { createHappenings } from "./happenings.js";
import { createHello, randomHex } from "./hello.js";
import { createHolds } from "./holds.js";
import { createPages } from "./pages.js";
import { createRouter } from "./router.js";
import { createTabs } from "./tabs.js";

const KEEP_ALIVE_MS = 15_000;
const WATCHDOG_MINUTES = 1;

const platform = {
  WebSocket,
  fetch: (...args) => fetch(...args),
  setTimeout: (...args) => setTimeout(...args),
  clearTimeout: (id) => clearTimeout(id),
  now: () => performance.now(),
  wallNow: () => Date.now(),
};
const incarnation = randomHex(crypto);

const limits = {}; // of the protocol, once it is read
let router = null;
let connection = null;

const notify = (method, params) => router?.notify(method, params);

function announce(doc) {
  notify("document.here", { tab: doc.tab, frame: doc.frame, document: doc.document, url: doc.url });
}

const documents = createDocuments({
  onCame: (doc) => pages.came(doc),
  onStray: (doc) => pages.strayed(doc),
  onHere(doc) {
    announce(doc);
    holds.here(doc);
    tabs.here(doc);
  },
  onGone: (doc) => notify("document.gone", { tab: doc.tab, frame: doc.frame, document: doc.document }),
  onDialog: (doc, dialog) => notify("dialog.shown", { tab: doc.tab, frame: doc.frame, ...dialog }),
  setTimeout: platform.setTimeout,
});
const shownBy = (tab) => (tab === null ? null : (documents.top(tab)?.url ?? null));
const holds = createHolds({ browser, shownBy, notify, limits, platform });
const tabs = createTabs({ browser, documents, holds, notify, limits, platform });
const happenings = createHappenings({ browser, documents, platform });
const pages = createPages({ documents, tabs, holds, happenings, incarnation, notify, platform });

async function packaged(path) {
  const answer = await fetch(browser.runtime.getURL(path));
  return answer.json();
}

async function start() {
  const protocol = await packaged("shared/protocol.json");
  Object.assign(limits, protocol.limits);
  const handlers = { "session.ping": async () => ({}), ...tabs.handlers, ...holds.handlers, ...pages.handlers };
  router = createRouter({ protocol, handlers, listeners: pages.listeners, platform });

  // A copy that a runtime packed for the Firefox it starts knows its address and token. Any other copy waits to be paired.
  const config = await packaged("config.json").catch(() => null);
  if (config === null) {
    return;
  }
  const { name, version } = await browser.runtime.getBrowserInfo();
  const addon = { version: browser.runtime.getManifest().version };
  connection = createConnection({
    url: config.url,
    makeHello: () => createHello({ protocol, token: config.token, incarnation, addon, browser: { name, version }, crypto }),
    onLive(link) {
      router.attach(link);
      documents.all().forEach(announce);
    },
    onText: (text) => router.receive(text),
    onDown() {
      router.detach();
      holds.release(); // who held the tabs is gone, and they are their user's again
    },
    platform,
  });
  connection.wake();
}

// Firefox starts a stopped background page for an event only if the event's listener was there in the first turn.
browser.runtime.onConnect.addListener((port) => documents.accept(port));
tabs.listen();
holds.listen();
happenings.listen();
browser.alarms.onAlarm.addListener(() => connection?.wake());
browser.alarms.create("watchdog", { periodInMinutes: WATCHDOG_MINUTES });
setInterval(() => browser.runtime.getPlatformInfo(), KEEP_ALIVE_MS);
start();
